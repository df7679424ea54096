/* SPDX-License-Identifier: BSD-3-Clause */
#include "judge_graph.h"

#include <string.h>

#include "config/mf_config_query.h"

#define PATIENT MF_MS(5) /* stacks send again within a part of it */

static bool is_cut(const struct mf_config *c, unsigned int trunk)
{
	for (unsigned int i = 0; i < c->faults; i++)
		if (mf_config_fault_has(c, &c->fault[i], trunk, NULL))
			return true;
	return false;
}

static unsigned int part_of(const unsigned int *joined, unsigned int sw)
{
	while (joined[sw] != sw)
		sw = joined[sw];
	return sw;
}

/** Whether all nodes reach each other by links that no rule is about: then they do at any time. */
static bool is_joined_always(const struct mf_config *c)
{
	unsigned int joined[MF_CONFIG_SWITCH_LIST_MAX], first = UINT32_MAX;

	for (unsigned int i = 0; i < c->switches; i++)
		joined[i] = i;
	for (unsigned int i = 0; i < c->trunks; i++)
		if (!is_cut(c, i))
			joined[part_of(joined, c->trunk[i].a)] = part_of(joined, c->trunk[i].b);
	for (unsigned int i = 0; i < c->slots; i++) {
		if (!c->node[i].up)
			continue;
		if (first == UINT32_MAX)
			first = part_of(joined, c->node[i].to);
		if (part_of(joined, c->node[i].to) != first)
			return false;
	}
	return true;
}

static bool only_cuts(const struct mf_config *c)
{
	for (unsigned int i = 0; i < c->faults; i++)
		if (c->fault[i].class != MF_FAULT_LINK_DOWN || c->fault[i].role != MF_CONFIG_TRUNKS)
			return false;
	return c->faults > 0;
}

static bool is_patient(const struct mf_config *c)
{
	for (unsigned int i = 0; i < c->slots; i++)
		if (c->node[i].up && c->node[i].compute &&
		    (c->node[i].host.read_timeout[MF_CLOCK_VIRTUAL] < PATIENT ||
		     c->node[i].host.write_timeout[MF_CLOCK_VIRTUAL] < PATIENT))
			return false;
	return true;
}

static void judge_moved(const struct mf_config *c, struct verdict *v)
{
	if (!only_cuts(c) || c->tier->stack_ops->loses || !is_patient(c) || !is_joined_always(c))
		return;
	v->sum[SUM_MOVED] = 1;
	if (v->sum[SUM_FAILED] > 0)
		verdict_violation(v, "moved", "%llu operations failed though there was a path all the time",
				  (unsigned long long)v->sum[SUM_FAILED]);
}

/** Damaged pauses are not heard; so only without what damages or loses. */
static void judge_lossless(const struct mf_config *c, const json_t *result, struct verdict *v)
{
	const json_t *drops = json_object_get(json_object_get(result, "drops"), "switch");
	json_int_t capacity = json_integer_value(json_object_get(drops, "frame_room"));

	if (strcmp(c->tier->bridge.name, "pfc") != 0 || capacity == 0)
		return;
	for (unsigned int i = 0; i < c->faults; i++)
		if (c->fault[i].class != MF_FAULT_LINK_DOWN)
			return;
	verdict_violation(v, "lossless", "switches had no room for %lld frames though they pause", capacity);
}

void judge_graph(const struct mf_config *c, const json_t *result, struct verdict *v)
{
	if (c->switches == 0)
		return;
	v->sum[SUM_GRAPHS] = 1;
	judge_moved(c, v);
	judge_lossless(c, result, v);
}
