/* SPDX-License-Identifier: BSD-3-Clause */
/* Test patterns against bit-serial ones after the figures of the standard (49.2.6, 49.2.8, 49.2.12). */
#include <criterion/criterion.h>
#include <inttypes.h>

#include "pcs/mf_codec.h"
#include "pcs/mf_test_pattern.h"
#include "pcs_test.h"

#define BLOCKS 1024
#define BLOCK_BITS 66
#define BITS (BLOCKS * BLOCK_BITS)

static const struct mf_test_pattern prbs31 = {.kind = MF_TEST_PRBS31};
static const struct mf_test_pattern zeros = {.kind = MF_TEST_PSEUDO_RANDOM,
					     .data = MF_TEST_ZEROS,
					     .seed_a = MF_TEST_SEED_A,
					     .seed_b = MF_TEST_SEED_B};
static const struct mf_test_pattern faults = {
	.kind = MF_TEST_PSEUDO_RANDOM, .seed_a = MF_TEST_SEED_A, .seed_b = MF_TEST_SEED_B};

static struct mf_test_pattern square(unsigned int run)
{
	return (struct mf_test_pattern){.kind = MF_TEST_SQUARE_WAVE, .run = run};
}

/** Bit i of a block in the order of the wire. */
static bool bit_of(const struct mf_block *b, unsigned int i)
{
	return i < 2 ? b->sync >> i & 1 : b->word >> (i - 2) & 1;
}

static void flip(struct mf_block *b, unsigned int i)
{
	if (i < 2)
		b->sync ^= (uint8_t)(1U << i);
	else
		b->word ^= UINT64_C(1) << (i - 2);
}

static void generate(const struct mf_test_pattern *p, struct mf_block *block)
{
	struct mf_test_generator g;

	mf_test_generator_init(&g, p);
	for (unsigned int i = 0; i < BLOCKS; i++)
		block[i] = mf_test_generate(&g);
}

static struct mf_test_counts check(const struct mf_test_pattern *p, const struct mf_block *block,
				   unsigned int n)
{
	struct mf_test_checker c;

	mf_test_checker_init(&c, p);
	for (unsigned int i = 0; i < n; i++)
		mf_test_check(&c, &block[i]);
	return c.counts;
}

/* Generators. */

Test(pattern, the_seeds_are_those_of_table_52_20)
{
	cr_assert_eq(MF_TEST_SEED_MAX ^ MF_TEST_SEED_A, UINT64_C(0x0374bb235497fb0), "segment A_i");
	cr_assert_eq(MF_TEST_SEED_MAX ^ MF_TEST_SEED_B, UINT64_C(0x0b6f9447a5c777b), "segment B_i");
}

Test(pattern, square_waves_have_runs_of_n_bits)
{
	static struct mf_block block[BLOCKS];

	for (unsigned int run = MF_TEST_RUN_MIN; run <= MF_TEST_RUN_MAX; run++) {
		struct mf_test_pattern p = square(run);

		generate(&p, block);
		for (unsigned int i = 0; i < BITS; i++)
			cr_assert_eq(bit_of(&block[i / BLOCK_BITS], i % BLOCK_BITS), i / run % 2 == 0,
				     "run %u, bit %u", run, i);
	}
}

Test(pattern, prbs31_is_that_of_figure_49_9)
{
	static struct mf_block block[BLOCKS];
	static bool x[BITS];
	unsigned int set = 0;

	generate(&prbs31, block);
	for (unsigned int i = 0; i < BITS; i++) {
		x[i] = !bit_of(&block[i / BLOCK_BITS], i % BLOCK_BITS);
		set += x[i];
		if (i >= 31)
			cr_assert_eq(x[i], x[i - 28] ^ x[i - 31], "bit %u", i);
	}
	cr_assert_gt(set, BITS * 0.49);
	cr_assert_lt(set, BITS * 0.51);
}

/** Scrambles a word bit by bit; s[0] is S0 of figure 49-8, which is the newest. */
static uint64_t scramble_bits(bool *s, uint64_t word)
{
	uint64_t out = 0;

	for (unsigned int i = 0; i < 64; i++) {
		bool bit = (word >> i & 1) ^ s[38] ^ s[57];

		for (unsigned int k = 57; k > 0; k--)
			s[k] = s[k - 1];
		s[0] = bit;
		out |= (uint64_t)bit << i;
	}
	return out;
}

static void pseudo_random(const struct mf_test_pattern *p, uint64_t data)
{
	const uint64_t seed[] = {p->seed_a, ~p->seed_a, p->seed_b, ~p->seed_b};
	static struct mf_block block[BLOCKS];
	bool s[58];

	generate(p, block);
	for (unsigned int i = 0; i < BLOCKS; i++) {
		unsigned int segment = i / 128 % 4;

		for (unsigned int k = 0; k < 58 && i % 128 == 0; k++)
			s[k] = seed[segment] >> k & 1;
		cr_assert_eq(block[i].sync, MF_SYNC_CTRL);
		cr_assert_eq(block[i].word, scramble_bits(s, segment % 2 ? ~data : data), "block %u", i);
	}
}

Test(pattern, pseudo_random_is_the_scrambler_with_seeds)
{
	const struct mf_xgmii local_fault = {.data = UINT64_C(0x0100009c0100009c), .ctl = 0x11};
	struct mf_block encoded;

	cr_assert(mf_codec_encode(&local_fault, &encoded));
	pseudo_random(&zeros, 0);
	pseudo_random(&faults, encoded.word);
}

/* Checkers. */

static void finds_itself(const struct mf_test_pattern *p)
{
	static struct mf_block block[BLOCKS];

	generate(p, block);
	for (unsigned int from = 0; from < 300; from += 7) {
		struct mf_test_counts c = check(p, block + from, BLOCKS - from);

		cr_assert_eq(c.errors, 0, "kind %u from block %u: %" PRIu64, p->kind, from, c.errors);
		cr_assert_eq(c.blocks + c.unlocked, BLOCKS - from);
		cr_assert_eq(c.unlocked, p->kind == MF_TEST_PSEUDO_RANDOM ? 64 : 0);
	}
}

Test(pattern, no_error_in_what_is_whole)
{
	finds_itself(&prbs31);
	finds_itself(&zeros);
	finds_itself(&faults);
	for (unsigned int run = MF_TEST_RUN_MIN; run <= MF_TEST_RUN_MAX; run++) {
		struct mf_test_pattern p = square(run);

		finds_itself(&p);
	}
}

/** Errors by one wrong bit of block 700. */
static uint64_t errors_by(const struct mf_test_pattern *p, unsigned int bit)
{
	static struct mf_block block[BLOCKS];

	generate(p, block);
	flip(&block[700], bit);
	return check(p, block, BLOCKS).errors;
}

Test(pattern, one_wrong_bit)
{
	struct mf_test_pattern wave = square(8);

	for (unsigned int bit = 0; bit < BLOCK_BITS; bit++) {
		unsigned int payload = bit - 2;
		unsigned int reaches = payload + 58 >= 64 ? 2 : 1; /* the descrambler's taps */

		cr_assert_eq(errors_by(&prbs31, bit), 3, "PRBS31, bit %u", bit);
		cr_assert_eq(errors_by(&wave, bit), 2, "square wave, bit %u", bit);
		cr_assert_eq(errors_by(&zeros, bit), bit < 2 ? 0 : reaches, "pseudo-random, bit %u", bit);
	}
}

/** Wrong bits at random, against the same sum made bit by bit. */
static void random_errors(const struct mf_test_pattern *p, const unsigned int *tap, unsigned int taps)
{
	uint64_t seed = test_seed(), rng = seed, want = 0;
	static struct mf_block block[BLOCKS];
	static bool wrong[BITS];

	generate(p, block);
	for (unsigned int i = 0; i < BITS; i++) {
		wrong[i] = test_below(&rng, 50) == 0;
		if (wrong[i])
			flip(&block[i / BLOCK_BITS], i % BLOCK_BITS);
	}
	for (unsigned int i = tap[taps - 1]; i < BITS; i++) {
		bool sum = wrong[i];

		for (unsigned int k = 0; k < taps; k++)
			sum ^= wrong[i - tap[k]];
		want += sum;
	}
	cr_assert_eq(check(p, block, BLOCKS).errors, want, "seed %" PRIu64, seed);
}

Test(pattern, many_wrong_bits)
{
	static const unsigned int prbs31_taps[] = {28, 31}, wave_taps[] = {11};
	struct mf_test_pattern wave = square(11);

	random_errors(&prbs31, prbs31_taps, 2);
	random_errors(&wave, wave_taps, 1);
}

Test(pattern, the_wrong_pattern_is_no_pattern)
{
	static struct mf_block block[BLOCKS];
	struct mf_test_pattern eight = square(8), nine = square(9);

	generate(&eight, block);
	cr_assert_gt(check(&nine, block, BLOCKS).errors, BITS / 20);
	cr_assert_gt(check(&prbs31, block, BLOCKS).errors, BITS / 4);
	generate(&zeros, block);
	cr_assert_gt(check(&faults, block, BLOCKS).errors, BLOCKS * 9 / 10);
}

Test(pattern, a_window_spares_one_mismatch)
{
	static struct mf_block block[BLOCKS];
	unsigned int seeds = 0;

	/* No two blocks beside each other: each window has one for its seed, and the others count. */
	generate(&zeros, block);
	for (unsigned int i = 200; i < 800; i += 10)
		if (i % 128 > 2 && i % 128 < 126)
			flip(&block[i], 2);
		else
			seeds++;
	cr_assert_eq(check(&zeros, block, BLOCKS).errors, 60 - seeds);
}

Test(pattern, lock_is_lost_and_found)
{
	static struct mf_block block[BLOCKS];
	struct mf_test_counts c;

	generate(&zeros, block);
	/* Windows of 64 headers begin with the stream. */
	for (unsigned int i = 0; i < 15; i++)
		block[256 + i].sync = 3;
	c = check(&zeros, block, BLOCKS);
	cr_assert(c.locks_lost == 0 && c.errors == 0 && c.unlocked == 64);
	block[256 + 15].sync = 0;
	c = check(&zeros, block, BLOCKS);
	cr_assert(c.locks_lost == 1 && c.errors == 0 && c.unlocked == 64 + 1 + 64);
	cr_assert_eq(c.blocks, BLOCKS - c.unlocked);
}

Test(pattern, without_a_signal_all_begins_anew)
{
	static struct mf_block block[BLOCKS];
	struct mf_test_checker c;

	generate(&prbs31, block);
	mf_test_checker_init(&c, &prbs31);
	for (unsigned int i = 0; i < 100; i++)
		mf_test_check(&c, &block[i]);
	mf_test_no_signal(&c);
	for (unsigned int i = 500; i < 600; i++)
		mf_test_check(&c, &block[i]);
	cr_assert(c.counts.errors == 0 && c.counts.blocks == 200 && c.counts.locks_lost == 0);

	generate(&zeros, block);
	mf_test_checker_init(&c, &zeros);
	for (unsigned int i = 0; i < 100; i++)
		mf_test_check(&c, &block[i]);
	mf_test_no_signal(&c);
	mf_test_no_signal(&c);
	for (unsigned int i = 500; i < 600; i++)
		mf_test_check(&c, &block[i]);
	cr_assert(c.counts.errors == 0 && c.counts.locks_lost == 1 && c.counts.unlocked == 128);
}
