/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether the bridge of the switch can do what it promises with the links and the stack that the file has:
 * what hangs on several sections, and is looked at when all of them are there.
 */
#include <string.h>

#include "config/cfg.h"
#include "config/mf_config_query.h"

#define ETHERNET_CLASS 0 /* of frames that are not IP */

mf_time mf_config_link_delay(const struct mf_config_tier *tier, const struct mf_config_link *link)
{
	const mf_time *cost = tier->timing.cost;

	return cost[MF_STAGE_PCS_TX] + 2 * cost[MF_STAGE_PMA] + link->propagation + cost[MF_STAGE_PCS_RX];
}

mf_time mf_config_delay(const struct mf_config *config, unsigned int node)
{
	const struct mf_config_end *e = &config->node[node].first;

	return mf_config_link_delay(&config->tier[e->tier], &e->link);
}

uint8_t mf_config_obeyed(const struct mf_config *config, const struct mf_config_tier *tier)
{
	const struct mf_stack_ops *stack = tier->stack_ops;
	uint8_t classes =
		stack != NULL && stack->pfc_classes != NULL ? stack->pfc_classes(tier->stack.param) : 0;

	/* The section "ethernet" knows of no pauses. */
	return config->ethernets != 0 ? classes & (uint8_t) ~(1 << ETHERNET_CLASS) : classes;
}

/** What a policy has as `key`. NULL: it has no such parameter */
static const double *value_of(const struct mf_param *params, const double *value, const char *key)
{
	for (size_t i = 0; params[i].key != NULL; i++)
		if (strcmp(params[i].key, key) == 0)
			return &value[i];
	return NULL;
}

/** The stack's packets are not longer than what is forwarded: all of them would be dropped. */
static int check_mtu(struct cfg *c)
{
	const struct mf_stack_ops *stack = c->tier->stack_ops;
	const double *mtu = value_of(c->tier->bridge_ops->params, c->tier->bridge.param, "mtu");
	uint32_t packet;

	if (mtu == NULL || stack->packet == NULL)
		return 0;
	packet = stack->packet(c->tier->stack.param);
	if (packet <= *mtu)
		return 0;
	return cfg_fail_key(c, "mtu", "%.0f octets; the packets of stack \"%s\" have up to %u", *mtu,
			    stack->name, packet);
}

/** The ports of a switch. */
struct ports {
	unsigned int n;
	bool up[MF_NODES_MAX];
	uint32_t period[MF_NODES_MAX];
	mf_time delay[MF_NODES_MAX];
};

static void add_port(const struct mf_config_tier *tier, struct ports *p, bool up,
		     const struct mf_config_link *link)
{
	p->up[p->n] = up;
	p->period[p->n] = up ? link->period : 1;
	p->delay[p->n++] = up ? mf_config_link_delay(tier, link) : 0;
}

/** Of switch number sw of a tier, or of the only one. */
static void find_ports(const struct mf_config *config, const struct mf_config_tier *tier, unsigned int sw,
		       struct ports *p)
{
	p->n = 0;
	for (unsigned int i = 0; i < config->slots; i++) {
		unsigned int ends = config->node[i].up ? config->node[i].ends : 1;

		for (unsigned int k = 0; k < ends; k++)
			if (!mf_config_end(config, i, k)->direct && mf_config_end(config, i, k)->to == sw)
				add_port(tier, p, config->node[i].up, &mf_config_end(config, i, k)->link);
	}
	for (unsigned int i = 0; i < config->trunks; i++)
		if (!config->trunk[i].direct && (config->trunk[i].a == sw || config->trunk[i].b == sw))
			add_port(tier, p, true, &config->trunk[i].link);
}

static int check_links(struct cfg *c, unsigned int sw)
{
	const struct mf_config *config = c->config;
	struct mf_bridge_fault fault;
	struct ports p;
	struct mf_bridge_config b = {.up = p.up,
				     .period = p.period,
				     .delay = p.delay,
				     .timing = c->tier->timing,
				     .param = c->tier->bridge.param,
				     .obeyed = mf_config_obeyed(config, c->tier)};

	find_ports(config, c->tier, sw, &p);
	b.ports = p.n;
	if (c->tier->bridge_ops->check(&b, &fault))
		return 0;
	if (config->switches > 1)
		return cfg_fail_key(c, fault.key, "%s: %s", config->switch_list[sw].name, fault.why);
	return cfg_fail_key(c, fault.key, "%s", fault.why);
}

static int check_tier(struct cfg *c)
{
	const struct mf_bridge_ops *bridge = c->tier->bridge_ops;
	unsigned int first = c->tier->first_switch, n = c->tier->switches > 0 ? c->tier->switches : 1;
	int rc = 0;

	cfg_push(c, "switch");
	cfg_push(c, "bridge");
	rc = check_mtu(c);
	for (unsigned int i = 0; i < n && rc == 0 && bridge->check != NULL && !c->tier->direct; i++)
		rc = check_links(c, first + i);
	cfg_pop(c);
	cfg_pop(c);
	return rc;
}

int cfg_bridge_check(struct cfg *c)
{
	struct mf_config *config = c->config;
	bool tiers = mf_config_has_tiers(config);
	int rc = 0;

	for (unsigned int t = 0; t < config->tiers && rc == 0; t++) {
		c->tier = &config->tier[t];
		if (c->tier->bridge_ops == NULL)
			continue;
		if (tiers) {
			cfg_push(c, "tiers");
			cfg_push_index(c, t);
		}
		rc = check_tier(c);
		if (tiers) {
			cfg_pop(c);
			cfg_pop(c);
		}
	}
	c->tier = config->tier;
	return rc;
}
