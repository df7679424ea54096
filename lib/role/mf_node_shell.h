/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shell of a node: what each host has of its link and its engine, whatever its system. What the host does
 * with them is its role.
 *
 * One thread calls a host, and with it all that is here.
 */
#ifndef MF_NODE_SHELL_H
#define MF_NODE_SHELL_H

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>

#include "op/mf_op.h"
#include "pcs/mf_mux.h"

/** First member of every host. It shares a cache line with what a host reads in each poll. */
struct mf_node_shell {
	struct mf_mux *mux; /**< the host's own, for its only link, or for both */
	uint16_t node, nodes; /**< own number, 0..nodes - 1 */
	uint8_t kind; /**< of its maker in room systems, which alone writes and reads it */
	bool wall; /**< wall clock: the time of a call is that of all it brings */
	bool submits; /**< takes operations */
	bool foresees; /**< its maker's: see mf_node_foresees() */
};
static_assert(sizeof(struct mf_node_shell) == 16, "a quarter of a cache line");

/** Takes a frame, from destination address on, without FCS. It is the host's, and valid until the return. */
typedef void (*mf_node_frame_fn)(void *ctx, mf_time at, const uint8_t *frame, uint16_t len);
/** Is told that what was on its way to a node is over: mf_host_on_restart() says when. */
typedef void (*mf_node_restart_fn)(void *ctx, uint16_t node);

/** Where a host hands up frames that its stack does not take. */
struct mf_frame_sink {
	mf_node_frame_fn fn; /**< NULL: they are dropped */
	void *ctx;
};

static inline void mf_node_hand_up(const struct mf_frame_sink *sink, mf_time at, const uint8_t *frame,
				   uint16_t len)
{
	if (sink->fn)
		sink->fn(sink->ctx, at, frame, len);
}

/** Operations of a node, by enum mf_op_kind. */
struct mf_op_counts {
	uint64_t submitted[MF_OPS], completed[MF_OPS], failed[MF_OPS];
};

/**
 * What each host checks of an operation before it takes it.
 *
 * @param len  its bytes; of an RMW those of its result, mf_rmw_size()
 * @return 0; -EPERM: the node takes no operations; -EINVAL: size 0, address beyond 48 bits, node out of
 *         range or the own one, unknown kind or opcode. MF_OP_CALL is one: mf_node_check_call()
 */
static inline int mf_node_check(const struct mf_node_shell *s, const struct mf_op *op, uint64_t len)
{
	if (unlikely(!s->submits))
		return -EPERM;
	static_assert((int)MF_OP_CALL + 1 == (int)MF_OPS, "the last kind");
	if (unlikely(op->kind >= MF_OP_CALL || op->node >= s->nodes || op->node == s->node))
		return -EINVAL;
	/* A size of 0 is the largest one here. */
	if (unlikely(op->addr > MF_ADDR_MAX || len - 1 > MF_ADDR_MAX - op->addr))
		return -EINVAL;
	return 0;
}

/**
 * The same of a call, for the hosts that have them.
 *
 * @param most  bytes of an answer, at most; 0: there are no calls
 */
static inline int mf_node_check_call(const struct mf_node_shell *s, const struct mf_op *op, uint32_t most)
{
	if (!s->submits)
		return -EPERM;
	if (op->node >= s->nodes || op->node == s->node || op->addr > MF_ADDR_MAX)
		return -EINVAL;
	return op->len > 0 && op->len <= most ? 0 : -EINVAL;
}

/** The bytes of an operation, as mf_node_check() asks for them. */
static inline uint64_t mf_node_len(const struct mf_op *op)
{
	return unlikely(op->kind == MF_OP_RMW) ? mf_rmw_size(op->rmw) : op->len;
}

#endif
