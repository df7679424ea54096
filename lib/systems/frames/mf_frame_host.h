/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The host of a node in a fabric of frames: its shell, and a stack above the MAC (mf_stack.h) or none. What
 * it sends is asked of the stack when the line wants it, what arrives is handed to the stack whole.
 *
 * Sans-I/O; one thread calls, in the order of systems/mf_node.h. Nothing is allocated after
 * mf_frame_host_new() but what the stack itself allocates in its create().
 */
#ifndef MF_FRAME_HOST_H
#define MF_FRAME_HOST_H

#include "pcs/mf_demux.h"
#include "pcs/mf_mux.h"
#include "role/mf_role.h"
#include "systems/frames/mf_stack.h"

struct mf_frame_host_config {
	const struct mf_stack_ops *stack; /**< NULL: a plain Ethernet node, which takes no operations */
	struct mf_stack_config of; /**< given to it; also the node's number. `period` is that of mux */
	struct mf_mux_config mux; /**< `memory_enabled` is `blocks` */
	bool blocks; /**< the link carries messages of blocks (mf_stack_ops.messages) */
	mf_time ber_window; /**< of the hi-BER monitor, ps, 1.. */
	struct mf_guard *guard; /**< the caller's, must outlive the host: told of bad blocks; or NULL */
};

/** What it counts; what the stack counts see mf_frame_host_counters(). */
struct mf_frame_host_counts {
	uint64_t none; /**< always 0: counters that the result reports for every kind, and this one has not */
	struct mf_op_counts op;
	uint64_t drop_proto; /**< parts of messages that were too long, or had no beginning */
	uint64_t drop_unknown; /**< blocks that the stack has no use for */
};

/** Rows of struct mf_frame_host_counts. */
extern const struct mf_counter_desc mf_frame_host_table[];

struct mf_frame_host;
/** It as a role; see role/mf_role.h. */
extern const struct mf_role_ops mf_frame_host_role;

/** @return NULL with errno: EINVAL for a bad config, ENOMEM, or what the stack's create() says */
struct mf_frame_host *mf_frame_host_new(const struct mf_frame_host_config *config);
/** @param h  or NULL */
void mf_frame_host_free(struct mf_frame_host *h);

/** Submits an operation. @return 0; -EPERM, -EINVAL: see mf_node_check(); -EAGAIN: the stack has no room */
int mf_frame_host_submit(struct mf_frame_host *h, mf_time now, const struct mf_op *op);
/** Takes completions that are due at now. @return how many were written to out[0..max) */
unsigned int mf_frame_host_completions(struct mf_frame_host *h, mf_time now, struct mf_completion *out,
				       unsigned int max);
/** Operations that wait or are under way. */
uint32_t mf_frame_host_outstanding(const struct mf_frame_host *h);
/** Where frames go that are none of the stack's. Called from within rx and run. @param fn  NULL: nowhere */
void mf_frame_host_on_frame(struct mf_frame_host *h, mf_node_frame_fn fn, void *ctx);

/** Takes a span from the link. */
void mf_frame_host_rx(struct mf_frame_host *h, mf_time now, const struct mf_span *span);
/** Next blocks for the link; see mf_mux_pull(). */
unsigned int mf_frame_host_tx(struct mf_frame_host *h, mf_time now, unsigned int max, struct mf_span *out);
/** The same without a copy; see mf_mux_pull_in_place(). */
struct mf_span *mf_frame_host_tx_in_place(struct mf_frame_host *h, mf_time now, struct mf_span *room);
/**
 * Does what is due, and gives the line what it wants. It is the last to be called at an instant, so what the
 * stack gives is decided when it knows all that came until then, in whatever spans.
 * @return mf_frame_host_next()
 */
mf_time mf_frame_host_run(struct mf_frame_host *h, mf_time now);
/** When run or completions has something to do, TX not included; MF_NEVER: nothing. */
mf_time mf_frame_host_next(const struct mf_frame_host *h);

/**
 * The link is lost: what was arriving is cut, what waited to be sent is thrown away. The timers of the stack
 * notice what is lost of its own.
 */
void mf_frame_host_link_lost(struct mf_frame_host *h, mf_time now);
/** The link is there again, or was never lost: the stack is asked for frames again. */
void mf_frame_host_link_back(struct mf_frame_host *h, mf_time now);

/** @return NULL: there is no stack, or it has no pools */
const struct mf_pool_desc *mf_frame_host_pools(const struct mf_frame_host *h);
/** Takes away what is free of a pool of the stack, or gives it back. @param pool  in mf_stack_ops.pools */
void mf_frame_host_exhaust(struct mf_frame_host *h, unsigned int pool, bool on);

const struct mf_demux *mf_frame_host_demux(const struct mf_frame_host *h);
void mf_frame_host_counts(const struct mf_frame_host *h, struct mf_frame_host_counts *out);
/** What the stack counts. @param out  room for MF_COUNTERS_MAX @return how many; 0: there is no stack */
unsigned int mf_frame_host_counters(const struct mf_frame_host *h, struct mf_counter *out);

/** A hint, which changes nothing: the host will soon be used, and is fetched into the caches. */
void mf_frame_host_fetch(const struct mf_frame_host *h);

#endif
