/* SPDX-License-Identifier: BSD-3-Clause */
/* "regions": who may do what in which part of which memory. "limits": what each node may ask for. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/cfg_write.h"
#include "memory/mf_region.h"

#define REGION(m) CFG_AT(struct mf_config_region, m)
static const struct cfg_field region_fields[] = {
	{.key = "name", .kind = CFG_NAME, REGION(name)},
	{.key = "memory", .kind = CFG_NESTED},
	{.key = "at", .kind = CFG_SIZE64, REGION(at), CFG_RANGE(0, MF_ADDR_MAX)},
	{.key = "size", .kind = CFG_SIZE64, REGION(size), CFG_RANGE(1, MF_ADDR_MAX)},
	{.key = "owner", .kind = CFG_NESTED},
	{.key = "readers", .kind = CFG_NESTED},
	{.key = "writers", .kind = CFG_NESTED},
	{0},
};

#define LIMITS(m) CFG_AT(struct mf_config_limits, m)
static const struct cfg_field limits_fields[] = {
	{.key = "share", .kind = CFG_REAL, LIMITS(share), .rlo = 1.0 / MF_PORTS_MAX, .rhi = 1},
	{.key = "burst", .kind = CFG_SIZE32, LIMITS(burst), CFG_RANGE(8, 16 << 20)},
	{.key = "rate", .kind = CFG_REAL, LIMITS(rate), .rlo = 1, .rhi = 1e12},
	{.key = "rate_burst", .kind = CFG_U32, LIMITS(rate_burst), CFG_RANGE(1, 1 << 20)},
	{.key = "outstanding", .kind = CFG_U32, LIMITS(outstanding), CFG_RANGE(1, 1 << 20)},
	{.key = "regions", .kind = CFG_U32, LIMITS(regions), CFG_RANGE(1, MF_REGIONS_MAX)},
	{.key = "pages", .kind = CFG_SIZE64, LIMITS(pages), CFG_RANGE(1, MF_ADDR_MAX)},
	{.key = "entries", .kind = CFG_U64, LIMITS(entries), CFG_RANGE(1, UINT64_C(1) << 32)},
	{0},
};

/** Nodes that may be missing: then they are none. */
static int read_nodes(struct cfg *c, const json_t *json, const char *key, struct mf_config_set *set)
{
	return json_object_get(json, key) == NULL ? 0 : cfg_set(c, json, key, cfg_is_compute, "compute", set);
}

static int read_owner(struct cfg *c, const json_t *json, struct mf_config_region *r)
{
	struct mf_config_set owner = {0};
	int rc = read_nodes(c, json, "owner", &owner);

	if (rc == 0 && owner.n > 1)
		rc = cfg_fail_key(c, "owner", "names %u nodes, a region has one owner", owner.n);
	r->owner = owner.n == 1 ? owner.node[0] : -1;
	cfg_set_free(&owner);
	return rc;
}

/** A region that gets another owner is cleared, which what a sink holds cannot be. */
static int check_stored(struct cfg *c, const struct mf_config_region *r)
{
	for (unsigned int i = 0; i < r->memory.n; i++)
		if (mf_config_is_sink(&c->config->node[r->memory.node[i]]))
			return cfg_fail_key(c, "memory", "node '%s' has a sink, which has no regions",
					    c->config->node[r->memory.node[i]].name);
	return 0;
}

/** It is within all its memories, and shares no octet with a region that was read before. */
static int check_place(struct cfg *c, const struct mf_config_region *r)
{
	const struct mf_config *config = c->config;

	for (unsigned int i = 0; i < r->memory.n; i++) {
		const struct mf_config_node *n = &config->node[r->memory.node[i]];

		if (r->size > n->memory_config.size || r->at > n->memory_config.size - r->size)
			return cfg_fail_key(c, "size", "reaches beyond the memory of '%s', %llu octets",
					    n->name, (unsigned long long)n->memory_config.size);
	}
	for (const struct mf_config_region *o = config->region; o < r; o++) {
		bool apart = r->at >= o->at + o->size || o->at >= r->at + r->size;

		for (unsigned int i = 0; i < r->memory.n && !apart; i++)
			if (mf_config_has(&o->memory, r->memory.node[i]))
				return cfg_fail_key(c, "at", "overlaps region '%s'", o->name);
	}
	return 0;
}

static int read_region(struct cfg *c, const json_t *json, struct mf_config_region *r)
{
	static const char *const needed[] = {"name", "size", NULL};
	int rc = cfg_object(c, json, region_fields, r);

	for (int i = 0; needed[i] != NULL && rc == 0; i++)
		if (json_object_get(json, needed[i]) == NULL)
			rc = cfg_fail_key(c, needed[i], "is missing");
	for (const struct mf_config_region *o = c->config->region; o < r && rc == 0; o++)
		if (strcmp(o->name, r->name) == 0)
			rc = cfg_fail_key(c, "name", "there are two regions '%s'", r->name);
	if (rc == 0)
		rc = cfg_set(c, json, "memory", cfg_is_memory, "memory", &r->memory);
	if (rc == 0)
		rc = check_stored(c, r);
	if (rc == 0)
		rc = read_owner(c, json, r);
	if (rc == 0)
		rc = read_nodes(c, json, "readers", &r->readers);
	if (rc == 0)
		rc = read_nodes(c, json, "writers", &r->writers);
	return rc == 0 ? check_place(c, r) : rc;
}

int cfg_regions(struct cfg *c, const json_t *json)
{
	int rc = cfg_is(c, json, JSON_ARRAY);
	size_t i;
	json_t *entry;

	if (rc == 0 && c->tier->stack_ops != NULL)
		rc = cfg_fail(c, "has no effect: only EDM's own stack has keys");
	if (rc != 0)
		return rc;
	if (json_array_size(json) > MF_REGIONS_MAX)
		return cfg_fail(c, "too many: %zu, at most %u", json_array_size(json), MF_REGIONS_MAX);
	c->config->region = calloc(json_array_size(json) + 1, sizeof(*c->config->region));
	if (c->config->region == NULL)
		return cfg_fail_memory(c);
	json_array_foreach(json, i, entry) {
		cfg_push_index(c, i);
		rc = read_region(c, entry, &c->config->region[c->config->regions++]);
		cfg_pop(c);
		if (rc != 0)
			return rc;
	}
	if (c->config->regions > 0 && c->once == MF_NO)
		return cfg_fail(c, "keys are in what host.once adds to messages, and that is false");
	c->tier->proto.ext |= c->config->regions > 0;
	return 0;
}

int cfg_limits(struct cfg *c, const json_t *json)
{
	static const char *const burst[] = {"burst", NULL}, *const rate_burst[] = {"rate_burst", NULL},
				 *const regions[] = {"regions", NULL},
				 *const of_spaces[] = {"pages", "entries", NULL};
	struct mf_config_limits *l = &c->config->limits;
	int rc = cfg_object(c, json, limits_fields, l);

	if (rc == 0 && c->tier->bridge_ops != NULL)
		rc = cfg_fail(c, "has no effect: there are no demands at a bridge");
	if (rc == 0 && l->share == 0)
		rc = cfg_refuse(c, json, burst, "there is no 'share'");
	if (rc == 0 && l->rate == 0)
		rc = cfg_refuse(c, json, rate_burst, "there is no 'rate'");
	if (rc == 0 && c->config->regions == 0)
		rc = cfg_refuse(c, json, regions, "there are no regions");
	if (rc == 0 && cfg_vm_any(c->config) == NULL)
		rc = cfg_refuse(c, json, of_spaces, "there is no memory of the type \"virtual\"");
	return rc;
}

static void put_set(struct put *p, json_t *json, const char *key, const struct mf_config_set *set)
{
	if (set->n > 0)
		cfg_put_set(p, json, key, cfg_put_nodes(p, set, cfg_is_compute));
}

static void put_regions(struct put *p, json_t *array)
{
	for (unsigned int i = 0; i < p->config->regions; i++) {
		const struct mf_config_region *r = &p->config->region[i];
		json_t *json = cfg_put_append(p, array, json_object());

		cfg_put_fields(p, json, region_fields, r);
		cfg_put_set(p, json, "memory", cfg_put_nodes(p, &r->memory, cfg_is_memory));
		if (r->owner >= 0)
			cfg_put_set(p, json, "owner", json_string(p->config->node[r->owner].name));
		put_set(p, json, "readers", &r->readers);
		put_set(p, json, "writers", &r->writers);
	}
}

void cfg_put_access(struct put *p, json_t *root)
{
	static const char *const share[] = {"share", "burst", NULL},
				 *const rate[] = {"rate", "rate_burst", NULL},
				 *const outstanding[] = {"outstanding", NULL},
				 *const regions[] = {"regions", NULL}, *const pages[] = {"pages", NULL},
				 *const entries[] = {"entries", NULL};
	const struct mf_config_limits *l = &p->config->limits;
	json_t *json;

	if (p->config->regions > 0)
		put_regions(p, cfg_put_set(p, root, "regions", json_array()));
	if (l->share == 0 && l->rate == 0 && l->outstanding == 0 && l->regions == 0 && l->pages == 0 &&
	    l->entries == 0)
		return;
	json = cfg_put_set(p, root, "limits", json_object());
	cfg_put_fields(p, json, limits_fields, l);
	if (l->share == 0)
		cfg_put_drop(json, share);
	if (l->rate == 0)
		cfg_put_drop(json, rate);
	if (l->outstanding == 0)
		cfg_put_drop(json, outstanding);
	if (l->regions == 0)
		cfg_put_drop(json, regions);
	if (l->pages == 0)
		cfg_put_drop(json, pages);
	if (l->entries == 0)
		cfg_put_drop(json, entries);
}
