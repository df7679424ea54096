/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The demand notification queues (EDM 3.1.1, 3.1.2): a first-in first-out queue for each pair, whose
 * head is the candidate of the pair. A destination's queue of the paper is what is held for it in the
 * queues of its pairs; its list puts their heads in order.
 */
#ifndef MF_SCHED_QUEUE_H
#define MF_SCHED_QUEUE_H

#include "leave.h"
#include "list.h"

/**
 * Octets by which SRPT goes, and behind them what remains of the piece: 17 and 16 bits. A transfer's
 * 2^exponent above the largest piece is told by the exponent alone.
 */
static inline uint64_t queue_octets(const struct mf_sched *s, const struct sched_demand *e)
{
	uint64_t octets = e->remaining;

	if (s->config.priority == MF_SCHED_FCFS)
		return 0;
	if (s->config.srpt_transfer && e->exponent)
		octets = e->exponent <= 16 ? UINT32_C(1) << e->exponent : SCHED_SIZE_MAX + e->exponent - 16u;
	return (octets - 1) << 16 | (e->remaining - 1);
}

static inline sched_key queue_key(const struct mf_sched *s, const struct sched_demand *e, unsigned int src,
				  unsigned int dst)
{
	return (sched_key)queue_octets(s, e) << SCHED_KEY_OCTETS | (sched_key)e->since << SCHED_KEY_AT |
	       src << SCHED_KEY_SRC | (uint32_t)e->id << SCHED_KEY_ID |
	       (e->flags & SCHED_RESP) << SCHED_KEY_RESP | dst << SCHED_KEY_DST |
	       (e->flags & SCHED_MEGA) / SCHED_MEGA;
}

/** Makes a demand the candidate of its queue. */
static inline void queue_publish(struct mf_sched *s, const struct sched_demand *e, unsigned int src,
				 unsigned int dst)
{
	list_insert(s->list + dst, queue_key(s, e, src, dst));
	sched_set(&s->order_array[e->flags & SCHED_RESP][src], dst);
	sched_set(&s->wanted, dst);
	sched_activate(s, dst / 64,
		       (uint64_t)(sched_test(&s->free[SCHED_SRC], src) & sched_test(&s->free[SCHED_DST], dst))
			       << dst % 64);
}

/** Takes out the head of a queue, whose key is at a place of the list; the next one takes over. */
static inline void queue_remove_head(struct mf_sched *s, uint32_t *queue, uint32_t at, unsigned int src,
				     unsigned int dst)
{
	const struct sched_demand *e = s->demand + *queue, *next = s->demand + e->next;

	list_remove(s->list + dst, at);
	sched_clear(&s->order_array[e->flags & SCHED_RESP][src], dst);
	if (!s->list[dst].count)
		sched_clear(&s->wanted, dst);
	*queue = e->next;
	if (!e->next)
		return;
	tail_remove(s->tail + (queue - s->queue), e->flags & SCHED_RESP, e->id);
	if ((next->flags & SCHED_RESP) == (e->flags & SCHED_RESP))
		queue_publish(s, next, src, dst);
	else
		queue_publish(s, next, dst, src);
}

/** The pool cannot run out: each queue holds at most X of each kind. */
static inline uint32_t queue_take_demand(struct mf_sched *s)
{
	uint32_t i = s->demand_free;

	if (!i)
		return ++s->demand_used;
	s->demand_free = s->demand[i].next;
	return i;
}

static inline void queue_give_demand(struct mf_sched *s, uint32_t i, unsigned int dst)
{
	s->demand[i].next = s->demand_free;
	s->demand_free = i;
	s->depth[dst]--;
	s->stats.entries--;
}

static inline void queue_count(struct mf_sched *s, const struct mf_sched_msg *msg)
{
	struct mf_sched_stats *st = &s->stats;

	st->demands++;
	st->demand_octets += msg->size;
	if (++st->entries > st->entries_max)
		st->entries_max = st->entries;
	if (++s->depth[msg->dst] > st->queue_max)
		st->queue_max = s->depth[msg->dst];
}

static inline void queue_drop(struct mf_sched *s, const struct mf_sched_msg *msg, uint64_t *count)
{
	++*count;
	leave_dismissed(s, msg, msg->cookie);
}

/** Whether a demand of this kind and id is among those from i on. */
static bool queue_has(const struct mf_sched *s, uint32_t i, bool resp, uint8_t id)
{
	while (i && (s->demand[i].id != id || (s->demand[i].flags & SCHED_RESP) != resp))
		i = s->demand[i].next;
	return i;
}

/** Where the index of one more demand of a queue that has some goes. NULL: it is refused, and counted. */
static inline uint32_t *queue_link(struct mf_sched *s, uint32_t head, struct sched_tail *t,
				   const struct mf_sched_msg *msg)
{
	const struct sched_demand *e = s->demand + head;

	if (!e->next)
		tail_begin(t, head, e->flags & SCHED_RESP, e->id);
	if (t->held[msg->resp] >= s->config.x) {
		queue_drop(s, msg, &s->stats.dropped_x);
		return NULL;
	}
	if (tail_may_have(t, msg->resp, msg->id) && queue_has(s, head, msg->resp, msg->id)) {
		queue_drop(s, msg, &s->stats.dropped_bad);
		return NULL;
	}
	return &s->demand[t->last].next;
}

static inline void queue_add(struct mf_sched *s, const struct mf_sched_msg *msg)
{
	uint32_t number = sched_queue(s, msg->src, msg->dst, msg->resp);
	uint32_t *queue = s->queue + number, *link = queue;

	if (*queue) {
		link = queue_link(s, *queue, s->tail + number, msg);
		if (!link)
			return;
	}
	*link = queue_take_demand(s);
	if (link != queue)
		tail_add(s->tail + number, *link, msg->resp, msg->id);
	s->demand[*link] = (struct sched_demand){
		.since = msg->at,
		.remaining = msg->size,
		.cookie = msg->cookie,
		.id = msg->id,
		.exponent = msg->exponent,
		.request_blocks = msg->request_blocks,
		.flags = msg->resp * SCHED_RESP | msg->mega * SCHED_MEGA,
	};
	queue_count(s, msg);
	if (link == queue)
		queue_publish(s, s->demand + *link, msg->src, msg->dst);
}

static inline void queue_cancel(struct mf_sched *s, const struct mf_sched_msg *msg)
{
	uint32_t number = sched_queue(s, msg->src, msg->dst, msg->resp), before = 0;
	uint32_t *queue = s->queue + number, *link = queue;
	struct sched_demand *e;
	uint32_t i;

	while (*link &&
	       (s->demand[*link].id != msg->id || (s->demand[*link].flags & SCHED_RESP) != msg->resp)) {
		before = *link;
		link = &s->demand[before].next;
	}
	i = *link;
	if (!i) {
		s->stats.cancel_unknown++;
		return;
	}
	e = s->demand + i;
	s->stats.cancelled++;
	s->stats.cancelled_octets += e->remaining;
	if (!(e->flags & SCHED_STARTED))
		leave_dismissed(s, msg, e->cookie);
	if (link == queue) {
		queue_remove_head(s, queue,
				  list_rank(s->list + msg->dst, queue_key(s, e, msg->src, msg->dst)),
				  msg->src, msg->dst);
	} else {
		*link = e->next;
		tail_remove(s->tail + number, msg->resp, msg->id);
		if (!e->next)
			s->tail[number].last = before;
	}
	queue_give_demand(s, i, msg->dst);
}

/**
 * Where the key of a request is: it may have moved since, as the head of another queue came in. The lower
 * halves of the keys of a list differ.
 */
static inline uint32_t queue_place(const struct sched_list *l, const struct sched_request *r)
{
	return (uint64_t)list_keys(l)[r->at] == (uint64_t)r->key ? r->at : list_rank(l, r->key);
}

/** The grant of a demand that is granted in full as it comes, as if it had been in its queue. */
static inline void queue_pass(struct mf_sched *s, const struct mf_sched_msg *msg, struct mf_sched_grant *g)
{
	queue_count(s, msg);
	s->depth[msg->dst]--;
	s->stats.entries--;
	g->since = msg->at;
	g->id = msg->id;
	g->first = g->last = true;
	g->mega = msg->mega;
	g->size = msg->size;
	g->cookie = msg->cookie;
}

/**
 * Takes a candidate's next grant from its queue: what it knows of it.
 * @return wire blocks of what tells the source to send: the request, or a /G/
 */
static inline uint32_t queue_grant(struct mf_sched *s, const struct sched_request *r, uint32_t queue,
				   struct mf_sched_grant *g)
{
	unsigned int src = sched_key_src(r->key), dst = sched_key_dst(r->key);
	uint32_t i = s->queue[queue], at = queue_place(s->list + dst, r);
	struct sched_demand *e = s->demand + i;
	bool request = (e->flags & (SCHED_RESP | SCHED_STARTED)) == SCHED_RESP;
	uint32_t blocks = 1 + request * (e->request_blocks - 1u);

	g->since = e->since;
	g->id = e->id;
	g->first = !(e->flags & SCHED_STARTED);
	g->mega = (e->flags & SCHED_MEGA) / SCHED_MEGA;
	g->size = sched_next_size(s, e);
	g->last = g->size == e->remaining;
	g->cookie = e->cookie;
	e->flags |= SCHED_STARTED;
	e->remaining -= g->size;
	if (g->last) {
		queue_remove_head(s, s->queue + queue, at, src, dst);
		queue_give_demand(s, i, dst);
	} else if (s->config.priority == MF_SCHED_SRPT) {
		list_raise(s->list + dst, at, queue_key(s, e, src, dst));
	}
	return blocks;
}

#endif
