/* SPDX-License-Identifier: BSD-3-Clause */
/* "between": both ends of links, each by the name of a switch or of several; or by that of a node. */
#include <errno.h>
#include <stdio.h>

#include "config/cfg_write.h"

static int read_end(struct cfg *c, const json_t *name, struct mf_config_between *b, size_t side)
{
	if (cfg_is(c, name, JSON_STRING) != 0)
		return -EINVAL;
	if (mf_config_switches(c->config, json_string_value(name), &b->end[side]) == 0 &&
	    cfg_is_node(c, name))
		return cfg_fail(
			c, "'%.64s' is a node, and the other end is none: 'ends' of a node name its switch",
			json_string_value(name));
	if (mf_config_switches(c->config, json_string_value(name), &b->end[side]) == 0)
		return cfg_fail(c, "there is no switch '%.64s'", json_string_value(name));
	snprintf(b->name[side], sizeof(b->name[side]), "%s", json_string_value(name));
	return 0;
}

int cfg_between(struct cfg *c, const json_t *json, struct mf_config_between *b)
{
	int rc = cfg_is(c, json, JSON_ARRAY);

	if (rc == 0 && c->config->switches == 0)
		return cfg_fail(c, "has no effect: there are no 'switches'");
	if (rc == 0 && json_array_size(json) != 2)
		return cfg_fail(c, "names %zu ends, a link has 2", json_array_size(json));
	for (size_t side = 0; side < 2 && rc == 0; side++) {
		cfg_push_index(c, side);
		rc = read_end(c, json_array_get(json, side), b, side);
		cfg_pop(c);
	}
	return rc;
}

json_t *cfg_put_between(struct put *p, const struct mf_config_between *b)
{
	json_t *json = json_array();

	for (int side = 0; side < 2; side++)
		cfg_put_append(p, json, json_string(b->name[side]));
	return json;
}

bool mf_config_is_between(const struct mf_config_between *b, uint16_t from, uint16_t to)
{
	return mf_config_has_switch(&b->end[0], from) && mf_config_has_switch(&b->end[1], to);
}

const char *mf_config_trunk_end(const struct mf_config *config, const struct mf_config_trunk *t, int side)
{
	unsigned int at = side == 0 ? t->a : t->b;

	return t->direct ? config->node[at].name : config->switch_list[at].name;
}

unsigned int mf_config_parallel(const struct mf_config *config, unsigned int trunk)
{
	const struct mf_config_trunk *t = &config->trunk[trunk];
	unsigned int n = 0;

	while (n < trunk && t[-(int)n - 1].tier == t->tier && t[-(int)n - 1].a == t->a &&
	       t[-(int)n - 1].b == t->b)
		n++;
	return n;
}

bool mf_config_fault_at(const struct mf_config *config, const struct mf_config_fault *f, unsigned int node,
			unsigned int k)
{
	struct mf_config_switch_set set;

	if (f->role != MF_CONFIG_NODES || !mf_config_has(&f->link, node))
		return false;
	if (f->at[0] == '\0')
		return true;
	mf_config_switches(config, f->at, &set);
	return !mf_config_end(config, node, k)->direct &&
	       mf_config_has_switch(&set, mf_config_end(config, node, k)->to);
}

bool mf_config_fault_has(const struct mf_config *config, const struct mf_config_fault *f, unsigned int trunk,
			 bool *up)
{
	const struct mf_config_trunk *t = &config->trunk[trunk];
	const struct mf_config_between *b = &f->between;
	bool forward, back;

	if (f->role != MF_CONFIG_TRUNKS || t->direct != b->direct)
		return false;
	forward = t->direct ? b->node[0] == t->a && b->node[1] == t->b : mf_config_is_between(b, t->a, t->b);
	back = t->direct ? b->node[0] == t->b && b->node[1] == t->a : mf_config_is_between(b, t->b, t->a);
	if ((!forward && !back) ||
	    (f->number != MF_CONFIG_ALL_LINKS && f->number != mf_config_parallel(config, trunk)))
		return false;
	if (up != NULL)
		*up = forward;
	return true;
}
