/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A switch on a bench: a script of what arrives and what is granted, run on a clock of its own, and
 * what came of it. The same script runs with whole spans or block by block (D18).
 */
#ifndef RIG_H
#define RIG_H

#include "base/mf_rng.h"
#include "systems/edm/switch/mf_switch.h"

#define RIG_PORTS 64
#define P 2560 /**< ps a block at 25 Gb/s */
#define IDENTIFY P
#define MAKE_GRANT (2 * P)
#define FORWARD (4 * P)
#define L2_LATENCY MF_NS(400)

/** A block that left a port, or what is to arrive at one. */
struct rig_block {
	mf_time at;
	uint64_t word;
	uint8_t sync;
};

struct rig_event {
	mf_time at;
	unsigned int order; /**< among events of one time: by port, grants last */
	unsigned int number; /**< as they were put in */
	bool grant;
	bool frame; /**< blocks of a frame: handed over at the last one */
	unsigned int port, n;
	uint32_t period;
	struct rig_block *block;
	struct mf_sched_grant g;
};

struct rig {
	struct mf_switch_config config;
	struct mf_switch *sw;
	bool by_block;
	struct mf_rng *cut; /**< spans are cut where it says; NULL: they are as long as they can be */
	bool reverse; /**< ports are called in falling order */
	mf_time now;
	struct rig_event *event;
	unsigned int events, room, done;
	struct rig_block *out[RIG_PORTS]; /**< idle blocks left out */
	unsigned int outs[RIG_PORTS];
	struct mf_sched_msg *msg; /**< to the scheduler */
	unsigned int msgs;
};

/** A configuration that works: n ports of 25 Gb/s, no timeouts, no K, no W. */
void rig_config(struct mf_switch_config *c, unsigned int n);
void rig_start(struct rig *r, const struct mf_switch_config *c, bool by_block);
void rig_stop(struct rig *r);

/** Blocks arrive at a port from `at` on; the first and the last are control blocks. */
void rig_message(struct rig *r, mf_time at, unsigned int port, const uint64_t *word, unsigned int n);
/** Any blocks, back to back. */
void rig_blocks(struct rig *r, mf_time at, unsigned int port, const struct mf_block *block, unsigned int n);
/** One message that is cut: only its first n blocks come, all but the first are data. */
void rig_cut(struct rig *r, mf_time at, unsigned int port, const uint64_t *word, unsigned int n);
/** A frame arrives. @return when its /T/ starts */
mf_time rig_frame(struct rig *r, mf_time at, unsigned int port, const uint8_t *frame, uint16_t len);
void rig_grant(struct rig *r, mf_time at, const struct mf_sched_grant *g);
/** Runs to `until`, all of that time included. Events are put in before the run that takes them. */
void rig_run(struct rig *r, mf_time until);

/** Messages, built. @return blocks */
unsigned int rig_single(const struct mf_msg *m, uint64_t *word);
unsigned int rig_request(const struct rig *r, uint16_t cn, uint16_t mn, uint8_t id, uint32_t size,
			 uint64_t *word);
unsigned int rig_chunk(const struct rig *r, uint8_t kind, uint16_t src, uint16_t dst, uint8_t id,
		       uint32_t size, uint64_t *word);
/** A grant of a write (resp false: src is the compute node) or of a response. */
struct mf_sched_grant rig_grant_of(mf_time at, uint16_t src, uint16_t dst, uint8_t id, bool resp, bool first,
				   uint32_t size, uint32_t cookie);

/** Whether the blocks from `first` on at a port are these, back to back from `at` on, with right headers. */
bool rig_sent(const struct rig *r, unsigned int port, unsigned int first, mf_time at, const uint64_t *word,
	      unsigned int n);
/** Descriptors of a kind; last: the last of them. */
unsigned int rig_told(const struct rig *r, enum mf_sched_msg_kind kind, struct mf_sched_msg *last);
/** Frames that left a port, decoded. @return how many; the last one in frame */
unsigned int rig_frames(const struct rig *r, unsigned int port, uint8_t *frame, unsigned int *len);
/** Drops of all causes, layer 2 aside. */
uint64_t rig_drops(const struct rig *r);
/** Whether two rigs gave the same blocks at the same times and the same descriptors. */
bool rig_same(const struct rig *a, const struct rig *b);

#endif
