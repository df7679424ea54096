/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matchings that repeat themselves. Under WINDOW ports are free again when a matching is over, and where it
 * took one iteration the next one of the same instant has the same outcome: who won has a higher priority
 * than before (SRPT), or the same (FCFS), and who lost has what he had. So it goes on, without requests,
 * until a demand ends that leaves others beside it, which now have their turn, or a window ends.
 */
#ifndef MF_SCHED_AGAIN_H
#define MF_SCHED_AGAIN_H

#include "issue.h"

/** One more matching of the same pairs. */
static inline void again_match(struct mf_sched *s)
{
	struct sched_issues *list = s->issues;
	unsigned int n = list->left, left = 0;
	struct mf_sched_grant *g = s->out + s->given;

	list->done = list->left = 0;
	list->octets = 0;
	for (unsigned int k = 0; k < n; k++, g++) {
		const struct sched_issue *i = list->of + list->left_of[k];
		struct sched_demand *e = s->demand + i->demand;

		g->at = s->clock;
		g->src = sched_key_src(i->key);
		g->dst = sched_key_dst(i->key);
		g->resp = sched_key_resp(i->key);
		g->iteration = 1;
		queue_grant(s, e, g);
		list->octets += g->size;
		ports_load(s, SCHED_SRC, g->src, g->size);
		ports_load(s, SCHED_DST, g->dst, g->size);
		list->done_of[list->done] = list->left_of[left] = list->left_of[k];
		list->done += g->last;
		left += !g->last;
		list->alone &= issue_goes_on(s, e);
	}
	list->left = left;
	s->given += n;
	s->stats.granted_octets += list->octets;
	issue_matched(s, 1, n);
}

/** Goes on from a matching of one iteration. */
static inline void again(struct mf_sched *s)
{
	struct sched_issues *list = s->issues;
	unsigned int chunks = 0;

	for (; list->alone && list->left && !s->any_tight && s->given + list->left <= s->max; chunks++) {
		again_match(s);
		issue_done(s);
	}
	if (chunks)
		issue_raise(s, chunks);
}

#endif
