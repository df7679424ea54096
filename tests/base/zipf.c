/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <criterion/criterion.h>

#include "base/mf_zipf.h"

Test(zipf, refuses_what_it_cannot_do)
{
	struct mf_zipf z;

	cr_assert_eq(mf_zipf_init(&z, 0, 0.99), -EINVAL);
	cr_assert_eq(mf_zipf_init(&z, UINT64_MAX, 0.99), -EINVAL);
	cr_assert_eq(mf_zipf_init(&z, 10, 1), -EINVAL);
	cr_assert_eq(mf_zipf_init(&z, 10, -0.1), -EINVAL);
	cr_assert_eq(mf_zipf_init(&z, 10, NAN), -EINVAL);
	cr_assert_eq(mf_zipf_init(&z, 1, 0), 0);
}

Test(zipf, the_sum_by_the_formula_equals_adding_up)
{
	static const double thetas[] = {0, 0.5, 0.99};

	for (int t = 0; t < 3; t++) {
		struct mf_zipf z;
		long double sum = 0;
		const uint64_t n = 300000;

		for (uint64_t i = n; i >= 1; i--)
			sum += powl(i, -thetas[t]);
		cr_assert_eq(mf_zipf_init(&z, n, thetas[t]), 0);
		cr_assert_float_eq(z.zeta / (double)sum, 1, 1e-12);
	}
}

/*
 * Shares of the draws against 1 / (i + 1)^theta. The first two items are exact in the method; behind
 * them it is a continuous approximation, so shares of ranges are compared, within a few per cent.
 */
Test(zipf, shares)
{
	static const double thetas[] = {0, 0.3, 0.7, 0.9, 0.99};
	static const uint64_t sizes[] = {1, 2, 3, 10, 1000, 1000000};
	enum { DRAWS = 200000 };

	for (int t = 0; t < 5; t++) {
		for (int k = 0; k < 6; k++) {
			uint64_t n = sizes[k], first = 0, second = 0, half = 0;
			double p1, p2, lower = 0;
			struct mf_zipf z;
			struct mf_rng r;

			mf_rng_init(&r, 21, "zipf", (uint64_t)(t * 100 + k));
			cr_assert_eq(mf_zipf_init(&z, n, thetas[t]), 0);
			for (int i = 0; i < DRAWS; i++) {
				uint64_t item = mf_zipf_next(&z, &r);

				cr_assert_lt(item, n);
				first += item == 0;
				second += item == 1;
				half += item < (n + 1) / 2;
			}
			p1 = 1 / z.zeta;
			p2 = n == 1 ? 0 : pow(2, -thetas[t]) / z.zeta;
			for (uint64_t i = 1; i <= (n + 1) / 2; i++)
				lower += pow((double)i, -thetas[t]) / z.zeta;
			cr_assert_float_eq((double)first / DRAWS, p1, 0.01, "theta %g n %lu", thetas[t], n);
			/* n = 3: the approximation's interval begins at item 1 and lends it some. */
			cr_assert_float_eq((double)second / DRAWS, p2, n == 3 ? 0.35 : 0.06);
			cr_assert_float_eq((double)half / DRAWS, lower, n == 3 ? 0.35 : 0.05,
					   "theta %g n %lu: %g, %g", thetas[t], n, (double)half / DRAWS,
					   lower);
		}
	}
}

Test(zipf, scrambling_spreads_the_popular_items)
{
	enum { N = 4096 };
	static unsigned int hit[N];
	struct mf_zipf z;
	unsigned int used = 0, moved = 0, quarter[4] = {0};

	cr_assert_eq(mf_zipf_init(&z, N, 0.99), 0);
	for (uint64_t i = 0; i < N; i++) {
		uint64_t to = mf_zipf_scramble(&z, i, 1);

		cr_assert_lt(to, N);
		cr_assert_eq(to, mf_zipf_scramble(&z, i, 1));
		moved += to != mf_zipf_scramble(&z, i, 2);
		quarter[to / (N / 4)]++;
		used += hit[to]++ == 0;
	}
	/* A random mapping reaches 1 - 1/e of its targets. */
	cr_assert_float_eq((double)used / N, 1 - exp(-1), 0.03);
	cr_assert_gt(moved, N * 9 / 10);
	for (int i = 0; i < 4; i++)
		cr_assert(abs((int)quarter[i] - N / 4) < 200);
}
