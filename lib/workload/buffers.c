/* SPDX-License-Identifier: BSD-3-Clause */
#include "workload/buffers.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/mf_table.h"

#define PAGE 4096

int buffers_init(struct buffers *b, uint32_t slots, uint64_t size, uint64_t idle_max)
{
	*b = (struct buffers){.stride = size, .idle_max = idle_max};
	if (size == 0)
		return 0;
	b->octets = mf_table_new(slots, size);
	if (b->octets == NULL)
		return -ENOMEM;
	if (size * slots <= idle_max || size > UINT32_MAX)
		return 0;
	b->touched = calloc(slots, sizeof(*b->touched));
	return b->touched != NULL ? 0 : -ENOMEM;
}

void buffers_fini(struct buffers *b)
{
	mf_table_free(b->octets);
	free(b->touched);
}

/** The pages that a buffer has for itself. */
static void give_back(const struct buffers *b, uint32_t slot)
{
	uintptr_t first = (uintptr_t)buffers_at(b, slot), end = first + b->touched[slot];

	first = (first + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
	end = (end + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
	if (end > (uintptr_t)buffers_at(b, slot + 1))
		end -= PAGE;
	if (end > first)
		(void)madvise((void *)first, end - first, MADV_DONTNEED);
}

void buffers_give_counted(struct buffers *b, uint32_t slot, uint64_t used)
{
	if (b->touched[slot] < used)
		b->touched[slot] = (uint32_t)used;
	b->idle += b->touched[slot];
	if (b->idle <= b->idle_max)
		return;
	give_back(b, slot);
	b->idle -= b->touched[slot];
	b->touched[slot] = 0;
}
