/* SPDX-License-Identifier: BSD-3-Clause */
/* Retransmission: what the standard bodies run against an LLR, and each rule of ours by itself. */
#include <criterion/criterion.h>
#include <string.h>

#include "rig.h"

TestSuite(llr, .timeout = 60);

#define FRAME MF_SPAN_MAX /* blocks: a span fills a frame */

static struct rig *rig;

/** A link that carries n whole frames from the node to the switch. */
static void carry(uint64_t frames)
{
	rig->end[RIG_NODE].burst = FRAME;
	rig->end[RIG_NODE].to_put = frames * FRAME;
	rig_until_delivered(rig, MF_SEC(20));
}

static void set_up(void)
{
	rig = rig_up(1);
}

static void tear_down(void)
{
	rig_free(rig);
}

#define LLR_TEST(name) Test(llr, name, .init = set_up, .fini = tear_down)

static uint64_t replayed(void)
{
	return rig_stats(rig, RIG_NODE)->tx_replayed_frames;
}

LLR_TEST(thousand_frames_in_sequence)
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
		tear_down();
	}
}

/** count: of the node's DATA. */
static bool lose_by_chance(struct rig *r, int from, struct mf_link_head *h)
{
	bool lost = mf_rng_double(&r->rng) < 0.05;

	r->count += lost && from == RIG_NODE && h->type == MF_LINK_DATA;
	return !lost;
}

LLR_TEST(five_percent_of_thousand_lost)
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

/** count: numbers of DATA frames, without replays. */
static bool lose_the_50th(struct rig *r, int from, struct mf_link_head *h)
{
	return from != RIG_NODE || h->type != MF_LINK_DATA || ++r->count != 50;
}

LLR_TEST(exactly_the_50th_lost)
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
LLR_TEST(acknowledgements_suppressed_for_ten)
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

LLR_TEST(burst_of_hundred_lost)
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

/** B4: as many replays as set, then down, then BYE; no frame of the old connection follows. */
LLR_TEST(persistent_loss_ends_in_link_down_after_the_set_replays)
{
	mf_time start = rig->now;

	old_tag = rig_head(rig, RIG_NODE, MF_LINK_DATA).epoch;
	rig->filter = lose_all_data;
	rig->end[RIG_NODE].to_put = 10;
	rig_run(rig, rig->now + MF_MS(1000));
	cr_assert(mf_link_up(rig->end[0].link));
	rig_run(rig, start + MF_SEC(2));
	cr_assert_eq(rig_stats(rig, RIG_NODE)->tx_timer_replays, rig->end[RIG_NODE].config.replays);
	cr_assert_eq(replay_starts, 1 + rig->end[RIG_NODE].config.replays);
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

LLR_TEST(both_give_up_at_once)
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
	tear_down();
}

/** What an owner must not do is dropped and counted, and does no harm. */
LLR_TEST(put_without_room_is_counted)
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
		tear_down();
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

/* Rules by themselves. */

/** A4: frames that are overtaken, or replayed, tell old limits. */
LLR_TEST(a4_limit_never_goes_back)
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

LLR_TEST(a4_limit_beyond_the_window_is_bad)
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
LLR_TEST(a5_lost_ack_of_more_room)
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

/** A receiver that takes again tells of the room at once: nobody has to ask. */
LLR_TEST(a5_room_is_told_at_once)
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

static bool slow_acks(struct rig *r, int from, struct mf_link_head *h)
{
	(void)from;
	(void)h;
	r->delay = MF_MS(10);
	return true;
}

/** A6: a round trip that is longer than replay_after is learnt: no storm of replays. */
LLR_TEST(a6_timer_follows_the_round_trip)
{
	uint64_t before;

	rig->filter = slow_acks;
	carry(2000);
	before = rig_stats(rig, RIG_NODE)->tx_timer_replays;
	cr_assert_leq(before, 6, "until the first sample");
	carry(5000);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->tx_timer_replays, before);
	cr_assert_geq(rig->end[0].status.round_trip, 0);
}

/** The partner has no CPU for a while, and gets all then. @return frames that were sent again meanwhile */
static uint64_t replays_of_a_sleep(mf_time sleep)
{
	uint64_t before = rig_stats(rig, RIG_NODE)->tx_replayed_frames;

	carry(100);
	rig->end[RIG_SWITCH].paused = rig->now + sleep;
	rig->end[RIG_NODE].to_put += 5000;
	rig_run(rig, rig->now + sleep);
	rig_until_delivered(rig, MF_MS(20));
	return rig_stats(rig, RIG_NODE)->tx_replayed_frames - before;
}

/** A6: how long a partner slept that had lost nothing is learnt, though no round trip can be measured. */
LLR_TEST(a6_timer_learns_how_long_a_partner_sleeps)
{
	cr_assert_gt(replays_of_a_sleep(MF_MS(20)), 10, "nothing is known yet");
	for (unsigned int i = 0; i < 20; i++)
		cr_assert_eq(replays_of_a_sleep(MF_MS(10 + i)), 0, "it is now: sleep %u", i);
	for (unsigned int i = 0; i < 20; i++) {
		carry(1);
		rig_run(rig, rig->now + MF_SEC(1));
	}
	cr_assert_gt(replays_of_a_sleep(MF_MS(20)), 10, "and is forgotten after a time without");
}

static bool lose_polls(struct rig *r, int from, struct mf_link_head *h)
{
	r->count += from == RIG_NODE && h->type == MF_LINK_ACK;
	return from != RIG_NODE || h->type == MF_LINK_HELLO || r->count > 3;
}

/** A6: with a patient timer a lost tail is found by polls, more than one of which may be lost. */
LLR_TEST(a6_polls_find_what_a_patient_timer_does_not)
{
	uint64_t before, polls;

	cr_assert_gt(replays_of_a_sleep(MF_MS(40)), 0);
	before = rig_stats(rig, RIG_NODE)->tx_timer_replays;
	polls = rig_stats(rig, RIG_NODE)->tx_poll_frames;
	rig->count = 0;
	rig->filter = lose_polls;
	rig->end[RIG_NODE].to_put += 100;
	rig_until_delivered(rig, MF_MS(10));
	cr_assert_eq(rig_stats(rig, RIG_NODE)->tx_timer_replays, before);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->tx_poll_frames, polls + 4);
}

static bool lose_the_20th_and_acks(struct rig *r, int from, struct mf_link_head *h)
{
	if (from == RIG_SWITCH)
		return h->type == MF_LINK_HELLO;
	return h->type != MF_LINK_DATA || h->seq != 20 || r->count++ > 0;
}

/** A6: new frames do not put the timer off. */
LLR_TEST(a6_sending_does_not_restart_the_timer)
{
	rig->end[RIG_NODE].burst = 1;
	rig->filter = lose_the_20th_and_acks;
	for (int i = 0; i < 100; i++) {
		rig->end[RIG_NODE].to_put++;
		rig_run(rig, rig->now + MF_US(10));
	}
	cr_assert_geq(rig_stats(rig, RIG_NODE)->tx_timer_replays, 1);
	rig->filter = NULL;
	rig_until_delivered(rig, MF_MS(20));
}

/** A7: a process that was away looks at what waits before it calls its partner silent. */
LLR_TEST(a7_pause_longer_than_silence)
{
	rig->octet = MF_NS(100);
	for (int e = 0; e < 2; e++) {
		/* With blocks under way the partner must not have given up. */
		for (mf_time away = MF_MS(900); away < MF_SEC(3); away += MF_SEC(2)) {
			uint64_t stalls = rig_stats(rig, e)->stall_events;

			rig->end[0].to_put = rig->end[1].to_put = away < MF_SEC(1) ? UINT64_MAX : 0;
			rig_run(rig, rig->now + MF_MS(10));
			rig->end[e].paused = rig->now + away;
			rig_run(rig, rig->now + away + MF_MS(1));
			cr_assert_eq(rig_stats(rig, e)->stall_events, stalls + 1);
			cr_assert_eq(rig_stats(rig, e)->down_silence_events, 0);
		}
	}
	rig->end[0].to_put = rig->end[1].to_put = UINT64_MAX;
	rig_run(rig, rig->now + MF_MS(10));
	/* Both at once, for longer than any of their timers. */
	rig->end[0].paused = rig->end[1].paused = rig->now + MF_SEC(30);
	rig_run(rig, rig->now + MF_SEC(31));
	cr_assert_eq(rig->end[0].ups, 1);
	cr_assert_eq(rig->end[1].ups, 1);
	rig->end[0].to_put = rig->end[1].to_put = 0;
	rig_until_delivered(rig, MF_MS(200));
}

/** A7: frames that were under way when both were away are acknowledged before they are sent again. */
LLR_TEST(a7_time_away_is_no_time_of_the_replay_timer)
{
	rig->end[RIG_NODE].to_put = 10;
	rig_run(rig, rig->now + MF_US(1));
	rig->end[0].paused = rig->end[1].paused = rig->now + MF_SEC(1);
	rig_run(rig, rig->now + MF_MS(1001));
	cr_assert_eq(rig->end[RIG_SWITCH].delivered, 10);
	cr_assert_eq(replayed(), 0);
}

/** A7: frames of strangers and of other connections are no signs of life. */
LLR_TEST(a7_only_frames_of_the_connection_are_life)
{
	const struct mf_link_hello hello = {.epoch = UINT64_MAX - 1,
					    .fabric = 0xfab,
					    .features = MF_LINK_RETRANSMITS,
					    .period = 2560,
					    .window = 256,
					    .blocks = 520,
					    .node = 7};
	struct mf_link_head h = rig_head(rig, RIG_NODE, MF_LINK_HELLO),
			    data = rig_head(rig, RIG_NODE, MF_LINK_ACK);

	data.epoch++;
	rig_kill(rig, RIG_NODE);
	for (int i = 0; i < 35; i++) {
		rig_inject(rig, RIG_SWITCH, &h, &hello, sizeof(hello));
		rig_inject(rig, RIG_SWITCH, &data, NULL, 0);
		rig_run(rig, rig->now + MF_MS(100));
	}
	cr_assert_eq(rig_stats(rig, RIG_SWITCH)->down_silence_events, 1);
	cr_assert_gt(rig_stats(rig, RIG_SWITCH)->rx_stale_frames, 20);
}

/** A8: what acknowledges frames that were never sent is ignored; its blocks are not. */
LLR_TEST(a8_ack_beyond_what_was_sent)
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

LLR_TEST(a8_nack_of_what_comes_next_is_an_ack)
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

LLR_TEST(a8_numbers_that_can_be_neither)
{
	rig->filter = mark_data;
	carry(500);
	cr_assert_eq(rig_stats(rig, RIG_SWITCH)->rx_outside_frames, 6);
	cr_assert_eq(rig->end[RIG_SWITCH].ups, 1);
}

static bool lose_nacks_and_replays(struct rig *r, int from, struct mf_link_head *h)
{
	if (from == RIG_NODE && h->type == MF_LINK_DATA && h->seq == 50)
		return r->count++ >= 2;
	return true;
}

/** B2: the replay's first frame is lost, too: once it has passed without it, it is asked for again. */
LLR_TEST(b2_replay_that_passes_without_what_is_missing)
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
LLR_TEST(tail_is_covered_by_a_poll)
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

LLR_TEST(tail_is_covered_by_the_timer)
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

LLR_TEST(b2_lost_nack_is_covered_by_a_poll)
{
	rig->filter = lose_the_first_nack;
	carry(1000);
	cr_assert_eq(rig->count, 3);
	cr_assert_eq(rig_stats(rig, RIG_SWITCH)->tx_nack_frames, 2);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->tx_poll_frames, 1);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->tx_timer_replays, 0);
}

/** A POLL that tells of a frame that has not come shows the gap. */
LLR_TEST(b2_poll_shows_the_tail)
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
LLR_TEST(b3_nack_during_its_replay_is_held)
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
LLR_TEST(b5_bad_crc_is_asked_for_at_once)
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
LLR_TEST(b5_damaged_ack_mutes_no_gap)
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

LLR_TEST(replay_is_byte_identical)
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

/** B6: a good CRC over bad contents is not acknowledged: the sender gives up. */
LLR_TEST(b6_bad_contents_end_in_gave_up)
{
	rig->filter = change_contents;
	change_to = 3;
	rig->end[RIG_NODE].burst = FRAME;
	rig->end[RIG_NODE].to_put = 6 * FRAME;
	rig_run(rig, rig->now + MF_MS(1200));
	cr_assert_eq(rig_stats(rig, RIG_SWITCH)->rx_malformed_frames, 1 + rig->end[0].config.replays);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->down_gave_up_events, 1);
	cr_assert_eq(rig->end[RIG_SWITCH].delivered, 5 * FRAME);
}

/** B11: while down blocks are dropped and counted; before the first connection nothing is taken. */
LLR_TEST(b11_put_while_down)
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
LLR_TEST(what_is_lost_with_a_connection_is_counted)
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

LLR_TEST(blocks_not_taken_are_counted)
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

/** B13: without retransmission what is lost is lost, and counted; nothing comes twice. */
Test(llr, b13_without_retransmission)
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
	tear_down();
}

/** B13: without windows a receiver that does not keep up loses, and that is counted. */
Test(llr, b13_overrun_without_retransmission)
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
	tear_down();
}

/** B14: blocks go no faster than the link's rate, replays included; a frame may be saved up. */
Test(llr, b14_pacing)
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
		tear_down();
	}
}

/** What the owner has in its hands is its own until it takes again, whatever comes meanwhile. */
Test(llr, taken_blocks_stay_until_the_next_take)
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
		tear_down();
	}
}

/** Blocks do not wait for a frame to be full. */
LLR_TEST(a_block_leaves_at_once)
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
LLR_TEST(a_span_that_fits_a_frame_is_not_cut)
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
LLR_TEST(closed_loop_needs_no_ack_frames)
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

/** Frames of different sizes at the two ends: the smaller is what goes. */
Test(llr, frames_fit_the_smaller_mtu)
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
		tear_down();
	}
}

/** A frame that is longer than this end has said it takes. */
Test(llr, b6_more_blocks_than_were_asked_for)
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
	tear_down();
}

Test(llr, every_counter_has_a_name)
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
