/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The requester of a queue pair (9.7.5, 9.7.6): requests in the order of their submission, and what comes
 * back. What is missing is asked for again from there on: go-back-N.
 *
 *      send queue:  head ... (begun, not acknowledged) ... cur ... (not begun) ... tail
 *      PSNs:        una <= send <= nxt; behind nxt nothing was ever sent
 */
#include <stdlib.h>

#include "systems/rdma/roce.h"

static struct operation *operation_of(const struct roce *r, uint32_t op)
{
	return &r->operations.op[op];
}

static bool is_write(const struct roce *r, uint32_t op)
{
	uint8_t kind = operation_of(r, op)->c.kind;

	return kind == MF_OP_WRITE || kind == MF_OP_WRITE_ACK;
}

void requester_append(struct roce *r, uint16_t peer, uint32_t op)
{
	struct roce_qp *q = &r->qp[peer];

	r->request[op].next = ROCE_NIL;
	r->request[op].prev = q->tail;
	if (q->tail == ROCE_NIL)
		q->head = op;
	else
		r->request[q->tail].next = op;
	q->tail = op;
	if (q->cur == ROCE_NIL)
		q->cur = op;
}

static void unlink_request(struct roce *r, struct roce_qp *q, uint32_t op)
{
	const struct roce_request *m = &r->request[op];

	if (q->cur == op)
		q->cur = m->next;
	if (m->prev == ROCE_NIL)
		q->head = m->next;
	else
		r->request[m->prev].next = m->next;
	if (m->next == ROCE_NIL)
		q->tail = m->prev;
	else
		r->request[m->next].prev = m->prev;
}

/* The timer of a queue pair: all have the same timeout, so they stand in the order of their deadlines. */

static void stop_timer(struct roce *r, uint16_t peer)
{
	struct roce_qp *q = &r->qp[peer];

	if (q->deadline == MF_NEVER)
		return;
	if (q->timer_prev == ROCE_NO_PEER)
		r->timer_head = q->timer_next;
	else
		r->qp[q->timer_prev].timer_next = q->timer_next;
	if (q->timer_next == ROCE_NO_PEER)
		r->timer_tail = q->timer_prev;
	else
		r->qp[q->timer_next].timer_prev = q->timer_prev;
	q->deadline = MF_NEVER;
}

static void start_timer(struct roce *r, uint16_t peer, mf_time now)
{
	struct roce_qp *q = &r->qp[peer];

	stop_timer(r, peer);
	if (r->timeout == 0)
		return;
	q->deadline = now + r->timeout;
	q->timer_prev = r->timer_tail;
	q->timer_next = ROCE_NO_PEER;
	if (r->timer_tail == ROCE_NO_PEER)
		r->timer_head = peer;
	else
		r->qp[r->timer_tail].timer_next = peer;
	r->timer_tail = peer;
}

/* Sending */

mf_time requester_due(const struct roce *r, uint16_t peer)
{
	const struct roce_qp *q = &r->qp[peer];
	const struct roce_request *m;
	mf_time due;

	if (q->cur == ROCE_NIL)
		return MF_NEVER;
	m = &r->request[q->cur];
	if (!m->begun && q->nxt + m->packets - q->una > ROCE_WINDOW)
		return MF_NEVER;
	due = mf_time_max(m->ready, q->floor);
	if (is_write(r, q->cur))
		return mf_time_max(due, q->pace);
	return q->reads < r->rd_atomic ? due : MF_NEVER;
}

/** A request takes its PSNs when its first packet is sent. */
static void begin(struct roce *r, struct roce_qp *q, mf_time now)
{
	struct roce_request *m = &r->request[q->cur];
	struct operation *o = operation_of(r, q->cur);

	m->begun = true;
	m->first = q->nxt;
	q->nxt += m->packets;
	if (is_write(r, q->cur) && !o->begun) {
		o->begun = true;
		o->c.first = now;
	}
}

/** A packet of a write. @return PSNs that it takes */
static uint32_t put_write(struct roce *r, struct roce_qp *q, struct roce_packet *p)
{
	static const uint8_t opcode[2][2] = {{ROCE_WRITE_MIDDLE, ROCE_WRITE_LAST},
					     {ROCE_WRITE_FIRST, ROCE_WRITE_ONLY}};
	const struct roce_request *m = &r->request[q->cur];
	const struct operation *o = operation_of(r, q->cur);
	uint32_t i = q->send - m->first, at = i << r->mtu_shift;
	bool last = i + 1 == m->packets;

	p->opcode = opcode[i == 0][last];
	p->addr = o->addr;
	p->key = (uint8_t)o->id;
	p->octets = (uint32_t)o->c.len;
	p->data = o->buf + at;
	p->len = (uint16_t)(last ? (uint32_t)o->c.len - at : r->mtu);
	p->ack = last || ++q->unasked >= r->ack_every;
	if (p->ack)
		q->unasked = 0;
	return 1;
}

/** A read, or what is missing of one. */
static uint32_t put_read(struct roce *r, struct roce_qp *q, struct roce_packet *p)
{
	const struct roce_request *m = &r->request[q->cur];
	const struct operation *o = operation_of(r, q->cur);
	uint32_t i = q->send - m->first, at = i << r->mtu_shift;

	p->opcode = ROCE_READ_REQUEST;
	p->addr = o->addr + at;
	p->octets = (uint32_t)o->c.len - at;
	q->reads++;
	return m->packets - i;
}

static uint32_t put_atomic(struct roce *r, struct roce_qp *q, struct roce_packet *p)
{
	static const uint8_t opcode[MF_RMW_OPS] = {[MF_RMW_CAS] = ROCE_COMPARE_SWAP,
						   [MF_RMW_FADD] = ROCE_FETCH_ADD,
						   [MF_RMW_SWAP] = ROCE_SWAP,
						   [MF_RMW_FOR] = ROCE_FETCH_OR,
						   [MF_RMW_FAND] = ROCE_FETCH_AND};
	const struct operation *o = operation_of(r, q->cur);

	p->opcode = opcode[o->rmw];
	p->addr = o->addr;
	p->swap = o->rmw == MF_RMW_CAS ? o->arg[1] : o->arg[0];
	p->compare = o->rmw == MF_RMW_CAS ? o->arg[0] : 0;
	q->reads++;
	return 1;
}

uint16_t requester_send(struct roce *r, uint16_t peer, mf_time now, uint8_t *frame)
{
	struct roce_qp *q = &r->qp[peer];
	const struct roce_request *m = &r->request[q->cur];
	uint8_t kind = operation_of(r, q->cur)->c.kind;
	struct roce_packet p = {.incarnation = r->incarnation,
				.qp = roce_qp_number(r, r->config.node, q->generation),
				.psn = q->send};

	if (!m->begun)
		begin(r, q, now);
	r->n.packets_again += roce_before(q->send, q->sent);
	if (kind == MF_OP_READ)
		q->send += put_read(r, q, &p);
	else if (kind == MF_OP_RMW)
		q->send += put_atomic(r, q, &p);
	else
		q->send += put_write(r, q, &p);
	if (roce_before(q->sent, q->send))
		q->sent = q->send;
	if (q->send == m->first + m->packets)
		q->cur = m->next;
	start_timer(r, peer, now);
	return roce_emit(r, peer, now, &p, frame);
}

/* What comes back */

/** Everything from una on is sent again. */
static void go_back(struct roce *r, struct roce_qp *q, mf_time known)
{
	q->went_back = true;
	q->send = q->una;
	q->cur = q->head;
	q->reads = 0;
	q->unasked = 0;
	q->floor = known + r->cost_tx;
	r->n.went_back++;
}

/** All before una has come. */
static void progress(struct roce *r, uint16_t peer, uint32_t una, mf_time at)
{
	struct roce_qp *q = &r->qp[peer];

	if (una == q->una)
		return;
	q->una = una;
	q->went_back = false;
	q->retries = 0;
	if (roce_before(q->send, una)) { /* it came before it was sent again */
		q->send = una;
		q->cur = q->head;
	}
	if (q->una == q->nxt)
		stop_timer(r, peer);
	else
		start_timer(r, peer, at);
}

static void complete(struct roce *r, struct roce_qp *q, uint32_t op, mf_time known, enum mf_status status)
{
	unlink_request(r, q, op);
	operations_complete(&r->operations, op, known, status);
}

/** Whether the oldest operation has its PSNs, and one of them is psn. */
static bool oldest_has(const struct roce *r, const struct roce_qp *q, uint32_t psn)
{
	const struct roce_request *m = q->head != ROCE_NIL ? &r->request[q->head] : NULL;

	return m != NULL && m->begun && psn - m->first < m->packets;
}

/**
 * All writes whose packets are before psn are complete.
 * @return the first PSN that this does not tell: that of a read whose response did not come, or psn
 */
static uint32_t acknowledge(struct roce *r, uint16_t peer, uint32_t psn, mf_time at)
{
	struct roce_qp *q = &r->qp[peer];
	uint32_t una = q->una;

	while (q->head != ROCE_NIL && r->request[q->head].begun && roce_before(una, psn)) {
		uint32_t op = q->head, end = r->request[op].first + r->request[op].packets;

		if (!is_write(r, op))
			break;
		if (roce_before(psn, end)) {
			una = psn;
			break;
		}
		una = end;
		complete(r, q, op, at + r->cost_rx, MF_OK);
	}
	progress(r, peer, una, at);
	return una;
}

/** The connection is gone: what was not begun, or is kept, begins on a new one, with new numbers. */
static void reconnect(struct roce *r, uint16_t peer, mf_time known)
{
	struct roce_qp *q = &r->qp[peer];

	for (uint32_t i = q->head; i != ROCE_NIL && r->request[i].begun; i = r->request[i].next)
		r->request[i].begun = false;
	stop_timer(r, peer);
	q->generation = (q->generation + 1) & r->generations;
	q->una = q->send = q->sent = q->nxt = 0;
	q->cur = q->head;
	q->reads = q->unasked = 0;
	q->retries = 0;
	q->went_back = false;
	q->floor = known + r->cost_tx;
	r->n.failed++;
}

/** Nobody knows what came of its requests. */
static void fail(struct roce *r, uint16_t peer, mf_time now)
{
	struct roce_qp *q = &r->qp[peer];

	while (q->head != ROCE_NIL && r->request[q->head].begun) {
		bool read = operation_of(r, q->head)->c.kind == MF_OP_READ;

		complete(r, q, q->head, now, read ? MF_ERR_TIMEOUT : MF_ERR_UNKNOWN);
	}
	reconnect(r, peer, now);
	roce_schedule(r, peer, now);
}

/** The responder has refused the oldest, and does nothing of what is behind it (9.7.5.2.8). */
static void refused(struct roce *r, uint16_t peer, mf_time at, uint8_t syndrome)
{
	static const uint8_t status[] = {[ROCE_NAK_INVALID & 3] = MF_ERR_ALIGN,
					 [ROCE_NAK_ACCESS & 3] = MF_ERR_RANGE,
					 [ROCE_NAK_OPERATIONAL & 3] = MF_ERR_RESOURCE};
	struct roce_qp *q = &r->qp[peer];

	complete(r, q, q->head, at + r->cost_rx, status[syndrome & 3]);
	reconnect(r, peer, at + r->cost_rx);
}

static void take_ack(struct roce *r, mf_time at, const struct roce_packet *p, uint32_t psn)
{
	struct roce_qp *q = &r->qp[p->src];
	uint32_t end = psn + 1;

	if (acknowledge(r, p->src, end, at) != end && !q->went_back)
		go_back(r, q, at + r->cost_rx);
}

static void take_nak(struct roce *r, mf_time at, const struct roce_packet *p, uint32_t psn)
{
	struct roce_qp *q = &r->qp[p->src];
	uint32_t una = acknowledge(r, p->src, psn, at);

	r->n.naks_received++;
	if (p->syndrome == ROCE_NAK_SEQUENCE) {
		if (!q->went_back)
			go_back(r, q, at + r->cost_rx);
	} else if (una != psn || !oldest_has(r, q, psn)) {
		if (!q->went_back) /* the response to a read before it was lost */
			go_back(r, q, at + r->cost_rx);
	} else {
		refused(r, p->src, at, p->syndrome);
	}
}

static void tell_response(const struct roce *r, uint32_t op, uint32_t offset, uint32_t octets, bool last,
			  mf_time known)
{
	const struct mf_probe *p = r->config.probe;
	const struct operation *o = operation_of(r, op);

	if (p != NULL && p->response != NULL)
		p->response(p->ctx, r->config.node, o->c.node, o->id, offset, octets, last, known, known);
}

/** Data of the oldest read, or the result of the oldest atomic. */
static void deliver(struct roce *r, mf_time at, const struct roce_packet *p, uint32_t psn)
{
	struct roce_qp *q = &r->qp[p->src];
	uint32_t op = q->head, i = psn - r->request[op].first, offset = i << r->mtu_shift, octets = p->len;
	bool last = i + 1 == r->request[op].packets, atomic = p->opcode == ROCE_ATOMIC_ACKNOWLEDGE;
	struct operation *o = operation_of(r, op);
	mf_time known = at + r->cost_rx;

	if (atomic != (o->c.kind == MF_OP_RMW) ||
	    (!atomic && octets != (last ? (uint32_t)o->c.len - offset : r->mtu))) {
		r->n.drop_bad++;
		return;
	}
	if (atomic) {
		octets = (uint32_t)o->c.len;
		o->c.result = p->swap;
	} else {
		memcpy(o->buf + offset, p->data, octets);
	}
	if (!o->begun)
		o->c.first = known;
	o->begun = true;
	tell_response(r, op, offset, octets, last, known);
	if (last) {
		q->reads -= q->reads > 0;
		complete(r, q, op, known, MF_OK);
	}
	progress(r, p->src, psn + 1, at);
}

static void take_response(struct roce *r, mf_time at, const struct roce_packet *p, uint32_t psn)
{
	struct roce_qp *q = &r->qp[p->src];

	if (acknowledge(r, p->src, psn, at) == psn && oldest_has(r, q, psn) && !is_write(r, q->head)) {
		deliver(r, at, p, psn);
		return;
	}
	r->n.drop_sequence++;
	if (!q->went_back)
		go_back(r, q, at + r->cost_rx);
}

void requester_receive(struct roce *r, mf_time at, const struct roce_packet *p)
{
	struct roce_qp *q = &r->qp[p->src];
	uint32_t psn = roce_psn(q->una, p->psn);

	if (p->qp != roce_qp_number(r, p->src, q->generation)) {
		r->n.drop_stale++;
	} else if (!roce_before(psn, q->nxt)) {
		r->n.drop_bad++;
	} else if (roce_before(psn, q->una)) {
		r->n.drop_duplicate++;
	} else if (p->opcode != ROCE_ACKNOWLEDGE) {
		take_response(r, at, p, psn);
	} else if (p->syndrome >> 5 == 0) {
		take_ack(r, at, p, psn);
	} else if (p->syndrome >= ROCE_NAK_SEQUENCE && p->syndrome <= ROCE_NAK_OPERATIONAL) {
		take_nak(r, at, p, psn);
	} else {
		r->n.drop_bad++;
	}
}

/* Time runs out */

static void timed_out(struct roce *r, uint16_t peer, mf_time now)
{
	struct roce_qp *q = &r->qp[peer];

	if (q->send == q->una) { /* nothing was sent meanwhile: the line was paused, or busy with others */
		start_timer(r, peer, now);
		return;
	}
	r->n.timeouts++;
	if (q->retries++ >= r->retries) {
		fail(r, peer, now);
		return;
	}
	go_back(r, q, now);
	start_timer(r, peer, now);
	roce_schedule(r, peer, now);
}

void requester_run(struct roce *r, mf_time now)
{
	while (r->timer_head != ROCE_NO_PEER && r->qp[r->timer_head].deadline <= now)
		timed_out(r, r->timer_head, now);
}

void requester_expire(struct roce *r, uint32_t op, mf_time now)
{
	struct operation *o = operation_of(r, op);
	uint16_t peer = o->c.node;

	if (r->request[op].begun) {
		fail(r, peer, now);
		return;
	}
	complete(r, &r->qp[peer], op, now, o->c.kind == MF_OP_READ ? MF_ERR_TIMEOUT : MF_ERR_UNKNOWN);
	roce_schedule(r, peer, now);
}
