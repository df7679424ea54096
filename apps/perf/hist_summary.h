/* SPDX-License-Identifier: BSD-3-Clause */
/* What a table says of a histogram: the one source of the figures on the screen and in the JSON. */
#ifndef HIST_SUMMARY_H
#define HIST_SUMMARY_H

#include "base/mf_hist.h"

/** Times in ns. Percentiles are those of mf_hist_percentile(): never below the true value, 1/128 above it. */
struct hist_summary {
	uint64_t count;
	double min, max; /**< exact */
	double mean; /**< exact */
	double stdev; /**< of the middles of the buckets */
	double p50, p90, p99, p99_9, p99_99;
};

struct hist_summary hist_summary_of(const struct mf_hist *h);

#endif
