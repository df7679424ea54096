/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "workload/choose.h"

#define DRAWS 200000

static struct mf_client_config config(void)
{
	return (struct mf_client_config){.seed = 7,
					 .mix = {1},
					 .size_dist = MF_CLIENT_SIZE_FIXED,
					 .size_min = 64,
					 .span = 65536,
					 .theta = 0.9,
					 .depth = 1};
}

static struct chooser chooser(const struct mf_client_config *c, uint32_t targets, uint32_t first)
{
	struct chooser ch;

	cr_assert_eq(choose_init(&ch, c, targets, first), 0);
	return ch;
}

/**
 * Pearson's statistic of counts against shares, over its degrees of freedom: about 1; of DRAWS draws with
 * a share wrong by 5 % it is far above 2.
 */
static double chi(const uint64_t *count, const double *share, unsigned int n)
{
	double sum = 0, total = 0;
	unsigned int cells = 0;

	for (unsigned int i = 0; i < n; i++)
		total += (double)count[i];
	for (unsigned int i = 0; i < n; i++) {
		double e = share[i] * total;

		if (e == 0)
			cr_assert_eq(count[i], 0);
		else
			sum += ((double)count[i] - e) * ((double)count[i] - e) / e, cells++;
	}
	return cells > 1 ? sum / (cells - 1) : 0;
}

static double chi_flat(const uint64_t *count, unsigned int n)
{
	double *share = malloc(n * sizeof(*share)), result;

	for (unsigned int i = 0; i < n; i++)
		share[i] = 1.0 / n;
	result = chi(count, share, n);
	free(share);
	return result;
}

Test(choose, mix)
{
	struct mf_client_config c = config();
	double share[MF_CLIENT_KINDS] = {0.5, 0, 0.2, 0.05, 0, 0.1, 0.15, 0};
	uint64_t count[MF_CLIENT_KINDS] = {0};
	struct chooser ch;
	struct choice x;

	for (int k = 0; k < MF_CLIENT_KINDS; k++)
		c.mix[k] = share[k] * 30;
	ch = chooser(&c, 1, 0);
	for (int i = 0; i < DRAWS; i++) {
		x = choose_next(&ch);
		count[x.kind]++;
	}
	cr_assert_lt(chi(count, share, MF_CLIENT_KINDS), 2.5);
	choose_fini(&ch);
}

Test(choose, uniform_sizes)
{
	struct mf_client_config c = config();
	uint64_t count[120] = {0};
	struct chooser ch;
	struct choice x;

	c.size_dist = MF_CLIENT_SIZE_UNIFORM;
	c.size_min = 8;
	c.size_max = 127;
	ch = chooser(&c, 1, 0);
	for (int i = 0; i < DRAWS; i++) {
		x = choose_next(&ch);
		cr_assert(x.len >= 8 && x.len <= 127);
		cr_assert_eq(x.offset % 64, 0);
		cr_assert_leq(x.offset + x.len, c.span);
		count[x.len - 8]++;
	}
	cr_assert_lt(chi_flat(count, 120), 1.5);
	choose_fini(&ch);
}

/* P(size <= s) at every s, between the points too; a step; and weight on the first point. */
Test(choose, sizes_of_a_cdf)
{
	static const struct mf_cdf_point cdf[] = {{0.1, 10}, {0.3, 20}, {0.3, 40},
						  {0.8, 40}, {0.8, 50}, {1, 100}};
	struct mf_client_config c = config();
	uint64_t count[101] = {0};
	double share[101] = {0};
	struct chooser ch;
	struct choice x;

	share[10] = 0.1;
	for (int s = 11; s <= 20; s++)
		share[s] = 0.02;
	share[40] = 0.5;
	for (int s = 51; s <= 100; s++)
		share[s] = 0.004;
	c.size_dist = MF_CLIENT_SIZE_CDF;
	c.cdf = cdf;
	c.cdf_points = 6;
	ch = chooser(&c, 1, 0);
	for (int i = 0; i < DRAWS; i++) {
		x = choose_next(&ch);
		cr_assert_leq(x.len, 100);
		count[x.len]++;
	}
	cr_assert_lt(chi(count, share, 101), 1.5);
	choose_fini(&ch);
}

Test(choose, uniform_targets_and_addresses)
{
	struct mf_client_config c = config();
	uint64_t target[9] = {0}, slot[512] = {0}, word[1024] = {0};
	struct chooser ch;
	struct choice x;

	c.size_min = 100;
	c.span = 8192;
	c.mix[MF_CLIENT_FADD] = 1;
	ch = chooser(&c, 9, 3);
	for (int i = 0; i < DRAWS; i++) {
		x = choose_next(&ch);
		target[x.target]++;
		if (x.kind == MF_CLIENT_READ) {
			cr_assert_eq(x.offset % 128, 0);
			slot[x.offset / 128]++;
		} else {
			cr_assert_eq(x.len, 8);
			cr_assert_eq(x.offset % 8, 0);
			word[x.offset / 8]++;
		}
	}
	cr_assert_lt(chi_flat(target, 9), 2.5);
	cr_assert_lt(chi_flat(slot, 64), 1.6);
	cr_assert_lt(chi_flat(word, 1024), 1.3);
	choose_fini(&ch);
}

Test(choose, targets_in_turn_and_one)
{
	struct mf_client_config c = config();
	struct chooser ch;
	struct choice x;

	c.pattern = MF_CLIENT_TO_ROUND;
	ch = chooser(&c, 5, 3);
	for (uint32_t i = 0; i < 23; i++) {
		x = choose_next(&ch);
		cr_assert_eq(x.target, (3 + i) % 5);
	}
	choose_fini(&ch);
	c.pattern = MF_CLIENT_TO_ONE;
	ch = chooser(&c, 5, 3);
	for (int i = 0; i < 10; i++) {
		x = choose_next(&ch);
		cr_assert_eq(x.target, 3);
	}
	choose_fini(&ch);
}

Test(choose, hot_targets)
{
	struct mf_client_config c = config();
	uint64_t count[2] = {0};
	double sum = 0;
	struct chooser ch;
	struct choice x;

	c.pattern = MF_CLIENT_TO_ZIPF;
	ch = chooser(&c, 20, 0);
	for (int i = 1; i <= 20; i++)
		sum += pow(i, -c.theta);
	for (int i = 0; i < DRAWS; i++) {
		x = choose_next(&ch);
		cr_assert_lt(x.target, 20);
		if (x.target < 2)
			count[x.target]++;
	}
	cr_assert_float_eq((double)count[0] / DRAWS, 1 / sum, 0.005);
	cr_assert_float_eq((double)count[1] / DRAWS, pow(2, -c.theta) / sum, 0.005);
	choose_fini(&ch);
}

Test(choose, hot_addresses)
{
	struct mf_client_config c = config();
	uint64_t *count = calloc(65536 / 128, sizeof(*count)), top = 0, used = 0;
	double sum = 0;
	struct chooser ch;
	struct choice x;

	c.size_dist = MF_CLIENT_SIZE_UNIFORM;
	c.size_max = 128;
	c.address = MF_CLIENT_AT_ZIPF;
	ch = chooser(&c, 1, 0);
	for (int i = 1; i <= 512; i++)
		sum += pow(i, -c.theta);
	for (int i = 0; i < DRAWS; i++) {
		x = choose_next(&ch);
		cr_assert_eq(x.offset % 128, 0);
		cr_assert_leq(x.offset + x.len, c.span);
		count[x.offset / 128]++;
	}
	for (int i = 0; i < 512; i++) {
		top = count[i] > top ? count[i] : top;
		used += count[i] > 0;
	}
	/* The hottest slot may share its place with others, so it is at least that hot. */
	cr_assert_geq((double)top / DRAWS, 1 / sum - 0.005);
	cr_assert_gt(used, 200);
	choose_fini(&ch);
	free(count);
}

Test(choose, sequential_in_each_region)
{
	struct mf_client_config c = config();
	uint64_t next[2] = {0};
	struct chooser ch;
	struct choice x;

	c.size_dist = MF_CLIENT_SIZE_UNIFORM;
	c.size_min = 1;
	c.size_max = 300;
	c.span = 1000;
	c.address = MF_CLIENT_AT_SEQUENTIAL;
	ch = chooser(&c, 2, 0);
	for (int i = 0; i < 1000; i++) {
		x = choose_next(&ch);
		if (next[x.target] + x.len > c.span)
			next[x.target] = 0;
		cr_assert_eq(x.offset, next[x.target]);
		next[x.target] += (x.len + 63) / 64 * 64;
	}
	choose_fini(&ch);
}

/* Every distribution of sizes and addresses, in spans hardly larger than the operations. */
Test(choose, stays_within_the_span)
{
	struct choice x;

	for (uint64_t span = 8; span < 400; span += 4) {
		for (int a = 0; a < 6; a++) {
			struct mf_client_config c = config();
			struct chooser ch;

			c.span = span;
			c.mix[MF_CLIENT_SWAP] = 1;
			c.address = (enum mf_client_address)(a / 2);
			c.size_dist = a % 2 ? MF_CLIENT_SIZE_UNIFORM : MF_CLIENT_SIZE_FIXED;
			c.size_min = a % 2 ? 1 : span;
			c.size_max = span;
			ch = chooser(&c, 2, 0);
			for (int i = 0; i < 200; i++) {
				x = choose_next(&ch);
				cr_assert_leq(x.offset + x.len, span, "span %lu way %d", (unsigned long)span,
					      a);
			}
			choose_fini(&ch);
		}
	}
}

Test(choose, the_seed_decides)
{
	struct mf_client_config c = config();
	struct chooser a, b, other;
	struct choice x, y, z;
	int differ = 0;

	a = chooser(&c, 9, 0);
	b = chooser(&c, 9, 0);
	c.seed++;
	other = chooser(&c, 9, 0);
	memset(&x, 0, sizeof(x));
	memset(&y, 0, sizeof(y));
	for (int i = 0; i < 1000; i++) {
		x = choose_next(&a);
		y = choose_next(&b);
		z = choose_next(&other);
		cr_assert_arr_eq(&x, &y, sizeof(x));
		differ += x.offset != z.offset;
	}
	cr_assert_gt(differ, 900);
}

static int refused(const struct mf_client_config *c)
{
	struct chooser ch;
	int err = choose_init(&ch, c, 2, 0);

	if (!err)
		choose_fini(&ch);
	return err;
}

Test(choose, refuses_bad_mixes_and_sizes)
{
	static const struct mf_cdf_point falling[] = {{0.5, 64}, {0.4, 128}, {1, 256}},
					 shrinking[] = {{0.5, 128}, {1, 64}},
					 open_end[] = {{0.5, 64}, {0.9, 128}}, zero[] = {{0.5, 0}, {1, 64}},
					 nan_cum[] = {{0, 64}, {NAN, 65}, {1, 66}};
	const struct mf_cdf_point *cdf[] = {falling, shrinking, open_end, zero, nan_cum, NULL};
	const unsigned int points[] = {3, 2, 2, 2, 3, 1};
	struct mf_client_config c = config();

	cr_assert_eq(refused(&c), 0);
	c.mix[1] = -1;
	cr_assert_eq(refused(&c), -EINVAL);
	c.mix[1] = NAN;
	cr_assert_eq(refused(&c), -EINVAL);
	c.mix[0] = c.mix[1] = 0;
	cr_assert_eq(refused(&c), -EINVAL);
	c = config();
	c.size_min = 0;
	cr_assert_eq(refused(&c), -EINVAL);
	c.size_min = c.span + 1;
	cr_assert_eq(refused(&c), -EINVAL);
	c = config();
	c.size_dist = MF_CLIENT_SIZE_UNIFORM;
	c.size_max = c.size_min - 1;
	cr_assert_eq(refused(&c), -EINVAL);
	c = config();
	c.size_dist = MF_CLIENT_SIZE_CDF;
	for (int i = 0; i < 6; i++) {
		c.cdf = cdf[i];
		c.cdf_points = points[i];
		cr_assert_eq(refused(&c), -EINVAL, "cdf %d", i);
	}
	c = config();
	c.address = MF_CLIENT_AT_ZIPF;
	c.theta = 1;
	cr_assert_eq(refused(&c), -EINVAL);
	c = config();
	c.mix[0] = 0;
	c.mix[MF_CLIENT_OR] = 1;
	c.span = 7;
	cr_assert_eq(refused(&c), -EINVAL);
}

/* Whole units, rounded up: P(size <= k units) is on the line at each k, and nothing is between them. */
Test(choose, sizes_in_units)
{
	static const struct mf_cdf_point cdf[] = {
		{0.6, 4 * 1460}, {0.7, 7 * 1460}, {0.8, 83 * 1460}, {0.9, 140 * 1460}, {1, 980 * 1460}};
	struct mf_client_config c = config();
	static uint64_t count[981];
	static double share[981];
	struct chooser ch;

	share[4] = 0.6;
	for (unsigned int i = 1; i < 5; i++)
		for (uint64_t k = cdf[i - 1].size / 1460 + 1; k <= cdf[i].size / 1460; k++)
			share[k] = 0.1 * 1460 / (double)(cdf[i].size - cdf[i - 1].size);
	c.size_dist = MF_CLIENT_SIZE_CDF;
	c.size_unit = 1460;
	c.cdf = cdf;
	c.cdf_points = 5;
	c.span = 2 << 20;
	ch = chooser(&c, 1, 0);
	for (int i = 0; i < DRAWS; i++) {
		struct choice x = choose_next(&ch);

		cr_assert(x.len % 1460 == 0 && x.len <= 980 * 1460);
		count[x.len / 1460]++;
	}
	cr_assert_lt(chi(count, share, 981), 1.3);
	choose_fini(&ch);
	c.size_unit = 1461;
	cr_assert_eq(choose_init(&ch, &c, 1, 0), -EINVAL, "points are whole units, too");
}
