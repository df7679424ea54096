/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of ports: what is due, what is first. For any CPU. */
#ifndef MF_SCHED_TIMES_SCALAR_H
#define MF_SCHED_TIMES_SCALAR_H

#include "systems/edm/sched/core.h"

/** Takes out what is due by a time, of a group. @return the ports */
static inline uint64_t scan_group(struct sched_times *t, unsigned int group, mf_time time)
{
	mf_time *at = t->at + SCHED_GROUP * group, first = MF_NEVER;
	uint64_t due = 0;

	for (unsigned int i = 0; i < SCHED_GROUP; i++) {
		bool now = at[i] <= time;

		due |= (uint64_t)now << i;
		at[i] |= -(mf_time)now; /* MF_NEVER */
		first = mf_time_min(first, at[i]);
	}
	t->group[group] = first;
	return due;
}

/** Groups that may have something that is due. */
static inline uint32_t scan_groups(const struct sched_times *t, unsigned int words, mf_time time)
{
	uint32_t due = 0;

	for (unsigned int i = 0; i < 64 / SCHED_GROUP * words; i++)
		due |= (uint32_t)(t->group[i] <= time) << i;
	return due;
}

/** The earliest time of all. */
static inline mf_time scan_first(const struct sched_times *t, unsigned int words)
{
	mf_time first = MF_NEVER;

	for (unsigned int i = 0; i < 64 / SCHED_GROUP * words; i++)
		first = mf_time_min(first, t->group[i]);
	return first;
}

/** Ports of some groups have this time, and none of them an earlier one. */
static inline void scan_note(struct sched_times *t, uint32_t groups, unsigned int words, mf_time time)
{
	for (unsigned int i = 0; i < 64 / SCHED_GROUP * words; i++) {
		mf_time never = -(mf_time)(~groups >> i & 1);

		t->group[i] = mf_time_min(t->group[i], time | never);
	}
	t->first = mf_time_min(t->first, time);
}

#endif
