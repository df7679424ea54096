/* SPDX-License-Identifier: BSD-3-Clause */
/* CXL's operations that have lines to send: memory nodes take turns, line by line. */
#include <errno.h>

#include "systems/cxl/cxl_node.h"

static unsigned int class_of(const struct cxl *x, uint32_t op)
{
	return x->operations.op[op].c.kind == MF_OP_READ ? CXL_REQ : CXL_RWD;
}

static void append(struct cxl *x, struct cxl_queue *q, uint32_t op)
{
	struct cxl_lines *l = &x->lines[op];

	l->listed = true;
	l->next = CXL_NIL;
	l->prev = q->tail;
	if (q->tail == CXL_NIL)
		q->head = op;
	else
		x->lines[q->tail].next = op;
	q->tail = op;
}

static void unlist(struct cxl *x, struct cxl_queue *q, uint32_t op)
{
	struct cxl_lines *l = &x->lines[op];

	l->listed = false;
	if (l->prev == CXL_NIL)
		q->head = l->next;
	else
		x->lines[l->prev].next = l->next;
	if (l->next == CXL_NIL)
		q->tail = l->prev;
	else
		x->lines[l->next].prev = l->prev;
}

/** A peer has something to send: its turn comes last. */
static void join(struct cxl *x, unsigned int class, uint16_t peer)
{
	uint32_t at = x->turn[class];
	struct cxl_peer *p = &x->peer[peer];

	if (at == CXL_NIL) {
		x->turn[class] = p->next[class] = p->prev[class] = peer;
		return;
	}
	p->next[class] = (uint16_t)at;
	p->prev[class] = x->peer[at].prev[class];
	x->peer[p->prev[class]].next[class] = peer;
	x->peer[at].prev[class] = peer;
}

static void leave(struct cxl *x, unsigned int class, uint16_t peer)
{
	struct cxl_peer *p = &x->peer[peer];

	x->peer[p->prev[class]].next[class] = p->next[class];
	x->peer[p->next[class]].prev[class] = p->prev[class];
	if (x->turn[class] == peer)
		x->turn[class] = p->next[class] != peer ? p->next[class] : CXL_NIL;
}

static bool is_fresh(const struct cxl_lines *l)
{
	return l->ready != 0;
}

void cxl_begin(struct cxl *x, mf_time now)
{
	uint32_t op;

	while ((op = x->fresh.head) != CXL_NIL && x->lines[op].ready <= now) {
		uint16_t peer = x->operations.op[op].c.node;
		struct cxl_queue *q = &x->peer[peer].ops[class_of(x, op)];

		unlist(x, &x->fresh, op);
		x->lines[op].ready = 0;
		if (q->head == CXL_NIL)
			join(x, class_of(x, op), peer);
		append(x, q, op);
	}
}

void cxl_all_sent(struct cxl *x, uint32_t op)
{
	uint16_t peer = x->operations.op[op].c.node;
	unsigned int class = class_of(x, op);
	struct cxl_queue *q = &x->peer[peer].ops[class];

	if (is_fresh(&x->lines[op])) {
		unlist(x, &x->fresh, op);
		return;
	}
	unlist(x, q, op);
	if (q->head == CXL_NIL)
		leave(x, class, peer);
}

void cxl_finish(struct cxl *x, uint32_t op, mf_time date, enum mf_status status)
{
	struct cxl_lines *l = &x->lines[op];

	if (l->listed)
		cxl_all_sent(x, op);
	l->generation++;
	operations_complete(&x->operations, op, date, status);
}

static void tell_begun(const struct cxl *x, const struct operation *o)
{
	const struct mf_probe *p = x->config.probe;

	if (p != NULL && p->begun != NULL && (o->c.kind == MF_OP_WRITE || o->c.kind == MF_OP_WRITE_ACK))
		p->begun(p->ctx, x->config.node, o->c.node, (uint8_t)o->id, o->c.user, o->c.submitted);
}

int cxl_submit(struct mf_stack *s, mf_time now, const struct mf_op *op)
{
	struct cxl *x = (struct cxl *)s;
	uint32_t i;

	if (op->len > UINT32_MAX)
		return -EINVAL;
	i = operations_add(&x->operations, now, op);
	if (i == OPERATION_NIL)
		return -EAGAIN;
	x->lines[i].sent = 0;
	x->lines[i].under_way = 0;
	x->lines[i].ready = now + x->cost_tx + 1;
	append(x, &x->fresh, i);
	tell_begun(x, &x->operations.op[i]);
	return 0;
}
