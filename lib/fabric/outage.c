/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/mf_outage.h"

#include "config/mf_config_query.h"
#include "fabric/mf_fabric_state.h"

bool fabric_fault_at(const struct mf_fabric *f, const struct mf_config_fault *rule, unsigned int node,
		     unsigned int end)
{
	bool of_links = rule->class < MF_FAULT_FLOOD || rule->class == MF_FAULT_LINK_DOWN;

	if (rule->role != MF_CONFIG_NODES || !mf_config_has(&rule->link, node))
		return false;
	if (f->config->backup.on || !of_links)
		return rule->sw == end;
	return mf_config_fault_at(f->config, rule, node, end);
}

bool fabric_outage_at(const struct mf_fabric *f, const struct mf_config_fault *rule, unsigned int node,
		      unsigned int end)
{
	const struct mf_end *e = &f->graph->end[mf_topology_end(f->graph, node, end)],
			    *other = &f->graph->end[e->peer];

	if (!fabric_fault_at(f, rule, node, end))
		return false;
	return !fabric_is_direct(f, e->link) || fabric_side(f, e) == MF_LINK_NODE ||
	       !fabric_fault_at(f, rule, other->role, other->port);
}

/** How many nodes, or what else, a rule is about. */
static unsigned int places(const struct mf_config *config, const struct mf_config_fault *f)
{
	unsigned int n = 0;

	switch (f->role) {
	case MF_CONFIG_NODES:
		for (unsigned int i = 0; i < f->link.n; i++)
			n += config->node[f->link.node[i]].ends;
		return n;
	case MF_CONFIG_TRUNKS:
		return config->trunks;
	default:
		return 1;
	}
}

unsigned int outages_max(const struct mf_config *config)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < config->faults; i++)
		if (config->fault[i].class >= MF_FAULT_STAGE_CLASSES &&
		    config->fault[i].class != MF_FAULT_SKEW)
			n += places(config, &config->fault[i]);
	return n;
}

/** One that comes again is late by up to a quarter of `every`, and lasts 3/4 to 5/4 of `length`. */
static mf_time begins(struct outage *o)
{
	const struct mf_config_fault *f = o->rule;
	mf_time at = f->from + o->round * f->every;

	if (f->every == 0)
		return o->round == 0 ? at : MF_NEVER;
	at += mf_rng_below(&o->rng, f->every / 4 + 1);
	o->round++;
	return at < f->until ? at : MF_NEVER;
}

static mf_time ends(struct outage *o)
{
	const struct mf_config_fault *f = o->rule;

	if (f->every != 0)
		return o->at + f->length * 3 / 4 + mf_rng_below(&o->rng, f->length / 2 + 1);
	o->round++;
	return f->until;
}

void outage_init(struct outage *o, const struct mf_config *config, unsigned int rule, unsigned int node)
{
	*o = (struct outage){.rule = &config->fault[rule], .node = (uint16_t)node};
	mf_rng_init(&o->rng, config->seed, "fault outage", (uint64_t)rule << 16 | node);
	o->at = begins(o);
}

void outage_init_end(struct outage *o, const struct mf_config *config, unsigned int rule, unsigned int node,
		     unsigned int end, uint32_t link)
{
	*o = (struct outage){.rule = &config->fault[rule], .node = (uint16_t)node, .link = link};
	mf_rng_init(&o->rng, config->seed, "fault outage", (uint64_t)end << 48 | (uint64_t)rule << 16 | node);
	o->at = begins(o);
}

void outage_init_trunk(struct outage *o, const struct mf_config *config, unsigned int rule, uint32_t link)
{
	*o = (struct outage){.rule = &config->fault[rule], .node = (uint16_t)config->slots, .link = link};
	mf_rng_init(&o->rng, config->seed, "fault outage", 1ULL << 63 | (uint64_t)rule << 32 | link);
	o->at = begins(o);
}

bool outage_step(struct outage *o)
{
	o->on = !o->on;
	o->times += o->on;
	if (!o->on)
		o->at = begins(o);
	else if (o->rule->class == MF_FAULT_STALL) /* its end is in struct stalls: nobody is told of it */
		o->at = MF_NEVER;
	else
		o->at = ends(o);
	return o->on;
}
