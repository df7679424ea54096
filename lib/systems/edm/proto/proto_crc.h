/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The CRC-16 of messages, and the CRC-32C of `check: 32`. For this room, its inline part and its tests.
 *
 * Bits are taken in the order of the wire (bit 0 of octet 0 first, the highest power), so a value is
 * kept reflected: bit 15 is x^0. The check is the last two octets of a message; the message with its
 * check, XORed with the seed, is then one polynomial, and crc16() is its remainder.
 */
#ifndef PROTO_CRC_H
#define PROTO_CRC_H

#include <stdbool.h>
#include <stdint.h>

/** x^16 + x^12 + x^5 + 1, reflected. Chosen by what it detects: docs/wire-format.md. */
#define MF_CRC16_POLY 0x8408

/**
 * The remainder before the first word: what starting CRC-16/X-25 with 0xffff amounts to, which is
 * 0xffff in the first two octets, 16 bits later.
 */
#define MF_CRC16_SEED 0xf321

/** The remainder of a message whose check is right (X-25 sends its complement). */
#define MF_CRC16_GOOD 0xffff

/** Powers of x modulo the polynomial, each from the one before. */
#define MF_CRC16_STEP(v) (((v) >> 1) ^ ((v)&1 ? MF_CRC16_POLY : 0))
#define MF_CRC16_X(n, before) MF_X##n = MF_CRC16_STEP(MF_X##before)

/* clang-format off */
enum {
	MF_X15 = 1,
	MF_CRC16_X(16, 15), MF_CRC16_X(17, 16), MF_CRC16_X(18, 17), MF_CRC16_X(19, 18),
	MF_CRC16_X(20, 19), MF_CRC16_X(21, 20), MF_CRC16_X(22, 21), MF_CRC16_X(23, 22),
	MF_CRC16_X(24, 23), MF_CRC16_X(25, 24), MF_CRC16_X(26, 25), MF_CRC16_X(27, 26),
	MF_CRC16_X(28, 27), MF_CRC16_X(29, 28), MF_CRC16_X(30, 29), MF_CRC16_X(31, 30),
	MF_CRC16_X(32, 31), MF_CRC16_X(33, 32), MF_CRC16_X(34, 33), MF_CRC16_X(35, 34),
	MF_CRC16_X(36, 35), MF_CRC16_X(37, 36), MF_CRC16_X(38, 37), MF_CRC16_X(39, 38),
	MF_CRC16_X(40, 39), MF_CRC16_X(41, 40), MF_CRC16_X(42, 41), MF_CRC16_X(43, 42),
	MF_CRC16_X(44, 43), MF_CRC16_X(45, 44), MF_CRC16_X(46, 45), MF_CRC16_X(47, 46),
	MF_CRC16_X(48, 47), MF_CRC16_X(49, 48), MF_CRC16_X(50, 49), MF_CRC16_X(51, 50),
	MF_CRC16_X(52, 51), MF_CRC16_X(53, 52), MF_CRC16_X(54, 53), MF_CRC16_X(55, 54),
	MF_CRC16_X(56, 55), MF_CRC16_X(57, 56), MF_CRC16_X(58, 57), MF_CRC16_X(59, 58),
	MF_CRC16_X(60, 59), MF_CRC16_X(61, 60), MF_CRC16_X(62, 61), MF_CRC16_X(63, 62),
	MF_CRC16_X(64, 63), MF_CRC16_X(65, 64), MF_CRC16_X(66, 65), MF_CRC16_X(67, 66),
	MF_CRC16_X(68, 67), MF_CRC16_X(69, 68), MF_CRC16_X(70, 69), MF_CRC16_X(71, 70),
	MF_CRC16_X(72, 71), MF_CRC16_X(73, 72), MF_CRC16_X(74, 73), MF_CRC16_X(75, 74),
	MF_CRC16_X(76, 75), MF_CRC16_X(77, 76), MF_CRC16_X(78, 77), MF_CRC16_X(79, 78),
};
/* clang-format on */

/** Row k: an octet that has k + 2 octets behind it, modulo the polynomial. */
extern const uint16_t mf_crc16_row[8][256];

/** The remainder after one more word: the one so far is like two octets in front of the word. */
static inline uint16_t mf_crc16_step(uint16_t crc, uint64_t word)
{
	const uint16_t(*row)[256] = mf_crc16_row;

	return row[7][crc & 0xff] ^ row[6][crc >> 8] ^ row[5][word & 0xff] ^ row[4][word >> 8 & 0xff] ^
	       row[3][word >> 16 & 0xff] ^ row[2][word >> 24 & 0xff] ^ row[1][word >> 32 & 0xff] ^
	       row[0][word >> 40 & 0xff] ^ (uint16_t)(word >> 48);
}

/** One way of doing it; all give the same. n: 1.. */
struct mf_crc16_ops {
	const char *name;
	uint16_t simd_bits; /**< of its widest vectors; 0: none */
	/** Remainder of n words. MF_CRC16_GOOD for a message with a right check. */
	uint16_t (*words)(const uint64_t *word, unsigned int n);
	uint16_t (*one)(uint64_t word);
	uint16_t (*two)(uint64_t first, uint64_t second);
	/** Copies n words of data behind word[0]. @return remainder of word[0], those, and last (not put) */
	uint16_t (*copy)(uint64_t *word, const void *data, unsigned int n, uint64_t last);
};

/** The way in use: by table until mf_proto_select(), its only writer. */
extern const struct mf_crc16_ops *mf_crc16_ops;

/** @return way i of those that this CPU can run, the narrowest first; NULL behind the last */
const struct mf_crc16_ops *mf_crc16_variant(unsigned int i);

static inline uint16_t mf_crc16(const uint64_t *word, unsigned int n)
{
	return mf_crc16_ops->words(word, n);
}

static inline uint16_t mf_crc16_one(uint64_t word)
{
	return mf_crc16_ops->one(word);
}

static inline uint16_t mf_crc16_two(uint64_t first, uint64_t second)
{
	return mf_crc16_ops->two(first, second);
}

static inline uint16_t mf_crc16_copy(uint64_t *word, const void *data, unsigned int n, uint64_t last)
{
	return mf_crc16_ops->copy(word, data, n, last);
}

/** CRC-32C of n words and then of one more. */
uint32_t mf_crc32c(const uint64_t *word, unsigned int n, uint64_t last);

#endif
