/* SPDX-License-Identifier: BSD-3-Clause */
/* The layer of address spaces, for its own files. */
#ifndef SPACES_H
#define SPACES_H

#include "memory/mf_call.h"
#include "spaces/mf_spaces.h"

#define SPACES_NONE UINT32_MAX
/* What is kept of pages and keys that programs name. What is lost of it costs an order, or a JOIN. */
#define KNOWN_SETS (UINT32_C(1) << 16)
#define KNOWN_WAYS 4
#define KNOWN_GROUPS 256 /* of spaces, whose pages are forgotten together */
#define FORGET_MAX 64 /* pages that are forgotten one by one */
#define CHAINS 4096
#define KEY_SETS (UINT32_C(1) << 13)
#define KEY_WAYS 8

/** What becomes of an operation of a client. */
enum way {
	WAY_PASSES, /**< it goes as it is */
	WAY_REGION, /**< its addresses are of the region */
	WAY_POINTER, /**< it names a space, and has addresses there */
	WAY_TASK, /**< it asks something of a space */
};

/** An operation of a client. */
struct operation {
	struct mf_op op;
	struct mf_completion done; /**< what it is told */
	uint64_t issued; /**< octets for which there are pieces */
	uint64_t refused; /**< TASK: the key with which it was refused; 0: it was not */
	uint32_t live; /**< pieces */
	uint32_t next; /**< free, held, or done */
	uint32_t chain; /**< held, or a barrier under way (order.c) */
	uint8_t way; /**< enum way */
	bool held; /**< it waits for a space, a key, a page, a piece, or others of its range */
};

/** Where the next octets of an operation are. */
struct where {
	unsigned int target;
	uint32_t space; /**< its number */
	uint64_t addr; /**< of that space */
	uint64_t page; /**< REGION: its place among all; POINTER: its tag */
	uint64_t start; /**< address of that page */
	uint64_t left; /**< octets that follow each other there */
};

/** What is known of a page. */
enum page_state {
	PAGE_UNKNOWN, /**< perhaps it was never accessed */
	PAGE_BUSY, /**< it is accessed for the first time, or so it may be */
	PAGE_PRESENT,
};

/** What is known of a page that a pointer has named. */
struct known {
	uint64_t tag;
	uint32_t generation; /**< of its group: PRESENT counts in this one alone */
	uint16_t target;
	uint8_t state; /**< enum page_state */
};

enum key_state {
	KEY_NONE,
	KEY_WANTED,
	KEY_ASKED,
	KEY_THERE,
	KEY_FAILED, /**< until all that wait for it have been told */
};

/** A key of a space that a client has named. */
struct key {
	uint64_t key; /**< FAILED: enum mf_status */
	uint32_t space;
	uint32_t next; /**< FAILED */
	uint32_t used; /**< the next place that was ever used, 1 + its number; 0: the last */
	uint16_t target;
	uint8_t right; /**< enum mf_right, or MF_SPACE_OWN */
	uint8_t state; /**< enum key_state */
	bool was; /**< the place was used */
};

/** What a piece is for. */
enum piece_kind {
	PIECE_OF_OPERATION,
	PIECE_TOUCH, /**< reads a word of a page, which is there then */
	PIECE_ASK, /**< of a space: its answer is awaited */
	PIECE_JOIN, /**< the same, for a key that clients need */
	PIECE_RENEW, /**< the lease of a space; that it is not answered does no harm */
};

enum piece_state {
	PIECE_FREE,
	PIECE_READY, /**< to be submitted, when there is room */
	PIECE_BELOW,
	PIECE_LATER, /**< to be submitted again, at .due */
	PIECE_REFUSED, /**< its key was the wrong one: perhaps there is another one */
};

/** What the host is asked. Its place is mf_op.user there. */
struct piece {
	struct mf_op op;
	uint8_t kind; /**< enum piece_kind */
	uint8_t state; /**< enum piece_state */
	uint8_t tries;
	uint8_t way; /**< enum way, of what it is for */
	bool first; /**< the first access of its page, which is busy until then */
	bool former; /**< it was below when its target was lost: what is answered may be of before */
	uint32_t operation; /**< or SPACES_NONE: of the set-up */
	/** ASK, and a call that is late: whose slot of the target it has, and TOUCH of the set-up; else
	 * SPACES_NONE */
	uint32_t worker;
	uint32_t next; /**< free, ready, later, or refused */
	uint64_t page; /**< where.page, where .first, or TOUCH */
	mf_time due, since;
	uint64_t record; /**< its place in the log, where there is one */
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
	uint8_t tries; /**< to make it, since another one had its number */
	mf_time since; /**< it has this space */
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
	struct mf_history_log *log; /**< NULL: nothing is recorded */
	uint16_t node, nodes;
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
	uint32_t used; /**< no operation from there on was ever used */
	struct list held; /**< operations that wait for a space or a page */
	struct list done; /**< operations that have completed */
	struct list ready; /**< pieces */
	struct list refused; /**< pieces, for their keys */
	uint32_t later; /**< pieces, in no order */
	mf_time later_due; /**< the first of them */
	bool look; /**< something has happened that held operations may wait for */
	bool starved; /**< there was no piece: operations wait in their order */
	bool barred; /**< something waits for a free or protect of its range, or that for it */
	uint32_t barriers; /**< the first of these that are under way */
	uint32_t waits[CHAINS + 1]; /**< the first of those held, of each chain (order.c) */
	uint32_t outstanding; /**< operations */
	struct known *known; /**< [KNOWN_SETS * KNOWN_WAYS] */
	uint32_t generation[KNOWN_GROUPS]; /**< of what is known of the pages of a group of spaces */
	bool knows; /**< something is in `known` */
	struct key *key; /**< [KEY_SETS * KEY_WAYS] */
	struct key *last_key; /**< of .key: that was asked for last */
	uint32_t keyed; /**< the first place of `key` that was ever used, as .used; 0: none was */
	uint32_t failed; /**< keys that could not be had; SPACES_NONE: none */
	bool rests; /**< no lease is renewed any more */
	mf_time renew_at; /**< when leases are renewed again; MF_NEVER: there are none */
	uint64_t renewing; /**< the next space of the region to be looked at */
	uint32_t renewing_key; /**< likewise of keys, as .used */
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
/** It waits, behind those of a list. */
void piece_put(struct spaces *s, struct list *list, struct piece *p);
/** It goes again, or for the first time after others of its kind: later each time. @param now  it is */
void piece_again(struct spaces *s, struct piece *p, mf_time now, mf_time most);
/** A target was lost: answers that are there already are of before. */
void pieces_lost(struct spaces *s, uint16_t node);
/** What is due goes. */
void pieces_run(struct spaces *s, mf_time now);

/* operation.c */
/** What becomes of it. */
enum way operation_way(const struct spaces *s, const struct mf_op *op);
/** Goes on with an operation. @return false: it waits */
bool operation_advance(struct spaces *s, struct operation *o);
/** A piece of an operation has completed, or what it touches is there. */
void operation_piece_done(struct spaces *s, struct piece *p, const struct mf_completion *c);
void operation_finish(struct spaces *s, struct operation *o);
/** It ends without what is left of it. One that never went takes as long as it takes to ask. */
void operation_fail(struct spaces *s, struct operation *o, uint8_t status);
/** Has those that wait go on, in their order. */
void operations_look(struct spaces *s);
/** It waits, behind those that wait. */
void operation_hold(struct spaces *s, struct operation *o);

/* order.c */
void order_begin(struct spaces *s);
/** An operation is held, or is not any more. */
void order_waits(struct spaces *s, struct operation *o);
void order_waits_no_more(struct spaces *s, struct operation *o);
/** All that are held are looked at anew: none is, to begin with. The list is still as it was. */
void order_none_waits(struct spaces *s);
/** A task is under way, or is not any more. */
void order_barrier(struct spaces *s, struct operation *o);
void order_barrier_done(struct spaces *s, struct operation *o);
/**
 * Whether it has to wait. A free or protect comes behind all that was asked of its range, and before all that
 * is asked behind it.
 */
bool operation_is_behind_others(struct spaces *s, const struct operation *o);

/* region.c */
/** Whether there is a region so long. */
bool region_has(const struct spaces *s, const struct mf_op *op, uint64_t len);
/**
 * Where the next octets are.
 * @param right  enum mf_right, whose key is wanted
 * @return MF_OK; MF_ERR_PENDING: the space is on its way; or another
 */
uint8_t region_where(const struct spaces *s, const struct operation *o, uint8_t right, struct where *w,
		     uint64_t *key);
/** The place of a page among all. */
uint64_t page_number(const struct spaces *s, unsigned int target, uint32_t space, uint64_t page);
/** Where a page of a space is. */
uint64_t page_address(const struct spaces *s, unsigned int target, uint32_t space, uint64_t page);

/* pointer.c */
/** The same. @return MF_OK; MF_ERR_PENDING: the key is asked for; or why it cannot be had */
uint8_t pointer_where(struct spaces *s, const struct operation *o, uint8_t right, struct where *w,
		      uint64_t *key);
/** What is known of a page. @param way  enum way, that has the page's number */
enum page_state page_state(const struct spaces *s, uint8_t way, unsigned int target, uint64_t page);
/** @return false: there is no place, it stays as it was */
bool page_put(struct spaces *s, uint8_t way, unsigned int target, uint64_t page, enum page_state state);
/**
 * Pages that are to be freed. It takes few steps for any number of pages: if there are many, all pages of the
 * space are forgotten, and those of the other spaces of its group.
 */
void pages_forget(struct spaces *s, unsigned int target, uint32_t space, uint64_t addr, uint64_t octets);
/** Nothing is known any more, but what is busy. */
void pages_forget_all(struct spaces *s);

/* key.c */
/**
 * The key of a space for a right; asks for it.
 * @return MF_OK; MF_ERR_PENDING: it is under way; or why it cannot be had
 */
uint8_t key_get(struct spaces *s, unsigned int target, uint32_t space, uint8_t right, uint64_t *key);
/** An answer has brought one. */
void key_put(struct spaces *s, unsigned int target, uint32_t space, uint8_t right, uint64_t key);
/** A request with this key was refused: there may be another one. */
void key_refused(struct spaces *s, unsigned int target, uint32_t space, uint8_t right, uint64_t key);
/** The space has ended, or an epoch of it. */
void keys_forget(struct spaces *s, unsigned int target, uint32_t space);
/** All of a target. */
void keys_forget_target(struct spaces *s, uint32_t target);
/** A JOIN was answered. */
void key_answered(struct spaces *s, const struct piece *p, uint8_t status, uint64_t result);
/** Whether a lease is renewed with a key: it is there, and none before it of the same space is. */
bool key_renews(const struct spaces *s, const struct key *k);
/** Who waited for keys that could not be had was told. */
void keys_looked(struct spaces *s);

/* renew.c */
/** When leases are renewed next, at the least part of any that is long enough. */
void renew_begin(struct spaces *s);
/** Renews some of the leases, if it is time. */
void renew_run(struct spaces *s);
mf_time renew_next(const struct spaces *s);
/** A renewal was answered. */
void renew_done(struct spaces *s, struct piece *p, const struct mf_completion *c);

/* history.c, where there is a log */
/** A piece of an operation goes for the first time. */
void history_begun(struct spaces *s, struct piece *p);
void history_over(struct spaces *s, const struct piece *p, const struct mf_completion *c);
/** The same of a task. */
void history_asked(struct spaces *s, struct piece *p);
void history_answered(struct spaces *s, const struct piece *p, const struct mf_completion *c);

/* task.c */
/** A request of a worker: all but which task. @return NULL: there is no piece */
struct piece *task_piece(struct spaces *s, unsigned int target, uint32_t worker, enum piece_kind kind);
/** The first argument of a new task of a worker. */
uint64_t task_name(struct spaces *s, unsigned int target, uint32_t worker, uint64_t task);
/** A worker that has nothing to do. @return SPACES_NONE: there is none */
uint32_t task_worker(const struct spaces *s, unsigned int target);
/** Gives an operation of a client, which asks something of a space, a slot. @return false: it waits */
bool task_ask(struct spaces *s, struct operation *o);
/** It was answered. */
void task_done(struct spaces *s, const struct piece *p, const struct mf_completion *c);
/** Whether what it asks is of a range, whose operations it comes behind. */
bool task_is_barrier(const struct mf_op *op);

/* call.c */
/** Whether a call may be asked there: its answer is not too long. @return 0 or -EINVAL */
int call_check(const struct spaces *s, const struct mf_op *op);
/** Names a call that is late. @return false: there is no slot, it waits */
bool call_name(struct spaces *s, struct piece *p);
/** Its slot is free. Of what has none: nothing. */
void call_slot_free(struct spaces *s, struct piece *p);

/* set_up.c */
/** Sends what the next steps to spaces need. Some are set up. */
void set_up_run(struct spaces *s);
/** A piece with a worker was answered. */
void set_up_piece_done(struct spaces *s, struct piece *p, const struct mf_completion *c);
/** A space of the region may be gone. */
void set_up_probe(struct spaces *s, unsigned int target, uint32_t space);
/** All of a target may be gone. */
void set_up_lost(struct spaces *s, unsigned int target);

/** The right whose key an operation needs. A call that there is not is refused whatever its key. */
static inline uint8_t right_of(const struct mf_op *op)
{
	const struct mf_call_desc *call = op->kind == MF_OP_CALL ? mf_call_find(op->arg[0]) : NULL;

	if (op->kind == MF_OP_CALL)
		return call != NULL ? call->right : MF_RIGHT_READ;
	return op->kind == MF_OP_READ ? MF_RIGHT_READ : op->kind == MF_OP_RMW ? MF_RIGHT_RMW : MF_RIGHT_WRITE;
}

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
