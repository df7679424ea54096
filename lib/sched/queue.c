/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The demand notification queues (EDM 3.1.1, 3.1.2): a first-in first-out queue for each pair, whose
 * head is the candidate of the pair. A destination's queue of the paper is what is held for it in the
 * queues of its pairs; the keys put their heads in order.
 */
#include <string.h>

#include "core.h"

/**
 * Octets by which SRPT goes, and behind them what remains of the piece: 17 and 16 bits. A transfer's
 * 2^exponent above the largest piece is told by the exponent alone.
 */
static uint64_t key_octets(const struct mf_sched *s, const struct sched_demand *e)
{
	uint64_t octets = e->remaining;

	if (s->config.priority == MF_SCHED_FCFS)
		return 0;
	if (s->config.srpt_transfer && e->exponent)
		octets = e->exponent <= 16 ? UINT32_C(1) << e->exponent : SCHED_SIZE_MAX + e->exponent - 16u;
	return (octets - 1) << 16 | (e->remaining - 1);
}

static sched_key key_of(const struct mf_sched *s, const struct sched_demand *e, unsigned int src,
			unsigned int dst)
{
	return (sched_key)key_octets(s, e) << SCHED_KEY_OCTETS | (sched_key)e->since << SCHED_KEY_AT |
	       src << 18 | (uint32_t)e->id << 10 | (uint32_t)e->resp << 9 | dst;
}

/** Makes the head of the queue of c and m, if there is one, their candidate. */
static void publish(struct mf_sched *s, const struct sched_queue *q, unsigned int c, unsigned int m)
{
	const struct sched_demand *e = s->demand + q->head;
	unsigned int src = e->resp ? m : c, dst = e->resp ? c : m;

	if (!q->head)
		return;
	*sched_key_at(s, dst, src, e->resp) = key_of(s, e, src, dst);
	sched_candidate_set(s, src, dst, e->resp);
	if (sched_test(s->free[SCHED_SRC], src) && sched_test(s->free[SCHED_DST], dst))
		sched_activate(s, dst / 64, UINT64_C(1) << dst % 64);
}

/** Takes an entry out, after its predecessor (0: it is the head). */
static void unlink_demand(struct mf_sched *s, struct sched_queue *q, uint32_t prev, unsigned int src,
			  unsigned int dst)
{
	uint32_t i = prev ? s->demand[prev].next : q->head;
	struct sched_demand *e = s->demand + i;

	if (prev) {
		s->demand[prev].next = e->next;
	} else {
		sched_candidate_clear(s, src, dst, e->resp);
		q->head = e->next;
		publish(s, q, e->resp ? dst : src, e->resp ? src : dst);
	}
	if (q->tail == i)
		q->tail = prev;
	q->held[e->resp]--;
	s->depth[dst]--;
	s->stats.entries--;
	e->next = s->demand_free;
	s->demand_free = i;
}

/** @return the entry of that name, or 0; and its predecessor */
static uint32_t find(const struct mf_sched *s, const struct sched_queue *q, uint8_t id, bool resp,
		     uint32_t *prev)
{
	*prev = 0;
	for (uint32_t i = q->head; i; *prev = i, i = s->demand[i].next)
		if (s->demand[i].id == id && s->demand[i].resp == resp)
			return i;
	return 0;
}

/** The pool cannot run out: each queue holds at most X of each kind. */
static uint32_t take_demand(struct mf_sched *s)
{
	uint32_t i = s->demand_free;

	if (!i)
		return ++s->demand_used;
	s->demand_free = s->demand[i].next;
	return i;
}

static void count_added(struct mf_sched *s, const struct mf_sched_msg *msg)
{
	struct mf_sched_stats *st = &s->stats;

	st->demands++;
	st->demand_octets += msg->size;
	if (++st->entries > st->entries_max)
		st->entries_max = st->entries;
	if (++s->depth[msg->dst] > st->queue_max)
		st->queue_max = s->depth[msg->dst];
}

void mf_sched_queue_add(struct mf_sched *s, const struct mf_sched_msg *msg)
{
	struct sched_queue *q = sched_queue(s, msg->src, msg->dst, msg->resp);
	uint32_t i;

	if (q->held[msg->resp] >= s->config.x) {
		s->stats.dropped_x++;
		mf_sched_dismiss(s, msg, msg->cookie);
		return;
	}
	if (find(s, q, msg->id, msg->resp, &i)) {
		s->stats.dropped_bad++;
		mf_sched_dismiss(s, msg, msg->cookie);
		return;
	}
	i = take_demand(s);
	s->demand[i] = (struct sched_demand){
		.since = msg->at,
		.remaining = msg->size,
		.cookie = msg->cookie,
		.id = msg->id,
		.exponent = msg->exponent,
		.request_blocks = msg->request_blocks,
		.resp = msg->resp,
		.mega = msg->mega,
	};
	q->held[msg->resp]++;
	count_added(s, msg);
	if (q->head)
		s->demand[q->tail].next = i;
	else
		q->head = i;
	q->tail = i;
	if (q->head == i)
		publish(s, q, msg->resp ? msg->dst : msg->src, msg->resp ? msg->src : msg->dst);
}

void mf_sched_queue_cancel(struct mf_sched *s, const struct mf_sched_msg *msg)
{
	struct sched_queue *q = sched_queue(s, msg->src, msg->dst, msg->resp);
	uint32_t prev, i = find(s, q, msg->id, msg->resp, &prev);

	if (!i) {
		s->stats.cancel_unknown++;
		return;
	}
	s->stats.cancelled++;
	s->stats.cancelled_octets += s->demand[i].remaining;
	if (!s->demand[i].started)
		mf_sched_dismiss(s, msg, s->demand[i].cookie);
	unlink_demand(s, q, prev, msg->src, msg->dst);
}

uint8_t mf_sched_queue_grant(struct mf_sched *s, sched_key key, struct mf_sched_grant *g)
{
	unsigned int src = sched_key_src(key), dst = sched_key_dst(key);
	struct sched_queue *q = sched_queue(s, src, dst, sched_key_resp(key));
	struct sched_demand *e = s->demand + q->head;

	g->since = e->since;
	g->src = src;
	g->dst = dst;
	g->id = e->id;
	g->resp = e->resp;
	g->first = !e->started;
	g->mega = e->mega;
	g->size = sched_next_size(s, e);
	g->last = g->size == e->remaining;
	g->cookie = e->cookie;
	e->started = true;
	e->remaining -= g->size;
	if (g->last)
		unlink_demand(s, q, 0, src, dst);
	else if (s->config.priority == MF_SCHED_SRPT)
		*sched_key_at(s, dst, src, e->resp) = key_of(s, e, src, dst);
	return e->request_blocks;
}
