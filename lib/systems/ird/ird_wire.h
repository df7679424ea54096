/* SPDX-License-Identifier: BSD-3-Clause */
/* IRD on the wire: UDP in IPv4 in Ethernet, the header below, and of DATA a segment of mf_remote.h. */
#ifndef IRD_WIRE_H
#define IRD_WIRE_H

#include "net/mf_packet.h"

#define IRD_HEADERS 58 /* Ethernet, IPv4, UDP, and the header below */

enum ird_kind { IRD_DATA = 1, IRD_CREDIT, IRD_ACK };
enum ird_class { IRD_CLASS_DATA = 0, IRD_CLASS_CONTROL = 7 };

/** Behind the UDP header; big-endian there. */
struct ird_header {
	uint8_t kind; /**< enum ird_kind */
	uint8_t reserved;
	uint16_t generation; /**< of the demand */
	uint32_t number; /**< of the message at its sender */
	uint32_t offset; /**< CREDIT: what it is for */
	uint32_t octets; /**< DATA without a demand: 0 */
};
static_assert(sizeof(struct ird_header) == 16, "on the wire");

/** A frame, looked at. */
struct ird_frame {
	struct ird_header h;
	uint16_t src, dst;
	const uint8_t *segment;
	uint32_t len; /**< octets from there on */
};

/** Headers in front of a segment that is there already. @return octets of the frame */
uint16_t ird_put_headers(uint8_t *frame, uint16_t src, uint16_t dst, enum ird_class class,
			 const struct ird_header *h, uint32_t segment);
/** @return false: it is none of IRD's */
bool ird_parse(const uint8_t *frame, uint16_t len, struct ird_frame *out);

#endif
