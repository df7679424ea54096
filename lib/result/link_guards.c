/* SPDX-License-Identifier: BSD-3-Clause */
/* Of the result: links that corruption disables, or puts into local fault. */
#include "fabric/mf_fabric_state.h"
#include "fabric/mf_link_guard.h"
#include "result/mf_result.h"

/** Each link that was disabled, or down for a local fault. @param fn  says what else of it */
static json_t *links_json(const struct mf_fabric *f, bool rule,
			  void (*fn)(const struct link_guard *g, json_t *o))
{
	json_t *links = json_array(), *o;

	for (unsigned int sw = 0; sw < fabric_planes(f); sw++) {
		for (unsigned int i = 0; i < f->nodes; i++) {
			const struct link_guard *g = &f->guards[fabric_link(f, sw, i)];

			if (g->rule != rule || g->cause == MF_GUARD_NONE)
				continue;
			o = json_object();
			json_object_set_new(o, "node", json_string(f->config->node[i].name));
			json_object_set_new(o, "switch", json_string(fabric_switch_name(f, sw, i)));
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

	for (unsigned int sw = 0; sw < fabric_planes(f); sw++) {
		for (unsigned int i = 0; i < f->nodes; i++) {
			const struct link_guard *g = &f->guards[fabric_link(f, sw, i)];

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
	if (f->guards == NULL)
		return;
	if (guards_watch(f, true))
		json_object_set_new(o, "disabled", disabled_json(f));
	json_object_set_new(o, "local_faults", local_faults_json(f));
}
