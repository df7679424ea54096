/* SPDX-License-Identifier: BSD-3-Clause */
/* Figures of a table against exact ones, and HdrHistogram's text. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/mf_rng.h"
#include "hist_summary.h"
#include "hgrm.h"

#define N 20000
#define BUCKET (1.0 / MF_HIST_SUB)

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/** Values of several orders of magnitude, sorted. */
static void fill(struct mf_hist *h, uint64_t *value, unsigned int n, uint64_t seed)
{
	struct mf_rng r;

	mf_rng_init(&r, seed, "figures", 0);
	mf_hist_reset(h);
	for (unsigned int i = 0; i < n; i++) {
		value[i] = (uint64_t)(exp(mf_rng_exp(&r, 2.0)) * 400000) % 1000000000000;
		mf_hist_add(h, value[i]);
	}
	qsort(value, n, sizeof(value[0]), compare);
}

static void assert_near(double found, double exact, const char *what)
{
	cr_assert(found >= exact * (1 - 1e-12) && found <= exact * (1 + BUCKET) + 1e-3, "%s: %.3f for %.3f",
		  what, found, exact);
}

Test(hist_summary, those_of_sorted_values)
{
	struct mf_hist *h = malloc(sizeof(*h));
	uint64_t *v = calloc(N, sizeof(*v));

	for (uint64_t seed = 1; seed <= 5; seed++) {
		double sum = 0, squares = 0, mean;
		struct hist_summary f;

		fill(h, v, N, seed);
		f = hist_summary_of(h);
		for (unsigned int i = 0; i < N; i++)
			sum += (double)v[i];
		mean = sum / N;
		for (unsigned int i = 0; i < N; i++)
			squares += ((double)v[i] - mean) * ((double)v[i] - mean);
		cr_assert_eq(f.count, N);
		cr_assert_float_eq(f.mean, mean / 1e3, mean * 1e-9);
		cr_assert_float_eq(f.stdev, sqrt(squares / N) / 1e3, sqrt(squares / N) / 1e3 * BUCKET);
		cr_assert_float_eq(f.min, (double)v[0] / 1e3, 1e-9);
		cr_assert_float_eq(f.max, (double)v[N - 1] / 1e3, 1e-6);
		assert_near(f.p50, (double)v[N / 2 - 1] / 1e3, "p50");
		assert_near(f.p90, (double)v[N * 9 / 10 - 1] / 1e3, "p90");
		assert_near(f.p99, (double)v[N * 99 / 100 - 1] / 1e3, "p99");
		assert_near(f.p99_9, (double)v[N * 999 / 1000 - 1] / 1e3, "p99.9");
		assert_near(f.p99_99, (double)v[(int)(N * 0.9999) - 1] / 1e3, "p99.99");
	}
	free(v);
	free(h);
}

Test(hist_summary, nothing_and_one_value)
{
	struct mf_hist *h = calloc(1, sizeof(*h));
	struct hist_summary f = hist_summary_of(h);

	cr_assert_eq(f.count, 0);
	cr_assert(f.min == 0 && f.max == 0 && f.mean == 0 && f.stdev == 0 && f.p50 == 0);
	mf_hist_add(h, 410240);
	f = hist_summary_of(h);
	cr_assert(f.min == 410.24 && f.max == 410.24 && f.mean == 410.24 && f.p50 == 410.24);
	cr_assert_eq(f.stdev, 0, "of one value there is none: %f", f.stdev);
	free(h);
}

static char *hgrm_of(const struct mf_hist *h)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	cr_assert_eq(hgrm_write(out, h), 0);
	fclose(out);
	return text;
}

/* Every line: so many values are at most this one, and at least that share of all. */
Test(hist_summary, hgrm_lines_are_true)
{
	struct mf_hist *h = malloc(sizeof(*h));
	uint64_t *v = calloc(N, sizeof(*v));
	char *text, *line, *rest;
	unsigned int lines = 0;
	double last = -1;

	fill(h, v, N, 9);
	text = hgrm_of(h);
	for (line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
		double value, share, inverse;
		unsigned long total, below = 0;
		int fields = sscanf(line, "%lf %lf %lu %lf", &value, &share, &total, &inverse);

		if (fields < 3)
			continue;
		while (below < N && (double)v[below] / 1e6 <= value + 0.00051)
			below++;
		cr_assert_leq(total, below, "%s", line);
		cr_assert_geq((double)total, share * N - 1e-6, "%s", line);
		cr_assert_gt(share, last);
		last = share;
		lines++;
	}
	cr_assert_eq(last, 1.0);
	cr_assert(lines > 50 && lines < 100, "%u lines", lines);
	free(text);
	free(v);
	free(h);
}

Test(hist_summary, hgrm_of_nothing)
{
	struct mf_hist *h = calloc(1, sizeof(*h));
	char *text = hgrm_of(h);

	cr_assert_not_null(strstr(text, "Total count    =            0]"));
	free(text);
	free(h);
}
