/* SPDX-License-Identifier: BSD-3-Clause */
/* What the fast path has counted of a space, for who looks on. */
#include <stdlib.h>

#include "memory/vm.h"

void mf_vm_space_stats(const struct mf_vm *v, uint32_t space, struct mf_vm_space_stats *out)
{
	const struct vm_space_state *s = &v->space[space];

	*out = (struct mf_vm_space_stats){.hits = s->hits, .faults = s->faults, .refused = s->refused};
	for (unsigned int i = 0; i < MF_USAGE_RANGES; i++)
		out->used[i] = s->used[i];
	out->used[MF_USAGE_RANGES] = s->ranges;
}

static int by_tag(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/** Puts a page in its place among those that were found. @return how many there are */
static unsigned int put(struct mf_vm_hot *out, unsigned int n, unsigned int max, struct mf_vm_hot page)
{
	unsigned int at = n < max ? n : max - 1;

	if (n == max && out[at].samples >= page.samples)
		return n;
	for (; at > 0 && out[at - 1].samples < page.samples; at--)
		out[at] = out[at - 1];
	out[at] = page;
	return n < max ? n + 1 : max;
}

/** The address of the page of a tag. */
static uint64_t addr_of(const struct mf_vm *v, uint64_t tag)
{
	unsigned int page_class = mf_remote_tag_class(tag);
	uint64_t page = tag & ((UINT64_C(1) << MF_PAGE_NUMBER_BITS) - 1);

	return mf_remote_class_base(page_class) + (page << v->layout.of[page_class].shift);
}

unsigned int mf_vm_hot_pages(const struct mf_vm *v, uint32_t space, struct mf_vm_hot *out, unsigned int max)
{
	uint64_t tag[MF_VM_SAMPLES];
	unsigned int tags = 0, n = 0;

	for (unsigned int i = 0; i < MF_VM_SAMPLES; i++) {
		uint64_t one = v->sampled[i];

		if (one != 0 && mf_remote_tag_space(one) == space)
			tag[tags++] = one;
	}
	qsort(tag, tags, sizeof(tag[0]), by_tag);
	for (unsigned int i = 0, same; i < tags && max > 0; i += same) {
		for (same = 1; i + same < tags && tag[i + same] == tag[i]; same++)
			;
		n = put(out, n, max, (struct mf_vm_hot){.addr = addr_of(v, tag[i]), .samples = same});
	}
	return n;
}
