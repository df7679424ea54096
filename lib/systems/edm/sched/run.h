/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What every policy does alike: messages take effect when their time has come, ports are released, the
 * policy matches, grants leave. Time goes in steps from event to event, so that the outcome does not
 * depend on when run() is called.
 */
#ifndef MF_SCHED_RUN_H
#define MF_SCHED_RUN_H

#include "systems/edm/sched/intake.h"

/** Takes in the messages that take effect at clock. */
typedef void run_intake(struct mf_sched *s);
/** Makes the matching that begins at clock. */
typedef void run_match(struct mf_sched *s);

/**
 * The eligible candidate of a destination that has the highest priority (3.1.1, steps (2) and (3)), not
 * before a place of its list.
 * @return its place; count: there is none
 */
static inline uint32_t run_best(struct mf_sched *s, struct sched_list *l, uint32_t from)
{
	uint32_t at = list_free(l, from, &s->free[SCHED_SRC]);

	if (s->window && (s->any_tight || s->megas))
		while (at < l->count && !ports_fit(s, *list_at(l, at)))
			at = list_free(l, at + 1, &s->free[SCHED_SRC]);
	return at;
}

/** Lists the destinations that are active and free. The others need not be looked at. */
static inline unsigned int run_active(struct mf_sched *s, uint16_t *list)
{
	for (unsigned int w = 0; w < SCHED_WORDS_MAX; w++)
		s->active.word[w] &= s->free[SCHED_DST].word[w] & s->wanted.word[w];
	return scan_ports(&s->active, s->words, list);
}

static inline __attribute__((always_inline)) unsigned int run_with(run_intake *take, run_match *match,
								   struct mf_sched *s, mf_time now,
								   struct mf_sched_grant *grants,
								   unsigned int max)
{
	s->out = grants;
	s->given = 0;
	s->max = max;
	for (;;) {
		mf_time t = sched_next_step(s);

		if (s->leaves <= mf_time_min(t, now))
			leave_by(s, mf_time_min(t, now));
		if (t > now || s->given == max || t == MF_NEVER)
			break;
		s->clock = t;
		if (s->forwards.first <= t)
			ports_forwarded(s);
		if (s->inbox.first <= t)
			take(s);
		if (s->releases <= t)
			ports_release(s);
		if (s->active_any)
			match(s);
	}
	s->now = mf_time_max(s->now, now);
	s->max = 0; /* input() has nowhere to write grants to */
	return s->given;
}

#endif
