/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The demand notification queues (EDM 3.1.1, 3.1.2): a first-in first-out queue for each pair, whose
 * head is the candidate of the pair. A destination's queue of the paper is what is held for it in the
 * queues of its pairs; its list puts their heads in order.
 */
#ifndef MF_SCHED_QUEUE_H
#define MF_SCHED_QUEUE_H

#include "systems/edm/sched/leave.h"
#include "systems/edm/sched/list.h"
#include "systems/edm/sched/slot.h"

/** What SRPT goes by: octets that remain, less one; and whether it is beyond a share. */
static inline uint64_t queue_octets(const struct mf_sched *s, const struct sched_demand *e)
{
	uint64_t behind = s->config.srpt_transfer ? (uint64_t)e->behind * MF_SCHED_BEHIND : 0;
	uint64_t excess = (uint64_t)(e->flags / SCHED_EXCESS) << SCHED_KEY_EXCESS;

	return excess + (s->config.priority == MF_SCHED_FCFS ? 0 : behind + e->remaining - 1);
}

/** Wire blocks of its request. */
static inline unsigned int queue_request(unsigned int flags)
{
	return flags % SCHED_EXCESS / SCHED_BLOCKS;
}

static inline sched_key queue_key(const struct mf_sched *s, const struct sched_demand *e, unsigned int src,
				  unsigned int dst)
{
	uint64_t high = queue_octets(s, e) << (SCHED_KEY_OCTETS - 64) | e->since >> (64 - SCHED_KEY_AT);
	uint64_t low = e->since << SCHED_KEY_AT | src << SCHED_KEY_SRC | (uint32_t)e->id << SCHED_KEY_ID |
		       (e->flags & SCHED_RESP) << SCHED_KEY_RESP | dst << SCHED_KEY_DST |
		       (e->flags & SCHED_MEGA) / SCHED_MEGA;

	return (sched_key)high << 64 | low;
}

/** SRPT: the key of a candidate of which less remains than when it had this one. */
static inline sched_key queue_lower(const struct mf_sched *s, const struct sched_demand *e, sched_key key)
{
	const sched_key rest = ((sched_key)1 << SCHED_KEY_OCTETS) - 1;

	return (key & rest) | (sched_key)queue_octets(s, e) << SCHED_KEY_OCTETS;
}

/** Whether the order array of a source has a destination. */
static inline unsigned int queue_ordered(const struct mf_sched *s, bool resp, unsigned int src,
					 unsigned int dst)
{
	return sched_order(s, resp, src)[dst / 64] >> dst % 64 & 1;
}

/** Whether there is a demand in the queue that one of this kind belongs to. Its head has a candidate. */
static inline bool queue_holds(const struct mf_sched *s, bool resp, unsigned int src, unsigned int dst)
{
	unsigned int other = s->direction ? 0 : queue_ordered(s, !resp, dst, src);

	return queue_ordered(s, resp, src, dst) | other;
}

/** Makes a demand the candidate of its queue. */
static inline void queue_publish(struct mf_sched *s, const struct sched_demand *e, unsigned int src,
				 unsigned int dst)
{
	list_insert(s->list + dst, queue_key(s, e, src, dst));
	sched_order(s, e->flags & SCHED_RESP, src)[dst / 64] |= UINT64_C(1) << dst % 64;
	sched_set(&s->wanted, dst);
}

/** Wakes a destination, if it may have a candidate of a source. */
static inline void queue_wake(struct mf_sched *s, unsigned int src, unsigned int dst)
{
	sched_activate(s, dst / 64,
		       ((uint64_t)sched_test(&s->free[SCHED_SRC], src) &
			(uint64_t)sched_test(&s->free[SCHED_DST], dst))
			       << dst % 64);
}

/** Takes a candidate out of the list and the order array. */
static inline void queue_withdraw(struct mf_sched *s, uint32_t at, bool resp, unsigned int src,
				  unsigned int dst)
{
	struct sched_list *l = s->list + dst;

	list_remove(l, at);
	sched_order(s, resp, src)[dst / 64] &= ~(UINT64_C(1) << dst % 64);
	s->wanted.word[dst / 64] &= ~((uint64_t)!l->count << dst % 64);
}

/** The head of a queue is gone, and was withdrawn: the next takes over, of which there is one. */
static inline void queue_succeed(struct mf_sched *s, uint32_t number, unsigned int src, unsigned int dst)
{
	const struct sched_demand *e = s->demand + s->queue[number], *next = s->demand + e->next;
	unsigned int turned = (src ^ dst) & -(unsigned int)((next->flags ^ e->flags) & SCHED_RESP);

	s->queue[number] = e->next;
	s->followers--;
	tail_remove(s->tail + number, e->flags & SCHED_RESP, e->id);
	queue_publish(s, next, src ^ turned, dst ^ turned);
	queue_wake(s, src ^ turned, dst ^ turned);
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
	s->megas -= (s->demand[i].flags & SCHED_MEGA) / SCHED_MEGA;
	s->demand[i].next = s->demand_free;
	s->demand_free = i;
	s->depth[dst]--;
	s->stats.entries--;
}

/** Statistics of a demand, with which there are so many, and so many of its destination. */
static inline void queue_count(struct mf_sched *s, const struct mf_sched_msg *msg, uint64_t entries,
			       uint32_t depth)
{
	struct mf_sched_stats *st = &s->stats;

	st->demands++;
	st->demand_octets += msg->size;
	if (entries > st->entries_max)
		st->entries_max = entries;
	if (depth > st->queue_max)
		st->queue_max = depth;
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
		s->stats.dropped_x++;
		return NULL;
	}
	if (tail_may_have(t, msg->resp, msg->id) && queue_has(s, head, msg->resp, msg->id)) {
		s->stats.dropped_bad++;
		return NULL;
	}
	return &s->demand[t->last].next;
}

/** A new demand, of no queue yet. */
static inline uint32_t queue_demand(struct mf_sched *s, const struct mf_sched_msg *msg)
{
	uint32_t i = queue_take_demand(s);

	s->demand[i] = (struct sched_demand){
		.since = msg->at,
		.remaining = msg->size,
		.cookie = msg->cookie,
		.id = msg->id,
		.behind = msg->behind,
		.flags = msg->resp * SCHED_RESP | msg->mega * SCHED_MEGA |
			 msg->request_blocks * SCHED_BLOCKS | msg->excess * SCHED_EXCESS,
	};
	s->megas += msg->mega;
	queue_count(s, msg, ++s->stats.entries, ++s->depth[msg->dst]);
	return i;
}

/** Adds a demand to a queue that has some. @return false: it is refused, and counted */
SCHED_PART bool queue_append(struct mf_sched *s, const struct mf_sched_msg *msg)
{
	uint32_t number = sched_queue(s, msg->src, msg->dst, msg->resp);
	uint32_t *link = queue_link(s, s->queue[number], s->tail + number, msg);

	if (!link)
		return false;
	*link = queue_demand(s, msg);
	s->followers++;
	tail_add(s->tail + number, *link, msg->resp, msg->id);
	return true;
}

/** Wakes nobody. @return false: it is refused, and counted */
static inline bool queue_add(struct mf_sched *s, const struct mf_sched_msg *msg)
{
	const unsigned int src = msg->src, dst = msg->dst;
	const uint64_t bit = UINT64_C(1) << dst % 64;
	uint64_t *order = sched_order(s, msg->resp, src) + dst / 64;
	struct sched_list *l = s->list + dst;
	uint32_t i;

	if (sched_rarely((*order & bit) || (!s->direction && queue_ordered(s, !msg->resp, dst, src))))
		return queue_append(s, msg);
	*order |= bit;
	s->wanted.word[dst / 64] |= bit;
	i = queue_demand(s, msg);
	s->queue[sched_queue(s, src, dst, msg->resp)] = i;
	list_insert(l, queue_key(s, s->demand + i, src, dst));
	return true;
}

/**
 * Drops a demand of a queue, which a message names.
 * @param before  the one before it in its queue; 0: it is the head
 */
static inline void queue_drop(struct mf_sched *s, const struct mf_sched_msg *msg, uint32_t before, uint32_t i)
{
	uint32_t number = sched_queue(s, msg->src, msg->dst, msg->resp);
	const struct sched_demand *e = s->demand + i;

	if (!(e->flags & SCHED_STARTED))
		leave_dismissed(s, msg, e->cookie, false);
	if (before) {
		s->followers--;
		s->demand[before].next = e->next;
		tail_remove(s->tail + number, msg->resp, msg->id);
		if (!e->next)
			s->tail[number].last = before;
	} else {
		sched_key key = queue_key(s, e, msg->src, msg->dst);

		queue_withdraw(s, list_rank(s->list + msg->dst, key), msg->resp, msg->src, msg->dst);
		if (e->next)
			queue_succeed(s, number, msg->src, msg->dst);
	}
	queue_give_demand(s, i, msg->dst);
}

static inline void queue_cancel(struct mf_sched *s, const struct mf_sched_msg *msg)
{
	uint32_t before = 0, i = 0;

	if (queue_holds(s, msg->resp, msg->src, msg->dst))
		i = s->queue[sched_queue(s, msg->src, msg->dst, msg->resp)];
	while (i && (s->demand[i].id != msg->id || (s->demand[i].flags & SCHED_RESP) != msg->resp)) {
		before = i;
		i = s->demand[i].next;
	}
	if (!i) {
		s->stats.cancel_unknown++;
		return;
	}
	s->stats.cancelled++;
	s->stats.cancelled_octets += s->demand[i].remaining;
	queue_drop(s, msg, before, i);
}

/** Drops the candidate of a source and destination, and all behind it in their queue, of either kind. */
SCHED_PART void queue_flush_pair(struct mf_sched *s, bool resp, unsigned int src, unsigned int dst)
{
	uint32_t number = sched_queue(s, src, dst, resp);

	while (queue_holds(s, resp, src, dst)) {
		uint32_t i = s->queue[number];
		const struct sched_demand *e = s->demand + i;
		bool turned = ((e->flags & SCHED_RESP) != 0) != resp;
		struct mf_sched_msg msg = {
			.at = e->since,
			.src = turned ? dst : src,
			.dst = turned ? src : dst,
			.id = e->id,
			.resp = e->flags & SCHED_RESP,
		};

		s->stats.flushed++;
		s->stats.flushed_octets += e->remaining;
		queue_drop(s, &msg, 0, i);
	}
}

/** Drops all demands of a port. */
SCHED_PART void queue_flush(struct mf_sched *s, const struct mf_sched_msg *msg)
{
	for (unsigned int other = 0; other < s->ports; other++)
		for (int resp = 0; resp < 2; resp++) {
			queue_flush_pair(s, resp, msg->src, other);
			queue_flush_pair(s, resp, other, msg->src);
		}
	leave_answer(s, msg->src);
}

/** The grant of a demand that is granted in full as it comes, as if it had been in its queue. */
static inline void queue_pass(struct mf_sched *s, const struct mf_sched_msg *msg, struct mf_sched_grant *g)
{
	queue_count(s, msg, s->stats.entries + 1, s->depth[msg->dst] + 1);
	g->since = msg->at;
	g->id = msg->id;
	g->first = g->last = true;
	g->mega = msg->mega;
	g->refused = false;
	g->size = msg->size;
	g->cookie = msg->cookie;
}

/**
 * Takes a demand's next grant, whose time and ports are known: what it knows of it.
 * @return wire blocks of what tells the source to send: the request, or a /G/
 */
static inline uint32_t queue_grant(struct mf_sched *s, struct sched_demand *e, struct mf_sched_grant *g)
{
	unsigned int flags = e->flags;
	bool request = (flags & (SCHED_RESP | SCHED_STARTED)) == SCHED_RESP;
	uint32_t size = slot_size(s, e, g), blocks = 1 + request * (queue_request(flags) - 1u);

	g->since = e->since;
	g->id = e->id;
	g->first = !(flags & SCHED_STARTED);
	g->mega = (flags & SCHED_MEGA) / SCHED_MEGA;
	g->refused = false;
	g->size = size;
	g->last = size == e->remaining;
	g->cookie = e->cookie;
	e->flags = flags | SCHED_STARTED;
	e->remaining -= size;
	return blocks;
}

#endif
