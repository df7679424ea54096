/* SPDX-License-Identifier: BSD-3-Clause */
#include "guards.h"

#include <errno.h>
#include <stdlib.h>

#include "fabric_priv.h"
#include "result_priv.h"

static const struct mf_config_disable *rule_of(const struct mf_fabric *f, unsigned int node)
{
	return &f->config->node[node].link.disable;
}

/** Whether the file has faults that may damage blocks: those of stages. */
static bool any_stage(const struct mf_config *config)
{
	for (unsigned int k = 0; k < config->faults; k++)
		if (config->fault[k].class < MF_FAULT_STAGE_CLASSES)
			return true;
	return false;
}

/** A link without "disable" is watched for local fault where blocks may be damaged, and no backup is. */
static bool is_watched(const struct mf_fabric *f, unsigned int node)
{
	return f->config->node[node].up &&
	       (rule_of(f, node)->on || (any_stage(f->config) && !f->config->backup.on));
}

static bool any_watched(const struct mf_fabric *f, bool rule)
{
	for (unsigned int i = 0; i < f->nodes; i++)
		if (is_watched(f, i) && (!rule || rule_of(f, i)->on))
			return true;
	return false;
}

int guards_init(struct mf_fabric *f)
{
	int err = 0;

	if (!any_watched(f, false))
		return 0;
	f->guards = calloc(f->nodes, sizeof(*f->guards));
	if (f->guards == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < f->nodes; i++) {
		struct link_guard *g = &f->guards[i];

		g->on = is_watched(f, i);
		g->rule = rule_of(f, i)->on;
		for (int end = 0; end < MF_LINK_ENDS && err == 0; end++)
			err = mf_guard_init(&g->end[end], g->rule ? rule_of(f, i)->bad : 0,
					    g->rule ? rule_of(f, i)->within : 1);
	}
	return err;
}

void guards_fini(struct mf_fabric *f)
{
	for (unsigned int i = 0; i < f->nodes && f->guards != NULL; i++)
		for (int end = 0; end < MF_LINK_ENDS; end++)
			mf_guard_fini(&f->guards[i].end[end]);
	free(f->guards);
	f->guards = NULL;
}

struct mf_guard *guards_of(const struct mf_fabric *f, unsigned int node, enum mf_link_end end)
{
	return f->guards != NULL && f->guards[node].on ? &f->guards[node].end[end] : NULL;
}

void guards_disable(struct mf_fabric *f, unsigned int node, enum mf_link_end seen_by,
		    const struct mf_run_options *options)
{
	struct link_guard *g = &f->guards[node];

	g->seen_by = seen_by;
	g->cause = (enum mf_guard_cause)g->end[seen_by].cause;
	g->at = g->end[seen_by].tripped;
	g->times[g->cause]++;
	if (g->rule && options->disabled != NULL)
		options->disabled(options->disabled_ctx, f->config->node[node].name,
				  g->seen_by == MF_LINK_SWITCH, mf_guard_names[g->cause], g->at);
}

mf_time guards_over(const struct mf_fabric *f, unsigned int node)
{
	const struct mf_config_link *link = &f->config->node[node].link;
	const struct link_guard *g = &f->guards[node];

	if (g->rule)
		return link->disable.repair;
	/*
	 * The window that runs may have bad headers yet to come; the next one has none, so it is over then.
	 */
	return g->cause == MF_GUARD_HI_BER ? 2 * link->ber_window : 1;
}

void guards_repair(struct mf_fabric *f, unsigned int node)
{
	struct link_guard *g = &f->guards[node];

	g->repaired++;
	atomic_store_explicit(&g->disabled, false, memory_order_release);
}

static json_t *link_json(const struct mf_fabric *f, unsigned int node)
{
	static const char *const ends[] = {[MF_LINK_NODE] = "node", [MF_LINK_SWITCH] = "switch"};
	const struct link_guard *g = &f->guards[node];
	json_t *o = json_object();

	json_object_set_new(o, "node", json_string(f->config->node[node].name));
	json_object_set_new(o, "cause", json_string(mf_guard_names[g->cause]));
	json_object_set_new(o, "seen_by", json_string(ends[g->seen_by]));
	result_count(o, "at_ps", g->at);
	json_object_set_new(o, "disabled", json_boolean(g->disabled));
	return o;
}

static json_t *disabled_json(const struct mf_fabric *f)
{
	static const char *const keys[] = {
		[MF_GUARD_BAD] = "bad_blocks", [MF_GUARD_HI_BER] = "hi_ber", [MF_GUARD_LOCK] = "block_lock"};
	json_t *o = json_object(), *links = json_array();
	uint64_t times[MF_GUARD_CAUSES] = {0}, repaired = 0;

	for (unsigned int i = 0; i < f->nodes; i++) {
		if (!f->guards[i].rule)
			continue;
		for (int c = 0; c < MF_GUARD_CAUSES; c++)
			times[c] += f->guards[i].times[c];
		repaired += f->guards[i].repaired;
		if (f->guards[i].cause != MF_GUARD_NONE)
			json_array_append_new(links, link_json(f, i));
	}
	for (int c = MF_GUARD_BAD; c < MF_GUARD_CAUSES; c++)
		result_count(o, keys[c], times[c]);
	result_count(o, "repaired", repaired);
	json_object_set_new(o, "links", links);
	return o;
}

static json_t *local_faults_json(const struct mf_fabric *f)
{
	uint64_t hi_ber = 0, lock = 0;
	json_t *o = json_object();

	for (unsigned int i = 0; i < f->nodes; i++) {
		hi_ber += f->guards[i].rule ? 0 : f->guards[i].times[MF_GUARD_HI_BER];
		lock += f->guards[i].rule ? 0 : f->guards[i].times[MF_GUARD_LOCK];
	}
	result_count(o, "hi_ber", hi_ber);
	result_count(o, "block_lock", lock);
	return o;
}

void guards_json(const struct mf_fabric *f, json_t *o)
{
	if (f->guards == NULL)
		return;
	if (any_watched(f, true))
		json_object_set_new(o, "disabled", disabled_json(f));
	json_object_set_new(o, "local_faults", local_faults_json(f));
}
