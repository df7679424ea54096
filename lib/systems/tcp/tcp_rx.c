/* SPDX-License-Identifier: BSD-3-Clause */
/* TCP, receiving: what a segment must be, the stream, and which acknowledgements it causes. */
#include <rte_tcp.h>

#include "systems/tcp/tcp.h"

/** A segment, looked at. */
struct segment {
	const uint8_t *data;
	uint32_t seq, ack, octets;
	uint16_t window;
	uint8_t flags;
	bool empty; /**< its data are void */
};

static bool option_known(const uint8_t *option, uint32_t octets)
{
	static const uint8_t known[TCP_VOID] = TCP_VOID_OPTION;

	return octets == TCP_VOID && memcmp(option, known, sizeof(known)) == 0;
}

/** @return false: it is not a segment of a connection that is there */
static bool parse(const struct mf_packet *p, struct segment *s)
{
	struct rte_tcp_hdr h;
	uint32_t headers;

	if (p->len < TCP_HEADER)
		return false;
	memcpy(&h, p->l4, sizeof(h));
	headers = (uint32_t)(h.data_off >> 4) * 4;
	if (headers < TCP_HEADER || headers > p->len)
		return false;
	if (h.src_port != rte_cpu_to_be_16(TCP_PORT) || h.dst_port != rte_cpu_to_be_16(TCP_PORT))
		return false;
	if ((h.tcp_flags & (RTE_TCP_SYN_FLAG | RTE_TCP_FIN_FLAG | RTE_TCP_RST_FLAG | RTE_TCP_URG_FLAG |
			    RTE_TCP_ACK_FLAG)) != RTE_TCP_ACK_FLAG)
		return false;
	*s = (struct segment){.data = p->l4 + headers,
			      .seq = rte_be_to_cpu_32(h.sent_seq),
			      .ack = rte_be_to_cpu_32(h.recv_ack),
			      .octets = p->len - headers,
			      .window = rte_be_to_cpu_16(h.rx_win),
			      .flags = h.tcp_flags,
			      .empty = headers > TCP_HEADER};
	return headers == TCP_HEADER || option_known(p->l4 + TCP_HEADER, headers - TCP_HEADER);
}

/** Over the segment with its checksum, and the pseudo header (RFC 9293, 3.1), the sum is all ones. */
static bool checksum_right(const uint8_t *frame, const struct mf_packet *p)
{
	uint32_t sum = rte_raw_cksum(p->l4, p->len);

	sum += rte_ipv4_phdr_cksum((const void *)(frame + MF_PACKET_IP), 0);
	return (sum & 0xffff) + (sum >> 16) == 0xffff;
}

/** A place in a stream, of a sequence number that is near to a place. @return false: before its beginning */
static bool place_of(uint64_t near, uint32_t isn, uint32_t seq, uint64_t *place)
{
	int64_t d = (int32_t)(seq - isn - (uint32_t)near);

	*place = near + (uint64_t)d;
	return d >= 0 || (uint64_t)-d <= near;
}

/* Segments behind a gap */

static uint32_t keep_slot(struct tcp *t)
{
	uint32_t i = t->kept_free;

	if (i != REMOTE_NIL)
		t->kept_free = t->kept[i].next;
	else if (t->kept_fresh < t->kept_count)
		i = t->kept_fresh++;
	else
		t->drop_reorder++;
	return i;
}

static void keep(struct tcp *t, struct tcp_conn *c, uint64_t at, const struct segment *s)
{
	uint32_t *link = &c->gap, i;

	while (*link != REMOTE_NIL && t->kept[*link].at < at)
		link = &t->kept[*link].next;
	if (*link != REMOTE_NIL && t->kept[*link].at == at && t->kept[*link].len >= s->octets) {
		t->duplicates++;
		return;
	}
	i = keep_slot(t);
	if (i == REMOTE_NIL)
		return;
	t->kept[i] = (struct tcp_kept){.at = at, .next = *link, .len = (uint16_t)s->octets};
	memcpy(t->kept_octets + (size_t)i * t->kept_size, s->data, s->octets);
	*link = i;
	t->out_of_order++;
}

static void deliver(struct tcp *t, struct tcp_conn *c, uint16_t peer, mf_time at, const uint8_t *data,
		    uint32_t octets)
{
	c->rcv += octets;
	t->stream_octets += octets;
	remote_stream(&t->remote, &c->stream, at, peer, data, octets);
}

/** The gap is filled: what stood behind it follows, up to the next one. */
static void deliver_kept(struct tcp *t, struct tcp_conn *c, uint16_t peer, mf_time at)
{
	while (c->gap != REMOTE_NIL && t->kept[c->gap].at <= c->rcv) {
		uint32_t i = c->gap;
		uint64_t known = c->rcv - t->kept[i].at;

		c->gap = t->kept[i].next;
		if (known < t->kept[i].len)
			deliver(t, c, peer, at, t->kept_octets + (size_t)i * t->kept_size + known,
				t->kept[i].len - (uint32_t)known);
		t->kept[i].next = t->kept_free;
		t->kept_free = i;
	}
}

/** The data of a segment. @return whether its acknowledgement may not wait (RFC 5681, 4.2) */
static bool receive(struct tcp *t, struct tcp_conn *c, uint16_t peer, mf_time at, const struct segment *s)
{
	bool gap = c->gap != REMOTE_NIL;
	uint64_t from, to, skip;

	if (!place_of(c->rcv, tcp_isn(peer, t->remote.config.node), s->seq, &from)) {
		t->duplicates++;
		return true;
	}
	to = from + s->octets;
	if (to <= c->rcv) {
		t->duplicates++;
		return true;
	}
	if (to > c->rcv + t->window || s->octets > t->kept_size) {
		t->drop_window++;
		return true;
	}
	if (from > c->rcv) {
		if (s->empty)
			t->drop_reorder++;
		else
			keep(t, c, from, s);
		return true;
	}
	skip = c->rcv - from;
	deliver(t, c, peer, at, s->empty ? NULL : s->data + skip, s->octets - (uint32_t)skip);
	deliver_kept(t, c, peer, at);
	return gap;
}

static void push_event(struct tcp *t, const struct tcp_event *e)
{
	if (t->event_tail - t->event_head > t->event_mask) /* sized for the line rate: it is not */
		tcp_turn(t, t->event[t->event_head & t->event_mask].due);
	t->event[t->event_tail++ & t->event_mask] = *e;
	if (t->turn == 0)
		tcp_turn(t, e->due);
}

static void segment_in(struct tcp *t, uint16_t peer, mf_time at, bool ce, const struct segment *s)
{
	struct tcp_conn *c = tcp_connection(t, peer);
	struct tcp_event e = {.due = at + t->turn,
			      .window = (uint32_t)s->window << t->shift,
			      .peer = peer,
			      .data = s->octets != 0,
			      .ce = ce,
			      .echo = s->flags & RTE_TCP_ECE_FLAG,
			      .cwr = s->flags & RTE_TCP_CWR_FLAG};

	if (!place_of(c->una, tcp_isn(t->remote.config.node, peer), s->ack, &e.ack) || e.ack > c->top) {
		t->drop_ack++;
		return;
	}
	t->received++;
	if (e.ack > c->una) {
		c->una = e.ack;
		tcp_release(t, c, at + t->remote.cost_rx);
	}
	if (e.data)
		e.at_once = receive(t, c, peer, at, s);
	e.rcv = c->rcv;
	push_event(t, &e);
}

bool tcp_frame(struct mf_stack *s, mf_time at, const uint8_t *frame, uint16_t len)
{
	struct tcp *t = tcp_of(s);
	struct segment segment;
	struct mf_packet p;

	if (len < MF_PACKET_L4 || frame[12] != RTE_ETHER_TYPE_IPV4 >> 8 ||
	    frame[13] != (RTE_ETHER_TYPE_IPV4 & 0xff))
		return false;
	if (!mf_packet_parse(frame, len, &p))
		t->drop_header++;
	else if (p.protocol != IPPROTO_TCP)
		return false;
	else if (p.dst != t->remote.config.node || p.src >= t->remote.config.nodes || p.src == p.dst)
		t->drop_foreign++;
	else if (p.len < TCP_HEADER)
		t->drop_header++;
	else if (!checksum_right(frame, &p))
		t->drop_checksum++;
	else if (!parse(&p, &segment))
		t->drop_header++;
	else
		segment_in(t, p.src, at, p.ecn == MF_ECN_CE, &segment);
	return true;
}

/* Acknowledgements */

static void push_pure(struct tcp *t, const struct tcp_conn *c, uint16_t peer, bool duplicate)
{
	if (t->pure_tail - t->pure_head > t->pure_mask) {
		t->drop_pure++;
		return;
	}
	t->pure[t->pure_tail++ & t->pure_mask] =
		(struct tcp_pure){.ack = c->rcv_known, .peer = peer, .echo = c->echo, .duplicate = duplicate};
}

static void acknowledge(struct tcp *t, struct tcp_conn *c, uint16_t peer, bool duplicate)
{
	push_pure(t, c, peer, duplicate);
	c->pending = 0;
	mf_deadlines_remove(&t->lazy, peer);
}

/** What the echo says from this segment on. */
static void echo(struct tcp *t, struct tcp_conn *c, const struct tcp_event *e)
{
	if (!t->cc->echo_each) {
		c->echo = (c->echo && !e->cwr) || e->ce; /* RFC 3168, 6.1.3 */
	} else if (c->echo != e->ce) { /* DCTCP: those before this one are told apart */
		if (c->pending != 0)
			acknowledge(t, c, e->peer, false);
		c->echo = e->ce;
	}
}

void tcp_acknowledge(struct tcp *t, struct tcp_conn *c, const struct tcp_event *e)
{
	if (!e->data)
		return;
	echo(t, c, e);
	c->rcv_known = e->rcv;
	c->pending++;
	if (e->at_once || c->pending >= t->ack_every || t->ack_delay == 0)
		acknowledge(t, c, e->peer, e->at_once);
	else if (!mf_deadlines_has(&t->lazy, e->peer))
		mf_deadlines_set(&t->lazy, e->peer, e->due + t->ack_delay);
}

void tcp_acknowledge_late(struct tcp *t, uint16_t peer)
{
	acknowledge(t, &t->conn[peer], peer, false);
}
