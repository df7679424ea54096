/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * "tiers": networks of one stack each. A file without that key has one tier without a name; its keys are at
 * the top level. Nodes have a number in each tier in which they have an end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/cfg.h"

static const struct mf_config_tier default_tier = {
	.sw = {.name = "sw0",
	       .l2_latency = MF_NS(400),
	       .mac_table = 1024,
	       .frames = 1024,
	       .frame_queue = 256 << 10,
	       .grant_timeout = {[MF_CLOCK_WALL] = MF_SEC(1), [MF_CLOCK_VIRTUAL] = CFG_BY_LINE},
	       .hold_timeout = {[MF_CLOCK_WALL] = MF_MS(500), [MF_CLOCK_VIRTUAL] = CFG_BY_LINE}},
	.sched = {.policy = "pim",
		  .chunk = {[MF_CLOCK_WALL] = 4096, [MF_CLOCK_VIRTUAL] = 256},
		  .x = 3,
		  .window = 16 << 10},
	.server = -1,
};

static const struct cfg_field entry_fields[] = {
	{.key = "name", .kind = CFG_MEMBER, CFG_AT(struct mf_config_tier, name)},
	{.key = "stack"},
	{.key = "switch"},
	{.key = "scheduler"},
	{.key = "proto"},
	{.key = "timing"},
	{.key = "link"},
	{0},
};

/* The keys of an entry; at the top level of a file without entries. */
static int read_tier(struct cfg *c, const json_t *json)
{
	int rc;

	cfg_push(c, "stack");
	rc = cfg_stack(c, json_object_get(json, "stack"));
	cfg_pop(c);
	if (rc == 0) {
		cfg_push(c, "switch");
		cfg_push(c, "bridge");
		rc = cfg_bridge(c, json_object_get(json_object_get(json, "switch"), "bridge"));
		cfg_pop(c);
		cfg_pop(c);
	}
	if (rc == 0)
		rc = cfg_section(c, json, "proto", cfg_proto);
	if (rc == 0)
		rc = cfg_section(c, json, "scheduler", cfg_sched);
	if (rc == 0)
		rc = cfg_section(c, json, "switch", cfg_switch);
	if (rc == 0) {
		cfg_push(c, "timing");
		rc = cfg_timing(c, json_object_get(json, "timing"));
		cfg_pop(c);
	}
	return rc;
}

static int read_entry(struct cfg *c, const json_t *json)
{
	static const char *const ports[] = {"ports", NULL};
	int rc = cfg_object(c, json, entry_fields, c->tier);

	if (rc == 0 && json_object_get(json, "name") == NULL)
		rc = cfg_fail_key(c, "name", "is missing");
	if (rc == 0)
		rc = cfg_rack_of(c, c->tier->name, &c->tier->rack);
	for (const struct mf_config_tier *t = c->config->tier; t < c->tier && rc == 0; t++)
		if (strcmp(t->name, c->tier->name) == 0)
			rc = cfg_fail_key(c, "name", "there are two tiers '%s'", t->name);
	c->tier->sw.name[0] = '\0'; /* switches.c finds one */
	if (rc == 0)
		rc = read_tier(c, json);
	cfg_push(c, "switch");
	if (rc == 0)
		rc = cfg_refuse(c, json_object_get(json, "switch"), ports,
				"with 'tiers' a switch has as many as it has links");
	cfg_pop(c);
	return rc;
}

static int read_entries(struct cfg *c, const json_t *json)
{
	int rc = 0;

	for (unsigned int i = 0; i < c->config->tiers && rc == 0; i++) {
		c->tier = &c->config->tier[i];
		*c->tier = default_tier;
		cfg_push_index(c, i);
		rc = read_entry(c, json_array_get(json, i));
		cfg_pop(c);
	}
	return rc;
}

/* Keys that are of each tier, and those that nothing says yet what they would mean. */
static int check_beside(struct cfg *c, const json_t *root)
{
	static const char *const of_each[] = {"stack", "switch", "scheduler", "proto", "timing", NULL},
				 *const of_one[] = {"regions", "limits", "test_patterns", NULL};

	for (int i = 0; of_each[i] != NULL; i++)
		if (json_object_get(root, of_each[i]) != NULL)
			return cfg_fail_key(c, of_each[i],
					    "is of each tier: it stands in entries of 'tiers'");
	if (json_object_get(root, "backup") != NULL)
		return cfg_fail_key(c, "backup", "goes with 'tiers' not yet");
	for (int i = 0; of_one[i] != NULL && c->config->tiers > 1; i++)
		if (json_object_get(root, of_one[i]) != NULL)
			return cfg_fail_key(c, of_one[i], "is for a file with one tier so far, there are %u",
					    c->config->tiers);
	return 0;
}

static int make_tiers(struct cfg *c, size_t n)
{
	c->config->tier = calloc(n, sizeof(*c->config->tier));
	if (c->config->tier == NULL)
		return cfg_fail_memory(c);
	c->config->tiers = (unsigned int)n;
	c->tier = c->config->tier;
	*c->tier = default_tier;
	return 0;
}

int cfg_tiers(struct cfg *c, const json_t *root)
{
	const json_t *json = json_object_get(root, "tiers");
	size_t n = json_array_size(json);
	int rc;

	if (json == NULL) {
		rc = make_tiers(c, 1);
		return rc == 0 ? read_tier(c, root) : rc;
	}
	cfg_push(c, "tiers");
	rc = cfg_is(c, json, JSON_ARRAY);
	if (rc == 0 && (n == 0 || n > MF_CONFIG_TIERS_MAX))
		rc = cfg_fail(c, "has %zu entries, there may be 1 to %u", n, MF_CONFIG_TIERS_MAX);
	if (rc == 0)
		rc = make_tiers(c, n);
	if (rc == 0)
		rc = read_entries(c, json);
	cfg_pop(c);
	c->tier = c->config->tier;
	return rc == 0 ? check_beside(c, root) : rc;
}

size_t cfg_tier_prefix(const struct mf_config_tier *t)
{
	return t->rack != 0 ? (size_t)(strchr(t->name, '.') - t->name) + 1 : 0;
}

int cfg_tier_of(struct cfg *c, const json_t *json, int *tier)
{
	const json_t *name = json_object_get(json, "tier");

	if (name == NULL)
		return 0;
	if (!mf_config_has_tiers(c->config))
		return cfg_fail_key(c, "tier", "has no effect: there are no 'tiers'");
	if (!json_is_string(name))
		return cfg_fail_key(c, "tier", "must be the name of a tier");
	for (unsigned int i = 0; i < c->config->tiers; i++)
		if (strcmp(c->config->tier[i].name, json_string_value(name)) == 0) {
			*tier = (int)i;
			return 0;
		}
	return cfg_fail_key(c, "tier", "there is no tier '%.64s'", json_string_value(name));
}

int cfg_tier_links(struct cfg *c, const json_t *root)
{
	const json_t *json = json_object_get(root, "tiers");
	int rc = 0;

	cfg_push(c, "tiers");
	for (unsigned int i = 0; i < c->config->tiers && rc == 0; i++) {
		struct mf_config_tier *t = &c->config->tier[i];
		const json_t *link = json_object_get(json_array_get(json, i), "link");

		memcpy(&t->link, &c->link,
		       sizeof(t->link)); /* its padding, too: the writer compares octets */
		if (link == NULL)
			continue;
		cfg_push_index(c, i);
		cfg_push(c, "link");
		rc = cfg_known(c, link, cfg_link_fields, NULL);
		if (rc == 0)
			rc = cfg_link(c, link, false, &t->link);
		cfg_pop(c);
		cfg_pop(c);
	}
	cfg_pop(c);
	return rc;
}

/* Each end of a node in the tier has a number there. */
static void number_end(struct mf_config *config, struct mf_config_tier *t, unsigned int node, unsigned int k)
{
	struct mf_config_node *n = &config->node[node];
	struct mf_config_end *e = k == 0 ? &n->first : &config->end[n->more + k - 1];

	if (&config->tier[e->tier] != t)
		return;
	e->number = (uint16_t)t->nodes;
	t->several |= mf_config_end_in(config, node, e->tier) != e;
	t->node[t->nodes++] = (uint16_t)node;
}

static int number_tier(struct cfg *c, unsigned int tier)
{
	struct mf_config *config = c->config;
	struct mf_config_tier *t = &config->tier[tier];

	t->node = calloc(config->slots + config->ends, sizeof(*t->node));
	if (t->node == NULL)
		return cfg_fail_memory(c);
	for (unsigned int i = 0; i < config->slots; i++) {
		for (unsigned int k = 0; k < config->node[i].ends; k++)
			number_end(config, t, i, k);
		if (!config->node[i].up && !mf_config_has_tiers(config))
			t->node[t->nodes++] = (uint16_t)i;
	}
	if (t->nodes > mf_config_tier_nodes_max(t) && t->several)
		return cfg_fail_key(c, "nodes", "they have %u ends%s%s, with stack \"%s\" there may be %u",
				    t->nodes, t->name[0] != '\0' ? " in tier " : "", t->name, t->stack.name,
				    mf_config_tier_nodes_max(t));
	if (t->direct && config->nodes != 2 && !mf_config_has_tiers(config))
		return cfg_fail_key(
			c, "nodes",
			"there are %u: two with a link between them are a fabric without a switch",
			config->nodes);
	if (t->direct && t->nodes != 2)
		return cfg_fail_key(c, "nodes", "tier '%s' has %u of them, and is a link between two",
				    t->name, t->nodes);
	if (!mf_config_has_tiers(config))
		return 0;
	if (t->nodes < 2)
		return cfg_fail_key(c, "nodes", "tier '%s' has %u of them, it needs at least 2", t->name,
				    t->nodes);
	if (t->nodes > mf_config_tier_nodes_max(t))
		return cfg_fail_key(c, "nodes", "tier '%s' has %u of them, with stack \"%s\" at most %u",
				    t->name, t->nodes, t->stack.name, mf_config_tier_nodes_max(t));
	return 0;
}

/* Of switches that grant: their schedulers are roles with names of their own. */
static int name_schedulers(struct cfg *c)
{
	for (unsigned int i = 0; i < c->config->switches; i++) {
		struct mf_config_switch *sw = &c->config->switch_list[i];
		char name[MF_CONFIG_NAME_LEN + 16];

		if (c->config->tier[sw->tier].stack_ops != NULL)
			continue;
		snprintf(name, sizeof(name), "%s." CFG_SCHEDULER, sw->name);
		if (strlen(name) >= sizeof(sw->scheduler))
			return cfg_fail_key(c, "switches", "the name of a scheduler, '%s', is too long",
					    name);
		strcpy(sw->scheduler, name);
	}
	return 0;
}

int cfg_numbers(struct cfg *c)
{
	int rc = name_schedulers(c);

	for (unsigned int t = 0; t < c->config->tiers && rc == 0; t++)
		rc = number_tier(c, t);
	return rc;
}

int cfg_share_tier(struct cfg *c, const char *key, unsigned int a, unsigned int b)
{
	const struct mf_config_node *node = c->config->node;

	if (a == b || mf_config_common_tier(c->config, a, b) >= 0)
		return 0;
	return cfg_fail_key(c, key, "nodes '%s' and '%s' have no end in the same tier", node[a].name,
			    node[b].name);
}

struct mf_config_end *cfg_end_in(struct mf_config *config, unsigned int node, unsigned int tier)
{
	struct mf_config_node *n = &config->node[node];

	if (n->up && n->tier == tier)
		return &n->first;
	for (unsigned int k = 1; k < n->ends; k++)
		if (config->end[n->more + k - 1].tier == tier)
			return &config->end[n->more + k - 1];
	return NULL;
}

const struct mf_config_end *mf_config_end_in(const struct mf_config *config, unsigned int node,
					     unsigned int tier)
{
	for (unsigned int k = 0; k < config->node[node].ends; k++)
		if (mf_config_end(config, node, k)->tier == tier)
			return mf_config_end(config, node, k);
	return NULL;
}

int mf_config_common_tier(const struct mf_config *config, unsigned int a, unsigned int b)
{
	for (unsigned int k = 0; k < config->node[a].ends; k++) {
		unsigned int tier = mf_config_end(config, a, k)->tier;

		if (mf_config_end_in(config, b, tier) != NULL)
			return (int)tier;
	}
	return -1;
}

void cfg_tiers_free(struct mf_config *config)
{
	for (unsigned int t = 0; t < config->tiers; t++)
		free(config->tier[t].node);
	free(config->tier);
}
