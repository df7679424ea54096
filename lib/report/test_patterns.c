/* SPDX-License-Identifier: BSD-3-Clause */
/* The report on links that carried a test pattern. */
#include <stdio.h>

#include "report/report.h"

static void put_test(FILE *out, const json_t *o)
{
	char name[REPORT_NAME + 1], n[5][REPORT_NUMBER];

	snprintf(name, sizeof(name), "%.*s %s", REPORT_NAME - 6, report_text(o, "node"),
		 report_text(o, "direction"));
	report_line(out, name, "%s: %s blocks checked, %s errors; %s wrong bits were made",
		    report_text(o, "pattern"), report_group(n[0], report_count(o, "checked")),
		    report_group(n[1], report_count(o, "errors")),
		    report_group(n[2], report_count(o, "wrong_bits")));
	if (report_count(o, "unlocked") > 0 || report_count(o, "no_signal") > 0)
		report_line(out, "", "%s without block lock (lost %s times), %s without a signal",
			    report_group(n[3], report_count(o, "unlocked")),
			    report_group(n[4], report_count(o, "locks_lost")),
			    report_group(n[0], report_count(o, "no_signal")));
}

void report_tests(FILE *out, const json_t *result)
{
	const json_t *tests = json_object_get(result, "test_patterns"), *o;
	size_t i;

	if (tests == NULL)
		return;
	report_head(out, result, "Test patterns");
	json_array_foreach(tests, i, o)
		put_test(out, o);
}
