/* SPDX-License-Identifier: BSD-3-Clause */
/* The frame check sequence, 64 octets a vector and four of them at a time: see fcs_fold.h. */
#include "pcs/fcs_fold.h"
#include "pcs/pcs_variants.h"

#define OCTETS 64

/* For a vector that n bits are behind. */
#define K(n) _mm512_broadcast_i32x4(_mm_set_epi64x(FCS_FOLD_##n))

static inline __m512i xor3(__m512i a, __m512i b, __m512i c)
{
	return _mm512_ternarylogic_epi64(a, b, c, 0x96);
}

static inline __m512i fold(__m512i x, __m512i k, __m512i onto)
{
	return xor3(_mm512_clmulepi64_epi128(x, k, 0x00), _mm512_clmulepi64_epi128(x, k, 0x11), onto);
}

/** The octets that are there, behind a pad of zeros. */
static inline __m512i load_padded(const uint8_t *data, unsigned int pad)
{
	return _mm512_maskz_loadu_epi8(UINT64_MAX << pad, data - pad);
}

/** The first three quarters onto the fourth. */
static inline uint32_t fcs_of_vector(__m512i x)
{
	const __m512i k = _mm512_set_epi64(0, 0, FCS_FOLD_128, FCS_FOLD_256, FCS_FOLD_384);
	__m512i last = _mm512_maskz_mov_epi64(0xc0, x), sum = fold(x, k, last);
	__m256i half = _mm256_xor_si256(_mm512_castsi512_si256(sum), _mm512_extracti64x4_epi64(sum, 1));

	return fcs_of(_mm_xor_si128(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1)));
}

/** Four vectors at a time as long as there are as many; a is the first. @return what they are worth */
static inline __m512i fold_by_four(__m512i a, const uint8_t **data, size_t *len)
{
	const uint8_t *at = *data;
	__m512i b = _mm512_loadu_si512(at), c = _mm512_loadu_si512(at + OCTETS);
	__m512i d = _mm512_loadu_si512(at + 2 * OCTETS);
	size_t left = *len - 3 * OCTETS;

	for (at += 3 * OCTETS; left >= 4 * OCTETS; at += 4 * OCTETS, left -= 4 * OCTETS) {
		a = fold(a, K(2048), _mm512_loadu_si512(at));
		b = fold(b, K(2048), _mm512_loadu_si512(at + OCTETS));
		c = fold(c, K(2048), _mm512_loadu_si512(at + 2 * OCTETS));
		d = fold(d, K(2048), _mm512_loadu_si512(at + 3 * OCTETS));
	}
	*data = at;
	*len = left;
	return fold(a, K(1536), fold(b, K(1024), fold(c, K(512), d)));
}

/** Octets 0..3 are taken inverted: behind the pad they may reach into the second vector. */
uint32_t pcs_fcs_avx512(const void *frame, size_t len)
{
	const __m512i ones = _mm512_set1_epi64(-1);
	unsigned int pad = (unsigned int)-len % OCTETS;
	const uint8_t *data = frame;
	__m512i x;

	if (len < 4)
		return pcs_fcs_scalar(frame, len);
	x = _mm512_xor_si512(load_padded(data, pad), _mm512_maskz_mov_epi8(UINT64_C(0xf) << pad, ones));
	data += OCTETS - pad;
	len = len + pad - OCTETS;
	if (pad > OCTETS - 4) {
		__mmask64 rest = UINT64_C(0xf) >> (OCTETS - pad);

		x = fold(x, K(512),
			 _mm512_xor_si512(_mm512_loadu_si512(data), _mm512_maskz_mov_epi8(rest, ones)));
		data += OCTETS;
		len -= OCTETS;
	}
	if (len >= 3 * OCTETS)
		x = fold_by_four(x, &data, &len);
	for (; len > 0; len -= OCTETS, data += OCTETS)
		x = fold(x, K(512), _mm512_loadu_si512(data));
	return fcs_of_vector(x);
}
