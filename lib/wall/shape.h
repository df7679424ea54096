/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Links that keep a rate and a length under the wall clock ("shape").
 *
 *      sender's multiplexer --> the line: so many blocks as it has had time for --> on their way --> receiver
 *                                         its end, at the sender                    crossing, or mf_link
 *
 * What waits, waits in the sender's multiplexer, where memory and frames have their order. A block has passed
 * the line when its time of a block is over, and arrives the propagation later. Nobody waits for that: a turn
 * takes what has become due, and goes on.
 */
#ifndef WALL_SHAPE_H
#define WALL_SHAPE_H

#include "wall/outages.h"

/**
 * While something waits the line sends without a pause. A sender whose turn comes late sends what the line
 * would have sent meanwhile, but no more than this: beyond it the time is lost. So in any time T no more pass
 * than the blocks of T and of this.
 */
#define SHAPE_LATE MF_US(150)

/** And the line is slower than its rate by 1/256, so that in any 100 ms it never carries more than that. */
static inline uint32_t shape_period(uint32_t period)
{
	return period + period / 256 + 1;
}

/** The line of one direction. Its sender's lcore has it. */
struct wall_shaper {
	uint32_t period; /**< ps a block: shape_period() of its rate */
	mf_time delay; /**< propagation, ps */
	mf_time sent; /**< up to then the line was busy */
	bool busy; /**< something waited at the last look: the line goes on from `sent` */
	uint64_t owed; /**< blocks that were taken from the sender and have not passed a stage of faults */
};

/** Something waits. @return blocks that have had the time to pass the line, at most ROLE_TX_FEW */
static inline unsigned int shaper_allows(struct wall_shaper *s, mf_time now)
{
	mf_time blocks;

	if (!s->busy) {
		s->busy = true;
		s->sent = mf_time_max(s->sent, now);
	}
	if (now < s->sent + s->period)
		return 0;
	if (now > s->sent + SHAPE_LATE)
		s->sent = now - SHAPE_LATE;
	blocks = (now - s->sent) / s->period;
	return blocks < ROLE_TX_FEW ? (unsigned int)blocks : ROLE_TX_FEW;
}

/** Blocks pass the line. */
static inline void shaper_pass(struct wall_shaper *s, unsigned int blocks)
{
	s->sent += (mf_time)blocks * s->period;
}

/** Nothing waits any more: what comes next begins when it comes. */
static inline void shaper_rest(struct wall_shaper *s)
{
	s->busy = false;
}

/** A new connection: nothing is on its way. */
static inline void shaper_restart(struct wall_shaper *s)
{
	s->busy = false;
	s->owed = 0;
}

/** Blocks leave a stage of faults: those beyond what was taken from the sender are the stage's own. */
static inline void shaper_leave(struct wall_shaper *s, unsigned int blocks)
{
	if (blocks > s->owed)
		shaper_pass(s, blocks - (unsigned int)s->owed);
	s->owed -= blocks < s->owed ? blocks : s->owed;
}

#endif
