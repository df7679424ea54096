/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sync headers, an octet each in a span, two bits each in a link frame: the first one lowest.
 *
 * Eight at a time: a step brings neighbours together, then pairs, then fours.
 */
#ifndef LINK_SYNC_H
#define LINK_SYNC_H

#include <stdint.h>
#include <string.h>

/** Eight octets of 0..3 as 16 bits. */
static inline uint64_t sync_pack8(const uint8_t *sync)
{
	uint64_t x;

	memcpy(&x, sync, sizeof(x));
	x &= UINT64_C(0x0303030303030303);
	x = (x | x >> 6) & UINT64_C(0x000f000f000f000f);
	x = (x | x >> 12) & UINT64_C(0x000000ff000000ff);
	return (x | x >> 24) & 0xffff;
}

/** The way back; bits 16 and up are ignored. */
static inline void sync_unpack8(uint8_t *sync, uint64_t bits)
{
	uint64_t x = bits & 0xffff;

	x = (x | x << 24) & UINT64_C(0x000000ff000000ff);
	x = (x | x << 12) & UINT64_C(0x000f000f000f000f);
	x = (x | x << 6) & UINT64_C(0x0303030303030303);
	memcpy(sync, &x, sizeof(x));
}

/** n (1..32) of them; up to 7 octets behind are read, and ignored. */
static inline uint64_t sync_pack(const uint8_t *sync, unsigned int n)
{
	uint64_t bits = sync_pack8(sync);

	for (unsigned int i = 8; i < n; i += 8)
		bits |= sync_pack8(sync + i) << 2 * i;
	return bits & UINT64_MAX >> (64 - 2 * n);
}

/** n (1..32) of them; up to 7 octets behind are written, too. */
static inline void sync_unpack(uint8_t *sync, uint64_t bits, unsigned int n)
{
	for (unsigned int i = 0; i < n; i += 8)
		sync_unpack8(sync + i, bits >> 2 * i);
}

#endif
