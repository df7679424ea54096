/* SPDX-License-Identifier: BSD-3-Clause */
/* The layer of address spaces, for its own files. */
#ifndef SPACES_H
#define SPACES_H

#include "spaces/mf_spaces.h"

#define SPACES_NONE UINT32_MAX
/**
 * Pages that are allocated at a time, so that they fit where most pages are in use (docs/memory.md): each of
 * a range has to find a slot.
 */
#define SPACES_RANGE 64

/** An operation of a client. */
struct operation {
	struct mf_op op;
	struct mf_completion done; /**< what it is told */
	uint64_t issued; /**< octets for which there are pieces */
	uint32_t live; /**< pieces */
	uint32_t next; /**< free, held, or done */
	bool passes; /**< it goes as it is */
	bool held; /**< it waits for a space, a page or a piece */
};

/** What a piece is for. */
enum piece_kind {
	PIECE_OF_OPERATION,
	PIECE_TOUCH, /**< reads a word of a page, which is there then */
	PIECE_ASK, /**< of a space: its answer is awaited */
};

enum piece_state {
	PIECE_FREE,
	PIECE_READY, /**< to be submitted, when there is room */
	PIECE_BELOW,
	PIECE_LATER, /**< to be submitted again, at .due */
};

/** What the host is asked. Its place is mf_op.user there. */
struct piece {
	struct mf_op op;
	uint8_t kind; /**< enum piece_kind */
	uint8_t state; /**< enum piece_state */
	uint8_t tries;
	bool first; /**< the first access of its page, which is busy until then */
	uint32_t operation; /**< or SPACES_NONE: of the set-up */
	uint32_t worker; /**< ASK: whose slot of the target it has, and TOUCH of the set-up; else SPACES_NONE
			  */
	uint32_t next; /**< free, ready, or later */
	uint64_t page; /**< of all pages; where .first, or TOUCH */
	mf_time due, since;
	uint64_t word[2]; /**< what a TOUCH reads; the answer to an ASK */
};

/* Steps to a space, of one target. */
enum space_step {
	SPACE_PROBE, /**< it was there: is it still? */
	SPACE_MAKE,
	SPACE_RETAKE, /**< there is one of a former start of this node */
	SPACE_END,
	SPACE_JOIN_READ,
	SPACE_JOIN_WRITE,
	SPACE_JOIN_RMW,
	SPACE_ALLOCATE,
	SPACE_POPULATE,
	SPACE_READY,
	SPACE_FAILED,
};

/** A space at a target. */
struct space {
	uint64_t own, key[MF_RIGHTS];
	uint8_t step; /**< enum space_step */
	bool worked; /**< a worker has it */
};

/** A slot of a target for tasks. */
struct worker {
	uint32_t number; /**< of its last task */
	uint32_t space; /**< set-up: on its way; SPACES_NONE: none */
	uint32_t piece; /**< SPACES_NONE: it is idle */
	uint64_t ranges; /**< ALLOCATE: that it has */
	uint64_t touched; /**< POPULATE: pages */
};

struct target {
	struct mf_spaces_target config;
	unsigned int workers;
	struct worker worker[MF_SPACES_TASKS_MAX];
	uint32_t next_space; /**< no space before it needs a worker */
	uint32_t number; /**< of tasks: higher than all before */
};

struct list {
	uint32_t first, last; /**< SPACES_NONE: it is empty */
};

struct spaces {
	struct mf_layer layer; /**< first: the layer is this */
	struct mf_spaces_config config;
	uint16_t nodes;
	struct target *target;
	uint16_t *target_of; /**< [nodes]: UINT16_MAX: it has no spaces */
	struct space *space; /**< [targets * spaces] */
	uint64_t *at; /**< [targets * spaces * ranges]: where each range of a space begins */
	uint64_t ranges; /**< of a space */
	uint64_t *present,
		*busy; /**< a bit for each page of each space: it was accessed; it is for the first time */
	struct operation *operation; /**< [depth] */
	struct piece *piece; /**< [pieces] */
	uint32_t pieces;
	uint32_t free_operation, free_piece;
	struct list held; /**< operations that wait for a space or a page */
	struct list done; /**< operations that have completed */
	struct list ready; /**< pieces */
	uint32_t later; /**< pieces, in no order */
	mf_time later_due; /**< the first of them */
	bool look; /**< something has happened that held operations may wait for */
	bool starved; /**< there was no piece: operations wait in their order */
	uint32_t outstanding; /**< operations */
	uint32_t setting_up; /**< spaces that are not there yet, and may be */
	mf_time now;
	struct mf_spaces_stats stats;
};

static inline struct spaces *spaces_of(struct mf_layer *l)
{
	return (struct spaces *)l;
}

static inline const struct spaces *const_spaces(const struct mf_layer *l)
{
	return (const struct spaces *)l;
}

/* piece.c */
/** @return NULL: none is free */
struct piece *piece_new(struct spaces *s, enum piece_kind kind);
void piece_free(struct spaces *s, struct piece *p);
/** It goes as soon as there is room; those before it go first. */
void piece_go(struct spaces *s, struct piece *p);
/** It goes again, later each time. @param now  it is */
void piece_again(struct spaces *s, struct piece *p, mf_time now, mf_time most);
/** What is due goes. */
void pieces_run(struct spaces *s, mf_time now);

/* operation.c */
/** Goes on with an operation. @return false: it waits for a space or a page */
bool operation_advance(struct spaces *s, struct operation *o);
/** A piece of an operation has completed, or what it touches is there. */
void operation_piece_done(struct spaces *s, struct piece *p, const struct mf_completion *c);
void operation_finish(struct spaces *s, struct operation *o);
/** Has those that wait go on, in their order. */
void operations_look(struct spaces *s);
/** It waits, behind those that wait. */
void operation_hold(struct spaces *s, struct operation *o);
/** The place of a page among all. */
uint64_t page_number(const struct spaces *s, unsigned int target, uint32_t space, uint64_t page);
/** Where a page of a space is. */
uint64_t page_address(const struct spaces *s, unsigned int target, uint32_t space, uint64_t page);

/* set_up.c */
/** Sends what the next steps to spaces need. */
void set_up_run(struct spaces *s);
/** A piece of it, or something that a client has asked, was answered. */
void set_up_piece_done(struct spaces *s, struct piece *p, const struct mf_completion *c);
/** Gives an operation of a client, which asks something of a space, a slot. @return false: none is free */
bool set_up_ask(struct spaces *s, struct operation *o);
/** All of a target may be gone. */
void set_up_lost(struct spaces *s, unsigned int target);

static inline bool bit(const uint64_t *set, uint64_t i)
{
	return set[i / 64] >> i % 64 & 1;
}

static inline void bit_put(uint64_t *set, uint64_t i, bool on)
{
	set[i / 64] &= ~(UINT64_C(1) << i % 64);
	set[i / 64] |= (uint64_t)on << i % 64;
}

#endif
