/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What forwards in the switch, in the place of EDM's circuits and of the plain layer 2 beside them: what a
 * rival is made of on the side of the switch. The ports, their multiplexers and demultiplexers are the
 * switch's (mf_frame_switch.h); a bridge takes what arrives and is asked for what a port sends next.
 *
 * Sans-I/O; one thread calls; nothing is allocated after create().
 */
#ifndef MF_BRIDGE_H
#define MF_BRIDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mf_counter.h"
#include "base/mf_param.h"
#include "base/mf_pool.h"
#include "base/mf_time.h"
#include "base/mf_timing.h"
#include "role/mf_queue_depth.h"

struct mf_bridge; /**< each one's own */

struct mf_bridge_config {
	unsigned int ports; /**< port p belongs to node p, where there is no route() */
	/**
	 * One switch of several: the port by which a frame to a node goes on, or -1: there is none. NULL:
	 * this is the only switch.
	 */
	int (*route)(const void *ctx, uint16_t node, const uint8_t *frame, uint16_t len);
	const void *route_ctx; /**< the caller's, as long as the bridge */
	const bool *up; /**< [ports] */
	const uint32_t *period; /**< [ports] ps a block; 0: wall clock */
	const mf_time *delay; /**< [ports] of the link, one way, for headrooms */
	mf_time l2_latency; /**< of the pipeline (Table 1); 0 under the wall clock */
	struct mf_timing timing; /**< all 0 under the wall clock */
	const double *param; /**< in the order of the table; copied */
	uint8_t obeyed; /**< classes that the nodes hold back when they are told to (PFC), a bit each */
	uint64_t seed; /**< of what is random (RED) */
	const struct mf_probe *probe; /**< stamps its stages; NULL: nobody wants them */
	/**
	 * Ports that have something new to send: the bridge sets their bits, (ports + 63) / 64 words. It need
	 * not for one whose pull() was asked and gave something: that is asked again.
	 */
	uint64_t *wants;
};

/** A parameter with which a bridge cannot keep what it promises. */
struct mf_bridge_fault {
	const char *key;
	char why[160];
};

struct mf_bridge_ops {
	const char *name; /**< as in the fabric file */
	const struct mf_param *params;
	const struct mf_pool_desc *pools; /**< NULL: none */
	bool messages; /**< for stacks whose links carry messages of blocks */
	bool timed; /**< what it promises follows from the times of the links: virtual clock only */
	bool lossless; /**< it makes senders wait, so routes in a circle may wait for each other */

	/**
	 * Whether all that it promises holds with these links and parameters; create() refuses what does not.
	 * May be NULL: it promises nothing that could fail.
	 */
	bool (*check)(const struct mf_bridge_config *config, struct mf_bridge_fault *fault);

	struct mf_bridge *(*create)(const struct mf_bridge_config *config); /**< NULL with errno */
	void (*destroy)(struct mf_bridge *b);

	/** A frame has come, whole, its FCS right; at: one block behind its /T/. It is copied. */
	void (*frame)(struct mf_bridge *b, unsigned int port, mf_time at, const uint8_t *frame, uint16_t len);
	/** A message of n blocks has come, whole; at: start of its last block. NULL without `messages`. */
	void (*message)(struct mf_bridge *b, unsigned int port, mf_time at, const uint64_t *word,
			unsigned int n);

	/** The next frame of a port that may go at now, in place until the next call. @return octets, or 0 */
	uint16_t (*pull)(struct mf_bridge *b, unsigned int port, mf_time now, const uint8_t **frame);
	/** The same of `messages`. @param word  room for MF_STACK_BLOCKS_MAX @return blocks */
	unsigned int (*pull_message)(struct mf_bridge *b, unsigned int port, mf_time now, uint64_t *word);

	/**
	 * The link of a port is lost, or there again: what was told by it, or is to be told, begins anew.
	 * What is pulled for a port without a link is thrown away. NULL: nothing hangs on that.
	 */
	void (*link)(struct mf_bridge *b, unsigned int port, mf_time now, bool up);

	void (*run)(struct mf_bridge *b, mf_time now); /**< what comes out of the pipeline, timers */
	mf_time (*next)(const struct mf_bridge *b); /**< when run() has something to do; MF_NEVER */
	bool (*busy)(const struct mf_bridge *b); /**< something is inside */

	/**
	 * What waits for a port. NULL: nothing waits here, but at the port's line.
	 * @param anew  the longest is that from now on, and not since the last such call. With false any
	 *              thread may ask, and has what was true a moment ago
	 */
	void (*depth)(struct mf_bridge *b, unsigned int port, bool anew, struct mf_queue_depth *out);

	/**
	 * Takes away what is free of a pool, or gives it back. NULL: it has no pools.
	 * @param pool  its place in pools
	 * @param port  whose, if each port has its own; else 0
	 */
	void (*exhaust)(struct mf_bridge *b, unsigned int pool, unsigned int port, bool on);

	/** @return how many were written; at most MF_COUNTERS_MAX */
	unsigned int (*counters)(const struct mf_bridge *b, struct mf_counter *out);
};

#endif
