/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The translation cache of a memory node (Clio 4.2): sets of ways, by tag, so pages of all spaces and sizes
 * share it. A full set loses the entry that was used the longest time ago. Nothing in it is stale: the fast
 * path changes it together with the page table, before the next access.
 *
 * One thread, that of the fast path. Nothing is allocated after mf_tlb_new().
 */
#ifndef MF_TLB_H
#define MF_TLB_H

#include <stdbool.h>
#include <stdint.h>

#include "memory/mf_remote.h"

#define MF_TLB_SETS_MAX (UINT32_C(1) << 20)
#define MF_TLB_WAYS_MAX 1024

struct mf_tlb;

struct mf_tlb_config {
	uint32_t sets; /**< 2^n, 1..MF_TLB_SETS_MAX */
	uint32_t ways; /**< 1..MF_TLB_WAYS_MAX */
	uint64_t key; /**< random bits: no tenant can aim at a set */
};

/** A translation. */
struct mf_tlb_page {
	uint32_t page; /**< physical */
	uint8_t rights; /**< enum mf_page_right */
};

struct mf_tlb_stats {
	uint64_t hits, misses; /**< of mf_tlb_find() */
	uint64_t evicted; /**< entries that another one took the place of */
	uint64_t removed; /**< by mf_tlb_remove() */
	uint64_t entries; /**< in use */
};

/** @return NULL with errno: EINVAL, ENOMEM */
struct mf_tlb *mf_tlb_new(const struct mf_tlb_config *config);
void mf_tlb_free(struct mf_tlb *t);

/**
 * What an access does: the entry is the one used last now, and a hit or miss is counted.
 * @param tag  below 2^MF_TAG_BITS, as everywhere here
 * @param out  not changed by a miss
 * @return it is a hit
 */
bool mf_tlb_find(struct mf_tlb *t, uint64_t tag, struct mf_tlb_page *out);

/** Whether mf_tlb_find() would hit. Nothing is counted or changed. */
bool mf_tlb_peek(const struct mf_tlb *t, uint64_t tag, struct mf_tlb_page *out);

/** mf_tlb_peek(), and where it is, for mf_tlb_use(). */
bool mf_tlb_look(const struct mf_tlb *t, uint64_t tag, struct mf_tlb_page *out, uint32_t *place);

/**
 * What mf_tlb_find() does of a hit, without looking for it.
 * @param place  of mf_tlb_look() for this tag
 * @return false: it has been put out since, and nothing has changed
 */
bool mf_tlb_use(struct mf_tlb *t, uint64_t tag, uint32_t place);

/** Puts a translation in, or in place of the one that the page has. It is the one used last. */
void mf_tlb_put(struct mf_tlb *t, uint64_t tag, struct mf_tlb_page page);

/** The same of a page that has none: as mf_tlb_look() has found. */
void mf_tlb_add(struct mf_tlb *t, uint64_t tag, struct mf_tlb_page page);

/** Gives a translation, if the page has one, other rights. It is used no later for that. */
void mf_tlb_protect(struct mf_tlb *t, uint64_t tag, uint8_t rights);

/** @return there was one, and it is gone */
bool mf_tlb_remove(struct mf_tlb *t, uint64_t tag);

/** Removes all entries, when the node restarts. Counters are kept. */
void mf_tlb_clear(struct mf_tlb *t);

const struct mf_tlb_stats *mf_tlb_stats(const struct mf_tlb *t);

/** All that it takes of memory, part of `state_octets`. */
uint64_t mf_tlb_octets(const struct mf_tlb *t);

#endif
