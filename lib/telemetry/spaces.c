/* SPDX-License-Identifier: BSD-3-Clause */
/* Telemetry of address spaces: what each has at a memory node, and what came of accesses to it. */
#include <inttypes.h>
#include <stdio.h>

#include "config/mf_config_query.h"
#include "result/mf_result.h"
#include "telemetry/telemetry.h"

#define SPACES_MAX 40 /* of a reply: as many as fit for sure */
#define HOT 3 /* pages of each */

static const char *name_of_memory(const void *ctx, unsigned int i)
{
	const struct mf_fabric *f = ctx;

	return f->node[i].fast != NULL ? f->config->node[i].name : NULL;
}

/** The node that made a space, by name; "?": none has this number. */
static const char *maker_name(const struct mf_fabric *f, uint32_t space)
{
	for (unsigned int i = 0; i < f->nodes; i++)
		if (f->tier->number[i] == mf_space_maker(space))
			return f->config->node[i].name;
	return "?";
}

static json_t *hot_json(const struct mf_vm *v, uint32_t space)
{
	struct mf_vm_hot hot[HOT];
	unsigned int n = mf_vm_hot_pages(v, space, hot, HOT);
	json_t *o = json_object();

	for (unsigned int i = 0; i < n; i++) {
		char addr[24];

		snprintf(addr, sizeof(addr), "0x%" PRIx64, hot[i].addr);
		result_count(o, addr, hot[i].samples);
	}
	return o;
}

static json_t *space_json(const struct mf_vm *v, uint32_t space)
{
	static const char *const names[MF_USAGES] = {[MF_USAGE_PAGES] = "pages",
						     [MF_USAGE_OCTETS] = "octets",
						     [MF_USAGE_ENTRIES] = "entries",
						     [MF_USAGE_ALLOCATED] = "allocated_octets",
						     [MF_USAGE_RANGES] = "ranges"};
	struct mf_vm_space_stats s;
	json_t *o = json_object();

	mf_vm_space_stats(v, space, &s);
	for (unsigned int i = 0; i < MF_USAGES; i++)
		result_count(o, names[i], s.used[i]);
	result_count(o, "hits", s.hits);
	result_count(o, "faults", s.faults);
	result_count(o, "refused", s.refused);
	json_object_set_new(o, "hot", hot_json(v, space));
	return o;
}

json_t *telemetry_spaces(struct telemetry_query *q)
{
	const struct mf_fabric *f = q->f;
	json_t *o, *spaces;
	const struct mf_vm_slow *slow;
	uint32_t place = 0, space, n = 0;
	int i;

	if (q->name == NULL)
		return telemetry_names(q, f->nodes, name_of_memory, f);
	i = telemetry_node(q);
	if (i < 0)
		return NULL;
	if (f->node[i].fast == NULL)
		return telemetry_refuse(q, "'%.63s' has no address spaces here", q->name);
	slow = mf_slow_path_slow(f->node[i].slow);
	o = json_object();
	spaces = json_object();
	for (; (space = mf_vm_slow_next_space(slow, &place)) != MF_SPACES; n++) {
		char name[MF_CONFIG_NAME_LEN + 16];

		if (n < q->first || n - q->first >= SPACES_MAX)
			continue;
		snprintf(name, sizeof(name), "%s/%u", maker_name(f, space),
			 space & ((1u << MF_SPACE_OF_NODE_BITS) - 1));
		json_object_set_new(spaces, name, space_json(f->node[i].fast, space));
	}
	json_object_set_new(o, "spaces", spaces);
	json_object_set_new(o, "first", json_integer(q->first));
	json_object_set_new(o, "total", json_integer(n));
	return o;
}
