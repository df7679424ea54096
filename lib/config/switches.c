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
	bool own; /* of a tier, by its name and a dot */
};

static const struct cfg_field entry_fields[] = {
	{.key = "name", .kind = CFG_MEMBER, CFG_AT(struct switch_in, name)},
	{.key = "count",
	 .kind = CFG_U32,
	 CFG_AT(struct switch_in, count),
	 CFG_RANGE(1, MF_CONFIG_SWITCH_LIST_MAX)},
	{.key = "tier", .kind = CFG_NESTED},
	{0},
};

/* Those keys of "switch" that a switch of frames uses, and those that EDM's uses. */
static const char *const of_frames[] = {"l2_latency", "frames", "frame_queue", NULL},
			 *const of_edm[] = {"l2_latency",    "mac_table",    "frames",   "frame_queue",
					    "requests",      "backlog_k",    "source_w", "align",
					    "grant_timeout", "hold_timeout", NULL};
#define FIELDS_MAX 16

static void make_fields(const struct mf_config_tier *tier, struct cfg_field fields[FIELDS_MAX])
{
	const char *const *keys = tier->stack_ops != NULL ? of_frames : of_edm;
	unsigned int n = 0;

	for (const struct cfg_field *f = cfg_switch_fields; f->key != NULL; f++)
		for (size_t i = 0; keys[i] != NULL; i++)
			if (strcmp(f->key, keys[i]) == 0)
				fields[n++] = *f;
	fields[n] = (struct cfg_field){0};
}

static int taken(struct cfg *c, const char *name)
{
	struct mf_config_switch_set set;
	unsigned int n;

	if (strcmp(name, CFG_SCHEDULER) == 0)
		return cfg_fail_key(c, "name", "'%s' is the name of another role", name);
	if (cfg_is_rack(c, name))
		return cfg_fail_key(c, "name", "'%s' is the name of a rack", name);
	n = mf_config_switches(c->config, name, &set);
	return n == 0 ? 0
		      : cfg_fail_key(c, "name", "'%s' names %s already", name,
				     n > 1 ? "several switches" : "a switch");
}

/* Adds the switches of one entry to the list. */
static int expand(struct cfg *c, const struct switch_in *in, const struct mf_config_switch *common)
{
	struct mf_config *config = c->config;
	unsigned int first = config->switches;
	uint16_t rack = c->tier->rack;
	int rc = in->own ? 0 : cfg_rack_of(c, in->name, &rack);

	if (rc == 0)
		rc = taken(c, in->name);
	if (rc == 0 && first + in->count > MF_CONFIG_SWITCH_LIST_MAX)
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
		config->switch_list[config->switches].tier = (uint16_t)(c->tier - config->tier);
		config->switch_list[config->switches].group = (uint16_t)config->switch_groups;
		config->switch_list[config->switches].rack = rack;
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
	struct mf_config_switch common = c->tier->sw;
	struct switch_in in = {.count = 1};
	struct cfg_field fields[FIELDS_MAX];
	int rc;

	make_fields(c->tier, fields);
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
	const struct mf_config_switch common = c->tier->sw;
	struct switch_in in = {.count = count};

	snprintf(in.name, sizeof(in.name), "%s", name);
	return expand(c, &in, &common);
}

static int make_room(struct cfg *c)
{
	struct mf_config *config = c->config;

	if (config->switch_list != NULL)
		return 0;

	if (c->tier->stack_ops == NULL && !mf_config_has_tiers(config))
		return cfg_fail(c, "only stacks of frames have several switches, the stack is \"%s\"",
				c->tier->stack.name);
	config->switch_list = calloc(MF_CONFIG_SWITCH_LIST_MAX, sizeof(*config->switch_list));
	config->switch_group = calloc(MF_CONFIG_SWITCH_LIST_MAX, sizeof(*config->switch_group));
	return config->switch_list != NULL && config->switch_group != NULL ? 0 : cfg_fail_memory(c);
}

static int read_topology(struct cfg *c, const json_t *json)
{
	int rc = make_room(c);

	return rc == 0 ? cfg_topology(c, json) : rc;
}

/* Whether "topology" says which switches a tier has. */
static bool is_of_topology(const struct cfg *c, unsigned int tier)
{
	return c->topology.places > 0 && c->topology.tier == tier;
}

/* Whether "topology" is of a tier. One that names no tier is read with the first, which refuses that. */
static bool is_read_with(const struct cfg *c, const json_t *topology, unsigned int tier)
{
	const char *name = json_string_value(json_object_get(topology, "tier"));
	unsigned int of = 0;

	for (unsigned int t = 0; t < c->config->tiers && name != NULL; t++)
		if (strcmp(c->config->tier[t].name, name) == 0)
			of = t;
	return topology != NULL && of == tier;
}

/* Those entries of "switches" that are of a tier. */
static int read_tier(struct cfg *c, const json_t *json, unsigned int tier)
{
	int rc = 0;
	size_t i;
	json_t *entry;

	json_array_foreach(json, i, entry) {
		int of = 0;

		cfg_push_index(c, i);
		rc = cfg_tier_of(c, entry, &of);
		if (rc == 0 && of == (int)tier && is_of_topology(c, tier))
			rc = cfg_fail(c, "has no effect: 'topology' says which there are");
		if (rc == 0 && of == (int)tier)
			rc = read_switch(c, entry);
		cfg_pop(c);
		if (rc != 0)
			break;
	}
	c->tier->switches = c->config->switches - c->tier->first_switch;
	return rc;
}

/* The switch of a tier that has none in "switches". */
static int add_own(struct cfg *c, unsigned int tier)
{
	struct mf_config_tier *t = c->tier;
	char name[2 * MF_CONFIG_NAME_LEN];
	struct switch_in in = {.count = 1, .own = true};
	int rc;

	if (t->sw.name[0] != '\0')
		snprintf(name, sizeof(name), "%.*s%s", (int)cfg_tier_prefix(t), t->name, t->sw.name);
	else
		snprintf(name, sizeof(name), "%s" MF_CONFIG_OWN_SWITCH, t->name);
	cfg_push(c, "tiers");
	cfg_push_index(c, tier);
	cfg_push(c, "switch");
	rc = strlen(name) < sizeof(in.name) ? 0 : cfg_fail(c, "its name '%s' is too long: give it one", name);
	if (rc == 0) {
		strcpy(in.name, name);
		strcpy(t->sw.name, name);
		rc = expand(c, &in, &t->sw);
	}
	cfg_pop(c);
	cfg_pop(c);
	cfg_pop(c);
	t->own_switch = true;
	t->switches = 1;
	return rc;
}

/* A tier that is a link between two nodes has none. */
static int check_none(struct cfg *c)
{
	return c->tier->switches == 0
		       ? 0
		       : cfg_fail_key(c, "switches",
				      "tier '%s' is a link between two nodes, without a switch",
				      c->tier->name);
}

static int check_switch_name(struct cfg *c, unsigned int tier)
{
	if (c->tier->sw.name[0] == '\0')
		return 0;
	cfg_push(c, "tiers");
	cfg_push_index(c, tier);
	cfg_push(c, "switch");
	cfg_fail_key(c, "name", "has no effect: 'switches' have names of their own");
	cfg_pop(c);
	cfg_pop(c);
	cfg_pop(c);
	return -EINVAL;
}

/* All of a file with "tiers", tier by tier. */
static int read_of_tiers(struct cfg *c, const json_t *root)
{
	const json_t *json = json_object_get(root, "switches");
	int rc = make_room(c);

	for (unsigned int t = 0; t < c->config->tiers && rc == 0; t++) {
		c->tier = &c->config->tier[t];
		c->tier->first_switch = c->config->switches;
		if (is_read_with(c, json_object_get(root, "topology"), t))
			rc = cfg_section(c, root, "topology", read_topology);
		cfg_push(c, "switches");
		if (rc == 0)
			rc = read_tier(c, json, t);
		cfg_pop(c);
		if (rc == 0 && c->tier->direct)
			rc = check_none(c);
		else if (rc == 0)
			rc = c->tier->switches == 0 ? add_own(c, t) : check_switch_name(c, t);
	}
	c->tier = c->config->tier;
	return rc;
}

static int read_switches(struct cfg *c, const json_t *json)
{
	size_t n = json_array_size(json);
	int rc = cfg_is(c, json, JSON_ARRAY);

	if (rc == 0 && c->config->switches > 0 && !mf_config_has_tiers(c->config))
		return cfg_fail(c, "has no effect: 'topology' says which there are");
	if (rc == 0 && n == 0)
		rc = cfg_fail(c, "has no entry");
	if (rc == 0 && n > MF_CONFIG_SWITCH_LIST_MAX)
		rc = cfg_fail(c, "too many: %zu switches, at most %u", n, MF_CONFIG_SWITCH_LIST_MAX);
	if (rc != 0 || mf_config_has_tiers(c->config))
		return rc;
	rc = make_room(c);
	return rc == 0 ? read_tier(c, json, 0) : rc;
}

/* Stacks and bridges that work with one switch only. */
static int check_one(struct cfg *c)
{
	const struct mf_config *config = c->config;

	for (unsigned int i = 0; i < config->tiers; i++) {
		const struct mf_config_tier *t = &config->tier[i];
		char in[MF_CONFIG_NAME_LEN + 16] = "";

		if (t->switches < 2 || (t->stack_ops != NULL && !t->stack_ops->one_switch))
			continue;
		if (t->name[0] != '\0')
			snprintf(in, sizeof(in), "tier '%s': ", t->name);
		return cfg_fail_key(c, is_of_topology(c, i) ? "topology" : "switches",
				    "%sthe stack \"%s\" works with one switch only, there are %u", in,
				    t->stack.name, t->switches);
	}
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
	for (const struct mf_config_tier *t = c->config->tier; t < c->config->tier + c->config->tiers; t++)
		if (routing == MF_ROUTING_SPRAY && t->stack_ops != NULL && !t->stack_ops->sprays)
			return cfg_fail(c,
					"the stack \"%s\" does not allow \"spray\": frames would overtake "
					"each other",
					t->stack.name);
	c->config->routing = routing;
	return 0;
}

int cfg_switches(struct cfg *c, const json_t *root)
{
	bool tiers = mf_config_has_tiers(c->config);
	int rc = tiers ? 0 : cfg_section(c, root, "topology", read_topology);

	if (rc == 0)
		rc = cfg_section(c, root, "switches", read_switches);
	if (rc == 0 && tiers)
		rc = read_of_tiers(c, root);
	else if (!tiers)
		c->tier->switches = c->config->switches;
	if (rc == 0)
		rc = check_one(c);
	if (rc == 0 && c->config->switches > 0 && !tiers)
		rc = check_single(c, root);
	return rc == 0 ? cfg_section(c, root, "routing", read_routing) : rc;
}

void cfg_put_switches(struct put *p, json_t *root)
{
	static const char *const single[] = {"name", "ports", NULL};
	const struct mf_config *config = p->config;
	const struct mf_config_switch *sw = config->switch_list;
	struct cfg_field fields[FIELDS_MAX];
	json_t *array = json_array();

	if (config->switches > 0)
		cfg_put_drop(json_object_get(root, "switch"), single);
	for (unsigned int g = 0; g < config->switch_groups; sw += config->switch_group[g++].count) {
		const struct mf_config_tier *t = &config->tier[sw->tier];
		json_t *json;

		if (t->own_switch)
			continue;
		json = cfg_put_append(p, array, json_object());
		make_fields(t, fields);
		cfg_put_set(p, json, "name", json_string(config->switch_group[g].name));
		cfg_put_set(p, json, "count", json_integer(config->switch_group[g].count));
		if (mf_config_has_tiers(config))
			cfg_put_set(p, json, "tier", json_string(t->name));
		cfg_put_fields(p, json, fields, sw);
	}
	if (json_array_size(array) > 0)
		cfg_put_set(p, root, "switches", array);
	else
		json_decref(array);
	if (config->switches > 0)
		cfg_put_set(p, root, "routing", json_string(routing_names[config->routing]));
}
