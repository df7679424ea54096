/* SPDX-License-Identifier: BSD-3-Clause */
/* TCP, sending: the stream of messages, and the segments that are made of it. */
#include <rte_tcp.h>

#include "systems/tcp/tcp.h"

static struct tcp *of(struct remote *r)
{
	return (struct tcp *)r;
}

/** Given up while parts of it were under way: its octets are void, but keep their places in the stream. */
static bool is_void(const struct remote_message *m)
{
	return m->op == OPERATION_NIL && m->data.at[0] == NULL &&
	       (m->kind == REMOTE_WRITE || m->kind == REMOTE_WRITE_ACK);
}

/** Octets that may be under way: the windows, and a segment for each of two duplicates (RFC 3042). */
static uint64_t limit(const struct tcp *t, const struct tcp_conn *c)
{
	uint64_t cwnd = c->cwnd;

	if (!c->recovering && c->dupacks < TCP_DUPACKS)
		cwnd += (uint64_t)c->dupacks * t->mss;
	return c->una_known + (cwnd < c->window ? cwnd : c->window);
}

/** A segment is sent if it is full, all that there is, or if nothing else will open the window. */
static bool window_open(const struct tcp *t, const struct tcp_conn *c)
{
	uint64_t left = c->end - c->nxt, room = limit(t, c) - c->nxt;

	if (limit(t, c) <= c->nxt || left == 0)
		return false;
	return room >= t->mss || room >= left || c->nxt == c->una_known;
}

void tcp_consider(struct tcp *t, uint16_t peer, mf_time now)
{
	const struct tcp_conn *c = &t->conn[peer];
	mf_time ready = MF_NEVER;

	if (c->retransmitting && c->una < c->top)
		ready = now;
	else if (window_open(t, c))
		ready = mf_time_max(now, t->remote.message[c->cursor].ready);
	if (ready == MF_NEVER)
		mf_deadlines_remove(&t->ready, peer);
	else if (mf_deadlines_at(&t->ready, peer) > ready)
		mf_deadlines_set(&t->ready, peer, ready);
}

void tcp_send(struct remote *r, uint32_t i, mf_time now)
{
	struct tcp *t = of(r);
	struct remote_message *m = &r->message[i];
	struct tcp_conn *c = tcp_connection(t, m->peer);

	m->next = REMOTE_NIL;
	m->prev = c->tail;
	if (c->tail == REMOTE_NIL) {
		c->head = i;
		c->head_at = c->end;
	} else {
		r->message[c->tail].next = i;
	}
	c->tail = i;
	if (c->cursor == REMOTE_NIL) {
		c->cursor = i;
		c->cursor_at = c->end;
	}
	c->end += remote_stream_size(m);
	tcp_consider(t, m->peer, now);
}

static void unlink_message(struct remote *r, struct tcp_conn *c, uint32_t i)
{
	const struct remote_message *m = &r->message[i];

	if (m->prev == REMOTE_NIL)
		c->head = m->next;
	else
		r->message[m->prev].next = m->next;
	if (m->next == REMOTE_NIL)
		c->tail = m->prev;
	else
		r->message[m->next].prev = m->prev;
}

void tcp_give_up(struct remote *r, uint32_t op, mf_time now)
{
	struct tcp *t = of(r);
	uint32_t i = r->operations.op[op].message;
	struct remote_message *m = &r->message[i];
	struct tcp_conn *c;
	uint16_t peer;

	if (i == REMOTE_NIL)
		return;
	peer = m->peer;
	c = &t->conn[peer];
	t->given_up++;
	if (m->begun) {
		m->op = OPERATION_NIL;
		r->operations.op[op].message = OPERATION_NIL;
		m->data.at[0] = NULL;
		return;
	}
	if (c->cursor == i)
		c->cursor = m->next;
	c->end -= remote_stream_size(m);
	unlink_message(r, c, i);
	remote_free_message(r, i);
	tcp_consider(t, peer, now);
}

void tcp_rewind(struct tcp_conn *c)
{
	c->nxt = c->una;
	c->cursor = c->head;
	c->cursor_at = c->head_at;
}

void tcp_release(struct tcp *t, struct tcp_conn *c, mf_time known)
{
	struct remote *r = &t->remote;

	while (c->head != REMOTE_NIL) {
		uint32_t i = c->head;
		struct remote_message *m = &r->message[i];
		uint64_t size = remote_stream_size(m);

		if (c->head_at + size > c->una)
			break;
		if (c->cursor == i) {
			c->cursor = m->next;
			c->cursor_at += size;
		}
		unlink_message(r, c, i);
		c->head_at += size;
		remote_sent(r, m, known);
		remote_free_message(r, i);
	}
	if (c->nxt < c->una)
		tcp_rewind(c);
}

/* Segments */

/** Where in the stream a segment is taken from. */
struct cut {
	uint64_t at; /**< next octet */
	uint32_t message; /**< that it is in, */
	uint64_t message_at; /**< which begins here */
};

/** Octets of the stream from a place on, out of messages that are ready: of data, or void. @return octets */
static uint32_t gather(struct tcp *t, struct cut *from, uint32_t max, mf_time now, uint8_t *out, bool *empty)
{
	struct remote *r = &t->remote;
	uint32_t n = 0;

	*empty = false;
	while (from->message != REMOTE_NIL && n < max) {
		struct remote_message *m = &r->message[from->message];
		uint64_t size = remote_stream_size(m), offset = from->at - from->message_at;
		bool nothing = is_void(m) && offset >= REMOTE_HEADER;
		uint32_t part;

		if (nothing && max > t->mss - TCP_VOID) /* room for the option */
			max = t->mss - TCP_VOID;
		part = size - offset < max - n ? (uint32_t)(size - offset) : max - n;
		if (m->ready > now || (n > 0 && nothing != *empty))
			break;
		if (is_void(m) && !nothing && part > REMOTE_HEADER - offset)
			part = (uint32_t)(REMOTE_HEADER - offset);
		*empty = nothing;
		if (!m->begun)
			remote_begun(r, m, now);
		m->begun = true;
		if (nothing)
			memset(out + n, 0, part);
		else
			remote_put_stream(r, m, offset, part, out + n);
		n += part;
		from->at += part;
		if (offset + part == size) {
			from->message = m->next;
			from->message_at += size;
		} else if (nothing != is_void(m)) {
			break;
		}
	}
	return n;
}

/** Headers of a segment whose data, and option, are where they belong. @return octets of the frame */
static uint16_t finish(struct tcp *t, uint16_t peer, uint64_t seq, uint64_t ack, uint8_t flags,
		       uint32_t option, uint32_t octets, uint8_t *frame)
{
	static const uint8_t void_option[TCP_VOID] = TCP_VOID_OPTION;
	uint16_t self = t->remote.config.node, l4 = (uint16_t)(TCP_HEADER + option + octets);
	struct rte_tcp_hdr h = {.src_port = rte_cpu_to_be_16(TCP_PORT),
				.dst_port = rte_cpu_to_be_16(TCP_PORT),
				.sent_seq = rte_cpu_to_be_32(tcp_isn(self, peer) + (uint32_t)seq),
				.recv_ack = rte_cpu_to_be_32(tcp_isn(peer, self) + (uint32_t)ack),
				.data_off = (uint8_t)((TCP_HEADER + option) / 4 << 4),
				.tcp_flags = flags,
				.rx_win = rte_cpu_to_be_16((uint16_t)(t->window >> t->shift))};
	enum mf_ecn ecn = t->cc->ecn && octets != 0 ? MF_ECN_ECT0 : MF_ECN_NOT;

	mf_packet_ipv4(frame, self, peer, IPPROTO_TCP, 0, ecn, l4);
	memcpy(frame + MF_PACKET_L4, &h, sizeof(h));
	memcpy(frame + TCP_HEADERS, void_option, option);
	h.cksum = rte_ipv4_udptcp_cksum((const void *)(frame + MF_PACKET_IP), frame + MF_PACKET_L4);
	memcpy(frame + MF_PACKET_L4, &h, sizeof(h));
	t->sent++;
	return (uint16_t)(MF_PACKET_L4 + l4);
}

static uint16_t pull_pure(struct tcp *t, uint8_t *frame)
{
	const struct tcp_pure *p = &t->pure[t->pure_head++ & t->pure_mask];

	t->acks++;
	return finish(t, p->peer, t->conn[p->peer].nxt, p->ack,
		      RTE_TCP_ACK_FLAG | (p->echo ? RTE_TCP_ECE_FLAG : 0), 0, 0, frame);
}

/** What is under way since now: its timer, its sample, the octets that went again. */
static void count_sent(struct tcp *t, uint16_t peer, uint64_t from, uint32_t octets, mf_time now)
{
	struct tcp_conn *c = &t->conn[peer];
	uint64_t to = from + octets;

	if (from < c->top)
		t->resent_octets += (to < c->top ? to : c->top) - from;
	if (c->timed_at == MF_NEVER && from >= c->top) { /* never of what goes again: Karn's rule */
		c->timed_at = now;
		c->timed = to;
	}
	if (to > c->top)
		c->top = to;
	c->sent_at = now;
	if (c->rto_at == MF_NEVER)
		c->rto_at = now + c->rto;
	if (!mf_deadlines_has(&t->late, peer))
		mf_deadlines_set(&t->late, peer, c->rto_at);
}

/** RFC 5681, 4.1: after a time without sending the window is the first one again. */
static void restart(const struct tcp *t, struct tcp_conn *c, mf_time now)
{
	if (c->nxt == c->una_known && c->cwnd > t->init_cwnd && now > c->sent_at + c->rto)
		c->cwnd = t->init_cwnd;
}

/** The octets of a segment, behind the room for its headers. @return octets */
static uint32_t take_octets(struct tcp *t, struct tcp_conn *c, uint64_t *at, mf_time now, uint8_t *to,
			    bool *empty)
{
	struct cut from = {c->nxt, c->cursor, c->cursor_at};
	uint64_t to_limit = limit(t, c), room = to_limit > c->nxt ? to_limit - c->nxt : 0;
	uint32_t n;

	if (c->retransmitting) { /* what was lost, by itself */
		from = (struct cut){c->una, c->head, c->head_at};
		room = c->top - c->una;
	}
	*at = from.at;
	n = gather(t, &from, room < t->mss ? (uint32_t)room : t->mss, now, to, empty);
	if (!c->retransmitting || from.at > c->nxt) {
		c->nxt = from.at;
		c->cursor = from.message;
		c->cursor_at = from.message_at;
	}
	c->retransmitting = false;
	return n;
}

static uint16_t pull_data(struct tcp *t, uint16_t peer, mf_time now, uint8_t *frame)
{
	struct tcp_conn *c = &t->conn[peer];
	uint8_t flags = RTE_TCP_ACK_FLAG | (c->echo ? RTE_TCP_ECE_FLAG : 0) | (c->cwr ? RTE_TCP_CWR_FLAG : 0);
	bool empty;
	uint64_t at;
	uint32_t n;

	restart(t, c, now);
	n = take_octets(t, c, &at, now, frame + TCP_HEADERS, &empty);
	mf_deadlines_remove(&t->ready, peer);
	tcp_consider(t, peer, now);
	if (n == 0)
		return 0;
	if (empty) /* all of it is zero, so it need not be moved behind the option */
		memset(frame + TCP_HEADERS + n, 0, TCP_VOID);
	if (c->nxt == c->end)
		flags |= RTE_TCP_PSH_FLAG;
	count_sent(t, peer, at, n, now);
	t->remote.segments_sent++;
	c->cwr = false;
	c->pending = 0;
	mf_deadlines_remove(&t->lazy, peer);
	return finish(t, peer, at, c->rcv_known, flags, empty ? TCP_VOID : 0, n, frame);
}

/** A pure acknowledgement that a segment of data can carry as well. */
static bool rides(const struct tcp *t, const struct tcp_pure *p, mf_time now)
{
	const struct tcp_conn *c = &t->conn[p->peer];

	return !p->duplicate && p->ack == c->rcv_known && p->echo == c->echo &&
	       mf_deadlines_at(&t->ready, p->peer) <= now;
}

uint16_t tcp_pull(struct mf_stack *s, mf_time now, uint8_t *frame)
{
	struct tcp *t = tcp_of(s);
	uint16_t len = 0;
	uint32_t peer;

	tcp_turn(t, now);
	if (t->pure_head != t->pure_tail) {
		const struct tcp_pure *p = &t->pure[t->pure_head & t->pure_mask];

		if (rides(t, p, now))
			len = pull_data(t, p->peer, now, frame);
		if (len == 0)
			return pull_pure(t, frame);
		t->pure_head++;
		return len;
	}
	while (len == 0 && (peer = mf_deadlines_first(&t->ready, now)) != MF_DEADLINES_NIL)
		len = pull_data(t, (uint16_t)peer, now, frame);
	return len;
}
