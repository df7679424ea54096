/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stack above the MAC, in the place of EDM's in the PHY: what a rival is made of on the side of the nodes.
 *
 *      client                                       mf_frame_host: submit, completions
 *        |  operations
 *      stack     headers, retransmission, congestion control: this table
 *        |  frames (or, of CXL, messages of blocks)
 *      mf_frame_host   multiplexer, demultiplexer   spans of 66-bit blocks
 *
 * The host asks for the next frame when the line wants one. So what a stack decides (order, pace, pause) is
 * decided as late as a NIC could: one frame is committed beyond the one that is being sent.
 *
 * Sans-I/O as the host itself: time comes in, nothing is allocated after create(). One thread calls, but for
 * what `shared` says.
 */
#ifndef MF_STACK_H
#define MF_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mf_counter.h"
#include "base/mf_param.h"
#include "base/mf_pool.h"
#include "base/mf_timing.h"
#include "memory/mf_memory.h"
#include "op/mf_op.h"

struct mf_stack; /**< each stack's own */

/** Most blocks of a message, of any stack. One that is longer is dropped before a stack sees it. */
#define MF_STACK_BLOCKS_MAX (2 + 2 + MF_MESSAGE_MAX / 8 + 1)

struct mf_stack_config {
	uint16_t node, nodes; /**< own number, 0..nodes - 1 */
	bool compute; /**< may submit operations */
	const struct mf_memory_ops *memory_ops; /**< NULL: not a memory node */
	struct mf_memory *memory; /**< the caller's, must outlive the stack */
	uint8_t end; /**< which end of its node this is: stacks of several ends may share the memory */
	uint32_t queue; /**< operations that it holds at most, waiting or under way */
	mf_time read_timeout, write_timeout; /**< of an operation, from its submission; 0: never */
	uint32_t period; /**< ps a block of the own link; 0: wall clock */
	/** Of a smallest frame through the idle fabric and back, MACs included, stacks not; 0: wall clock. */
	mf_time rtt;
	int server; /**< the node that serves all (mf_stack_ops.server), -1: there is none */
	uint32_t slowest; /**< longest period of the links of all nodes but that; 0: wall clock */
	struct mf_timing timing; /**< all 0 under the wall clock */
	const struct mf_probe *probe; /**< or NULL */
	/**
	 * Number of this incarnation of the node, where a process that played it before may be remembered by
	 * others; else 0. Each incarnation has another one, mostly a higher one.
	 */
	uint32_t incarnation;
	const double *param; /**< in the order of the table; copied */
	void *shared; /**< of all nodes: see mf_stack_ops.share */
};

/** Expected wire blocks of an operation on the link directions that it crosses, retransmissions left out. */
struct mf_op_blocks {
	double cn_up, cn_down, mn_up, mn_down;
};

struct mf_stack_ops {
	const char *name; /**< as in the fabric file */
	const char *timing; /**< profile of its stages by default */
	/**
	 * Name of a node that its nodes need besides, neither compute nor memory node: the configuration adds
	 * it, at a port and with a link of its own. NULL: none.
	 */
	const char *server;
	const char *bridge; /**< what forwards in the switch by default: mf_bridge_find() */
	const struct mf_param_default *bridge_defaults; /**< of that bridge's parameters; NULL: its own */
	const struct mf_param *params;
	const struct mf_pool_desc *pools; /**< NULL: none */
	bool ordered; /**< operations of a pair take effect in the order of their submission */
	/** Writes do, and RMW do. If not, a write that has completed has taken effect. */
	bool writes_ordered;
	/** What the network drops is lost: an unacknowledged write may have completed all the same. */
	bool loses;
	bool messages; /**< its link carries messages of blocks, not frames */
	bool stages; /**< it tells the stages of its messages (mf_probe.stamp) */
	/** Classes that it holds back while a pause frame says so (PFC), a bit each. NULL: none. */
	uint8_t (*pfc_classes)(const double *param);
	/** Octets of its longest IP packet. NULL: what its parameter `mtu` says. */
	uint32_t (*packet)(const double *param);
	bool wall; /**< makes sense under the wall clock */
	bool one_switch; /**< relies on a single switch, so a file with several is refused */
	bool sprays; /**< frames of a flow may overtake each other, so each may go by a path of its own */

	/**
	 * State that the nodes share beside the network, for what a paper assumes to be known at once (IRD).
	 * What one node does there may change what another one does from timing.cost[MF_STAGE_PROTOCOL] +
	 * [MF_STAGE_MAC] later on, not before: for that long one node is called ahead of another. NULL: none.
	 */
	void *(*share)(uint16_t nodes, const double *param);
	void (*unshare)(void *shared);
	/** A node whose next() has become earlier by what another one did; -1: there is none more. */
	int (*woken)(void *shared);

	struct mf_stack *(*create)(const struct mf_stack_config *config); /**< NULL with errno */
	void (*destroy)(struct mf_stack *s);

	/** As mf_frame_host_submit(), which has checked the operation. @return 0 or -EAGAIN */
	int (*submit)(struct mf_stack *s, mf_time now, const struct mf_op *op);
	/** As mf_frame_host_completions(). */
	unsigned int (*completions)(struct mf_stack *s, mf_time now, struct mf_completion *out,
				    unsigned int max);
	uint32_t (*outstanding)(const struct mf_stack *s);

	/**
	 * A frame has come, from destination address on, without FCS, which was right.
	 * @param at  one block behind its /T/; virtual clock: the stage costs begin here
	 * @return false: it is none of this stack's
	 */
	bool (*frame)(struct mf_stack *s, mf_time at, const uint8_t *frame, uint16_t len);
	/** A message of n blocks has come, whole; at: start of its last block. NULL without `messages`. */
	void (*message)(struct mf_stack *s, mf_time at, const uint64_t *word, unsigned int n);

	/** The link is lost: what its other end told by it is over. NULL: nothing is told so. */
	void (*link_lost)(struct mf_stack *s);

	/**
	 * The next frame to send, if there is one that may go at now.
	 * @param frame  room for MF_FRAME_MAX octets
	 * @return its octets, without FCS; 0: there is none
	 */
	uint16_t (*pull)(struct mf_stack *s, mf_time now, uint8_t *frame);
	/** The same of `messages`. @param word  room for MF_STACK_BLOCKS_MAX @return its blocks */
	unsigned int (*pull_message)(struct mf_stack *s, mf_time now, uint64_t *word);
	/** From when on pull() has something to give; MF_NEVER: it has nothing. */
	mf_time (*ready)(const struct mf_stack *s);

	/** Does what is due: timers, what becomes known at a date. */
	void (*run)(struct mf_stack *s, mf_time now);
	/** When run() or completions() has something to do; MF_NEVER: nothing. */
	mf_time (*next)(const struct mf_stack *s);

	/** Takes away what is free of a pool, or gives it back. @param pool  its place. NULL: none */
	void (*exhaust)(struct mf_stack *s, unsigned int pool, bool on);

	/** @return how many were written; at most MF_COUNTERS_MAX */
	unsigned int (*counters)(const struct mf_stack *s, struct mf_counter *out);
	/** For the load (D17). kind: enum mf_op_kind; rmw counts as 8 octets. */
	struct mf_op_blocks (*blocks)(const double *param, uint8_t kind, uint64_t octets);
};

#endif
