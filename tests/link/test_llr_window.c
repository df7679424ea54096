/* SPDX-License-Identifier: BSD-3-Clause */
/* Retransmission: what ends tell each other of numbers and room, and what of it can be believed. */
#include <criterion/criterion.h>

#include "carry.h"

/** A4: frames that are overtaken, or replayed, tell old limits. */
CARRY_TEST(llr_window, a4_limit_never_goes_back)
{
	struct mf_link_head h = rig_head(rig, RIG_SWITCH, MF_LINK_ACK);

	h.ack = 0;
	h.limit = 0;
	rig_inject(rig, RIG_NODE, &h, NULL, 0);
	rig_run(rig, rig->now + MF_US(10));
	cr_assert_eq(rig_stats(rig, RIG_NODE)->rx_ack_frames, 1);
	carry(200);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->tx_poll_frames, 0);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->tx_limit_stalls, 0);
}

CARRY_TEST(llr_window, a4_limit_beyond_the_window_is_bad)
{
	struct mf_link_head h = rig_head(rig, RIG_SWITCH, MF_LINK_ACK);

	rig->end[RIG_SWITCH].holds = true;
	h.limit = rig->end[RIG_SWITCH].config.window + 1u;
	rig_inject(rig, RIG_NODE, &h, NULL, 0);
	rig->end[RIG_NODE].to_put = UINT64_MAX;
	rig->end[RIG_NODE].burst = FRAME;
	rig_run(rig, rig->now + MF_MS(20));
	cr_assert_eq(rig_stats(rig, RIG_NODE)->rx_bad_limits, 1);
	cr_assert_eq(rig_stats(rig, RIG_SWITCH)->rx_no_room_frames, 0);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->tx_data_frames, rig->end[RIG_SWITCH].config.window);
}

static bool lose_the_opening(struct rig *r, int from, struct mf_link_head *h)
{
	/* Every ACK by itself but the answers to polls. */
	return from != RIG_SWITCH || h->type != MF_LINK_ACK || r->count++ % 3 == 2;
}

/** A5: no room at the partner, and the ACK that tells of more is lost: polls, and no replay is counted. */
CARRY_TEST(llr_window, a5_lost_ack_of_more_room)
{
	rig->end[RIG_SWITCH].holds = true;
	rig->end[RIG_NODE].to_put = 300 * FRAME;
	rig->end[RIG_NODE].burst = FRAME;
	rig_run(rig, rig->now + MF_SEC(4));
	cr_assert_gt(rig_stats(rig, RIG_NODE)->tx_poll_frames, 30, "one each hello_period");
	cr_assert_lt(rig_stats(rig, RIG_NODE)->tx_poll_frames, 60);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->tx_timer_replays, 0);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->tx_limit_stalls, 1);
	cr_assert_eq(rig->end[RIG_NODE].ups, 1);
	rig->filter = lose_the_opening;
	rig->end[RIG_SWITCH].holds = false;
	rig_until_delivered(rig, MF_MS(700));
}

/** A5: who has nothing more to send does not ask for room. */
CARRY_TEST(llr_window, a5_room_that_is_not_needed)
{
	rig->end[RIG_SWITCH].holds = true;
	rig->end[RIG_NODE].to_put = 256 * FRAME;
	rig->end[RIG_NODE].burst = FRAME;
	rig_run(rig, rig->now + MF_SEC(1));
	cr_assert_eq(rig_stats(rig, RIG_NODE)->tx_data_frames, 256);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->tx_limit_stalls, 0);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->tx_poll_frames, 0);
}

/** Where nothing goes the other way an ACK goes for so many frames, or a while after the last one. */
CARRY_TEST(llr_window, acks_go_for_frames_that_came)
{
	uint64_t before = rig_stats(rig, RIG_SWITCH)->tx_ack_frames, acks;

	rig->octet = 80;
	carry(640);
	acks = rig_stats(rig, RIG_SWITCH)->tx_ack_frames - before;
	cr_assert(acks >= 10 && acks <= 12, "%lu: one for each quarter of the window", (unsigned long)acks);
}

/** A receiver that takes again tells of the room at once: nobody has to ask. */
CARRY_TEST(llr_window, a5_room_is_told_at_once)
{
	rig->end[RIG_SWITCH].holds = true;
	rig->end[RIG_NODE].to_put = 300 * FRAME;
	rig->end[RIG_NODE].burst = FRAME;
	rig_run(rig, rig->now + MF_US(100));
	cr_assert_eq(rig_stats(rig, RIG_NODE)->tx_data_frames, 256);
	rig->end[RIG_SWITCH].holds = false;
	rig_until_delivered(rig, MF_US(20));
	cr_assert_eq(rig_stats(rig, RIG_NODE)->tx_poll_frames, 0);
}

/** A8: what acknowledges frames that were never sent is ignored; its blocks are not. */
CARRY_TEST(llr_window, a8_ack_beyond_what_was_sent)
{
	struct mf_link_head h = rig_head(rig, RIG_SWITCH, MF_LINK_ACK);
	const struct mf_link_stats *s = rig_stats(rig, RIG_NODE);

	h.ack = 1;
	h.limit = 100;
	rig_inject(rig, RIG_NODE, &h, NULL, 0);
	h.type = MF_LINK_NACK;
	rig_inject(rig, RIG_NODE, &h, NULL, 0);
	h.ack = 0x7fffffff;
	rig_inject(rig, RIG_NODE, &h, NULL, 0);
	rig_run(rig, rig->now + MF_US(10));
	cr_assert_eq(s->rx_bad_acks, 3);
	h.ack = 0xffffffff;
	rig_inject(rig, RIG_NODE, &h, NULL, 0);
	rig_run(rig, rig->now + MF_US(10));
	cr_assert_eq(s->rx_bad_acks, 3);
	cr_assert_eq(s->rx_old_acks, 1);
	carry(300);
	cr_assert_eq(replayed(), 0);
}

CARRY_TEST(llr_window, a8_nack_of_what_comes_next_is_an_ack)
{
	struct mf_link_head h = rig_head(rig, RIG_SWITCH, MF_LINK_NACK);

	carry(100);
	h.ack = 100;
	h.limit = 100 + 256;
	rig_inject(rig, RIG_NODE, &h, NULL, 0);
	rig_run(rig, rig->now + MF_US(10));
	cr_assert_eq(rig_stats(rig, RIG_NODE)->rx_nack_frames, 1);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->tx_nack_replays, 0);
	carry(100);
	cr_assert_eq(replayed(), 0);
}

static bool mark_data(struct rig *r, int from, struct mf_link_head *h)
{
	/* A frame of the past that the network has kept: an offset of the number, sealed again. */
	static const uint32_t offset[] = {0x80000000, 0x40000000, 256, 5000, 0xc0000000, (uint32_t)-512};

	if (from == RIG_NODE && h->type == MF_LINK_DATA && r->count < 6) {
		h->seq += offset[r->count++];
		mf_link_frame_seal((uint8_t *)h);
	}
	return true;
}

CARRY_TEST(llr_window, a8_numbers_that_can_be_neither)
{
	rig->filter = mark_data;
	carry(500);
	cr_assert_eq(rig_stats(rig, RIG_SWITCH)->rx_outside_frames, 6);
	cr_assert_eq(rig->end[RIG_SWITCH].ups, 1);
}
