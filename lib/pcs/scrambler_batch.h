/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Eight links are scrambled at once, a link in each lane of two vectors of 256 bits: how their words come
 * into lanes and back. Vectors of 512 bits would take three steps of shuffles in place of two, and a CPU that
 * runs them as two halves gains nothing by them.
 */
#ifndef SCRAMBLER_BATCH_H
#define SCRAMBLER_BATCH_H

#include <assert.h>
#include <immintrin.h>

#include "pcs/pcs_variants.h"

#define BATCH_LANES 4
static_assert(2 * BATCH_LANES == MF_PCS_BATCH, "a link a lane");

/** Two words of each of two links. */
static inline __m256i batch_pairs(const uint64_t *one, const uint64_t *other)
{
	__m256i low = _mm256_castsi128_si256(_mm_loadu_si128((const __m128i_u *)one));

	return _mm256_inserti128_si256(low, _mm_loadu_si128((const __m128i_u *)other), 1);
}

/** Four words of four links from i on: a vector of each word. The loads do half of the transposition. */
static inline void batch_load(uint64_t *const word[BATCH_LANES], unsigned int i, __m256i column[BATCH_LANES])
{
	for (unsigned int k = 0; k < BATCH_LANES; k += 2) {
		__m256i even = batch_pairs(word[0] + i + k, word[2] + i + k);
		__m256i odd = batch_pairs(word[1] + i + k, word[3] + i + k);

		column[k] = _mm256_unpacklo_epi64(even, odd);
		column[k + 1] = _mm256_unpackhi_epi64(even, odd);
	}
}

/** And back. */
static inline void batch_store(uint64_t *const word[BATCH_LANES], unsigned int i,
			       const __m256i c[BATCH_LANES])
{
	for (unsigned int k = 0; k < 2; k++) {
		__m256i front = k ? _mm256_unpackhi_epi64(c[0], c[1]) : _mm256_unpacklo_epi64(c[0], c[1]);
		__m256i back = k ? _mm256_unpackhi_epi64(c[2], c[3]) : _mm256_unpacklo_epi64(c[2], c[3]);

		_mm256_storeu_si256((__m256i_u *)(word[k] + i), _mm256_permute2x128_si256(front, back, 0x20));
		_mm256_storeu_si256((__m256i_u *)(word[k + 2] + i),
				    _mm256_permute2x128_si256(front, back, 0x31));
	}
}

#endif
