/* SPDX-License-Identifier: BSD-3-Clause */
/* The result: queries to stores. */
#include <stdlib.h>

#include "fabric/mf_fabric_state.h"
#include "measure/mf_window.h"
#include "result/mf_result.h"

/** Of clients together, of one kind or of all. */
struct sum {
	struct mf_query_stats stats;
	uint64_t rated; /**< what rates count */
};

static void add(struct mf_query_stats *sum, const struct mf_query_stats *s, enum result_what what)
{
	sum->begun += s->begun;
	sum->completed += s->completed;
	sum->failed += s->failed;
	sum->local += s->local;
	if (what == RESULT_COUNTS)
		return;
	mf_hist_merge(&sum->latency, &s->latency);
	mf_hist_merge(&sum->remote, &s->remote);
	mf_hist_merge(&sum->intended, &s->intended);
}

static void put_times(const struct mf_query_stats *s, json_t *o)
{
	json_object_set_new(o, "latency", result_hist(&s->latency));
	if (s->local > 0 && s->remote.count > 0)
		json_object_set_new(o, "remote_latency", result_hist(&s->remote));
	if (s->intended.count > 0)
		json_object_set_new(o, "from_intended_start", result_hist(&s->intended));
}

static json_t *query_json(const struct sum *sum, enum result_what what, const struct mf_window *w)
{
	const struct mf_query_stats *s = &sum->stats;
	json_t *o = json_object();

	if (what != RESULT_TIMES) {
		result_count(o, "begun", s->begun);
		result_count(o, "completed", s->completed);
		result_count(o, "failed", s->failed);
		result_count(o, "local", s->local);
	}
	if (what == RESULT_WHOLE) {
		result_count(o, "rated", sum->rated);
		result_real(o, "rate_per_s", mf_window_rate(w, sum->rated));
	}
	if (what != RESULT_COUNTS)
		put_times(s, o);
	return o;
}

static bool has_store(const struct mf_fabric *f)
{
	for (unsigned int i = 0; i < f->config->workloads; i++)
		if (f->config->workload[i].ycsb.on)
			return true;
	return false;
}

json_t *queries_json(const struct mf_fabric *f, struct result_nodes nodes, enum result_what what,
		     const struct mf_window *w)
{
	struct sum *sum = has_store(f) ? calloc(MF_QUERY_KINDS + 1, sizeof(*sum)) : NULL;
	json_t *o, *kinds;
	uint64_t torn = 0, absent = 0;

	if (sum == NULL)
		return NULL;
	for (unsigned int i = nodes.from; i < nodes.to; i++) {
		const struct mf_client_stats *s =
			f->node[i].client != NULL ? mf_client_stats(f->node[i].client) : NULL;

		for (unsigned int k = 0; k < MF_QUERY_KINDS && s != NULL; k++)
			add(&sum[k].stats, &s->query[k], what);
		for (unsigned int k = 0; k < MF_QUERY_KINDS && s != NULL && what == RESULT_WHOLE; k++)
			sum[k].rated += mf_window_queries(w, s, (enum mf_query_kind)k);
		torn += s != NULL ? s->torn : 0;
		absent += s != NULL ? s->absent : 0;
	}
	o = json_object();
	kinds = json_object();
	for (unsigned int k = 0; k < MF_QUERY_KINDS; k++) {
		add(&sum[MF_QUERY_KINDS].stats, &sum[k].stats, what);
		sum[MF_QUERY_KINDS].rated += sum[k].rated;
		if (sum[k].stats.begun > 0 || sum[k].rated > 0)
			json_object_set_new(kinds, mf_query_kind_name((enum mf_query_kind)k),
					    query_json(&sum[k], what, w));
	}
	json_object_set_new(o, "kinds", kinds);
	json_object_set_new(o, "in_all", query_json(&sum[MF_QUERY_KINDS], what, w));
	if (what != RESULT_TIMES) {
		result_count(o, "torn_fields", torn);
		result_count(o, "absent_fields", absent);
	}
	free(sum);
	return o;
}
