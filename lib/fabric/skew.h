/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A clock that is not right ("skew" of the file). Under the wall clock it is what a role is called with: it
 * shows another time and goes at another speed, so its timers do. Under the virtual clock events have one
 * time,
 * and what is left of it is how long timers last.
 */
#ifndef SKEW_H
#define SKEW_H

#include "mf_time.h"

struct skew {
	int64_t ppb; /**< that it is fast by */
	mf_time offset; /**< that it shows at the start */
};

#define SKEW_ONE 1000000000

/** What it shows at t. */
static inline mf_time skew_clock(const struct skew *s, mf_time t)
{
	return t == MF_NEVER ? t : t + s->offset + (mf_time)((__int128)t * s->ppb / SKEW_ONE);
}

/** How long a timer of it lasts. */
static inline mf_time skew_timer(const struct skew *s, mf_time t)
{
	return (mf_time)((__int128)t * SKEW_ONE / (SKEW_ONE + s->ppb));
}

#endif
