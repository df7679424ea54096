/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which incarnation a node has, at one of two switches (lib/systems/edm/switch/incarnation.h): what passes of
 * it, and of those that answer it, and what of its former incarnation stays in the log.
 */
#include <criterion/criterion.h>

#include "redundant_rig.h"

/** @return demands that the scheduler is told of when the backup takes over, where one was asked before */
static unsigned int told_behind(bool lost)
{
	struct mf_sched_msg d;
	struct rig r;
	unsigned int n;

	redundant_start(&r, 1);
	redundant_ask(&r, MF_US(1), 1);
	for (unsigned int i = 0; i < PORTS; i++)
		if (i != MEMORY || !lost)
			redundant_say(&r, MF_US(2), i, MF_TAKE_TELL, 1, 1);
	rig_run(&r, MF_US(3));
	if (lost) {
		mf_switch_link_down(r.sw, MEMORY, MF_US(3));
		rig_run(&r, MF_US(4));
		rig_grant(&r, MF_US(5), &(struct mf_sched_grant){.src = MEMORY, .dst = MEMORY});
		rig_run(&r, MF_US(6));
		cr_expect(mf_switch_link_up(r.sw, MEMORY, MF_US(6)));
		redundant_say(&r, MF_US(7), MEMORY, MF_TAKE_TELL, 1, 2);
		rig_run(&r, MF_US(8));
	}
	cr_expect(redundant_is_active(&r));
	n = rig_told(&r, MF_SCHED_DEMAND, &d);
	rig_stop(&r);
	return n;
}

/**
 * A memory node that had no link has forgotten what it executed by the switch that died. Who asked is told,
 * and gives up; so does the log.
 */
Test(incarnations, what_was_asked_of_a_former_incarnation_is_over)
{
	cr_expect_eq(told_behind(false), 1);
	cr_expect_eq(told_behind(true), 0);
}

/** @return demands that are told of two, between which their node says that it knows another incarnation */
static unsigned int told_of_two(uint8_t incarnation)
{
	struct mf_sched_msg d;
	struct rig r;
	unsigned int n;

	redundant_start(&r, 1);
	redundant_ask(&r, MF_US(1), 1);
	redundant_hears(&r, MF_US(2), 0, MEMORY, incarnation);
	redundant_ask(&r, MF_US(3), 2);
	redundant_hears(&r, MF_US(4), 0, MEMORY, incarnation);
	redundant_say(&r, MF_US(5), MEMORY, MF_TAKE_TELL, 0, 7);
	for (unsigned int i = 0; i < PORTS; i++)
		redundant_say(&r, MF_US(6), i, MF_TAKE_TELL, 1, i == MEMORY ? 7 : 1);
	rig_run(&r, MF_US(7));
	cr_expect(redundant_is_active(&r));
	n = rig_told(&r, MF_SCHED_DEMAND, &d);
	if (n == 1)
		cr_expect_eq(d.id, 2);
	rig_stop(&r);
	return n;
}

/**
 * The other switch may tell of an incarnation first. What is asked by who has heard of it is asked of that
 * incarnation: if the log forgot it, it would wait while all that is asked behind it goes on.
 */
Test(incarnations, what_is_asked_of_a_incarnation_that_is_not_known_here)
{
	cr_expect_eq(told_of_two(7), 1);
	cr_expect_eq(told_of_two(6), 0, "yet another one");
	cr_expect_eq(told_of_two(1), 0, "the one before");
}

/** Words of a node that is back, at port 0: that it is the same, and that it was started again. */
static void count_words(const struct rig *r, uint16_t node, unsigned int *same, unsigned int *again)
{
	struct mf_msg m;

	*same = *again = 0;
	for (unsigned int i = 0; i < r->outs[0]; i++)
		if (mf_proto_get_single(r->out[0][i].word, &m) == 0 && m.kind == MF_ERR &&
		    m.status == MF_ERR_RESTARTED && m.src == node)
			++*(mf_proto_incarnation(&m) == 0 ? same : again);
}

/**
 * A node that has lost one of its two links is the same when that is there again: what others know of it,
 * such as what they have executed for it, stays. Only its own word says that it is another one.
 */
Test(incarnations, a_lost_link_is_no_new_incarnation)
{
	static const struct {
		enum mf_take what;
		uint16_t incarnation;
		bool again;
	} word[] = {{MF_TAKE_TELL, 1, false}, {MF_TAKE_TELL, 2, true}, {MF_TAKE_ASK, 2, true}};

	for (unsigned int i = 0; i < sizeof(word) / sizeof(word[0]); i++) {
		unsigned int same, again;
		struct rig r;

		redundant_start(&r, 0);
		rig_run(&r, MF_US(1));
		redundant_flap(&r, MF_US(1), MEMORY);
		redundant_say(&r, MF_US(2), MEMORY, word[i].what, 0, word[i].incarnation);
		rig_run(&r, MF_US(3));
		redundant_say(&r, MF_US(4), MEMORY, MF_TAKE_TELL, 0, word[i].incarnation);
		rig_run(&r, MF_US(5));
		count_words(&r, MEMORY, &same, &again);
		cr_expect_eq(same, 3, "word %u", i);
		cr_expect_eq(again, word[i].again ? 3 : 0, "word %u: %u", i, again);
		rig_stop(&r);
	}
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
	rig_message(r, at + MF_US(1), MEMORY, word,
		    mf_proto_put_chunk(&redundant_config.proto, &response, data, word));
	rig_run(r, at + MF_US(2));
}

/** Answers that came to node 0, and words of a new incarnation in front of each; -1: not in front of all. */
static void count_answers(const struct rig *r, unsigned int *answers, int *words)
{
	struct mf_msg m;
	int before = 0;

	*answers = 0;
	*words = 0;
	for (unsigned int i = 0; i < r->outs[0]; i++) {
		uint64_t word = r->out[0][i].word;
		bool single = mf_proto_get_single(word, &m) == 0;

		if (single && m.kind == MF_ERR && m.status == MF_ERR_RESTARTED &&
		    mf_proto_incarnation(&m) != 0)
			before++;
		if (!(single && m.kind == MF_ACK) && mf_block_type(word) != MF_BT_MS)
			continue;
		*words = *answers == 0 || before == *words ? before : -1;
		++*answers;
	}
}

/**
 * Both switches tell of a new incarnation, in front of all that they let through of it: an answer by the one
 * may be there before the word of the other one.
 */
Test(incarnations, no_answer_before_the_word)
{
	for (unsigned int number = 0; number < 2; number++)
		for (uint16_t incarnation = 1; incarnation <= 700; incarnation += 699) {
			unsigned int answers;
			struct rig r;
			int words;

			redundant_start_patient(&r, number);
			redundant_say(&r, MF_US(1), MEMORY, MF_TAKE_TELL, 0, incarnation);
			redundant_hears(&r, MF_US(1) + 4 * P, MEMORY, 0, 1);
			answer(&r, MF_US(2));
			count_answers(&r, &answers, &words);
			cr_expect_eq(words, incarnation == 1 ? 0 : 3, "switch %u: %d", number, words);
			cr_expect_eq(answers, number == 0 ? 1 : 2, "switch %u: not granted", number);
			rig_stop(&r);
		}
}

/** Nothing passes of a node that has not said since its link came up which incarnation it is. */
Test(incarnations, no_answer_of_an_unknown_incarnation)
{
	unsigned int answers;
	struct rig r;
	int words;

	redundant_start(&r, 1);
	rig_run(&r, MF_US(1));
	redundant_flap(&r, MF_US(1), MEMORY);
	answer(&r, MF_US(2));
	count_answers(&r, &answers, &words);
	cr_expect_eq(answers, 0);
	redundant_say(&r, MF_US(5), MEMORY, MF_TAKE_TELL, 0, 9);
	redundant_hears(&r, MF_US(5) + 4 * P, MEMORY, 0, 1);
	answer(&r, MF_US(6));
	count_answers(&r, &answers, &words);
	cr_expect_eq(answers, 2);
	cr_expect_eq(words, 3);
	rig_stop(&r);
}

/** Who had no link to a switch when it told of a new incarnation hears it there when the link is up. */
Test(incarnations, a_new_incarnation_is_told_when_the_link_is_back)
{
	for (unsigned int number = 0; number < 2; number++) {
		unsigned int same, again;
		struct rig r;

		redundant_start(&r, number);
		rig_run(&r, MF_US(1));
		mf_switch_link_down(r.sw, 0, MF_US(1));
		rig_run(&r, MF_US(1) + 1);
		rig_grant(&r, MF_US(1) + 2, &(struct mf_sched_grant){0}); /* flushed */
		redundant_say(&r, MF_US(2), MEMORY, MF_TAKE_TELL, 0, 2);
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

/** All say that they obey the other switch: the one that was standby takes over. @param incarnation  of node
 * 0 */
static void take_over(struct rig *r, mf_time at, uint16_t incarnation)
{
	for (unsigned int i = 0; i < PORTS; i++)
		redundant_say(r, at, i, MF_TAKE_TELL, 1, i == 0 ? incarnation : 1);
	rig_run(r, at + MF_US(1));
	cr_expect(redundant_is_active(r));
}

/** Node 0 begins incarnation 9 at the standby. */
static void begin_incarnation_9(struct rig *r, mf_time at)
{
	redundant_flap(r, at, 0);
	redundant_say(r, at + MF_US(1), 0, MF_TAKE_TELL, 0, 9);
}

/** @return ACKs that pass the standby behind a new incarnation of who wrote */
static uint64_t acks(uint8_t known, bool started_again)
{
	const struct mf_msg ack = {.kind = MF_ACK, .src = MEMORY, .dst = 0, .id = 5};
	uint64_t word, singles;
	struct rig r;

	redundant_start_patient(&r, 1);
	if (known != 0)
		redundant_hears(&r, MF_US(2), MEMORY, 0, known);
	rig_run(&r, MF_US(3));
	if (started_again) {
		redundant_flap(&r, MF_US(3), MEMORY);
		redundant_say(&r, MF_US(4), MEMORY, MF_TAKE_TELL, 0, 2);
		redundant_hears(&r, MF_US(5), 0, MEMORY, 2);
		rig_run(&r, MF_US(9));
	}
	begin_incarnation_9(&r, MF_US(10));
	rig_single(&ack, &word);
	rig_message(&r, MF_US(13), MEMORY, &word, 1);
	rig_run(&r, MF_US(14));
	singles = mf_switch_stats(r.sw)->singles;
	rig_stop(&r);
	return singles;
}

/**
 * The other switch was faster: a node said here that it knows an incarnation before that was heard of, and
 * has answered that one alone since. Not one that was itself started again.
 */
Test(incarnations, who_knew_it_before_answers_it)
{
	cr_expect_eq(acks(0, false), 0);
	cr_expect_eq(acks(8, false), 0, "another life");
	cr_expect_eq(acks(9, false), 1);
	cr_expect_eq(acks(9, true), 0, "it has forgotten");
}

enum answers { NONE_OF_THEM, BEFORE, BEHIND };

/**
 * A read that is answered while answers are barred at the standby.
 * @param chunks  set to those that pass
 * @return demands of the scheduler behind a take-over
 */
static unsigned int left(enum answers answered, bool known, uint64_t *chunks)
{
	struct mf_sched_msg d;
	unsigned int n;
	struct rig r;

	redundant_start_patient(&r, 1);
	if (known)
		redundant_hears(&r, MF_US(2), MEMORY, 0, 9);
	rig_run(&r, MF_US(3));
	begin_incarnation_9(&r, MF_US(10));
	if (answered == BEFORE)
		redundant_respond(&r, MF_US(12), 5);
	redundant_ask(&r, MF_US(13), 5);
	if (answered == BEHIND)
		redundant_respond(&r, MF_US(14), 5);
	rig_run(&r, MF_US(15));
	*chunks = mf_switch_stats(r.sw)->chunks;
	take_over(&r, MF_US(20), 9);
	n = rig_told(&r, MF_SCHED_DEMAND, &d);
	rig_stop(&r);
	return n;
}

/** Uses tell responses to one incarnation from those to another, if somebody has asked. */
Test(incarnations, a_response_passes_that_is_asked_for)
{
	static const struct {
		enum answers answered;
		bool known;
		unsigned int left, passed;
	} c[] = {{NONE_OF_THEM, false, 1, 0},
		 {BEHIND, false, 0, 1},
		 {BEFORE, false, 1, 0},
		 {BEFORE, true, 0, 1}};

	for (unsigned int i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		uint64_t chunks;

		cr_expect_eq(left(c[i].answered, c[i].known, &chunks), c[i].left, "case %u", i);
		cr_expect_eq(chunks, c[i].passed, "case %u", i);
	}
}

/** @return demands of the scheduler behind a take-over, of a read for which an ERR comes */
static unsigned int left_of_refused(bool told)
{
	const struct mf_msg err = {
		.kind = MF_ERR, .src = MEMORY, .dst = 0, .id = 5, .status = MF_ERR_RANGE, .of = MF_RREQ};
	struct mf_sched_msg d;
	unsigned int n;
	uint64_t word;
	struct rig r;

	redundant_start_patient(&r, 1);
	redundant_hears(&r, MF_US(2), MEMORY, 0, 9);
	rig_run(&r, MF_US(3));
	redundant_flap(&r, MF_US(10), 0);
	if (told)
		redundant_say(&r, MF_US(11), 0, MF_TAKE_TELL, 0, 9);
	redundant_ask(&r, MF_US(12), 5);
	rig_single(&err, &word);
	rig_message(&r, MF_US(13), MEMORY, &word, 1);
	rig_run(&r, MF_US(14));
	take_over(&r, MF_US(20), 9);
	n = rig_told(&r, MF_SCHED_DEMAND, &d);
	rig_stop(&r);
	return n;
}

/** Until a node has told its incarnation nobody knows which one an ERR answers. */
Test(incarnations, a_refusal_takes_nothing_off_before_the_incarnation_is_told)
{
	cr_expect_eq(left_of_refused(true), 0);
	cr_expect_eq(left_of_refused(false), 1);
}

#define AT_ONCE 17 /* incarnations that a switch takes of a node */

/** A node has n lives, from 100 on, and the others say that they know those up to one. */
static void have_incarnations(struct rig *r, uint16_t port, uint16_t n, uint16_t known)
{
	for (uint16_t i = 0; i < n; i++)
		redundant_say(r, MF_US(1) + i * MF_NS(70), port, MF_TAKE_TELL, 0, 100 + i);
	for (uint16_t i = 0; i < PORTS; i++)
		if (i != port)
			redundant_hears(r, MF_US(9), i, port, (uint8_t)(100 + known - 1));
	rig_run(r, MF_US(10));
}

/** All others are told of each incarnation, and answer: who has one after the other has not that many. */
Test(incarnations, nobody_has_many)
{
	for (uint8_t number = 0; number < 2; number++) {
		unsigned int same, again;
		struct rig r;

		redundant_start(&r, number);
		have_incarnations(&r, 3, 100, AT_ONCE);
		count_words(&r, 3, &same, &again);
		cr_expect_eq(again, 3 * AT_ONCE, "%u", again);
		cr_expect_eq(mf_switch_stats(r.sw)->drop_take, 100 - AT_ONCE);
		redundant_say(&r, MF_US(1) + 5 * AGAIN, 3, MF_TAKE_TELL, 0, 300);
		redundant_say(&r, MF_US(2) + 5 * AGAIN, 3, MF_TAKE_TELL, 0, 301);
		rig_run(&r, MF_US(3) + 5 * AGAIN);
		count_words(&r, 3, &same, &again);
		cr_expect_eq(again, 3 * AT_ONCE + 3, "%u", again);
		rig_stop(&r);
	}
}

/** Who takes nothing for long has not got more words than it can take then. */
Test(incarnations, it_is_said_less_and_less_often)
{
	unsigned int same, again;
	struct rig r;

	redundant_start(&r, 0);
	redundant_say(&r, MF_US(1), MEMORY, MF_TAKE_TELL, 0, 2);
	rig_run(&r, MF_US(100));
	count_words(&r, MEMORY, &same, &again);
	cr_expect_eq(again, 3 + 3, "10, 30 and 70 us later: %u", again);
	rig_run(&r, MF_MS(10));
	count_words(&r, MEMORY, &same, &again);
	cr_expect(again > 3 + 6 && again < 3 + 25, "%u", again);
	rig_stop(&r);
}

/** Words at a port of the incarnation of a node. */
static unsigned int words(const struct rig *r, unsigned int port, uint16_t of, uint16_t incarnation)
{
	unsigned int n = 0;
	struct mf_msg m;

	for (unsigned int i = 0; i < r->outs[port]; i++)
		n += mf_proto_get_single(r->out[port][i].word, &m) == 0 && m.kind == MF_ERR && m.src == of &&
		     m.status == MF_ERR_RESTARTED && mf_proto_incarnation(&m) == incarnation;
	return n;
}

/** What is not heard while the link of the node itself is lost is said again when that is back. */
Test(incarnations, it_is_said_again_behind_a_lost_link)
{
	for (uint8_t number = 0; number < 2; number++) {
		struct rig r;

		redundant_start_patient(&r, number);
		begin_incarnation_9(&r, MF_US(1));
		for (uint16_t i = 1; i < PORTS; i++) {
			redundant_hears(&r, MF_US(3), 0, i, 1);
			if (i != MEMORY)
				redundant_hears(&r, MF_US(3), i, 0, 9);
		}
		rig_run(&r, MF_US(5));
		cr_expect_eq(words(&r, MEMORY, 0, 9), 3);
		mf_switch_link_down(r.sw, 0, MF_US(5));
		rig_run(&r, MF_US(5) + 1);
		rig_grant(&r, MF_US(5) + 2, &(struct mf_sched_grant){0}); /* flushed */
		rig_run(&r, MF_US(30));
		cr_assert(mf_switch_link_up(r.sw, 0, MF_US(30)));
		redundant_say(&r, MF_US(31), 0, MF_TAKE_TELL, 0, 9);
		rig_run(&r, MF_US(100));
		cr_expect_gt(words(&r, MEMORY, 0, 9), 3);
		rig_stop(&r);
	}
}

/** Others that have one incarnation after the other do not put off what is to be said of this one. */
Test(incarnations, nobody_puts_off_the_word)
{
	struct rig r;

	redundant_start(&r, 0);
	redundant_say(&r, MF_US(2), 0, MF_TAKE_TELL, 0, 9);
	for (uint16_t i = 0; i < 200; i++)
		redundant_say(&r, MF_US(3) + i * MF_US(5), 3, MF_TAKE_TELL, 0, 100 + i);
	rig_run(&r, MF_MS(1));
	cr_expect_gt(words(&r, MEMORY, 0, 9), 3 + 6);
	rig_stop(&r);
}

/** @return chunks of a write to a memory node that pass, of which the writer does not know the incarnation
 * yet */
static uint64_t chunks_to_a_new_incarnation(bool known)
{
	uint64_t chunks;
	struct rig r;

	redundant_start(&r,
			1); /* nobody knows how long an operation takes, so a chunk is not held for that */
	rig_stop(&r);
	redundant_config.in_order = false;
	rig_start(&r, &redundant_config, false);
	redundant_notify(&r, MF_US(2), 5);
	rig_run(&r, MF_US(3));
	redundant_flap(&r, MF_US(3), MEMORY);
	redundant_say(&r, MF_US(4), MEMORY, MF_TAKE_TELL, 0, 2);
	if (known)
		redundant_hears(&r, MF_US(5), 0, MEMORY, 2);
	redundant_write(&r, MF_US(6), MF_WREQ, 5, 0);
	rig_run(&r, MF_US(8));
	chunks = mf_switch_stats(r.sw)->chunks;
	rig_stop(&r);
	return chunks;
}

/** It was granted by who it was before. */
Test(incarnations, a_write_to_the_former_incarnation_does_not_pass)
{
	cr_expect_eq(chunks_to_a_new_incarnation(false), 0);
	cr_expect_eq(chunks_to_a_new_incarnation(true), 1);
}

/** What answers the former incarnation of a node does not pass while the switch does not take the new one
 * yet. */
Test(incarnations, nothing_passes_to_one_that_is_not_taken)
{
	const struct mf_msg ack = {.kind = MF_ACK, .src = MEMORY, .dst = 0, .id = 5};
	uint64_t word;
	struct rig r;

	redundant_start(&r, 1);
	have_incarnations(&r, 0, AT_ONCE, AT_ONCE);
	rig_single(&ack, &word);
	rig_message(&r, MF_US(11), MEMORY, &word, 1);
	rig_run(&r, MF_US(12));
	cr_expect_eq(mf_switch_stats(r.sw)->singles, 1);
	redundant_say(&r, MF_US(20), 0, MF_TAKE_ASK, 0, 10);
	rig_message(&r, MF_US(22), MEMORY, &word, 1);
	rig_run(&r, MF_US(23));
	cr_expect_eq(mf_switch_stats(r.sw)->drop_take, 1);
	cr_expect_eq(mf_switch_stats(r.sw)->singles, 1);
	rig_stop(&r);
}
