/* SPDX-License-Identifier: BSD-3-Clause */
/* Results as JSON: docs/bench.schema.json. */
#include "bench.h"

const char *bench_status_name(enum bench_status status)
{
	static const char *const name[BENCH_STATUSES] = {"measured", "noisy host", "skipped", "failed"};

	return name[status];
}

static json_t *samples_json(const struct bench_tally *t)
{
	json_t *all = json_array();

	for (unsigned int i = 0; i < t->samples; i++)
		json_array_append_new(all,
				      json_pack("{s:f, s:f, s:b}", "value", t->sample[i].value, "cpu_share",
						bench_share(&t->sample[i]), "counts", bench_counts(t, i)));
	return all;
}

static void add_tally(json_t *o, const struct bench_tally *t)
{
	json_object_set_new(o, "status", json_string(bench_status_name(t->status)));
	if (t->reason[0] != '\0')
		json_object_set_new(o, "note", json_string(t->reason));
	if (t->status == BENCH_MEASURED) {
		json_object_set_new(o, "median", json_real(t->median));
		json_object_set_new(o, "min", json_real(t->min));
		json_object_set_new(o, "max", json_real(t->max));
	}
	json_object_set_new(o, "repetitions", samples_json(t));
}

static json_t *line_json(const struct bench_line *l)
{
	json_t *o = json_object();

	json_object_set_new(o, "name", json_string(l->name));
	json_object_set_new(o, "what", json_string(l->what));
	json_object_set_new(o, "unit", json_string(l->unit));
	json_object_set_new(o, "better", json_string(l->better == BENCH_LOWER ? "lower" : "higher"));
	if (l->crosses >= 0)
		json_object_set_new(o, "core_crossings", json_integer(l->crosses));
	return o;
}

static json_t *goal_json(const struct bench_result *r)
{
	json_t *o = json_object();

	json_object_set_new(o, "of", json_string(r->line->goal_kind == BENCH_GOAL ? "figure" : "ratio"));
	json_object_set_new(o, r->line->better == BENCH_LOWER ? "at_most" : "at_least",
			    json_real(r->line->goal));
	if (bench_has_verdict(r))
		json_object_set_new(o, "met", json_boolean(bench_met(r)));
	return o;
}

static json_t *beside_json(const struct bench_result *r, unsigned int i)
{
	json_t *o = line_json(r->beside_line[i]);

	add_tally(o, &r->beside[i]);
	if (bench_ratio(r, i) > 0)
		json_object_set_new(o, "ratio", json_real(bench_ratio(r, i)));
	return o;
}

json_t *bench_json(const struct bench_result *r)
{
	json_t *o = line_json(r->line), *beside = json_array();

	if (r->fabric != NULL)
		json_object_set(o, "fabric", r->fabric);
	if (r->line->goal_kind != BENCH_NO_GOAL)
		json_object_set_new(o, "goal", goal_json(r));
	add_tally(o, &r->tally);
	for (unsigned int i = 0; i < r->besides; i++)
		json_array_append_new(beside, beside_json(r, i));
	json_object_set_new(o, "beside", beside);
	return o;
}
