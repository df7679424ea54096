/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of memfab-bench. */
#include <criterion/criterion.h>
#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "bench.h"
#include "options.h"

static int parse(struct options *o, const char *a, const char *b)
{
	static char first[64], second[64]; /* the options point into them */
	char program[] = "memfab-bench", err[BENCH_REASON] = "";
	char *argv[] = {program, first, second, NULL};
	int rc;

	snprintf(first, sizeof(first), "%s", a);
	snprintf(second, sizeof(second), "%s", b != NULL ? b : "");
	optind = 0;
	rc = options_parse(o, b != NULL ? 3 : 2, argv, err, sizeof(err));
	cr_assert((rc == 0) == (err[0] == '\0'), "%s %s: a reason, or none needed: %s", a, second, err);
	cr_assert_null(strchr(err, '\n'));
	return rc;
}

Test(bench_options, good)
{
	struct options o;

	cr_assert_eq(parse(&o, "--quick", NULL), 0);
	cr_assert(o.quick);
	cr_assert_eq(o.repetitions, 1);
	cr_assert_eq(parse(&o, "--repetitions", "7"), 0);
	cr_assert_eq(o.repetitions, 7);
	cr_assert_eq(o.share, 95);
	cr_assert_eq(parse(&o, "--share", "0"), 0);
	cr_assert_eq(o.share, 0);
	cr_assert_eq(parse(&o, "--nice", "-20"), 0);
	cr_assert_eq(o.nice, -20);
	cr_assert_eq(parse(&o, "--only", "pcs.*"), 0);
	cr_assert_str_eq(o.only, "pcs.*");
}

Test(bench_options, bad)
{
	static const char *const bad[][2] = {
		{"--repetitions", "0"}, {"--repetitions", "101"}, {"--repetitions", "5x"},
		{"--share", "101"},     {"--share", "-1"},        {"--nice", "20"},
		{"--nice", ""},         {"--cpus", "1,"},         {"--cpus", "3-1"},
		{"--cpus", "x"},        {"--cpus", "0-100"},      {"--unknown", NULL},
		{"--json", NULL},       {"word", NULL},           {"--json", "--quick"},
		{"--emu", "--json=x"},  {"--json=", NULL},        {"--nice=1", "--nice=1"},
	};
	struct options o;

	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_assert_eq(parse(&o, bad[i][0], bad[i][1]), -EINVAL, "%s %s", bad[i][0], bad[i][1]);
}

Test(bench_options, cpus)
{
	unsigned int cpu[4];

	cr_assert_eq(options_cpus("7", cpu, 4), 1);
	cr_assert_eq(cpu[0], 7);
	cr_assert_eq(options_cpus("5,2-3", cpu, 4), 3);
	cr_assert(cpu[0] == 5 && cpu[1] == 2 && cpu[2] == 3);
	cr_assert_eq(options_cpus("0-3", cpu, 4), 4);
	cr_assert_eq(options_cpus("0-4", cpu, 4), -EINVAL);
	cr_assert_eq(options_cpus("", cpu, 4), -EINVAL);
	cr_assert_eq(options_cpus("1-", cpu, 4), -EINVAL);
	cr_assert_eq(options_cpus("1 2", cpu, 4), -EINVAL);
}
