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

static bool is_watched(const struct mf_fabric *f, unsigned int node)
{
	return f->config->node[node].up && rule_of(f, node)->on;
}

static bool any_watched(const struct mf_fabric *f)
{
	for (unsigned int i = 0; i < f->nodes; i++)
		if (is_watched(f, i))
			return true;
	return false;
}

int guards_init(struct mf_fabric *f)
{
	int err = 0;

	if (!any_watched(f))
		return 0;
	f->guards = calloc(f->nodes, sizeof(*f->guards));
	if (f->guards == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < f->nodes; i++) {
		struct link_guard *g = &f->guards[i];

		g->on = is_watched(f, i);
		for (int end = 0; end < MF_LINK_ENDS && err == 0; end++)
			err = mf_guard_init(&g->end[end], g->on ? rule_of(f, i)->bad : 0,
					    g->on ? rule_of(f, i)->within : 1);
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

void guards_disable(struct mf_fabric *f, unsigned int node, const struct mf_run_options *options)
{
	struct link_guard *g = &f->guards[node];
	const struct mf_guard *at_node = &g->end[MF_LINK_NODE], *at_switch = &g->end[MF_LINK_SWITCH];

	g->disabled = true;
	g->seen_by = at_node->tripped <= at_switch->tripped ? MF_LINK_NODE : MF_LINK_SWITCH;
	g->cause = (enum mf_guard_cause)g->end[g->seen_by].cause;
	g->at = guard_tripped(g);
	g->times[g->cause]++;
	if (options->disabled != NULL)
		options->disabled(options->disabled_ctx, f->config->node[node].name,
				  g->seen_by == MF_LINK_SWITCH, mf_guard_names[g->cause], g->at);
}

void guards_repair(struct mf_fabric *f, unsigned int node)
{
	struct link_guard *g = &f->guards[node];

	g->disabled = false;
	g->repaired++;
	for (int end = 0; end < MF_LINK_ENDS; end++)
		mf_guard_reset(&g->end[end]);
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

json_t *guards_json(const struct mf_fabric *f)
{
	static const char *const keys[] = {
		[MF_GUARD_BAD] = "bad_blocks", [MF_GUARD_HI_BER] = "hi_ber", [MF_GUARD_LOCK] = "block_lock"};
	json_t *o = json_object(), *links = json_array();
	uint64_t times[MF_GUARD_CAUSES] = {0}, repaired = 0;

	for (unsigned int i = 0; i < f->nodes; i++) {
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
