/* SPDX-License-Identifier: BSD-3-Clause */
/* Fat trees: their links, hops and paths, and which counts are refused. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "graphs.h"
#include "topology/mf_fat_tree.h"
#include "topology/mf_routes.h"

#define G(n) ((n)*UINT64_C(1000000000))

/* The settings of SRNIC (section 6.3). */
static const struct mf_fat_tree srnic[] = {
	{16, 1, 0, 0, 0, {G(100), G(400), G(400)}},         {64, 4, 4, 0, 0, {G(100), G(400), G(400)}},
	{256, 8, 8, 0, 0, {G(100), G(400), G(400)}},        {1024, 64, 64, 16, 16, {G(100), G(400), G(400)}},
	{4096, 128, 128, 64, 16, {G(100), G(400), G(400)}},
};
#define SETTINGS (sizeof(srnic) / sizeof(srnic[0]))

Test(topology_fat_tree, settings_of_srnic_are_not_oversubscribed)
{
	char err[200];

	for (size_t i = 0; i < SETTINGS; i++) {
		const struct mf_fat_tree *f = &srnic[i];

		cr_assert_eq(mf_fat_tree_check(f, err, sizeof(err)), 0, "%s", err);
		cr_assert_eq(mf_fat_tree_subscription(f, MF_FAT_TREE_TOR_AGGREGATION), f->aggregation > 0);
		cr_assert_eq(mf_fat_tree_subscription(f, MF_FAT_TREE_AGGREGATION_CORE), f->core > 0);
	}
	/* 4,096 servers: 8 links up from each ToR, 8 from each aggregation switch. */
	cr_assert_eq(mf_fat_tree_switches(&srnic[4]), 320);
	cr_assert_eq(mf_fat_tree_links(&srnic[4]), 4096 + 128 * 8 + 128 * 8);
}

Test(topology_fat_tree, oversubscribed)
{
	struct mf_fat_tree f = {96, 8, 2, 1, 2, {G(25), G(100), G(200)}};

	/* 12 servers at 25 Gb/s over one link of 100 Gb/s; 4 of these over one of 200 Gb/s. */
	cr_assert_eq(mf_fat_tree_subscription(&f, MF_FAT_TREE_TOR_AGGREGATION), 3);
	cr_assert_eq(mf_fat_tree_subscription(&f, MF_FAT_TREE_AGGREGATION_CORE), 2);
}

Test(topology_fat_tree, names_and_links_of_a_small_one)
{
	/* Pods of 2 ToRs and 2 aggregation switches; agg 0 and 2 have cores 0, 1; agg 1 and 3 have 2, 3. */
	static const struct mf_fat_tree f = {4, 4, 4, 4, 2, {0}};
	static const char *const names[] = {"tor0", "tor1", "tor2",  "tor3",  "agg0",  "agg1",
					    "agg2", "agg3", "core0", "core1", "core2", "core3"};
	static const struct mf_fat_tree_link links[] = {
		{0, 0, 0},  {0, 1, 1},  {0, 2, 2}, {0, 3, 3}, {1, 0, 4},  {1, 0, 5}, {1, 1, 4},
		{1, 1, 5},  {1, 2, 6},  {1, 2, 7}, {1, 3, 6}, {1, 3, 7},  {2, 4, 8}, {2, 4, 9},
		{2, 5, 10}, {2, 5, 11}, {2, 6, 8}, {2, 6, 9}, {2, 7, 10}, {2, 7, 11}};
	char name[MF_FAT_TREE_NAME];

	cr_assert_eq(mf_fat_tree_switches(&f), 12);
	for (uint32_t s = 0; s < 12; s++)
		cr_assert_str_eq(mf_fat_tree_name(&f, s, name), names[s]);
	cr_assert_eq(mf_fat_tree_links(&f), 20);
	for (uint32_t i = 0; i < 20; i++) {
		struct mf_fat_tree_link l = mf_fat_tree_link(&f, i);

		cr_assert(l.class == links[i].class && l.from == links[i].from && l.to == links[i].to, "%u",
			  i);
	}
}

/** Draws counts that divide. */
static struct mf_fat_tree draw(struct mf_rng *rng)
{
	uint32_t pods = (uint32_t)mf_rng_below(rng, 6), tor = 1 + (uint32_t)mf_rng_below(rng, 5);
	uint32_t agg = 1 + (uint32_t)mf_rng_below(rng, 4);
	struct mf_fat_tree f = {.pods = pods, .tor = tor, .aggregation = agg};

	if (pods >= 2) {
		f.tor = pods * tor;
		f.aggregation = pods * agg;
		f.core = agg * (1 + (uint32_t)mf_rng_below(rng, 4));
	}
	f.servers = f.tor * (1 + (uint32_t)mf_rng_below(rng, 5));
	return f;
}

/** Links up and down from each switch, and links into each pod from each core switch. */
static void count(const struct mf_fat_tree *f)
{
	uint32_t pods = f->pods > 0 ? f->pods : 1, up[256] = {0}, down[256] = {0};
	uint32_t agg = f->aggregation / pods;
	bool joined[256][8] = {{false}};

	for (uint32_t i = 0; i < mf_fat_tree_links(f); i++) {
		struct mf_fat_tree_link l = mf_fat_tree_link(f, i);
		uint32_t pod = l.class == MF_FAT_TREE_SERVER_TOR        ? 0
			       : l.class == MF_FAT_TREE_TOR_AGGREGATION ? l.from / (f->tor / pods)
									: (l.from - f->tor) / agg;

		down[l.to]++;
		if (l.class != MF_FAT_TREE_SERVER_TOR)
			up[l.from]++;
		if (l.class == MF_FAT_TREE_TOR_AGGREGATION)
			cr_assert_eq((l.to - f->tor) / agg, pod);
		if (l.class != MF_FAT_TREE_AGGREGATION_CORE)
			continue;
		cr_assert_not(joined[l.to][pod]);
		joined[l.to][pod] = true;
	}
	for (uint32_t s = 0; s < mf_fat_tree_switches(f); s++) {
		bool is_tor = s < f->tor, is_core = s >= f->tor + f->aggregation;

		cr_assert_eq(down[s], is_tor ? f->servers / f->tor : is_core ? pods : f->tor / pods);
		cr_assert_eq(up[s], is_tor ? agg : is_core ? 0 : f->core / agg);
	}
}

Test(topology_fat_tree, links_of_random_counts)
{
	char err[200];

	for (uint64_t seed = 0; seed < 500; seed++) {
		struct mf_fat_tree f;
		struct mf_rng rng;

		mf_rng_init(&rng, seed, "fat tree", 0);
		f = draw(&rng);
		cr_assert_eq(mf_fat_tree_check(&f, err, sizeof(err)), 0, "%s", err);
		count(&f);
	}
}

/** Counts the shortest paths from a switch to a node. */
static uint64_t paths(const struct mf_topology *t, const struct mf_routes *r, uint32_t sw, uint32_t node)
{
	uint32_t role = t->nodes + sw;
	uint16_t port[64];
	unsigned int n = mf_routes_ports(r, sw, node, port, 64);
	uint64_t sum = 0;

	cr_assert_leq(n, 64);
	for (unsigned int i = 0; i < n; i++) {
		uint32_t peer = mf_topology_peer(t, mf_topology_end(t, role, port[i]));

		sum += peer < t->nodes ? 1 : paths(t, r, t->role[peer].number, node);
	}
	return sum;
}

/** Hops and paths from a server to another one, by their class of pairs. */
static void check_pair(const struct mf_fat_tree *f, const struct mf_topology *t, const struct mf_routes *r,
		       uint32_t a, uint32_t b)
{
	uint32_t pods = f->pods > 0 ? f->pods : 1, rack = f->servers / f->tor, pod = f->servers / pods;
	uint32_t agg = f->aggregation / pods, hops = 6;
	uint64_t want = f->core; /* each core switch is on one path to each pod */

	if (a / rack == b / rack) {
		hops = 2;
		want = 1;
	} else if (a / pod == b / pod) {
		hops = 4;
		want = agg;
	}
	cr_assert_eq(mf_routes_node_hops(r, a, b), hops, "%u to %u", a, b);
	cr_assert_eq(mf_routes_hops(r, a / rack, b), hops - 1);
	cr_assert_eq(paths(t, r, a / rack, b), want, "%u to %u", a, b);
}

Test(topology_fat_tree, hops_and_paths)
{
	for (size_t i = 0; i < SETTINGS; i++) {
		const struct mf_fat_tree *f = &srnic[i];
		struct mf_topology *t = graph_fat_tree(f);
		struct mf_routes *r;
		uint32_t a = 0, b = 0;

		cr_assert_eq(mf_routes_new(t, 1, &r), 0);
		for (a = 0; a < f->servers; a += 1 + f->servers / 40) {
			for (b = 0; b < f->servers; b += 1 + f->servers / 130)
				if (a != b)
					check_pair(f, t, r, a, b);
		}
		a = b = 0;
		cr_assert_not(mf_routes_next_cut(r, &a, &b));
		cr_assert_eq(mf_routes_cycle(r, NULL, 0), 0);
		mf_routes_free(r);
		mf_topology_free(t);
	}
}

Test(topology_fat_tree, counts_of_4096_servers)
{
	/* By hand: 8 paths within a pod, 8 aggregation switches with 8 core switches each to other pods. */
	struct mf_topology *t = graph_fat_tree(&srnic[4]);
	struct mf_routes *r;

	cr_assert_eq(mf_routes_new(t, 1, &r), 0);
	cr_assert_eq(paths(t, r, 0, 31), 1);
	cr_assert_eq(paths(t, r, 0, 32), 8);
	cr_assert_eq(paths(t, r, 0, 255), 8);
	cr_assert_eq(paths(t, r, 0, 256), 64);
	cr_assert_eq(paths(t, r, 0, 4095), 64);
	/*
	 * Without the link from ToR 0 to its first aggregation switch one eighth is gone, in both directions.
	 */
	cr_assert_eq(mf_routes_link(r, 4096, false), 0);
	cr_assert_eq(paths(t, r, 0, 4095), 56);
	cr_assert_eq(paths(t, r, 127, 0), 56);
	cr_assert_eq(paths(t, r, 0, 32), 7);
	cr_assert_eq(paths(t, r, 1, 4095), 64);
	/* And without one from that switch to a core switch: ToR 1 loses a path, ToR 0 has lost it before. */
	cr_assert_eq(mf_routes_link(r, 4096 + 1024, false), 0);
	cr_assert_eq(paths(t, r, 0, 4095), 56);
	cr_assert_eq(paths(t, r, 1, 4095), 63);
	cr_assert_eq(mf_routes_cycle(r, NULL, 0), 0);
	mf_routes_free(r);
	mf_topology_free(t);
}

static const struct {
	struct mf_fat_tree f;
	const char *err;
} refused[] = {
	{{0, 1, 0, 0, 0, {0}}, "servers: 0 is not within 1 and 65536"},
	{{65537, 1, 0, 0, 0, {0}}, "servers: 65537 is not within 1 and 65536"},
	{{UINT32_MAX, 1, 0, 0, 0, {0}}, "servers: 4294967295 is not within 1 and 65536"},
	{{4, 0, 0, 0, 0, {0}}, "tor: 0 is not within 1 and 65536"},
	{{4, 1, 70000, 0, 0, {0}}, "aggregation: 70000 is not within 0 and 65536"},
	{{4, 1, 1, 70000, 0, {0}}, "core: 70000 is not within 0 and 65536"},
	{{4, 1, 1, 1, 70000, {0}}, "pods: 70000 is not within 0 and 65536"},
	{{4, 2, 0, 0, 0, {0}}, "aggregation: 2 ToR switches need aggregation switches"},
	{{4, 1, 0, 1, 2, {0}}, "core: core switches need aggregation switches"},
	{{4, 4, 4, 4, 1, {0}}, "pods: core switches need 2 pods or more"},
	{{4, 4, 4, 0, 2, {0}}, "core: 2 pods need core switches"},
	{{4000, 128, 128, 64, 16, {0}},
	 "servers: 4000 does not divide by the 128 ToR switches; the nearest are 3968 and 4096"},
	{{3, 4, 4, 4, 2, {0}}, "servers: 3 does not divide by the 4 ToR switches; the nearest is 4"},
	{{65536, 60, 4, 0, 0, {0}},
	 "servers: 65536 does not divide by the 60 ToR switches; the nearest is 65520"},
	{{100, 100, 16, 4, 16, {0}}, "tor: 100 does not divide by the 16 pods; the nearest are 96 and 112"},
	{{128, 128, 17, 4, 16, {0}},
	 "aggregation: 17 does not divide by the 16 pods; the nearest are 16 and 32"},
	{{4096, 128, 128, 60, 16, {0}},
	 "core: 60 does not divide by the 8 aggregation switches of a pod; the nearest are 56 and 64"},
	{{65536, 65536, 65536, 0, 0, {0}}, "the tree has 4295032832 links, at most 16777216 are possible"},
};

Test(topology_fat_tree, counts_that_are_refused)
{
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		char err[200] = "", few[10];

		cr_assert_eq(mf_fat_tree_check(&refused[i].f, err, sizeof(err)), -EINVAL);
		cr_assert_str_eq(err, refused[i].err);
		cr_assert_eq(mf_fat_tree_check(&refused[i].f, few, sizeof(few)), -EINVAL);
		cr_assert(strlen(few) == 9 && strncmp(few, err, 9) == 0);
	}
}

/** The counts that a message names, up to two. @return how many */
static int named(const char *err, uint32_t *n)
{
	const char *at = strstr(err, "nearest");

	if (at == NULL)
		return 0;
	return sscanf(at, "nearest is %u", &n[0]) == 1 ? 1
						       : sscanf(at, "nearest are %u and %u", &n[0], &n[1]);
}

Test(topology_fat_tree, nearest_counts_are_accepted)
{
	unsigned int tried = 0;

	for (uint64_t seed = 0; seed < 500; seed++) {
		struct mf_fat_tree f;
		uint32_t *count[] = {&f.servers, &f.tor, &f.aggregation, &f.core}, *c, n[2], was;
		static const char *const key[] = {"servers:", "tor:", "aggregation:", "core:"};
		char err[200];
		struct mf_rng rng;
		uint64_t k;
		int found;

		mf_rng_init(&rng, seed, "nearest", 0);
		f = draw(&rng);
		k = mf_rng_below(&rng, 4);
		c = count[k];
		was = *c += 1 + (uint32_t)mf_rng_below(&rng, 3);
		if (mf_fat_tree_check(&f, err, sizeof(err)) == 0 || strncmp(err, key[k], strlen(key[k])) != 0)
			continue;
		found = named(err, n);
		for (int i = 0; i < found; i++, tried++) {
			*c = n[i];
			cr_assert(found == 1 || (*c < was) == (i == 0));
			if (mf_fat_tree_check(&f, err, sizeof(err)) != 0)
				cr_assert(strncmp(err, key[k], strlen(key[k])) != 0, "%s", err);
		}
	}
	cr_assert_gt(tried, 100, "%u", tried);
}
