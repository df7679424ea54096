/* SPDX-License-Identifier: BSD-3-Clause */
/* The result: what the switches and hosts of each network count, where the file has "tiers". */
#include "fabric/mf_fabric_state.h"
#include "measure/mf_live.h"
#include "result/mf_result.h"

/** Scheduler and switch, or what is in their place for a stack above the MAC. */
void forwarding_json(const struct fabric_tier *t, json_t *o)
{
	const struct mf_fabric *f = t->f;
	bool schedules = fabric_schedules(t), switches = result_has_switch(t);

	if (schedules && switches) {
		json_object_set_new(o, "scheduler", sched_json(t));
		json_object_set_new(o, "switch", switch_json(t));
	}
	if (schedules && f->clock == MF_CLOCK_VIRTUAL)
		json_object_set_new(o, "backlog", backlog_json(t));
	if (!schedules && fabric_has_node(f))
		json_object_set_new(o, "stack", stack_json(t, result_all(f)));
	if (!schedules && switches)
		json_object_set_new(o, "bridge", bridge_json(t));
}

bool result_has_switch(const struct fabric_tier *t)
{
	for (unsigned int k = 0; k < t->switches; k++)
		if (fabric_plays_switch(t->f, t->first_switch + k))
			return true;
	return false;
}

json_t *once_json(const struct fabric_tier *t)
{
	struct result_counts sum;

	result_nodes_counted(t, &sum);
	return counts_section(&sum, "once");
}

static json_t *tier_json(const struct fabric_tier *t)
{
	json_t *o = json_object(), *drops = json_object();

	json_object_set_new(o, "name", json_string(t->config->name));
	result_count(o, "nodes", t->nodes);
	result_count(o, "switches", t->switches);
	forwarding_json(t, o);
	tier_drops_json(t, drops);
	json_object_set_new(o, "drops", drops);
	if (fabric_schedules(t) && t->config->proto.ext)
		json_object_set_new(o, "once", once_json(t));
	return o;
}

json_t *tiers_json(const struct mf_fabric *f)
{
	json_t *all = json_array();

	for (unsigned int k = 0; k < f->tiers; k++)
		json_array_append_new(all, tier_json(&f->tier[k]));
	return all;
}
