/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The notification queue of a destination, which 3.1.2 keeps in a hardware list that is always in order:
 * the keys of its candidates, the highest priority first.
 *
 * The first few are in the cache line of the list. The others are in its room, where the shorter side makes
 * way: what is granted is near the front and what arrives is near the end, so they wander. Behind the room are
 * their sources, of which a cache line holds what eight lines of keys do.
 */
#ifndef MF_SCHED_LIST_H
#define MF_SCHED_LIST_H

#include <string.h>

#include "scan.h"

#define LIST_SHORT 16 /* keys */
#define LIST_WANDER 64 /* keys that a list can wander */
#define LIST_BEYOND 8 /* keys behind the end that may be read */

/** Keys that a room takes, with the sources of so many. */
#define LIST_ROOM(size) ((size) + ((size) * sizeof(uint16_t) + sizeof(sched_key) - 1) / sizeof(sched_key))

/** The sources of the keys in the room. */
static inline uint16_t *list_sources(const struct sched_list *l)
{
	return (uint16_t *)(l->room + l->size) + l->first;
}

static inline sched_key *list_at(struct sched_list *l, uint32_t at)
{
	return sched_rarely(at >= SCHED_FEW) ? l->room + l->first + (at - SCHED_FEW) : l->few + at;
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

/** The place of the first key, not before a place, whose source is in the map. @return count: there is none */
static inline uint32_t list_free(const struct sched_list *l, uint32_t from, const struct sched_map *free)
{
	uint32_t n = l->count, at;

	if (from < SCHED_FEW) {
		at = scan_few(l->few, n, from, free);
		if (at < n || n <= SCHED_FEW)
			return at;
		from = SCHED_FEW;
	}
	return SCHED_FEW + scan_free(list_sources(l), n - SCHED_FEW, from - SCHED_FEW, free);
}

/** There is place on both sides of the n keys in the room. */
static inline void list_home(struct sched_list *l, uint32_t n)
{
	uint32_t to = (l->size - n) / 2;

	memmove(l->room + to, l->room + l->first, n * sizeof(*l->room));
	memmove(list_sources(l) - l->first + to, list_sources(l), n * sizeof(uint16_t));
	l->first = to;
}

/** Puts a key at a place among the n in the room. */
static inline void list_open(struct sched_list *l, uint32_t n, uint32_t at, sched_key key)
{
	bool front = at < n - at;
	uint16_t *src;

	if (front ? !l->first : l->first + n == l->size)
		list_home(l, n);
	src = list_sources(l);
	if (front) {
		scan_shift_down(l->room + l->first, at);
		memmove(src - 1, src, at * sizeof(*src));
		l->first--;
	} else {
		scan_shift_up(l->room + l->first + at, n - at);
		memmove(src + at + 1, src + at, (n - at) * sizeof(*src));
	}
	l->room[l->first + at] = key;
	list_sources(l)[at] = sched_key_src(key);
}

/** Takes out the key at a place among the n in the room. */
static inline void list_close(struct sched_list *l, uint32_t n, uint32_t at)
{
	uint32_t behind = n - 1 - at;
	uint16_t *src = list_sources(l);

	if (at <= behind) {
		scan_shift_up(l->room + l->first, at);
		memmove(src + 1, src, at * sizeof(*src));
		l->first++;
	} else {
		scan_shift_down(l->room + l->first + at + 1, behind);
		memmove(src + at, src + at + 1, behind * sizeof(*src));
	}
}

/** Inserts a key into a list that is more than a few. */
SCHED_PART void list_insert_room(struct sched_list *l, sched_key key)
{
	uint32_t at = list_rank(l, key), n = l->count++ - SCHED_FEW;

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

/** Removes one from a list that is more than a few. */
SCHED_PART void list_remove_room(struct sched_list *l, uint32_t at)
{
	uint32_t n = l->count-- - SCHED_FEW;

	if (at >= SCHED_FEW) {
		list_close(l, n, at - SCHED_FEW);
		return;
	}
	for (; at + 1 < SCHED_FEW; at++)
		l->few[at] = l->few[at + 1];
	l->few[at] = l->room[l->first];
	list_close(l, n, 0);
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

static inline void list_put(struct sched_list *l, uint32_t at, sched_key key)
{
	*list_at(l, at) = key;
	if (sched_rarely(at >= SCHED_FEW))
		list_sources(l)[at - SCHED_FEW] = sched_key_src(key);
}

/** The priority of the candidate there has become higher. @return its place */
static inline uint32_t list_raise(struct sched_list *l, uint32_t at, sched_key key)
{
	for (; at && *list_at(l, at - 1) > key; at--)
		list_put(l, at, *list_at(l, at - 1));
	list_put(l, at, key);
	return at;
}

#endif
