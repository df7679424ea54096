/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which of two switches schedules (docs/fault-tolerance.md), and that one node, whatever it says, can neither
 * depose the one nor call the other.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "systems/edm/switch/mf_switch_leaks.h"
#include "redundant_rig.h"

#define HOSTILE 3

/** TAKE of this sort that left a port. */
static unsigned int count(const struct rig *r, unsigned int port, enum mf_take what, struct mf_msg *last)
{
	unsigned int n = 0;
	struct mf_msg m;

	for (unsigned int i = 0; i < r->outs[port]; i++)
		if (mf_proto_get_single(r->out[port][i].word, &m) == 0 && m.kind == MF_TAKE && m.op == what) {
			*last = m;
			n++;
		}
	return n;
}

/** All that one port can say, at random, for long. */
static void lie(struct rig *r, mf_time at, unsigned int times)
{
	struct mf_rng rng;

	mf_rng_init(&rng, 7, "hostile", 0);
	for (unsigned int i = 0; i < times; i++) {
		uint16_t epoch = (uint16_t)mf_rng_below(&rng, mf_rng_below(&rng, 2) ? 4 : 65536);
		enum mf_take what = mf_rng_below(&rng, 3) == 0 ? MF_TAKE_LOST : MF_TAKE_TELL;

		redundant_say(r, at, HOSTILE, what, epoch, (uint16_t)mf_rng_below(&rng, 6));
		at += MF_US(1) + mf_rng_below(&rng, MF_US(5));
	}
	rig_run(r, at);
}

Test(takeover, one_node_calls_no_switch)
{
	struct rig r;

	redundant_start(&r, 1);
	lie(&r, MF_US(1), 1000);
	cr_expect_not(redundant_is_active(&r));
	cr_expect_eq(mf_switch_stats(r.sw)->takes, 0);
	cr_expect_gt(mf_switch_stats(r.sw)->drop_take, 0);
	rig_stop(&r);
}

Test(takeover, one_node_deposes_no_switch)
{
	struct rig r;

	redundant_start(&r, 0);
	lie(&r, MF_US(1), 1000);
	cr_expect(redundant_is_active(&r));
	cr_expect_not(mf_switch_demoted(r.sw));
	rig_stop(&r);
}

Test(takeover, it_cannot_vouch_for_itself_or_others)
{
	struct rig r;

	redundant_start(&r, 0);
	rig_run(&r, MF_US(1));
	mf_switch_link_down(r.sw, 1, MF_US(1));
	for (unsigned int i = 0; i < 100; i++)
		redundant_say(&r, MF_US(2 + i), HOSTILE, MF_TAKE_LOST, 1, 1);
	rig_run(&r, MF_US(150));
	cr_expect(redundant_is_active(&r));
	rig_stop(&r);
}

Test(takeover, most_nodes_call_one)
{
	struct rig r;
	struct mf_msg m;

	redundant_start(&r, 1);
	redundant_say(&r, MF_US(1), 0, MF_TAKE_TELL, 1, 1);
	redundant_say(&r, MF_US(2), 1, MF_TAKE_TELL, 1, 1);
	rig_run(&r, MF_US(2));
	cr_expect_not(redundant_is_active(&r), "half of them are not most");
	redundant_say(&r, MF_US(3), 2, MF_TAKE_TELL, 1, 1);
	rig_run(&r, MF_US(4));
	cr_expect(redundant_is_active(&r));
	cr_expect_eq(count(&r, 2, MF_TAKE_HEARD, &m), 1);
	cr_expect_eq(m.epoch, 1);
	cr_expect_geq(count(&r, 3, MF_TAKE_TELL, &m), 1);
	rig_stop(&r);
}

/** One has lost its cable: the standby has the others ask, and the active one gives way. */
Test(takeover, a_lost_cable_is_vouched_for)
{
	struct rig r;
	struct mf_msg m;

	redundant_start(&r, 1);
	redundant_say(&r, MF_US(1), 1, MF_TAKE_TELL, 1, 1);
	rig_run(&r, MF_US(4));
	cr_expect_not(redundant_is_active(&r));
	cr_expect_eq(count(&r, 1, MF_TAKE_LOST, &m), 0);
	for (unsigned int i = 0; i < PORTS; i++)
		if (i != 1) {
			cr_expect_eq(count(&r, i, MF_TAKE_LOST, &m), 1, "port %u", i);
			cr_expect(m.epoch == 1 && m.dst == 1);
		}
	rig_stop(&r);

	redundant_start(&r, 0);
	rig_run(&r, MF_US(1));
	for (uint16_t i = 0; i < PORTS; i++)
		if (i != 1)
			redundant_say(&r, MF_US(2 + i), i, MF_TAKE_LOST, 1, 1);
	rig_run(&r, MF_US(10));
	cr_expect(redundant_is_active(&r), "the cable is there");
	mf_switch_link_down(r.sw, 1, MF_US(10));
	for (uint16_t i = 0; i < PORTS; i++)
		if (i != 1)
			redundant_say(&r, MF_US(12 + i), i, MF_TAKE_LOST, 1, 1);
	rig_run(&r, MF_US(14));
	cr_expect(redundant_is_active(&r), "not all have a way to the other one");
	rig_run(&r, MF_US(20));
	cr_expect(mf_switch_demoted(r.sw));
	rig_stop(&r);
}

/** Two have lost theirs at once: what is passed on of the one says nothing of the other. */
Test(takeover, two_lost_cables_at_once)
{
	static const uint16_t there[] = {0, 2}, lost[] = {1, 3};
	struct rig r;

	redundant_start(&r, 0);
	rig_run(&r, MF_US(1));
	for (unsigned int k = 0; k < 2; k++)
		mf_switch_link_down(r.sw, lost[k], MF_US(1));
	for (unsigned int i = 0; i < 2; i++)
		for (unsigned int k = 0; k < 2; k++)
			redundant_say(&r, MF_US(2 + 2 * i + k), there[i], MF_TAKE_LOST, 1, lost[k]);
	rig_run(&r, MF_NS(3900));
	cr_expect(redundant_is_active(&r), "not all have a way to the other one");
	rig_run(&r, MF_US(10));
	cr_expect(mf_switch_demoted(r.sw));
	rig_stop(&r);
}

/** What was passed on of a cable counts until it is there again, and not when it is lost the next time. */
Test(takeover, a_cable_that_is_lost_again_is_vouched_for_again)
{
	struct rig r;

	redundant_start(&r, 0);
	rig_run(&r, MF_US(1));
	mf_switch_link_down(r.sw, 1, MF_US(1));
	redundant_say(&r, MF_US(2), 0, MF_TAKE_LOST, 1, 1);
	redundant_say(&r, MF_US(3), 2, MF_TAKE_LOST, 1, 1);
	rig_run(&r, MF_US(4));
	rig_grant(&r, MF_US(4), &(struct mf_sched_grant){.src = 1, .dst = 1});
	rig_run(&r, MF_US(5));
	cr_assert(mf_switch_link_up(r.sw, 1, MF_US(5)));
	rig_run(&r, MF_US(6));
	mf_switch_link_down(r.sw, 1, MF_US(6));
	redundant_say(&r, MF_US(7), 3, MF_TAKE_LOST, 1, 1);
	rig_run(&r, MF_US(10));
	cr_expect(redundant_is_active(&r), "one is not all");
	redundant_say(&r, MF_US(11), 0, MF_TAKE_LOST, 1, 1);
	redundant_say(&r, MF_US(12), 2, MF_TAKE_LOST, 1, 1);
	rig_run(&r, MF_US(20));
	cr_expect(mf_switch_demoted(r.sw));
	rig_stop(&r);
}

/** A response comes, which was let out as evidence, and in its middle the last node says that it obeys. */
Test(takeover, a_response_during_whose_coming_its_pair_is_released)
{
	const mf_time at = MF_US(20);
	struct mf_switch_held held;
	struct rig r;

	redundant_start(&r, 1);
	rig_stop(&r);
	rig_start(&r, &redundant_config, true);
	redundant_ask(&r, MF_US(1), 5);
	redundant_notify(&r, MF_US(2), 1);
	redundant_write(&r, MF_US(3), MF_WREQ_ACK, 1, 0);
	rig_run(&r, MF_US(5));
	cr_assert_eq(mf_switch_stats(r.sw)->requests_forwarded, 1);
	redundant_say(&r, MF_US(6), 1, MF_TAKE_TELL, 1, 1);
	redundant_say(&r, MF_US(7), 3, MF_TAKE_TELL, 1, 1);
	redundant_say(&r, MF_US(8), MEMORY, MF_TAKE_TELL, 1, 1);
	redundant_respond(&r, at, 5);
	redundant_say(&r, at + 4 * P, 0, MF_TAKE_TELL, 1, 1);
	rig_run(&r, at + MF_US(2));
	cr_assert(redundant_is_active(&r));
	cr_expect_eq(mf_switch_stats(r.sw)->chunks, 2);
	mf_switch_held(r.sw, at + MF_US(2), &held);
	cr_expect_eq(held.circuits, 0);
	cr_expect_eq(mf_switch_stats(r.sw)->drop_ungranted, 0);
	rig_stop(&r);
}

#define FAR 1001 /* epochs ahead: nobody's */

/** A node that is too far ahead to be believed answers what it is told: it is told with the turns alone. */
Test(takeover, two_that_differ_do_not_talk_for_ever)
{
	struct mf_msg m;
	struct rig r;

	redundant_start(&r, 1);
	redundant_say(&r, MF_US(1), HOSTILE, MF_TAKE_ASK, 0, 0);
	rig_run(&r, MF_US(2));
	cr_expect_eq(count(&r, HOSTILE, MF_TAKE_TELL, &m), 1);
	for (unsigned int i = 0; i < 50; i++)
		redundant_say(&r, MF_US(3) + i * MF_NS(100), HOSTILE, MF_TAKE_TELL, FAR, 1);
	rig_run(&r, MF_US(9));
	cr_expect_eq(count(&r, HOSTILE, MF_TAKE_TELL, &m), 1);
	rig_run(&r, MF_US(9) + 2 * AGAIN);
	cr_expect_geq(count(&r, HOSTILE, MF_TAKE_TELL, &m), 2, "it is said again");
	cr_expect_not(redundant_is_active(&r));
	cr_expect_eq(mf_switch_stats(r.sw)->drop_take, 50);
	rig_stop(&r);
}

/** What is not heard is said again, and what is heard is not. */
Test(takeover, it_is_said_again)
{
	struct rig r;
	struct mf_msg m;

	redundant_start(&r, 0);
	rig_run(&r, MF_US(100));
	for (unsigned int i = 0; i < PORTS; i++)
		cr_expect_eq(r.outs[i], 0, "nobody has anything to say");
	redundant_say(&r, MF_US(101), 2, MF_TAKE_ASK, 0, 0);
	rig_run(&r, MF_US(101) + 5 * AGAIN + MF_US(1));
	cr_expect_eq(count(&r, 2, MF_TAKE_TELL, &m), 6);
	redundant_say(&r, MF_US(160), 2, MF_TAKE_TELL, 0, 9);
	rig_run(&r, MF_US(300));
	cr_expect_eq(count(&r, 2, MF_TAKE_TELL, &m), 6);
	cr_expect_eq(count(&r, 2, MF_TAKE_HEARD, &m), 1);
	rig_stop(&r);
}

/**
 * A chunk that comes twice at the standby says nothing of the next one: what is behind the write does not
 * pass in front of its last chunk, and that passes.
 */
Test(takeover, what_passes_twice_is_taken_down_once)
{
	struct rig r;

	redundant_start(&r, 1);
	redundant_notify(&r, MF_US(1), 1);
	redundant_notify(&r, MF_US(2), 2);
	redundant_write(&r, MF_US(3), MF_WREQ_ACK, 1, 0);
	redundant_write(&r, MF_US(4), MF_WREQ_ACK, 1, 0);
	redundant_write(&r, MF_US(5), MF_WREQ_ACK, 2, 0);
	rig_run(&r, MF_US(6));
	cr_expect_eq(mf_switch_stats(r.sw)->chunks, 2, "not the second write's");
	redundant_write(&r, MF_US(7), MF_WREQ_ACK, 1, 256);
	redundant_write(&r, MF_US(8), MF_WREQ_ACK, 2, 256);
	rig_run(&r, MF_US(10));
	cr_expect_eq(mf_switch_stats(r.sw)->chunks, 4);
	rig_stop(&r);
}

/* The way to the standby is long: ids are used again, and answered, before the first request is there. */
Test(takeover, requests_behind_the_answers_to_later_ones)
{
	static const uint8_t data[64];
	struct mf_msg ask = {.kind = MF_RREQ, .src = 0, .dst = MEMORY, .ext = true, .size = 64},
		      answer = {.kind = MF_RRES,
				.src = MEMORY,
				.dst = 0,
				.ext = true,
				.size = 64,
				.last = true};
	uint64_t word[MF_BLOCKS_MAX];
	struct mf_switch_held held;
	struct rig r;

	redundant_start(&r, 1);
	for (answer.epoch = 65535; answer.epoch != 2; answer.epoch++) {
		unsigned int n = mf_proto_put_chunk(&redundant_config.proto, &answer, data, word);

		rig_message(&r, MF_US(1) + (uint16_t)(answer.epoch + 1) * MF_US(1), MEMORY, word, n);
	}
	for (ask.epoch = 65535; ask.epoch != 3; ask.epoch++) {
		unsigned int n = mf_proto_put_request(&redundant_config.proto, &ask, word);

		rig_message(&r, MF_US(11) + (uint16_t)(ask.epoch + 1) * MF_US(1), 0, word, n);
	}
	rig_run(&r, MF_US(20));
	cr_expect_eq(mf_switch_stats(r.sw)->logged, 1, "the last one's answer has not come");
	mf_switch_held(r.sw, r.now, &held);
	cr_expect_eq(held.requests, 1);
	rig_stop(&r);
}

/** Says to a switch that a demand was refused. */
static void pass_on(struct rig *r, mf_time at, uint8_t id)
{
	const struct mf_msg m = {.kind = MF_ERR,
				 .src = 0,
				 .dst = MEMORY,
				 .id = id,
				 .status = MF_ERR_RESOURCE,
				 .of = MF_NOTIFY};
	uint64_t word;

	rig_single(&m, &word);
	rig_message(r, at, 0, &word, 1);
}

static void start_limited(struct rig *r, uint8_t number)
{
	redundant_start(r, number);
	rig_stop(r);
	redundant_config.limits = (struct mf_switch_limits){.rate = MF_MS(1), .rate_burst = 1};
	rig_start(r, &redundant_config, false);
}

/**
 * Limits are the active switch's. The standby has taken down what that refused: it hears of it by who asked,
 * and lets nothing of it out in front of the next write, nor waits for it.
 */
Test(takeover, the_active_one_refuses)
{
	struct mf_msg m;
	struct rig r;

	start_limited(&r, 1);
	redundant_ask(&r, MF_US(1), 1);
	redundant_notify(&r, MF_US(2), 2);
	redundant_notify(&r, MF_US(3), 3);
	pass_on(&r, MF_US(4), 1);
	pass_on(&r, MF_US(5), 2);
	redundant_write(&r, MF_US(6), MF_WREQ_ACK, 3, 0);
	rig_run(&r, MF_US(7));
	cr_expect_eq(mf_switch_stats(r.sw)->refused_rate, 0);
	cr_expect_eq(mf_switch_stats(r.sw)->logged, 3);
	cr_expect_eq(mf_switch_stats(r.sw)->requests_forwarded, 0, "it was refused");
	cr_expect_eq(mf_switch_stats(r.sw)->chunks, 1);
	cr_expect_eq(rig_drops(&r), 0);
	rig_stop(&r);

	start_limited(&r, 0);
	redundant_ask(&r, MF_US(1), 1);
	redundant_ask(&r, MF_US(2), 2);
	pass_on(&r, MF_US(3), 1);
	rig_run(&r, MF_US(4));
	cr_expect_eq(mf_switch_stats(r.sw)->refused_rate, 1);
	cr_assert_eq(r.outs[0], 1);
	cr_assert_eq(mf_proto_get_single(r.out[0][0].word, &m), 0);
	cr_expect(m.kind == MF_ERR && m.of == MF_NOTIFY && m.status == MF_ERR_RESOURCE && m.id == 2);
	cr_expect_eq(rig_told(&r, MF_SCHED_DEMAND, NULL), 1);
	cr_expect_eq(rig_told(&r, MF_SCHED_CANCEL, NULL), 2, "it was given up: its response, or its write");
	rig_stop(&r);
}

/** @return demands that the active switch's scheduler is told of, of one that was asked behind a flap */
static unsigned int told_after(uint16_t port, bool obeys)
{
	struct mf_sched_msg d;
	struct rig r;
	unsigned int n;

	redundant_start(&r, 0);
	rig_run(&r, MF_US(1));
	redundant_flap(&r, MF_US(1), port);
	redundant_ask(&r, MF_US(2), 1);
	rig_run(&r, MF_US(3));
	cr_expect_eq(rig_told(&r, MF_SCHED_DEMAND, &d), 0, "whom does it obey?");
	redundant_say(&r, MF_US(4), port, MF_TAKE_TELL, obeys ? 0 : 1, 1);
	rig_run(&r, MF_US(5));
	cr_expect(redundant_is_active(&r));
	n = rig_told(&r, MF_SCHED_DEMAND, &d);
	rig_stop(&r);
	return n;
}

/**
 * A node whose link was lost may obey the other switch by now, and has asked that one for what is not known
 * here. What it asks from then on waits until it obeys this one: it would overtake that.
 */
Test(takeover, who_obeys_the_other_one_is_not_scheduled)
{
	for (uint16_t port = 0; port <= MEMORY; port += MEMORY) {
		cr_expect_eq(told_after(port, true), 1);
		cr_expect_eq(told_after(port, false), 0);
	}
}

/** @return requests, of one that was asked before, that the standby lets out in front of a write */
static uint64_t let_out_behind(bool lone)
{
	uint64_t requests;
	struct rig r;

	redundant_start(&r, 1);
	if (lone)
		redundant_say(&r, MF_US(1), MEMORY, MF_TAKE_TELL, 1, 1);
	redundant_ask(&r, MF_US(2), 1);
	for (unsigned int i = 0; i < PORTS; i++)
		redundant_say(&r, MF_US(3), i, MF_TAKE_TELL, 2, 1);
	redundant_notify(&r, MF_US(4), 2);
	redundant_write(&r, MF_US(5), MF_WREQ_ACK, 2, 0);
	rig_run(&r, MF_US(6));
	cr_expect_not(redundant_is_active(&r));
	cr_expect_eq(mf_switch_stats(r.sw)->chunks, 1);
	requests = mf_switch_stats(r.sw)->requests_forwarded;
	rig_stop(&r);
	return requests;
}

/**
 * While the link of a memory node to the active switch was lost, that threw away what was asked of it, and
 * who asked gives up. The standby has it, and does not let it out when the active switch goes on.
 */
Test(takeover, what_the_active_one_threw_away_is_over)
{
	cr_expect_eq(let_out_behind(false), 1);
	cr_expect_eq(let_out_behind(true), 0);
}

/** Demands of port 1, which obeys: nobody takes what the scheduler is told of them. */
static void flood(struct rig *r, mf_time at, unsigned int n)
{
	const struct mf_msg m = {.kind = MF_NOTIFY, .dst = MEMORY, .id = 1, .ext = true, .size = 512};
	struct mf_span s = {.start = at, .period = P};
	uint64_t word;

	rig_single(&m, &word);
	while (n-- > 0) {
		if (s.count == MF_SPAN_MAX) {
			mf_switch_rx(r->sw, 1, at, &s);
			s.count = 0;
		}
		mf_span_put(&s, MF_SYNC_CTRL, word);
	}
	mf_switch_rx(r->sw, 1, at, &s);
}

/** Behind a slow scheduler a pair is released in a later turn. That may take the last out of the log. */
Test(takeover, the_log_is_empty_behind_a_late_release)
{
	const struct mf_msg take = {.kind = MF_TAKE, .op = MF_TAKE_TELL, .dst = 1};
	struct mf_span s = {.start = MF_US(5), .period = P};
	struct rig r;
	uint64_t word;
	unsigned int n;

	redundant_start_patient(&r, 0);
	redundant_flap(&r, MF_US(1), 0);
	redundant_notify(&r, MF_US(2), 2);
	rig_run(&r, MF_US(3));
	cr_assert_eq(mf_switch_stats(r.sw)->logged, 1);
	flood(&r, MF_US(4), 3000);
	rig_single(&take, &word);
	mf_span_put(&s, MF_SYNC_CTRL, word);
	mf_switch_rx(r.sw, 0, MF_US(5), &s);
	while (mf_switch_sched_peek(r.sw, &n) != NULL)
		mf_switch_sched_advance(r.sw, n);
	mf_switch_run(r.sw, MF_US(6));
	cr_assert_not_null(mf_switch_sched_peek(r.sw, &n), "it is released");
	cr_expect_geq(mf_switch_next(r.sw), MF_US(6));
	rig_stop(&r);
}

/** A switch is started again beside the active one, and a port's link comes up at so many us. */
static void start_again(struct rig *r, const unsigned int up_us[PORTS])
{
	redundant_start(r, 1);
	rig_stop(r);
	redundant_config.begins = redundant_config.epoch_known = false;
	redundant_config.longest = LONGEST;
	rig_start(r, &redundant_config, false);
	for (unsigned int us = 0; us <= 30; us++)
		for (unsigned int i = 0; i < PORTS; i++)
			if (up_us[i] == us) {
				rig_run(r, MF_US(us));
				cr_assert(mf_switch_link_up(r->sw, i, MF_US(us)));
				redundant_say(r, MF_US(us) + 1, i, MF_TAKE_TELL, 0, 1);
			}
	for (uint16_t i = 0; i < PORTS; i++)
		for (uint16_t of = 0; of < PORTS; of++)
			if (of != i)
				redundant_hears(r, MF_US(30) + MF_NS(100) * (1 + of), i, of, 1);
}

/** @return chunks that it lets through of a write that it was asked at so many us, and before */
static uint64_t passes_at(struct rig *r, uint8_t id, unsigned int us)
{
	redundant_notify(r, MF_US(us), id);
	redundant_write(r, MF_US(us) + MF_NS(100), MF_WREQ_ACK, id, 0);
	rig_run(r, MF_US(us) + MF_NS(900));
	return mf_switch_stats(r->sw)->chunks;
}

/**
 * What nodes asked before their links to it came up is in the other switch, and what they ask then must not
 * be there first.
 */
Test(takeover, who_was_started_again_lets_no_write_pass_what_it_does_not_know)
{
	static const unsigned int up_us[][PORTS] = {{0, 0, 0, 0}, {30, 1, 2, 3}, {1, 2, 30, 3}};

	for (unsigned int i = 0; i < sizeof(up_us) / sizeof(up_us[0]); i++) {
		unsigned int last = i == 0 ? 0 : 30;
		struct rig r;

		start_again(&r, up_us[i]);
		cr_expect_eq(passes_at(&r, 1, last + 1), 0);
		cr_expect_eq(passes_at(&r, 2, last + 98), 0);
		cr_expect_eq(passes_at(&r, 3, last + 300), 1);
		rig_stop(&r);
	}
}

/** What the standby lets through of a write, and of a read in front of it, behind a write that it held. */
static void behind_a_held_write(bool answered, uint64_t *requests, uint64_t *chunks)
{
	const struct mf_msg ack = {.kind = MF_ACK, .src = MEMORY, .dst = 0, .id = 1};
	uint64_t word;
	struct rig r;

	redundant_start_patient(&r, 1);
	redundant_flap(&r, MF_US(1), MEMORY);
	redundant_say(&r, MF_US(2), MEMORY, MF_TAKE_TELL, 0, 1);
	redundant_notify(&r, MF_US(90), 1);
	redundant_write(&r, MF_US(91), MF_WREQ_ACK, 1, 0);
	redundant_write(&r, MF_US(92), MF_WREQ_ACK, 1, 256);
	if (answered) {
		rig_single(&ack, &word);
		rig_message(&r, MF_US(93), MEMORY, &word, 1);
	}
	redundant_ask(&r, MF_US(110), 2);
	redundant_notify(&r, MF_US(111), 3);
	redundant_write(&r, MF_US(112), MF_WREQ_ACK, 3, 0);
	rig_run(&r, MF_US(113));
	*requests = mf_switch_stats(r.sw)->requests_forwarded;
	*chunks = mf_switch_stats(r.sw)->chunks;
	rig_stop(&r);
}

/**
 * The standby holds chunks of writes until it knows all of a node. The last that it held may be on its way
 * from the active switch when it knows, and what is behind it must not be there first.
 */
Test(takeover, nothing_passes_a_write_that_was_held)
{
	uint64_t requests, chunks;

	behind_a_held_write(false, &requests, &chunks);
	cr_expect_eq(requests, 0);
	cr_expect_eq(chunks, 0);
	behind_a_held_write(true, &requests, &chunks);
	cr_expect_eq(requests, 1);
	cr_expect_eq(chunks, 1);
}

static void write_whole(struct rig *r, mf_time at, uint8_t id)
{
	redundant_write(r, at, MF_WREQ_ACK, id, 0);
	redundant_write(r, at, MF_WREQ_ACK, id, 256);
}

/** A write that comes in front of an earlier one does not pass: the other switch alone has it. */
Test(takeover, nothing_passes_a_write_that_came_too_early)
{
	const struct mf_msg ack = {.kind = MF_ACK, .src = MEMORY, .dst = 0, .id = 1};
	uint64_t word;
	struct rig r;

	redundant_start_patient(&r, 1);
	for (uint8_t id = 1; id <= 4; id++)
		redundant_notify(&r, MF_US(1) + id, id);
	write_whole(&r, MF_US(2), 2);
	write_whole(&r, MF_US(3), 1);
	write_whole(&r, MF_US(4), 3);
	rig_run(&r, MF_US(5));
	cr_expect_eq(mf_switch_stats(r.sw)->chunks, 0);
	rig_single(&ack, &word);
	rig_message(&r, MF_US(6), MEMORY, &word, 1);
	write_whole(&r, MF_US(7), 4);
	rig_run(&r, MF_US(8));
	cr_expect_eq(mf_switch_stats(r.sw)->chunks, 0, "it is not the last that was held");
	rig_stop(&r);
}

/** @return chunks that pass of two writes, when the last of the first finds no room at its egress */
static uint64_t pass_without_room(bool answered)
{
	const struct mf_msg ack = {.kind = MF_ACK, .src = MEMORY, .dst = 0, .id = 1};
	uint64_t word, chunks;
	struct rig r;

	redundant_start(&r, 1);
	rig_stop(&r);
	redundant_config.longest = LONGEST;
	redundant_config.port[MEMORY].mux.period = 40 * P;
	redundant_config.port[MEMORY].mux.memory_blocks = 64;
	rig_start(&r, &redundant_config, false);
	redundant_notify(&r, MF_US(2), 1);
	redundant_notify(&r, MF_US(2) + P, 2);
	write_whole(&r, MF_US(10), 1);
	rig_run(&r, MF_US(11));
	cr_expect_eq(mf_switch_stats(r.sw)->drop_room, 1);
	if (answered) {
		rig_single(&ack, &word);
		rig_message(&r, MF_US(20), MEMORY, &word, 1);
	}
	redundant_write(&r, MF_US(30), MF_WREQ_ACK, 2, 0);
	rig_run(&r, MF_US(40));
	chunks = mf_switch_stats(r.sw)->chunks;
	rig_stop(&r);
	return chunks;
}

/** What found no room here comes by the other switch alone, and nothing passes it. */
Test(takeover, nothing_passes_a_write_that_found_no_room)
{
	cr_expect_eq(pass_without_room(false), 1);
	cr_expect_eq(pass_without_room(true), 2);
}

/** Whether a write passes behind one that did not, and behind the answer to a read. @param asked  when */
static bool passes_behind_the_answer(mf_time asked)
{
	struct rig r;
	uint64_t chunks;

	redundant_start_patient(&r, 1);
	redundant_notify(&r, MF_US(2), 1);
	redundant_notify(&r, MF_US(2), 2);
	if (asked < MF_US(10))
		redundant_ask(&r, asked, 5);
	write_whole(&r, MF_US(10), 2);
	write_whole(&r, MF_US(11), 1);
	if (asked > MF_US(11))
		redundant_ask(&r, asked, 5);
	redundant_respond(&r, MF_US(20), 5);
	redundant_notify(&r, MF_US(21), 3);
	write_whole(&r, MF_US(22), 3);
	rig_run(&r, MF_US(25));
	chunks = mf_switch_stats(r.sw)->chunks;
	rig_stop(&r);
	cr_expect(chunks == 1 || chunks == 3, "the response, and all of the write or nothing: %lu", chunks);
	return chunks == 3;
}

/** In a pair things are done in their order: what was asked behind the write is answered behind it. */
Test(takeover, an_answer_says_that_the_held_write_is_there)
{
	cr_expect(passes_behind_the_answer(MF_US(15)));
	cr_expect_not(passes_behind_the_answer(MF_US(5)), "it may have been answered before the write");
}

/** Words to node 0 that unacknowledged writes may be lost, when the standby takes over. */
static unsigned int told_of_lost(struct rig *r, mf_time at)
{
	unsigned int n = 0;
	struct mf_msg m;

	for (unsigned int i = 0; i < PORTS; i++)
		redundant_say(r, at, i, MF_TAKE_TELL, 1, 1);
	rig_run(r, at + MF_US(1));
	cr_expect(redundant_is_active(r));
	for (unsigned int i = 0; i < r->outs[0]; i++)
		n += mf_proto_get_single(r->out[0][i].word, &m) == 0 && m.kind == MF_ERR && m.src == MEMORY &&
		     m.status == MF_ERR_INCARNATION && mf_proto_incarnation(&m) == 0;
	rig_stop(r);
	return n;
}

static unsigned int told_of_a_held(enum mf_kind kind, mf_time taken_over)
{
	struct rig r;

	redundant_start_patient(&r, 1);
	redundant_flap(&r, MF_US(1), MEMORY);
	redundant_say(&r, MF_US(2), MEMORY, MF_TAKE_TELL, 0, 1);
	redundant_notify(&r, MF_US(3), 1);
	redundant_write(&r, MF_US(4), kind, 1, 0);
	redundant_write(&r, MF_US(5), kind, 1, 256);
	rig_run(&r, MF_US(6));
	cr_expect_eq(mf_switch_stats(r.sw)->chunks, 0);
	return told_of_lost(&r, taken_over);
}

/** It was by the other switch alone, and may have died there: who waits for no answer is told. */
Test(takeover, a_write_that_was_held_may_be_lost)
{
	cr_expect_eq(told_of_a_held(MF_WREQ, MF_US(10)), 3);
	cr_expect_eq(told_of_a_held(MF_WREQ_ACK, MF_US(10)), 0, "its timer tells");
	cr_expect_eq(told_of_a_held(MF_WREQ, MF_US(10) + LONGEST), 0, "it is there by then");
}

/** The same, when the link of its memory node was lost here. */
Test(takeover, a_write_to_a_lost_link_may_be_lost)
{
	struct rig r;

	redundant_start_patient(&r, 1);
	redundant_notify(&r, MF_US(2), 1);
	rig_run(&r, MF_US(3));
	mf_switch_link_down(r.sw, MEMORY, MF_US(3));
	rig_run(&r, MF_US(3) + 1);
	rig_grant(&r, MF_US(3) + 2, &(struct mf_sched_grant){.src = MEMORY, .dst = MEMORY});
	redundant_write(&r, MF_US(4), MF_WREQ, 1, 0);
	redundant_write(&r, MF_US(5), MF_WREQ, 1, 256);
	rig_run(&r, MF_US(6));
	cr_assert(mf_switch_link_up(r.sw, MEMORY, MF_US(6)));
	redundant_say(&r, MF_US(7), MEMORY, MF_TAKE_TELL, 0, 1);
	rig_run(&r, MF_US(8));
	cr_expect_eq(told_of_lost(&r, MF_US(10)), 3);
}
