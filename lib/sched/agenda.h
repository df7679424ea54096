/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An agenda: numbered slots in order of time, equal times in order of a tie-break, then as they came.
 *
 * For what comes nearly in order already: adding walks back from the tail, taking the first is free.
 * What a slot stands for is the user's, in an array of his own.
 */
#ifndef MF_SCHED_AGENDA_H
#define MF_SCHED_AGENDA_H

#include "mf_time.h"

struct agenda_node {
	mf_time time;
	uint32_t tie;
	uint32_t prev, next; /* next also links the free slots */
};

struct agenda {
	struct agenda_node *node; /* room + 1: node 0 is both ends of the ring */
	uint32_t room;
	uint32_t used; /* slots that were ever taken: the memory behind them is untouched */
	uint32_t free; /* last slot given back: it is the one that is still cached */
};

/** @return a slot from 1 to room, or 0: full */
static inline uint32_t agenda_add(struct agenda *a, mf_time time, uint32_t tie)
{
	struct agenda_node *node = a->node;
	uint32_t slot = a->free, after = node[0].prev;

	if (slot)
		a->free = node[slot].next;
	else if (a->used < a->room)
		slot = ++a->used;
	else
		return 0;
	while (after && (node[after].time > time || (node[after].time == time && node[after].tie > tie)))
		after = node[after].prev;
	node[slot] = (struct agenda_node){time, tie, after, node[after].next};
	node[node[after].next].prev = slot;
	node[after].next = slot;
	return slot;
}

/** @return the earliest slot, or 0: empty */
static inline uint32_t agenda_first(const struct agenda *a)
{
	return a->node[0].next;
}

static inline mf_time agenda_time(const struct agenda *a)
{
	uint32_t slot = agenda_first(a);

	return slot ? a->node[slot].time : MF_NEVER;
}

/** Gives the earliest slot back. */
static inline void agenda_drop(struct agenda *a)
{
	uint32_t slot = agenda_first(a);

	a->node[0].next = a->node[slot].next;
	a->node[a->node[slot].next].prev = 0;
	a->node[slot].next = a->free;
	a->free = slot;
}

#endif
