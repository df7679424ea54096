/* SPDX-License-Identifier: BSD-3-Clause */
/* The result: operations and frames. */
#include <stdlib.h>

#include "fabric/mf_fabric_state.h"
#include "measure/mf_window.h"
#include "result/mf_result.h"

/** Of clients together. */
struct sum {
	struct mf_client_stats stats;
	struct mf_client_done rated[MF_CLIENT_KINDS]; /**< what rates count */
};

/* Operations */

static void add_times(struct mf_client_stats *sum, const struct mf_client_stats *s, unsigned int k)
{
	mf_hist_merge(&sum->kind[k].latency, &s->kind[k].latency);
	mf_hist_merge(&sum->kind[k].intended, mf_client_intended(s, (enum mf_client_kind)k));
	mf_hist_merge(&sum->kind[k].first, mf_client_first(s, (enum mf_client_kind)k));
}

static void add_kind(struct mf_client_stats *sum, const struct mf_client_stats *s, unsigned int k)
{
	sum->kind[k].begun += s->kind[k].begun;
	sum->kind[k].completed += s->kind[k].completed;
	sum->kind[k].failed += s->kind[k].failed;
	sum->kind[k].octets += s->kind[k].octets;
	sum->kind[k].failed_max = mf_time_max(sum->kind[k].failed_max, s->kind[k].failed_max);
}

static void add_rated(struct sum *sum, const struct mf_client_stats *s, const struct mf_window *w)
{
	for (unsigned int k = 0; k < MF_CLIENT_KINDS; k++) {
		struct mf_client_done done = mf_window_counts(w, s, (enum mf_client_kind)k);

		sum->rated[k].operations += done.operations;
		sum->rated[k].octets += done.octets;
	}
}

static void add_client(struct mf_client_stats *sum, const struct mf_client_stats *s, enum result_what what)
{
	for (unsigned int k = 0; k < MF_CLIENT_KINDS; k++) {
		add_kind(sum, s, k);
		if (what != RESULT_COUNTS)
			add_times(sum, s, k);
	}
	sum->begun_all += s->begun_all;
	sum->completed_all += s->completed_all;
	sum->failed_all += s->failed_all;
	for (unsigned int i = 0; i < MF_STATUSES; i++)
		sum->failed_status[i] += s->failed_status[i];
	sum->verified += s->verified;
	sum->unverified += s->unverified;
	sum->mismatches += s->mismatches;
	sum->restarts += s->restarts;
	sum->denied += s->denied;
	sum->tasks += s->tasks;
	sum->tasks_done += s->tasks_done;
	sum->refused += s->refused;
	sum->last_done = mf_time_max(sum->last_done, s->last_done);
}

static void put_times(const struct mf_client_kind_stats *s, json_t *o)
{
	json_object_set_new(o, "latency", result_hist(&s->latency));
	if (s->first.count > 0)
		json_object_set_new(o, "first_block", result_hist(&s->first));
	if (s->intended.count > 0)
		json_object_set_new(o, "from_intended_start", result_hist(&s->intended));
}

static void put_rates(const struct mf_client_done *rated, const struct mf_window *w, json_t *o)
{
	result_count(o, "rated", rated->operations);
	result_count(o, "rated_octets", rated->octets);
	result_real(o, "rate_per_s", mf_window_rate(w, rated->operations));
	result_real(o, "goodput_gbps", mf_window_rate(w, rated->octets) * 8e-9);
}

static json_t *kind_json(const struct mf_client_kind_stats *s, const struct mf_client_done *rated,
			 enum result_what what, const struct mf_window *w)
{
	json_t *o = json_object();

	if (what != RESULT_TIMES) {
		result_count(o, "begun", s->begun);
		result_count(o, "completed", s->completed);
		result_count(o, "failed", s->failed);
		if (s->failed_max > 0)
			result_count(o, "failed_ps_max", s->failed_max);
	}
	if (what == RESULT_WHOLE)
		put_rates(rated, w, o);
	if (what != RESULT_COUNTS)
		put_times(s, o);
	return o;
}

/** Those of which some were measured, or count for a rate. */
static json_t *kinds_json(const struct sum *sum, enum result_what what, const struct mf_window *w)
{
	json_t *o = json_object();

	for (unsigned int k = 0; k < MF_CLIENT_KINDS; k++)
		if (sum->stats.kind[k].begun > 0 || sum->rated[k].operations > 0)
			json_object_set_new(o, mf_client_kind_name(k),
					    kind_json(&sum->stats.kind[k], &sum->rated[k], what, w));
	return o;
}

/** What rates are over: mf_window.h. */
static json_t *rates_json(const struct mf_window *w)
{
	static const char *const reason[] = {[MF_WINDOW_SHORT] = "steady_state_is_short",
					     [MF_WINDOW_EARLY] = "more_completed_than_arrived"};
	json_t *o = json_object();

	json_object_set_new(
		o, "count",
		json_string(w->reason == MF_WINDOW_FITS ? "completed_in_steady_state" : "measured"));
	if (w->reason != MF_WINDOW_FITS)
		json_object_set_new(o, "reason", json_string(reason[w->reason]));
	result_count(o, "from_ps", w->from);
	result_count(o, "to_ps", w->to);
	return o;
}

static json_t *mismatch_json(const struct mf_fabric *f, unsigned int node)
{
	const struct mf_client_mismatch *m = &mf_client_stats(f->node[node].client)->mismatch;
	json_t *o = json_object();

	json_object_set_new(o, "node", json_string(f->config->node[node].name));
	json_object_set_new(o, "kind", json_string(mf_client_kind_name((enum mf_client_kind)m->kind)));
	json_object_set_new(o, "memory_node", json_string(f->config->node[m->node].name));
	result_count(o, "address", m->addr);
	result_count(o, "octets", m->octets);
	return o;
}

/** Each client tells the first of its own; none is told where all data was right. */
static void put_first_mismatches(const struct mf_fabric *f, struct result_nodes nodes, json_t *o)
{
	json_t *all = json_array();

	for (unsigned int i = nodes.from; i < nodes.to; i++)
		if (f->node[i].client != NULL && mf_client_stats(f->node[i].client)->mismatches > 0)
			json_array_append_new(all, mismatch_json(f, i));
	if (json_array_size(all) > 0)
		json_object_set(o, "first_mismatches", all);
	json_decref(all);
}

/** What sinks have compared; absent where there are none. */
static void put_sinks(const struct mf_fabric *f, struct result_nodes nodes, json_t *o)
{
	struct mf_memory_checked sum = {0};
	json_t *sinks;
	bool any = false;

	for (unsigned int i = nodes.from; i < nodes.to; i++) {
		const struct node *n = &f->node[i];
		const struct mf_memory_checked *c;

		if (n->memory == NULL || n->memory_ops->checked == NULL)
			continue;
		c = n->memory_ops->checked(n->memory);
		sum.writes += c->writes;
		sum.octets += c->octets;
		sum.wrong += c->wrong;
		any = true;
	}
	if (!any)
		return;
	sinks = json_object();
	result_count(sinks, "writes", sum.writes);
	result_count(sinks, "octets", sum.octets);
	result_count(sinks, "wrong", sum.wrong);
	json_object_set_new(o, "sinks", sinks);
}

/** Of all kinds together, and of the whole run. */
static void put_counts(const struct mf_fabric *f, const struct mf_client_stats *sum, json_t *o)
{
	json_t *failed = json_object();

	for (unsigned int i = 1; i < MF_STATUSES; i++)
		result_count(failed, mf_status_name((uint8_t)i), sum->failed_status[i]);
	result_count(o, "begun_all", sum->begun_all);
	result_count(o, "completed_all", sum->completed_all);
	result_count(o, "failed_all", sum->failed_all);
	json_object_set_new(o, "failed_by_cause", failed);
	result_count(o, "verified", sum->verified);
	result_count(o, "unverified", sum->unverified);
	result_count(o, "mismatches", sum->mismatches);
	result_count(o, "restarts_seen", sum->restarts);
	if (sum->tasks > 0) {
		result_count(o, "denied", sum->denied);
		result_count(o, "tasks", sum->tasks);
		result_count(o, "tasks_done", sum->tasks_done);
	}
	if (fabric_lost_writes(f) != 0)
		result_count(o, "lost_writes", fabric_lost_writes(f));
	result_count(o, "refused", sum->refused);
	result_count(o, "last_done_ps", sum->last_done);
}

json_t *operations_json(const struct mf_fabric *f, struct result_nodes nodes, enum result_what what,
			const struct mf_window *w)
{
	struct sum *sum = calloc(1, sizeof(*sum));
	json_t *o = json_object(), *queries = queries_json(f, nodes, what, w);

	if (sum == NULL) {
		json_decref(queries);
		return o;
	}
	for (unsigned int i = nodes.from; i < nodes.to; i++) {
		if (f->node[i].client == NULL)
			continue;
		add_client(&sum->stats, mf_client_stats(f->node[i].client), what);
		if (what == RESULT_WHOLE)
			add_rated(sum, mf_client_stats(f->node[i].client), w);
	}
	if (what == RESULT_WHOLE)
		json_object_set_new(o, "rates", rates_json(w));
	json_object_set_new(o, "kinds", kinds_json(sum, what, w));
	if (queries != NULL)
		json_object_set_new(o, "queries", queries);
	if (what != RESULT_TIMES) {
		put_counts(f, &sum->stats, o);
		put_first_mismatches(f, nodes, o);
		put_sinks(f, nodes, o);
	}
	free(sum);
	return o;
}

/* Frames */

static void add_frames(struct mf_ether_stats *sum, const struct mf_ether_stats *s)
{
	sum->sent += s->sent;
	sum->received += s->received;
	sum->octets += s->octets;
	sum->refused += s->refused;
	sum->lost += s->lost;
	sum->duplicated += s->duplicated;
	sum->damaged += s->damaged;
	sum->foreign += s->foreign;
	sum->early += s->early;
}

static void put_frames(const struct mf_ether_stats *sum, json_t *o)
{
	result_count(o, "sent", sum->sent);
	result_count(o, "received", sum->received);
	result_count(o, "octets", sum->octets);
	result_count(o, "refused", sum->refused);
	result_count(o, "gaps", sum->lost);
	result_count(o, "duplicated", sum->duplicated);
	result_count(o, "damaged", sum->damaged);
	result_count(o, "foreign", sum->foreign);
	if (sum->early > 0)
		result_count(o, "early", sum->early);
}

json_t *frames_json(const struct mf_fabric *f, struct result_nodes nodes, enum result_what what)
{
	struct mf_ether_stats *sum = calloc(1, sizeof(*sum));
	json_t *o = json_object();

	if (sum == NULL)
		return o;
	for (unsigned int i = nodes.from; i < nodes.to; i++) {
		if (f->node[i].ether == NULL)
			continue;
		add_frames(sum, mf_ether_stats(f->node[i].ether));
		if (what != RESULT_COUNTS)
			mf_hist_merge(&sum->latency, &mf_ether_stats(f->node[i].ether)->latency);
	}
	if (what != RESULT_TIMES)
		put_frames(sum, o);
	if (what == RESULT_WHOLE && fabric_whole(f))
		result_count(o, "missing", sum->sent - sum->received);
	if (sum->latency.count > 0)
		json_object_set_new(o, "latency", result_hist(&sum->latency));
	free(sum);
	return o;
}
