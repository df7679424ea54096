/* SPDX-License-Identifier: BSD-3-Clause */
/* "ethernet": ordinary frames in the background. */
#include <errno.h>
#include <stdlib.h>

#include "config/cfg.h"

static const char *const arrival_names[] = {
	[MF_CONFIG_POISSON] = "poisson", [MF_CONFIG_CONSTANT] = "constant", [MF_CONFIG_CONSTANT + 1] = NULL};

#define ETHERNET(m) CFG_AT(struct mf_config_ethernet, m)
const struct cfg_field cfg_ethernet_fields[] = {
	{.key = "from", .kind = CFG_NESTED},
	{.key = "to", .kind = CFG_NESTED},
	{.key = "size", .kind = CFG_U16, ETHERNET(size), CFG_RANGE(MF_FRAME_MIN, MF_FRAME_MTU)},
	{.key = "load", .kind = CFG_REAL, ETHERNET(load), .rlo = 1e-6, .rhi = 1},
	{.key = "arrival", .kind = CFG_ENUM, ETHERNET(arrival), .names = arrival_names},
	{0},
};

static int send(struct cfg *c, const struct mf_config_ethernet *e, unsigned int i)
{
	struct mf_config_node *n = &c->config->node[e->from.node[i]];
	uint16_t to = e->to.node[i % e->to.n];

	if (n->ethernet >= 0)
		return cfg_fail_key(c, "from", "node '%s' sends for ethernet[%d] already", n->name,
				    n->ethernet);
	if (!cfg_set_other(&e->to, e->from.node[i]))
		return cfg_fail_key(c, "to", "node '%s' would send to itself", n->name);
	n->ethernet = (int)(e - c->config->ethernet);
	n->frames_to = to != e->from.node[i] ? to : e->to.node[(i + 1) % e->to.n];
	return cfg_share_tier(c, "to", e->from.node[i], n->frames_to);
}

static int read_flow(struct cfg *c, const json_t *json, struct mf_config_ethernet *e)
{
	int rc = cfg_object(c, json, cfg_ethernet_fields, e);

	if (rc == 0 && json_object_get(json, "load") == NULL)
		rc = cfg_fail_key(c, "load", "is missing");
	if (rc == 0)
		rc = cfg_set(c, json, "from", NULL, "up", &e->from);
	if (rc == 0)
		rc = cfg_set(c, json, "to", NULL, "up", &e->to);
	for (unsigned int i = 0; i < e->from.n && rc == 0; i++)
		rc = send(c, e, i);
	return rc;
}

int cfg_ethernet(struct cfg *c, const json_t *json)
{
	struct mf_config *config = c->config;
	int rc = cfg_is(c, json, JSON_ARRAY);
	size_t i;
	json_t *entry;

	if (rc != 0)
		return rc;
	if (json_array_size(json) > MF_CONFIG_ETHERNET_MAX)
		return cfg_fail(c, "has %zu entries, at most %u", json_array_size(json),
				MF_CONFIG_ETHERNET_MAX);
	config->ethernet = calloc(json_array_size(json) + 1, sizeof(*config->ethernet));
	if (config->ethernet == NULL)
		return cfg_fail_memory(c);
	json_array_foreach(json, i, entry) {
		struct mf_config_ethernet *e = &config->ethernet[config->ethernets++];

		e->size = 1500;
		cfg_push_index(c, i);
		rc = read_flow(c, entry, e);
		cfg_pop(c);
		if (rc != 0)
			return rc;
	}
	return 0;
}
