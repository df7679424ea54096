/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A calendar: numbered entries in order of time, equal times as they came. What an entry stands for is
 * the user's, in an array of his own.
 *
 * A radix heap: level L has 64 slots, told apart by digit L of the time in base 64, for the entries that
 * differ from base in that digit and in none above it. Time only goes on, so base does: to the first
 * entry, when that is taken. Then the slot that it lies in, the lowest of the lowest level, is spread over
 * the levels below; all others are where they have to be. An entry goes down a level at a time, so
 * nothing depends on how many there are.
 */
#ifndef MF_SCHED_CALENDAR_H
#define MF_SCHED_CALENDAR_H

#include <stdbool.h>

#include "mf_time.h"

#define CALENDAR_LEVELS 11 /* of 6 bits each */

struct calendar_node {
	mf_time time;
	uint32_t next; /* 0: none */
};

struct calendar_slot {
	uint32_t head, tail; /* 0: empty */
};

struct calendar {
	mf_time first; /* the earliest time, or MF_NEVER */
	mf_time base; /* none is earlier */
	struct calendar_node *node; /* by number, from 1 */
	uint32_t levels; /* that are not empty */
	uint64_t slots[CALENDAR_LEVELS]; /* that are not empty */
	struct calendar_slot slot[CALENDAR_LEVELS][64];
};

static inline void calendar_init(struct calendar *c, struct calendar_node *node)
{
	c->node = node;
	c->first = MF_NEVER;
}

static inline void calendar_file(struct calendar *c, uint32_t i)
{
	mf_time time = c->node[i].time;
	unsigned int level = (63u - (unsigned int)__builtin_clzll((time ^ c->base) | 1)) / 6;
	unsigned int digit = time >> 6 * level & 63;
	struct calendar_slot *slot = &c->slot[level][digit];

	if (slot->head)
		c->node[slot->tail].next = i;
	else
		slot->head = i;
	slot->tail = i;
	c->node[i].next = 0;
	c->slots[level] |= UINT64_C(1) << digit;
	c->levels |= 1u << level;
}

/** @param time not before that of any entry ever taken */
static inline void calendar_add(struct calendar *c, uint32_t i, mf_time time)
{
	c->node[i].time = time;
	c->first = mf_time_min(c->first, time);
	calendar_file(c, i);
}

/** The slot that the earliest entry lies in. */
static inline struct calendar_slot *calendar_lowest(struct calendar *c, unsigned int *level)
{
	*level = __builtin_ctz(c->levels);
	return &c->slot[*level][__builtin_ctzll(c->slots[*level])];
}

static inline void calendar_emptied(struct calendar *c, unsigned int level)
{
	c->slots[level] &= c->slots[level] - 1; /* it was the lowest */
	if (!c->slots[level])
		c->levels &= c->levels - 1;
}

static inline mf_time calendar_earliest(struct calendar *c)
{
	mf_time first = MF_NEVER;
	unsigned int level;

	if (!c->levels)
		return MF_NEVER;
	for (uint32_t i = calendar_lowest(c, &level)->head; i; i = level ? c->node[i].next : 0)
		first = mf_time_min(first, c->node[i].time);
	return first;
}

/** Takes the earliest entry out; there is one. */
static inline uint32_t calendar_take(struct calendar *c)
{
	unsigned int level;
	struct calendar_slot *slot = calendar_lowest(c, &level);
	uint32_t i = slot->head;

	c->base = c->first;
	if (level && i != slot->tail) {
		slot->head = 0;
		calendar_emptied(c, level);
		for (uint32_t next; i; i = next) {
			next = c->node[i].next;
			calendar_file(c, i);
		}
		slot = calendar_lowest(c, &level);
		i = slot->head;
	}
	slot->head = c->node[i].next;
	if (!slot->head) {
		calendar_emptied(c, level);
		c->first = calendar_earliest(c);
	}
	return i;
}

#endif
