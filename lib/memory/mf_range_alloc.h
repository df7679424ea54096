/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An allocation under way (Clio 4.2): addresses that follow each other, each of whose pages has a slot in its
 * bucket of the page table. It is cut into slices, so an allocation of a million pages delays no other task.
 *
 *      FINDING ── hole ──> TAKING ── a slot for each page ──> DONE ── mf_range_alloc_cancel ─────┐
 *         ^  └─ none ─┐       └── a bucket is full: a retry ──> UNDOING <────────────────────────┘
 *         └───────────┼────────────────────────────────────────────┤
 *                     └──────────────> FAILED <──── too many ──────┘
 *
 * A retry begins after the first page that does not fit, since no range with this page would fit. The search
 * goes from the hint up to the end of the class, and then once from the beginning of the class.
 *
 * What it has so far is a MAKING range of the space, which no other allocation gets. DONE: the caller has the
 * fast path add the entries, and then makes the range LIVE (mf_ranges_change).
 *
 * One thread, that of the slow path. Nothing is allocated.
 */
#ifndef MF_RANGE_ALLOC_H
#define MF_RANGE_ALLOC_H

#include <stdbool.h>
#include <stdint.h>

#include "memory/mf_bucket_use.h"
#include "memory/mf_ranges.h"

struct mf_range_alloc_config {
	struct mf_range_pool *pool;
	struct mf_ranges *ranges; /**< of the space; the caller's, must outlive the allocation */
	struct mf_bucket_use *use;
	uint32_t space; /**< below MF_SPACES */
	uint8_t page_class; /**< below MF_PAGE_CLASSES */
	uint8_t shift; /**< a page has 2^shift octets: MF_PAGE_SHIFT_MIN..MF_PAGE_SHIFT_MAX */
	uint8_t rights; /**< enum mf_page_right */
	uint64_t pages; /**< > 0 */
	/**
	 * The hint: the range begins here if it can, else at the next address where it can. In the class, a
	 * multiple of the page size. 0: the beginning of the class. If the program asks for no address, the
	 * best hint is where the last range of the space ended: before it are holes of pages that did not
	 * fit (docs/memory.md).
	 */
	uint64_t from;
	uint32_t retries_max; /**< with one more it has failed */
};

enum mf_range_alloc_state {
	MF_ALLOC_FINDING,
	MF_ALLOC_TAKING,
	MF_ALLOC_UNDOING,
	MF_ALLOC_DONE, /**< it has the range and the slots */
	MF_ALLOC_FAILED, /**< it has nothing: .error says why */
};

/** The caller reads what is marked so; all else is the allocation's. */
struct mf_range_alloc {
	struct mf_range_alloc_config config;
	uint8_t state; /**< read: enum mf_range_alloc_state */
	bool wrapped; /**< it has begun again at the beginning of the class */
	/**
	 * Read: FAILED: -ENOSPC: no addresses, or fewer free slots than pages; -EAGAIN: too many retries;
	 * -ENOMEM: the pool of ranges is empty; -ECANCELED
	 */
	int error;
	uint32_t retries; /**< read: pages that did not fit */
	uint64_t at; /**< read: DONE: the range's first address. Else of the try */
	uint64_t taken; /**< pages of the try that have a slot */
	uint64_t next; /**< where the next try may begin */
};

/**
 * Begins; nothing is looked for yet.
 * @return 0; -EINVAL: a parameter out of range, or more pages than the class has addresses
 */
int mf_range_alloc_begin(struct mf_range_alloc *a, const struct mf_range_alloc_config *config);

/**
 * Continues.
 * @param steps  at most: a search for a hole is one, a slot that is taken or let go is one. Lowered by what
 *               was done
 * @return a->state: DONE or FAILED, or a state to go on from
 */
enum mf_range_alloc_state mf_range_alloc_run(struct mf_range_alloc *a, uint64_t *steps);

/** Gives up, before any entry is added; mf_range_alloc_run() then ends in FAILED. FAILED: nothing is done. */
void mf_range_alloc_cancel(struct mf_range_alloc *a);

/** Octets of the range. */
static inline uint64_t mf_range_alloc_len(const struct mf_range_alloc *a)
{
	return a->config.pages << a->config.shift;
}

#endif
