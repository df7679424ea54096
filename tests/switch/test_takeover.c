/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which of two switches schedules (docs/fault-tolerance.md), and that one node, whatever it says, can neither
 * depose the one nor call the other.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "rig.h"

TestSuite(takeover, .timeout = 60);

#define PORTS 4
#define HOSTILE 3
#define AGAIN MF_US(10)

static struct mf_switch_config config;

static void start(struct rig *r, uint8_t number)
{
	rig_config(&config, PORTS);
	config.twin = config.epoch_known = config.begins = config.in_order = true;
	config.number = number;
	config.chunk = 256;
	config.take_again = AGAIN;
	config.proto.ext = true;
	rig_start(r, &config, false);
}

static void say(struct rig *r, mf_time at, unsigned int port, enum mf_take what, uint16_t epoch, uint16_t of)
{
	const struct mf_msg m = {.kind = MF_TAKE, .op = (uint8_t)what, .epoch = epoch, .dst = of};
	uint64_t word;

	rig_single(&m, &word);
	rig_message(r, at, port, &word, 1);
}

static bool is_active(const struct rig *r)
{
	uint16_t epoch;

	return mf_switch_active(r->sw, &epoch);
}

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

		say(r, at, HOSTILE, what, epoch, (uint16_t)mf_rng_below(&rng, 6));
		at += MF_US(1) + mf_rng_below(&rng, MF_US(5));
	}
	rig_run(r, at);
}

Test(takeover, one_node_calls_no_switch)
{
	struct rig r;

	start(&r, 1);
	lie(&r, MF_US(1), 1000);
	cr_expect_not(is_active(&r));
	cr_expect_eq(mf_switch_stats(r.sw)->takes, 0);
	cr_expect_gt(mf_switch_stats(r.sw)->drop_take, 0);
	rig_stop(&r);
}

Test(takeover, one_node_deposes_no_switch)
{
	struct rig r;

	start(&r, 0);
	lie(&r, MF_US(1), 1000);
	cr_expect(is_active(&r));
	cr_expect_not(mf_switch_deposed(r.sw));
	rig_stop(&r);
}

Test(takeover, it_cannot_vouch_for_itself_or_others)
{
	struct rig r;

	start(&r, 0);
	rig_run(&r, MF_US(1));
	mf_switch_link_down(r.sw, 1, MF_US(1));
	for (unsigned int i = 0; i < 100; i++)
		say(&r, MF_US(2 + i), HOSTILE, MF_TAKE_LOST, 1, 1);
	rig_run(&r, MF_US(150));
	cr_expect(is_active(&r));
	rig_stop(&r);
}

Test(takeover, most_nodes_call_one)
{
	struct rig r;
	struct mf_msg m;

	start(&r, 1);
	say(&r, MF_US(1), 0, MF_TAKE_TELL, 1, 1);
	say(&r, MF_US(2), 1, MF_TAKE_TELL, 1, 1);
	rig_run(&r, MF_US(2));
	cr_expect_not(is_active(&r), "half of them are not most");
	say(&r, MF_US(3), 2, MF_TAKE_TELL, 1, 1);
	rig_run(&r, MF_US(4));
	cr_expect(is_active(&r));
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

	start(&r, 1);
	say(&r, MF_US(1), 1, MF_TAKE_TELL, 1, 1);
	rig_run(&r, MF_US(4));
	cr_expect_not(is_active(&r));
	cr_expect_eq(count(&r, 1, MF_TAKE_LOST, &m), 0);
	for (unsigned int i = 0; i < PORTS; i++)
		if (i != 1) {
			cr_expect_eq(count(&r, i, MF_TAKE_LOST, &m), 1, "port %u", i);
			cr_expect(m.epoch == 1 && m.dst == 1);
		}
	rig_stop(&r);

	start(&r, 0);
	rig_run(&r, MF_US(1));
	for (uint16_t i = 0; i < PORTS; i++)
		if (i != 1)
			say(&r, MF_US(2 + i), i, MF_TAKE_LOST, 1, 1);
	rig_run(&r, MF_US(10));
	cr_expect(is_active(&r), "the cable is there");
	mf_switch_link_down(r.sw, 1, MF_US(10));
	for (uint16_t i = 0; i < PORTS; i++)
		if (i != 1)
			say(&r, MF_US(12 + i), i, MF_TAKE_LOST, 1, 1);
	rig_run(&r, MF_US(14));
	cr_expect(is_active(&r), "not all have a way to the other one");
	rig_run(&r, MF_US(20));
	cr_expect(mf_switch_deposed(r.sw));
	rig_stop(&r);
}

#define FAR 1001 /* epochs ahead: nobody's */

/** A node that is too far ahead to be believed answers what it is told: it is told with the turns alone. */
Test(takeover, two_that_differ_do_not_talk_for_ever)
{
	struct mf_msg m;
	struct rig r;

	start(&r, 1);
	say(&r, MF_US(1), HOSTILE, MF_TAKE_ASK, 0, 0);
	rig_run(&r, MF_US(2));
	cr_expect_eq(count(&r, HOSTILE, MF_TAKE_TELL, &m), 1);
	for (unsigned int i = 0; i < 50; i++)
		say(&r, MF_US(3) + i * MF_NS(100), HOSTILE, MF_TAKE_TELL, FAR, 1);
	rig_run(&r, MF_US(9));
	cr_expect_eq(count(&r, HOSTILE, MF_TAKE_TELL, &m), 1);
	rig_run(&r, MF_US(9) + 2 * AGAIN);
	cr_expect_geq(count(&r, HOSTILE, MF_TAKE_TELL, &m), 2, "it is said again");
	cr_expect_not(is_active(&r));
	cr_expect_eq(mf_switch_stats(r.sw)->drop_take, 50);
	rig_stop(&r);
}

/** What is not heard is said again, and what is heard is not. */
Test(takeover, it_is_said_again)
{
	struct rig r;
	struct mf_msg m;

	start(&r, 0);
	rig_run(&r, MF_US(100));
	for (unsigned int i = 0; i < PORTS; i++)
		cr_expect_eq(r.outs[i], 0, "nobody has anything to say");
	say(&r, MF_US(101), 2, MF_TAKE_ASK, 0, 0);
	rig_run(&r, MF_US(101) + 5 * AGAIN + MF_US(1));
	cr_expect_eq(count(&r, 2, MF_TAKE_TELL, &m), 6);
	say(&r, MF_US(160), 2, MF_TAKE_TELL, 0, 9);
	rig_run(&r, MF_US(300));
	cr_expect_eq(count(&r, 2, MF_TAKE_TELL, &m), 6);
	cr_expect_eq(count(&r, 2, MF_TAKE_HEARD, &m), 1);
	rig_stop(&r);
}

#define MEMORY 2

/** A chunk of a write of 512 octets, of port 0. */
static void write_chunk(struct rig *r, mf_time at, uint8_t id, uint32_t offset)
{
	static const uint8_t data[256];
	const struct mf_msg m = {.kind = MF_WREQ_ACK,
				 .src = 0,
				 .dst = MEMORY,
				 .id = id,
				 .ext = true,
				 .size = sizeof(data),
				 .offset = offset,
				 .last = offset != 0};
	uint64_t word[MF_BLOCKS_MAX];
	unsigned int n = mf_proto_put_chunk(&config.proto, &m, data, word);

	rig_message(r, at, 0, word, n);
}

static void notify(struct rig *r, mf_time at, uint8_t id)
{
	const struct mf_msg m = {.kind = MF_NOTIFY, .dst = MEMORY, .id = id, .ext = true, .size = 512};
	uint64_t word;

	rig_single(&m, &word);
	rig_message(r, at, 0, &word, 1);
}

/**
 * A chunk that comes twice at the standby says nothing of the next one: what is behind the write does not
 * pass in front of its last chunk, and that passes.
 */
Test(takeover, what_passes_twice_is_taken_down_once)
{
	struct rig r;

	start(&r, 1);
	notify(&r, MF_US(1), 1);
	notify(&r, MF_US(2), 2);
	write_chunk(&r, MF_US(3), 1, 0);
	write_chunk(&r, MF_US(4), 1, 0);
	write_chunk(&r, MF_US(5), 2, 0);
	rig_run(&r, MF_US(6));
	cr_expect_eq(mf_switch_stats(r.sw)->chunks, 2, "not the second write's");
	write_chunk(&r, MF_US(7), 1, 256);
	write_chunk(&r, MF_US(8), 2, 256);
	rig_run(&r, MF_US(10));
	cr_expect_eq(mf_switch_stats(r.sw)->chunks, 4);
	rig_stop(&r);
}

static void ask(struct rig *r, mf_time at, uint8_t id)
{
	uint64_t word[MF_REQUEST_BLOCKS_MAX];
	const struct mf_msg m = {
		.kind = MF_RREQ, .src = 0, .dst = MEMORY, .id = id, .ext = true, .size = 64, .addr = 64};
	unsigned int n = mf_proto_put_request(&config.proto, &m, word);

	rig_message(r, at, 0, word, n);
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
	rig_config(&config, PORTS);
	config.twin = config.epoch_known = config.begins = config.in_order = true;
	config.number = number;
	config.chunk = 256;
	config.take_again = AGAIN;
	config.proto.ext = true;
	config.limits = (struct mf_switch_limits){.rate = MF_MS(1), .rate_burst = 1};
	rig_start(r, &config, false);
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
	ask(&r, MF_US(1), 1);
	notify(&r, MF_US(2), 2);
	notify(&r, MF_US(3), 3);
	pass_on(&r, MF_US(4), 1);
	pass_on(&r, MF_US(5), 2);
	write_chunk(&r, MF_US(6), 3, 0);
	rig_run(&r, MF_US(7));
	cr_expect_eq(mf_switch_stats(r.sw)->refused_rate, 0);
	cr_expect_eq(mf_switch_stats(r.sw)->logged, 3);
	cr_expect_eq(mf_switch_stats(r.sw)->requests_forwarded, 0, "it was refused");
	cr_expect_eq(mf_switch_stats(r.sw)->chunks, 1);
	cr_expect_eq(rig_drops(&r), 0);
	rig_stop(&r);

	start_limited(&r, 0);
	ask(&r, MF_US(1), 1);
	ask(&r, MF_US(2), 2);
	pass_on(&r, MF_US(3), 1); /* says nothing to the active one: it is about what that has said */
	rig_run(&r, MF_US(4));
	cr_expect_eq(mf_switch_stats(r.sw)->refused_rate, 1);
	cr_assert_eq(r.outs[0], 1);
	cr_assert_eq(mf_proto_get_single(r.out[0][0].word, &m), 0);
	cr_expect(m.kind == MF_ERR && m.of == MF_NOTIFY && m.status == MF_ERR_RESOURCE && m.id == 2);
	cr_expect_eq(r.msgs, 1, "the first one's demand, and it is not cancelled");
	rig_stop(&r);
}

/** @return demands that the scheduler is told of when the backup takes over, where one was asked before */
static unsigned int told_behind(bool lost)
{
	struct mf_sched_msg d;
	struct rig r;
	unsigned int n;

	start(&r, 1);
	ask(&r, MF_US(1), 1);
	for (unsigned int i = 0; i < PORTS; i++)
		if (i != MEMORY || !lost)
			say(&r, MF_US(2), i, MF_TAKE_TELL, 1, 1);
	rig_run(&r, MF_US(3));
	if (lost) {
		mf_switch_link_down(r.sw, MEMORY, MF_US(3));
		rig_run(&r, MF_US(4));
		rig_grant(&r, MF_US(5), &(struct mf_sched_grant){.src = MEMORY, .dst = MEMORY});
		rig_run(&r, MF_US(6));
		cr_expect(mf_switch_link_up(r.sw, MEMORY, MF_US(6)));
		say(&r, MF_US(7), MEMORY, MF_TAKE_TELL, 1, 2);
		rig_run(&r, MF_US(8));
	}
	cr_expect(is_active(&r));
	n = rig_told(&r, MF_SCHED_DEMAND, &d);
	rig_stop(&r);
	return n;
}

/**
 * A memory node that had no link has forgotten what it executed by the switch that died. Who asked is told,
 * and gives up; so does the log.
 */
Test(takeover, what_was_asked_of_a_former_life_is_over)
{
	cr_expect_eq(told_behind(false), 1);
	cr_expect_eq(told_behind(true), 0);
}

/** A link is lost, and is there again. */
static void flap(struct rig *r, mf_time at, uint16_t port)
{
	mf_switch_link_down(r->sw, port, at);
	rig_run(r, at + 1);
	rig_grant(r, at + 2, &(struct mf_sched_grant){.src = port, .dst = port});
	rig_run(r, at + 3);
	cr_assert(mf_switch_link_up(r->sw, port, at + 3));
}

/** @return demands that the active switch's scheduler is told of, of one that was asked behind a flap */
static unsigned int told_after(uint16_t port, bool obeys)
{
	struct mf_sched_msg d;
	struct rig r;
	unsigned int n;

	start(&r, 0);
	rig_run(&r, MF_US(1));
	flap(&r, MF_US(1), port);
	ask(&r, MF_US(2), 1);
	rig_run(&r, MF_US(3));
	cr_expect_eq(rig_told(&r, MF_SCHED_DEMAND, &d), 0, "whom does it obey?");
	say(&r, MF_US(4), port, MF_TAKE_TELL, obeys ? 0 : 1, 1);
	rig_run(&r, MF_US(5));
	cr_expect(is_active(&r));
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

/** Words of a node that is back, at port 0: that it is the same, and that it was started again. */
static void count_words(const struct rig *r, uint16_t node, unsigned int *same, unsigned int *again)
{
	struct mf_msg m;

	*same = *again = 0;
	for (unsigned int i = 0; i < r->outs[0]; i++)
		if (mf_proto_get_single(r->out[0][i].word, &m) == 0 && m.kind == MF_ERR &&
		    m.status == MF_ERR_RESTARTED && m.src == node)
			++*(mf_proto_life(&m) == 0 ? same : again);
}

/**
 * A node that has lost one of its two links is the same when that is there again: what others know of it,
 * such as what they have executed for it, stays. Only its own word says that it is another one.
 */
Test(takeover, a_lost_link_is_no_new_life)
{
	static const struct {
		enum mf_take what;
		uint16_t life;
		bool again;
	} word[] = {{MF_TAKE_TELL, 1, false}, {MF_TAKE_TELL, 2, true}, {MF_TAKE_ASK, 2, true}};

	for (unsigned int i = 0; i < sizeof(word) / sizeof(word[0]); i++) {
		unsigned int same, again;
		struct rig r;

		start(&r, 0);
		rig_run(&r, MF_US(1));
		flap(&r, MF_US(1), MEMORY);
		say(&r, MF_US(2), MEMORY, word[i].what, 0, word[i].life);
		rig_run(&r, MF_US(3));
		say(&r, MF_US(4), MEMORY, MF_TAKE_TELL, 0, word[i].life);
		rig_run(&r, MF_US(5));
		count_words(&r, MEMORY, &same, &again);
		cr_expect_eq(same, 3, "word %u", i);
		cr_expect_eq(again, word[i].again ? 3 : 0, "word %u: %u", i, again);
		rig_stop(&r);
	}
}

/** A node says that it knows which life another one has. */
static void hears(struct rig *r, mf_time at, uint16_t port, uint16_t of, uint8_t life)
{
	const struct mf_msg m = {.kind = MF_ERR, .src = port, .dst = of, .id = life, .status = MF_ERR_LIFE};
	uint64_t word;

	rig_single(&m, &word);
	rig_message(r, at, port, &word, 1);
}

/** A memory node answers node 0: an ACK and a response. */
static void answer(struct rig *r, mf_time at)
{
	static const uint8_t data[8];
	const struct mf_msg ack = {.kind = MF_ACK, .src = MEMORY, .dst = 0, .id = 1};
	const struct mf_msg response = {
		.kind = MF_RRES, .src = MEMORY, .dst = 0, .id = 2, .ext = true, .size = 8, .last = true};
	uint64_t word[MF_BLOCKS_MAX];

	rig_single(&ack, word);
	rig_message(r, at, MEMORY, word, 1);
	rig_message(r, at + MF_US(1), MEMORY, word, mf_proto_put_chunk(&config.proto, &response, data, word));
	rig_run(r, at + MF_US(2));
}

/** Answers that came to node 0, and words of a new life in front of each; -1: not in front of all. */
static void count_answers(const struct rig *r, unsigned int *answers, int *words)
{
	struct mf_msg m;
	int before = 0;

	*answers = 0;
	*words = 0;
	for (unsigned int i = 0; i < r->outs[0]; i++) {
		uint64_t word = r->out[0][i].word;
		bool single = mf_proto_get_single(word, &m) == 0;

		if (single && m.kind == MF_ERR && m.status == MF_ERR_RESTARTED && mf_proto_life(&m) != 0)
			before++;
		if (!(single && m.kind == MF_ACK) && mf_block_type(word) != MF_BT_MS)
			continue;
		*words = *answers == 0 || before == *words ? before : -1;
		++*answers;
	}
}

/**
 * Both switches tell of a new life, in front of all that they let through of it: an answer by the one may be
 * there before the word of the other one.
 */
Test(takeover, no_answer_before_the_word)
{
	for (unsigned int number = 0; number < 2; number++)
		for (uint16_t life = 1; life <= 700; life += 699) {
			unsigned int answers;
			struct rig r;
			int words;

			start(&r, number);
			rig_stop(&r);
			config.longest = MF_US(100);
			rig_start(&r, &config, false);
			say(&r, MF_US(1), MEMORY, MF_TAKE_TELL, 0, life);
			hears(&r, MF_US(1) + 4 * P, MEMORY, 0, 1);
			answer(&r, MF_US(2));
			count_answers(&r, &answers, &words);
			cr_expect_eq(words, life == 1 ? 0 : 3, "switch %u: %d", number, words);
			cr_expect_eq(answers, number == 0 ? 1 : 2, "switch %u: not granted", number);
			rig_stop(&r);
		}
}

/** Nothing passes of a node that has not said since its link came up which life it is. */
Test(takeover, no_answer_of_an_unknown_life)
{
	unsigned int answers;
	struct rig r;
	int words;

	start(&r, 1);
	rig_run(&r, MF_US(1));
	flap(&r, MF_US(1), MEMORY);
	answer(&r, MF_US(2));
	count_answers(&r, &answers, &words);
	cr_expect_eq(answers, 0);
	say(&r, MF_US(5), MEMORY, MF_TAKE_TELL, 0, 9);
	hears(&r, MF_US(5) + 4 * P, MEMORY, 0, 1);
	answer(&r, MF_US(6));
	count_answers(&r, &answers, &words);
	cr_expect_eq(answers, 2);
	cr_expect_eq(words, 3);
	rig_stop(&r);
}

/** Who had no link to a switch when it told of a new life hears it there when the link is up. */
Test(takeover, a_new_life_is_told_when_the_link_is_back)
{
	for (unsigned int number = 0; number < 2; number++) {
		unsigned int same, again;
		struct rig r;

		start(&r, number);
		rig_run(&r, MF_US(1));
		mf_switch_link_down(r.sw, 0, MF_US(1));
		rig_run(&r, MF_US(1) + 1);
		rig_grant(&r, MF_US(1) + 2, &(struct mf_sched_grant){0}); /* flushed */
		say(&r, MF_US(2), MEMORY, MF_TAKE_TELL, 0, 2);
		rig_run(&r, MF_US(3));
		count_words(&r, MEMORY, &same, &again);
		cr_expect_eq(again, 0);
		cr_assert(mf_switch_link_up(r.sw, 0, MF_US(4)));
		rig_run(&r, MF_US(5));
		count_words(&r, MEMORY, &same, &again);
		cr_expect_eq(again, 3, "switch %u: %u", number, again);
		rig_stop(&r);
	}
}

/** @return requests, of one that was asked before, that the standby lets out in front of a write */
static uint64_t let_out_behind(bool lone)
{
	uint64_t requests;
	struct rig r;

	start(&r, 1);
	if (lone)
		say(&r, MF_US(1), MEMORY, MF_TAKE_TELL, 1, 1);
	ask(&r, MF_US(2), 1);
	for (unsigned int i = 0; i < PORTS; i++)
		say(&r, MF_US(3), i, MF_TAKE_TELL, 2, 1);
	notify(&r, MF_US(4), 2);
	write_chunk(&r, MF_US(5), 2, 0);
	rig_run(&r, MF_US(6));
	cr_expect_not(is_active(&r));
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

/** An operation may take some time. */
static void start_patient(struct rig *r, uint8_t number)
{
	start(r, number);
	rig_stop(r);
	config.longest = MF_US(100);
	rig_start(r, &config, false);
	rig_run(r, MF_US(1));
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

	start_patient(&r, 0);
	flap(&r, MF_US(1), 0);
	notify(&r, MF_US(2), 2);
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

/** What the standby lets through of a write, and of a read in front of it, behind a write that it held. */
static void behind_a_held_write(bool answered, uint64_t *requests, uint64_t *chunks)
{
	const struct mf_msg ack = {.kind = MF_ACK, .src = MEMORY, .dst = 0, .id = 1};
	uint64_t word;
	struct rig r;

	start_patient(&r, 1);
	flap(&r, MF_US(1), MEMORY);
	say(&r, MF_US(2), MEMORY, MF_TAKE_TELL, 0, 1);
	notify(&r, MF_US(90), 1);
	write_chunk(&r, MF_US(91), 1, 0);
	write_chunk(&r, MF_US(92), 1, 256);
	if (answered) {
		rig_single(&ack, &word);
		rig_message(&r, MF_US(93), MEMORY, &word, 1);
	}
	ask(&r, MF_US(110), 2);
	notify(&r, MF_US(111), 3);
	write_chunk(&r, MF_US(112), 3, 0);
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
	write_chunk(r, at, id, 0);
	write_chunk(r, at, id, 256);
}

/** A write that comes in front of an earlier one does not pass: the other switch alone has it. */
Test(takeover, nothing_passes_a_write_that_came_too_early)
{
	const struct mf_msg ack = {.kind = MF_ACK, .src = MEMORY, .dst = 0, .id = 1};
	uint64_t word;
	struct rig r;

	start_patient(&r, 1);
	for (uint8_t id = 1; id <= 4; id++)
		notify(&r, MF_US(1) + id, id);
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

	start(&r, 1);
	rig_stop(&r);
	config.longest = MF_US(100);
	config.port[MEMORY].mux.period = 40 * P;
	config.port[MEMORY].mux.memory_blocks = 64;
	rig_start(&r, &config, false);
	notify(&r, MF_US(2), 1);
	notify(&r, MF_US(2) + P, 2);
	write_whole(&r, MF_US(10), 1);
	rig_run(&r, MF_US(11));
	cr_expect_eq(mf_switch_stats(r.sw)->drop_room, 1);
	if (answered) {
		rig_single(&ack, &word);
		rig_message(&r, MF_US(20), MEMORY, &word, 1);
	}
	write_chunk(&r, MF_US(30), 2, 0);
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

static void respond(struct rig *r, mf_time at, uint8_t id)
{
	static const uint8_t data[64];
	const struct mf_msg m = {.kind = MF_RRES,
				 .src = MEMORY,
				 .dst = 0,
				 .id = id,
				 .ext = true,
				 .size = sizeof(data),
				 .last = true};
	uint64_t word[MF_BLOCKS_MAX];

	rig_message(r, at, MEMORY, word, mf_proto_put_chunk(&config.proto, &m, data, word));
}

/** Whether a write passes behind one that did not, and behind the answer to a read. @param asked  when */
static bool passes_behind_the_answer(mf_time asked)
{
	struct rig r;
	uint64_t chunks;

	start_patient(&r, 1);
	notify(&r, MF_US(2), 1);
	notify(&r, MF_US(2), 2);
	if (asked < MF_US(10))
		ask(&r, asked, 5);
	write_whole(&r, MF_US(10), 2);
	write_whole(&r, MF_US(11), 1);
	if (asked > MF_US(11))
		ask(&r, asked, 5);
	respond(&r, MF_US(20), 5);
	notify(&r, MF_US(21), 3);
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
