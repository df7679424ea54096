/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/mf_link_guard.h"

#include <errno.h>
#include <stdlib.h>

#include "fabric/mf_fabric_state.h"
#include "result/result.h"

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

static unsigned int switches(const struct mf_fabric *f)
{
	return f->config->backup.on ? MF_CONFIG_SWITCHES : 1;
}

/** A link without "disable" is watched for local fault where blocks may be damaged. */
static bool is_watched(const struct mf_fabric *f, unsigned int sw, unsigned int node)
{
	return f->config->node[node].up && (rule_of(f, node)->on || any_stage(f->config, sw));
}

static bool any_watched(const struct mf_fabric *f, bool rule)
{
	for (unsigned int sw = 0; sw < switches(f); sw++)
		for (unsigned int i = 0; i < f->nodes; i++)
			if (is_watched(f, sw, i) && (!rule || rule_of(f, i)->on))
				return true;
	return false;
}

static int init(const struct mf_fabric *f, unsigned int sw, unsigned int node)
{
	const struct mf_config_disable *rule = rule_of(f, node);
	struct link_guard *g = &f->guards[sw][node];
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

	if (!any_watched(f, false))
		return 0;
	for (unsigned int sw = 0; sw < switches(f); sw++) {
		f->guards[sw] = calloc(f->nodes, sizeof(*f->guards[sw]));
		if (f->guards[sw] == NULL)
			return -ENOMEM;
		for (unsigned int i = 0; i < f->nodes && err == 0; i++)
			err = init(f, sw, i);
	}
	return err;
}

void guards_fini(struct mf_fabric *f)
{
	for (unsigned int sw = 0; sw < MF_CONFIG_SWITCHES; sw++) {
		for (unsigned int i = 0; i < f->nodes && f->guards[sw] != NULL; i++)
			for (int end = 0; end < MF_LINK_ENDS; end++)
				mf_guard_fini(&f->guards[sw][i].end[end]);
		free(f->guards[sw]);
		f->guards[sw] = NULL;
	}
}

struct mf_guard *guards_of(const struct mf_fabric *f, unsigned int sw, unsigned int node,
			   enum mf_link_end end)
{
	return f->guards[sw] != NULL && f->guards[sw][node].on ? &f->guards[sw][node].end[end] : NULL;
}

static const char *name_of(const struct mf_fabric *f, unsigned int sw)
{
	return sw == 0 ? f->config->sw.name : f->config->backup.name;
}

void guards_disable(struct mf_fabric *f, unsigned int sw, unsigned int node, enum mf_link_end seen_by,
		    const struct mf_run_options *options)
{
	struct link_guard *g = &f->guards[sw][node];

	g->seen_by = seen_by;
	g->cause = (enum mf_guard_cause)g->end[seen_by].cause;
	g->at = g->end[seen_by].tripped;
	g->times[g->cause]++;
	if (g->rule && options->disabled != NULL)
		options->disabled(options->disabled_ctx, f->config->node[node].name, name_of(f, sw),
				  g->seen_by == MF_LINK_SWITCH, mf_guard_names[g->cause], g->at);
}

mf_time guards_over(const struct mf_fabric *f, unsigned int sw, unsigned int node)
{
	const struct mf_config_link *link = &f->config->node[node].link;
	const struct link_guard *g = &f->guards[sw][node];

	if (g->rule)
		return link->disable.repair;
	/*
	 * The window that runs may have bad headers yet to come; the next one has none, so it is over then.
	 */
	return g->cause == MF_GUARD_HI_BER ? 2 * link->ber_window : 1;
}

void guards_repair(struct mf_fabric *f, unsigned int sw, unsigned int node)
{
	struct link_guard *g = &f->guards[sw][node];

	g->repaired++;
	atomic_store_explicit(&g->disabled, false, memory_order_release);
}

/* What the result says of them. */

/** Each link that was disabled, or down for a local fault. @param fn  says what else of it */
static json_t *links_json(const struct mf_fabric *f, bool rule,
			  void (*fn)(const struct link_guard *g, json_t *o))
{
	json_t *links = json_array(), *o;

	for (unsigned int sw = 0; sw < switches(f); sw++) {
		for (unsigned int i = 0; i < f->nodes; i++) {
			const struct link_guard *g = &f->guards[sw][i];

			if (g->rule != rule || g->cause == MF_GUARD_NONE)
				continue;
			o = json_object();
			json_object_set_new(o, "node", json_string(f->config->node[i].name));
			json_object_set_new(o, "switch", json_string(name_of(f, sw)));
			fn(g, o);
			json_array_append_new(links, o);
		}
	}
	return links;
}

static void times_json(const struct link_guard *g, json_t *o)
{
	result_count(o, "hi_ber", g->times[MF_GUARD_HI_BER]);
	result_count(o, "block_lock", g->times[MF_GUARD_LOCK]);
}

static void last_json(const struct link_guard *g, json_t *o)
{
	static const char *const ends[] = {[MF_LINK_NODE] = "node", [MF_LINK_SWITCH] = "switch"};

	json_object_set_new(o, "cause", json_string(mf_guard_names[g->cause]));
	json_object_set_new(o, "seen_by", json_string(ends[g->seen_by]));
	result_count(o, "at_ps", g->at);
	json_object_set_new(o, "disabled", json_boolean(g->disabled));
}

/** Of all links with a rule, or of all without. */
static struct link_guard sum_of(const struct mf_fabric *f, bool rule)
{
	struct link_guard sum = {.on = true};

	for (unsigned int sw = 0; sw < switches(f); sw++) {
		for (unsigned int i = 0; i < f->nodes; i++) {
			const struct link_guard *g = &f->guards[sw][i];

			for (int c = 0; c < MF_GUARD_CAUSES && g->rule == rule; c++)
				sum.times[c] += g->times[c];
			sum.repaired += g->rule == rule ? g->repaired : 0;
		}
	}
	return sum;
}

static json_t *disabled_json(const struct mf_fabric *f)
{
	const struct link_guard sum = sum_of(f, true);
	json_t *o = json_object();

	result_count(o, "bad_blocks", sum.times[MF_GUARD_BAD]);
	times_json(&sum, o);
	result_count(o, "repaired", sum.repaired);
	json_object_set_new(o, "links", links_json(f, true, last_json));
	return o;
}

static json_t *local_faults_json(const struct mf_fabric *f)
{
	const struct link_guard sum = sum_of(f, false);
	json_t *o = json_object();

	times_json(&sum, o);
	json_object_set_new(o, "links", links_json(f, false, times_json));
	return o;
}

void guards_json(const struct mf_fabric *f, json_t *o)
{
	if (f->guards[0] == NULL)
		return;
	if (any_watched(f, true))
		json_object_set_new(o, "disabled", disabled_json(f));
	json_object_set_new(o, "local_faults", local_faults_json(f));
}
