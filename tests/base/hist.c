/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>

#include <criterion/criterion.h>

#include "base/mf_hist.h"
#include "base/mf_rng.h"

static const uint32_t ppms[] = {0, 1, 10000, 250000, 500000, 900000, 990000, 999000, 999900, 999999, 1000000};

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Nearest rank in sorted values, with 128-bit arithmetic of its own. */
static uint64_t exact(const uint64_t *sorted, uint64_t n, uint32_t ppm)
{
	uint64_t rank = 0;

	while ((unsigned __int128)rank * 1000000 < (unsigned __int128)n * ppm)
		rank++;
	return sorted[rank == 0 ? 0 : rank - 1];
}

static void assert_near(uint64_t got, uint64_t want)
{
	cr_assert_geq(got, want);
	cr_assert_leq(got - want, want / MF_HIST_SUB, "%lu for %lu", got, want);
}

Test(hist, empty)
{
	static struct mf_hist h, other;

	cr_assert_eq(mf_hist_percentile(&h, 500000), 0);
	cr_assert_eq(mf_hist_mean(&h), 0);
	mf_hist_merge(&h, &other);
	cr_assert_eq(h.count, 0);
	mf_hist_add(&other, 5);
	mf_hist_merge(&h, &other);
	cr_assert_eq(h.min, 5);
	mf_hist_reset(&h);
	cr_assert_eq(h.count + h.max + mf_hist_percentile(&h, 0), 0);
}

Test(hist, buckets_tile_all_values)
{
	uint64_t next = 0;

	for (unsigned int i = 0; i < MF_HIST_BUCKETS; i++) {
		cr_assert_eq(mf_hist_low(i), next, "bucket %u", i);
		cr_assert_eq(mf_hist_index(mf_hist_low(i)), i);
		cr_assert_eq(mf_hist_index(mf_hist_high(i)), i);
		cr_assert_leq(mf_hist_high(i) - mf_hist_low(i), mf_hist_low(i) / MF_HIST_SUB);
		next = mf_hist_high(i) + 1;
	}
	cr_assert_eq(next, 0);
}

Test(hist, percentiles_against_sorting)
{
	enum { MAX = 4000 };
	static uint64_t v[MAX];
	static struct mf_hist h;
	struct mf_rng r;

	mf_rng_init(&r, 11, "hist", 0);
	for (int round = 0; round < 200; round++) {
		uint64_t n = 1 + mf_rng_below(&r, round < 50 ? 20 : MAX), low = UINT64_MAX, high = 0;
		unsigned int shift = (unsigned int)mf_rng_below(&r, 64);
		long double sum = 0;

		mf_hist_reset(&h);
		for (uint64_t i = 0; i < n; i++) {
			v[i] = mf_rng_next(&r) >> (round % 2 ? shift : mf_rng_below(&r, 64));
			mf_hist_add(&h, v[i]);
			sum += v[i];
			low = v[i] < low ? v[i] : low;
			high = v[i] > high ? v[i] : high;
		}
		qsort(v, n, sizeof(v[0]), compare);
		cr_assert_eq(h.count, n);
		cr_assert_eq(h.min, low);
		cr_assert_eq(h.max, high);
		cr_assert(fabsl(mf_hist_mean(&h) - sum / n) <= sum / n * 1e-12L);
		for (size_t i = 0; i < sizeof(ppms) / sizeof(ppms[0]); i++)
			assert_near(mf_hist_percentile(&h, ppms[i]), exact(v, n, ppms[i]));
		cr_assert_eq(mf_hist_percentile(&h, 0), low);
		cr_assert_eq(mf_hist_percentile(&h, 1000000), high);
	}
}

Test(hist, small_values_are_exact)
{
	static struct mf_hist h;

	for (uint64_t value = 0; value < 2 * MF_HIST_SUB; value++)
		mf_hist_add(&h, value);
	for (uint32_t i = 0; i < 2 * MF_HIST_SUB; i++)
		cr_assert_eq(mf_hist_percentile(&h, (i + 1) * 1000000 / (2 * MF_HIST_SUB)), i);
}

Test(hist, merging_equals_adding)
{
	static struct mf_hist all, part[3], merged;
	struct mf_rng r;

	mf_rng_init(&r, 12, "merge", 0);
	for (int i = 0; i < 30000; i++) {
		uint64_t value = mf_rng_next(&r) >> mf_rng_below(&r, 64);

		mf_hist_add(&all, value);
		mf_hist_add(&part[mf_rng_below(&r, 3)], value);
	}
	for (int i = 0; i < 3; i++)
		mf_hist_merge(&merged, &part[i]);
	cr_assert_eq(merged.count, all.count);
	cr_assert_eq(merged.min, all.min);
	cr_assert_eq(merged.max, all.max);
	cr_assert_eq(merged.sum_low, all.sum_low);
	cr_assert_eq(merged.sum_high, all.sum_high);
	cr_assert_arr_eq(merged.bucket, all.bucket, sizeof(all.bucket));
}

Test(hist, sum_does_not_overflow)
{
	static struct mf_hist h;

	for (int i = 0; i < 1000; i++)
		mf_hist_add(&h, UINT64_MAX);
	cr_assert_float_eq(mf_hist_mean(&h) / 0x1p64, 1, 1e-9);
	cr_assert_eq(mf_hist_percentile(&h, 500000), UINT64_MAX);
}
