/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Delivery: what the receivers see of reads and writes, under the virtual clock. The client cannot tell
 * it: a read looks longer to it than its data takes, and a write is over for it when it has left (D11).
 *
 * Goodput from first to last block, of each message and of all that a node received, beside what the
 * block format allows; and the time from the submission of a write to its effect at the memory node.
 */
#ifndef MF_DELIVERY_H
#define MF_DELIVERY_H

#include "fabric/mf_fabric_state.h"
#include "measure/mf_arriving.h"

enum { DELIVERY_READ, DELIVERY_WRITE, DELIVERY_KINDS };

/** What one node has received of one kind. */
struct delivery_stream {
	mf_time first, last; /**< first block of the first message; end of the last block */
	uint64_t messages, octets;
	mf_time lasting; /**< of all messages, each from its first block to the end of its last */
	mf_time format; /**< of all their blocks, back to back */
};

/** Octets of reads and writes that crossed a node's link in the steady state. */
struct delivery_payload {
	uint64_t up, down;
};

struct delivery {
	const struct mf_fabric *f;
	struct delivery_payload *payload; /**< [fabric_host_ends()] */
	struct delivery_stream *stream; /**< [nodes][DELIVERY_KINDS] */
	struct arriving arriving; /**< one a pair and kind, or, where messages are unordered, one an id */
	unsigned int ids; /**< 1 where messages of a pair are in order */
	bool incomplete; /**< no memory: messages are missing */
	struct mf_hist effect;
	uint64_t arrived, drained; /**< octets, in the whole run; of them in the drain */
};

/** @return NULL: no memory */
struct delivery *delivery_new(const struct mf_fabric *f);
void delivery_free(struct delivery *d);

/** A write has taken effect as a whole. */
void delivery_effect(struct delivery *d, mf_time submitted, mf_time done);
/** As in struct mf_probe, of which it is a part. */
void delivery_chunk(struct delivery *d, unsigned int kind, uint16_t cn, uint16_t mn, uint32_t id,
		    uint32_t offset, uint32_t octets, bool last, mf_time first, mf_time done);

#endif
