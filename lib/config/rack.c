/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * "racks": copies of a template of switches, nodes, links and tiers. They are written out before the
 * sections are read: behind the entries of the file itself stand those of each rack, whose names begin with
 * that of the rack and a dot. What is said of such an entry names its place in the template.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/cfg_write.h"

#define NOTHING "nothing is in it: no name of 'switches' or 'nodes' begins with it and a dot"

const char *const cfg_rack_sections[CFG_RACK_SECTIONS] = {"switches", "nodes", "links", "tiers"};

static const struct cfg_field rack_fields[] = {
	{.key = "name", .kind = CFG_NAME, CFG_AT(struct mf_config_group, name)},
	{.key = "count", .kind = CFG_U32, CFG_AT(struct mf_config_group, count), CFG_RANGE(1, MF_NODES_MAX)},
	{.key = "of", .kind = CFG_NESTED},
	{0},
};

void cfg_rack_name(const struct mf_config_group *g, unsigned int i, char out[MF_CONFIG_NAME_LEN + 8])
{
	snprintf(out, MF_CONFIG_NAME_LEN + 8, g->count > 1 ? "%s%u" : "%s", g->name, i);
}

/* Whether a name of len octets is that of a rack of an entry. */
static bool is_rack(const struct mf_config_group *g, const char *name, size_t len)
{
	size_t begins = strlen(g->name);
	char one[MF_CONFIG_NAME_LEN + 8];
	unsigned long number = 0;

	if (len < begins || len >= MF_CONFIG_NAME_LEN || strncmp(name, g->name, begins) != 0)
		return false;
	if (g->count > 1 && len > begins)
		number = strtoul(name + begins, NULL, 10);
	if (number >= g->count)
		return false;
	cfg_rack_name(g, (unsigned int)number, one);
	return strlen(one) == len && strncmp(one, name, len) == 0;
}

/* Whether a name is that of an entry, or of a rack of it. */
static bool means_rack(const struct mf_config_group *g, const char *name)
{
	return strcmp(g->name, name) == 0 || is_rack(g, name, strlen(name));
}

bool cfg_is_rack(const struct cfg *c, const char *name)
{
	for (unsigned int i = 0; i < c->config->racks; i++)
		if (means_rack(&c->config->rack[i], name))
			return true;
	return false;
}

/* Whether the entry that is read now is of a template. */
static bool is_generated(const struct cfg *c)
{
	for (int s = 0; s < CFG_RACK_SECTIONS; s++)
		if (c->depth >= 2 && c->step[0].key != NULL &&
		    strcmp(c->step[0].key, cfg_rack_sections[s]) == 0)
			return c->step[1].index >= c->racks.section[s].own;
	return false;
}

int cfg_rack_of(struct cfg *c, const char *name, uint16_t *rack)
{
	const struct mf_config *config = c->config;
	const char *dot = strchr(name, '.');

	*rack = 0;
	if (dot == NULL)
		return 0;
	for (unsigned int i = 0; i < config->racks; i++) {
		if (!is_rack(&config->rack[i], name, (size_t)(dot - name)))
			continue;
		if (c->racks.has_of[i] && !is_generated(c))
			return cfg_fail_key(c, "name", "'%s': what rack '%.*s' has stands in its 'of'", name,
					    (int)(dot - name), name);
		*rack = (uint16_t)(i + 1);
		c->racks.used[i] = true;
		return 0;
	}
	return cfg_fail_key(c, "name", "'%s': a dot follows the name of a rack, and there is no rack '%.*s'",
			    name, (int)(dot - name), name);
}

/* No two racks have the same name. */
static int check_name(struct cfg *c, unsigned int rack)
{
	const struct mf_config_group *g = &c->config->rack[rack];
	char name[MF_CONFIG_NAME_LEN + 8];

	for (unsigned int i = 0; i < rack; i++) {
		const struct mf_config_group *o = &c->config->rack[i];
		size_t shorter = strlen(o->name) < strlen(g->name) ? strlen(o->name) : strlen(g->name);

		if (strncmp(o->name, g->name, shorter) != 0)
			continue;
		if (means_rack(o, g->name))
			return cfg_fail_key(c, "name", "'%s' names a rack already", g->name);
		for (unsigned int n = 0; n < g->count; n++) {
			cfg_rack_name(g, n, name);
			if (means_rack(o, name))
				return cfg_fail_key(c, "name", "'%s' names a rack already", name);
		}
	}
	return 0;
}

static int read_rack(struct cfg *c, const json_t *json, json_t **whole)
{
	const json_t *of = json_object_get(json, "of");
	unsigned int rack = c->config->racks;
	struct mf_config_group *g = &c->config->rack[rack];
	int rc;

	g->count = 1;
	rc = cfg_object(c, json, rack_fields, g);
	if (rc == 0 && json_object_get(json, "name") == NULL)
		rc = cfg_fail_key(c, "name", "is missing");
	if (rc == 0)
		rc = check_name(c, rack);
	if (rc != 0)
		return rc;
	c->racks.has_of[rack] = of != NULL;
	c->config->racks++;
	if (of == NULL)
		return 0;
	cfg_push(c, "of");
	rc = cfg_rack_write(c, rack, of, whole);
	cfg_pop(c);
	return rc;
}

static int read_racks(struct cfg *c, const json_t *json, json_t **whole)
{
	int rc = cfg_is(c, json, JSON_ARRAY);
	size_t i, n = json_array_size(json);
	json_t *entry;

	if (rc == 0 && n == 0)
		rc = cfg_fail(c, "has no entry");
	if (rc == 0 && n > MF_NODES_MAX)
		rc = cfg_fail(c, "too many: %zu entries, at most %u", n, MF_NODES_MAX);
	if (rc != 0)
		return rc;
	c->config->rack = calloc(n, sizeof(*c->config->rack));
	c->racks.has_of = calloc(n, sizeof(*c->racks.has_of));
	c->racks.used = calloc(n, sizeof(*c->racks.used));
	if (c->config->rack == NULL || c->racks.has_of == NULL || c->racks.used == NULL)
		return cfg_fail_memory(c);
	json_array_foreach((json_t *)(uintptr_t)json, i, entry) {
		cfg_push_index(c, i);
		rc = read_rack(c, entry, whole);
		cfg_pop(c);
		if (rc != 0)
			break;
	}
	return rc;
}

/* The file with these sections in the place of its own. */
static int replace_sections(struct cfg *c, json_t *root, json_t *const *whole)
{
	for (int s = 0; s < CFG_RACK_SECTIONS; s++)
		if (json_array_size(whole[s]) > c->racks.section[s].own &&
		    json_object_set(root, cfg_rack_sections[s], whole[s]) != 0)
			return cfg_fail_memory(c);
	return 0;
}

int cfg_racks(struct cfg *c, json_t *root)
{
	static const char *const topology[] = {"topology", NULL};
	json_t *whole[CFG_RACK_SECTIONS] = {NULL};
	bool there = true;
	int rc = 0;

	if (json_object_get(root, "racks") == NULL)
		return 0;
	rc = cfg_refuse(c, root, topology, "'racks' say which switches there are");
	for (int s = 0; s < CFG_RACK_SECTIONS && rc == 0; s++) {
		const json_t *own = json_object_get(root, cfg_rack_sections[s]);

		if (own != NULL && !json_is_array(own)) {
			cfg_push(c, cfg_rack_sections[s]);
			rc = cfg_is(c, own, JSON_ARRAY);
			cfg_pop(c);
		}
		c->racks.section[s].own = json_array_size(own);
		c->racks.section[s].there = own != NULL;
		whole[s] = own != NULL ? json_copy((json_t *)(uintptr_t)own) : json_array();
		there &= whole[s] != NULL;
	}
	if (rc == 0 && !there)
		rc = cfg_fail_memory(c);
	cfg_push(c, "racks");
	if (rc == 0)
		rc = read_racks(c, json_object_get(root, "racks"), whole);
	cfg_pop(c);
	if (rc == 0)
		rc = replace_sections(c, root, whole);
	for (int s = 0; s < CFG_RACK_SECTIONS; s++)
		json_decref(whole[s]);
	return rc;
}

void cfg_racks_free(struct cfg *c)
{
	for (int s = 0; s < CFG_RACK_SECTIONS; s++)
		free(c->racks.section[s].origin);
	free(c->racks.has_of);
	free(c->racks.used);
}

int cfg_racks_used(struct cfg *c)
{
	const struct mf_config *config = c->config;
	int rc = 0;

	cfg_push(c, "racks");
	for (unsigned int i = 0; i < config->racks && rc == 0; i++) {
		cfg_push_index(c, i);
		if (config->switches == 0 && !c->tier->direct &&
		    means_rack(&config->rack[i], c->tier->sw.name))
			rc = cfg_fail_key(c, "name", "'%s' is the name of the switch", c->tier->sw.name);
		else if (!c->racks.used[i])
			rc = cfg_fail(c, NOTHING);
		cfg_pop(c);
	}
	cfg_pop(c);
	return rc;
}

void cfg_put_racks(struct put *p, json_t *root)
{
	const struct mf_config *config = p->config;
	json_t *array;

	if (config->racks == 0)
		return;
	array = cfg_put_set(p, root, "racks", json_array());
	for (unsigned int i = 0; i < config->racks; i++) {
		json_t *json = cfg_put_append(p, array, json_object());

		cfg_put_set(p, json, "name", json_string(config->rack[i].name));
		cfg_put_set(p, json, "count", json_integer(config->rack[i].count));
	}
}
