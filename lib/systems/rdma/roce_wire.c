/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include <rte_udp.h>

#include "pcs/mf_frame.h"
#include "systems/rdma/roce_wire.h"

#define FULL_MEMBER 0x8000 /* of a partition key */
#define UDP 8
#define LRH 8
#define MASKED (LRH + MF_PACKET_L4 - MF_PACKET_IP + UDP + sizeof(struct roce_bth))
#define VERSION 0x0f
#define PAD(flags) ((flags) >> 4 & 3)
#define BECN (UINT32_C(1) << 30)
#define ACK_REQUEST (UINT32_C(1) << 31)

int roce_extended(uint8_t opcode)
{
	switch (opcode) {
	case ROCE_WRITE_FIRST:
	case ROCE_WRITE_ONLY:
	case ROCE_READ_REQUEST:
		return sizeof(struct roce_reth);
	case ROCE_WRITE_MIDDLE:
	case ROCE_WRITE_LAST:
	case ROCE_READ_MIDDLE:
		return 0;
	case ROCE_READ_FIRST:
	case ROCE_READ_LAST:
	case ROCE_READ_ONLY:
	case ROCE_ACKNOWLEDGE:
		return ROCE_AETH;
	case ROCE_ATOMIC_ACKNOWLEDGE:
		return ROCE_AETH + ROCE_ATOMIC_ACK;
	case ROCE_COMPARE_SWAP:
	case ROCE_FETCH_ADD:
	case ROCE_SWAP:
	case ROCE_FETCH_OR:
	case ROCE_FETCH_AND:
		return sizeof(struct roce_atomic_eth);
	case ROCE_CNP:
		return ROCE_CNP_PADDING;
	default:
		return -1;
	}
}

uint32_t roce_icrc(uint8_t *frame, uint16_t len)
{
	uint8_t saved[MASKED], *from = frame + MF_PACKET_IP - LRH;
	uint32_t crc;

	memcpy(saved, from, MASKED);
	memset(from, 0xff, LRH);
	frame[MF_PACKET_IP + 1] = 0xff; /* type of service */
	frame[MF_PACKET_IP + 8] = 0xff; /* time to live */
	memset(frame + MF_PACKET_IP + 10, 0xff, 2); /* header checksum */
	memset(frame + MF_PACKET_L4 + 6, 0xff, 2); /* UDP checksum */
	frame[ROCE_BTH + 4] = 0xff; /* FECN, BECN, reserved */
	crc = mf_fcs(from, (size_t)(len - MF_PACKET_IP + LRH));
	memcpy(from, saved, MASKED);
	return crc;
}

/** @return octets written */
static size_t put_extended(uint8_t *to, const struct roce_packet *p)
{
	const struct roce_reth reth = {.addr = rte_cpu_to_be_64(p->addr),
				       .key = rte_cpu_to_be_32(p->key),
				       .len = rte_cpu_to_be_32(p->octets)};
	const struct roce_atomic_eth atomic = {.addr = rte_cpu_to_be_64(p->addr),
					       .key = rte_cpu_to_be_32(p->key),
					       .swap = rte_cpu_to_be_64(p->swap),
					       .compare = rte_cpu_to_be_64(p->compare)};
	const rte_be32_t aeth = rte_cpu_to_be_32((uint32_t)p->syndrome << 24 | (p->msn & ROCE_SEQUENCE));
	int n = roce_extended(p->opcode);

	switch (n) {
	case sizeof(reth): /* and ROCE_CNP_PADDING, which is as long */
		if (p->opcode == ROCE_CNP)
			memset(to, 0, ROCE_CNP_PADDING);
		else
			memcpy(to, &reth, sizeof(reth));
		break;
	case sizeof(atomic):
		memcpy(to, &atomic, sizeof(atomic));
		break;
	case ROCE_AETH + ROCE_ATOMIC_ACK:
		memcpy(to + ROCE_AETH, &atomic.swap, ROCE_ATOMIC_ACK);
		memcpy(to, &aeth, sizeof(aeth));
		break;
	case ROCE_AETH:
		memcpy(to, &aeth, sizeof(aeth));
		break;
	default:
		break;
	}
	return (size_t)n;
}

uint16_t roce_put(uint8_t *frame, const struct roce_packet *p)
{
	uint32_t len = roce_frame_size(p->opcode, p->len), pad = -(uint32_t)p->len & 3, crc;
	const struct roce_bth bth = {
		.opcode = p->opcode,
		.flags = (uint8_t)(pad << 4),
		.pkey = rte_cpu_to_be_16(p->incarnation != 0 ? FULL_MEMBER | p->incarnation : ROCE_PKEY),
		.qp = rte_cpu_to_be_32((p->qp & ROCE_SEQUENCE) | (p->opcode == ROCE_CNP ? BECN : 0)),
		.psn = rte_cpu_to_be_32((p->psn & ROCE_SEQUENCE) | (p->ack ? ACK_REQUEST : 0))};
	const struct rte_udp_hdr udp = {.src_port = rte_cpu_to_be_16(ROCE_PORT_SOURCE | (p->qp & 0x3fff)),
					.dst_port = rte_cpu_to_be_16(ROCE_PORT),
					.dgram_len = rte_cpu_to_be_16((uint16_t)(len - MF_PACKET_L4))};
	uint8_t *to = frame + ROCE_HEADERS;

	mf_packet_ipv4(frame, p->src, p->dst, IPPROTO_UDP, p->class, p->ecn, (uint16_t)(len - MF_PACKET_L4));
	memcpy(frame + MF_PACKET_L4, &udp, sizeof(udp));
	memcpy(frame + ROCE_BTH, &bth, sizeof(bth));
	to += put_extended(to, p);
	if (p->len != 0)
		memcpy(to, p->data, p->len);
	memset(to + p->len, 0, pad);
	crc = rte_cpu_to_le_32(roce_icrc(frame, (uint16_t)(len - ROCE_ICRC)));
	memcpy(frame + len - ROCE_ICRC, &crc, sizeof(crc));
	return (uint16_t)len;
}

static void get_extended(const uint8_t *from, int n, struct roce_packet *p)
{
	struct roce_atomic_eth atomic;
	struct roce_reth reth;
	rte_be32_t aeth;
	rte_be64_t value;

	switch (n) {
	case sizeof(reth):
		memcpy(&reth, from, sizeof(reth));
		p->addr = rte_be_to_cpu_64(reth.addr);
		p->key = rte_be_to_cpu_32(reth.key);
		p->octets = rte_be_to_cpu_32(reth.len);
		break;
	case sizeof(atomic):
		memcpy(&atomic, from, sizeof(atomic));
		p->addr = rte_be_to_cpu_64(atomic.addr);
		p->key = rte_be_to_cpu_32(atomic.key);
		p->swap = rte_be_to_cpu_64(atomic.swap);
		p->compare = rte_be_to_cpu_64(atomic.compare);
		break;
	case ROCE_AETH + ROCE_ATOMIC_ACK:
		memcpy(&value, from + ROCE_AETH, sizeof(value));
		p->swap = rte_be_to_cpu_64(value);
		__attribute__((fallthrough));
	case ROCE_AETH:
		memcpy(&aeth, from, sizeof(aeth));
		p->syndrome = (uint8_t)(rte_be_to_cpu_32(aeth) >> 24);
		p->msn = rte_be_to_cpu_32(aeth) & ROCE_SEQUENCE;
		break;
	default:
		break;
	}
}

/** @return -1: it is no partition of ours */
static int incarnation_of(uint16_t pkey)
{
	uint16_t incarnation = pkey & (uint16_t)~FULL_MEMBER;

	if (pkey == ROCE_PKEY)
		return 0;
	return (pkey & FULL_MEMBER) != 0 && incarnation != 0 ? incarnation : -1;
}

/** Headers of a frame whose lengths fit. @return 0 or -EINVAL */
static int get_headers(const uint8_t *frame, uint16_t l4, struct roce_packet *p)
{
	struct roce_bth bth;
	struct rte_udp_hdr udp;
	uint32_t rest;
	int extended, incarnation;

	memcpy(&udp, frame + MF_PACKET_L4, sizeof(udp));
	memcpy(&bth, frame + ROCE_BTH, sizeof(bth));
	extended = roce_extended(bth.opcode);
	incarnation = incarnation_of(rte_be_to_cpu_16(bth.pkey));
	rest = l4 - UDP - (uint32_t)sizeof(bth) - ROCE_ICRC;
	if (rte_be_to_cpu_16(udp.dgram_len) != l4 || extended < 0 || (uint32_t)extended > rest ||
	    (bth.flags & VERSION) != 0 || incarnation < 0)
		return -EINVAL;
	rest -= (uint32_t)extended;
	if (rest % 4 != 0 || rest < PAD(bth.flags) || (rest != 0) != roce_is_data(bth.opcode))
		return -EINVAL;
	p->opcode = bth.opcode;
	p->incarnation = (uint16_t)incarnation;
	p->ack = (rte_be_to_cpu_32(bth.psn) & ACK_REQUEST) != 0;
	p->qp = rte_be_to_cpu_32(bth.qp) & ROCE_SEQUENCE;
	p->psn = rte_be_to_cpu_32(bth.psn) & ROCE_SEQUENCE;
	p->len = (uint16_t)(rest - PAD(bth.flags));
	p->data = frame + ROCE_HEADERS + extended;
	get_extended(frame + ROCE_HEADERS, extended, p);
	return p->len != 0 || rest == 0 ? 0 : -EINVAL;
}

int roce_get(uint8_t *frame, uint16_t len, struct roce_packet *p)
{
	struct mf_packet ip;
	uint16_t end;
	uint32_t crc;

	*p = (struct roce_packet){0};
	if (!mf_packet_parse(frame, len, &ip))
		return len >= RTE_ETHER_HDR_LEN && frame[12] == 0x08 && frame[13] == 0 ? -EINVAL : -ENOMSG;
	if (ip.protocol != IPPROTO_UDP || ip.len < UDP || ip.l4[2] != ROCE_PORT >> 8 ||
	    ip.l4[3] != (ROCE_PORT & 0xff))
		return -ENOMSG;
	if (ip.len < UDP + sizeof(struct roce_bth) + ROCE_ICRC || get_headers(frame, ip.len, p) != 0)
		return -EINVAL;
	end = (uint16_t)(MF_PACKET_L4 + ip.len - ROCE_ICRC);
	memcpy(&crc, frame + end, sizeof(crc));
	if (rte_le_to_cpu_32(crc) != roce_icrc(frame, end))
		return -EBADMSG;
	p->src = ip.src;
	p->dst = ip.dst;
	p->class = ip.class;
	p->ecn = ip.ecn;
	return 0;
}
