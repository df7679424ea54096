/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The notification queue of a destination, which 3.1.2 keeps in a hardware list that is always in order:
 * the keys of its candidates in an array, the highest priority first.
 *
 * What is granted is near the front and what arrives is near the end, so it is the shorter side that makes
 * way. The list wanders backwards like that, and is taken back to the start of its array before it has
 * left a few cache lines.
 */
#ifndef MF_SCHED_LIST_H
#define MF_SCHED_LIST_H

#include <string.h>

#include "key.h"

#define SCHED_LIST_WANDER 32 /* keys, besides its own length */
#define SCHED_LIST_BEYOND 8 /* keys that may be read behind its end */

struct sched_list {
	sched_key *room;
	uint32_t size; /* keys that fit */
	uint32_t first, count;
};

/** Of an array, for so many candidates at most: an odd number of cache lines, so that sets are shared. */
static inline size_t sched_list_room(size_t candidates)
{
	return (candidates + SCHED_LIST_WANDER + SCHED_LIST_BEYOND + 3) / 4 / 2 * 8 + 4;
}

static inline sched_key *sched_list_keys(const struct sched_list *l)
{
	return l->room + l->first;
}

/** How many keys of the list go before this one. */
static inline uint32_t sched_list_rank(const struct sched_list *l, sched_key key)
{
	const sched_key *from = sched_list_keys(l), *at = from;

	if (!l->count || from[l->count - 1] < key)
		return l->count;
	for (uint32_t n = l->count, half; n > 1; n -= half) {
		half = n / 2;
		at += at[half - 1] < key ? half : 0;
	}
	return at - from;
}

static inline void sched_list_home(struct sched_list *l)
{
	memmove(l->room, sched_list_keys(l), l->count * sizeof(*l->room));
	l->first = 0;
}

static inline void sched_list_insert(struct sched_list *l, sched_key key)
{
	uint32_t at = sched_list_rank(l, key);
	sched_key *keys;

	if (l->first + l->count == l->size)
		sched_list_home(l);
	keys = sched_list_keys(l);
	if (at < l->count / 2 && l->first) {
		memmove(keys - 1, keys, at * sizeof(key));
		keys--;
		l->first--;
	} else if (at < l->count) {
		memmove(keys + at + 1, keys + at, (l->count - at) * sizeof(key));
	}
	keys[at] = key;
	l->count++;
}

static inline void sched_list_remove(struct sched_list *l, uint32_t at)
{
	sched_key *keys = sched_list_keys(l);

	l->count--;
	if (at > l->count / 2) {
		memmove(keys + at, keys + at + 1, (l->count - at) * sizeof(*keys));
		return;
	}
	if (at)
		memmove(keys + 1, keys, at * sizeof(*keys));
	if (++l->first > l->count + SCHED_LIST_WANDER || !l->count)
		sched_list_home(l);
}

/** The priority of the candidate there has become higher. */
static inline void sched_list_raise(struct sched_list *l, uint32_t at, sched_key key)
{
	sched_key *keys = sched_list_keys(l);

	for (; at && keys[at - 1] > key; at--)
		keys[at] = keys[at - 1];
	keys[at] = key;
}

#endif
