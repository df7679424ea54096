/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pools that a role, a stack or a bridge declares in its own file: what it has a fixed number of. By this
 * table the fault "exhaust" of the fabric file finds a pool and takes away what is free of it.
 */
#ifndef MF_POOL_H
#define MF_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define MF_POOLS_MAX 8 /**< of a table */

struct mf_pool_desc {
	const char *key; /**< `what` of the fabric file; NULL ends a table */
	bool by_end; /**< each port of a switch has its own */
};

/** @param table  NULL: there are none. @return the place of a pool in a table; -1: it is not there */
static inline int mf_pool_find(const struct mf_pool_desc *table, const char *key)
{
	for (int i = 0; table != NULL && table[i].key != NULL; i++)
		if (strcmp(table[i].key, key) == 0)
			return i;
	return -1;
}

#endif
