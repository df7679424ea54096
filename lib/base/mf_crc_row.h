/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows of the tables of a CRC as constant expressions, from powers of x modulo its polynomial. Bits are taken
 * in the order of the wire, so bit 0 of an octet is the highest power.
 */
#ifndef MF_CRC_ROW_H
#define MF_CRC_ROW_H

#include <stdint.h>

#define MF_CRC_PICK(b, bit, p) ((b) >> (bit)&1 ? (uint32_t)(p) : 0)

/** An octet whose bit j stands for the power p##j: the sum of those that are set. */
#define MF_CRC_OCTET(b, p0, p1, p2, p3, p4, p5, p6, p7)                                                  \
	(MF_CRC_PICK(b, 0, p0) ^ MF_CRC_PICK(b, 1, p1) ^ MF_CRC_PICK(b, 2, p2) ^ MF_CRC_PICK(b, 3, p3) ^ \
	 MF_CRC_PICK(b, 4, p4) ^ MF_CRC_PICK(b, 5, p5) ^ MF_CRC_PICK(b, 6, p6) ^ MF_CRC_PICK(b, 7, p7))

#define MF_CRC_FOUR(b, ...)                                               \
	MF_CRC_OCTET(b, __VA_ARGS__), MF_CRC_OCTET((b) + 1, __VA_ARGS__), \
		MF_CRC_OCTET((b) + 2, __VA_ARGS__), MF_CRC_OCTET((b) + 3, __VA_ARGS__)
#define MF_CRC_SIXTEEN(b, ...)                                                                             \
	MF_CRC_FOUR(b, __VA_ARGS__), MF_CRC_FOUR((b) + 4, __VA_ARGS__), MF_CRC_FOUR((b) + 8, __VA_ARGS__), \
		MF_CRC_FOUR((b) + 12, __VA_ARGS__)
#define MF_CRC_SIXTY_FOUR(b, ...)                                              \
	MF_CRC_SIXTEEN(b, __VA_ARGS__), MF_CRC_SIXTEEN((b) + 16, __VA_ARGS__), \
		MF_CRC_SIXTEEN((b) + 32, __VA_ARGS__), MF_CRC_SIXTEEN((b) + 48, __VA_ARGS__)

/** All 256 octets; the powers are those of bits 0 to 7. */
#define MF_CRC_ROW(...)                                                                          \
	{                                                                                        \
		MF_CRC_SIXTY_FOUR(0, __VA_ARGS__), MF_CRC_SIXTY_FOUR(64, __VA_ARGS__),           \
			MF_CRC_SIXTY_FOUR(128, __VA_ARGS__), MF_CRC_SIXTY_FOUR(192, __VA_ARGS__) \
	}

#endif
