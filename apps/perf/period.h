/* SPDX-License-Identifier: BSD-3-Clause */
/* Real time in periods: --stats-period. */
#ifndef PERIOD_H
#define PERIOD_H

#include "show.h"

struct period {
	double length, next; /**< seconds of CLOCK_MONOTONIC; length 0: never over */
};

void period_init(struct period *p, mf_time length);
/** Whether one has passed since the last that was seen. */
bool period_over(struct period *p);

/** Shows the ports each period while a test without a console runs, from a thread of its own. */
struct watch {
	struct run *run;
	struct view view;
	struct period period;
	pthread_t thread;
	bool begun, over; /**< over: under run->lock */
};

/** @return 0 or -errno; watch_end() follows in any case */
int watch_begin(struct watch *w, struct run *r, mf_time length);
void watch_end(struct watch *w);

#endif
