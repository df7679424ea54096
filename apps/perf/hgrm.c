/* SPDX-License-Identifier: BSD-3-Clause */
#include "hgrm.h"

#include <inttypes.h>
#include <math.h>

#include "hist_summary.h"
#include "output.h"

#define US 1e6 /* ps */
#define TICKS 5 /* lines for each halving of what is above */

struct walk {
	unsigned int bucket;
	uint64_t count; /**< of values up to and with the bucket */
};

/** Goes on to the first bucket at or behind which this share of all values lies. */
static void advance(const struct mf_hist *h, struct walk *w, double share)
{
	uint64_t rank = (uint64_t)ceil(share * (double)h->count);

	rank = rank < 1 ? 1 : rank > h->count ? h->count : rank;
	while (w->count < rank)
		w->count += h->bucket[++w->bucket];
}

static double value_at(const struct mf_hist *h, unsigned int bucket)
{
	uint64_t high = mf_hist_high(bucket);

	return (double)(high < h->max ? high : h->max) / US;
}

/** The next share to print: a step of which there are TICKS before half of the rest is passed. */
static double next_share(double share)
{
	double halvings = floor(log2(1 / (1 - share)) + 1e-9);

	return share + 1 / (TICKS * exp2(halvings + 1));
}

int hgrm_write(FILE *out, const struct mf_hist *h)
{
	struct hist_summary f = hist_summary_of(h);
	struct walk w = {.count = h->bucket[0]};
	double share = 0;

	fprintf(out, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)");
	while (h->count > 0) {
		advance(h, &w, share);
		if (w.count == h->count)
			break;
		fprintf(out, "%12.3f %14.12f %10" PRIu64 " %14.2f\n", value_at(h, w.bucket), share, w.count,
			1 / (1 - share));
		share = next_share(share);
	}
	if (h->count > 0)
		fprintf(out, "%12.3f %14.12f %10" PRIu64 "\n", value_at(h, w.bucket), 1.0, h->count);
	fprintf(out,
		"#[Mean    = %12.3f, StdDeviation   = %12.3f]\n"
		"#[Max     = %12.3f, Total count    = %12" PRIu64 "]\n"
		"#[Buckets = %12d, SubBuckets     = %12d]\n",
		f.mean / 1e3, f.stdev / 1e3, f.max / 1e3, h->count, MF_HIST_BUCKETS / MF_HIST_SUB,
		MF_HIST_SUB);
	return fflush(out) != 0 || ferror(out) ? output_error() : 0;
}
