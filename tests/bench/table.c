/* SPDX-License-Identifier: BSD-3-Clause */
/* Results for people: a row a line, what stands beside it below. */
#include <string.h>

#include "bench.h"

#define WHAT 58

static void print_text(FILE *out, const char *label, const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	fprintf(out, "%-14s %s\n", label, text != NULL ? text : "not known");
}

static void print_placement(FILE *out, const json_t *cpus)
{
	size_t i;
	json_t *cpu;

	fprintf(out, "%-14s", "placement");
	json_array_foreach(cpus, i, cpu)
		fprintf(out, "%s CPU %d", i > 0 ? "," : "", (int)json_integer_value(cpu));
	fprintf(out, ", in this order\n");
}

void bench_print_header(FILE *out, const json_t *h)
{
	const json_t *machine = json_object_get(h, "machine");

	fprintf(out, "%-14s %s, commit %s, %s build\n", "memfab",
		json_string_value(json_object_get(h, "memfab")),
		json_string_value(json_object_get(h, "commit")),
		json_string_value(json_object_get(h, "buildtype")));
	print_text(out, "DPDK", h, "dpdk");
	print_text(out, "compiler", h, "compiler");
	print_text(out, "CPU", machine, "cpu");
	print_text(out, "governor", machine, "governor");
	print_placement(out, json_object_get(h, "placement"));
	fprintf(out, "%-14s %.2f; priority: nice %d\n", "load average",
		json_real_value(json_object_get(h, "load_average")),
		(int)json_integer_value(json_object_get(h, "nice")));
	fprintf(out, "%-14s %d that got %.0f %% of their CPU time or more, of at most %d, %.2f s each%s\n\n",
		"repetitions", (int)json_integer_value(json_object_get(h, "repetitions")),
		json_real_value(json_object_get(h, "cpu_share_least")) * 100,
		(int)json_integer_value(json_object_get(h, "tries")),
		json_real_value(json_object_get(h, "repetition_seconds")),
		json_is_true(json_object_get(h, "quick")) ? " (quick: only a first look)" : "");
	fprintf(out, "%-*s %-8s %9s %9s %9s %5s  %s\n", WHAT, "", "unit", "median", "min", "max", "of",
		"goal");
}

/** With four digits that say something. */
static void print_number(FILE *out, double v)
{
	double a = v < 0 ? -v : v;

	fprintf(out, " %9.*f", a >= 1000 ? 0 : a >= 100 ? 1 : a >= 10 ? 2 : 3, v);
}

static double best_share(const struct bench_tally *t)
{
	double best = 0;

	for (unsigned int i = 0; i < t->samples; i++)
		if (bench_share(&t->sample[i]) > best)
			best = bench_share(&t->sample[i]);
	return best;
}

/** Every line is printed, so one is wider than the column where it has to be. */
static void print_tally(FILE *out, const char *what, const char *unit, const struct bench_tally *t)
{
	fprintf(out, "%-*s %-8s", WHAT, what, unit);
	if (t->status != BENCH_MEASURED) {
		fprintf(out, " %s", bench_status_name(t->status));
		if (t->status == BENCH_NOISY)
			fprintf(out, ": %u of %u count, the best got %.0f %%", bench_counted(t), t->samples,
				best_share(t) * 100);
		if (t->reason[0] != '\0')
			fprintf(out, ": %s", t->reason);
		return;
	}
	print_number(out, t->median);
	print_number(out, t->min);
	print_number(out, t->max);
	fprintf(out, " %2u/%-2u", bench_counted(t), t->samples);
}

static void print_goal(FILE *out, const struct bench_result *r)
{
	const struct bench_line *l = r->line;

	if (l->goal_kind == BENCH_NO_GOAL)
		return;
	fprintf(out, "  %s%s %g", l->goal_kind == BENCH_GOAL_RATIO ? "ratio " : "",
		l->better == BENCH_LOWER ? "<=" : ">=", l->goal);
	if (bench_has_verdict(r))
		fprintf(out, " %s", bench_met(r) ? "met" : "MISSED");
}

/** Where it ran: the fabric file, and how often a round trip goes from core to core. */
static void print_where(FILE *out, const struct bench_result *r)
{
	const struct bench_line *l = r->line;

	if (l->fabric == NULL && l->crosses < 0 && r->tally.reason[0] == '\0')
		return;
	fprintf(out, "   ");
	if (l->fabric != NULL)
		fprintf(out, " %s", l->fabric);
	if (l->crosses >= 0)
		fprintf(out, "%s crosses from core to core: %d a round trip", l->fabric != NULL ? ";" : "",
			l->crosses);
	if (r->tally.status == BENCH_MEASURED && r->tally.reason[0] != '\0')
		fprintf(out, "; %s", r->tally.reason);
	fprintf(out, "\n");
}

void bench_print(FILE *out, const struct bench_result *r)
{
	print_tally(out, r->line->what, r->line->unit, &r->tally);
	print_goal(out, r);
	fprintf(out, "\n");
	print_where(out, r);
	for (unsigned int i = 0; i < r->besides; i++) {
		char what[BENCH_TEXT + 16];

		snprintf(what, sizeof(what), "    beside: %s", r->beside_line[i]->what);
		print_tally(out, what, r->beside_line[i]->unit, &r->beside[i]);
		if (bench_ratio(r, i) > 0)
			fprintf(out, "  ratio %.3g", bench_ratio(r, i));
		fprintf(out, "\n");
	}
	fflush(out);
}
