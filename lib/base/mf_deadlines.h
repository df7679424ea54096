/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A heap of deadlines: each number below its size is in it once at most, by its time. Of equal times the one
 * that was set first is first. So a number that was served and is set anew stands behind those that wait, and
 * all take turns. For many queues that share one table: mf_heap.h.
 */
#ifndef MF_DEADLINES_H
#define MF_DEADLINES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mf_time.h"

#define MF_DEADLINES_NIL UINT32_MAX

struct mf_deadlines_entry {
	mf_time at;
	uint32_t turn; /**< of equal times, modulo 2^32 */
	uint32_t i;
};

struct mf_deadlines {
	struct mf_deadlines_entry *heap;
	uint32_t *place; /**< [size] of each number in the heap, plus one; 0: it is not there */
	uint32_t count;
	bool lent; /**< place is another heap's */
	uint32_t turn;
};

/** @return 0 or -ENOMEM */
int mf_deadlines_init(struct mf_deadlines *d, uint32_t size);
/** One of several heaps of which no two ever have the same number: they share what says where each stands. */
int mf_deadlines_init_beside(struct mf_deadlines *d, uint32_t size, const struct mf_deadlines *first);
void mf_deadlines_fini(struct mf_deadlines *d);

/** Puts a number in, or moves it: behind all of the same time. */
void mf_deadlines_set(struct mf_deadlines *d, uint32_t i, mf_time at);
/** Takes it out, if it is there. */
void mf_deadlines_remove(struct mf_deadlines *d, uint32_t i);

static inline bool mf_deadlines_has(const struct mf_deadlines *d, uint32_t i)
{
	return d->place[i] != 0;
}

/** MF_NEVER: it is not there. */
static inline mf_time mf_deadlines_at(const struct mf_deadlines *d, uint32_t i)
{
	return d->place[i] != 0 ? d->heap[d->place[i] - 1].at : MF_NEVER;
}

static inline mf_time mf_deadlines_next(const struct mf_deadlines *d)
{
	return d->count > 0 ? d->heap[0].at : MF_NEVER;
}

/** The first, if it is due; MF_DEADLINES_NIL: there is none. */
static inline uint32_t mf_deadlines_first(const struct mf_deadlines *d, mf_time now)
{
	return mf_deadlines_next(d) <= now && d->count > 0 ? d->heap[0].i : MF_DEADLINES_NIL;
}

#endif
