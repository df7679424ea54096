/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The grants of an iteration: steps (4) and (5) of 3.1.1. They are made one after the other without a branch
 * on whether a demand is granted in full, which nobody could foretell. When all are made, those that are
 * leave their queues, and of the others the priority rises.
 */
#ifndef MF_SCHED_ISSUE_H
#define MF_SCHED_ISSUE_H

#include "leave.h"
#include "ports.h"
#include "queue.h"

#define ISSUE_AHEAD 16 /* grants between prefetch and use */

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

/** Grants what a source was asked for. @return the grant */
static inline const struct mf_sched_grant *issue_one(struct mf_sched *s, struct sched_request *r,
						     unsigned int iteration)
{
	unsigned int src = issue_src(r), dst = issue_dst(r);
	struct mf_sched_grant *g = issue_grant(s, src, dst, issue_resp(r), iteration);
	uint32_t blocks;

	r->demand = s->queue[sched_queue(s, src, dst, issue_resp(r))];
	r->high = SCHED_REQUEST_NONE;
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

/** The demand that a source was asked for is soon needed. */
static inline void issue_prefetch(const struct mf_sched *s, const struct sched_request *r)
{
	uint32_t queue = sched_queue(s, issue_src(r), issue_dst(r), issue_resp(r));

	__builtin_prefetch(s->demand + s->queue[queue]);
}

/** Grants what sources were asked for. */
SCHED_PART void issue_all(struct mf_sched *s, const uint16_t *src, unsigned int n, unsigned int iteration)
{
	struct sched_issues *list = &s->issues;
	unsigned int done = 0, left = 0;
	uint64_t octets = 0;

	for (unsigned int k = 0; k < n; k++) {
		struct sched_request *r = s->asked + src[k];
		const struct mf_sched_grant *g;

		issue_prefetch(s, s->asked + src[k + ISSUE_AHEAD < n ? k + ISSUE_AHEAD : k]);
		g = issue_one(s, r, iteration);

		octets += g->size;
		list->done_of[done] = list->left_of[left] = src[k];
		done += g->last;
		left += !g->last;
	}
	list->done = done;
	list->left = left;
	s->stats.granted_octets += octets;
}

/** What the demands of granted requests know of their grants, which leave at once. */
SCHED_PART void issue_write(struct mf_sched *s, struct mf_sched_grant *g, const uint16_t *src, unsigned int n)
{
	struct sched_request *asked = s->asked;
	const uint32_t chunk = s->config.chunk;
	const mf_time at = s->clock;

	for (unsigned int k = 0; k < n; k++) {
		struct sched_request *r = asked + src[k];

		r->demand = s->queue[sched_queue(s, src[k], issue_dst(r), issue_resp(r))];
		__builtin_prefetch(s->demand + r->demand);
	}
	for (unsigned int k = 0; k < n; k++, g++) {
		struct sched_request *r = asked + src[k];
		uint64_t low = r->low;
		unsigned int from = src[k], to = low >> SCHED_KEY_DST & 0x1ff;
		uint32_t i = r->demand, rest, size;
		struct sched_demand *e = s->demand + i;
		uint8_t flags = e->flags;

		g->at = at;
		g->since = low >> SCHED_KEY_AT | r->high << (64 - SCHED_KEY_AT);
		r->high = SCHED_REQUEST_NONE;
		g->src = from;
		g->dst = to;
		g->id = low >> SCHED_KEY_ID;
		g->resp = low >> SCHED_KEY_RESP & 1;
		g->first = !(flags & SCHED_STARTED);
		e->flags = flags | SCHED_STARTED;
		g->mega = low & 1;
		g->cookie = e->cookie;
		rest = e->remaining;
		size = chunk | -(uint32_t)(low & 1);
		size = size < rest ? size : rest;
		g->size = size;
		g->last = size == rest;
		e->remaining = rest - size;
	}
}

/** WINDOW: the ports of grants are matched, and have more outstanding. */
SCHED_PART void issue_load(struct mf_sched *s, const struct mf_sched_grant *g, unsigned int n)
{
	for (const struct mf_sched_grant *end = g + n; g < end; g++) {
		sched_clear(&s->free[SCHED_SRC], g->src);
		sched_clear(&s->free[SCHED_DST], g->dst);
		ports_load(s, SCHED_SRC, g->src, g->size);
		ports_load(s, SCHED_DST, g->dst, g->size);
	}
}

/** WIRE: what tells the sources of grants to send takes their links. */
SCHED_PART void issue_charge(struct mf_sched *s, const struct mf_sched_grant *g, unsigned int n)
{
	for (const struct mf_sched_grant *end = g + n; g < end; g++) {
		const struct sched_demand *e = s->demand + s->asked[g->src].demand;

		ports_charge(s, g->src, g->at, (g->resp && g->first) ? e->flags / SCHED_BLOCKS : 1);
	}
}

/** Grants that all leave now. */
SCHED_PART void issue_here(struct mf_sched *s, const uint16_t *src, unsigned int n, unsigned int iteration)
{
	struct sched_issues *list = &s->issues;
	struct mf_sched_grant *g = s->out + s->given;
	unsigned int done = 0, left = 0;
	uint64_t octets = 0;

	issue_write(s, g, src, n);
	s->given += n;
	if (s->window) {
		issue_load(s, g, n);
	} else {
		ports_take_all(s, g, n);
		issue_charge(s, g, n);
	}
	for (const struct mf_sched_grant *end = g + n; g < end; g++) {
		g->iteration = iteration;
		octets += g->size;
		list->done_of[done] = list->left_of[left] = g->src;
		done += g->last;
		left += !g->last;
	}
	list->done = done;
	list->left = left;
	s->stats.granted_octets += octets;
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
		const struct sched_request *r = s->asked + list->done_of[k];
		unsigned int src = list->done_of[k], dst = issue_dst(r);

		queue_withdraw(s, r->at, issue_resp(r), src, dst);
		if (s->demand[r->demand].next)
			list->done_of[followed++] = src;
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
		const struct sched_request *r = s->asked + list->done_of[k];

		unsigned int src = list->done_of[k], dst = issue_dst(r);

		queue_succeed(s, sched_queue(s, src, dst, issue_resp(r)), src, dst);
		queue_give_demand(s, r->demand, dst);
	}
}

/** What was not granted in full has a higher priority. */
SCHED_PART void issue_raise(struct mf_sched *s)
{
	struct sched_issues *list = &s->issues;

	if (s->config.priority == MF_SCHED_FCFS)
		return;
	for (unsigned int k = 0; k < list->left; k++) {
		unsigned int soon = k + ISSUE_AHEAD < list->left ? k + ISSUE_AHEAD : k;
		struct sched_request *r = s->asked + list->left_of[k];
		struct sched_list *l = s->list + issue_dst(r);
		sched_key key = *list_at(l, r->at);

		__builtin_prefetch(s->list + issue_dst(s->asked + list->left_of[soon]));
		r->at = list_raise(l, r->at, queue_lower(s, s->demand + r->demand, key));
	}
}

/** The grants of an iteration to the sources that were asked. */
static inline void issue(struct mf_sched *s, const uint16_t *src, unsigned int n, unsigned int iteration)
{
	s->issues.alone = s->window;
	if (issue_at_once(s, n))
		issue_here(s, src, n, iteration);
	else
		issue_all(s, src, n, iteration);
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
