/* SPDX-License-Identifier: BSD-3-Clause */
/* Nodes by name: "*", the name of a node, of an entry of "nodes" or of racks, or an array of names. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mf_nearest.h"
#include "config/cfg.h"

struct selection {
	bool (*able)(const struct mf_config_node *);
	const char *ability;
	bool in[MF_NODES_MAX];
	unsigned int n;
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
	for (unsigned int p = 0; p < c->config->slots; p++) {
		s->in[p] = c->config->node[p].up && (s->able == NULL || s->able(&c->config->node[p]));
		s->n += s->in[p];
	}
	return s->n > 0 ? 0 : cfg_fail(c, "there is no %s node", s->ability);
}

static int unknown(struct cfg *c, const char *name)
{
	struct mf_nearest n;

	mf_nearest_begin(&n, name);
	for (unsigned int p = 0; p < c->config->slots; p++)
		if (c->config->node[p].up)
			mf_nearest_look(&n, c->config->node[p].name);
	if (n.best == NULL)
		return cfg_fail(c, "there is no node '%.64s'", name);
	return cfg_fail(c, "there is no node '%.64s'; the nearest is '%s'", name, n.best);
}

static int select_name(struct cfg *c, struct selection *s, const char *name)
{
	const struct mf_config *config = c->config;
	size_t len = strlen(name);
	bool found = false, rack = false;

	for (unsigned int p = 0; p < config->slots; p++) {
		const struct mf_config_node *n = &config->node[p];
		struct mf_config_member m;

		if (!n->up)
			continue;
		m = mf_config_node_member(config, p);
		if (!mf_config_means(config, name, len, &m))
			continue;
		if (s->able != NULL && !s->able(n) && mf_config_means_rack(config, name, len, &m)) {
			rack = true; /* of all its nodes those are meant that are able */
			continue;
		}
		if (s->able != NULL && !s->able(n))
			return cfg_fail(c, "node '%s' is not a %s node", n->name, s->ability);
		if (s->in[p])
			return cfg_fail(c, "node '%s' is named twice", n->name);
		s->in[p] = found = true;
		s->n++;
	}
	if (found)
		return 0;
	return rack ? cfg_fail(c, "'%s' has no %s node", name, s->ability) : unknown(c, name);
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

static int keep(struct cfg *c, const struct selection *s, struct mf_config_set *set)
{
	set->node = calloc(s->n, sizeof(*set->node));
	if (set->node == NULL)
		return cfg_fail_memory(c);
	for (unsigned int p = 0; p < c->config->slots; p++) {
		if (s->in[p])
			set->node[set->n++] = (uint16_t)p;
	}
	return 0;
}

int cfg_set_at(struct cfg *c, const json_t *json, bool (*able)(const struct mf_config_node *),
	       const char *ability, struct mf_config_set *set)
{
	struct selection s = {.able = able, .ability = ability};
	int rc;

	if (json == NULL || (json_is_string(json) && strcmp(json_string_value(json), "*") == 0))
		rc = select_all(c, &s);
	else if (json_is_string(json))
		rc = select_name(c, &s, json_string_value(json));
	else if (json_is_array(json))
		rc = select_array(c, &s, json);
	else
		rc = cfg_fail(c, "must be a name or an array of names");
	*set = (struct mf_config_set){0};
	return rc == 0 ? keep(c, &s, set) : rc;
}

void cfg_set_free(struct mf_config_set *set)
{
	free(set->node);
	*set = (struct mf_config_set){0};
}

int cfg_set(struct cfg *c, const json_t *object, const char *key, bool (*able)(const struct mf_config_node *),
	    const char *ability, struct mf_config_set *set)
{
	int rc;

	cfg_push(c, key);
	rc = cfg_set_at(c, json_object_get(object, key), able, ability, set);
	cfg_pop(c);
	return rc;
}
