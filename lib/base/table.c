/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

#include "base/mf_table.h"

#define LINE 64
#define PAGE 4096
#define HUGE ((size_t)2 << 20)

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

/** Octets of a table, with its head and room to move it by. @return false: too many */
static bool octets_of(size_t count, size_t size, size_t capacity, size_t *octets)
{
	return !__builtin_mul_overflow(count, size, octets) &&
	       !__builtin_add_overflow(*octets, sizeof(struct head) + capacity, octets);
}

static uint8_t *map_octets(size_t octets)
{
	void *map = mmap(NULL, octets, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			 -1, 0);

	return map != MAP_FAILED ? map : NULL;
}

static void *begin(uint8_t *map, size_t octets, size_t at)
{
	struct head *h = (void *)(map + at);

	*h = (struct head){.map = map, .octets = octets};
	return h + 1;
}

void *mf_table_new(size_t count, size_t size)
{
	size_t octets;
	uint8_t *map;

	if (!octets_of(count, size, PAGE, &octets)) {
		errno = ENOMEM;
		return NULL;
	}
	map = map_octets(octets);
	return map != NULL ? begin(map, octets, colour(map)) : NULL;
}

void *mf_table_new_dense(size_t count, size_t size)
{
	size_t octets;
	uint8_t *map;

	if (!octets_of(count, size, HUGE, &octets) || octets < 2 * HUGE)
		return mf_table_new(count, size);
	map = map_octets(octets);
	if (map == NULL)
		return NULL;
	(void)madvise(map, octets, MADV_HUGEPAGE);
	return begin(map, octets, -(uintptr_t)map & (HUGE - 1));
}

void mf_table_free(void *table)
{
	const struct head *h = table;

	if (h != NULL)
		munmap(h[-1].map, h[-1].octets);
}
