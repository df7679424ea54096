/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets of RoCEv2 (InfiniBand Architecture Specification volume 1, release 1.2.1, chapter 9, and its annex
 * A17 for UDP/IP):
 *
 *      Ethernet 14, IPv4 20, UDP 8, BTH 12, extended headers, payload padded to 4, ICRC 4 (and the FCS)
 */
#ifndef ROCE_WIRE_H
#define ROCE_WIRE_H

#include <assert.h>

#include "net/mf_packet.h"

#define ROCE_PORT 4791
/** Source ports, which tell flows apart for those who spread them (A17.4.5.1): 49152 and more. */
#define ROCE_PORT_SOURCE 0xc000
#define ROCE_BTH 42 /**< where it is in a frame */
#define ROCE_HEADERS 54 /**< up to the end of the BTH */
#define ROCE_ICRC 4
#define ROCE_PKEY 0xffff /**< the default partition; bit 15: full membership */
/**
 * Partitions of requests, where processes play the nodes: each incarnation of a node has one of these. A
 * standard NIC's would be told which one when the connection is set up, which is left out here.
 */
#define ROCE_INCARNATIONS 0x7ffe
#define ROCE_CNP_PADDING 16
#define ROCE_SEQUENCE 0xffffff /**< PSN and MSN have 24 bits */
#define ROCE_CREDITS_NONE 0x1f /**< of an AETH: no end-to-end credits */

enum roce_opcode {
	ROCE_WRITE_FIRST = 0x06,
	ROCE_WRITE_MIDDLE = 0x07,
	ROCE_WRITE_LAST = 0x08,
	ROCE_WRITE_ONLY = 0x0a,
	ROCE_READ_REQUEST = 0x0c,
	ROCE_READ_FIRST = 0x0d,
	ROCE_READ_MIDDLE = 0x0e,
	ROCE_READ_LAST = 0x0f,
	ROCE_READ_ONLY = 0x10,
	ROCE_ACKNOWLEDGE = 0x11,
	ROCE_ATOMIC_ACKNOWLEDGE = 0x12,
	ROCE_COMPARE_SWAP = 0x13,
	ROCE_FETCH_ADD = 0x14,
	ROCE_CNP = 0x81, /**< congestion notification: A17.9.3 */
	/* Of the manufacturer (9.2.1: 0xc0 to 0xff), with an AtomicETH whose swap field is the operand: */
	ROCE_SWAP = 0xd5,
	ROCE_FETCH_OR = 0xd6,
	ROCE_FETCH_AND = 0xd7,
};

/** Syndrome of an AETH (9.7.5.1): what kind in bits 5 and 6, a code in the others. */
enum roce_syndrome {
	ROCE_ACK = ROCE_CREDITS_NONE,
	ROCE_NAK_SEQUENCE = 0x60,
	ROCE_NAK_INVALID = 0x61,
	ROCE_NAK_ACCESS = 0x62,
	ROCE_NAK_OPERATIONAL = 0x63,
};

/** All are big-endian and at no multiple of anything. */
struct roce_bth {
	uint8_t opcode;
	uint8_t flags; /**< solicited, migration, 2 bits of pad count, 4 of version */
	rte_be16_t pkey;
	rte_be32_t qp; /**< FECN, BECN, 6 reserved, 24 bits of destination QP */
	rte_be32_t psn; /**< acknowledge, 7 reserved, 24 bits */
} __attribute__((packed));
static_assert(sizeof(struct roce_bth) == 12, "on the wire");

struct roce_reth {
	rte_be64_t addr;
	rte_be32_t key, len;
} __attribute__((packed));
static_assert(sizeof(struct roce_reth) == 16, "on the wire");

struct roce_atomic_eth {
	rte_be64_t addr;
	rte_be32_t key;
	rte_be64_t swap, compare; /**< swap: or what is added */
} __attribute__((packed));
static_assert(sizeof(struct roce_atomic_eth) == 28, "on the wire");

#define ROCE_AETH 4
#define ROCE_ATOMIC_ACK 8

/** What a packet says, but for its payload. */
struct roce_packet {
	uint8_t opcode, syndrome;
	uint8_t class; /**< of traffic */
	uint8_t ecn; /**< enum mf_ecn */
	bool ack; /**< asks for an acknowledgement */
	uint16_t incarnation; /**< of the requester: 1..ROCE_INCARNATIONS; 0: it has none, or a response */
	uint16_t src, dst; /**< nodes */
	uint16_t len; /**< octets of data, without padding */
	uint32_t qp, psn, msn;
	uint32_t key, octets; /**< RETH; octets: of the whole message */
	uint64_t addr, swap, compare; /**< RETH, AtomicETH; swap: the result in an AtomicAckETH, too */
	const uint8_t *data;
};

/** Octets of extended headers. -1: not an opcode of ours. */
int roce_extended(uint8_t opcode);

/** Whether a packet is a response: goes to the requester. */
static inline bool roce_is_response(uint8_t opcode)
{
	return opcode >= ROCE_READ_FIRST && opcode <= ROCE_ATOMIC_ACKNOWLEDGE;
}

static inline bool roce_is_atomic(uint8_t opcode)
{
	return opcode == ROCE_COMPARE_SWAP || opcode == ROCE_FETCH_ADD ||
	       (opcode >= ROCE_SWAP && opcode <= ROCE_FETCH_AND);
}

static inline bool roce_is_write(uint8_t opcode)
{
	return opcode >= ROCE_WRITE_FIRST && opcode <= ROCE_WRITE_ONLY && opcode != 0x09;
}

/** Whether it carries data of a read or a write: those are what congests. */
static inline bool roce_is_data(uint8_t opcode)
{
	return roce_is_write(opcode) || (opcode >= ROCE_READ_FIRST && opcode <= ROCE_READ_ONLY);
}

/** Octets of a frame with so much data, without FCS. */
static inline uint32_t roce_frame_size(uint8_t opcode, uint32_t data)
{
	return ROCE_HEADERS + (uint32_t)roce_extended(opcode) + (data + 3) / 4 * 4 + ROCE_ICRC;
}

/** Writes a frame. @param p  its data are copied @return its octets */
uint16_t roce_put(uint8_t *frame, const struct roce_packet *p);

/**
 * Reads one.
 * @param frame  changed for a moment, and left as it was
 * @return 0; -ENOMSG: not RoCEv2; -EINVAL: damaged, or of an unknown kind; -EBADMSG: its ICRC is wrong
 */
int roce_get(uint8_t *frame, uint16_t len, struct roce_packet *p);

/**
 * The invariant CRC (A17.3.3, 7.8.1): over the packet with what changes on the way taken as ones, behind
 * eight octets of ones in the place of a local route header. Little-endian on the wire.
 * @param frame  changed for a moment
 * @param len    up to the ICRC
 */
uint32_t roce_icrc(uint8_t *frame, uint16_t len);

#endif
