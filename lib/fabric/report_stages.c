/* SPDX-License-Identifier: BSD-3-Clause */
/* Table 1 of the paper beside what was measured, what its sum leaves out, and the timeline of Figure 5. */
#include "report_priv.h"

#define COLUMN 14

static const char *const kind[] = {"read", "write"};
#define KINDS (sizeof(kind) / sizeof(kind[0]))

static const json_t *stages_of(const json_t *result, unsigned int k)
{
	return json_object_get(json_object_get(result, "stages"), kind[k]);
}

/** The parts are the same for both kinds: the kind that is there names them. */
static const json_t *part_names(const json_t *result)
{
	const json_t *first = report_at(stages_of(result, 0), "table");

	return first != NULL ? first : report_at(stages_of(result, 1), "table");
}

static void put_table(FILE *out, const json_t *result)
{
	const json_t *names = part_names(result);

	report_head(out, result, "Table 1: first block, one message, idle fabric");
	fprintf(out, "%-*s", REPORT_NAME, "ns");
	for (unsigned int k = 0; k < KINDS; k++)
		fprintf(out, " %*s %*s", COLUMN, kind[k], COLUMN, "paper");
	fputc('\n', out);
	for (size_t i = 0; i < json_array_size(names); i++) {
		fprintf(out, "%-*s", REPORT_NAME, report_text(json_array_get(names, i), "part"));
		for (unsigned int k = 0; k < KINDS; k++) {
			const json_t *row = json_array_get(report_at(stages_of(result, k), "table"), i);

			fprintf(out, " %*.2f %*.2f", COLUMN, report_real(row, "ns"), COLUMN,
				report_real(row, "paper_ns"));
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
			fprintf(out, " %*.2f", k > 0 ? 2 * COLUMN + 1 : COLUMN,
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
	char n[4][REPORT_NUMBER];

	put_table(out, result);
	put_beyond(out, result);
	report_line(out, "messages", "%s reads, %s writes; %s with gaps, %s that differ",
		    report_group(n[0], report_count(stages_of(result, 0), "operations")),
		    report_group(n[1], report_count(stages_of(result, 1), "operations")),
		    report_group(n[2], report_count(result, "stages/operations_with_gaps")),
		    report_group(n[3], report_count(result, "stages/operations_that_differ")));
	for (unsigned int k = 0; k < KINDS; k++)
		put_timeline(out, result, k);
}
