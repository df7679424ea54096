/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/mf_link_guard.h"

#include <errno.h>
#include <stdlib.h>

#include "fabric/mf_fabric_state.h"

static const struct mf_config_disable *rule_of(const struct mf_fabric *f, unsigned int node)
{
	return &f->config->node[node].link.disable;
}

/** Whether the file has faults that may damage blocks on links to a switch: those of stages. */
static bool any_stage(const struct mf_config *config, unsigned int sw)
{
	for (unsigned int k = 0; k < config->faults; k++)
		if (config->fault[k].class < MF_FAULT_STAGE_CLASSES && config->fault[k].sw == sw)
			return true;
	return false;
}

/** A link without "disable" is watched for local fault where blocks may be damaged. */
static bool is_watched(const struct mf_fabric *f, unsigned int sw, unsigned int node)
{
	return f->config->node[node].up && (rule_of(f, node)->on || any_stage(f->config, sw));
}

bool guards_watch(const struct mf_fabric *f, bool rule)
{
	for (unsigned int sw = 0; sw < fabric_planes(f); sw++)
		for (unsigned int i = 0; i < f->nodes; i++)
			if (is_watched(f, sw, i) && (!rule || rule_of(f, i)->on))
				return true;
	return false;
}

static int init(const struct mf_fabric *f, unsigned int sw, unsigned int node)
{
	const struct mf_config_disable *rule = rule_of(f, node);
	struct link_guard *g = &f->guards[fabric_link(f, sw, node)];
	int err = 0;

	g->on = is_watched(f, sw, node);
	g->rule = rule->on;
	for (int end = 0; end < MF_LINK_ENDS && err == 0; end++)
		err = mf_guard_init(&g->end[end], g->rule ? rule->bad : 0, g->rule ? rule->within : 1);
	return err;
}

int guards_init(struct mf_fabric *f)
{
	int err = 0;

	if (!guards_watch(f, false))
		return 0;
	f->guards = calloc(f->graph->links, sizeof(*f->guards));
	if (f->guards == NULL)
		return -ENOMEM;
	for (unsigned int sw = 0; sw < fabric_planes(f); sw++)
		for (unsigned int i = 0; i < f->nodes && err == 0; i++)
			err = init(f, sw, i);
	return err;
}

void guards_fini(struct mf_fabric *f)
{
	for (unsigned int i = 0; f->guards != NULL && i < f->graph->links; i++)
		for (int end = 0; end < MF_LINK_ENDS; end++)
			mf_guard_fini(&f->guards[i].end[end]);
	free(f->guards);
	f->guards = NULL;
}

struct mf_guard *guards_of(const struct mf_fabric *f, unsigned int sw, unsigned int node,
			   enum mf_link_end end)
{
	struct link_guard *g = f->guards != NULL ? &f->guards[fabric_link(f, sw, node)] : NULL;

	return g != NULL && g->on ? &g->end[end] : NULL;
}

void guards_disable(struct mf_fabric *f, unsigned int sw, unsigned int node, enum mf_link_end seen_by,
		    const struct mf_run_options *options)
{
	struct link_guard *g = &f->guards[fabric_link(f, sw, node)];

	g->seen_by = seen_by;
	g->cause = (enum mf_guard_cause)g->end[seen_by].cause;
	g->at = g->end[seen_by].tripped;
	g->times[g->cause]++;
	if (g->rule && options->disabled != NULL)
		options->disabled(options->disabled_ctx, f->config->node[node].name,
				  fabric_switch_name(f, sw, node), g->seen_by == MF_LINK_SWITCH,
				  mf_guard_names[g->cause], g->at);
}

mf_time guards_over(const struct mf_fabric *f, unsigned int sw, unsigned int node)
{
	const struct mf_config_link *link = &f->config->node[node].link;
	const struct link_guard *g = &f->guards[fabric_link(f, sw, node)];

	if (g->rule)
		return link->disable.repair;
	/*
	 * The window that runs may have bad headers yet to come; the next one has none, so it is over then.
	 */
	return g->cause == MF_GUARD_HI_BER ? 2 * link->ber_window : 1;
}

void guards_repair(struct mf_fabric *f, unsigned int sw, unsigned int node)
{
	struct link_guard *g = &f->guards[fabric_link(f, sw, node)];

	g->repaired++;
	atomic_store_explicit(&g->disabled, false, memory_order_release);
}
