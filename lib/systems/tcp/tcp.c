/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>

#include "base/mf_rng.h"
#include "base/mf_table.h"
#include "systems/frames/mf_wire_blocks.h"
#include "systems/tcp/tcp.h"

#define PURE 4096 /* acknowledgements that wait for the line; what comes then is said by those behind it */
#define SMALLEST 10 /* blocks of a frame with its gap, at least */

uint32_t tcp_isn(uint16_t from, uint16_t to)
{
	return (uint32_t)mf_hash64((uint64_t)from << 16 | to);
}

struct tcp_conn *tcp_connection(struct tcp *t, uint16_t peer)
{
	struct tcp_conn *c = &t->conn[peer];

	if (c->up)
		return c;
	*c = (struct tcp_conn){.head = REMOTE_NIL,
			       .tail = REMOTE_NIL,
			       .cursor = REMOTE_NIL,
			       .gap = REMOTE_NIL,
			       .cwnd = t->init_cwnd,
			       .ssthresh = UINT32_MAX,
			       .window = t->window,
			       .timed_at = MF_NEVER,
			       .rto = t->rto_init,
			       .rto_at = MF_NEVER,
			       .up = true};
	t->cc->init(t, c);
	return c;
}

static const struct remote_transport transport = {.send = tcp_send, .give_up = tcp_give_up};

static void take_params(struct tcp *t, const double *param)
{
	t->mss = (uint32_t)param[TCP_MSS];
	t->window = (uint32_t)param[TCP_WINDOW];
	while (t->window >> t->shift > UINT16_MAX)
		t->shift++;
	t->window = t->window >> t->shift << t->shift;
	t->init_cwnd = (uint32_t)param[TCP_INIT_CWND] * t->mss;
	t->ack_every = (uint32_t)param[TCP_ACK_EVERY];
	t->ack_delay = (mf_time)param[TCP_ACK_DELAY];
	t->rto_init = (mf_time)param[TCP_RTO_INIT];
	t->rto_min = (mf_time)param[TCP_RTO_MIN];
	t->rto_max = mf_time_max((mf_time)param[TCP_RTO_MAX], t->rto_min);
	t->kept_count = (uint32_t)param[TCP_REORDER];
	t->kept_size = (t->mss + 63) / 64 * 64;
	t->kept_free = REMOTE_NIL;
}

/** Frames that can come in while one is in the stack, at the rate of the line; a power of two. */
static uint32_t events_of(const struct tcp *t)
{
	uint64_t n = 64, frames = t->remote.config.period != 0
					  ? t->turn / ((uint64_t)SMALLEST * t->remote.config.period)
					  : 0;

	while (n < frames + 64)
		n *= 2;
	return (uint32_t)n;
}

static int allocate(struct tcp *t)
{
	uint32_t nodes = t->remote.config.nodes, events = events_of(t);

	t->event_mask = events - 1;
	t->pure_mask = PURE - 1;
	t->conn = mf_table_new(nodes, sizeof(*t->conn));
	t->event = mf_table_new(events, sizeof(*t->event));
	t->pure = mf_table_new(PURE, sizeof(*t->pure));
	t->kept = mf_table_new(t->kept_count, sizeof(*t->kept));
	t->kept_octets = mf_table_new(t->kept_count, t->kept_size);
	if (mf_deadlines_init(&t->ready, nodes) != 0 || mf_deadlines_init(&t->late, nodes) != 0 ||
	    mf_deadlines_init(&t->lazy, nodes) != 0)
		return -ENOMEM;
	return t->conn != NULL && t->event != NULL && t->pure != NULL && t->kept != NULL &&
			       t->kept_octets != NULL
		       ? 0
		       : -ENOMEM;
}

struct mf_stack *tcp_create(const struct mf_stack_config *c, const struct tcp_cc_ops *cc, unsigned int params)
{
	struct tcp *t = calloc(1, sizeof(*t));
	int err;

	if (t == NULL)
		return NULL;
	t->cc = cc;
	take_params(t, c->param);
	err = remote_init(&t->remote, c, params, &transport);
	t->turn = t->remote.cost_rx + t->remote.cost_tx;
	if (err == 0 && allocate(t) == 0)
		return (struct mf_stack *)t;
	tcp_destroy((struct mf_stack *)t);
	errno = ENOMEM;
	return NULL;
}

void tcp_destroy(struct mf_stack *s)
{
	struct tcp *t = tcp_of(s);

	remote_fini(&t->remote);
	mf_deadlines_fini(&t->ready);
	mf_deadlines_fini(&t->late);
	mf_deadlines_fini(&t->lazy);
	mf_table_free(t->conn);
	mf_table_free(t->event);
	mf_table_free(t->pure);
	mf_table_free(t->kept);
	mf_table_free(t->kept_octets);
	free(t);
}

void tcp_turn(struct tcp *t, mf_time now)
{
	uint32_t peer;

	while (t->event_head != t->event_tail && t->event[t->event_head & t->event_mask].due <= now) {
		const struct tcp_event *e = &t->event[t->event_head & t->event_mask];
		struct tcp_conn *c = &t->conn[e->peer];

		tcp_acknowledge(t, c, e);
		tcp_acked(t, c, e);
		t->event_head++;
	}
	while ((peer = mf_deadlines_first(&t->lazy, now)) != MF_DEADLINES_NIL)
		tcp_acknowledge_late(t, (uint16_t)peer);
	while ((peer = mf_deadlines_first(&t->late, now)) != MF_DEADLINES_NIL)
		tcp_timeout(t, (uint16_t)peer, now);
}

void tcp_run(struct mf_stack *s, mf_time now)
{
	tcp_turn(tcp_of(s), now);
	remote_expire(remote_of(s), now);
}

mf_time tcp_ready(const struct mf_stack *s)
{
	const struct tcp *t = tcp_const(s);

	return t->pure_head != t->pure_tail ? 0 : mf_deadlines_next(&t->ready);
}

mf_time tcp_next(const struct mf_stack *s)
{
	const struct tcp *t = tcp_const(s);
	mf_time next = operations_next(&t->remote.operations);

	if (t->event_head != t->event_tail)
		next = mf_time_min(next, t->event[t->event_head & t->event_mask].due);
	return mf_time_min(next, mf_time_min(mf_deadlines_next(&t->lazy), mf_deadlines_next(&t->late)));
}

unsigned int tcp_counters(const struct mf_stack *s, struct mf_counter *out)
{
	const struct tcp *t = tcp_const(s);
	const struct mf_counter own[] = {mf_counter_sum("frames_sent", t->sent),
					 mf_counter_sum("frames_received", t->received),
					 mf_counter_sum("acks_sent", t->acks),
					 mf_counter_sum("stream_octets", t->stream_octets),
					 mf_counter_sum("resent_octets", t->resent_octets),
					 mf_counter_sum("fast_retransmits", t->fast),
					 mf_counter_sum("timeouts", t->timeouts),
					 mf_counter_sum("echoes", t->echoes),
					 mf_counter_sum("cuts", t->cuts),
					 mf_counter_sum("given_up", t->given_up),
					 mf_counter_sum("duplicates", t->duplicates),
					 mf_counter_sum("out_of_order", t->out_of_order),
					 mf_counter_sum("drop_foreign", t->drop_foreign),
					 mf_counter_sum("drop_checksum", t->drop_checksum),
					 mf_counter_sum("drop_header", t->drop_header),
					 mf_counter_sum("drop_ack", t->drop_ack),
					 mf_counter_sum("drop_window", t->drop_window),
					 mf_counter_sum("drop_reorder", t->drop_reorder),
					 mf_counter_sum("drop_acks_waiting", t->drop_pure)};
	unsigned int n = remote_counters(&t->remote, out);

	memcpy(out + n, own, sizeof(own));
	return n + sizeof(own) / sizeof(own[0]);
}

uint32_t tcp_packet(const double *param)
{
	return TCP_HEADERS - MF_PACKET_IP + (uint32_t)param[TCP_MSS];
}

/* The load */

/** Segments of a message, and their blocks. */
static double segments(const double *param, uint64_t octets, double *blocks)
{
	uint32_t mss = (uint32_t)param[TCP_MSS];

	*blocks += wire_blocks_of(octets + REMOTE_HEADER, mss, TCP_HEADERS);
	return (double)((octets + REMOTE_HEADER + mss - 1) / mss);
}

enum answer { NO_ANSWER, LATER, AT_ONCE };

/**
 * Of the acknowledgements of so many segments. Where the other side answers the last one rides if it waits,
 * or if the answer does not.
 */
static double acks(const double *param, double sent, enum answer answer)
{
	double every = param[TCP_ACK_EVERY], alone = answer == AT_ONCE ? sent - 1 : sent;
	double whole = (double)(uint64_t)(alone / every);

	if (whole * every < sent && answer == NO_ANSWER)
		whole++;
	return wire_blocks_frame(TCP_HEADERS) * whole;
}

struct mf_op_blocks tcp_blocks(const double *param, uint8_t kind, uint64_t octets)
{
	struct remote_load l = remote_load(kind, octets);
	double there = 0, back = 0, n = segments(param, l.there, &there);

	back += acks(param, n, !l.answers ? NO_ANSWER : kind == MF_OP_WRITE_ACK ? AT_ONCE : LATER);
	if (l.answers) {
		n = segments(param, l.back, &back);
		there += acks(param, n, NO_ANSWER);
	}
	return (struct mf_op_blocks){.cn_up = there, .mn_down = there, .mn_up = back, .cn_down = back};
}
