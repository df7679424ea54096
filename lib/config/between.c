/* SPDX-License-Identifier: BSD-3-Clause */
/* "between": both ends of links between switches, each by the name of a switch or of several. */
#include <errno.h>

#include "config/cfg_write.h"

static int read_end(struct cfg *c, const json_t *name, uint16_t *from, uint16_t *n)
{
	unsigned int count = 0;
	int first;

	if (cfg_is(c, name, JSON_STRING) != 0)
		return -EINVAL;
	first = mf_config_switches(c->config, json_string_value(name), &count);
	if (first < 0)
		return cfg_fail(c, "there is no switch '%.64s'", json_string_value(name));
	*from = (uint16_t)first;
	*n = (uint16_t)count;
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
		rc = read_end(c, json_array_get(json, side), &b->from[side], &b->n[side]);
		cfg_pop(c);
	}
	return rc;
}

/* The name of an entry where it is all of that, else that of the switch. */
static const char *name_of(const struct mf_config *config, unsigned int from, unsigned int n)
{
	unsigned int first = 0;

	for (unsigned int g = 0; g < config->switch_groups; g++) {
		if (first == from && config->switch_group[g].count == n)
			return config->switch_group[g].name;
		first += config->switch_group[g].count;
	}
	return config->switch_list[from].name;
}

json_t *cfg_put_between(struct put *p, const struct mf_config_between *b)
{
	json_t *json = json_array();

	for (int side = 0; side < 2; side++)
		cfg_put_append(p, json, json_string(name_of(p->config, b->from[side], b->n[side])));
	return json;
}

static bool has(const struct mf_config_between *b, int side, uint16_t sw)
{
	return sw >= b->from[side] && sw < b->from[side] + b->n[side];
}

bool mf_config_is_between(const struct mf_config_between *b, uint16_t from, uint16_t to)
{
	return has(b, 0, from) && has(b, 1, to);
}

unsigned int mf_config_parallel(const struct mf_config *config, unsigned int trunk)
{
	const struct mf_config_trunk *t = &config->trunk[trunk];
	unsigned int n = 0;

	while (n < trunk && t[-(int)n - 1].a == t->a && t[-(int)n - 1].b == t->b)
		n++;
	return n;
}

bool mf_config_fault_has(const struct mf_config *config, const struct mf_config_fault *f, unsigned int trunk,
			 bool *up)
{
	const struct mf_config_trunk *t = &config->trunk[trunk];
	bool forward = mf_config_is_between(&f->between, t->a, t->b);

	if (f->role != MF_CONFIG_TRUNKS || (!forward && !mf_config_is_between(&f->between, t->b, t->a)) ||
	    (f->number != MF_CONFIG_ALL_LINKS && f->number != mf_config_parallel(config, trunk)))
		return false;
	if (up != NULL)
		*up = forward;
	return true;
}
