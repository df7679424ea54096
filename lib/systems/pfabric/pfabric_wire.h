/* SPDX-License-Identifier: BSD-3-Clause */
/* What pFabric's packets have behind the IPv4 header; the switch reads the priority and the flow. */
#ifndef PFABRIC_WIRE_H
#define PFABRIC_WIRE_H

#include <assert.h>

#include "base/mf_time.h"
#include "net/mf_packet.h"

#define MF_PFABRIC_PROTOCOL 253 /* for experiments: RFC 3692 */
#define MF_PFABRIC_HEADER 24
#define MF_PFABRIC_HEADERS (MF_PACKET_L4 + MF_PFABRIC_HEADER)
#define MF_PFABRIC_MTU 1500

enum mf_pfabric_kind { MF_PFABRIC_DATA = 1, MF_PFABRIC_ACK, MF_PFABRIC_PROBE, MF_PFABRIC_PROBE_ACK };

/** Numbers are big-endian. */
struct mf_pfabric_header {
	uint8_t kind; /**< enum mf_pfabric_kind */
	uint8_t reserved;
	uint16_t checksum; /**< as TCP's: of the pseudo header, this header and the data */
	uint32_t remaining; /**< priority: octets that are not acknowledged; the fewest go first */
	uint32_t flow; /**< number of the message among those of its sender to its receiver */
	uint32_t slot; /**< the sender's own; given back by acknowledgements */
	uint32_t segment; /**< which one of the message; ACK: that has come */
	uint32_t segments; /**< of the message */
};
static_assert(sizeof(struct mf_pfabric_header) == MF_PFABRIC_HEADER, "on the wire");

/** @return false: it is not one of pFabric's */
static inline bool mf_pfabric_peek(const uint8_t *frame, uint16_t len, struct mf_pfabric_header *h)
{
	if (len < MF_PFABRIC_HEADERS || frame[12] != RTE_ETHER_TYPE_IPV4 >> 8 ||
	    frame[13] != (RTE_ETHER_TYPE_IPV4 & 0xff) || frame[MF_PACKET_IP + 9] != MF_PFABRIC_PROTOCOL)
		return false;
	memcpy(h, frame + MF_PACKET_L4, sizeof(*h));
	return true;
}

#define MF_PFABRIC_FULL_BLOCKS ((8 + MF_PACKET_IP + MF_PFABRIC_MTU + 4 + 12) / 8)
#define MF_PFABRIC_SMALL_BLOCKS 10

/**
 * Time of a full packet to its receiver and of its acknowledgement back, nobody else there.
 * @param way  from MAC to MAC without the packet itself: links and switch
 * @param end  what a stack takes at one end in one direction, MAC included
 */
static inline mf_time mf_pfabric_rtt(mf_time way, mf_time end, uint32_t period)
{
	return 2 * way + 4 * end + 2 * (MF_PFABRIC_FULL_BLOCKS + MF_PFABRIC_SMALL_BLOCKS) * (mf_time)period;
}

#endif
