/* SPDX-License-Identifier: BSD-3-Clause */
/* Nodes by name: "*", the name of a node or of an entry of "nodes", or an array of names. */
#include <errno.h>
#include <string.h>

#include "config/cfg.h"

struct selection {
	bool (*able)(const struct mf_config_node *);
	const char *ability;
	bool in[MF_PORTS_MAX];
};

bool cfg_is_compute(const struct mf_config_node *n)
{
	return n->compute;
}

bool cfg_is_memory(const struct mf_config_node *n)
{
	return n->memory;
}

bool mf_config_has(const struct mf_config_set *set, unsigned int node)
{
	for (unsigned int i = 0; i < set->n; i++) {
		if (set->node[i] == node)
			return true;
	}
	return false;
}

bool cfg_set_other(const struct mf_config_set *set, unsigned int node)
{
	return set->n > 1 || (set->n == 1 && set->node[0] != node);
}

static int select_all(struct cfg *c, struct selection *s)
{
	unsigned int n = 0;

	for (unsigned int p = 0; p < c->config->sw.ports; p++) {
		s->in[p] = c->config->node[p].up && (s->able == NULL || s->able(&c->config->node[p]));
		n += s->in[p];
	}
	return n > 0 ? 0 : cfg_fail(c, "there is no %s node", s->ability);
}

static int select_name(struct cfg *c, struct selection *s, const char *name)
{
	const struct mf_config *config = c->config;
	bool found = false;

	for (unsigned int p = 0; p < config->sw.ports; p++) {
		const struct mf_config_node *n = &config->node[p];

		if (!n->up || (strcmp(n->name, name) != 0 && strcmp(config->group[n->group].name, name) != 0))
			continue;
		if (s->able != NULL && !s->able(n))
			return cfg_fail(c, "node '%s' is not a %s node", n->name, s->ability);
		if (s->in[p])
			return cfg_fail(c, "node '%s' is named twice", n->name);
		s->in[p] = found = true;
	}
	return found ? 0 : cfg_fail(c, "there is no node '%.64s'", name);
}

static int select_array(struct cfg *c, struct selection *s, const json_t *json)
{
	size_t i;
	json_t *name;

	json_array_foreach(json, i, name) {
		int rc;

		cfg_push_index(c, i);
		rc = cfg_is(c, name, JSON_STRING);
		if (rc == 0)
			rc = select_name(c, s, json_string_value(name));
		cfg_pop(c);
		if (rc != 0)
			return rc;
	}
	return json_array_size(json) > 0 ? 0 : cfg_fail(c, "names no node");
}

int cfg_set(struct cfg *c, const json_t *object, const char *key, bool (*able)(const struct mf_config_node *),
	    const char *ability, struct mf_config_set *set)
{
	const json_t *json = json_object_get(object, key);
	struct selection s = {.able = able, .ability = ability};
	int rc;

	cfg_push(c, key);
	if (json == NULL || (json_is_string(json) && strcmp(json_string_value(json), "*") == 0))
		rc = select_all(c, &s);
	else if (json_is_string(json))
		rc = select_name(c, &s, json_string_value(json));
	else if (json_is_array(json))
		rc = select_array(c, &s, json);
	else
		rc = cfg_fail(c, "must be a name or an array of names");
	cfg_pop(c);
	set->n = 0;
	for (unsigned int p = 0; p < MF_PORTS_MAX && rc == 0; p++) {
		if (s.in[p])
			set->node[set->n++] = (uint16_t)p;
	}
	return rc;
}
