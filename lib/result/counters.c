/* SPDX-License-Identifier: BSD-3-Clause */
/* How the result writes sections that are made of tables of counters. */
#include <assert.h>
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

void result_node_counted(const struct mf_node *n, struct result_counts *out)
{
	out->table = mf_node_role(n)->counters;
	mf_node_counts(n, &out->sum);
}

void result_switch_counted(const struct mf_sw *sw, struct result_counts *out)
{
	out->table = mf_sw_role(sw)->counters;
	mf_sw_counts(sw, &out->sum);
}

void result_sched_counted(const struct mf_scheduler *s, struct result_counts *out)
{
	out->table = mf_scheduler_role(s)->counters;
	mf_scheduler_counts(s, &out->sum);
}

void result_add(struct result_counts *sum, const struct result_counts *one)
{
	assert(sum->table == one->table);
	mf_counters_add(sum->table, &sum->sum, &one->sum);
}

void result_nodes_counted(const struct fabric_tier *t, struct result_counts *out)
{
	struct result_counts one;

	*out = (struct result_counts){.table = fabric_host_kind(t)->counters};
	for (unsigned int i = 0; i < t->nodes; i++) {
		const struct node *n = &t->f->node[t->node[i]];
		const struct mf_node *host;

		if (n->host == NULL)
			continue;
		host = mf_node_host(n->host, t->end[i]);
		result_node_counted(host, &one);
		result_add(out, &one);
	}
}

json_t *counts_section(const struct result_counts *c, const char *section)
{
	return section_json(c->table, section, &c->sum);
}

uint64_t result_value(const struct result_counts *c, const char *section, const char *key)
{
	const struct mf_counter_desc *row = mf_counter_row(c->table, section, key);

	assert(row != NULL); /* else a misspelt key would read as 0 */
	return mf_counter_at(&c->sum, row->offset);
}
