/* SPDX-License-Identifier: BSD-3-Clause */
/* The result: what a stack above the MAC and its bridge count, summed over the nodes. */
#include <string.h>

#include "fabric/mf_fabric_state.h"
#include "result/mf_result.h"

/** What has "_max" in its name is a maximum; all else adds up. */
static void merge(struct mf_counter *sum, const struct mf_counter *with)
{
	if (strstr(with->name, "_max") != NULL)
		sum->value = with->value > sum->value ? with->value : sum->value;
	else
		sum->value += with->value;
}

static json_t *counters(const char *name, const struct mf_counter *c, unsigned int n)
{
	json_t *o = json_object(), *all = json_object();

	json_object_set_new(o, "name", json_string(name));
	for (unsigned int i = 0; i < n; i++)
		result_count(all, c[i].name, c[i].value);
	json_object_set_new(o, "counters", all);
	return o;
}

json_t *stack_json(const struct mf_fabric *f, struct result_nodes nodes)
{
	struct mf_counter sum[MF_COUNTERS_MAX], one[MF_COUNTERS_MAX];
	unsigned int n = 0, m;

	for (unsigned int i = nodes.from; i < nodes.to; i++) {
		if (f->node[i].host == NULL)
			continue;
		m = mf_node_stack_counters(f->node[i].host, one);
		if (n == 0)
			memcpy(sum, one, m * sizeof(*sum));
		for (unsigned int k = 0; n != 0 && k < m; k++)
			merge(&sum[k], &one[k]);
		n = m != 0 ? m : n;
	}
	return counters(f->config->stack.name, sum, n);
}

json_t *bridge_json(const struct mf_fabric *f)
{
	struct mf_counter c[MF_COUNTERS_MAX];

	return counters(f->config->bridge.name, c, mf_sw_bridge_counters(f->sw, c));
}
