/* SPDX-License-Identifier: BSD-3-Clause */
/* "nodes", and the defaults for all of them: "memory", "host". */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/cfg.h"

#define DAY MF_SEC(24 * 3600)

const char *const cfg_role_names[] = {
	[MF_ROLE_COMPUTE] = "compute",   [MF_ROLE_MEMORY] = "memory", [MF_ROLE_BOTH] = "both",
	[MF_ROLE_ETHERNET] = "ethernet", [MF_ROLE_SERVER] = "server", [MF_ROLES] = NULL};

#define MEMORY(m) CFG_AT(struct mf_memory_config, m)
const struct cfg_field cfg_memory_fields[] = {
	{.key = "type", .kind = CFG_NESTED},
	{.key = "size", .kind = CFG_SIZE64, MEMORY(size), CFG_RANGE(4096, UINT64_C(1) << 40), .multiple = 8},
	{.key = "dram", .kind = CFG_TIME, MEMORY(dram), CFG_RANGE(0, MF_SEC(1))},
	{.key = "numa_node", .kind = CFG_NESTED},
	{.key = "huge_pages", .kind = CFG_BOOL, MEMORY(huge_pages)},
	{0},
};

#define HOST(m) CFG_AT(struct mf_config_host, m)
const struct cfg_field cfg_host_fields[] = {
	{.key = "x", .kind = CFG_U32, HOST(x), CFG_RANGE(1, 128)},
	{.key = "mega", .kind = CFG_U32, HOST(mega), CFG_RANGE(1, 256)},
	{.key = "queue", .kind = CFG_U32, HOST(queue), CFG_RANGE(1, 65536)},
	{.key = "read_timeout", .kind = CFG_TIME, HOST(read_timeout), CFG_RANGE(0, DAY), .per_clock = true},
	{.key = "write_timeout", .kind = CFG_TIME, HOST(write_timeout), CFG_RANGE(0, DAY), .per_clock = true},
	{.key = "quarantine", .kind = CFG_TIME, HOST(quarantine), CFG_RANGE(0, 10 * DAY), .per_clock = true},
	{.key = "retries", .kind = CFG_U32, HOST(retries), CFG_RANGE(0, 255)},
	{.key = "retry_timeout", .kind = CFG_TIME, HOST(retry_timeout), CFG_RANGE(1, DAY), .per_clock = true},
	{.key = "frames", .kind = CFG_U32, HOST(frames), CFG_RANGE(2, 65536), .pow2 = true},
	{.key = "frame_queue", .kind = CFG_SIZE32, HOST(frame_queue), CFG_RANGE(MF_FRAME_MTU, 256 << 20)},
	{0},
};

struct node_in {
	char name[MF_CONFIG_NAME_LEN];
	uint32_t count;
	uint32_t role;
	uint16_t to[MF_PORTS_MAX]; /* [count]: switches */
	int place[MF_PORTS_MAX]; /* [count]: of "topology"; -1: none */
};

static const struct cfg_field node_fields[] = {
	{.key = "name", .kind = CFG_NAME, CFG_AT(struct node_in, name)},
	{.key = "count", .kind = CFG_U32, CFG_AT(struct node_in, count), CFG_RANGE(1, MF_PORTS_MAX)},
	{.key = "role", .kind = CFG_ENUM, CFG_AT(struct node_in, role), .names = cfg_role_names},
	{.key = "memory", .kind = CFG_NESTED},
	{.key = "host", .kind = CFG_NESTED},
	{.key = "ends", .kind = CFG_NESTED},
	{0},
};

static int read_memory(struct cfg *c, const json_t *json, struct mf_memory_config *m, char *type)
{
	static const char *const types[] = {"flat", NULL};
	const struct cfg_field type_field[] = {{.key = "type", .kind = CFG_CHOICE, .names = types}, {0}};
	const json_t *numa = json_object_get(json, "numa_node");
	int rc = cfg_object(c, json, cfg_memory_fields, m);

	if (rc == 0)
		rc = cfg_read(c, json, type_field, type);
	if (rc != 0 || numa == NULL)
		return rc;
	if (!json_is_integer(numa) || json_integer_value(numa) < -1 || json_integer_value(numa) > 1023)
		return cfg_fail_key(c, "numa_node", "must be a whole number from -1 (any) to 1023");
	m->numa_node = (int)json_integer_value(numa);
	return 0;
}

static mf_time longest(const struct mf_config_host *h, int clock)
{
	return mf_time_max(h->read_timeout[clock], h->write_timeout[clock]);
}

static int read_host(struct cfg *c, const json_t *json, struct mf_config_host *h)
{
	static const char *const quarantine[] = {"quarantine", NULL}, *const again[] = {"retry_timeout",
											NULL};
	int rc = cfg_read(c, json, cfg_host_fields, h);

	if (rc != 0)
		return rc;
	if (h->x > c->config->sched.x)
		return cfg_fail_key(c, "x", "%u is more than the scheduler accepts, %u", h->x,
				    c->config->sched.x);
	if (longest(h, MF_CLOCK_WALL) == 0 && longest(h, MF_CLOCK_VIRTUAL) == 0)
		return cfg_refuse(c, json, quarantine, "nothing times out");
	if (h->retries > 0 && c->config->stack_ops != NULL)
		return cfg_fail_key(c, "retries", "is of EDM's stack");
	if (h->retries > 0 && c->once == MF_NO)
		return cfg_fail_key(c, "retries",
				    "what is sent again might be executed twice: once is false");
	if (h->retries > 0)
		c->config->proto.ext = true;
	else
		return cfg_refuse(c, json, again, "retries is 0");
	return 0;
}

static int default_memory(struct cfg *c, const json_t *json)
{
	return read_memory(c, json, &c->memory, c->memory_type);
}

/** "once" is of all hosts or of none. */
static const struct cfg_field once_field[] = {{.key = "once", .kind = CFG_BOOL}, {0}};

static int default_host(struct cfg *c, const json_t *json)
{
	bool *once = &c->config->proto.ext;
	int rc = cfg_known(c, json, cfg_host_fields, once_field);

	if (rc == 0)
		rc = cfg_read(c, json, once_field, once);
	if (rc == 0 && *once && c->config->stack_ops != NULL)
		return cfg_fail_key(c, "once", "is of EDM's stack");
	c->once = json_object_get(json, "once") == NULL ? MF_AUTO : *once ? MF_YES : MF_NO;
	return rc != 0 ? rc : read_host(c, json, &c->host);
}

static void set_role(struct mf_config_node *n, enum mf_role role)
{
	n->up = true;
	n->workload = n->ethernet = -1;
	n->role = role;
	n->compute = role == MF_ROLE_COMPUTE || role == MF_ROLE_BOTH;
	n->memory = role == MF_ROLE_MEMORY || role == MF_ROLE_BOTH;
	n->memory_enabled = role != MF_ROLE_ETHERNET;
}

/* What all nodes of an entry have in common. */
static int read_common(struct cfg *c, const json_t *json, struct mf_config_node *n)
{
	static const char *const memory[] = {"memory", NULL};
	static const char *const compute[] = {
		"x",       "mega",          "queue", "read_timeout", "write_timeout", "quarantine",
		"retries", "retry_timeout", NULL};
	const json_t *own_memory = json_object_get(json, "memory"), *own_host = json_object_get(json, "host");
	int rc = 0;

	n->host = c->host;
	if (n->memory) {
		n->memory_config = c->memory;
		strcpy(n->memory_type, c->memory_type);
	} else {
		rc = cfg_refuse(c, json, memory, "not a memory node");
	}
	if (rc == 0 && own_memory != NULL) {
		cfg_push(c, "memory");
		rc = read_memory(c, own_memory, &n->memory_config, n->memory_type);
		cfg_pop(c);
	}
	if (rc == 0 && own_host != NULL) {
		cfg_push(c, "host");
		rc = cfg_known(c, own_host, cfg_host_fields, NULL);
		if (rc == 0)
			rc = read_host(c, own_host, &n->host);
		if (rc == 0 && !n->compute)
			rc = cfg_refuse(c, own_host, compute, "not a compute node");
		cfg_pop(c);
	}
	for (int i = 0; i < MF_CLOCKS && rc == 0; i++) {
		if (longest(&n->host, i) == 0)
			n->host.quarantine[i] = 0;
		else if (n->host.quarantine[i] == 0)
			n->host.quarantine[i] = 10 * longest(&n->host, i);
	}
	return rc;
}

static int taken(struct cfg *c, const char *name)
{
	const struct mf_config *config = c->config;
	unsigned int n;

	if ((config->switches == 0 && strcmp(name, config->sw.name) == 0) ||
	    mf_config_switches(config, name, &n) >= 0 || strcmp(name, mf_config_sched_name(0)) == 0)
		return cfg_fail_key(c, "name", "'%s' is the name of another role", name);
	for (unsigned int i = 0; i < config->nodes; i++) {
		if (strcmp(c->list[i].node.name, name) == 0)
			return cfg_fail_key(c, "name", "there are two nodes '%s'", name);
	}
	for (unsigned int i = 0; i < config->groups; i++) {
		if (config->group[i].count > 1 && strcmp(config->group[i].name, name) == 0)
			return cfg_fail_key(c, "name", "'%s' names several nodes already", name);
	}
	return 0;
}

/* Adds the nodes of one entry to the list. */
static int expand(struct cfg *c, const struct node_in *in, const struct mf_config_node *common)
{
	struct mf_config *config = c->config;
	int rc = in->count > 1 ? taken(c, in->name) : 0;

	if (config->nodes + in->count > MF_PORTS_MAX)
		return cfg_fail(c, "too many ports: %u nodes, at most %u", config->nodes + in->count,
				MF_PORTS_MAX);
	for (uint32_t i = 0; i < in->count && rc == 0; i++) {
		struct cfg_node *n = &c->list[config->nodes];
		char name[MF_CONFIG_NAME_LEN + 8];

		snprintf(name, sizeof(name), in->count > 1 ? "%s%u" : "%s", in->name, i);
		if (strlen(name) >= MF_CONFIG_NAME_LEN)
			return cfg_fail_key(c, "name", "'%s' is too long, at most %u octets", name,
					    MF_CONFIG_NAME_LEN - 1);
		rc = taken(c, name);
		*n = (struct cfg_node){.node = *common,
				       .entry = config->groups,
				       .port = -1,
				       .link = -1,
				       .place = in->place[i]};
		n->node.group = (uint16_t)config->groups;
		n->node.to = in->to[i];
		strcpy(n->node.name, name);
		config->nodes += rc == 0;
	}
	if (rc == 0) {
		strcpy(config->group[config->groups].name, in->name);
		config->group[config->groups++].count = in->count;
	}
	return rc;
}

static int read_node(struct cfg *c, const json_t *json)
{
	static const char *const needed[] = {"name", "role", NULL};
	struct node_in in = {.count = 1};
	struct mf_config_node common = {0};
	int rc = cfg_object(c, json, node_fields, &in);

	if (rc != 0)
		return rc;
	for (int i = 0; needed[i] != NULL; i++) {
		if (json_object_get(json, needed[i]) == NULL)
			return cfg_fail_key(c, needed[i], "is missing");
	}
	set_role(&common, in.role);
	rc = read_common(c, json, &common);
	if (rc == 0)
		rc = cfg_ends(c, json, in.count, in.to, in.place);
	return rc != 0 ? rc : expand(c, &in, &common);
}

static unsigned int servers(const struct cfg *c)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < c->config->nodes; i++)
		n += c->list[i].node.role == MF_ROLE_SERVER;
	return n;
}

/** The node that a stack cannot do without is there without being told. */
static int add_server(struct cfg *c)
{
	const struct mf_stack_ops *stack = c->config->stack_ops;
	bool needed = stack != NULL && stack->server != NULL;
	struct mf_config_node node = {.host = c->host};
	struct node_in in = {.count = 1};
	int rc;

	if (servers(c) > needed)
		return cfg_fail(c, needed ? "there is more than one node of role \"server\""
					  : "the stack has no use for a node of role \"server\"");
	if (servers(c) == needed)
		return 0;
	strcpy(in.name, stack->server);
	set_role(&node, MF_ROLE_SERVER);
	rc = cfg_ends(c, NULL, in.count, in.to, in.place);
	if (rc == 0)
		rc = expand(c, &in, &node);
	if (rc == 0)
		c->list[c->config->nodes - 1].added = true;
	return rc;
}

static int read_nodes(struct cfg *c, const json_t *json)
{
	int rc = cfg_is(c, json, JSON_ARRAY);
	size_t i;
	json_t *entry;

	if (rc != 0)
		return rc;
	if (json_array_size(json) > MF_PORTS_MAX)
		return cfg_fail(c, "too many ports: %zu nodes, at most %u", json_array_size(json),
				MF_PORTS_MAX);
	c->config->group = calloc(json_array_size(json) + 2, sizeof(*c->config->group));
	if (c->config->group == NULL)
		return cfg_fail_memory(c);
	json_array_foreach(json, i, entry) {
		cfg_push_index(c, i);
		rc = read_node(c, entry);
		cfg_pop(c);
		if (rc != 0)
			return rc;
	}
	return c->config->nodes >= 2 ? add_server(c) : cfg_fail(c, "a fabric has at least 2 nodes");
}

int cfg_nodes(struct cfg *c, const json_t *root)
{
	static const char *const memory[] = {"memory", NULL};
	int rc = cfg_section(c, root, "memory", default_memory);
	bool used = false;

	c->host.x = c->config->sched.x;
	if (rc == 0)
		rc = cfg_section(c, root, "host", default_host);
	if (rc == 0 && json_object_get(root, "nodes") == NULL)
		return cfg_fail_key(c, "nodes", "is missing");
	if (rc == 0)
		rc = cfg_section(c, root, "nodes", read_nodes);
	if (rc != 0)
		return rc;
	for (unsigned int i = 0; i < c->config->nodes; i++)
		used |= c->list[i].node.memory;
	return used ? 0 : cfg_refuse(c, root, memory, "there is no memory node");
}
