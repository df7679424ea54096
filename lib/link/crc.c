/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The instruction takes eight octets a cycle, but has its result after three: so long pieces are taken by
 * three chains, whose results are put together afterwards. What a chain is worth once PIECE more octets have
 * passed is a sum over the bits of its result, since a CRC is linear: four bits at a time, by table.
 */
#include "link/crc.h"

#define PIECE 464 /* octets of a chain: three rounds are a frame of 4 KiB, one is a frame of 1,500 octets */

/* All sums of these four. */
#define NIBBLE(a, b, c, d)                                                                                \
	{                                                                                                 \
		0, a, b, a ^ b, c, a ^ c, b ^ c, a ^ b ^ c, d, a ^ d, b ^ d, a ^ b ^ d, c ^ d, a ^ c ^ d, \
			b ^ c ^ d, a ^ b ^ c ^ d                                                          \
	}

/* What is left of each bit behind PIECE octets of zeros. */
static const uint32_t behind_piece[8][16] = {
	NIBBLE(0x2cff42cf, 0x59fe859e, 0xb3fd0b3c, 0x62166089),
	NIBBLE(0xc42cc112, 0x8db5f4d5, 0x1e879f5b, 0x3d0f3eb6),
	NIBBLE(0x7a1e7d6c, 0xf43cfad8, 0xed958341, 0xdec77073),
	NIBBLE(0xb8629617, 0x75295adf, 0xea52b5be, 0xd1491d8d),
	NIBBLE(0xa77e4deb, 0x4b10ed27, 0x9621da4e, 0x29afc26d),
	NIBBLE(0x535f84da, 0xa6bf09b4, 0x48926599, 0x9124cb32),
	NIBBLE(0x27a5e095, 0x4f4bc12a, 0x9e978254, 0x38c37259),
	NIBBLE(0x7186e4b2, 0xe30dc964, 0xc3f7e439, 0x8203be83),
};

static uint32_t shift(uint32_t crc)
{
	uint32_t sum = 0;

	for (unsigned int i = 0; i < 8; i++)
		sum ^= behind_piece[i][crc >> 4 * i & 15];
	return sum;
}

static uint32_t three_pieces(uint32_t a, const uint8_t *data)
{
	uint32_t b = 0, c = 0;

	for (const uint8_t *end = data + PIECE; data < end; data += 8) {
		a = link_crc_word(a, data);
		b = link_crc_word(b, data + PIECE);
		c = link_crc_word(c, data + 2 * PIECE);
	}
	return shift(shift(a) ^ b) ^ c;
}

uint32_t link_crc(uint32_t crc, const uint8_t *data, size_t len)
{
	for (; len >= 3 * PIECE; data += 3 * PIECE, len -= 3 * PIECE)
		crc = three_pieces(crc, data);
	for (; len >= 8; data += 8, len -= 8)
		crc = link_crc_word(crc, data);
	for (; len > 0; data++, len--)
		crc = link_crc_1(crc, *data);
	return crc;
}
