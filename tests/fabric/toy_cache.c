/* SPDX-License-Identifier: BSD-3-Clause */
#include "toy_cache.h"

#include <stdlib.h>
#include <string.h>

#define LINE 64
#define LINES 256 /* at the place of their address */
#define SLOTS 64 /* operations under way, or that have completed and were not taken */
#define HIT MF_NS(10)
#define NONE UINT64_MAX

bool toy_cache_stale;

struct line {
	uint64_t addr; /**< NONE: it holds nothing */
	uint16_t node;
	uint8_t data[LINE];
};

enum state { FREE, BELOW, DONE };

/** An operation of the client. Its place is mf_op.user of what the host is asked. */
struct slot {
	uint8_t state; /**< enum state */
	bool fills; /**< it reads a whole line into `data`, which may fill the line */
	struct mf_op op; /**< as the client has it */
	struct mf_completion done; /**< DONE: what it is told */
	uint8_t data[LINE];
};

struct cache {
	struct mf_layer layer; /**< first: the layer is this */
	struct toy_cache_counts *counts;
	uint32_t outstanding;
	struct slot slot[SLOTS];
	struct line line[LINES];
};

static struct line *line_at(struct cache *c, uint16_t node, uint64_t addr)
{
	return &c->line[(addr / LINE + node * 7u) % LINES];
}

static bool holds(const struct line *l, uint16_t node, uint64_t addr)
{
	return l->addr == addr / LINE * LINE && l->node == node;
}

static uint64_t length(const struct mf_op *op)
{
	return op->kind == MF_OP_RMW ? 8 : op->len;
}

/** Whether an operation has octets of a line. */
static bool touches(const struct mf_op *op, uint16_t node, uint64_t line)
{
	return op->node == node && op->addr < line + LINE && line < op->addr + length(op);
}

static bool changes(const struct mf_op *op)
{
	return op->kind != MF_OP_READ;
}

/** Whether some write or atomic of a line is under way. */
static bool is_changing(const struct cache *c, uint16_t node, uint64_t line)
{
	for (unsigned int i = 0; i < SLOTS; i++)
		if (c->slot[i].state == BELOW && changes(&c->slot[i].op) &&
		    touches(&c->slot[i].op, node, line))
			return true;
	return false;
}

/** What a write, or an atomic, does to lines, and to reads that would fill them. */
static void change(struct cache *c, const struct mf_op *op, bool update)
{
	uint64_t end = op->addr + length(op);

	for (unsigned int i = 0; i < SLOTS; i++)
		if (c->slot[i].state == BELOW && c->slot[i].fills &&
		    touches(op, c->slot[i].op.node, c->slot[i].op.addr / LINE * LINE))
			c->slot[i].fills = false;
	for (uint64_t at = op->addr / LINE * LINE; at < end; at += LINE) {
		struct line *l = line_at(c, op->node, at);
		uint64_t from = at > op->addr ? at : op->addr, to = at + LINE < end ? at + LINE : end;

		if (!holds(l, op->node, at))
			continue;
		if (update && !toy_cache_stale)
			memcpy(l->data + (from - at), (const uint8_t *)op->buf + (from - op->addr),
			       to - from);
		else if (!update)
			l->addr = NONE;
	}
}

static struct slot *free_slot(struct cache *c)
{
	for (unsigned int i = 0; i < SLOTS; i++)
		if (c->slot[i].state == FREE)
			return &c->slot[i];
	return NULL;
}

static void complete(struct slot *s, const struct mf_completion *done)
{
	s->done = *done;
	s->done.user = s->op.user;
	s->state = DONE;
}

static bool hit(struct cache *c, struct slot *s, mf_time now)
{
	const struct line *l = line_at(c, s->op.node, s->op.addr);
	uint64_t at = s->op.addr % LINE;

	if (s->op.kind != MF_OP_READ || at + s->op.len > LINE || !holds(l, s->op.node, s->op.addr))
		return false;
	memcpy(s->op.buf, l->data + at, s->op.len);
	complete(s, &(struct mf_completion){.len = s->op.len,
					    .submitted = now,
					    .first = now + HIT,
					    .done = now + HIT,
					    .kind = MF_OP_READ,
					    .node = s->op.node});
	c->counts->hits++;
	return true;
}

static int submit(struct mf_layer *layer, mf_time now, const struct mf_op *op)
{
	struct cache *c = (struct cache *)layer;
	struct slot *s = free_slot(c);
	struct mf_op below = *op;
	int err;

	if (s == NULL)
		return -EAGAIN;
	*s = (struct slot){.op = *op};
	if (hit(c, s, now)) {
		c->outstanding++;
		return 0;
	}
	below.user = (uint64_t)(s - c->slot);
	if (op->kind == MF_OP_READ && op->addr % LINE + op->len <= LINE) {
		below.addr = op->addr / LINE * LINE;
		below.len = LINE;
		below.buf = s->data;
		s->fills = !is_changing(c, op->node, below.addr);
	}
	err = mf_node_submit(c->layer.host, now, &below);
	if (err != 0) {
		s->state = FREE;
		return err;
	}
	if (changes(op))
		change(c, op, op->kind != MF_OP_RMW);
	c->counts->misses += op->kind == MF_OP_READ;
	c->counts->atomics += op->kind == MF_OP_RMW;
	c->counts->writes += op->kind == MF_OP_WRITE || op->kind == MF_OP_WRITE_ACK;
	s->state = BELOW;
	c->outstanding++;
	return 0;
}

static void host_done(struct cache *c, const struct mf_completion *done)
{
	struct slot *s = &c->slot[done->user];
	struct mf_completion told = *done;
	bool line = s->op.kind == MF_OP_READ && s->op.addr % LINE + s->op.len <= LINE;

	if (line) {
		told.len = done->status == MF_OK ? s->op.len : 0;
		memcpy(s->op.buf, s->data + s->op.addr % LINE, s->op.len);
	}
	if (s->fills && done->status == MF_OK) {
		struct line *l = line_at(c, s->op.node, s->op.addr);

		*l = (struct line){.addr = s->op.addr / LINE * LINE, .node = s->op.node};
		memcpy(l->data, s->data, LINE);
		c->counts->fills++;
	}
	if (changes(&s->op) && done->status != MF_OK)
		change(c, &s->op, false);
	complete(s, &told);
}

static mf_time next(const struct mf_layer *layer)
{
	const struct cache *c = (const struct cache *)layer;
	mf_time first = MF_NEVER;

	for (unsigned int i = 0; i < SLOTS; i++)
		if (c->slot[i].state == DONE)
			first = mf_time_min(first, c->slot[i].done.done);
	return first;
}

static mf_time run(struct mf_layer *layer, mf_time now)
{
	struct cache *c = (struct cache *)layer;
	struct mf_completion done[SLOTS];
	unsigned int n = mf_node_completions(layer->host, now, done, SLOTS);

	for (unsigned int i = 0; i < n; i++)
		host_done(c, &done[i]);
	return next(layer);
}

static unsigned int completions(struct mf_layer *layer, mf_time now, struct mf_completion *out,
				unsigned int max)
{
	struct cache *c = (struct cache *)layer;
	unsigned int n = 0;

	while (n < max) {
		struct slot *s = NULL;

		for (unsigned int i = 0; i < SLOTS; i++)
			if (c->slot[i].state == DONE && c->slot[i].done.done <= now &&
			    (s == NULL || c->slot[i].done.done < s->done.done))
				s = &c->slot[i];
		if (s == NULL)
			break;
		out[n++] = s->done;
		s->state = FREE;
		c->outstanding--;
	}
	return n;
}

static uint32_t outstanding(const struct mf_layer *layer)
{
	return ((const struct cache *)layer)->outstanding;
}

static void lost(struct mf_layer *layer, uint16_t node)
{
	struct cache *c = (struct cache *)layer;

	c->counts->lost++;
	for (unsigned int i = 0; i < LINES; i++)
		if (c->line[i].node == node)
			c->line[i].addr = NONE;
	for (unsigned int i = 0; i < SLOTS; i++)
		if (c->slot[i].op.node == node)
			c->slot[i].fills = false;
}

/** From the user of the host to that of the client. */
struct naming {
	const struct cache *c;
	void (*fn)(void *ctx, uint64_t user);
	void *ctx;
};

static void name(void *ctx, uint64_t user)
{
	const struct naming *n = ctx;

	n->fn(n->ctx, n->c->slot[user].op.user);
}

static void under_way(const struct mf_layer *layer, uint16_t node, void (*fn)(void *ctx, uint64_t user),
		      void *ctx)
{
	struct naming n = {.c = (const struct cache *)layer, .fn = fn, .ctx = ctx};

	mf_node_under_way(layer->host, node, name, &n);
}

static void empty(struct cache *c)
{
	for (unsigned int i = 0; i < LINES; i++)
		c->line[i].addr = NONE;
	for (unsigned int i = 0; i < SLOTS; i++)
		c->slot[i].state = FREE;
	c->outstanding = 0;
}

static void crashed(struct mf_layer *layer, mf_time now)
{
	struct cache *c = (struct cache *)layer;

	(void)now;
	c->counts->crashes++;
	empty(c);
}

static struct mf_layer *create(const struct mf_layer_config *config)
{
	struct cache *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	c->counts = (struct toy_cache_counts *)(uintptr_t)config->param;
	empty(c);
	return &c->layer;
}

static void destroy(struct mf_layer *layer)
{
	free(layer);
}

const struct mf_layer_ops toy_cache = {
	.name = "toy cache",
	.create = create,
	.destroy = destroy,
	.submit = submit,
	.completions = completions,
	.outstanding = outstanding,
	.run = run,
	.next = next,
	.lost = lost,
	.under_way = under_way,
	.crashed = crashed,
};
