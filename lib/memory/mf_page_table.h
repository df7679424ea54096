/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The page table of a memory node: one for all spaces (Clio 4.2). A page's entry is in its one bucket, so a
 * look-up is one dependent access to memory, however many spaces and pages there are: all lines of the
 * bucket are fetched together. Nothing overflows: the slow path has taken a slot of the bucket
 * (mf_bucket_use.h) before it asks for an entry.
 *
 *      add ──> valid, no physical page ── map: the first access ──> present ── remove ──> none
 *                        └──────────────────── remove ───────────────────────────────────────┘
 *
 * One thread, that of the fast path, reads and writes. Nothing is allocated after mf_page_table_new().
 */
#ifndef MF_PAGE_TABLE_H
#define MF_PAGE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "memory/mf_page_shape.h"

struct mf_page_table;

/** What the table knows of a page. */
struct mf_mapping {
	uint64_t slot; /**< for mf_page_table_map(), until something is added or removed */
	uint32_t page; /**< physical; 0: none is present */
	uint8_t rights; /**< enum mf_page_right */
	bool present; /**< it has a physical page */
};

/**
 * An empty table. The host allocates its memory when it is first touched.
 * @param shape       copied
 * @param huge_pages  use them if the system has any: a look-up then has one miss of the CPU's TLB less
 * @return NULL with errno: ENOMEM
 */
struct mf_page_table *mf_page_table_new(const struct mf_page_shape *shape, bool huge_pages);
void mf_page_table_free(struct mf_page_table *t);

/** A hint: this page will soon be looked up. All lines of its bucket are fetched. */
void mf_page_table_fetch(const struct mf_page_table *t, uint64_t tag);

/**
 * @param tag  below 2^MF_TAG_BITS, as everywhere here
 * @param out  not changed if there is no entry
 * @return there is an entry
 */
bool mf_page_table_find(const struct mf_page_table *t, uint64_t tag, struct mf_mapping *out);

/**
 * A page that is allocated and has no physical page yet.
 * @param rights  enum mf_page_right
 * @return 0; -EINVAL: there are no such rights; -EEXIST: it has an entry; -ENOSPC: its bucket is full.
 *         Nothing has changed then
 */
int mf_page_table_add(struct mf_page_table *t, uint64_t tag, uint8_t rights);

/**
 * Gives a physical page to the page of a slot (4.3), which must have none. Caller's error else: asserted.
 * @param slot  of mf_page_table_find()
 * @param page  below the shape's pages
 */
void mf_page_table_map(struct mf_page_table *t, uint64_t slot, uint32_t page);

/** @return 0; -EINVAL: there are no such rights; -ENOENT: there is no entry */
int mf_page_table_protect(struct mf_page_table *t, uint64_t tag, uint8_t rights);

/** @param was  what the entry was, its slot aside. @return 0 or -ENOENT */
int mf_page_table_remove(struct mf_page_table *t, uint64_t tag, struct mf_mapping *was);

struct mf_page_table_stats {
	uint64_t entries; /**< in use */
	uint64_t present; /**< of these, with a physical page */
};

struct mf_page_table_stats mf_page_table_stats(const struct mf_page_table *t);

#endif
