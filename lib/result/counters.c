/* SPDX-License-Identifier: BSD-3-Clause */
/* How the result writes sections that are made of tables of counters. */
#include <string.h>

#include "fabric/mf_fabric_state.h"
#include "result/mf_result.h"

void result_section(json_t *o, const struct mf_counter_desc *table, const char *section, const void *stats)
{
	for (const struct mf_counter_desc *row = table; row->key != NULL; row++) {
		uint64_t value = mf_counter_at(stats, row->offset);

		if (strcmp(row->section, section) != 0)
			continue;
		if (row->merge == MF_RATIO)
			result_real(o, row->key, mf_counter_ratio(value, mf_counter_at(stats, row->per)));
		else
			result_count(o, row->key, value);
	}
}

json_t *section_json(const struct mf_counter_desc *table, const char *section, const void *stats)
{
	json_t *o = json_object();

	result_section(o, table, section, stats);
	return o;
}

struct mf_host_stats result_hosts(const struct mf_fabric *f)
{
	struct mf_host_stats sum = {0}, one;

	for (unsigned int i = 0; i < f->nodes; i++) {
		if (f->node[i].host == NULL)
			continue;
		mf_node_stats(f->node[i].host, &one);
		mf_counters_add(mf_host_counters, &sum, &one);
	}
	return sum;
}
