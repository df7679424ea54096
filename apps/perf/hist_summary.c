/* SPDX-License-Identifier: BSD-3-Clause */
#include "hist_summary.h"

#include <math.h>

#define NS 1000.0

static double stdev(const struct mf_hist *h)
{
	double mean = mf_hist_mean(h), sum = 0;

	for (unsigned int i = 0; i < MF_HIST_BUCKETS; i++) {
		double middle, d;

		if (h->bucket[i] == 0)
			continue;
		middle = ((double)mf_hist_low(i) + (double)mf_hist_high(i)) / 2;
		d = fmin(fmax(middle, (double)h->min), (double)h->max) - mean;
		sum += d * d * (double)h->bucket[i];
	}
	return h->count > 0 ? sqrt(sum / (double)h->count) : 0;
}

static double at(const struct mf_hist *h, uint32_t ppm)
{
	return (double)mf_hist_percentile(h, ppm) / NS;
}

struct hist_summary hist_summary_of(const struct mf_hist *h)
{
	return (struct hist_summary){
		.count = h->count,
		.min = h->count > 0 ? (double)h->min / NS : 0,
		.max = (double)h->max / NS,
		.mean = mf_hist_mean(h) / NS,
		.stdev = stdev(h) / NS,
		.p50 = at(h, 500000),
		.p90 = at(h, 900000),
		.p99 = at(h, 990000),
		.p99_9 = at(h, 999000),
		.p99_99 = at(h, 999900),
	};
}
