/* SPDX-License-Identifier: BSD-3-Clause */
/* The report: messages of the log by kind and size, absolute and normalised. */
#include <stdio.h>

#include "report/report.h"

#define COLUMN 11
#define LABEL 24

static void put_summary(FILE *out, const json_t *o, const char *suffix, int digits)
{
	static const char *const key[] = {"mean", "p50", "p99", "p99.9", "max"};

	for (unsigned int i = 0; i < sizeof(key) / sizeof(key[0]); i++) {
		char name[16];

		snprintf(name, sizeof(name), "%s%s", key[i], suffix);
		fprintf(out, " %*.*f", COLUMN, digits, json_number_value(json_object_get(o, name)));
	}
	fputc('\n', out);
}

static void put_group(FILE *out, const json_t *o, const char *name)
{
	const json_t *normalised = json_object_get(o, "normalised");
	char count[REPORT_NUMBER];

	fprintf(out, "%-*s %*s", LABEL, name, COLUMN, report_group(count, report_count(o, "count")));
	put_summary(out, json_object_get(o, "latency"), "_ns", 2);
	if (normalised == NULL)
		return;
	fprintf(out, "%-*s %*s", LABEL, "  normalised", COLUMN, "");
	put_summary(out, normalised, "", 4);
}

static void put_sizes(FILE *out, const json_t *sizes)
{
	json_t *size;
	size_t i;

	json_array_foreach(sizes, i, size) {
		char name[2 * REPORT_NUMBER], a[REPORT_NUMBER], b[REPORT_NUMBER];

		snprintf(name, sizeof(name), "%s to %s B", report_group(a, report_count(size, "from_octets")),
			 report_group(b, report_count(size, "to_octets")));
		put_group(out, size, name);
	}
}

void report_messages(FILE *out, const json_t *result)
{
	const json_t *o = json_object_get(result, "messages");
	char a[REPORT_NUMBER], b[REPORT_NUMBER], c[REPORT_NUMBER];
	const char *name;
	json_t *kind;

	if (o == NULL)
		return;
	report_head(out, result, "Messages, ns from intended start to last octet at the receiver");
	fprintf(out, "%-*s %*s %*s %*s %*s %*s %*s\n", LABEL, "", COLUMN, "messages", COLUMN, "mean", COLUMN,
		"p50", COLUMN, "p99", COLUMN, "p99.9", COLUMN, "max");
	if (json_object_get(o, "all") != NULL)
		put_group(out, json_object_get(o, "all"), "all");
	json_object_foreach(json_object_get(o, "kinds"), name, kind)
		put_group(out, kind, name);
	put_sizes(out, json_object_get(o, "sizes"));
	report_line(out, "not whole", "%s failed, %s without effect, %s under way",
		    report_group(a, report_count(o, "failed")), report_group(b, report_count(o, "no_effect")),
		    report_group(c, report_count(o, "under_way")));
}
