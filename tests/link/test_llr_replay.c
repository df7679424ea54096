/* SPDX-License-Identifier: BSD-3-Clause */
/* Retransmission: gaps, what they are asked for with, and what is sent again. */
#include <criterion/criterion.h>
#include <string.h>

#include "carry.h"

static bool lose_nacks_and_replays(struct rig *r, int from, struct mf_link_head *h)
{
	if (from == RIG_NODE && h->type == MF_LINK_DATA && h->seq == 50)
		return r->count++ >= 2;
	return true;
}

/** B2: the replay's first frame is lost, too: once it has passed without it, it is asked for again. */
CARRY_TEST(llr_replay, b2_replay_that_passes_without_what_is_missing)
{
	rig->filter = lose_nacks_and_replays;
	carry(1000);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->tx_timer_replays, 0);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->tx_nack_replays, 2);
	cr_assert_eq(rig_stats(rig, RIG_SWITCH)->tx_nack_frames, 2);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->tx_poll_frames, 0);
}

static bool lose_the_tail(struct rig *r, int from, struct mf_link_head *h)
{
	return from != RIG_NODE || h->type != MF_LINK_DATA || h->seq != 99 || r->count++ > 0;
}

/** The lost tail has no gap behind it: a poll finds out, once it is known what a round trip takes. */
CARRY_TEST(llr_replay, tail_is_covered_by_a_poll)
{
	rig->filter = lose_the_tail;
	carry(100);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->tx_poll_frames, 1);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->tx_nack_replays, 1);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->tx_timer_replays, 0);
	cr_assert_eq(replayed(), 1);
}

static bool lose_the_tail_and_polls(struct rig *r, int from, struct mf_link_head *h)
{
	return lose_the_tail(r, from, h) && (from != RIG_NODE || h->type != MF_LINK_ACK);
}

CARRY_TEST(llr_replay, tail_is_covered_by_the_timer)
{
	rig->filter = lose_the_tail_and_polls;
	carry(100);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->tx_timer_replays, 1);
	cr_assert_eq(replayed(), 1);
}

/** Frame 50 once, and the first NACK. */
static bool lose_the_first_nack(struct rig *r, int from, struct mf_link_head *h)
{
	bool data = from == RIG_NODE && h->type == MF_LINK_DATA && h->seq == 50,
	     nack = from == RIG_SWITCH && h->type == MF_LINK_NACK;
	uint64_t bit = data ? 1 : nack ? 2 : 0;
	bool lost = (r->count & bit) == 0 && bit != 0;

	r->count |= bit;
	return !lost;
}

CARRY_TEST(llr_replay, b2_lost_nack_is_covered_by_a_poll)
{
	rig->filter = lose_the_first_nack;
	carry(1000);
	cr_assert_eq(rig->count, 3);
	cr_assert_eq(rig_stats(rig, RIG_SWITCH)->tx_nack_frames, 2);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->tx_poll_frames, 1);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->tx_timer_replays, 0);
}

/** A POLL that tells of a frame that has not come shows the gap. */
CARRY_TEST(llr_replay, b2_poll_shows_the_tail)
{
	struct mf_link_head h = rig_head(rig, RIG_NODE, MF_LINK_ACK);

	rig->filter = lose_the_tail;
	rig->end[RIG_NODE].burst = FRAME;
	rig->end[RIG_NODE].to_put = 100 * FRAME;
	rig_run(rig, rig->now + MF_US(30));
	h.flags |= MF_LINK_POLL;
	h.seq = 100;
	h.limit = 256;
	rig_inject(rig, RIG_SWITCH, &h, NULL, 0);
	rig_run(rig, rig->now + MF_US(30));
	cr_assert_eq(rig_stats(rig, RIG_SWITCH)->rx_poll_frames, 1);
	cr_assert_eq(rig_stats(rig, RIG_SWITCH)->tx_nack_frames, 1);
	rig_until_delivered(rig, MF_US(100));
	cr_assert_eq(rig_stats(rig, RIG_NODE)->tx_timer_replays, 0);
}

/** B3: NACKs for what is being sent again already change nothing. */
CARRY_TEST(llr_replay, b3_nack_during_its_replay_is_held)
{
	struct mf_link_head h = rig_head(rig, RIG_SWITCH, MF_LINK_NACK);

	rig->filter = lose_the_50th;
	rig->end[RIG_NODE].burst = FRAME;
	rig->end[RIG_NODE].to_put = 100 * FRAME;
	h.ack = 49;
	h.limit = 49 + 256;
	rig_run(rig, rig->now + rig->delay);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->tx_nack_replays, 0);
	rig_run(rig, rig->now + rig->delay);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->tx_nack_replays, 1);
	rig->delay = MF_NS(100);
	for (int i = 0; i < 3; i++)
		rig_inject(rig, RIG_NODE, &h, NULL, 0);
	rig->delay = MF_US(5);
	rig_until_delivered(rig, MF_MS(1));
	cr_assert_eq(rig_stats(rig, RIG_NODE)->tx_held_nacks, 3);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->tx_nack_replays, 1);
}

static bool damage_the_50th(struct rig *r, int from, struct mf_link_head *h)
{
	if (from == RIG_NODE && h->type == MF_LINK_DATA && ++r->count == 50)
		h->crc ^= 1;
	return true;
}

/** B5: alone on its port an end asks at once, and the gap may be asked for once more. */
CARRY_TEST(llr_replay, b5_bad_crc_is_asked_for_at_once)
{
	rig->filter = damage_the_50th;
	rig->octet = 800;
	carry(60);
	cr_assert_eq(rig_stats(rig, RIG_SWITCH)->rx_damaged_frames, 1);
	cr_assert_leq(rig_stats(rig, RIG_SWITCH)->tx_nack_frames, 2);
	cr_assert_geq(rig_stats(rig, RIG_SWITCH)->tx_nack_frames, 1);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->tx_timer_replays, 0);
}

static bool lose_the_first(struct rig *r, int from, struct mf_link_head *h)
{
	return from != RIG_NODE || h->type != MF_LINK_DATA || r->count++ != 0;
}

/** B5: a damaged ACK asks for nothing that was lost, and mutes no real gap behind it. */
CARRY_TEST(llr_replay, b5_damaged_ack_mutes_no_gap)
{
	rig->end[RIG_NODE].burst = FRAME;
	rig->end[RIG_NODE].to_put = 100 * FRAME;
	mf_link_damaged(rig->end[RIG_SWITCH].link, rig->now);
	rig->filter = lose_the_first;
	rig_until_delivered(rig, MF_MS(2));
	cr_assert_eq(rig_stats(rig, RIG_SWITCH)->tx_nack_frames, 2);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->tx_timer_replays, 0);
}

static uint8_t first_copy[512][MF_LINK_FRAME_MAX];
static uint64_t same;

static bool compare_replays(struct rig *r, int from, struct mf_link_head *h)
{
	size_t len = sizeof(*h) + h->length;

	if (from != RIG_NODE || h->type != MF_LINK_DATA)
		return true;
	cr_assert_lt(h->seq, 512);
	if (first_copy[h->seq][12] != 0) {
		cr_assert_arr_eq(first_copy[h->seq], h, len);
		same++;
	}
	memcpy(first_copy[h->seq], h, len);
	return mf_rng_below(&r->rng, 10) != 0;
}

CARRY_TEST(llr_replay, replay_is_byte_identical)
{
	rig->filter = compare_replays;
	rig->octet = 800;
	rig->end[RIG_SWITCH].to_put = UINT64_MAX; /* so that ack and limit of new frames change */
	rig->end[RIG_NODE].burst = 0;
	rig->end[RIG_NODE].to_put = 200 * FRAME;
	rig_run(rig, rig->now + MF_MS(30));
	cr_assert_eq(rig->end[RIG_SWITCH].delivered, 200 * FRAME);
	cr_assert_gt(same, 50);
}

static uint16_t change_to;

static bool change_contents(struct rig *r, int from, struct mf_link_head *h)
{
	if (from == RIG_NODE && h->type == MF_LINK_DATA && h->seq == 5) {
		h->blocks = change_to;
		mf_link_frame_seal((uint8_t *)h);
		r->count++;
	}
	return true;
}

/** B6: a good CRC over bad contents is not acknowledged: the sender gives up, by as many HELLOs as replays.
 */
CARRY_TEST(llr_replay, b6_bad_contents_end_in_gave_up)
{
	rig->filter = change_contents;
	change_to = 3;
	rig->end[RIG_NODE].burst = FRAME;
	rig->end[RIG_NODE].to_put = 6 * FRAME;
	rig_run(rig, rig->now + rig->end[0].config.replays * rig->end[0].config.hello_period + MF_MS(300));
	cr_assert_eq(rig_stats(rig, RIG_SWITCH)->rx_malformed_frames,
		     1 + rig_stats(rig, RIG_NODE)->tx_replayed_frames);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->down_gave_up_events, 1);
	cr_assert_eq(rig->end[RIG_SWITCH].delivered, 5 * FRAME);
}

static unsigned int recovered; /* frames that left while the ends knew of what was missing: bits of both */

static bool lose_the_50th_and_look(struct rig *r, int from, struct mf_link_head *h)
{
	unsigned int now = (unsigned int)mf_link_recovers(r->end[RIG_NODE].link) << RIG_NODE |
			   (unsigned int)mf_link_recovers(r->end[RIG_SWITCH].link) << RIG_SWITCH;

	cr_assert(now == 0 || r->count >= 50, "before anything was lost");
	recovered |= now;
	return lose_the_50th(r, from, h);
}

/** Either end knows that frames have yet to come again, and when they have come. */
CARRY_TEST(llr_replay, both_ends_know_that_the_link_recovers)
{
	recovered = 0;
	rig->filter = lose_the_50th_and_look;
	carry(1000);
	cr_assert_eq(recovered, 1u << RIG_NODE | 1u << RIG_SWITCH);
	cr_assert(!mf_link_recovers(rig->end[RIG_NODE].link));
	cr_assert(!mf_link_recovers(rig->end[RIG_SWITCH].link));
}
