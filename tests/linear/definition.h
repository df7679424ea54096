/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What docs/history.md says of a history, spelled out for a handful of operations: all that may have happened
 * is tried in all orders. It has no code of lib/linear, only the names of mf_history.h.
 */
#ifndef DEFINITION_H
#define DEFINITION_H

#include "linear/mf_history.h"

#define DEF_OPS 12
#define DEF_LOGS 3
#define DEF_WORDS 2 /* octets 0 to 15 of a node */

/** A record, in the order in which they stand in their logs. Times are below DEF_TIMES. */
struct def_op {
	uint8_t log, kind, outcome, node;
	uint8_t addr, len; /**< octets */
	mf_time call, ret;
	uint64_t arg[2]; /**< of an atomic */
	uint64_t data[DEF_WORDS]; /**< written or found of each word: 0 where it is not touched; atomic: found
				   */
};

#define DEF_TIMES 40

struct def_history {
	bool in_order, lossless, tells;
	mf_time full; /**< MF_NEVER: no log was */
	unsigned int n;
	struct def_op op[DEF_OPS];
};

/** From good to bad: that of a history is the worst of its words. */
enum def_answer {
	DEF_YES,
	/* Of a life with an unknown begin and atomics of which nobody knows what they found. */
	DEF_YES_OR_UNKNOWN,
	DEF_NO_OR_UNKNOWN,
	DEF_NO,
};

enum def_answer def_judge(const struct def_history *h);

#endif
