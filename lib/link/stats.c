/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of the counters. */
#include "link/mf_link.h"

#define COUNTER(member)                                         \
	{                                                       \
#member, offsetof(struct mf_link_stats, member) \
	}

static const struct mf_link_counter counter[] = {
	COUNTER(rx_data_frames),
	COUNTER(rx_data_blocks),
	COUNTER(rx_ack_frames),
	COUNTER(rx_poll_frames),
	COUNTER(rx_nack_frames),
	COUNTER(rx_hello_frames),
	COUNTER(rx_refuse_frames),
	COUNTER(rx_bye_frames),
	COUNTER(rx_probe_frames),
	COUNTER(rx_duplicate_frames),
	COUNTER(rx_gap_frames),
	COUNTER(rx_outside_frames),
	COUNTER(rx_no_room_frames),
	COUNTER(rx_down_frames),
	COUNTER(rx_stale_frames),
	COUNTER(rx_version_frames),
	COUNTER(rx_type_frames),
	COUNTER(rx_malformed_frames),
	COUNTER(rx_reflected_frames),
	COUNTER(rx_untaken_blocks),
	COUNTER(rx_damaged_frames),
	COUNTER(rx_missing_frames),
	COUNTER(rx_old_acks),
	COUNTER(rx_bad_acks),
	COUNTER(rx_bad_limits),
	COUNTER(tx_data_frames),
	COUNTER(tx_data_blocks),
	COUNTER(tx_replayed_frames),
	COUNTER(tx_ack_frames),
	COUNTER(tx_poll_frames),
	COUNTER(tx_nack_frames),
	COUNTER(tx_hello_frames),
	COUNTER(tx_refuse_frames),
	COUNTER(tx_bye_frames),
	COUNTER(tx_probe_frames),
	COUNTER(tx_down_blocks),
	COUNTER(tx_no_room_blocks),
	COUNTER(tx_unsent_blocks),
	COUNTER(tx_timer_replays),
	COUNTER(tx_nack_replays),
	COUNTER(tx_held_nacks),
	COUNTER(tx_limit_stalls),
	COUNTER(up_events),
	COUNTER(down_silence_events),
	COUNTER(down_restarted_events),
	COUNTER(down_gave_up_events),
	COUNTER(down_partner_left_events),
	COUNTER(down_partner_gave_up_events),
	COUNTER(down_left_events),
	COUNTER(down_gone_events),
	COUNTER(refused_version_hellos),
	COUNTER(refused_fabric_hellos),
	COUNTER(refused_rate_hellos),
	COUNTER(refused_stale_hellos),
	COUNTER(refused_features_hellos),
	COUNTER(epoch_retries),
	COUNTER(stall_events),
	COUNTER(excuse_events),
};

#define COUNTERS (sizeof(counter) / sizeof(counter[0]))
static_assert(COUNTERS == sizeof(struct mf_link_stats) / sizeof(uint64_t), "each has a name");

const struct mf_link_counter *mf_link_counters(unsigned int *n)
{
	*n = COUNTERS;
	return counter;
}
