/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The frame check sequence, IEEE 802.3 clause 3.2.9, by tables, eight octets a step.
 *
 * Bits are taken in the order of the wire, so a remainder is kept reflected: bit 31 is x^0.
 */
#include <assert.h>
#include <string.h>

#include "base/mf_crc_row.h"
#include "pcs/mf_frame.h"
#include "pcs/pcs_variants.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "octets are loaded as words");

/** The polynomial without x^32, reflected. */
#define POLY 0xedb88320U

/* Powers of x modulo the polynomial, each from the one before. */
#define X(n, before) X##n = (X##before >> 1) ^ (X##before & 1 ? POLY : 0)

/* clang-format off */
enum {
	X31 = 1U,
	X(32, 31), X(33, 32), X(34, 33), X(35, 34), X(36, 35), X(37, 36), X(38, 37), X(39, 38),
	X(40, 39), X(41, 40), X(42, 41), X(43, 42), X(44, 43), X(45, 44), X(46, 45), X(47, 46),
	X(48, 47), X(49, 48), X(50, 49), X(51, 50), X(52, 51), X(53, 52), X(54, 53), X(55, 54),
	X(56, 55), X(57, 56), X(58, 57), X(59, 58), X(60, 59), X(61, 60), X(62, 61), X(63, 62),
	X(64, 63), X(65, 64), X(66, 65), X(67, 66), X(68, 67), X(69, 68), X(70, 69), X(71, 70),
	X(72, 71), X(73, 72), X(74, 73), X(75, 74), X(76, 75), X(77, 76), X(78, 77), X(79, 78),
	X(80, 79), X(81, 80), X(82, 81), X(83, 82), X(84, 83), X(85, 84), X(86, 85), X(87, 86),
	X(88, 87), X(89, 88), X(90, 89), X(91, 90), X(92, 91), X(93, 92), X(94, 93), X(95, 94),
};
/* clang-format on */

/** Row k: an octet that has k + 4 octets behind it, modulo the polynomial. */
static const uint32_t row[8][256] = {
	MF_CRC_ROW(X39, X38, X37, X36, X35, X34, X33, X32),
	MF_CRC_ROW(X47, X46, X45, X44, X43, X42, X41, X40),
	MF_CRC_ROW(X55, X54, X53, X52, X51, X50, X49, X48),
	MF_CRC_ROW(X63, X62, X61, X60, X59, X58, X57, X56),
	MF_CRC_ROW(X71, X70, X69, X68, X67, X66, X65, X64),
	MF_CRC_ROW(X79, X78, X77, X76, X75, X74, X73, X72),
	MF_CRC_ROW(X87, X86, X85, X84, X83, X82, X81, X80),
	MF_CRC_ROW(X95, X94, X93, X92, X91, X90, X89, X88),
};

static uint32_t step_eight(uint32_t state, const uint8_t *data)
{
	uint64_t w;

	memcpy(&w, data, 8);
	w ^= state;
	return row[7][w & 0xff] ^ row[6][w >> 8 & 0xff] ^ row[5][w >> 16 & 0xff] ^ row[4][w >> 24 & 0xff] ^
	       row[3][w >> 32 & 0xff] ^ row[2][w >> 40 & 0xff] ^ row[1][w >> 48 & 0xff] ^ row[0][w >> 56];
}

uint32_t pcs_fcs_scalar(const void *data, size_t len)
{
	const uint8_t *octet = data;
	uint32_t state = UINT32_MAX;

	for (; len >= 8; len -= 8, octet += 8)
		state = step_eight(state, octet);
	while (len--)
		state = state >> 8 ^ row[0][(state ^ *octet++) & 0xff];
	return ~state;
}

uint32_t mf_fcs(const void *data, size_t len)
{
	return mf_pcs_ops->fcs(data, len);
}
