/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values that describe themselves, since any client may write any record: a field has the number of its
 * cell (record and field), a stamp of who wrote it and when, and then words that follow from both. So who
 * reads it can tell that it is one value, whole, of that cell, and whose.
 */
#ifndef STORE_VALUE_H
#define STORE_VALUE_H

#include <stdbool.h>
#include <string.h>

#include "workload/content.h"
#include "workload/mf_workload.h"

#define STORE_NODE_SHIFT 48
/** Stamp of what is there from the start; no node has this number. */
#define STORE_LOADED (UINT64_MAX << STORE_NODE_SHIFT)

static inline uint64_t store_cell(const struct mf_store *s, uint64_t key, uint32_t field)
{
	return key * s->fields + field + 1; /* never 0: what nobody has written is 0 */
}

/** The record that a cell is of. */
static inline uint64_t store_cell_key(const struct mf_store *s, uint64_t cell)
{
	return (cell - 1) / s->fields;
}

/** @param number  of the write, below 2^48: that of the client's operation, which grows */
static inline uint64_t store_stamp(uint16_t node, uint64_t number)
{
	return (uint64_t)node << STORE_NODE_SHIFT | number;
}

enum store_verdict {
	STORE_WHOLE,
	STORE_ABSENT, /**< nothing but zeros */
	STORE_BROKEN, /**< not what anybody wrote to this cell in one piece */
};

void store_put(void *field, uint32_t octets, uint64_t cell, uint64_t stamp);
/** @param stamp  set where it is whole */
enum store_verdict store_get(const void *field, uint32_t octets, uint64_t cell, uint64_t *stamp);

/* store.c */
/** The record at an offset of a target. */
uint64_t store_key(const struct mf_store *s, uint32_t target, uint64_t offset);
/** From the key of a record to that of the one behind it at its target. */
uint64_t store_step(const struct mf_store *s);

#endif
