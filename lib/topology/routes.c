/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of routes: how it is made, and what a link changes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "topology/routes_priv.h"

#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)

static uint32_t role_at_peer(const struct mf_routes *r, uint32_t end)
{
	return mf_topology_peer(r->graph, end);
}

/** Whether an end leads to a role of this kind. */
static bool leads_to(const struct mf_routes *r, uint32_t end, enum mf_vertex_kind kind)
{
	return r->graph->role[role_at_peer(r, end)].kind == kind;
}

static uint32_t number_at_peer(const struct mf_routes *r, uint32_t end)
{
	return r->graph->role[role_at_peer(r, end)].number;
}

static void add_trunks(struct mf_routes *r, uint32_t role, uint32_t *next)
{
	const struct mf_vertex *v = &r->graph->role[role];
	struct routes_switch *s = &r->sw[v->number];

	s->role = role;
	s->first = *next;
	for (uint32_t port = 0; port < v->ends; port++) {
		uint32_t end = v->first_end + port;

		if (leads_to(r, end, MF_VERTEX_SWITCH))
			r->trunk[(*next)++] = (struct trunk){
				.end = end, .to = number_at_peer(r, end), .port = (uint16_t)port};
	}
	s->trunks = *next - s->first;
	s->words = (s->trunks + 63) / 64;
}

static void add_node(struct mf_routes *r, uint32_t role, uint32_t *next)
{
	const struct mf_vertex *v = &r->graph->role[role];
	struct routes_node *n = &r->node[v->number];

	n->role = role;
	n->first = *next;
	*next += v->ends;
	for (uint32_t port = 0; port < v->ends; port++)
		n->direct |= leads_to(r, v->first_end + port, MF_VERTEX_NODE);
}

/** Lists the links of a node that lead to switches and are up, by port. */
static void list_hooks(struct mf_routes *r, struct routes_node *n)
{
	const struct mf_vertex *v = &r->graph->role[n->role];

	n->hooks = 0;
	for (uint32_t port = 0; port < v->ends; port++) {
		const struct mf_end *e = &r->graph->end[v->first_end + port];

		if (r->down[e->link] || !leads_to(r, v->first_end + port, MF_VERTEX_SWITCH))
			continue;
		r->hook[n->first + n->hooks++] = (struct hook){
			.sw = number_at_peer(r, v->first_end + port),
			.sw_port = (uint16_t)r->graph->end[e->peer].port,
			.node_port = (uint16_t)port,
		};
	}
}

/** The distance of each switch to a destination, by breadth-first search from there. */
static void search(struct mf_routes *r, uint32_t to)
{
	uint32_t head = 0, tail = 0;

	for (uint32_t s = 0; s < r->switches; s++)
		r->route[(uint64_t)s * r->switches + to].distance = FAR;
	r->route[(uint64_t)to * r->switches + to].distance = 0;
	r->queue[tail++] = to;
	while (head < tail) {
		uint32_t s = r->queue[head++];
		uint16_t distance = route_of(r, s, to)->distance;

		for (uint32_t i = 0; i < r->sw[s].trunks; i++) {
			const struct trunk *t = &r->trunk[r->sw[s].first + i];
			struct route *peer = &r->route[(uint64_t)t->to * r->switches + to];

			if (peer->distance != FAR || !trunk_up(r, t))
				continue;
			peer->distance = (uint16_t)(distance + 1);
			r->queue[tail++] = t->to;
		}
	}
}

/** The trunks of a switch that lead to a switch which is nearer to the destination. */
static void collect(struct mf_routes *r, uint32_t from, uint32_t to)
{
	struct route *route = &r->route[(uint64_t)from * r->switches + to];
	const struct routes_switch *s = &r->sw[from];
	uint64_t *set = set_of(r, from, to);

	route->port = MF_NO_PORT;
	if (s->words > 0)
		memset(set, 0, s->words * sizeof(*set));
	if (route->distance == 0 || route->distance == FAR)
		return;
	for (uint32_t i = 0; i < s->trunks; i++) {
		const struct trunk *t = &r->trunk[s->first + i];

		if (!trunk_up(r, t) || route_of(r, t->to, to)->distance + 1 != route->distance)
			continue;
		set[i / 64] |= UINT64_C(1) << i % 64;
		route->port = route->port == MF_NO_PORT ? t->port : SEVERAL;
	}
}

static void compute(struct mf_routes *r, uint32_t to)
{
	search(r, to);
	for (uint32_t s = 0; s < r->switches; s++)
		collect(r, s, to);
}

void mf_routes_identify(struct mf_routes *r, uint32_t end, uint64_t identity)
{
	r->key[end] = mf_hash64(mf_hash64(r->seed + GOLDEN) ^ mf_hash64(identity + GOLDEN));
}

static void identify_all(struct mf_routes *r)
{
	for (uint32_t e = 0; e < r->graph->ends; e++)
		mf_routes_identify(r, e, (uint64_t)r->graph->end[e].role << 32 | r->graph->end[e].port);
}

static void *table(uint64_t n, size_t size)
{
	return calloc(n > 0 ? n : 1, size);
}

static int allocate(struct mf_routes *r)
{
	const struct mf_topology *t = r->graph;

	r->down = table(t->links, sizeof(*r->down));
	r->key = table(t->ends, sizeof(*r->key));
	r->sw = table(t->switches, sizeof(*r->sw));
	r->node = table(t->nodes, sizeof(*r->node));
	r->trunk = table(t->ends, sizeof(*r->trunk));
	r->hook = table(t->ends, sizeof(*r->hook));
	r->route = table((uint64_t)t->switches * t->switches, sizeof(*r->route));
	r->queue = table(t->switches, sizeof(*r->queue));
	return r->down == NULL || r->key == NULL || r->sw == NULL || r->node == NULL || r->trunk == NULL ||
			       r->hook == NULL || r->route == NULL || r->queue == NULL
		       ? -ENOMEM
		       : 0;
}

/** Needs the trunks of all switches. */
static int allocate_sets(struct mf_routes *r)
{
	uint64_t words = 0;

	for (uint32_t s = 0; s < r->switches; s++)
		words += (uint64_t)r->sw[s].words * r->switches;
	r->set = table(words, sizeof(*r->set));
	if (r->set == NULL)
		return -ENOMEM;
	words = 0;
	for (uint32_t s = 0; s < r->switches; s++) {
		r->sw[s].sets = r->set + words;
		words += (uint64_t)r->sw[s].words * r->switches;
	}
	return 0;
}

static int fill(struct mf_routes *r)
{
	uint32_t trunks = 0, hooks = 0;

	for (uint32_t role = 0; role < r->graph->roles; role++) {
		if (r->graph->role[role].kind == MF_VERTEX_SWITCH)
			add_trunks(r, role, &trunks);
		else
			add_node(r, role, &hooks);
	}
	if (allocate_sets(r) != 0)
		return -ENOMEM;
	identify_all(r);
	for (uint32_t n = 0; n < r->nodes; n++)
		list_hooks(r, &r->node[n]);
	for (uint32_t s = 0; s < r->switches; s++)
		compute(r, s);
	return 0;
}

static bool fits(const struct mf_topology *t)
{
	/* Distances between switches, and ports, have to be below SEVERAL. */
	for (uint32_t role = 0; role < t->roles; role++) {
		if (t->role[role].ends > SEVERAL)
			return false;
	}
	return t->switches <= SEVERAL;
}

int mf_routes_new(const struct mf_topology *t, uint64_t seed, struct mf_routes **out)
{
	struct mf_routes *r;

	if (!fits(t))
		return -ERANGE;
	r = calloc(1, sizeof(*r));
	if (r == NULL)
		return -ENOMEM;
	r->graph = t;
	r->seed = seed;
	r->switches = t->switches;
	r->nodes = t->nodes;
	if (allocate(r) != 0 || fill(r) != 0) {
		mf_routes_free(r);
		return -ENOMEM;
	}
	*out = r;
	return 0;
}

void mf_routes_free(struct mf_routes *r)
{
	if (r == NULL)
		return;
	free(r->down);
	free(r->key);
	free(r->sw);
	free(r->node);
	free(r->trunk);
	free(r->hook);
	free(r->route);
	free(r->queue);
	free(r->set);
	free(r);
}

/**
 * A link between two switches at the same distance from a destination is on no shortest path to it, and would
 * be on none if it came up. All other destinations are computed anew.
 */
static void trunk_changed(struct mf_routes *r, uint32_t a, uint32_t b)
{
	for (uint32_t to = 0; to < r->switches; to++) {
		if (route_of(r, a, to)->distance != route_of(r, b, to)->distance)
			compute(r, to);
	}
}

int mf_routes_link(struct mf_routes *r, uint32_t link, bool up)
{
	const struct mf_topology *t = r->graph;
	const struct mf_vertex *role[2];

	if (link >= t->links)
		return -EINVAL;
	if (r->down[link] == !up)
		return 0;
	r->down[link] = !up;
	for (int i = 0; i < 2; i++) {
		role[i] = &t->role[t->end[t->link[link].end[i]].role];
		if (role[i]->kind == MF_VERTEX_NODE)
			list_hooks(r, &r->node[role[i]->number]);
	}
	if (role[0]->kind == MF_VERTEX_SWITCH && role[1]->kind == MF_VERTEX_SWITCH)
		trunk_changed(r, role[0]->number, role[1]->number);
	return 0;
}

bool mf_routes_up(const struct mf_routes *r, uint32_t link)
{
	return !r->down[link];
}
