/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "topology/mf_topology.h"

#define FIRST 16 /* entries of a table that grows: 16, 32, 64 ... */

struct mf_topology *mf_topology_new(void)
{
	return calloc(1, sizeof(struct mf_topology));
}

void mf_topology_free(struct mf_topology *t)
{
	if (t == NULL)
		return;
	free(t->role);
	free(t->end);
	free(t->link);
	free(t);
}

/** A table is full with n entries if n is a power of two from FIRST on: it doubles then. */
static bool is_full(uint32_t n)
{
	return n == 0 || (n >= FIRST && (n & (n - 1)) == 0);
}

/**
 * Room for one more entry behind n.
 * @return the table, perhaps in another place, or NULL: it stays as it is
 */
static void *room_for_one(void *table, uint32_t n, size_t size)
{
	if (!is_full(n))
		return table;
	return realloc(table, (n == 0 ? FIRST : 2 * (size_t)n) * size);
}

uint32_t mf_topology_role(struct mf_topology *t, enum mf_vertex_kind kind)
{
	struct mf_vertex *role = room_for_one(t->role, t->roles, sizeof(*role));
	uint32_t *count = kind == MF_VERTEX_NODE ? &t->nodes : &t->switches;

	if (role == NULL)
		return MF_NONE;
	t->role = role;
	role[t->roles] = (struct mf_vertex){.kind = kind, .number = (*count)++};
	return t->roles++;
}

uint32_t mf_topology_link(struct mf_topology *t, uint32_t a, uint32_t b)
{
	struct mf_graph_link *link;

	if (a == b || a >= t->roles || b >= t->roles) {
		errno = EINVAL;
		return MF_NONE;
	}
	link = room_for_one(t->link, t->links, sizeof(*link));
	if (link == NULL)
		return MF_NONE;
	t->link = link;
	link[t->links].end[0] = a; /* the role, until the ends are numbered */
	link[t->links].end[1] = b;
	t->role[a].ends++;
	t->role[b].ends++;
	return t->links++;
}

/** The next end of a role: ports are given in the order of the links. */
static uint32_t take_end(struct mf_topology *t, uint32_t role, uint32_t link)
{
	struct mf_vertex *v = &t->role[role];
	uint32_t e = v->first_end + v->ends;

	t->end[e] = (struct mf_end){.role = role, .port = v->ends++, .link = link};
	return e;
}

int mf_topology_close(struct mf_topology *t)
{
	t->ends = 2 * t->links;
	t->end = calloc(t->ends + 1, sizeof(*t->end));
	if (t->end == NULL)
		return -ENOMEM;
	for (uint32_t r = 0, first = 0; r < t->roles; r++) {
		t->role[r].first_end = first;
		first += t->role[r].ends;
		t->role[r].ends = 0; /* counted again, by take_end() */
	}
	for (uint32_t i = 0; i < t->links; i++) {
		struct mf_graph_link *l = &t->link[i];

		l->end[0] = take_end(t, l->end[0], i);
		l->end[1] = take_end(t, l->end[1], i);
		t->end[l->end[0]].peer = l->end[1];
		t->end[l->end[1]].peer = l->end[0];
	}
	return 0;
}

/** Distances from a switch, breadth first. @param queue, far  [roles] @return the longest */
static uint32_t farthest(const struct mf_topology *t, uint32_t from, uint32_t *queue, uint32_t *far)
{
	uint32_t n = 1;

	for (uint32_t i = 0; i < t->roles; i++)
		far[i] = MF_NONE;
	queue[0] = from;
	far[from] = 0;
	for (uint32_t at = 0; at < n; at++) {
		const struct mf_vertex *r = &t->role[queue[at]];

		for (uint32_t e = r->first_end; e < r->first_end + r->ends; e++) {
			uint32_t peer = mf_topology_peer(t, e);

			if (t->role[peer].kind != MF_VERTEX_SWITCH || far[peer] != MF_NONE)
				continue;
			far[peer] = far[queue[at]] + 1;
			queue[n++] = peer;
		}
	}
	return far[queue[n - 1]];
}

int mf_topology_diameter(const struct mf_topology *t)
{
	uint32_t *queue = calloc(t->roles, sizeof(*queue)), *far = calloc(t->roles, sizeof(*far));
	uint32_t most = 0, one;
	bool memory = queue != NULL && far != NULL;

	for (uint32_t i = 0; i < t->roles && memory; i++) {
		one = t->role[i].kind == MF_VERTEX_SWITCH ? farthest(t, i, queue, far) : 0;
		most = one > most ? one : most;
	}
	free(queue);
	free(far);
	return memory ? (int)most : -ENOMEM;
}
