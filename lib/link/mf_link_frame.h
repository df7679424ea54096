/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Link frames: how blocks cross an Ethernet port (docs/wire-format.md, "Link frames").
 *
 * The structures are the wire's: little-endian, without alignment, each at its place in the frame. Nothing
 * here keeps state; what a frame means to a link is link.c's.
 */
#ifndef MF_LINK_FRAME_H
#define MF_LINK_FRAME_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pcs/mf_block.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "fields are kept as they are on the wire");

#define MF_LINK_VERSION 1
#define MF_LINK_ETHERTYPE 0x88b5 /**< IEEE Std 802, local experimental EtherType 1; the default */
#define MF_LINK_MAC 6

enum mf_link_type {
	MF_LINK_HELLO = 1,
	MF_LINK_DATA,
	MF_LINK_ACK,
	MF_LINK_NACK,
	MF_LINK_BYE,
	MF_LINK_REFUSE,
	MF_LINK_PROBE,
	MF_LINK_TYPES
};

enum {
	MF_LINK_FROM_SWITCH = 1 << 0, /**< sent by the switch's end of the link */
	MF_LINK_POLL = 1 << 1, /**< ACK: answer with an ACK at once */
};

struct mf_link_head {
	uint8_t dst[MF_LINK_MAC], src[MF_LINK_MAC];
	uint8_t ethertype[2]; /**< in network order */
	uint8_t version;
	uint8_t type; /**< enum mf_link_type */
	uint16_t link;
	uint16_t flags;
	uint32_t epoch; /**< tag of the connection: mf_link_tag(); HELLO and REFUSE: 0 */
	uint32_t seq; /**< DATA: its number; else of the first DATA frame not emitted yet */
	uint32_t ack; /**< all DATA frames before this number have come */
	uint32_t limit; /**< the first DATA frame for which there is no room */
	uint16_t blocks; /**< DATA, PROBE: 1..MF_SPAN_MAX; else 0 */
	uint16_t length; /**< octets of the body; what is behind it is padding */
	uint32_t crc; /**< CRC-32C of octets 14 to the end of the body, this field as 0 */
} __attribute__((packed));

static_assert(sizeof(struct mf_link_head) == 44, "link frame");
static_assert(offsetof(struct mf_link_head, version) == 14, "link frame");
static_assert(offsetof(struct mf_link_head, epoch) == 20, "link frame");
static_assert(offsetof(struct mf_link_head, crc) == 40, "link frame");

/** Octets of the body of n blocks: sync headers, two bits each in whole words of 32 blocks, and payloads. */
#define MF_LINK_SYNC_WORDS(n) (((n) + 31) / 32)
#define MF_LINK_BODY(n) (8 * (MF_LINK_SYNC_WORDS(n) + (n)))

/** The longest link frame. */
#define MF_LINK_FRAME_MAX (sizeof(struct mf_link_head) + MF_LINK_BODY(MF_SPAN_MAX))

/** The shortest MTU: it carries every control frame. */
#define MF_LINK_MTU_MIN 126

enum {
	MF_LINK_RETRANSMITS = 1 << 0, /**< feature: what is lost is sent again */
	MF_LINK_PROVES = 1 << 1, /**< feature: a PROBE of full size has to pass each way */
};

enum {
	MF_LINK_READY = 1 << 0, /**< state: all behind this end is connected */
	MF_LINK_DONE = 1 << 1, /**< state: this end's clients have finished */
	/* The other bits are the owners' of both ends. */
};

/** The fewest blocks of a frame that an end may ask for: an MTU of MF_LINK_MTU_MIN has more. */
#define MF_LINK_BLOCKS_MIN 8
#define MF_LINK_NODE_SWITCH 0xffff /**< in the place of a node's number */
#define MF_LINK_NAME 32

/** Body of HELLO. */
struct mf_link_hello {
	uint64_t epoch; /**< of the end that sends it, never 0; this field has its place in every version */
	uint64_t partner; /**< epoch of the partner, as this end knows it; 0: not at all */
	uint64_t fabric; /**< hash of the fabric's description */
	uint64_t features; /**< MF_LINK_RETRANSMITS, MF_LINK_PROVES */
	uint32_t period; /**< of a block, in ps */
	uint16_t window; /**< DATA frames that this end takes without an acknowledgement: 1.. */
	uint16_t blocks; /**< most of a DATA frame to this end: MF_LINK_BLOCKS_MIN..MF_SPAN_MAX */
	uint16_t state; /**< MF_LINK_READY, MF_LINK_DONE */
	uint16_t echo; /**< the partner's state, as this end knows it */
	uint32_t first; /**< number of the first DATA frame that this end sends */
	uint16_t node; /**< number of the node, or MF_LINK_NODE_SWITCH */
	uint16_t took; /**< blocks of the longest PROBE that has come from `partner`; 0: none */
	uint32_t thread; /**< that polls this end, as its kernel numbers it; 0: not told */
	char name[MF_LINK_NAME]; /**< of the node or switch, its last octets; filled up with zeros */
	uint64_t host; /**< hash of the host and of that thread's life: whether `thread` is one of ours */
} __attribute__((packed));

static_assert(sizeof(struct mf_link_hello) == 96, "HELLO");
static_assert(MF_LINK_MTU_MIN == sizeof(struct mf_link_head) - 14 + sizeof(struct mf_link_hello), "HELLO");

enum mf_link_reason {
	MF_LINK_REASON_VERSION = 1,
	MF_LINK_REASON_FABRIC,
	MF_LINK_REASON_RATE, /**< have, got: ps a block */
	MF_LINK_REASON_STALE, /**< have: a newer epoch of that end */
	MF_LINK_REASON_LINK, /**< got: a link id that is not on this port */
	MF_LINK_REASON_FEATURES,
	MF_LINK_REASON_MTU, /**< never sent; have, got: blocks of a frame that passes, and of a full one */
	MF_LINK_REASONS
};

/** Body of REFUSE: the same in every version. */
struct mf_link_refuse {
	uint16_t reason; /**< enum mf_link_reason, or one of a later version */
	uint8_t zero[6];
	uint64_t have; /**< what the end that refuses has, */
	uint64_t got; /**< and what the HELLO said */
	uint64_t epoch; /**< of the HELLO that is refused */
} __attribute__((packed));

static_assert(sizeof(struct mf_link_refuse) == 32, "REFUSE");

enum mf_link_leave {
	MF_LINK_LEFT = 1, /**< will perhaps come back */
	MF_LINK_GAVE_UP, /**< its replays are used up */
};

/** Body of BYE. */
struct mf_link_bye {
	uint16_t leave; /**< enum mf_link_leave */
	uint8_t zero[6];
} __attribute__((packed));

static_assert(sizeof(struct mf_link_bye) == 8, "BYE");

/** What is found out about a frame before anybody looks whose it is. */
enum mf_link_fault {
	MF_LINK_GOOD,
	MF_LINK_FAULT_ETHERTYPE, /**< none of ours */
	MF_LINK_FAULT_SHORT, /**< shorter than a header, or than the header says */
	MF_LINK_FAULT_CRC,
	MF_LINK_FAULT_VERSION, /**< undamaged; its type, link, flags, and the body of HELLO and REFUSE hold */
};

/**
 * Checks length, EtherType, CRC and version; reads no octet at or behind len. All other functions take
 * frames that have passed this.
 * @param len  octets from the destination MAC to the end, with or without padding
 * @return a REFUSE of another version is GOOD
 */
enum mf_link_fault mf_link_frame_check(const uint8_t *frame, size_t len, uint16_t ethertype);

/** The header of a frame that has been checked. */
static inline const struct mf_link_head *mf_link_frame_head(const uint8_t *frame)
{
	return (const struct mf_link_head *)frame;
}

/**
 * Whether the contents hold, by type: number of blocks, length, flags, unused bits, values that no end says.
 * @return false for types that are none
 */
bool mf_link_frame_good(const uint8_t *frame);

/** The body of a control frame whose contents are good. */
static inline const void *mf_link_frame_body(const uint8_t *frame)
{
	return frame + sizeof(struct mf_link_head);
}

/** Copies a name of a HELLO: ends it, and puts '?' for what is not printable ASCII. */
void mf_link_name_copy(char out[MF_LINK_NAME + 1], const char name[MF_LINK_NAME]);

/**
 * Takes the blocks out of a DATA frame whose contents are good. The span's start, period and flags
 * become 0.
 */
void mf_link_frame_get(const uint8_t *frame, struct mf_span *out);

/**
 * Makes a DATA frame of blocks: all of *head is taken but for type, blocks, length and crc.
 * @param frame  has room for sizeof(struct mf_link_head) + MF_LINK_BODY(span->count)
 * @param span  1..MF_SPAN_MAX blocks
 * @return octets
 */
uint16_t mf_link_frame_put(uint8_t *frame, const struct mf_link_head *head, const struct mf_span *span);

/**
 * Makes a control frame: all of *head is taken but for blocks, length and crc.
 * @param frame  has room for sizeof(struct mf_link_head) + length
 * @param body  length octets, or NULL
 * @return octets
 */
uint16_t mf_link_frame_put_control(uint8_t *frame, const struct mf_link_head *head, const void *body,
				   uint16_t length);

/** Writes the CRC of a frame that is complete otherwise. @return octets of the frame */
uint16_t mf_link_frame_seal(uint8_t *frame);

/** Sets the EtherType. */
static inline void mf_link_head_ethertype(struct mf_link_head *h, uint16_t ethertype)
{
	h->ethertype[0] = (uint8_t)(ethertype >> 8);
	h->ethertype[1] = (uint8_t)ethertype;
}

/** The tag of a connection: of the epochs of its ends. */
uint32_t mf_link_tag(uint64_t node_epoch, uint64_t switch_epoch);

/** @param mtu  octets behind the Ethernet header @return most blocks of a DATA frame, 0..MF_SPAN_MAX */
unsigned int mf_link_blocks(unsigned int mtu);
/** The other way. @return octets behind the Ethernet header of a DATA frame of so many blocks */
unsigned int mf_link_mtu(unsigned int blocks);

/** @return "HELLO" and so on; "?" for what is none */
const char *mf_link_type_name(unsigned int type);
/** @return what is said of a refusal, as "another fabric file" */
const char *mf_link_reason_text(unsigned int reason);

#endif
