/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The notification queue of a destination, which 3.1.2 keeps in a hardware list that is always in order:
 * the keys of its candidates, the highest priority first.
 *
 * The first few are in the cache line of the list. If there are more, they are in its room, where the shorter
 * side makes way: what is granted is near the front and what arrives is near the end, so they wander. The
 * sources of the first of them are in a line of their own, which holds what eight lines of keys do.
 */
#ifndef MF_SCHED_LIST_H
#define MF_SCHED_LIST_H

#include <string.h>

#include "scan.h"

#define LIST_SHORT 16 /* keys */
#define LIST_WANDER 64 /* keys that a list can wander */
#define LIST_BEYOND 8 /* keys behind the end that may be read */

/** Where the key at a place is. Nobody could foretell a branch. */
static inline sched_key *list_at(struct sched_list *l, uint32_t at)
{
	uintptr_t near = (uintptr_t)(l->few + at), far = (uintptr_t)l->room, beyond = at >= SCHED_FEW;

	far += ((uintptr_t)l->first + at - SCHED_FEW) * sizeof(*l->room);
	return (sched_key *)(near ^ ((near ^ far) & -beyond));
}

/** How many keys of an array go before this one. A guess brings the keys to the cache that come next. */
static inline uint32_t list_search(const sched_key *keys, uint32_t n, sched_key key)
{
	const sched_key *at = keys;
	uint32_t half;

	if (!n || keys[n - 1] < key)
		return n;
	while (n > LIST_SHORT) {
		half = n / 2;
		if (at[half - 1] < key)
			at += half;
		n -= half;
	}
	for (; n > 1; n -= half) { /* in so few nobody could foretell a branch */
		half = n / 2;
		at += half & -(uint32_t)(at[half - 1] < key);
	}
	return at - keys;
}

/** How many keys of the list go before this one. */
static inline uint32_t list_rank(struct sched_list *l, sched_key key)
{
	if (l->count <= SCHED_FEW || key <= l->few[SCHED_FEW - 1])
		return list_search(l->few, l->count < SCHED_FEW ? l->count : SCHED_FEW, key);
	return SCHED_FEW + list_search(l->room + l->first, l->count - SCHED_FEW, key);
}

/** The place of the first key, not before `from`, whose source is in the map; count: there is none. */
static inline uint32_t list_free(const struct sched_list *l, uint32_t from, const struct sched_map *free)
{
	uint32_t n = l->count, named = n < SCHED_NAMED ? n : SCHED_NAMED, at;

	if (n <= SCHED_FEW)
		return scan_few(l->few, n, from, free);
	at = scan_named(l->src, named, from, free);
	if (at < named || n <= SCHED_NAMED)
		return at;
	from = from > SCHED_NAMED ? from : SCHED_NAMED;
	return SCHED_FEW + scan_free(l->room + l->first, n - SCHED_FEW, from - SCHED_FEW, free);
}

/** There is place on both sides of the n keys in the room. */
static inline void list_home(struct sched_list *l, uint32_t n)
{
	uint32_t to = (l->size - n) / 2;

	memmove(l->room + to, l->room + l->first, n * sizeof(*l->room));
	l->first = to;
}

/** Puts a key at a place among the n in the room. */
static inline void list_open(struct sched_list *l, uint32_t n, uint32_t at, sched_key key)
{
	bool front = at < n - at;

	if (front ? !l->first : l->first + n == l->size)
		list_home(l, n);
	if (front)
		scan_shift_down(l->room + l->first--, at);
	else
		scan_shift_up(l->room + l->first + at, n - at);
	l->room[l->first + at] = key;
}

/** Takes out the key at a place among the n in the room. */
static inline void list_close(struct sched_list *l, uint32_t n, uint32_t at)
{
	uint32_t behind = n - 1 - at;

	if (at <= behind)
		scan_shift_up(l->room + l->first++, at);
	else
		scan_shift_down(l->room + l->first + at + 1, behind);
}

/** A source comes at a place. */
static inline void list_name(struct sched_list *l, uint32_t at, sched_key key)
{
	if (at >= SCHED_NAMED)
		return;
	memmove(l->src + at + 1, l->src + at, (SCHED_NAMED - 1 - at) * sizeof(*l->src));
	l->src[at] = sched_key_src(key);
}

/** Inserts a key into a list that is more than a few. */
SCHED_PART void list_insert_room(struct sched_list *l, sched_key key)
{
	uint32_t at = list_rank(l, key), n = l->count++ - SCHED_FEW;

	for (uint32_t i = 0; !n && i < SCHED_FEW; i++)
		l->src[i] = sched_key_src(l->few[i]);
	list_name(l, at, key);
	if (at >= SCHED_FEW) {
		list_open(l, n, at - SCHED_FEW, key);
		return;
	}
	list_open(l, n, 0, l->few[SCHED_FEW - 1]);
	for (uint32_t i = SCHED_FEW - 1; i > at; i--)
		l->few[i] = l->few[i - 1];
	l->few[at] = key;
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

/** The source at a place goes. */
static inline void list_forget(struct sched_list *l, uint32_t at)
{
	if (at >= SCHED_NAMED)
		return;
	memmove(l->src + at, l->src + at + 1, (SCHED_NAMED - 1 - at) * sizeof(*l->src));
	if (l->count >= SCHED_NAMED)
		l->src[SCHED_NAMED - 1] = sched_key_src(*list_at(l, SCHED_NAMED - 1));
}

/** Removes one from a list that is more than a few. */
SCHED_PART void list_remove_room(struct sched_list *l, uint32_t at)
{
	uint32_t n = l->count-- - SCHED_FEW;

	if (at >= SCHED_FEW) {
		list_close(l, n, at - SCHED_FEW);
	} else {
		for (uint32_t i = at; i + 1 < SCHED_FEW; i++)
			l->few[i] = l->few[i + 1];
		l->few[SCHED_FEW - 1] = l->room[l->first];
		list_close(l, n, 0);
	}
	list_forget(l, at);
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

/** A key and the one behind it change places. */
static inline void list_swap(struct sched_list *l, uint32_t at)
{
	sched_key *a = list_at(l, at), *b = list_at(l, at + 1), key = *a;

	*a = *b;
	*b = key;
	if (at < SCHED_NAMED)
		l->src[at] = sched_key_src(*a);
	if (at + 1 < SCHED_NAMED)
		l->src[at + 1] = sched_key_src(key);
}

/** The priority of the candidate there has become higher. @return its place */
static inline uint32_t list_raise(struct sched_list *l, uint32_t at, sched_key key)
{
	*list_at(l, at) = key;
	for (; at && *list_at(l, at - 1) > key; at--)
		list_swap(l, at - 1);
	return at;
}

#endif
