/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * First come, first served, in whole frames, for comparison: memory messages as one more sender behind an
 * Ethernet MAC. What is lost without the preemption and without the priority of EDM 3.2.3.
 */
#include "pcs/mux.h"

static uint32_t fifo_frames(const struct mf_mux *m, mf_time s, mf_time r)
{
	const struct mux_frames *f = &m->frames;
	uint32_t gaps;

	if (!f->left && f->get != f->put) {
		mf_time queued = f->frame[f->get & f->mask].queued;

		if (queued <= s && queued <= r)
			return mux_frames_ahead(m, s, &gaps);
	}
	return mux_policy_no_preempt.frames(m, s, r);
}

const struct mux_policy mux_policy_fifo = {.frames = fifo_frames};
