/* SPDX-License-Identifier: BSD-3-Clause */
/* Forwarding of single blocks. */
#include "systems/edm/switch/switch_priv.h"

/** What a block passes that is forwarded by itself: an answer of a memory node, as a rule. */
static void single_stamp(const struct mf_switch *sw, unsigned int ingress, uint16_t egress, mf_time at)
{
	stamp(sw, egress, (uint16_t)ingress, 0, MF_STAGE_IDENTIFY, at, at + sw->identify);
	stamp(sw, egress, (uint16_t)ingress, 0, MF_STAGE_FORWARD, at + sw->identify, at + sw->through);
}

void forward_single(struct mf_switch *sw, unsigned int ingress, uint16_t egress, uint64_t word, mf_time now,
		    mf_time at)
{
	uint64_t *to =
		mf_mux_put(sw->port[egress].shell.mux, at + sw->through, tie(TIE_SINGLE, ingress), 1, 0);

	if (unlikely(to == NULL)) {
		sw->stats.drop_room++;
		return;
	}
	*to = word;
	if (unlikely(sw->probe != NULL))
		single_stamp(sw, ingress, egress, at);
	switch_dirty(sw, egress);
	switch_backlog(sw, egress, now);
}
