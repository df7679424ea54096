/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A demand that is granted as it comes, in one call: nothing else waits, so it needs no place in the inbox
 * and no step of run(). What comes out is what those would give.
 */
#include "systems/edm/sched/intake.h"

/** Whether it is a demand that run() would take in by itself, in a step that it makes until now. */
static inline bool offer_alone(const struct mf_sched *s, const struct mf_sched_msg *msg)
{
	return msg->kind == MF_SCHED_DEMAND && msg->src < s->ports && msg->dst < s->ports &&
	       msg->size - 1 < SCHED_SIZE_MAX && s->inbox.head == s->inbox.tail && !s->active_any;
}

/** What was forwarded until then: the steps of run() before the demand's, or the first half of that. */
static inline void offer_forwarded(struct mf_sched *s, mf_time until)
{
	while (s->forwards.first <= until && !s->active_any) {
		s->clock = mf_time_max(s->forwards.first, s->clock);
		ports_forwarded(s);
	}
}

/** @return false: it is no such demand, or is not granted; what was forwarded before it has taken effect */
static inline bool offer_express(struct mf_sched *s, const struct mf_sched_msg *msg, mf_time now,
				 struct mf_sched_grant *grant)
{
	mf_time takes_effect = mf_time_max(mf_time_max(msg->at, s->now), s->clock);
	bool granted;

	if (!s->prompt || s->leaves <= now || takes_effect > now || !offer_alone(s, msg))
		return false;
	offer_forwarded(s, takes_effect);
	if (s->forwards.first <= now || s->active_any)
		return false;
	s->clock = takes_effect;
	s->out = grant;
	s->given = 0;
	s->max = 1;
	granted = intake_express(s, msg);
	s->max = 0;
	if (granted)
		s->now = now;
	return granted;
}

unsigned int mf_sched_offer(struct mf_sched *s, const struct mf_sched_msg *msg, mf_time now,
			    struct mf_sched_grant *grants, unsigned int max)
{
	if (max && offer_express(s, msg, now, grants))
		return 1;
	mf_sched_input(s, msg);
	return s->run(s, now, grants, max);
}
