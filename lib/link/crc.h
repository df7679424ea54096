/* SPDX-License-Identifier: BSD-3-Clause */
/* The CRC-32C (Castagnoli, RFC 3720 appendix B.4) of link frames. For lib/link and its tests. */
#ifndef LINK_CRC_H
#define LINK_CRC_H

#include <stddef.h>
#include <stdint.h>

/**
 * Goes on with a CRC over more octets, of any alignment. It begins with ~0, and its complement is what is
 * sent.
 */
uint32_t link_crc(uint32_t crc, const uint8_t *data, size_t len);

#endif
