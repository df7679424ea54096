/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of the stage: its rules, the messages that pass, what leaves. */
#ifndef MF_FAULT_STAGE_H
#define MF_FAULT_STAGE_H

#include "base/mf_rng.h"
#include "fault/mf_fault.h"
#include "systems/edm/fault/forge.h"
#include "systems/edm/fault/mf_witness.h"

#define FAULT_BLOCK_BITS 66
#define FAULT_MESSAGE_MAX (65536 / 8 + 32) /**< blocks of the longest message, with its header and checks */

/** A rule and its dice. */
struct fault_dice {
	struct mf_fault_rule rule;
	struct mf_rng rng;
	uint64_t left; /**< units until the next one that is struck */
	uint64_t fired;
};

/** Whether `units` more units that start at t are struck: the place of the first, or `units`. */
uint64_t fault_roll(struct fault_dice *d, mf_time t, uint64_t units);
/** The first roll. @param stream  of random numbers, by its name */
void fault_dice_init(struct fault_dice *d, const struct mf_fault_config *c, unsigned int rule,
		     const char *stream);
/** The first bit of a block, from `from` on, that the rule strikes; FAULT_BLOCK_BITS: none. */
unsigned int fault_struck(struct fault_dice *d, mf_time t, unsigned int from);
/** Units that are spared until the next one that is struck. */
uint64_t fault_draw(struct fault_dice *d);

/** The line where nothing is sent. */
struct fault_idle {
	bool on; /**< some rule strikes it */
	mf_time at; /**< the first block that was not looked at yet; MF_NEVER: the link is down */
	mf_time next; /**< when the next block that is struck goes, if nothing is sent before */
	mf_time until;
	struct mf_rng rng; /**< which header, which type */
	struct fault_dice
		dice[MF_FAULT_RULES]; /**< of each rule: .left from `at` on, .fired. The rule is not used */
};

/** What goes by itself, by a rule. */
struct fault_source {
	unsigned int rule;
	unsigned int turn; /**< how many went */
	mf_time next;
	struct mf_rng rng;
};

/** A block on its way, and what it was when it was sent. */
struct fault_block {
	struct mf_block b;
	struct mf_witness_tag tag;
	bool wrong; /**< its receiver takes it for something else */
};

/** Blocks of one message that are kept. */
struct fault_copy {
	unsigned int count;
	bool frame; /**< MF_SPAN_FRAME */
	struct fault_block block[FAULT_MESSAGE_MAX];
};

/** What happens to a message that passes; memory and frames have one each, since they may interleave. */
struct fault_lane {
	bool open; /**< between its first and its last block */
	bool lost; /**< the rest of it is thrown away */
	bool twice; /**< it is kept, too, to be sent again */
	bool held; /**< it is kept, and not sent now */
	uint64_t message; /**< its number; 0: a frame */
	uint16_t index; /**< of its next block */
};

struct mf_fault {
	struct fault_dice dice[MF_FAULT_RULES];
	unsigned int rules;
	uint32_t period, pace;
	struct fault_source source[MF_FAULT_RULES];
	unsigned int sources;
	uint16_t node, nodes;
	struct fault_forge *forge; /**< NULL: nothing is forged */
	struct mf_proto proto;
	struct mf_rng rng; /**< which bit, which type */
	struct fault_lane lane[2];
	uint64_t messages; /**< memory's that have begun */
	bool holding; /**< `held` is there as a whole */
	mf_time release; /**< then at the latest */
	uint64_t carry; /**< errors that the next payload has from the one before */
	mf_time carry_at; /**< if it starts then */
	mf_time free_at; /**< when the wire is free again */
	bool inside; /**< a receiver of what has left is inside a memory message */
	struct fault_idle idle;
	mf_fault_emit emit; /**< of the call under way */
	void *ctx;
	struct mf_witness *witness; /**< NULL: nobody watches */
	struct mf_span out; /**< what leaves, as far as it is without a gap */
	struct mf_witness_tag tag[MF_SPAN_MAX]; /**< of its blocks */
	/* Large, and mostly not used: from here on nothing is set but the counts. */
	struct fault_copy twice; /**< of the message under way */
	struct fault_copy held; /**< of one that comes behind the next */
};

/**
 * A wire error at a bit of a block, in the order of the wire.
 * @param own    errors of the block's payload, behind the descrambler
 * @param carry  errors of the next block's
 */
void fault_bit(unsigned int bit, uint8_t *sync, uint64_t *own, uint64_t *carry);

/** A block leaves at its time, or as soon as the wire is free. */
void fault_leave(struct mf_fault *f, mf_time t, const struct fault_block *b, uint16_t flags);

/* idle.c; but for the first one only where idle.on */
void fault_idle_init(struct mf_fault *f, const struct mf_fault_config *c);
/** Nothing was sent before t: the blocks until then were idle. */
void fault_idle_until(struct mf_fault *f, mf_time t);
/** The line is idle from then on, as far as is known. */
void fault_idle_from(struct mf_fault *f, mf_time t);
/** What was struck and is due at now goes. */
void fault_idle_run(struct mf_fault *f, mf_time now);

/* inject.c */
void fault_source_init(struct mf_fault *f, const struct mf_fault_config *c, unsigned int rule);
/** When the next message goes by itself; MF_NEVER: none does. */
mf_time fault_inject_next(const struct mf_fault *f);
/** Those that are due at now. */
void fault_inject(struct mf_fault *f, mf_time now);

#endif
