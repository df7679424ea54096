/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>

#include "memory/mf_page_ring.h"

struct mf_page_ring *mf_page_ring_new(uint32_t size)
{
	struct mf_page_ring *r;

	if (size == 0 || size > MF_PAGE_RING_MAX) {
		errno = EINVAL;
		return NULL;
	}
	r = calloc(1, sizeof(*r) + size * sizeof(r->page[0]));
	if (r != NULL)
		r->size = size;
	return r;
}
