/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The grants of a matching: steps (4) and (5) of 3.1.1. They are made one after the other without a branch
 * on whether a demand is granted in full, which nobody could foretell. When all are made, those that are
 * leave their queues, and of the others the priority rises.
 */
#ifndef MF_SCHED_ISSUE_H
#define MF_SCHED_ISSUE_H

#include "leave.h"
#include "ports.h"
#include "queue.h"

#define ISSUE_BATCH 32 /* grants */

static inline unsigned int issue_src(const struct sched_request *r)
{
	return r->low >> SCHED_KEY_SRC & 0x1ff;
}

static inline unsigned int issue_dst(const struct sched_request *r)
{
	return r->low >> SCHED_KEY_DST & 0x1ff;
}

static inline bool issue_resp(const struct sched_request *r)
{
	return r->low >> SCHED_KEY_RESP & 1;
}

static inline sched_key issue_key(const struct sched_request *r)
{
	return (sched_key)r->high << 64 | r->low;
}

static inline uint32_t issue_queue(const struct mf_sched *s, const struct sched_request *r)
{
	return sched_queue(s, issue_src(r), issue_dst(r), issue_resp(r));
}

/**
 * When the last grant of a queue of both directions leaves: the next does not leave before (D9). One of the
 * same direction leaves behind it anyway, as its ports are in use until then. One of the other direction
 * waits for its time with the source that is the destination here.
 */
static inline mf_time issue_behind(const struct mf_sched *s, unsigned int src, unsigned int dst, bool resp)
{
	const struct mf_sched_grant *g = s->grant + dst;
	mf_time at;

	if (!s->config.ahead || s->direction)
		return 0;
	at = s->leaving.at[dst];
	return at & -(mf_time)((at != MF_NEVER) & (g->dst == src) & (g->resp != resp));
}

/** A grant of that iteration; all of it but what the queue knows. */
static inline struct mf_sched_grant *issue_grant(struct mf_sched *s, unsigned int src, unsigned int dst,
						 bool resp, unsigned int iteration)
{
	mf_time at = s->clock + iteration * s->config.iteration;
	struct mf_sched_grant *g;

	if (!s->window) {
		mf_time until = mf_time_max(s->port[src].until[SCHED_SRC], s->port[dst].until[SCHED_DST]);

		at = mf_time_max(mf_time_max(at, until), issue_behind(s, src, dst, resp));
	}
	g = leave_at(s, src, at);
	g->at = at;
	g->src = src;
	g->dst = dst;
	g->resp = resp;
	g->iteration = iteration;
	return g;
}

/** Whether the next grant of a demand leaves its queue to no other, to be granted in the same matching. */
static inline bool issue_goes_on(const struct mf_sched *s, const struct sched_demand *e)
{
	return !e->next | (e->remaining > s->config.chunk);
}

/** Grants a request. @return the grant */
static inline const struct mf_sched_grant *issue_one(struct mf_sched *s, struct sched_request *r)
{
	unsigned int src = issue_src(r), dst = issue_dst(r);
	struct mf_sched_grant *g = issue_grant(s, src, dst, issue_resp(r), r->iteration);
	uint32_t blocks;

	blocks = queue_grant(s, s->demand + r->demand, g);
	if (s->window) {
		sched_clear(&s->free[SCHED_SRC], src);
		sched_clear(&s->free[SCHED_DST], dst);
		ports_load(s, SCHED_SRC, src, g->size);
		ports_load(s, SCHED_DST, dst, g->size);
	} else {
		ports_take(s, g);
		ports_charge(s, src, g->at, blocks);
	}
	return g;
}

/** Grants requests. */
SCHED_PART void issue_all(struct mf_sched *s)
{
	struct sched_issues *list = &s->issues;
	unsigned int n = list->n, done = 0, left = 0;
	uint64_t octets = 0;

	for (unsigned int k = 0; k < n; k++) {
		const struct mf_sched_grant *g;

		g = issue_one(s, list->request + k);

		octets += g->size;
		list->done_of[done] = list->left_of[left] = k;
		done += g->last;
		left += !g->last;
	}
	list->done = done;
	list->left = left;
	s->stats.granted_octets += octets;
}

/** Which demands are granted. They are far away, so others are granted before they are looked at. */
static inline void issue_find(struct mf_sched *s)
{
	const struct sched_demand *demand = s->demand;
	const uint32_t *queue = s->queue;
	struct sched_issues *list = &s->issues;

	for (unsigned int k = list->found; k < list->n; k++) {
		uint32_t i = queue[list->request[k].demand];

		list->request[k].demand = i;
		__builtin_prefetch(demand + i, 1);
	}
	list->found = list->n;
}

/** What the demands of requests know of their grants, which leave at once. */
static inline void issue_write(struct mf_sched *s, struct mf_sched_grant *g, const struct sched_request *r,
			       unsigned int n)
{
	struct sched_issues *list = &s->issues;
	struct sched_demand *demand = s->demand;
	const uint32_t chunk = s->config.chunk;
	const mf_time at = s->clock;
	unsigned int done = list->done, left = list->left, place = r - list->request;
	uint64_t octets = 0;

	for (const struct sched_request *end = r + n; r < end; r++, g++, place++) {
		struct sched_demand *e = demand + r->demand;
		uint64_t low = r->low, high = r->high;
		uint32_t rest = e->remaining, size;
		uint8_t flags = e->flags;

		size = chunk | -(uint32_t)(low & 1);
		size = size < rest ? size : rest;
		e->remaining = rest - size;
		e->flags = flags | SCHED_STARTED;
		g->at = at;
		g->since = low >> SCHED_KEY_AT | high << (64 - SCHED_KEY_AT);
		g->src = low >> SCHED_KEY_SRC & 0x1ff;
		g->dst = low >> SCHED_KEY_DST & 0x1ff;
		g->id = low >> SCHED_KEY_ID;
		g->resp = low >> SCHED_KEY_RESP & 1;
		g->first = !(flags & SCHED_STARTED);
		g->last = size == rest;
		g->mega = low & 1;
		g->size = size;
		g->cookie = e->cookie;
		g->iteration = r->iteration;
		octets += size;
		list->done_of[done] = list->left_of[left] = place;
		done += size == rest;
		left += size != rest;
	}
	list->done = done;
	list->left = left;
	s->stats.granted_octets += octets;
}

/** WINDOW: the ports of grants have more outstanding. */
SCHED_PART void issue_load(struct mf_sched *s, const struct mf_sched_grant *g, unsigned int n)
{
	for (const struct mf_sched_grant *end = g + n; g < end; g++) {
		ports_load(s, SCHED_SRC, g->src, g->size);
		ports_load(s, SCHED_DST, g->dst, g->size);
	}
}

/** WIRE: what tells the sources of grants to send takes their links. */
SCHED_PART void issue_charge(struct mf_sched *s, const struct mf_sched_grant *g,
			     const struct sched_request *r, unsigned int n)
{
	for (unsigned int k = 0; k < n; k++, g++) {
		const struct sched_demand *e = s->demand + r[k].demand;

		ports_charge(s, g->src, g->at, (g->resp && g->first) ? queue_request(e->flags) : 1);
	}
}

/** Grants that all leave now. */
static inline void issue_batch(struct mf_sched *s, const struct sched_request *r, unsigned int n)
{
	struct mf_sched_grant *g = s->out + s->given;

	issue_write(s, g, r, n);
	s->given += n;
	if (s->window) {
		issue_load(s, g, n);
		return;
	}
	ports_take_all(s, g, n);
	if (s->config.release == MF_RELEASE_WIRE)
		issue_charge(s, g, r, n);
}

/** ... so many at a time that they stay in the nearest cache until all is done with them. */
SCHED_PART void issue_here(struct mf_sched *s)
{
	struct sched_issues *list = &s->issues;
	unsigned int n = list->n;

	list->done = list->left = 0;
	for (unsigned int k = 0; k < n; k += ISSUE_BATCH)
		issue_batch(s, list->request + k, n - k < ISSUE_BATCH ? n - k : ISSUE_BATCH);
}

/** Whether grants leave when they are made: a free port's last grant is over, but where it is taken ahead. */
static inline bool issue_at_once(const struct mf_sched *s, unsigned int n)
{
	return !s->config.iteration && !s->config.slots && (s->window || !s->config.ahead) &&
	       s->given + n <= s->max;
}

static inline bool issue_alone(const struct mf_sched *s, unsigned int src, unsigned int dst)
{
	uint64_t others = s->list[dst].count;

	for (unsigned int w = 0; w < s->words; w++)
		others |= sched_order(s, 0, src)[w] | sched_order(s, 1, src)[w];
	return !others;
}

/** Demands that are granted in full leave: all of them before others take over, so that places hold. */
SCHED_PART void issue_done(struct mf_sched *s)
{
	struct sched_issues *list = &s->issues;
	unsigned int n = list->done, followed = 0;
	bool alone = list->alone;

	for (unsigned int k = 0; k < n; k++) {
		const struct sched_request *r = list->request + list->done_of[k];
		unsigned int src = issue_src(r), dst = issue_dst(r);

		__builtin_prefetch(list_at(s->list + dst, r->at), 1);
		__builtin_prefetch(sched_order(s, issue_resp(r), src) + dst / 64, 1);
	}
	for (unsigned int k = 0; k < n; k++) {
		const struct sched_request *r = list->request + list->done_of[k];
		unsigned int src = issue_src(r), dst = issue_dst(r);

		queue_withdraw(s, r->at, issue_resp(r), src, dst);
		if (s->demand[r->demand].next)
			list->done_of[followed++] = list->done_of[k];
		else
			queue_give_demand(s, r->demand, dst);
		alone = alone && !followed && issue_alone(s, src, dst);
	}
	list->done = followed;
	list->alone = alone;
}

/** Others take over. */
static inline void issue_follow(struct mf_sched *s)
{
	struct sched_issues *list = &s->issues;

	for (unsigned int k = 0; k < list->done; k++) {
		const struct sched_request *r = list->request + list->done_of[k];
		unsigned int dst = issue_dst(r);

		queue_succeed(s, issue_queue(s, r), issue_src(r), dst);
		queue_give_demand(s, r->demand, dst);
	}
}

/** What was not granted in full has a higher priority. Most are the first in a list. */
SCHED_PART void issue_raise(struct mf_sched *s)
{
	struct sched_issues *list = &s->issues;
	struct sched_list *lists = s->list;

	if (s->config.priority == MF_SCHED_FCFS)
		return;
	for (unsigned int k = 0; k < list->left; k++) {
		struct sched_request *r = list->request + list->left_of[k];
		struct sched_list *l = lists + issue_dst(r);
		sched_key key = queue_lower(s, s->demand + r->demand, issue_key(r));

		r->high = (uint64_t)(key >> 64);
		if (r->at)
			r->at = list_raise(l, r->at, key);
		else
			l->few[0] = key;
	}
}

/** A request is granted in that iteration: to be issued. Its ports are not free any more. */
static inline void issue_add(struct mf_sched *s, const struct sched_request *asked, unsigned int iteration)
{
	struct sched_request *r = s->issues.request + s->issues.n++;

	sched_clear(&s->free[SCHED_SRC], issue_src(asked));
	sched_clear(&s->free[SCHED_DST], issue_dst(asked));
	*r = *asked;
	r->iteration = iteration;
	r->demand = issue_queue(s, r);
	__builtin_prefetch(s->queue + r->demand);
}

/** The grants of requests. */
static inline void issue(struct mf_sched *s)
{
	issue_find(s);
	s->issues.alone = s->window;
	if (issue_at_once(s, s->issues.n))
		issue_here(s);
	else
		issue_all(s);
	s->issues.n = s->issues.found = 0;
	issue_done(s);
	issue_raise(s);
	issue_follow(s);
	ports_settle(s);
}

/** Ends a matching of so many iterations, all of which granted something. */
static inline void issue_matched(struct mf_sched *s, unsigned int iterations, uint64_t grants)
{
	struct mf_sched_stats *st = &s->stats;

	if (!iterations)
		return;
	st->matchings++;
	st->grants += grants;
	st->iterations += iterations;
	if (iterations > st->iterations_max)
		st->iterations_max = iterations;
	if (grants > st->matched_max)
		st->matched_max = grants;
	s->clock += iterations * s->config.iteration;
}

#endif
