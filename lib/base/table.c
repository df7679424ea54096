/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>

#include "mf_table.h"

#define LINE 64
#define PAGE 4096

/** In front of a table. */
struct head {
	void *map;
	size_t octets;
} __attribute__((aligned(LINE)));
static_assert(sizeof(struct head) == LINE, "a table is at the start of a line");

/** Which line of its first page a table begins at: mappings of one size lie at equal distances. */
static size_t colour(const void *map)
{
	uint64_t page = (uintptr_t)map / PAGE;

	return (page * UINT64_C(0x9e3779b97f4a7c15) >> 58) * LINE;
}

void *mf_table_new(size_t count, size_t size)
{
	size_t octets;
	struct head *h;
	void *map;

	if (__builtin_mul_overflow(count, size, &octets) ||
	    __builtin_add_overflow(octets, sizeof(*h) + PAGE, &octets)) {
		errno = ENOMEM;
		return NULL;
	}
	map = mmap(NULL, octets, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED)
		return NULL;
	h = (void *)((uint8_t *)map + colour(map));
	*h = (struct head){.map = map, .octets = octets};
	return h + 1;
}

void mf_table_free(void *table)
{
	const struct head *h = table;

	if (h != NULL)
		munmap(h[-1].map, h[-1].octets);
}
