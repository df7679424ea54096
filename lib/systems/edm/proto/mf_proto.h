/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory messages, demands and grants as 66-bit blocks (EDM 2.3, 3.1.1, 3.1.4; docs/wire-format.md).
 *
 * A control block has 56 bits behind its type octet. A message of several blocks is
 * /MS/ /MD/... /MT/; its two control blocks carry the header (112 bits) and the check, the data
 * blocks between carry payload. Every chunk stands alone: it names kind, source, destination, id and
 * offset, and has a check of its own (D12).
 */
#ifndef MF_PROTO_H
#define MF_PROTO_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "op/mf_op.h"
#include "pcs/mf_block.h"

#define MF_IDS 256 /**< 8 bits of message id, for each pair and direction */
#define MF_CHUNK_UNIT 16 /**< offsets of chunks are multiples of it */
#define MF_BEHIND_UNIT 256 /**< octets of a transfer that are behind a piece of it are told in it */
#define MF_BEHIND_MAX 65535 /**< units: more is not told */

/** Kinds: 4 bits. */
enum mf_kind {
	MF_KIND_NONE,
	MF_RREQ, /**< read request */
	MF_WREQ, /**< a chunk of a write; completes at the sender when handed to the link (D11) */
	MF_WREQ_ACK, /**< the same, to be acknowledged when it has taken effect (beyond the paper) */
	MF_RMWREQ, /**< read-modify-write request */
	MF_RRES, /**< a chunk of a read response or of the result of an RMWREQ */
	MF_ACK, /**< one block: an acknowledged write has taken effect */
	MF_ERR, /**< one block: the request was refused; the rest of its demand is cancelled (D5). Or, of the
		   switch: MF_ERR_RESTARTED, of src, and of no request: mf_proto_incarnation() */
	MF_GRET, /**< one block, to the switch: a grant that cannot be used comes back (D5); enum mf_gret */
	MF_NOTIFY, /**< /N/ */
	MF_GRANT, /**< /G/ */
	MF_TAKE, /**< one block, of a link's two ends: which switch is obeyed (docs/fault-tolerance.md) */
	MF_KINDS
};

/** What TAKE says between a node and a switch, of two, about epochs (docs/fault-tolerance.md). */
enum mf_take {
	MF_TAKE_TELL, /**< node: I obey the active switch of this epoch; switch: that is the epoch */
	MF_TAKE_HEARD, /**< switch: that is the epoch, and I have heard that you obey */
	MF_TAKE_ASK, /**< I do not know the epoch */
	MF_TAKE_LOST, /**< node `dst` has lost the active switch: the standby says so, nodes pass it on */
	MF_TAKES
};

/**
 * What GRET says besides. Of two switches the active one asks whether a chunk of a write that was granted is
 * still to come, and the node says that it is not, behind all that it has sent (docs/fault-tolerance.md).
 */
enum mf_gret {
	MF_GRET_RETURNED, /**< the grant comes back */
	MF_GRET_ASKED
};

#define MF_TAKE_SINCE_MAX 511 /**< epochs: the most that TAKE can tell in mf_msg.dst */
#define MF_INCARNATION_MAX 16383 /**< incarnations of a node have numbers from 1 to that, and over again */

/** A message, decoded; which fields count depends on the kind. */
struct mf_msg {
	uint8_t kind; /**< enum mf_kind */
	uint8_t id;
	uint16_t src; /**< node (= port) numbers; N, G and GRET carry no source on the wire */
	/**
	 * To whom. Of TAKE it is something else. LOST: who has lost the switch. TELL and HEARD of a switch:
	 * for how many epochs it has forgotten nothing; MF_TAKE_SINCE_MAX: so many or more. TELL and ASK of a
	 * node: the number of its incarnation; 0: it does not say. ASK of a switch: 0
	 */
	uint16_t dst;
	bool resp; /**< G, GRET: grants a response (RRES), not the node's own message (D10) */
	bool last; /**< WREQ*, RRES: the last chunk of its message */
	bool mega; /**< N: size counts wire octets of several WREQs of one pair (D8) */
	uint8_t op; /**< RMWREQ: enum mf_rmw_op; TAKE: enum mf_take; GRET: enum mf_gret */
	uint8_t status; /**< ERR: enum mf_status, but not the local ones */
	/**
	 * ERR: kind of the refused request, MF_NOTIFY: demand; MF_KIND_NONE: not told. MF_ERR_GAP: how much
	 * of an acknowledged write is applied, in MF_GAP_UNIT, rounded down: 0..15
	 */
	uint8_t of;
	bool ext; /**< extended (D13): key and epoch are there; N: they will be in its chunks */
	/**
	 * Extended: number of the use of its id, which tells apart messages that had the same one. ACK: its
	 * low MF_ACK_USE_BITS, ERR: its low MF_ERR_USE_BITS, 0 where messages are not extended. TAKE: of
	 * the switch that is active. mf_proto_of_incarnation(): bits of the incarnation that find no room in
	 * the id
	 */
	uint16_t epoch;
	/**
	 * RREQ, N: what its transfer has behind this message, which then is a piece of MF_MESSAGE_MAX (D7);
	 * in MF_BEHIND_UNIT, rounded up, at most MF_BEHIND_MAX. 0: nothing
	 */
	uint16_t behind;
	uint8_t again; /**< extended: how often it was sent before */
	/**
	 * RREQ, N, G, GRET: octets, 1..MF_MESSAGE_MAX; WREQ*, RRES: of this chunk. RMWREQ of a call: of its
	 * response, a multiple of MF_CALL_UNIT, below MF_MESSAGE_MAX; of others 0
	 */
	uint32_t size;
	/**
	 * WREQ*, RRES: of this chunk in its message, multiple of MF_CHUNK_UNIT. RREQ, RMWREQ of a call,
	 * extended: where its response begins: one that is sent again asks for the rest
	 */
	uint32_t offset;
	union {
		/**
		 * Extended, with two switches: number among the messages of src to dst, in the order in which
		 * they are asked (D9), modulo 2^MF_NUMBER_BITS. RRES: 0
		 */
		uint32_t number;
		/** Extended, with one switch: address space, of a memory that has several. RRES: 0 */
		uint32_t space;
	};
	uint64_t addr; /**< RREQ, RMWREQ: the address; WREQ*: the address of this chunk. 48 bits */
	uint64_t arg[2]; /**< RMWREQ */
	uint64_t key;
};
static_assert(sizeof(struct mf_msg) <= 64, "filled and handed on once a message: keep it in a cache line");

/** How a fabric checks its messages. */
struct mf_proto {
	bool check32; /**< CRC-32C in one more /MD/ of every message of several blocks (D12) */
	bool ext; /**< every message of several blocks is extended (D13); one that is not is refused */
};

/** Low bits of the number of a use that stand in an ACK, in an ERR. */
#define MF_ACK_USE_BITS 10
#define MF_ERR_USE_BITS 2

#define MF_NUMBER_BITS 28 /**< of mf_msg.number */

#define MF_GAP_UNIT 4096 /**< octets: see mf_msg.of */

/**
 * Chooses the widest way of making checks that this CPU has, for the whole process: before any other
 * thread runs. Until then they are made by table.
 *
 * @param simd_bits  widest vectors that are allowed, as rte_vect_get_max_simd_bitwidth() says it; 0: none
 */
void mf_proto_select(unsigned int simd_bits);

/** Data blocks that an extended message has more: the key, the epoch. */
#define MF_EXT_BLOCKS 2

/** Wire blocks of a request (RREQ or RMWREQ), extended or not as all are, or if it is by itself. */
unsigned int mf_proto_request_blocks(const struct mf_proto *p, const struct mf_msg *m);

/**
 * Wire blocks of a chunk (WREQ*, RRES) with this many octets of payload, header and check included.
 * One that is extended where others are not has MF_EXT_BLOCKS more.
 */
static inline unsigned int mf_proto_chunk_blocks(const struct mf_proto *p, uint32_t octets)
{
	return 2 + (octets + 7) / 8 + (p->check32 ? 1 : 0) + (p->ext ? MF_EXT_BLOCKS : 0);
}

/** Octets of the response to an RREQ or RMWREQ. */
static inline uint32_t mf_proto_response_size(const struct mf_msg *m)
{
	return m->kind == MF_RREQ || m->op == MF_RMW_CALL ? m->size : mf_rmw_size(m->op);
}

/** Most blocks of a request, extension and CRC-32C included. */
#define MF_REQUEST_BLOCKS_MAX 8

/** Most blocks of any message. */
#define MF_BLOCKS_MAX (2 + MF_EXT_BLOCKS + MF_MESSAGE_MAX / 8 + 1)

/** Whether an ERR with a status is of an incarnation, and of no request. */
static inline bool mf_proto_of_incarnation(uint8_t status)
{
	return status == MF_ERR_RESTARTED || status == MF_ERR_INCARNATION;
}

/**
 * Which incarnation of its source an ERR of one tells of, of a node's to the switch: of its destination,
 * 1..MF_INCARNATION_MAX. 0, of the switch: of none, but with MF_ERR_RESTARTED the link was lost, and what was
 * under way is over; with MF_ERR_INCARNATION unacknowledged writes may be lost.
 */
static inline uint16_t mf_proto_incarnation(const struct mf_msg *m)
{
	return (uint16_t)(m->epoch << 8 | m->id);
}

static inline void mf_proto_set_incarnation(struct mf_msg *m, uint16_t incarnation)
{
	m->id = (uint8_t)incarnation;
	m->epoch = incarnation >> 8;
}

/**
 * Encodes /N/, /G/, ACK, ERR, GRET or TAKE.
 * @return the payload of its one control block.
 */
uint64_t mf_proto_put_single(const struct mf_msg *m);

/**
 * Decodes a block of one of the types /N/, /G/, /MST/ and verifies its check.
 * @return 0; -EBADMSG: the check failed; -EPROTO: unknown kind or a field out of range
 */
int mf_proto_get_single(uint64_t word, struct mf_msg *m);

/**
 * Encodes an RREQ or RMWREQ.
 * @param word  room for MF_REQUEST_BLOCKS_MAX
 * @return number of blocks
 */
unsigned int mf_proto_put_request(const struct mf_proto *p, const struct mf_msg *m, uint64_t *word);

/**
 * Encodes a chunk: header and payload. Every chunk but the last has a multiple of MF_CHUNK_UNIT octets.
 * @param data  m->size octets; the rest of the last data block is zero
 * @param word  room for mf_proto_chunk_blocks(), and MF_EXT_BLOCKS if it is extended where others are not
 * @return number of blocks
 */
unsigned int mf_proto_put_chunk(const struct mf_proto *p, const struct mf_msg *m, const void *data,
				uint64_t *word);

/** What an /MS/ block says by itself: kind, source, destination, id. Unchecked: only for choosing a way. */
void mf_proto_peek(uint64_t ms_word, struct mf_msg *m);

/**
 * Decodes a whole message /MS/ .. /MT/ of n blocks and verifies its check. Nothing may act on a
 * message before this has returned 0.
 *
 * @param data  set to the payload octets (m->size of them) inside word, for WREQ* and RRES
 * @return 0; -EBADMSG: a check failed; -EPROTO: unknown kind, wrong length, a field out of range
 */
int mf_proto_get(const struct mf_proto *p, const uint64_t *word, unsigned int n, struct mf_msg *m,
		 const uint8_t **data);

/** Name for reports: "RREQ". "?" for an unknown one. */
const char *mf_kind_name(uint8_t kind);

#endif
