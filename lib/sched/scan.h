/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is looked for in arrays and bitmaps. A file that is compiled for a wider CPU has the versions of these
 * functions that look at more at a time.
 */
#ifndef MF_SCHED_SCAN_H
#define MF_SCHED_SCAN_H

#include "core.h"

#if defined(__AVX512F__)
#include "scan_avx512.h"
#include "times_avx512.h"
#elif defined(__AVX2__)
#include "scan_scalar.h"
#include "times_avx2.h"
#else
#include "scan_scalar.h"
#include "times_scalar.h"
#endif

/**
 * Lists the ports of a map. Four of a word are written whether they are there or not, and then counted:
 * no branch hangs on how many there are, unless there are more.
 * @param list room for SCHED_LIST ports
 */
static inline unsigned int scan_ports(const struct sched_map *map, unsigned int words, uint16_t *list)
{
	unsigned int n = 0;

	for (unsigned int w = 0; w < words; w++) {
		uint64_t left = map->word[w];
		unsigned int end = n + __builtin_popcountll(left);

		do {
			for (unsigned int i = 0; i < 4; i++, left &= left - 1)
				list[n + i] = w * 64 + __builtin_ctzll(left | UINT64_C(1) << 63);
			n += 4;
		} while (n < end);
		n = end;
	}
	return n;
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
