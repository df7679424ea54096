/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The frame check sequence by carry-less multiplication: 128 bits that have n bits behind them are worth
 * their two halves times x^(n + 64) and x^n, modulo the polynomial. (Gopal et al., "Fast CRC computation for
 * generic polynomials using PCLMULQDQ".) Zeros in front change nothing, so that a frame is filled up there
 * to whole vectors; its first four octets are taken inverted, as the standard says.
 */
#ifndef FCS_FOLD_H
#define FCS_FOLD_H

#include <immintrin.h>
#include <stdint.h>

/*
 * For n bits behind, the arguments of _mm_set_epi64x(): x^(n - 32) for the upper half, which is last on the
 * wire, and x^(n + 32) for the lower. Reflected, and a bit up, since the product of two reflected numbers
 * stands a bit low.
 */
#define FCS_FOLD_128 0x0ccaa009e, 0x1751997d0
#define FCS_FOLD_256 0x15a546366, 0x0f1da05aa
#define FCS_FOLD_384 0x174359406, 0x03db1ecdc
#define FCS_FOLD_512 0x1c6e41596, 0x154442bd4
#define FCS_FOLD_1024 0x14a7fe880, 0x1e88ef372
#define FCS_FOLD_1536 0x12e958ac4, 0x1821d8bc0
#define FCS_FOLD_2048 0x1322d1430, 0x11542778a

/** x^64, and for Barrett's reduction the polynomial and x^64 divided by it. */
#define FCS_X64 0x163cd6124
#define FCS_POLY 0x1db710641
#define FCS_QUOTIENT 0x1f7011641

/** What 128 bits leave once 32 zeros are behind them: the check of a frame that ends in them. */
static inline uint32_t fcs_of(__m128i x)
{
	const __m128i by96_64 = _mm_set_epi64x(FCS_X64, 0x0ccaa009e);
	const __m128i barrett = _mm_set_epi64x(FCS_QUOTIENT, FCS_POLY);
	const __m128i low32 = _mm_set_epi32(0, 0, 0, -1);
	__m128i t;

	x = _mm_xor_si128(_mm_srli_si128(x, 8), _mm_clmulepi64_si128(x, by96_64, 0x00));
	t = _mm_clmulepi64_si128(_mm_and_si128(x, low32), by96_64, 0x10);
	x = _mm_xor_si128(_mm_srli_si128(x, 4), t);
	t = _mm_clmulepi64_si128(_mm_and_si128(x, low32), barrett, 0x10);
	t = _mm_clmulepi64_si128(_mm_and_si128(t, low32), barrett, 0x00);
	return ~(uint32_t)_mm_extract_epi32(_mm_xor_si128(x, t), 1);
}

#endif
