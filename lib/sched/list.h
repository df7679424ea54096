/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The notification queue of a destination, which 3.1.2 keeps in a hardware list that is always in order:
 * the keys of its candidates in an array, the highest priority first.
 *
 * A few keys are in the cache line of the list. Of more the shorter side makes way: what is granted is near
 * the front and what arrives is near the end, so the list wanders backwards.
 */
#ifndef MF_SCHED_LIST_H
#define MF_SCHED_LIST_H

#include <string.h>

#include "scan.h"

#define LIST_SHORT 16 /* keys */
#define LIST_WANDER 64 /* keys that a list can wander */
#define LIST_BEYOND 8 /* keys behind the end that may be read */

static inline sched_key *list_keys(struct sched_list *l)
{
	if (sched_rarely(l->count > SCHED_FEW))
		return l->room + l->first;
	return l->few;
}

/**
 * How many keys of the list go before this one. In a short list nobody could foretell the branches of a
 * search; in a long one a guess brings the keys to the cache that come next.
 */
static inline uint32_t list_rank(struct sched_list *l, sched_key key)
{
	const sched_key *from = list_keys(l), *at = from;
	uint32_t n = l->count, half;

	if (!n || from[n - 1] < key)
		return n;
	while (n > LIST_SHORT) {
		half = n / 2;
		if (at[half - 1] < key)
			at += half;
		n -= half;
	}
	for (; n > 1; n -= half) {
		half = n / 2;
		at += half & -(uint32_t)(at[half - 1] < key);
	}
	return at - from;
}

static inline void list_home(struct sched_list *l)
{
	memmove(l->room, l->room + l->first, l->count * sizeof(*l->room));
	l->first = 0;
}

/** Inserts a key into a list that is more than a few. */
SCHED_PART void list_insert_room(struct sched_list *l, sched_key key)
{
	uint32_t at = list_rank(l, key);
	sched_key *keys;

	if (l->count == SCHED_FEW) {
		memcpy(l->room, l->few, sizeof(l->few));
		l->first = 0;
	}
	if (l->first + l->count == l->size)
		list_home(l);
	keys = l->room + l->first;
	if (l->count > LIST_SHORT && at < l->count / 2u && l->first) {
		scan_shift_down(keys--, at);
		l->first--;
	} else {
		scan_shift_up(keys + at, l->count - at);
	}
	keys[at] = key;
	l->count++;
}

/** No step waits for a store to the line of a list, which is read and written as a whole. */
static inline void list_insert(struct sched_list *l, sched_key key)
{
	uint32_t n = l->count;

	if (sched_rarely(n >= SCHED_FEW)) {
		list_insert_room(l, key);
		return;
	}
	scan_insert(l->few, n, key);
	l->count = n + 1;
}

/** Removes one from a list that is more than a few. */
SCHED_PART void list_remove_room(struct sched_list *l, uint32_t at)
{
	sched_key *keys = l->room + l->first;
	uint32_t behind = --l->count - at;

	if (l->count > LIST_SHORT && at < behind) {
		scan_shift_up(keys, at);
		l->first++;
	} else {
		scan_shift_down(keys + at + 1, behind);
	}
	if (l->count == SCHED_FEW)
		memcpy(l->few, l->room + l->first, sizeof(l->few));
}

static inline void list_remove(struct sched_list *l, uint32_t at)
{
	uint32_t n = l->count;

	if (sched_rarely(n > SCHED_FEW)) {
		list_remove_room(l, at);
		return;
	}
	scan_remove(l->few, at);
	l->count = n - 1;
}

/** The priority of the candidate there has become higher. @return its place */
static inline uint32_t list_raise(struct sched_list *l, uint32_t at, sched_key key)
{
	sched_key *keys = list_keys(l);

	for (; at && keys[at - 1] > key; at--)
		keys[at] = keys[at - 1];
	keys[at] = key;
	return at;
}

#endif
