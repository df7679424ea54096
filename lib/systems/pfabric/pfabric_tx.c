/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pFabric, sending (its rate control): a flow starts with a window of a bandwidth-delay product, grows
 * as TCP does with each acknowledgement, and learns of losses by a fixed, short timeout only; after it, it is
 * in slow start. After some timeouts in a row it sends nothing but probes until one is answered.
 */
#include "systems/pfabric/pfabric.h"

static struct pfabric *of(struct remote *r)
{
	return (struct pfabric *)r;
}

/** Octets that remain, header included: an acknowledgement, with 0, goes before all. */
static uint32_t remaining(const struct pfabric *p, uint32_t m)
{
	return p->remote.message[m].len - p->flow[m].acked + REMOTE_HEADER;
}

/** What has come already is left out. */
static void skip_acked(struct pfabric_flow *f)
{
	while (f->pos < f->top && (f->pos < f->base || pfabric_bit(&f->have, f->pos)))
		f->pos++;
}

/** @return whether it has a segment, or a probe, that may go */
static bool may_send(struct pfabric_flow *f)
{
	if (f->probing)
		return f->probe;
	skip_acked(f);
	return f->pos < f->segments && f->pos - f->base < PFABRIC_SPAN && (float)f->flight < f->cwnd;
}

static void consider(struct pfabric *p, uint32_t m)
{
	struct pfabric_flow *f = &p->flow[m];

	if (!mf_deadlines_has(&p->waiting, m) && may_send(f))
		mf_deadlines_set(&p->best, m, (mf_time)remaining(p, m) << 32 | f->order);
	else
		mf_deadlines_remove(&p->best, m);
}

/** It has a number: it is a flow. */
static void start(struct pfabric *p, uint32_t m, mf_time now)
{
	const struct remote_message *message = &p->remote.message[m];
	struct pfabric_flow *f = &p->flow[m];

	*f = (struct pfabric_flow){
		.number = p->peer[message->peer].next++,
		.segments = message->len > PFABRIC_DATA ? (message->len - 1) / PFABRIC_DATA + 1 : 1,
		.order = p->order++,
		.cwnd = p->window,
		.ssthresh = PFABRIC_SPAN,
		.timer = MF_NEVER,
		.live = true};
	if (message->ready > now)
		mf_deadlines_set(&p->waiting, m, message->ready);
	consider(p, m);
}

static bool has_number(const struct pfabric_peer *peer)
{
	return peer->next - peer->oldest < PFABRIC_FLOWS;
}

/* Those without a number, in order. */

static void append(struct pfabric *p, struct pfabric_peer *peer, uint32_t m)
{
	struct remote_message *message = p->remote.message;

	message[m].next = 0;
	message[m].prev = peer->tail;
	if (peer->tail == 0)
		peer->head = m + 1;
	else
		message[peer->tail - 1].next = m + 1;
	peer->tail = m + 1;
	p->flows_waiting++;
}

static void take_out(struct pfabric *p, struct pfabric_peer *peer, uint32_t m)
{
	struct remote_message *message = p->remote.message;

	if (message[m].prev == 0)
		peer->head = message[m].next;
	else
		message[message[m].prev - 1].next = message[m].next;
	if (message[m].next == 0)
		peer->tail = message[m].prev;
	else
		message[message[m].next - 1].prev = message[m].prev;
}

void pfabric_send(struct remote *r, uint32_t m, mf_time now)
{
	struct pfabric *p = of(r);
	struct pfabric_peer *peer = &p->peer[r->message[m].peer];

	p->flow[m].live = false;
	if (peer->head == 0 && has_number(peer))
		start(p, m, now);
	else
		append(p, peer, m);
}

/** A flow is over: those behind it may have a number. The message is free. */
static void end(struct pfabric *p, uint32_t m, mf_time now)
{
	struct pfabric_peer *peer = &p->peer[p->remote.message[m].peer];
	struct pfabric_flow *f = &p->flow[m];

	mf_deadlines_remove(&p->waiting, m);
	mf_deadlines_remove(&p->best, m);
	mf_deadlines_remove(&p->late, m);
	f->live = false;
	pfabric_set_bit(&peer->over, f->number, true);
	while (peer->oldest != peer->next && pfabric_bit(&peer->over, peer->oldest))
		pfabric_set_bit(&peer->over, peer->oldest++, false);
	remote_free_message(&p->remote, m);
	while (peer->head != 0 && has_number(peer)) {
		uint32_t next = peer->head - 1;

		take_out(p, peer, next);
		start(p, next, now);
	}
}

void pfabric_give_up(struct remote *r, uint32_t op, mf_time now)
{
	struct pfabric *p = of(r);
	uint32_t m = r->operations.op[op].message;

	if (m == REMOTE_NIL)
		return;
	p->given_up++;
	if (p->flow[m].live) {
		end(p, m, now);
		return;
	}
	take_out(p, &p->peer[r->message[m].peer], m);
	remote_free_message(r, m);
}

/* Acknowledgements */

/** Segment i has come. @return whether that is news */
static bool note(struct pfabric *p, uint32_t m, uint32_t i, bool *counted)
{
	const struct remote_message *message = &p->remote.message[m];
	struct pfabric_flow *f = &p->flow[m];
	uint32_t rest;

	if (i < f->base || i >= f->top || pfabric_bit(&f->have, i))
		return false;
	*counted = i < f->pos;
	rest = message->len - i * PFABRIC_DATA;
	f->acked += rest < PFABRIC_DATA ? rest : PFABRIC_DATA;
	pfabric_set_bit(&f->have, i, true);
	while (pfabric_bit(&f->have, f->base))
		pfabric_set_bit(&f->have, f->base++, false);
	return true;
}

void pfabric_acked(struct pfabric *p, uint16_t peer, const struct mf_pfabric_header *h, mf_time at)
{
	uint32_t m = h->slot;
	struct pfabric_event e = {.due = at + p->turn, .m = m, .number = h->flow};

	if (m >= p->remote.messages || !p->flow[m].live || p->flow[m].number != h->flow ||
	    p->remote.message[m].peer != peer) {
		p->drop_stale++;
		return;
	}
	e.probed = h->kind == MF_PFABRIC_PROBE_ACK;
	if (!e.probed && !note(p, m, h->segment, &e.counted)) {
		p->drop_stale++;
		return;
	}
	if (p->flow[m].base == p->flow[m].segments) {
		remote_sent(&p->remote, &p->remote.message[m], at + p->remote.cost_rx);
		end(p, m, at);
		return;
	}
	if (p->event_tail - p->event_head > p->event_mask) /* sized for the line rate: it is not */
		pfabric_turn(p, p->event[p->event_head & p->event_mask].due);
	p->event[p->event_tail++ & p->event_mask] = e;
	if (p->turn == 0)
		pfabric_turn(p, at);
}

static void start_timer(struct pfabric *p, uint32_t m, mf_time now)
{
	p->flow[m].timer = now + p->rto;
	if (!mf_deadlines_has(&p->late, m))
		mf_deadlines_set(&p->late, m, p->flow[m].timer);
}

static void grow(struct pfabric_flow *f)
{
	if (f->cwnd < f->ssthresh)
		f->cwnd += 1;
	else if (f->cwnd < PFABRIC_SPAN)
		f->cwnd += 1 / f->cwnd;
}

static void learn(struct pfabric *p, const struct pfabric_event *e)
{
	struct pfabric_flow *f = &p->flow[e->m];

	if (!f->live || f->number != e->number)
		return;
	f->timeouts = 0;
	f->probing = f->probe = false;
	if (e->counted && f->flight > 0)
		f->flight--;
	if (!e->probed)
		grow(f);
	start_timer(p, e->m, e->due);
	consider(p, e->m);
}

/* Timeouts */

static void timeout(struct pfabric *p, uint32_t m, mf_time now)
{
	struct pfabric_flow *f = &p->flow[m];

	if (f->timer > now) {
		mf_deadlines_set(&p->late, m, f->timer);
		return;
	}
	p->timeouts++;
	f->ssthresh = f->cwnd > 4 ? f->cwnd / 2 : 2;
	f->cwnd = 1;
	f->pos = f->base;
	f->flight = 0;
	if (f->timeouts < UINT8_MAX)
		f->timeouts++;
	f->probing = f->probe = f->timeouts >= p->probe_after;
	f->timer = now + p->rto;
	mf_deadlines_set(&p->late, m, f->timer);
	consider(p, m);
}

void pfabric_turn(struct pfabric *p, mf_time now)
{
	uint32_t m;

	while (p->event_head != p->event_tail && p->event[p->event_head & p->event_mask].due <= now)
		learn(p, &p->event[p->event_head++ & p->event_mask]);
	while ((m = mf_deadlines_first(&p->waiting, now)) != MF_DEADLINES_NIL) {
		mf_deadlines_remove(&p->waiting, m);
		consider(p, m);
	}
	while ((m = mf_deadlines_first(&p->late, now)) != MF_DEADLINES_NIL)
		timeout(p, m, now);
}

/* Packets */

/** The headers of a packet whose data are where they belong. @return octets of the frame */
static uint16_t finish(struct pfabric *p, uint16_t peer, struct mf_pfabric_header *h, uint32_t octets,
		       uint8_t *frame)
{
	uint16_t l4 = (uint16_t)(MF_PFABRIC_HEADER + octets);

	h->remaining = rte_cpu_to_be_32(h->remaining);
	h->flow = rte_cpu_to_be_32(h->flow);
	h->slot = rte_cpu_to_be_32(h->slot);
	h->segment = rte_cpu_to_be_32(h->segment);
	h->segments = rte_cpu_to_be_32(h->segments);
	mf_packet_ipv4(frame, p->remote.config.node, peer, MF_PFABRIC_PROTOCOL, 0, MF_ECN_NOT, l4);
	memcpy(frame + MF_PACKET_L4, h, sizeof(*h));
	h->checksum = (uint16_t)~pfabric_checksum(frame, l4);
	memcpy(frame + MF_PACKET_L4, h, sizeof(*h));
	p->sent++;
	return (uint16_t)(MF_PACKET_L4 + l4);
}

static uint16_t pull_answer(struct pfabric *p, uint8_t *frame)
{
	const struct pfabric_answer *a = &p->answer[p->answer_head++ & p->answer_mask];
	struct mf_pfabric_header h = {.kind = a->kind,
				      .flow = a->flow,
				      .slot = a->slot,
				      .segment = a->segment,
				      .segments = a->segments};

	p->acks++;
	return finish(p, a->peer, &h, 0, frame);
}

static uint32_t put_segment(struct pfabric *p, uint32_t m, mf_time now, uint8_t *out)
{
	struct remote_message *message = &p->remote.message[m];
	struct pfabric_flow *f = &p->flow[m];
	uint32_t offset = f->pos * PFABRIC_DATA;

	if (!message->begun)
		remote_begun(&p->remote, message, now);
	message->begun = true;
	p->resent += f->pos < f->top;
	f->pos++;
	f->flight++;
	if (f->pos > f->top)
		f->top = f->pos;
	return remote_put_segment(&p->remote, message, offset,
				  remote_segment_size(message, offset, PFABRIC_PAYLOAD) - REMOTE_HEADER, out);
}

static uint16_t pull_flow(struct pfabric *p, uint32_t m, mf_time now, uint8_t *frame)
{
	struct pfabric_flow *f = &p->flow[m];
	struct mf_pfabric_header h = {.kind = f->probing ? MF_PFABRIC_PROBE : MF_PFABRIC_DATA,
				      .remaining = remaining(p, m),
				      .flow = f->number,
				      .slot = m,
				      .segment = f->pos,
				      .segments = f->segments};
	uint32_t octets = 0;

	if (f->probing) {
		f->probe = false;
		p->probes++;
	} else {
		octets = put_segment(p, m, now, frame + MF_PFABRIC_HEADERS);
	}
	if (f->timer == MF_NEVER)
		start_timer(p, m, now);
	consider(p, m);
	return finish(p, p->remote.message[m].peer, &h, octets, frame);
}

uint16_t pfabric_pull(struct mf_stack *s, mf_time now, uint8_t *frame)
{
	struct pfabric *p = pfabric_of(s);
	uint32_t m;

	pfabric_turn(p, now);
	if (p->answer_head != p->answer_tail && p->answer[p->answer_head & p->answer_mask].due <= now)
		return pull_answer(p, frame);
	m = mf_deadlines_first(&p->best, MF_NEVER);
	return m != MF_DEADLINES_NIL ? pull_flow(p, m, now, frame) : 0;
}
