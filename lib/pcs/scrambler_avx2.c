/* SPDX-License-Identifier: BSD-3-Clause */
/* The scrambler for eight links at once; the descrambler. */
#include <immintrin.h>

#include "pcs/scrambler_batch.h"

#define LANES 4

static inline __m256i xor3(__m256i a, __m256i b, __m256i c)
{
	return _mm256_xor_si256(a, _mm256_xor_si256(b, c));
}

static inline __m256i carry(__m256i before)
{
	return _mm256_xor_si256(_mm256_srli_epi64(before, 25), _mm256_srli_epi64(before, 6));
}

/** A word of each link, from the words before. */
static inline __m256i scramble_word(__m256i in, __m256i before)
{
	__m256i x = _mm256_xor_si256(in, carry(before));

	return xor3(x, _mm256_slli_epi64(x, 39), _mm256_slli_epi64(x, 58));
}

/** Four words of each of four links from i on. @return the last of each */
static inline __m256i scramble_four(uint64_t *const word[BATCH_LANES], unsigned int i, __m256i before)
{
	__m256i column[BATCH_LANES];

	batch_load(word, i, column);
	for (unsigned int k = 0; k < BATCH_LANES; k++)
		before = column[k] = scramble_word(column[k], before);
	batch_store(word, i, column);
	return before;
}

void pcs_scramble_batch_avx2(struct mf_scrambler *const s[MF_PCS_BATCH], uint64_t *const word[MF_PCS_BATCH],
			     unsigned int n)
{
	uint64_t state[MF_PCS_BATCH];
	__m256i before[2];
	unsigned int i = 0;

	for (unsigned int k = 0; k < MF_PCS_BATCH; k++)
		state[k] = s[k]->state;
	before[0] = _mm256_loadu_si256((const __m256i_u *)state);
	before[1] = _mm256_loadu_si256((const __m256i_u *)(state + BATCH_LANES));
	for (; i + BATCH_LANES <= n; i += BATCH_LANES) {
		before[0] = scramble_four(word, i, before[0]);
		before[1] = scramble_four(word + BATCH_LANES, i, before[1]);
	}
	_mm256_storeu_si256((__m256i_u *)state, before[0]);
	_mm256_storeu_si256((__m256i_u *)(state + BATCH_LANES), before[1]);
	for (unsigned int k = 0; k < MF_PCS_BATCH; k++) {
		s[k]->state = state[k];
		mf_scramble_words(s[k], word[k] + i, n - i);
	}
}

/** The words one up, the first of them out of the last lane. */
static inline __m256i rotate(__m256i x)
{
	return _mm256_permute4x64_epi64(x, 0x93);
}

void pcs_descramble_avx2(struct mf_scrambler *s, uint64_t *word, unsigned int n)
{
	__m256i before = _mm256_set1_epi64x((int64_t)s->state);
	unsigned int i = 0;

	for (; i + LANES <= n; i += LANES) {
		__m256i in = _mm256_loadu_si256((const __m256i_u *)(word + i)), up = rotate(in);
		__m256i taps = _mm256_xor_si256(_mm256_slli_epi64(in, 39), _mm256_slli_epi64(in, 58));

		s->state = word[i + LANES - 1];
		before = _mm256_blend_epi32(up, before, 0x03);
		_mm256_storeu_si256((__m256i_u *)(word + i), xor3(in, taps, carry(before)));
		before = up;
	}
	mf_descramble_words(s, word + i, n - i);
}
