/* SPDX-License-Identifier: BSD-3-Clause */
/* Mappings without a file. */
#include <stddef.h>
#include <sys/mman.h>

#include "memory/map.h"

static void *map(uint64_t size, int flags)
{
	void *octets = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	return octets == MAP_FAILED ? NULL : octets;
}

void *memory_map(uint64_t size, bool huge_pages)
{
	void *octets = huge_pages ? map(size, MAP_HUGETLB) : NULL;

	if (octets != NULL)
		return octets;
	octets = map(size, MAP_NORESERVE);
	if (octets != NULL && huge_pages)
		(void)madvise(octets, size, MADV_HUGEPAGE);
	return octets;
}

void memory_unmap(void *octets, uint64_t size)
{
	if (octets != NULL)
		munmap(octets, size);
}
