/* SPDX-License-Identifier: BSD-3-Clause */
/* The counters of a fabric at a moment, while a test runs or as its last run left them. */
#ifndef COUNTERS_H
#define COUNTERS_H

#include "xstats.h"

struct counter_list {
	struct mf_counter counter[MF_COUNTERS_MAX];
	unsigned int n;
};

struct counters {
	unsigned int generation; /**< of the run; 0: there is none yet, all is 0 */
	unsigned int ports;
	uint64_t (*port)[XSTATS]; /**< [ports] */
	struct mf_sched_stats sched;
	struct mf_switch_stats sw;
	struct counter_list stack, bridge; /**< of a stack above the MAC; empty: there is none */
	struct counter_list policy; /**< of the scheduler's policy, beside sched */
	mf_time fabric; /**< time of the run */
	double host; /**< seconds of CLOCK_MONOTONIC */
};

/** @return 0 or -ENOMEM */
int counters_init(struct counters *c, unsigned int ports);
void counters_fini(struct counters *c);
void counters_take(struct counters *c, struct mf_fabric *f, const struct mf_config *config,
		   unsigned int generation);
void counters_copy(struct counters *to, const struct counters *from);

#endif
