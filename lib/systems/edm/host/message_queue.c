/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The message queue (EDM 3.2.1): operations wait in a FIFO for each destination, no longer than their timers
 * run (op_timer.c). Its head goes when its pair has fewer than X active ones of its sort (3.1.2), an id, and
 * the multiplexer room; nothing passes it, so requests of a pair leave in the order of their submission.
 * Destinations that lack nothing but room stand in the ready list.
 */
#include "base/mf_cycles.h"
#include "systems/edm/proto/mf_proto_inline.h"
#include "systems/edm/host/keys.h"
#include "systems/edm/host/once.h"

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
	o->c.space = op->space;
	o->addr = op->addr;
	o->buf = op->buf;
	o->issued = 0;
	o->live = 0;
	o->key = op->key;
	o->asks = false;
	if (op->kind >= MF_OP_RMW) {
		o->arg[0] = op->arg[0];
		o->arg[1] = op->arg[1];
		o->rmw = op->kind == MF_OP_RMW ? op->rmw : MF_RMW_CALL;
		o->room = (uint16_t)op->len;
	}
}

/** @return whether nothing waits in front of it */
static inline bool queue_append(struct mf_host *h, struct host_peer *p, uint32_t i)
{
	bool first = p->head == HOST_NIL;

	h->op[i].next = HOST_NIL;
	h->op[i].prev = p->tail;
	if (first)
		p->head = i;
	else
		h->op[p->tail].next = i;
	p->tail = i;
	return first;
}

/**
 * Starts a message of the first operation in a destination's FIFO, which is of this kind; the last piece
 * takes it out.
 */
static inline struct host_state *message_start(struct mf_host *h, uint16_t node, struct host_op *o,
					       enum mf_op_kind kind, uint32_t size, mf_time at)
{
	struct host_peer *p = &h->peer[node];
	struct host_state *s = host_state_new(h, node, (uint8_t)kind);
	bool write = host_is_write((uint8_t)kind);

	s->op = p->head;
	s->piece = (uint32_t)(o->issued / MF_MESSAGE_MAX);
	s->size = size;
	s->event_at = at;
	if (unlikely(h->config.retries > 0))
		host_timer_start(h, s, HOST_TIMER_RETRY, at);
	if (o->issued == 0)
		h->stats.waited += at - o->c.submitted;
	o->issued += size;
	o->live++;
	if (write && unlikely(h->config.probe != NULL) && h->config.probe->begun)
		h->config.probe->begun(h->config.probe->ctx, h->shell.node, node, s->id, o->c.user,
				       o->issued == o->c.len ? o->c.submitted : MF_NEVER);
	if (o->issued == o->c.len)
		host_queue_pop(h, p);
	return s;
}

struct host_state *host_message_start(struct mf_host *h, uint16_t node, uint32_t size, mf_time at)
{
	struct host_op *o = &h->op[h->peer[node].head];

	return message_start(h, node, o, o->c.kind, size, at);
}

static inline uint32_t piece_size(const struct host_op *o)
{
	uint64_t left = o->c.len - o->issued;

	return left < MF_MESSAGE_MAX ? (uint32_t)left : MF_MESSAGE_MAX;
}

static inline uint16_t piece_behind(const struct host_op *o)
{
	return host_behind(o->c.len - o->issued);
}

/** Starts an RREQ or RMWREQ: m has all but its id. Of each there is one place, which knows the kind. */
static inline __attribute__((always_inline)) bool request_start(struct mf_host *h, uint16_t node,
								struct host_op *o, enum mf_op_kind kind,
								struct mf_msg *m, mf_time at, bool once)
{
	m->ext = once;
	unsigned int n = mf_proto_blocks(&h->config.proto, m);
	uint64_t *word = mf_mux_put(h->shell.mux, host_request_ready(h, at),
				    host_tie(h, HOST_TIE_REQUEST, node), n, 0);
	struct host_state *s;

	if (unlikely(!word))
		return false;
	s = message_start(h, node, o, kind, m->size, at);
	host_slot_hold(h, s);
	m->id = s->id;
	if (once)
		host_once_sign(h, s, m);
	mf_proto_make_request(&h->config.proto, m, word);
	h->stats.tx[m->kind]++;
	if (host_stamps(h))
		host_stamp(h, h->shell.node, node, m->id, MF_STAGE_MESSAGE_QUEUE, MF_STAGE_MAKE_REQUEST, at);
	return true;
}

static HOST_ASIDE bool read_start_once(struct mf_host *h, uint16_t node, struct host_op *o, struct mf_msg m,
				       mf_time at)
{
	return request_start(h, node, o, MF_OP_READ, &m, at, true);
}

static inline bool read_start(struct mf_host *h, uint16_t node, struct host_op *o, mf_time at)
{
	struct mf_msg m = {.kind = MF_RREQ,
			   .src = h->shell.node,
			   .dst = node,
			   .behind = piece_behind(o),
			   .size = piece_size(o),
			   .addr = o->addr + o->issued};

	return host_once(h) ? read_start_once(h, node, o, mf_msg_copy(&m), at)
			    : request_start(h, node, o, MF_OP_READ, &m, at, false);
}

/** An atomic or a call. */
static HOST_ASIDE bool rmw_start(struct mf_host *h, uint16_t node, struct host_op *o, mf_time at)
{
	struct mf_msg m = {.kind = MF_RMWREQ,
			   .src = h->shell.node,
			   .dst = node,
			   .op = o->rmw,
			   .size = piece_size(o),
			   .addr = o->addr,
			   .arg = {o->arg[0], o->arg[1]}};

	return request_start(h, node, o, (enum mf_op_kind)o->c.kind, &m, at, host_once(h));
}

/** Fills in the /N/ of a message and counts it. */
void host_notify_put(struct mf_host *h, uint64_t *word, const struct mf_msg *m, mf_time at)
{
	word[0] = mf_proto_make_notify(m);
	h->stats.tx[MF_NOTIFY]++;
	h->stats.control_blocks++;
	if (host_stamps(h))
		host_stamp(h, h->shell.node, m->dst, m->id, MF_STAGE_MESSAGE_QUEUE, MF_STAGE_MAKE_REQUEST,
			   at);
}

static inline bool notify_start(struct mf_host *h, uint16_t node, struct host_op *o, mf_time at)
{
	struct mf_msg m = {.kind = MF_NOTIFY,
			   .src = h->shell.node,
			   .dst = node,
			   .ext = h->config.proto.ext,
			   .behind = piece_behind(o),
			   .size = piece_size(o)};
	uint64_t *word = mf_mux_put(h->shell.mux, host_request_ready(h, at),
				    host_tie(h, HOST_TIE_REQUEST, node), 1, 0);
	struct host_state *s;

	if (unlikely(!word))
		return false;
	s = message_start(h, node, o, o->c.kind, m.size, at);
	host_slot_hold(h, s);
	m.id = s->id;
	host_notify_put(h, word, &m, at);
	return true;
}

static HOST_ASIDE bool write_start(struct mf_host *h, uint16_t node, struct host_op *o, mf_time at)
{
	uint32_t octets = 0;
	unsigned int count = h->config.mega < 2 ? 0 : host_mega_collect(h, &h->peer[node], &octets);

	return count > 1 ? host_mega_start(h, node, count, octets, at) : notify_start(h, node, o, at);
}

/** The first operation of a destination if it lacks nothing but room, or NULL. */
static inline struct host_op *head_that_may_go(const struct mf_host *h, uint16_t node, mf_time at)
{
	const struct host_peer *p = &h->peer[node];
	struct host_op *o;

	if (p->head == HOST_NIL)
		return NULL;
	o = &h->op[p->head];
	if (unlikely(o->c.done <= at)) /* its time is over */
		return NULL;
	return p->active[host_is_write(o->c.kind)] < h->config.x && host_id_there(h, node) ? o : NULL;
}

static inline bool op_start_now(struct mf_host *h, uint16_t node, struct host_op *o, mf_time at)
{
	if (o->c.kind == MF_OP_READ)
		return read_start(h, node, o, at);
	return o->c.kind >= MF_OP_RMW ? rmw_start(h, node, o, at) : write_start(h, node, o, at);
}

/** The same with its key, for which it may have to wait. */
static HOST_ASIDE enum host_key_state op_start_keyed(struct mf_host *h, uint16_t node, struct host_op *o,
						     mf_time at)
{
	enum host_key_state key = host_key_for(h, node, o, at);

	if (key != HOST_KEY_THERE || op_start_now(h, node, o, at))
		return key;
	return HOST_KEY_NO_ROOM;
}

/** Starts what may go, unless it has no room; or waits for its key. */
static inline enum host_key_state op_start(struct mf_host *h, uint16_t node, struct host_op *o, mf_time at)
{
	if (unlikely(h->keys != NULL))
		return op_start_keyed(h, node, o, at);
	return op_start_now(h, node, o, at) ? HOST_KEY_THERE : HOST_KEY_NO_ROOM;
}

static HOST_ASIDE void ready_append(struct mf_host *h, uint16_t node)
{
	h->peer[node].ready_next = HOST_NO_NODE;
	if (h->ready_head == HOST_NO_NODE)
		h->ready_head = node;
	else
		h->peer[h->ready_tail].ready_next = node;
	h->ready_tail = node;
	h->stats.stalls++;
}

/** A destination may have got what its head lacked: an operation, a free slot or id. */
static inline __attribute__((always_inline)) void kick(struct mf_host *h, uint16_t node, mf_time at)
{
	struct host_peer *p = &h->peer[node];
	struct host_op *o;

	if (unlikely(p->ready_next != HOST_NOT_READY))
		return;
	while ((o = head_that_may_go(h, node, at)) != NULL) {
		enum host_key_state started = HOST_KEY_NO_ROOM;

		if (likely(h->ready_head == HOST_NO_NODE))
			started = op_start(h, node, o, at);
		if (unlikely(started == HOST_KEY_NO_ROOM))
			ready_append(h, node);
		if (unlikely(started != HOST_KEY_THERE))
			return;
	}
}

/** The same for who does so now and then. */
void host_kick(struct mf_host *h, uint16_t node, mf_time at)
{
	kick(h, node, at);
}

inline int mf_host_submit(struct mf_host *h, mf_time now, const struct mf_op *op)
{
	MF_CYCLES(MF_CYCLES_HOST_SUBMIT);
	uint64_t len = mf_node_len(op);
	int err = likely(op->kind != MF_OP_CALL) ? mf_node_check(&h->shell, op, len)
						 : mf_node_check_call(&h->shell, op, h->config.answer);
	uint32_t i;

	if (unlikely(err))
		return err;
	if (unlikely(now >= h->wake))
		host_advance(h, now);
	i = op_alloc(h);
	if (unlikely(i == HOST_NIL))
		return -EAGAIN;
	op_fill(&h->op[i], now, op, likely(op->kind != MF_OP_CALL) ? len : mf_call_size(len));
	host_op_timer_start(h, i, now);
	h->op_count++;
	h->stats.submitted[op->kind]++;
	/* What waits already lacks something; who brings that kicks. */
	if (queue_append(h, &h->peer[op->node], i))
		kick(h, op->node, now);
	return 0;
}

/**
 * A link that is lost for good carries nothing, and no more than fits the multiplexer would ever begin, and
 * be ended by its timer. So what has waited there for longer than any timer makes room.
 */
bool host_make_room(struct mf_host *h, mf_time now)
{
	mf_time read = h->config.read_timeout, write = h->config.write_timeout;

	if (read == 0 || write == 0) /* some wait for good, and go when the link is there again */
		return false;
	if (likely(mf_mux_silent(h->shell.mux, now) < mf_time_max(read, write)))
		return false;
	mf_mux_flush(h->shell.mux, now);
	return true;
}

/** Destinations that wait for room, in turn. */
HOST_ASIDE void host_ready_run(struct mf_host *h, mf_time now)
{
	while (h->ready_head != HOST_NO_NODE) {
		uint16_t node = h->ready_head;
		struct host_peer *p = &h->peer[node];
		struct host_op *o;

		while ((o = head_that_may_go(h, node, now)) != NULL) {
			enum host_key_state started = op_start(h, node, o, now);

			if (started == HOST_KEY_NO_ROOM && host_make_room(h, now))
				continue;
			if (started == HOST_KEY_NO_ROOM)
				return;
			if (started == HOST_KEY_WAITS)
				break;
		}
		h->ready_head = p->ready_next;
		p->ready_next = HOST_NOT_READY;
	}
}
