/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stage that harms frames on purpose: drops, duplicates, reorders and corrupts, each with a probability of
 * its own, from one seed. It never looks at what is in a frame: what a bit flip hits is a matter of chance,
 * the MAC addresses and the EtherType included.
 *
 * Sans-I/O; one thread calls; one stage a direction, with a number of its own. Frames are their owner's: the
 * stage keeps those that it holds back, and only those.
 */
#ifndef MF_IMPAIR_H
#define MF_IMPAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mf_rng.h"

#define MF_IMPAIR_HELD 16 /**< most frames held back at a time */
#define MF_IMPAIR_OUT (2 * MF_IMPAIR_HELD + 2) /**< most steps that come of a frame */

struct mf_impair_config {
	double drop, duplicate, reorder, corrupt; /**< probabilities, 0..1; independent of each other */
	uint16_t reorder_by; /**< a frame is held back until 1 to so many others have passed; 0: 3 */
	/** Numbers of frames to drop, growing, the first frame is number 0; the list stays the caller's. */
	const uint64_t *drop_list;
	uint32_t drop_count;
};

struct mf_impair_stats {
	uint64_t frames, dropped_frames, duplicated_frames, reordered_frames, corrupted_frames;
};

struct mf_impair_frame {
	void *frame; /**< the owner's */
	uint8_t *data; /**< its octets, which may be changed */
	uint32_t len;
};

enum mf_impair_do {
	MF_IMPAIR_SEND,
	MF_IMPAIR_SEND_COPY, /**< sends a copy: the frame itself comes in a later step */
	MF_IMPAIR_DROP, /**< frees it */
};

/** What the owner is to do with a frame, in this order. */
struct mf_impair_step {
	enum mf_impair_do what;
	struct mf_impair_frame frame;
};

struct mf_impair_hold {
	struct mf_impair_frame frame;
	uint32_t left; /**< frames that have to pass */
};

struct mf_impair {
	struct mf_impair_config config;
	struct mf_impair_stats stats;
	struct mf_rng rng;
	uint32_t listed; /**< of drop_list, done */
	uint32_t held;
	struct mf_impair_hold hold[MF_IMPAIR_HELD];
};

/** @param number  of the stage: each has random numbers of its own */
void mf_impair_init(struct mf_impair *s, const struct mf_impair_config *config, uint64_t seed,
		    uint64_t number);

/** A frame comes by. @param out  room for MF_IMPAIR_OUT steps @return how many */
unsigned int mf_impair(struct mf_impair *s, const struct mf_impair_frame *in, struct mf_impair_step *out);

/** Lets out all that is held back: nothing else will come by soon. @return steps */
unsigned int mf_impair_flush(struct mf_impair *s, struct mf_impair_step *out);

#endif
