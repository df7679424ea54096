/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who is due when: a heap of (time, number), in which each number below its size stands once at most. Equal
 * times go by the number.
 */
#ifndef DUE_H
#define DUE_H

#include <stdbool.h>
#include <stdint.h>

#include "mf_time.h"

#define DUE_NIL UINT32_MAX

struct due_entry {
	mf_time at;
	uint32_t i;
};

struct due {
	struct due_entry *heap;
	uint32_t *place; /**< [size] of each number in the heap, plus one; 0: it is not there */
	uint32_t count;
};

/** @return 0 or -ENOMEM */
int due_init(struct due *d, uint32_t size);
void due_fini(struct due *d);

/** Puts a number in, or moves it. */
void due_set(struct due *d, uint32_t i, mf_time at);
/** Takes it out, if it is there. */
void due_remove(struct due *d, uint32_t i);

static inline bool due_has(const struct due *d, uint32_t i)
{
	return d->place[i] != 0;
}

/** MF_NEVER: it is not there. */
static inline mf_time due_at(const struct due *d, uint32_t i)
{
	return d->place[i] != 0 ? d->heap[d->place[i] - 1].at : MF_NEVER;
}

static inline mf_time due_next(const struct due *d)
{
	return d->count > 0 ? d->heap[0].at : MF_NEVER;
}

/** The first, if it is due; DUE_NIL: there is none. */
static inline uint32_t due_first(const struct due *d, mf_time now)
{
	return due_next(d) <= now && d->count > 0 ? d->heap[0].i : DUE_NIL;
}

#endif
