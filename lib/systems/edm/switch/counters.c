/* SPDX-License-Identifier: BSD-3-Clause */
/* What a switch counts, for results. */
#include "systems/edm/switch/mf_switch.h"

#define ROW(section, key, merge, field) MF_COUNTER(section, key, merge, struct mf_switch_stats, field)

const struct mf_counter_desc mf_switch_counters[] = {
	ROW("switch", "notifications", MF_SUM, notifications),
	ROW("switch", "requests", MF_SUM, requests),
	ROW("switch", "grants", MF_SUM, grants),
	ROW("switch", "requests_forwarded", MF_SUM, requests_forwarded),
	ROW("switch", "requests_behind_a_write", MF_SUM, parked),
	ROW("switch", "chunks", MF_SUM, chunks),
	ROW("switch", "chunk_blocks", MF_SUM, chunk_blocks),
	ROW("switch", "acknowledgements_and_errors", MF_SUM, singles),
	ROW("switch", "grants_returned", MF_SUM, returns),
	ROW("switch", "frames", MF_SUM, frames),
	ROW("switch", "frames_flooded", MF_SUM, flooded),
	ROW("switch", "addresses_learned", MF_SUM, learned),
	ROW("drops.switch", "check", MF_SUM, drop_check),
	ROW("drops.switch", "protocol", MF_SUM, drop_proto),
	ROW("drops.switch", "spoofed_source", MF_SUM, drop_spoof),
	ROW("drops.switch", "destination", MF_SUM, drop_dst),
	ROW("drops.switch", "not_granted", MF_SUM, drop_ungranted),
	ROW("drops.switch", "link_down", MF_SUM, drop_link),
	ROW("drops.switch", "room", MF_SUM, drop_room),
	ROW("drops.switch", "cut", MF_SUM, drop_cut),
	ROW("drops.switch", "expired", MF_SUM, expired),
	ROW("drops.switch", "overtaken", MF_SUM, overtaken),
	ROW("drops.switch", "descriptors", MF_SUM, drop_descriptor),
	ROW("drops.switch", "frame_room", MF_SUM, drop_frame_room),
	ROW("drops.switch", "frame_to_own_port", MF_SUM, drop_frame_self),
	ROW("limits", "beyond_share", MF_SUM, excess),
	ROW("limits", "refused_rate", MF_SUM, refused_rate),
	ROW("limits", "refused_outstanding", MF_SUM, refused_outstanding),
	ROW("limits", "refused_expired", MF_SUM, refused_expired),
	ROW("switch.more", "notification_and_grant_blocks", MF_SUM, control_blocks),
	ROW("switch.more", "waited_ps", MF_SUM, waited),
	ROW("switch.more", "take_overs", MF_SUM, takes),
	ROW("switch.more", "demands_taken_down", MF_SUM, logged),
	{0},
};
