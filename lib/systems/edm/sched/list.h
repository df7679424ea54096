/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The notification queue of a destination, which 3.1.2 keeps in a hardware list that is always in order:
 * the keys of its candidates, the highest priority first.
 *
 * The first few are in the cache line of the list. If there are more, they are in its room, where the shorter
 * side makes way: what is granted is near the front and what arrives is near the end, so they wander. Whoever
 * looks for a free source reads the names of the sources, an eighth of the keys: those of the first of them
 * are in a line of their own, those of the others behind the room.
 */
#ifndef MF_SCHED_LIST_H
#define MF_SCHED_LIST_H

#include <string.h>

#include "systems/edm/sched/scan.h"

#define LIST_SHORT 16 /* keys */
#define LIST_WANDER 64 /* keys that a list can wander */
#define LIST_BEYOND SCAN_FAR /* names behind the end that may be read */

/** Octets of a room for so many keys, and the names of their sources. */
static inline size_t list_octets(size_t size)
{
	return size * sizeof(sched_key) + (size + LIST_BEYOND) * sizeof(uint16_t);
}

/** An empty list, with a room that is so many keys from it. */
static inline void list_begin(struct sched_list *l, uint32_t room, uint32_t size)
{
	*l = (struct sched_list){.room = room, .size = size, .front = room - SCHED_FEW};
}

/** Keys in the room: the first place that is used. */
static inline uint32_t list_first(const struct sched_list *l)
{
	return l->front + SCHED_FEW - l->room;
}

/** The keys in the room. */
static inline sched_key *list_room(const struct sched_list *l)
{
	return (sched_key *)(uintptr_t)l + l->front + SCHED_FEW;
}

/** The source of the key at a place behind the line of names. */
static inline uint16_t *list_far(const struct sched_list *l, uint32_t at)
{
	return (uint16_t *)((sched_key *)(uintptr_t)l + l->room + l->size) + list_first(l) + at - SCHED_FEW;
}

/** Where the key at a place is. Nobody could foretell a branch. */
static inline sched_key *list_at(const struct sched_list *l, uint32_t at)
{
	uint32_t far = l->front & -(uint32_t)(at >= SCHED_FEW);

	return (sched_key *)(uintptr_t)l + far + at;
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
	return SCHED_FEW + list_search(list_room(l), l->count - SCHED_FEW, key);
}

/** The place of the first key behind the line of names, not before `from`, whose source is in the map. */
static inline uint32_t list_free_far(const struct sched_list *l, uint32_t from, const struct sched_map *free)
{
	for (uint32_t at = from, n = l->more; at < n; at += SCAN_FAR) {
		uint32_t hit = scan_far(list_far(l, at), n - at < SCAN_FAR ? n - at : SCAN_FAR, free);

		if (hit < SCAN_FAR)
			return at + hit;
	}
	return l->more;
}

/** ... of more than a few. */
static inline uint32_t list_free_more(const struct sched_list *l, uint32_t from, const struct sched_map *free)
{
	uint32_t n = l->more, named = l->named, at;

	if (from < named) {
		at = scan_named(l->src, named, from, free);
		if (at < SCAN_NAMES)
			return at;
		from = named;
	}
	return n <= SCHED_NAMED ? n : list_free_far(l, from, free);
}

/** The place of the first key, not before `from`, whose source is in the map; count: there is none. */
static inline uint32_t list_free(const struct sched_list *l, uint32_t from, const struct sched_map *free)
{
	return l->more ? list_free_more(l, from, free) : scan_few(l->few, l->count, from, free);
}

/** There is place on both sides of the n keys in the room. */
static inline void list_home(struct sched_list *l, uint32_t n)
{
	const sched_key *keys = list_room(l);
	const uint16_t *far = list_far(l, SCHED_NAMED);

	l->front = l->room + (l->size - n) / 2 - SCHED_FEW;
	memmove(list_room(l), keys, n * sizeof(*keys));
	if (n > SCHED_NAMED - SCHED_FEW)
		memmove(list_far(l, SCHED_NAMED), far, (n + SCHED_FEW - SCHED_NAMED) * sizeof(*far));
}

/** From which place on names move with the keys of a place. */
static inline uint32_t list_beyond(uint32_t at)
{
	return at > SCHED_NAMED ? at : SCHED_NAMED;
}

/** There is one key more in the room now, at a place or ahead of it: the name that belongs there. */
static inline void list_name_far(struct sched_list *l, uint32_t at)
{
	*list_far(l, at) = sched_key_src(*list_at(l, at));
}

/** Puts a key at a place of the room among n of the list. */
static inline void list_open(struct sched_list *l, uint32_t n, uint32_t at, sched_key key)
{
	uint32_t ahead = at - SCHED_FEW, behind = n - at, beyond = list_beyond(at);
	bool front = ahead < behind;

	if (front ? !list_first(l) : list_first(l) + n - SCHED_FEW == l->size)
		list_home(l, n - SCHED_FEW);
	if (front) {
		scan_shift_down(list_room(l), ahead);
		if (at > SCHED_NAMED)
			scan_names_down(list_far(l, SCHED_NAMED), at - SCHED_NAMED);
		l->front--;
	} else {
		scan_shift_up(list_at(l, at), behind);
		if (n > beyond)
			scan_names_up(list_far(l, beyond), n - beyond);
	}
	*list_at(l, at) = key;
	if (n >= beyond)
		list_name_far(l, beyond);
}

/** Takes out the key at a place of the room among n of the list. */
static inline void list_close(struct sched_list *l, uint32_t n, uint32_t at)
{
	uint32_t ahead = at - SCHED_FEW, behind = n - 1 - at, beyond = list_beyond(at) + 1;

	if (ahead <= behind) {
		scan_shift_up(list_room(l), ahead);
		if (at > SCHED_NAMED)
			scan_names_up(list_far(l, SCHED_NAMED), at - SCHED_NAMED);
		l->front++;
	} else {
		scan_shift_down(list_at(l, at + 1), behind);
		if (n > beyond)
			scan_names_down(list_far(l, beyond), n - beyond);
	}
}

/** A source comes at a place. */
static inline void list_name(struct sched_list *l, uint32_t at, sched_key key)
{
	if (at < SCHED_NAMED)
		scan_name(l->src, at, sched_key_src(key));
}

/** There are n keys. */
static inline void list_counts(struct sched_list *l, uint32_t n)
{
	l->count = n;
	l->more = n > SCHED_FEW ? n : 0;
	l->named = l->more < SCHED_NAMED ? l->more : SCHED_NAMED;
}

/** Inserts a key into a list that is more than a few. */
SCHED_PART void list_insert_room(struct sched_list *l, sched_key key)
{
	uint32_t at = list_rank(l, key), n = l->count;

	for (uint32_t i = 0; n == SCHED_FEW && i < SCHED_FEW; i++)
		l->src[i] = sched_key_src(l->few[i]);
	if (at >= SCHED_FEW) {
		list_open(l, n, at, key);
	} else {
		list_open(l, n, SCHED_FEW, l->few[SCHED_FEW - 1]);
		for (uint32_t i = SCHED_FEW - 1; i > at; i--)
			l->few[i] = l->few[i - 1];
		l->few[at] = key;
	}
	list_name(l, at, key);
	list_counts(l, n + 1);
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

/** Removes one from a list that is more than a few. One more is in the line of names then. */
SCHED_PART void list_remove_room(struct sched_list *l, uint32_t at)
{
	uint32_t n = l->count;

	if (at < SCHED_NAMED)
		scan_forget(l->src, at, n > SCHED_NAMED ? *list_far(l, SCHED_NAMED) : 0);
	if (at < SCHED_FEW) {
		for (; at + 1 < SCHED_FEW; at++)
			l->few[at] = l->few[at + 1];
		l->few[at] = *list_at(l, at + 1);
		at++;
	}
	list_close(l, n, at);
	list_counts(l, n - 1);
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

/** The key at a place of the room goes to one ahead of it. */
static inline void list_rise_room(struct sched_list *l, uint32_t at, uint32_t to, sched_key key)
{
	uint32_t beyond = list_beyond(to);

	scan_shift_up(list_at(l, to), at - to);
	*list_at(l, to) = key;
	if (at < beyond)
		return;
	scan_names_up(list_far(l, beyond), at - beyond);
	list_name_far(l, beyond);
}

/** ... of the few. */
static inline void list_rise_few(struct sched_list *l, uint32_t at, uint32_t to, sched_key key)
{
	for (; at > to; at--)
		l->few[at] = l->few[at - 1];
	l->few[to] = key;
}

/** The key at a place goes to one ahead of it. */
SCHED_PART void list_rise(struct sched_list *l, uint32_t at, uint32_t to, sched_key key)
{
	if (to >= SCHED_FEW) {
		list_rise_room(l, at, to, key);
	} else if (at >= SCHED_FEW) {
		list_rise_room(l, at, SCHED_FEW, l->few[SCHED_FEW - 1]);
		list_rise_few(l, SCHED_FEW - 1, to, key);
	} else {
		list_rise_few(l, at, to, key);
	}
	if (l->count <= SCHED_FEW)
		return;
	if (at < SCHED_NAMED)
		scan_forget(l->src, at, 0);
	list_name(l, to, key);
}

/** The priority of the candidate there has become higher. @return its place */
static inline uint32_t list_raise(struct sched_list *l, uint32_t at, sched_key key)
{
	uint32_t to;

	if (!at || *list_at(l, at - 1) < key) {
		*list_at(l, at) = key;
		return at;
	}
	if (at <= SCHED_FEW || key < l->few[SCHED_FEW - 1])
		to = list_search(l->few, at < SCHED_FEW ? at : SCHED_FEW, key);
	else
		to = SCHED_FEW + list_search(list_room(l), at - SCHED_FEW, key);
	list_rise(l, at, to, key);
	return to;
}

#endif
