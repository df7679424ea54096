/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The message queue (EDM 3.2.1): operations wait in a FIFO for each destination. Its head goes when
 * its pair has fewer than X active ones of its sort (3.1.2), an id, and the multiplexer room; nothing
 * passes it, so requests of a pair leave in the order of their submission. Destinations that lack
 * nothing but room stand in the ready list.
 */
#include "mf_cycles.h"
#include "mf_proto_inline.h"
#include "state_table.h"

static int op_check(const struct mf_host *h, const struct mf_op *op, uint64_t len)
{
	if (unlikely(!h->submits))
		return -EPERM;
	if (unlikely(op->kind >= MF_OPS || op->node >= h->nodes || op->node == h->node))
		return -EINVAL;
	/* A size of 0 is the largest one here. */
	if (unlikely(op->addr > MF_ADDR_MAX || len - 1 > MF_ADDR_MAX - op->addr))
		return -EINVAL;
	return 0;
}

static inline uint32_t op_alloc(struct mf_host *h)
{
	uint32_t i = h->op_free;

	if (likely(i != HOST_NIL))
		h->op_free = h->op[i].next;
	else if (h->op_fresh < h->config.queue)
		i = h->op_fresh++;
	return i;
}

static inline void op_fill(struct host_op *o, mf_time now, const struct mf_op *op, uint64_t len)
{
	o->c.user = op->user;
	o->c.result = 0;
	o->c.len = len;
	o->c.submitted = now;
	o->c.first = MF_NEVER;
	o->c.kind = op->kind;
	o->c.status = MF_OK;
	o->c.node = op->node;
	o->addr = op->addr;
	o->buf = op->buf;
	o->issued = 0;
	o->live = 0;
	if (op->kind == MF_OP_RMW) {
		o->arg[0] = op->arg[0];
		o->arg[1] = op->arg[1];
		o->rmw = op->rmw;
	}
}

static inline void queue_append(struct mf_host *h, struct host_peer *p, uint32_t i)
{
	h->op[i].next = HOST_NIL;
	if (p->head == HOST_NIL)
		p->head = i;
	else
		h->op[p->tail].next = i;
	p->tail = i;
}

/** Starts a message of the first operation in a destination's FIFO; the last piece takes it out. */
static inline struct host_state *message_start(struct mf_host *h, uint16_t node, uint32_t op, uint32_t size,
					       mf_time at)
{
	struct host_op *o = &h->op[op];
	bool write = host_is_write(o->c.kind);
	struct host_state *s = host_state_new(h, node, o->c.kind);

	s->op = op;
	s->piece = (uint32_t)(o->issued / MF_MESSAGE_MAX);
	s->size = size;
	host_timer_start(h, s, write ? HOST_TIMER_WRITE : HOST_TIMER_READ, at);
	if (o->issued == 0)
		h->stats.waited += at - o->c.submitted;
	o->issued += size;
	o->live++;
	if (write && h->config.probe && h->config.probe->begun)
		h->config.probe->begun(h->config.probe->ctx, h->node, node, s->id,
				       o->issued == o->c.len ? o->c.submitted : MF_NEVER);
	if (o->issued == o->c.len)
		host_queue_pop(h, &h->peer[node]);
	return s;
}

struct host_state *host_message_start(struct mf_host *h, uint16_t node, uint32_t op, uint32_t size,
				      mf_time at)
{
	return message_start(h, node, op, size, at);
}

static uint32_t piece_size(const struct host_op *o)
{
	uint64_t left = o->c.len - o->issued;

	return left < MF_MESSAGE_MAX ? (uint32_t)left : MF_MESSAGE_MAX;
}

static inline bool request_start(struct mf_host *h, uint16_t node, mf_time at)
{
	struct host_peer *p = &h->peer[node];
	const struct host_op *o = &h->op[p->head];
	struct mf_msg m = {.kind = MF_RREQ,
			   .src = h->node,
			   .dst = node,
			   .size = piece_size(o),
			   .addr = o->addr + o->issued};
	struct host_state *s;
	struct mf_mux_item *item;
	uint64_t *word;
	unsigned int n;

	if (unlikely(o->c.kind == MF_OP_RMW)) {
		m.kind = MF_RMWREQ;
		m.op = o->rmw;
		m.arg[0] = o->arg[0];
		m.arg[1] = o->arg[1];
	}
	n = mf_proto_blocks(&h->config.proto, &m);
	item = mf_mux_push(h->mux, at + h->cost_request, host_tie(h, HOST_TIE_REQUEST, node), n, 0, &word);
	if (!item)
		return false;
	s = message_start(h, node, p->head, m.size, at);
	host_slot_hold(h, s);
	m.id = s->id;
	mf_proto_make_request(&h->config.proto, &m, word);
	mf_mux_append(h->mux, item, n);
	h->stats.tx[m.kind]++;
	if (host_stamps(h))
		host_stamp(h, h->node, node, m.id, MF_STAGE_MESSAGE_QUEUE, MF_STAGE_MAKE_REQUEST, at);
	return true;
}

/** Fills in the /N/ of a message and counts it. */
void host_notify_put(struct mf_host *h, struct mf_mux_item *item, uint64_t *word, const struct mf_msg *m,
		     mf_time at)
{
	word[0] = mf_proto_make_notify(m);
	mf_mux_append(h->mux, item, 1);
	h->stats.tx[MF_NOTIFY]++;
	h->stats.control_blocks++;
	if (host_stamps(h))
		host_stamp(h, h->node, m->dst, m->id, MF_STAGE_MESSAGE_QUEUE, MF_STAGE_MAKE_REQUEST, at);
}

/** D7: the scheduler's SRPT may look at what remains of the whole transfer. */
static uint8_t transfer_exponent(const struct mf_host *h, const struct host_op *o)
{
	uint64_t left = o->c.len - o->issued;
	int e;

	if (!h->config.srpt_transfer)
		return 0;
	e = left < 2 ? 1 : 64 - __builtin_clzll(left - 1);
	return (uint8_t)(e < 31 ? e : 31);
}

static inline bool notify_start(struct mf_host *h, uint16_t node, mf_time at)
{
	struct host_peer *p = &h->peer[node];
	const struct host_op *o = &h->op[p->head];
	struct mf_msg m = {.kind = MF_NOTIFY, .src = h->node, .dst = node, .size = piece_size(o)};
	struct host_state *s;
	struct mf_mux_item *item;
	uint64_t *word;

	item = mf_mux_push(h->mux, at + h->cost_request, host_tie(h, HOST_TIE_REQUEST, node), 1, 0, &word);
	if (!item)
		return false;
	m.exponent = transfer_exponent(h, o);
	s = message_start(h, node, p->head, m.size, at);
	host_slot_hold(h, s);
	m.id = s->id;
	host_notify_put(h, item, word, &m, at);
	return true;
}

static inline bool write_start(struct mf_host *h, uint16_t node, mf_time at)
{
	uint32_t octets;
	unsigned int count = host_mega_collect(h, &h->peer[node], &octets);

	return count > 1 ? host_mega_start(h, node, count, octets, at) : notify_start(h, node, at);
}

static inline bool head_may_go(const struct mf_host *h, const struct host_peer *p)
{
	return p->head != HOST_NIL && p->free_ids > 0 &&
	       p->active[host_is_write(h->op[p->head].c.kind)] < h->config.x;
}

static inline bool head_start(struct mf_host *h, uint16_t node, mf_time at)
{
	bool write = host_is_write(h->op[h->peer[node].head].c.kind);

	return write ? write_start(h, node, at) : request_start(h, node, at);
}

static void ready_append(struct mf_host *h, uint16_t node)
{
	h->peer[node].ready_next = HOST_NO_NODE;
	if (h->ready_head == HOST_NO_NODE)
		h->ready_head = node;
	else
		h->peer[h->ready_tail].ready_next = node;
	h->ready_tail = node;
	h->stats.stalls++;
}

static inline void kick(struct mf_host *h, uint16_t node, mf_time at)
{
	struct host_peer *p = &h->peer[node];

	if (unlikely(p->ready_next != HOST_NOT_READY))
		return;
	while (head_may_go(h, p)) {
		if (unlikely(h->ready_head != HOST_NO_NODE) || !head_start(h, node, at)) {
			ready_append(h, node);
			return;
		}
	}
}

/** A destination may have got what its head lacked: a free slot or id. */
void host_kick(struct mf_host *h, uint16_t node, mf_time at)
{
	kick(h, node, at);
}

int mf_host_submit(struct mf_host *h, mf_time now, const struct mf_op *op)
{
	MF_CYCLES(MF_CYCLES_HOST_SUBMIT);
	uint64_t len = unlikely(op->kind == MF_OP_RMW) ? mf_proto_rmw_size(op->rmw) : op->len;
	int err = op_check(h, op, len);
	uint32_t i;

	if (unlikely(err))
		return err;
	if (unlikely(now >= h->wake))
		host_advance(h, now);
	i = op_alloc(h);
	if (unlikely(i == HOST_NIL))
		return -EAGAIN;
	op_fill(&h->op[i], now, op, len);
	h->op_count++;
	h->stats.submitted[op->kind]++;
	queue_append(h, &h->peer[op->node], i);
	kick(h, op->node, now);
	return 0;
}

/** Destinations that wait for room, in turn. */
void host_ready_run(struct mf_host *h, mf_time now)
{
	while (h->ready_head != HOST_NO_NODE) {
		uint16_t node = h->ready_head;
		struct host_peer *p = &h->peer[node];

		while (head_may_go(h, p))
			if (!head_start(h, node, now))
				return;
		h->ready_head = p->ready_next;
		p->ready_next = HOST_NOT_READY;
	}
}
