/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether the bridge of the switch can do what it promises with the links and the stack that the file has:
 * what hangs on several sections, and is looked at when all of them are there.
 */
#include <string.h>

#include "config/cfg.h"
#include "config/mf_config_query.h"

#define ETHERNET_CLASS 0 /* of frames that are not IP */

mf_time mf_config_link_delay(const struct mf_config *config, const struct mf_config_link *link)
{
	const mf_time *cost = config->timing.cost;

	return cost[MF_STAGE_PCS_TX] + 2 * cost[MF_STAGE_PMA] + link->propagation + cost[MF_STAGE_PCS_RX];
}

mf_time mf_config_delay(const struct mf_config *config, unsigned int node)
{
	return mf_config_link_delay(config, &config->node[node].link);
}

uint8_t mf_config_obeyed(const struct mf_config *config)
{
	const struct mf_stack_ops *stack = config->stack_ops;
	uint8_t classes = stack != NULL && stack->obeys != NULL ? stack->obeys(config->stack.param) : 0;

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
	const struct mf_config *config = c->config;
	const struct mf_stack_ops *stack = config->stack_ops;
	const double *mtu = value_of(config->bridge_ops->params, config->bridge.param, "mtu");
	uint32_t packet;

	if (mtu == NULL || stack->packet == NULL)
		return 0;
	packet = stack->packet(config->stack.param);
	if (packet <= *mtu)
		return 0;
	return cfg_fail_key(c, "mtu", "%.0f octets; the packets of stack \"%s\" have up to %u", *mtu,
			    stack->name, packet);
}

/** The ports of a switch. */
struct ports {
	unsigned int n;
	bool up[MF_PORTS_MAX];
	uint32_t period[MF_PORTS_MAX];
	mf_time delay[MF_PORTS_MAX];
};

static void add_port(const struct mf_config *config, struct ports *p, bool up,
		     const struct mf_config_link *link)
{
	p->up[p->n] = up;
	p->period[p->n] = up ? link->period : 1;
	p->delay[p->n++] = up ? mf_config_link_delay(config, link) : 0;
}

/** Of switch number sw, or of the only one. */
static void find_ports(const struct mf_config *config, unsigned int sw, struct ports *p)
{
	p->n = 0;
	for (unsigned int i = 0; i < config->sw.ports; i++)
		if (config->node[i].to == sw)
			add_port(config, p, config->node[i].up, &config->node[i].link);
	for (unsigned int i = 0; i < config->trunks; i++)
		if (config->trunk[i].a == sw || config->trunk[i].b == sw)
			add_port(config, p, true, &config->trunk[i].link);
}

static int check_links(struct cfg *c, unsigned int sw)
{
	const struct mf_config *config = c->config;
	struct mf_bridge_fault fault;
	struct ports p;
	struct mf_bridge_config b = {.up = p.up,
				     .period = p.period,
				     .delay = p.delay,
				     .timing = config->timing,
				     .param = config->bridge.param,
				     .obeyed = mf_config_obeyed(config)};

	find_ports(config, sw, &p);
	b.ports = p.n;
	if (config->bridge_ops->check(&b, &fault))
		return 0;
	if (config->switches > 1)
		return cfg_fail_key(c, fault.key, "%s: %s", config->switch_list[sw].name, fault.why);
	return cfg_fail_key(c, fault.key, "%s", fault.why);
}

int cfg_bridge_check(struct cfg *c)
{
	int rc;

	if (c->config->bridge_ops == NULL)
		return 0;
	cfg_push(c, "switch");
	cfg_push(c, "bridge");
	rc = check_mtu(c);
	for (unsigned int sw = 0;
	     rc == 0 && c->config->bridge_ops->check != NULL && (sw == 0 || sw < c->config->switches); sw++)
		rc = check_links(c, sw);
	cfg_pop(c);
	cfg_pop(c);
	return rc;
}
