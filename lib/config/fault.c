/* SPDX-License-Identifier: BSD-3-Clause */
/* "faults": what is broken on purpose, and where. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/cfg_write.h"
#include "config/mf_config_query.h"
#include "systems/mf_systems.h"

#define FAULTS_MAX MF_FAULT_RULES
#define LCORES_MAX 1024 /**< that can be named; how many there are EAL knows */

const char *mf_config_what_name(const struct mf_config *config, const struct mf_config_fault *fault)
{
	switch (fault->what) {
	case MF_CONFIG_RING:
		return "ring";
	case MF_CONFIG_MBUFS:
		return "mbufs";
	case MF_CONFIG_NODE_POOL:
		return mf_stack_pools(config->tier->stack_ops)[fault->pool].key;
	default:
		return mf_bridge_pools(config->tier->bridge_ops)[fault->pool].key;
	}
}

const char *const cfg_direction_names[] = {"both", "up", "down", NULL};

#define FAULT(m) CFG_AT(struct mf_config_fault, m)
static const struct cfg_field fault_fields[] = {
	{.key = "class", .kind = CFG_ENUM, FAULT(class), .names = mf_fault_names},
	{.key = "link", .kind = CFG_NESTED},
	{.key = "between", .kind = CFG_NESTED},
	{.key = "number", .kind = CFG_U32, FAULT(number), CFG_RANGE(0, MF_NODES_MAX - 1)},
	{.key = "node", .kind = CFG_NESTED},
	{.key = "role", .kind = CFG_NESTED},
	{.key = "switch", .kind = CFG_U32, FAULT(sw), CFG_RANGE(0, 1)},
	{.key = "lcore", .kind = CFG_U32, FAULT(lcore), CFG_RANGE(0, LCORES_MAX - 1)},
	{.key = "what", .kind = CFG_NESTED},
	{.key = "to", .kind = CFG_NESTED},
	{.key = "direction", .kind = CFG_ENUM, FAULT(direction), .names = cfg_direction_names},
	{.key = "rate", .kind = CFG_REAL, FAULT(rate), .rlo = 1e-18, .rhi = 1},
	{.key = "from", .kind = CFG_TIME, FAULT(from), CFG_RANGE(0, MF_NEVER - 1)},
	{.key = "until", .kind = CFG_TIME, FAULT(until), CFG_RANGE(1, MF_NEVER - 1)},
	{.key = "time", .kind = CFG_TIME, FAULT(time), CFG_RANGE(1, MF_SEC(1))},
	{.key = "every", .kind = CFG_TIME, FAULT(every), CFG_RANGE(MF_NS(100), MF_SEC(1000))},
	{.key = "for", .kind = CFG_TIME, FAULT(length), CFG_RANGE(MF_NS(1), MF_SEC(1000))},
	{.key = "ppm", .kind = CFG_REAL, FAULT(ppm), .rlo = -1e5, .rhi = 1e5},
	{.key = "offset", .kind = CFG_TIME, FAULT(offset), CFG_RANGE(0, MF_SEC(1000))},
	{.key = "count", .kind = CFG_U64, FAULT(count), CFG_RANGE(1, INT64_MAX)},
	{.key = "idle", .kind = CFG_BOOL, FAULT(idle)},
	{0},
};

enum key {
	LINK = 1 << 0,
	NODE = 1 << 1,
	ROLE = 1 << 2,
	SWITCH = 1 << 3,
	DIRECTION = 1 << 4,
	RATE = 1 << 5,
	FROM = 1 << 6,
	UNTIL = 1 << 7,
	TIME = 1 << 8,
	EVERY = 1 << 9,
	FOR = 1 << 10,
	COUNT = 1 << 11,
	WHAT = 1 << 12,
	TO = 1 << 13,
	PPM = 1 << 14,
	OFFSET = 1 << 15,
	IDLE = 1 << 16,
	LCORE = 1 << 17,
	BETWEEN = 1 << 18,
	NUMBER = 1 << 19,
};
#define KEYS 20

static const char *const key_names[KEYS] = {
	"link", "node",  "role", "switch", "direction", "rate",   "from", "until", "time",    "every",
	"for",  "count", "what", "to",     "ppm",       "offset", "idle", "lcore", "between", "number"};

#define WHICH_LINK (LINK | SWITCH | BETWEEN | NUMBER)
#define OF_A_LINK (WHICH_LINK | DIRECTION | FROM | UNTIL | COUNT)
#define OF_A_SOURCE (FROM | UNTIL | COUNT)
#define AGAIN (UNTIL | EVERY | FOR)

/** The keys of a class. */
static const struct {
	uint32_t needs, takes;
} classes[MF_FAULT_CLASSES] = {
	[MF_FAULT_BIT] = {RATE, OF_A_LINK | IDLE},
	[MF_FAULT_SYNC] = {RATE, OF_A_LINK | IDLE},
	[MF_FAULT_TYPE] = {RATE, OF_A_LINK | IDLE},
	[MF_FAULT_CUT] = {RATE, OF_A_LINK},
	[MF_FAULT_LOSE] = {RATE, OF_A_LINK},
	[MF_FAULT_DUPLICATE] = {RATE, OF_A_LINK},
	[MF_FAULT_DELAY] = {RATE | TIME, OF_A_LINK},
	[MF_FAULT_REORDER] = {RATE | TIME, OF_A_LINK},
	[MF_FAULT_FLOOD] = {NODE | TO | RATE, OF_A_SOURCE},
	[MF_FAULT_SPOOF] = {NODE | RATE, OF_A_SOURCE},
	[MF_FAULT_GARBAGE] = {NODE | RATE, OF_A_SOURCE},
	[MF_FAULT_FORGE] = {NODE | RATE, OF_A_SOURCE},
	[MF_FAULT_LINK_DOWN] = {LINK | FROM, WHICH_LINK | AGAIN},
	[MF_FAULT_NODE_CRASH] = {NODE | FROM, AGAIN},
	[MF_FAULT_SWITCH_CRASH] = {FROM, SWITCH | AGAIN},
	[MF_FAULT_STALL] = {FROM | UNTIL, ROLE | SWITCH | LCORE},
	[MF_FAULT_EXHAUST] = {WHAT | FROM, NODE | SWITCH | AGAIN},
	[MF_FAULT_SKEW] = {ROLE, PPM | OFFSET},
};

static uint32_t keys_of(const json_t *json)
{
	uint32_t keys = 0;

	for (unsigned int i = 0; i < KEYS; i++)
		if (json_object_get(json, key_names[i]) != NULL)
			keys |= 1U << i;
	return keys;
}

static const char *first_of(uint32_t keys)
{
	return key_names[__builtin_ctz(keys)];
}

/** Whether all that the class needs is there, and nothing that it does not take. */
static int check_keys(struct cfg *c, const json_t *json, const struct mf_config_fault *f)
{
	uint32_t keys = keys_of(json), needs = classes[f->class].needs;
	uint32_t missing = needs & ~keys, more = keys & ~(needs | classes[f->class].takes);

	if (keys & BETWEEN) /* in the place of 'link' */
		missing &= ~(uint32_t)LINK;
	if (missing != 0)
		return cfg_fail_key(c, first_of(missing), "is missing");
	if (more != 0)
		return cfg_fail_key(c, first_of(more), "has no effect: \"%s\" does not take it",
				    mf_fault_names[f->class]);
	return 0;
}

static int check_times(struct cfg *c, const struct mf_config_fault *f)
{
	if (f->until <= f->from)
		return cfg_fail_key(c, "until", "is not behind 'from'");
	if (f->every != 0 && f->length == 0)
		return cfg_fail_key(c, "for", "is missing");
	if (f->every == 0 && f->length != 0)
		return cfg_fail_key(c, "every", "is missing");
	if (f->length > f->every / 2)
		return cfg_fail_key(c, "for", "is more than half of 'every'");
	return 0;
}

/** Whether the systems of the file have what a class breaks. Messages are forged and roles stalled of EDM. */
static bool can_break(const struct mf_config *config, uint32_t class)
{
	switch (class) {
	case MF_FAULT_NODE_CRASH:
		return mf_stack_node(config->tier->stack_ops)->crash != NULL;
	case MF_FAULT_SWITCH_CRASH:
		return mf_bridge_switch(config->tier->bridge_ops)->crash != NULL;
	case MF_FAULT_EXHAUST:
		return mf_stack_pools(config->tier->stack_ops) != NULL ||
		       mf_bridge_pools(config->tier->bridge_ops) != NULL;
	default:
		return config->tier->stack_ops == NULL;
	}
}

static int check_stack(struct cfg *c, const struct mf_config_fault *f)
{
	bool of_links = f->class < MF_FAULT_FLOOD || f->class == MF_FAULT_LINK_DOWN;

	/* Of several tiers nothing says yet what others would mean. */
	if (!of_links && c->config->tiers > 1)
		return cfg_fail_key(c, "class", "\"%s\" is for a file with one tier so far, there are %u",
				    mf_fault_names[f->class], c->config->tiers);
	if (of_links || can_break(c->config, f->class))
		return 0;
	return cfg_fail_key(c, "class", "\"%s\" needs EDM's stack", mf_fault_names[f->class]);
}

/** Whether a node's load is a trace, which has times of its own. */
static bool plays_trace(const struct mf_config *config, uint16_t node)
{
	int w = config->node[node].workload;

	return w >= 0 && config->workload[w].trace.message != NULL;
}

/** "skew": what has no clock of its own cannot be skewed: a scheduler, or a node that plays a trace. */
static int check_skew(struct cfg *c, const struct mf_config_fault *f)
{
	if (f->class != MF_FAULT_SKEW)
		return 0;
	if (f->ppm == 0 && f->offset == 0)
		return cfg_fail_key(c, "ppm", "is missing, and so is 'offset'");
	if (f->role == MF_CONFIG_SCHED)
		return cfg_fail_key(c, "role", "the scheduler has the clock of the switch");
	for (unsigned int i = 0; i < f->link.n; i++)
		if (plays_trace(c->config, f->link.node[i]))
			return cfg_fail_key(c, "role", "node '%s' plays a trace, by the times of that",
					    c->config->node[f->link.node[i]].name);
	return 0;
}

/** "switch", "scheduler", or nodes. */
static int read_role(struct cfg *c, const json_t *json, struct mf_config_fault *f)
{
	const char *name = json_string_value(json_object_get(json, "role"));

	if (name != NULL && strcmp(name, "switch") == 0)
		f->role = MF_CONFIG_SWITCH;
	else if (name != NULL && strcmp(name, "scheduler") == 0)
		f->role = MF_CONFIG_SCHED;
	else
		return cfg_set(c, json, "role", NULL, "", &f->link);
	return 0;
}

/** The nodes of whose slow path a name is that of. NULL: of none, or there is no room. */
static json_t *of_slow_path(const struct cfg *c, const json_t *name)
{
	const size_t more = strlen(MF_CONFIG_SLOW_PATH);
	size_t len = json_string_length(name);

	if (len <= more || strcmp(json_string_value(name) + len - more, MF_CONFIG_SLOW_PATH) != 0 ||
	    mf_config_node(c->config, json_string_value(name)) >= 0)
		return NULL;
	return json_stringn(json_string_value(name), len - more);
}

/** As nodes are named, but that each name ends in "-slow". NULL: not so. */
static json_t *of_slow_paths(const struct cfg *c, const json_t *role)
{
	json_t *nodes = json_is_array(role) ? json_array() : NULL, *name;
	size_t i;

	if (!json_is_array(role))
		return of_slow_path(c, role);
	json_array_foreach(role, i, name)
		if (nodes != NULL && json_array_append_new(nodes, of_slow_path(c, name)) != 0) {
			json_decref(nodes);
			nodes = NULL;
		}
	return nodes;
}

static bool has_slow_path(const struct mf_config_node *n)
{
	return mf_config_is_virtual(n);
}

/** "stall": the slow paths of memory. @param nodes  whose */
static int read_slow_paths(struct cfg *c, const json_t *nodes, struct mf_config_fault *f)
{
	int rc;

	f->role = MF_CONFIG_SLOW_PATHS;
	cfg_push(c, "role");
	rc = cfg_set_at(c, nodes, has_slow_path, "virtual memory", &f->link);
	cfg_pop(c);
	return rc;
}

/** "stall": roles, or all of an lcore. */
static int read_stalled(struct cfg *c, const json_t *json, struct mf_config_fault *f)
{
	static const char *const of_roles[] = {"role", "switch", NULL}, *const of_switches[] = {"switch",
												NULL};
	json_t *slow;
	int rc;

	if (json_object_get(json, "lcore") != NULL) {
		f->role = MF_CONFIG_LCORE;
		return cfg_refuse(c, json, of_roles, "it is all roles of the lcore that are stalled");
	}
	if (json_object_get(json, "role") == NULL)
		return cfg_fail_key(c, "role", "is missing, and so is 'lcore'");
	slow = of_slow_paths(c, json_object_get(json, "role"));
	rc = slow != NULL ? read_slow_paths(c, slow, f) : read_role(c, json, f);
	json_decref(slow);
	if (rc == 0 && (f->role == MF_CONFIG_NODES || f->role == MF_CONFIG_SLOW_PATHS))
		rc = cfg_refuse(c, json, of_switches, "it is nodes that are stalled");
	return rc;
}

/** Adds the keys of a table of pools to a list. @return how many it has then */
static unsigned int add_names(const char **names, unsigned int n, const struct mf_pool_desc *pools)
{
	for (; pools != NULL && pools->key != NULL; pools++)
		names[n++] = pools->key;
	return n;
}

/** `what` of "exhaust": a pool of the node's kind or of the switch's, or something of a link. */
static int read_what(struct cfg *c, const json_t *json, struct mf_config_fault *f)
{
	const struct mf_pool_desc *of_switch = mf_bridge_pools(c->config->tier->bridge_ops);
	const char *names[2 * MF_POOLS_MAX + 3];
	unsigned int nodes = add_names(names, 0, mf_stack_pools(c->config->tier->stack_ops));
	unsigned int pools = add_names(names, nodes, of_switch);
	uint32_t place = 0;
	int rc;

	names[pools] = "ring";
	names[pools + 1] = "mbufs";
	names[pools + 2] = NULL;
	cfg_push(c, "what");
	rc = cfg_enum(c, json_object_get(json, "what"), names, &place);
	cfg_pop(c);
	if (place >= pools) {
		f->what = place == pools ? MF_CONFIG_RING : MF_CONFIG_MBUFS;
	} else if (place < nodes) {
		f->what = MF_CONFIG_NODE_POOL;
		f->pool = place;
	} else {
		f->pool = place - nodes;
		f->what = of_switch[f->pool].by_end ? MF_CONFIG_PORT_POOL : MF_CONFIG_SWITCH_POOL;
	}
	return rc;
}

/** "exhaust": what, and where. */
static int read_exhausted(struct cfg *c, const json_t *json, struct mf_config_fault *f)
{
	static const char *const node[] = {"node", NULL}, *const of_switches[] = {"switch", NULL};
	int rc = read_what(c, json, f);

	if (rc != 0)
		return rc;
	if (f->what == MF_CONFIG_RING && f->until == MF_NEVER)
		return cfg_fail_key(c, "until", "is missing: who waits for a ring waits for its end");
	if (f->what == MF_CONFIG_NODE_POOL)
		rc = cfg_refuse(c, json, of_switches, "it is the node's");
	if (rc != 0 || f->what != MF_CONFIG_SWITCH_POOL)
		return rc != 0 ? rc : cfg_set(c, json, "node", NULL, "", &f->link);
	f->role = MF_CONFIG_SWITCH;
	if (mf_config_switch_count(c->config) == 0)
		return cfg_fail_key(c, "what", "there is no switch");
	if (c->config->switches > 0)
		return cfg_fail_key(c, "what", "there are several switches, and none can be named");
	return cfg_refuse(c, json, node, "it is a pool of the switch");
}

/** Whether one end of "between" is nodes: their links to the switches at the other end are meant. */
static bool are_nodes(const struct mf_config *config, const json_t *json)
{
	const char *name = json_string_value(json);

	if (name == NULL)
		return json_is_array(json);
	for (unsigned int i = 0; i < config->groups; i++)
		if (strcmp(config->group[i].name, name) == 0)
			return true;
	return strcmp(name, "*") == 0 || mf_config_node(config, name) >= 0;
}

/** Each of the nodes has a link there. */
static int check_at(struct cfg *c, const struct mf_config_fault *f)
{
	const struct mf_config *config = c->config;

	for (unsigned int i = 0; i < f->link.n; i++) {
		unsigned int node = f->link.node[i], k = 0;

		while (k < config->node[node].ends && !mf_config_fault_at(config, f, node, k))
			k++;
		if (k == config->node[node].ends)
			return cfg_fail_key(c, "between", "there is no link from node '%s' to '%s'",
					    config->node[node].name, f->at);
	}
	return 0;
}

/** Links of nodes to some of the switches. @param side  which end of "between" the nodes are */
static int read_at(struct cfg *c, const json_t *json, size_t side, struct mf_config_fault *f)
{
	static const char *const others[] = {"link", "number", NULL};
	const json_t *between = json_object_get(json, "between"), *at = json_array_get(between, 1 - side);
	struct mf_config_switch_set set;
	int rc = cfg_refuse(c, json, others, "'between' names links of nodes");

	cfg_push(c, "between");
	cfg_push_index(c, side);
	if (rc == 0)
		rc = cfg_set_at(c, json_array_get(between, side), NULL, "", &f->link);
	cfg_pop(c);
	cfg_push_index(c, 1 - side);
	if (rc == 0)
		rc = cfg_is(c, at, JSON_STRING);
	if (rc == 0 && mf_config_switches(c->config, json_string_value(at), &set) == 0)
		rc = cfg_fail(c, "there is no switch '%.64s'", json_string_value(at));
	cfg_pop(c);
	cfg_pop(c);
	if (rc != 0)
		return rc;
	strcpy(f->at, json_string_value(at));
	/* A node's link leads up, whichever end is named first. */
	if (side == 1 && f->direction != MF_CONFIG_BOTH)
		f->direction = f->direction == MF_CONFIG_UP ? MF_CONFIG_DOWN : MF_CONFIG_UP;
	return check_at(c, f);
}

/** Links between switches. */
static int read_trunks(struct cfg *c, const json_t *json, struct mf_config_fault *f)
{
	static const char *const others[] = {"link", NULL};
	const struct mf_config *config = c->config;
	int rc = cfg_refuse(c, json, others, "it is links between switches");

	f->role = MF_CONFIG_TRUNKS;
	cfg_push(c, "between");
	if (rc == 0)
		rc = cfg_between(c, json_object_get(json, "between"), &f->between);
	cfg_pop(c);
	for (unsigned int i = 0; i < config->trunks && rc == 0; i++)
		if (mf_config_fault_has(config, f, i, NULL))
			return 0;
	if (rc == 0)
		rc = cfg_fail_key(c, f->number != MF_CONFIG_ALL_LINKS ? "number" : "between",
				  "there is no such link");
	return rc;
}

/** The link between two nodes: f->between has them. */
static int read_direct(struct cfg *c, const json_t *json, struct mf_config_fault *f)
{
	static const char *const others[] = {"link", "number", NULL};

	f->role = MF_CONFIG_TRUNKS;
	return cfg_refuse(c, json, others, "'between' names the only link of two nodes");
}

static int read_where(struct cfg *c, const json_t *json, struct mf_config_fault *f)
{
	static const char *const number[] = {"number", NULL};
	const json_t *between = json_object_get(json, "between");
	uint32_t keys = classes[f->class].needs | classes[f->class].takes;

	if (cfg_direct_between(c->config, between, &f->between))
		return read_direct(c, json, f);
	for (size_t side = 0; side < 2 && json_array_size(between) == 2 && c->config->switches > 0; side++)
		if (are_nodes(c->config, json_array_get(between, side)))
			return read_at(c, json, side, f);
	if (between != NULL)
		return read_trunks(c, json, f);
	if (cfg_refuse(c, json, number, "there is no 'between'") != 0)
		return -EINVAL;
	if (f->class == MF_FAULT_STALL)
		return read_stalled(c, json, f);
	if (f->class == MF_FAULT_EXHAUST)
		return read_exhausted(c, json, f);
	if (keys & ROLE)
		return read_role(c, json, f);
	if (keys & (LINK | NODE))
		return cfg_set(c, json, keys & NODE ? "node" : "link", NULL, "", &f->link);
	f->role = MF_CONFIG_SWITCH;
	return 0;
}

/** Whom it floods; it must have somebody. */
static int read_flood(struct cfg *c, const json_t *json, struct mf_config_fault *f)
{
	int rc = cfg_set(c, json, "to", cfg_is_memory, "memory", &f->to);

	for (unsigned int i = 0; i < f->link.n && rc == 0; i++)
		if (mf_config_has(&f->to, f->link.node[i]))
			rc = cfg_fail_key(c, "to", "node '%s' would flood itself",
					  c->config->node[f->link.node[i]].name);
	return rc;
}

static int read_fault(struct cfg *c, const json_t *json, struct mf_config_fault *f)
{
	int rc = cfg_object(c, json, fault_fields, f);

	if (rc == 0 && json_object_get(json, "class") == NULL)
		rc = cfg_fail_key(c, "class", "is missing");
	if (rc == 0)
		rc = check_keys(c, json, f);
	if (rc == 0)
		rc = check_stack(c, f);
	if (rc == 0)
		rc = read_where(c, json, f);
	if (rc == 0 && f->class == MF_FAULT_FLOOD)
		rc = read_flood(c, json, f);
	if (rc == 0 && f->class == MF_FAULT_FORGE && c->config->regions == 0)
		rc = cfg_fail_key(c, "class", "\"forge\" needs regions");
	if (rc == 0 && c->config->switches > 0 && json_object_get(json, "switch") != NULL)
		rc = cfg_fail_key(c, "switch", "has no effect beside 'switches': a node has one link");
	if (rc == 0 && f->sw != 0 && !c->config->backup.on)
		rc = cfg_fail_key(c, "switch", "there is no backup");
	if (rc == 0)
		rc = check_skew(c, f);
	return rc == 0 ? check_times(c, f) : rc;
}

int cfg_faults(struct cfg *c, const json_t *json)
{
	int rc = cfg_is(c, json, JSON_ARRAY);
	size_t i;
	json_t *entry;

	if (rc != 0)
		return rc;
	if (json_array_size(json) > FAULTS_MAX)
		return cfg_fail(c, "too many: %zu, at most %u", json_array_size(json), FAULTS_MAX);
	c->config->fault = calloc(json_array_size(json) + 1, sizeof(*c->config->fault));
	if (c->config->fault == NULL)
		return cfg_fail_memory(c);
	json_array_foreach(json, i, entry) {
		struct mf_config_fault *f = &c->config->fault[c->config->faults++];

		f->until = MF_NEVER;
		f->idle = true;
		f->number = MF_CONFIG_ALL_LINKS;
		cfg_push_index(c, i);
		rc = read_fault(c, entry, f);
		cfg_pop(c);
		if (rc != 0)
			return rc;
	}
	return 0;
}

/** Names of roles. */
static json_t *put_slow_paths(struct put *p, const struct mf_config_set *nodes)
{
	json_t *names = json_array();

	for (unsigned int i = 0; i < nodes->n; i++)
		cfg_put_append(p, names,
			       json_sprintf("%s" MF_CONFIG_SLOW_PATH, p->config->node[nodes->node[i]].name));
	return names;
}

static void put_where(struct put *p, json_t *json, const struct mf_config_fault *f, uint32_t keys)
{
	static const char *const roles[] = {[MF_CONFIG_SWITCH] = "switch", [MF_CONFIG_SCHED] = "scheduler"};
	const char *key = keys & LINK ? "link" : keys & NODE ? "node" : "role";
	json_t *between;

	if (f->role == MF_CONFIG_TRUNKS) {
		cfg_put_set(p, json, "between", cfg_put_between(p, &f->between));
	} else if (f->at[0] != '\0') {
		between = cfg_put_set(p, json, "between", json_array());
		cfg_put_append(p, between, cfg_put_nodes(p, &f->link, NULL));
		cfg_put_append(p, between, json_string(f->at));
	} else if (keys & ROLE && (f->role == MF_CONFIG_SWITCH || f->role == MF_CONFIG_SCHED)) {
		cfg_put_set(p, json, "role", json_string(roles[f->role]));
	} else if (f->role == MF_CONFIG_SLOW_PATHS) {
		cfg_put_set(p, json, "role", put_slow_paths(p, &f->link));
	} else if (f->role == MF_CONFIG_NODES && keys & (LINK | NODE | ROLE)) {
		cfg_put_set(p, json, key, cfg_put_nodes(p, &f->link, NULL));
	}
	if (keys & TO)
		cfg_put_set(p, json, "to", cfg_put_nodes(p, &f->to, cfg_is_memory));
}

/** What the class does not take, or takes and has not. */
static void drop_keys(json_t *json, const struct mf_config_fault *f, uint32_t keys)
{
	if (f->until == MF_NEVER)
		keys &= ~(uint32_t)UNTIL;
	if (f->count == 0)
		keys &= ~(uint32_t)COUNT;
	if (f->sw == 0 && f->class != MF_FAULT_SWITCH_CRASH)
		keys &= ~(uint32_t)SWITCH;
	if (f->every == 0)
		keys &= ~(uint32_t)(EVERY | FOR);
	if (f->role != MF_CONFIG_LCORE)
		keys &= ~(uint32_t)LCORE;
	if (f->role != MF_CONFIG_TRUNKS && f->at[0] == '\0')
		keys &= ~(uint32_t)BETWEEN;
	if (f->number == MF_CONFIG_ALL_LINKS)
		keys &= ~(uint32_t)NUMBER;
	if (f->idle)
		keys &= ~(uint32_t)IDLE;
	if (f->ppm == 0)
		keys &= ~(uint32_t)PPM;
	if (f->offset == 0)
		keys &= ~(uint32_t)OFFSET;
	for (unsigned int i = 0; i < KEYS; i++)
		if (!(keys & 1U << i))
			json_object_del(json, key_names[i]);
}

void cfg_put_faults(struct put *p, json_t *root)
{
	json_t *array;

	if (p->config->faults == 0)
		return;
	array = cfg_put_set(p, root, "faults", json_array());
	for (unsigned int i = 0; i < p->config->faults; i++) {
		const struct mf_config_fault *f = &p->config->fault[i];
		uint32_t keys = classes[f->class].needs | classes[f->class].takes;
		json_t *json = cfg_put_append(p, array, json_object());

		cfg_put_fields(p, json, fault_fields, f);
		if (f->class == MF_FAULT_EXHAUST)
			cfg_put_set(p, json, "what", json_string(mf_config_what_name(p->config, f)));
		put_where(p, json, f, keys);
		drop_keys(json, f, keys);
	}
}
