/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "base/mf_table.h"
#include "systems/frames/mf_operations.h"

static const struct operation_list empty = {OPERATION_NIL, OPERATION_NIL};

int operations_init(struct operations *t, const struct mf_stack_config *c)
{
	t->size = c->queue;
	t->free = OPERATION_NIL;
	t->done = t->timer[OPERATION_READ] = t->timer[OPERATION_WRITE] = empty;
	t->timeout[OPERATION_READ] = c->read_timeout;
	t->timeout[OPERATION_WRITE] = c->write_timeout;
	while (t->mask + 1 < t->size)
		t->mask = 2 * t->mask + 1;
	t->op = mf_table_new(t->size, sizeof(*t->op));
	t->peer = mf_table_new(c->nodes, sizeof(*t->peer));
	t->bucket = mf_table_new((size_t)t->mask + 1, sizeof(*t->bucket));
	return t->op != NULL && t->peer != NULL && t->bucket != NULL ? 0 : -ENOMEM;
}

void operations_fini(struct operations *t)
{
	mf_table_free(t->op);
	mf_table_free(t->bucket);
	mf_table_free(t->peer);
}

/** Can be found from now on. */
static void chain(struct operations *t, uint32_t i)
{
	uint32_t *first = &t->bucket[operations_bucket(t, t->op[i].c.node, t->op[i].id)];

	t->op[i].chain = *first;
	*first = i + 1;
}

static void unchain(struct operations *t, uint32_t i)
{
	uint32_t *link = &t->bucket[operations_bucket(t, t->op[i].c.node, t->op[i].id)];

	while (*link != i + 1)
		link = &t->op[*link - 1].chain;
	*link = t->op[i].chain;
}

static enum operation_timer timer_of(const struct operation *o)
{
	return o->c.kind == MF_OP_READ || o->c.kind == MF_OP_RMW ? OPERATION_READ : OPERATION_WRITE;
}

/** All of a timer have the same timeout, so they stand in the order of their deadlines. */
static void start_timer(struct operations *t, uint32_t i, mf_time now)
{
	struct operation *o = &t->op[i];
	struct operation_list *l = &t->timer[timer_of(o)];
	mf_time timeout = t->timeout[timer_of(o)];

	o->deadline = MF_NEVER;
	if (timeout == 0)
		return;
	o->deadline = now + timeout;
	o->prev = l->tail;
	o->next = OPERATION_NIL;
	if (l->tail == OPERATION_NIL)
		l->head = i;
	else
		t->op[l->tail].next = i;
	l->tail = i;
}

static void stop_timer(struct operations *t, uint32_t i)
{
	struct operation *o = &t->op[i];
	struct operation_list *l = &t->timer[timer_of(o)];

	if (o->deadline == MF_NEVER)
		return;
	if (o->prev == OPERATION_NIL)
		l->head = o->next;
	else
		t->op[o->prev].next = o->next;
	if (o->next == OPERATION_NIL)
		l->tail = o->prev;
	else
		t->op[o->next].prev = o->prev;
	o->deadline = MF_NEVER;
}

/** The lowest entry that is free; OPERATION_IDS: none is. */
static unsigned int free_entry(const struct operation_peer *p)
{
	for (unsigned int w = 0; w < OPERATION_IDS / 64; w++)
		if (~p->taken[w] != 0)
			return w * 64 + (unsigned int)__builtin_ctzll(~p->taken[w]);
	return OPERATION_IDS;
}

uint32_t operations_add(struct operations *t, mf_time now, const struct mf_op *op)
{
	struct operation_peer *p = &t->peer[op->node];
	unsigned int slot = free_entry(p);
	uint32_t i = t->free;
	struct operation *o;

	if (slot == OPERATION_IDS)
		return OPERATION_NIL;
	if (i != OPERATION_NIL)
		t->free = t->op[i].next;
	else if (t->fresh < t->size)
		i = t->fresh++;
	else
		return OPERATION_NIL;
	o = &t->op[i];
	*o = (struct operation){.c = {.user = op->user,
				      .len = op->kind == MF_OP_RMW ? mf_rmw_size(op->rmw) : op->len,
				      .submitted = now,
				      .kind = op->kind,
				      .node = op->node},
				.addr = op->addr,
				.buf = op->buf,
				.arg = {op->arg[0], op->arg[1]},
				.message = OPERATION_NIL,
				.id = (uint16_t)(p->turn++ << 8 | slot),
				.rmw = op->rmw,
				.busy = true};
	p->taken[slot / 64] |= UINT64_C(1) << slot % 64;
	chain(t, i);
	t->count++;
	start_timer(t, i, now);
	return i;
}

/** Into the list of completions, which is in the order of their dates; mostly at its end. */
static void insert_done(struct operations *t, uint32_t i)
{
	struct operation *o = &t->op[i];
	uint32_t *link = &t->done.head;

	if (t->done.tail != OPERATION_NIL && t->op[t->done.tail].c.done <= o->c.done)
		link = &t->op[t->done.tail].next;
	while (*link != OPERATION_NIL && t->op[*link].c.done <= o->c.done)
		link = &t->op[*link].next;
	o->next = *link;
	*link = i;
	if (o->next == OPERATION_NIL)
		t->done.tail = i;
}

void operations_complete(struct operations *t, uint32_t i, mf_time date, enum mf_status status)
{
	struct operation *o = &t->op[i];

	stop_timer(t, i);
	unchain(t, i);
	t->peer[o->c.node].taken[o->id % OPERATION_IDS / 64] &= ~(UINT64_C(1) << o->id % 64);
	o->busy = false;
	o->c.done = date;
	o->c.status = (uint8_t)status;
	if (!o->begun)
		o->c.first = date;
	if (status != MF_OK)
		o->c.len = 0;
	insert_done(t, i);
}

uint32_t operations_expired(const struct operations *t, mf_time now)
{
	for (int k = 0; k < OPERATION_TIMERS; k++) {
		uint32_t i = t->timer[k].head;

		if (i != OPERATION_NIL && t->op[i].deadline <= now)
			return i;
	}
	return OPERATION_NIL;
}

unsigned int operations_take(struct operations *t, mf_time now, struct mf_completion *out, unsigned int max)
{
	unsigned int n = 0;

	while (n < max && t->done.head != OPERATION_NIL && t->op[t->done.head].c.done <= now) {
		uint32_t i = t->done.head;

		out[n++] = t->op[i].c;
		t->done.head = t->op[i].next;
		if (t->done.head == OPERATION_NIL)
			t->done.tail = OPERATION_NIL;
		t->op[i].next = t->free;
		t->free = i;
	}
	t->count -= n;
	return n;
}

mf_time operations_next(const struct operations *t)
{
	mf_time next = t->done.head != OPERATION_NIL ? t->op[t->done.head].c.done : MF_NEVER;

	for (int k = 0; k < OPERATION_TIMERS; k++)
		if (t->timer[k].head != OPERATION_NIL)
			next = mf_time_min(next, t->op[t->timer[k].head].deadline);
	return next;
}
