/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The compute node's side of memory with address spaces (CLib of Clio 3, 3.1): a layer between the clients of
 * a node and its host.
 *
 *      client ── addresses of a region ──> layer ── pieces: space, address, key ──> host
 *                                           └── make, join, allocate, and again ──> host
 *
 * A client of a workload knows a region of each target, as of flat memory. The layer has spaces of its own
 * there, and pages in each. It makes them at the start, and again when a target was started again. The region
 * goes through all pages of all spaces, by pieces of `interleave` octets in turn.
 *
 * A program has spaces of its own, and names them by their numbers (mf_op.space). The layer has the keys: it
 * joins a space when a key is needed, and again when the key is no longer the right one. What a program asks
 * of a space itself (MF_RMW_SPACE) the layer asks again until it is answered. Free and protect wait for what
 * was asked of their range before, and hold back what comes behind. Operations with a key of their own pass.
 *
 * Where spaces have a lease the layer renews it several times, of all whose keys it has: an idle program
 * keeps what it has. MF_SPACES_LEAVE makes the layer forget the keys of a space.
 *
 * A page that was never accessed may find none at the memory node for a while (4.3). The first access of a
 * page goes alone, and again and again, later each time. It has no effect before it has all, so an atomic, or
 * an acknowledged access of a chunk at most, may go; for others a read of a word goes first. So operations
 * keep the order that the host keeps.
 *
 * Sans-I/O; one thread calls; nothing is allocated after set-up.
 */
#ifndef MF_SPACES_H
#define MF_SPACES_H

#include "base/mf_hist.h"
#include "memory/mf_space.h"
#include "systems/mf_layer.h"

#define MF_SPACES_TASKS_MAX 64
/** A task of the layer's own, MF_SPACE_ASK(): the keys of the space are forgotten. It has no answer. */
#define MF_SPACES_LEAVE UINT8_MAX

/** A memory node with spaces. */
struct mf_spaces_target {
	uint16_t node; /**< its number for the host */
	uint16_t maker; /**< the own node's number for that node: spaces have it in theirs */
	uint8_t page_class; /**< of the pages that the clients have there */
	uint8_t shift; /**< of their size */
	uint8_t class_shift[MF_PAGE_CLASSES]; /**< of the pages of each class; 0: there is no such class */
	mf_time lease; /**< a space ends when it is not used for so long, ps; 0: it does not */
	uint8_t tasks; /**< slots that it has for each node, 1..; MF_SPACES_TASKS_MAX at most are used */
	uint32_t answer; /**< bytes of the answer to a call, at most; 0: it takes no calls */
};

struct mf_spaces_config {
	const struct mf_spaces_target *target; /**< [targets]; copied */
	unsigned int targets;
	unsigned int depth; /**< operations of clients, 1..2^20; further ones are refused with -EAGAIN */
	uint32_t whole; /**< octets that move all at once: a chunk */
	/* The region of a client; spaces 0: there is none, each operation has its space. */
	uint32_t spaces; /**< at each target, up to 2^MF_SPACE_OF_NODE_BITS */
	uint64_t pages; /**< of each */
	uint64_t base; /**< where it begins */
	uint64_t interleave; /**< octets, a power of two, at most a page of any target */
	bool populate; /**< each page is accessed at the start */
	/**
	 * Pages that are allocated at a time, 1..2^20. Each of a range has to find a slot, so short ranges
	 * fit where most pages are in use (docs/memory.md).
	 */
	uint32_t range;
	/** What the client's library takes for an operation in all, ps: it completes so much later. */
	mf_time client;
	mf_time ask_most; /**< longest time until something is asked again, ps */
	mf_time give_up; /**< for so long a page is waited for, ps; then the operation fails */
};

/** mf_layer_config.param is a struct mf_spaces_config, which is copied. */
extern const struct mf_layer_ops mf_spaces_layer;

struct mf_spaces_stats {
	uint64_t ready; /**< spaces, now */
	uint64_t failed; /**< spaces that could not be had */
	mf_time ready_at; /**< when the last of all was there; 0: not yet, or there are none */
	uint64_t asked, asked_again; /**< of spaces */
	uint64_t joins; /**< of these, for keys of spaces that programs named */
	uint64_t renewed; /**< leases, one each time */
	uint64_t waited; /**< times that the first access of a page found none */
	uint64_t given_up; /**< operations that failed for that */
	uint64_t failed_writes; /**< of what the host was asked, whether they have gone again or not */
	struct mf_hist allocations; /**< ps from the first request for a range to its answer */
};

struct mf_history_log;

/**
 * From now on it records what it asks of spaces (docs/history.md): where each piece of an operation is,
 * and when pages become zero. Its clients record themselves what is of no space, and what they are told of
 * losses.
 * @param l    a layer of this kind
 * @param log  that of its node, whose clients write there from the same thread
 */
void mf_spaces_record(struct mf_layer *l, struct mf_history_log *log);

/** @param l  a layer of this kind. Any thread may call */
void mf_spaces_stats(const struct mf_layer *l, struct mf_spaces_stats *out);

#endif
