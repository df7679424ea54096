/* SPDX-License-Identifier: BSD-3-Clause */
/* The data blocks of a frame, eight words a step. */
#include <immintrin.h>

#include "mf_block.h"
#include "pcs_variants.h"

#define WORDS 8
#define SYNCS 64

void pcs_get_data_avx512(void *octets, const uint64_t *word, unsigned int n)
{
	__mmask8 rest = (__mmask8)((1U << n % WORDS) - 1);
	uint8_t *target = octets;

	for (; n >= WORDS; n -= WORDS, word += WORDS, target += WORDS * 8)
		_mm512_storeu_si512(target, _mm512_loadu_si512(word));
	_mm512_mask_storeu_epi64(target, rest, _mm512_maskz_loadu_epi64(rest, word));
}

void pcs_put_data_avx512(uint64_t *word, uint8_t *sync, const void *octets, unsigned int n)
{
	const __m512i data = _mm512_set1_epi8(MF_SYNC_DATA);
	__mmask64 rest = (UINT64_C(1) << n % SYNCS) - 1;

	pcs_get_data_avx512(word, octets, n);
	for (; n >= SYNCS; n -= SYNCS, sync += SYNCS)
		_mm512_storeu_si512(sync, data);
	_mm512_mask_storeu_epi8(sync, rest, data);
}
