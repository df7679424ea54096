/* SPDX-License-Identifier: BSD-3-Clause */
/* The frame check sequence, 16 octets a vector and four of them at a time: see fcs_fold.h. */
#include "pcs/fcs_fold.h"
#include "pcs/pcs_variants.h"

#define OCTETS 16

/* For a vector that n bits are behind. */
#define K(n) _mm_set_epi64x(FCS_FOLD_##n)

static inline __m128i load(const uint8_t *data)
{
	return _mm_loadu_si128((const __m128i_u *)data);
}

static inline __m128i fold(__m128i x, __m128i k, __m128i onto)
{
	__m128i sum = _mm_xor_si128(_mm_clmulepi64_si128(x, k, 0x00), _mm_clmulepi64_si128(x, k, 0x11));

	return _mm_xor_si128(sum, onto);
}

/** Octets n (0..16) places up; those that leave are what shift_down() by OCTETS - n keeps. */
static inline __m128i shift_up(__m128i x, unsigned int n)
{
	static const int8_t index[2 * OCTETS] = {
		-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
		0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
	};

	return _mm_shuffle_epi8(x, load((const uint8_t *)index + OCTETS - n));
}

/** Octets n (0..16) places down. */
static inline __m128i shift_down(__m128i x, unsigned int n)
{
	static const int8_t index[2 * OCTETS] = {
		0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
		-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
	};

	return _mm_shuffle_epi8(x, load((const uint8_t *)index + n));
}

/** Four vectors at a time as long as there are as many. @return what they and first are worth behind */
static inline __m128i fold_by_four(__m128i first, const uint8_t **data, size_t *len)
{
	__m128i a = first, b = load(*data), c = load(*data + OCTETS), d = load(*data + 2 * OCTETS);

	for (*data += 3 * OCTETS, *len -= 3 * OCTETS; *len >= 4 * OCTETS;
	     *data += 4 * OCTETS, *len -= 4 * OCTETS) {
		a = fold(a, K(512), load(*data));
		b = fold(b, K(512), load(*data + OCTETS));
		c = fold(c, K(512), load(*data + 2 * OCTETS));
		d = fold(d, K(512), load(*data + 3 * OCTETS));
	}
	return fold(a, K(384), fold(b, K(256), fold(c, K(128), d)));
}

/** Octets 0..3 are taken inverted: behind the pad they may reach into the second vector. */
uint32_t pcs_fcs_clmul(const void *frame, size_t len)
{
	const __m128i ones = _mm_set_epi32(0, 0, 0, -1);
	unsigned int pad = (unsigned int)-len % OCTETS;
	const uint8_t *data = frame;
	__m128i x;

	if (len < 2 * OCTETS)
		return pcs_fcs_scalar(frame, len);
	x = shift_up(_mm_xor_si128(load(data), ones), pad);
	data += OCTETS - pad;
	x = fold(x, K(128), _mm_xor_si128(load(data), shift_down(ones, OCTETS - pad)));
	data += OCTETS;
	len = len + pad - 2 * OCTETS;
	if (len >= 3 * OCTETS)
		x = fold_by_four(x, &data, &len);
	for (; len > 0; len -= OCTETS, data += OCTETS)
		x = fold(x, K(128), load(data));
	return fcs_of(x);
}
