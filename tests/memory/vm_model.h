/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random programs of several nodes and spaces on a virtual memory, against a plain table of what is so. Where
 * a task is under way both what was before and what will be may be seen, and nothing else.
 */
#ifndef VM_MODEL_H
#define VM_MODEL_H

#include <stdint.h>

/** What has happened, so that a test knows that it has tested something. */
struct vm_model_seen {
	uint64_t passed, refused, unsure; /**< accesses; unsure: either might have been */
	uint64_t forged[7]; /**< wrong keys, by kind */
	uint64_t crossings, second_refused, dry_ring, full_ring, unpinned, holds, late;
	uint64_t allocated, alloc_failed, freed, protected, fenced, made, ended, taken, restarts;
	uint64_t overlapped; /**< tasks under way together */
	uint64_t range_failed, space_failed; /**< for want of ranges, of spaces */
	uint64_t come_back; /**< times that all was freed, and nothing was missing */
};

/** @return NULL: nothing is wrong; else what, which is good until the next call */
const char *vm_model_run(uint64_t seed, unsigned int steps, struct vm_model_seen *seen);

#endif
