/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is looked for in arrays and bitmaps. A file that is compiled for a wider CPU has the versions of these
 * functions that look at more at a time.
 */
#ifndef MF_SCHED_SCAN_H
#define MF_SCHED_SCAN_H

#include "systems/edm/sched/core.h"

#if defined(__AVX512F__)
#include "systems/edm/sched/scan_avx512.h"
#include "systems/edm/sched/times_avx512.h"
#elif defined(__AVX2__)
#include "systems/edm/sched/scan_scalar.h"
#include "systems/edm/sched/times_avx2.h"
#else
#include "systems/edm/sched/scan_scalar.h"
#include "systems/edm/sched/times_scalar.h"
#endif

/** Groups that ports of a map are in. */
static inline uint32_t scan_in_groups(const struct sched_map *map, unsigned int words)
{
	uint32_t groups = 0;

	for (unsigned int i = 0; i < 64 / SCHED_GROUP * words; i++)
		groups |= (uint32_t)((map->word[i * SCHED_GROUP / 64] >> i * SCHED_GROUP % 64 &
				      ((1 << SCHED_GROUP) - 1)) != 0)
			  << i;
	return groups;
}

/** Takes out what is due by a time. */
static inline void scan_due(struct sched_times *t, unsigned int words, mf_time time, struct sched_map *due)
{
	uint32_t groups = scan_groups(t, words, time);

	*due = (struct sched_map){{0}};
	for (; groups; groups &= groups - 1) {
		unsigned int i = __builtin_ctz(groups), shift = i * SCHED_GROUP % 64;

		due->word[i * SCHED_GROUP / 64] |= scan_group(t, i, time) << shift;
	}
	t->first = scan_first(t, words);
}

#endif
