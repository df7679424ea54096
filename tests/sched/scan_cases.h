/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists and scans against what they mean, read out plainly. Included by a file for each instruction set that
 * there is a version of them for.
 */
#ifndef SCAN_CASES_H
#define SCAN_CASES_H

#include <criterion/criterion.h>
#include <stdlib.h>

#include "script.h"
#include "systems/edm/sched/list.h"

#define KEYS 1024 /* candidates of a destination among 512 ports */
#define ROOM (KEYS + LIST_WANDER)

/* A list and its room. */
struct roomy_list {
	struct sched_list list;
	char room[ROOM * sizeof(sched_key) + (ROOM + LIST_BEYOND) * sizeof(uint16_t)]
		__attribute__((aligned(64)));
};

struct plain_list {
	sched_key key[KEYS];
	uint32_t count;
};

static sched_key any_key(struct rng *r)
{
	sched_key key = (sched_key)rng_below(r, rng_chance(r, 50) ? 2 : 40) << SCHED_KEY_OCTETS;
	sched_key at = rng_next(r);

	if (rng_chance(r, 50)) /* often the upper halves are equal */
		at >>= 40;
	return key | at << SCHED_KEY_AT | rng_below(r, 512) << SCHED_KEY_SRC;
}

static void plain_insert(struct plain_list *p, sched_key key)
{
	uint32_t i = p->count++;

	for (; i && p->key[i - 1] > key; i--)
		p->key[i] = p->key[i - 1];
	p->key[i] = key;
}

static void plain_remove(struct plain_list *p, uint32_t at)
{
	p->count--;
	for (uint32_t i = at; i < p->count; i++)
		p->key[i] = p->key[i + 1];
}

static uint32_t plain_free(const struct plain_list *p, uint32_t from, const struct sched_map *map)
{
	while (from < p->count && !sched_test(map, sched_key_src(p->key[from])))
		from++;
	return from;
}

static bool same_list(const struct plain_list *p, struct sched_list *l)
{
	for (uint32_t i = 0; i < p->count; i++)
		if (*list_at(l, i) != p->key[i] || list_rank(l, p->key[i]) != i)
			return false;
	return l->count == p->count;
}

/* A few sources free, so that the first of them stands anywhere in the list, or nowhere. */
static bool same_free(struct rng *r, const struct plain_list *p, struct sched_list *l)
{
	struct sched_map map = {{0}};
	uint32_t from = rng_below(r, p->count + 1);

	for (uint32_t n = rng_below(r, 4); n; n--)
		sched_set(&map, rng_below(r, 512));
	return list_free(l, 0, &map) == plain_free(p, 0, &map) &&
	       list_free(l, from, &map) == plain_free(p, from, &map);
}

/* Grows to a size and falls to nothing again. */
static void list_case(uint64_t seed, uint32_t size)
{
	static struct roomy_list list;
	struct sched_list *l = &list.list;
	static struct plain_list p;
	struct rng r = {seed};
	bool grow = true;

	cr_assert_eq(sizeof(list.room) / 64, (list_octets(ROOM) + 63) / 64);
	list_begin(l, offsetof(struct roomy_list, room) / sizeof(sched_key), ROOM);
	p.count = 0;
	do {
		uint32_t at = p.count ? rng_below(&r, rng_chance(&r, 50) ? p.count : (p.count + 7) / 8) : 0;

		if (rng_chance(&r, grow ? 70 : 30) && p.count < KEYS) {
			sched_key key = any_key(&r);

			plain_insert(&p, key);
			list_insert(l, key);
		} else if (p.count && rng_chance(&r, 20)) {
			sched_key key = p.key[at] - ((sched_key)rng_below(&r, 3) << SCHED_KEY_OCTETS);

			plain_remove(&p, at);
			plain_insert(&p, key);
			if (key <= *list_at(l, at))
				list_raise(l, at, key);
			else /* it went below 0 */
				list_remove(l, at), list_insert(l, key);
		} else if (p.count) {
			plain_remove(&p, at);
			list_remove(l, at);
		}
		cr_assert(same_list(&p, l), "seed %lu: the list of %u differs", seed, p.count);
		cr_assert(same_free(&r, &p, l), "seed %lu: another is free", seed);
		grow &= p.count < size;
	} while (grow || p.count);
}

static void lists(void)
{
	for (uint64_t seed = 10; seed < 200; seed++)
		list_case(seed, SCHED_FEW + seed % 3);
	list_case(1, 12);
	list_case(2, 100);
	list_case(3, 300);
	list_case(4, KEYS);
}

static void ports_case(struct rng *r, unsigned int words)
{
	struct sched_map map = {{0}};
	uint16_t list[SCHED_LIST];
	unsigned int n = 0, density = rng_below(r, 101);

	for (unsigned int i = 0; i < 64 * words; i++)
		if (rng_chance(r, density))
			sched_set(&map, i);
	for (unsigned int i = 0, count = scan_ports(&map, words, list); i < 64 * words; i++) {
		if (!sched_test(&map, i))
			continue;
		cr_assert_lt(n, count);
		cr_assert_eq(list[n++], i);
	}
}

/* Times up to MF_NEVER - 1, some of them equal. */
static void times_case(struct rng *r, unsigned int words)
{
	static mf_time at[SCHED_PORTS_MAX] __attribute__((aligned(64))), plain[SCHED_PORTS_MAX];
	struct sched_times t = {.at = at, .first = MF_NEVER};
	unsigned int shift = rng_below(r, 64), n = 64 * words;

	memset(at, 0xff, sizeof(at));
	memset(plain, 0xff, sizeof(plain));
	memset(t.group, 0xff, sizeof(t.group));
	for (unsigned int k = 0; k < 300; k++) {
		mf_time time = (rng_next(r) | 1) >> shift, now = (rng_next(r) | 1) >> shift, first = MF_NEVER;
		unsigned int port = rng_below(r, n);
		struct sched_map due;

		if (plain[port] == MF_NEVER && rng_chance(r, 50)) {
			sched_times_set(&t, port, plain[port] = time - 1);
		} else if (plain[port] == MF_NEVER) {
			at[port] = plain[port] = time - 1;
			scan_note(&t, UINT32_C(1) << port / SCHED_GROUP, words, time - 1);
		}
		if (rng_chance(r, 70))
			continue;
		now = now / (1 + rng_below(r, 8)) - 1;
		scan_due(&t, words, now, &due);
		for (unsigned int i = 0; i < n; i++) {
			cr_assert_eq(sched_test(&due, i), plain[i] <= now);
			plain[i] = plain[i] <= now ? MF_NEVER : plain[i];
			cr_assert_eq(at[i], plain[i]);
			first = mf_time_min(first, plain[i]);
		}
		cr_assert_eq(t.first, first);
	}
}

static struct sched_map any_map(struct rng *r, unsigned int words)
{
	struct sched_map map = {{0}};
	unsigned int density = rng_below(r, 101);

	for (unsigned int i = 0; i < 64 * words; i++)
		if (rng_chance(r, density))
			sched_set(&map, i);
	return map;
}

/* Who was asked: by source, each once, and not free any more. */
static void won_case(struct rng *r, unsigned int words)
{
	static uint16_t best[SCHED_PORTS_MAX] __attribute__((aligned(64)));
	struct sched_map asked = any_map(r, words), before = any_map(r, words), free = before;
	uint16_t won[SCHED_LIST], plain[SCHED_PORTS_MAX];
	unsigned int n = 0;

	for (unsigned int i = 0; i < SCHED_PORTS_MAX; i++)
		best[i] = SCHED_NOBODY;
	for (unsigned int i = 0; i < 64 * words; i++)
		if (sched_test(&asked, i))
			best[i] = plain[n++] = rng_below(r, SCHED_NOBODY);
	cr_assert_eq(scan_won(best, words, won, &free), n);
	cr_assert_arr_eq(won, plain, n * sizeof(plain[0]));
	for (unsigned int i = 0; i < 64 * words; i++) {
		cr_assert_eq(best[i], SCHED_NOBODY);
		cr_assert_eq(sched_test(&free, i), sched_test(&before, i) && !sched_test(&asked, i));
	}
}

/* In any order, some ports twice. */
static void keep_case(struct rng *r, unsigned int words)
{
	uint16_t port[SCHED_LIST], place[SCHED_LIST], kept_port[SCHED_LIST], kept_place[SCHED_LIST];
	struct scan_places from = {port, place}, to = {kept_port, kept_place};
	struct sched_map map = any_map(r, words);
	unsigned int n = rng_below(r, 64 * words + 1), kept, k = 0;

	for (unsigned int i = 0; i < SCHED_LIST; i++) {
		port[i] = rng_below(r, 64 * words);
		place[i] = rng_below(r, 1024);
	}
	kept = scan_keep(from, n, &map, to);
	for (unsigned int i = 0; i < n; i++) {
		if (!sched_test(&map, port[i]))
			continue;
		cr_assert_lt(k, kept);
		cr_assert_eq(kept_port[k], port[i]);
		cr_assert_eq(kept_place[k++], place[i] + 1);
	}
	cr_assert_eq(k, kept);
}

static void fill_case(struct rng *r, unsigned int words)
{
	static mf_time at[SCHED_PORTS_MAX] __attribute__((aligned(64)));
	struct sched_map map = any_map(r, words);
	mf_time time = rng_next(r);
	uint32_t groups = 0;

	memset(at, 0, sizeof(at));
	scan_fill(at, &map, words, time);
	for (unsigned int i = 0; i < SCHED_PORTS_MAX; i++) {
		bool in = i < 64 * words && sched_test(&map, i);

		cr_assert_eq(at[i], in ? time : 0);
		groups |= (uint32_t)in << i / SCHED_GROUP;
	}
	cr_assert_eq(scan_in_groups(&map, words), groups);
}

static void scans(void)
{
	struct rng r = {5};

	for (unsigned int i = 0; i < 500; i++) {
		ports_case(&r, 1 + i % 8);
		times_case(&r, 1 + i % 8);
		won_case(&r, 1 + i % 8);
		keep_case(&r, 1 + i % 8);
		fill_case(&r, 1 + i % 8);
	}
}

#endif
