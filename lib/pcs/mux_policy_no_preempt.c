/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * No preemption, for comparison: what is lost without EDM 3.2.3. A frame is sent from its start to its
 * /T/; memory goes first in the gap between two frames.
 */
#include "pcs/mux.h"

static uint32_t no_preempt_frames(const struct mf_mux *m, mf_time s, mf_time r)
{
	uint32_t gaps;
	uint32_t frame = mux_frames_ahead(m, s, &gaps);
	uint32_t before = mux_blocks_before(m, s, r);
	bool begun = m->frames.left;

	if (!begun && before <= gaps)
		return before;
	return before > frame ? before : frame;
}

const struct mux_policy mux_policy_no_preempt = {.frames = no_preempt_frames};
