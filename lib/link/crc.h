/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The CRC-32C (Castagnoli, RFC 3720 appendix B.4) of link frames. For lib/link and its tests.
 *
 * A CRC begins with ~0, goes on over any number of pieces, and its complement is what is sent.
 */
#ifndef LINK_CRC_H
#define LINK_CRC_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE4_2__
#include <nmmintrin.h>

static inline uint32_t link_crc_1(uint32_t crc, uint8_t octet)
{
	return _mm_crc32_u8(crc, octet);
}

static inline uint32_t link_crc_4(uint32_t crc, uint32_t four)
{
	return _mm_crc32_u32(crc, four);
}

static inline uint32_t link_crc_8(uint32_t crc, uint64_t eight)
{
	return (uint32_t)_mm_crc32_u64(crc, eight);
}
#else
#include <rte_hash_crc.h>

static inline uint32_t link_crc_1(uint32_t crc, uint8_t octet)
{
	return rte_hash_crc_1byte(octet, crc);
}

static inline uint32_t link_crc_4(uint32_t crc, uint32_t four)
{
	return rte_hash_crc_4byte(four, crc);
}

static inline uint32_t link_crc_8(uint32_t crc, uint64_t eight)
{
	return rte_hash_crc_8byte(eight, crc);
}
#endif

/** Over the next eight octets, of any alignment. */
static inline uint32_t link_crc_word(uint32_t crc, const uint8_t *data)
{
	uint64_t word;

	memcpy(&word, data, sizeof(word));
	return link_crc_8(crc, word);
}

/** Over octets of any number and alignment. */
uint32_t link_crc(uint32_t crc, const uint8_t *data, size_t len);

#endif
