/* SPDX-License-Identifier: BSD-3-Clause */
/* Of the result: links that corruption disables, or puts into local fault. */
#include "fabric/mf_fabric_state.h"
#include "fabric/mf_link_guard.h"
#include "result/mf_result.h"

static void put_ends(const struct mf_fabric *f, uint32_t link, json_t *o)
{
	const char *one = fabric_link_role_name(f, link, MF_LINK_NODE),
		   *other = fabric_link_role_name(f, link, MF_LINK_SWITCH);
	json_t *between;

	if (!fabric_is_trunk(f, link)) {
		json_object_set_new(o, "node", json_string(one));
		json_object_set_new(o, "switch", json_string(other));
		return;
	}
	between = json_array();
	json_array_append_new(between, json_string(one));
	json_array_append_new(between, json_string(other));
	json_object_set_new(o, "between", between);
	result_count(o, "number", fabric_parallel(f, link));
}

/** Each link that was disabled, or down for a local fault. @param fn  says what else of it */
static json_t *links_json(const struct mf_fabric *f, bool rule,
			  void (*fn)(const struct mf_fabric *f, uint32_t link, json_t *o))
{
	json_t *links = json_array(), *o;

	for (uint32_t i = 0; i < f->graph->links; i++) {
		const struct link_guard *g = &f->guards[i];

		if (g->rule != rule || g->cause == MF_GUARD_NONE)
			continue;
		o = json_object();
		put_ends(f, i, o);
		fn(f, i, o);
		json_array_append_new(links, o);
	}
	return links;
}

static void put_times(const struct link_guard *g, json_t *o)
{
	result_count(o, "hi_ber", g->times[MF_GUARD_HI_BER]);
	result_count(o, "block_lock", g->times[MF_GUARD_LOCK]);
}

static void times_json(const struct mf_fabric *f, uint32_t link, json_t *o)
{
	put_times(&f->guards[link], o);
}

static void last_json(const struct mf_fabric *f, uint32_t link, json_t *o)
{
	const struct link_guard *g = &f->guards[link];

	json_object_set_new(o, "cause", json_string(mf_guard_names[g->cause]));
	json_object_set_new(o, "seen_by", json_string(guards_end_name(f, link, g->seen_by)));
	result_count(o, "at_ps", g->at);
	json_object_set_new(o, "disabled", json_boolean(g->disabled));
}

/** Of all links with a rule, or of all without. */
static struct link_guard sum_of(const struct mf_fabric *f, bool rule)
{
	struct link_guard sum = {.on = true};

	for (uint32_t i = 0; i < f->graph->links; i++) {
		const struct link_guard *g = &f->guards[i];

		for (int c = 0; c < MF_GUARD_CAUSES && g->rule == rule; c++)
			sum.times[c] += g->times[c];
		sum.repaired += g->rule == rule ? g->repaired : 0;
	}
	return sum;
}

static json_t *disabled_json(const struct mf_fabric *f)
{
	const struct link_guard sum = sum_of(f, true);
	json_t *o = json_object();

	result_count(o, "bad_blocks", sum.times[MF_GUARD_BAD]);
	put_times(&sum, o);
	result_count(o, "repaired", sum.repaired);
	json_object_set_new(o, "links", links_json(f, true, last_json));
	return o;
}

static json_t *local_faults_json(const struct mf_fabric *f)
{
	const struct link_guard sum = sum_of(f, false);
	json_t *o = json_object();

	put_times(&sum, o);
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
