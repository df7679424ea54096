/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ports lead to a node, and which of them a flow or a frame takes. */
#include <stddef.h>

#include "topology/routes_priv.h"

/** A walk over the ports of a switch that lead to a node, in ascending order. */
struct walk {
	const struct mf_routes *r;
	const struct routes_node *node;
	uint32_t sw, distance;
	uint32_t next; /**< word of the set, or hook if the distance is 0 */
	uint64_t bits; /**< that are left of the word before */
};

static inline struct walk walk_begin(const struct mf_routes *r, uint32_t sw, uint32_t node)
{
	const struct routes_node *n = &r->node[node];

	return (struct walk){.r = r, .node = n, .sw = sw, .distance = distance_to(r, sw, n)};
}

static inline uint16_t next_hook(struct walk *w)
{
	while (w->next < w->node->hooks) {
		const struct hook *h = &w->r->hook[w->node->first + w->next++];

		if (h->sw == w->sw)
			return h->sw_port;
	}
	return MF_NO_PORT;
}

/** @return the next port; MF_NO_PORT: there are no more */
static inline uint16_t walk_next(struct walk *w)
{
	const struct routes_switch *s = &w->r->sw[w->sw];
	uint32_t i;

	if (w->distance == 0)
		return next_hook(w);
	if (w->distance == FAR)
		return MF_NO_PORT;
	while (w->bits == 0) {
		if (w->next == s->words)
			return MF_NO_PORT;
		w->bits = set_word(w->r, w->sw, w->node, w->distance, w->next++);
	}
	i = (w->next - 1) * 64 + (uint32_t)__builtin_ctzll(w->bits);
	w->bits &= w->bits - 1;
	return w->r->trunk[s->first + i].port;
}

/**
 * The weight of a port, with the port in its lower 16 bits: one comparison without a branch finds the
 * greatest one and its port. A branch would be mispredicted for each flow.
 */
static inline uint64_t weight_of(const struct mf_routes *r, uint32_t end, uint16_t port, uint64_t flow)
{
	return (mf_hash64(flow ^ r->key[end]) & ~UINT64_C(0xffff)) | port;
}

static inline uint64_t greater(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/** @return the only port; SEVERAL: there are more, or the node has several ends and it is not known yet */
static inline uint16_t only_port(const struct mf_routes *r, uint32_t sw, uint32_t node)
{
	const struct routes_node *n = &r->node[node];
	const struct hook *h = &r->hook[n->first];
	const struct route *to;

	if (n->hooks != 1)
		return n->hooks == 0 ? MF_NO_PORT : SEVERAL;
	to = route_of(r, sw, h->sw);
	return to->distance == 0 ? h->sw_port : to->port;
}

/** A node that has one end: the port of the greatest weight of the set of its switch. */
static inline uint16_t heaviest(const struct mf_routes *r, uint32_t sw, uint32_t to, uint64_t flow)
{
	const struct routes_switch *s = &r->sw[sw];
	const uint64_t *set = set_of(r, sw, to);
	uint64_t best = 0;

	for (uint32_t w = 0; w < s->words; w++) {
		const struct trunk *first = &r->trunk[s->first + w * 64];

		for (uint64_t bits = set[w]; bits != 0; bits &= bits - 1) {
			const struct trunk *t = &first[__builtin_ctzll(bits)];

			best = greater(best, weight_of(r, t->end, t->port, flow));
		}
	}
	return (uint16_t)best;
}

uint16_t mf_routes_pick(const struct mf_routes *r, uint32_t sw, uint32_t node, uint64_t flow)
{
	uint16_t port = only_port(r, sw, node);
	uint32_t first_end = r->graph->role[r->sw[sw].role].first_end;
	uint64_t best = 0;
	struct walk w;

	if (port != SEVERAL)
		return port;
	if (r->node[node].hooks == 1)
		return heaviest(r, sw, r->hook[r->node[node].first].sw, flow);
	w = walk_begin(r, sw, node);
	if (w.distance == FAR)
		return MF_NO_PORT;
	while ((port = walk_next(&w)) != MF_NO_PORT)
		best = greater(best, weight_of(r, first_end + port, port, flow));
	return (uint16_t)best;
}

unsigned int mf_routes_ports(const struct mf_routes *r, uint32_t sw, uint32_t node, uint16_t *out,
			     unsigned int max)
{
	struct walk w = walk_begin(r, sw, node);
	unsigned int n = 0;
	uint16_t port;

	for (; (port = walk_next(&w)) != MF_NO_PORT; n++) {
		if (n < max)
			out[n] = port;
	}
	return n;
}

/** The hook of an end of a node; NULL: its link is down, or leads to no switch. */
static const struct hook *hook_of(const struct mf_routes *r, uint32_t node, uint16_t node_port)
{
	const struct routes_node *n = &r->node[node];

	for (uint32_t i = 0; i < n->hooks; i++)
		if (r->hook[n->first + i].node_port == node_port)
			return &r->hook[n->first + i];
	return NULL;
}

uint16_t mf_routes_end_pick(const struct mf_routes *r, uint32_t sw, uint32_t node, uint16_t node_port,
			    uint64_t flow)
{
	const struct hook *h = hook_of(r, node, node_port);
	const struct route *to;

	if (h == NULL)
		return MF_NO_PORT;
	if (h->sw == sw)
		return h->sw_port;
	to = route_of(r, sw, h->sw);
	return to->port != SEVERAL ? to->port : heaviest(r, sw, h->sw, flow);
}

uint16_t mf_routes_spray(const struct mf_routes *r, uint32_t sw, uint32_t node, uint64_t turn)
{
	uint16_t port = only_port(r, sw, node);
	unsigned int n;
	struct walk w;

	if (port != SEVERAL)
		return port;
	n = mf_routes_ports(r, sw, node, NULL, 0);
	if (n == 0)
		return MF_NO_PORT;
	w = walk_begin(r, sw, node);
	for (turn %= n, port = walk_next(&w); turn > 0; turn--)
		port = walk_next(&w);
	return port;
}

bool mf_routes_joined(const struct mf_routes *r, const struct routes_node *from, const struct routes_node *to)
{
	const struct mf_vertex *v = &r->graph->role[from->role];

	if (!from->direct || !to->direct)
		return false;
	for (uint32_t port = 0; port < v->ends; port++) {
		if (joins(r, &r->graph->end[v->first_end + port], to))
			return true;
	}
	return false;
}

/** Links between the first switch of a path between two nodes and the last one, or FAR. */
static uint32_t distance_between(const struct mf_routes *r, const struct routes_node *from,
				 const struct routes_node *to)
{
	uint32_t nearest = FAR;

	for (uint32_t i = 0; i < from->hooks; i++) {
		uint32_t d = distance_to(r, r->hook[from->first + i].sw, to);

		nearest = d < nearest ? d : nearest;
	}
	return nearest;
}

/** A walk over the ports of a node that lead to another one, in ascending order. */
struct node_walk {
	const struct mf_routes *r;
	const struct routes_node *from, *to;
	bool joined;
	uint32_t distance; /**< if it is not joined to the other one */
	uint32_t next; /**< port if it is joined, else hook */
};

static struct node_walk node_walk_begin(const struct mf_routes *r, uint32_t from, uint32_t to)
{
	struct node_walk w = {.r = r, .from = &r->node[from], .to = &r->node[to], .distance = FAR};

	w.joined = mf_routes_joined(r, w.from, w.to);
	if (!w.joined && from != to)
		w.distance = distance_between(r, w.from, w.to);
	return w;
}

/** @return the next port; MF_NO_PORT: there are no more */
static uint16_t node_walk_next(struct node_walk *w)
{
	const struct mf_vertex *v = &w->r->graph->role[w->from->role];

	while (w->joined && w->next < v->ends) {
		uint32_t port = w->next++;

		if (joins(w->r, &w->r->graph->end[v->first_end + port], w->to))
			return (uint16_t)port;
	}
	while (w->distance != FAR && w->next < w->from->hooks) {
		const struct hook *h = &w->r->hook[w->from->first + w->next++];

		if (distance_to(w->r, h->sw, w->to) == w->distance)
			return h->node_port;
	}
	return MF_NO_PORT;
}

unsigned int mf_routes_node_ports(const struct mf_routes *r, uint32_t from, uint32_t to, uint16_t *out,
				  unsigned int max)
{
	struct node_walk w = node_walk_begin(r, from, to);
	unsigned int n = 0;
	uint16_t port;

	for (; (port = node_walk_next(&w)) != MF_NO_PORT; n++) {
		if (n < max)
			out[n] = port;
	}
	return n;
}

uint16_t mf_routes_node_pick(const struct mf_routes *r, uint32_t from, uint32_t to, uint64_t flow)
{
	struct node_walk w = node_walk_begin(r, from, to);
	uint32_t first_end = r->graph->role[w.from->role].first_end;
	uint16_t port = node_walk_next(&w);
	uint64_t best = 0;

	if (port == MF_NO_PORT)
		return MF_NO_PORT;
	for (; port != MF_NO_PORT; port = node_walk_next(&w))
		best = greater(best, weight_of(r, first_end + port, port, flow));
	return (uint16_t)best;
}

uint32_t mf_routes_hops(const struct mf_routes *r, uint32_t sw, uint32_t node)
{
	uint32_t distance = distance_to(r, sw, &r->node[node]);

	return distance == FAR ? MF_NO_PATH : distance + 1;
}

uint32_t mf_routes_node_hops(const struct mf_routes *r, uint32_t from, uint32_t to)
{
	struct node_walk w = node_walk_begin(r, from, to);

	if (from == to)
		return 0;
	if (w.joined)
		return 1;
	return w.distance == FAR ? MF_NO_PATH : w.distance + 2;
}

bool mf_routes_next_cut(const struct mf_routes *r, uint32_t *a, uint32_t *b)
{
	uint32_t to = *b + 1;

	for (uint32_t from = *a; from < r->nodes; to = ++from + 1) {
		for (; to < r->nodes; to++) {
			if (mf_routes_node_hops(r, from, to) != MF_NO_PATH)
				continue;
			*a = from;
			*b = to;
			return true;
		}
	}
	return false;
}
