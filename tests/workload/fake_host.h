/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A host for the clients' tests, linked instead of lib/systems/edm/host: the memory of every node is here,
 * operations take effect in order when they are submitted and complete a fixed time later. Faults are planted
 * by a hook.
 */
#ifndef FAKE_HOST_H
#define FAKE_HOST_H

#include "base/mf_rng.h"
#include "systems/mf_node.h"

#define FAKE_NODES 8
#define FAKE_MEMORY (1 << 18)
#define FAKE_QUEUE 1024

/** What the hook may do to an operation, before it takes effect. */
struct fake_fault {
	uint8_t status; /**< fails with it */
	bool lost; /**< a write or RMW without effect */
	bool stale; /**< a read returns what the memory held before the last write */
	bool flip; /**< a read: one bit of its last octet; RMW: one bit of its result */
	bool wrong_user; /**< completes under another name */
	bool twice; /**< completes twice */
	mf_time late; /**< completes so much later */
};

/** An operation that waits to take effect, the data of a write with it. */
struct fake_late {
	struct mf_op op;
	uint8_t data[1024];
};

struct mf_node {
	uint8_t memory[FAKE_NODES][FAKE_MEMORY], before[FAKE_NODES][FAKE_MEMORY];
	struct mf_completion pending[FAKE_QUEUE];
	unsigned int pendings;
	unsigned int queue; /**< room */
	uint64_t submitted;
	unsigned int busy_max;
	mf_time latency;
	uint64_t whole; /**< the first so many responses come in one piece: with their last block */
	mf_time stall_from, stall_to; /**< nothing completes in between */
	int refuse; /**< every submission fails so */
	void (*hook)(void *ctx, const struct mf_op *op, struct fake_fault *f);
	void *hook_ctx;
	bool passing; /**< reads and RMW pass writes, and are passed, each in order among themselves */
	bool any_order; /**< passing: all pass each other, and what has completed has taken effect */
	struct mf_rng rng; /**< passing: who is next */
	struct fake_late late[2][FAKE_QUEUE]; /**< [1]: writes */
	unsigned int late_from[2], late_to[2];
	struct mf_op last;
	struct mf_op *log; /**< NULL, or room for all that is submitted */
	mf_node_restart_fn restart_fn;
	bool link_lost;
	void *restart_ctx;
	mf_node_frame_fn frame_fn;
	void *frame_ctx;
	unsigned int frame_room;
	uint8_t frame[256][9000];
	uint16_t frame_len[256];
	unsigned int frames;
};

struct mf_node *fake_host_new(void);
/** A node's memory is from now on what it was some time before, and the client is told so, or not. */
void fake_host_restart(struct mf_node *h, uint16_t node, const uint8_t *memory, bool told);
/** When the next operation completes. */
mf_time fake_host_next(const struct mf_node *h);

#endif
