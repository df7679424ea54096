/* SPDX-License-Identifier: BSD-3-Clause */
#include "outcome.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOLERANCE 0.02 /* as for the result's "saturated" */
#define DEVIATIONS 4

static const struct {
	const char *name, *meaning;
} latencies[LATENCIES] = {
	[LATENCY_ROUND_TRIP] = {"round_trip", "full round trip, from submission to completion"},
	[LATENCY_ACKNOWLEDGED] = {"acknowledged_round_trip",
				  "full round trip, from submission to the acknowledgement"},
	[LATENCY_EFFECT] = {"time_to_effect", "from submission to the effect at the memory node"},
	[LATENCY_INTENDED] = {"from_intended_start", "from the intended start to completion"},
};

const char *latency_name(enum latency l)
{
	return latencies[l].name;
}

const char *latency_meaning(enum latency l)
{
	return latencies[l].meaning;
}

double outcome_bandwidth(const struct outcome *o)
{
	return o->to > o->from ? (double)o->octets * 1e12 / (double)(o->to - o->from) : 0;
}

double outcome_rate(const struct outcome *o)
{
	return o->to > o->from ? (double)o->operations * 1e12 / (double)(o->to - o->from) : 0;
}

/* Of offered operations that come at random a few square roots are missing at times, counted in bursts. */
bool outcome_saturated(const struct outcome *o)
{
	double offered = o->offered * (double)(o->to - o->from) * 1e-12,
	       missing = offered - (double)o->operations;

	return missing > TOLERANCE * offered && missing > DEVIATIONS * sqrt(offered * o->burst);
}

const struct mf_hist *outcome_latency(const struct outcome *o, enum mf_mix kind, enum latency l)
{
	for (unsigned int i = 0; i < o->count; i++)
		if (o->series[i].kind == kind && o->series[i].latency == l)
			return o->series[i].hist;
	return NULL;
}

struct mf_hist *outcome_merged(const struct outcome *o, bool intended)
{
	struct mf_hist *all = calloc(1, sizeof(*all));

	for (unsigned int i = 0; i < o->count && all != NULL; i++)
		if ((o->series[i].latency == LATENCY_INTENDED) == intended)
			mf_hist_merge(all, o->series[i].hist);
	return all;
}

/** Clients of one workload. */
static void add_client(struct mf_client_stats *sum, const struct mf_client_stats *s)
{
	for (unsigned int k = 0; k < MF_CLIENT_KINDS; k++) {
		sum->kind[k].completed += s->kind[k].completed;
		sum->kind[k].octets += s->kind[k].octets;
		mf_hist_merge(&sum->kind[k].latency, &s->kind[k].latency);
		mf_hist_merge(&sum->kind[k].intended, mf_client_intended(s, (enum mf_client_kind)k));
	}
	sum->failed_all += s->failed_all;
	sum->verified += s->verified;
	sum->unverified += s->unverified;
	sum->mismatches += s->mismatches;
}

static void sum_clients(const struct mf_fabric *f, const struct mf_config *config, int workload,
			struct mf_client_stats *sum)
{
	memset(sum, 0, sizeof(*sum));
	for (unsigned int i = 0; i < config->slots; i++)
		if (config->node[i].up && config->node[i].workload == workload)
			add_client(sum, mf_fabric_client(f, i));
}

static int add_series(struct outcome *o, enum mf_mix kind, enum latency l, const struct mf_hist *h)
{
	struct series *s = &o->series[o->count];

	if (h == NULL || h->count == 0)
		return 0;
	*s = (struct series){.kind = kind, .latency = l, .hist = malloc(sizeof(*s->hist))};
	if (s->hist == NULL)
		return -ENOMEM;
	*s->hist = *h;
	o->count++;
	return 0;
}

/** A write that is not acknowledged completes when it has left: that is no latency of the fabric. */
static int take_series(struct outcome *o, const struct mf_client_stats *s, const struct mf_fabric *f)
{
	int rc = add_series(o, MF_MIX_WRITE, LATENCY_EFFECT,
			    s->kind[MF_CLIENT_WRITE].completed > 0 ? mf_fabric_effect(f) : NULL);

	for (unsigned int k = 0; k < MF_CLIENT_KINDS && rc == 0; k++) {
		if (k == MF_CLIENT_WRITE)
			continue;
		rc = add_series(o, (enum mf_mix)k,
				k == MF_CLIENT_WRITE_ACK ? LATENCY_ACKNOWLEDGED : LATENCY_ROUND_TRIP,
				&s->kind[k].latency);
		if (rc == 0)
			rc = add_series(o, (enum mf_mix)k, LATENCY_INTENDED, &s->kind[k].intended);
	}
	return rc;
}

/** What its rates count of a client. */
static void add_rated(struct outcome *o, const struct mf_window *w, const struct mf_client_stats *s)
{
	for (unsigned int k = 0; k < MF_CLIENT_KINDS; k++) {
		struct mf_client_done done = mf_window_counts(w, s, (enum mf_client_kind)k);

		o->operations += done.operations;
		o->octets += done.octets;
		o->iterations += s->kind[k].completed;
	}
}

static void take_load(struct outcome *o, const struct mf_fabric *f, const struct mf_config *config)
{
	const struct mf_window w = mf_fabric_window(f);

	o->from = w.from;
	o->to = w.to;
	for (unsigned int i = 0; i < config->slots; i++)
		if (config->node[i].up && config->node[i].workload == 0)
			add_rated(o, &w, mf_fabric_client(f, i));
}

static void take_verdict(struct outcome *o, const struct mf_client_stats *s)
{
	o->failed += s->failed_all;
	o->verified += s->verified;
	o->mismatches += s->mismatches;
	o->unverified += s->unverified;
}

static int take_json(struct outcome *o, const struct mf_fabric *f, const struct mf_config *config)
{
	json_t *all = mf_fabric_result(f);

	o->run = json_incref(json_object_get(all, "run"));
	json_decref(all);
	o->config = mf_config_to_json(config);
	return o->run != NULL && o->config != NULL ? 0 : -ENOMEM;
}

int outcome_take(struct outcome *o, const struct mf_fabric *f, const struct mf_config *config, double peak)
{
	struct mf_client_stats *sum = malloc(sizeof(*sum));
	int rc;

	if (sum == NULL)
		return -ENOMEM;
	sum_clients(f, config, 0, sum);
	take_load(o, f, config);
	take_verdict(o, sum);
	o->probed = config->workloads > 1;
	if (o->probed) {
		sum_clients(f, config, 1, sum);
		take_verdict(o, sum);
	}
	rc = take_series(o, sum, f);
	free(sum);
	o->peak = peak > outcome_bandwidth(o) ? peak : outcome_bandwidth(o);
	o->interrupted = mf_fabric_info(f)->interrupted;
	o->sound = mf_fabric_sound(f, o->reason, sizeof(o->reason));
	if (o->sound && o->iterations == 0) {
		o->sound = false;
		snprintf(o->reason, sizeof(o->reason), "no samples: %s",
			 o->interrupted ? "interrupted in the warm-up, or just behind it"
					: "nothing completed behind the warm-up");
	}
	return rc == 0 ? take_json(o, f, config) : rc;
}

void outcome_fini(struct outcome *o)
{
	for (unsigned int i = 0; i < o->count; i++)
		free(o->series[i].hist);
	json_decref(o->run);
	json_decref(o->config);
	o->count = 0;
	o->run = o->config = NULL;
}
