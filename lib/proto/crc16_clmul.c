/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CRC-16 by carry-less multiplication: every word times its own power of x, all at once, added up; the
 * 79 bits that are left are divided by multiplication (Barrett). (Gopal et al., "Fast CRC computation for
 * generic polynomials using PCLMULQDQ", with a constant for each distance in place of a chain of folds.)
 *
 * Bit 63 of a word is x^0. The product of two words has 127 bits, and its bit 126 is x^0.
 */
#include "proto_crc.h"

#ifdef __x86_64__

#include <immintrin.h>

/* The three-operand form saves a copy for each multiplication. */
#define CLMUL_TARGET __attribute__((target("pclmul,avx")))

/* Words that are added up at once; longer messages are folded onto the next so many. */
#define FOLD 32

/* v(x) * x^64 modulo the polynomial: the sum of x^64 .. x^79 for the powers that v has. */
#define BIT(v, bit, p) ((v) >> (bit)&1 ? (p) : 0)
#define TIMES_X64(v)                                                                                         \
	(BIT(v, 15, MF_X64) ^ BIT(v, 14, MF_X65) ^ BIT(v, 13, MF_X66) ^ BIT(v, 12, MF_X67) ^                 \
	 BIT(v, 11, MF_X68) ^ BIT(v, 10, MF_X69) ^ BIT(v, 9, MF_X70) ^ BIT(v, 8, MF_X71) ^                   \
	 BIT(v, 7, MF_X72) ^ BIT(v, 6, MF_X73) ^ BIT(v, 5, MF_X74) ^ BIT(v, 4, MF_X75) ^ BIT(v, 3, MF_X76) ^ \
	 BIT(v, 2, MF_X77) ^ BIT(v, 1, MF_X78) ^ BIT(v, 0, MF_X79))

/* K_d = x^(64 d), for a word with d words behind it. */
enum {
	K0 = 0x8000,
#define K(d, before) K##d = TIMES_X64(K##before)
	K(1, 0),
	K(2, 1),
	K(3, 2),
	K(4, 3),
	K(5, 4),
	K(6, 5),
	K(7, 6),
	K(8, 7),
	K(9, 8),
	K(10, 9),
	K(11, 10),
	K(12, 11),
	K(13, 12),
	K(14, 13),
	K(15, 14),
	K(16, 15),
	K(17, 16),
	K(18, 17),
	K(19, 18),
	K(20, 19),
	K(21, 20),
	K(22, 21),
	K(23, 22),
	K(24, 23),
	K(25, 24),
	K(26, 25),
	K(27, 26),
	K(28, 27),
	K(29, 28),
	K(30, 29),
	K(31, 30),
	K(32, 31),
	K(33, 32),
#undef K
};

/* v(x) / x: what is left so far stands one bit lower than a word, so it counts x times as much. */
#define OVER_X(v) ((((v)&0x8000 ? ((v) ^ MF_CRC16_POLY) << 1 | 1 : (v) << 1)) & 0xffff)

#define W(k) ((uint64_t)(k) << 48)
static const uint64_t factor[FOLD] __attribute__((aligned(64))) = {
	W(K31), W(K30), W(K29), W(K28), W(K27), W(K26), W(K25), W(K24), W(K23), W(K22), W(K21),
	W(K20), W(K19), W(K18), W(K17), W(K16), W(K15), W(K14), W(K13), W(K12), W(K11), W(K10),
	W(K9),  W(K8),  W(K7),  W(K6),  W(K5),  W(K4),  W(K3),  W(K2),  W(K1),  W(K0),
};
static const uint64_t refold[2] __attribute__((aligned(16))) = {W(OVER_X(K33)), W(OVER_X(K32))};

/* The polynomial without x^16, and x^78 divided by it. */
static const uint64_t barrett[2] __attribute__((aligned(16))) = {W(MF_CRC16_POLY), 0x0b36081638b03222};

/* What the seed is at the first word: proto_crc.h. */
#define SEED_AT_FIRST 0xffff

CLMUL_TARGET static inline __m128i multiply_two(__m128i words, const uint64_t *k)
{
	__m128i powers = _mm_loadu_si128((const __m128i_u *)k);

	return _mm_xor_si128(_mm_clmulepi64_si128(words, powers, 0x00),
			     _mm_clmulepi64_si128(words, powers, 0x11));
}

CLMUL_TARGET static inline __m128i multiply_one(uint64_t word, const uint64_t *k)
{
	return _mm_clmulepi64_si128(_mm_cvtsi64_si128((int64_t)word), _mm_loadl_epi64((const __m128i_u *)k),
				    0x00);
}

/* The seed and the first 1..FOLD words. Unrolled, so that a short message costs its words and no more. */
CLMUL_TARGET static inline __m128i begin(const uint64_t *word, size_t n)
{
	const uint64_t *end = word + n, *k = factor + FOLD - n;
	__m128i sum = multiply_one(SEED_AT_FIRST, k);

	if (n & 1)
		sum = _mm_xor_si128(sum, multiply_one(word[0], k));
#define PAIR(j)                                                                                            \
	case j:                                                                                            \
		sum = _mm_xor_si128(sum, multiply_two(_mm_loadu_si128((const __m128i_u *)(end - 2 * (j))), \
						      &factor[FOLD - 2 * (j)]));                           \
		__attribute__((fallthrough))
	switch (n / 2) {
		PAIR(16);
		PAIR(15);
		PAIR(14);
		PAIR(13);
		PAIR(12);
		PAIR(11);
		PAIR(10);
		PAIR(9);
		PAIR(8);
		PAIR(7);
		PAIR(6);
		PAIR(5);
		PAIR(4);
		PAIR(3);
		PAIR(2);
		PAIR(1);
	case 0:
		return sum;
	default:
		__builtin_unreachable();
	}
#undef PAIR
}

/* The quotient by the polynomial is exact but for powers that are no longer there. */
CLMUL_TARGET static inline uint16_t remainder_of(__m128i sum)
{
	__m128i k = _mm_load_si128((const __m128i *)barrett);
	__m128i quotient = _mm_clmulepi64_si128(_mm_srli_si128(sum, 6), k, 0x10);

	sum = _mm_xor_si128(sum, _mm_clmulepi64_si128(quotient, k, 0x00));
	return (uint16_t)((uint64_t)_mm_extract_epi64(sum, 1) >> 47);
}

/* Longer ones: the first n % FOLD words, or FOLD, and then FOLD at a time. */
CLMUL_TARGET static __attribute__((noinline)) uint16_t long_message(const uint64_t *word, size_t n)
{
	size_t part = (n - 1) % FOLD + 1;
	__m128i sum = begin(word, part);

	for (size_t i = 0; i < n - part; i += 2) {
		const __m128i_u *two = (const __m128i_u *)(word + part + i);

		if (i % FOLD == 0)
			sum = multiply_two(sum, refold);
		sum = _mm_xor_si128(sum, multiply_two(_mm_loadu_si128(two), &factor[i % FOLD]));
	}
	return remainder_of(sum);
}

CLMUL_TARGET uint16_t mf_crc16_clmul(const uint64_t *word, unsigned int n)
{
	if (__builtin_expect(n > FOLD, 0))
		return long_message(word, n);
	return remainder_of(begin(word, n));
}

#else

uint16_t mf_crc16_clmul(const uint64_t *word, unsigned int n)
{
	return mf_crc16_table(word, n);
}

#endif
