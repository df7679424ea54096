/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Defaults that hang on the lines. Times of the virtual clock, and of stacks, are made for lines of 1 Gb/s
 * and more. Where the slowest line is slower, a packet takes longer by as much, and so do these defaults.
 * What the file says stays.
 */
#include <math.h>
#include <string.h>

#include "config/cfg.h"
#include "config/mf_config_query.h"

#define FAST 64000 /* ps a block at 1 Gb/s */
#define BAD_TIME MF_US(125) /* of the monitors of bad blocks: 49.2.13.2.4 */

/** @param period  ps a block of a line @return how much slower than 1 Gb/s it is; 1: not at all */
static double slower(uint32_t period)
{
	return period > FAST ? (double)period / FAST : 1;
}

static void set(mf_time *t, mf_time fast, uint32_t period)
{
	if (*t == CFG_BY_LINE)
		*t = period > FAST ? fast * period / FAST : fast;
}

static void set_link(struct mf_config_link *l)
{
	set(&l->ber_window, BAD_TIME, l->period);
	set(&l->disable.within, BAD_TIME, l->period);
}

/** How long ids rest follows from the longest timer. */
static void set_quarantine(struct mf_config_host *h)
{
	for (int i = 0; i < MF_CLOCKS; i++) {
		mf_time longest = mf_time_max(h->read_timeout[i], h->write_timeout[i]);

		if (longest == 0 || h->quarantine[i] == 0)
			h->quarantine[i] = 10 * longest;
	}
}

static void set_host(struct mf_config_host *h, uint32_t period)
{
	set(&h->read_timeout[MF_CLOCK_VIRTUAL], MF_CONFIG_TIMEOUT, period);
	set(&h->write_timeout[MF_CLOCK_VIRTUAL], MF_CONFIG_TIMEOUT, period);
	set(&h->retry_timeout[MF_CLOCK_VIRTUAL], MF_MS(1), period);
	set_quarantine(h);
}

/** Block period of the slowest line of a tier. */
static uint32_t slowest(const struct mf_config *config, unsigned int tier)
{
	uint32_t period = 0;

	for (unsigned int i = 0; i < config->slots; i++) {
		const struct mf_config_end *e = mf_config_end_in(config, i, tier);

		if (config->node[i].up && e != NULL && e->link.period > period)
			period = e->link.period;
	}
	for (unsigned int i = 0; i < config->trunks; i++) {
		const struct mf_config_trunk *t = &config->trunk[i];

		if (t->tier == tier && t->link.period > period)
			period = t->link.period;
	}
	return period;
}

/** @param value  for lines of 1 Gb/s @return the default, within its range */
static double of_line(const struct mf_param *p, double value, double slow)
{
	if (p->kind == MF_PARAM_LINE_TIME)
		value = ceil(value * slow);
	else if (p->kind == MF_PARAM_LINE_RATE)
		value /= slow;
	else if (value != 0) /* an exponent of 0 has a meaning of its own */
		value += ceil(log2(slow));
	return fmin(fmax(value, p->min), p->max);
}

/** What a bridge has from its stack, it has as the stack has it. */
static void set_policies(struct mf_config_tier *tier, const json_t *stack, const json_t *bridge, double slow)
{
	const struct mf_param *p = tier->stack_ops->params, *of_bridge = tier->bridge_ops->params;

	for (size_t i = 0; p[i].key != NULL; i++) {
		double *value = &tier->stack.param[i];

		if (!mf_param_is_of_line(p[i].kind))
			continue;
		if (json_object_get(stack, p[i].key) == NULL)
			*value = of_line(&p[i], *value, slow);
		for (size_t k = 0; of_bridge[k].key != NULL; k++)
			if (strcmp(of_bridge[k].key, p[i].key) == 0 &&
			    json_object_get(bridge, p[i].key) == NULL)
				tier->bridge.param[k] = *value;
	}
}

static void set_switch(struct mf_config_switch *sw, uint32_t period)
{
	set(&sw->grant_timeout[MF_CLOCK_VIRTUAL], MF_MS(1), period);
	set(&sw->hold_timeout[MF_CLOCK_VIRTUAL], MF_US(100), period);
}

static void set_tier(struct mf_config_tier *tier, const json_t *json, uint32_t period)
{
	set_switch(&tier->sw, period);
	set_link(&tier->link);
	if (tier->stack_ops != NULL && period > FAST)
		set_policies(tier, json_object_get(json, "stack"),
			     json_object_get(json_object_get(json, "switch"), "bridge"), slower(period));
}

/** Of a node: its timers are of all its ends. */
static void set_node(struct mf_config *config, unsigned int node, const uint32_t *period)
{
	struct mf_config_node *n = &config->node[node];
	uint32_t most = period[n->tier];

	set_link(&n->link);
	for (unsigned int k = 1; n->up && k < n->ends; k++) {
		struct mf_config_end *e = &config->end[n->more + k - 1];

		set_link(&e->link);
		most = period[e->tier] > most ? period[e->tier] : most;
	}
	set_host(&n->host, most);
}

void cfg_by_line(struct cfg *c, const json_t *root)
{
	struct mf_config *config = c->config;
	const json_t *tiers = json_object_get(root, "tiers");
	uint32_t period[MF_CONFIG_TIERS_MAX];

	for (unsigned int k = 0; k < config->tiers; k++) {
		period[k] = slowest(config, k);
		set_tier(&config->tier[k], tiers != NULL ? json_array_get(tiers, k) : root, period[k]);
	}
	for (unsigned int i = 0; i < config->switches; i++)
		set_switch(&config->switch_list[i], period[config->switch_list[i].tier]);
	for (unsigned int i = 0; i < config->slots; i++)
		set_node(config, i, period);
	for (unsigned int i = 0; i < config->trunks; i++)
		set_link(&config->trunk[i].link);
}
