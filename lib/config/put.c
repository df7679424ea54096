/* SPDX-License-Identifier: BSD-3-Clause */
/* How values of the effective configuration are written: by the table of their object. */
#include "base/mf_unit.h"
#include "config/cfg_write.h"

json_t *cfg_put_set(struct put *p, json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, value) == 0)
		return value;
	p->failed = true;
	return NULL;
}

json_t *cfg_put_append(struct put *p, json_t *array, json_t *value)
{
	if (json_array_append_new(array, value) == 0)
		return value;
	p->failed = true;
	return NULL;
}

json_t *cfg_put_size(uint64_t octets)
{
	char buf[MF_UNIT_LEN];

	return octets % 1024 != 0 || octets == 0 ? json_integer((json_int_t)octets)
						 : json_string(mf_unit_put_size(buf, octets));
}

static json_t *put_value(const struct cfg_field *f, const void *at, size_t place)
{
	char buf[MF_UNIT_LEN];

	switch (f->kind) {
	case CFG_NESTED:
		break;
	case CFG_BOOL:
		return json_boolean(((const bool *)at)[place]);
	case CFG_U16:
		return json_integer(((const uint16_t *)at)[place]);
	case CFG_U32:
		return json_integer(((const uint32_t *)at)[place]);
	case CFG_U64:
		return json_integer((json_int_t)((const uint64_t *)at)[place]);
	case CFG_REAL:
		return json_real(((const double *)at)[place]);
	case CFG_TIME:
		return json_string(mf_unit_put_time(buf, ((const mf_time *)at)[place]));
	case CFG_SIZE32:
		return cfg_put_size(((const uint32_t *)at)[place]);
	case CFG_SIZE64:
		return cfg_put_size(((const uint64_t *)at)[place]);
	case CFG_RATE:
		return json_string(mf_unit_put_rate(buf, ((const uint32_t *)at)[place]));
	case CFG_ENUM:
		return json_string(f->names[((const uint32_t *)at)[place]]);
	case CFG_CHOICE:
	case CFG_NAME:
	case CFG_MEMBER:
	case CFG_TEXT:
		return json_string(at);
	}
	return NULL;
}

void cfg_put_fields(struct put *p, json_t *object, const struct cfg_field *f, const void *base)
{
	for (; f->key != NULL; f++) {
		const void *at = (const char *)base + f->offset;
		json_t *both;

		if (f->kind == CFG_NESTED)
			continue;
		if (!f->per_clock) {
			cfg_put_set(p, object, f->key, put_value(f, at, 0));
			continue;
		}
		both = cfg_put_set(p, object, f->key, json_object());
		for (size_t i = 0; i < MF_CLOCKS; i++)
			cfg_put_set(p, both, cfg_clock_names[i], put_value(f, at, i));
	}
}

void cfg_put_drop(json_t *object, const char *const *keys)
{
	for (; *keys != NULL; keys++)
		json_object_del(object, *keys);
}

/* Members of the group that are in the set. */
static unsigned int members(const struct mf_config *config, const struct mf_config_set *s, unsigned int group)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < s->n; i++)
		n += config->node[s->node[i]].group == group;
	return n;
}

json_t *cfg_put_nodes(struct put *p, const struct mf_config_set *s,
		      bool (*able)(const struct mf_config_node *))
{
	const struct mf_config *config = p->config;
	json_t *array;
	unsigned int all = 0;

	for (unsigned int port = 0; port < config->slots; port++)
		all += config->node[port].up && (able == NULL || able(&config->node[port]));
	if (all == s->n)
		return json_string("*");
	array = json_array();
	for (unsigned int g = 0; g < config->groups; g++) {
		unsigned int n = members(config, s, g);

		if (n == config->group[g].count)
			cfg_put_append(p, array, json_string(config->group[g].name));
		for (unsigned int i = 0; i < s->n && n < config->group[g].count; i++) {
			if (config->node[s->node[i]].group == g)
				cfg_put_append(p, array, json_string(config->node[s->node[i]].name));
		}
	}
	return array;
}
