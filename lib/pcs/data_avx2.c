/* SPDX-License-Identifier: BSD-3-Clause */
/* The data blocks of a frame, four words a step. */
#include <immintrin.h>
#include <string.h>

#include "pcs/mf_block.h"
#include "pcs/pcs_variants.h"

#define WORDS 4
#define SYNCS 32

void pcs_get_data_avx2(void *octets, const uint64_t *word, unsigned int n)
{
	const uint8_t *source = (const uint8_t *)word;
	uint8_t *target = octets;

	for (; n >= WORDS; n -= WORDS, source += WORDS * 8, target += WORDS * 8)
		_mm256_storeu_si256((__m256i_u *)target, _mm256_loadu_si256((const __m256i_u *)source));
	for (; n > 0; n--, source += 8, target += 8)
		memcpy(target, source, 8);
}

void pcs_put_data_avx2(uint64_t *word, uint8_t *sync, const void *octets, unsigned int n)
{
	const __m256i data = _mm256_set1_epi8(MF_SYNC_DATA);

	pcs_get_data_avx2(word, octets, n);
	for (; n >= SYNCS; n -= SYNCS, sync += SYNCS)
		_mm256_storeu_si256((__m256i_u *)sync, data);
	memset(sync, MF_SYNC_DATA, n);
}
