/* SPDX-License-Identifier: BSD-3-Clause */
/* The scrambler for eight links at once, a link in each lane. */
#include <assert.h>
#include <immintrin.h>

#include "pcs_variants.h"

#define LANES 8
static_assert(LANES == MF_PCS_BATCH, "a link a lane");

/** Rows become columns: eight links of eight words, eight words of eight links. */
static inline void transpose(__m512i r[LANES])
{
	__m512i pair[LANES], quad[LANES];

	for (unsigned int i = 0; i < LANES; i += 2) {
		pair[i] = _mm512_unpacklo_epi64(r[i], r[i + 1]);
		pair[i + 1] = _mm512_unpackhi_epi64(r[i], r[i + 1]);
	}
	for (unsigned int i = 0; i < LANES; i += 4) {
		for (unsigned int k = i; k < i + 2; k++) {
			quad[k] = _mm512_shuffle_i64x2(pair[k], pair[k + 2], 0x88);
			quad[k + 2] = _mm512_shuffle_i64x2(pair[k], pair[k + 2], 0xdd);
		}
	}
	for (unsigned int k = 0; k < 4; k++) {
		r[k] = _mm512_shuffle_i64x2(quad[k], quad[k + 4], 0x88);
		r[k + 4] = _mm512_shuffle_i64x2(quad[k], quad[k + 4], 0xdd);
	}
}

static inline __m512i xor3(__m512i a, __m512i b, __m512i c)
{
	return _mm512_ternarylogic_epi64(a, b, c, 0x96);
}

/** A word of each link, from the words before. */
static inline __m512i scramble_word(__m512i in, __m512i before)
{
	__m512i x = xor3(in, _mm512_srli_epi64(before, 25), _mm512_srli_epi64(before, 6));

	return xor3(x, _mm512_slli_epi64(x, 39), _mm512_slli_epi64(x, 58));
}

/** Eight words of each link from i on. @return the last of each */
static inline __m512i scramble_eight(uint64_t *const word[LANES], unsigned int i, __m512i before)
{
	__m512i row[LANES];

	for (unsigned int k = 0; k < LANES; k++)
		row[k] = _mm512_loadu_si512(word[k] + i);
	transpose(row);
	for (unsigned int k = 0; k < LANES; k++)
		before = row[k] = scramble_word(row[k], before);
	transpose(row);
	for (unsigned int k = 0; k < LANES; k++)
		_mm512_storeu_si512(word[k] + i, row[k]);
	return before;
}

void pcs_scramble_batch_avx512(struct mf_scrambler *const s[MF_PCS_BATCH], uint64_t *const word[MF_PCS_BATCH],
			       unsigned int n)
{
	uint64_t state[LANES];
	unsigned int i = 0;
	__m512i before;

	for (unsigned int k = 0; k < LANES; k++)
		state[k] = s[k]->state;
	before = _mm512_loadu_si512(state);
	for (; i + LANES <= n; i += LANES)
		before = scramble_eight(word, i, before);
	_mm512_storeu_si512(state, before);
	for (unsigned int k = 0; k < LANES; k++) {
		s[k]->state = state[k];
		mf_scramble_words(s[k], word[k] + i, n - i);
	}
}
