/* SPDX-License-Identifier: BSD-3-Clause */
/* Routes, as the files of this room see them. */
#ifndef ROUTES_PRIV_H
#define ROUTES_PRIV_H

#include "topology/mf_routes.h"

#define FAR UINT16_MAX /* the distance where there is no path */
#define SEVERAL (UINT16_MAX - 1) /* more than one port: see the set */

/** From one switch to another. */
struct route {
	uint16_t distance; /**< links between them; 0: it is the same switch; or FAR */
	uint16_t port; /**< the only one; SEVERAL; or MF_NO_PORT */
};

/** An end of a switch whose link leads to a switch. */
struct trunk {
	uint32_t end; /**< of the graph */
	uint32_t to; /**< the switch at the other end */
	uint16_t port;
};

/** Where a node is linked to a switch, by a link that is up. */
struct hook {
	uint32_t sw;
	uint16_t sw_port; /**< of the switch */
	uint16_t node_port; /**< of the node */
};

struct routes_switch {
	uint32_t role;
	uint32_t first; /**< its trunks follow each other, by port */
	uint32_t trunks;
	uint32_t words; /**< of a set of its trunks, a bit each */
	uint64_t *sets; /**< by destination, of .words each */
};

struct routes_node {
	uint32_t role;
	uint32_t first; /**< its hooks follow each other, by port; as many as it has ends */
	uint16_t hooks;
	bool direct; /**< some link of it leads to a node, up or down */
};

struct mf_routes {
	const struct mf_topology *graph;
	uint64_t seed;
	uint32_t switches, nodes; /**< of the graph */
	bool *down; /**< by link */
	uint64_t *key; /**< by end */
	struct routes_switch *sw;
	struct routes_node *node;
	struct trunk *trunk;
	struct hook *hook;
	struct route *route; /**< by switch, then by destination */
	uint64_t *set; /**< all sets */
	uint32_t *queue; /**< of switches, for a search */
};

static inline const struct route *route_of(const struct mf_routes *r, uint32_t from, uint32_t to)
{
	return &r->route[(uint64_t)from * r->switches + to];
}

static inline uint64_t *set_of(const struct mf_routes *r, uint32_t from, uint32_t to)
{
	const struct routes_switch *s = &r->sw[from];

	return s->sets + (uint64_t)to * s->words;
}

static inline bool trunk_up(const struct mf_routes *r, const struct trunk *t)
{
	return !r->down[r->graph->end[t->end].link];
}

/** Links from a switch to the nearest switch that a node is linked to, or FAR. */
static inline uint32_t distance_to(const struct mf_routes *r, uint32_t sw, const struct routes_node *n)
{
	const struct hook *h = &r->hook[n->first];
	uint32_t nearest = FAR;

	for (uint32_t i = 0; i < n->hooks; i++) {
		uint32_t d = route_of(r, sw, h[i].sw)->distance;

		nearest = d < nearest ? d : nearest;
	}
	return nearest;
}

/**
 * A word of the set of trunks by which a switch reaches a node on shortest paths of this distance, above 0.
 */
static inline uint64_t set_word(const struct mf_routes *r, uint32_t sw, const struct routes_node *n,
				uint32_t distance, uint32_t word)
{
	const struct hook *h = &r->hook[n->first];
	uint64_t bits = 0;

	for (uint32_t i = 0; i < n->hooks; i++) {
		if (route_of(r, sw, h[i].sw)->distance == distance)
			bits |= set_of(r, sw, h[i].sw)[word];
	}
	return bits;
}

/** Whether an end of a node is that of a link, up, to this other node. */
static inline bool joins(const struct mf_routes *r, const struct mf_end *e, const struct routes_node *to)
{
	return !r->down[e->link] && r->graph->end[e->peer].role == to->role;
}

/** Whether some link that is up joins two nodes. */
bool mf_routes_joined(const struct mf_routes *r, const struct routes_node *from,
		      const struct routes_node *to);

#endif
