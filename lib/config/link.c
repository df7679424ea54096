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
	{.key = "shape", .kind = CFG_BOOL, LINK(shape)},
	{.key = "disable", .kind = CFG_NESTED},
	{.key = "carried", .kind = CFG_NESTED},
	{0},
};

static const struct cfg_field entry_fields[] = {
	{.key = "node", .kind = CFG_NESTED},
	{.key = "tier", .kind = CFG_NESTED},
	{.key = "port", .kind = CFG_U32, CFG_RANGE(0, MF_NODES_MAX - 1)},
	{.key = "end", .kind = CFG_NESTED},
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
	if (rc == 0)
		rc = cfg_tunnel(c, json, trunk, &link->llr);
	if (rc == 0 && link->shape && link->llr.pace)
		rc = cfg_fail_key(c, "shape", "is for links without 'carried.pace': it does what that does");
	return rc;
}

static int default_link(struct cfg *c, const json_t *json)
{
	int rc = cfg_known(c, json, cfg_link_fields, NULL);

	return rc != 0 ? rc : cfg_link(c, json, false, &c->link);
}

/* Entries by what they name. Those of rests come last, wherever they stand. */
enum names {
	NODES,
	REST_OF_RACK, /* "r0.*": nodes of racks that no other entry names */
	REST, /* "*" */
};

static enum names kind_of(const char *name)
{
	size_t len = strlen(name);

	if (strcmp(name, "*") == 0)
		return REST;
	return len > 2 && strcmp(name + len - 2, ".*") == 0 ? REST_OF_RACK : NODES;
}

/* Whether a name of an entry means the node. Of a rest: all that may be in it. */
static bool means(const struct cfg *c, const char *name, const struct cfg_node *n)
{
	const struct mf_config_member m = {n->node.name, c->config->group[n->entry].name, n->node.rack};

	switch (kind_of(name)) {
	case REST:
		return !n->added;
	case REST_OF_RACK:
		return mf_config_means_rack(c->config, name, strlen(name) - 2, &m);
	default:
		return mf_config_means(c->config, name, strlen(name), &m);
	}
}

static int take_port(struct cfg *c, struct cfg_node *n, uint64_t port)
{
	const struct mf_config *config = c->config;
	unsigned int limit = c->tier->sw.ports != 0 ? c->tier->sw.ports : mf_config_nodes_max(config);

	if (mf_config_has_tiers(config))
		return cfg_fail_key(c, "port",
				    "has no effect: with 'tiers' the order of the nodes is theirs");
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

/* An entry of "links" that is applied to nodes. */
struct entry {
	const json_t *json;
	int place; /* in "links" */
	int tier; /* of the ends that it is about, -1: of all */
	int end; /* which of its node's ends it is about, -1: all */
	bool rest; /* "*": of all ends that no other entry is about */
};

/* To one end of a node, if it is about that. *n: to how many it has been applied */
static int apply_to_end(struct cfg *c, const struct entry *e, struct cfg_node *node, unsigned int k,
			unsigned int *n)
{
	struct mf_config_end *end = cfg_end(c, node, k);
	struct cfg_mark *mark = cfg_mark(c, node, k);
	char where[64];

	if ((e->tier >= 0 && end->tier != e->tier) || (e->end >= 0 && (unsigned int)e->end != k) ||
	    (e->rest && mark->link >= 0))
		return 0;
	if (c->config->tier[end->tier].direct && !e->rest && (e->tier >= 0 || node->node.ends == 1))
		return cfg_fail_key(c, "node",
				    "the link of node '%s' leads to another node: 'between' has to name both",
				    node->node.name);
	if (c->config->tier[end->tier].direct)
		return 0;
	if (mark->link >= 0) {
		cfg_where_entry(c, "links", (size_t)mark->link, where, sizeof(where));
		return cfg_fail_key(c, "node", "node '%s' has two links, see %s", node->node.name, where);
	}
	if (*n > 0 && json_object_get(e->json, "carried") != NULL)
		return cfg_fail_key(c, "carried", "node '%s' has %u ends: 'tier' or 'end' has to say which",
				    node->node.name, node->node.ends);
	end->link = cfg_place_link(c, end->tier, node->place);
	mark->link = e->place;
	(*n)++;
	return cfg_link(c, e->json, false, &end->link);
}

/* @param n  how many nodes it has been applied to */
static int apply_to_node(struct cfg *c, const struct entry *e, struct cfg_node *node, uint32_t first,
			 unsigned int *n)
{
	unsigned int ends = 0;
	int rc = 0;

	for (unsigned int k = 0; k < node->node.ends && rc == 0; k++)
		rc = apply_to_end(c, e, node, k, &ends);
	if (rc == 0 && ends == 0 && !e->rest && e->end >= 0)
		return cfg_fail_key(c, "end", "node '%s' has no end %d there, of %u", node->node.name, e->end,
				    node->node.ends);
	if (rc == 0 && ends == 0 && !e->rest)
		return cfg_fail_key(c, "tier", "node '%s' has no end in tier '%s'", node->node.name,
				    c->config->tier[e->tier].name);
	if (rc == 0 && ends > 0 && json_object_get(e->json, "port") != NULL)
		rc = take_port(c, node, (uint64_t)first + *n);
	*n += ends > 0;
	return rc;
}

/* "end": one of a node's ends, by its place in "ends". */
static int read_which(struct cfg *c, const json_t *json, int *end)
{
	static const struct cfg_field field[] = {
		{.key = "end", .kind = CFG_U32, CFG_RANGE(0, CFG_ENDS_MAX - 1)}, {0}};
	uint32_t which = 0;
	int rc = cfg_read(c, json, field, &which);

	if (rc == 0 && json_object_get(json, "end") != NULL)
		*end = (int)which;
	return rc;
}

static int apply(struct cfg *c, const json_t *json, const char *name, int place)
{
	struct entry e = {
		.json = json, .place = place, .tier = -1, .end = -1, .rest = kind_of(name) != NODES};
	uint32_t first = 0, n = 0;
	int rc = cfg_read(c, json, entry_fields, &first);

	if (rc == 0)
		rc = cfg_tier_of(c, json, &e.tier);
	if (rc == 0)
		rc = read_which(c, json, &e.end);
	for (unsigned int i = 0; i < c->config->nodes && rc == 0; i++)
		if (means(c, name, &c->list[i]))
			rc = apply_to_node(c, &e, &c->list[i], first, &n);
	if (rc == 0 && n == 0 && kind_of(name) != NODES)
		return cfg_fail_key(c, "node", "has no effect: every node has another link");
	return rc != 0 || n > 0 ? rc : cfg_fail_key(c, "node", "there is no node '%.64s'", name);
}

/* Of two switches, or of two nodes: trunk.c and direct.c read it. */
static bool is_trunk(const json_t *entry)
{
	return json_object_get(entry, "between") != NULL && json_object_get(entry, "node") == NULL;
}

/* Entries of one kind. */
static int read_entries(struct cfg *c, const json_t *json, enum names kind)
{
	size_t i;
	json_t *entry;

	json_array_foreach(json, i, entry) {
		const json_t *node = json_object_get(entry, "node");
		int rc = 0;

		if (is_trunk(entry))
			continue;
		cfg_push_index(c, i);
		if (kind == NODES) {
			if (json_object_get(entry, "between") != NULL)
				rc = cfg_fail_key(c, "between", "stands in the place of 'node'");
			if (rc == 0)
				rc = cfg_known(c, entry, entry_fields, cfg_link_fields);
			if (rc == 0 && !json_is_string(node))
				rc = cfg_fail_key(c, "node", node == NULL ? "is missing" : "must be a name");
		}
		if (rc == 0 && kind_of(json_string_value(node)) == kind)
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

	for (enum names kind = NODES; kind <= REST && rc == 0; kind++)
		rc = read_entries(c, json, kind);
	if (rc == 0 && (are_trunks(json) || mf_config_has_tiers(c->config) || c->tier->direct))
		return 0;
	for (unsigned int i = 0; i < c->config->nodes && rc == 0; i++) {
		if (c->list[i].first.link < 0 && !c->list[i].added)
			rc = cfg_fail(c, "node '%s' has no link", c->list[i].node.name);
	}
	return rc;
}

/* What "ends" say of the link at one of them, over all else. */
static int read_own(struct cfg *c, struct cfg_node *node)
{
	int rc = 0;

	cfg_push(c, "nodes");
	cfg_push_index(c, node->entry);
	cfg_push(c, "ends");
	for (unsigned int k = 0; k < node->node.ends && rc == 0; k++) {
		const json_t *json = cfg_mark(c, node, k)->json;
		bool direct = c->config->tier[cfg_end(c, node, k)->tier].direct;

		cfg_push_index(c, k);
		rc = json != NULL && !direct ? cfg_link(c, json, false, &cfg_end(c, node, k)->link) : 0;
		cfg_pop(c);
	}
	cfg_pop(c);
	cfg_pop(c);
	cfg_pop(c);
	return rc;
}

/* The links of all ends: as "link" has them, then "links", then "ends". */
static int read_all(struct cfg *c, const json_t *root)
{
	int rc;

	for (unsigned int i = 0; i < c->config->nodes; i++) {
		struct cfg_node *n = &c->list[i];

		for (unsigned int k = 0; k < n->node.ends; k++)
			cfg_end(c, n, k)->link = cfg_place_link(c, cfg_end(c, n, k)->tier, n->place);
		if (n->added)
			n->node.link.period = SERVER_PERIOD;
	}
	rc = cfg_section(c, root, "links", read_links);
	for (unsigned int i = 0; i < c->config->nodes && rc == 0; i++)
		rc = read_own(c, &c->list[i]);
	return rc;
}

/* The others take the lowest free ports, in the order of the file. @return one more than the highest */
static unsigned int give_ports(struct cfg *c)
{
	bool used[MF_NODES_MAX] = {false};
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
	struct mf_config_node n = {.workload = -1, .ethernet = -1};

	n.link = c->link;
	return n;
}

int cfg_links(struct cfg *c, const json_t *root)
{
	struct mf_config *config = c->config;
	unsigned int top;
	int rc = cfg_section(c, root, "ports", cfg_ports);

	cfg_llr_default(&c->link.llr);
	if (rc == 0)
		rc = cfg_section(c, root, "link", default_link);
	if (rc == 0)
		rc = cfg_tier_links(c, root);
	if (rc == 0 && c->tier->sw.ports != 0 && config->nodes > c->tier->sw.ports)
		return cfg_fail_key(c, "nodes", "too many: %u nodes, the switch has %u ports", config->nodes,
				    c->tier->sw.ports);
	if (rc == 0)
		rc = read_all(c, root);
	if (rc != 0)
		return rc;
	top = give_ports(c);
	if (c->tier->sw.ports == 0 && !mf_config_has_tiers(config))
		c->tier->sw.ports = top;
	config->slots = mf_config_has_tiers(config) ? top : c->tier->sw.ports;
	config->node = calloc(config->slots, sizeof(*config->node));
	if (config->node == NULL)
		return cfg_fail_memory(c);
	for (unsigned int i = 0; i < config->slots; i++)
		config->node[i] = free_port(c);
	for (unsigned int i = 0; i < config->nodes; i++)
		config->node[c->list[i].port] = c->list[i].node;
	for (unsigned int i = 0; i < config->slots; i++)
		cfg_llr_second(&config->node[i]);
	for (unsigned int i = 0; i < config->nodes; i++)
		if (c->list[i].node.role == MF_ROLE_SERVER)
			config->tier[c->list[i].node.tier].server = c->list[i].port;
	return 0;
}
