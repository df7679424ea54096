/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cyclic buffer dependencies. The vertices are channels, each known by its sending end. An edge leads from a
 * channel to each one that some route uses directly after it. Only channels between switches can be part of a
 * circle, since nodes do not forward.
 *
 * Edges are found by destination. Nodes that are linked to the same switches are one destination: routes to
 * them differ in the last hop alone.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "topology/routes_priv.h"

struct search {
	const struct mf_routes *r;
	uint64_t *rows; /**< by receiving end: a set of trunks of the receiving switch */
	uint64_t *row; /**< by end: where its row begins */
	uint32_t *place; /**< by end of a trunk: among the trunks of its switch */
	uint32_t *before; /**< by sending end: how many channels depend on this one and were not removed */
	uint32_t *queue; /**< of switches, then of channels */
	/* Of one destination. */
	uint32_t *distance; /**< by switch */
	bool *used; /**< by switch: it forwards to the destination */
	uint64_t *set; /**< of one switch */
};

static uint64_t count_words(const struct mf_routes *r)
{
	uint64_t words = 0;

	for (uint32_t s = 0; s < r->switches; s++)
		words += (uint64_t)r->sw[s].trunks * r->sw[s].words;
	return words;
}

static void *table(uint64_t n, size_t size)
{
	return calloc(n > 0 ? n : 1, size);
}

static int search_begin(struct search *c, const struct mf_routes *r)
{
	uint32_t ends = r->graph->ends;

	*c = (struct search){.r = r};
	c->rows = table(count_words(r), sizeof(*c->rows));
	c->row = table(ends, sizeof(*c->row));
	c->place = table(ends, sizeof(*c->place));
	c->before = table(ends, sizeof(*c->before));
	c->queue = table((uint64_t)ends + r->switches, sizeof(*c->queue));
	c->distance = table(r->switches, sizeof(*c->distance));
	c->used = table(r->switches, sizeof(*c->used));
	c->set = table(ends / 64 + 1, sizeof(*c->set));
	return c->rows == NULL || c->row == NULL || c->place == NULL || c->before == NULL ||
			       c->queue == NULL || c->distance == NULL || c->used == NULL || c->set == NULL
		       ? -ENOMEM
		       : 0;
}

static void search_end(struct search *c)
{
	free(c->rows);
	free(c->row);
	free(c->place);
	free(c->before);
	free(c->queue);
	free(c->distance);
	free(c->used);
	free(c->set);
}

static void place_rows(struct search *c)
{
	const struct mf_routes *r = c->r;
	uint64_t at = 0;

	for (uint32_t s = 0; s < r->switches; s++) {
		for (uint32_t i = 0; i < r->sw[s].trunks; i++) {
			uint32_t end = r->trunk[r->sw[s].first + i].end;

			c->row[end] = at;
			c->place[end] = i;
			at += r->sw[s].words;
		}
	}
}

static void use(struct search *c, uint32_t sw, uint32_t *tail)
{
	if (c->used[sw])
		return;
	c->used[sw] = true;
	c->queue[(*tail)++] = sw;
}

/** Marks the switches that a node sends to when it sends to the destination. */
static void enter(struct search *c, const struct routes_node *from, const struct routes_node *to,
		  uint32_t *tail)
{
	const struct hook *h = &c->r->hook[from->first];
	uint32_t nearest = FAR;

	if (from == to || mf_routes_joined(c->r, from, to))
		return;
	for (uint32_t i = 0; i < from->hooks; i++)
		nearest = c->distance[h[i].sw] < nearest ? c->distance[h[i].sw] : nearest;
	for (uint32_t i = 0; i < from->hooks && nearest != FAR; i++) {
		if (c->distance[h[i].sw] == nearest)
			use(c, h[i].sw, tail);
	}
}

/** Reads into c->set by which trunks a switch reaches the destination: none if it is the last switch. */
static void read_set(struct search *c, uint32_t sw, const struct routes_node *to)
{
	for (uint32_t w = 0; w < c->r->sw[sw].words; w++)
		c->set[w] = c->distance[sw] == 0 ? 0 : set_word(c->r, sw, to, c->distance[sw], w);
}

static bool in_set(const uint64_t *set, uint32_t i)
{
	return set[i / 64] >> i % 64 & 1;
}

/**
 * Adds what a switch makes depend on each other: each channel by which frames arrive, each by which they
 * leave.
 */
static void add_edges(struct search *c, uint32_t sw, const struct routes_node *to)
{
	const struct routes_switch *s = &c->r->sw[sw];

	read_set(c, sw, to);
	for (uint32_t i = 0; i < s->trunks; i++) {
		const struct trunk *t = &c->r->trunk[s->first + i];
		uint64_t *row = c->rows + c->row[t->end];

		if (!c->used[t->to] || c->distance[t->to] != c->distance[sw] + 1 || !trunk_up(c->r, t))
			continue;
		for (uint32_t w = 0; w < s->words; w++)
			row[w] |= c->set[w];
	}
}

/** Adds the edges of all routes to a node. */
static void add_destination(struct search *c, const struct routes_node *to)
{
	const struct mf_routes *r = c->r;
	uint32_t head = 0, tail = 0;

	for (uint32_t s = 0; s < r->switches; s++) {
		c->distance[s] = distance_to(r, s, to);
		c->used[s] = false;
	}
	for (uint32_t n = 0; n < r->nodes; n++)
		enter(c, &r->node[n], to, &tail);
	while (head < tail) {
		uint32_t s = c->queue[head++];

		read_set(c, s, to);
		for (uint32_t i = 0; i < r->sw[s].trunks; i++) {
			if (in_set(c->set, i))
				use(c, r->trunk[r->sw[s].first + i].to, &tail);
		}
	}
	for (uint32_t i = 0; i < tail; i++)
		add_edges(c, c->queue[i], to);
}

/**
 * Whether two nodes are one destination. A node that is joined to another one is a destination of its own.
 */
static bool is_alike(const struct mf_routes *r, const struct routes_node *a, const struct routes_node *b)
{
	if (a->direct || b->direct || a->hooks != b->hooks)
		return false;
	for (uint32_t i = 0; i < a->hooks; i++) {
		if (r->hook[a->first + i].sw != r->hook[b->first + i].sw)
			return false;
	}
	return true;
}

/** Adds all routes: a destination once if its nodes follow each other, or hang on one switch by one link. */
static void add_all(struct search *c, bool *done)
{
	const struct mf_routes *r = c->r;
	const struct routes_node *last = NULL;

	for (uint32_t i = 0; i < r->nodes; i++) {
		const struct routes_node *n = &r->node[i];
		bool *seen = n->hooks == 1 && !n->direct ? &done[r->hook[n->first].sw] : NULL;

		if (n->hooks == 0 || (seen != NULL && *seen) || (last != NULL && is_alike(r, n, last)))
			continue;
		if (seen != NULL)
			*seen = true;
		add_destination(c, n);
		last = n;
	}
}

/**
 * For each edge from a channel: adds step to the count at its other end. Queues the channels that reach 0.
 */
static void count_edges(struct search *c, uint32_t channel, int step, uint32_t *tail)
{
	uint32_t end = c->r->graph->end[channel].peer;
	const struct routes_switch *s = &c->r->sw[c->r->graph->role[c->r->graph->end[end].role].number];

	for (uint32_t i = 0; i < s->trunks; i++) {
		uint32_t next = c->r->trunk[s->first + i].end;

		if (!in_set(c->rows + c->row[end], i))
			continue;
		c->before[next] += (uint32_t)step;
		if (step < 0 && c->before[next] == 0)
			c->queue[(*tail)++] = next;
	}
}

/**
 * Removes channels that no other one depends on, until none is left.
 * @return a channel that stays, or MF_NONE
 */
static uint32_t peel(struct search *c)
{
	const struct mf_routes *r = c->r;
	uint32_t head = 0, tail = 0, trunks = 0;

	for (uint32_t s = 0; s < r->switches; s++)
		trunks += r->sw[s].trunks;
	for (uint32_t i = 0; i < trunks; i++)
		count_edges(c, r->trunk[i].end, 1, NULL);
	for (uint32_t i = 0; i < trunks; i++) {
		if (c->before[r->trunk[i].end] == 0)
			c->queue[tail++] = r->trunk[i].end;
	}
	while (head < tail)
		count_edges(c, c->queue[head++], -1, &tail);
	for (uint32_t i = 0; i < trunks; i++) {
		if (c->before[r->trunk[i].end] > 0)
			return r->trunk[i].end;
	}
	return MF_NONE;
}

/** A channel, of those that are left, that depends on this one. Every channel that is left has one. */
static uint32_t step_back(const struct search *c, uint32_t channel)
{
	const struct mf_topology *t = c->r->graph;
	const struct routes_switch *s = &c->r->sw[t->role[t->end[channel].role].number];

	for (uint32_t i = 0; i < s->trunks; i++) {
		uint32_t end = c->r->trunk[s->first + i].end;

		if (c->before[t->end[end].peer] > 0 && in_set(c->rows + c->row[end], c->place[channel]))
			return t->end[end].peer;
	}
	return channel; /* not reached */
}

/** Walks back from a channel that is left. So many steps end on a circle, which is then written in order. */
static int write_circle(const struct search *c, uint32_t channel, uint32_t *out, unsigned int max)
{
	unsigned int n = 1;

	for (uint32_t i = 0; i < c->r->graph->ends; i++)
		channel = step_back(c, channel);
	for (uint32_t e = step_back(c, channel); e != channel; e = step_back(c, e))
		n++;
	for (unsigned int i = n; i-- > 0; channel = step_back(c, channel)) {
		if (i < max)
			out[i] = channel;
	}
	return (int)n;
}

int mf_routes_cycle(const struct mf_routes *r, uint32_t *end, unsigned int max)
{
	bool *done = table(r->switches, sizeof(*done));
	struct search c;
	int rc = search_begin(&c, r);
	uint32_t left;

	if (done == NULL)
		rc = -ENOMEM;
	if (rc == 0) {
		place_rows(&c);
		add_all(&c, done);
		left = peel(&c);
		rc = left == MF_NONE ? 0 : write_circle(&c, left, end, max);
	}
	search_end(&c);
	free(done);
	return rc;
}
