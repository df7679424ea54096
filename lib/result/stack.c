/* SPDX-License-Identifier: BSD-3-Clause */
/* The result: what a stack above the MAC and its bridge count, summed over the nodes. */
#include "fabric/mf_fabric_state.h"
#include "measure/mf_live.h"
#include "result/mf_result.h"

static json_t *counters(const char *name, const struct mf_counter *c, unsigned int n)
{
	json_t *o = json_object(), *all = json_object();

	json_object_set_new(o, "name", json_string(name));
	for (unsigned int i = 0; i < n; i++)
		result_count(all, c[i].name, c[i].value);
	json_object_set_new(o, "counters", all);
	return o;
}

json_t *stack_json(const struct fabric_tier *t, struct result_nodes nodes)
{
	struct mf_counter sum[MF_COUNTERS_MAX];
	unsigned int n = mf_fabric_stack(t->f, (unsigned int)(t - t->f->tier), nodes.from, nodes.to, sum);

	return counters(t->config->stack.name, sum, n);
}

json_t *bridge_json(const struct fabric_tier *t)
{
	struct mf_counter c[MF_COUNTERS_MAX];

	return counters(t->config->bridge.name, c, mf_fabric_bridge(t->f, (unsigned int)(t - t->f->tier), c));
}
