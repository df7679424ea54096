/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/mf_hist.h"

#define PPM 1000000

void mf_hist_reset(struct mf_hist *h)
{
	memset(h, 0, sizeof(*h));
}

void mf_hist_merge(struct mf_hist *h, const struct mf_hist *src)
{
	if (src->count == 0)
		return;
	if (h->count == 0 || src->min < h->min)
		h->min = src->min;
	if (src->max > h->max)
		h->max = src->max;
	h->count += src->count;
	h->sum_high += src->sum_high + __builtin_add_overflow(h->sum_low, src->sum_low, &h->sum_low);
	for (unsigned int i = mf_hist_index(src->min); i <= mf_hist_index(src->max); i++)
		h->bucket[i] += src->bucket[i];
}

uint64_t mf_hist_low(unsigned int index)
{
	unsigned int shift = index < 2 * MF_HIST_SUB ? 0 : index / MF_HIST_SUB - 1;

	return (uint64_t)(index - shift * MF_HIST_SUB) << shift;
}

uint64_t mf_hist_high(unsigned int index)
{
	return index + 1 < MF_HIST_BUCKETS ? mf_hist_low(index + 1) - 1 : UINT64_MAX;
}

double mf_hist_mean(const struct mf_hist *h)
{
	unsigned __int128 sum = (unsigned __int128)h->sum_high << 64 | h->sum_low;

	return h->count == 0 ? 0 : (double)sum / (double)h->count;
}

static uint64_t value_at_rank(const struct mf_hist *h, uint64_t rank)
{
	uint64_t seen = 0;

	for (unsigned int i = mf_hist_index(h->min); i < MF_HIST_BUCKETS; i++) {
		seen += h->bucket[i];
		if (seen >= rank)
			return mf_hist_high(i) < h->max ? mf_hist_high(i) : h->max;
	}
	return h->max;
}

uint64_t mf_hist_percentile(const struct mf_hist *h, uint32_t ppm)
{
	unsigned __int128 scaled = (unsigned __int128)h->count * ppm;
	uint64_t rank;

	if (h->count == 0)
		return 0;
	if (ppm >= PPM)
		return h->max;
	rank = (uint64_t)((scaled + PPM - 1) / PPM);
	return rank == 0 ? h->min : value_at_rank(h, rank);
}
