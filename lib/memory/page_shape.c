/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "memory/mf_page_shape.h"

#define PAGES_MAX (UINT64_C(1) << 32)
#define BUCKET_OF_SLOTS 8 /* 2^3: an entry has 3 bits more for the physical page than there are for buckets */

int mf_page_shape_init(struct mf_page_shape *s, const struct mf_page_shape_config *c)
{
	if (c->pages == 0 || c->pages > PAGES_MAX || c->slots == 0 || c->slots > MF_PAGE_BUCKET_MAX ||
	    c->bucket == 0 || c->bucket > MF_PAGE_BUCKET_MAX || (c->bucket & (c->bucket - 1)) != 0 ||
	    c->bucket > BUCKET_OF_SLOTS * c->slots)
		return -EINVAL;
	*s = (struct mf_page_shape){.pages = c->pages, .bucket = c->bucket};
	while (1u << s->bucket_shift < c->bucket)
		s->bucket_shift++;
	while (mf_page_slots(s) < c->pages * c->slots)
		s->bits++;
	for (int i = 0; i < MF_PAGE_MIX_ROUNDS; i++) {
		s->times[i] = c->key[2 * i];
		s->plus[i] = c->key[2 * i + 1];
	}
	return 0;
}
