/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data blocks of a frame, eight words a step. A store across two cache lines costs several of one, so the
 * first vector and the last one, which are anywhere, overlap those between, each of which is a line.
 */
#include <immintrin.h>

#include "pcs/mf_block.h"
#include "pcs/pcs_variants.h"

#define OCTETS 64
#define WORDS (OCTETS / 8)

/** What is behind `to` in its line, of which there is an octet at least. */
static inline size_t in_line(const uint8_t *to)
{
	return OCTETS - (uintptr_t)to % OCTETS;
}

void pcs_get_data_avx512(void *octets, const uint64_t *word, unsigned int n)
{
	const uint8_t *from = (const uint8_t *)word;
	size_t len = n * sizeof(*word);
	uint8_t *to = octets;

	if (n < WORDS) {
		__mmask8 all = (__mmask8)((1U << n) - 1);

		_mm512_mask_storeu_epi64(to, all, _mm512_maskz_loadu_epi64(all, from));
		return;
	}
	_mm512_storeu_si512(to, _mm512_loadu_si512(from));
	for (size_t at = in_line(to); at + OCTETS < len; at += OCTETS)
		_mm512_store_si512(to + at, _mm512_loadu_si512(from + at));
	_mm512_storeu_si512(to + len - OCTETS, _mm512_loadu_si512(from + len - OCTETS));
}

void pcs_put_data_avx512(uint64_t *word, uint8_t *sync, const void *octets, unsigned int n)
{
	const __m512i data = _mm512_set1_epi8(MF_SYNC_DATA);

	pcs_get_data_avx512(word, octets, n);
	if (n < OCTETS) {
		_mm512_mask_storeu_epi8(sync, (UINT64_C(1) << n) - 1, data);
		return;
	}
	_mm512_storeu_si512(sync, data);
	for (size_t at = in_line(sync); at + OCTETS < n; at += OCTETS)
		_mm512_store_si512(sync + at, data);
	_mm512_storeu_si512(sync + n - OCTETS, data);
}
