/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CRC-16 by carry-less multiplication: every word times its own power of x, all at once, added up; the
 * 80 bits that are left go through the table. (Gopal et al., "Fast CRC computation for generic
 * polynomials using PCLMULQDQ", with a constant for each distance in place of a chain of folds.)
 */
#include "proto_crc.h"

#ifdef __x86_64__

#include <immintrin.h>

/* Words that are added up at once; longer messages are folded onto the next so many. */
#define FOLD 32

/* v(x) * x^64 modulo the polynomial: the sum of x^64 .. x^79 for the powers that v has. */
#define BIT(v, bit, p) ((v) >> (bit)&1 ? (p) : 0)
#define TIMES_X64(v)                                                                                         \
	(BIT(v, 15, MF_X64) ^ BIT(v, 14, MF_X65) ^ BIT(v, 13, MF_X66) ^ BIT(v, 12, MF_X67) ^                 \
	 BIT(v, 11, MF_X68) ^ BIT(v, 10, MF_X69) ^ BIT(v, 9, MF_X70) ^ BIT(v, 8, MF_X71) ^                   \
	 BIT(v, 7, MF_X72) ^ BIT(v, 6, MF_X73) ^ BIT(v, 5, MF_X74) ^ BIT(v, 4, MF_X75) ^ BIT(v, 3, MF_X76) ^ \
	 BIT(v, 2, MF_X77) ^ BIT(v, 1, MF_X78) ^ BIT(v, 0, MF_X79))

/*
 * K_d = x^(64 d - 1): for a word with d words behind it. The -1 is there because the product of two
 * reflected 64-bit words stands one bit lower than a reflected 128-bit word would.
 */
enum {
	K0 = ((0x8000 ^ MF_CRC16_POLY) << 1 | 1) & 0xffff,
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

#define W(k) ((uint64_t)(k) << 48)
static const uint64_t factor[FOLD + 2] = {
	W(K33), W(K32), W(K31), W(K30), W(K29), W(K28), W(K27), W(K26), W(K25), W(K24), W(K23), W(K22),
	W(K21), W(K20), W(K19), W(K18), W(K17), W(K16), W(K15), W(K14), W(K13), W(K12), W(K11), W(K10),
	W(K9),  W(K8),  W(K7),  W(K6),  W(K5),  W(K4),  W(K3),  W(K2),  W(K1),  W(K0),
};

__attribute__((target("pclmul"))) static inline __m128i multiply_two(__m128i words, const uint64_t *k)
{
	__m128i powers = _mm_loadu_si128((const __m128i_u *)k);

	return _mm_xor_si128(_mm_clmulepi64_si128(words, powers, 0x00),
			     _mm_clmulepi64_si128(words, powers, 0x11));
}

/* What is left so far is like two words in front of the next n. */
__attribute__((target("pclmul"))) static inline __m128i fold(__m128i left, const uint64_t *word,
							     unsigned int n)
{
	const uint64_t *k = factor + FOLD - n;
	__m128i sum = multiply_two(left, k);
	unsigned int i = n & 1;

	k += 2;
	if (i)
		sum = _mm_xor_si128(sum, _mm_clmulepi64_si128(_mm_cvtsi64_si128((int64_t)word[0]),
							      _mm_cvtsi64_si128((int64_t)k[0]), 0x00));
	for (; i < n; i += 2)
		sum = _mm_xor_si128(sum, multiply_two(_mm_loadu_si128((const __m128i_u *)(word + i)), k + i));
	return sum;
}

__attribute__((target("pclmul"))) uint16_t mf_crc16_clmul(const uint64_t *word, unsigned int n)
{
	__m128i left = _mm_set_epi64x((int64_t)W(MF_CRC16_SEED), 0);
	unsigned int part;

	for (; n > 0; n -= part, word += part) {
		part = (n - 1) % FOLD + 1;
		left = fold(left, word, part);
	}
	return mf_crc16_step((uint64_t)_mm_cvtsi128_si64(left) >> 48,
			     (uint64_t)_mm_cvtsi128_si64(_mm_unpackhi_epi64(left, left)));
}

bool mf_crc16_has_clmul(void)
{
	return __builtin_cpu_supports("pclmul");
}

#else

uint16_t mf_crc16_clmul(const uint64_t *word, unsigned int n)
{
	return mf_crc16_table(word, n);
}

bool mf_crc16_has_clmul(void)
{
	return false;
}

#endif
