/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matchings that repeat themselves. Under WINDOW ports are free again when a matching is over, and where it
 * took one iteration the next one of the same instant has the same outcome: who won has a higher priority
 * than before (SRPT), or the same (FCFS), and who lost has what he had. So it goes on, without requests,
 * until a demand ends that leaves others beside it, which now have their turn, or a window ends. A mega that
 * lost would have to be looked at each time, whether it still fits.
 */
#ifndef MF_SCHED_REPEAT_MATCHING_H
#define MF_SCHED_REPEAT_MATCHING_H

#include "systems/edm/sched/issue.h"

/** How far a matching can be repeated without anything coming to its end. */
struct repeat {
	uint32_t least; /* octets that the shortest demand still wants */
	uint32_t most; /* octets that are outstanding at one of the ports */
};

static inline uint32_t repeat_load(struct mf_sched *s, enum sched_side side, unsigned int port, uint32_t size)
{
	ports_load(s, side, port, size);
	return s->outstanding[side][port];
}

/** One more matching of the same pairs. */
SCHED_PART struct repeat repeat_match(struct mf_sched *s)
{
	struct repeat limit = {.least = UINT32_MAX, .most = 0};
	struct sched_issues *list = &s->issues;
	unsigned int n = list->left, done = 0, left = 0;
	struct mf_sched_grant *g = s->out + s->given;
	uint64_t octets = 0;

	for (unsigned int k = 0; k < n; k++, g++) {
		const struct sched_request *r = list->request + list->left_of[k];
		unsigned int src = issue_src(r), dst = issue_dst(r);
		struct sched_demand *e = s->demand + r->demand;
		uint32_t most;

		queue_grant(s, e, g);
		g->at = s->clock;
		g->src = src;
		g->dst = dst;
		g->resp = issue_resp(r);
		g->iteration = 1;
		octets += g->size;
		most = repeat_load(s, SCHED_SRC, src, g->size);
		limit.most = most > limit.most ? most : limit.most;
		most = repeat_load(s, SCHED_DST, dst, g->size);
		limit.most = most > limit.most ? most : limit.most;
		limit.least = e->remaining < limit.least ? e->remaining : limit.least;
		list->done_of[done] = list->left_of[left] = list->left_of[k];
		done += g->last;
		left += !g->last;
		list->alone &= issue_goes_on(s, e);
	}
	list->done = done;
	list->left = left;
	s->given += n;
	s->stats.granted_octets += octets;
	issue_matched(s, 1, n);
	return limit;
}

/** The grants of the last matching as often again as all of them are for whole chunks. */
SCHED_PART void repeat_copy(struct mf_sched *s, struct repeat limit)
{
	struct sched_issues *list = &s->issues;
	const uint32_t chunk = s->config.chunk;
	unsigned int n = list->left, times = 0;
	struct mf_sched_grant *g = s->out + s->given;

	for (; limit.least > chunk && limit.most + chunk <= s->roomy && s->given + n <= s->max; times++) {
		for (unsigned int k = 0; k < n; k++, g++)
			*g = *(g - n);
		s->given += n;
		limit.least -= chunk;
		limit.most += chunk;
		issue_matched(s, 1, n);
	}
	for (unsigned int k = 0; k < n && times; k++) {
		const struct sched_request *r = list->request + list->left_of[k];
		struct sched_demand *e = s->demand + r->demand;

		s->outstanding[SCHED_SRC][issue_src(r)] += times * chunk;
		s->outstanding[SCHED_DST][issue_dst(r)] += times * chunk;
		e->remaining -= times * chunk;
		s->stats.granted_octets += (uint64_t)times * chunk;
		list->alone &= issue_goes_on(s, e);
	}
}

/** Goes on from a matching of one iteration. */
static inline void repeat(struct mf_sched *s)
{
	struct sched_issues *list = &s->issues;
	bool repeated = false;

	for (unsigned int k = 0; list->alone && k < list->left; k++)
		list->alone = issue_goes_on(s, s->demand + list->request[list->left_of[k]].demand);
	while (list->alone && list->left && !s->any_tight && !s->megas && s->given + list->left <= s->max) {
		struct repeat limit = repeat_match(s);

		repeated = true;
		if (list->done)
			issue_done(s);
		else if (limit.least > s->config.chunk)
			repeat_copy(s, limit);
	}
	if (repeated)
		issue_raise(s);
}

#endif
