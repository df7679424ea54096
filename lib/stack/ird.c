/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * IRD, the idealised receiver-driven transport of EDM 4.3: it "notifies each receiver of new flows in zero
 * time", with SRPT scheduling (from Homa, pHost, NDP) and credits at the rate of the link (from ExpressPass).
 *
 *      sender                 board (ird_board.h)               receiver
 *        | message ------------ known at once ------------------> |  least octets left first,
 *        | <------------------- CREDIT for one packet ----------- |  at the pace of its link,
 *        | DATA ------------------------------------------------> |  at most a window under way
 *
 * Credits and data are frames that pay for their blocks. A sender that two receivers ask has one link: what
 * it cannot send at once waits, the least octets left first, and its receiver's link stays idle meanwhile,
 * since nobody coordinates the receivers. That is what EDM's scheduler in the switch is to be compared with.
 *
 * Messages without data (requests, acknowledgements) go without credit. A write is acknowledged by a frame;
 * that all others have come is known to their sender by the board. What is lost is credited again.
 */
#include <errno.h>
#include <stdlib.h>

#include <rte_byteorder.h>
#include <rte_udp.h>

#include "ird_board.h"
#include "mf_packet.h"
#include "remote.h"
#include "stacks.h"
#include "wire_blocks.h"

#define NIL MF_HEAP_NIL
#define UDP_PORT 49153 /* of the dynamic ports (RFC 6335) */
#define CONTROL_CLASS 7
#define DATA_CLASS 0

enum ird_kind { IRD_DATA = 1, IRD_CREDIT, IRD_ACK };

/** Behind the UDP header; of DATA a segment follows. Big-endian. */
struct ird_header {
	uint8_t kind; /**< enum ird_kind */
	uint8_t reserved;
	uint16_t generation; /**< of the demand */
	uint32_t number; /**< of the demand */
	uint32_t offset; /**< CREDIT: what it is for */
	uint32_t octets;
};
static_assert(sizeof(struct ird_header) == 16, "on the wire");

#define UDP_AT MF_PACKET_L4
#define IRD_AT (UDP_AT + (unsigned int)sizeof(struct rte_udp_hdr))
#define SEGMENT_AT (IRD_AT + (unsigned int)sizeof(struct ird_header))

enum { IRD_MTU, IRD_WINDOW, IRD_OVERCOMMIT, IRD_AGAIN, IRD_PARAMS };

static const struct mf_param params[] = {
	{"mtu", MF_PARAM_SIZE, 1500, 128, 8986, "longest IP packet"},
	{"window", MF_PARAM_SIZE, 0, 0, 1 << 26,
	 "octets credited of a message; 0: bandwidth times round trip, and a packet"},
	{"overcommit", MF_PARAM_COUNT, 1, 1, 64,
	 "windows that a receiver may have credited in all (Homa, SIGCOMM 2018, 3.5)"},
	{"again", MF_PARAM_TIME, 1e9, 1e6, 1e12, "what was credited and did not come is credited again"},
	{0}};

/** A frame without data that waits: credits are made when they go. */
struct ird_ack {
	mf_time ready;
	uint32_t number; /**< of the demand */
	uint16_t generation;
	uint16_t to;
};

struct ird {
	struct remote remote;
	struct ird_board *board;
	uint32_t mtu; /**< octets of data in a packet */
	uint32_t window;
	uint64_t limit; /**< octets credited in all */
	mf_time again, mac;
	uint32_t period;
	struct mf_heap heap; /**< of messages */
	uint32_t credited; /**< messages that may send: the least left first */
	uint32_t soon,
		soonest; /**< messages whose credit has come and is not through the MAC yet: last, first */
	uint32_t control, controls; /**< messages without data: first, last */
	struct ird_ack *ack; /**< ring of as many as there can be writes towards this node */
	uint32_t acks, ack_head, ack_tail;
	uint32_t *of_op; /**< [queue] message of an operation, plus one */
	uint64_t credits_sent, credits_received, resent, drop_duplicate, drop_gap, drop_frame, drop_ack;
};

/*
 * Of a remote_message: sent is how far it has been given out, acked how far it is credited, due when the last
 * credit is through the MAC, first its demand, extra what follows.
 */
enum { LISTED = 1, SOON = 2, ENDED = 4 };

static struct ird *ird_of(struct mf_stack *s)
{
	return (struct ird *)s;
}

static const struct ird *ird_const(const struct mf_stack *s)
{
	return (const struct ird *)s;
}

/** Where nobody can come across it any more. */
static void try_free(struct ird *d, uint32_t m)
{
	if (d->remote.message[m].extra == ENDED)
		remote_free_message(&d->remote, m);
}

/** Nothing more of a message with data is to be sent. */
static void end(struct ird *d, uint32_t m)
{
	struct remote_message *msg = &d->remote.message[m];

	if (msg->op != OPERATION_NIL)
		d->of_op[msg->op] = 0;
	msg->extra |= ENDED;
	ird_board_end(d->board, msg->first);
	try_free(d, m);
}

/* What a sender does */

static void append(struct ird *d, uint32_t *first, uint32_t *last, uint32_t m)
{
	d->remote.message[m].next = NIL;
	if (*first == NIL)
		*first = m;
	else
		d->remote.message[*last].next = m;
	*last = m;
}

static void ird_send(struct remote *r, uint32_t m, mf_time now)
{
	struct ird *d = (struct ird *)r;
	struct remote_message *msg = &r->message[m];

	(void)now;
	if (msg->len == 0) {
		append(d, &d->control, &d->controls, m);
		return;
	}
	if (msg->op != OPERATION_NIL)
		d->of_op[msg->op] = m + 1;
	msg->first = ird_board_put(d->board, r->config.node, m, msg->peer, msg->len, msg->ready);
}

static void ird_give_up(struct remote *r, uint32_t op, mf_time now)
{
	struct ird *d = (struct ird *)r;

	(void)now;
	if (d->of_op[op] != 0)
		end(d, d->of_op[op] - 1);
}

static const struct remote_transport transport = {.send = ird_send, .give_up = ird_give_up};

/** A credit: so much of a message may go, when the credit is through the MAC. */
static void credited(struct ird *d, mf_time at, const struct ird_demand *demand, const struct ird_header *h)
{
	struct remote_message *m = &d->remote.message[demand->message];

	d->credits_received++;
	if (h->offset > m->len || h->octets > m->len - h->offset) {
		d->drop_frame++;
		return;
	}
	if (h->offset < m->sent) { /* it was lost */
		m->sent = h->offset;
		d->resent++;
	}
	if (h->offset + h->octets > m->acked)
		m->acked = h->offset + h->octets;
	m->due = at + 2 * d->mac;
	if (m->extra & (SOON | LISTED))
		return;
	m->extra |= SOON;
	append(d, &d->soonest, &d->soon, demand->message);
}

/** Messages whose credits are through the MAC may send. */
static void ripen(struct ird *d, mf_time now)
{
	while (d->soonest != NIL && d->remote.message[d->soonest].due <= now) {
		uint32_t i = d->soonest;
		struct remote_message *m = &d->remote.message[i];

		d->soonest = m->next;
		m->extra &= ~(uint32_t)SOON;
		if (m->extra & ENDED) {
			try_free(d, i);
			continue;
		}
		m->extra |= LISTED;
		mf_heap_push(&d->heap, &d->credited, i,
			     ird_rank(&d->board->demand[m->first], m->len - m->sent));
	}
}

/** The message that sends next; NIL: none may. */
static uint32_t first_credited(struct ird *d)
{
	while (d->credited != NIL) {
		uint32_t i = d->credited;
		struct remote_message *m = &d->remote.message[i];

		if (!(m->extra & ENDED) && m->sent < m->acked)
			return i;
		mf_heap_pop(&d->heap, &d->credited);
		m->extra &= ~(uint32_t)LISTED;
		try_free(d, i);
	}
	return NIL;
}

/* Frames */

static uint16_t put_headers(const struct ird *d, uint8_t *frame, uint16_t to, uint8_t class,
			    const struct ird_header *h, uint32_t segment)
{
	uint16_t octets = (uint16_t)(SEGMENT_AT - UDP_AT + segment);
	struct rte_udp_hdr udp = {.src_port = rte_cpu_to_be_16(UDP_PORT),
				  .dst_port = rte_cpu_to_be_16(UDP_PORT),
				  .dgram_len = rte_cpu_to_be_16(octets)}; /* no checksum: 0 */
	struct ird_header wire = {.kind = h->kind,
				  .generation = rte_cpu_to_be_16(h->generation),
				  .number = rte_cpu_to_be_32(h->number),
				  .offset = rte_cpu_to_be_32(h->offset),
				  .octets = rte_cpu_to_be_32(h->octets)};

	mf_packet_ipv4(frame, d->remote.config.node, to, IPPROTO_UDP, class, MF_ECN_NOT, octets);
	memcpy(frame + UDP_AT, &udp, sizeof(udp));
	memcpy(frame + IRD_AT, &wire, sizeof(wire));
	return (uint16_t)(SEGMENT_AT + segment);
}

static uint16_t pull_ack(struct ird *d, uint8_t *frame)
{
	const struct ird_ack *a = &d->ack[d->ack_head++ % d->acks];

	return put_headers(
		d, frame, a->to, CONTROL_CLASS,
		&(struct ird_header){.kind = IRD_ACK, .number = a->number, .generation = a->generation}, 0);
}

/** A message without data: all of it. */
static uint16_t pull_control(struct ird *d, uint8_t *frame)
{
	struct remote *r = &d->remote;
	uint32_t i = d->control;
	struct remote_message *m = &r->message[i];
	uint32_t segment = remote_put_segment(r, m, 0, 0, frame + SEGMENT_AT);
	uint16_t len = put_headers(d, frame, m->peer, CONTROL_CLASS, &(struct ird_header){.kind = IRD_DATA},
				   segment);

	d->control = m->next;
	remote_free_message(r, i);
	return len;
}

static uint16_t pull_data(struct ird *d, mf_time now, uint32_t i, uint8_t *frame)
{
	struct remote *r = &d->remote;
	struct remote_message *m = &r->message[i];
	const struct ird_demand *demand = &d->board->demand[m->first];
	uint32_t rest = m->acked - m->sent, octets = rest < d->mtu ? rest : d->mtu, offset = m->sent;

	remote_begun(r, m, now);
	remote_put_segment(r, m, offset, octets, frame + SEGMENT_AT);
	m->sent += octets;
	return put_headers(d, frame, m->peer, DATA_CLASS,
			   &(struct ird_header){.kind = IRD_DATA,
						.generation = demand->generation,
						.number = m->first,
						.offset = offset,
						.octets = octets},
			   REMOTE_HEADER + octets);
}

/* What a receiver does */

/** Octets of the next credit of a demand. */
static uint32_t packet_of(const struct ird *d, const struct ird_demand *demand)
{
	uint32_t rest = demand->len - demand->credited;

	return rest < d->mtu ? rest : d->mtu;
}

/** When the next credit may be given; MF_NEVER: nobody asks, or a window is under way. */
static mf_time credit_at(const struct ird *d)
{
	const struct ird_receiver *r = &d->board->receiver[d->remote.config.node];

	if (r->waiting == NIL || r->outstanding >= d->limit)
		return MF_NEVER;
	return r->next;
}

static uint16_t pull_credit(struct ird *d, mf_time now, uint8_t *frame)
{
	uint16_t node = d->remote.config.node;
	struct ird_receiver *r = &d->board->receiver[node];
	uint32_t i = ird_board_first(d->board, node), octets;
	struct ird_demand *demand;
	struct ird_header h;
	double blocks;

	if (i == NIL)
		return 0;
	demand = &d->board->demand[i];
	octets = packet_of(d, demand);
	h = (struct ird_header){.kind = IRD_CREDIT,
				.generation = demand->generation,
				.number = i,
				.offset = demand->credited,
				.octets = octets};
	blocks = wire_blocks_frame(SEGMENT_AT + REMOTE_HEADER + octets);
	r->next = mf_time_max(r->next, now) + (mf_time)(blocks * d->period);
	ird_board_credit(d->board, i, octets, d->window, now);
	d->credits_sent++;
	return put_headers(d, frame, demand->from, CONTROL_CLASS, &h, 0);
}

static void acknowledge(struct ird *d, mf_time at, const struct ird_demand *demand, uint32_t number)
{
	if (d->ack_tail - d->ack_head == d->acks) {
		d->drop_ack++;
		return;
	}
	d->ack[d->ack_tail++ % d->acks] = (struct ird_ack){.ready = at + 2 * d->mac,
							   .number = number,
							   .generation = demand->generation,
							   .to = demand->from};
}

/** All of a message has come: its sender knows at once; of a write, when it is told. */
static void whole(struct ird *d, mf_time at, const struct ird_demand *demand, uint32_t number, bool write)
{
	struct ird *from = ird_of(d->board->stack[demand->from]);

	if (write)
		acknowledge(d, at, demand, number);
	else
		end(from, demand->message);
}

static void data(struct ird *d, mf_time at, uint16_t from, const struct ird_header *h, const uint8_t *segment,
		 uint32_t len)
{
	struct remote *r = &d->remote;
	struct ird_demand *demand;
	bool write = len > 0 && segment[0] == REMOTE_WRITE;

	if (h->octets == 0) {
		remote_segment(r, at, from, segment, len);
		return;
	}
	demand = ird_board_find(d->board, h->number, h->generation, from, r->config.node);
	if (demand == NULL || h->offset < demand->received) {
		d->drop_duplicate++;
	} else if (h->offset > demand->received) {
		d->drop_gap++;
	} else if (h->octets > demand->credited - demand->received || len < REMOTE_HEADER + h->octets ||
		   !remote_segment(r, at, from, segment, len)) {
		d->drop_frame++;
	} else if (ird_board_came(d->board, h->number, h->octets, at)) {
		whole(d, at, demand, h->number, write);
	}
}

/** A write has come. */
static void acknowledged(struct ird *d, mf_time at, uint16_t from, const struct ird_header *h)
{
	struct remote *r = &d->remote;
	const struct ird_demand *demand = h->number < d->board->fresh ? &d->board->demand[h->number] : NULL;
	uint32_t m = demand != NULL ? demand->message : 0;

	if (demand == NULL || demand->generation != h->generation || demand->from != r->config.node ||
	    demand->to != from || demand->state != IRD_CAME) {
		d->drop_duplicate++;
		return;
	}
	remote_sent(r, &r->message[m], at + r->cost_rx);
	end(d, m);
}

static bool ird_frame(struct mf_stack *s, mf_time at, const uint8_t *frame, uint16_t len)
{
	struct ird *d = ird_of(s);
	struct rte_udp_hdr udp;
	struct mf_packet p;
	struct ird_header h;
	uint32_t octets;

	if (!mf_packet_parse(frame, len, &p) || p.protocol != IPPROTO_UDP || p.len < sizeof(udp) + sizeof(h))
		return false;
	memcpy(&udp, p.l4, sizeof(udp));
	if (udp.dst_port != rte_cpu_to_be_16(UDP_PORT))
		return false;
	memcpy(&h, frame + IRD_AT, sizeof(h));
	h.generation = rte_be_to_cpu_16(h.generation);
	h.number = rte_be_to_cpu_32(h.number);
	h.offset = rte_be_to_cpu_32(h.offset);
	h.octets = rte_be_to_cpu_32(h.octets);
	octets = p.len - (uint32_t)(SEGMENT_AT - UDP_AT);
	if (p.dst != d->remote.config.node || p.src >= d->remote.config.nodes || p.src == p.dst) {
		d->drop_frame++;
	} else if (h.kind == IRD_DATA) {
		data(d, at, p.src, &h, frame + SEGMENT_AT, octets);
	} else if (h.kind == IRD_CREDIT) {
		struct ird_demand *demand = ird_board_find(d->board, h.number, h.generation, p.dst, p.src);

		if (demand != NULL)
			credited(d, at, demand, &h);
		else
			d->drop_duplicate++;
	} else if (h.kind == IRD_ACK) {
		acknowledged(d, at, p.src, &h);
	} else {
		d->drop_frame++;
	}
	return true;
}

static uint16_t ird_pull(struct mf_stack *s, mf_time now, uint8_t *frame)
{
	struct ird *d = ird_of(s);
	uint16_t len = 0;
	uint32_t i;

	ripen(d, now);
	ird_board_ripen(d->board, d->remote.config.node, now);
	if (d->ack_head != d->ack_tail && d->ack[d->ack_head % d->acks].ready <= now)
		return pull_ack(d, frame);
	if (credit_at(d) <= now)
		len = pull_credit(d, now, frame);
	if (len != 0)
		return len;
	if (d->control != NIL && d->remote.message[d->control].ready <= now)
		return pull_control(d, frame);
	i = first_credited(d);
	return i != NIL ? pull_data(d, now, i, frame) : 0;
}

static mf_time ird_ready(const struct mf_stack *s)
{
	const struct ird *d = ird_const(s);
	mf_time ready = credit_at(d);

	if (d->credited != NIL)
		return 0;
	if (d->ack_head != d->ack_tail)
		ready = mf_time_min(ready, d->ack[d->ack_head % d->acks].ready);
	if (d->control != NIL)
		ready = mf_time_min(ready, d->remote.message[d->control].ready);
	if (d->soonest != NIL)
		ready = mf_time_min(ready, d->remote.message[d->soonest].due);
	return ready;
}

/** When the oldest credit is given again. */
static mf_time again_at(const struct ird *d)
{
	uint32_t oldest = d->board->receiver[d->remote.config.node].oldest;

	return oldest != NIL ? d->board->demand[oldest].credited_at + d->again : MF_NEVER;
}

static void ird_run(struct mf_stack *s, mf_time now)
{
	struct ird *d = ird_of(s);

	ird_board_ripen(d->board, d->remote.config.node, now);
	while (again_at(d) <= now)
		ird_board_again(d->board, d->board->receiver[d->remote.config.node].oldest, now);
	remote_expire(&d->remote, now);
}

static mf_time ird_next(const struct mf_stack *s)
{
	const struct ird *d = ird_const(s);
	mf_time next = mf_time_min(operations_next(&d->remote.operations), again_at(d));

	return mf_time_min(next, ird_board_ripens(d->board, d->remote.config.node));
}

static unsigned int ird_counters(const struct mf_stack *s, struct mf_counter *out)
{
	const struct ird *d = ird_const(s);
	unsigned int n = remote_counters(&d->remote, out);

	out[n++] = (struct mf_counter){"credits_sent", d->credits_sent};
	out[n++] = (struct mf_counter){"credits_received", d->credits_received};
	out[n++] = (struct mf_counter){"resent", d->resent};
	out[n++] = (struct mf_counter){"drop_duplicate", d->drop_duplicate};
	out[n++] = (struct mf_counter){"drop_gap", d->drop_gap};
	out[n++] = (struct mf_counter){"drop_frame", d->drop_frame};
	out[n++] = (struct mf_counter){"drop_acknowledgement", d->drop_ack};
	return n;
}

static void ird_destroy(struct mf_stack *s)
{
	struct ird *d = ird_of(s);

	remote_fini(&d->remote);
	free(d->ack);
	free(d->of_op);
	free(d);
}

#define BLOCK_OCTETS 8

static void set_limits(struct ird *d, const struct mf_stack_config *c)
{
	double frame = wire_blocks_frame(SEGMENT_AT + REMOTE_HEADER + d->mtu);

	d->window = (uint32_t)c->param[IRD_WINDOW];
	if (d->window == 0)
		d->window = (uint32_t)((double)c->rtt / c->period * BLOCK_OCTETS + frame * BLOCK_OCTETS);
	d->limit = (uint64_t)d->window * (uint64_t)c->param[IRD_OVERCOMMIT];
	d->again = (mf_time)c->param[IRD_AGAIN];
	d->mac = c->timing.cost[MF_STAGE_MAC];
	d->period = c->period;
}

static struct mf_stack *ird_create(const struct mf_stack_config *c)
{
	struct ird *d = calloc(1, sizeof(*d));

	if (d == NULL)
		return NULL;
	d->board = c->shared;
	d->board->stack[c->node] = (struct mf_stack *)d;
	d->mtu = (uint32_t)c->param[IRD_MTU] - (SEGMENT_AT - MF_PACKET_IP) - REMOTE_HEADER;
	d->credited = d->soonest = d->control = NIL;
	d->acks = OPERATION_IDS * c->nodes;
	d->ack = malloc(d->acks * sizeof(*d->ack));
	d->of_op = calloc(c->queue, sizeof(*d->of_op));
	set_limits(d, c);
	if (remote_init(&d->remote, c, IRD_PARAMS, &transport) == 0 && d->ack != NULL && d->of_op != NULL) {
		d->heap = (struct mf_heap){(uint8_t *)&d->remote.message[0].link, sizeof(*d->remote.message)};
		return (struct mf_stack *)d;
	}
	ird_destroy((struct mf_stack *)d);
	errno = ENOMEM;
	return NULL;
}

static double data_blocks(const double *param, uint64_t octets)
{
	uint32_t headers = SEGMENT_AT + REMOTE_HEADER;
	uint32_t max = (uint32_t)param[IRD_MTU] + MF_PACKET_IP - headers;

	return wire_blocks_of(octets, max, headers);
}

/** Frames of credits for so much. */
static double credit_blocks(const double *param, uint64_t octets)
{
	uint32_t max = (uint32_t)param[IRD_MTU] + MF_PACKET_IP - SEGMENT_AT - REMOTE_HEADER;

	return (double)((octets + max - 1) / max) * wire_blocks_frame(SEGMENT_AT);
}

static struct mf_op_blocks ird_blocks(const double *param, uint8_t kind, uint64_t octets)
{
	struct remote_load l = remote_load(kind, octets);
	double there = data_blocks(param, l.there) + credit_blocks(param, l.back);
	double back = credit_blocks(param, l.there);

	if (l.answers)
		back += data_blocks(param, l.back);
	if (kind == MF_OP_WRITE)
		back += wire_blocks_frame(SEGMENT_AT);
	return (struct mf_op_blocks){.cn_up = there, .mn_down = there, .mn_up = back, .cn_down = back};
}

const struct mf_stack_ops stack_ird = {.name = "ird",
				       .timing = "rocev2",
				       .bridge = "fifo",
				       .params = params,
				       .share = ird_board_new,
				       .unshare = ird_board_free,
				       .woken = ird_board_woken,
				       .create = ird_create,
				       .destroy = ird_destroy,
				       .submit = remote_submit,
				       .completions = remote_completions,
				       .outstanding = remote_outstanding,
				       .frame = ird_frame,
				       .pull = ird_pull,
				       .ready = ird_ready,
				       .run = ird_run,
				       .next = ird_next,
				       .counters = ird_counters,
				       .blocks = ird_blocks};
