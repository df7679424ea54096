/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Delivery: what the receivers see of reads and writes, under the virtual clock. The client cannot tell
 * it: a read looks longer to it than its data takes, and a write is over for it when it has left (D11).
 *
 * Goodput from first to last block, of each message and of all that a node received, beside what the
 * block format allows; and the time from the submission of a write to its effect at the memory node.
 */
#ifndef DELIVERY_H
#define DELIVERY_H

#include "fabric_priv.h"

enum { DELIVERY_READ, DELIVERY_WRITE, DELIVERY_KINDS };

/** What one node has received of one kind. */
struct delivery_stream {
	mf_time first, last; /**< first block of the first message; end of the last block */
	uint64_t messages, octets;
	mf_time lasting; /**< of all messages, each from its first block to the end of its last */
	mf_time format; /**< of all their blocks, back to back */
};

/** A write that has begun and not taken effect. */
struct delivery_write {
	mf_time submitted;
	uint32_t next;
	uint8_t id;
};

/** Writes that have begun, in that order: in which they take effect (D9), but for some stacks. */
struct delivery_pair {
	uint32_t head, tail;
};

/** A message of several chunks that is coming in: one a pair and kind; where they are unordered one an id. */
struct delivery_message {
	mf_time begin; /**< its first block */
	mf_time format; /**< its blocks until now */
	uint64_t octets; /**< until now */
};

struct delivery {
	const struct mf_fabric *f;
	struct delivery_stream *stream; /**< [nodes][DELIVERY_KINDS] */
	struct delivery_pair *pair; /**< [compute node][memory node] */
	struct delivery_message *message; /**< [compute node][memory node][DELIVERY_KINDS][ids] */
	unsigned int ids; /**< 1 where messages are in order */
	struct delivery_write *write; /**< a pool */
	uint32_t writes, free;
	bool in_order; /**< writes of a pair take effect in the order in which they began */
	bool incomplete; /**< no memory for the pool: effects were missed */
	struct mf_hist effect;
};

/** @return NULL: no memory */
struct delivery *delivery_new(const struct mf_fabric *f);
void delivery_free(struct delivery *d);

/* As in struct mf_probe, of which they are a part. */
void delivery_begun(struct delivery *d, uint16_t cn, uint16_t mn, uint8_t id, mf_time submitted);
void delivery_effect(struct delivery *d, uint16_t cn, uint16_t mn, uint8_t id, mf_time done);
void delivery_chunk(struct delivery *d, unsigned int kind, uint16_t cn, uint16_t mn, uint8_t id,
		    uint32_t offset, uint32_t octets, bool last, mf_time first, mf_time done);

/* Hints: a write will soon take effect. Two steps. */
static inline void delivery_fetch(const struct delivery *d, uint16_t cn, uint16_t mn)
{
	__builtin_prefetch(&d->pair[(size_t)cn * d->f->nodes + mn], 1);
}

static inline void delivery_fetch_write(const struct delivery *d, uint16_t cn, uint16_t mn)
{
	uint32_t head = d->pair[(size_t)cn * d->f->nodes + mn].head;

	if (head < d->writes)
		__builtin_prefetch(&d->write[head], 1);
}

/** Part of the result; {} where nothing was received. */
json_t *delivery_json(const struct delivery *d);

#endif
