/* SPDX-License-Identifier: BSD-3-Clause */
/* Retransmission: the replay timer, polls, and ends that have no CPU for a while. */
#include <criterion/criterion.h>

#include "carry.h"

static bool slow_acks(struct rig *r, int from, struct mf_link_head *h)
{
	(void)from;
	(void)h;
	r->delay = MF_MS(10);
	return true;
}

/** A6: a round trip that is longer than replay_after is learnt: no storm of replays. */
CARRY_TEST(llr_timer, a6_timer_follows_the_round_trip)
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
CARRY_TEST(llr_timer, a6_timer_learns_how_long_a_partner_sleeps)
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
CARRY_TEST(llr_timer, a6_polls_find_what_a_patient_timer_does_not)
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
CARRY_TEST(llr_timer, a6_sending_does_not_restart_the_timer)
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
CARRY_TEST(llr_timer, a7_pause_longer_than_silence)
{
	rig->octet = MF_NS(100);
	for (int e = 0; e < 2; e++) {
		/* With blocks under way: the partner has not given up either. */
		for (mf_time away = MF_MS(900); away < MF_SEC(3); away += MF_SEC(2)) {
			uint64_t stalls = rig_stats(rig, e)->stall_events;

			rig->end[0].to_put = rig->end[1].to_put = UINT64_MAX;
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

/** A partner that is silent for want of a turn is borne for as long as the owner says, and no longer. */
CARRY_TEST(llr_timer, what_is_excused_is_no_silence)
{
	const mf_time silence = rig->end[RIG_NODE].config.silence;

	carry(100);
	rig->end[RIG_NODE].to_put = 1000;
	rig->end[RIG_SWITCH].paused = rig->now + 4 * silence;
	for (int i = 1; i < 20; i++) {
		rig_run(rig, rig->now + silence / 10);
		mf_link_excuse(rig->end[RIG_NODE].link, mf_link_unheard(rig->end[RIG_NODE].link, rig->now));
	}
	rig_run(rig, rig->now + silence - MF_MS(1));
	cr_assert(mf_link_up(rig->end[RIG_NODE].link));
	cr_assert_eq(rig_stats(rig, RIG_NODE)->down_gave_up_events, 0, "no replay was lost that was heard");
	rig_run(rig, rig->now + silence / 5);
	cr_assert(!mf_link_up(rig->end[RIG_NODE].link));
	cr_assert_eq(rig_stats(rig, RIG_NODE)->down_silence_events, 1);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->excuse_events, 1);
}

/** And what was carried when it comes back is not lost. */
CARRY_TEST(llr_timer, a_partner_that_is_back_goes_on)
{
	carry(100);
	rig->end[RIG_NODE].to_put = 1000;
	rig->end[RIG_SWITCH].paused = rig->now + MF_SEC(20);
	while (rig->now < rig->end[RIG_SWITCH].paused) {
		rig_run(rig, rig->now + MF_MS(200));
		mf_link_excuse(rig->end[RIG_NODE].link, mf_link_unheard(rig->end[RIG_NODE].link, rig->now));
	}
	rig_until_delivered(rig, MF_MS(200));
	cr_assert_eq(rig->end[0].ups, 1);
	cr_assert_eq(rig->end[1].ups, 1);
}

/** A process that is known to be gone is not waited for. */
CARRY_TEST(llr_timer, whose_process_is_gone_is_gone_at_once)
{
	rig_kill(rig, RIG_SWITCH);
	mf_link_gone(rig->end[RIG_NODE].link);
	rig_run(rig, rig->now + MF_US(1));
	cr_assert(!rig->end[RIG_NODE].status.up);
	cr_assert_eq(rig->end[RIG_NODE].status.down, MF_LINK_DOWN_GONE);
	cr_assert_eq(rig_stats(rig, RIG_NODE)->down_gone_events, 1);
}

/** A7: frames that were under way when both are acknowledged before they are sent again. */
CARRY_TEST(llr_timer, a7_time_away_is_no_time_of_the_replay_timer)
{
	rig->end[RIG_NODE].to_put = 10;
	rig_run(rig, rig->now + MF_US(1));
	rig->end[0].paused = rig->end[1].paused = rig->now + MF_SEC(1);
	rig_run(rig, rig->now + MF_MS(1001));
	cr_assert_eq(rig->end[RIG_SWITCH].delivered, 10);
	cr_assert_eq(replayed(), 0);
}

/** A7: frames of strangers and of other connections are no signs of life. */
CARRY_TEST(llr_timer, a7_only_frames_of_the_connection_are_life)
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
