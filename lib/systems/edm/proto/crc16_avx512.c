/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * By eight multiplications of 64 bits at once; crc16_clmul.h says how. A remainder of one to seven words
 * is loaded by a mask: no loop, and no octet beyond the message.
 */
#include <string.h>

#include "systems/edm/proto/crc16_clmul.h"

#ifdef __x86_64__

#define AVX512_TARGET __attribute__((target("avx512f,avx512vl,avx512bw,vpclmulqdq,pclmul,bmi2")))

#define FOLD MF_CRC16_FOLD
#define factor mf_crc16_factor

AVX512_TARGET static inline __m512i xor3(__m512i a, __m512i b, __m512i c)
{
	return _mm512_ternarylogic_epi64(a, b, c, 0x96);
}

AVX512_TARGET static inline __m512i add(__m512i sum, __m512i words, const uint64_t *k)
{
	__m512i powers = _mm512_loadu_si512(k);

	return xor3(sum, _mm512_clmulepi64_epi128(words, powers, 0x00),
		    _mm512_clmulepi64_epi128(words, powers, 0x11));
}

AVX512_TARGET static inline __mmask8 first(size_t n)
{
	return (__mmask8)_bzhi_u32(0xff, (unsigned int)n);
}

/*
 * Adds n words.
 * @param k   factor of the first
 * @param to  they are copied there, if not NULL
 */
AVX512_TARGET static inline __m512i add_words(__m512i sum, const uint64_t *word, size_t n, const uint64_t *k,
					      uint64_t *to)
{
	__m512i words;

	for (; n >= 8; n -= 8, word += 8, k += 8) {
		words = _mm512_loadu_si512(word);
		sum = add(sum, words, k);
		if (to) {
			_mm512_storeu_si512(to, words);
			to += 8;
		}
	}
	if (n == 0)
		return sum;
	words = _mm512_maskz_loadu_epi64(first(n), word);
	if (to)
		_mm512_mask_storeu_epi64(to, first(n), words);
	return add(sum, words, k);
}

AVX512_TARGET static inline uint16_t remainder_of(__m512i sum)
{
	__m256i half = _mm256_xor_si256(_mm512_castsi512_si256(sum), _mm512_extracti64x4_epi64(sum, 1));

	return mf_crc16_remainder(
		_mm_xor_si128(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1)));
}

/* The seed and the first 1..FOLD words. */
AVX512_TARGET static inline __m512i begin(const uint64_t *word, size_t n)
{
	const uint64_t *k = factor + FOLD - n;
	__m128i seed = mf_crc16_multiply_one(MF_CRC16_SEED_AT_FIRST, k);

	return add_words(_mm512_zextsi128_si512(seed), word, n, k, NULL);
}

/* Longer ones: the first n % FOLD words, or FOLD, and then FOLD at a time. */
AVX512_TARGET static __attribute__((noinline)) uint16_t long_message(const uint64_t *word, size_t n)
{
	const __m512i refold = _mm512_broadcast_i32x4(_mm_load_si128((const __m128i *)mf_crc16_refold));
	size_t part = (n - 1) % FOLD + 1;
	__m512i sum = begin(word, part);

	for (size_t i = part; i < n; i += FOLD) {
		sum = _mm512_xor_si512(_mm512_clmulepi64_epi128(sum, refold, 0x00),
				       _mm512_clmulepi64_epi128(sum, refold, 0x11));
		sum = add_words(sum, word + i, FOLD, factor, NULL);
	}
	return remainder_of(sum);
}

AVX512_TARGET static uint16_t avx512_words(const uint64_t *word, unsigned int n)
{
	if (__builtin_expect(n > FOLD, 0))
		return long_message(word, n);
	return remainder_of(begin(word, n));
}

static __attribute__((noinline)) uint16_t long_copy(uint64_t *word, const void *data, unsigned int n,
						    uint64_t last)
{
	memcpy(word + 1, data, n * sizeof(*word));
	word[n + 1] = last;
	return avx512_words(word, n + 2);
}

AVX512_TARGET static uint16_t avx512_copy(uint64_t *word, const void *data, unsigned int n, uint64_t last)
{
	const uint64_t *k = factor + FOLD - 2 - n;
	__m128i ends;

	if (__builtin_expect(n > FOLD - 2, 0))
		return long_copy(word, data, n, last);
	ends = _mm_xor_si128(mf_crc16_multiply_one(word[0] ^ MF_CRC16_SEED_AT_FIRST, k),
			     mf_crc16_multiply_one(last, &factor[FOLD - 1]));
	return remainder_of(add_words(_mm512_zextsi128_si512(ends), data, n, k + 1, word + 1));
}

static const struct mf_crc16_ops avx512 = {
	.name = "avx512",
	.simd_bits = 512,
	.words = avx512_words,
	.one = mf_crc16_clmul_one,
	.two = mf_crc16_clmul_two,
	.copy = avx512_copy,
};

/** Ice Lake's and later: those before pay for 512 bits with their frequency. */
const struct mf_crc16_ops *mf_crc16_avx512(void)
{
	bool has = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
		   __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("vpclmulqdq") &&
		   __builtin_cpu_supports("bmi2");

	return has && mf_crc16_clmul() ? &avx512 : NULL;
}

#else

const struct mf_crc16_ops *mf_crc16_avx512(void)
{
	return NULL;
}

#endif
