/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The allocated ranges of an address space, ordered, with rights (the VA allocation tree of Clio 4.2). Ranges
 * of all spaces of a memory node come from one pool of a fixed size. What is between ranges is a hole.
 *
 *      hole ── put ──> MAKING ── change ──> LIVE ── change ──> GOING ── drop ──> hole
 *                        └──────────────── drop ──────────────────────────────────┘
 *
 * Addresses and lengths are octets. Ranges know no pages: the caller refuses what is not whole pages.
 *
 * LIVE neighbours with equal rights are one range. Others are not joined: each is of one task, which can
 * always drop all of it.
 *
 * A call takes O(log n) steps for n ranges of the space, times the ranges that it covers, which are bounded.
 * It is done as a whole or not at all. One thread, that of the slow path. Nothing is allocated after
 * mf_range_pool_new().
 */
#ifndef MF_RANGES_H
#define MF_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#define MF_RANGES_OF_POOL_MAX (UINT32_C(1) << 28)
#define MF_RANGE_NONE UINT64_MAX /**< no address */

struct mf_range_pool;

enum mf_range_state {
	MF_RANGE_MAKING, /**< a task is allocating it */
	MF_RANGE_LIVE,
	MF_RANGE_GOING, /**< a task is freeing it */
	MF_RANGE_STATES
};

struct mf_range_kind {
	uint8_t state; /**< enum mf_range_state */
	uint8_t rights; /**< enum mf_page_right; kept and compared, no more */
};

/** A range: octets at..end - 1. */
struct mf_range {
	uint64_t at, end;
	struct mf_range_kind kind;
};

/** Those of a space; {0}: none. */
struct mf_ranges {
	uint32_t root; /**< of the tree; 0: it is empty */
	uint32_t ranges;
};

struct mf_range_pool_config {
	uint32_t ranges; /**< of all spaces, 1..MF_RANGES_OF_POOL_MAX */
	uint32_t covered_max; /**< ranges that a change or drop may cover, >= 1 */
};

/** @return NULL with errno: EINVAL, ENOMEM */
struct mf_range_pool *mf_range_pool_new(const struct mf_range_pool_config *config);
/** Spaces that still have ranges lose them. */
void mf_range_pool_free(struct mf_range_pool *p);

/** Ranges that can still be made. */
uint32_t mf_range_pool_left(const struct mf_range_pool *p);

/**
 * The first range that ends after an address: the one that has the address, or the next one.
 * @return false: there is none
 */
bool mf_ranges_next(const struct mf_range_pool *p, const struct mf_ranges *r, uint64_t addr,
		    struct mf_range *out);

/**
 * The lowest address of len octets that are in no range (first fit).
 * @param from, to  the octets are from..to - 1, or within
 * @param len       > 0
 * @return MF_RANGE_NONE: there is none
 */
uint64_t mf_ranges_hole(const struct mf_range_pool *p, const struct mf_ranges *r, uint64_t from, uint64_t to,
			uint64_t len);

/**
 * Makes a range in a hole.
 * @return 0; -EINVAL: len is 0, or at + len above 2^48; -EEXIST: some of it is in a range; -ENOSPC: the pool
 *         is empty
 */
int mf_ranges_put(struct mf_range_pool *p, struct mf_ranges *r, uint64_t at, uint64_t len,
		  struct mf_range_kind kind);

/**
 * Makes one range of what is in ranges of a state now. Ranges that it covers in part are cut.
 * @param from  their state
 * @param kind  of the new range
 * @return 0; -EINVAL: len is 0, or at + len above 2^48; -ENOENT: some of it is in no range, or in one of
 *         another state; -E2BIG: it is in more than covered_max ranges; -ENOSPC: the pool has too few for
 *         what is cut
 */
int mf_ranges_change(struct mf_range_pool *p, struct mf_ranges *r, uint64_t at, uint64_t len,
		     enum mf_range_state from, struct mf_range_kind kind);

/** Makes a hole of what is in ranges of a state now. Fails as mf_ranges_change() does. */
int mf_ranges_drop(struct mf_range_pool *p, struct mf_ranges *r, uint64_t at, uint64_t len,
		   enum mf_range_state from);

#endif
