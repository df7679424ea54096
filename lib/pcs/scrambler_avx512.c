/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scrambler, eight words a step. mf_scrambler.h says why out * P^16 = in * P * P^2 * P^4 * P^8 with
 * P^k = 1 + z^39k + z^58k. The four factors on the right only look at what came in; 39 * 16 bits are more
 * than nine words, so that on the left a whole vector hangs on those before it alone.
 */
#include <immintrin.h>

#include "pcs/pcs_variants.h"

#define LANES 8

/** The words that come k (1..7) before those of a vector; before is the vector in front of it. */
#define WORDS_BACK(vector, before, k) _mm512_alignr_epi64(vector, before, LANES - (k))

/**
 * What is n bits back in the stream: near are the words that are n / 64 back, far those that are one more.
 */
#define BITS_BACK(near, far, n) _mm512_shldi_epi64(near, far, (n) % 64)

static inline __m512i xor3(__m512i a, __m512i b, __m512i c)
{
	return _mm512_ternarylogic_epi64(a, b, c, 0x96);
}

/** Times P. */
static inline __m512i times_p1(__m512i x, __m512i before)
{
	__m512i x1 = WORDS_BACK(x, before, 1);

	return xor3(x, BITS_BACK(x, x1, 39), BITS_BACK(x, x1, 58));
}

static inline __m512i times_p2(__m512i x, __m512i before)
{
	__m512i x1 = WORDS_BACK(x, before, 1), x2 = WORDS_BACK(x, before, 2);

	return xor3(x, BITS_BACK(x1, x2, 39 * 2), BITS_BACK(x1, x2, 58 * 2));
}

static inline __m512i times_p4(__m512i x, __m512i before)
{
	__m512i x2 = WORDS_BACK(x, before, 2), x3 = WORDS_BACK(x, before, 3);
	__m512i x4 = WORDS_BACK(x, before, 4);

	return xor3(x, BITS_BACK(x2, x3, 39 * 4), BITS_BACK(x3, x4, 58 * 4));
}

static inline __m512i times_p8(__m512i x, __m512i before)
{
	__m512i x4 = WORDS_BACK(x, before, 4), x5 = WORDS_BACK(x, before, 5);
	__m512i x7 = WORDS_BACK(x, before, 7);

	return xor3(x, BITS_BACK(x4, x5, 39 * 8), BITS_BACK(x7, before, 58 * 8));
}

/** Divided by P^16: before and far are the last two vectors of the result. */
static inline __m512i over_p16(__m512i x, __m512i before, __m512i far)
{
	__m512i y9 = WORDS_BACK(before, far, 1), y10 = WORDS_BACK(before, far, 2);
	__m512i y14 = WORDS_BACK(before, far, 6), y15 = WORDS_BACK(before, far, 7);

	return xor3(x, BITS_BACK(y9, y10, 39 * 16), BITS_BACK(y14, y15, 58 * 16));
}

/** Lanes that hold words when n are left. */
static inline __mmask8 lanes(unsigned int n)
{
	return (__mmask8)(n < LANES ? (1U << n) - 1 : UINT8_MAX);
}

static inline uint64_t lane(__m512i x, unsigned int i)
{
	__m512i first = _mm512_permutexvar_epi64(_mm512_set1_epi64(i), x);

	return (uint64_t)_mm_cvtsi128_si64(_mm512_castsi512_si128(first));
}

/** The last vectors of each product. */
struct chain {
	__m512i x0, x1, x2, x3, y, far;
};

static inline __m512i scramble_vector(struct chain *c, __m512i x0)
{
	__m512i x1 = times_p1(x0, c->x0), x2 = times_p2(x1, c->x1);
	__m512i x3 = times_p4(x2, c->x2), x4 = times_p8(x3, c->x3);
	__m512i y = over_p16(x4, c->y, c->far);

	*c = (struct chain){x0, x1, x2, x3, y, c->y};
	return y;
}

void pcs_scramble_avx512(struct mf_scrambler *s, uint64_t *word, unsigned int n)
{
	uint64_t carry = mf_scrambler_carry(s->state);
	__m512i zero = _mm512_setzero_si512(), first = _mm512_maskz_set1_epi64(1, (int64_t)carry);
	struct chain c = {zero, zero, zero, zero, zero, zero};

	if (n == 0)
		return;
	for (; n > LANES; n -= LANES, word += LANES) {
		_mm512_storeu_si512(word,
				    scramble_vector(&c, _mm512_xor_si512(_mm512_loadu_si512(word), first)));
		first = zero;
	}
	scramble_vector(&c, _mm512_xor_si512(_mm512_maskz_loadu_epi64(lanes(n), word), first));
	_mm512_mask_storeu_epi64(word, lanes(n), c.y);
	s->state = lane(c.y, n - 1);
}

void pcs_descramble_avx512(struct mf_scrambler *s, uint64_t *word, unsigned int n)
{
	__m512i before = _mm512_set1_epi64((int64_t)s->state), x;

	if (n == 0)
		return;
	for (; n > LANES; n -= LANES, word += LANES) {
		x = _mm512_loadu_si512(word);
		_mm512_storeu_si512(word, times_p1(x, before));
		before = x;
	}
	x = _mm512_maskz_loadu_epi64(lanes(n), word);
	_mm512_mask_storeu_epi64(word, lanes(n), times_p1(x, before));
	s->state = lane(x, n - 1);
}
