/* SPDX-License-Identifier: BSD-3-Clause */
/* Who is not called for a while, by a fault of the file: under both clocks known beforehand. */
#ifndef STALL_H
#define STALL_H

#include "mf_time.h"

struct stall {
	mf_time from, until;
};

/** Of one role, in order. */
struct stalls {
	struct stall *stall;
	unsigned int n;
};

/** Who would be called at t is called then. */
mf_time stalls_over(const struct stalls *s, mf_time t);
/** One more: what is the same as one that there is becomes one with it. @return 0 or -ENOMEM */
int stalls_add(struct stalls *s, mf_time from, mf_time until);
/**
 * A clock that stands still while its role is stalled, and back again: the first time at which it shows
 * that.
 */
mf_time stalls_clock(const struct stalls *s, mf_time t);
mf_time stalls_time(const struct stalls *s, mf_time clock);

#endif
