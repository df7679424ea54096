/* SPDX-License-Identifier: BSD-3-Clause */
/* "switches": several of them, for stacks of frames, and "routing": how frames find their way over them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/cfg_write.h"

static const char *const routing_names[] = {
	[MF_ROUTING_HASH] = "hash", [MF_ROUTING_SPRAY] = "spray", [MF_ROUTINGS] = NULL};

struct switch_in {
	char name[MF_CONFIG_NAME_LEN];
	uint32_t count;
};

static const struct cfg_field entry_fields[] = {
	{.key = "name", .kind = CFG_NAME, CFG_AT(struct switch_in, name)},
	{.key = "count",
	 .kind = CFG_U32,
	 CFG_AT(struct switch_in, count),
	 CFG_RANGE(1, MF_CONFIG_SWITCH_LIST_MAX)},
	{0},
};

/* Those keys of "switch" that a switch of frames uses. */
static const char *const of_frames[] = {"l2_latency", "frames", "frame_queue"};
#define OF_FRAMES (sizeof(of_frames) / sizeof(of_frames[0]))

static void make_fields(struct cfg_field fields[OF_FRAMES + 1])
{
	unsigned int n = 0;

	for (const struct cfg_field *f = cfg_switch_fields; f->key != NULL; f++)
		for (size_t i = 0; i < OF_FRAMES; i++)
			if (strcmp(f->key, of_frames[i]) == 0)
				fields[n++] = *f;
	fields[n] = (struct cfg_field){0};
}

int mf_config_switches(const struct mf_config *config, const char *name, unsigned int *n)
{
	unsigned int first = 0;

	for (unsigned int g = 0; g < config->switch_groups; g++) {
		*n = config->switch_group[g].count;
		if (strcmp(config->switch_group[g].name, name) == 0)
			return (int)first;
		first += *n;
	}
	*n = 1;
	for (unsigned int i = 0; i < config->switches; i++)
		if (strcmp(config->switch_list[i].name, name) == 0)
			return (int)i;
	return -ENOENT;
}

static int taken(struct cfg *c, const char *name)
{
	unsigned int n;

	if (strcmp(name, mf_config_sched_name(0)) == 0)
		return cfg_fail_key(c, "name", "'%s' is the name of another role", name);
	if (mf_config_switches(c->config, name, &n) >= 0)
		return cfg_fail_key(c, "name", "'%s' names %s already", name,
				    n > 1 ? "several switches" : "a switch");
	return 0;
}

/* Adds the switches of one entry to the list. */
static int expand(struct cfg *c, const struct switch_in *in, const struct mf_config_switch *common)
{
	struct mf_config *config = c->config;
	unsigned int first = config->switches;
	int rc = taken(c, in->name);

	if (first + in->count > MF_CONFIG_SWITCH_LIST_MAX)
		return cfg_fail(c, "too many: %u switches, at most %u", first + in->count,
				MF_CONFIG_SWITCH_LIST_MAX);
	for (uint32_t i = 0; i < in->count && rc == 0; i++) {
		char name[MF_CONFIG_NAME_LEN + 8];

		snprintf(name, sizeof(name), in->count > 1 ? "%s%u" : "%s", in->name, i);
		if (strlen(name) >= MF_CONFIG_NAME_LEN)
			return cfg_fail_key(c, "name", "'%s' is too long, at most %u octets", name,
					    MF_CONFIG_NAME_LEN - 1);
		rc = taken(c, name);
		config->switch_list[config->switches] = *common;
		strcpy(config->switch_list[config->switches].name, name);
		config->switches += rc == 0;
	}
	if (rc == 0) {
		strcpy(config->switch_group[config->switch_groups].name, in->name);
		config->switch_group[config->switch_groups++].count = in->count;
	}
	return rc;
}

static int read_switch(struct cfg *c, const json_t *json)
{
	struct mf_config_switch common = c->config->sw;
	struct switch_in in = {.count = 1};
	struct cfg_field fields[OF_FRAMES + 1];
	int rc;

	make_fields(fields);
	rc = cfg_known(c, json, entry_fields, fields);
	if (rc == 0)
		rc = cfg_read(c, json, entry_fields, &in);
	if (rc == 0)
		rc = cfg_read(c, json, fields, &common);
	if (rc == 0 && json_object_get(json, "name") == NULL)
		rc = cfg_fail_key(c, "name", "is missing");
	return rc == 0 ? expand(c, &in, &common) : rc;
}

int cfg_add_switches(struct cfg *c, const char *name, uint32_t count)
{
	const struct mf_config_switch common = c->config->sw;
	struct switch_in in = {.count = count};

	snprintf(in.name, sizeof(in.name), "%s", name);
	return expand(c, &in, &common);
}

static int make_room(struct cfg *c)
{
	struct mf_config *config = c->config;

	if (config->stack_ops == NULL)
		return cfg_fail(c, "only stacks of frames have several switches, the stack is \"%s\"",
				config->stack.name);
	config->switch_list = calloc(MF_CONFIG_SWITCH_LIST_MAX, sizeof(*config->switch_list));
	config->switch_group = calloc(MF_CONFIG_SWITCH_LIST_MAX, sizeof(*config->switch_group));
	return config->switch_list != NULL && config->switch_group != NULL ? 0 : cfg_fail_memory(c);
}

static int read_topology(struct cfg *c, const json_t *json)
{
	int rc = make_room(c);

	return rc == 0 ? cfg_topology(c, json) : rc;
}

static int read_switches(struct cfg *c, const json_t *json)
{
	int rc = cfg_is(c, json, JSON_ARRAY);
	size_t i, n = json_array_size(json);
	json_t *entry;

	if (rc == 0 && c->config->switches > 0)
		return cfg_fail(c, "has no effect: 'topology' says which there are");
	if (rc == 0 && n == 0)
		rc = cfg_fail(c, "has no entry");
	if (rc == 0 && n > MF_CONFIG_SWITCH_LIST_MAX)
		rc = cfg_fail(c, "too many: %zu switches, at most %u", n, MF_CONFIG_SWITCH_LIST_MAX);
	if (rc == 0)
		rc = make_room(c);
	if (rc != 0)
		return rc;
	json_array_foreach(json, i, entry) {
		cfg_push_index(c, i);
		rc = read_switch(c, entry);
		cfg_pop(c);
		if (rc != 0)
			return rc;
	}
	return 0;
}

/* Stacks and bridges that work with one switch only. */
static int check_one(struct cfg *c)
{
	const struct mf_config *config = c->config;

	if (config->switches < 2)
		return 0;
	if (config->stack_ops->one_switch)
		return cfg_fail_key(c, c->topology.places > 0 ? "topology" : "switches",
				    "the stack \"%s\" works with one switch only, there are %u",
				    config->stack.name, config->switches);
	return 0;
}

/* Keys that stand for the single switch, or for its backup. */
static int check_single(struct cfg *c, const json_t *root)
{
	static const char *const names[] = {"name", NULL}, *const ports[] = {"ports", NULL},
				 *const backup[] = {"backup", NULL};
	const json_t *sw = json_object_get(root, "switch");
	int rc =
		cfg_refuse(c, root, backup, "it is a second switch of EDM's stack, and there are 'switches'");

	cfg_push(c, "switch");
	if (rc == 0)
		rc = cfg_refuse(c, sw, names, "'switches' have names of their own");
	if (rc == 0)
		rc = cfg_refuse(c, sw, ports, "each of 'switches' has as many as it has links");
	cfg_pop(c);
	return rc;
}

static int read_routing(struct cfg *c, const json_t *json)
{
	uint32_t routing = MF_ROUTING_HASH;
	int rc = cfg_enum(c, json, routing_names, &routing);

	if (rc != 0)
		return rc;
	if (c->config->switches == 0)
		return cfg_fail(c, "has no effect: there are no 'switches'");
	if (routing == MF_ROUTING_SPRAY && !c->config->stack_ops->sprays)
		return cfg_fail(c,
				"the stack \"%s\" does not allow \"spray\": frames would overtake each other",
				c->config->stack.name);
	c->config->routing = routing;
	return 0;
}

int cfg_switches(struct cfg *c, const json_t *root)
{
	int rc = cfg_section(c, root, "topology", read_topology);

	if (rc == 0)
		rc = cfg_section(c, root, "switches", read_switches);
	if (rc == 0 && c->config->switches > 0)
		rc = check_one(c);
	if (rc == 0 && c->config->switches > 0)
		rc = check_single(c, root);
	return rc == 0 ? cfg_section(c, root, "routing", read_routing) : rc;
}

void cfg_put_switches(struct put *p, json_t *root)
{
	static const char *const single[] = {"name", "ports", NULL};
	const struct mf_config *config = p->config;
	const struct mf_config_switch *sw = config->switch_list;
	struct cfg_field fields[OF_FRAMES + 1];
	json_t *array;

	if (config->switches == 0)
		return;
	make_fields(fields);
	cfg_put_drop(json_object_get(root, "switch"), single);
	array = cfg_put_set(p, root, "switches", json_array());
	for (unsigned int g = 0; g < config->switch_groups; g++) {
		json_t *json = cfg_put_append(p, array, json_object());

		cfg_put_set(p, json, "name", json_string(config->switch_group[g].name));
		cfg_put_set(p, json, "count", json_integer(config->switch_group[g].count));
		cfg_put_fields(p, json, fields, sw);
		sw += config->switch_group[g].count;
	}
	cfg_put_set(p, root, "routing", json_string(routing_names[config->routing]));
}
