/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What engines ask of the scheduler of a switch, whatever its policy. They carry items from the switch to it
 * and back (role/mf_item.h), and know no more of them than their table says. The first member of an item is
 * its time.
 *
 * Sans-I/O; one thread calls; nothing is allocated after it was made.
 */
#ifndef MF_SCHEDULER_H
#define MF_SCHEDULER_H

#include "base/mf_time.h"
#include "role/mf_item.h"
#include "role/mf_role.h"
#include "systems/edm/sched/mf_sched.h"

struct mf_scheduler;

/**
 * @param kind    mf_scheduler_of_demands or mf_scheduler_of_nothing
 * @param ops     its policy; constant
 * @param policy  made by ops->create(), and its own from now on; in a failure, too
 * @return NULL with errno ENOMEM. mf_scheduler_free() frees it.
 */
struct mf_scheduler *mf_scheduler_new(const struct mf_role_ops *kind, const struct mf_sched_ops *ops,
				      struct mf_sched *policy);
/** EDM's scheduler, and one of a fabric of frames. Of the functions of a role they have none. */
extern const struct mf_role_ops mf_scheduler_of_demands, mf_scheduler_of_nothing;
/** What its kind is: never NULL. */
const struct mf_role_ops *mf_scheduler_role(const struct mf_scheduler *s);
/** @param s  or NULL */
void mf_scheduler_free(struct mf_scheduler *s);

/**
 * Its policy, which stays its own.
 * @param policy  what its functions are called with
 */
const struct mf_sched_ops *mf_scheduler_policy(const struct mf_scheduler *s, struct mf_sched **policy);
/** Replaces it by one that owns the former policy from now on: an audit. */
void mf_scheduler_set_policy(struct mf_scheduler *s, const struct mf_sched_ops *ops, struct mf_sched *policy);

/** What it takes, and what it gives. One of a fabric of frames is polled, too, but takes nothing. */
const struct mf_channel *mf_scheduler_channel(const struct mf_scheduler *s);

/**
 * Takes items, in the order of their times. Hand in all of a time before mf_scheduler_run() of that time.
 * @param items  n that its channel takes, one after the other
 * @return how many, from the first on: there is no room for the others before it has run
 */
unsigned int mf_scheduler_give(struct mf_scheduler *s, const void *items, unsigned int n);
/** The same of all of them: those for which there is no room are dropped, and counted. */
void mf_scheduler_give_all(struct mf_scheduler *s, const void *items, unsigned int n);
/**
 * Works up to time now. Call again while it gives max.
 * @param out  room for max that its channel gives
 * @return how many it gave, none with a time after now, in the order in which they leave
 */
unsigned int mf_scheduler_run(struct mf_scheduler *s, mf_time now, void *out, unsigned int max);
/**
 * Takes items one by one, and runs after each demand and after the last item: the same answers as from
 * mf_scheduler_give_all() and mf_scheduler_run(), in fewer steps.
 * @param items  n of them, 1..; their times are now
 * @param given  how many it has taken; less than n only where it gave max
 * @return as mf_scheduler_run()
 */
unsigned int mf_scheduler_exchange(struct mf_scheduler *s, mf_time now, const void *items, unsigned int n,
				   unsigned int *given, void *out, unsigned int max);
/** When mf_scheduler_run() has something to do, or MF_NEVER. Never earlier than the last run's now. */
mf_time mf_scheduler_next(const struct mf_scheduler *s);

/** What it counts, by the table of its kind, mf_scheduler_role()->counters. */
void mf_scheduler_counts(const struct mf_scheduler *s, struct mf_role_stats *out);
/** What its policy counts beside that. @param out  room for MF_COUNTERS_MAX. @return how many */
unsigned int mf_scheduler_policy_counters(const struct mf_scheduler *s, struct mf_counter *out);
/** The same as mf_scheduler_counts() in the structure of EDM's policies. */
void mf_scheduler_stats(const struct mf_scheduler *s, struct mf_sched_stats *out);

#endif
