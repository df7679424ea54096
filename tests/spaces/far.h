/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A host for tests of layers, linked in place of lib/systems/node.c. Behind it stand memory nodes with
 * spaces. Their memories are those of lib/memory, and their slow path takes time. Requests to a memory node
 * arrive in the order in which they were submitted. The host refuses, loses and delays as it is told.
 */
#ifndef FAR_H
#define FAR_H

#include "base/mf_rng.h"
#include "memory/mf_vm_timed.h"
#include "systems/mf_layer.h"

#define FAR_NODES 4 /* the own one is 0 */
#define FAR_QUEUE 64
#define FAR_OCTETS 4096 /* of an operation, at most */
#define FAR_MAKER 7 /* number of the own node at the memory nodes */

/** An operation below. */
struct far_op {
	struct mf_op op;
	uint8_t data[FAR_OCTETS];
	struct mf_completion done;
	mf_time arrives;
	uint64_t order;
	bool busy, arrived, taken; /**< taken: its completion was, before it arrived */
};

struct mf_node {
	struct mf_node_shell shell; /**< first, as in every host */
	struct mf_rng rng;
	struct mf_vm_timed_config memory;
	struct mf_vm_timed *node[FAR_NODES]; /**< NULL: it has no memory */
	mf_time last[FAR_NODES]; /**< when the last request arrives */
	struct far_op op[FAR_QUEUE];
	unsigned int room; /**< operations under way, 0..FAR_QUEUE */
	unsigned int under_way;
	uint64_t submitted, refused, lost;
	uint64_t pending; /**< calls that were answered so */
	mf_time room_at; /**< after a refusal something happens here, so that who waits for room is called */
	uint32_t whole; /**< bytes of a write that have an effect all at once */
	/* What happens, in 1/256. */
	unsigned int refuses; /**< a submission, though there is room */
	unsigned int loses; /**< a request or its answer; never a plain write */
	mf_time latency, jitter; /**< of a way */
	mf_node_restart_fn restart_fn;
	void *restart_ctx;
};

/** Two small classes of pages, few of them, a ring of ring pages. */
struct mf_vm_timed_config far_memory(uint64_t seed, uint32_t pages, uint32_t ring);

/** @param targets  nodes 1..targets have a memory each */
struct mf_node *far_new(uint64_t seed, const struct mf_vm_timed_config *memory, unsigned int targets);
void far_free(struct mf_node *h);

/** When something arrives, or completes, or there may be room. */
mf_time far_next(const struct mf_node *h);
/** What arrives until then is done. */
void far_run(struct mf_node *h, mf_time now);

/**
 * The link to a node was lost: what has not arrived fails, or goes on as is drawn. empty: the node was
 * started again, and has nothing.
 */
void far_lose(struct mf_node *h, mf_time now, uint16_t node, bool empty);
/** The own node was started again: nothing is under way any more. */
void far_crash(struct mf_node *h, mf_time now);

#endif
