/* SPDX-License-Identifier: BSD-3-Clause */
/* The intended times of an open loop, one at a time: they depend on nothing but their own stream. */
#ifndef ARRIVAL_H
#define ARRIVAL_H

#include <stdbool.h>

#include "base/mf_rng.h"
#include "base/mf_time.h"

struct arrival {
	struct mf_rng rng;
	mf_time next; /**< intended time of the next one */
	mf_time interval;
	bool poisson;
};

static inline void arrival_advance(struct arrival *a)
{
	a->next += a->poisson ? (mf_time)(mf_rng_exp(&a->rng, (double)a->interval) + 0.5) : a->interval;
}

/** rng is initialised. The phase keeps constant streams that start together from running in step. */
static inline void arrival_start(struct arrival *a, mf_time start, mf_time interval, bool poisson)
{
	a->next = start;
	a->interval = interval;
	a->poisson = poisson;
	if (poisson)
		arrival_advance(a);
	else
		a->next += mf_rng_below(&a->rng, interval);
}

#endif
