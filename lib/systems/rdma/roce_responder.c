/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The responder of a queue pair (9.7.4, 9.7.5): requests are done in the order of their PSNs. One that is
 * ahead of its turn is dropped, and the first such gets a NAK; one that was done already is acknowledged
 * again, read again, or given the result of then.
 */
#include "systems/frames/mf_remote.h"
#include "systems/rdma/roce.h"

#define READ ROCE_READ_REQUEST /* a response of data */

static uint32_t take_response(struct roce *r)
{
	uint32_t i = r->free;

	if (i != ROCE_NIL)
		r->free = r->response[i].next;
	else if (r->fresh < r->responses)
		i = r->fresh++;
	else
		r->n.drop_room++;
	return i;
}

/** What a response holds of the memory is not used any more. */
static void let_go(const struct roce *r, const struct roce_response *m)
{
	if (m->opcode == READ)
		r->config.memory_ops->let_go(r->config.memory, &m->data);
}

void responder_fini(struct roce *r)
{
	if (r->qp == NULL || r->response == NULL)
		return;
	for (uint16_t peer = 0; peer < r->config.nodes; peer++) {
		const struct roce_qp *q = &r->qp[peer];

		for (uint32_t i = q->begun ? q->rhead : ROCE_NIL; i != ROCE_NIL; i = r->response[i].next)
			let_go(r, &r->response[i]);
	}
}

static void give_response(struct roce *r, struct roce_qp *q, uint32_t i)
{
	let_go(r, &r->response[i]);
	q->queued_reads -= r->response[i].opcode != ROCE_ACKNOWLEDGE;
	r->response[i].next = r->free;
	r->free = i;
}

/** Queues a response, with what it holds. No room: that is let go. */
static void queue_response(struct roce *r, uint16_t peer, const struct roce_response *with)
{
	struct roce_qp *q = &r->qp[peer];
	uint32_t i = take_response(r);

	if (i == ROCE_NIL) {
		let_go(r, with);
		return;
	}
	r->response[i] = *with;
	r->response[i].next = ROCE_NIL;
	r->response[i].msn = q->msn;
	q->queued_reads += with->opcode != ROCE_ACKNOWLEDGE;
	if (q->rtail == ROCE_NIL)
		q->rhead = i;
	else
		r->response[q->rtail].next = i;
	q->rtail = i;
}

/** Those of PSNs from psn on: they will be asked for again. */
static void drop_responses(struct roce *r, uint16_t peer, uint32_t psn)
{
	struct roce_qp *q = &r->qp[peer];
	uint32_t *link = &q->rhead, last = ROCE_NIL, i;

	while ((i = *link) != ROCE_NIL && roce_before(r->response[i].psn, psn)) {
		struct roce_response *m = &r->response[i];

		if (roce_before(psn, m->psn + m->packets)) /* a read of which a part is asked for again */
			m->packets = psn - m->psn;
		if (m->opcode == READ && m->sent >= m->packets)
			break;
		last = i;
		link = &m->next;
	}
	*link = ROCE_NIL;
	q->rtail = last;
	while (i != ROCE_NIL) {
		uint32_t next = r->response[i].next;

		if (r->response[i].syndrome == ROCE_NAK_SEQUENCE)
			q->nak_sent = false;
		give_response(r, q, i);
		i = next;
	}
}

/* Sending */

mf_time responder_due(const struct roce *r, uint16_t peer)
{
	const struct roce_qp *q = &r->qp[peer];
	const struct roce_response *m;

	if (q->rhead == ROCE_NIL)
		return MF_NEVER;
	m = &r->response[q->rhead];
	return m->opcode == READ ? mf_time_max(m->ready, q->pace) : m->ready;
}

/** The next packet of a read. Data in two places go by way of a buffer, until the packet is made. */
static void put_data(struct roce *r, struct roce_response *m, struct roce_packet *p)
{
	static const uint8_t opcode[2][2] = {{ROCE_READ_MIDDLE, ROCE_READ_LAST},
					     {ROCE_READ_FIRST, ROCE_READ_ONLY}};
	uint32_t i = m->sent++, at = i << r->mtu_shift;
	bool last = at + r->mtu >= m->len;

	p->opcode = opcode[i == 0][last];
	p->psn = m->psn + i;
	p->len = (uint16_t)(last ? m->len - at : r->mtu);
	if (at + p->len <= m->data.len[0]) {
		p->data = m->data.at[0] + at;
		return;
	}
	mf_places_copy(&m->data, at, p->len, r->scratch);
	p->data = r->scratch;
}

uint16_t responder_send(struct roce *r, uint16_t peer, mf_time now, uint8_t *frame)
{
	struct roce_qp *q = &r->qp[peer];
	uint32_t i = q->rhead;
	struct roce_response *m = &r->response[i];
	struct roce_packet p = {.opcode = m->opcode,
				.syndrome = m->syndrome,
				.qp = roce_qp_number(r, r->config.node, q->their),
				.psn = m->psn,
				.msn = m->msn,
				.swap = m->value};
	uint16_t len;

	if (m->opcode == READ)
		put_data(r, m, &p);
	if (m->opcode == ROCE_ACKNOWLEDGE && m->syndrome == ROCE_ACK)
		r->n.acks_sent++;
	else if (m->opcode == ROCE_ACKNOWLEDGE)
		r->n.naks_sent++;
	len = roce_emit(r, peer, now, &p, frame);
	if (m->opcode != READ || m->sent == m->packets) {
		q->rhead = m->next;
		if (q->rhead == ROCE_NIL)
			q->rtail = ROCE_NIL;
		give_response(r, q, i);
	}
	return len;
}

/* Answers */

static void acknowledge(struct roce *r, uint16_t peer, mf_time known, uint32_t psn)
{
	struct roce_qp *q = &r->qp[peer];
	struct roce_response *tail = q->rtail != ROCE_NIL ? &r->response[q->rtail] : NULL;

	/* One that still waits tells of this one, too (9.7.5.1.2). */
	if (tail != NULL && tail->opcode == ROCE_ACKNOWLEDGE && tail->syndrome == ROCE_ACK) {
		if (roce_before(tail->psn, psn))
			tail->psn = psn;
		tail->msn = q->msn;
		return;
	}
	queue_response(r, peer,
		       &(struct roce_response){.opcode = ROCE_ACKNOWLEDGE,
					       .syndrome = ROCE_ACK,
					       .psn = psn,
					       .packets = 1,
					       .ready = known + r->cost_tx});
}

/** What came is not what was expected: it is asked for, once. */
static void out_of_sequence(struct roce *r, uint16_t peer, mf_time known)
{
	struct roce_qp *q = &r->qp[peer];

	r->n.drop_sequence++;
	if (q->nak_sent)
		return;
	q->nak_sent = true;
	queue_response(r, peer,
		       &(struct roce_response){.opcode = ROCE_ACKNOWLEDGE,
					       .syndrome = ROCE_NAK_SEQUENCE,
					       .psn = q->epsn,
					       .packets = 1,
					       .ready = known + r->cost_tx});
}

/** The request is refused, and the queue pair is at its end: errors of class C (9.7.5.2.8). */
static void refuse(struct roce *r, uint16_t peer, mf_time known, uint8_t syndrome)
{
	struct roce_qp *q = &r->qp[peer];

	q->dead = true;
	queue_response(r, peer,
		       &(struct roce_response){.opcode = ROCE_ACKNOWLEDGE,
					       .syndrome = syndrome,
					       .psn = q->epsn,
					       .packets = 1,
					       .ready = known + r->cost_tx});
}

static uint8_t syndrome_of(uint8_t status)
{
	switch (status) {
	case MF_ERR_RANGE:
	case MF_ERR_KEY:
		return ROCE_NAK_ACCESS;
	case MF_ERR_RESOURCE:
		return ROCE_NAK_OPERATIONAL;
	default:
		return ROCE_NAK_INVALID;
	}
}

/* Requests */

static uint8_t access_memory(const struct roce *r, const struct mf_access *a, struct mf_answer *out)
{
	if (r->config.memory_ops == NULL)
		return MF_ERR_RANGE;
	return r->config.memory_ops->access(r->config.memory, a, out);
}

/** @return when what the memory has answered at a time may be sent */
static mf_time made(const struct roce *r, mf_time answered)
{
	stack_stamp_tx(&r->config, answered);
	return answered + r->cost_tx;
}

static void tell_effect(const struct roce *r, uint16_t peer, const struct roce_qp *q, uint32_t octets,
			mf_time known, mf_time done)
{
	const struct mf_probe *p = r->config.probe;

	if (p != NULL && p->effect != NULL)
		p->effect(p->ctx, peer, r->config.node, q->wid, q->wdone, octets, octets == q->wleft, known,
			  done);
}

/** Whether a packet of a write fits what came of it before. */
static bool write_fits(const struct roce *r, const struct roce_qp *q, const struct roce_packet *p)
{
	bool first = p->opcode == ROCE_WRITE_FIRST || p->opcode == ROCE_WRITE_ONLY;
	bool last = p->opcode == ROCE_WRITE_LAST || p->opcode == ROCE_WRITE_ONLY;
	uint32_t left = first ? p->octets : q->wleft;

	if (first != (q->wleft == 0) || left == 0 || left > ROCE_MESSAGE_MAX)
		return false;
	return last ? p->len == left : p->len == r->mtu && p->len < left;
}

/** A write begins: nothing of it is written if not all of it may be. */
static uint8_t write_begin(const struct roce *r, mf_time known, const struct roce_packet *p,
			   struct roce_qp *q)
{
	const struct mf_access whole = {.addr = p->addr,
					.at = known,
					.len = p->octets,
					.node = p->src,
					.end = r->config.end,
					.right = MF_RIGHT_WRITE,
					.dry = true};
	struct mf_answer would;
	uint8_t status = p->len < p->octets ? access_memory(r, &whole, &would) : MF_OK;

	if (status != MF_OK)
		return status;
	q->waddr = p->addr;
	q->wleft = p->octets;
	q->wdone = 0;
	q->wid = (uint8_t)p->key;
	return MF_OK;
}

/** The part of a write that a packet has. @param done  when the memory has taken it */
static uint8_t write_part(const struct roce *r, mf_time known, const struct roce_packet *p,
			  const struct roce_qp *q, mf_time *done)
{
	const struct mf_access part = {.addr = q->waddr,
				       .at = known,
				       .data = p->data,
				       .len = p->len,
				       .node = p->src,
				       .end = r->config.end,
				       .right = MF_RIGHT_WRITE};
	struct mf_answer got = {.time = 0};
	uint8_t status = access_memory(r, &part, &got);

	*done = known + got.time;
	if (status == MF_OK && got.time != 0)
		stack_stamp_access(&r->config, known, &got);
	return status;
}

static void do_write(struct roce *r, mf_time known, const struct roce_packet *p)
{
	struct roce_qp *q = &r->qp[p->src];
	bool first = p->opcode == ROCE_WRITE_FIRST || p->opcode == ROCE_WRITE_ONLY;
	uint8_t status = MF_OK;
	mf_time done = known;

	if (!write_fits(r, q, p)) {
		refuse(r, p->src, known, ROCE_NAK_INVALID);
		return;
	}
	if (first)
		status = write_begin(r, known, p, q);
	if (status == MF_OK)
		status = write_part(r, known, p, q, &done);
	if (status != MF_OK) {
		q->wleft = 0;
		refuse(r, p->src, known, syndrome_of(status));
		return;
	}
	tell_effect(r, p->src, q, p->len, known, done);
	q->waddr += p->len;
	q->wdone += p->len;
	q->wleft -= p->len;
	q->msn += q->wleft == 0;
	q->epsn++;
	if (p->ack)
		acknowledge(r, p->src, done, q->epsn - 1);
}

/** @return PSNs that it takes; 0: it was refused, or there is no room */
static uint32_t do_read(struct roce *r, mf_time known, const struct roce_packet *p, uint32_t psn)
{
	const struct mf_access a = {.addr = p->addr,
				    .at = known,
				    .len = p->octets,
				    .node = p->src,
				    .end = r->config.end,
				    .right = MF_RIGHT_READ,
				    .hold = true};
	struct mf_answer got;
	uint8_t status;

	if (p->octets > ROCE_MESSAGE_MAX)
		status = MF_ERR_RANGE;
	else if (p->octets == 0)
		status = MF_ERR_OPCODE;
	else
		status = access_memory(r, &a, &got);
	if (status != MF_OK) {
		refuse(r, p->src, known, syndrome_of(status));
		return 0;
	}
	queue_response(
		r, p->src,
		&(struct roce_response){.opcode = READ,
					.syndrome = ROCE_ACK,
					.psn = psn,
					.packets = roce_packets(r, p->octets),
					.data = got.places,
					.len = p->octets,
					.ready = made(r, stack_stamp_access(&r->config, known, &got))});
	return roce_packets(r, p->octets);
}

static struct roce_replay *replay_of(const struct roce *r, uint16_t peer, uint32_t i)
{
	return &r->replay[(size_t)peer * r->rd_atomic + i % r->rd_atomic];
}

/** @param a  what the memory takes for it */
static void answer_atomic(struct roce *r, mf_time known, const struct roce_packet *p, uint32_t psn,
			  uint64_t value, const struct mf_answer *a)
{
	queue_response(r, p->src,
		       &(struct roce_response){.opcode = ROCE_ATOMIC_ACKNOWLEDGE,
					       .syndrome = ROCE_ACK,
					       .psn = psn,
					       .packets = 1,
					       .value = value,
					       .ready = made(r, stack_stamp_access(&r->config, known, a))});
}

/** What a packet asks of the memory. @param arg  of it; NULL: what would come of it */
static uint8_t access_atomic(const struct roce *r, mf_time known, const struct roce_packet *p,
			     const uint64_t *arg, struct mf_answer *out)
{
	static const uint8_t rmw[] = {[ROCE_COMPARE_SWAP & 0xf] = MF_RMW_CAS,
				      [ROCE_FETCH_ADD & 0xf] = MF_RMW_FADD,
				      [ROCE_SWAP & 0xf] = MF_RMW_SWAP,
				      [ROCE_FETCH_OR & 0xf] = MF_RMW_FOR,
				      [ROCE_FETCH_AND & 0xf] = MF_RMW_FAND};
	const struct mf_access a = {.addr = p->addr,
				    .at = known,
				    .data = arg,
				    .len = sizeof(uint64_t),
				    .node = p->src,
				    .end = r->config.end,
				    .right = MF_RIGHT_RMW,
				    .op = rmw[p->opcode & 0xf],
				    .dry = arg == NULL};

	return access_memory(r, &a, out);
}

/** @return PSNs that it takes; 0: it was refused */
static uint32_t do_atomic(struct roce *r, mf_time known, const struct roce_packet *p, uint32_t psn)
{
	const uint64_t arg[2] = {p->opcode == ROCE_COMPARE_SWAP ? p->compare : p->swap, p->swap};
	struct roce_qp *q = &r->qp[p->src];
	struct mf_answer got;
	uint8_t status = access_atomic(r, known, p, arg, &got);

	if (status != MF_OK) {
		refuse(r, p->src, known, syndrome_of(status));
		return 0;
	}
	*replay_of(r, p->src, q->replays++) =
		(struct roce_replay){.psn = psn, .there = true, .value = got.old};
	answer_atomic(r, known, p, psn, got.old, &got);
	return 1;
}

/** The request whose turn it is. */
static void execute(struct roce *r, mf_time known, const struct roce_packet *p)
{
	struct roce_qp *q = &r->qp[p->src];
	uint32_t psns;

	q->nak_sent = false;
	if (roce_is_write(p->opcode)) {
		do_write(r, known, p);
		return;
	}
	if (q->wleft != 0) { /* in the middle of a write */
		refuse(r, p->src, known, ROCE_NAK_INVALID);
		return;
	}
	if (q->queued_reads >= 2 * r->rd_atomic) {
		r->n.drop_room++;
		return;
	}
	q->msn++; /* what it carries counts this request */
	psns = roce_is_atomic(p->opcode) ? do_atomic(r, known, p, q->epsn) : do_read(r, known, p, q->epsn);
	q->msn -= psns == 0;
	q->epsn += psns;
}

/** It takes the time of an access, so as not to be there before the first answer. */
static void replay_atomic(struct roce *r, mf_time known, const struct roce_packet *p, uint32_t psn)
{
	struct mf_answer would;

	for (uint32_t i = 0; i < r->rd_atomic; i++) {
		const struct roce_replay *was = replay_of(r, p->src, i);

		if (was->there && was->psn == psn) {
			if (access_atomic(r, known, p, NULL, &would) != MF_OK)
				would = (struct mf_answer){.time = 0}; /* it may not be done any more */
			answer_atomic(r, known, p, psn, was->value, &would);
			return;
		}
	}
	r->n.drop_duplicate++;
}

/** A request that was done already: its answer was lost, or is late (9.7.5.1.4). */
static void retransmit_answer(struct roce *r, mf_time known, const struct roce_packet *p, uint32_t psn)
{
	if (roce_is_write(p->opcode)) {
		r->n.drop_duplicate++;
		if (p->ack)
			acknowledge(r, p->src, known, psn);
		return;
	}
	drop_responses(r, p->src, psn);
	if (roce_is_atomic(p->opcode))
		replay_atomic(r, known, p, psn);
	else
		do_read(r, known, p, psn);
}

/** A new connection: its first packet opens it. */
static void open_connection(struct roce *r, const struct roce_packet *p, uint16_t generation)
{
	uint16_t peer = p->src;
	struct roce_qp *q = &r->qp[peer];

	drop_responses(r, peer, q->rhead != ROCE_NIL ? r->response[q->rhead].psn : 0);
	q->their_incarnation = p->incarnation;
	q->their = generation;
	q->epsn = q->msn = q->wleft = 0;
	q->nak_sent = q->dead = false;
	for (uint32_t i = 0; i < r->rd_atomic && q->replays != 0; i++)
		replay_of(r, peer, i)->there = false;
	q->replays = 0;
}

/**
 * Whether a packet opens a connection. Within an incarnation each generation is one more than the one before,
 * and whatever comes of it first opens it. What another incarnation begins with is not known, nor how far one
 * had come before this node began: there PSN 0 alone opens.
 */
static bool opens(const struct roce *r, const struct roce_qp *q, const struct roce_packet *p,
		  uint16_t generation)
{
	uint16_t ahead = (uint16_t)(generation - q->their) & r->generations;

	if (p->incarnation != q->their_incarnation)
		return p->psn == 0;
	return ahead != 0 && ahead <= r->generations / 2;
}

void responder_receive(struct roce *r, mf_time at, const struct roce_packet *p)
{
	struct roce_qp *q = &r->qp[p->src];
	uint16_t generation = roce_qp_generation(r, p->qp);
	mf_time known = at + r->cost_rx;
	uint32_t psn;

	if (opens(r, q, p, generation))
		open_connection(r, p, generation);
	psn = roce_psn(q->epsn, p->psn);
	if (p->incarnation != q->their_incarnation || generation != q->their ||
	    (q->dead && roce_before(q->epsn, psn)))
		r->n.drop_stale++;
	else if (psn == q->epsn)
		execute(r, known, p); /* what was refused is refused again: the NAK was lost */
	else if (roce_before(psn, q->epsn))
		retransmit_answer(r, known, p, psn);
	else
		out_of_sequence(r, p->src, known);
}
