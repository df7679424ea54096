/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Log-linear histogram of 64-bit values: each power of two is cut into MF_HIST_SUB buckets, so that a
 * bucket is at most 1 / MF_HIST_SUB of its values wide; values below 2 * MF_HIST_SUB are exact.
 *
 * One thread adds; histograms of several threads are merged afterwards.
 */
#ifndef MF_HIST_H
#define MF_HIST_H

#include <stdint.h>

#define MF_HIST_SUB_BITS 7
#define MF_HIST_SUB (1 << MF_HIST_SUB_BITS)
#define MF_HIST_BUCKETS ((64 - MF_HIST_SUB_BITS + 1) * MF_HIST_SUB)

/** About 58 KiB; all zero is an empty histogram. */
struct mf_hist {
	uint64_t count;
	uint64_t min, max; /**< exact; min counts only when count > 0 */
	uint64_t sum_low, sum_high; /**< of 128 bits, exact */
	uint64_t bucket[MF_HIST_BUCKETS];
};

/** The bucket of a value. */
static inline unsigned int mf_hist_index(uint64_t value)
{
	unsigned int shift = (63 ^ (unsigned int)__builtin_clzll(value | MF_HIST_SUB)) - MF_HIST_SUB_BITS;

	return shift * MF_HIST_SUB + (unsigned int)(value >> shift);
}

static inline void mf_hist_add(struct mf_hist *h, uint64_t value)
{
	/* The ends move seldom. Those of an empty histogram are 0: any other value moves them. */
	if (__builtin_expect(value < h->min || value > h->max, 0)) {
		h->min = h->count == 0 || value < h->min ? value : h->min;
		h->max = value > h->max ? value : h->max;
	}
	h->count++;
	if (__builtin_expect(__builtin_add_overflow(h->sum_low, value, &h->sum_low), 0))
		h->sum_high++;
	h->bucket[mf_hist_index(value)]++;
}

void mf_hist_reset(struct mf_hist *h);

/** Adds all values of src to h. */
void mf_hist_merge(struct mf_hist *h, const struct mf_hist *src);

/** Lowest and highest value of a bucket, index < MF_HIST_BUCKETS. */
uint64_t mf_hist_low(unsigned int index);
uint64_t mf_hist_high(unsigned int index);

/** Exact but for the rounding of double; 0 when empty. */
double mf_hist_mean(const struct mf_hist *h);

/**
 * The value at rank ceil(ppm / 10^6 * count) of the sorted values (nearest rank), or at most
 * 1 / MF_HIST_SUB above it; never above max. 0 when empty.
 *
 * @param ppm  parts per million: 500000 is the median, 999900 is p99.99, 0 gives min, 1000000 max
 */
uint64_t mf_hist_percentile(const struct mf_hist *h, uint32_t ppm);

#endif
