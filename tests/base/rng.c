/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/mf_rng.h"

/* The authors' generator, written from its definition. */
static uint64_t reference(uint64_t s[4])
{
	uint64_t result = s[1] * 5, t = s[1] << 17;

	result = ((result << 7) | (result >> 57)) * 9;
	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = (s[3] << 45) | (s[3] >> 19);
	return result;
}

Test(rng, first_outputs_of_a_known_state)
{
	/* By hand: rotl(2 * 5, 7) * 9 = 11520, and the second of the published sequence for {1, 2, 3, 4}. */
	struct mf_rng r = {{1, 2, 3, 4}};

	cr_assert_eq(mf_rng_next(&r), 11520);
	cr_assert_eq(mf_rng_next(&r), 0);
	cr_assert_eq(mf_rng_next(&r), 1509978240);
}

Test(rng, equals_the_reference)
{
	struct mf_rng r;
	uint64_t s[4];

	mf_rng_init(&r, 7, "reference", 0);
	memcpy(s, r.s, sizeof(s));
	for (int i = 0; i < 100000; i++)
		cr_assert_eq(mf_rng_next(&r), reference(s));
}

Test(rng, streams_are_reproducible_and_apart)
{
	static const struct {
		uint64_t seed;
		const char *name;
		uint64_t number;
	} of[] = {{1, "a", 0},   {2, "a", 0},          {1, "b", 0},  {1, "a", 1},
		  {1, "", 0},    {0, "", 0},           {1, "aa", 0}, {1, "a", 2},
		  {1, "a", 'a'}, {1, "a", UINT64_MAX}, {0, "a", 0},  {UINT64_MAX, "a", 0}};
	enum { STREAMS = sizeof(of) / sizeof(of[0]), DRAWS = 256 };
	static uint64_t drawn[STREAMS][DRAWS];

	for (int i = 0; i < STREAMS; i++) {
		struct mf_rng r, again;

		mf_rng_init(&r, of[i].seed, of[i].name, of[i].number);
		mf_rng_init(&again, of[i].seed, of[i].name, of[i].number);
		for (int k = 0; k < DRAWS; k++) {
			drawn[i][k] = mf_rng_next(&r);
			cr_assert_eq(drawn[i][k], mf_rng_next(&again));
		}
	}
	/* Half of the bits differ between two streams: within 8 sigma of 256 * 64 coin tosses. */
	for (int i = 0; i < STREAMS; i++) {
		for (int j = i + 1; j < STREAMS; j++) {
			long differ = 0;

			for (int k = 0; k < DRAWS; k++)
				differ += __builtin_popcountll(drawn[i][k] ^ drawn[j][k]);
			cr_assert(labs(differ - DRAWS * 32) < 8 * 64, "streams %d and %d: %ld", i, j, differ);
		}
	}
}

Test(rng, below_is_uniform)
{
	static const uint64_t sizes[] = {1, 2, 3, 7, 10, 64, 1000};
	struct mf_rng r;

	mf_rng_init(&r, 3, "below", 0);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint64_t n = sizes[i], count[1000] = {0};
		double mean = 1000, chi2 = 0;

		for (uint64_t k = 0; k < n * 1000; k++) {
			uint64_t v = mf_rng_below(&r, n);

			cr_assert_lt(v, n);
			count[v]++;
		}
		for (uint64_t v = 0; v < n; v++)
			chi2 += ((double)count[v] - mean) * ((double)count[v] - mean) / mean;
		cr_assert(chi2 < (double)n + 6 * sqrt(2.0 * (double)n), "n %lu: chi2 %f", n, chi2);
	}
}

Test(rng, below_has_no_modulo_bias)
{
	/* With n = 3/4 of 2^64 a plain scaling or modulo would hit one third of the range twice as often. */
	const uint64_t n = UINT64_C(3) << 62;
	struct mf_rng r;
	int third[3] = {0};

	mf_rng_init(&r, 4, "bias", 0);
	for (int i = 0; i < 30000; i++) {
		uint64_t v = mf_rng_below(&r, n);

		cr_assert_lt(v, n);
		third[v % 3]++;
		cr_assert_lt(v >> 62, 3);
	}
	for (int i = 0; i < 3; i++)
		cr_assert(abs(third[i] - 10000) < 600, "%d: %d", i, third[i]);
}

Test(rng, below_of_the_extremes)
{
	struct mf_rng r;

	mf_rng_init(&r, 5, "extremes", 0);
	for (int i = 0; i < 1000; i++) {
		cr_assert_eq(mf_rng_below(&r, 1), 0);
		cr_assert_lt(mf_rng_below(&r, UINT64_MAX), UINT64_MAX);
	}
}

Test(rng, double_and_exponential)
{
	enum { N = 200000 };
	struct mf_rng r;
	double sum = 0, sum2 = 0, exp_sum = 0;
	int above_mean = 0;

	mf_rng_init(&r, 6, "double", 0);
	for (int i = 0; i < N; i++) {
		double d = mf_rng_double(&r), e = mf_rng_exp(&r, 250);

		cr_assert(d >= 0 && d < 1);
		cr_assert(e >= 0 && e < 250 * 37);
		sum += d;
		sum2 += d * d;
		exp_sum += e;
		above_mean += e > 250;
	}
	cr_assert_float_eq(sum / N, 0.5, 0.005);
	cr_assert_float_eq(sum2 / N - (sum / N) * (sum / N), 1.0 / 12, 0.002);
	cr_assert_float_eq(exp_sum / N, 250, 4);
	cr_assert_float_eq((double)above_mean / N, exp(-1), 0.01);
}
