/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the receivers of IRD know at once (EDM 4.3): the demand for each message, put there by its sender; and
 * that a message has come, for its sender.
 *
 *      put() --> PENDING --at--> WAITING <--data came-- FULL          by receiver: heaps of demands
 *                                   \--credits are under way--^
 *      all came: CAME, until its sender knows; then, or withdrawn: ENDED
 */
#ifndef IRD_BOARD_H
#define IRD_BOARD_H

#include "mf_heap.h"
#include "mf_stack.h"

#define IRD_NODES_MAX 512

enum ird_state { IRD_FREE, IRD_PENDING, IRD_WAITING, IRD_FULL, IRD_CAME, IRD_ENDED };

/** The demand for a message. Frames name it by its number and generation. */
struct ird_demand {
	struct mf_heap_link
		link; /**< among those of its receiver: by time while PENDING, then by what is left */
	mf_time credited_at; /**< when the last credit was given, or data came */
	uint32_t len; /**< octets */
	uint32_t credited; /**< up to this offset */
	uint32_t received; /**< up to this one, without a gap */
	uint32_t prev, next; /**< among those of its receiver that have credits under way, oldest first */
	uint32_t message; /**< its sender's number of it */
	uint32_t age; /**< order in which demands came */
	uint16_t from, to;
	uint16_t generation; /**< one more each time that the entry is used */
	uint8_t state; /**< enum ird_state */
	bool listed; /**< in a heap still */
	bool timed; /**< in the list */
};

struct ird_receiver {
	uint32_t pending, waiting; /**< heaps */
	uint32_t oldest, youngest; /**< with credits under way */
	uint64_t outstanding; /**< octets credited and not received */
	mf_time next; /**< next credit: pace of the own link */
};

struct ird_board {
	uint16_t nodes;
	struct ird_demand *demand; /**< as many as all nodes can have messages */
	uint32_t free, fresh, ages;
	struct mf_heap heap;
	struct ird_receiver receiver[IRD_NODES_MAX];
	struct mf_stack *stack[IRD_NODES_MAX];
	uint64_t woken[IRD_NODES_MAX / 64];
};

/** The least left is first, of equal ones the oldest: else a new one would pass those that wait. */
static inline uint64_t ird_rank(const struct ird_demand *d, uint32_t left)
{
	return (uint64_t)left << 32 | d->age;
}

void *ird_board_new(uint16_t nodes, const double *param);
void ird_board_free(void *board);
/** mf_stack_ops.woken */
int ird_board_woken(void *board);

/** A message of len octets is known to its receiver from at on. @return its demand */
uint32_t ird_board_put(struct ird_board *b, uint16_t from, uint32_t message, uint16_t to, uint32_t len,
		       mf_time at);

/** The demand that a frame names, if it is between these nodes and has not ended; or NULL. */
struct ird_demand *ird_board_find(struct ird_board *b, uint32_t number, uint16_t generation, uint16_t from,
				  uint16_t to);

/** Demands whose time has come wait for credits. */
void ird_board_ripen(struct ird_board *b, uint16_t to, mf_time now);
/** When the next one does. */
mf_time ird_board_ripens(const struct ird_board *b, uint16_t to);

/** The one with the least left to credit, of those that wait; MF_HEAP_NIL: there is none. */
uint32_t ird_board_first(struct ird_board *b, uint16_t to);

/** So many octets of it are credited. @param most  that may be under way of one message */
void ird_board_credit(struct ird_board *b, uint32_t demand, uint32_t octets, uint32_t most, mf_time now);
/** So many have come in their order. @return whether that was all */
bool ird_board_came(struct ird_board *b, uint32_t demand, uint32_t octets, mf_time now);
/** What is credited and did not come is credited again. */
void ird_board_again(struct ird_board *b, uint32_t demand, mf_time now);
/** Nothing of it is wanted, or sent, any more: its number is given back. */
void ird_board_end(struct ird_board *b, uint32_t demand);

#endif
