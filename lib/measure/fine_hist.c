/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/mf_fine_hist.h"

#include <errno.h>

#include "base/mf_table.h"

#define SUB (UINT64_C(1) << FINE_HIST_SUB_BITS)
#define BUCKETS ((64 - FINE_HIST_SUB_BITS + 1) * SUB)
#define PPM 1000000

int fine_hist_init(struct fine_hist *f)
{
	*f = (struct fine_hist){.bucket = mf_table_new(BUCKETS, sizeof(*f->bucket))};
	return f->bucket != NULL ? 0 : -ENOMEM;
}

void fine_hist_fini(struct fine_hist *f)
{
	mf_table_free(f->bucket);
	f->bucket = NULL;
}

/** Highest value of a bucket. */
static uint64_t high(uint32_t index)
{
	unsigned int shift = index < 2 * SUB ? 0 : (unsigned int)(index / SUB) - 1;

	return ((index + 1 - shift * SUB) << shift) - 1;
}

uint64_t fine_hist_percentile(const struct fine_hist *f, uint32_t ppm)
{
	unsigned __int128 scaled = (unsigned __int128)f->count * ppm;
	uint64_t rank = (uint64_t)((scaled + PPM - 1) / PPM), seen = 0;
	uint32_t i;

	if (f->count == 0)
		return 0;
	for (i = fine_hist_index(f->min); i < fine_hist_index(f->max); i++) {
		seen += f->bucket[i];
		if (seen >= rank)
			break;
	}
	return high(i) < f->max ? high(i) : f->max;
}
