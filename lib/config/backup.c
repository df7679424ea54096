/* SPDX-License-Identifier: BSD-3-Clause */
/* "backup": a second switch, to which every node has a second link (docs/fault-tolerance.md). */
#include <errno.h>
#include <string.h>

#include "base/mf_unit.h"
#include "config/cfg_write.h"

static const struct cfg_field fields[] = {
	{.key = "name", .kind = CFG_NAME, CFG_AT(struct mf_config_backup, name)},
	{.key = "links", .kind = CFG_NESTED},
	{.key = "carried", .kind = CFG_NESTED},
	{.key = "propagation",
	 .kind = CFG_TIME,
	 CFG_AT(struct mf_config_backup, propagation),
	 CFG_RANGE(0, MF_US(100))},
	{0},
};

static const struct cfg_field link_fields[] = {
	{.key = "node", .kind = CFG_NESTED},
	{.key = "propagation", .kind = CFG_TIME, CFG_RANGE(0, MF_US(100))},
	{.key = "carried", .kind = CFG_NESTED},
	{0},
};

static int read_link(struct cfg *c, const json_t *json)
{
	bool timed = json_object_get(json, "propagation") != NULL;
	struct mf_config_set set = {0};
	mf_time propagation = 0;
	int rc = cfg_object(c, json, link_fields, &propagation);

	if (rc == 0 && !timed && json_object_get(json, "carried") == NULL)
		rc = cfg_fail_key(c, "propagation", "is missing");
	if (rc == 0)
		rc = cfg_set(c, json, "node", NULL, "", &set);
	for (unsigned int i = 0; rc == 0 && i < set.n; i++) {
		struct mf_config_node *n = &c->config->node[set.node[i]];

		if (timed)
			n->backup_propagation = propagation;
		rc = cfg_tunnel(c, json, false, &n->backup_llr);
	}
	cfg_set_free(&set);
	return rc;
}

static int read_links(struct cfg *c, const json_t *json)
{
	int rc = cfg_is(c, json, JSON_ARRAY);
	size_t i;
	json_t *entry;

	json_array_foreach(json, i, entry) {
		if (rc != 0)
			break;
		cfg_push_index(c, i);
		rc = read_link(c, entry);
		cfg_pop(c);
	}
	return rc;
}

/* What the two switches cannot do, or not yet know of each other. */
static int check(struct cfg *c)
{
	const struct mf_config *config = c->config;

	if (c->tier->stack_ops != NULL || c->tier->bridge_ops != NULL)
		return cfg_fail(c, "only the stack \"edm\" knows two switches");
	if (strcmp(config->backup.name, c->tier->sw.name) == 0 ||
	    strcmp(config->backup.name, CFG_SCHEDULER) == 0 ||
	    strcmp(config->backup.name, CFG_BACKUP_SCHEDULER) == 0 ||
	    mf_config_node(config, config->backup.name) >= 0)
		return cfg_fail_key(c, "name", "'%s' is something else, too", config->backup.name);
	if (strcmp(c->tier->sw.name, CFG_BACKUP_SCHEDULER) == 0 ||
	    mf_config_node(config, CFG_BACKUP_SCHEDULER) >= 0)
		return cfg_fail(c, "there is something else called '%s'", CFG_BACKUP_SCHEDULER);
	for (unsigned int i = 0; i < config->slots; i++) {
		const struct mf_config_node *n = &config->node[i];

		if (n->up && !n->memory_enabled)
			return cfg_fail(c, "node '%s' is a standard port, which has one link", n->name);
	}
	return 0;
}

int cfg_backup(struct cfg *c, const json_t *json)
{
	struct mf_config_backup *b = &c->config->backup;
	int rc;

	strcpy(b->name, "sw1");
	rc = cfg_object(c, json, fields, b);
	b->on = c->tier->proto.ext = true; /* copies are told apart by the uses of ids */
	for (unsigned int i = 0; i < c->config->slots && rc == 0; i++)
		c->config->node[i].backup_propagation = json_object_get(json, "propagation") != NULL
								? b->propagation
								: c->config->node[i].link.propagation;
	for (unsigned int i = 0; i < c->config->slots && rc == 0; i++)
		rc = cfg_tunnel(c, json, false, &c->config->node[i].backup_llr);
	if (rc == 0)
		rc = cfg_section(c, json, "links", read_links);
	return rc == 0 ? check(c) : rc;
}

void cfg_put_backup(struct put *p, json_t *root)
{
	const struct mf_config *config = p->config;
	json_t *json, *links, *one;
	char buf[MF_UNIT_LEN];

	if (!config->backup.on)
		return;
	json = cfg_put_set(p, root, "backup", json_object());
	cfg_put_set(p, json, "name", json_string(config->backup.name));
	links = cfg_put_set(p, json, "links", json_array());
	for (unsigned int i = 0; i < config->slots; i++) {
		if (!config->node[i].up)
			continue;
		one = cfg_put_append(p, links, json_object());
		cfg_put_set(p, one, "node", json_string(config->node[i].name));
		cfg_put_set(p, one, "propagation",
			    json_string(mf_unit_put_time(buf, config->node[i].backup_propagation)));
		cfg_put_tunnel(p, one, false, &config->node[i].backup_llr);
	}
}
