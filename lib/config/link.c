/* SPDX-License-Identifier: BSD-3-Clause */
/* "link", the default of all links, and of "links" those of nodes: which node is at which port. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/cfg.h"

static const char *const policy_names[] = {[MF_MUX_FAIR] = "fair",
					   [MF_MUX_MEMORY_FIRST] = "memory-first",
					   [MF_MUX_NO_PREEMPT] = "no-preempt",
					   [MF_MUX_FIFO] = "fifo",
					   [MF_MUX_FIFO + 1] = NULL};

#define SERVER_PERIOD 640 /* 100G: "with 100 Gbps server bandwidth" (EDM 4.3) */

#define LINK(m) CFG_AT(struct mf_config_link, m)
const struct cfg_field cfg_link_fields[] = {
	{.key = "rate", .kind = CFG_RATE, LINK(period), CFG_RANGE(CFG_PERIOD_MIN, CFG_PERIOD_MAX)},
	{.key = "propagation", .kind = CFG_TIME, LINK(propagation), CFG_RANGE(0, CFG_PROPAGATION_MAX)},
	{.key = "policy", .kind = CFG_ENUM, LINK(policy), .names = policy_names},
	{.key = "quantum", .kind = CFG_U16, LINK(quantum), CFG_RANGE(1, UINT16_MAX)},
	{.key = "scramble", .kind = CFG_BOOL, LINK(scramble)},
	{.key = "align8", .kind = CFG_BOOL, LINK(align8)},
	{.key = "ber_window", .kind = CFG_TIME, LINK(ber_window), CFG_RANGE(MF_NS(1), MF_SEC(1))},
	{.key = "ring", .kind = CFG_U32, LINK(ring), CFG_RANGE(4, 65536), .pow2 = true},
	{.key = "disable", .kind = CFG_NESTED},
	{.key = "carried", .kind = CFG_NESTED},
	{0},
};

static const struct cfg_field entry_fields[] = {
	{.key = "node", .kind = CFG_NESTED},
	{.key = "port", .kind = CFG_U32, CFG_RANGE(0, MF_PORTS_MAX - 1)},
	{0},
};

int cfg_link(struct cfg *c, const json_t *json, bool trunk, struct mf_config_link *link)
{
	static const char *const quantum[] = {"quantum", NULL};
	int rc = cfg_read(c, json, cfg_link_fields, link);

	if (rc == 0 && link->policy != MF_MUX_FAIR)
		rc = cfg_refuse(c, json, quantum, "policy is not \"fair\"");
	if (rc == 0)
		rc = cfg_disable(c, json, &link->disable);
	return rc != 0 ? rc : cfg_carried(c, json, trunk, &link->llr);
}

static int default_link(struct cfg *c, const json_t *json)
{
	int rc = cfg_known(c, json, cfg_link_fields, NULL);

	return rc != 0 ? rc : cfg_link(c, json, false, &c->link);
}

/* Whether name means the node: its own name or that of its entry. "*": those without a link yet. */
static bool means(const struct cfg *c, const char *name, const struct cfg_node *n)
{
	if (strcmp(name, "*") == 0)
		return n->link < 0 && !n->added;
	return strcmp(name, n->node.name) == 0 || strcmp(name, c->config->group[n->entry].name) == 0;
}

static int take_port(struct cfg *c, struct cfg_node *n, uint64_t port)
{
	const struct mf_config *config = c->config;
	unsigned int limit = config->sw.ports != 0 ? config->sw.ports : MF_PORTS_MAX;

	if (config->switches > 0 && port >= config->nodes)
		return cfg_fail_key(c, "port", "%llu for node '%s': with 'switches' the %u nodes are 0 to %u",
				    (unsigned long long)port, n->node.name, config->nodes, config->nodes - 1);
	if (port >= limit)
		return cfg_fail_key(c, "port", "%llu for node '%s': the switch has %u ports",
				    (unsigned long long)port, n->node.name, limit);
	for (unsigned int i = 0; i < config->nodes; i++) {
		if (c->list[i].port == (int)port)
			return cfg_fail_key(c, "port", "nodes '%s' and '%s' are both at port %d",
					    c->list[i].node.name, n->node.name, (int)port);
	}
	n->port = (int)port;
	return 0;
}

static int apply(struct cfg *c, const json_t *json, const char *name, int entry)
{
	uint32_t first = 0, n = 0;
	int rc = cfg_read(c, json, entry_fields, &first);

	for (unsigned int i = 0; i < c->config->nodes && rc == 0; i++) {
		struct cfg_node *node = &c->list[i];

		if (!means(c, name, node))
			continue;
		if (node->link >= 0)
			return cfg_fail_key(c, "node", "node '%s' has two links, see links[%d]",
					    node->node.name, node->link);
		node->node.link = cfg_place_link(c, node->place);
		node->link = entry;
		rc = cfg_link(c, json, false, &node->node.link);
		if (rc != 0)
			break;
		if (json_object_get(json, "port") != NULL)
			rc = take_port(c, node, (uint64_t)first + n);
		n++;
	}
	if (rc == 0 && n == 0 && strcmp(name, "*") == 0)
		return cfg_fail_key(c, "node", "has no effect: every node has another link");
	return rc != 0 || n > 0 ? rc : cfg_fail_key(c, "node", "there is no node '%.64s'", name);
}

/* Of two switches: trunk.c reads it. */
static bool is_trunk(const json_t *entry)
{
	return json_object_get(entry, "between") != NULL && json_object_get(entry, "node") == NULL;
}

/* Entries for "*" come last, whatever their place. */
static int read_entries(struct cfg *c, const json_t *json, bool rest)
{
	size_t i;
	json_t *entry;

	json_array_foreach(json, i, entry) {
		const json_t *node = json_object_get(entry, "node");
		int rc = 0;

		if (is_trunk(entry))
			continue;
		cfg_push_index(c, i);
		if (!rest) {
			if (json_object_get(entry, "between") != NULL)
				rc = cfg_fail_key(c, "between", "stands in the place of 'node'");
			if (rc == 0)
				rc = cfg_known(c, entry, entry_fields, cfg_link_fields);
			if (rc == 0 && !json_is_string(node))
				rc = cfg_fail_key(c, "node", node == NULL ? "is missing" : "must be a name");
		}
		if (rc == 0 && rest == (strcmp(json_string_value(node), "*") == 0))
			rc = apply(c, entry, json_string_value(node), (int)i);
		cfg_pop(c);
		if (rc != 0)
			return rc;
	}
	return 0;
}

/* Whether there is nothing but links between switches: then each node has the default link. */
static bool are_trunks(const json_t *links)
{
	size_t i;
	json_t *entry;

	json_array_foreach(links, i, entry) {
		if (!is_trunk(entry))
			return false;
	}
	return json_array_size(links) > 0;
}

static int read_links(struct cfg *c, const json_t *json)
{
	int rc = cfg_is(c, json, JSON_ARRAY);

	if (rc == 0)
		rc = read_entries(c, json, false);
	if (rc == 0)
		rc = read_entries(c, json, true);
	if (rc == 0 && are_trunks(json))
		return 0;
	for (unsigned int i = 0; i < c->config->nodes && rc == 0; i++) {
		if (c->list[i].link < 0 && !c->list[i].added)
			rc = cfg_fail(c, "node '%s' has no link", c->list[i].node.name);
	}
	return rc;
}

/* The others take the lowest free ports, in the order of the file. @return one more than the highest */
static unsigned int give_ports(struct cfg *c)
{
	bool used[MF_PORTS_MAX] = {false};
	unsigned int next = 0, top = 2;

	for (unsigned int i = 0; i < c->config->nodes; i++) {
		if (c->list[i].port >= 0)
			used[c->list[i].port] = true;
	}
	for (unsigned int i = 0; i < c->config->nodes; i++) {
		struct cfg_node *n = &c->list[i];

		while (n->port < 0 && used[next])
			next++;
		if (n->port < 0)
			n->port = (int)next++;
		if ((unsigned int)n->port >= top)
			top = (unsigned int)n->port + 1;
	}
	return top;
}

/* A port that nothing is at has a link all the same, or its ends could not be made. */
static struct mf_config_node free_port(const struct cfg *c)
{
	return (struct mf_config_node){.link = c->link, .workload = -1, .ethernet = -1};
}

int cfg_links(struct cfg *c, const json_t *root)
{
	struct mf_config *config = c->config;
	unsigned int top;
	int rc = cfg_section(c, root, "ports", cfg_ports);

	cfg_llr_default(&c->link.llr);
	if (rc == 0)
		rc = cfg_section(c, root, "link", default_link);

	for (unsigned int i = 0; i < config->nodes; i++) {
		c->list[i].node.link = cfg_place_link(c, c->list[i].place);
		if (c->list[i].added)
			c->list[i].node.link.period = SERVER_PERIOD;
	}
	if (rc == 0 && config->sw.ports != 0 && config->nodes > config->sw.ports)
		return cfg_fail_key(c, "nodes", "too many: %u nodes, the switch has %u ports", config->nodes,
				    config->sw.ports);
	if (rc == 0)
		rc = cfg_section(c, root, "links", read_links);
	if (rc != 0)
		return rc;
	top = give_ports(c);
	if (config->sw.ports == 0)
		config->sw.ports = top;
	config->node = calloc(config->sw.ports, sizeof(*config->node));
	if (config->node == NULL)
		return cfg_fail_memory(c);
	for (unsigned int i = 0; i < config->sw.ports; i++)
		config->node[i] = free_port(c);
	for (unsigned int i = 0; i < config->nodes; i++)
		config->node[c->list[i].port] = c->list[i].node;
	for (unsigned int i = 0; i < config->sw.ports; i++)
		cfg_llr_second(&config->node[i]);
	config->server = -1;
	for (unsigned int i = 0; i < config->nodes; i++)
		if (c->list[i].node.role == MF_ROLE_SERVER)
			config->server = c->list[i].port;
	return 0;
}
