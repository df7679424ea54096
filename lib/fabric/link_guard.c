/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/mf_link_guard.h"

#include <errno.h>
#include <stdlib.h>

#include "config/mf_config_query.h"
#include "fabric/mf_fabric_state.h"

static const struct mf_config_disable *rule_of(const struct mf_fabric *f, uint32_t link)
{
	return &fabric_link_config(f, link)->disable;
}

/** Whether a rule is about a link between two nodes by one of these. */
static bool is_of_node(const struct mf_fabric *f, const struct mf_config_fault *r, uint32_t link)
{
	for (int side = 0; side < MF_LINK_ENDS && fabric_is_direct(f, link); side++) {
		const struct mf_end *e = &f->graph->end[f->graph->link[link].end[side]];

		if (fabric_fault_at(f, r, e->role, e->port))
			return true;
	}
	return false;
}

/** Whether the file has faults that may damage blocks on links to a switch, or on a link of another kind. */
static bool any_stage(const struct mf_fabric *f, uint32_t link)
{
	bool trunk = fabric_is_trunk(f, link);
	const struct mf_config *config = f->config;

	for (unsigned int k = 0; k < config->faults; k++) {
		const struct mf_config_fault *r = &config->fault[k];

		if (r->class >= MF_FAULT_STAGE_CLASSES)
			continue;
		if (is_of_node(f, r, link))
			return true;
		if (trunk ? mf_config_fault_has(
				    config, r, (unsigned int)(f->trunk[link - f->node_links] - config->trunk),
				    NULL)
			  : r->sw == (config->backup.on ? link / f->nodes : 0))
			return true;
	}
	return false;
}

/** A link without "disable" is watched for local fault where blocks may be damaged. */
static bool is_watched(const struct mf_fabric *f, uint32_t link)
{
	if (!fabric_is_trunk(f, link) && !f->config->node[fabric_link_node(f, link)].up)
		return false;
	return rule_of(f, link)->on || any_stage(f, link);
}

bool guards_watch(const struct mf_fabric *f, bool rule)
{
	for (uint32_t i = 0; i < f->graph->links; i++)
		if (is_watched(f, i) && (!rule || rule_of(f, i)->on))
			return true;
	return false;
}

static int init(const struct mf_fabric *f, uint32_t link)
{
	const struct mf_config_disable *rule = rule_of(f, link);
	struct link_guard *g = &f->guards[link];
	int err = 0;

	g->on = is_watched(f, link);
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
	for (uint32_t i = 0; i < f->graph->links && err == 0; i++)
		err = init(f, i);
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

struct mf_guard *guards_of(const struct mf_fabric *f, uint32_t link, enum mf_link_end end)
{
	struct link_guard *g = f->guards != NULL ? &f->guards[link] : NULL;

	return g != NULL && g->on ? &g->end[end] : NULL;
}

const char *guards_end_name(const struct mf_fabric *f, uint32_t link, enum mf_link_end end)
{
	static const char *const ends[] = {[MF_LINK_NODE] = "node", [MF_LINK_SWITCH] = "switch"};

	return fabric_is_trunk(f, link) ? fabric_link_role_name(f, link, end) : ends[end];
}

void guards_disable(struct mf_fabric *f, uint32_t link, enum mf_link_end seen_by,
		    const struct mf_run_options *options)
{
	struct link_guard *g = &f->guards[link];

	g->seen_by = seen_by;
	g->cause = (enum mf_guard_cause)g->end[seen_by].cause;
	g->at = g->end[seen_by].tripped;
	g->times[g->cause]++;
	if (g->rule && options->disabled != NULL)
		options->disabled(options->disabled_ctx, fabric_link_role_name(f, link, MF_LINK_NODE),
				  fabric_link_role_name(f, link, MF_LINK_SWITCH),
				  guards_end_name(f, link, seen_by), mf_guard_names[g->cause], g->at);
}

mf_time guards_over(const struct mf_fabric *f, uint32_t link)
{
	const struct mf_config_link *c = fabric_link_config(f, link);
	const struct link_guard *g = &f->guards[link];

	if (g->rule)
		return c->disable.repair;
	/*
	 * The window that runs may have bad headers yet to come; the next one has none, so it is over then.
	 */
	return g->cause == MF_GUARD_HI_BER ? 2 * c->ber_window : 1;
}

void guards_repair(struct mf_fabric *f, uint32_t link)
{
	struct link_guard *g = &f->guards[link];

	g->repaired++;
	atomic_store_explicit(&g->disabled, false, memory_order_release);
}
