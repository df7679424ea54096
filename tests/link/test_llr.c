/* SPDX-License-Identifier: BSD-3-Clause */
/* Retransmission: what the standard bodies run against an LLR. */
#include <criterion/criterion.h>

#include "carry.h"

CARRY_TEST(llr, thousand_frames_in_sequence)
{
	carry(1000);
	cr_assert_eq(rig_stats(rig, RIG_SWITCH)->rx_data_frames, 1000);
	cr_assert_eq(rig_stats(rig, RIG_SWITCH)->rx_data_blocks, 1000 * FRAME);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->tx_data_frames, 1000);
	cr_assert_eq(replayed(), 0);
	cr_assert_eq(rig_stats(rig, RIG_SWITCH)->tx_nack_frames, 0);
}

/** count: directions in which the number at which it wraps was emitted. */
static bool look_for_wrap(struct rig *r, int from, struct mf_link_head *h)
{
	if (h->type == MF_LINK_DATA && h->seq == (r->end[from].config.first >> 31 ? 0 : 0x80000000))
		r->count |= 1u << from;
	return true;
}

/** First numbers that let every field wrap in the midst of the transfer: unsigned, and as a difference. */
Test(llr, wrap_of_the_sequence_space)
{
	static const uint32_t first[] = {0xfffffff0, 0xfffffc18, 0x7ffffff0, 0xffffff00};

	for (unsigned int i = 0; i < 4; i++) {
		rig = rig_new(i);
		rig->end[0].config.first = first[i];
		rig->end[1].config.first = first[(i + 1) % 4];
		for (int e = 0; e < 2; e++) {
			rig->end[e].impaired = true;
			mf_impair_init(&rig->end[e].impair,
				       &(struct mf_impair_config){.drop = 0.01 * i, .duplicate = 0.01 * i}, 9,
				       (uint64_t)e);
		}
		rig_start(rig, 0);
		rig_start(rig, 1);
		rig_until_up(rig, MF_SEC(1));
		rig->filter = look_for_wrap;
		rig->end[RIG_SWITCH].to_put = 1200 * FRAME;
		rig->end[RIG_SWITCH].burst = FRAME;
		carry(1200);
		cr_assert_eq(rig->count, 3, "numbers have wrapped in both directions");
		for (int e = 0; e < 2; e++)
			cr_assert(rig_stats(rig, e)->rx_bad_acks == 0 &&
				  rig_stats(rig, e)->rx_outside_frames == 0 &&
				  rig_stats(rig, e)->rx_bad_limits == 0);
		carry_tear_down();
	}
}

CARRY_TEST(llr, five_percent_of_thousand_lost)
{
	uint64_t sent;

	rig->filter = lose_by_chance;
	carry(1000);
	sent = rig_stats(rig, RIG_NODE)->tx_data_frames + replayed();
	cr_assert(rig->count > sent * 4 / 100 && rig->count < sent * 6 / 100, "%llu of %llu lost",
		  (unsigned long long)rig->count, (unsigned long long)sent);
	cr_assert_geq(replayed(), rig->count, "each that is lost goes again");
	cr_assert_leq(rig_stats(rig, RIG_SWITCH)->rx_missing_frames, rig->count);
	cr_assert_gt(rig_stats(rig, RIG_NODE)->tx_nack_replays, 0);
	cr_assert_eq(rig->end[RIG_SWITCH].ups, 1, "the link has stayed up");
}

CARRY_TEST(llr, exactly_the_50th_lost)
{
	rig->filter = lose_the_50th;
	carry(1000);
	cr_assert_eq(rig_stats(rig, RIG_SWITCH)->tx_nack_frames, 1, "one NACK a gap");
	cr_assert_eq(rig_stats(rig, RIG_SWITCH)->rx_missing_frames, 1);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->tx_nack_replays, 1);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->tx_timer_replays, 0);
	/* Go back N: what had been sent behind it goes again, and nothing else. */
	cr_assert_eq(replayed(), rig_stats(rig, RIG_SWITCH)->rx_gap_frames + 1);
}

static uint32_t acked, most_ahead;

/** The first ten; and how far the node has gone beyond what it was told. */
static bool suppress_ten_acks(struct rig *r, int from, struct mf_link_head *h)
{
	if (from == RIG_NODE && h->type == MF_LINK_DATA && h->seq - acked + 1 > most_ahead)
		most_ahead = h->seq - acked + 1;
	if (from != RIG_SWITCH || h->type != MF_LINK_ACK)
		return true;
	if (++r->count > 10)
		acked = h->ack;
	return r->count > 10;
}

/** Four make the window: the sender waits at its end, asks, and nothing is taken twice. */
CARRY_TEST(llr, acknowledgements_suppressed_for_ten)
{
	const struct mf_link_config *c = &rig->end[RIG_NODE].config;

	acked = most_ahead = 0;
	rig->filter = suppress_ten_acks;
	carry(1000);
	cr_assert_gt(rig->count, 10);
	cr_assert_eq(rig->end[RIG_SWITCH].delivered, 1000 * FRAME);
	cr_assert_eq(rig_stats(rig, RIG_SWITCH)->rx_data_frames, 1000);
	cr_assert_eq(most_ahead, c->window, "never more than the window is out");
	cr_assert_gt(rig_stats(rig, RIG_NODE)->tx_timer_replays, 0);
	cr_assert_eq(rig_stats(rig, RIG_SWITCH)->rx_duplicate_frames, replayed(), "all of it was there");
	cr_assert_eq(rig->end[RIG_NODE].ups, 1);
}

static bool lose_a_hundred(struct rig *r, int from, struct mf_link_head *h)
{
	if (from != RIG_NODE || h->type != MF_LINK_DATA)
		return true;
	r->count++;
	return r->count <= 200 || r->count > 300;
}

CARRY_TEST(llr, burst_of_hundred_lost)
{
	rig->filter = lose_a_hundred;
	carry(1000);
	cr_assert_gt(rig->count, 1000);
	cr_assert_eq(rig_stats(rig, RIG_SWITCH)->rx_missing_frames, 100);
	cr_assert_eq(rig_stats(rig, RIG_SWITCH)->tx_nack_frames, 1, "one NACK a gap");
	cr_assert_eq(replayed(), rig_stats(rig, RIG_SWITCH)->rx_gap_frames + 100);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->tx_timer_replays, 0);
	cr_assert_eq(rig->end[RIG_NODE].ups, 1);
}

static uint32_t old_tag;
static uint64_t replay_starts, byes, old_after_bye;

static bool lose_all_data(struct rig *r, int from, struct mf_link_head *h)
{
	if (from != RIG_NODE || h->epoch != old_tag)
		return true;
	old_after_bye += byes;
	byes += h->type == MF_LINK_BYE;
	replay_starts += h->type == MF_LINK_DATA && h->seq == 0;
	r->count++;
	return h->type != MF_LINK_DATA;
}

/**
 * B4: as many replays as set, each behind a HELLO of a partner that lives, then down, then BYE; no frame of
 * the old connection follows.
 */
CARRY_TEST(llr, persistent_loss_ends_in_link_down_after_the_set_replays)
{
	mf_time start = rig->now;

	old_tag = rig_head(rig, RIG_NODE, MF_LINK_DATA).epoch;
	rig->filter = lose_all_data;
	rig->end[RIG_NODE].to_put = 10;
	rig_run(rig, rig->now + MF_MS(1000));
	cr_assert(mf_link_up(rig->end[0].link));
	rig_run(rig, start + MF_MS(1500));
	cr_assert(mf_link_up(rig->end[0].link), "more replays than set, of which each HELLO makes one count");
	cr_assert_gt(rig_stats(rig, RIG_NODE)->tx_timer_replays, rig->end[RIG_NODE].config.replays);
	rig_run(rig, start + MF_SEC(2));
	cr_assert_eq(replay_starts, 1 + rig_stats(rig, RIG_NODE)->tx_timer_replays);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->down_gave_up_events, 1);
	cr_assert_eq(rig_stats(rig, RIG_SWITCH)->down_partner_gave_up_events, 1);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->down_silence_events, 0);
	cr_assert_eq(byes, 1);
	cr_assert_eq(old_after_bye, 0);
	/* The wire is good for frames of another tag. */
	cr_assert(rig_is_up(rig));
	cr_assert_eq(rig->end[RIG_NODE].status.down, MF_LINK_DOWN_GAVE_UP);
	cr_assert_eq(rig->end[RIG_NODE].ups, 2);
}

static bool lose_data_both_ways(struct rig *r, int from, struct mf_link_head *h)
{
	(void)r;
	(void)from;
	return h->type != MF_LINK_DATA || h->epoch != old_tag;
}

CARRY_TEST(llr, both_give_up_at_once)
{
	old_tag = rig_head(rig, RIG_NODE, MF_LINK_DATA).epoch;
	rig->filter = lose_data_both_ways;
	rig->end[0].to_put = rig->end[1].to_put = 10;
	rig_run(rig, rig->now + MF_SEC(2));
	for (int e = 0; e < 2; e++) {
		cr_assert_eq(rig_stats(rig, e)->down_gave_up_events, 1);
		cr_assert_eq(rig->end[e].ups, 2);
	}
	rig->end[1].to_put = FRAME;
	carry(100);
}

/** Windows of two frames, and a receiver that takes nothing for a while: nothing is lost or overrun. */
Test(llr, buffer_exhaustion)
{
	rig = rig_new(3);
	rig->end[0].config.window = rig->end[1].config.window = 2;
	rig_start(rig, 0);
	rig_start(rig, 1);
	rig_until_up(rig, MF_MS(1));
	rig->end[RIG_SWITCH].holds = true;
	rig->end[RIG_NODE].to_put = UINT64_MAX;
	rig->end[RIG_NODE].burst = FRAME;
	rig_run(rig, rig->now + MF_SEC(5));
	cr_assert_eq(rig_stats(rig, RIG_SWITCH)->rx_data_frames, 2);
	cr_assert_eq(rig_stats(rig, RIG_SWITCH)->rx_no_room_frames, 0);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->tx_data_frames, 2);
	cr_assert(!mf_link_can_put(rig->end[RIG_NODE].link));
	cr_assert_eq(rig_stats(rig, RIG_NODE)->tx_no_room_blocks, 0);
	cr_assert_eq(rig->end[RIG_NODE].ups, 1, "a receiver that is stuck lives");
	rig->end[RIG_SWITCH].holds = false;
	rig_run(rig, rig->now + MF_MS(100));
	cr_assert_gt(rig->end[RIG_SWITCH].got, 1000 * FRAME);
	rig->end[RIG_NODE].to_put = 0;
	rig_until_delivered(rig, MF_SEC(1));
	carry_tear_down();
}

static void restart(bool node, bool other, mf_time again)
{
	uint64_t seed = 11;

	for (mf_time at = MF_US(20); at < MF_MS(2); at += MF_US(170), seed++) {
		rig = rig_up(seed);
		rig->octet = 3200;
		rig->end[0].to_put = rig->end[1].to_put = UINT64_MAX;
		rig_run(rig, rig->now + at);
		for (int k = 0; k < (again ? 2 : 1); k++) {
			if (node) {
				rig_kill(rig, RIG_NODE);
				rig_start(rig, RIG_NODE);
			}
			if (other) {
				rig_kill(rig, RIG_SWITCH);
				rig_start(rig, RIG_SWITCH);
			}
			rig_run(rig, rig->now + (again ? again : MF_MS(1)));
		}
		rig_run(rig, rig->now + MF_MS(10));
		cr_assert(rig_is_up(rig));
		rig->end[0].to_put = rig->end[1].to_put = 0;
		rig_until_delivered(rig, MF_MS(100));
		cr_assert_gt(rig->end[0].got, 1000);
		cr_assert_gt(rig->end[1].got, 1000);
		carry_tear_down();
	}
}

Test(llr, restart_of_the_node_in_mid_transfer)
{
	restart(true, false, 0);
}

Test(llr, restart_of_the_switch_in_mid_transfer)
{
	restart(false, true, 0);
}

Test(llr, restart_of_both_in_mid_transfer)
{
	restart(true, true, 0);
}

Test(llr, restart_twice_within_a_hello_period)
{
	restart(true, false, MF_US(7));
	restart(false, true, MF_US(70));
	restart(true, true, MF_MS(7));
}
