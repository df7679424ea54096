/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "model.h"
#include "topology/mf_routes.h"

static bool forwards(const struct model *m, uint32_t role, uint32_t node)
{
	const struct mf_vertex *v = &m->t->role[role];

	return v->kind == MF_VERTEX_SWITCH || v->number == node;
}

/** By way of a link's end a, to its end b. @return whether that is shorter than what was known */
static bool relax(struct model *m, uint32_t a, uint32_t b, uint32_t node)
{
	uint32_t from = m->t->end[a].role, to = m->t->end[b].role;

	if (!forwards(m, to, node) || m->distance[to][node] == MF_NO_PATH ||
	    m->distance[to][node] + 1 >= m->distance[from][node])
		return false;
	m->distance[from][node] = m->distance[to][node] + 1;
	return true;
}

void model_compute(struct model *m)
{
	const struct mf_topology *t = m->t;
	bool again = true;

	memset(m->distance, 0xff, sizeof(m->distance));
	for (uint32_t r = 0; r < t->roles; r++) {
		if (t->role[r].kind == MF_VERTEX_NODE)
			m->distance[r][t->role[r].number] = 0;
	}
	while (again) {
		again = false;
		for (uint32_t i = 0; i < t->links; i++) {
			const uint32_t *e = t->link[i].end;

			for (uint32_t node = 0; node < t->nodes && !m->down[i]; node++) {
				again |= relax(m, e[0], e[1], node);
				again |= relax(m, e[1], e[0], node);
			}
		}
	}
}

bool model_leads(const struct model *m, uint32_t end, uint32_t node)
{
	const struct mf_end *e = &m->t->end[end];
	uint32_t to = m->t->end[e->peer].role;

	return !m->down[e->link] && forwards(m, to, node) && m->distance[to][node] != MF_NO_PATH &&
	       m->distance[to][node] + 1 == m->distance[e->role][node];
}

/** Marks the ends that some node's routes to another one use. */
static void used_ends(const struct model *m, uint32_t node, bool used[ENDS])
{
	const struct mf_topology *t = m->t;
	bool at[ROLES] = {false}, again = true;

	memset(used, 0, ENDS * sizeof(*used));
	for (uint32_t r = 0; r < t->roles; r++)
		at[r] = t->role[r].kind == MF_VERTEX_NODE && t->role[r].number != node;
	while (again) {
		again = false;
		for (uint32_t e = 0; e < t->ends; e++) {
			if (used[e] || !at[t->end[e].role] || !model_leads(m, e, node))
				continue;
			used[e] = again = true;
			at[mf_topology_peer(t, e)] = true;
		}
	}
}

bool model_depends(const struct model *m, uint32_t end, uint32_t then)
{
	bool used[ENDS];

	if (mf_topology_peer(m->t, end) != m->t->end[then].role)
		return false;
	for (uint32_t node = 0; node < m->t->nodes; node++) {
		used_ends(m, node, used);
		if (used[end] && model_leads(m, then, node))
			return true;
	}
	return false;
}

bool model_has_circle(const struct model *m)
{
	static bool after[ENDS][ENDS]; /* a route uses the one some time after the other */
	const struct mf_topology *t = m->t;
	bool used[ENDS];

	memset(after, 0, sizeof(after));
	for (uint32_t node = 0; node < t->nodes; node++) {
		used_ends(m, node, used);
		for (uint32_t a = 0; a < t->ends; a++) {
			for (uint32_t b = 0; b < t->ends && used[a]; b++)
				after[a][b] |=
					mf_topology_peer(t, a) == t->end[b].role && model_leads(m, b, node);
		}
	}
	for (uint32_t k = 0; k < t->ends; k++) {
		for (uint32_t a = 0; a < t->ends; a++) {
			for (uint32_t b = 0; b < t->ends && after[a][k]; b++)
				after[a][b] |= after[k][b];
		}
	}
	for (uint32_t a = 0; a < t->ends; a++) {
		if (after[a][a])
			return true;
	}
	return false;
}
