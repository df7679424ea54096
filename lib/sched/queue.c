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
	       src << SCHED_KEY_SRC | (uint32_t)e->id << SCHED_KEY_ID | (uint32_t)e->resp << SCHED_KEY_RESP |
	       dst << SCHED_KEY_DST | e->mega;
}

/** The word of a source's order array that a candidate has its bit in. */
static uint64_t *order_word(const struct mf_sched *s, unsigned int src, unsigned int dst, bool resp)
{
	return sched_order_array(s, src) + dst / 64 * 2 + resp;
}

/** Makes the head of the queue of c and m their candidate. */
static void publish(struct mf_sched *s, uint32_t head, unsigned int c, unsigned int m)
{
	const struct sched_demand *e = s->demand + head;
	unsigned int src = e->resp ? m : c, dst = e->resp ? c : m;

	sched_list_insert(s->list + dst, key_of(s, e, src, dst));
	*order_word(s, src, dst, e->resp) |= UINT64_C(1) << dst % 64;
	if (sched_test(s->free[SCHED_SRC], src) && sched_test(s->free[SCHED_DST], dst))
		sched_activate(s, dst / 64, UINT64_C(1) << dst % 64);
}

/** Takes out the head of a queue, whose key is at a place of the list; the next one takes over. */
static void remove_head(struct mf_sched *s, uint32_t *queue, uint32_t at, unsigned int src, unsigned int dst)
{
	const struct sched_demand *e = s->demand + *queue;

	sched_list_remove(s->list + dst, at);
	*order_word(s, src, dst, e->resp) &= ~(UINT64_C(1) << dst % 64);
	*queue = e->next;
	if (e->next)
		publish(s, e->next, e->resp ? dst : src, e->resp ? src : dst);
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

static void give_demand(struct mf_sched *s, uint32_t i, unsigned int dst)
{
	s->demand[i].next = s->demand_free;
	s->demand_free = i;
	s->depth[dst]--;
	s->stats.entries--;
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

static void drop(struct mf_sched *s, const struct mf_sched_msg *msg, uint64_t *count)
{
	++*count;
	mf_sched_dismiss(s, msg, msg->cookie);
}

void mf_sched_queue_add(struct mf_sched *s, const struct mf_sched_msg *msg)
{
	uint32_t *link = s->queue + sched_queue(s, msg->src, msg->dst, msg->resp);
	bool first = !*link, used = false;
	uint32_t active = 0;

	for (; *link; link = &s->demand[*link].next) {
		active += s->demand[*link].resp == msg->resp;
		used |= s->demand[*link].resp == msg->resp && s->demand[*link].id == msg->id;
	}
	if (active >= s->config.x || used) {
		drop(s, msg, active >= s->config.x ? &s->stats.dropped_x : &s->stats.dropped_bad);
		return;
	}
	*link = take_demand(s);
	s->demand[*link] = (struct sched_demand){
		.since = msg->at,
		.remaining = msg->size,
		.cookie = msg->cookie,
		.id = msg->id,
		.exponent = msg->exponent,
		.request_blocks = msg->request_blocks,
		.resp = msg->resp,
		.mega = msg->mega,
	};
	count_added(s, msg);
	if (first)
		publish(s, *link, msg->resp ? msg->dst : msg->src, msg->resp ? msg->src : msg->dst);
}

void mf_sched_queue_cancel(struct mf_sched *s, const struct mf_sched_msg *msg)
{
	uint32_t *queue = s->queue + sched_queue(s, msg->src, msg->dst, msg->resp), *link = queue;
	struct sched_demand *e;
	uint32_t i;

	while (*link && (s->demand[*link].id != msg->id || s->demand[*link].resp != msg->resp))
		link = &s->demand[*link].next;
	i = *link;
	if (!i) {
		s->stats.cancel_unknown++;
		return;
	}
	e = s->demand + i;
	s->stats.cancelled++;
	s->stats.cancelled_octets += e->remaining;
	if (!e->started)
		mf_sched_dismiss(s, msg, e->cookie);
	if (link == queue)
		remove_head(s, queue, sched_list_rank(s->list + msg->dst, key_of(s, e, msg->src, msg->dst)),
			    msg->src, msg->dst);
	else
		*link = e->next;
	give_demand(s, i, msg->dst);
}

/** Where the key of a request is: it may have moved since, as the head of another queue came in. */
static uint32_t place(const struct sched_list *l, const struct sched_request *r)
{
	return r->at < l->count && sched_list_keys(l)[r->at] == r->key ? r->at : sched_list_rank(l, r->key);
}

uint32_t mf_sched_queue_grant(struct mf_sched *s, const struct sched_request *r, uint32_t queue,
			      struct mf_sched_grant *g)
{
	unsigned int src = sched_key_src(r->key), dst = sched_key_dst(r->key);
	struct sched_list *l = s->list + dst;
	uint32_t i = s->queue[queue], at = place(l, r);
	struct sched_demand *e = s->demand + i;
	uint32_t blocks = e->resp && !e->started ? e->request_blocks : 1;

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
	if (g->last) {
		remove_head(s, s->queue + queue, at, src, dst);
		give_demand(s, i, dst);
	} else if (s->config.priority == MF_SCHED_SRPT) {
		sched_list_raise(l, at, key_of(s, e, src, dst));
	}
	return blocks;
}
