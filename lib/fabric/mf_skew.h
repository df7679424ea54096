/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A clock that is wrong (fault "skew"). Under the wall clock a role is called with the time that its clock
 * shows, so its timers go wrong with it. Under the virtual clock all events share one time, and a skewed
 * clock only changes how long timers last.
 */
#ifndef MF_SKEW_H
#define MF_SKEW_H

#include "base/mf_time.h"

struct skew {
	int64_t ppb; /**< fast by so many thousand-millionths; negative: slow */
	mf_time offset; /**< what it shows at the start, ps */
};

#define SKEW_ONE 1000000000

/** What the clock shows at time t. */
static inline mf_time skew_clock(const struct skew *s, mf_time t)
{
	return t == MF_NEVER ? t : t + s->offset + (mf_time)((__int128)t * s->ppb / SKEW_ONE);
}

/** How long a timer of t ps lasts by a right clock. */
static inline mf_time skew_timer(const struct skew *s, mf_time t)
{
	return (mf_time)((__int128)t * SKEW_ONE / (SKEW_ONE + s->ppb));
}

#endif
