/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The headers that the frames of the rivals have in front of their payload, and what a switch reads of them.
 * Node n has the MAC address 02:00:00:00:nn:nn and the IP address 10.0.nn.nn.
 */
#ifndef MF_PACKET_H
#define MF_PACKET_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <rte_ether.h>
#include <rte_ip.h>

#define MF_PACKET_IP 14 /**< where the IPv4 header is */
#define MF_PACKET_L4 34 /**< and what is behind it */
#define MF_PACKET_NODES 65536

enum mf_ecn { MF_ECN_NOT, MF_ECN_ECT1, MF_ECN_ECT0, MF_ECN_CE };

/** Classes of traffic, 0..7: the class selector of the DSCP (RFC 2474), which PFC's priorities follow. */
#define MF_CLASSES 8

/** Destination, source, type: 14 octets. */
static inline void mf_packet_ether(uint8_t *frame, uint16_t src, uint16_t dst, uint16_t type)
{
	struct rte_ether_hdr h = {.dst_addr.addr_bytes = {2, 0, 0, 0, (uint8_t)(dst >> 8), (uint8_t)dst},
				  .src_addr.addr_bytes = {2, 0, 0, 0, (uint8_t)(src >> 8), (uint8_t)src},
				  .ether_type = rte_cpu_to_be_16(type)};

	memcpy(frame, &h, sizeof(h));
}

static inline uint32_t mf_packet_address(uint16_t node)
{
	return rte_cpu_to_be_32(UINT32_C(10) << 24 | node);
}

/**
 * Ethernet and IPv4 headers: 34 octets.
 * @param octets  behind the IPv4 header
 */
static inline void mf_packet_ipv4(uint8_t *frame, uint16_t src, uint16_t dst, uint8_t protocol, uint8_t class,
				  enum mf_ecn ecn, uint16_t octets)
{
	struct rte_ipv4_hdr h = {.version_ihl = RTE_IPV4_VHL_DEF,
				 .type_of_service = (uint8_t)(class << 5 | ecn),
				 .total_length = rte_cpu_to_be_16((uint16_t)(sizeof(h) + octets)),
				 .fragment_offset = rte_cpu_to_be_16(RTE_IPV4_HDR_DF_FLAG),
				 .time_to_live = 64,
				 .next_proto_id = protocol,
				 .src_addr = mf_packet_address(src),
				 .dst_addr = mf_packet_address(dst)};

	mf_packet_ether(frame, src, dst, RTE_ETHER_TYPE_IPV4);
	h.hdr_checksum = rte_ipv4_cksum(&h);
	memcpy(frame + MF_PACKET_IP, &h, sizeof(h));
}

/** An IPv4 packet, looked at. */
struct mf_packet {
	uint16_t src, dst; /**< nodes */
	uint16_t len; /**< octets behind the IPv4 header: padding of short frames left out */
	uint8_t protocol, class;
	uint8_t ecn; /**< enum mf_ecn */
	const uint8_t *l4;
};

/** @return false: it is not an IPv4 packet between nodes, or damaged */
static inline bool mf_packet_parse(const uint8_t *frame, uint16_t len, struct mf_packet *p)
{
	struct rte_ether_hdr e;
	struct rte_ipv4_hdr h;
	uint16_t total;

	if (len < MF_PACKET_L4)
		return false;
	memcpy(&e, frame, sizeof(e));
	memcpy(&h, frame + MF_PACKET_IP, sizeof(h));
	total = rte_be_to_cpu_16(h.total_length);
	if (e.ether_type != rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4) || h.version_ihl != RTE_IPV4_VHL_DEF ||
	    total < sizeof(h) || total > len - MF_PACKET_IP || rte_raw_cksum(&h, sizeof(h)) != 0xffff)
		return false;
	p->src = (uint16_t)rte_be_to_cpu_32(h.src_addr);
	p->dst = (uint16_t)rte_be_to_cpu_32(h.dst_addr);
	p->len = (uint16_t)(total - sizeof(h));
	p->protocol = h.next_proto_id;
	p->class = h.type_of_service >> 5;
	p->ecn = h.type_of_service & 3;
	p->l4 = frame + MF_PACKET_L4;
	return true;
}

/** Class of a frame: 0 where it is not IPv4. */
static inline uint8_t mf_packet_class(const uint8_t *frame, uint16_t len)
{
	uint16_t type = 0;

	if (len < MF_PACKET_L4)
		return 0;
	memcpy(&type, frame + 12, sizeof(type));
	return type == rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4) ? frame[MF_PACKET_IP + 1] >> 5 : 0;
}

/** Sets CE where the packet is ECN-capable (RFC 3168). @return whether it did */
static inline bool mf_packet_mark(uint8_t *frame, uint16_t len)
{
	struct rte_ipv4_hdr h;
	uint16_t type = 0;

	if (len < MF_PACKET_L4)
		return false;
	memcpy(&type, frame + 12, sizeof(type));
	memcpy(&h, frame + MF_PACKET_IP, sizeof(h));
	if (type != rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4) || (h.type_of_service & 3) == MF_ECN_NOT)
		return false;
	h.type_of_service |= MF_ECN_CE;
	h.hdr_checksum = 0;
	h.hdr_checksum = rte_ipv4_cksum(&h);
	memcpy(frame + MF_PACKET_IP, &h, sizeof(h));
	return true;
}

/** Node of a MAC address, or -1: a group, or nobody's. */
static inline int mf_packet_node(const uint8_t *mac)
{
	static const uint8_t prefix[4] = {2, 0, 0, 0};

	return memcmp(mac, prefix, sizeof(prefix)) == 0 ? mac[4] << 8 | mac[5] : -1;
}

#endif
