/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Grants that are to leave, in order of time, equal times in the order in which they were issued.
 *
 * One that leaves at once is written where the caller of run() wants it. The others wait; a source is not
 * matched again before its grant has left, so each has room for one. The answer to a flush leaves behind all
 * that were issued before it.
 */
#ifndef MF_SCHED_LEAVE_H
#define MF_SCHED_LEAVE_H

#include "systems/edm/sched/scan.h"

/** @return where to write a grant of a source that leaves at a time */
static inline struct mf_sched_grant *leave_at(struct mf_sched *s, unsigned int src, mf_time at)
{
	if (at <= s->clock && s->given < s->max)
		return s->out + s->given++;
	sched_times_set(&s->leaving, src, at);
	s->leaves = mf_time_min(s->leaves, at);
	s->serial[src] = s->issued++;
	return s->grant + src;
}

/**
 * A demand ends without a grant: gives its cookie back, as a grant of nothing.
 * @param refused  it is over X: told even without one
 */
static inline void leave_dismissed(struct mf_sched *s, const struct mf_sched_msg *msg, uint32_t cookie,
				   bool refused)
{
	struct mf_sched_grant *g;

	if (cookie == MF_SCHED_NO_COOKIE && !refused)
		return;
	if (s->given < s->max) {
		g = s->out + s->given++;
	} else {
		g = s->dismissed + (s->dismissed_head + s->dismissed_count++) % s->dismissed_room;
		s->leaves = mf_time_min(s->leaves, s->clock);
	}
	*g = (struct mf_sched_grant){
		.at = s->clock,
		.since = msg->at,
		.src = msg->src,
		.dst = msg->dst,
		.id = msg->id,
		.resp = msg->resp,
		.last = true,
		.refused = refused,
		.cookie = cookie,
	};
}

/** Collects the sources whose grants leave at the earliest time, in the order in which they were issued. */
static inline void leave_collect(struct mf_sched *s)
{
	uint16_t *going = s->going;
	struct sched_map due;

	s->going_at = s->leaving.first;
	scan_due(&s->leaving, s->words, s->going_at, &due);
	s->going_first = 0;
	s->going_end = scan_ports(&due, s->words, going);
	for (unsigned int i = 1; i < s->going_end; i++) {
		uint16_t src = going[i];
		unsigned int k = i;

		for (; k && (int32_t)(s->serial[going[k - 1]] - s->serial[src]) > 0; k--)
			going[k] = going[k - 1];
		going[k] = src;
	}
}

static inline mf_time leave_next_dismissed(const struct mf_sched *s)
{
	return s->dismissed_count ? s->dismissed[s->dismissed_head].at : MF_NEVER;
}

static inline mf_time leave_next(const struct mf_sched *s)
{
	mf_time granted = s->going_first < s->going_end ? s->going_at : s->leaving.first;

	return mf_time_min(mf_time_min(granted, s->flushed_at), leave_next_dismissed(s));
}

/** A port holds no demands any more: answers the flush, when all that was issued has left. */
static inline void leave_answer(struct mf_sched *s, uint16_t port)
{
	s->flushed = port;
	s->flushed_at = s->going_first < s->going_end ? s->going_at : s->clock;
	for (unsigned int i = 0; i < s->ports; i++)
		if (s->leaving.at[i] != MF_NEVER)
			s->flushed_at = mf_time_max(s->flushed_at, s->leaving.at[i]);
	s->leaves = mf_time_min(s->leaves, s->flushed_at);
}

static inline void leave_flushed(struct mf_sched *s)
{
	s->out[s->given++] = (struct mf_sched_grant){
		.at = s->flushed_at,
		.src = s->flushed,
		.dst = s->flushed,
		.last = true,
		.cookie = MF_SCHED_NO_COOKIE,
	};
	s->flushed_at = MF_NEVER;
	s->flushing = false;
}

/** Hands out the grants that leave by t. */
static inline void leave_by(struct mf_sched *s, mf_time t)
{
	for (; s->given < s->max && s->leaves <= t; s->leaves = leave_next(s)) {
		if (leave_next_dismissed(s) == s->leaves) {
			s->out[s->given++] = s->dismissed[s->dismissed_head];
			s->dismissed_head = (s->dismissed_head + 1) % s->dismissed_room;
			s->dismissed_count--;
		} else if (s->going_first < s->going_end)
			s->out[s->given++] = s->grant[s->going[s->going_first++]];
		else if (s->leaving.first <= s->leaves)
			leave_collect(s);
		else
			leave_flushed(s);
	}
}

#endif
