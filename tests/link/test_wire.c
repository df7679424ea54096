/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ends over a wire that does what it likes (wire.h); memfab-chaos --link does the same for longer. And
 * what loss costs: with --verbose the goodput and the efficiency of retransmission.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "wire.h"

#define RUNS 2000

static struct wire_seen all;

static void print_seen(void)
{
	unsigned int n;
	const struct mf_link_counter *c = mf_link_counters(&n);

	for (unsigned int i = 0; i < n; i++)
		cr_log_info("%s %lu", c[i].name, mf_link_counter_of(&all.link, &c[i]));
	cr_log_info("%lu blocks, %lu connections, %lu kills, %lu pauses, %lu leaves", all.delivered,
		    all.connections, all.kills, all.pauses, all.leaves);
}

Test(wire, adversarial)
{
	uint64_t base = 0x5eed;

	for (uint64_t i = 0; i < RUNS; i++)
		wire_run(base + i, &all);
	print_seen();
	const struct mf_link_stats seen = all.link;

	cr_assert(all.faults.dropped_frames && all.faults.duplicated_frames && all.faults.reordered_frames &&
		  all.faults.corrupted_frames);
	cr_assert(all.kills && all.pauses && all.leaves);
	cr_assert(seen.rx_duplicate_frames && seen.rx_gap_frames && seen.rx_outside_frames &&
		  seen.rx_down_frames && seen.rx_stale_frames && seen.rx_untaken_blocks &&
		  seen.rx_damaged_frames && seen.rx_missing_frames && seen.rx_old_acks);
	cr_assert(seen.tx_replayed_frames && seen.tx_poll_frames && seen.tx_nack_frames &&
		  seen.tx_refuse_frames && seen.tx_bye_frames && seen.tx_down_blocks &&
		  seen.tx_unsent_blocks && seen.tx_timer_replays && seen.tx_nack_replays &&
		  seen.tx_held_nacks && seen.tx_limit_stalls);
	cr_assert(seen.down_silence_events && seen.down_restarted_events && seen.down_gave_up_events &&
		  seen.down_partner_left_events && seen.down_partner_gave_up_events && seen.down_left_events);
	cr_assert(seen.refused_stale_hellos && seen.stall_events);
	/* What the ends do wrong, and not the wire. */
	cr_assert(!seen.rx_no_room_frames && !seen.rx_bad_acks && !seen.rx_bad_limits &&
		  !seen.rx_malformed_frames && !seen.rx_version_frames && !seen.rx_type_frames &&
		  !seen.rx_reflected_frames && !seen.tx_no_room_blocks && !seen.refused_fabric_hellos &&
		  !seen.refused_rate_hellos);
}

/**
 * A frame of one loss rate in full: goodput as a share of what the line carries, and of frames, the new ones.
 */
struct outcome {
	double goodput, efficiency;
};

static struct outcome measure(const struct mf_impair_config *c, uint64_t seed, mf_time delay)
{
	const mf_time span = MF_MS(30);
	const struct mf_link_stats *s;
	struct outcome o;
	struct rig *rig;
	uint64_t blocks;

	rig = rig_up(seed);
	rig->delay = delay;
	rig->octet = 320; /* 25 Gb/s */
	for (int i = 0; i < 2; i++) {
		rig->end[i].impaired = true;
		mf_impair_init(&rig->end[i].impair, c, seed, (uint64_t)i);
	}
	rig->end[RIG_NODE].burst = MF_SPAN_MAX;
	rig->end[RIG_NODE].to_put = UINT64_MAX;
	rig_run(rig, rig->now + MF_MS(2));
	blocks = rig->end[RIG_SWITCH].delivered;
	rig_run(rig, rig->now + span);
	blocks = rig->end[RIG_SWITCH].delivered - blocks;
	s = rig_stats(rig, RIG_NODE);
	cr_assert_eq(s->up_events, 1);
	o.goodput = (double)blocks * (MF_LINK_FRAME_MAX + 24) / MF_SPAN_MAX * 320 / (double)span;
	o.efficiency = (double)s->tx_data_frames / (double)(s->tx_data_frames + s->tx_replayed_frames);
	rig->end[RIG_NODE].to_put = 0;
	rig_until_delivered(rig, MF_SEC(1));
	rig_free(rig);
	return o;
}

Test(wire, goodput_against_loss)
{
	static const double loss[] = {0, 0.001, 0.005, 0.01, 0.02, 0.03, 0.04, 0.05};
	struct outcome before = {2, 2};

	for (unsigned int i = 0; i < sizeof(loss) / sizeof(loss[0]); i++) {
		const struct mf_impair_config c = {.drop = loss[i]};
		struct outcome o = measure(&c, 1, MF_US(5));

		cr_log_info("loss %4.1f %%: goodput %5.1f %%, efficiency of retransmission %5.1f %%",
			    100 * loss[i], 100 * o.goodput, 100 * o.efficiency);
		cr_assert_lt(o.goodput, before.goodput);
		cr_assert(o.efficiency <= 1 && o.efficiency < before.efficiency);
		before = o;
		if (loss[i] == 0)
			cr_assert(o.goodput > 0.99 && o.efficiency == 1);
		cr_assert_gt(o.goodput, 1 / (1 + loss[i] * 30), "what go-back-N costs at this round trip");
	}
}

Test(wire, goodput_with_all_faults_at_one_percent)
{
	const struct mf_impair_config c = {.drop = 0.01, .duplicate = 0.01, .reorder = 0.01, .corrupt = 0.01};
	struct outcome o = measure(&c, 2, MF_US(5));

	cr_log_info("all at 1 %%: goodput %.1f %%, efficiency of retransmission %.1f %%", 100 * o.goodput,
		    100 * o.efficiency);
	cr_assert_gt(o.goodput, 0.4);
}
