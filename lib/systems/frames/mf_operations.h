/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The operations of a node, from their submission until their completion is taken: what every stack above
 * the MAC needs. An operation is told by its peer and an id: the low eight bits are the lowest entry that is
 * free, so that few of many are ever touched, the high ones tell those apart that use it one after the other.
 * At most 256 of a pair are under way.
 */
#ifndef MF_OPERATIONS_H
#define MF_OPERATIONS_H

#include "op/mf_op.h"
#include "systems/frames/mf_stack.h"

#define OPERATION_NIL UINT32_MAX
#define OPERATION_IDS 256 /**< of a pair */

enum operation_timer { OPERATION_READ, OPERATION_WRITE, OPERATION_TIMERS };

struct operation {
	struct mf_completion c; /**< as the client gets it */
	uint64_t addr;
	uint8_t *buf;
	uint64_t arg[2];
	uint64_t moved; /**< octets of it that have come (read), or are acknowledged: the stack's */
	mf_time deadline; /**< MF_NEVER: has no timer */
	uint32_t next, prev; /**< of its timer; next: of the completions, of the free ones */
	uint32_t message; /**< that it began with, while the transport has it; OPERATION_NIL */
	uint32_t chain; /**< the next one under way of its bucket, plus one; 0: none */
	uint16_t id;
	uint8_t rmw;
	bool busy; /**< under way: it has no outcome yet */
	bool begun; /**< c.first is there */
};

struct operation_list {
	uint32_t head, tail;
};

/** By peer. All zero, and not touched, for those that nothing is asked. */
struct operation_peer {
	uint64_t taken[OPERATION_IDS / 64]; /**< entries of ids */
	uint8_t turn;
};

struct operations {
	struct operation *op; /**< [size] */
	uint32_t size, fresh, free, count;
	struct operation_peer *peer; /**< [nodes] */
	uint32_t *bucket; /**< [mask + 1], by peer and id: the first under way, plus one; 0: none */
	uint32_t mask;
	struct operation_list timer[OPERATION_TIMERS];
	mf_time timeout[OPERATION_TIMERS];
	struct operation_list done; /**< by their date */
};

/** @return 0 or -ENOMEM */
int operations_init(struct operations *t, const struct mf_stack_config *config);
void operations_fini(struct operations *t);

/** @return its number, or OPERATION_NIL: there is no room, or no id towards its peer */
uint32_t operations_add(struct operations *t, mf_time now, const struct mf_op *op);

/** The bucket of a peer and an id. Ids of a peer are mostly low, so the peer is spread over the buckets. */
static inline uint32_t operations_bucket(const struct operations *t, uint16_t peer, uint16_t id)
{
	return (peer * 2654435761U + id) & t->mask;
}

/** The one under way with this peer and id; OPERATION_NIL: there is none. */
static inline uint32_t operations_find(const struct operations *t, uint16_t peer, uint16_t id)
{
	uint32_t i = t->bucket[operations_bucket(t, peer, id)];

	while (i != 0 && (t->op[i - 1].id != id || t->op[i - 1].c.node != peer))
		i = t->op[i - 1].chain;
	return i != 0 ? i - 1 : OPERATION_NIL;
}

/** Its outcome, known from a date on. A failed one has moved nothing. */
void operations_complete(struct operations *t, uint32_t i, mf_time date, enum mf_status status);

/** The first whose time has run out; OPERATION_NIL: none. The stack gives it up and completes it. */
uint32_t operations_expired(const struct operations *t, mf_time now);

/** Takes those that are due. */
unsigned int operations_take(struct operations *t, mf_time now, struct mf_completion *out, unsigned int max);

/** When something is due: a completion, or a timer. */
mf_time operations_next(const struct operations *t);

#endif
