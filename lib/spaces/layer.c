/* SPDX-License-Identifier: BSD-3-Clause */
/* The layer of address spaces: its table, from its making to its end. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mf_table.h"
#include "spaces/spaces.h"

#define BATCH 32
#define PIECES_OF_OPERATION 2 /* there are so many for each, on an average */

/* ---- what clients ask ---- */

static int check(const struct spaces *s, const struct mf_op *op, enum way way)
{
	const struct mf_node_shell *host = (const struct mf_node_shell *)(const void *)s->layer.host;
	struct mf_op checked;

	if (op->node >= s->nodes)
		return -EINVAL;
	if (op->kind == MF_OP_CALL && (way != WAY_REGION || region_has(s, op, mf_node_len(op))))
		return call_check(s, op);
	if (way != WAY_REGION)
		return mf_node_check(host, op, mf_node_len(op));
	if (!region_has(s, op, mf_node_len(op)))
		return -EINVAL;
	checked = *op;
	checked.addr = 0; /* a region may be longer than addresses are */
	return mf_node_check(host, &checked, mf_node_len(op));
}

static int submit(struct mf_layer *l, mf_time now, const struct mf_op *op)
{
	struct spaces *s = spaces_of(l);
	enum way way = operation_way(s, op);
	int err = check(s, op, way);
	struct operation *o;

	if (err != 0)
		return err;
	if (s->free_operation == SPACES_NONE)
		return -EAGAIN;
	s->now = now;
	o = &s->operation[s->free_operation];
	if (s->used <= s->free_operation)
		s->used = s->free_operation + 1;
	s->free_operation = o->next;
	*o = (struct operation){.op = *op,
				.done = {.user = op->user,
					 .len = mf_node_len(op),
					 .submitted = now,
					 .first = MF_NEVER,
					 .kind = op->kind,
					 .node = op->node,
					 .space = op->space},
				.way = (uint8_t)way};
	s->outstanding++;
	if (s->starved || !operation_advance(s, o))
		operation_hold(s, o);
	return 0;
}

static void take(struct spaces *s, const struct mf_completion *c)
{
	struct piece *p = &s->piece[c->user];

	if (p->kind == PIECE_RENEW)
		renew_done(s, p, c);
	else if (p->worker != SPACES_NONE && p->kind != PIECE_OF_OPERATION)
		set_up_piece_done(s, p, c);
	else
		operation_piece_done(s, p, c);
}

/** What the host has completed. */
static void take_all(struct spaces *s, mf_time now)
{
	struct mf_completion done[BATCH];
	unsigned int n;

	s->now = now;
	do {
		n = mf_node_completions(s->layer.host, now, done, BATCH);
		for (unsigned int i = 0; i < n; i++)
			take(s, &done[i]);
	} while (n == BATCH);
}

/** By the wall clock whoever asks comes before run(), and need not wait for it. */
static unsigned int completions(struct mf_layer *l, mf_time now, struct mf_completion *out, unsigned int max)
{
	struct spaces *s = spaces_of(l);
	unsigned int n = 0;

	take_all(s, now);
	while (n < max && s->done.first != SPACES_NONE) {
		uint32_t i = s->done.first;
		struct operation *o = &s->operation[i];

		if (o->done.done > now)
			break;
		out[n++] = o->done;
		s->done.first = o->next;
		o->next = s->free_operation;
		s->free_operation = i;
		s->outstanding--;
	}
	return n;
}

static uint32_t outstanding(const struct mf_layer *l)
{
	return const_spaces(l)->outstanding + const_spaces(l)->setting_up;
}

/* ---- time ---- */

static mf_time next(const struct mf_layer *l)
{
	const struct spaces *s = const_spaces(l);
	mf_time first = s->look ? s->now : mf_time_min(s->later_due, renew_next(s));

	if (s->done.first != SPACES_NONE)
		first = mf_time_min(first, s->operation[s->done.first].done.done);
	return first;
}

static mf_time run(struct mf_layer *l, mf_time now)
{
	struct spaces *s = spaces_of(l);

	take_all(s, now);
	if (s->ready.first != SPACES_NONE || s->later_due <= now)
		pieces_run(s, now);
	if (s->setting_up > 0)
		set_up_run(s);
	if (renew_next(s) <= now)
		renew_run(s);
	if (s->look)
		operations_look(s);
	return next(l);
}

/* ---- what is lost ---- */

static void lost(struct mf_layer *l, uint16_t node)
{
	struct spaces *s = spaces_of(l);

	if (s->target_of[node] != UINT16_MAX)
		set_up_lost(s, s->target_of[node]);
}

/** From the user of the host to that of the client. */
struct naming {
	const struct spaces *s;
	void (*fn)(void *ctx, uint64_t user);
	void *ctx;
};

static void name(void *ctx, uint64_t user)
{
	const struct naming *n = ctx;
	const struct piece *p = &n->s->piece[user];

	if (p->operation != SPACES_NONE)
		n->fn(n->ctx, n->s->operation[p->operation].op.user);
}

/* What waits here goes to the node that is there now, too: all of it, or what is left of it. */
static void under_way(const struct mf_layer *l, uint16_t node, void (*fn)(void *ctx, uint64_t user),
		      void *ctx)
{
	const struct spaces *s = const_spaces(l);
	struct naming n = {.s = s, .fn = fn, .ctx = ctx};

	mf_node_under_way(l->host, node, name, &n);
	for (uint32_t i = s->held.first; i != SPACES_NONE; i = s->operation[i].next)
		if (s->operation[i].op.node == node)
			fn(ctx, s->operation[i].op.user);
}

/* ---- set-up ---- */

static void begin(struct spaces *s)
{
	uint64_t pages = (uint64_t)s->config.targets * s->config.spaces * s->config.pages;

	for (uint32_t i = 0; i < s->config.depth; i++)
		s->operation[i].next = i + 1 < s->config.depth ? i + 1 : SPACES_NONE;
	for (uint32_t i = 0; i < s->pieces; i++)
		s->piece[i] = (struct piece){.next = i + 1 < s->pieces ? i + 1 : SPACES_NONE};
	s->free_operation = s->free_piece = 0;
	s->held.first = s->done.first = s->ready.first = s->refused.first = s->later = SPACES_NONE;
	s->later_due = MF_NEVER;
	s->look = s->starved = s->barred = s->rests = false;
	s->outstanding = s->used = 0;
	order_begin(s);
	if (s->knows)
		memset(s->known, 0, KNOWN_SETS * KNOWN_WAYS * sizeof(*s->known));
	if (s->keyed != 0)
		memset(s->key, 0, KEY_SETS * KEY_WAYS * sizeof(*s->key));
	s->knows = false;
	s->keyed = 0;
	s->last_key = s->key;
	s->failed = SPACES_NONE;
	for (unsigned int t = 0; t < s->config.targets; t++) {
		struct target *to = &s->target[t];

		to->next_space = 0;
		for (unsigned int w = 0; w < MF_SPACES_TASKS_MAX; w++)
			to->worker[w] = (struct worker){.space = SPACES_NONE, .piece = SPACES_NONE};
	}
	for (uint64_t i = 0; i < (uint64_t)s->config.targets * s->config.spaces; i++)
		s->space[i] = (struct space){.step = SPACE_MAKE};
	for (uint64_t i = 0; i < (pages + 63) / 64; i++)
		if (s->present[i] != 0 || s->busy[i] != 0)
			s->present[i] = s->busy[i] = 0;
	renew_begin(s);
	s->setting_up = s->config.targets * s->config.spaces;
	s->stats.ready = 0;
}

static void crashed(struct mf_layer *l, mf_time now)
{
	spaces_of(l)->now = now;
	begin(spaces_of(l));
}

static void rest(struct mf_layer *l)
{
	spaces_of(l)->rests = true;
}

static void destroy(struct mf_layer *l)
{
	struct spaces *s = spaces_of(l);

	free(s->target);
	free(s->target_of);
	mf_table_free(s->space);
	mf_table_free(s->at);
	mf_table_free(s->present);
	mf_table_free(s->busy);
	mf_table_free(s->operation);
	mf_table_free(s->piece);
	mf_table_free(s->known);
	mf_table_free(s->key);
	free(s);
}

static bool config_ok(const struct mf_layer_config *config, const struct mf_spaces_config *c)
{
	for (unsigned int t = 0; t < c->targets; t++) {
		const struct mf_spaces_target *to = &c->target[t];

		if (to->node >= config->nodes || to->tasks == 0 || to->shift < MF_PAGE_SHIFT_MIN ||
		    to->shift > MF_PAGE_SHIFT_MAX ||
		    (c->spaces > 0 &&
		     (c->interleave > UINT64_C(1) << to->shift || to->shift != c->target[0].shift)))
			return false;
	}
	return c->depth > 0 && c->depth <= 1 << 20 && c->spaces <= 1u << MF_SPACE_OF_NODE_BITS &&
	       (c->spaces == 0 || (c->pages > 0 && c->interleave > 0 && c->targets > 0 && c->range > 0));
}

static bool tables(struct spaces *s)
{
	const struct mf_spaces_config *c = &s->config;
	uint64_t spaces = (uint64_t)c->targets * c->spaces, pages = spaces * c->pages;

	s->pieces = PIECES_OF_OPERATION * c->depth + c->targets * MF_SPACES_TASKS_MAX;
	s->target = calloc(c->targets + 1, sizeof(*s->target));
	s->target_of = malloc((s->nodes + 1) * sizeof(*s->target_of));
	s->ranges = c->spaces > 0 ? (c->pages + c->range - 1) / c->range : 0;
	s->space = mf_table_new(spaces + 1, sizeof(*s->space));
	s->at = mf_table_new(spaces * s->ranges + 1, sizeof(*s->at));
	s->present = mf_table_new(pages / 64 + 1, sizeof(*s->present));
	s->busy = mf_table_new(pages / 64 + 1, sizeof(*s->busy));
	s->operation = mf_table_new(c->depth, sizeof(*s->operation));
	s->piece = mf_table_new(s->pieces, sizeof(*s->piece));
	s->known = mf_table_new(KNOWN_SETS * KNOWN_WAYS, sizeof(*s->known));
	s->key = mf_table_new(KEY_SETS * KEY_WAYS, sizeof(*s->key));
	return s->target != NULL && s->target_of != NULL && s->space != NULL && s->at != NULL &&
	       s->present != NULL && s->busy != NULL && s->operation != NULL && s->piece != NULL &&
	       s->known != NULL && s->key != NULL;
}

static struct mf_layer *create(const struct mf_layer_config *config)
{
	const struct mf_spaces_config *c = config->param;
	struct spaces *s;

	if (c == NULL || !config_ok(config, c)) {
		errno = EINVAL;
		return NULL;
	}
	s = calloc(1, sizeof(*s));
	if (s == NULL)
		return NULL;
	s->config = *c;
	s->node = config->node;
	s->nodes = config->nodes;
	if (!tables(s)) {
		destroy(&s->layer);
		errno = ENOMEM;
		return NULL;
	}
	memset(s->target_of, 0xff, s->nodes * sizeof(*s->target_of));
	for (unsigned int t = 0; t < c->targets; t++) {
		unsigned int tasks = c->target[t].tasks;

		s->target[t].config = c->target[t];
		s->target[t].workers = tasks < MF_SPACES_TASKS_MAX ? tasks : MF_SPACES_TASKS_MAX;
		s->target_of[c->target[t].node] = (uint16_t)t;
	}
	s->config.target = NULL; /* the caller's */
	begin(s);
	return &s->layer;
}

void mf_spaces_stats(const struct mf_layer *l, struct mf_spaces_stats *out)
{
	*out = const_spaces(l)->stats;
}

const struct mf_layer_ops mf_spaces_layer = {
	.name = "spaces",
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
	.rest = rest,
};
