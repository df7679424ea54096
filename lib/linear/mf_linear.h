/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether a history of operations on one word is linearizable: whether each of them can have happened at one
 * instant between its call and its return, in an order that explains all that was found (Herlihy and Wing
 * 1990). The search is that of Wing and Gong (1993) with the memory of Lowe (2017): a set of operations that
 * have happened, with the value that the word then has, is tried once.
 *
 * Histories of different words are checked apart: a set of words is linearizable if each of them is. What the
 * search remembers are fingerprints of 128 bits; that two sets of a search have the same, and a history is
 * called wrong for it, has a chance below states^2 / 2^129.
 */
#ifndef MF_LINEAR_H
#define MF_LINEAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mf_time.h"

enum mf_linear_kind {
	MF_LINEAR_READ,
	MF_LINEAR_WRITE, /**< arg[0] */
	MF_LINEAR_CAS, /**< arg[0] expected, arg[1] desired */
	MF_LINEAR_FADD, /**< these: arg[0] */
	MF_LINEAR_SWAP,
	MF_LINEAR_OR,
	MF_LINEAR_AND,
	MF_LINEAR_WRITE_PART, /**< the bits of mask arg[1] become those of arg[0] */
	MF_LINEAR_READ_PART, /**< it finds the bits of mask arg[1] */
	MF_LINEAR_KINDS
};

/** What is known of what an operation found. */
enum mf_linear_found {
	MF_LINEAR_NOTHING, /**< of a write there is no more to know; else: nobody was told */
	MF_LINEAR_VALUE, /**< .value was there; READ_PART: those bits of it, the others of .value are 0 */
	MF_LINEAR_EQUAL, /**< CAS: what it expected */
	MF_LINEAR_UNEQUAL, /**< CAS: something else */
};

struct mf_linear_op {
	mf_time call;
	mf_time ret; /**< not before call; MF_NEVER: it may happen at any time after call, or never */
	uint64_t arg[2];
	uint64_t value;
	uint8_t kind; /**< enum mf_linear_kind */
	uint8_t found; /**< enum mf_linear_found */
	bool may; /**< it may happen until ret, or never */
	/** 1..n: what happens of those with the same one does so in the order of their places; 0: of none */
	uint32_t chain;
};

enum mf_linear_verdict {
	MF_LINEAR_YES,
	MF_LINEAR_NO,
	MF_LINEAR_GAVE_UP, /**< it would have to remember more than it may */
};

struct mf_linear_result {
	enum mf_linear_verdict verdict;
	uint64_t states; /**< that were tried */
	/** NO: place of the operation that no order explains that explains all before; by the furthest try */
	size_t op;
};

struct mf_linear;

/**
 * @param ops     most operations of a history, 1..2^24
 * @param states  most sets that are remembered, 1..2^30; up to 68 octets each
 * @return NULL with errno: EINVAL, ENOMEM
 */
struct mf_linear *mf_linear_new(size_t ops, size_t states);
void mf_linear_free(struct mf_linear *l);

/**
 * @param op       in any order; not changed
 * @param n        at most as many as there is room for
 * @param initial  value of the word before all of them
 * @param out      what was found
 * @return 0; -EINVAL: too many, or one that cannot be: unknown kind, returned before its call, a find that
 *         its kind does not have, a chain beyond n
 */
int mf_linear_check(struct mf_linear *l, const struct mf_linear_op *op, size_t n, uint64_t initial,
		    struct mf_linear_result *out);

#endif
