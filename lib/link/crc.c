/* SPDX-License-Identifier: BSD-3-Clause */
#include "crc.h"

#include <string.h>

#ifdef __SSE4_2__
#include <nmmintrin.h>
#else
#include <rte_hash_crc.h>
#endif

static inline uint32_t crc_word(uint32_t crc, const uint8_t *data)
{
	uint64_t word;

	memcpy(&word, data, sizeof(word));
#ifdef __SSE4_2__
	return (uint32_t)_mm_crc32_u64(crc, word);
#else
	return rte_hash_crc_8byte(word, crc);
#endif
}

static inline uint32_t crc_octet(uint32_t crc, uint8_t octet)
{
#ifdef __SSE4_2__
	return _mm_crc32_u8(crc, octet);
#else
	return rte_hash_crc_1byte(octet, crc);
#endif
}

uint32_t link_crc(uint32_t crc, const uint8_t *data, size_t len)
{
	for (; len >= 8; data += 8, len -= 8)
		crc = crc_word(crc, data);
	for (; len > 0; data++, len--)
		crc = crc_octet(crc, *data);
	return crc;
}
