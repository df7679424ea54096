/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * "ports": Ethernet ports that carry links between processes, and what a link says of them: which one its
 * ends are at, how they send again what is lost.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/cfg_write.h"
#include "config/mf_memif.h"
#include "link/mf_link.h"

#define PORTS_MAX (2 * MF_NODES_MAX)
#define MTU_MAX 9216

#define IMPAIR(m) .kind = CFG_REAL, CFG_AT(struct mf_impair_config, m), .rlo = 0, .rhi = 1
static const struct cfg_field impair_fields[] = {
	{.key = "drop", IMPAIR(drop)},
	{.key = "duplicate", IMPAIR(duplicate)},
	{.key = "reorder", IMPAIR(reorder)},
	{.key = "corrupt", IMPAIR(corrupt)},
	{0},
};

#define PORT(m) CFG_AT(struct mf_config_port, m)
static const struct cfg_field port_fields[] = {
	{.key = "name", .kind = CFG_NAME, PORT(name)},
	{.key = "device", .kind = CFG_TEXT, PORT(device), .hi = MF_CONFIG_DEVICE_LEN},
	{.key = "mtu", .kind = CFG_U16, PORT(mtu), CFG_RANGE(MF_LINK_MTU_MIN, MTU_MAX)},
	{.key = "ethertype", .kind = CFG_U16, PORT(ethertype), CFG_RANGE(0x600, 0xffff)},
	{.key = "impair", .kind = CFG_NESTED},
	{0},
};

#define LLR(m) CFG_AT(struct mf_config_llr, m)
const struct cfg_field cfg_llr_fields[] = {
	{.key = "retransmit", .kind = CFG_BOOL, LLR(retransmit)},
	{.key = "pace", .kind = CFG_BOOL, LLR(pace)},
	{.key = "window", .kind = CFG_U16, LLR(window), CFG_RANGE(2, MF_LINK_WINDOW_MAX)},
	{.key = "replays", .kind = CFG_U16, LLR(replays), CFG_RANGE(1, 1000)},
	{.key = "ack_after", .kind = CFG_TIME, LLR(ack_after), CFG_RANGE(MF_NS(1), MF_SEC(1))},
	{.key = "replay_after", .kind = CFG_TIME, LLR(replay_after), CFG_RANGE(MF_US(1), MF_SEC(10))},
	{.key = "replay_max", .kind = CFG_TIME, LLR(replay_max), CFG_RANGE(MF_US(1), MF_SEC(60))},
	{.key = "hello", .kind = CFG_TIME, LLR(hello), CFG_RANGE(MF_MS(1), MF_SEC(10))},
	{.key = "silence", .kind = CFG_TIME, LLR(silence), CFG_RANGE(MF_MS(10), MF_SEC(3600))},
	{0},
};

static const char *const carry_names[] = {
	[MF_CARRY_AUTO] = "auto", [MF_CARRY_ALWAYS] = "always", [MF_CARRY_ALWAYS + 1] = NULL};
static const char *const end_names[] = {
	[MF_LINK_NODE] = "node", [MF_LINK_SWITCH] = "switch", [MF_LINK_ENDS] = NULL};

/* Of a link's "carried": its parts beside the fields of llr. */
static const struct cfg_field tunnel_fields[] = {
	{.key = "node", .kind = CFG_NAME},
	{.key = "switch", .kind = CFG_NAME},
	{.key = "when", .kind = CFG_ENUM, .names = carry_names},
	{0},
};
/* The same of a link between switches. */
static const struct cfg_field trunk_fields[] = {
	{.key = "between", .kind = CFG_NESTED},
	{.key = "when", .kind = CFG_ENUM, .names = carry_names},
	{0},
};

static int read_port(struct cfg *c, const json_t *json, struct mf_config_port *p)
{
	static const char *const needed[] = {"name", "device", NULL};
	const json_t *impair = json_object_get(json, "impair");
	int rc = cfg_object(c, json, port_fields, p);
	struct memif m;
	char why[128];

	for (int i = 0; needed[i] != NULL && rc == 0; i++)
		if (json_object_get(json, needed[i]) == NULL)
			rc = cfg_fail_key(c, needed[i], "is missing");
	if (rc == 0 && p->device[0] == '\0')
		rc = cfg_fail_key(c, "device", "is empty");
	if (rc == 0 && memif_read(p->device, &m) && !memif_fits(&m, why, sizeof(why)))
		rc = cfg_fail_key(c, "device", "%s", why);
	for (unsigned int i = 0; i < c->config->ports && rc == 0; i++)
		if (strcmp(c->config->port[i].name, p->name) == 0)
			rc = cfg_fail_key(c, "name", "there are two ports '%s'", p->name);
	if (rc != 0 || impair == NULL)
		return rc;
	cfg_push(c, "impair");
	rc = cfg_object(c, impair, impair_fields, &p->impair);
	cfg_pop(c);
	return rc;
}

int cfg_ports(struct cfg *c, const json_t *json)
{
	int rc = cfg_is(c, json, JSON_ARRAY);
	size_t i;
	json_t *entry;

	if (rc != 0)
		return rc;
	if (json_array_size(json) > PORTS_MAX)
		return cfg_fail(c, "too many: %zu, at most %u", json_array_size(json), PORTS_MAX);
	c->config->port = calloc(json_array_size(json) + 1, sizeof(*c->config->port));
	if (c->config->port == NULL)
		return cfg_fail_memory(c);
	json_array_foreach(json, i, entry) {
		struct mf_config_port *p = &c->config->port[c->config->ports];

		p->mtu = 1500;
		p->ethertype = MF_LINK_ETHERTYPE;
		cfg_push_index(c, i);
		rc = read_port(c, entry, p);
		cfg_pop(c);
		if (rc != 0)
			return rc;
		c->config->ports++;
	}
	return 0;
}

/* The port that a value names. */
static int read_name(struct cfg *c, const json_t *json, int *port)
{
	const char *name = json_string_value(json);

	if (name == NULL)
		return cfg_fail(c, "must be the name of a port");
	for (unsigned int i = 0; i < c->config->ports; i++)
		if (strcmp(c->config->port[i].name, name) == 0) {
			*port = (int)i;
			return 0;
		}
	return cfg_fail(c, "there is no port '%.64s'", name);
}

static int read_end(struct cfg *c, const json_t *json, const char *key, int *port)
{
	int rc;

	if (json_object_get(json, key) == NULL)
		return 0;
	cfg_push(c, key);
	rc = read_name(c, json_object_get(json, key), port);
	cfg_pop(c);
	return rc;
}

static int read_ends(struct cfg *c, const json_t *json, struct mf_config_llr *llr)
{
	int rc = 0;

	for (int i = 0; i < MF_LINK_ENDS && rc == 0; i++)
		rc = read_end(c, json, end_names[i], &llr->port[i]);
	return rc;
}

/* Of a link between switches: two ports, in the order of its "between". */
static int read_between(struct cfg *c, const json_t *json, struct mf_config_llr *llr)
{
	const json_t *between = json_object_get(json, "between");
	int rc = 0;

	if (between == NULL)
		return 0;
	cfg_push(c, "between");
	rc = cfg_is(c, between, JSON_ARRAY);
	if (rc == 0 && json_array_size(between) != MF_LINK_ENDS)
		rc = cfg_fail(c, "names %zu ports, a link has 2 ends", json_array_size(between));
	for (size_t i = 0; i < MF_LINK_ENDS && rc == 0; i++) {
		cfg_push_index(c, i);
		rc = read_name(c, json_array_get(between, i), &llr->port[i]);
		cfg_pop(c);
	}
	cfg_pop(c);
	return rc;
}

/** Replays must be over before silence says that nobody is there. */
static int check_llr(struct cfg *c, const struct mf_config_llr *llr)
{
	struct mf_link_config link;
	const char *fault;

	mf_link_config_default(&link);
	mf_config_to_link(llr, &link);
	link.node = 0;
	link.name = "";
	link.epoch = link.period = 1;
	fault = mf_link_config_fault(&link);
	return fault == NULL ? 0 : cfg_fail(c, "%s", fault);
}

static int read_tunnel(struct cfg *c, const json_t *json, bool trunk, struct mf_config_llr *llr)
{
	const json_t *when = json_object_get(json, "when");
	int rc = cfg_known(c, json, trunk ? trunk_fields : tunnel_fields, cfg_llr_fields);
	uint32_t carry = llr->carry;

	if (rc == 0)
		rc = cfg_read(c, json, cfg_llr_fields, llr);
	if (rc == 0)
		rc = trunk ? read_between(c, json, llr) : read_ends(c, json, llr);
	if (rc == 0 && when != NULL) {
		cfg_push(c, "when");
		rc = cfg_enum(c, when, carry_names, &carry);
		cfg_pop(c);
	}
	llr->carry = carry;
	return rc != 0 ? rc : check_llr(c, llr);
}

int cfg_tunnel(struct cfg *c, const json_t *link, bool trunk, struct mf_config_llr *llr)
{
	const json_t *json = json_object_get(link, "carried");
	int rc;

	if (json == NULL)
		return 0;
	cfg_push(c, "carried");
	rc = read_tunnel(c, json, trunk, llr);
	cfg_pop(c);
	return rc;
}

void cfg_llr_default(struct mf_config_llr *llr)
{
	struct mf_link_config l;

	mf_link_config_default(&l);
	*llr = (struct mf_config_llr){
		.port = {-1, -1},
		.retransmit = l.retransmit,
		.pace = l.pace,
		.window = l.window,
		.replays = l.replays,
		.ack_after = l.ack_after,
		.replay_after = l.replay_after,
		.replay_max = l.replay_max,
		.hello = l.hello_period,
		.silence = l.silence,
	};
}

void mf_config_to_link(const struct mf_config_llr *llr, struct mf_link_config *l)
{
	l->retransmit = llr->retransmit;
	l->pace = llr->pace;
	l->window = llr->window;
	l->replays = llr->replays;
	l->ack_after = llr->ack_after;
	l->replay_after = llr->replay_after;
	l->replay_max = llr->replay_max;
	l->hello_period = llr->hello;
	l->silence = llr->silence;
}

void cfg_llr_second(struct mf_config_node *n)
{
	n->backup_llr = n->link.llr;
	n->backup_llr.carry = MF_CARRY_AUTO;
	n->backup_llr.port[MF_LINK_NODE] = n->backup_llr.port[MF_LINK_SWITCH] = -1;
}

/** @return an end is missing where the link is always carried */
static bool use(const struct mf_config_llr *llr, bool used[PORTS_MAX])
{
	for (int i = 0; i < MF_LINK_ENDS; i++)
		if (llr->port[i] >= 0)
			used[llr->port[i]] = true;
	return llr->carry == MF_CARRY_ALWAYS && (llr->port[0] < 0 || llr->port[1] < 0);
}

/** @param shape  of the link @param where  its section of the file */
static int use_node(struct cfg *c, const char *name, const struct mf_config_llr *llr, bool shape,
		    const char *where, bool used[PORTS_MAX])
{
	if (shape && llr->pace)
		return cfg_fail_key(
			c, where, "the link of node '%s' has 'shape', so 'carried.pace' is of no use", name);
	if (!use(llr, used))
		return 0;
	return cfg_fail_key(c, where, "the link of node '%s' is always carried and has no port at the %s",
			    name, end_names[llr->port[0] < 0 ? 0 : 1]);
}

static int use_trunk(struct cfg *c, const struct mf_config_trunk *t, bool used[PORTS_MAX])
{
	if (!use(&t->link.llr, used))
		return 0;
	return cfg_fail_key(c, "links", "the link of '%s' and '%s' is always carried and has no ports",
			    mf_config_trunk_end(c->config, t, 0), mf_config_trunk_end(c->config, t, 1));
}

/** Every port carries something; a link that is to be carried always has ports at both ends. */
int cfg_ports_used(struct cfg *c)
{
	const struct mf_config *config = c->config;
	bool used[PORTS_MAX] = {false};
	int rc = 0;

	for (unsigned int n = 0; n < config->slots && rc == 0; n++) {
		const struct mf_config_node *node = &config->node[n];

		if (!node->up)
			continue;
		for (unsigned int k = 0; k < node->ends && rc == 0; k++)
			rc = use_node(c, node->name, &mf_config_end(config, n, k)->link.llr,
				      mf_config_end(config, n, k)->link.shape, "links", used);
		if (rc == 0)
			rc = use_node(c, node->name, &node->backup_llr, node->link.shape, "backup", used);
	}
	for (unsigned int i = 0; i < config->trunks && rc == 0; i++)
		rc = use_trunk(c, &config->trunk[i], used);
	for (unsigned int i = 0; i < config->ports && rc == 0; i++)
		if (!used[i])
			rc = cfg_fail_key(c, "ports", "port '%s' has no effect: no link uses it",
					  config->port[i].name);
	return rc;
}

void cfg_put_ports(struct put *p, json_t *root)
{
	const struct mf_config *config = p->config;
	json_t *array;

	if (config->ports == 0)
		return;
	array = cfg_put_set(p, root, "ports", json_array());
	for (unsigned int i = 0; i < config->ports; i++) {
		json_t *json = cfg_put_append(p, array, json_object());

		cfg_put_fields(p, json, port_fields, &config->port[i]);
		cfg_put_fields(p, cfg_put_set(p, json, "impair", json_object()), impair_fields,
			       &config->port[i].impair);
	}
}

static json_t *port_name(const struct put *p, int port)
{
	return json_string(p->config->port[port].name);
}

void cfg_put_tunnel(struct put *p, json_t *link, bool trunk, const struct mf_config_llr *llr)
{
	json_t *json, *between;

	if (llr->port[0] < 0 && llr->port[1] < 0)
		return;
	json = cfg_put_set(p, link, "carried", json_object());
	between = trunk ? cfg_put_set(p, json, "between", json_array()) : NULL;
	for (int i = 0; i < MF_LINK_ENDS; i++)
		if (trunk)
			cfg_put_append(p, between, port_name(p, llr->port[i]));
		else if (llr->port[i] >= 0)
			cfg_put_set(p, json, end_names[i], port_name(p, llr->port[i]));
	cfg_put_set(p, json, "when", json_string(carry_names[llr->carry]));
	cfg_put_fields(p, json, cfg_llr_fields, llr);
}
