/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The event queue of the virtual clock: each actor has one time at which it wants to be called.
 *
 * An indexed 4-ary heap. Events of equal time come in the order of the actors' numbers, so the order
 * of a run follows from the fabric alone.
 */
#ifndef EVENT_H
#define EVENT_H

#include <stdint.h>

#include "mf_time.h"

struct event_queue {
	mf_time *due; /**< of each actor; MF_NEVER: not in the heap */
	uint32_t *heap; /**< actors */
	uint32_t *place; /**< of each actor in the heap */
	uint32_t actors, count;
};

/** @return 0 or -ENOMEM */
int event_init(struct event_queue *q, uint32_t actors);
void event_fini(struct event_queue *q);

/** Sets the time of an actor, earlier or later than before; MF_NEVER takes it out. */
void event_set(struct event_queue *q, uint32_t actor, mf_time due);

/** Sets the time of an actor if that is earlier. */
static inline void event_hasten(struct event_queue *q, uint32_t actor, mf_time due)
{
	if (due < q->due[actor])
		event_set(q, actor, due);
}

/** Time of the next event, or MF_NEVER. */
static inline mf_time event_next(const struct event_queue *q)
{
	return q->count > 0 ? q->due[q->heap[0]] : MF_NEVER;
}

/** Actor of the next event; there must be one. It keeps its time until event_set() changes it. */
static inline uint32_t event_actor(const struct event_queue *q)
{
	return q->heap[0];
}

#endif
