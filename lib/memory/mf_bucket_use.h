/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many slots of each bucket of the page table are spoken for: what an allocation tests, so that no
 * bucket ever overflows (Clio 4.2). It is the slow path's own, an octet for each bucket, so that the slow
 * path need not read the table that the fast path writes (Clio 5 has a shadow of the whole table for that).
 *
 * The slow path takes a slot before it asks the fast path to add the entry. It lets the slot go after the
 * fast path has removed the entry.
 *
 * One thread, that of the slow path. Nothing is allocated after mf_bucket_use_new().
 */
#ifndef MF_BUCKET_USE_H
#define MF_BUCKET_USE_H

#include <stdbool.h>
#include <stdint.h>

#include "memory/mf_page_shape.h"

struct mf_bucket_use;

/** @param shape  that of the page table; copied. @return NULL with errno: ENOMEM */
struct mf_bucket_use *mf_bucket_use_new(const struct mf_page_shape *shape);
void mf_bucket_use_free(struct mf_bucket_use *u);

/** A hint: a slot for this page will soon be taken or let go. */
void mf_bucket_use_fetch(const struct mf_bucket_use *u, uint64_t tag);

/** Takes a slot in the bucket of a page. @return false: all are taken, and nothing has changed */
bool mf_bucket_use_take(struct mf_bucket_use *u, uint64_t tag);

/** Lets go the slot that was taken for this page. Caller's error if there is none: asserted. */
void mf_bucket_use_let_go(struct mf_bucket_use *u, uint64_t tag);

/** Slots that are taken, of all buckets. */
uint64_t mf_bucket_use_taken(const struct mf_bucket_use *u);

/** Slots that are free, of all buckets. */
uint64_t mf_bucket_use_left(const struct mf_bucket_use *u);

#endif
