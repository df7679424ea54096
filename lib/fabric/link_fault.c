/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "config/mf_config_query.h"
#include "fabric/mf_link_fault.h"

/** One direction of a link. */
struct way {
	unsigned int sw, node; /* of the link of a node */
	bool up; /* from the node; from switch a of a link between switches */
	bool trunk;
	unsigned int index; /* of a link between switches: in config->trunk */
};

static struct way way_of(const struct mf_fabric *f, uint32_t link, unsigned int end)
{
	const struct mf_vertex *from;
	const struct mf_config_trunk *t;

	if (f->config->switches == 0 || link < f->nodes)
		return (struct way){.sw = link / f->nodes, .node = link % f->nodes, .up = end == 0};
	t = f->trunk[link - f->nodes];
	from = &f->graph->role[f->graph->end[f->graph->link[link].end[end]].role];
	return (struct way){
		.trunk = true, .index = (unsigned int)(t - f->config->trunk), .up = from->number == t->a};
}

/** Whether a rule is about what goes that way. */
static bool is_about(const struct mf_config *config, const struct mf_config_fault *f, const struct way *w)
{
	bool up = w->up, first;

	if (f->class >= MF_FAULT_STAGE_CLASSES)
		return false;
	if (w->trunk) {
		if (!mf_config_fault_has(config, f, w->index, &first))
			return false;
		up = up == first;
	} else if (f->sw != w->sw || !mf_config_has(&f->link, w->node)) {
		return false;
	}
	return f->direction != (up ? MF_CONFIG_DOWN : MF_CONFIG_UP) && (f->class < MF_FAULT_FLOOD || up);
}

/** The rules of one direction. @param which  their numbers among the file's @return how many */
static unsigned int rules_of(const struct mf_config *config, const struct way *w, struct mf_fault_rule *rule,
			     uint16_t *which)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < config->faults; i++) {
		const struct mf_config_fault *f = &config->fault[i];

		if (!is_about(config, f, w))
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
	return w->trunk ? 2 * (uint64_t)link + end : 2 * (uint64_t)w->node + end + ((uint64_t)w->sw << 32);
}

int link_fault_new(const struct mf_fabric *f, uint32_t link, unsigned int end, uint32_t period,
		   const struct mf_fault_secrets *secrets, struct mf_fault **out)
{
	const struct mf_config *config = f->config;
	const struct way way = way_of(f, link, end);
	struct mf_fault_rule rule[MF_FAULT_RULES];
	uint16_t which[MF_FAULT_RULES];
	struct mf_fault_config c = {
		.rule = rule,
		.rules = rules_of(config, &way, rule, which),
		.period = period,
		.pace = fabric_link_config(f, link)->period,
		.idle_until = f->stop,
		.seed = config->seed,
		.number = number_of(&way, link, end),
		.proto = config->stack_ops == NULL ? &config->proto : NULL,
		.node = (uint16_t)way.node,
		.nodes = (uint16_t)f->nodes,
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
	unsigned int n = fault != NULL ? rules_of(f->config, &way, rule, which) : 0;

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
