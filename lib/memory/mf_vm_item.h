/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What crosses between the fast and the slow path of a virtual memory (Clio 3.2): items of a cache line, in
 * two queues, one each way. An item is complete work of a bounded number of steps. Order within a queue is
 * kept, and is all that the two rely on:
 *
 *      slow ── ADD, ADD, .. ANSWER ──> fast       an entry is there before its pointer is known
 *      slow ── REMOVE ──> fast ── REMOVED ──> slow, which frees slots and pages then, not before
 *      slow ── SPACE (gone), REMOVE, .. ──> fast  a space that ends opens nothing from its first item on
 *      slow ── LEASE ──> fast ── LEASED ──> slow  whether a space was used since the one before
 *      fast ── FORGET ──> slow ── FORGOTTEN ──> fast, which then tells of what has happened since
 *
 * Nothing is refused for want of places. Tasks are counted. Pages for the ring have a credit each. Few
 * REMOVEs and LEASEs are under way at a time, and one FORGET of a node. Pages that come back late were held,
 * or are of one of these REMOVEs. The slow path waits for places before it goes on with anything else.
 */
#ifndef MF_VM_ITEM_H
#define MF_VM_ITEM_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/mf_time.h"

#define MF_VM_ITEM_PAGES 9
#define MF_VM_RUN_MAX 64 /**< pages of an ADD or PROTECT: what an item may cost the fast path */
#define MF_VM_REMOVES 16 /**< REMOVEs under way */
#define MF_VM_LEASES 16 /**< LEASEs under way */
#define MF_VM_SWEEPS 4 /**< of a lease: it ends one to five quarters after the last use */
#define MF_VM_QUEUE_MAX (UINT32_C(1) << 26)

enum mf_vm_item_kind {
	/* fast to slow */
	MF_VM_TASK, /**< .task; value: enum mf_space_task; .task.life: of the node */
	MF_VM_REMOVED, /**< .run: of the REMOVE; .page: which came back, in .pages */
	MF_VM_PAGE_BACK, /**< .run.page[0] of .page_class was unmapped while it was held, and is let go now */
	MF_VM_TAKEN, /**< .run.serial: so many pages were taken from the ring of .page_class */
	MF_VM_LEASED, /**< .task.space; value: 1: it was used since the LEASE before */
	MF_VM_FORGET, /**< .node has begun its .task.life: what it had made before ends */
	/* slow to fast */
	MF_VM_PAGES, /**< for the ring of .page_class; .run.serial: TAKENs that were heard */
	MF_VM_SUPPLY, /**< value: 1: pages of .page_class will come; 0: there are none */
	MF_VM_ADD, /**< .run; value: enum mf_page_right */
	MF_VM_PROTECT, /**< likewise */
	MF_VM_REMOVE, /**< .run, of at most MF_VM_ITEM_PAGES */
	MF_VM_SPACE, /**< .task.space has .task.epoch from now on; 0: it is gone */
	MF_VM_LEASE, /**< .task.space */
	MF_VM_SWEEP, /**< a part of a lease, MF_VM_SWEEPS, has passed */
	MF_VM_FORGOTTEN, /**< of a FORGET */
	/** .task.ticket, as it was asked; value: enum mf_status; .task.arg[0]: the result. Of a space that is
	 * there, .task.epoch not 0: .task.space has .task.arg[1] ranges then */
	MF_VM_ANSWER,
};

struct mf_vm_item {
	mf_time at; /**< when it was sent; an engine that carries it may date it anew */
	uint8_t kind; /**< enum mf_vm_item_kind */
	uint8_t value;
	uint8_t page_class;
	uint8_t pages; /**< in .run.page */
	uint16_t node; /**< of a task */
	uint16_t length; /**< pages of a run */
	union {
		uint64_t word[6]; /**< all of it, for who carries it */
		struct {
			uint64_t ticket;
			uint64_t arg[2];
			uint32_t space, epoch; /**< that the key was good for */
			uint64_t life; /**< how often the node has begun anew */
			uint64_t none; /**< 0: all octets of an item are set */
		} task;
		struct {
			uint64_t tag; /**< of the first page; the others follow */
			uint32_t serial;
			uint32_t page[MF_VM_ITEM_PAGES]; /**< physical ones */
		} run;
	};
};

static_assert(sizeof(struct mf_vm_item) == 64, "an item is a cache line");

/** One thread puts and takes, or a role does so in its turn. */
struct mf_vm_queue {
	uint32_t size; /**< places */
	uint32_t first, items;
	struct mf_vm_item item[];
};

/** @param size  1..MF_VM_QUEUE_MAX. @return NULL with errno: EINVAL, ENOMEM. free() frees it */
struct mf_vm_queue *mf_vm_queue_new(uint32_t size);

/** Free places. */
static inline uint32_t mf_vm_queue_left(const struct mf_vm_queue *q)
{
	return q->size - q->items;
}

/** @return false: it is full */
static inline bool mf_vm_queue_put(struct mf_vm_queue *q, const struct mf_vm_item *item)
{
	uint32_t place = q->first + q->items;

	if (q->items == q->size)
		return false;
	q->item[place < q->size ? place : place - q->size] = *item;
	q->items++;
	return true;
}

/** @return false: it is empty */
static inline bool mf_vm_queue_take(struct mf_vm_queue *q, struct mf_vm_item *item)
{
	if (q->items == 0)
		return false;
	*item = q->item[q->first];
	if (++q->first == q->size)
		q->first = 0;
	q->items--;
	return true;
}

#endif
