/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which peer of a node may send next: a heap of those that have something, by the time from which on they
 * may. Whoever was served and has more stands behind those that wait: so all take turns.
 */
#ifndef DUE_H
#define DUE_H

#include <stdbool.h>
#include <stdint.h>

#include "mf_time.h"

#define DUE_NONE UINT16_MAX

struct due_entry {
	mf_time at;
	uint64_t turn; /**< of equal times */
	uint16_t peer;
};

struct due {
	struct due_entry *heap; /**< [peers] */
	uint16_t *place; /**< [peers] in the heap, plus one; 0: it is not in it */
	uint64_t turn;
	uint16_t count;
};

/** @return 0 or -ENOMEM */
int due_init(struct due *d, uint16_t peers);
void due_fini(struct due *d);

/**
 * A peer may send from then on. MF_NEVER: it has nothing. One that may send already keeps its place.
 */
void due_set(struct due *d, uint16_t peer, mf_time at, mf_time now);

/** One that was served may send again from then on, behind all whose time is that, too. */
void due_served(struct due *d, uint16_t peer, mf_time at);

/** When the first may; MF_NEVER. */
static inline mf_time due_next(const struct due *d)
{
	return d->count != 0 ? d->heap[0].at : MF_NEVER;
}

/** The first, if it may at now; else DUE_NONE. */
static inline uint16_t due_first(const struct due *d, mf_time now)
{
	return due_next(d) <= now && d->count != 0 ? d->heap[0].peer : DUE_NONE;
}

#endif
