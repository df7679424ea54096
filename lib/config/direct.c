/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A link between two nodes, without a switch. The two are all of their network: a tier, or the fabric. An
 * entry of "links" names both ("between"), or "ends" of one of them names the other one.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/cfg_write.h"

static const struct cfg_field entry_fields[] = {
	{.key = "between", .kind = CFG_NESTED}, {.key = "tier", .kind = CFG_NESTED}, {0}};

/* Whether an entry has this name, or makes something that has it: of several NAME0, NAME1, ... */
static bool makes(const json_t *entry, const char *name)
{
	const char *of = json_string_value(json_object_get(entry, "name"));
	json_int_t count = json_integer_value(json_object_get(entry, "count"));
	size_t len = of != NULL ? strlen(of) : 0;
	char number[24];

	if (len == 0 || strncmp(of, name, len) != 0)
		return false;
	snprintf(number, sizeof(number), "%lu", strtoul(name + len, NULL, 10));
	return name[len] == '\0' ||
	       (count > 1 && strcmp(number, name + len) == 0 && strtoul(number, NULL, 10) < (uint64_t)count);
}

bool cfg_is_node(const struct cfg *c, const json_t *name)
{
	const char *of = json_string_value(name);
	json_t *entry;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)c->nodes, i, entry)
		if (of != NULL && makes(entry, of))
			return true;
	return false;
}

bool cfg_is_direct(const struct cfg *c, const json_t *entry)
{
	const json_t *between = json_object_get(entry, "between");

	return json_is_array(between) && json_array_size(between) == 2 &&
	       cfg_is_node(c, json_array_get(between, 0)) && cfg_is_node(c, json_array_get(between, 1));
}

/* The tier that an object names; without "tiers" the only one. NULL: none, or one that is not there. */
static struct mf_config_tier *tier_named(const struct cfg *c, const json_t *json)
{
	const char *name = json_string_value(json_object_get(json, "tier"));
	struct mf_config *config = c->config;

	if (!mf_config_has_tiers(config))
		return config->tier;
	for (unsigned int i = 0; i < config->tiers && name != NULL; i++)
		if (strcmp(config->tier[i].name, name) == 0)
			return &config->tier[i];
	return NULL;
}

static void mark(const struct cfg *c, const json_t *json)
{
	struct mf_config_tier *t = tier_named(c, json);

	if (t != NULL)
		t->direct = true;
}

/* Marks the tiers in which a node has a link to another one. */
static void find(const struct cfg *c, const json_t *root)
{
	json_t *entry, *end;
	size_t i, k;

	json_array_foreach((json_t *)(uintptr_t)c->nodes, i, entry)
		json_array_foreach(json_object_get(entry, "ends"), k, end)
			if (cfg_is_node(c, json_object_get(end, "to")))
				mark(c, end);
	json_array_foreach(json_object_get(root, "links"), i, entry)
		if (cfg_is_direct(c, entry))
			mark(c, entry);
}

/* A stack above the MAC that needs nothing of a switch. @param json  of the tier, or the whole file */
static int check_tier(struct cfg *c, const struct mf_config_tier *t, const json_t *json)
{
	static const char *const sw[] = {"switch", NULL};

	if (t->stack_ops == NULL || t->stack_ops->messages)
		return cfg_fail_key(c, "stack",
				    "\"%s\" needs a switch: a link between two nodes is for stacks of frames",
				    t->stack.name);
	if (t->stack_ops->server != NULL)
		return cfg_fail_key(c, "stack",
				    "\"%s\" needs a switch, for its %s: a link between two nodes has none",
				    t->stack.name, t->stack_ops->server);
	return cfg_refuse(c, json, sw, "there is a link between two nodes, and no switch");
}

int cfg_direct(struct cfg *c, const json_t *root)
{
	const json_t *tiers = json_object_get(root, "tiers");
	int rc = 0;

	c->nodes = json_object_get(root, "nodes");
	if (tiers == NULL &&
	    (json_object_get(root, "switches") != NULL || json_object_get(root, "topology") != NULL))
		return 0; /* who names a node where a switch should be is told so */
	find(c, root);
	if (tiers == NULL)
		return c->tier->direct ? check_tier(c, c->tier, root) : 0;
	cfg_push(c, "tiers");
	for (unsigned int i = 0; i < c->config->tiers && rc == 0; i++) {
		cfg_push_index(c, i);
		if (c->config->tier[i].direct)
			rc = check_tier(c, &c->config->tier[i], json_array_get(tiers, i));
		cfg_pop(c);
	}
	cfg_pop(c);
	return rc;
}

int cfg_direct_end(struct cfg *c, const json_t *to)
{
	if (to == NULL || cfg_is_node(c, to))
		return 0;
	return json_is_string(to) ? cfg_fail(c, "there is no node '%.64s'", json_string_value(to))
				  : cfg_fail(c, "must be the name of a node: the link is between two nodes");
}

/* Which of the two nodes of a link has this name, or -1. */
static int side_of(const struct mf_config *config, const struct mf_config_trunk *t, const json_t *name)
{
	const char *s = json_string_value(name);

	if (s != NULL && strcmp(config->node[t->a].name, s) == 0)
		return 0;
	return s != NULL && strcmp(config->node[t->b].name, s) == 0 ? 1 : -1;
}

/* The keys of the link that stand in an object, whose "carried" begins with the port of one of its nodes. */
static int read_link(struct cfg *c, const json_t *json, int first, struct mf_config_trunk *t)
{
	int *port = t->link.llr.port, rc = cfg_link(c, json, true, &t->link);

	if (rc == 0 && first == 1 && json_object_get(json, "carried") != NULL) {
		int other = port[0];

		port[0] = port[1];
		port[1] = other;
	}
	return rc;
}

/* An entry of "links". */
static int read_entry(struct cfg *c, const json_t *entry, struct mf_config_trunk *t)
{
	const json_t *between = json_object_get(entry, "between");
	const struct mf_config_node *node = c->config->node;
	int side = side_of(c->config, t, json_array_get(between, 0)),
	    other = side_of(c->config, t, json_array_get(between, 1));
	int rc = cfg_known(c, entry, entry_fields, cfg_link_fields);

	if (rc == 0 && (side < 0 || other < 0 || side == other))
		return cfg_fail_key(c, "between",
				    "has to name nodes '%s' and '%s': a link between two nodes is a network "
				    "of these alone",
				    node[t->a].name, node[t->b].name);
	return rc == 0 ? read_link(c, entry, side, t) : rc;
}

static int read_entries(struct cfg *c, const json_t *links, struct mf_config_trunk *t)
{
	const json_t *entry, *seen = NULL;
	int rc = 0;

	cfg_push(c, "links");
	for (size_t i = 0; i < json_array_size(links) && rc == 0; i++) {
		entry = json_array_get(links, i);
		if (!cfg_is_direct(c, entry) || tier_named(c, entry) != &c->config->tier[t->tier])
			continue;
		cfg_push_index(c, i);
		if (seen != NULL)
			rc = cfg_fail_key(c, "between",
					  "'%s' and '%s' have one link, which stands here twice",
					  c->config->node[t->a].name, c->config->node[t->b].name);
		seen = entry;
		if (rc == 0)
			rc = read_entry(c, entry, t);
		cfg_pop(c);
	}
	cfg_pop(c);
	return rc;
}

static bool has_link_keys(const json_t *json)
{
	for (const struct cfg_field *f = cfg_link_fields; f->key != NULL; f++)
		if (json_object_get(json, f->key) != NULL)
			return true;
	return false;
}

/* What "ends" of one of the nodes say. @param side  which one @param said  set: it says something of the link
 */
static int read_end(struct cfg *c, int side, struct mf_config_trunk *t, bool *said)
{
	const struct mf_config *config = c->config;
	const struct mf_config_node *node = config->node, *other = &node[side == 0 ? t->b : t->a];
	struct cfg_node *n = c->list;
	unsigned int k = 0;
	const json_t *json, *to;
	int rc = 0;

	while (n->port != (side == 0 ? t->a : t->b))
		n++;
	while (cfg_end(c, n, k)->tier != t->tier)
		k++;
	json = cfg_mark(c, n, k)->json;
	to = json_object_get(json, "to");
	cfg_push(c, "nodes");
	cfg_push_index(c, n->entry);
	cfg_push(c, "ends");
	cfg_push_index(c, k);
	if (to != NULL && strcmp(json_string_value(to), other->name) != 0)
		rc = cfg_fail_key(c, "to", "'%s' is not the node at the other end, which is '%s'",
				  json_string_value(to), other->name);
	if (rc == 0 && *said && has_link_keys(json))
		rc = cfg_fail(c, "'ends' of node '%s' say what the link is like already", other->name);
	*said |= has_link_keys(json);
	if (rc == 0 && json != NULL)
		rc = read_link(c, json, side, t);
	for (int i = 0; i < 4; i++)
		cfg_pop(c);
	return rc;
}

/* Its ends know it. */
static void join(struct mf_config *config, unsigned int trunk)
{
	const struct mf_config_trunk *t = &config->trunk[trunk];

	for (int side = 0; side < 2; side++) {
		struct mf_config_end *end = cfg_end_in(config, side == 0 ? t->a : t->b, t->tier);

		end->direct = true;
		end->to = (uint16_t)trunk;
		end->link = t->link;
		cfg_llr_default(&end->link.llr);
	}
}

static int add_link(struct cfg *c, const json_t *root, unsigned int tier)
{
	struct mf_config *config = c->config;
	const uint16_t *node = config->tier[tier].node;
	struct mf_config_trunk *more = reallocarray(config->trunk, config->trunks + 1, sizeof(*more)), *t;
	bool said = false;
	int rc;

	if (more == NULL)
		return cfg_fail_memory(c);
	config->trunk = more;
	t = &more[config->trunks++];
	memset(t, 0, sizeof(*t));
	t->direct = true;
	t->tier = (uint16_t)tier;
	t->a = node[0];
	t->b = node[1];
	memcpy(&t->link, &config->tier[tier].link, sizeof(t->link));
	t->link.llr.port[0] = t->link.llr.port[1] = -1;
	rc = read_entries(c, json_object_get(root, "links"), t);
	for (int side = 0; side < 2 && rc == 0; side++)
		rc = read_end(c, side, t, &said);
	join(config, config->trunks - 1);
	return rc;
}

/* An entry of "links" that names nodes stands for the link of a tier. */
static int check_entries(struct cfg *c, const json_t *links)
{
	const char *missing = mf_config_has_tiers(c->config)
				      ? "names nodes: 'tier' has to say of which network their link is"
				      : "names nodes: their links lead to switches";
	json_t *entry;
	int rc = 0;
	size_t i;

	cfg_push(c, "links");
	json_array_foreach((json_t *)(uintptr_t)links, i, entry) {
		const struct mf_config_tier *t = tier_named(c, entry);

		if (!cfg_is_direct(c, entry) || (t != NULL && t->direct))
			continue;
		cfg_push_index(c, i);
		rc = json_object_get(entry, "tier") != NULL && t == NULL
			     ? cfg_tier_of(c, entry, &(int){0})
			     : cfg_fail_key(c, "between", "%s", missing);
		cfg_pop(c);
		break;
	}
	cfg_pop(c);
	return rc;
}

int cfg_direct_links(struct cfg *c, const json_t *root)
{
	int rc = check_entries(c, json_object_get(root, "links"));

	for (unsigned int t = 0; t < c->config->tiers && rc == 0; t++)
		if (c->config->tier[t].direct)
			rc = add_link(c, root, t);
	return rc;
}

bool cfg_direct_between(const struct mf_config *config, const json_t *json, struct mf_config_between *b)
{
	for (unsigned int i = 0; i < config->trunks && json_array_size(json) == 2; i++) {
		const struct mf_config_trunk *t = &config->trunk[i];
		const json_t *name[2] = {json_array_get(json, 0), json_array_get(json, 1)};
		int side = t->direct ? side_of(config, t, name[0]) : -1;

		if (side < 0 || side_of(config, t, name[1]) != !side)
			continue;
		*b = (struct mf_config_between){.direct = true,
						.node = {side == 0 ? t->a : t->b, side == 0 ? t->b : t->a}};
		for (int k = 0; k < 2; k++)
			strcpy(b->name[k], config->node[b->node[k]].name);
		return true;
	}
	return false;
}
