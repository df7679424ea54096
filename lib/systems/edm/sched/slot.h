/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chunks that end together (mf_sched_config.slots). By step (2) of 3.1.1 a message is granted at an instant
 * at which both its ports are free. Where each of them carries a long message, chunk behind chunk, and
 * these end at different times, there is no such instant before one of the two messages is over, whatever
 * the priority: each port is taken again as soon as it is released. So a chunk that leaves some of its
 * message is made so much shorter that it ends at the end of a slot, a multiple of a chunk's time. Then the
 * ports of long messages are released at one instant, and the matching of that instant goes by priority.
 *
 * The first chunk of a response is the memory node's to cut, which sends c octets (3.1.1, step (4)): the
 * second one is the first that ends with a slot.
 */
#ifndef MF_SCHED_SLOT_H
#define MF_SCHED_SLOT_H

#include "systems/edm/sched/core.h"

#define SLOT_UNIT 16 /* octets: a chunk that leaves some of its message has a multiple of it */

/** Of a block at the slower of two links. */
static inline mf_time slot_period(const struct mf_sched *s, const struct mf_sched_grant *g)
{
	mf_time a = s->port[g->src].period, b = s->port[g->dst].period;

	return a > b ? a : b;
}

/** What is left of the slot of a pair at a time. */
static inline mf_time slot_left(const struct mf_sched *s, mf_time period, mf_time at)
{
	mf_time slot = s->chunk_blocks * period;

	return slot - at % slot;
}

/**
 * Octets of a grant, of which all is known but that, for a demand that wants more than a chunk. Where less
 * than a quarter of the slot is left, what is left and the next slot are parted into two halves.
 */
static inline uint32_t slot_cut(const struct mf_sched *s, const struct mf_sched_grant *g)
{
	const uint32_t whole = s->chunk_blocks, overhead = s->config.chunk_overhead;
	mf_time period = slot_period(s, g);
	uint32_t blocks = (uint32_t)(slot_left(s, period, g->at) / period), octets;

	if (blocks < whole / 4)
		blocks = (blocks + whole) / 2;
	octets = blocks > overhead ? (blocks - overhead) * 8 / SLOT_UNIT * SLOT_UNIT : 0;
	return octets && octets < s->config.chunk ? octets : s->config.chunk;
}

/** l of step (4). */
static inline uint32_t slot_size(const struct mf_sched *s, const struct sched_demand *e,
				 const struct mf_sched_grant *g)
{
	bool response_begins = (e->flags & (SCHED_RESP | SCHED_STARTED)) == SCHED_RESP;
	bool leaves_some = sched_next_size(s, e) < e->remaining;

	return s->config.slots && leaves_some && !response_begins ? slot_cut(s, g) : sched_next_size(s, e);
}

/** When the ports of a grant are released whose chunk is over: what is left of its slot carries nothing. */
static inline mf_time slot_until(const struct mf_sched *s, const struct mf_sched_grant *g, mf_time over)
{
	mf_time period = slot_period(s, g), left;

	if (!s->config.slots || g->last)
		return over;
	left = slot_left(s, period, over - 1) - 1;
	return left < SLOT_UNIT / 8 * period ? over + left : over;
}

/** Blocks of requests and /G/ that are charged to a port at once: see ports_charge(). */
static inline uint32_t slot_charge(const struct mf_sched *s, uint32_t debt)
{
	return s->config.slots ? s->chunk_blocks : debt;
}

#endif
