/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A toy memory with pages, for tests of those who use one. It does all that mf_memory.h allows:
 *
 *      address ── page ── frame      frames of neighbours are never neighbours, so a read over two pages has
 *                                    two places; pages may be of any length, so atomics cross their ends, too
 *      first access of a page        takes a zeroed frame: a fault
 *      translation cache             a miss takes longer than a hit
 *      after each access             the pages of the one before move to other frames, and old frames are
 *                                    overwritten: who uses a place without holding it reads rubbish
 *      paged_free()                  a page is another owner's at once; its frame when nobody holds it
 *
 * One thread.
 */
#ifndef PAGED_H
#define PAGED_H

#include "memory/mf_memory.h"

#define PAGED_MISS MF_NS(150) /**< what a miss takes beside the access */

/** Of all such memories since paged_reset(). */
struct paged_counts {
	uint64_t made, destroyed;
	uint64_t reads, writes, atomics, dry;
	uint64_t crossings, atomic_crossings; /**< over the end of a page */
	uint64_t hits, misses, faults, moved;
	uint64_t held_max, let_go;
	uint64_t left_held; /**< when their memory was destroyed */
	uint64_t strange; /**< let go, and not held */
};
extern struct paged_counts paged_counts;

extern const struct mf_memory_ops mf_memory_paged;

/** Counts from 0. @param page  bytes of a page of memories that are made from now on */
void paged_reset(uint32_t page);

/** Frees the pages of these bytes: they are zero, and what is held of them stays as it is until let go. */
void paged_free(struct mf_memory *m, uint64_t addr, uint64_t len);

#endif
