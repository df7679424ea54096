/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The watchdog of the wall clock: a thread that sleeps most of the time looks whether every role has its
 * turns.
 *
 * A role that has had none for the time of the file's `watchdog` is
 *   stalled      if its thread has had a CPU for that long: it is lost in what it does
 *   asleep       if its thread waits in the kernel for something else than a CPU
 *   descheduled  if its thread would run, and others do: that is the machine's fault, and is only counted
 * Where the watchdog itself was not run for twice that long it judges nobody; if the lcores were not,
 * either, the process had been stopped as a whole (`paused`).
 */
#ifndef MF_WATCHDOG_H
#define MF_WATCHDOG_H

#include "fabric/mf_fabric_state.h"

/** Of a role; times that it happened. */
struct watch_counts {
	uint64_t stalled, asleep, descheduled;
	mf_time longest; /**< without a turn, as far as it was noticed */
};

/** What was noticed in a run. The watchdog's thread writes, any thread may read. */
struct watch_log {
	mf_time time; /**< that of the file */
	uint64_t paused;
	mf_time paused_longest;
	unsigned int roles;
	struct watch_role {
		const char *name;
		struct watch_counts counts;
	} role[];
};

struct wall;

/** Starts it, where the file wants one; the lcores are about to be launched. @return 0 or -errno */
int watch_start(struct wall *w);
/** Ends it. The log stays with the fabric. */
void watch_stop(struct wall *w);

#endif
