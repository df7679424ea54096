/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What Fastpass has on the wire: UDP in IPv4 in Ethernet. Data frames carry a segment of mf_remote.h; control
 * frames the header below and records. With one record they are frames of the smallest size.
 */
#ifndef FASTPASS_WIRE_H
#define FASTPASS_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "net/mf_packet.h"

#define FASTPASS_HEADERS 42 /* Ethernet, IPv4, UDP */
#define FASTPASS_OVERHEAD 28 /* what of it is in the IP packet */
#define FASTPASS_BATCH_MAX 64

enum fastpass_port { FASTPASS_DATA = 0xfa57, FASTPASS_CONTROL = 0xfa58 };
enum fastpass_class { FASTPASS_CLASS_DATA = 0, FASTPASS_CLASS_CONTROL = 6 };

enum fastpass_kind { FASTPASS_REQUEST = 1, FASTPASS_ALLOCATION };

/** Behind the UDP header; numbers are big-endian. */
struct fastpass_control {
	uint8_t kind; /**< enum fastpass_kind */
	uint8_t records;
	uint16_t sequence; /**< of this frame, among those of its kind between the two */
	/**
	 * REQUEST: number of the latest allocation frame that has come. ALLOCATION: of the first request
	 * frame that has not.
	 */
	uint16_t ack;
	/** REQUEST: which of the 32 allocation frames before that have come. ALLOCATION: the first slot. */
	uint32_t word;
} __attribute__((packed));
static_assert(sizeof(struct fastpass_control) == 10, "on the wire");

/** Of a REQUEST: all that was ever asked for towards a node, modulo 2^32. */
struct fastpass_demand {
	uint16_t node;
	uint32_t slots;
} __attribute__((packed));

/** Of an ALLOCATION: a slot, counted from the first, is for a node. */
struct fastpass_slot {
	uint16_t node;
	uint16_t offset;
} __attribute__((packed));

/** A control frame, looked at. */
struct fastpass_frame {
	uint16_t src;
	enum fastpass_port port;
	const uint8_t *payload;
	uint16_t len;
};

/**
 * Headers in front of a payload that is there already.
 * @return octets of the frame, padding not included
 */
uint16_t fastpass_seal(uint8_t *frame, uint16_t src, uint16_t dst, enum fastpass_class class,
		       enum fastpass_port port, uint16_t octets);

enum fastpass_found { FASTPASS_NOT, FASTPASS_BAD, FASTPASS_FOUND };
/** Is it one of Fastpass, sound, and for node? */
enum fastpass_found fastpass_parse(const uint8_t *frame, uint16_t len, uint16_t node,
				   struct fastpass_frame *out);

#endif
