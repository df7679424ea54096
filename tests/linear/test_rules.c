/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules of histories, one by one: small ones of a single word, and what the check says of them. */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/mf_rng.h"
#include "linear/mf_history.h"

#define CLIENTS 3

static struct mf_history *new_history(bool in_order, bool lossless)
{
	const struct mf_history_config config = {.in_order = in_order, .lossless = lossless};
	struct mf_history *h = mf_history_new(&config, CLIENTS, 65536);

	cr_assert_not_null(h);
	return h;
}

/** An operation of a word, in microseconds. @param found  of reads and atomics */
static void op(struct mf_history *h, uint16_t client, enum mf_history_kind kind, mf_time call, mf_time ret,
	       enum mf_history_outcome outcome, uint64_t arg, uint64_t found)
{
	const struct mf_history_record r = {.call = MF_US(call),
					    .addr = 64,
					    .len = 8,
					    .client = client,
					    .node = 3,
					    .kind = (uint8_t)kind};
	const uint64_t args[2] = {arg, arg + 1};
	uint64_t place = mf_history_begin(mf_history_log(h, client), &r, args);

	if (outcome != MF_HISTORY_UNDER_WAY)
		mf_history_end(mf_history_log(h, client), place, MF_US(ret), outcome, 0, &found);
}

static void write_ok(struct mf_history *h, uint16_t client, enum mf_history_kind kind, mf_time call,
		     uint64_t value)
{
	op(h, client, kind, call, call + 1, MF_HISTORY_OK, value, 0);
}

static void read_ok(struct mf_history *h, uint16_t client, mf_time call, uint64_t found)
{
	op(h, client, MF_HISTORY_READ, call, call + 1, MF_HISTORY_OK, 0, found);
}

/** Checks it, and is done with it. */
static void is(struct mf_history *h, enum mf_history_answer answer, const char *what)
{
	struct mf_history_verdict v;

	cr_assert_eq(mf_history_check((const struct mf_history *const[]){h}, 1, 0, &v), 0);
	cr_expect_eq(v.answer, answer, "%s: %d", what, v.answer);
	if (v.answer == MF_HISTORY_NO) {
		cr_expect_eq(v.node, 3);
		cr_expect_eq(v.addr, 64);
	}
	mf_history_verdict_free(&v);
	mf_history_free(h);
}

Test(history_rules, a_plain_write_is_there_for_its_own_client_where_nothing_is_lost)
{
	for (int order = 0; order < 2; order++) {
		for (int lossless = 0; lossless < 2; lossless++) {
			struct mf_history *h = new_history(order, lossless);

			write_ok(h, 0, MF_HISTORY_WRITE, 1, 5);
			read_ok(h, 0, 3, 0);
			is(h, order && lossless ? MF_HISTORY_NO : MF_HISTORY_YES, "own read");
		}
	}
}

Test(history_rules, a_plain_write_may_come_late_for_others)
{
	struct mf_history *h = new_history(true, true);

	write_ok(h, 0, MF_HISTORY_WRITE, 1, 5);
	read_ok(h, 1, 10, 0);
	read_ok(h, 1, 20, 5);
	is(h, MF_HISTORY_YES, "late");
	h = new_history(true, true);
	write_ok(h, 0, MF_HISTORY_WRITE, 1, 5);
	read_ok(h, 1, 10, 5);
	read_ok(h, 2, 20, 0);
	is(h, MF_HISTORY_NO, "undone");
}

Test(history_rules, an_answer_of_another_node_says_nothing_of_a_plain_write)
{
	struct mf_history *h = new_history(true, true);
	const struct mf_history_record other = {
		.call = MF_US(3), .len = 8, .client = 0, .node = 4, .kind = MF_HISTORY_READ};
	uint64_t zero = 0, place;

	write_ok(h, 0, MF_HISTORY_WRITE, 1, 5);
	place = mf_history_begin(mf_history_log(h, 0), &other, NULL);
	mf_history_end(mf_history_log(h, 0), place, MF_US(4), MF_HISTORY_OK, 0, &zero);
	read_ok(h, 1, 10, 0);
	is(h, MF_HISTORY_YES, "other node");
}

Test(history_rules, a_cut_may_have_lost_a_plain_write)
{
	struct mf_history *h = new_history(true, true);

	write_ok(h, 0, MF_HISTORY_WRITE, 1, 5);
	mf_history_cut(mf_history_log(h, 0), 0, 3, MF_US(3));
	read_ok(h, 0, 5, 0);
	is(h, MF_HISTORY_YES, "lost");
}

Test(history_rules, an_acknowledged_write_is_there_for_all)
{
	struct mf_history *h = new_history(false, false);

	write_ok(h, 0, MF_HISTORY_WRITE_ACK, 1, 5);
	read_ok(h, 1, 3, 0);
	is(h, MF_HISTORY_NO, "lost");
}

Test(history_rules, what_failed_may_have_happened_once)
{
	const enum mf_history_outcome open[] = {MF_HISTORY_FAILED, MF_HISTORY_UNDER_WAY};

	for (unsigned int i = 0; i < 2; i++) {
		for (uint64_t times = 0; times < 3; times++) {
			struct mf_history *h = new_history(true, true);

			op(h, 0, MF_HISTORY_FADD, 1, 2, open[i], 7, 0);
			read_ok(h, 1, 3, 0);
			read_ok(h, 1, 5, 7 * times);
			is(h, times < 2 ? MF_HISTORY_YES : MF_HISTORY_NO, "fadd");
		}
	}
}

/** @param doubtful  what became of the middle one of three writes of a client, when others find its value */
static void middle_of_three(enum mf_history_outcome doubtful, bool in_order, bool lossless, uint64_t last,
			    enum mf_history_answer answer)
{
	struct mf_history *h = new_history(in_order, lossless);

	op(h, 0, MF_HISTORY_WRITE_ACK, 1, 20, MF_HISTORY_OK, 1, 0);
	op(h, 0, MF_HISTORY_WRITE_ACK, 2, 4, doubtful, 2, 0);
	op(h, 0, MF_HISTORY_WRITE_ACK, 3, 20, MF_HISTORY_OK, 3, 0);
	op(h, 1, MF_HISTORY_READ, 5, 6, MF_HISTORY_OK, 0, 2);
	read_ok(h, 1, 30, last);
	is(h, answer, "the middle one");
}

/* Whoever finds 2 knows that 1 has happened, so it is 3 in the end. */
Test(history_rules, what_may_have_happened_keeps_its_place_in_the_order)
{
	const enum mf_history_outcome doubtful[] = {MF_HISTORY_UNDER_WAY, MF_HISTORY_FAILED};

	for (unsigned int i = 0; i < 2; i++) {
		for (int lossless = 0; lossless < 2; lossless++) {
			middle_of_three(doubtful[i], true, lossless, 1, MF_HISTORY_NO);
			middle_of_three(doubtful[i], true, lossless, 3, MF_HISTORY_YES);
			middle_of_three(doubtful[i], false, lossless, 1, MF_HISTORY_YES);
		}
	}
}

/** A plain write that may be lost is there before a younger one of its client, or never. */
Test(history_rules, what_may_be_lost_does_not_come_behind_a_younger_one)
{
	for (int order = 0; order < 2; order++) {
		struct mf_history *h = new_history(order, false);

		op(h, 0, MF_HISTORY_WRITE, 1, 2, MF_HISTORY_OK, 5, 0);
		op(h, 0, MF_HISTORY_WRITE, 3, 4, MF_HISTORY_OK, 6, 0);
		read_ok(h, 1, 10, 6);
		read_ok(h, 1, 20, 5);
		is(h, order ? MF_HISTORY_NO : MF_HISTORY_YES, "5 behind 6");
	}
}

/** Nor behind the answer of a younger one, whatever words they are of. */
Test(history_rules, an_answer_ends_the_time_of_what_may_have_happened_before)
{
	for (int order = 0; order < 2; order++) {
		struct mf_history *h = new_history(order, false);
		const struct mf_history_record other = {
			.call = MF_US(3), .len = 8, .client = 0, .node = 3, .kind = MF_HISTORY_READ};
		uint64_t zero = 0, place;

		op(h, 0, MF_HISTORY_WRITE_ACK, 1, 2, MF_HISTORY_FAILED, 5, 0);
		place = mf_history_begin(mf_history_log(h, 0), &other, NULL);
		mf_history_end(mf_history_log(h, 0), place, MF_US(4), MF_HISTORY_OK, 0, &zero);
		read_ok(h, 1, 10, 0);
		read_ok(h, 1, 20, 5);
		is(h, order ? MF_HISTORY_NO : MF_HISTORY_YES, "late");
	}
}

Test(history_rules, what_is_there_behind_a_loss_was_written_before_its_end)
{
	for (mf_time written = 1; written < 20; written += 9) {
		struct mf_history *h = new_history(true, true);

		write_ok(h, 0, MF_HISTORY_WRITE_ACK, written, 5);
		mf_history_cut(mf_history_log(h, 1), 1, 3, MF_US(7));
		read_ok(h, 1, 8, 5);
		is(h, written == 1 ? MF_HISTORY_YES : MF_HISTORY_NO, "there at its begin");
	}
}

Test(history_rules, an_atomic_is_executed_once)
{
	struct mf_history *h = new_history(true, true);

	op(h, 0, MF_HISTORY_FADD, 1, 5, MF_HISTORY_OK, 3, 0);
	op(h, 1, MF_HISTORY_FADD, 2, 6, MF_HISTORY_OK, 4, 3);
	read_ok(h, 2, 8, 7);
	is(h, MF_HISTORY_YES, "once");
	h = new_history(true, true);
	op(h, 0, MF_HISTORY_FADD, 1, 5, MF_HISTORY_OK, 3, 0);
	read_ok(h, 2, 8, 6);
	is(h, MF_HISTORY_NO, "twice");
	h = new_history(true, true);
	op(h, 0, MF_HISTORY_FADD, 1, 5, MF_HISTORY_OK, 3, 0);
	op(h, 1, MF_HISTORY_FADD, 2, 6, MF_HISTORY_OK, 4, 0);
	is(h, MF_HISTORY_NO, "both found the same");
}

Test(history_rules, a_cas_changes_only_what_it_expects)
{
	for (uint64_t found = 8; found < 10; found++) {
		struct mf_history *h = new_history(true, true);

		write_ok(h, 0, MF_HISTORY_WRITE_ACK, 1, found);
		op(h, 0, MF_HISTORY_CAS, 3, 4, MF_HISTORY_OK, 8, found); /* 8 becomes 9 */
		read_ok(h, 1, 5, 9);
		is(h, MF_HISTORY_YES, "cas");
	}
	for (uint64_t last = 7; last < 10; last += 2) {
		struct mf_history *h = new_history(true, true);

		write_ok(h, 0, MF_HISTORY_WRITE_ACK, 1, 7);
		op(h, 0, MF_HISTORY_CAS, 3, 4, MF_HISTORY_OK, 8, 7);
		read_ok(h, 1, 5, last);
		is(h, last == 7 ? MF_HISTORY_YES : MF_HISTORY_NO, "cas that fails");
	}
}

Test(history_rules, a_cas_of_unknown_outcome_may_need_a_write_that_nobody_saw)
{
	struct mf_history *h = new_history(true, false);

	op(h, 0, MF_HISTORY_WRITE, 1, 2, MF_HISTORY_OK, 8, 0);
	op(h, 1, MF_HISTORY_CAS, 3, 4, MF_HISTORY_FAILED, 8, 0);
	read_ok(h, 2, 5, 9);
	is(h, MF_HISTORY_YES, "write, cas");
	h = new_history(true, false);
	op(h, 1, MF_HISTORY_CAS, 3, 4, MF_HISTORY_FAILED, 8, 0);
	read_ok(h, 2, 5, 9);
	is(h, MF_HISTORY_NO, "cas");
}

Test(history_rules, open_writes_through_open_atomics)
{
	struct mf_history *h = new_history(true, false);

	for (uint64_t i = 1; i <= 40; i++)
		op(h, 0, MF_HISTORY_WRITE, i, i + 1, MF_HISTORY_OK, i << 32, 0);
	op(h, 1, MF_HISTORY_FADD, 50, 51, MF_HISTORY_FAILED, 5, 0);
	op(h, 2, MF_HISTORY_OR, 50, 51, MF_HISTORY_FAILED, 16, 0);
	read_ok(h, 1, 60, (UINT64_C(17) << 32) + 5 + 16);
	is(h, MF_HISTORY_YES, "17, fadd, or");
	h = new_history(true, false);
	for (uint64_t i = 1; i <= 40; i++)
		op(h, 0, MF_HISTORY_WRITE, i, i + 1, MF_HISTORY_OK, i << 32, 0);
	op(h, 1, MF_HISTORY_FADD, 50, 51, MF_HISTORY_FAILED, 5, 0);
	read_ok(h, 1, 60, (UINT64_C(17) << 32) + 10);
	is(h, MF_HISTORY_NO, "17, fadd twice");
}

Test(history_rules, behind_a_loss_is_zero_or_what_was_there)
{
	for (uint64_t found = 4; found < 8; found++) {
		struct mf_history *h = new_history(true, true);

		write_ok(h, 0, MF_HISTORY_WRITE_ACK, 1, 5);
		write_ok(h, 0, MF_HISTORY_WRITE_ACK, 3, 6);
		mf_history_cut(mf_history_log(h, 0), 0, 3, MF_US(5));
		read_ok(h, 0, 7, found == 7 ? 0 : found);
		read_ok(h, 0, 9, found == 7 ? 0 : found);
		is(h, found == 4 ? MF_HISTORY_NO : MF_HISTORY_YES, "behind a loss");
	}
	/* But not both. */
	struct mf_history *h = new_history(true, true);

	write_ok(h, 0, MF_HISTORY_WRITE_ACK, 1, 5);
	mf_history_cut(mf_history_log(h, 0), 0, 3, MF_US(3));
	read_ok(h, 0, 7, 0);
	read_ok(h, 0, 9, 5);
	is(h, MF_HISTORY_NO, "it came back");
}

/**
 * @param tells  see struct mf_history_config
 * @param last   is found of a write of 5, when others were answered
 */
static struct mf_history *told_of_a_node_never_asked(bool tells, uint64_t last)
{
	const struct mf_history_config config = {.in_order = true, .lossless = true, .tells = tells};
	struct mf_history *h = mf_history_new(&config, CLIENTS, 65536);

	cr_assert_not_null(h);
	write_ok(h, 0, MF_HISTORY_WRITE_ACK, 1, 5);
	read_ok(h, 0, 10, last);
	read_ok(h, 0, 20, 5);
	mf_history_cut(mf_history_log(h, 1), 1, 3, MF_US(30));
	read_ok(h, 0, 40, 5);
	return h;
}

Test(history_rules, memory_was_whole_between_what_another_one_was_answered)
{
	is(told_of_a_node_never_asked(true, 5), MF_HISTORY_YES, "whole");
	is(told_of_a_node_never_asked(true, 6), MF_HISTORY_NO, "of nobody");
	is(told_of_a_node_never_asked(true, 0), MF_HISTORY_NO, "lost, and back");
	is(told_of_a_node_never_asked(false, 6), MF_HISTORY_YES, "of a fabric that does not tell");
}

/** Who is answered behind a word, and had called before it, may be of the life behind. */
Test(history_rules, who_is_told_meanwhile_shows_nothing)
{
	for (int meanwhile = 0; meanwhile < 2; meanwhile++) {
		const struct mf_history_config config = {.in_order = true, .lossless = true, .tells = true};
		struct mf_history *h = mf_history_new(&config, CLIENTS, 65536);
		const struct mf_history_record r = {.call = MF_US(30),
						    .addr = 64,
						    .len = 8,
						    .client = 0,
						    .node = 3,
						    .kind = MF_HISTORY_READ};
		uint64_t zero = 0, place;

		read_ok(h, 0, 1, 0);
		write_ok(h, 0, MF_HISTORY_WRITE_ACK, 20, 5);
		mf_history_cut(mf_history_log(h, 1), 1, 3, MF_US(24)); /* it is lost */
		read_ok(h, 1, 25, 0);
		place = mf_history_begin(mf_history_log(h, 0), &r, NULL);
		if (meanwhile)
			mf_history_cut(mf_history_log(h, 0), 0, 3, MF_US(35));
		mf_history_end(mf_history_log(h, 0), place, MF_US(40), MF_HISTORY_OK, 0, &zero);
		is(h, meanwhile ? MF_HISTORY_YES : MF_HISTORY_NO, "told meanwhile");
	}
}

static void zeroed(struct mf_history *h, uint64_t addr, mf_time call, enum mf_history_outcome outcome)
{
	const struct mf_history_record r = {.call = MF_US(call),
					    .addr = addr,
					    .len = 64,
					    .client = 2,
					    .node = 3,
					    .kind = MF_HISTORY_ZEROED};
	uint64_t place = mf_history_begin(mf_history_log(h, 2), &r, NULL);

	mf_history_end(mf_history_log(h, 2), place, MF_US(call + 1), outcome, 0, NULL);
}

/** A write of zeros, there and then: not what was there before, and no other word. */
Test(history_rules, who_claims_finds_zeros)
{
	for (uint64_t addr = 0; addr < 128; addr += 64) {
		for (uint64_t found = 0; found < 6; found += 5) {
			struct mf_history *h = new_history(true, true);

			write_ok(h, 0, MF_HISTORY_WRITE_ACK, 1, 5);
			zeroed(h, addr, 3, MF_HISTORY_OK);
			read_ok(h, 0, 5, found);
			read_ok(h, 1, 7, found);
			is(h, (addr == 64) == (found == 0) ? MF_HISTORY_YES : MF_HISTORY_NO, "claimed");
		}
	}
}

Test(history_rules, a_claim_that_failed_may_have_zeroed)
{
	for (uint64_t found = 0; found < 6; found += 5) {
		struct mf_history *h = new_history(true, true);

		write_ok(h, 0, MF_HISTORY_WRITE_ACK, 1, 5);
		zeroed(h, 64, 3, MF_HISTORY_FAILED);
		read_ok(h, 0, 5, 5);
		read_ok(h, 0, 9, found);
		is(h, MF_HISTORY_YES, "failed");
		h = new_history(true, true);
		write_ok(h, 0, MF_HISTORY_WRITE_ACK, 1, 5);
		zeroed(h, 64, 3, MF_HISTORY_REFUSED);
		read_ok(h, 0, 9, found);
		is(h, found == 5 ? MF_HISTORY_YES : MF_HISTORY_NO, "refused");
	}
}

Test(history_rules, a_store_holds_at_first_what_is_found)
{
	for (uint64_t second = 3; second < 5; second++) {
		struct mf_history *h = new_history(true, true);

		mf_history_unknown(mf_history_log(h, 0), 3, 0, 4096);
		read_ok(h, 0, 1, 3);
		read_ok(h, 1, 5, second);
		is(h, second == 3 ? MF_HISTORY_YES : MF_HISTORY_NO, "store");
	}
	struct mf_history *h = new_history(true, true);

	read_ok(h, 0, 1, 3);
	is(h, MF_HISTORY_NO, "no store");
}

/** An operation of an octet range of a space, one after the other. @param data  written or found */
static void of_space(struct mf_history *h, enum mf_history_kind kind, uint32_t space, uint64_t addr,
		     uint64_t len, mf_time call, const void *data)
{
	const struct mf_history_record r = {.call = MF_US(call),
					    .addr = addr,
					    .len = len,
					    .client = 0,
					    .node = 3,
					    .kind = (uint8_t)kind,
					    .space = space};
	uint64_t place = mf_history_begin(mf_history_log(h, 0), &r, data);

	cr_assert_neq(place, MF_HISTORY_NONE);
	mf_history_end(mf_history_log(h, 0), place, MF_US(call) + 1, MF_HISTORY_OK, 0, data);
}

Test(history_rules, each_space_has_words_of_its_own)
{
	const uint64_t five = 5, zero = 0;

	for (uint32_t space = 0; space < 3; space++) {
		struct mf_history *h = new_history(false, false);

		of_space(h, MF_HISTORY_WRITE_ACK, 1, 64, 8, 1, &five);
		of_space(h, MF_HISTORY_READ, space, 64, 8, 3, &zero);
		is(h, space == 1 ? MF_HISTORY_NO : MF_HISTORY_YES, "another space");
		h = new_history(false, false);
		of_space(h, MF_HISTORY_WRITE_ACK, 1, 64, 8, 1, &five);
		of_space(h, MF_HISTORY_ZEROED, space, 0, UINT64_C(1) << 48, 3, NULL);
		of_space(h, MF_HISTORY_READ, 1, 64, 8, 5, &five);
		is(h, space == 1 ? MF_HISTORY_NO : MF_HISTORY_YES, "another space ends");
	}
}

#define PLACES 64 /* words of each of two spaces */

/** Hundreds of pages that are zeroed, in ranges that overlap: those that concern a word, and no others. */
Test(history_rules, what_is_zeroed_concerns_its_words_alone)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		static uint64_t memory[2][PLACES];
		struct mf_history *h = new_history(false, false);
		struct mf_rng rng;

		mf_rng_init(&rng, seed, "zeroed", 0);
		memset(memory, 0, sizeof(memory));
		for (mf_time t = 1; t < 400; t++) {
			uint32_t space = (uint32_t)mf_rng_below(&rng, 2);
			uint64_t word = mf_rng_below(&rng, PLACES),
				 words = 1 + mf_rng_below(&rng, PLACES - word);
			uint64_t *at = &memory[space][word], value = mf_rng_next(&rng);

			switch (mf_rng_below(&rng, 3)) {
			case 0:
				of_space(h, MF_HISTORY_ZEROED, 1 + space, 8 * word, 8 * words, 2 * t, NULL);
				memset(at, 0, 8 * words);
				break;
			case 1:
				of_space(h, MF_HISTORY_WRITE_ACK, 1 + space, 8 * word, 8, 2 * t, &value);
				*at = value;
				break;
			default:
				of_space(h, MF_HISTORY_READ, 1 + space, 8 * word, 8 * words, 2 * t, at);
			}
		}
		memory[seed % 2][8] ^= seed % 4 < 2; /* what was read last is wrong now and then */
		of_space(h, MF_HISTORY_READ, 1 + seed % 2, 64, 8, 1000, &memory[seed % 2][8]);
		is(h, seed % 4 < 2 ? MF_HISTORY_NO : MF_HISTORY_YES, "zeroed");
	}
}
