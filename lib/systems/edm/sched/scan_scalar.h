/* SPDX-License-Identifier: BSD-3-Clause */
/* What is looked for in arrays and bitmaps: for any CPU. */
#ifndef MF_SCHED_SCAN_SCALAR_H
#define MF_SCHED_SCAN_SCALAR_H

#include <string.h>

#include "systems/edm/sched/core.h"

#define SCAN_NAMES 32 /* sources that are looked at at a time */
#define SCAN_FAR 64 /* ... behind the line of names */

/** @return place of the first of SCHED_FEW keys, not before `from`, whose source is in the map; n: none */
static inline uint32_t scan_few(const sched_key *few, uint32_t n, uint32_t from, const struct sched_map *free)
{
	unsigned int hit = 0;

	for (unsigned int i = 0; i < SCHED_FEW; i++) /* a branch for each could not be foretold */
		hit |= (unsigned int)((i < n) & sched_test(free, sched_key_src(few[i]))) << i;
	hit = hit >> from << from;
	return hit ? (uint32_t)__builtin_ctz(hit) : n;
}

/** @return place of the first of n sources, not before `from`, that is in the map; SCAN_NAMES: none */
static inline uint32_t scan_named(const uint16_t *src, uint32_t n, uint32_t from,
				  const struct sched_map *free)
{
	for (; from < n; from++)
		if (sched_test(free, src[from]))
			return from;
	return SCAN_NAMES;
}

/** @return place of the first of n <= SCAN_FAR sources that is in the map; SCAN_FAR: none */
static inline uint32_t scan_far(const uint16_t *src, uint32_t n, const struct sched_map *free)
{
	for (uint32_t i = 0; i < n; i++)
		if (sched_test(free, src[i]))
			return i;
	return SCAN_FAR;
}

/**
 * Lists the ports of a map. Four of a word are written whether they are there or not, and then counted:
 * no branch hangs on how many there are, unless there are more.
 * @param list room for SCHED_LIST ports
 */
static inline unsigned int scan_ports(const struct sched_map *map, unsigned int words, uint16_t *list)
{
	unsigned int n = 0;

	for (unsigned int w = 0; w < words; w++) {
		uint64_t left = map->word[w];
		unsigned int end = n + __builtin_popcountll(left);

		do {
			for (unsigned int i = 0; i < 4; i++, left &= left - 1)
				list[n + i] = w * 64 + __builtin_ctzll(left | UINT64_C(1) << 63);
			n += 4;
		} while (n < end);
		n = end;
	}
	return n;
}

/**
 * Sources that were asked: they are not free any more, and nobody's from now on.
 * @param best [source]: the best request
 * @param won  those requests, by source; room for SCHED_LIST
 * @return how many
 */
static inline unsigned int scan_won(uint16_t *best, unsigned int words, uint16_t *won, struct sched_map *free)
{
	const uint64_t nobody = UINT64_C(0x1000100010001) * SCHED_NOBODY;
	unsigned int n = 0;

	for (unsigned int i = 0; i < 64 * words; i += 4) {
		uint64_t four, taken = 0;

		memcpy(&four, best + i, sizeof(four));
		if (four == nobody)
			continue;
		for (unsigned int k = 0; k < 4; k++) {
			won[n] = best[i + k];
			taken |= (uint64_t)(won[n] != SCHED_NOBODY) << k;
			n += won[n] != SCHED_NOBODY;
		}
		free->word[i / 64] &= ~(taken << i % 64);
		memcpy(best + i, &nobody, sizeof(nobody));
	}
	return n;
}

/**
 * Of n ports those that are in the map, with the next places.
 * @param to room for SCHED_LIST
 * @return how many
 */
static inline unsigned int scan_keep(struct scan_places from, unsigned int n, const struct sched_map *map,
				     struct scan_places to)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < n; i++) {
		unsigned int port = from.port[i];

		to.port[kept] = port;
		to.place[kept] = from.place[i] + 1;
		kept += sched_test(map, port);
	}
	return kept;
}

/** Ports of a map have this time, in an array. */
static inline void scan_fill(mf_time *at, const struct sched_map *map, unsigned int words, mf_time time)
{
	for (unsigned int w = 0; w < words; w++)
		for (uint64_t left = map->word[w]; left; left &= left - 1)
			at[w * 64 + __builtin_ctzll(left)] = time;
}

/** Adds destinations that a source has a candidate for. */
static inline void scan_join(struct sched_map *to, const struct mf_sched *s, unsigned int src)
{
	for (unsigned int w = 0; w < s->words; w++)
		to->word[w] |= sched_order(s, 0, src)[w] | sched_order(s, 1, src)[w];
}

/** Puts a key in its place among n < SCHED_FEW. */
static inline void scan_insert(sched_key *few, uint32_t n, sched_key key)
{
	for (; n && few[n - 1] > key; n--)
		few[n] = few[n - 1];
	few[n] = key;
}

/** Takes out one of SCHED_FEW. */
static inline void scan_remove(sched_key *few, uint32_t at)
{
	for (; at + 1 < SCHED_FEW; at++)
		few[at] = few[at + 1];
}

/** Moves keys by one place, towards the end or towards the start of a list. */
static inline void scan_shift_up(sched_key *keys, uint32_t n)
{
	memmove(keys + 1, keys, n * sizeof(*keys));
}

static inline void scan_shift_down(sched_key *keys, uint32_t n)
{
	memmove(keys - 1, keys, n * sizeof(*keys));
}

/** ... their sources. */
static inline void scan_names_up(uint16_t *src, uint32_t n)
{
	memmove(src + 1, src, n * sizeof(*src));
}

static inline void scan_names_down(uint16_t *src, uint32_t n)
{
	memmove(src - 1, src, n * sizeof(*src));
}

/** A source comes at a place of SCHED_NAMED, and the last one goes. */
static inline void scan_name(uint16_t *src, uint32_t at, uint16_t name)
{
	memmove(src + at + 1, src + at, (SCHED_NAMED - 1 - at) * sizeof(*src));
	src[at] = name;
}

/** The one at a place goes, and another comes at the end. */
static inline void scan_forget(uint16_t *src, uint32_t at, uint16_t name)
{
	memmove(src + at, src + at + 1, (SCHED_NAMED - 1 - at) * sizeof(*src));
	src[SCHED_NAMED - 1] = name;
}

#endif
