/* SPDX-License-Identifier: BSD-3-Clause */
/* The slow path of a virtual memory, for its own files. */
#ifndef MEMORY_VM_SLOW_H
#define MEMORY_VM_SLOW_H

#include "memory/mf_page_pool.h"
#include "memory/mf_range_alloc.h"
#include "memory/mf_region.h"
#include "memory/mf_vm_slow.h"

#define VM_SLOW_QUEUE 256 /**< places to the fast path: what it may have to do in a turn */
#define VM_SLOW_SLICE 64 /**< steps of a task until the next one goes on */
#define VM_SLOW_COVERED 64 /**< ranges that a free or protect may be of */

/** A space that is there. */
struct vm_space {
	uint32_t number;
	uint32_t begun; /**< tasks that were begun, and are not answered */
	uint32_t next_free; /**< record; of those that are not in use */
	uint32_t life; /**< of the node that made it, then */
	uint8_t idle; /**< LEASEs since it was used */
	bool expired; /**< its lease is over */
	bool ending; /**< no task begins any more */
	struct mf_ranges ranges;
	uint64_t next[MF_PAGE_CLASSES]; /**< where the last range ended: an allocation without a hint begins
					   there */
	struct mf_region_nodes readers, writers; /**< a writer is a reader, too */
};

/** Of each number there could be. */
struct vm_numbered {
	uint32_t record; /**< 1 + that of the space; 0: there is none */
	uint32_t epoch; /**< the last one */
	uint32_t changes_asked, changes_done; /**< frees and protects, so far; they end in their order */
};

struct vm_task {
	uint8_t what; /**< enum mf_space_task */
	uint8_t state; /**< enum vm_task_state */
	uint8_t shift; /**< of the pages of the range */
	uint8_t rights;
	uint8_t status; /**< enum mf_status: the answer */
	uint16_t node;
	bool own; /**< the slow path's: nobody is answered */
	uint32_t number, epoch; /**< of the space, as asked */
	struct vm_space *space; /**< from its begin on; NULL: MAKE, JOIN */
	uint64_t ticket, arg[2], result;
	uint64_t order; /**< tasks that came before have a lower one */
	uint32_t changes_before; /**< FREE, PROTECT: vm_numbered.changes_done when its turn has come */
	/* A range under way. */
	uint64_t at, pages;
	uint64_t sent, done; /**< pages that the fast path was told of, and those that it has answered */
	struct mf_range_alloc alloc;
};

enum vm_task_state {
	VM_TASK_ASKED, /**< not begun */
	VM_TASK_BEGUN,
	VM_TASK_SENDING, /**< runs of pages */
};

/** What came of a slice. */
enum vm_progress {
	VM_WAITS, /**< nothing: for the fast path, places, or another task */
	VM_MORE,
	VM_DONE /**< .status and .result are the answer */
};

struct vm_class_pages {
	struct mf_vm_slow *slow;
	unsigned int page_class;
	struct mf_page_pool *pool; /**< NULL: there is no such class */
	uint32_t credit; /**< places of the ring that no page is on the way to */
	uint32_t heard; /**< TAKENs */
	bool supply; /**< what the fast path was told */
};

struct mf_vm_slow {
	struct mf_vm_config config;
	struct mf_vm_layout layout;
	struct mf_vm_slow_stats stats; /**< what is counted */
	uint8_t *octets; /**< the fast path's */
	struct vm_class_pages pages[MF_PAGE_CLASSES];
	unsigned int next_class; /**< that is zeroed first */
	struct mf_bucket_use *use;
	struct mf_range_pool *ranges;
	struct vm_numbered *numbered; /**< [MF_SPACES], touched where spaces are */
	uint64_t numbered_mapped;
	struct vm_space *space; /**< [config.spaces] */
	uint32_t free_space; /**< config.spaces: none */
	uint32_t spaces;
	uint32_t records; /**< of spaces, that were ever used */
	struct vm_task *task; /**< [places]: one is the slow path's */
	uint32_t places;
	uint32_t *place; /**< [places], a ring: of tasks, those under way in the order of their turns */
	uint32_t first; /**< place of the task whose turn it is; those under way follow, then free ones */
	uint32_t tasks; /**< under way */
	uint32_t waiting; /**< of these, that had their turns last, and wait; an item that comes may help */
	uint64_t order;
	uint64_t run; /**< pages of a run at most, that the fast path does at once: as the turn's steps */
	uint32_t removes; /**< under way */
	uint64_t entries[MF_PORTS_MAX]; /**< of the spaces that a node has made */
	/* Leases. */
	mf_time now;
	mf_time sweep_at; /**< when spaces are asked again */
	uint32_t sweep, sweep_end; /**< records of spaces that are still to be asked */
	uint32_t leases; /**< LEASEs under way */
	uint32_t life[MF_PORTS_MAX]; /**< how often nodes have begun anew */
	uint16_t forget[MF_PORTS_MAX]; /**< nodes whose FORGET is not answered yet */
	uint32_t forgets;
	bool over; /**< a space may have to end that was not when it was looked at */
	uint32_t look; /**< record of the next space to look at for that; records: all were */
	bool ending; /**< the task that ends one is under way */
	struct mf_vm_queue *out;
};

static inline bool vm_slow_has_place(const struct mf_vm_slow *s)
{
	return mf_vm_queue_left(s->out) > 0;
}

/** There is a place. */
void vm_slow_send(struct mf_vm_slow *s, const struct mf_vm_item *item);

/** Ends a task. */
static inline enum vm_progress vm_slow_done(struct vm_task *t, uint8_t status, uint64_t result)
{
	t->status = status;
	t->result = status == MF_OK ? result : 0;
	return VM_DONE;
}

/** A place for a task, which comes last. There must be one. */
struct vm_task *vm_slow_new_task(struct mf_vm_slow *s);

/* vm_slow_lease.c */
/** Goes on with leases, and with spaces that end by themselves. @return something was done */
bool vm_slow_leases(struct mf_vm_slow *s);
/** A LEASED has come, of a LEASE. */
void vm_slow_leased(struct mf_vm_slow *s, const struct mf_vm_item *item);
/** A node has begun anew so often. */
void vm_slow_lives(struct mf_vm_slow *s, uint16_t node, uint64_t life);
/** A FORGET has come. */
void vm_slow_forget(struct mf_vm_slow *s, const struct mf_vm_item *item);

/* Each does one slice of a task that has begun. There is a place in the queue. Steps are lowered. */
enum vm_progress vm_slow_make(struct mf_vm_slow *s, struct vm_task *t);
enum vm_progress vm_slow_join(struct mf_vm_slow *s, struct vm_task *t);
enum vm_progress vm_slow_grant(struct mf_vm_slow *s, struct vm_task *t);
enum vm_progress vm_slow_end(struct mf_vm_slow *s, struct vm_task *t, uint64_t *steps);
enum vm_progress vm_slow_allocate(struct mf_vm_slow *s, struct vm_task *t, uint64_t *steps);
enum vm_progress vm_slow_free(struct mf_vm_slow *s, struct vm_task *t, uint64_t *steps);
enum vm_progress vm_slow_protect(struct mf_vm_slow *s, struct vm_task *t, uint64_t *steps);

/** Has the fast path remove the pages of a range that is GOING. DONE: they are, and it is a hole. */
enum vm_progress vm_slow_remove(struct mf_vm_slow *s, struct vm_task *t, uint64_t *steps);

/** Whether a space has to end: its lease is over, or its node has begun anew. */
bool vm_slow_is_over(const struct mf_vm_slow *s, const struct vm_space *sp);

/** The space of a number, in an epoch; NULL: it is not there, or ends, or another epoch is. */
struct vm_space *vm_slow_space(const struct mf_vm_slow *s, uint32_t number, uint32_t epoch);

#endif
