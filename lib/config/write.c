/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The effective configuration as JSON: a fabric file again, by the same tables. Defaults for all nodes
 * and links do not appear, each has its values; keys that would have no effect do not appear either.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mf_unit.h"
#include "config/cfg_write.h"
#include "systems/mf_systems.h"

static void put_timing(struct put *p, json_t *json)
{
	const struct mf_config_tier *tier = p->tier;
	char buf[MF_UNIT_LEN];
	mf_time sum = 0;

	cfg_put_set(p, json, "profile", json_string(tier->timing_profile));
	cfg_put_set(p, json, "cycle", json_string(mf_unit_put_time(buf, tier->cycle)));
	for (int i = 0; i < MF_STAGE_PMA; i++) {
		mf_time cost = tier->timing.cost[i];

		cfg_put_set(p, json, cfg_stage_names[i], json_integer((json_int_t)(cost / tier->cycle)));
		sum += cost;
	}
	cfg_put_set(p, json, "pma", json_string(mf_unit_put_time(buf, tier->timing.cost[MF_STAGE_PMA])));
	if (tier->stack_ops == NULL)
		json_object_del(json, cfg_stage_names[MF_STAGE_MAC]);
	else
		cfg_put_set(p, json, "protocol",
			    json_string(mf_unit_put_time(buf, tier->timing.cost[MF_STAGE_PROTOCOL])));
	if (cfg_vm_any(p->config) != NULL)
		cfg_put_set(p, json, "client", json_string(mf_unit_put_time(buf, tier->client)));
	if (sum == 0)
		json_object_del(json, "cycle");
}

static void put_sched(struct put *p, json_t *json)
{
	const struct mf_config_sched *s = &p->tier->sched;

	cfg_put_policy(p, json);
	cfg_put_fields(p, json, cfg_sched_fields, s);
	if (!mf_policy_find(s->policy)->iterates)
		json_object_del(json, "iterations");
	if (s->release != MF_RELEASE_WIRE)
		json_object_del(json, "slots");
	if (s->priority == MF_SCHED_SRPT)
		cfg_put_set(p, json, "srpt", json_string(s->srpt_transfer ? "transfer" : "message"));
	cfg_put_set(p, json, "time", json_string(s->timed ? "asic" : "none"));
	if (s->timed)
		cfg_put_fields(p, json, cfg_sched_time_fields, s);
}

static void put_memory(struct put *p, json_t *json, const struct mf_config_node *n)
{
	uint64_t bandwidth = n->memory_config.bandwidth;
	char buf[MF_UNIT_LEN];

	cfg_put_set(p, json, "type", json_string(n->memory_type));
	cfg_put_fields(p, json, cfg_memory_fields, &n->memory_config);
	cfg_put_set(p, json, "bandwidth",
		    json_string(bandwidth != 0 ? mf_unit_put_bits(buf, bandwidth) : "none"));
	if (mf_config_is_virtual(n))
		cfg_put_vm(p, json, &n->vm);
	if (mf_config_is_sink(n))
		json_object_del(json, "huge_pages");
	else
		cfg_put_set(p, json, "numa_node", json_integer(n->memory_config.numa_node));
}

static void put_host(struct put *p, json_t *json, const struct mf_config_node *n)
{
	static const char *const compute[] = {
		"x",       "mega",          "queue", "read_timeout", "write_timeout", "quarantine",
		"retries", "retry_timeout", NULL};
	static const char *const again[] = {"retries", "retry_timeout", NULL};
	const struct mf_config_host *h = &n->host;

	cfg_put_fields(p, json, cfg_host_fields, h);
	if (h->quarantine[MF_CLOCK_WALL] == 0 && h->quarantine[MF_CLOCK_VIRTUAL] == 0)
		json_object_del(json, "quarantine");
	if (h->retries == 0)
		cfg_put_drop(json, again);
	if (!n->compute)
		cfg_put_drop(json, compute);
}

static const struct mf_config_node *member(const struct mf_config *config, unsigned int group)
{
	const struct mf_config_node *n = config->node;

	while (!n->up || n->group != group)
		n++;
	return n;
}

static void put_nodes(struct put *p, json_t *array)
{
	for (unsigned int g = 0; g < p->config->groups; g++) {
		const struct mf_config_node *n = member(p->config, g);
		json_t *json = cfg_put_append(p, array, json_object());

		cfg_put_set(p, json, "name", json_string(p->config->group[g].name));
		cfg_put_set(p, json, "count", json_integer(p->config->group[g].count));
		cfg_put_set(p, json, "role", json_string(cfg_role_names[n->role]));
		if (n->memory)
			put_memory(p, cfg_put_set(p, json, "memory", json_object()), n);
		put_host(p, cfg_put_set(p, json, "host", json_object()), n);
		cfg_put_ends(p, json, n);
	}
}

/* Whether a node has several ends in a tier. */
static bool has_several(const struct mf_config *config, unsigned int node, unsigned int tier)
{
	unsigned int n = 0;

	for (unsigned int k = 0; k < config->node[node].ends; k++)
		n += mf_config_end(config, node, k)->tier == tier;
	return n > 1;
}

/* The link of end k of the node at a port. */
static json_t *put_link(struct put *p, const char *name, unsigned int port, unsigned int k)
{
	const struct mf_config_end *end = mf_config_end(p->config, port, k);
	const struct mf_config_link *link = &end->link;
	json_t *json = json_object();

	cfg_put_set(p, json, "node", json_string(name));
	if (mf_config_has_tiers(p->config))
		cfg_put_set(p, json, "tier", json_string(p->config->tier[end->tier].name));
	else if (k == 0)
		cfg_put_set(p, json, "port", json_integer(port));
	if (has_several(p->config, port, end->tier))
		cfg_put_set(p, json, "end", json_integer(k));
	cfg_put_fields(p, json, cfg_link_fields, link);
	if (link->policy != MF_MUX_FAIR)
		json_object_del(json, "quantum");
	cfg_put_disable(p, json, &link->disable);
	cfg_put_tunnel(p, json, false, &link->llr);
	return json;
}

/* One entry does for nodes of one group at consecutive ports, in order, with equal links. */
static bool is_run(struct put *p, unsigned int group, unsigned int first, unsigned int k)
{
	const struct mf_config_group *g = &p->config->group[group];
	json_t *want = put_link(p, g->name, first, k);
	bool run = first + g->count <= p->config->slots;

	for (unsigned int i = 0; i < g->count && run; i++) {
		json_t *have = put_link(p, g->name, first + i, k);
		char name[MF_CONFIG_NAME_LEN + 8];

		if (json_object_get(want, "port") != NULL)
			json_object_set_new(have, "port", json_integer(first));
		snprintf(name, sizeof(name), g->count > 1 ? "%s%u" : "%s", g->name, i);
		run = json_equal(want, have) && strcmp(p->config->node[first + i].name, name) == 0;
		json_decref(have);
	}
	json_decref(want);
	return run;
}

/* The links of end k of all nodes of an entry. */
static void put_group_links(struct put *p, json_t *array, unsigned int g, unsigned int k)
{
	const struct mf_config *config = p->config;
	unsigned int first = (unsigned int)(member(config, g) - config->node);

	if (is_run(p, g, first, k)) {
		cfg_put_append(p, array, put_link(p, config->group[g].name, first, k));
		return;
	}
	for (unsigned int port = first; port < config->slots; port++) {
		if (config->node[port].up && config->node[port].group == g)
			cfg_put_append(p, array, put_link(p, config->node[port].name, port, k));
	}
}

static void put_links(struct put *p, json_t *array)
{
	for (unsigned int g = 0; g < p->config->groups; g++)
		for (unsigned int k = 0; k < member(p->config, g)->ends; k++)
			if (!mf_config_end(p->config, (unsigned int)(member(p->config, g) - p->config->node),
					   k)
				     ->direct)
				put_group_links(p, array, g, k);
}

static void put_proto(struct put *p, json_t *json)
{
	cfg_put_set(p, cfg_put_set(p, json, "proto", json_object()), "check",
		    json_integer(p->tier->proto.check32 ? 32 : 16));
}

static json_t *put_switch(struct put *p, json_t *json)
{
	json_t *sw = cfg_put_set(p, json, "switch", json_object());

	cfg_put_fields(p, sw, cfg_switch_fields, &p->tier->sw);
	cfg_put_bridge(p, sw);
	return sw;
}

static void put_tiers(struct put *p, json_t *array)
{
	for (unsigned int i = 0; i < p->config->tiers; i++) {
		json_t *json = cfg_put_append(p, array, json_object()), *sw;
		const struct mf_config_tier *t = p->tier = &p->config->tier[i];
		size_t len = strlen(t->name);

		cfg_put_set(p, json, "name", json_string(t->name));
		cfg_put_stack(p, json);
		put_timing(p, cfg_put_set(p, json, "timing", json_object()));
		put_proto(p, json);
		sw = put_switch(p, json);
		json_object_del(sw, "ports");
		if (t->direct)
			json_object_del(json, "switch");
		else if (!t->own_switch || (strncmp(t->sw.name, t->name, len) == 0 &&
					    strcmp(t->sw.name + len, MF_CONFIG_OWN_SWITCH) == 0))
			json_object_del(sw, "name");
		else
			cfg_put_set(p, sw, "name", json_string(t->sw.name + cfg_tier_prefix(t)));
		put_sched(p, cfg_put_set(p, json, "scheduler", json_object()));
	}
	p->tier = p->config->tier;
}

/* What stands at the top level where there are no "tiers". */
static void put_only_tier(struct put *p, json_t *root)
{
	cfg_put_stack(p, root);
	put_timing(p, cfg_put_set(p, root, "timing", json_object()));
	put_proto(p, root);
}

static bool extends(const struct mf_config *config)
{
	for (unsigned int i = 0; i < config->tiers; i++)
		if (config->tier[i].proto.ext)
			return true;
	return false;
}

json_t *mf_config_to_json(const struct mf_config *config)
{
	struct put p = {.config = config, .tier = config->tier};
	json_t *root = json_object(), *clock, *json;
	bool tiers = mf_config_has_tiers(config);
	char buf[MF_UNIT_LEN];

	cfg_put_set(&p, root, "name", json_string(config->name));
	cfg_put_set(&p, root, "description", json_string(config->description));
	cfg_put_set(&p, root, "seed", json_integer((json_int_t)config->seed));
	clock = cfg_put_set(&p, root, "clock", json_object());
	for (int i = 0; i < MF_CLOCKS; i++)
		cfg_put_fields(&p, cfg_put_set(&p, clock, cfg_clock_names[i], json_object()),
			       cfg_clock_fields, &config->clock[i]);
	if (tiers)
		put_tiers(&p, cfg_put_set(&p, root, "tiers", json_array()));
	else
		put_only_tier(&p, root);
	if (extends(config))
		cfg_put_set(&p, cfg_put_set(&p, root, "host", json_object()), "once", json_true());
	cfg_put_racks(&p, root);
	put_nodes(&p, cfg_put_set(&p, root, "nodes", json_array()));
	if (!tiers && !config->tier->direct)
		put_switch(&p, root);
	cfg_put_switches(&p, root);
	cfg_put_backup(&p, root);
	cfg_put_ports(&p, root);
	json = cfg_put_set(&p, root, "links", json_array());
	put_links(&p, json);
	cfg_put_trunks(&p, json);
	if (!tiers)
		put_sched(&p, cfg_put_set(&p, root, "scheduler", json_object()));
	cfg_put_access(&p, root);
	cfg_put_traffic(&p, root);
	cfg_put_faults(&p, root);
	cfg_put_tests(&p, root);
	json = cfg_put_set(&p, root, "report", json_object());
	cfg_put_fields(&p, json, cfg_report_fields, config);
	if (config->report_series != 0)
		cfg_put_fields(&p, cfg_put_set(&p, json, "series", json_object()), cfg_series_fields, config);
	json = cfg_put_set(&p, root, "placement", json_object());
	if (config->scheduler_own_lcore == MF_AUTO)
		cfg_put_set(&p, json, "scheduler_own_lcore", json_string("auto"));
	else
		cfg_put_set(&p, json, "scheduler_own_lcore",
			    json_boolean(config->scheduler_own_lcore == MF_YES));
	if (config->watchdog != MF_CONFIG_WATCHDOG)
		cfg_put_set(&p, root, "watchdog", json_string(mf_unit_put_time(buf, config->watchdog)));
	if (!p.failed)
		return root;
	json_decref(root);
	return NULL;
}
