/* SPDX-License-Identifier: BSD-3-Clause */
/* Zeroed memory of the host, by whole pages: for contents, and for tables that are as large. */
#ifndef MEMORY_MAP_H
#define MEMORY_MAP_H

#include <stdbool.h>
#include <stdint.h>

/**
 * Maps memory that the host allocates when it is first touched. Reserved huge pages are allocated at once, so
 * that none is missing later. If there are too few: ordinary pages, and the kernel is asked to join them.
 * @param size        octets, > 0; with huge_pages a multiple of theirs
 * @param huge_pages  wanted
 * @return NULL with errno
 */
void *memory_map(uint64_t size, bool huge_pages);

/** @param octets  of memory_map(), with this size; NULL: nothing is done */
void memory_unmap(void *octets, uint64_t size);

#endif
