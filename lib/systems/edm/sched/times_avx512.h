/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of ports: as in times_scalar.h, eight at a time. */
#ifndef MF_SCHED_TIMES_AVX512_H
#define MF_SCHED_TIMES_AVX512_H

#include <immintrin.h>

#include "systems/edm/sched/core.h"

/** Takes out what is due by a time, of a group. @return the ports */
static inline uint64_t scan_group(struct sched_times *t, unsigned int group, mf_time time)
{
	const __m512i never = _mm512_set1_epi64(-1), by = _mm512_set1_epi64((long long)time);
	mf_time *at = t->at + SCHED_GROUP * group;
	__m512i low = _mm512_load_si512(at), high = _mm512_load_si512(at + 8);
	__mmask8 low_due = _mm512_cmple_epu64_mask(low, by), high_due = _mm512_cmple_epu64_mask(high, by);

	low = _mm512_mask_mov_epi64(low, low_due, never);
	high = _mm512_mask_mov_epi64(high, high_due, never);
	_mm512_store_si512(at, low);
	_mm512_store_si512(at + 8, high);
	t->group[group] = _mm512_reduce_min_epu64(_mm512_min_epu64(low, high));
	return low_due | (uint32_t)high_due << 8;
}

/** Groups that may have something that is due. */
static inline uint32_t scan_groups(const struct sched_times *t, unsigned int words, mf_time time)
{
	const __m512i by = _mm512_set1_epi64((long long)time);
	uint32_t due = 0;

	for (unsigned int i = 0; i < 64 / SCHED_GROUP * words; i += 8)
		due |= (uint32_t)_mm512_cmple_epu64_mask(_mm512_load_si512(t->group + i), by) << i;
	return due;
}

/** The earliest time of all. */
static inline mf_time scan_first(const struct sched_times *t, unsigned int words)
{
	__m512i first = _mm512_load_si512(t->group);

	for (unsigned int i = 8; i < 64 / SCHED_GROUP * words; i += 8) /* the rest of a word is MF_NEVER */
		first = _mm512_min_epu64(first, _mm512_load_si512(t->group + i));
	return _mm512_reduce_min_epu64(first);
}

/** Ports of some groups have this time, and none of them an earlier one. */
static inline void scan_note(struct sched_times *t, uint32_t groups, unsigned int words, mf_time time)
{
	const __m512i by = _mm512_set1_epi64((long long)time);

	for (unsigned int i = 0; i < 64 / SCHED_GROUP * words; i += 8) {
		__m512i group = _mm512_load_si512(t->group + i);

		_mm512_store_si512(t->group + i,
				   _mm512_mask_min_epu64(group, (__mmask8)(groups >> i), group, by));
	}
	t->first = mf_time_min(t->first, time);
}

#endif
