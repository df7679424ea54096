/* SPDX-License-Identifier: BSD-3-Clause */
/* Links without retransmission: what is lost is lost, and counted. */
#include <criterion/criterion.h>

#include "carry.h"

/** B13: without retransmission what is lost is lost, and counted; nothing comes twice. */
Test(llr_without, b13_without_retransmission)
{
	const struct mf_impair_config faults = {
		.drop = 0.05, .duplicate = 0.05, .reorder = 0.05, .corrupt = 0.05};
	uint64_t numbers = 0, words = 0, last = 0;
	struct mf_span *s;

	rig = rig_new(5);
	rig->end[0].config.retransmit = rig->end[1].config.retransmit = false;
	rig_start(rig, 0);
	rig_start(rig, 1);
	rig_until_up(rig, MF_MS(1));
	rig->end[RIG_NODE].impaired = true;
	mf_impair_init(&rig->end[RIG_NODE].impair, &faults, 1, 0);
	rig->end[RIG_SWITCH].holds = true;
	rig->end[RIG_NODE].burst = FRAME;
	for (int i = 0; i < 100; i++) {
		rig->end[RIG_NODE].to_put = 100 * FRAME;
		rig_run(rig, rig->now + MF_US(20));
		rig->end[RIG_SWITCH].taken = NULL;
		while ((s = mf_link_take(rig->end[RIG_SWITCH].link)) != NULL) {
			cr_assert(words == 0 || s->word[0] > last);
			last = s->word[s->count - 1];
			cr_assert_eq(last - s->word[0], FRAME - 1u, "no frame is damaged");
			words += s->count;
		}
	}
	numbers = rig_stats(rig, RIG_SWITCH)->rx_missing_frames + rig_stats(rig, RIG_SWITCH)->rx_data_frames;
	cr_assert_eq(rig_stats(rig, RIG_NODE)->tx_data_frames, 10000);
	cr_assert(numbers <= 10000 && numbers > 9990);
	cr_assert_eq(rig_stats(rig, RIG_SWITCH)->rx_data_frames * FRAME, words);
	cr_assert_gt(rig_stats(rig, RIG_SWITCH)->rx_missing_frames, 500);
	cr_assert_gt(rig_stats(rig, RIG_SWITCH)->rx_duplicate_frames, 300);
	for (int e = 0; e < 2; e++)
		cr_assert_eq(rig_stats(rig, e)->tx_ack_frames + rig_stats(rig, e)->tx_nack_frames +
				     rig_stats(rig, e)->tx_replayed_frames,
			     0);
	carry_tear_down();
}

/** B13: without windows a receiver that does not keep up loses, and that is counted. */
Test(llr_without, b13_overrun_without_retransmission)
{
	rig = rig_new(5);
	rig->end[0].config.retransmit = rig->end[1].config.retransmit = false;
	rig->end[1].config.window = 8;
	rig_start(rig, 0);
	rig_start(rig, 1);
	rig_until_up(rig, MF_MS(1));
	rig->end[RIG_SWITCH].holds = true;
	rig->end[RIG_NODE].burst = FRAME;
	rig->end[RIG_NODE].to_put = 100 * FRAME;
	rig_run(rig, rig->now + MF_MS(1));
	cr_assert_eq(rig_stats(rig, RIG_SWITCH)->rx_data_frames, 8);
	cr_assert_eq(rig_stats(rig, RIG_SWITCH)->rx_no_room_frames, 92);
	carry_tear_down();
}
