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

/** @param alone whether anybody wants to know */
static inline void issue_begin(struct mf_sched *s, bool alone)
{
	struct sched_issues *list = s->issues;

	list->n = list->done = list->left = 0;
	list->octets = 0;
	list->alone = alone;
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

/** Whether the next grant of a demand leaves its queue to no other: that one could be granted in the same matching. */
static inline bool issue_goes_on(const struct mf_sched *s, const struct sched_demand *e)
{
	return !e->next | (e->remaining > s->config.chunk);
}

/** Grants what a source was asked for. */
static inline void issue_add(struct mf_sched *s, const struct sched_request *r, unsigned int iteration)
{
	unsigned int src = sched_key_src(r->key), dst = sched_key_dst(r->key);
	bool resp = sched_key_resp(r->key);
	struct sched_issues *list = s->issues;
	struct sched_issue *i = list->of + list->n;
	struct mf_sched_grant *g = issue_grant(s, src, dst, resp, iteration);
	struct sched_demand *e;
	uint32_t blocks;

	i->key = r->key;
	i->at = r->at;
	i->queue = sched_queue(s, src, dst, resp);
	i->demand = s->queue[i->queue];
	e = s->demand + i->demand;
	blocks = queue_grant(s, e, g);
	list->octets += g->size;
	list->done_of[list->done] = list->left_of[list->left] = list->n++;
	list->done += g->last;
	list->left += !g->last;
	list->alone &= issue_goes_on(s, e);
	if (s->window) {
		sched_clear(&s->free[SCHED_SRC], src);
		sched_clear(&s->free[SCHED_DST], dst);
		ports_load(s, SCHED_SRC, src, g->size);
		ports_load(s, SCHED_DST, dst, g->size);
	} else {
		ports_take(s, g);
		ports_charge(s, src, g->at, blocks);
	}
}

static inline bool issue_alone(const struct mf_sched *s, unsigned int src, unsigned int dst)
{
	uint64_t others = s->list[dst].count;

	for (unsigned int w = 0; w < s->words; w++)
		others |= sched_order(s, 0, src)[w] | sched_order(s, 1, src)[w];
	return !others;
}

/** Demands that are granted in full leave: all of them before others take over, so that places hold. */
static inline void issue_done(struct mf_sched *s)
{
	struct sched_issues *list = s->issues;
	unsigned int followed = 0;

	for (unsigned int k = 0; k < list->done; k++) {
		const struct sched_issue *i = list->of + list->done_of[k];
		unsigned int src = sched_key_src(i->key), dst = sched_key_dst(i->key);

		queue_withdraw(s, i->at, sched_key_resp(i->key), src, dst);
		if (s->demand[i->demand].next)
			list->done_of[followed++] = list->done_of[k];
		else
			queue_give_demand(s, i->demand, dst);
		list->alone = list->alone && issue_alone(s, src, dst);
	}
	list->done = followed;
}

/** Others take over. */
static inline void issue_follow(struct mf_sched *s)
{
	struct sched_issues *list = s->issues;

	for (unsigned int k = 0; k < list->done; k++) {
		const struct sched_issue *i = list->of + list->done_of[k];
		unsigned int dst = sched_key_dst(i->key);

		queue_succeed(s, i->queue, sched_key_src(i->key), dst);
		queue_give_demand(s, i->demand, dst);
	}
}

/** What was not granted in full has a higher priority, after so many chunks. */
static inline void issue_raise(struct mf_sched *s, unsigned int chunks)
{
	struct sched_issues *list = s->issues;

	if (s->config.priority == MF_SCHED_FCFS)
		return;
	for (unsigned int k = 0; k < list->left; k++) {
		struct sched_issue *i = list->of + list->left_of[k];

		i->key = queue_lower(s, s->demand + i->demand, i->key, chunks * s->config.chunk);
		i->at = list_raise(s->list + sched_key_dst(i->key), i->at, i->key);
	}
}

/** All grants of the iteration are made. */
static inline void issue_end(struct mf_sched *s)
{
	s->stats.granted_octets += s->issues->octets;
	issue_done(s);
	issue_raise(s, 1);
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
