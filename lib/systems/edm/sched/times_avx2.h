/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times of ports: as in times_scalar.h, four at a time. AVX2 compares signed numbers, so the upper bit of a
 * time is turned before it is compared.
 */
#ifndef MF_SCHED_TIMES_AVX2_H
#define MF_SCHED_TIMES_AVX2_H

#include <immintrin.h>

#include "systems/edm/sched/core.h"

static inline __m256i times_turn(__m256i times)
{
	return _mm256_xor_si256(times, _mm256_set1_epi64x(INT64_MIN));
}

/** Four times, turned. */
static inline __m256i times_load(const mf_time *at)
{
	return times_turn(_mm256_load_si256((const void *)at));
}

static inline __m256i times_min(__m256i a, __m256i b)
{
	return _mm256_blendv_epi8(a, b, _mm256_cmpgt_epi64(a, b));
}

static inline mf_time times_least(__m256i turned)
{
	mf_time at[4] __attribute__((aligned(32)));

	_mm256_store_si256((__m256i *)at, times_turn(turned));
	return mf_time_min(mf_time_min(at[0], at[1]), mf_time_min(at[2], at[3]));
}

/** Takes out what is due by a time, of a group. @return the ports */
static inline uint64_t scan_group(struct sched_times *t, unsigned int group, mf_time time)
{
	const __m256i by = times_turn(_mm256_set1_epi64x((long long)time));
	__m256i first = _mm256_set1_epi64x(INT64_MAX);
	uint64_t later = 0;

	for (unsigned int i = 0; i < SCHED_GROUP; i += 4) {
		mf_time *at = t->at + SCHED_GROUP * group + i;
		__m256i turned = times_load(at), over = _mm256_cmpgt_epi64(turned, by);
		__m256i left = _mm256_blendv_epi8(_mm256_set1_epi64x(INT64_MAX), turned, over);

		_mm256_store_si256((void *)at, times_turn(left));
		first = times_min(first, left);
		later |= (uint64_t)_mm256_movemask_pd(_mm256_castsi256_pd(over)) << i;
	}
	t->group[group] = times_least(first);
	return later ^ ((UINT64_C(1) << SCHED_GROUP) - 1);
}

/** Groups that may have something that is due. */
static inline uint32_t scan_groups(const struct sched_times *t, unsigned int words, mf_time time)
{
	const __m256i by = times_turn(_mm256_set1_epi64x((long long)time));
	uint32_t due = 0;

	for (unsigned int i = 0; i < 64 / SCHED_GROUP * words; i += 4) {
		__m256i over = _mm256_cmpgt_epi64(times_load(t->group + i), by);

		due |= (uint32_t)(~_mm256_movemask_pd(_mm256_castsi256_pd(over)) & 0xf) << i;
	}
	return due;
}

/** The earliest time of all. */
static inline mf_time scan_first(const struct sched_times *t, unsigned int words)
{
	__m256i first = times_load(t->group);

	for (unsigned int i = 4; i < 64 / SCHED_GROUP * words; i += 4)
		first = times_min(first, times_load(t->group + i));
	return times_least(first);
}

/** Ports of some groups have this time, and none of them an earlier one. */
static inline void scan_note(struct sched_times *t, uint32_t groups, unsigned int words, mf_time time)
{
	for (unsigned int i = 0; i < 64 / SCHED_GROUP * words; i++) {
		mf_time never = -(mf_time)(~groups >> i & 1);

		t->group[i] = mf_time_min(t->group[i], time | never);
	}
	t->first = mf_time_min(t->first, time);
}

#endif
