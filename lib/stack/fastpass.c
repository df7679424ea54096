/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fastpass (Perry et al., SIGCOMM 2014): a node sends in timeslots that a central arbiter gives it, so
 * nothing queues in the switch.
 *
 *      message ready --> REQUEST (slots that all messages to a node together need) --> arbiter
 *      slot comes   <-- ALLOCATION (slots, each for a node) <-------------------------- arbiter
 *      in the slot: frames to its node, as many as fit
 *
 * What is asked for is told as a sum since the beginning, so a request that comes twice asks once (the
 * paper's FCP). Request frames are acknowledged in order, at most REQUESTS of them are under way, and those
 * that are not acknowledged in time are sent again. Of an allocation that is lost the arbiter gets no
 * acknowledgement and gives others. A slot that comes too late is used at once. The clock is common.
 *
 * Their switch has no queues, so data are lost to errors of lines only. In the paper TCP sends them again;
 * here an operation that is not answered in time is begun again as a whole (again.h), and each has an answer.
 */
#include <errno.h>
#include <stdlib.h>

#include "again.h"
#include "fastpass_arbiter.h"
#include "mf_table.h"
#include "remote.h"
#include "stacks.h"
#include "wire_blocks.h"

#define NIL UINT16_MAX
#define REQUESTS 8 /* frames that wait for their acknowledgement */
#define ACK_FRAMES 16 /* allocation frames that are acknowledged at once */
#define SLOTS 256 /* that are known ahead */
#define SLOT_WORDS (SLOTS / 64)

enum { MTU, BATCH, LEAD, ACK_DELAY, TIMEOUT, RTO_MIN, PARAMS };

static const struct mf_param params[] = {
	{"mtu", MF_PARAM_SIZE, 1500, 100, 8986, "IP packet of a timeslot (an MTU-sized packet)"},
	{"batch", MF_PARAM_COUNT, 15, 1, FASTPASS_BATCH_MAX,
	 "records of a control frame (FCP); 1: one a frame"},
	{"lead", MF_PARAM_TIME, 0, 0, 1e9, "from allocation to slot at least; 0: what the idle way takes"},
	{"ack_delay", MF_PARAM_TIME, 5e6, 0, 1e9, "after which an allocation is acknowledged by itself"},
	{"timeout", MF_PARAM_TIME, 1e8, 1e6, 1e12, "of requests and allocations without acknowledgement"},
	{"rto_min", MF_PARAM_TIME, 1e9, 1e6, 1e12, "after which an operation without an answer goes again"},
	{0}};

/** By destination. */
struct peer {
	uint32_t head, tail; /**< messages */
	uint64_t queued; /**< octets of their frames on the wire */
	uint32_t owed; /**< slots that were asked for and have not come */
	uint32_t asked; /**< of all time */
	uint16_t next; /**< among those with something to ask for */
	bool asks;
};

struct request {
	uint8_t n;
	uint16_t node[FASTPASS_BATCH_MAX];
};

struct fastpass {
	struct remote remote;
	struct again again;
	struct arbiter *arbiter; /**< NULL: this is a node like others */
	uint16_t server;
	unsigned int batch;
	uint32_t payload; /**< most of a segment, its header included */
	uint64_t slot_octets; /**< on the wire */
	mf_time slot, ack_delay, timeout;
	uint32_t coming_head, coming_tail; /**< messages that are not ready, by their time */
	struct peer *peer;
	/* requests */
	uint16_t ask, last_ask; /**< peers */
	uint32_t asks;
	uint16_t sequence, acked;
	mf_time again_at; /**< when what is not acknowledged is sent again */
	struct request request[REQUESTS];
	/* allocations */
	bool any; /**< one has come */
	uint16_t latest;
	uint32_t before; /**< which of those before it have come, too */
	mf_time ack_at;
	unsigned int unacked; /**< allocation frames */
	uint64_t set[SLOT_WORDS]; /**< slots that are ours, by slot % SLOTS */
	uint16_t node[SLOTS];
	uint64_t low; /**< no slot before it */
	uint32_t slots; /**< in set */
	uint16_t active; /**< to whom the slot under way is; NIL */
	uint64_t room; /**< octets that are left of it */
	uint64_t requests_sent, acks_sent, sent_again, slots_come, late, wasted, drop_slot;
};

static struct fastpass *of(struct mf_stack *s)
{
	return (struct fastpass *)s;
}

static const struct fastpass *of_const(const struct mf_stack *s)
{
	return (const struct fastpass *)s;
}

/* Messages */

static uint64_t frame_octets(uint32_t segment)
{
	return (uint64_t)(wire_blocks_frame(FASTPASS_HEADERS + segment) * 8);
}

/** Octets on the wire of what a message still has to send. */
static uint64_t message_octets(const struct fastpass *f, const struct remote_message *m)
{
	uint32_t most = f->payload - REMOTE_HEADER, rest = m->len - m->sent, full = rest / most;
	uint64_t octets = full * frame_octets(f->payload);

	return rest % most != 0 || full == 0 ? octets + frame_octets(REMOTE_HEADER + rest % most) : octets;
}

/** Into the list of those that are not ready, by their time; nearly always at its end. */
static void fastpass_send(struct remote *r, uint32_t m, mf_time now)
{
	struct fastpass *f = (struct fastpass *)r;
	struct remote_message *all = r->message;
	uint32_t before = f->coming_tail;

	(void)now;
	if (all[m].op != OPERATION_NIL && !all[m].again)
		again_new(&f->again, all[m].op);
	while (before != REMOTE_NIL && all[before].ready > all[m].ready)
		before = all[before].prev;
	all[m].prev = before;
	all[m].next = before != REMOTE_NIL ? all[before].next : f->coming_head;
	if (all[m].next == REMOTE_NIL)
		f->coming_tail = m;
	else
		all[all[m].next].prev = m;
	if (before == REMOTE_NIL)
		f->coming_head = m;
	else
		all[before].next = m;
}

static void leave_coming(struct fastpass *f, uint32_t m)
{
	struct remote_message *all = f->remote.message;

	if (all[m].prev == REMOTE_NIL)
		f->coming_head = all[m].next;
	else
		all[all[m].prev].next = all[m].next;
	if (all[m].next == REMOTE_NIL)
		f->coming_tail = all[m].prev;
	else
		all[all[m].next].prev = all[m].prev;
}

static void must_ask(struct fastpass *f, uint16_t node)
{
	struct peer *p = &f->peer[node];

	if (p->asks)
		return;
	p->asks = true;
	if (f->asks++ == 0)
		f->ask = node;
	else
		f->peer[f->last_ask].next = node;
	f->last_ask = node;
}

/** Whether more slots are needed than were asked for. Not while one is under way, which may have room. */
static void need(struct fastpass *f, uint16_t node)
{
	struct peer *p = &f->peer[node];
	uint32_t slots = (uint32_t)((p->queued + f->slot_octets - 1) / f->slot_octets);

	if (f->active == node || slots <= p->owed)
		return;
	p->asked += slots - p->owed;
	p->owed = slots;
	must_ask(f, node);
}

/** What is ready by now stands in line. */
static void settle(struct fastpass *f, mf_time now)
{
	struct remote_message *all = f->remote.message;
	uint32_t m;

	while ((m = f->coming_head) != REMOTE_NIL && all[m].ready <= now) {
		struct peer *p = &f->peer[all[m].peer];

		leave_coming(f, m);
		all[m].next = REMOTE_NIL;
		all[m].prev = p->tail;
		if (p->tail == REMOTE_NIL)
			p->head = m;
		else
			all[p->tail].next = m;
		p->tail = m;
		all[m].first = 1; /* it stands in line */
		p->queued += message_octets(f, &all[m]);
		need(f, all[m].peer);
	}
}

static void leave_line(struct fastpass *f, uint32_t m)
{
	struct remote_message *all = f->remote.message;
	struct peer *p = &f->peer[all[m].peer];

	if (all[m].prev == REMOTE_NIL)
		p->head = all[m].next;
	else
		all[all[m].prev].next = all[m].next;
	if (all[m].next == REMOTE_NIL)
		p->tail = all[m].prev;
	else
		all[all[m].next].prev = all[m].prev;
}

/** Of its messages none is sent any more. Those of an operation go to its node, or have not begun. */
static void fastpass_give_up(struct remote *r, uint32_t op, mf_time now)
{
	struct fastpass *f = (struct fastpass *)r;
	struct peer *p = &f->peer[r->operations.op[op].c.node];
	uint32_t m, next;

	(void)now;
	again_over(&f->again, op, MF_NEVER);
	for (m = f->coming_head; m != REMOTE_NIL; m = next) {
		next = r->message[m].next;
		if (r->message[m].op != op)
			continue;
		leave_coming(f, m);
		remote_free_message(r, m);
	}
	for (m = p->head; m != REMOTE_NIL; m = next) {
		next = r->message[m].next;
		if (r->message[m].op != op)
			continue;
		p->queued -= message_octets(f, &r->message[m]);
		leave_line(f, m);
		remote_free_message(r, m);
	}
}

static const struct remote_transport transport = {
	.send = fastpass_send, .give_up = fastpass_give_up, .repeats = true};

/* Slots */

static void add_slot(struct fastpass *f, uint64_t slot, uint16_t node)
{
	uint64_t end = f->low + SLOTS;

	while (slot < end && (f->set[slot % SLOTS / 64] >> slot % 64 & 1))
		slot++;
	if (slot >= end || slot < f->low) {
		f->drop_slot++;
		return;
	}
	f->set[slot % SLOTS / 64] |= UINT64_C(1) << slot % 64;
	f->node[slot % SLOTS] = node;
	f->slots++;
}

/** The first that there is; there must be one. */
static uint64_t first_slot(const struct fastpass *f)
{
	uint64_t slot = f->low;

	while (true) {
		uint64_t bits = f->set[slot % SLOTS / 64] >> slot % 64;

		if (bits != 0)
			return slot + (unsigned int)__builtin_ctzll(bits);
		slot += 64 - slot % 64;
	}
}

/** Slots before now's that are not used cannot come any more. */
static void move_low(struct fastpass *f, mf_time now)
{
	uint64_t slot = now / f->slot;

	if (f->slots != 0) {
		uint64_t first = first_slot(f);

		slot = slot < first ? slot : first;
	}
	if (slot > f->low)
		f->low = slot;
}

/** The slot of this time, or one that was missed, begins. @return false: there is none */
static bool activate(struct fastpass *f, mf_time now)
{
	struct peer *p;
	uint64_t slot;

	if (f->slots == 0)
		return false;
	slot = first_slot(f);
	if (slot * f->slot > now)
		return false;
	f->low = slot;
	f->set[slot % SLOTS / 64] &= ~(UINT64_C(1) << slot % 64);
	f->slots--;
	f->late += slot < now / f->slot;
	f->active = f->node[slot % SLOTS];
	f->room = f->slot_octets;
	p = &f->peer[f->active];
	p->owed -= p->owed != 0;
	f->wasted += p->head == REMOTE_NIL;
	return true;
}

static uint32_t next_segment(const struct fastpass *f, const struct peer *p)
{
	const struct remote_message *m = &f->remote.message[p->head];

	return remote_segment_size(m, m->sent, f->payload);
}

/** The slot is over where the next frame does not fit. */
static void end_slot(struct fastpass *f)
{
	uint16_t node = f->active;
	const struct peer *p = &f->peer[node];

	if (p->head != REMOTE_NIL && frame_octets(next_segment(f, p)) <= f->room)
		return;
	f->active = NIL;
	need(f, node);
}

static uint16_t put_data(struct fastpass *f, mf_time now, uint8_t *frame)
{
	struct remote *r = &f->remote;
	struct peer *p = &f->peer[f->active];
	uint32_t i = p->head, segment = next_segment(f, p), octets = segment - REMOTE_HEADER;
	struct remote_message *m = &r->message[i];
	uint16_t len;

	if (!m->begun)
		remote_begun(r, m, now);
	m->begun = true;
	remote_put_segment(r, m, m->sent, octets, frame + FASTPASS_HEADERS);
	len = fastpass_seal(frame, r->config.node, m->peer, FASTPASS_CLASS_DATA, FASTPASS_DATA,
			    (uint16_t)segment);
	m->sent += octets;
	p->queued -= frame_octets(segment);
	f->room -= frame_octets(segment);
	if (m->sent == m->len) {
		leave_line(f, i);
		if (m->op != OPERATION_NIL)
			again_sent(&f->again, m->op, now);
		remote_free_message(r, i);
	}
	end_slot(f);
	return len;
}

/* Control */

static bool may_ask(const struct fastpass *f)
{
	return f->asks != 0 && (uint16_t)(f->sequence - f->acked) < REQUESTS;
}

/** @return how many records */
static unsigned int put_demands(struct fastpass *f, mf_time now, uint8_t *out)
{
	struct request *q = &f->request[f->sequence % REQUESTS];
	unsigned int n = 0;

	if (!may_ask(f))
		return 0;
	for (; n < f->batch && f->asks != 0; n++) {
		struct peer *p = &f->peer[f->ask];
		struct fastpass_demand d = {.node = rte_cpu_to_be_16(f->ask),
					    .slots = rte_cpu_to_be_32(p->asked)};

		memcpy(out + n * sizeof(d), &d, sizeof(d));
		q->node[n] = f->ask;
		p->asks = false;
		f->ask = p->next;
		f->asks--;
	}
	q->n = (uint8_t)n;
	if (f->again_at == MF_NEVER)
		f->again_at = now + f->timeout;
	f->requests_sent++;
	return n;
}

static uint16_t put_control(struct fastpass *f, mf_time now, uint8_t *frame)
{
	struct fastpass_control c = {.kind = FASTPASS_REQUEST,
				     .sequence = rte_cpu_to_be_16(f->sequence),
				     .ack = rte_cpu_to_be_16((uint16_t)(f->any ? f->latest : -1)),
				     .word = rte_cpu_to_be_32(f->before)};
	unsigned int n = put_demands(f, now, frame + FASTPASS_HEADERS + sizeof(c));

	c.records = (uint8_t)n;
	f->sequence += n != 0;
	f->acks_sent += n == 0;
	f->ack_at = MF_NEVER;
	f->unacked = 0;
	memcpy(frame + FASTPASS_HEADERS, &c, sizeof(c));
	return fastpass_seal(frame, f->remote.config.node, f->server, FASTPASS_CLASS_CONTROL,
			     FASTPASS_CONTROL, (uint16_t)(sizeof(c) + n * sizeof(struct fastpass_demand)));
}

static void ask_again(struct fastpass *f, mf_time now)
{
	if (f->acked == f->sequence) {
		f->again_at = MF_NEVER;
		return;
	}
	for (; f->sequence != f->acked; f->sequence--) {
		const struct request *q = &f->request[(uint16_t)(f->sequence - 1) % REQUESTS];

		for (unsigned int i = 0; i < q->n; i++)
			must_ask(f, q->node[i]);
		f->sent_again++;
	}
	f->again_at = now + f->timeout;
}

static void take_ack(struct fastpass *f, uint16_t ack, mf_time at)
{
	uint16_t gone = (uint16_t)(ack - f->acked);

	if (gone == 0 || gone > (uint16_t)(f->sequence - f->acked))
		return;
	f->acked = ack;
	f->again_at = f->acked == f->sequence ? MF_NEVER : at + f->timeout;
}

/** @return false: it came before */
static bool is_new(struct fastpass *f, uint16_t sequence)
{
	int16_t ahead = (int16_t)(sequence - f->latest);

	if (!f->any) {
		f->before = 0;
	} else if (ahead > 0) {
		f->before = ahead < 32 ? f->before << ahead : 0;
		f->before |= ahead <= 32 ? UINT32_C(1) << (ahead - 1) : 0;
	} else if (ahead == 0 || ahead < -32 || (f->before >> (-ahead - 1) & 1)) {
		return false;
	} else {
		f->before |= UINT32_C(1) << (-ahead - 1);
		return true;
	}
	f->any = true;
	f->latest = sequence;
	return true;
}

/** Numbers of slots have 32 bits there: the one next to now's is meant. */
static uint64_t whole_slot(const struct fastpass *f, uint32_t slot, mf_time at)
{
	uint64_t now = at / f->slot;

	return now + (uint64_t)(int64_t)(int32_t)(slot - (uint32_t)now);
}

static bool take_allocation(struct fastpass *f, mf_time at, const struct fastpass_frame *frame)
{
	struct fastpass_control c;
	struct fastpass_slot s;

	if (frame->len < sizeof(c) || frame->src != f->server)
		return false;
	memcpy(&c, frame->payload, sizeof(c));
	if (c.kind != FASTPASS_ALLOCATION || c.records > FASTPASS_BATCH_MAX ||
	    frame->len < sizeof(c) + c.records * sizeof(s))
		return false;
	take_ack(f, rte_be_to_cpu_16(c.ack), at);
	if (c.records == 0 || !is_new(f, rte_be_to_cpu_16(c.sequence)))
		return true;
	move_low(f, at);
	f->ack_at = ++f->unacked >= ACK_FRAMES ? at : mf_time_min(f->ack_at, at + f->ack_delay);
	for (unsigned int i = 0; i < c.records; i++) {
		uint64_t slot, least = f->low;

		memcpy(&s, frame->payload + sizeof(c) + i * sizeof(s), sizeof(s));
		slot = whole_slot(f, rte_be_to_cpu_32(c.word), at) + rte_be_to_cpu_16(s.offset);
		f->slots_come++;
		if (rte_be_to_cpu_16(s.node) >= f->remote.config.nodes)
			return false;
		add_slot(f, slot > least && slot < UINT64_MAX / 2 ? slot : least, rte_be_to_cpu_16(s.node));
	}
	return true;
}

/* Data */

/** Of a response the next octets: what is behind a gap comes again with all the rest, what came is there. */
static bool is_next(const struct fastpass *f, uint32_t op, const struct remote_header *h)
{
	return h->kind != REMOTE_RESPONSE || rte_be_to_cpu_32(h->offset) == f->remote.operations.op[op].moved;
}

static void take_data(struct fastpass *f, mf_time at, const struct fastpass_frame *in)
{
	struct remote *r = &f->remote;
	struct remote_header h = {0};
	uint32_t op = OPERATION_NIL;

	if (in->len >= sizeof(h)) {
		memcpy(&h, in->payload, sizeof(h));
		if (h.kind >= REMOTE_RESPONSE)
			op = operations_find(&r->operations, in->src, rte_be_to_cpu_16(h.id));
	}
	if (op != OPERATION_NIL && !is_next(f, op, &h)) {
		r->drop_order++;
		return;
	}
	if (op != OPERATION_NIL && h.kind != REMOTE_RESPONSE)
		again_over(&f->again, op, at);
	remote_segment(r, at, in->src, in->payload, in->len);
	if (op == OPERATION_NIL || h.kind != REMOTE_RESPONSE)
		return;
	if (r->operations.op[op].busy)
		again_goes_on(&f->again, op, at);
	else if (again_over(&f->again, op, at))
		fastpass_give_up(r, op, at); /* what was to be sent once more */
}

static void begin_again(struct fastpass *f, mf_time now)
{
	uint32_t op;

	while ((op = again_expired(&f->again, now)) != AGAIN_NIL)
		remote_again(&f->remote, op, now);
}

/* The stack */

static bool fastpass_frame_in(struct mf_stack *s, mf_time at, const uint8_t *frame, uint16_t len)
{
	struct fastpass *f = of(s);
	struct remote *r = &f->remote;
	struct fastpass_frame in;
	bool good;

	switch (fastpass_parse(frame, len, r->config.node, &in)) {
	case FASTPASS_NOT:
		return false;
	case FASTPASS_BAD:
		r->drop_bad++;
		return true;
	default:
		break;
	}
	if (in.port == FASTPASS_DATA) {
		take_data(f, at, &in);
		return true;
	}
	good = f->arbiter != NULL ? arbiter_request(f->arbiter, at + r->cost_rx + r->cost_tx, &in)
				  : take_allocation(f, at, &in);
	r->drop_bad += !good;
	return true;
}

static uint16_t fastpass_pull(struct mf_stack *s, mf_time now, uint8_t *frame)
{
	struct fastpass *f = of(s);

	if (f->arbiter != NULL)
		return arbiter_pull(f->arbiter, now, frame);
	settle(f, now);
	if (may_ask(f) || f->ack_at <= now)
		return put_control(f, now, frame);
	while (f->active != NIL || activate(f, now)) {
		if (f->peer[f->active].head != REMOTE_NIL)
			return put_data(f, now, frame);
		end_slot(f);
	}
	return 0;
}

static mf_time fastpass_ready(const struct mf_stack *s)
{
	const struct fastpass *f = of_const(s);
	mf_time ready = f->ack_at;

	if (f->arbiter != NULL)
		return arbiter_ready(f->arbiter);
	if (may_ask(f) || f->active != NIL)
		return 0;
	if (f->slots != 0)
		ready = mf_time_min(ready, first_slot(f) * f->slot);
	return f->coming_head != REMOTE_NIL ? mf_time_min(ready, f->remote.message[f->coming_head].ready)
					    : ready;
}

static void fastpass_run(struct mf_stack *s, mf_time now)
{
	struct fastpass *f = of(s);

	remote_expire(&f->remote, now);
	if (f->arbiter != NULL) {
		arbiter_run(f->arbiter, now);
		return;
	}
	begin_again(f, now);
	settle(f, now);
	if (f->again_at <= now)
		ask_again(f, now);
}

static mf_time fastpass_next(const struct mf_stack *s)
{
	const struct fastpass *f = of_const(s);
	mf_time next = mf_time_min(operations_next(&f->remote.operations), f->again_at);

	next = mf_time_min(next, again_next(&f->again));

	return f->arbiter != NULL ? mf_time_min(next, arbiter_next(f->arbiter)) : next;
}

static unsigned int fastpass_counters(const struct mf_stack *s, struct mf_counter *out)
{
	const struct fastpass *f = of_const(s);
	const struct mf_counter own[] = {{"requests", f->requests_sent},
					 {"acks", f->acks_sent},
					 {"requests_again", f->sent_again},
					 {"slots", f->slots_come},
					 {"slots_late", f->late},
					 {"slots_wasted", f->wasted},
					 {"drop_slot", f->drop_slot},
					 {"operations_again", f->again.count},
					 {"drop_order", f->remote.drop_order}};
	unsigned int n = remote_counters(&f->remote, out);

	memcpy(out + n, own, sizeof(own));
	n += sizeof(own) / sizeof(own[0]);
	return n + arbiter_counters(f->arbiter, out + n);
}

static void fastpass_destroy(struct mf_stack *s)
{
	struct fastpass *f = of(s);

	if (f->arbiter != NULL)
		arbiter_free(f->arbiter);
	remote_fini(&f->remote);
	again_fini(&f->again);
	mf_table_free(f->peer);
	free(f);
}

/** Half of the idle round trip, a frame of the MTU at the port, and at both the stages of a stack. */
static mf_time idle_lead(const struct fastpass *f)
{
	const struct remote *r = &f->remote;

	return r->config.rtt / 2 + 2 * f->slot + r->cost_tx + r->cost_rx;
}

static int make_arbiter(struct fastpass *f, const struct mf_stack_config *c)
{
	const struct arbiter_config a = {
		.node = c->node,
		.nodes = c->nodes,
		.batch = f->batch,
		.slot = f->slot,
		.lead = c->param[LEAD] != 0 ? (mf_time)c->param[LEAD] : idle_lead(f),
		.frame = (mf_time)(wire_blocks_frame(MF_FRAME_MIN) * c->period),
		.timeout = (mf_time)c->param[TIMEOUT],
	};

	if (c->server != c->node)
		return 0;
	f->arbiter = arbiter_new(&a);
	return f->arbiter != NULL ? 0 : -ENOMEM;
}

static struct mf_stack *fastpass_create(const struct mf_stack_config *c)
{
	struct fastpass *f = c->server >= 0 ? calloc(1, sizeof(*f)) : NULL;

	if (f == NULL) {
		errno = c->server >= 0 ? ENOMEM : EINVAL;
		return NULL;
	}
	f->server = (uint16_t)c->server;
	f->batch = (unsigned int)c->param[BATCH];
	f->payload = (uint32_t)c->param[MTU] - FASTPASS_OVERHEAD;
	f->slot_octets = frame_octets(f->payload);
	f->slot = (f->slot_octets * c->slowest + 7) / 8;
	f->ack_delay = (mf_time)c->param[ACK_DELAY];
	f->timeout = (mf_time)c->param[TIMEOUT];
	f->coming_head = f->coming_tail = REMOTE_NIL;
	f->again_at = f->ack_at = MF_NEVER;
	f->active = NIL;
	f->peer = mf_table_new(c->nodes, sizeof(*f->peer));
	if (f->peer != NULL && remote_init(&f->remote, c, PARAMS, &transport) == 0 &&
	    again_init(&f->again, c->queue, (mf_time)c->param[RTO_MIN]) == 0 && make_arbiter(f, c) == 0) {
		for (unsigned int i = 0; i < c->nodes; i++)
			f->peer[i].head = f->peer[i].tail = REMOTE_NIL;
		return (struct mf_stack *)f;
	}
	fastpass_destroy((struct mf_stack *)f);
	errno = ENOMEM;
	return NULL;
}

/** A request frame up and an allocation frame down for each message, more for long ones. */
static double control_blocks(const double *param, uint64_t octets)
{
	double slots = (double)octets / (param[MTU] - FASTPASS_OVERHEAD - REMOTE_HEADER);
	double frames = slots / param[BATCH];

	return wire_blocks_frame(MF_FRAME_MIN) * (frames > 1 ? frames : 1);
}

static double data_blocks(const double *param, uint64_t octets)
{
	uint32_t payload = (uint32_t)param[MTU] - FASTPASS_OVERHEAD;

	return wire_blocks_of(octets, payload - REMOTE_HEADER, FASTPASS_HEADERS + REMOTE_HEADER);
}

static struct mf_op_blocks fastpass_blocks(const double *param, uint8_t kind, uint64_t octets)
{
	struct remote_load l = remote_load(kind, octets);
	double request = wire_blocks_frame(MF_FRAME_MIN), there = data_blocks(param, l.there);
	double back = data_blocks(param, l.back);

	/* Writes of either kind are answered, too. */
	return (struct mf_op_blocks){.cn_up = there + request,
				     .cn_down = control_blocks(param, l.there) + back,
				     .mn_up = back + request,
				     .mn_down = control_blocks(param, l.back) + there};
}

const struct mf_stack_ops stack_fastpass = {.name = "fastpass",
					    .timing = "ethernet",
					    .server = "arbiter",
					    .bridge = "fifo",
					    .params = params,
					    .create = fastpass_create,
					    .destroy = fastpass_destroy,
					    .submit = remote_submit,
					    .completions = remote_completions,
					    .outstanding = remote_outstanding,
					    .frame = fastpass_frame_in,
					    .pull = fastpass_pull,
					    .ready = fastpass_ready,
					    .run = fastpass_run,
					    .next = fastpass_next,
					    .counters = fastpass_counters,
					    .blocks = fastpass_blocks};
