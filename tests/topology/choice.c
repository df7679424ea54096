/* SPDX-License-Identifier: BSD-3-Clause */
/* Flows over equal-cost paths: how they spread, and which of them a link moves. Seeds are fixed. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "graphs.h"
#include "topology/mf_routes.h"

#define SEEDS 20
#define PATHS 64

/** Sum of (count - mean)^2 / mean: chi-square with cells - 1 degrees of freedom if flows choose at random. */
static double chi_square(const unsigned int *count, unsigned int cells, unsigned int flows)
{
	double mean = (double)flows / cells, sum = 0;

	for (unsigned int i = 0; i < cells; i++)
		sum += (count[i] - mean) * (count[i] - mean) / mean;
	return sum;
}

/**
 * Flows of a few addresses and ports in a row, as programs choose them, from ToR 0 of 16 pods of 8 ToRs and
 * 8 aggregation switches to a server of the last pod. The path is a port of the ToR and one of the switch
 * after it. @return the chi-square value over the 64 paths
 */
static double spread(uint64_t seed, unsigned int flows)
{
	static const struct mf_fat_tree f = {256, 128, 128, 64, 16, {0}};
	struct mf_topology *t = graph_fat_tree(&f);
	unsigned int count[PATHS] = {0};
	struct mf_routes *r;
	double sum;

	cr_assert_eq(mf_routes_new(t, seed, &r), 0);
	for (unsigned int i = 0; i < flows; i++) {
		uint64_t flow = mf_flow_hash(i % 2, 255, (uint16_t)(1024 + i / 2), 4791, 17);
		uint16_t up = mf_routes_pick(r, 0, 255, flow);
		uint32_t end = t->role[f.servers].first_end + up;
		uint16_t core = mf_routes_pick(r, t->role[mf_topology_peer(t, end)].number, 255, flow);

		cr_assert(up >= 2 && up < 10 && core >= 8 && core < 16);
		count[(up - 2) * 8 + core - 8]++;
	}
	sum = chi_square(count, PATHS, flows);
	mf_routes_free(r);
	mf_topology_free(t);
	return sum;
}

Test(topology_choice, flows_over_paths_fit_a_binomial)
{
	double sum = 0;

	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		double x = spread(seed, 64 * 500);

		/* 63 degrees of freedom: outside of this with a chance of 10^-5 on each side. */
		cr_assert(x > 26 && x < 121, "seed %lu: %f", (unsigned long)seed, x);
		sum += x;
	}
	/* 1,260 degrees of freedom: 4 standard deviations of 50.2. */
	cr_assert(sum > 1260 - 201 && sum < 1260 + 201, "%f", sum);
}

Test(topology_choice, each_port_has_its_share)
{
	/* Over seeds, the flows of one port out of n are binomial with p = 1 / n. */
	for (uint32_t n = 2; n <= 5; n++) {
		struct mf_topology *t = graph_star(2, n);
		double sum = 0, p = 1. / n;

		for (uint64_t seed = 0; seed < SEEDS * 10; seed++) {
			unsigned int k = 0, flows = 1000;
			struct mf_routes *r;

			cr_assert_eq(mf_routes_new(t, seed, &r), 0);
			for (unsigned int i = 0; i < flows; i++)
				k += mf_routes_node_pick(r, 0, 1, mf_flow_hash(0, 1, (uint16_t)i, 80, 6)) ==
				     0;
			sum += (k - flows * p) * (k - flows * p) / (flows * p * (1 - p));
			mf_routes_free(r);
		}
		/* 200 degrees of freedom, standard deviation 20. */
		cr_assert(sum > 120 && sum < 280, "%u ports: %f", n, sum);
		mf_topology_free(t);
	}
}

Test(topology_choice, depends_on_the_seed_and_on_identities)
{
	struct mf_topology *t = graph_star(2, 4);
	struct mf_routes *a, *b, *c;
	unsigned int other = 0;

	cr_assert_eq(mf_routes_new(t, 1, &a), 0);
	cr_assert_eq(mf_routes_new(t, 2, &b), 0);
	cr_assert_eq(mf_routes_new(t, 1, &c), 0);
	/* In c the identities of ports 0 and 3 of node 0 change places. */
	for (uint32_t end = 0; end < 4; end++) {
		mf_routes_identify(a, end, 100 + end);
		mf_routes_identify(c, end, 103 - end);
	}
	for (uint64_t flow = 0; flow < 1000; flow++) {
		uint16_t port = mf_routes_node_pick(a, 0, 1, flow);

		cr_assert_eq(mf_routes_node_pick(c, 0, 1, flow), 3 - port);
		other += mf_routes_node_pick(b, 0, 1, flow) != port;
	}
	cr_assert(other > 650 && other < 850, "%u", other);
	mf_routes_free(a);
	mf_routes_free(b);
	mf_routes_free(c);
	mf_topology_free(t);
}

Test(topology_choice, parts_of_a_flow_that_differ_change_its_hash)
{
	static const uint32_t address[] = {0, 1, 2, 256, 0x01000000, 0xffffffff};
	static const uint16_t port[] = {0, 1, 255, 256, 65535};
	static uint64_t hash[6 * 6 * 5 * 5 * 3];
	unsigned int n = 0;

	for (unsigned int i = 0; i < sizeof(hash) / sizeof(hash[0]); i++, n++)
		hash[i] = mf_flow_hash(address[i % 6], address[i / 6 % 6], port[i / 36 % 5],
				       port[i / 180 % 5], (uint8_t)(i / 900 * 11));
	for (unsigned int i = 0; i < n; i++) {
		for (unsigned int k = 0; k < i; k++)
			cr_assert_neq(hash[i], hash[k]);
	}
}

#define FLOWS 2000
#define LONGEST 16

/** The ends that a flow leaves by. */
struct path {
	uint32_t end[LONGEST];
	unsigned int n;
};

static struct path trace(const struct mf_topology *t, const struct mf_routes *r, uint32_t src, uint32_t dst,
			 uint64_t flow)
{
	uint32_t role = role_of(t, MF_VERTEX_NODE, src), last = role_of(t, MF_VERTEX_NODE, dst);
	struct path p = {.n = 0};

	while (role != last) {
		const struct mf_vertex *v = &t->role[role];
		uint16_t port = v->kind == MF_VERTEX_NODE ? mf_routes_node_pick(r, src, dst, flow)
							  : mf_routes_pick(r, v->number, dst, flow);

		if (port == MF_NO_PORT)
			return (struct path){.n = 0};
		cr_assert_lt(p.n, LONGEST);
		p.end[p.n] = v->first_end + port;
		role = mf_topology_peer(t, p.end[p.n++]);
	}
	return p;
}

static bool uses(const struct mf_topology *t, const struct path *p, uint32_t link)
{
	for (unsigned int i = 0; i < p->n; i++) {
		if (t->end[p->end[i]].link == link)
			return true;
	}
	return false;
}

static bool is_same(const struct path *a, const struct path *b)
{
	return a->n == b->n && memcmp(a->end, b->end, a->n * sizeof(a->end[0])) == 0;
}

/** Cuts a link and repairs it: exactly the flows that used it move, and all of them come back. */
static unsigned int cut(const struct mf_topology *t, struct mf_routes *r, uint32_t link, uint64_t seed)
{
	static struct path before[FLOWS];
	unsigned int moved = 0;

	for (int turn = 0; turn < 3; turn++) {
		struct mf_rng rng;

		mf_rng_init(&rng, seed, "flows", 0);
		for (unsigned int i = 0; i < FLOWS; i++) {
			uint32_t src = (uint32_t)mf_rng_below(&rng, t->nodes);
			uint32_t dst = (uint32_t)mf_rng_below(&rng, t->nodes);
			uint64_t flow = mf_flow_hash(src, dst, (uint16_t)i, 7, 6);
			struct path p = trace(t, r, src, dst, flow);
			bool same = is_same(&p, &before[i]);

			if (turn == 0)
				before[i] = p;
			else if (turn == 1)
				cr_assert_eq(same, !uses(t, &before[i], link));
			else
				cr_assert(same);
			moved += !same && turn == 1;
		}
		if (turn < 2)
			mf_routes_link(r, link, turn == 1);
	}
	return moved;
}

Test(topology_choice, a_cut_link_moves_exactly_its_flows)
{
	unsigned int moved = 0;

	for (uint64_t seed = 0; seed < 100; seed++) {
		struct mf_topology *t;
		struct mf_routes *r;
		struct mf_rng rng;

		mf_rng_init(&rng, seed, "cut", 0);
		t = graph_random(&rng);
		cr_assert_eq(mf_routes_new(t, seed, &r), 0);
		for (int i = 0; i < 4 && t->links > 0; i++)
			moved += cut(t, r, (uint32_t)mf_rng_below(&rng, t->links), seed);
		mf_routes_free(r);
		mf_topology_free(t);
	}
	cr_assert_gt(moved, 10000);
}

Test(topology_choice, a_cut_link_of_a_fat_tree_moves_exactly_its_flows)
{
	static const struct mf_fat_tree f = {64, 16, 16, 16, 4, {0}};
	struct mf_topology *t = graph_fat_tree(&f);
	struct mf_routes *r;

	cr_assert_eq(mf_routes_new(t, 3, &r), 0);
	/* One of each class; flows of the lowest class lose their only path. */
	cr_assert_gt(cut(t, r, 5, 1), FLOWS / 64);
	cr_assert_gt(cut(t, r, 64 + 9, 1), FLOWS / 64);
	cr_assert_gt(cut(t, r, 64 + 64 + 33, 1), FLOWS / 128);
	mf_routes_free(r);
	mf_topology_free(t);
}

/**
 * The same graph with its nodes in the same order, but its switches and links in another one.
 * @param name  set, for each link: its place in the first graph
 */
static struct mf_topology *reordered(const struct mf_topology *t, struct mf_rng *rng, uint32_t *name)
{
	struct mf_topology *copy = mf_topology_new();
	uint32_t place[SWITCHES + NODES];

	for (uint32_t r = 0; r < t->roles; r++) {
		if (t->role[r].kind == MF_VERTEX_NODE)
			place[r] = mf_topology_role(copy, MF_VERTEX_NODE);
	}
	for (uint32_t r = t->roles; r-- > 0;) {
		if (t->role[r].kind == MF_VERTEX_SWITCH)
			place[r] = mf_topology_role(copy, MF_VERTEX_SWITCH);
	}
	for (uint32_t i = 0; i < t->links; i++) {
		uint32_t k = (uint32_t)mf_rng_below(rng, i + 1);

		name[i] = name[k];
		name[k] = i;
	}
	for (uint32_t i = 0; i < t->links; i++) {
		const uint32_t *e = t->link[name[i]].end;

		mf_topology_link(copy, place[t->end[e[0]].role], place[t->end[e[1]].role]);
	}
	cr_assert_eq(mf_topology_close(copy), 0);
	return copy;
}

Test(topology_choice, with_identities_does_not_depend_on_orders)
{
	for (uint64_t seed = 0; seed < 50; seed++) {
		struct mf_topology *t, *other;
		struct mf_routes *r, *again;
		struct mf_rng rng;
		uint32_t name[ENDS];

		mf_rng_init(&rng, seed, "orders", 0);
		t = graph_random(&rng);
		other = reordered(t, &rng, name);
		cr_assert_eq(mf_routes_new(t, seed, &r), 0);
		cr_assert_eq(mf_routes_new(other, seed, &again), 0);
		for (uint32_t e = 0; e < t->links * 2; e++) {
			mf_routes_identify(r, t->link[e / 2].end[e % 2], e);
			mf_routes_identify(again, other->link[e / 2].end[e % 2], 2 * name[e / 2] + e % 2);
		}
		for (uint32_t i = 0; i < FLOWS; i++) {
			uint32_t src = i % t->nodes, dst = i / 7 % t->nodes;
			struct path p = trace(t, r, src, dst, i), q = trace(other, again, src, dst, i);

			cr_assert_eq(p.n, q.n);
			for (unsigned int k = 0; k < p.n; k++)
				cr_assert_eq(t->end[p.end[k]].link, name[other->end[q.end[k]].link]);
		}
		mf_routes_free(r);
		mf_routes_free(again);
		mf_topology_free(t);
		mf_topology_free(other);
	}
}
