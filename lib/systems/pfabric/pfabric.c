/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>

#include "base/mf_table.h"
#include "systems/frames/mf_wire_blocks.h"
#include "systems/pfabric/mf_pfabric.h"
#include "systems/pfabric/pfabric.h"

#define ANSWERS 8192 /* acknowledgements that wait for the line; what is lost is sent again */

static const struct mf_param params[] = {
	{"window", MF_PARAM_COUNT, 0, 0, PFABRIC_SPAN, "segments at the start; 0: bandwidth-delay product"},
	{"rto", MF_PARAM_TIME, 0, 0, 1e13, "timeout; 0: three round trips"},
	{"probe_after", MF_PARAM_COUNT, 5, 1, 255, "timeouts in a row, then probes"},
	{0}};

static const struct remote_transport transport = {
	.send = pfabric_send, .give_up = pfabric_give_up, .unordered = true};

/** A full packet to its receiver and its acknowledgement back; 0: wall clock. */
static mf_time round_trip(const struct mf_stack_config *c, mf_time end)
{
	mf_time smallest = 2 * 2 * 2 * (mf_time)(MF_PFABRIC_SMALL_BLOCKS - 1) * c->period;

	if (c->period == 0)
		return MF_US(50);
	/* That is twice what the blocks of config.rtt take, which is right only where links are long. */
	if (c->rtt < smallest)
		smallest /= 2;
	/* Of config.rtt the frames themselves, and the MACs at its ends, are counted anew. */
	return mf_pfabric_rtt((c->rtt - smallest) / 2, end, c->period) - 4 * c->timing.cost[MF_STAGE_MAC];
}

static void take_params(struct pfabric *p, const struct mf_stack_config *c)
{
	mf_time rtt = round_trip(c, p->remote.cost_rx);
	uint32_t period = c->period != 0 ? c->period : 640;
	double bdp = (double)rtt / period / MF_PFABRIC_FULL_BLOCKS;

	p->window = (float)c->param[PFABRIC_WINDOW];
	if (p->window == 0)
		p->window = (float)(uint32_t)(bdp < PFABRIC_SPAN - 1 ? bdp + 1 : PFABRIC_SPAN);
	p->rto = (mf_time)c->param[PFABRIC_RTO];
	if (p->rto == 0)
		p->rto = 3 * rtt;
	p->probe_after = (uint8_t)c->param[PFABRIC_PROBE];
}

static int allocate(struct pfabric *p)
{
	uint32_t messages = p->remote.messages, events = 64;
	uint64_t block = p->remote.config.period, nodes = p->remote.config.nodes;

	while (block != 0 && events < p->turn / (10 * block) + 64)
		events *= 2;
	p->event_mask = events - 1;
	p->answer_mask = ANSWERS - 1;
	p->flow = mf_table_new(messages, sizeof(*p->flow));
	p->peer = mf_table_new(nodes, sizeof(*p->peer));
	p->coming = mf_table_new(PFABRIC_FLOWS * nodes, sizeof(*p->coming));
	p->answer = mf_table_new(ANSWERS, sizeof(*p->answer));
	p->event = mf_table_new(events, sizeof(*p->event));
	if (mf_deadlines_init(&p->waiting, messages) != 0 || mf_deadlines_init(&p->best, messages) != 0 ||
	    mf_deadlines_init(&p->late, messages) != 0)
		return -ENOMEM;
	return p->flow != NULL && p->peer != NULL && p->coming != NULL && p->answer != NULL &&
			       p->event != NULL
		       ? 0
		       : -ENOMEM;
}

static void destroy(struct mf_stack *s)
{
	struct pfabric *p = pfabric_of(s);

	remote_fini(&p->remote);
	mf_deadlines_fini(&p->waiting);
	mf_deadlines_fini(&p->best);
	mf_deadlines_fini(&p->late);
	mf_table_free(p->flow);
	mf_table_free(p->peer);
	mf_table_free(p->coming);
	mf_table_free(p->answer);
	mf_table_free(p->event);
	free(p);
}

static struct mf_stack *create(const struct mf_stack_config *c)
{
	struct pfabric *p = calloc(1, sizeof(*p));
	int err;

	if (p == NULL)
		return NULL;
	err = remote_init(&p->remote, c, PFABRIC_PARAMS, &transport);
	p->turn = p->remote.cost_rx + p->remote.cost_tx;
	take_params(p, c);
	if (err == 0 && allocate(p) == 0)
		return (struct mf_stack *)p;
	destroy((struct mf_stack *)p);
	errno = ENOMEM;
	return NULL;
}

static mf_time ready(const struct mf_stack *s)
{
	const struct pfabric *p = pfabric_const(s);

	if (p->best.count > 0)
		return 0;
	return p->answer_head != p->answer_tail ? p->answer[p->answer_head & p->answer_mask].due : MF_NEVER;
}

static void run(struct mf_stack *s, mf_time now)
{
	pfabric_turn(pfabric_of(s), now);
	remote_expire(remote_of(s), now);
}

static mf_time next(const struct mf_stack *s)
{
	const struct pfabric *p = pfabric_const(s);
	mf_time at = operations_next(&p->remote.operations);

	if (p->event_head != p->event_tail)
		at = mf_time_min(at, p->event[p->event_head & p->event_mask].due);
	return mf_time_min(at, mf_time_min(mf_deadlines_next(&p->waiting), mf_deadlines_next(&p->late)));
}

static unsigned int counters(const struct mf_stack *s, struct mf_counter *out)
{
	const struct pfabric *p = pfabric_const(s);
	const struct mf_counter own[] = {mf_counter_sum("frames_sent", p->sent),
					 mf_counter_sum("frames_received", p->received),
					 mf_counter_sum("acks_sent", p->acks),
					 mf_counter_sum("resent", p->resent),
					 mf_counter_sum("timeouts", p->timeouts),
					 mf_counter_sum("probes", p->probes),
					 mf_counter_sum("given_up", p->given_up),
					 mf_counter_sum("flows_waiting", p->flows_waiting),
					 mf_counter_sum("duplicates", p->duplicates),
					 mf_counter_sum("drop_foreign", p->drop_foreign),
					 mf_counter_sum("drop_checksum", p->drop_checksum),
					 mf_counter_sum("drop_header", p->drop_header),
					 mf_counter_sum("drop_stale", p->drop_stale),
					 mf_counter_sum("drop_acks_waiting", p->drop_answer)};
	unsigned int n = remote_counters(&p->remote, out);

	memcpy(out + n, own, sizeof(own));
	return n + sizeof(own) / sizeof(own[0]);
}

/** A message, and the acknowledgement of each of its segments. */
static void message_blocks(uint64_t octets, double *there, double *back)
{
	uint64_t n = octets > PFABRIC_DATA ? (octets - 1) / PFABRIC_DATA + 1 : 1;

	*there += wire_blocks_of(octets, PFABRIC_DATA, MF_PFABRIC_HEADERS + REMOTE_HEADER);
	*back += (double)n * wire_blocks_frame(MF_PFABRIC_HEADERS);
}

static struct mf_op_blocks blocks(const double *param, uint8_t kind, uint64_t octets)
{
	struct remote_load l = remote_load(kind, octets);
	double there = 0, back = 0;

	(void)param;
	message_blocks(l.there, &there, &back);
	if (l.answers)
		message_blocks(l.back, &back, &there);
	return (struct mf_op_blocks){.cn_up = there, .mn_down = there, .mn_up = back, .cn_down = back};
}

const struct mf_stack_ops stack_pfabric = {.name = "pfabric",
					   .timing = "tcp",
					   .stages = true,
					   .one_switch = true,
					   .bridge = "pfabric",
					   .params = params,
					   .create = create,
					   .destroy = destroy,
					   .submit = remote_submit,
					   .completions = remote_completions,
					   .outstanding = remote_outstanding,
					   .frame = pfabric_frame,
					   .pull = pfabric_pull,
					   .ready = ready,
					   .run = run,
					   .next = next,
					   .counters = counters,
					   .blocks = blocks};
