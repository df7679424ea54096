/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From what is asked of a scheduler to the function of its policy. Items are EDM's descriptors and grants,
 * the only ones that there are.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "systems/mf_scheduler.h"

static const struct mf_channel demands = {.in = &mf_sched_msg_item, .out = &mf_sched_grant_item};
static const struct mf_channel nothing = {.out = &mf_sched_grant_item};

const struct mf_role_ops mf_scheduler_of_demands = {
	.kind = "scheduler", .placement = MF_PLACE_OWN, .counters = mf_sched_counters, .channel = &demands};
const struct mf_role_ops mf_scheduler_of_nothing = {.kind = "idle-scheduler",
						    .placement = MF_PLACE_OWN,
						    .counters = mf_sched_counters,
						    .channel = &nothing};

#define LINE 64 /* of its own: its lcore looks at it in each call */

struct mf_scheduler {
	const struct mf_role_ops *kind;
	const struct mf_sched_ops *ops;
	struct mf_sched *policy;
};
static_assert(sizeof(struct mf_scheduler) <= LINE, "one cache line");

struct mf_scheduler *mf_scheduler_new(const struct mf_role_ops *kind, const struct mf_sched_ops *ops,
				      struct mf_sched *policy)
{
	struct mf_scheduler *s = aligned_alloc(LINE, LINE);

	if (s == NULL) {
		ops->destroy(policy);
		errno = ENOMEM;
		return NULL;
	}
	*s = (struct mf_scheduler){kind, ops, policy};
	return s;
}

void mf_scheduler_free(struct mf_scheduler *s)
{
	if (s == NULL)
		return;
	s->ops->destroy(s->policy);
	free(s);
}

const struct mf_sched_ops *mf_scheduler_policy(const struct mf_scheduler *s, struct mf_sched **policy)
{
	*policy = s->policy;
	return s->ops;
}

void mf_scheduler_set_policy(struct mf_scheduler *s, const struct mf_sched_ops *ops, struct mf_sched *policy)
{
	s->ops = ops;
	s->policy = policy;
}

const struct mf_channel *mf_scheduler_channel(const struct mf_scheduler *s)
{
	return s->kind->channel;
}

const struct mf_role_ops *mf_scheduler_role(const struct mf_scheduler *s)
{
	return s->kind;
}

inline unsigned int mf_scheduler_give(struct mf_scheduler *s, const void *items, unsigned int n)
{
	return s->ops->inputs(s->policy, items, n);
}

inline void mf_scheduler_give_all(struct mf_scheduler *s, const void *items, unsigned int n)
{
	const struct mf_sched_msg *msg = items;

	for (unsigned int i = 0; i < n;) {
		if (n > 1)
			i += s->ops->inputs(s->policy, &msg[i], n - i);
		if (i < n)
			s->ops->input(s->policy,
				      &msg[i++]); /* one is soon done; what is refused is counted */
	}
}

inline unsigned int mf_scheduler_run(struct mf_scheduler *s, mf_time now, void *out, unsigned int max)
{
	return s->ops->run(s->policy, now, out, max);
}

/** What is no demand, up to the first that is one. @return how many */
static inline unsigned int others(const struct mf_sched_msg *msg, unsigned int n)
{
	unsigned int i = 0;

	while (i < n && msg[i].kind != MF_SCHED_DEMAND)
		i++;
	return i;
}

/* A demand is an instant of its own: while ports have room it is granted as it comes, without a queue. */
inline unsigned int mf_scheduler_exchange(struct mf_scheduler *s, mf_time now, const void *items,
					  unsigned int n, unsigned int *given, void *out, unsigned int max)
{
	const struct mf_sched_msg *msg = items;
	struct mf_sched_grant *grant = out;
	unsigned int i = 0, granted = 0, rest;

	while (i < n && granted < max) {
		if (msg[i].kind == MF_SCHED_DEMAND) {
			granted += s->ops->offer(s->policy, &msg[i++], now, grant + granted, max - granted);
			continue;
		}
		rest = others(&msg[i], n - i);
		mf_scheduler_give_all(s, &msg[i], rest);
		i += rest;
		/* After so many at the latest: the policy holds no more between two matchings. */
		if (i == n)
			granted += mf_scheduler_run(s, now, grant + granted, max - granted);
	}
	*given = i;
	return granted;
}

inline mf_time mf_scheduler_next(const struct mf_scheduler *s)
{
	return s->ops->next(s->policy);
}

void mf_scheduler_counts(const struct mf_scheduler *s, struct mf_role_stats *out)
{
	struct mf_sched_stats stats;

	mf_scheduler_stats(s, &stats);
	mf_role_stats_set(out, stats);
}

unsigned int mf_scheduler_policy_counters(const struct mf_scheduler *s, struct mf_counter *out)
{
	return s->ops->counters != NULL ? s->ops->counters(s->policy, out) : 0;
}

void mf_scheduler_stats(const struct mf_scheduler *s, struct mf_sched_stats *out)
{
	s->ops->stats(s->policy, out);
}
