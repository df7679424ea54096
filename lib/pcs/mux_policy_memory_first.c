/* SPDX-License-Identifier: BSD-3-Clause */
/* Strict priority for memory (EDM 3.2.3: "strictly prioritizing memory blocks"). */
#include "pcs/mux.h"

static uint32_t memory_first_frames(const struct mf_mux *m, mf_time s, mf_time r)
{
	return mux_blocks_before(m, s, r);
}

const struct mux_policy mux_policy_memory_first = {.frames = memory_first_frames};
