/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "config/mf_config_query.h"
#include "fabric/mf_link_fault.h"

/** One direction of a link. */
struct way {
	unsigned int end[2],
		node[2]; /* what sends, what receives: of nodes which of their ends, else node NONE */
	bool trunk; /* it is no link of a node to a switch */
	bool up; /* of a trunk: from its end a */
	unsigned int index; /* of a trunk: in config->trunk */
};

#define NONE UINT32_MAX

static void name_end(const struct mf_fabric *f, uint32_t end, struct way *w, unsigned int side)
{
	const struct mf_end *e = &f->graph->end[end];
	const struct mf_vertex *r = &f->graph->role[e->role];

	w->end[side] = e->port;
	w->node[side] = r->kind == MF_VERTEX_NODE ? r->number : NONE;
}

/** @param end  which of its ends sends */
static struct way way_of(const struct mf_fabric *f, uint32_t link, unsigned int end)
{
	const struct mf_graph_link *l = &f->graph->link[link];
	const struct mf_config_trunk *t;
	struct way w = {.trunk = fabric_is_trunk(f, link)};

	name_end(f, l->end[end], &w, 0);
	name_end(f, l->end[!end], &w, 1);
	if (!w.trunk)
		return w;
	t = f->trunk[link - f->node_links];
	w.index = (unsigned int)(t - f->config->trunk);
	w.up = f->graph->role[f->graph->end[l->end[end]].role].number == t->a;
	return w;
}

/** Whether a rule is about what goes that way. */
static bool is_about(const struct mf_fabric *f, const struct mf_config_fault *rule, const struct way *w)
{
	bool first = false;

	if (rule->class >= MF_FAULT_STAGE_CLASSES)
		return false;
	if (rule->role == MF_CONFIG_TRUNKS)
		return w->trunk && mf_config_fault_has(f->config, rule, w->index, &first) &&
		       rule->direction != (w->up == first ? MF_CONFIG_DOWN : MF_CONFIG_UP);
	/* What a node sends goes up; what a port sends by itself is the node's. */
	if (w->node[0] != NONE && fabric_fault_at(f, rule, w->node[0], w->end[0]) &&
	    rule->direction != MF_CONFIG_DOWN)
		return true;
	return w->node[1] != NONE && fabric_fault_at(f, rule, w->node[1], w->end[1]) &&
	       rule->direction != MF_CONFIG_UP && rule->class < MF_FAULT_FLOOD;
}

/** The rules of one direction. @param which  their numbers among the file's @return how many */
static unsigned int rules_of(const struct mf_fabric *fabric, const struct way *w, struct mf_fault_rule *rule,
			     uint16_t *which)
{
	const struct mf_config *config = fabric->config;
	unsigned int n = 0;

	for (unsigned int i = 0; i < config->faults; i++) {
		const struct mf_config_fault *f = &config->fault[i];

		if (!is_about(fabric, f, w))
			continue;
		which[n] = (uint16_t)i;
		rule[n++] = (struct mf_fault_rule){
			.class = (uint8_t)f->class,
			.rate = f->rate,
			.from = f->from,
			.until = f->until,
			.time = f->time,
			.count = f->count,
			.idle = f->idle,
			.to = f->to.node,
			.to_count = f->to.n,
		};
	}
	return n;
}

/** Of its random numbers: of links of nodes it does not depend on what else there is. */
static uint64_t number_of(const struct way *w, uint32_t link, unsigned int end)
{
	unsigned int of_node = w->node[0] != NONE ? 0 : 1;

	return w->trunk ? 2 * (uint64_t)link + end
			: 2 * (uint64_t)w->node[of_node] + end + ((uint64_t)w->end[of_node] << 32);
}

int link_fault_new(const struct mf_fabric *f, uint32_t link, unsigned int end, uint32_t period,
		   const struct mf_fault_secrets *secrets, struct mf_fault **out)
{
	const struct mf_config *config = f->config;
	const struct fabric_tier *t = &f->tier[f->link[link].tier];
	const struct way way = way_of(f, link, end);
	const unsigned int node = way.node[0] != NONE ? way.node[0] : way.node[1];
	struct mf_fault_rule rule[MF_FAULT_RULES];
	uint16_t which[MF_FAULT_RULES];
	struct mf_fault_config c = {
		.rule = rule,
		.rules = rules_of(f, &way, rule, which),
		.period = period,
		.pace = fabric_link_config(f, link)->period,
		.idle_until = f->stop,
		.seed = config->seed,
		.number = number_of(&way, link, end),
		.proto = t->config->stack_ops == NULL ? &t->config->proto : NULL,
		.node = node != NONE ? t->number[node] : 0,
		.nodes = (uint16_t)t->nodes,
		.secrets = secrets,
	};

	if (c.rules == 0)
		return 0;
	for (unsigned int i = 0; i < c.rules; i++) /* what a port sends by itself ends with the load */
		if (rule[i].class >= MF_FAULT_FLOOD)
			rule[i].until = mf_time_min(rule[i].until, mf_time_max(f->stop, rule[i].from + 1));
	*out = mf_fault_new(&c);
	return *out != NULL ? 0 : -errno;
}

void link_fault_over(struct mf_fabric *f, uint32_t link, unsigned int end, struct mf_fault *fault)
{
	const struct way way = way_of(f, link, end);
	struct mf_fault_rule rule[MF_FAULT_RULES];
	uint16_t which[MF_FAULT_RULES];
	unsigned int n = fault != NULL ? rules_of(f, &way, rule, which) : 0;

	for (unsigned int i = 0; i < n; i++) {
		f->fault_fired[which[i]] += mf_fault_fired(fault, i);
		f->fault_idle[f->config->fault[which[i]].class] += mf_fault_fired_idle(fault, i);
	}
	if (n > 0 && mf_fault_witness(fault) != NULL)
		mf_witness_add(&f->witness, mf_fault_witness(fault));
	if (n > 0 && mf_fault_forged(fault) != NULL)
		mf_forge_add(&f->forged, mf_fault_forged(fault));
	mf_fault_free(fault);
}
