/* SPDX-License-Identifier: BSD-3-Clause */
/* Retransmission: blocks on their way through frames, and what becomes of those that are not taken. */
#include <criterion/criterion.h>

#include "carry.h"

/** What an owner must not do is dropped and counted, and does no harm. */
CARRY_TEST(llr_blocks, put_without_room_is_counted)
{
	static struct mf_span span;

	rig->end[RIG_SWITCH].holds = true;
	for (span.count = 0; span.count < FRAME;)
		mf_span_put(&span, MF_SYNC_DATA, 0);
	for (unsigned int i = 0; i < 2000; i++)
		mf_link_put(rig->end[RIG_NODE].link, &span);
	cr_assert_gt(rig_stats(rig, RIG_NODE)->tx_no_room_blocks, 0);
	rig_run(rig, rig->now + MF_MS(10));
	cr_assert_eq(rig_stats(rig, RIG_SWITCH)->rx_data_frames, rig->end[RIG_SWITCH].config.window);
}

/** B11: while down blocks are dropped and counted; before the first connection nothing is taken. */
CARRY_TEST(llr_blocks, b11_put_while_down)
{
	static struct mf_span span = {.count = 7};
	struct mf_link_config c = rig->end[0].config;
	struct mf_link *l = mf_link_new(&c, 0);

	cr_assert(!mf_link_can_put(l));
	mf_link_free(l);
	rig_kill(rig, RIG_SWITCH);
	rig_run(rig, rig->now + MF_SEC(4));
	l = rig->end[RIG_NODE].link;
	cr_assert(!mf_link_up(l));
	cr_assert(mf_link_can_put(l));
	mf_link_put(l, &span);
	cr_assert_eq(mf_link_stats(l)->tx_down_blocks, 7);
}

/** What is neither taken nor acknowledged when a link goes down is counted. */
CARRY_TEST(llr_blocks, what_is_lost_with_a_connection_is_counted)
{
	rig->end[RIG_SWITCH].holds = true;
	rig->end[RIG_NODE].burst = 100;
	rig->end[RIG_NODE].to_put = 400 * 100;
	rig_run(rig, rig->now + MF_US(3));
	cr_assert_gt(rig_stats(rig, RIG_NODE)->tx_data_frames, 0);
	rig_kill(rig, RIG_SWITCH);
	rig_run(rig, rig->now + MF_SEC(5));
	cr_assert_eq(rig_stats(rig, RIG_NODE)->tx_unsent_blocks + rig_stats(rig, RIG_NODE)->tx_down_blocks,
		     400 * 100);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->tx_down_blocks, 0);
}

CARRY_TEST(llr_blocks, blocks_not_taken_are_counted)
{
	rig->end[RIG_SWITCH].holds = true;
	rig->end[RIG_NODE].burst = 100;
	rig->end[RIG_NODE].to_put = 12300;
	rig_run(rig, rig->now + MF_MS(1));
	cr_assert_eq(rig_stats(rig, RIG_SWITCH)->rx_data_blocks, 12300);
	rig_kill(rig, RIG_NODE);
	rig_run(rig, rig->now + MF_SEC(4));
	cr_assert_eq(rig_stats(rig, RIG_SWITCH)->rx_untaken_blocks, 12300);
	cr_assert(!mf_link_waits(rig->end[RIG_SWITCH].link));
}

/** B14: blocks go no faster than the link's rate, replays included; a frame may be saved up. */
Test(llr_blocks, b14_pacing)
{
	for (int lossy = 0; lossy < 2; lossy++) {
		const struct mf_link_stats *s;
		uint64_t blocks;
		mf_time start;

		rig = rig_new(6);
		rig->end[0].config.pace = true;
		rig_start(rig, 0);
		rig_start(rig, 1);
		rig_until_up(rig, MF_MS(1));
		rig->filter = lossy ? lose_by_chance : NULL;
		rig->end[RIG_NODE].burst = 77;
		rig->end[RIG_NODE].to_put = UINT64_MAX;
		start = rig->now;
		rig_run(rig, rig->now + MF_MS(20));
		s = rig_stats(rig, RIG_NODE);
		/* Spans stay whole, so the frames are not full, and all alike. */
		blocks = s->tx_data_blocks + s->tx_replayed_frames * s->tx_data_blocks / s->tx_data_frames;
		cr_assert_leq(rig_stats(rig, RIG_NODE)->tx_data_blocks,
			      (rig->now - start) / rig->end[0].config.period + 2 * FRAME);
		if (!lossy)
			cr_assert_geq(blocks, (rig->now - start) / rig->end[0].config.period - FRAME);
		else
			cr_assert_gt(rig_stats(rig, RIG_NODE)->tx_replayed_frames, 100);
		cr_assert_leq(blocks, (rig->now - start) / rig->end[0].config.period + 2 * FRAME);
		carry_tear_down();
	}
}

/** A link with a length: what has come can be taken when that is over, in its order, and not before. */
Test(llr_blocks, blocks_arrive_when_the_link_is_over)
{
	const mf_time delay = MF_US(70);
	mf_time due, last = 0;
	unsigned int taken = 0;

	rig = rig_new(3);
	rig->end[1].config.delay = delay;
	rig_start(rig, 0);
	rig_start(rig, 1);
	rig_until_up(rig, MF_MS(1));
	rig->end[RIG_SWITCH].holds = true;
	rig->end[RIG_NODE].burst = FRAME;
	rig->end[RIG_NODE].to_put = 5 * FRAME;
	due = rig->now;
	rig_run(rig, rig->now + MF_MS(1));
	while (mf_link_waits(rig->end[1].link)) {
		cr_assert_geq(mf_link_due(rig->end[1].link), due + delay);
		cr_assert_leq(mf_link_due(rig->end[1].link), rig->now + delay);
		cr_assert_geq(mf_link_due(rig->end[1].link), last);
		last = mf_link_due(rig->end[1].link);
		cr_assert_eq(mf_link_take(rig->end[1].link)->count, FRAME);
		taken++;
	}
	cr_assert_eq(taken, 5);
	carry_tear_down();
}

/** What the owner has in its hands is its own until it takes again, whatever comes meanwhile. */
Test(llr_blocks, taken_blocks_stay_until_the_next_take)
{
	static const uint16_t window[] = {1, 2, 5};

	for (unsigned int w = 0; w < 3; w++) {
		struct mf_span *s = NULL;
		uint64_t word = 0, taken = 0;

		rig = rig_new(w);
		rig->end[1].config.window = window[w];
		rig_start(rig, 0);
		rig_start(rig, 1);
		rig_until_up(rig, MF_MS(1));
		rig->end[RIG_SWITCH].holds = true;
		rig->end[RIG_NODE].burst = FRAME;
		for (unsigned int i = 0; i < 50; i++) {
			rig->end[RIG_NODE].to_put = (1 + i % 3) * FRAME;
			rig_run(rig, rig->now + MF_MS(1));
			rig->end[RIG_SWITCH].taken = NULL;
			cr_assert(s == NULL || (s->word[0] == word && s->count == FRAME));
			for (unsigned int k = 0; k <= i % 2 && mf_link_waits(rig->end[1].link); k++) {
				s = mf_link_take(rig->end[1].link);
				cr_assert_eq(s->word[0] & UINT32_MAX, taken * FRAME);
				word = s->word[0];
				taken++;
			}
		}
		cr_assert_geq(taken, 50);
		carry_tear_down();
	}
}

/** Blocks do not wait for a frame to be full. */
CARRY_TEST(llr_blocks, a_block_leaves_at_once)
{
	mf_time start = rig->now;

	for (unsigned int n = 1; n < 30; n++) {
		rig->end[RIG_NODE].burst = n;
		rig->end[RIG_NODE].to_put = n;
		rig_until_delivered(rig, MF_US(6));
		cr_assert_eq(rig_stats(rig, RIG_NODE)->tx_data_frames, n);
	}
	cr_assert_leq(rig->now - start, MF_US(6) * 30);
}

/** What is put together comes together: frames are filled, but no span is cut that fits one. */
CARRY_TEST(llr_blocks, a_span_that_fits_a_frame_is_not_cut)
{
	for (unsigned int burst = 1; burst <= FRAME; burst += 37) {
		uint64_t before = rig_stats(rig, RIG_SWITCH)->rx_data_frames, in_a_frame = FRAME / burst;

		rig->end[RIG_NODE].burst = burst;
		rig->end[RIG_NODE].to_put = burst * in_a_frame * 5;
		rig_until_delivered(rig, MF_US(10));
		cr_assert_eq(rig_stats(rig, RIG_SWITCH)->rx_data_frames - before, 5, "%u", burst);
	}
}

/** Requests and answers acknowledge each other: no frame goes for that alone. */
CARRY_TEST(llr_blocks, closed_loop_needs_no_ack_frames)
{
	uint64_t before[2] = {rig_stats(rig, 0)->tx_ack_frames, rig_stats(rig, 1)->tx_ack_frames};

	for (unsigned int i = 0; i < 1000; i++) {
		rig->end[i % 2].to_put = 10;
		rig_until_delivered(rig, MF_US(6));
	}
	for (int e = 0; e < 2; e++) {
		cr_assert_eq(rig_stats(rig, e)->tx_ack_frames, before[e]);
		cr_assert_eq(rig_stats(rig, e)->tx_data_frames, 500);
	}
}

/** However many frames come before the next one goes, it acknowledges them. */
CARRY_TEST(llr_blocks, who_has_something_to_send_needs_no_ack_frames)
{
	uint64_t before[2] = {rig_stats(rig, 0)->tx_ack_frames, rig_stats(rig, 1)->tx_ack_frames};

	rig->octet = 80;
	for (int e = 0; e < 2; e++) {
		rig->end[e].burst = FRAME;
		rig->end[e].to_put = UINT64_MAX;
	}
	rig_run(rig, rig->now + MF_US(500));
	for (int e = 0; e < 2; e++) {
		cr_assert_eq(rig_stats(rig, e)->tx_ack_frames, before[e]);
		cr_assert_gt(rig_stats(rig, e)->tx_data_frames, 500);
	}
}

/** Who was away has much to acknowledge, at once; what he has to send does that, too. */
CARRY_TEST(llr_blocks, who_was_away_needs_no_ack_frames_either)
{
	uint64_t before = rig_stats(rig, RIG_SWITCH)->tx_ack_frames;

	rig->end[RIG_SWITCH].paused = rig->now + MF_US(200);
	rig->end[RIG_NODE].burst = rig->end[RIG_SWITCH].burst = FRAME;
	rig->end[RIG_NODE].to_put = 200 * FRAME;
	rig_run(rig, rig->now + MF_US(190));
	rig->end[RIG_SWITCH].to_put = 20 * FRAME;
	rig_until_delivered(rig, MF_US(100));
	cr_assert_eq(rig_stats(rig, RIG_NODE)->rx_data_frames, 20);
	cr_assert_eq(rig_stats(rig, RIG_SWITCH)->rx_data_frames, 200);
	cr_assert_eq(rig_stats(rig, RIG_SWITCH)->tx_ack_frames, before);
}

/** Frames of different sizes at the two ends: the smaller is what goes. */
Test(llr_blocks, frames_fit_the_smaller_mtu)
{
	for (unsigned int mtu = MF_LINK_MTU_MIN; mtu < 5000; mtu = mtu * 5 / 4) {
		rig = rig_new(mtu);
		rig->end[1].config.blocks = (uint16_t)mf_link_blocks(mtu);
		rig_start(rig, 0);
		rig_start(rig, 1);
		rig_until_up(rig, MF_MS(1));
		rig->end[0].to_put = rig->end[1].to_put = 100 * FRAME;
		rig->end[0].burst = rig->end[1].burst = 0;
		rig_until_delivered(rig, MF_SEC(1));
		cr_assert_eq(rig_stats(rig, 0)->rx_malformed_frames + rig_stats(rig, 1)->rx_malformed_frames,
			     0);
		cr_assert_eq(rig_stats(rig, 0)->tx_no_room_blocks + rig_stats(rig, 1)->tx_no_room_blocks, 0);
		carry_tear_down();
	}
}

/** A frame that is longer than this end has said it takes. */
Test(llr_blocks, b6_more_blocks_than_were_asked_for)
{
	static struct mf_span span;
	uint8_t frame[MF_LINK_FRAME_MAX];
	struct mf_link_head h;

	rig = rig_new(1);
	rig->end[RIG_SWITCH].config.blocks = 33;
	rig_start(rig, 0);
	rig_start(rig, 1);
	rig_until_up(rig, MF_MS(1));
	h = rig_head(rig, RIG_NODE, MF_LINK_DATA);
	h.limit = 256;
	for (span.count = 0; span.count < 34;)
		mf_span_put(&span, MF_SYNC_DATA, 0);
	mf_link_frame_put(frame, &h, &span);
	mf_link_rx(rig->end[RIG_SWITCH].link, rig->now, frame);
	cr_assert_eq(rig_stats(rig, RIG_SWITCH)->rx_malformed_frames, 1);
	cr_assert(!mf_link_waits(rig->end[RIG_SWITCH].link));
	span.count = 33;
	mf_link_frame_put(frame, &h, &span);
	mf_link_rx(rig->end[RIG_SWITCH].link, rig->now, frame);
	cr_assert(mf_link_waits(rig->end[RIG_SWITCH].link));
	carry_tear_down();
}

Test(llr_blocks, every_counter_has_a_name)
{
	unsigned int n;
	const struct mf_link_counter *c = mf_link_counters(&n);

	cr_assert_eq(n, sizeof(struct mf_link_stats) / sizeof(uint64_t));
	for (unsigned int i = 0; i < n; i++) {
		cr_assert_eq(c[i].offset, i * sizeof(uint64_t));
		for (unsigned int k = 0; k < i; k++)
			cr_assert_str_neq(c[i].name, c[k].name);
	}
}
