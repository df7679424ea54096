/* SPDX-License-Identifier: BSD-3-Clause */
/* Two classes of roles, with as few links within a class as can be had. */
#include <criterion/criterion.h>
#include <string.h>

#include "graphs.h"
#include "topology/mf_classes.h"

#define ROLES 128

/** Counts the links within classes by hand. */
static uint32_t within(const struct mf_topology *t, const uint8_t *class)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->links; i++)
		n += class[t->end[t->link[i].end[0]].role] == class[t->end[t->link[i].end[1]].role];
	return n;
}

static uint32_t classes(const struct mf_topology *t, uint8_t *class)
{
	uint32_t n = mf_topology_classes(t, class);

	cr_assert_eq(n, within(t, class));
	for (uint32_t r = 0; r < t->roles; r++)
		cr_assert_leq(class[r], 1);
	cr_assert(t->roles == 0 || class[0] == 0);
	return n;
}

Test(topology_classes, stars)
{
	for (uint32_t nodes = 1; nodes < 100; nodes++) {
		for (uint32_t switches = 1; switches <= 2; switches++) {
			struct mf_topology *t = graph_star(nodes, switches);
			uint8_t class[ROLES];

			cr_assert_eq(classes(t, class), 0);
			for (uint32_t r = 0; r < t->roles; r++)
				cr_assert_eq(class[r], r >= nodes);
			mf_topology_free(t);
		}
	}
}

Test(topology_classes, parts_begin_as_role_0_would)
{
	/* Nodes 0, 1; switch 2 alone; switch 3 with node 4; node 5 alone. */
	static const uint8_t want[] = {0, 1, 1, 1, 0, 0};
	struct mf_topology *t = mf_topology_new();
	uint8_t class[6];

	for (uint32_t r = 0; r < 6; r++)
		mf_topology_role(t, r == 2 || r == 3 ? MF_VERTEX_SWITCH : MF_VERTEX_NODE);
	mf_topology_link(t, 1, 0);
	mf_topology_link(t, 3, 4);
	mf_topology_close(t);
	cr_assert_eq(classes(t, class), 0);
	cr_assert_arr_eq(class, want, 6);
	mf_topology_free(t);
}

Test(topology_classes, no_roles)
{
	struct mf_topology *t = mf_topology_new();

	mf_topology_close(t);
	cr_assert_eq(mf_topology_classes(t, NULL), 0);
	mf_topology_free(t);
}

Test(topology_classes, trees_have_no_link_within)
{
	for (uint64_t seed = 0; seed < 200; seed++) {
		struct mf_topology *t = mf_topology_new();
		uint8_t class[ROLES];
		struct mf_rng rng;

		mf_rng_init(&rng, seed, "tree", 0);
		for (uint32_t r = 0; r < ROLES; r++)
			mf_topology_role(t, (enum mf_vertex_kind)mf_rng_below(&rng, 2));
		for (uint32_t r = 1; r < ROLES; r++)
			mf_topology_link(t, r, (uint32_t)mf_rng_below(&rng, r));
		mf_topology_close(t);
		cr_assert_eq(classes(t, class), 0);
		mf_topology_free(t);
	}
}

Test(topology_classes, circles)
{
	/* Nodes at the switches of a ring: only the ring of an odd length has a link within a class, one. */
	for (uint32_t n = 3; n < 20; n++) {
		struct mf_topology *t = graph_ring(n);
		uint8_t class[ROLES];

		cr_assert_eq(classes(t, class), n % 2);
		mf_topology_free(t);
	}
}

Test(topology_classes, fat_trees_have_no_link_within)
{
	static const struct mf_fat_tree f = {64, 16, 16, 16, 4, {0}};
	struct mf_topology *t = graph_fat_tree(&f);
	uint8_t class[ROLES];

	cr_assert_eq(classes(t, class), 0);
	for (uint32_t r = 0; r < t->roles; r++)
		cr_assert_eq(class[r], (r >= 64 && r < 80) || r >= 96); /* ToR and core switches */
	mf_topology_free(t);
}

/** The same graph with its links in another order, and the ends of each in another order. */
static struct mf_topology *shuffled(const struct mf_topology *t, struct mf_rng *rng)
{
	struct mf_topology *copy = mf_topology_new();
	uint32_t order[ENDS];

	for (uint32_t r = 0; r < t->roles; r++)
		mf_topology_role(copy, t->role[r].kind);
	for (uint32_t i = 0; i < t->links; i++) {
		uint32_t k = (uint32_t)mf_rng_below(rng, i + 1);

		order[i] = order[k];
		order[k] = i;
	}
	for (uint32_t i = 0; i < t->links; i++) {
		const uint32_t *e = t->link[order[i]].end;
		uint64_t turn = mf_rng_below(rng, 2);

		mf_topology_link(copy, t->end[e[turn]].role, t->end[e[1 - turn]].role);
	}
	cr_assert_eq(mf_topology_close(copy), 0);
	return copy;
}

/** The fewest links within classes, of all ways to divide the roles. */
static uint32_t fewest(const struct mf_topology *t)
{
	uint32_t best = UINT32_MAX;

	for (uint32_t mask = 0; mask < UINT32_C(1) << t->roles; mask++) {
		uint8_t class[16];
		uint32_t n;

		for (uint32_t r = 0; r < t->roles; r++)
			class[r] = mask >> r & 1;
		n = within(t, class);
		best = n < best ? n : best;
	}
	return best;
}

/** Up to 9 roles with links between any of them. */
static struct mf_topology *small(struct mf_rng *rng)
{
	struct mf_topology *t = mf_topology_new();
	uint32_t roles = 2 + (uint32_t)mf_rng_below(rng, 8), links = (uint32_t)mf_rng_below(rng, 3 * roles);

	for (uint32_t r = 0; r < roles; r++)
		mf_topology_role(t, (enum mf_vertex_kind)mf_rng_below(rng, 2));
	while (links-- > 0)
		mf_topology_link(t, (uint32_t)mf_rng_below(rng, roles), (uint32_t)mf_rng_below(rng, roles));
	cr_assert_eq(mf_topology_close(t), 0);
	return t;
}

Test(topology_classes, against_all_ways_to_divide)
{
	unsigned int odd = 0, even = 0, worse = 0;

	for (uint64_t seed = 0; seed < 500; seed++) {
		struct mf_topology *t;
		struct mf_rng rng;
		uint8_t class[ROLES];
		uint32_t n, best;

		mf_rng_init(&rng, seed, "small", 0);
		t = small(&rng);
		n = classes(t, class);
		best = fewest(t);
		cr_assert_geq(n, best);
		cr_assert_eq(n == 0, best == 0);
		cr_assert_leq(2 * n, t->links);
		odd += best > 0;
		even += best == 0 && t->links > 3;
		worse += n - best;
		mf_topology_free(t);
	}
	cr_assert(odd > 100 && even > 50, "%u %u", odd, even);
	cr_assert_lt(worse, odd / 4, "%u links more than needed in %u graphs", worse, odd);
}

Test(topology_classes, do_not_depend_on_the_order_of_links)
{
	for (uint64_t seed = 0; seed < 200; seed++) {
		struct mf_topology *t, *other;
		uint8_t class[ROLES], again[ROLES];
		struct mf_rng rng;

		mf_rng_init(&rng, seed, "classes", 0);
		t = graph_random(&rng);
		other = shuffled(t, &rng);
		cr_assert_eq(classes(t, class), classes(other, again));
		cr_assert_arr_eq(class, again, t->roles);
		mf_topology_free(other);
		mf_topology_free(t);
	}
}
