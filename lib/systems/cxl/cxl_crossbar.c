/* SPDX-License-Identifier: BSD-3-Clause */
/* A CXL switch's buffers, its queues by ingress and virtual channel, and the crossbar. */
#include "systems/cxl/cxl_switch.h"

void cxl_ask(struct cxl *x, uint32_t queue)
{
	struct cxl_queue *q = &x->queue[queue];
	const struct cxl_message *m = &x->entry[q->head].message;
	unsigned int class = cxl_op_class[m->op];
	struct cxl_port *p = &x->port[m->dst];
	struct cxl_list *l = &p->heads[class];

	q->asks = true;
	q->next = CXL_NIL;
	if (p->has & 1 << class)
		x->queue[l->tail].next = queue;
	else
		l->head = queue;
	l->tail = queue;
	p->has |= (uint8_t)(1 << class);
	if (cxl_link_may(&p->link) & 1 << class)
		cxl_wants(x, m->dst);
	else
		x->held_back++;
}

void cxl_enqueue(struct cxl *x, uint32_t i)
{
	struct cxl_entry *e = &x->entry[i];
	uint32_t queue = (uint32_t)e->ingress * CXL_VCS + cxl_vc(cxl_op_class[e->message.op]);
	struct cxl_queue *q = &x->queue[queue];

	e->next = CXL_NIL;
	if (q->head == CXL_NIL)
		q->head = i;
	else
		x->entry[q->tail].next = i;
	q->tail = i;
	if (!q->asks && (x->later_queue[queue / 64] >> queue % 64 & 1) == 0)
		cxl_ask(x, queue);
}

static unsigned int has(void *ctx, unsigned int port, mf_time now)
{
	const struct cxl *x = ctx;

	(void)now;
	return x->port[port].has;
}

/** From later on: a head for another egress asks, and the buffer is free. */
static void defer(struct cxl *x, uint32_t queue, bool asks, unsigned int port, unsigned int class,
		  mf_time now)
{
	x->later_at = now + 1;
	if (asks)
		x->later_queue[queue / 64] |= UINT64_C(1) << queue % 64;
	x->later_port[port / 64] |= UINT64_C(1) << port % 64;
	x->port[port].freeing[class]++;
}

static void take(void *ctx, unsigned int port, enum cxl_class class, mf_time now, struct cxl_message *m)
{
	struct cxl *x = ctx;
	struct cxl_port *p = &x->port[port];
	uint32_t queue = p->heads[class].head, i;
	struct cxl_queue *q = &x->queue[queue];
	bool other;

	p->heads[class].head = q->next;
	if (q->next == CXL_NIL)
		p->has &= (uint8_t) ~(1 << class);
	q->asks = false;
	i = q->head;
	q->head = x->entry[i].next;
	cxl_copy_message(m, &x->entry[i].message);
	other = q->head != CXL_NIL && x->entry[q->head].message.dst != port;
	defer(x, queue, other, x->entry[i].ingress, class, now);
	if (q->head != CXL_NIL && !other)
		cxl_ask(x, queue);
	x->entry[i].next = x->free;
	x->free = i;
	x->inside--;
	x->forwarded++;
}

/** A message has come: it has a buffer, since it had a credit. */
static void deliver(void *ctx, unsigned int port, mf_time at, const struct cxl_message *m)
{
	struct cxl *x = ctx;
	bool known = m->dst < x->config.ports && x->config.up[m->dst] && m->dst != port;
	uint32_t i = x->free;

	if (!known || m->src != port) {
		x->drop_destination += !known;
		x->drop_source += known;
		cxl_link_freed(&x->port[port].link, cxl_op_class[m->op], at);
		return;
	}
	if (i != CXL_NIL)
		x->free = x->entry[i].next;
	else
		i = x->fresh++;
	cxl_copy_message(&x->entry[i].message, m);
	x->entry[i].at = at + x->latency;
	x->entry[i].ingress = (uint16_t)port;
	x->entry[i].next = CXL_NIL;
	if (x->pipeline.head == CXL_NIL)
		x->pipeline.head = i;
	else
		x->entry[x->pipeline.tail].next = i;
	x->pipeline.tail = i;
	if (++x->inside > x->inside_max)
		x->inside_max = x->inside;
}

const struct cxl_ends cxl_crossbar = {.has = has, .take = take, .deliver = deliver};
