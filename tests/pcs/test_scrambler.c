/* SPDX-License-Identifier: BSD-3-Clause */
/* The scrambler against the published sample and a bit-serial one. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

#include "pcs/mf_scrambler.h"
#include "pcs_test.h"

#define WORDS 4096

Test(scrambler, published_frame)
{
	json_t *file = vectors_load("01_ieee_published_frame.json");
	const json_t *encoded = vectors_list(file, "encoded"), *scrambled = vectors_list(file, "scrambled");
	const json_t *xgmii = vectors_list(file, "xgmii");
	struct mf_scrambler tx = {.state = MF_SCRAMBLER_INIT}, rx = tx;

	cr_assert_eq(json_array_size(encoded), 11);
	for (size_t i = 0; i < json_array_size(encoded); i++) {
		struct mf_xgmii x = vector_xgmii(json_array_get(xgmii, i), "data", "ctl_lane0_lsb");
		struct mf_block want = vector_block(json_array_get(encoded, i)), got;
		struct mf_block wire = vector_block(json_array_get(scrambled, i));

		cr_assert(mf_codec_encode(&x, &got));
		cr_assert(got.sync == want.sync && got.word == want.word, "encoded %zu", i);
		mf_scramble(&tx, &got.word, 1);
		cr_assert(got.sync == wire.sync && got.word == wire.word, "scrambled %zu", i);
		mf_descramble(&rx, &got.word, 1);
		cr_assert_eq(got.word, want.word, "descrambled %zu", i);
	}
	json_decref(file);
}

/** Straight from 49.2.6: history bit 0 is the newest. */
static uint64_t scramble_bits(uint64_t *history, uint64_t word)
{
	uint64_t out = 0;

	for (unsigned int i = 0; i < 64; i++) {
		uint64_t bit = (word >> i ^ *history >> 38 ^ *history >> 57) & 1;

		*history = *history << 1 | bit;
		out |= bit << i;
	}
	return out;
}

Test(scrambler, equals_the_bit_serial_one)
{
	uint64_t seed = test_seed(), rng = seed, history = UINT64_MAX;
	struct mf_scrambler s = {.state = MF_SCRAMBLER_INIT};
	static uint64_t word[WORDS], want[WORDS];

	for (unsigned int i = 0; i < WORDS; i++) {
		word[i] = i % 7 ? test_random(&rng) : 0;
		want[i] = scramble_bits(&history, word[i]);
	}
	for (unsigned int i = 0, n; i < WORDS; i += n) {
		n = 1 + test_below(&rng, 128);
		n = n < WORDS - i ? n : WORDS - i;
		mf_scramble(&s, &word[i], n);
	}
	cr_assert_arr_eq(word, want, sizeof(word), "seed %" PRIu64, seed);
}

Test(scrambler, bursts_come_back)
{
	uint64_t seed = test_seed(), rng = seed;
	struct mf_scrambler tx = {.state = test_random(&rng)}, rx = tx;

	for (unsigned int round = 0; round < 200; round++) {
		uint64_t word[128], before[128];
		unsigned int n = test_below(&rng, 129);

		test_fill(&rng, (uint8_t *)word, sizeof(word));
		memcpy(before, word, sizeof(word));
		mf_scramble(&tx, word, n);
		mf_descramble(&rx, word, n);
		cr_assert_arr_eq(word, before, sizeof(word), "seed %" PRIu64, seed);
	}
}

Test(scrambler, late_receiver_is_in_step_after_one_word)
{
	struct mf_scrambler tx = {.state = MF_SCRAMBLER_INIT}, rx = {.state = 0x123456789abcdef0};
	uint64_t word[3] = {1, 2, 3};

	mf_scramble(&tx, word, 3);
	mf_descramble(&rx, word, 3);
	cr_assert_neq(word[0], 1);
	cr_assert_eq(word[1], 2);
	cr_assert_eq(word[2], 3);
}

Test(scrambler, wire_error_becomes_three)
{
	for (unsigned int bit = 0; bit < 64; bit++) {
		struct mf_scrambler tx = {.state = MF_SCRAMBLER_INIT}, rx = tx;
		uint64_t word[2] = {0, 0};

		mf_scramble(&tx, word, 2);
		word[0] ^= UINT64_C(1) << bit;
		mf_descramble(&rx, word, 2);
		for (unsigned int i = 0; i < 128; i++) {
			bool wrong = i == bit || i == bit + 39 || i == bit + 58;

			cr_assert_eq(word[i / 64] >> i % 64 & 1, wrong, "bit %u, error at %u", i, bit);
		}
	}
}
