/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line: what it means. What it may not say is tested with the program. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "options.h"
#include "setting.h"

#define ARGS 32

/** Splits at blanks. */
static int parse(const char *line, struct options *o, char *err, size_t errlen)
{
	/* What the options keep of the command line, they keep by its address. */
	static char text[512], name[] = "memfab-perf", *argv[ARGS + 1];
	char *rest;
	int argc = 1;

	argv[0] = name;
	snprintf(text, sizeof(text), "%s", line);
	for (char *a = strtok_r(text, " ", &rest); a != NULL; a = strtok_r(NULL, " ", &rest)) {
		cr_assert_lt(argc, ARGS);
		argv[argc++] = a;
	}
	argv[argc] = NULL;
	return options_parse(o, argc, argv, err, errlen);
}

static struct options good(const char *line)
{
	struct options o;
	char err[512];

	cr_assert_eq(parse(line, &o, err, sizeof(err)), 0, "%s: %s", line, err);
	return o;
}

Test(options, all_of_them)
{
	struct options o =
		good("read_bw -s 4KiB -n 77 -t 5 -q 3 --rate 2.5M --burst 8 --pattern zipf "
		     "--report_gbits --out_json a --clock virtual --warmup 5us --seed 9 --no-verify f");

	cr_assert_eq(o.action, ACTION_RUN);
	cr_assert_eq(o.test.kind, TEST_READ_BW);
	cr_assert_eq(o.test.size, 4096);
	cr_assert_eq(o.test.iterations, 77);
	cr_assert_eq(o.test.depth, 5);
	cr_assert_eq(o.test.clients, 3);
	cr_assert_float_eq(o.test.rate, 2.5e6, 1e-6);
	cr_assert_eq(o.test.burst, 8);
	cr_assert_eq(o.test.pattern, MF_CONFIG_ZIPF_TARGET);
	cr_assert(o.gbits && o.test.unverified && o.has_seed && o.has_warmup && !o.test.forever);
	cr_assert_eq(o.seed, 9);
	cr_assert_eq(o.warmup, MF_US(5));
	cr_assert_str_eq(o.json, "a");
	cr_assert_str_eq(o.file, "f");
	cr_assert_eq(o.clock, MF_CLOCK_VIRTUAL);
}

Test(options, test_and_file_stand_anywhere)
{
	cr_assert_eq(good("-n 5 write_lat f").test.kind, TEST_WRITE_LAT);
	cr_assert_eq(good("write_lat f -n 5").test.iterations, 5);
	cr_assert_str_eq(good("write_lat f -n 5").file, "f");
	cr_assert(good("-i f").interactive);
	cr_assert_eq(good("-i mixed f").test.kind, TEST_MIXED);
	cr_assert_str_eq(good("--cmdline-file c f").commands, "c");
}

Test(options, durations_and_rates)
{
	cr_assert_eq(good("read_lat -D 3 f").test.duration, MF_SEC(3));
	cr_assert_eq(good("read_lat -D 0.25 f").test.duration, MF_MS(250));
	cr_assert_eq(good("read_lat -D 2us f").test.duration, MF_US(2));
	cr_assert_float_eq(good("read_lat --rate 7 f").test.rate, 7, 1e-9);
	cr_assert_float_eq(good("read_lat --rate 7k f").test.rate, 7e3, 1e-6);
	cr_assert_float_eq(good("read_lat --rate 1.5G f").test.rate, 1.5e9, 1);
	cr_assert_eq(good("read_lat --rate off f").test.rate, 0);
	cr_assert_eq(good("read_lat --stats-period 2 f").stats_period, MF_SEC(2));
	cr_assert_eq(good("read_lat -q all f").test.clients, TEST_CLIENTS_ALL);
	cr_assert(good("read_lat -s all f").test.all && good("read_lat -a f").test.all);
}

Test(options, a_prompt_runs_until_it_is_stopped)
{
	cr_assert(good("-i f").test.forever);
	cr_assert(good("--cmdline-file c f").test.forever);
	cr_assert_not(good("-i -n 5 read_lat f").test.forever);
	cr_assert_not(good("read_lat f").test.forever);
}

Test(options, eal_has_its_own)
{
	struct options o = good("-l 0-1 --no-huge -- read_lat -n 5 f");

	cr_assert(o.eal.given);
	cr_assert_eq(o.eal.count, 3);
	cr_assert_str_eq(o.eal.argv[2], "--no-huge");
	cr_assert_eq(o.test.iterations, 5);
	cr_assert_not(good("-- read_lat f").eal.given);
}

Test(options, help_and_version_end_it)
{
	cr_assert_eq(good("--help").action, ACTION_HELP);
	cr_assert_eq(good("-h").action, ACTION_HELP);
	cr_assert_eq(good("read_lat --version --nonsense").action, ACTION_VERSION);
}

Test(options, mixes)
{
	struct options o = good("mixed --mix read:60,write:30.5,cas f");
	char err[512];

	cr_assert_eq(o.test.mix[MF_MIX_READ], 60);
	cr_assert_eq(o.test.mix[MF_MIX_WRITE], 30.5);
	cr_assert_eq(o.test.mix[MF_MIX_CAS], 1);
	cr_assert_eq(parse("mixed --mix write: f", &o, err, sizeof(err)), -EINVAL);
	cr_assert_eq(parse("mixed --mix , f", &o, err, sizeof(err)), -EINVAL);
	cr_assert_eq(parse("mixed --mix read:-1 f", &o, err, sizeof(err)), -EINVAL);
	cr_assert_eq(good("mixed --mix write:0,read:1e3 f").test.mix[MF_MIX_READ], 1000);
}

/* Whatever is set, a name of a setting finds it, and each has a line to show. */
Test(options, settings_have_names)
{
	for (enum setting s = 0; s < SETTINGS; s++) {
		cr_assert_eq(setting_find(setting_name(s)), s);
		cr_assert_gt(strlen(setting_option(s)), 0);
	}
	cr_assert_eq(setting_find("nonsense"), SETTINGS);
}
