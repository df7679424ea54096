/* SPDX-License-Identifier: BSD-3-Clause */
/* "nodes", and the defaults for all of them: "memory", "host". */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mf_unit.h"
#include "config/cfg.h"

#define DAY MF_SEC(24 * 3600)

const char *const cfg_role_names[] = {
	[MF_ROLE_COMPUTE] = "compute",   [MF_ROLE_MEMORY] = "memory", [MF_ROLE_BOTH] = "both",
	[MF_ROLE_ETHERNET] = "ethernet", [MF_ROLE_SERVER] = "server", [MF_ROLES] = NULL};

#define MEMORY(m) CFG_AT(struct mf_memory_config, m)
const struct cfg_field cfg_memory_fields[] = {
	{.key = "type", .kind = CFG_NESTED},
	{.key = "size", .kind = CFG_SIZE64, MEMORY(size), CFG_RANGE(4096, CFG_MEMORY_MAX), .multiple = 8},
	{.key = "dram", .kind = CFG_TIME, MEMORY(dram), CFG_RANGE(0, MF_SEC(1))},
	{.key = "bandwidth", .kind = CFG_NESTED},
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
	struct cfg_ends ends;
	const struct mf_config_tier *server_of; /* NULL: it stands in the file */
};

static const struct cfg_field node_fields[] = {
	{.key = "name", .kind = CFG_MEMBER, CFG_AT(struct node_in, name)},
	{.key = "count", .kind = CFG_U32, CFG_AT(struct node_in, count), CFG_RANGE(1, MF_NODES_MAX)},
	{.key = "role", .kind = CFG_ENUM, CFG_AT(struct node_in, role), .names = cfg_role_names},
	{.key = "memory", .kind = CFG_NESTED},
	{.key = "host", .kind = CFG_NESTED},
	{.key = "ends", .kind = CFG_NESTED},
	{0},
};

#define BANDWIDTH_MIN UINT64_C(1000000) /* bits a second */
#define BANDWIDTH_MAX UINT64_C(1000000000000000)

static int read_bandwidth(struct cfg *c, const json_t *json, uint64_t *bits)
{
	static const char *const like = "\"none\" or bits a second such as \"200G\" or \"12.8G\"";
	const char *s = json_string_value(json);
	int rc;

	if (s == NULL)
		return cfg_fail(c, "must be a string: %s", like);
	if (strcmp(s, "none") == 0) {
		*bits = 0;
		return 0;
	}
	rc = mf_unit_bits(s, bits);
	if (rc == -EINVAL)
		return cfg_fail(c, "'%.64s' is not %s", s, like);
	if (rc != 0 || *bits < BANDWIDTH_MIN || *bits > BANDWIDTH_MAX)
		return cfg_fail(c, "'%.64s' is out of range: 1M to 1000T", s);
	return 0;
}

static int read_kind(struct cfg *c, const json_t *json, struct mf_memory_config *m, const char *type,
		     struct mf_vm_timed_config *vm)
{
	static const char *const stored[] = {"numa_node", "huge_pages", NULL};

	if (strcmp(type, "virtual") == 0)
		return cfg_vm_read(c, json, vm, &m->size);
	if (strcmp(type, "sink") == 0 && cfg_refuse(c, json, stored, "a sink stores nothing") != 0)
		return -EINVAL;
	return cfg_vm_refuse(c, json);
}

static int read_memory(struct cfg *c, const json_t *json, struct mf_memory_config *m, char *type,
		       struct mf_vm_timed_config *vm)
{
	static const char *const types[] = {"flat", "sink", "virtual", NULL};
	const struct cfg_field type_field[] = {{.key = "type", .kind = CFG_CHOICE, .names = types}, {0}};
	const json_t *numa = json_object_get(json, "numa_node");
	const json_t *bandwidth = json_object_get(json, "bandwidth");
	struct cfg_field more[CFG_VM_KEYS];
	int rc;

	cfg_vm_known(more);
	rc = cfg_known(c, json, cfg_memory_fields, more);
	if (rc == 0)
		rc = cfg_read(c, json, cfg_memory_fields, m);
	if (rc == 0)
		rc = cfg_read(c, json, type_field, type);
	if (rc == 0 && bandwidth != NULL) {
		cfg_push(c, "bandwidth");
		rc = read_bandwidth(c, bandwidth, &m->bandwidth);
		cfg_pop(c);
	}
	if (rc == 0)
		rc = read_kind(c, json, m, type, vm);
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

static bool any_edm(const struct mf_config *config)
{
	for (unsigned int t = 0; t < config->tiers; t++)
		if (config->tier[t].stack_ops == NULL)
			return true;
	return false;
}

/* Messages of EDM carry what lets a request be executed once: in all tiers or in none. */
static void extend(struct mf_config *config)
{
	for (unsigned int t = 0; t < config->tiers; t++)
		config->tier[t].proto.ext |= config->tier[t].stack_ops == NULL;
}

static int read_host(struct cfg *c, const json_t *json, struct mf_config_host *h)
{
	static const char *const quarantine[] = {"quarantine", NULL}, *const again[] = {"retry_timeout",
											NULL};
	int rc = cfg_read(c, json, cfg_host_fields, h);

	if (rc != 0)
		return rc;
	if (h->x > c->tier->sched.x && !mf_config_has_tiers(c->config))
		return cfg_fail_key(c, "x", "%u is more than the scheduler accepts, %u", h->x,
				    c->tier->sched.x);
	if (longest(h, MF_CLOCK_WALL) == 0 && longest(h, MF_CLOCK_VIRTUAL) == 0)
		return cfg_refuse(c, json, quarantine, "nothing times out");
	if (h->retries > 0 && !any_edm(c->config))
		return cfg_fail_key(c, "retries", "is of EDM's stack");
	if (h->retries > 0 && c->once == MF_NO)
		return cfg_fail_key(c, "retries",
				    "what is sent again might be executed twice: once is false");
	if (h->retries > 0)
		extend(c->config);
	else
		return cfg_refuse(c, json, again, "retries is 0");
	return 0;
}

static int default_memory(struct cfg *c, const json_t *json)
{
	return read_memory(c, json, &c->memory, c->memory_type, &c->vm);
}

/** "once" is of all hosts or of none. */
static const struct cfg_field once_field[] = {{.key = "once", .kind = CFG_BOOL}, {0}};

static int default_host(struct cfg *c, const json_t *json)
{
	bool once = false;
	int rc = cfg_known(c, json, cfg_host_fields, once_field);

	if (rc == 0)
		rc = cfg_read(c, json, once_field, &once);
	if (rc == 0 && once && !any_edm(c->config))
		return cfg_fail_key(c, "once", "is of EDM's stack");
	if (once)
		extend(c->config);
	c->once = json_object_get(json, "once") == NULL ? MF_AUTO : once ? MF_YES : MF_NO;
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
		n->vm = c->vm;
	} else {
		rc = cfg_refuse(c, json, memory, "not a memory node");
	}
	if (rc == 0 && own_memory != NULL) {
		cfg_push(c, "memory");
		rc = read_memory(c, own_memory, &n->memory_config, n->memory_type, &n->vm);
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
	return rc;
}

static int taken(struct cfg *c, const char *name)
{
	const struct mf_config *config = c->config;
	struct mf_config_switch_set set;

	if (cfg_is_rack(c, name))
		return cfg_fail_key(c, "name", "'%s' is the name of a rack", name);
	if ((config->switches == 0 && !c->tier->direct && strcmp(name, c->tier->sw.name) == 0) ||
	    mf_config_switches(config, name, &set) > 0 || strcmp(name, CFG_SCHEDULER) == 0)
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

/* How many there may be is the stack's limit. */
static int check_count(struct cfg *c, size_t nodes)
{
	unsigned int most = mf_config_nodes_max(c->config);

	if (nodes <= most)
		return 0;
	if (mf_config_has_tiers(c->config))
		return cfg_fail(c, "too many nodes: %zu, at most %u", nodes, most);
	return cfg_fail(c, "too many nodes: %zu, with stack \"%s\" at most %u", nodes,
			c->config->tier->stack.name, most);
}

/* Adds the nodes of one entry to the list. */
static int expand(struct cfg *c, const struct node_in *in, const struct mf_config_node *common)
{
	struct mf_config *config = c->config;
	uint16_t rack = in->server_of != NULL ? in->server_of->rack : 0;
	int rc = in->server_of != NULL ? 0 : cfg_rack_of(c, in->name, &rack);

	if (rc == 0 && in->count > 1)
		rc = taken(c, in->name);
	if (rc == 0)
		rc = check_count(c, config->nodes + in->count);
	for (uint32_t i = 0; i < in->count && rc == 0; i++) {
		struct cfg_node *n = &c->list[config->nodes];
		char name[MF_CONFIG_NAME_LEN + 8];

		snprintf(name, sizeof(name), in->count > 1 ? "%s%u" : "%s", in->name, i);
		if (strlen(name) >= MF_CONFIG_NAME_LEN)
			return cfg_fail_key(c, "name", "'%s' is too long, at most %u octets", name,
					    MF_CONFIG_NAME_LEN - 1);
		rc = taken(c, name);
		*n = (struct cfg_node){.node = *common, .entry = config->groups, .port = -1};
		n->node.group = (uint16_t)config->groups;
		n->node.rack = rack;
		strcpy(n->node.name, name);
		if (rc == 0)
			rc = cfg_ends_take(c, &in->ends, in->count, i, n);
		config->nodes += rc == 0;
	}
	if (rc == 0) {
		strcpy(config->group[config->groups].name, in->name);
		config->group[config->groups++].count = in->count;
	}
	return rc;
}

/*
 * What depends on the tiers in which a node is: the default of its memory's latency, and X, which each
 * scheduler has to accept.
 */
static int fit_tiers(struct cfg *c, const struct cfg_ends *e, struct mf_config_node *n)
{
	const struct mf_config_tier *tier = c->config->tier;
	bool given = n->host.x != 0;

	if (n->memory && n->memory_config.dram == MF_NEVER)
		n->memory_config.dram = tier[e->tier[0]].dram;
	for (unsigned int k = 0; k < e->n; k++) {
		const struct mf_config_tier *t = &tier[e->tier[k]];

		if (t->stack_ops != NULL)
			continue;
		if (given && n->host.x > t->sched.x)
			return cfg_fail(c, "host.x %u is more than the scheduler of tier '%s' accepts, %u",
					n->host.x, t->name, t->sched.x);
		if (!given && (n->host.x == 0 || t->sched.x < n->host.x))
			n->host.x = t->sched.x;
	}
	if (n->host.x == 0) /* no EDM: it has no effect */
		n->host.x = tier[e->tier[0]].sched.x;
	if (n->role == MF_ROLE_SERVER && e->n > 1)
		return cfg_fail_key(c, "ends", "a node of role \"server\" has one end");
	return 0;
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
		rc = cfg_ends(c, json, in.count, 0, &in.ends);
	if (rc == 0)
		rc = fit_tiers(c, &in.ends, &common);
	if (rc == 0)
		rc = expand(c, &in, &common);
	cfg_ends_free(&in.ends);
	return rc;
}

static unsigned int servers(const struct cfg *c, unsigned int tier)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < c->config->nodes; i++)
		n += c->list[i].node.role == MF_ROLE_SERVER && c->list[i].node.tier == tier;
	return n;
}

static int check_servers(struct cfg *c, unsigned int tier, bool needed)
{
	const char *name = c->config->tier[tier].name;
	char in[MF_CONFIG_NAME_LEN + 16] = "";

	if (servers(c, tier) <= needed)
		return 0;
	if (name[0] != '\0')
		snprintf(in, sizeof(in), " of tier '%s'", name);
	return needed ? cfg_fail(c, "there is more than one node of role \"server\"%s", in)
		      : cfg_fail(c, "the stack%s has no use for a node of role \"server\"", in);
}

/* The node that a stack cannot do without is there without being told. */
static int add_server(struct cfg *c, unsigned int tier)
{
	const struct mf_config_tier *t = &c->config->tier[tier];
	bool needed = t->stack_ops != NULL && t->stack_ops->server != NULL;
	struct mf_config_node node = {.host = c->host};
	char name[2 * MF_CONFIG_NAME_LEN];
	struct node_in in = {.count = 1, .server_of = t};
	int rc = check_servers(c, tier, needed);

	if (rc != 0 || servers(c, tier) == needed)
		return rc;
	snprintf(name, sizeof(name), "%s%s%s", t->name, t->name[0] != '\0' ? "-" : "", t->stack_ops->server);
	if (strlen(name) >= sizeof(in.name))
		return cfg_fail(c, "the name of the server, '%s', is too long: its node has to stand here",
				name);
	strcpy(in.name, name);
	set_role(&node, MF_ROLE_SERVER);
	rc = cfg_ends(c, NULL, in.count, tier, &in.ends);
	if (rc == 0)
		rc = fit_tiers(c, &in.ends, &node);
	if (rc == 0)
		rc = expand(c, &in, &node);
	if (rc == 0)
		c->list[c->config->nodes - 1].added = true;
	cfg_ends_free(&in.ends);
	return rc;
}

static int read_nodes(struct cfg *c, const json_t *json)
{
	int rc = cfg_is(c, json, JSON_ARRAY);
	size_t i;
	json_t *entry;

	if (rc != 0)
		return rc;
	rc = check_count(c, json_array_size(json));
	if (rc != 0)
		return rc;
	c->config->group = calloc(json_array_size(json) + c->config->tiers + 1, sizeof(*c->config->group));
	if (c->config->group == NULL)
		return cfg_fail_memory(c);
	c->nodes = json;
	json_array_foreach(json, i, entry) {
		cfg_push_index(c, i);
		rc = read_node(c, entry);
		cfg_pop(c);
		if (rc != 0)
			return rc;
	}
	if (c->config->nodes < 2)
		return cfg_fail(c, "a fabric has at least 2 nodes");
	for (unsigned int t = 0; t < c->config->tiers && rc == 0; t++)
		rc = add_server(c, t);
	return rc;
}

int cfg_nodes(struct cfg *c, const json_t *root)
{
	static const char *const memory[] = {"memory", NULL};
	int rc = cfg_section(c, root, "memory", default_memory);
	bool used = false;

	c->host.x = 0; /* not said */
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
