/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Physical pages that are ready for a fault: zeroed, and the fast path's (the async buffer of Clio 4.3). The
 * slow path sends pages as there are places for them; the fast path puts them in and takes them, in order.
 *
 * One thread, that of the fast path. Nothing is allocated after mf_page_ring_new().
 */
#ifndef MF_PAGE_RING_H
#define MF_PAGE_RING_H

#include <stdbool.h>
#include <stdint.h>

#define MF_PAGE_RING_MAX (UINT32_C(1) << 20)

struct mf_page_ring {
	uint32_t size; /**< places */
	uint32_t first, pages; /**< place of the next page; how many there are */
	uint32_t page[];
};

/** @param size  pages, 1..MF_PAGE_RING_MAX. @return NULL with errno: EINVAL, ENOMEM. free() frees it */
struct mf_page_ring *mf_page_ring_new(uint32_t size);

/** @return false: it is full */
static inline bool mf_page_ring_put(struct mf_page_ring *r, uint32_t page)
{
	uint32_t place = r->first + r->pages;

	if (r->pages == r->size)
		return false;
	r->page[place < r->size ? place : place - r->size] = page;
	r->pages++;
	return true;
}

/** @return false: it is empty */
static inline bool mf_page_ring_take(struct mf_page_ring *r, uint32_t *page)
{
	if (r->pages == 0)
		return false;
	*page = r->page[r->first];
	if (++r->first == r->size)
		r->first = 0;
	r->pages--;
	return true;
}

#endif
