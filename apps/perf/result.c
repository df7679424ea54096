/* SPDX-License-Identifier: BSD-3-Clause */
#include "result.h"

#include "hist_summary.h"

static void set(json_t *o, const char *key, uint64_t value)
{
	json_object_set_new(o, key, json_integer((json_int_t)value));
}

static void set_real(json_t *o, const char *key, double value)
{
	json_object_set_new(o, key, json_real(value));
}

static json_t *buckets_json(const struct mf_hist *h)
{
	json_t *array = json_array();

	for (unsigned int i = 0; i < MF_HIST_BUCKETS; i++)
		if (h->bucket[i] != 0)
			json_array_append_new(array, json_pack("[I, I]", (json_int_t)mf_hist_low(i),
							       (json_int_t)h->bucket[i]));
	return array;
}

static json_t *series_json(const struct series *s)
{
	struct hist_summary f = hist_summary_of(s->hist);
	json_t *o = json_object();

	json_object_set_new(o, "operation", json_string(mf_config_mix_name(s->kind)));
	json_object_set_new(o, "latency", json_string(latency_name(s->latency)));
	set(o, "count", f.count);
	set_real(o, "min_ns", f.min);
	set_real(o, "max_ns", f.max);
	set_real(o, "mean_ns", f.mean);
	set_real(o, "stdev_ns", f.stdev);
	set_real(o, "p50_ns", f.p50);
	set_real(o, "p90_ns", f.p90);
	set_real(o, "p99_ns", f.p99);
	set_real(o, "p99.9_ns", f.p99_9);
	set_real(o, "p99.99_ns", f.p99_99);
	json_object_set_new(o, "histogram_ps", buckets_json(s->hist));
	return o;
}

static json_t *bandwidth_json(const struct outcome *o)
{
	json_t *b = json_object();

	set(b, "operations", o->operations);
	set(b, "octets", o->octets);
	set_real(b, "peak_octets_per_s", o->peak);
	set_real(b, "average_octets_per_s", outcome_bandwidth(o));
	set_real(b, "operations_per_s", outcome_rate(o));
	if (o->offered > 0) {
		set_real(b, "offered_operations_per_s", o->offered);
		json_object_set_new(b, "saturated", json_boolean(outcome_saturated(o)));
	}
	return b;
}

/** What this run differs in from the others of its test. */
static void point_json(const struct run *r, const struct point *p, json_t *o)
{
	set(o, "size", p->size);
	if (r->test.kind == TEST_LOADED_LATENCY)
		set(o, "delay_ps", p->delay);
	if (p->compute >= 0)
		json_object_set_new(o, "compute", json_string(r->config->node[p->compute].name));
	if (p->memory >= 0)
		json_object_set_new(o, "memory", json_string(r->config->node[p->memory].name));
}

static json_t *outcome_json(const struct run *r, const struct outcome *o)
{
	json_t *json = json_object(), *latencies = json_array();

	point_json(r, &o->point, json);
	set(json, "iterations", o->iterations);
	set(json, "measured_from_ps", o->from);
	set(json, "measured_to_ps", o->to);
	json_object_set_new(json, "bandwidth", bandwidth_json(o));
	for (unsigned int i = 0; i < o->count; i++)
		json_array_append_new(latencies, series_json(&o->series[i]));
	json_object_set_new(json, "latency_of_probe", json_boolean(o->probed));
	json_object_set_new(json, "latencies", latencies);
	set(json, "failed", o->failed);
	set(json, "verified", o->verified);
	set(json, "unverified", o->unverified);
	set(json, "mismatches", o->mismatches);
	json_object_set_new(json, "interrupted", json_boolean(o->interrupted));
	json_object_set_new(json, "sound", json_boolean(o->sound));
	if (!o->sound)
		json_object_set_new(json, "reason", json_string(o->reason));
	json_object_set(json, "config", o->config);
	json_object_set(json, "run", o->run);
	return json;
}

static json_t *test_json(const struct run *r)
{
	const struct test *t = &r->test;
	uint64_t iterations = t->all ? t->iterations : test_iterations(t, test_size(t));
	json_t *o = json_object();

	json_object_set_new(o, "name", json_string(test_info(t->kind)->name));
	json_object_set_new(o, "clock", json_string(r->clock == MF_CLOCK_VIRTUAL ? "virtual" : "wall"));
	json_object_set_new(o, "loop", json_string(t->rate > 0 ? "open" : "closed"));
	set(o, "clients", test_clients(t, r->config));
	if (t->rate == 0 || t->depth != 0)
		set(o, "depth", test_depth(t));
	json_object_set_new(o, "pattern", json_string(mf_config_pattern_name(t->pattern)));
	if (t->rate > 0) {
		set_real(o, "rate_per_s", t->rate);
		set(o, "burst", t->burst > 1 ? t->burst : 1);
	}
	if (iterations > 0)
		set(o, "iterations", iterations);
	else if (!t->forever && !t->all)
		set(o, "duration_ps", test_duration(t, r->clock));
	return o;
}

json_t *result_json(const struct run *r)
{
	json_t *all = json_object(), *runs = json_array();
	const char *why;

	json_object_set_new(all, "memfab_perf", json_string(MF_VERSION));
	json_object_set_new(all, "test", test_json(r));
	for (int i = 0; i < r->done; i++)
		json_array_append_new(runs, outcome_json(r, &r->outcome[i]));
	json_object_set_new(all, "runs", runs);
	json_object_set_new(all, "complete", json_boolean(r->done == r->points));
	json_object_set_new(all, "sound", json_boolean(run_sound(r, &why)));
	return all;
}
