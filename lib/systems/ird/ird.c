/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>

#include "systems/ird/ird.h"
#include "systems/frames/mf_wire_blocks.h"
#include "systems/ird/mf_ird.h"

enum { IRD_MTU, IRD_WINDOW, IRD_OVERCOMMIT, IRD_RETRANSMIT, IRD_PARAMS };

static const struct mf_param params[] = {
	{"mtu", MF_PARAM_SIZE, 1500, 128, 8986, "longest IP packet"},
	{"window", MF_PARAM_SIZE, 0, 0, 1 << 26,
	 "octets credited of a message; 0: bandwidth times round trip, and a packet"},
	{"overcommit", MF_PARAM_COUNT, 1, 1, 64,
	 "windows that a receiver may have credited in all (Homa, SIGCOMM 2018, 3.5)"},
	{"again", MF_PARAM_LINE_TIME, 1e9, 1e6, 1e12, "what was credited and did not come is credited again"},
	{0}};

static const struct remote_transport transport = {.send = ird_send, .give_up = ird_give_up};

static struct ird *ird_of(struct mf_stack *s)
{
	return (struct ird *)s;
}

static const struct ird *ird_const(const struct mf_stack *s)
{
	return (const struct ird *)s;
}

static int ird_submit(struct mf_stack *s, mf_time now, const struct mf_op *op)
{
	ird_learn(ird_of(s), now);
	return remote_submit(s, now, op);
}

static bool ird_frame(struct mf_stack *s, mf_time at, const uint8_t *frame, uint16_t len)
{
	struct ird *d = ird_of(s);
	struct ird_frame f;

	if (!ird_parse(frame, len, &f))
		return false;
	ird_learn(d, at);
	if (f.dst != d->remote.config.node || f.src >= d->remote.config.nodes || f.src == f.dst)
		d->drop_frame++;
	else if (f.h.kind == IRD_DATA)
		ird_data(d, at, &f);
	else if (f.h.kind == IRD_CREDIT)
		ird_credited(d, at, &f);
	else if (f.h.kind == IRD_ACK)
		ird_acknowledged(d, at, &f);
	else
		d->drop_frame++;
	return true;
}

/** When the first message without data may go; MF_NEVER: there is none. */
static mf_time control_at(const struct ird *d)
{
	return d->control.first != IRD_NIL ? d->remote.message[d->control.first].ready : MF_NEVER;
}

static uint16_t ird_pull(struct mf_stack *s, mf_time now, uint8_t *frame)
{
	struct ird *d = ird_of(s);

	ird_learn(d, now);
	ird_ripen(d, now);
	ird_board_ripen(d->board, d->remote.config.node, now);
	if (ird_ack_at(d) <= now)
		return ird_pull_ack(d, frame);
	if (ird_credit_at(d) <= now)
		return ird_pull_credit(d, now, frame);
	if (control_at(d) <= now)
		return ird_pull_control(d, frame);
	return d->credited != IRD_NIL ? ird_pull_data(d, now, frame) : 0;
}

static mf_time ird_ready(const struct mf_stack *s)
{
	const struct ird *d = ird_const(s);
	mf_time ready = mf_time_min(ird_credit_at(d), ird_ack_at(d));

	if (d->credited != IRD_NIL)
		return 0;
	if (d->soon.first != IRD_NIL)
		ready = mf_time_min(ready, d->remote.message[d->soon.first].due);
	return mf_time_min(ready, control_at(d));
}

static void ird_run(struct mf_stack *s, mf_time now)
{
	struct ird *d = ird_of(s);

	ird_board_ripen(d->board, d->remote.config.node, now);
	while (ird_retransmit_at(d) <= now)
		ird_board_retransmit(d->board, d->own->oldest, now);
	remote_expire(&d->remote, now);
}

static mf_time ird_next(const struct mf_stack *s)
{
	const struct ird *d = ird_const(s);
	mf_time next = mf_time_min(operations_next(&d->remote.operations), ird_retransmit_at(d));

	return mf_time_min(next, d->own->ripens);
}

static unsigned int ird_counters(const struct mf_stack *s, struct mf_counter *out)
{
	const struct ird *d = ird_const(s);
	unsigned int n = remote_counters(&d->remote, out);

	out[n++] = mf_counter_sum("credits_sent", d->credits_sent);
	out[n++] = mf_counter_sum("credits_received", d->credits_received);
	out[n++] = mf_counter_sum("resent", d->resent);
	out[n++] = mf_counter_sum("drop_duplicate", d->drop_duplicate);
	out[n++] = mf_counter_sum("drop_gap", d->drop_gap);
	out[n++] = mf_counter_sum("drop_frame", d->drop_frame);
	out[n++] = mf_counter_sum("drop_acknowledgement", d->drop_ack);
	return n;
}

static void ird_destroy(struct mf_stack *s)
{
	struct ird *d = ird_of(s);

	remote_fini(&d->remote);
	free(d->ack);
	free(d);
}

#define BLOCK_OCTETS 8

static void set_limits(struct ird *d, const struct mf_stack_config *c)
{
	double frame = wire_blocks_frame(IRD_HEADERS + REMOTE_HEADER + d->mtu);

	d->window = (uint32_t)c->param[IRD_WINDOW];
	if (d->window == 0)
		d->window = (uint32_t)((double)c->rtt / c->period * BLOCK_OCTETS + frame * BLOCK_OCTETS);
	d->limit = (uint64_t)d->window * (uint64_t)c->param[IRD_OVERCOMMIT];
	d->retransmit = (mf_time)c->param[IRD_RETRANSMIT];
	d->mac = c->timing.cost[MF_STAGE_MAC];
	d->period = c->period;
}

static struct mf_stack *ird_create(const struct mf_stack_config *c)
{
	struct ird *d = calloc(1, sizeof(*d));

	if (d == NULL)
		return NULL;
	d->board = c->shared;
	d->own = &d->board->node[c->node];
	d->mtu = (uint32_t)c->param[IRD_MTU] - (IRD_HEADERS - MF_PACKET_IP) - REMOTE_HEADER;
	d->credited = d->soon.first = d->control.first = IRD_NIL;
	d->acks = OPERATION_IDS * c->nodes;
	d->ack = malloc(d->acks * sizeof(*d->ack));
	set_limits(d, c);
	if (remote_init(&d->remote, c, IRD_PARAMS, &transport) == 0 && d->ack != NULL) {
		d->board->delay = d->remote.cost_tx;
		d->heap = (struct mf_heap){(uint8_t *)&d->remote.message[0].link, sizeof(*d->remote.message)};
		return (struct mf_stack *)d;
	}
	ird_destroy((struct mf_stack *)d);
	errno = ENOMEM;
	return NULL;
}

static double data_blocks(const double *param, uint64_t octets)
{
	uint32_t headers = IRD_HEADERS + REMOTE_HEADER;
	uint32_t max = (uint32_t)param[IRD_MTU] + MF_PACKET_IP - headers;

	return wire_blocks_of(octets, max, headers);
}

/** Frames of credits for so much. */
static double credit_blocks(const double *param, uint64_t octets)
{
	uint32_t max = (uint32_t)param[IRD_MTU] + MF_PACKET_IP - IRD_HEADERS - REMOTE_HEADER;

	return (double)((octets + max - 1) / max) * wire_blocks_frame(IRD_HEADERS);
}

static struct mf_op_blocks ird_blocks(const double *param, uint8_t kind, uint64_t octets)
{
	struct remote_load l = remote_load(kind, octets);
	double there = data_blocks(param, l.there) + credit_blocks(param, l.back);
	double back = credit_blocks(param, l.there);

	if (l.answers)
		back += data_blocks(param, l.back);
	if (kind == MF_OP_WRITE)
		back += wire_blocks_frame(IRD_HEADERS);
	return (struct mf_op_blocks){.cn_up = there, .mn_down = there, .mn_up = back, .cn_down = back};
}

const struct mf_stack_ops stack_ird = {.name = "ird",
				       .timing = "rocev2",
				       .one_switch = true,
				       .bridge = "fifo",
				       .params = params,
				       .share = ird_board_new,
				       .unshare = ird_board_free,
				       .woken = ird_board_woken,
				       .create = ird_create,
				       .destroy = ird_destroy,
				       .submit = ird_submit,
				       .completions = remote_completions,
				       .outstanding = remote_outstanding,
				       .frame = ird_frame,
				       .pull = ird_pull,
				       .ready = ird_ready,
				       .run = ird_run,
				       .next = ird_next,
				       .counters = ird_counters,
				       .blocks = ird_blocks};
