/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Faults of one direction of a link: what is sent goes in, what reaches the other end comes out.
 *
 * Sans-I/O and seeded: the same blocks at the same times with the same seed give the same faults, in whatever
 * spans they come. A unit is what a fault strikes: a bit on the wire, a block, or a message. A message is a
 * memory message from /MS/ to /MT/, a memory message of one block (/N/, /G/, /MST/), or a frame from /S/ to
 * /T/; idle blocks that stand in spans belong to none. A rule may strike idle, too, where nothing is sent
 * (mf_fault_rule.idle): then what reaches the other end has those idle blocks that are damaged.
 *
 * One thread calls.
 */
#ifndef MF_FAULT_H
#define MF_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pcs/mf_block.h"
#include "systems/edm/fault/mf_witness.h"

#define MF_FAULT_RULES 256 /**< of a stage, at most */

enum mf_fault_class {
	/**
	 * A bit of a block, header or payload, is wrong on the wire. A payload bit is so in what the receiver
	 * descrambles, too, and again 39 and 58 bits later (IEEE 802.3 49.2.10: x^58 + x^39 + 1): three
	 * errors, of which some may hit the next block. Whether the emulated link scrambles makes no
	 * difference.
	 */
	MF_FAULT_BIT,
	MF_FAULT_SYNC, /**< a block: its sync header becomes 00 or 11 */
	MF_FAULT_TYPE, /**< a control block: its type octet becomes another one */
	MF_FAULT_CUT, /**< a block in a message of several: it and what is behind it in the message is lost */
	MF_FAULT_LOSE, /**< a message is lost */
	MF_FAULT_DUPLICATE, /**< a message comes twice, the second time right behind the first */
	MF_FAULT_DELAY, /**< a message, and what is behind it, is held up for `time` */
	MF_FAULT_REORDER, /**< a message comes behind the next one; without one it comes after `time` */
	/* What a port sends that its host knows nothing of; the rate is the share of the line's. */
	MF_FAULT_FLOOD, /**< reads, and notifications of writes, of the node itself */
	MF_FAULT_SPOOF, /**< messages of all kinds that claim to be of another node */
	MF_FAULT_GARBAGE, /**< blocks at random, of all types; their sync headers are good */
	MF_FAULT_FORGE, /**< requests of the node itself with a wrong key, right or place */
	MF_FAULT_STAGE_CLASSES, /**< those above are what a stage does; the others are the engine's */
	MF_FAULT_LINK_DOWN = MF_FAULT_STAGE_CLASSES, /**< a cable is pulled, and plugged in again */
	MF_FAULT_NODE_CRASH, /**< the process of a node is gone, and comes back with nothing in it */
	MF_FAULT_SWITCH_CRASH, /**< the same of a switch */
	MF_FAULT_STALL, /**< a role is not called; what it is sent waits */
	MF_FAULT_EXHAUST, /**< what is free of something that there is a fixed number of is taken away */
	MF_FAULT_SKEW, /**< the clock of a node or a switch is fast or slow, and shows another time */
	MF_FAULT_CLASSES
};

/**
 * Where a node floods or forges, its host leaves the ids from MF_FAULT_FLOOD_ID on
 * (mf_host_config.leaves_ids): those below MF_FAULT_FORGE_ID are for FLOOD, the others for FORGE.
 */
#define MF_FAULT_FLOOD_ID 192
#define MF_FAULT_FORGE_ID 224

/** "bit", "sync", ... by class; NULL behind the last one */
extern const char *const mf_fault_names[MF_FAULT_CLASSES + 1];

/** Where a region is. */
struct mf_fault_region {
	uint64_t at, size; /**< octets */
	uint16_t node; /**< its memory node */
};

/** What a region's memory node knows of a right of some node. */
struct mf_fault_secret {
	uint64_t key; /**< of the right */
	bool may; /**< the node has the right */
	bool owns; /**< it owns the region */
	bool claimable; /**< the region has no owner in the file, so it may be claimed */
	bool free; /**< nobody owns it now */
};

/** What FORGE knows of regions: all of it. */
struct mf_fault_secrets {
	const struct mf_fault_region *region; /**< by node and address; the caller's */
	unsigned int regions;
	/** Looks a right (enum mf_right) of a node in region[] up, as it is now. Called by mf_fault_run(). */
	struct mf_fault_secret (*look)(void *ctx, unsigned int region, uint16_t node, unsigned int right);
	void *ctx;
};

/** What came of forged messages. Refused writes that are not acknowledged have no answer. */
struct mf_forge_stats {
	uint64_t sent; /**< requests, and demands of writes */
	uint64_t refused; /**< answered with MF_ERR_KEY, as all of them have to be */
	uint64_t let_in; /**< done all the same: a fault of the fabric, as are `told` and `found` */
	uint64_t told; /**< answered with another error, which tells something */
	uint64_t claimed; /**< free regions that were claimed, to look at what is in them */
	uint64_t found; /**< reads of them that found something of a former owner */
};

static inline void mf_forge_add(struct mf_forge_stats *to, const struct mf_forge_stats *s)
{
	to->sent += s->sent;
	to->refused += s->refused;
	to->let_in += s->let_in;
	to->told += s->told;
	to->claimed += s->claimed;
	to->found += s->found;
}

struct mf_fault_rule {
	uint8_t class; /**< enum mf_fault_class */
	double rate; /**< that a unit is struck, 0 < rate <= 1; of each unit by itself. FLOOD...: see there */
	mf_time from, until; /**< units that start in [from, until) */
	mf_time time; /**< DELAY, REORDER: 1.. ps */
	uint64_t count; /**< at most so many; 0: any number */
	bool idle; /**< BIT, SYNC, TYPE: blocks of idle, too, where a block takes time */
	const uint16_t *to; /**< FLOOD: nodes that it asks, in turn; the caller's */
	unsigned int to_count;
};

struct mf_fault_config {
	const struct mf_fault_rule *rule; /**< copied */
	unsigned int rules; /**< 1..MF_FAULT_RULES */
	/**
	 * ps a block of this link. 0: wall clock, where a block takes no time; the caller then holds spans
	 * that start later than now back until they do
	 */
	uint32_t period;
	uint32_t pace; /**< FLOOD...: ps a block, 1..: mf_fault_rule.rate is a share of that rate */
	mf_time idle_until; /**< mf_fault_rule.idle: of idle before that; 0: of none */
	uint64_t seed;
	uint64_t number; /**< of this direction among all: a stream of random numbers of its own */
	const struct mf_proto
		*proto; /**< how messages are checked; NULL: nobody watches what comes of them */
	uint16_t node, nodes; /**< FLOOD...: whose port, of how many nodes; needs proto */
	const struct mf_fault_secrets *secrets; /**< copied; needed by FORGE */
};

struct mf_fault;

/** @return NULL with errno: EINVAL (see mf_fault_rule), ENOMEM */
struct mf_fault *mf_fault_new(const struct mf_fault_config *config);
void mf_fault_free(struct mf_fault *f);

/**
 * Takes what reaches the other end: spans, in the order of their start; blocks that follow each other without
 * a gap may come in several. Those of idle (MF_SPAN_IDLE) come up to MF_SPAN_MAX + 3 blocks late.
 * @param s  the stage's, until the function returns
 */
typedef void (*mf_fault_emit)(void *ctx, struct mf_span *s);

/**
 * A span is sent.
 * @param span  starts behind all blocks before it; not changed. Its period is that of the configuration
 */
void mf_fault_send(struct mf_fault *f, const struct mf_span *span, mf_fault_emit emit, void *ctx);

/**
 * A block that is on the wire as it is, without a scrambler: one of a test pattern (mf_test_pattern.h). Rules
 * of MF_FAULT_BIT and MF_FAULT_SYNC strike it, no others.
 *
 * @param at  its start, ps; not before that of an earlier call
 * @param b   is damaged in place
 * @return number of wrong bits, 0..66
 */
unsigned int mf_fault_raw(struct mf_fault *f, mf_time at, struct mf_block *b);

/** The link is lost: what is under way, or held back, is thrown away; what is sent from now on is new. */
void mf_fault_cut(struct mf_fault *f, mf_time now);

/** The link is there again after mf_fault_cut(). Errors of idle begin again. */
void mf_fault_mend(struct mf_fault *f, mf_time now);

/**
 * Whether the receiver of what has left waits for the rest of a memory message, which will not come: what
 * follows cuts it, with its first block.
 */
bool mf_fault_hangs(const struct mf_fault *f);

/** When what is held back is due, or goes by itself, if nothing is sent before; MF_NEVER: nothing is. */
mf_time mf_fault_next(const struct mf_fault *f);
/** Lets go what is due at now. */
void mf_fault_run(struct mf_fault *f, mf_time now, mf_fault_emit emit, void *ctx);

/** What comes the other way, to the node that sends here. Only FORGE listens. */
void mf_fault_hear(struct mf_fault *f, const struct mf_span *span);
/** What came of forged messages; NULL: no rule is FORGE. */
const struct mf_forge_stats *mf_fault_forged(const struct mf_fault *f);

/** What the check at the other end makes of it all; NULL: nobody watches. */
const struct mf_witness_stats *mf_fault_witness(const struct mf_fault *f);

/** How often a rule, by its place, has fired: errors on the wire, blocks, messages. */
uint64_t mf_fault_fired(const struct mf_fault *f, unsigned int rule);
/** Of these, in blocks of idle. */
uint64_t mf_fault_fired_idle(const struct mf_fault *f, unsigned int rule);

#endif
