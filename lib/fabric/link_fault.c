/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "config/mf_config_query.h"
#include "fabric/mf_link_fault.h"

/** The rules of one direction of a link. @param which  their numbers among the file's @return how many */
static unsigned int rules_of(const struct mf_config *config, unsigned int sw, unsigned int node, bool up,
			     struct mf_fault_rule *rule, uint16_t *which)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < config->faults; i++) {
		const struct mf_config_fault *f = &config->fault[i];

		if (f->class >= MF_FAULT_STAGE_CLASSES || f->sw != sw || !mf_config_has(&f->link, node) ||
		    f->direction == (up ? MF_CONFIG_DOWN : MF_CONFIG_UP) ||
		    (f->class >= MF_FAULT_FLOOD && !up))
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

int link_fault_new(const struct mf_fabric *f, unsigned int sw, unsigned int node, bool up, uint32_t period,
		   const struct mf_fault_secrets *secrets, struct mf_fault **out)
{
	const struct mf_config *config = f->config;
	struct mf_fault_rule rule[MF_FAULT_RULES];
	uint16_t which[MF_FAULT_RULES];
	struct mf_fault_config c = {
		.rule = rule,
		.rules = rules_of(config, sw, node, up, rule, which),
		.period = period,
		.pace = config->node[node].link.period,
		.idle_until = f->stop,
		.seed = config->seed,
		.number = 2 * (uint64_t)node + !up + ((uint64_t)sw << 32),
		.proto = config->stack_ops == NULL ? &config->proto : NULL,
		.node = (uint16_t)node,
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

void link_fault_over(struct mf_fabric *f, unsigned int sw, unsigned int node, bool up, struct mf_fault *fault)
{
	struct mf_fault_rule rule[MF_FAULT_RULES];
	uint16_t which[MF_FAULT_RULES];
	unsigned int n = fault != NULL ? rules_of(f->config, sw, node, up, rule, which) : 0;

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
