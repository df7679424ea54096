/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CRC-16 by carry-less multiplication: every word times its own power of x, all at once, added up; the
 * 79 bits that are left are divided by multiplication (Barrett). (Gopal et al., "Fast CRC computation for
 * generic polynomials using PCLMULQDQ", with a constant for each distance in place of a chain of folds.)
 *
 * Bit 63 of a word is x^0. The product of two words has 127 bits, and its bit 126 is x^0.
 *
 * What the ways of doing it share. Private to this room.
 */
#ifndef CRC16_CLMUL_H
#define CRC16_CLMUL_H

#include "systems/edm/proto/proto_crc.h"

/** The ways by multiplication; NULL where the CPU does not have the instructions. */
const struct mf_crc16_ops *mf_crc16_clmul(void);
const struct mf_crc16_ops *mf_crc16_avx512(void);

uint16_t mf_crc16_clmul_one(uint64_t word);
uint16_t mf_crc16_clmul_two(uint64_t first, uint64_t second);

/** Words that are added up at once; longer messages are folded onto the next so many. */
#define MF_CRC16_FOLD 32

/** At FOLD - 1 - d the factor of a word with d words behind it; then eight that count for nothing. */
extern const uint64_t mf_crc16_factor[MF_CRC16_FOLD + 8];

/** Factors of what is left so far, with FOLD words behind it. */
extern const uint64_t mf_crc16_refold[2];

/** The polynomial without x^16, and x^78 divided by it. */
extern const uint64_t mf_crc16_barrett[2];

/** What the seed is at the first word: proto_crc.h. */
#define MF_CRC16_SEED_AT_FIRST 0xffff

#ifdef __x86_64__

#include <immintrin.h>

/* The three-operand form saves a copy for each multiplication. */
#define CLMUL_TARGET __attribute__((target("pclmul,avx")))

CLMUL_TARGET static inline __m128i mf_crc16_multiply_two(__m128i words, __m128i k)
{
	return _mm_xor_si128(_mm_clmulepi64_si128(words, k, 0x00), _mm_clmulepi64_si128(words, k, 0x11));
}

CLMUL_TARGET static inline __m128i mf_crc16_multiply_one(uint64_t word, const uint64_t *k)
{
	return _mm_clmulepi64_si128(_mm_cvtsi64_si128((int64_t)word), _mm_loadl_epi64((const __m128i_u *)k),
				    0x00);
}

/* The quotient by the polynomial is exact but for powers that are no longer there. */
CLMUL_TARGET static inline uint16_t mf_crc16_remainder(__m128i sum)
{
	__m128i k = _mm_load_si128((const __m128i *)mf_crc16_barrett);
	__m128i quotient = _mm_clmulepi64_si128(_mm_srli_si128(sum, 6), k, 0x10);

	sum = _mm_xor_si128(sum, _mm_clmulepi64_si128(quotient, k, 0x00));
	return (uint16_t)((uint64_t)_mm_extract_epi64(sum, 1) >> 47);
}

#endif
#endif
