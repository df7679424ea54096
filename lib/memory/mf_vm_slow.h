/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The slow path of a virtual memory (Clio 3.2, 4.2, 4.3): spaces and their members, ranges, physical pages.
 * It reads no clock and has no callbacks. Its driver carries items between the two paths (mf_vm_item.h).
 *
 *      fast ── TASK ──> take ──> [tasks] ── work: a slice each, in turn ──> out ──> fast
 *      fast ── REMOVED, PAGE_BACK ──> pages ── zeroed in slices ──> out, against TAKEN
 *
 * Tasks of a space run side by side, with these exceptions: FREE and PROTECT are done in the order in which
 * they were asked; FENCE and END wait for what was asked before, or was begun before. A task whose key was of
 * an epoch that is over when it begins is refused. Tasks take turns: one that comes has its first turn when
 * all that are under way have had one.
 *
 * Spaces end by themselves: with the lease, when no member has used them for so long; and when the node that
 * made them has begun anew. That is a task, too, one at a time.
 *
 * It takes room when it is made, and none later. One thread, that of the slow path, makes all calls.
 */
#ifndef MF_VM_SLOW_H
#define MF_VM_SLOW_H

#include "base/mf_hist.h"
#include "memory/mf_vm.h"

struct mf_vm_slow;

/**
 * @param config  that of the fast path
 * @param octets  mf_vm_octets(), which outlive it
 * @return NULL with errno: EINVAL, ENOMEM
 */
struct mf_vm_slow *mf_vm_slow_new(const struct mf_vm_config *config, uint8_t *octets);
void mf_vm_slow_free(struct mf_vm_slow *s);

/** It is so late, for leases: not before any time that it was told. */
void mf_vm_slow_date(struct mf_vm_slow *s, mf_time now);
/** When mf_vm_slow_work() has something to do for leases, if nothing else comes; MF_NEVER: without leases. */
mf_time mf_vm_slow_next(const struct mf_vm_slow *s);

/** What is there for the fast path: the other side takes from it. */
struct mf_vm_queue *mf_vm_slow_out(struct mf_vm_slow *s);

/** What the fast path says: bounded steps, one for each page of it. */
void mf_vm_slow_take(struct mf_vm_slow *s, const struct mf_vm_item *item);

/**
 * Goes on: fills rings, zeroes, gives each task a slice in turn.
 * @param steps   of tasks, at most: a bucket tested, a page of a run, a task looked at are one each. A fence
 *                looks at all tasks in one go, and may so go beyond them
 * @param octets  of pages to zero or touch, at most
 * @return something was done, or the steps were too few to tell. false: until an item is taken from the queue
 *         or comes, nothing will be, unless pages are to be zeroed and octets was 0
 */
bool mf_vm_slow_work(struct mf_vm_slow *s, uint64_t steps, uint64_t octets);

/** Whether an item can be one that the fast path gives, now: else mf_vm_slow_take() is not to be called. */
bool mf_vm_slow_may_take(const struct mf_vm_slow *s, const struct mf_vm_item *item);

/** Other secrets, before anything was taken. @return 0 or -ENOMEM: of no use but to be freed */
int mf_vm_slow_renew(struct mf_vm_slow *s, const struct mf_vm_secrets *secrets);

struct mf_vm_slow_stats {
	uint64_t tasks[MF_SPACE_TASKS]; /**< that were answered with MF_OK */
	uint64_t refused[MF_SPACE_TASKS]; /**< with MF_ERR_KEY */
	uint64_t wrong[MF_SPACE_TASKS]; /**< with MF_ERR_RANGE */
	uint64_t failed[MF_SPACE_TASKS]; /**< with MF_ERR_RESOURCE */
	uint64_t beyond; /**< allocations that failed since the maker has as many entries as it may */
	uint64_t expired; /**< spaces whose lease was over */
	uint64_t left; /**< spaces whose maker has begun anew */
	uint64_t epochs; /**< that began with a right taken */
	uint64_t steps; /**< of tasks, so far, and one for each item that came */
	uint64_t octets; /**< zeroed or touched, so far */
	struct mf_hist retries; /**< of each allocation, failed ones included */
	struct {
		uint64_t free; /**< zero, or never used */
		uint64_t zeroing; /**< given back, and not zero yet */
		uint64_t fast; /**< the fast path's: in the ring, in use, held, or on the way */
	} pages[MF_PAGE_CLASSES]; /**< now */
	uint64_t slots; /**< of the page table that are spoken for, now */
	uint64_t ranges_left; /**< now */
	uint64_t spaces; /**< now; those that end included */
	uint64_t under_way; /**< tasks, now */
	uint64_t strange; /**< items that cannot be: a bug of the fast path */
};

/**
 * Spaces, one after the other. Any thread may call: those that are made or end meanwhile may be missing.
 * @param place  from 0 on; the next place to look at
 * @return the number of a space; MF_SPACES: there are no more
 */
uint32_t mf_vm_slow_next_space(const struct mf_vm_slow *s, uint32_t *place);

/** What is counted, and how much there is now. */
void mf_vm_slow_stats(const struct mf_vm_slow *s, struct mf_vm_slow_stats *out);

#endif
