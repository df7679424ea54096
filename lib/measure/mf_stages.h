/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stage log: where the time of a message goes, for Table 1 and Figure 5 of the paper.
 *
 * Every stage stamps the one operation that is under way (one client, depth 1). The log checks that the
 * stamps follow each other without gap or overlap, so that nothing is left unexplained.
 */
#ifndef MF_STAGES_H
#define MF_STAGES_H

#include "fabric/mf_fabric_state.h"

/** Where a stage is. */
enum stage_place { PLACE_COMPUTE, PLACE_SWITCH, PLACE_MEMORY, PLACES };

struct stage_stamp {
	enum mf_stage stage;
	enum stage_place place;
	mf_time from, to;
};

#define STAGE_STAMPS_MAX 256 /* of some 10 switches, there and back */

/** What an operation is, as its stages tell. */
enum stage_kind {
	STAGE_READ,
	STAGE_WRITE, /**< until its effect */
	STAGE_WRITE_ACK, /**< until it is known that it has happened */
	STAGE_ATOMIC, /**< until its result is there */
	STAGE_KINDS
};

/** An operation. */
struct stage_record {
	enum stage_kind kind;
	bool whole; /**< from submission to completion or effect */
	unsigned int count;
	mf_time done; /**< write: effect at the memory node, told by the memory node itself; MF_NEVER: not yet
		       */
	struct stage_stamp stamp[STAGE_STAMPS_MAX];
};

struct stage_log {
	struct stage_record now; /**< the operation under way */
	struct stage_record last[STAGE_KINDS]; /**< the last whole one of each */
	uint64_t count[STAGE_KINDS]; /**< operations that were logged whole */
	uint64_t broken; /**< operations with a gap, an overlap, or too many stamps */
	uint64_t differ; /**< operations whose stamps do not equal those of the one before */
	enum stage_place place;
	bool above; /**< the stack is above the MAC */
	mf_time pcs_tx, pcs_rx, pma;
};

/** @return NULL: no memory */
struct stage_log *stages_new(const struct mf_timing *timing);
void stages_free(struct stage_log *log);

/** An operation of a stack above the MAC begins: mf_probe.start. */
void stages_start(struct stage_log *log, bool write);
/** A core's stamp. */
void stages_stamp(struct stage_log *log, enum mf_stage stage, mf_time from, mf_time to);
/** The write under way has taken effect. */
void stages_effect(struct stage_log *log, mf_time done);

/** A span goes onto a link: stamps PCS, PMA and propagation of its first block, and the wait for the line. */
void stages_link(struct stage_log *log, const struct link_timing *link, const struct mf_span *span,
		 enum stage_place from, enum stage_place to);

/** The run is over: closes the last operation. */
void stages_end(struct stage_log *log);

/**
 * Whether the stages of every operation follow each other without gap, are the same for all, and add up to
 * what client (reads) and memory node (writes) measured, to the picosecond.
 * @param err  why not, one line
 */
bool stages_sound(const struct mf_fabric *f, char *err, size_t errlen);

/** Name of a kind in the result. */
const char *stages_kind_name(enum stage_kind kind);

/** Sum over an operation of one stage, at one place or (place = PLACES) everywhere. */
mf_time stages_sum(const struct stage_record *r, enum mf_stage stage, enum stage_place place);
/** How often a stage occurred. */
unsigned int stages_count(const struct stage_record *r, enum mf_stage stage, enum stage_place place);

#endif
