/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>

#include "systems/fastpass/fastpass.h"
#include "base/mf_table.h"
#include "systems/fastpass/mf_fastpass.h"

enum { MTU, BATCH, LEAD, ACK_DELAY, TIMEOUT, RTO_MIN, PARAMS };

static const struct mf_param params[] = {
	{"mtu", MF_PARAM_SIZE, 1500, 100, 8986, "IP packet of a timeslot (an MTU-sized packet)"},
	{"batch", MF_PARAM_COUNT, 15, 1, FASTPASS_BATCH_MAX,
	 "records of a control frame (FCP); 1: one a frame"},
	{"lead", MF_PARAM_TIME, 0, 0, 1e9, "from allocation to slot at least; 0: what the idle way takes"},
	{"ack_delay", MF_PARAM_LINE_TIME, 5e6, 0, 1e9, "after which an allocation is acknowledged by itself"},
	{"timeout", MF_PARAM_LINE_TIME, 1e8, 1e6, 1e12,
	 "of requests and allocations without acknowledgement"},
	{"rto_min", MF_PARAM_LINE_TIME, 1e9, 1e6, 1e12,
	 "after which an operation without an answer goes again"},
	{0}};

static struct fastpass *of(struct mf_stack *s)
{
	return (struct fastpass *)s;
}

static const struct fastpass *of_const(const struct mf_stack *s)
{
	return (const struct fastpass *)s;
}

static const struct remote_transport transport = {
	.send = fastpass_send, .give_up = fastpass_give_up, .repeats = true};

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
		retransmit_over(&f->retransmit, op, at);
	remote_segment(r, at, in->src, in->payload, in->len);
	if (op == OPERATION_NIL || h.kind != REMOTE_RESPONSE)
		return;
	if (r->operations.op[op].busy)
		retransmit_goes_on(&f->retransmit, op, at);
	else if (retransmit_over(&f->retransmit, op, at))
		fastpass_give_up(r, op, at); /* what was to be sent once more */
}

static void begin_retransmits(struct fastpass *f, mf_time now)
{
	uint32_t op;

	while ((op = retransmit_expired(&f->retransmit, now)) != RETRANSMIT_NIL)
		remote_retransmit(&f->remote, op, now);
}

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
				  : fastpass_take_allocation(f, at, &in);
	r->drop_bad += !good;
	return true;
}

static uint16_t fastpass_pull(struct mf_stack *s, mf_time now, uint8_t *frame)
{
	struct fastpass *f = of(s);

	if (f->arbiter != NULL)
		return arbiter_pull(f->arbiter, now, frame);
	fastpass_settle(f, now);
	if (fastpass_may_ask(f) || f->ack_at <= now)
		return fastpass_put_control(f, now, frame);
	while (f->active != FASTPASS_NIL || fastpass_activate(f, now)) {
		if (f->peer[f->active].head != REMOTE_NIL)
			return fastpass_put_data(f, now, frame);
		fastpass_end_slot(f);
	}
	return 0;
}

static mf_time fastpass_ready(const struct mf_stack *s)
{
	const struct fastpass *f = of_const(s);
	mf_time ready = f->ack_at;

	if (f->arbiter != NULL)
		return arbiter_ready(f->arbiter);
	if (fastpass_may_ask(f) || f->active != FASTPASS_NIL)
		return 0;
	if (f->slots != 0)
		ready = mf_time_min(ready, fastpass_first_slot(f) * f->slot);
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
	begin_retransmits(f, now);
	fastpass_settle(f, now);
	if (f->retransmit_at <= now)
		fastpass_retransmit(f, now);
}

static mf_time fastpass_next(const struct mf_stack *s)
{
	const struct fastpass *f = of_const(s);
	mf_time next = mf_time_min(operations_next(&f->remote.operations), f->retransmit_at);

	next = mf_time_min(next, retransmit_next(&f->retransmit));
	return f->arbiter != NULL ? mf_time_min(next, arbiter_next(f->arbiter)) : next;
}

static unsigned int fastpass_counters(const struct mf_stack *s, struct mf_counter *out)
{
	const struct fastpass *f = of_const(s);
	const struct mf_counter own[] = {mf_counter_sum("requests", f->requests_sent),
					 mf_counter_sum("acks", f->acks_sent),
					 mf_counter_sum("requests_again", f->retransmitted),
					 mf_counter_sum("slots", f->slots_come),
					 mf_counter_sum("slots_late", f->late),
					 mf_counter_sum("slots_wasted", f->wasted),
					 mf_counter_sum("drop_slot", f->drop_slot),
					 mf_counter_sum("operations_again", f->retransmit.count),
					 mf_counter_sum("drop_order", f->remote.drop_order)};
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
	retransmit_fini(&f->retransmit);
	remote_fini(&f->remote);
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
	f->slot_octets = fastpass_frame_octets(f->payload);
	f->slot = (f->slot_octets * c->slowest + 7) / 8;
	f->ack_delay = (mf_time)c->param[ACK_DELAY];
	f->timeout = (mf_time)c->param[TIMEOUT];
	f->coming_head = f->coming_tail = REMOTE_NIL;
	f->retransmit_at = f->ack_at = MF_NEVER;
	f->active = FASTPASS_NIL;
	f->peer = mf_table_new(c->nodes, sizeof(*f->peer));
	if (f->peer != NULL && remote_init(&f->remote, c, PARAMS, &transport) == 0 &&
	    retransmit_init(&f->retransmit, c->queue, (mf_time)c->param[RTO_MIN]) == 0 &&
	    make_arbiter(f, c) == 0) {
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
					    .one_switch = true,
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
