/* SPDX-License-Identifier: BSD-3-Clause */
/* The result: queries to stores. */
#include <stdlib.h>

#include "fabric_priv.h"
#include "result_priv.h"

static double window_seconds(const struct mf_fabric *f)
{
	mf_time from = f->at_measure.at, to = f->at_stop.at;

	return to > from ? (double)(to - from) * 1e-12 : 0;
}

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

static json_t *query_json(const struct mf_fabric *f, const struct mf_query_stats *s, enum result_what what)
{
	double t = window_seconds(f);
	json_t *o = json_object();

	if (what != RESULT_TIMES) {
		result_count(o, "begun", s->begun);
		result_count(o, "completed", s->completed);
		result_count(o, "failed", s->failed);
		result_count(o, "local", s->local);
	}
	if (what == RESULT_WHOLE)
		result_real(o, "rate_per_s", t > 0 ? (double)s->completed / t : 0);
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

json_t *queries_json(const struct mf_fabric *f, struct result_nodes nodes, enum result_what what)
{
	struct mf_query_stats *sum = has_store(f) ? calloc(MF_QUERY_KINDS + 1, sizeof(*sum)) : NULL;
	json_t *o, *kinds;
	uint64_t torn = 0, absent = 0;

	if (sum == NULL)
		return NULL;
	for (unsigned int i = nodes.from; i < nodes.to; i++) {
		const struct mf_client_stats *s =
			f->node[i].client != NULL ? mf_client_stats(f->node[i].client) : NULL;

		for (unsigned int k = 0; k < MF_QUERY_KINDS && s != NULL; k++)
			add(&sum[k], &s->query[k], what);
		torn += s != NULL ? s->torn : 0;
		absent += s != NULL ? s->absent : 0;
	}
	o = json_object();
	kinds = json_object();
	for (unsigned int k = 0; k < MF_QUERY_KINDS; k++) {
		add(&sum[MF_QUERY_KINDS], &sum[k], what);
		if (sum[k].begun > 0)
			json_object_set_new(kinds, mf_query_kind_name((enum mf_query_kind)k),
					    query_json(f, &sum[k], what));
	}
	json_object_set_new(o, "kinds", kinds);
	json_object_set_new(o, "in_all", query_json(f, &sum[MF_QUERY_KINDS], what));
	if (what != RESULT_TIMES) {
		result_count(o, "torn_fields", torn);
		result_count(o, "absent_fields", absent);
	}
	free(sum);
	return o;
}
