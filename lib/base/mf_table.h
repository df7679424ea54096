/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables that are as large as the worst case asks for, of which little is ever used.
 *
 * What is not touched takes no memory. That cannot be had of calloc(), which clears what it has from an
 * earlier free() by writing to it.
 */
#ifndef MF_TABLE_H
#define MF_TABLE_H

#include <stddef.h>

/**
 * All zero, and at the start of a cache line. Tables do not all begin at the same place of a page: else
 * their first lines, which are what is used of them, would be in each other's way in the caches.
 * @return NULL with errno: ENOMEM. The caller owns it
 */
void *mf_table_new(size_t count, size_t size);

/**
 * The same for a table of which a good part will be used, at random: in huge pages, where the system has such
 * and the table is worth one. So their addresses stay known to the CPU.
 */
void *mf_table_new_dense(size_t count, size_t size);

/** @param table  of one of them, or NULL */
void mf_table_free(void *table);

#endif
