/* SPDX-License-Identifier: BSD-3-Clause */
#include <netinet/in.h>

#include <rte_udp.h>

#include "systems/fastpass/fastpass_wire.h"

#define GOOD 0xffff /* over what has its checksum: all ones */

/** The checksum over pseudo-header, header and payload (RFC 768). */
static uint16_t checksum(const uint8_t *frame)
{
	struct rte_ipv4_hdr ip;

	memcpy(&ip, frame + MF_PACKET_IP, sizeof(ip));
	return rte_ipv4_udptcp_cksum(&ip, frame + MF_PACKET_L4);
}

uint16_t fastpass_seal(uint8_t *frame, uint16_t src, uint16_t dst, enum fastpass_class class,
		       enum fastpass_port port, uint16_t octets)
{
	struct rte_udp_hdr udp = {.src_port = rte_cpu_to_be_16((uint16_t)port),
				  .dst_port = rte_cpu_to_be_16((uint16_t)port),
				  .dgram_len = rte_cpu_to_be_16((uint16_t)(sizeof(udp) + octets))};

	mf_packet_ipv4(frame, src, dst, IPPROTO_UDP, class, MF_ECN_NOT, (uint16_t)(sizeof(udp) + octets));
	memcpy(frame + MF_PACKET_L4, &udp, sizeof(udp));
	udp.dgram_cksum = checksum(frame);
	memcpy(frame + MF_PACKET_L4, &udp, sizeof(udp));
	return (uint16_t)(FASTPASS_HEADERS + octets);
}

enum fastpass_found fastpass_parse(const uint8_t *frame, uint16_t len, uint16_t node,
				   struct fastpass_frame *out)
{
	struct rte_udp_hdr udp;
	struct mf_packet p;
	uint16_t port;

	if (!mf_packet_parse(frame, len, &p) || p.protocol != IPPROTO_UDP || p.len < sizeof(udp))
		return FASTPASS_NOT;
	memcpy(&udp, p.l4, sizeof(udp));
	port = rte_be_to_cpu_16(udp.dst_port);
	if (port != FASTPASS_DATA && port != FASTPASS_CONTROL)
		return FASTPASS_NOT;
	if (p.dst != node || rte_be_to_cpu_16(udp.dgram_len) != p.len || checksum(frame) != GOOD)
		return FASTPASS_BAD;
	*out = (struct fastpass_frame){.src = p.src,
				       .port = port,
				       .payload = p.l4 + sizeof(udp),
				       .len = (uint16_t)(p.len - sizeof(udp))};
	return FASTPASS_FOUND;
}
