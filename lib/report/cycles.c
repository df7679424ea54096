/* SPDX-License-Identifier: BSD-3-Clause */
/* The report: where the cycles of an operation go, where the cycle account was compiled in. */
#include <stdio.h>

#include "report/mf_report.h"
#include "report/report.h"

#define LABEL 28
#define LCORES_MAX 6 /* columns that there is room for */

struct table {
	FILE *out;
	double operations, measured;
};

static void put(const struct table *t, const char *name, uint64_t calls, double cycles)
{
	fprintf(t->out, "%-*s ", LABEL, name);
	if (calls > 0)
		fprintf(t->out, "%10.2f", (double)calls / t->operations);
	else
		fprintf(t->out, "%10s", "");
	fprintf(t->out, " %10.1f %7.1f %%", cycles / t->operations, cycles / t->measured * 100);
}

static void put_head(const struct table *t, const json_t *lcores)
{
	json_t *lcore;
	size_t i;

	fprintf(t->out, "%-*s %10s %10s %9s", LABEL, "", "calls", "cycles", "share");
	json_array_foreach(lcores, i, lcore)
		if (json_array_size(lcores) > 1 && i < LCORES_MAX)
			fprintf(t->out, "   lcore %lld", (long long)json_integer_value(lcore));
	fputc('\n', t->out);
}

static void put_stage(const struct table *t, const json_t *stage)
{
	const json_t *each = json_object_get(stage, "lcore_cycles");
	json_t *cycles;
	size_t i;

	put(t, report_text(stage, "stage"), report_count(stage, "calls"), report_real(stage, "cycles"));
	json_array_foreach(each, i, cycles)
		if (json_array_size(each) > 1 && i < LCORES_MAX)
			fprintf(t->out, " %9.1f", json_number_value(cycles) / t->operations);
	fputc('\n', t->out);
}

void mf_fabric_report_cycles(FILE *out, const json_t *run)
{
	const json_t *o = json_object_get(run, "cycles");
	struct table t = {.out = out};
	double sum, outside, away;
	char n[REPORT_NUMBER];
	json_t *stage;
	size_t i;

	t.operations = report_real(o, "operations");
	t.measured = report_real(o, "measured");
	if (!(t.operations > 0) || !(t.measured > 0))
		return;
	fprintf(out, "\nCycles per operation by stage, of %s operations\n",
		report_group(n, report_count(o, "operations")));
	put_head(&t, json_object_get(o, "lcores"));
	json_array_foreach(json_object_get(o, "stages"), i, stage)
		put_stage(&t, stage);
	sum = report_real(o, "sum");
	outside = report_real(o, "outside");
	away = report_real(o, "away");
	put(&t, "sum of the stages", 0, sum);
	fputc('\n', out);
	put(&t, "outside of them", 0, outside);
	fputc('\n', out);
	put(&t, "the account itself", 0, t.measured - sum - outside - away);
	fputc('\n', out);
	put(&t, "away from the CPU", 0, away);
	fputc('\n', out);
	put(&t, "measured", 0, t.measured);
	fputc('\n', out);
}
