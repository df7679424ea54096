/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Physical pages of one size that the fast path does not have (Clio 4.3). What it is given is zero.
 *
 *      fresh ──────────── take ───────────> out ── give back ──> dirty ── work ──> clean ── take ──> out
 *        └── work, where pages are touched ──> clean
 *
 * A page that was never used before is zero, so it is not zeroed again. Under the wall clock it is touched
 * instead, or the first access would fault in the host's kernel. Zeroing is cut into slices. The caller's
 * functions zero and touch: they know where a page is, and how to spare the caches of the fast path.
 *
 * One thread, that of the slow path. Nothing is allocated after mf_page_pool_new().
 */
#ifndef MF_PAGE_POOL_H
#define MF_PAGE_POOL_H

#include <stdbool.h>
#include <stdint.h>

struct mf_page_pool;

struct mf_page_pool_config {
	uint64_t pages; /**< 1..2^32 - first */
	uint32_t first; /**< number of the first of them: a memory node numbers the pages of all sizes */
	uint64_t octets; /**< of a page, > 0 */
	/** Zeroes some octets of a page. */
	void (*zero)(void *ctx, uint32_t page, uint64_t offset, uint64_t len);
	/** Makes some octets of a page present in the host's kernel. NULL: fresh pages are not touched. */
	void (*touch)(void *ctx, uint32_t page, uint64_t offset, uint64_t len);
	void *ctx;
};

/** Pages, each in one of these. */
struct mf_page_pool_stats {
	uint64_t fresh; /**< never used */
	uint64_t dirty; /**< given back, not zero yet */
	uint64_t working; /**< being zeroed or touched: 0 or 1 */
	uint64_t clean; /**< zero */
	uint64_t out; /**< taken: the fast path has them */
	uint64_t zeroed, touched; /**< octets, so far */
};

/** All pages are fresh: their memory must be zero. @return NULL with errno: EINVAL, ENOMEM */
struct mf_page_pool *mf_page_pool_new(const struct mf_page_pool_config *config);
void mf_page_pool_free(struct mf_page_pool *p);

/** A page that is zero. One that was used before comes first. @return false: none is ready */
bool mf_page_pool_take(struct mf_page_pool *p, uint32_t *page);

/** The fast path gives a page back. @return 0; -EINVAL: it does not have this page */
int mf_page_pool_give(struct mf_page_pool *p, uint32_t page);

/**
 * Zeroes what is dirty. If nothing is dirty and no page is clean, touches one fresh page, if these have to be
 * touched.
 * @param octets  at most
 * @return octets that were zeroed or touched: fewer if nothing is left to do
 */
uint64_t mf_page_pool_work(struct mf_page_pool *p, uint64_t octets);

/** Pages that can be taken now or after some work. 0: the memory is full. */
uint64_t mf_page_pool_left(const struct mf_page_pool *p);

const struct mf_page_pool_stats *mf_page_pool_stats(const struct mf_page_pool *p);

#endif
