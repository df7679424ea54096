/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times at which a role is not called, as if its thread had lost its CPU (fault "stall"). They are known
 * when they begin, so what is sent to a stalled role is dated at once by when it will be taken.
 */
#ifndef MF_STALL_H
#define MF_STALL_H

#include "base/mf_time.h"

struct stall {
	mf_time from, until;
};

/** Those of one role: in order, none of them touch. {0}: none. The owner frees .stall. */
struct stalls {
	struct stall *stall;
	unsigned int n;
};

/** When a role that would be called at t is called: t, or the end of the stall. */
mf_time stalls_over(const struct stalls *s, mf_time t);
/** When the first one begins that begins after t; MF_NEVER: none does. */
mf_time stalls_next(const struct stalls *s, mf_time t);
/** One more; with those that it overlaps or touches it becomes one. @return 0 or -ENOMEM */
int stalls_add(struct stalls *s, mf_time from, mf_time until);
/** What a clock that stands still during the stalls shows at t. */
mf_time stalls_clock(const struct stalls *s, mf_time t);
/** The other way round: the first time at which that clock shows this. */
mf_time stalls_time(const struct stalls *s, mf_time clock);

#endif
