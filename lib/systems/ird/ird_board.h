/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the nodes of IRD know of each other beside the network (EDM 4.3): of each message with data its
 * receiver knows the demand, put there by its sender; that all has come, the sender knows.
 *
 *                  put() --> PENDING --at--> WAITING <--data came-- FULL
 *                                               \--credits are under way--^
 *      receiver:   all came: CAME; over(), or withdrawn by the sender: OVER
 *      sender:     over, and known to be: FREE
 *
 * What a node puts there others know `delay` later at the earliest, which is what its stack takes: so the
 * engine may call one node for that long before another one (mf_stack_ops.share). Until a demand is over it
 * is the receiver's, then the sender's; what either looks at does not depend on whose turn it is.
 */
#ifndef IRD_BOARD_H
#define IRD_BOARD_H

#include "base/mf_heap.h"
#include "systems/frames/mf_stack.h"

#define IRD_NODES_MAX MF_NODES_MAX

enum ird_state { IRD_FREE, IRD_PENDING, IRD_WAITING, IRD_FULL, IRD_CAME, IRD_OVER };

/** The demand for a message. Frames name it by sender, number and generation. */
struct ird_demand {
	/**
	 * Among those of its receiver: by time while PENDING, then by what is left. Among those of its sender
	 * that are OVER: by the time from which he knows.
	 */
	struct mf_heap_link link;
	mf_time credited_at; /**< when the last credit was given, or data came */
	uint32_t len; /**< octets */
	uint32_t credited; /**< up to this offset */
	uint32_t received; /**< up to this one, without a gap */
	uint32_t age; /**< order in which its receiver came to know of it */
	uint32_t prev, next; /**< among those of its receiver that have credits under way, oldest first */
	uint16_t from, to;
	uint16_t generation; /**< one more each time that the entry is used */
	uint8_t state; /**< enum ird_state */
	bool timed; /**< in the list */
};
static_assert(sizeof(struct ird_demand) == 64, "a cache line");

struct ird_node {
	/* as a receiver */
	uint32_t pending, waiting, withdrawn; /**< heaps */
	uint32_t oldest, youngest; /**< with credits under way */
	uint32_t ages;
	uint64_t outstanding; /**< octets credited and not received */
	mf_time ripens; /**< when the first of the pending and withdrawn is due */
	mf_time oldest_at; /**< when the oldest credit was given; MF_NEVER */
	mf_time next; /**< next credit: pace of the own link */
	/* as a sender */
	uint32_t over; /**< heap */
} __attribute__((aligned(64)));

struct ird_board {
	uint16_t nodes;
	uint32_t messages; /**< of a node: demand m of node n is entry n * messages + m */
	struct ird_demand *demand;
	struct mf_heap_link *withdrawal; /**< of each demand */
	struct mf_heap heap, withdrawals;
	mf_time delay; /**< after which what is put there is known */
	uint64_t woken[IRD_NODES_MAX / 64];
	struct ird_node node[IRD_NODES_MAX];
};

/** The least left is first, of equal ones the oldest: else a new one would pass those that wait. */
static inline uint64_t ird_rank(uint32_t left, uint32_t age)
{
	return (uint64_t)left << 32 | age;
}

void *ird_board_new(uint16_t nodes, const double *param);
void ird_board_free(void *board);
/** mf_stack_ops.woken */
int ird_board_woken(void *board);

/* The sender's. */

static inline struct ird_demand *ird_board_demand(const struct ird_board *b, uint16_t from, uint32_t message)
{
	return &b->demand[(size_t)from * b->messages + message];
}

/** A message of len octets is known to its receiver from at on. @return its generation */
uint16_t ird_board_put(struct ird_board *b, uint16_t from, uint32_t message, uint16_t to, uint32_t len,
		       mf_time at);
/** It is not sent any more: it will be over. */
void ird_board_withdraw(struct ird_board *b, uint16_t from, uint32_t message, mf_time now);
/** A frame has told that it came: the entry is the sender's again. */
void ird_board_acknowledged(struct ird_board *b, uint16_t from, uint32_t message);
/** The next message of this sender that is over by now: the entry is his again. MF_HEAP_NIL: none. */
uint32_t ird_board_learn(struct ird_board *b, uint16_t from, mf_time now);

/* The receiver's. */

/** The demand that a frame names, if it is to this node and not over; MF_HEAP_NIL: there is none. */
uint32_t ird_board_find(const struct ird_board *b, uint16_t from, uint32_t message, uint16_t generation,
			uint16_t to);

/** Demands whose time has come wait for credits; those that were withdrawn do not. */
void ird_board_ripen(struct ird_board *b, uint16_t to, mf_time now);

/** So many octets of it are credited. @param most  that may be under way of one message */
void ird_board_credit(struct ird_board *b, uint32_t demand, uint32_t octets, uint32_t most, mf_time now);
/** So many have come in their order. @return whether that was all */
bool ird_board_came(struct ird_board *b, uint32_t demand, uint32_t octets, mf_time now);
/** What is credited and did not come is credited again. */
void ird_board_retransmit(struct ird_board *b, uint32_t demand, mf_time now);
/** All of it has come, and no frame tells its sender. */
void ird_board_over(struct ird_board *b, uint32_t demand, mf_time now);

#endif
