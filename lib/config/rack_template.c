/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * "of" of an entry of "racks": the template, and what each rack makes of it. A name that the template defines
 * gets that of the rack before it; any other one means what is outside.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/cfg.h"

#define LINKS_MAX 65536 /* entries that racks may add */

enum section { SWITCHES, NODES, LINKS, TIERS }; /* as cfg_rack_sections */

/* One entry of "racks" while it is written out. */
struct template
{
	unsigned int rack; /* its place */
	const json_t *of;
	json_t *names; /* of its switches and nodes; how many each entry makes */
	json_t *tiers; /* names of its tiers */
	const json_t *first_tier; /* name of the first one; NULL: it has none */
	char prefix[MF_CONFIG_NAME_LEN + 8]; /* "r0." */
	json_t **whole; /* [CFG_RACK_SECTIONS]: what is written out */
};

static void add_name(json_t *names, const json_t *entry)
{
	const char *name = json_string_value(json_object_get(entry, "name"));
	const json_t *count = json_object_get(entry, "count");

	if (name != NULL)
		json_object_set_new(names, name,
				    json_integer(json_is_integer(count) ? json_integer_value(count) : 1));
}

/* Whether a switch or node of the template is called so, or an entry of them. */
static bool defines(const struct template *t, const char *name)
{
	size_t len = strlen(name), begins = len;
	char entry[MF_CONFIG_NAME_LEN];

	if (json_object_get(t->names, name) != NULL)
		return true;
	while (len < sizeof(entry) && begins > 1 && name[begins - 1] >= '0' && name[begins - 1] <= '9') {
		json_int_t count;

		begins--;
		if (name[begins] == '0' && begins + 1 < len)
			continue; /* not as a number is written */
		snprintf(entry, sizeof(entry), "%.*s", (int)begins, name);
		count = json_integer_value(json_object_get(t->names, entry));
		if (count > 1 && strtoll(name + begins, NULL, 10) < count)
			return true;
	}
	return false;
}

/* A name with that of the rack before it. What is no name stays: its reader refuses that. */
static json_t *prefixed(const struct template *t, const json_t *name)
{
	char text[2 * MF_CONFIG_NAME_LEN + 8];

	if (!json_is_string(name) || json_string_length(name) >= MF_CONFIG_NAME_LEN)
		return json_incref((json_t *)(uintptr_t)name);
	snprintf(text, sizeof(text), "%s%s", t->prefix, json_string_value(name));
	return json_string(text);
}

/* The same of a name that may be one outside. */
static json_t *renamed(const struct template *t, const json_t *name)
{
	if (json_is_string(name) && defines(t, json_string_value(name)))
		return prefixed(t, name);
	return json_incref((json_t *)(uintptr_t)name);
}

/* The same of an array of them. More than there can be are refused as they are. */
static json_t *renamed_array(const struct template *t, const json_t *names)
{
	json_t *array, *name;
	size_t i;

	if (!json_is_array(names) || json_array_size(names) > MF_NODES_MAX)
		return renamed(t, names);
	array = json_array();
	json_array_foreach((json_t *)(uintptr_t)names, i, name)
		json_array_append_new(array, renamed(t, name));
	return array;
}

/* The name of a tier, of the template or outside. */
static json_t *renamed_tier(const struct template *t, const json_t *name)
{
	if (json_is_string(name) && json_object_get(t->tiers, json_string_value(name)) != NULL)
		return prefixed(t, name);
	return json_incref((json_t *)(uintptr_t)name);
}

/*
 * The tier that an entry names. One that names none is in the first tier of the template, if that has tiers
 * and nothing else says which.
 */
static void rename_tier(const struct template *t, json_t *copy, bool told)
{
	const json_t *tier = json_object_get(copy, "tier");

	if (tier != NULL)
		json_object_set_new(copy, "tier", renamed_tier(t, tier));
	else if (!told && t->first_tier != NULL)
		json_object_set_new(copy, "tier", prefixed(t, t->first_tier));
}

static json_t *renamed_ends(const struct template *t, const json_t *ends)
{
	json_t *array, *end;
	size_t i;

	if (!json_is_array(ends) || json_array_size(ends) > MF_NODES_MAX)
		return json_incref((json_t *)(uintptr_t)ends);
	array = json_array();
	json_array_foreach((json_t *)(uintptr_t)ends, i, end) {
		json_t *copy = json_is_object(end) ? json_copy(end) : json_incref(end);

		if (json_is_object(end) && json_object_get(end, "to") != NULL)
			json_object_set_new(copy, "to", renamed_array(t, json_object_get(end, "to")));
		if (json_is_object(end))
			rename_tier(t, copy, json_object_get(end, "to") != NULL);
		json_array_append_new(array, copy);
	}
	return array;
}

/* A node without "ends" is in the first tier of the template, if that has tiers. */
static void add_end(const struct template *t, json_t *node)
{
	if (t->first_tier != NULL)
		json_object_set_new(node, "ends", json_pack("[{s: o}]", "tier", prefixed(t, t->first_tier)));
}

static bool is_all(const json_t *node)
{
	return json_is_string(node) && strcmp(json_string_value(node), "*") == 0;
}

/* An entry as one rack has it. */
static json_t *instance(const struct template *t, enum section s, const json_t *entry)
{
	json_t *copy, *node = json_object_get(entry, "node");

	if (!json_is_object(entry))
		return json_incref((json_t *)(uintptr_t)entry);
	copy = json_copy((json_t *)(uintptr_t)entry);
	if (s != LINKS && json_object_get(entry, "name") != NULL)
		json_object_set_new(copy, "name", prefixed(t, json_object_get(entry, "name")));
	if (s == NODES && json_object_get(entry, "ends") != NULL)
		json_object_set_new(copy, "ends", renamed_ends(t, json_object_get(entry, "ends")));
	else if (s == NODES)
		add_end(t, copy);
	if (s == SWITCHES || s == LINKS)
		rename_tier(t, copy, s == LINKS);
	if (s == LINKS && node != NULL)
		json_object_set_new(copy, "node", is_all(node) ? prefixed(t, node) : renamed(t, node));
	if (s == LINKS && json_object_get(entry, "between") != NULL)
		json_object_set_new(copy, "between", renamed_array(t, json_object_get(entry, "between")));
	return copy;
}

/* What a rack's links may not say: it would be said again by each rack, or not of it. */
static int check_link(struct cfg *c, const struct template *t, const json_t *entry)
{
	const json_t *node = json_object_get(entry, "node"), *between = json_object_get(entry, "between");
	bool own = !json_is_array(between);

	if (json_object_get(entry, "port") != NULL)
		return cfg_fail_key(c, "port", "has no effect: nodes of racks take the lowest free numbers");
	if (json_is_string(node) && !is_all(node) && !defines(t, json_string_value(node)))
		return cfg_fail_key(c, "node", "the rack has no node '%.64s'", json_string_value(node));
	for (size_t i = 0; i < json_array_size(between); i++) {
		const json_t *end = json_array_get(between, i);

		own |= !json_is_string(end) || defines(t, json_string_value(end));
	}
	return own ? 0
		   : cfg_fail_key(c, "between",
				  "names no switch of the rack: that is said in 'links' outside");
}

static int check_links(struct cfg *c, const struct template *t)
{
	const json_t *links = json_object_get(t->of, cfg_rack_sections[LINKS]);
	json_t *entry;
	int rc = 0;
	size_t i;

	cfg_push(c, cfg_rack_sections[LINKS]);
	json_array_foreach((json_t *)(uintptr_t)links, i, entry) {
		cfg_push_index(c, i);
		rc = check_link(c, t, entry);
		cfg_pop(c);
		if (rc != 0)
			break;
	}
	cfg_pop(c);
	return rc;
}

static int check_of(struct cfg *c, const json_t *of)
{
	static const struct cfg_field fields[] = {
		{.key = "switches"}, {.key = "nodes"}, {.key = "links"}, {.key = "tiers"}, {0}};
	int rc = cfg_is(c, of, JSON_OBJECT);

	if (rc == 0 && json_object_get(of, "racks") != NULL)
		return cfg_fail_key(c, "racks", "a rack has no racks in it");
	if (rc == 0)
		rc = cfg_known(c, of, fields, NULL);
	for (int s = 0; s < CFG_RACK_SECTIONS && rc == 0; s++) {
		if (json_object_get(of, cfg_rack_sections[s]) == NULL)
			continue;
		cfg_push(c, cfg_rack_sections[s]);
		rc = cfg_is(c, json_object_get(of, cfg_rack_sections[s]), JSON_ARRAY);
		cfg_pop(c);
	}
	if (rc == 0 && json_array_size(json_object_get(of, cfg_rack_sections[SWITCHES])) == 0 &&
	    json_array_size(json_object_get(of, cfg_rack_sections[NODES])) == 0)
		rc = cfg_fail(c, "has no switch and no node");
	return rc;
}

static int add_origin(struct cfg_rack_section *s, unsigned int rack, unsigned int entry)
{
	struct cfg_origin *more = s->origin;

	if ((s->origins & (s->origins - 1)) == 0) /* full: it doubles */
		more = reallocarray(more, s->origins != 0 ? 2 * s->origins : 1, sizeof(*more));
	if (more == NULL)
		return -ENOMEM;
	s->origin = more;
	s->origin[s->origins++] = (struct cfg_origin){rack, entry};
	return 0;
}

/* Whether all entries that the racks would make can be there at all, before they are made. */
static int check_size(struct cfg *c, const struct template *t, unsigned int count, enum section s)
{
	static const size_t at_most[CFG_RACK_SECTIONS] = {MF_NODES_MAX, MF_NODES_MAX, LINKS_MAX,
							  MF_CONFIG_TIERS_MAX};
	const size_t most = at_most[s];
	size_t n = json_array_size(t->whole[s]) +
		   count * json_array_size(json_object_get(t->of, cfg_rack_sections[s]));

	return n <= most ? 0
			 : cfg_fail_key(c, cfg_rack_sections[s], "too many: %zu entries with it, at most %zu",
					n, most);
}

static int write_rack(struct cfg *c, const struct template *t)
{
	for (enum section s = SWITCHES; s < CFG_RACK_SECTIONS; s++) {
		const json_t *array = json_object_get(t->of, cfg_rack_sections[s]);
		json_t *entry;
		size_t i;

		json_array_foreach((json_t *)(uintptr_t)array, i, entry)
			if (json_array_append_new(t->whole[s], instance(t, s, entry)) != 0 ||
			    add_origin(&c->racks.section[s], t->rack, (unsigned int)i) != 0)
				return cfg_fail_memory(c);
	}
	return 0;
}

/* All racks of the entry, one after the other. */
static int write_all(struct cfg *c, struct template *t)
{
	const struct mf_config_group *g = &c->config->rack[t->rack];
	char name[MF_CONFIG_NAME_LEN + 8];
	int rc = 0;

	for (unsigned int i = 0; i < g->count && rc == 0; i++) {
		cfg_rack_name(g, i, name);
		snprintf(t->prefix, sizeof(t->prefix), "%.*s.", MF_CONFIG_NAME_LEN, name);
		rc = write_rack(c, t);
	}
	return rc;
}

/* Names of tiers, and of the switches that tiers have without an entry of "switches". */
static void add_tiers(struct template *t)
{
	const json_t *tiers = json_object_get(t->of, cfg_rack_sections[TIERS]);
	json_t *tier;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)tiers, i, tier) {
		const json_t *name = json_object_get(tier, "name");
		char own[MF_CONFIG_NAME_LEN + sizeof(MF_CONFIG_OWN_SWITCH)];

		if (!json_is_string(name) || json_string_length(name) >= MF_CONFIG_NAME_LEN)
			continue; /* its reader refuses it */
		json_object_set_new(t->tiers, json_string_value(name), json_true());
		snprintf(own, sizeof(own), "%s" MF_CONFIG_OWN_SWITCH, json_string_value(name));
		json_object_set_new(t->names, own, json_integer(1));
		add_name(t->names, json_object_get(tier, "switch"));
		t->first_tier = t->first_tier != NULL ? t->first_tier : name;
	}
}

int cfg_rack_write(struct cfg *c, unsigned int rack, const json_t *of, json_t **whole)
{
	struct template t = {
		.rack = rack, .of = of, .names = json_object(), .tiers = json_object(), .whole = whole};
	int rc = t.names != NULL && t.tiers != NULL ? check_of(c, of) : cfg_fail_memory(c);
	json_t *entry;
	size_t i;

	for (enum section s = SWITCHES; s <= NODES && rc == 0; s++)
		json_array_foreach(json_object_get(of, cfg_rack_sections[s]), i, entry)
			add_name(t.names, entry);
	if (rc == 0)
		add_tiers(&t);
	if (rc == 0)
		rc = check_links(c, &t);
	for (enum section s = SWITCHES; s < CFG_RACK_SECTIONS && rc == 0; s++)
		rc = check_size(c, &t, c->config->rack[rack].count, s);
	if (rc == 0)
		rc = write_all(c, &t);
	json_decref(t.names);
	json_decref(t.tiers);
	return rc;
}
