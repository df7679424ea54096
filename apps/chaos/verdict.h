/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known of one run of a campaign when it is over. */
#ifndef VERDICT_H
#define VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REASON_LEN 400
#define CLASSES_MAX 64 /* of faults, in a campaign */

/** What is counted beside the faults. */
enum sum {
	SUM_COMPLETED, /**< operations */
	SUM_FAILED,
	SUM_VERIFIED, /**< reads and atomics that were compared */
	SUM_GRANTS, /**< of the scheduler, each held against the rules */
	SUM_WORDS, /**< whose operations have an order that explains what each of them found */
	SUM_GAVE_UP, /**< words of which that is not known */
	SUM_REFUSED, /**< operations that may not be done, and were not */
	SUM_CALM, /**< runs that went on behind their faults, and were judged then */
	SUM_CUT, /**< messages of which a switch got the beginning, and not the rest */
	SUM_TWICE, /**< runs that were repeated and compared */
	SUM_GRAPHS, /**< runs of several switches */
	SUM_MOVED, /**< of those: links were cut, paths were left, and no operation may fail */
	SUM_BLOCKS, /**< of links: blocks that came, each in its place */
	SUM_CONNECTIONS, /**< of links */
	SUMS
};

struct verdict {
	char reason[REASON_LEN]; /**< "KIND: what is wrong"; empty: nothing is */
	uint64_t fired[CLASSES_MAX]; /**< faults by class */
	uint64_t sum[SUMS];
};

/** Notes what is wrong; of several the first one. */
void verdict_violation(struct verdict *v, const char *kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** Whether both say the same, but for numbers and names: a case that is made smaller stays what it was. */
bool verdict_alike(const char *a, const char *b);
bool verdict_is(const char *reason, const char *kind);

#endif
