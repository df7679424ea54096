/* SPDX-License-Identifier: BSD-3-Clause */
/* By multiplications of 64 bits; crc16_clmul.h says how. */
#include <string.h>

#include "systems/edm/proto/crc16_clmul.h"

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
const uint64_t mf_crc16_factor[MF_CRC16_FOLD + 8] __attribute__((aligned(64))) = {
	W(K31), W(K30), W(K29), W(K28), W(K27), W(K26), W(K25), W(K24), W(K23), W(K22), W(K21),
	W(K20), W(K19), W(K18), W(K17), W(K16), W(K15), W(K14), W(K13), W(K12), W(K11), W(K10),
	W(K9),  W(K8),  W(K7),  W(K6),  W(K5),  W(K4),  W(K3),  W(K2),  W(K1),  W(K0),
};
const uint64_t mf_crc16_refold[2] __attribute__((aligned(16))) = {W(OVER_X(K33)), W(OVER_X(K32))};
const uint64_t mf_crc16_barrett[2] __attribute__((aligned(16))) = {W(MF_CRC16_POLY), 0x0b36081638b03222};

#ifdef __x86_64__

#define FOLD MF_CRC16_FOLD
#define factor mf_crc16_factor

CLMUL_TARGET static inline __m128i load_two(const uint64_t *at)
{
	return _mm_loadu_si128((const __m128i_u *)at);
}

/* The seed and the first 1..FOLD words. Unrolled, so that a short message costs its words and no more. */
CLMUL_TARGET static inline __m128i begin(const uint64_t *word, size_t n)
{
	const uint64_t *end = word + n, *k = factor + FOLD - n;
	__m128i sum = mf_crc16_multiply_one(MF_CRC16_SEED_AT_FIRST, k);

	if (n & 1)
		sum = _mm_xor_si128(sum, mf_crc16_multiply_one(word[0], k));
#define PAIR(j)                                                                                     \
	case j:                                                                                     \
		sum = _mm_xor_si128(sum, mf_crc16_multiply_two(load_two(end - 2 * (j)),             \
							       load_two(&factor[FOLD - 2 * (j)]))); \
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

/* Longer ones: the first n % FOLD words, or FOLD, and then FOLD at a time. */
CLMUL_TARGET static __attribute__((noinline)) uint16_t long_message(const uint64_t *word, size_t n)
{
	size_t part = (n - 1) % FOLD + 1;
	__m128i sum = begin(word, part);

	for (size_t i = 0; i < n - part; i += 2) {
		if (i % FOLD == 0)
			sum = mf_crc16_multiply_two(sum, load_two(mf_crc16_refold));
		sum = _mm_xor_si128(
			sum, mf_crc16_multiply_two(load_two(word + part + i), load_two(&factor[i % FOLD])));
	}
	return mf_crc16_remainder(sum);
}

CLMUL_TARGET static uint16_t clmul_words(const uint64_t *word, unsigned int n)
{
	if (__builtin_expect(n > FOLD, 0))
		return long_message(word, n);
	return mf_crc16_remainder(begin(word, n));
}

CLMUL_TARGET uint16_t mf_crc16_clmul_one(uint64_t word)
{
	return mf_crc16_remainder(mf_crc16_multiply_one(word ^ MF_CRC16_SEED_AT_FIRST, &factor[FOLD - 1]));
}

CLMUL_TARGET uint16_t mf_crc16_clmul_two(uint64_t first, uint64_t second)
{
	__m128i words = _mm_set_epi64x((int64_t)second, (int64_t)(first ^ MF_CRC16_SEED_AT_FIRST));

	return mf_crc16_remainder(mf_crc16_multiply_two(words, load_two(&factor[FOLD - 2])));
}

static uint16_t clmul_copy(uint64_t *word, const void *data, unsigned int n, uint64_t last)
{
	memcpy(word + 1, data, n * sizeof(*word));
	word[n + 1] = last;
	return clmul_words(word, n + 2);
}

static const struct mf_crc16_ops clmul = {
	.name = "clmul",
	.simd_bits = 128,
	.words = clmul_words,
	.one = mf_crc16_clmul_one,
	.two = mf_crc16_clmul_two,
	.copy = clmul_copy,
};

const struct mf_crc16_ops *mf_crc16_clmul(void)
{
	return __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("avx") ? &clmul : NULL;
}

#else

const struct mf_crc16_ops *mf_crc16_clmul(void)
{
	return NULL;
}

#endif
