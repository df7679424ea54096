/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mean and percentiles of many values, a hundred times finer than struct mf_hist: a bucket is at most
 * 1/16,384 of its values wide, since a ratio of 1.005 is to be told from one of 1.006. What is not touched
 * takes no memory.
 */
#ifndef MF_FINE_HIST_H
#define MF_FINE_HIST_H

#include <stdbool.h>
#include <stdint.h>

#define FINE_HIST_SUB_BITS 14

struct fine_hist {
	uint64_t count;
	uint64_t min, max; /**< exact */
	double sum;
	uint32_t *bucket;
};

/** @return 0 or -ENOMEM */
int fine_hist_init(struct fine_hist *f);
void fine_hist_fini(struct fine_hist *f);

static inline uint32_t fine_hist_index(uint64_t value)
{
	uint64_t sub = UINT64_C(1) << FINE_HIST_SUB_BITS;
	unsigned int shift = (63 ^ (unsigned int)__builtin_clzll(value | sub)) - FINE_HIST_SUB_BITS;

	return (uint32_t)(shift * sub + (value >> shift));
}

static inline void fine_hist_add(struct fine_hist *f, uint64_t value)
{
	f->min = f->count == 0 || value < f->min ? value : f->min;
	f->max = value > f->max ? value : f->max;
	f->count++;
	f->sum += (double)value;
	f->bucket[fine_hist_index(value)]++;
}

/** The value at rank ceil(ppm / 10^6 * count), or at most 1/16,384 above it; never above max. 0: of none */
uint64_t fine_hist_percentile(const struct fine_hist *f, uint32_t ppm);

static inline double fine_hist_mean(const struct fine_hist *f)
{
	return f->count > 0 ? f->sum / (double)f->count : 0;
}

#endif
