/* SPDX-License-Identifier: BSD-3-Clause */
/* The graph itself: numbers of roles, ends in the order of links, what is refused. */
#include <criterion/criterion.h>
#include <errno.h>

#include "base/mf_rng.h"
#include "shortage.h"
#include "topology/mf_topology.h"

Test(topology, the_example_of_the_header)
{
	struct mf_topology *t = mf_topology_new();

	cr_assert_eq(mf_topology_role(t, MF_VERTEX_NODE), 0);
	cr_assert_eq(mf_topology_role(t, MF_VERTEX_NODE), 1);
	cr_assert_eq(mf_topology_role(t, MF_VERTEX_SWITCH), 2);
	cr_assert_eq(mf_topology_link(t, 0, 2), 0);
	cr_assert_eq(mf_topology_link(t, 1, 2), 1);
	cr_assert_eq(mf_topology_close(t), 0);
	cr_assert_eq(t->ends, 4);
	for (uint32_t role = 0; role < 3; role++)
		cr_assert_eq(t->role[role].first_end, role);
	cr_assert_eq(t->role[2].ends, 2);
	cr_assert_eq(t->role[2].number, 0);
	cr_assert_eq(t->role[1].number, 1);
	cr_assert_eq(mf_topology_peer(t, mf_topology_end(t, 2, 1)), 1);
	cr_assert_eq(mf_topology_peer(t, mf_topology_end(t, 0, 0)), 2);
	mf_topology_free(t);
}

Test(topology, kinds_are_numbered_apart)
{
	struct mf_topology *t = mf_topology_new();

	for (uint32_t i = 0; i < 100; i++)
		cr_assert_eq(mf_topology_role(t, i % 3 == 0 ? MF_VERTEX_SWITCH : MF_VERTEX_NODE), i);
	cr_assert_eq(mf_topology_close(t), 0);
	cr_assert_eq(t->switches, 34);
	cr_assert_eq(t->nodes, 66);
	for (uint32_t i = 0; i < 100; i++) {
		cr_assert_eq(t->role[i].kind, i % 3 == 0 ? MF_VERTEX_SWITCH : MF_VERTEX_NODE);
		cr_assert_eq(t->role[i].number, i % 3 == 0 ? i / 3 : i - i / 3 - 1);
		cr_assert_eq(t->role[i].ends, 0);
	}
	mf_topology_free(t);
}

Test(topology, refuses_links_of_a_role_to_itself_or_to_none)
{
	struct mf_topology *t = mf_topology_new();

	mf_topology_role(t, MF_VERTEX_NODE);
	mf_topology_role(t, MF_VERTEX_NODE);
	for (uint32_t a = 0; a < 4; a++) {
		for (uint32_t b = 0; b < 4; b++) {
			bool good = a != b && a < 2 && b < 2;
			uint32_t links = t->links;

			errno = 0;
			cr_assert_eq(mf_topology_link(t, a, b), good ? links : MF_NONE);
			cr_assert_eq(errno, good ? 0 : EINVAL);
			cr_assert_eq(t->links, links + good);
		}
	}
	cr_assert_eq(mf_topology_close(t), 0);
	cr_assert_eq(t->ends, 4);
	mf_topology_free(t);
	mf_topology_free(NULL);
}

Test(topology, an_empty_graph)
{
	struct mf_topology *t = mf_topology_new();

	cr_assert_eq(mf_topology_close(t), 0);
	cr_assert_eq(t->roles + t->ends + t->links, 0);
	mf_topology_free(t);
}

#define ROLES 70 /* tables grow at 16, 32, 64 */
#define LINKS 300

/** Looks at a graph, whose links are known, by counting. */
static void check(const struct mf_topology *t, const uint32_t (*link)[2])
{
	uint32_t ports[ROLES] = {0}, first = 0;

	cr_assert_eq(t->ends, 2 * LINKS);
	for (uint32_t i = 0; i < LINKS; i++) {
		for (int k = 0; k < 2; k++) {
			uint32_t role = link[i][k], e = mf_topology_end(t, role, ports[role]);

			cr_assert_eq(t->link[i].end[k], e, "link %u, end %d", i, k);
			cr_assert_eq(t->end[e].role, role);
			cr_assert_eq(t->end[e].port, ports[role]);
			cr_assert_eq(t->end[e].link, i);
			cr_assert_eq(t->end[e].peer, t->link[i].end[1 - k]);
			cr_assert_eq(mf_topology_peer(t, e), link[i][1 - k]);
			ports[role]++;
		}
	}
	for (uint32_t r = 0; r < ROLES; r++) {
		cr_assert_eq(t->role[r].first_end, first);
		cr_assert_eq(t->role[r].ends, ports[r]);
		first += ports[r];
	}
}

Test(topology, ports_are_in_the_order_of_links)
{
	for (uint64_t seed = 0; seed < 100; seed++) {
		struct mf_topology *t = mf_topology_new();
		uint32_t link[LINKS][2];
		struct mf_rng rng;

		mf_rng_init(&rng, seed, "graph", 0);
		for (uint32_t r = 0; r < ROLES; r++)
			mf_topology_role(t, (enum mf_vertex_kind)mf_rng_below(&rng, 2));
		for (uint32_t i = 0; i < LINKS; i++) {
			link[i][0] = (uint32_t)mf_rng_below(&rng, ROLES);
			link[i][1] = (link[i][0] + 1 + (uint32_t)mf_rng_below(&rng, ROLES - 1)) % ROLES;
			cr_assert_eq(mf_topology_link(t, link[i][0], link[i][1]), i);
		}
		cr_assert_eq(mf_topology_close(t), 0);
		check(t, (const uint32_t(*)[2])link);
		mf_topology_free(t);
	}
}

static bool alike(const struct mf_topology *t, uint32_t end)
{
	return t->role[t->end[end].role].kind == t->role[mf_topology_peer(t, end)].kind;
}

/** The longest of all shortest paths in each part, added up, by a table of all pairs (Floyd and Warshall). */
static int sum_of_longest(const struct mf_topology *t)
{
	uint32_t far[ROLES][ROLES], sum = 0;

	for (uint32_t a = 0; a < t->roles; a++)
		for (uint32_t b = 0; b < t->roles; b++)
			far[a][b] = a == b ? 0 : ROLES;
	for (uint32_t e = 0; e < t->ends; e++)
		if (alike(t, e))
			far[t->end[e].role][mf_topology_peer(t, e)] = 1;
	for (uint32_t k = 0; k < t->roles; k++)
		for (uint32_t a = 0; a < t->roles; a++)
			for (uint32_t b = 0; b < t->roles; b++)
				if (far[a][k] + far[k][b] < far[a][b])
					far[a][b] = far[a][k] + far[k][b];
	for (uint32_t i = 0; i < t->roles; i++) {
		uint32_t most = 0, first = 0;

		while (far[first][i] >= ROLES)
			first++;
		for (uint32_t a = 0; a < t->roles && first == i; a++)
			for (uint32_t b = 0; b < t->roles; b++)
				if (far[i][a] < ROLES && far[a][b] < ROLES && far[a][b] > most)
					most = far[a][b];
		sum += most;
	}
	return (int)sum;
}

Test(topology, widths)
{
	bool seen[ROLES] = {false};

	for (uint64_t seed = 0; seed < 200; seed++) {
		struct mf_topology *t = mf_topology_new();
		struct mf_rng rng;
		uint32_t roles, links;
		int d;

		mf_rng_init(&rng, seed, "width", 0);
		roles = 1 + (uint32_t)mf_rng_below(&rng, 40);
		links = roles > 1 ? (uint32_t)mf_rng_below(&rng, 2 * roles) : 0;
		for (uint32_t r = 0; r < roles; r++)
			mf_topology_role(t, mf_rng_below(&rng, 4) == 0 ? MF_VERTEX_NODE : MF_VERTEX_SWITCH);
		for (uint32_t i = 0; i < links; i++) {
			uint32_t a = (uint32_t)mf_rng_below(&rng, roles);

			mf_topology_link(t, a, (a + 1 + (uint32_t)mf_rng_below(&rng, roles - 1)) % roles);
		}
		cr_assert_eq(mf_topology_close(t), 0);
		d = mf_topology_width(t);
		cr_assert_eq(d, sum_of_longest(t), "seed %llu", (unsigned long long)seed);
		seen[d] = true;
		mf_topology_free(t);
	}
	cr_assert(seen[0] && seen[1] && seen[4] && seen[8], "there are all sorts of graphs");
}

/** Each role has its ends in the order that it is given, whatever the order of the other end of a link. */
Test(topology, ports_in_an_order)
{
	struct mf_topology *t = mf_topology_new();
	/* 0 and 1 have two links; the first one is port 0 of role 0, and port 1 of role 1. */
	static const uint32_t order[] = {0, 3, 1, 2};

	mf_topology_role(t, MF_VERTEX_NODE);
	mf_topology_role(t, MF_VERTEX_NODE);
	mf_topology_link(t, 0, 1);
	mf_topology_link(t, 0, 1);
	cr_assert_eq(mf_topology_close_by(t, order), 0);
	cr_assert_eq(t->end[mf_topology_end(t, 0, 0)].link, 0);
	cr_assert_eq(t->end[mf_topology_end(t, 1, 1)].link, 0);
	cr_assert_eq(t->end[mf_topology_end(t, 0, 1)].link, 1);
	cr_assert_eq(t->end[mf_topology_end(t, 1, 0)].link, 1);
	for (uint32_t i = 0; i < t->links; i++)
		for (uint32_t side = 0; side < 2; side++) {
			const struct mf_end *e = &t->end[t->link[i].end[side]];

			cr_assert_eq(e->role, side);
			cr_assert_eq(e->peer, t->link[i].end[!side]);
		}
	mf_topology_free(t);
}

/** Stops at what fails first, and looks whether what was there before is still there. */
static int make(const void *of)
{
	struct mf_topology *t = mf_topology_new();
	int rc = t == NULL ? -errno : 0;

	(void)of;
	for (uint32_t i = 0; i < ROLES && rc == 0; i++) {
		if (mf_topology_role(t, MF_VERTEX_NODE) == MF_NONE)
			rc = -errno;
		cr_assert_eq(t->roles, rc == 0 ? i + 1 : i);
		cr_assert_eq(t->nodes, t->roles);
	}
	for (uint32_t i = 1; i < ROLES && rc == 0; i++) {
		if (mf_topology_link(t, 0, i) == MF_NONE)
			rc = -errno;
		cr_assert_eq(t->links, rc == 0 ? i : i - 1);
		cr_assert_eq(t->role[0].ends, t->links);
	}
	if (rc == 0)
		rc = mf_topology_close(t);
	mf_topology_free(t);
	return rc;
}

Test(topology, memory_runs_out)
{
	shortage_each(make, NULL);
}
