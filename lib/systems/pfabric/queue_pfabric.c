/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pFabric's queue (Alizadeh et al., SIGCOMM 2013): a small buffer for each port, and
 *
 *  - what is sent is the earliest packet of the flow that has the packet with the highest priority: so the
 *    packets of a flow stay in order, and its first ones do not starve behind its last ones;
 *  - what finds the buffer full is dropped if its priority is not above the lowest one there; else the packet
 *    with the lowest priority is dropped for it, and so on until there is room.
 *
 * Of equal priorities the earlier packet goes first, and the later one is dropped first. Frames of others
 * have the lowest priority, and are a flow of their source.
 *
 * The paper looks through the whole queue, which is short. Here a heap of a port's packets by their priority
 * and a list of each flow's packets give the same; and from when a queue is full until it is empty, a heap by
 * the opposite of the priority.
 */
#include <errno.h>
#include <stdlib.h>

#include <rte_common.h>

#include "base/mf_deadlines.h"
#include "base/mf_rng.h"
#include "base/mf_table.h"
#include "systems/frames/mf_output_queue.h"
#include "systems/pfabric/mf_pfabric.h"
#include "systems/pfabric/pfabric_wire.h"

enum { PFABRIC_BUFFER = OQ_PARAMS, PFABRIC_PARAMS };

static const struct mf_param params[] = {
	{OQ_PARAM_BUFFER},
	{OQ_PARAM_MTU},
	{"queue", MF_PARAM_SIZE, 0, 0, 1 << 30, "octets of a port; 0: twice the bandwidth-delay product"},
	{0}};

/** A flow that has packets in a port's buffer. */
struct flow {
	uint64_t key; /**< egress, source, number */
	uint32_t head, tail; /**< its packets, the earliest first */
	uint32_t next; /**< of the same bucket, or of the free ones; plus one, 0: none */
};

/** A packet, beside oq_frame. */
struct packet {
	uint32_t next, prev; /**< of its flow */
	uint32_t flow;
};

struct port {
	struct mf_deadlines best, worst;
	uint64_t octets, max;
	uint64_t octets_max; /**< since depth() began anew */
	bool was_full; /**< since it was empty: worst has what best has; else nothing */
};

struct queue {
	struct port *port;
	struct packet *packet; /**< [slots] */
	struct flow *flow; /**< [slots] */
	uint32_t *bucket; /**< [slots at least]: flows by their key, plus one; 0: none */
	uint32_t bucket_mask; /**< those that are used: as many as there were flows at a time */
	uint32_t flows, flow_fresh, flow_free; /**< flow_free: plus one */
	uint32_t arrivals;
	uint64_t octets_max; /**< of a port, before depth() began anew */
	uint64_t drop_arriving, drop_lowest;
};

/* Flows */

static uint32_t *bucket_of(const struct queue *q, uint64_t key)
{
	return &q->bucket[mf_hash64(key) & q->bucket_mask];
}

/** Twice as many buckets. Few are used, and are in the caches, where few flows have packets here. */
static void split_buckets(struct queue *q)
{
	uint32_t n = q->bucket_mask + 1, next;

	q->bucket_mask = 2 * n - 1;
	for (uint32_t b = 0; b < n; b++) {
		uint32_t i = q->bucket[b];

		for (q->bucket[b] = 0; i != 0; i = next) {
			uint32_t *bucket = bucket_of(q, q->flow[i - 1].key);

			next = q->flow[i - 1].next;
			q->flow[i - 1].next = *bucket;
			*bucket = i;
		}
	}
}

static uint32_t flow_of(struct queue *q, uint64_t key)
{
	uint32_t *bucket = bucket_of(q, key), i;

	for (i = *bucket; i != 0; i = q->flow[i - 1].next)
		if (q->flow[i - 1].key == key)
			return i - 1;
	if (q->flows++ > q->bucket_mask) {
		split_buckets(q);
		bucket = bucket_of(q, key);
	}
	i = q->flow_free;
	if (i != 0)
		q->flow_free = q->flow[i - 1].next;
	else
		i = ++q->flow_fresh;
	q->flow[i - 1] = (struct flow){.key = key, .head = OQ_NIL, .tail = OQ_NIL, .next = *bucket};
	*bucket = i;
	return i - 1;
}

static void flow_append(struct queue *q, uint64_t key, uint32_t i)
{
	uint32_t f = flow_of(q, key);
	struct flow *flow = &q->flow[f];

	q->packet[i] = (struct packet){.next = OQ_NIL, .prev = flow->tail, .flow = f};
	if (flow->tail == OQ_NIL)
		flow->head = i;
	else
		q->packet[flow->tail].next = i;
	flow->tail = i;
}

static void flow_over(struct queue *q, uint32_t f)
{
	uint32_t *link = bucket_of(q, q->flow[f].key);

	while (*link != f + 1)
		link = &q->flow[*link - 1].next;
	*link = q->flow[f].next;
	q->flow[f].next = q->flow_free;
	q->flow_free = f + 1;
	q->flows--;
}

static void flow_remove(struct queue *q, uint32_t i)
{
	const struct packet *p = &q->packet[i];
	struct flow *flow = &q->flow[p->flow];

	if (p->prev == OQ_NIL)
		flow->head = p->next;
	else
		q->packet[p->prev].next = p->next;
	if (p->next == OQ_NIL)
		flow->tail = p->prev;
	else
		q->packet[p->next].prev = p->prev;
	if (flow->head == OQ_NIL)
		flow_over(q, p->flow);
}

/* Packets of a port */

static void take_out(struct oq *oq, struct queue *q, uint32_t i)
{
	struct port *p = &q->port[oq->frame[i].egress];

	mf_deadlines_remove(&p->best, i);
	if (p->was_full) {
		mf_deadlines_remove(&p->worst, i);
		p->was_full = p->worst.count > 0;
	}
	flow_remove(q, i);
	p->octets -= oq_size(oq, i);
}

/** The highest priority is the least. */
static uint32_t priority_of(const struct oq *oq, uint32_t i, uint64_t *flow)
{
	const struct oq_frame *f = &oq->frame[i];
	struct mf_pfabric_header h;
	bool known = mf_pfabric_peek(oq_octets(oq, i), f->len, &h);

	*flow = (uint64_t)f->egress << 48 | (uint64_t)f->ingress << 32 | (known ? h.flow : UINT32_MAX);
	return known ? rte_be_to_cpu_32(h.remaining) : UINT32_MAX;
}

static void set_worst(struct port *p)
{
	p->was_full = p->best.count > 0;
	for (uint32_t i = 0; i < p->best.count; i++)
		mf_deadlines_set(&p->worst, p->best.heap[i].i, ~p->best.heap[i].at);
}

/** Room for a packet of this rank. @return false: it is the one to be dropped */
static bool make_room(struct oq *oq, struct queue *q, uint32_t i, uint32_t priority, mf_time now)
{
	struct port *p = &q->port[oq->frame[i].egress];
	uint32_t worst;

	while (p->octets + oq_size(oq, i) > p->max) {
		if (!p->was_full)
			set_worst(p);
		worst = mf_deadlines_first(&p->worst, MF_NEVER);
		if (worst == MF_DEADLINES_NIL || priority >= oq->frame[worst].rank >> 32) {
			q->drop_arriving++;
			return false;
		}
		take_out(oq, q, worst);
		oq_drop(oq, worst, now);
		q->drop_lowest++;
	}
	return true;
}

static void queue_put(struct oq *oq, uint32_t i, mf_time now)
{
	struct queue *q = oq->queue;
	struct oq_frame *f = &oq->frame[i];
	struct port *p = &q->port[f->egress];
	uint64_t flow;
	uint32_t priority = priority_of(oq, i, &flow);

	if (!make_room(oq, q, i, priority, now)) {
		oq_drop(oq, i, now);
		return;
	}
	f->rank = (uint64_t)priority << 32 | q->arrivals++;
	mf_deadlines_set(&p->best, i, f->rank);
	if (p->was_full)
		mf_deadlines_set(&p->worst, i, ~f->rank);
	flow_append(q, flow, i);
	p->octets += oq_size(oq, i);
	if (p->octets > p->octets_max)
		p->octets_max = p->octets;
	oq_wants(oq, f->egress);
}

static uint32_t queue_take(struct oq *oq, unsigned int port, mf_time now)
{
	struct queue *q = oq->queue;
	uint32_t i = mf_deadlines_first(&q->port[port].best, MF_NEVER);

	(void)now;
	if (i == MF_DEADLINES_NIL)
		return OQ_NIL;
	i = q->flow[q->packet[i].flow].head;
	take_out(oq, q, i);
	return i;
}

/* The whole */

/** Twice what fills the pipe between two nodes at the rate of a port; under the wall clock all there is. */
static uint64_t buffer_of(const struct oq *oq, unsigned int port)
{
	const struct mf_bridge_config *c = &oq->config;
	mf_time way = 2 * c->delay[port] + c->l2_latency + 2 * c->timing.cost[MF_STAGE_MAC], rtt;

	if (oq->param[PFABRIC_BUFFER] != 0 || c->period[port] == 0)
		return oq->param[PFABRIC_BUFFER] != 0 ? (uint64_t)oq->param[PFABRIC_BUFFER] : oq->buffer;
	rtt = mf_pfabric_rtt(way, c->timing.cost[MF_STAGE_PROTOCOL] + c->timing.cost[MF_STAGE_MAC],
			     c->period[port]);
	return 2 * rtt * 8 / c->period[port];
}

static void queue_destroy(void *queue)
{
	struct queue *q = queue;

	for (unsigned int i = 0; q->port != NULL && i < MF_PACKET_NODES && q->port[i].max != 0; i++) {
		mf_deadlines_fini(&q->port[i].best);
		mf_deadlines_fini(&q->port[i].worst);
	}
	free(q->port);
	mf_table_free(q->packet);
	mf_table_free(q->flow);
	mf_table_free(q->bucket);
	free(q);
}

/** A packet is in one port's queue. */
static bool port_init(const struct oq *oq, struct queue *q, unsigned int port, uint32_t slots)
{
	struct port *p = &q->port[port];

	p->max = buffer_of(oq, port);
	if (port == 0)
		return mf_deadlines_init(&p->best, slots) == 0 && mf_deadlines_init(&p->worst, slots) == 0;
	return mf_deadlines_init_beside(&p->best, slots, &q->port[0].best) == 0 &&
	       mf_deadlines_init_beside(&p->worst, slots, &q->port[0].worst) == 0;
}

static void *queue_create(struct oq *oq)
{
	struct queue *q = calloc(1, sizeof(*q));
	uint32_t slots = oq->pool[OQ_LONG].first + oq->pool[OQ_LONG].slots, buckets = 1;
	bool ok;

	if (q == NULL)
		return NULL;
	while (buckets < slots)
		buckets *= 2;
	q->port = calloc(oq->config.ports + 1, sizeof(*q->port)); /* and one that ends them */
	q->packet = mf_table_new(slots, sizeof(*q->packet));
	q->flow = mf_table_new(slots, sizeof(*q->flow));
	q->bucket = mf_table_new(buckets, sizeof(*q->bucket));
	ok = q->port != NULL && q->packet != NULL && q->flow != NULL && q->bucket != NULL;
	for (unsigned int i = 0; ok && i < oq->config.ports; i++)
		ok = port_init(oq, q, i, slots);
	if (ok)
		return q;
	queue_destroy(q);
	errno = ENOMEM;
	return NULL;
}

static void queue_depth(struct oq *oq, unsigned int port, bool anew, struct mf_queue_depth *out)
{
	struct queue *q = oq->queue;
	struct port *p = &q->port[port];

	*out = (struct mf_queue_depth){.octets = p->octets, .max = p->octets_max};
	if (!anew)
		return;
	q->octets_max = RTE_MAX(q->octets_max, p->octets_max);
	p->octets_max = p->octets;
}

static unsigned int queue_counters(const struct oq *oq, struct mf_counter *out)
{
	const struct queue *q = oq->queue;
	uint64_t longest = q->octets_max;
	unsigned int n = 0;

	for (unsigned int p = 0; p < oq->config.ports; p++)
		longest = RTE_MAX(longest, q->port[p].octets_max);
	out[n++] = (struct mf_counter){"queue_octets", q->port[0].max, MF_SAME};
	out[n++] = mf_counter_max("queue_max_octets", longest);
	out[n++] = mf_counter_sum("drop_arriving", q->drop_arriving);
	out[n++] = mf_counter_sum("drop_lowest", q->drop_lowest);
	return n;
}

static const struct oq_queue_ops queue = {.create = queue_create,
					  .destroy = queue_destroy,
					  .put = queue_put,
					  .take = queue_take,
					  .depth = queue_depth,
					  .counters = queue_counters};

static struct mf_bridge *create(const struct mf_bridge_config *config)
{
	return oq_new(config, &queue, PFABRIC_PARAMS);
}

const struct mf_bridge_ops bridge_pfabric = {.name = "pfabric", .params = params, .create = create, OQ_OPS};
