/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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

/** The next end of a role: ports are given in the order in which ends are taken. */
static void take_end(struct mf_topology *t, uint32_t link, uint32_t side)
{
	struct mf_vertex *v = &t->role[t->link[link].end[side]];
	uint32_t e = v->first_end + v->ends;

	t->end[e] = (struct mf_end){.role = t->link[link].end[side], .port = v->ends++, .link = link};
	t->link[link].end[side] = e;
}

int mf_topology_close(struct mf_topology *t)
{
	return mf_topology_close_by(t, NULL);
}

int mf_topology_close_by(struct mf_topology *t, const uint32_t *order)
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
	for (uint32_t k = 0; k < t->ends; k++) {
		uint32_t i = order != NULL ? order[k] : k;

		take_end(t, i / 2, i % 2);
	}
	for (uint32_t i = 0; i < t->links; i++)
		for (uint32_t side = 0; side < 2; side++)
			t->end[t->link[i].end[side]].peer = t->link[i].end[!side];
	return 0;
}

struct search {
	uint32_t *part; /**< [roles]: roles of the part that is being looked at */
	uint32_t *queue; /**< [roles] */
	uint32_t *far; /**< [roles]: MF_NONE: not reached */
	bool *seen; /**< [roles]: its part has been looked at */
};

/**
 * Distances from a role over links to roles of its kind, breadth first.
 * @param queue  set to the roles that it reaches, itself first @return how many
 */
static uint32_t spread(const struct mf_topology *t, uint32_t from, uint32_t *queue, uint32_t *far)
{
	uint32_t n = 1;

	memset(far, 0xff, t->roles * sizeof(*far));
	queue[0] = from;
	far[from] = 0;
	for (uint32_t at = 0; at < n; at++) {
		const struct mf_vertex *r = &t->role[queue[at]];

		for (uint32_t e = r->first_end; e < r->first_end + r->ends; e++) {
			uint32_t peer = mf_topology_peer(t, e);

			if (t->role[peer].kind != r->kind || far[peer] != MF_NONE)
				continue;
			far[peer] = far[queue[at]] + 1;
			queue[n++] = peer;
		}
	}
	return n;
}

/** The diameter of the part that a role is in. */
static uint32_t diameter(const struct mf_topology *t, uint32_t role, const struct search *s)
{
	uint32_t n = spread(t, role, s->part, s->far), most = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t far;

		s->seen[s->part[i]] = true;
		spread(t, s->part[i], s->queue, s->far);
		far = s->far[s->queue[n - 1]];
		most = far > most ? far : most;
	}
	return most;
}

int mf_topology_width(const struct mf_topology *t)
{
	struct search s = {.part = calloc(t->roles, sizeof(*s.part)),
			   .queue = calloc(t->roles, sizeof(*s.queue)),
			   .far = calloc(t->roles, sizeof(*s.far)),
			   .seen = calloc(t->roles, sizeof(*s.seen))};
	bool memory = s.part != NULL && s.queue != NULL && s.far != NULL && s.seen != NULL;
	uint32_t sum = 0;

	for (uint32_t i = 0; i < t->roles && memory; i++)
		sum += s.seen[i] ? 0 : diameter(t, i, &s);
	free(s.part);
	free(s.queue);
	free(s.far);
	free(s.seen);
	return memory ? (int)sum : -ENOMEM;
}
