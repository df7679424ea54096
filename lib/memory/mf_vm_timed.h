/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A virtual memory whose slow path takes time: both paths as one memory, under the virtual clock.
 *
 * All that the slow path does is seen by accesses, by what is asked, and by answers. So it needs no events of
 * its own. Before a call, all is done that the slow path does before the date of the call, in the order of
 * time:
 *
 *      fast ── item, sent at t ──> t + crossing: the slow path takes it in its next turn
 *      a turn at T takes what has come, and does a slice: it lasts steps * step + octets * zero
 *      slow ── items of the turn ──> its end + crossing: the fast path takes them
 *
 * Dates of calls may go back a little, as those of one end of a node do: then nothing is done before the
 * call. What has the date of a call comes after it. So what comes of a call depends on the calls and their
 * dates alone, whatever else the engine is called for.
 *
 * One thread calls. Nothing is allocated after set-up.
 */
#ifndef MF_VM_TIMED_H
#define MF_VM_TIMED_H

#include "memory/mf_vm_slow.h"

struct mf_vm_timed_config {
	struct mf_vm_config vm;
	mf_time step; /**< of the slow path, for each step of a task, ps: a bucket, a page of a run, a task */
	mf_time zero; /**< for 4 KiB that are zeroed, ps */
	mf_time crossing; /**< from one path to the other, ps */
	/* By the wall clock, by the virtual clock; that of .vm is one of them. */
	mf_time lease[2];
	uint32_t tlb_sets[2];
	uint32_t answer; /**< .vm.answer, as the fabric file has it */
};

struct mf_vm_timed;

/** The rings are full, without time. @return NULL with errno: EINVAL, ENOMEM */
struct mf_vm_timed *mf_vm_timed_new(const struct mf_vm_timed_config *config);
/** @param t  or NULL */
void mf_vm_timed_free(struct mf_vm_timed *t);

/** As a memory: mf_vm_timed_memory(). It is made as above, not by this table. */
extern const struct mf_memory_ops mf_memory_timed;

static inline struct mf_memory *mf_vm_timed_memory(struct mf_vm_timed *t)
{
	return (struct mf_memory *)t;
}

/**
 * The slow path will stand still for a while: no turn begins from then on, until then. For set-up: before any
 * call that has that date or a later one. It may be said of several times.
 * @return 0; -EINVAL: it ends before it begins; -ENOMEM
 */
int mf_vm_timed_stall(struct mf_vm_timed *t, mf_time from, mf_time until);

/** Does all that the slow path does before a time: what is counted is of then. */
void mf_vm_timed_advance(struct mf_vm_timed *t, mf_time until);

const struct mf_vm *mf_vm_timed_fast(const struct mf_vm_timed *t);
const struct mf_vm_slow *mf_vm_timed_slow(const struct mf_vm_timed *t);
/** How long the slow path was at work, ps. */
mf_time mf_vm_timed_busy(const struct mf_vm_timed *t);

#endif
