/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a destination takes grants. */
#include "systems/edm/switch/switch_priv.h"

void switch_hold(struct mf_switch *sw, unsigned int d, bool over, mf_time now)
{
	sw->port[d].held_dst = over;
	switch_tell(sw, &(struct mf_sched_msg){.at = now,
					       .dst = (uint16_t)d,
					       .kind = over ? MF_SCHED_HOLD : MF_SCHED_UNHOLD});
}
