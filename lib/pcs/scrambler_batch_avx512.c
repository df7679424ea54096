/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scrambler for eight links at once. As without vectors (mf_scrambler.h), through the taps of P^2: what
 * came in is descrambled once, which hangs on nothing, so that from word to word there is a shift and a sum.
 */
#include "pcs/scrambler_batch.h"

/**
 * What is n bits back in the stream: near are the words that are n / 64 back, far those that are one more.
 */
#define BITS_BACK(near, far, n) _mm256_shldi_epi64(near, far, (n) % 64)

static inline __m256i xor3(__m256i a, __m256i b, __m256i c)
{
	return _mm256_ternarylogic_epi64(a, b, c, 0x96);
}

/** The last words of four links: as they came, and the last two as they went. */
struct chain {
	__m256i in, out, far;
};

/** A word of each link. */
static inline __m256i scramble_word(struct chain *c, __m256i in)
{
	__m256i x = xor3(in, BITS_BACK(in, c->in, 39), BITS_BACK(in, c->in, 58));
	__m256i y = xor3(x, BITS_BACK(c->out, c->far, 39 * 2), BITS_BACK(c->out, c->far, 58 * 2));

	*c = (struct chain){in, y, c->out};
	return y;
}

/** Four words of each of four links from i on; the first one with what the state adds to it. */
static inline void scramble_four(uint64_t *const word[BATCH_LANES], unsigned int i, struct chain *c,
				 __m256i carry)
{
	__m256i column[BATCH_LANES];

	batch_load(word, i, column);
	column[0] = _mm256_xor_si256(column[0], carry);
	for (unsigned int k = 0; k < BATCH_LANES; k++)
		column[k] = scramble_word(c, column[k]);
	batch_store(word, i, column);
}

void pcs_scramble_batch_avx512(struct mf_scrambler *const s[MF_PCS_BATCH], uint64_t *const word[MF_PCS_BATCH],
			       unsigned int n)
{
	const __m256i zero = _mm256_setzero_si256();
	struct chain c[2] = {{zero, zero, zero}, {zero, zero, zero}};
	uint64_t lane[MF_PCS_BATCH];
	__m256i carry[2];
	unsigned int i = 0;

	for (unsigned int k = 0; k < MF_PCS_BATCH; k++)
		lane[k] = mf_scrambler_carry(s[k]->state);
	carry[0] = _mm256_loadu_si256((const __m256i_u *)lane);
	carry[1] = _mm256_loadu_si256((const __m256i_u *)(lane + BATCH_LANES));
	for (; i + BATCH_LANES <= n; i += BATCH_LANES) {
		scramble_four(word, i, &c[0], carry[0]);
		scramble_four(word + BATCH_LANES, i, &c[1], carry[1]);
		carry[0] = carry[1] = zero;
	}
	for (unsigned int k = 0; k < MF_PCS_BATCH; k++) {
		if (i > 0)
			s[k]->state = word[k][i - 1];
		mf_scramble_words(s[k], word[k] + i, n - i);
	}
}
