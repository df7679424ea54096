/* SPDX-License-Identifier: BSD-3-Clause */
/* Table 1 of the paper beside what was measured, what its sum leaves out, and the timeline of Figure 5. */
#include <stdio.h>

#include "report/report.h"

#define COLUMN 14

static const char *const kind[] = {"read", "write", "write_ack", "atomic"};
#define KINDS (sizeof(kind) / sizeof(kind[0]))
#define IN_PAPER 2 /**< the first ones */

static const json_t *stages_of(const json_t *result, unsigned int k)
{
	return json_object_get(json_object_get(result, "stages"), kind[k]);
}

/** Reads and writes, which the paper has, always have a column; the others where there are such. */
static bool shown(const json_t *result, unsigned int k)
{
	return k < IN_PAPER || stages_of(result, k) != NULL;
}

/** The parts are the same for all kinds: one that is there names them. */
static const json_t *part_names(const json_t *result)
{
	const json_t *names = NULL;

	for (unsigned int k = 0; names == NULL && k < KINDS; k++)
		names = report_at(stages_of(result, k), "table");
	return names;
}

static void put_table(FILE *out, const json_t *result)
{
	const json_t *names = part_names(result);

	report_head(out, result, "Table 1: first block, one message, idle fabric");
	fprintf(out, "%-*s", REPORT_NAME, "ns");
	for (unsigned int k = 0; k < KINDS; k++)
		if (shown(result, k))
			fprintf(out, k < IN_PAPER ? " %*s %*s" : " %*s", COLUMN, kind[k], COLUMN, "paper");
	fputc('\n', out);
	for (size_t i = 0; i < json_array_size(names); i++) {
		fprintf(out, "%-*s", REPORT_NAME, report_text(json_array_get(names, i), "part"));
		for (unsigned int k = 0; k < KINDS; k++) {
			const json_t *row = json_array_get(report_at(stages_of(result, k), "table"), i);

			if (shown(result, k))
				fprintf(out, " %*.2f", COLUMN, report_real(row, "ns"));
			if (k < IN_PAPER)
				fprintf(out, " %*.2f", COLUMN, report_real(row, "paper_ns"));
		}
		fputc('\n', out);
	}
}

static void put_beyond(FILE *out, const json_t *result)
{
	static const struct {
		const char *path, *name;
	} part[] = {{"sum/fabric_ps", "fabric latency"},
		    {"sum/serialisation_ps", "+ serialisation"},
		    {"sum/check_ps", "+ wait for check"},
		    {"sum/scheduler_ps", "+ scheduler"},
		    {"sum/dram_ps", "+ DRAM"},
		    {"sum/line_ps", "+ wait for the line"},
		    {"sum/sum_ps", "= end to end"}};

	report_head(out, result, "What that sum leaves out");
	for (unsigned int i = 0; i < sizeof(part) / sizeof(part[0]); i++) {
		fprintf(out, "%-*s", REPORT_NAME, part[i].name);
		for (unsigned int k = 0; k < KINDS; k++)
			if (shown(result, k))
				fprintf(out, " %*.2f", k > 0 && k <= IN_PAPER ? 2 * COLUMN + 1 : COLUMN,
					report_real(stages_of(result, k), part[i].path) / 1000);
		fputc('\n', out);
	}
}

static void put_timeline(FILE *out, const json_t *result, unsigned int k)
{
	const json_t *line = report_at(stages_of(result, k), "timeline");
	char title[REPORT_WIDTH / 2];

	if (line == NULL)
		return;
	snprintf(title, sizeof(title), "Figure 5: a %s", kind[k]);
	report_head(out, result, title);
	fprintf(out, "%*s %*s  %-14s %s\n", COLUMN, "from, ns", COLUMN, "to, ns", "at", "stage");
	for (size_t i = 0; i < json_array_size(line); i++) {
		const json_t *s = json_array_get(line, i);

		fprintf(out, "%*.2f %*.2f  %-14s %s\n", COLUMN, report_real(s, "from_ps") / 1000, COLUMN,
			report_real(s, "to_ps") / 1000, report_text(s, "place"), report_text(s, "stage"));
	}
}

void report_stages(FILE *out, const json_t *result)
{
	char n[KINDS + 2][REPORT_NUMBER];

	put_table(out, result);
	put_beyond(out, result);
	for (unsigned int k = 0; k < KINDS; k++)
		report_group(n[k], report_count(stages_of(result, k), "operations"));
	report_line(out, "messages",
		    "%s reads, %s writes, %s write_acks, %s atomics; %s with gaps, %s that differ", n[0],
		    n[1], n[2], n[3],
		    report_group(n[KINDS], report_count(result, "stages/operations_with_gaps")),
		    report_group(n[KINDS + 1], report_count(result, "stages/operations_that_differ")));
	for (unsigned int k = 0; k < KINDS; k++)
		put_timeline(out, result, k);
}
