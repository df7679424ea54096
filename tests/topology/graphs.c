/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>

#include "graphs.h"

static struct mf_topology *roles(uint32_t nodes, uint32_t switches)
{
	struct mf_topology *t = mf_topology_new();

	for (uint32_t i = 0; i < nodes; i++)
		mf_topology_role(t, MF_VERTEX_NODE);
	for (uint32_t i = 0; i < switches; i++)
		mf_topology_role(t, MF_VERTEX_SWITCH);
	return t;
}

static struct mf_topology *closed(struct mf_topology *t)
{
	cr_assert_eq(mf_topology_close(t), 0);
	return t;
}

struct mf_topology *graph_ring(uint32_t switches)
{
	struct mf_topology *t = roles(switches, switches);

	for (uint32_t i = 0; i < switches; i++) {
		mf_topology_link(t, i, switches + i);
		mf_topology_link(t, switches + i, switches + (i + 1) % switches);
	}
	return closed(t);
}

struct mf_topology *graph_star(uint32_t nodes, uint32_t switches)
{
	struct mf_topology *t = roles(nodes, switches);

	for (uint32_t s = 0; s < switches; s++) {
		for (uint32_t n = 0; n < nodes; n++)
			mf_topology_link(t, n, nodes + s);
	}
	return closed(t);
}

struct mf_topology *graph_fat_tree(const struct mf_fat_tree *f)
{
	struct mf_topology *t = roles(f->servers, mf_fat_tree_switches(f));

	for (uint32_t i = 0; i < mf_fat_tree_links(f); i++) {
		struct mf_fat_tree_link l = mf_fat_tree_link(f, i);
		uint32_t from = l.class == MF_FAT_TREE_SERVER_TOR ? l.from : f->servers + l.from;

		cr_assert_eq(mf_topology_link(t, from, f->servers + l.to), i);
	}
	return closed(t);
}

/** A role of a kind. */
static uint32_t draw(struct mf_rng *rng, const struct mf_topology *t, enum mf_vertex_kind kind)
{
	uint32_t role;

	do {
		role = (uint32_t)mf_rng_below(rng, t->roles);
	} while (t->role[role].kind != kind);
	return role;
}

/** @param sparse  there may be none, and they may lead to nodes alone */
static void add_ends(struct mf_rng *rng, struct mf_topology *t, uint32_t node, bool sparse)
{
	uint32_t ends = mf_rng_below(rng, 4) == 0 ? (uint32_t)mf_rng_below(rng, 4) : 1;

	if (!sparse)
		mf_topology_link(t, node, draw(rng, t, MF_VERTEX_SWITCH));
	for (ends -= !sparse && ends > 0; ends > 0; ends--) {
		enum mf_vertex_kind kind = mf_rng_below(rng, 10) == 0 ? MF_VERTEX_NODE : MF_VERTEX_SWITCH;

		mf_topology_link(t, node, draw(rng, t, kind)); /* not to itself: this fails then */
	}
}

static struct mf_topology *mixed_roles(struct mf_rng *rng, uint32_t nodes, uint32_t switches)
{
	struct mf_topology *t = mf_topology_new();

	while (t->switches < switches || t->nodes < nodes) {
		bool is_switch = mf_rng_below(rng, switches + nodes) < switches;

		if (is_switch ? t->switches < switches : t->nodes < nodes)
			mf_topology_role(t, is_switch ? MF_VERTEX_SWITCH : MF_VERTEX_NODE);
	}
	return t;
}

/** Joins a switch to the first one or to the one before it. */
static void join(struct mf_rng *rng, struct mf_topology *t, uint32_t first, uint32_t r)
{
	uint32_t before = r - 1;

	while (t->role[before].kind != MF_VERTEX_SWITCH)
		before--;
	mf_topology_link(t, mf_rng_below(rng, 2) ? first : before, r);
}

struct mf_topology *graph_random(struct mf_rng *rng)
{
	uint32_t switches = 1 + (uint32_t)mf_rng_below(rng, SWITCHES);
	uint32_t nodes = 2 + (uint32_t)mf_rng_below(rng, mf_rng_below(rng, 2) ? NODES - 1 : 10);
	struct mf_topology *t = mixed_roles(rng, nodes, switches);
	uint32_t trunks = (uint32_t)mf_rng_below(rng, 3 * switches);
	bool sparse = mf_rng_below(rng, 3) == 0;
	uint32_t first = MF_NONE;

	/* Ends of nodes and of switches in turns, so that no ports of a switch are all of one kind. */
	for (uint32_t r = 0; r < t->roles; r++) {
		if (t->role[r].kind == MF_VERTEX_NODE)
			add_ends(rng, t, r, sparse);
		else if (first == MF_NONE)
			first = r;
		else if (!sparse)
			join(rng, t, first, r);
		for (; trunks > 0 && mf_rng_below(rng, 2); trunks--)
			mf_topology_link(t, draw(rng, t, MF_VERTEX_SWITCH), draw(rng, t, MF_VERTEX_SWITCH));
	}
	return closed(t);
}

uint32_t role_of(const struct mf_topology *t, enum mf_vertex_kind kind, uint32_t number)
{
	for (uint32_t r = 0; r < t->roles; r++) {
		if (t->role[r].kind == kind && t->role[r].number == number)
			return r;
	}
	cr_assert_fail("no such role");
	return MF_NONE;
}
