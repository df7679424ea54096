/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/mf_counter.h"

#include <stdbool.h>
#include <string.h>

static uint64_t merged(enum mf_merge merge, uint64_t sum, uint64_t one)
{
	switch (merge) {
	case MF_MAX:
		return one > sum ? one : sum;
	case MF_SAME:
		return one;
	case MF_SUM:
	case MF_LEVEL:
	case MF_RATIO:
		break;
	}
	return sum + one;
}

const struct mf_counter_desc *mf_counter_row(const struct mf_counter_desc *table, const char *section,
					     const char *key)
{
	for (const struct mf_counter_desc *row = table; row->key != NULL; row++)
		if (strcmp(row->section, section) == 0 && strcmp(row->key, key) == 0)
			return row;
	return NULL;
}

/** A row further up is of the same field. */
static bool is_merged(const struct mf_counter_desc *table, const struct mf_counter_desc *row)
{
	for (const struct mf_counter_desc *r = table; r != row; r++)
		if (r->offset == row->offset && r->merge != MF_RATIO)
			return true;
	return false;
}

void mf_counters_add(const struct mf_counter_desc *table, void *sum, const void *one)
{
	for (const struct mf_counter_desc *row = table; row->key != NULL; row++) {
		uint64_t *to = (uint64_t *)((uintptr_t)sum + row->offset),
			 value = mf_counter_at(one, row->offset);

		if (value == 0 && row->merge != MF_SAME) /* most are: it changes nothing */
			continue;
		if (row->merge != MF_RATIO && !is_merged(table, row))
			*to = merged((enum mf_merge)row->merge, *to, value);
	}
}

void mf_counter_list_add(struct mf_counter *sum, const struct mf_counter *one, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		sum[i].value = merged(one[i].merge, sum[i].value, one[i].value);
}
