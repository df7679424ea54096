/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations on remote memory, in the words that all systems share: what a client asks for, and what has
 * become of it.
 */
#ifndef MF_OP_H
#define MF_OP_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/mf_time.h"

#define MF_PORTS_MAX 512 /**< nodes of a fabric of messages: of EDM, 9 bits of destination (2.1, 3.1.4) */
#define MF_NODES_MAX 4096 /**< nodes of a fabric of frames, and ports of a switch there */
#define MF_ADDR_MAX ((UINT64_C(1) << 48) - 1)
#define MF_MESSAGE_MAX 65536 /**< bytes of a message: of EDM, sizes are stored minus one in 16 bits */

/** Read-modify-write on 8 octets, and what is asked in its manner. */
enum mf_rmw_op {
	MF_RMW_CAS, /**< arg0: expected, arg1: new; the result is the old value */
	MF_RMW_FADD, /**< arg0: addend */
	MF_RMW_SWAP, /**< arg0: new */
	MF_RMW_FOR, /**< arg0: mask */
	MF_RMW_FAND, /**< arg0: mask */
	MF_RMW_OPS, /**< atomics end here; what follows is asked of a memory (mf_region.h) */
	MF_RMW_ATTACH = 5, /**< arg0: right; the result is its key in the region at the address */
	MF_RMW_CLAIM, /**< arg0: 0; the result is the epoch that begins */
	MF_RMW_RELEASE, /**< arg0: 0; the result is the epoch that has begun */
	MF_RMW_SHARE, /**< arg0: MF_REGION_SHARE(); the result is 0 */
	MF_RMW_SPACE, /**< arg0: enum mf_space_task, arg1: how much; of a memory with spaces (mf_space.h) */
	MF_RMW_CALL, /**< arg0: MF_CALL_ASK(), arg1: bytes of its arguments; of MF_OP_CALL (mf_call.h) */
	MF_RMW_ALL
};

static_assert((int)MF_RMW_ATTACH == (int)MF_RMW_OPS, "no gap");

/** How an operation failed. Why a request was refused travels in MF_ERR; so do the last two. */
enum mf_status {
	MF_OK,
	MF_ERR_RANGE, /**< address or length outside the memory */
	MF_ERR_ALIGN, /**< atomic not on an 8-octet boundary */
	MF_ERR_OPCODE, /**< unknown read-modify-write */
	MF_ERR_RESOURCE, /**< no room at the memory node */
	MF_ERR_TIMEOUT, /**< local: the timer expired: a read has zero octets (EDM 3.3), what never began not
			   happened */
	MF_ERR_UNKNOWN, /**< local: a write or atomic whose outcome is not known */
	MF_ERR_KEY, /**< access refused */
	MF_ERR_RESTARTED, /**< the switch's word of a node that lost its link; a read that was under way */
	MF_ERR_INCARNATION, /**< on the wire alone: which incarnation a node has; to the switch: that this is
			       known */
	MF_STATUSES, /**< outcomes of operations end here */
	MF_ERR_GAP = 10, /**< on the wire alone: nothing is refused; how much of a write is applied */
	/* In the answer to what is asked of a space, and to a call, alone: */
	MF_ERR_PENDING, /**< it is under way: whoever asks again is told what came of it */
	MF_ERR_BUSY, /**< it has not begun: too much is under way */
	MF_STATUS_WORDS
};

enum mf_op_kind {
	MF_OP_READ,
	MF_OP_WRITE, /**< completes when its last block is handed to the link (D11) */
	MF_OP_WRITE_ACK, /**< completes when the memory node has acknowledged it */
	MF_OP_RMW,
	/** The memory node does something in a space, and answers with bytes (mf_call.h); EDM alone has it */
	MF_OP_CALL,
	MF_OPS
};

/** An operation that a client asks of its host: of EDM, the message APIs of 3.2.1. */
struct mf_op {
	uint8_t kind; /**< enum mf_op_kind */
	uint8_t rmw; /**< enum mf_rmw_op */
	uint16_t node; /**< memory node */
	uint64_t addr; /**< 48 bits; CALL: where its arguments begin */
	/** octets, 1..; above MF_MESSAGE_MAX it is cut and completes as a whole (D7). CALL: room in buf for
	 * the answer, 1..MF_CALL_MAX */
	uint64_t len;
	/** read, CALL: where to put the data, undefined if it fails; write: the data. MF_RMW_SPACE: where to
	 * put MF_SPACE_ANSWER bytes. The caller's, until completion */
	void *buf;
	uint64_t arg[2]; /**< RMW, CALL */
	uint64_t user; /**< given back */
	uint64_t key; /**< of the space and what is done there; 0: none */
	uint32_t space; /**< of a memory with spaces (mf_space.h); 0: it has none */
};

struct mf_completion {
	uint64_t user;
	/** RMW: the old value; MF_RMW_SPACE: enum mf_status, the first word of the answer. CALL: bytes of the
	 * answer in buf; MF_ERR_PENDING: the ticket, which is arg0 of who asks again */
	uint64_t result;
	uint64_t len; /**< octets transferred; 0 for a read or CALL that failed: the NULL response of 3.3 */
	mf_time submitted;
	mf_time first; /**< read, RMW: first block of the response processed; write: first block sent */
	mf_time done;
	uint8_t kind; /**< enum mf_op_kind */
	uint8_t status; /**< enum mf_status; CALL: also MF_ERR_PENDING, MF_ERR_BUSY: mf_call_failed() */
	uint16_t node;
	uint32_t space; /**< of the operation */
};

/** Bytes of the response to what is asked of a space: enum mf_status, and the result. */
#define MF_SPACE_ANSWER 16

/** Bytes in front of the answer to a call: enum mf_status, and mf_completion.result. */
#define MF_CALL_HEAD 16
#define MF_CALL_UNIT 16 /**< bytes: the size of the whole response is told in it, by 12 bits */
#define MF_CALL_MAX (4095 * MF_CALL_UNIT - MF_CALL_HEAD) /**< bytes of an answer */

/** Bytes of the response to a call. @param len  room for its answer, 1..MF_CALL_MAX */
static inline uint32_t mf_call_size(uint64_t len)
{
	return MF_CALL_HEAD + ((uint32_t)len + MF_CALL_UNIT - 1) / MF_CALL_UNIT * MF_CALL_UNIT;
}

/** Whether it is not answered. One that is under way, or has not begun, is: whoever asked asks again. */
static inline bool mf_call_failed(uint8_t status)
{
	return status != MF_OK && status != MF_ERR_PENDING && status != MF_ERR_BUSY;
}

/**
 * Bytes of the response to a read-modify-write (3.1.1: it follows from the opcode). 0: unknown opcode, or
 * MF_RMW_CALL, of which each request says it.
 */
static inline uint32_t mf_rmw_size(uint8_t op)
{
	if (op == MF_RMW_SPACE)
		return MF_SPACE_ANSWER;
	return op < MF_RMW_CALL ? 8 : 0;
}

/** Names for reports: "cas", "range". "?" for unknown ones. */
const char *mf_rmw_name(uint8_t op);
const char *mf_status_name(uint8_t status);

#endif
