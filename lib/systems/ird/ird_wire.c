/* SPDX-License-Identifier: BSD-3-Clause */
#include <netinet/in.h>

#include <rte_byteorder.h>
#include <rte_udp.h>

#include "systems/ird/ird_wire.h"

#define UDP_PORT 49153 /* of the dynamic ports (RFC 6335) */
#define UDP_AT MF_PACKET_L4
#define IRD_AT (UDP_AT + (unsigned int)sizeof(struct rte_udp_hdr))
static_assert(IRD_HEADERS == IRD_AT + sizeof(struct ird_header), "all of them");

uint16_t ird_put_headers(uint8_t *frame, uint16_t src, uint16_t dst, enum ird_class class,
			 const struct ird_header *h, uint32_t segment)
{
	uint16_t octets = (uint16_t)(IRD_HEADERS - UDP_AT + segment);
	struct rte_udp_hdr udp = {.src_port = rte_cpu_to_be_16(UDP_PORT),
				  .dst_port = rte_cpu_to_be_16(UDP_PORT),
				  .dgram_len = rte_cpu_to_be_16(octets)}; /* no checksum: 0 */
	struct ird_header wire = {.kind = h->kind,
				  .generation = rte_cpu_to_be_16(h->generation),
				  .number = rte_cpu_to_be_32(h->number),
				  .offset = rte_cpu_to_be_32(h->offset),
				  .octets = rte_cpu_to_be_32(h->octets)};

	mf_packet_ipv4(frame, src, dst, IPPROTO_UDP, class, MF_ECN_NOT, octets);
	memcpy(frame + UDP_AT, &udp, sizeof(udp));
	memcpy(frame + IRD_AT, &wire, sizeof(wire));
	return (uint16_t)(IRD_HEADERS + segment);
}

bool ird_parse(const uint8_t *frame, uint16_t len, struct ird_frame *out)
{
	struct ird_header *h = &out->h;
	struct rte_udp_hdr udp;
	struct mf_packet p;

	if (!mf_packet_parse(frame, len, &p) || p.protocol != IPPROTO_UDP || p.len < sizeof(udp) + sizeof(*h))
		return false;
	memcpy(&udp, p.l4, sizeof(udp));
	if (udp.dst_port != rte_cpu_to_be_16(UDP_PORT))
		return false;
	memcpy(h, frame + IRD_AT, sizeof(*h));
	h->generation = rte_be_to_cpu_16(h->generation);
	h->number = rte_be_to_cpu_32(h->number);
	h->offset = rte_be_to_cpu_32(h->offset);
	h->octets = rte_be_to_cpu_32(h->octets);
	out->src = p.src;
	out->dst = p.dst;
	out->segment = frame + IRD_HEADERS;
	out->len = p.len - (uint32_t)(IRD_HEADERS - UDP_AT);
	return true;
}
