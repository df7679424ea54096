/* SPDX-License-Identifier: BSD-3-Clause */
/* Routes against a model, over random graphs whose links are cut and repaired. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "graphs.h"
#include "model.h"
#include "topology/mf_routes.h"

#define SEEDS 500
#define STEPS 12
#define MANY ENDS

/** The ports that the model has for a role and a node, in ascending order. */
static unsigned int expect_ports(const struct model *m, uint32_t role, uint32_t node, uint16_t *port)
{
	const struct mf_vertex *v = &m->t->role[role];
	unsigned int n = 0;

	for (uint32_t p = 0; p < v->ends; p++) {
		if (model_leads(m, v->first_end + p, node))
			port[n++] = (uint16_t)p;
	}
	return n;
}

static void check_ports(const struct model *m, uint32_t role, uint32_t node, const struct mf_routes *r)
{
	bool is_switch = m->t->role[role].kind == MF_VERTEX_SWITCH;
	uint32_t number = m->t->role[role].number, d = m->distance[role][node];
	uint16_t want[MANY], got[MANY], few[2] = {7777, 7777};
	unsigned int n = expect_ports(m, role, node, want), found, again;

	if (is_switch) {
		found = mf_routes_ports(r, number, node, got, MANY);
		again = mf_routes_ports(r, number, node, few, 1);
		cr_assert_eq(mf_routes_hops(r, number, node), d);
	} else {
		found = mf_routes_node_ports(r, number, node, got, MANY);
		again = mf_routes_node_ports(r, number, node, few, 1);
		cr_assert_eq(mf_routes_node_hops(r, number, node), d);
	}
	cr_assert_eq(found, n, "role %u to node %u: %u ports, not %u", role, node, found, n);
	cr_assert_arr_eq(got, want, n * sizeof(*got));
	cr_assert_eq(again, n);
	cr_assert_eq(few[0], n > 0 ? want[0] : 7777);
	cr_assert_eq(few[1], 7777);
}

static uint16_t pick(const struct mf_routes *r, const struct mf_vertex *v, uint32_t node, uint64_t flow)
{
	return v->kind == MF_VERTEX_SWITCH ? mf_routes_pick(r, v->number, node, flow)
					   : mf_routes_node_pick(r, v->number, node, flow);
}

/** A choice is one of the ports, and the same for routes that were computed anew. */
static void check_choice(const struct model *m, uint32_t role, uint32_t node, const struct mf_routes *r,
			 const struct mf_routes *fresh, uint64_t flow)
{
	const struct mf_vertex *v = &m->t->role[role];
	uint16_t port = pick(r, v, node, flow), want[MANY];
	unsigned int n = expect_ports(m, role, node, want);

	cr_assert_eq(port, pick(fresh, v, node, flow));
	if (n == 0)
		cr_assert_eq(port, MF_NO_PORT);
	else
		cr_assert(model_leads(m, v->first_end + port, node));
	if (v->kind != MF_VERTEX_SWITCH)
		return;
	for (unsigned int turn = 0; turn < 2 * n; turn++)
		cr_assert_eq(mf_routes_spray(r, v->number, node, turn), want[turn % n]);
	if (n == 0)
		cr_assert_eq(mf_routes_spray(r, v->number, node, flow), MF_NO_PORT);
}

/** Links from a role to the one at the other end of an end, over switches, by relaxing all links; MF_NO_PATH.
 */
static uint32_t steps_to(const struct model *m, uint32_t role, uint32_t end)
{
	uint32_t far[ROLES], last = mf_topology_peer(m->t, end);

	for (uint32_t i = 0; i < m->t->roles; i++)
		far[i] = i == last ? 0 : MF_NO_PATH;
	if (m->down[m->t->end[end].link] || m->t->role[last].kind != MF_VERTEX_SWITCH)
		return MF_NO_PATH;
	for (uint32_t round = 0; round < m->t->switches; round++)
		for (uint32_t e = 0; e < m->t->ends; e++) {
			uint32_t from = m->t->end[e].role, to = mf_topology_peer(m->t, e);

			if (m->down[m->t->end[e].link] || m->t->role[from].kind != MF_VERTEX_SWITCH ||
			    far[to] == MF_NO_PATH)
				continue;
			far[from] = far[to] + 1 < far[from] ? far[to] + 1 : far[from];
		}
	return far[role];
}

/** From a switch to one end of a node: by a shortest way to that, whatever other ends the node has. */
static void check_end(const struct model *m, uint32_t role, uint32_t end, const struct mf_routes *r,
		      uint64_t flow)
{
	const struct mf_end *e = &m->t->end[end];
	uint32_t node = m->t->role[e->role].number, left = steps_to(m, role, end), at = role;
	uint16_t port;

	for (; left != MF_NO_PATH; left--) {
		port = mf_routes_end_pick(r, m->t->role[at].number, node, (uint16_t)e->port, flow);
		cr_assert_lt(port, m->t->role[at].ends);
		cr_assert_not(m->down[m->t->end[m->t->role[at].first_end + port].link]);
		if (left == 0) {
			cr_assert_eq(m->t->end[m->t->role[at].first_end + port].peer, end);
			return;
		}
		at = mf_topology_peer(m->t, m->t->role[at].first_end + port);
		cr_assert_eq(steps_to(m, at, end), left - 1);
	}
	port = mf_routes_end_pick(r, m->t->role[role].number, node, (uint16_t)e->port, flow);
	cr_assert_eq(port, MF_NO_PORT);
}

static void check_ends(const struct model *m, const struct mf_routes *r, uint64_t seed)
{
	for (uint32_t role = 0; role < m->t->roles; role++)
		for (uint32_t end = seed % 3; end < m->t->ends; end += 3) /* a part of them each time */
			if (m->t->role[role].kind == MF_VERTEX_SWITCH &&
			    m->t->role[m->t->end[end].role].kind == MF_VERTEX_NODE)
				check_end(m, role, end, r, mf_flow_hash(role, end, (uint16_t)seed, 1, 17));
}

static void check_cuts(const struct model *m, const struct mf_routes *r)
{
	uint32_t a = 0, b = 0;

	for (uint32_t i = 0; i < m->t->nodes; i++) {
		for (uint32_t k = i + 1; k < m->t->nodes; k++) {
			if (m->distance[role_of(m->t, MF_VERTEX_NODE, i)][k] != MF_NO_PATH)
				continue;
			cr_assert(mf_routes_next_cut(r, &a, &b));
			cr_assert_eq(a, i);
			cr_assert_eq(b, k);
		}
	}
	cr_assert_not(mf_routes_next_cut(r, &a, &b));
}

static bool check_circle(const struct model *m, const struct mf_routes *r)
{
	uint32_t end[ENDS], first = 7777;
	int n = mf_routes_cycle(r, end, ENDS);

	cr_assert_geq(n, 0);
	cr_assert_eq(n > 0, model_has_circle(m));
	for (int i = 0; i < n; i++) {
		cr_assert(model_depends(m, end[i], end[(i + 1) % n]));
		for (int k = 0; k < i; k++)
			cr_assert_neq(end[i], end[k]);
	}
	cr_assert_eq(mf_routes_cycle(r, &first, 1), n);
	cr_assert_eq(first, n > 0 ? end[0] : 7777);
	return n > 0;
}

static void check_all(const struct model *m, uint64_t seed, const struct mf_routes *r)
{
	struct mf_routes *fresh;

	cr_assert_eq(mf_routes_new(m->t, seed, &fresh), 0);
	for (uint32_t i = 0; i < m->t->links; i++) {
		cr_assert_eq(mf_routes_up(r, i), !m->down[i]);
		cr_assert_eq(mf_routes_link(fresh, i, !m->down[i]), 0);
	}
	for (uint32_t role = 0; role < m->t->roles; role++) {
		for (uint32_t node = 0; node < m->t->nodes; node++) {
			check_ports(m, role, node, r);
			check_choice(m, role, node, r, fresh,
				     mf_flow_hash(role, node, (uint16_t)seed, 1, 17));
		}
	}
	check_cuts(m, r);
	check_ends(m, r, seed);
	mf_routes_free(fresh);
}

Test(topology_routes, are_those_of_the_model)
{
	static struct model m;
	unsigned int circles = 0, cuts = 0, states = 0;

	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct mf_rng rng;
		struct mf_routes *r;
		struct mf_topology *t;
		uint32_t a, b;

		mf_rng_init(&rng, seed, "routes", 0);
		t = graph_random(&rng);
		cr_assert_lt(t->ends, ENDS);
		cr_assert_eq(mf_routes_new(t, seed, &r), 0);
		m = (struct model){.t = t};
		for (unsigned int step = 0; step < STEPS; step++, states++) {
			model_compute(&m);
			check_all(&m, seed, r);
			circles += step % 4 == 0 && check_circle(&m, r);
			a = b = 0;
			cuts += mf_routes_next_cut(r, &a, &b);
			for (uint64_t n = mf_rng_below(&rng, 4); n > 0 && t->links > 0; n--) {
				uint32_t link = (uint32_t)mf_rng_below(&rng, t->links);

				m.down[link] = !m.down[link];
				cr_assert_eq(mf_routes_link(r, link, !m.down[link]), 0);
			}
		}
		mf_routes_free(r);
		mf_topology_free(t);
	}
	/* The graphs are of all kinds. */
	cr_assert_gt(circles, SEEDS / 20);
	cr_assert_lt(circles, SEEDS * 2);
	cr_assert_gt(cuts, states / 20);
	cr_assert_lt(cuts, states * 19 / 20, "%u of %u", cuts, states);
}

Test(topology_routes, nodes_do_not_forward)
{
	/* switch 0 - node 0 - switch 1: node 1 at switch 0 and node 2 at switch 1 have no path. */
	struct mf_topology *t = mf_topology_new();
	struct mf_routes *r;
	uint32_t a = 0, b = 0;

	for (int i = 0; i < 3; i++)
		mf_topology_role(t, MF_VERTEX_NODE);
	mf_topology_role(t, MF_VERTEX_SWITCH);
	mf_topology_role(t, MF_VERTEX_SWITCH);
	mf_topology_link(t, 0, 3);
	mf_topology_link(t, 0, 4);
	mf_topology_link(t, 1, 3);
	mf_topology_link(t, 2, 4);
	mf_topology_close(t);
	cr_assert_eq(mf_routes_new(t, 1, &r), 0);
	cr_assert_eq(mf_routes_node_hops(r, 1, 0), 2);
	cr_assert_eq(mf_routes_node_hops(r, 2, 0), 2);
	cr_assert_eq(mf_routes_node_hops(r, 1, 2), MF_NO_PATH);
	cr_assert_eq(mf_routes_pick(r, 0, 2, 5), MF_NO_PORT);
	cr_assert(mf_routes_next_cut(r, &a, &b));
	cr_assert_eq(a, 1);
	cr_assert_eq(b, 2);
	cr_assert_not(mf_routes_next_cut(r, &a, &b));
	mf_routes_free(r);
	mf_topology_free(t);
}

Test(topology_routes, two_nodes_joined_directly)
{
	/* They use the direct links as long as one is up, then the switch. */
	struct mf_topology *t = mf_topology_new();
	struct mf_routes *r;
	uint16_t port[4];

	for (int i = 0; i < 3; i++)
		mf_topology_role(t, i < 2 ? MF_VERTEX_NODE : MF_VERTEX_SWITCH);
	mf_topology_link(t, 0, 1);
	mf_topology_link(t, 0, 2);
	mf_topology_link(t, 1, 2);
	mf_topology_link(t, 1, 0);
	mf_topology_close(t);
	cr_assert_eq(mf_routes_new(t, 1, &r), 0);
	cr_assert_eq(mf_routes_node_ports(r, 0, 1, port, 4), 2);
	cr_assert_eq(port[0], 0);
	cr_assert_eq(port[1], 2);
	mf_routes_link(r, 0, false);
	cr_assert_eq(mf_routes_node_ports(r, 0, 1, port, 4), 1);
	cr_assert_eq(port[0], 2);
	mf_routes_link(r, 3, false);
	cr_assert_eq(mf_routes_node_ports(r, 0, 1, port, 4), 1);
	cr_assert_eq(port[0], 1);
	cr_assert_eq(mf_routes_node_hops(r, 0, 1), 2);
	cr_assert_eq(mf_routes_link(r, 4, false), -EINVAL);
	mf_routes_link(r, 2, false);
	cr_assert_eq(mf_routes_node_ports(r, 0, 1, port, 4), 0);
	cr_assert_eq(mf_routes_node_pick(r, 0, 1, 9), MF_NO_PORT);
	cr_assert_eq(mf_routes_node_ports(r, 0, 0, port, 4), 0);
	cr_assert_eq(mf_routes_node_hops(r, 0, 0), 0);
	mf_routes_free(r);
	mf_topology_free(t);
}

Test(topology_routes, a_graph_without_nodes_or_switches)
{
	struct mf_topology *t = mf_topology_new();
	struct mf_routes *r;
	uint32_t a = 0, b = 0;

	mf_topology_close(t);
	cr_assert_eq(mf_routes_new(t, 1, &r), 0);
	cr_assert_not(mf_routes_next_cut(r, &a, &b));
	cr_assert_eq(mf_routes_cycle(r, NULL, 0), 0);
	cr_assert_eq(mf_routes_link(r, 0, true), -EINVAL);
	mf_routes_free(r);
	mf_routes_free(NULL);
	mf_topology_free(t);
}

Test(topology_routes, more_ports_than_there_are_numbers)
{
	for (uint32_t ends = 65534; ends <= 65535; ends++) {
		struct mf_topology *t = mf_topology_new();
		struct mf_routes *r = NULL;
		uint16_t port;

		for (int i = 0; i < 3; i++)
			mf_topology_role(t, i < 2 ? MF_VERTEX_SWITCH : MF_VERTEX_NODE);
		mf_topology_link(t, 1, 2);
		for (uint32_t i = 0; i < ends - 1; i++)
			mf_topology_link(t, 0, 1);
		mf_topology_close(t);
		cr_assert_eq(mf_routes_new(t, 1, &r), ends < 65535 ? 0 : -ERANGE);
		if (ends < 65535) {
			cr_assert_eq(mf_routes_ports(r, 0, 0, &port, 1), ends - 1);
			cr_assert_eq(mf_routes_spray(r, 0, 0, ends - 2), ends - 2);
		}
		mf_routes_free(r);
		mf_topology_free(t);
	}
}

Test(topology_routes, circles_of_rings)
{
	/* Around a ring of 3 no route is longer than one link between switches. */
	for (uint32_t n = 3; n < 12; n++) {
		struct mf_topology *t = graph_ring(n);
		struct mf_routes *r;
		uint32_t end[12];
		int len;

		cr_assert_eq(mf_routes_new(t, 1, &r), 0);
		len = mf_routes_cycle(r, end, 12);
		cr_assert_eq(len, n < 4 ? 0 : (int)n);
		for (int i = 0; i < len; i++)
			cr_assert_eq(mf_topology_peer(t, end[i]), t->end[end[(i + 1) % len]].role);
		mf_routes_link(r, 1, false); /* a chain has none */
		cr_assert_eq(mf_routes_cycle(r, end, 12), 0);
		mf_routes_free(r);
		mf_topology_free(t);
	}
}

Test(topology_routes, circles_need_pairs_that_use_them)
{
	/* A ring of 4 whose opposite nodes are joined: there is a circle if both pairs have to go around. */
	struct mf_topology *t = mf_topology_new();
	struct mf_routes *r;

	for (uint32_t i = 0; i < 8; i++)
		mf_topology_role(t, i < 4 ? MF_VERTEX_NODE : MF_VERTEX_SWITCH);
	mf_topology_link(t, 0, 2);
	mf_topology_link(t, 1, 3);
	for (uint32_t i = 0; i < 4; i++) {
		mf_topology_link(t, i, 4 + i);
		mf_topology_link(t, 4 + i, 4 + (i + 1) % 4);
	}
	mf_topology_close(t);
	cr_assert_eq(mf_routes_new(t, 1, &r), 0);
	for (uint32_t down = 0; down < 4; down++) {
		mf_routes_link(r, 0, !(down & 1));
		mf_routes_link(r, 1, !(down & 2));
		cr_assert_eq(mf_routes_cycle(r, NULL, 0), down == 3 ? 4 : 0, "%u", down);
	}
	mf_routes_free(r);
	mf_topology_free(t);
}

Test(topology_routes, circles_of_nodes_beside_joined_ones)
{
	/* As before, but nodes 1 and 3 hang on the switches of 0 and 2 and are not joined to 4 and 5. */
	static const uint32_t at[] = {0, 0, 1, 1, 2, 3};
	struct mf_topology *t = mf_topology_new();
	struct mf_routes *r;

	for (uint32_t i = 0; i < 10; i++)
		mf_topology_role(t, i < 6 ? MF_VERTEX_NODE : MF_VERTEX_SWITCH);
	mf_topology_link(t, 0, 4);
	mf_topology_link(t, 2, 5);
	for (uint32_t i = 0; i < 6; i++)
		mf_topology_link(t, i, 6 + at[i]);
	for (uint32_t i = 0; i < 4; i++)
		mf_topology_link(t, 6 + i, 6 + (i + 1) % 4);
	mf_topology_close(t);
	cr_assert_eq(mf_routes_new(t, 1, &r), 0);
	cr_assert_eq(mf_routes_cycle(r, NULL, 0), 4);
	mf_routes_link(r, 3, false); /* node 1 */
	cr_assert_eq(mf_routes_cycle(r, NULL, 0), 0);
	mf_routes_free(r);
	mf_topology_free(t);
}
