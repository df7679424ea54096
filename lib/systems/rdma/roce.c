/* SPDX-License-Identifier: BSD-3-Clause */
/* RoCEv2: setting a node up, and which queue pair sends next. */
#include <errno.h>
#include <stdlib.h>

#include <rte_udp.h>

#include "base/mf_table.h"
#include "pcs/mf_frame.h"
#include "systems/frames/mf_remote.h"
#include "systems/frames/mf_wire_blocks.h"
#include "systems/rdma/roce.h"

#define ACK_TIMEOUT MF_NS(4096)
/** Peers in the number of a queue pair; what is left of its 24 bits are generations. */
#define PEERS_FEW 1022
#define PEER_BITS_FEW 10
#define PEER_BITS 12
static_assert(MF_NODES_MAX <= 1 << PEER_BITS, "a peer fits");
/** The wall clock's processes are not always running: its timers are so many times as long. */
#define WALL_FACTOR 256

static struct roce *roce_of(struct mf_stack *s)
{
	return (struct roce *)s;
}

static const struct roce *roce_const(const struct mf_stack *s)
{
	return (const struct roce *)s;
}

/**
 * What a queue pair's response queue holds at most: reads and atomics, an ack behind each, a NAK. Of the
 * former twice as many as are under way: the requester may have seen the response to an earlier copy.
 */
static uint32_t responses_of(const struct roce *r)
{
	return 4 * r->rd_atomic + 2;
}

static int allocate(struct roce *r)
{
	uint16_t nodes = r->config.nodes;
	int err = operations_init(&r->operations, &r->config);

	r->responses = nodes * responses_of(r);
	r->request = mf_table_new(r->config.queue, sizeof(*r->request));
	r->qp = mf_table_new(nodes, sizeof(*r->qp));
	r->response = mf_table_new(r->responses, sizeof(*r->response));
	r->replay = mf_table_new((size_t)nodes * r->rd_atomic, sizeof(*r->replay));
	r->scratch = malloc(MF_FRAME_MAX);
	if (err == 0)
		err = mf_deadlines_init(&r->due, nodes);
	if (err == 0 && r->dcqcn.line != 0) {
		r->rate = mf_table_new(nodes, sizeof(*r->rate));
		err = r->rate != NULL ? 0 : -ENOMEM;
	}
	return r->request != NULL && r->qp != NULL && r->response != NULL && r->replay != NULL &&
			       r->scratch != NULL
		       ? err
		       : -ENOMEM;
}

static void set_parameters(struct roce *r)
{
	uint32_t exponent = (uint32_t)r->param[ROCE_TIMEOUT];
	const struct mf_timing *t = &r->config.timing;

	r->mtu = (uint32_t)r->param[ROCE_MTU];
	r->mtu_shift = (uint32_t)__builtin_ctz(r->mtu);
	r->rd_atomic = (uint32_t)r->param[ROCE_READS];
	r->ack_every = (uint32_t)r->param[ROCE_ACK_EVERY];
	r->class = (uint8_t)r->param[ROCE_CLASS];
	r->retries = (uint8_t)r->param[ROCE_RETRIES];
	r->timeout = exponent != 0 ? ACK_TIMEOUT << exponent : 0;
	if (r->config.period == 0)
		r->timeout *= WALL_FACTOR;
	r->cost_tx = r->cost_rx = t->cost[MF_STAGE_PROTOCOL] + t->cost[MF_STAGE_MAC];
	r->free = ROCE_NIL;
	if (r->config.incarnation != 0)
		r->incarnation = (uint16_t)(1 + r->config.incarnation % ROCE_INCARNATIONS);
	/* Where all 24 bits have a use, the last two nodes' numbers may not reach beyond them. */
	r->peer_bits = r->config.nodes <= PEERS_FEW ? PEER_BITS_FEW : PEER_BITS;
	r->generations = r->config.nodes <= PEERS_FEW ? 0x3fff : 0x7ff;
	r->timer_head = r->timer_tail = r->cnp_head = r->cnp_tail = ROCE_NO_PEER;
}

/** Before its first request, sent or received: a table of queue pairs that are not used takes no memory. */
static void begin(struct roce *r, uint16_t peer)
{
	struct roce_qp *q = &r->qp[peer];

	if (q->begun)
		return;
	q->begun = true;
	q->generation = r->config.incarnation & r->generations;
	q->head = q->tail = q->cur = q->rhead = q->rtail = ROCE_NIL;
	q->deadline = MF_NEVER;
	q->timer_prev = q->timer_next = q->cnp_next = ROCE_NO_PEER;
}

struct mf_stack *roce_new(const struct mf_stack_config *c, unsigned int params,
			  const struct dcqcn_config *dcqcn, uint8_t cnp_class)
{
	uint32_t mtu = (uint32_t)c->param[ROCE_MTU];
	struct roce *r = (mtu & (mtu - 1)) == 0 ? calloc(1, sizeof(*r)) : NULL;

	if (r == NULL) {
		errno = (mtu & (mtu - 1)) == 0 ? ENOMEM : EINVAL;
		return NULL;
	}
	r->config = *c;
	memcpy(r->param, c->param, params * sizeof(*r->param));
	r->config.param = r->param;
	r->cnp_class = cnp_class;
	if (dcqcn != NULL)
		r->dcqcn = *dcqcn;
	mf_pause_init(&r->pause);
	set_parameters(r);
	if (allocate(r) != 0) {
		roce_free((struct mf_stack *)r);
		errno = ENOMEM;
		return NULL;
	}
	return (struct mf_stack *)r;
}

void roce_free(struct mf_stack *s)
{
	struct roce *r = roce_of(s);

	responder_fini(r);
	operations_fini(&r->operations);
	mf_deadlines_fini(&r->due);
	mf_table_free(r->request);
	mf_table_free(r->qp);
	mf_table_free(r->response);
	mf_table_free(r->replay);
	mf_table_free(r->rate);
	free(r->scratch);
	free(r);
}

int roce_submit(struct mf_stack *s, mf_time now, const struct mf_op *op)
{
	struct roce *r = roce_of(s);
	const struct mf_probe *probe = r->config.probe;
	struct operation *o;
	uint32_t i;

	if (op->len > ROCE_MESSAGE_MAX)
		return -EINVAL;
	i = operations_add(&r->operations, now, op);
	if (i == OPERATION_NIL)
		return -EAGAIN;
	o = &r->operations.op[i];
	if (probe != NULL && probe->begun != NULL && (op->kind == MF_OP_WRITE || op->kind == MF_OP_WRITE_ACK))
		probe->begun(probe->ctx, r->config.node, op->node, (uint8_t)o->id, op->user, now);
	stack_stamp_start(&r->config, now, op->kind == MF_OP_WRITE || op->kind == MF_OP_WRITE_ACK);
	r->request[i] = (struct roce_request){
		.ready = now + r->cost_tx,
		.packets = op->kind == MF_OP_RMW ? 1 : roce_packets(r, (uint32_t)o->c.len)};
	begin(r, op->node);
	requester_append(r, op->node, i);
	roce_schedule(r, op->node, now);
	return 0;
}

unsigned int roce_completions(struct mf_stack *s, mf_time now, struct mf_completion *out, unsigned int max)
{
	return operations_take(&roce_of(s)->operations, now, out, max);
}

uint32_t roce_outstanding(const struct mf_stack *s)
{
	return roce_const(s)->operations.count;
}

/* What is sent */

/** A peer may be sent to from then on, behind those that may, too. */
static void expect(struct roce *r, uint16_t peer, mf_time at)
{
	if (at == MF_NEVER)
		mf_deadlines_remove(&r->due, peer);
	else
		mf_deadlines_set(&r->due, peer, at);
}

/** One that may be sent to already keeps its place. */
void roce_schedule(struct roce *r, uint16_t peer, mf_time now)
{
	mf_time at = mf_time_min(requester_due(r, peer), responder_due(r, peer));
	mf_time was = mf_deadlines_at(&r->due, peer);

	if (was != at && (was > now || at > now))
		expect(r, peer, at);
}

/** Data are paced: the rate of DCQCN is one of the wire. */
static void pace(struct roce *r, uint16_t peer, mf_time now, uint16_t len)
{
	uint32_t wire = len + 8 + MF_FCS_LEN + MF_FRAME_IFG;

	r->qp[peer].pace = now + dcqcn_sent(&r->dcqcn, &r->rate[peer], now, wire);
}

uint16_t roce_emit(struct roce *r, uint16_t peer, mf_time now, struct roce_packet *p, uint8_t *frame)
{
	bool data = roce_is_data(p->opcode);
	uint16_t len;

	p->src = r->config.node;
	p->dst = peer;
	p->class = p->opcode == ROCE_CNP ? r->cnp_class : r->class;
	p->ecn = data && r->rate != NULL ? MF_ECN_ECT0 : MF_ECN_NOT;
	len = roce_put(frame, p);
	r->n.packets_sent++;
	r->n.data_sent += p->len;
	if (data && r->rate != NULL)
		pace(r, peer, now, len);
	return len;
}

static uint16_t send_cnp(struct roce *r, mf_time now, uint8_t *frame)
{
	uint16_t peer = r->cnp_head;
	struct roce_qp *q = &r->qp[peer];

	r->cnp_head = q->cnp_next;
	if (r->cnp_head == ROCE_NO_PEER)
		r->cnp_tail = ROCE_NO_PEER;
	q->cnp_queued = false;
	r->n.cnps_sent++;
	return roce_emit(r, peer, now, &(struct roce_packet){.opcode = ROCE_CNP, .qp = q->cnp_qp}, frame);
}

static bool cnp_due(const struct roce *r, mf_time now)
{
	return r->cnp_head != ROCE_NO_PEER && r->qp[r->cnp_head].cnp_ready <= now &&
	       !mf_pause_paused(&r->pause, r->cnp_class, now);
}

/** The next packet of a peer: one of its requests and one of its responses in turn. */
static uint16_t send_peer(struct roce *r, uint16_t peer, mf_time now, uint8_t *frame)
{
	struct roce_qp *q = &r->qp[peer];
	bool request = requester_due(r, peer) <= now, response = responder_due(r, peer) <= now;

	if (request && (q->responded || !response)) {
		q->responded = false;
		return requester_send(r, peer, now, frame);
	}
	if (!response)
		return 0;
	q->responded = true;
	return responder_send(r, peer, now, frame);
}

uint16_t roce_pull(struct mf_stack *s, mf_time now, uint8_t *frame)
{
	struct roce *r = roce_of(s);
	uint16_t len = 0;
	uint32_t peer;
	mf_time next;

	if (cnp_due(r, now))
		return send_cnp(r, now, frame);
	if (mf_pause_paused(&r->pause, r->class, now))
		return 0;
	while (len == 0 && (peer = mf_deadlines_first(&r->due, now)) != MF_DEADLINES_NIL) {
		len = send_peer(r, (uint16_t)peer, now, frame);
		next = mf_time_min(requester_due(r, (uint16_t)peer), responder_due(r, (uint16_t)peer));
		expect(r, (uint16_t)peer, mf_time_max(now, next));
	}
	return len;
}

mf_time roce_ready(const struct mf_stack *s)
{
	const struct roce *r = roce_const(s);
	mf_time ready = mf_deadlines_next(&r->due), cnp = MF_NEVER;

	if (ready != MF_NEVER)
		ready = mf_time_max(ready, r->pause.until[r->class]);
	if (r->cnp_head != ROCE_NO_PEER)
		cnp = mf_time_max(r->qp[r->cnp_head].cnp_ready, r->pause.until[r->cnp_class]);
	return mf_time_min(ready, cnp);
}

/* What arrives */

/** The notification point: at most one CNP a flow in cnp_interval (DCQCN 3.1). */
static void notify(struct roce *r, mf_time at, const struct roce_packet *p)
{
	struct roce_qp *q = &r->qp[p->src];
	mf_time known = at + r->cost_rx;

	r->n.ce_received++;
	if (q->cnp_queued || (q->cnp_last != 0 && known + 1 < q->cnp_last + r->dcqcn.cnp_interval))
		return;
	q->cnp_queued = true;
	q->cnp_last = known + 1;
	q->cnp_ready = known + r->cost_tx;
	q->cnp_next = ROCE_NO_PEER;
	q->cnp_qp = roce_qp_number(r, r->config.node, roce_is_response(p->opcode) ? q->generation : q->their);
	if (r->cnp_tail == ROCE_NO_PEER)
		r->cnp_head = p->src;
	else
		r->qp[r->cnp_tail].cnp_next = p->src;
	r->cnp_tail = p->src;
}

static void take(struct roce *r, mf_time at, const struct roce_packet *p)
{
	begin(r, p->src);
	r->n.packets_received++;
	r->n.data_received += p->len;
	if (p->ecn == MF_ECN_CE && r->rate != NULL && roce_is_data(p->opcode))
		notify(r, at, p);
	if (p->opcode != ROCE_ACKNOWLEDGE)
		stack_stamp_rx(&r->config, at);
	if (p->opcode == ROCE_CNP) {
		r->n.cnps_received++;
		if (r->rate != NULL)
			dcqcn_cut(&r->dcqcn, &r->rate[p->src], at + r->cost_rx);
	} else if (roce_is_response(p->opcode)) {
		requester_receive(r, at, p);
	} else {
		responder_receive(r, at, p);
	}
	roce_schedule(r, p->src, at);
}

bool roce_frame(struct mf_stack *s, mf_time at, const uint8_t *frame, uint16_t len)
{
	struct roce *r = roce_of(s);
	struct roce_packet p;
	int err;

	if (mf_pause_is_control(frame, len)) {
		mf_pause_take(&r->pause, at, r->config.period, frame, len);
		return true;
	}
	if (len > MF_FRAME_MAX)
		return false;
	memcpy(r->scratch, frame, len);
	err = roce_get(r->scratch, len, &p);
	if (err == -ENOMSG)
		return false;
	if (err == -EBADMSG)
		r->n.drop_icrc++;
	else if (err != 0 || p.dst != r->config.node)
		r->n.drop_bad++;
	else if (p.src >= r->config.nodes || p.src == r->config.node || p.qp < 2 ||
		 roce_qp_peer(r, p.qp) != p.src)
		r->n.drop_unknown++;
	else
		take(r, at, &p);
	return true;
}

/* The link, timers, counters */

void roce_link_lost(struct mf_stack *s)
{
	mf_pause_clear(&roce_of(s)->pause);
}

void roce_run(struct mf_stack *s, mf_time now)
{
	struct roce *r = roce_of(s);
	uint32_t op;

	mf_pause_run(&r->pause, now);
	requester_run(r, now);
	while ((op = operations_expired(&r->operations, now)) != OPERATION_NIL)
		requester_expire(r, op, now);
}

mf_time roce_next(const struct mf_stack *s)
{
	const struct roce *r = roce_const(s);
	mf_time timer = r->timer_head != ROCE_NO_PEER ? r->qp[r->timer_head].deadline : MF_NEVER;

	return mf_time_min(mf_time_min(timer, r->pause.at), operations_next(&r->operations));
}

unsigned int roce_counters(const struct mf_stack *s, struct mf_counter *out)
{
	const struct roce *r = roce_const(s);
	const struct mf_counter all[] = {mf_counter_sum("packets_sent", r->n.packets_sent),
					 mf_counter_sum("packets_received", r->n.packets_received),
					 mf_counter_sum("octets_sent", r->n.data_sent),
					 mf_counter_sum("octets_received", r->n.data_received),
					 mf_counter_sum("acks_sent", r->n.acks_sent),
					 mf_counter_sum("naks_sent", r->n.naks_sent),
					 mf_counter_sum("naks_received", r->n.naks_received),
					 mf_counter_sum("went_back", r->n.went_back),
					 mf_counter_sum("timeouts", r->n.timeouts),
					 mf_counter_sum("packets_sent_again", r->n.packets_again),
					 mf_counter_sum("queue_pairs_failed", r->n.failed),
					 mf_counter_sum("cnps_sent", r->n.cnps_sent),
					 mf_counter_sum("cnps_received", r->n.cnps_received),
					 mf_counter_sum("ce_received", r->n.ce_received),
					 mf_counter_sum("pauses_received", r->pause.pauses),
					 mf_counter_sum("resumes_received", r->pause.resumes),
					 mf_counter_sum("drop_bad", r->n.drop_bad),
					 mf_counter_sum("drop_icrc", r->n.drop_icrc),
					 mf_counter_sum("drop_control", r->pause.bad),
					 mf_counter_sum("drop_unknown", r->n.drop_unknown),
					 mf_counter_sum("drop_sequence", r->n.drop_sequence),
					 mf_counter_sum("drop_duplicate", r->n.drop_duplicate),
					 mf_counter_sum("drop_stale", r->n.drop_stale),
					 mf_counter_sum("drop_room", r->n.drop_room)};
	unsigned int n = sizeof(all) / sizeof(all[0]);

	static_assert(sizeof(all) / sizeof(all[0]) <= MF_COUNTERS_MAX, "there is room for so many");
	memcpy(out, all, sizeof(all));
	return n;
}

/** Blocks of a message of data: the first packet and the last have headers that others have not. */
static double data_blocks(uint32_t mtu, uint64_t octets, uint8_t only, uint8_t first, uint8_t middle,
			  uint8_t last)
{
	uint64_t n = (octets + mtu - 1) / mtu;
	uint32_t rest = (uint32_t)(octets - (n - 1) * mtu);

	if (n <= 1)
		return wire_blocks_frame(roce_frame_size(only, (uint32_t)octets));
	return wire_blocks_frame(roce_frame_size(first, mtu)) +
	       (double)(n - 2) * wire_blocks_frame(roce_frame_size(middle, mtu)) +
	       wire_blocks_frame(roce_frame_size(last, rest));
}

struct mf_op_blocks roce_blocks(const double *param, uint8_t kind, uint64_t octets)
{
	uint32_t mtu = (uint32_t)param[ROCE_MTU];
	double ack = wire_blocks_frame(roce_frame_size(ROCE_ACKNOWLEDGE, 0)), there, back;
	uint64_t packets = (octets + mtu - 1) / mtu, every = (uint64_t)param[ROCE_ACK_EVERY];

	switch (kind) {
	case MF_OP_READ:
		there = wire_blocks_frame(roce_frame_size(ROCE_READ_REQUEST, 0));
		back = data_blocks(mtu, octets, ROCE_READ_ONLY, ROCE_READ_FIRST, ROCE_READ_MIDDLE,
				   ROCE_READ_LAST);
		break;
	case MF_OP_RMW:
		there = wire_blocks_frame(roce_frame_size(ROCE_COMPARE_SWAP, 0));
		back = wire_blocks_frame(roce_frame_size(ROCE_ATOMIC_ACKNOWLEDGE, 0));
		break;
	default:
		there = data_blocks(mtu, octets, ROCE_WRITE_ONLY, ROCE_WRITE_FIRST, ROCE_WRITE_MIDDLE,
				    ROCE_WRITE_LAST);
		back = ack * (double)((packets + every - 1) / every);
	}
	return (struct mf_op_blocks){.cn_up = there, .mn_down = there, .mn_up = back, .cn_down = back};
}

uint8_t roce_pfc_classes(const double *param)
{
	return (uint8_t)(1 << (unsigned int)param[ROCE_CLASS]);
}

uint32_t roce_packet(const double *param)
{
	return roce_frame_size(ROCE_WRITE_ONLY, (uint32_t)param[ROCE_MTU]) - MF_PACKET_IP;
}
