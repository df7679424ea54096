/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "argument.h"
#include "bench.h"
#include "options.h"

enum {
	OPT_LIST = 256,
	OPT_ONLY,
	OPT_REPETITIONS,
	OPT_JSON,
	OPT_QUICK,
	OPT_CPUS,
	OPT_NICE,
	OPT_SHARE,
	OPT_EMU,
	OPT_FABRICS,
	OPT_HELP
};

static const struct option table[] = {
	{"list", no_argument, NULL, OPT_LIST},
	{"only", required_argument, NULL, OPT_ONLY},
	{"repetitions", required_argument, NULL, OPT_REPETITIONS},
	{"json", required_argument, NULL, OPT_JSON},
	{"quick", no_argument, NULL, OPT_QUICK},
	{"cpus", required_argument, NULL, OPT_CPUS},
	{"share", required_argument, NULL, OPT_SHARE},
	{"nice", required_argument, NULL, OPT_NICE},
	{"emu", required_argument, NULL, OPT_EMU},
	{"fabrics", required_argument, NULL, OPT_FABRICS},
	{"help", no_argument, NULL, OPT_HELP},
	{NULL, 0, NULL, 0},
};

static const char help[] =
	"usage: memfab-bench [options]\n"
	"\n"
	"Measures the parts of memfab and whole fabrics, with references beside them.\n"
	"\n"
	"  --list            names all lines and ends\n"
	"  --only PATTERNS   only lines with such a name: shell patterns with commas between, in quotes\n"
	"  --repetitions N   that have to count, 1 to 100 (default 5); three times as many are tried\n"
	"  --json FILE       writes the results as JSON, too\n"
	"  --quick           short repetitions, one of which has to count: only a first look\n"
	"  --share PERCENT   of their CPU time that repetitions must have got to count (default 95)\n"
	"  --cpus LIST       CPUs to run on, in this order, such as 2,4-5 (default: all that we may use)\n"
	"  --nice N          priority, -20 to 19; below 0 needs root, and takes from others (default 0)\n"
	"  --emu FILE        memfab-emu (default: that of the same build)\n"
	"  --fabrics FOLDER  fabric files (default: those of the sources)\n"
	"  --help\n"
	"\n"
	"Exit status: 0 all lines were measured, skipped for a reason, or found the host too noisy;\n"
	"1 a line failed; 2 the command line is faulty.\n";

void options_help(void)
{
	fputs(help, stdout);
}

static bool number(const char **s, unsigned int *out)
{
	unsigned long value;
	char *end;

	if (**s < '0' || **s > '9')
		return false;
	errno = 0;
	value = strtoul(*s, &end, 10);
	*s = end;
	*out = (unsigned int)value;
	return errno == 0 && value < 1024;
}

int options_cpus(const char *s, unsigned int *cpu, unsigned int room)
{
	unsigned int n = 0, first, last;

	do {
		if (!number(&s, &first))
			return -EINVAL;
		last = first;
		if (*s == '-' && (s++, !number(&s, &last) || last < first))
			return -EINVAL;
		for (; first <= last; first++) {
			if (n == room)
				return -EINVAL;
			cpu[n++] = first;
		}
	} while (*s == ',' && *++s != '\0');
	return *s == '\0' && s[-1] != ',' ? (int)n : -EINVAL;
}

static int read_repetitions(struct options *o, const char *s, char *err, size_t errlen)
{
	const char *end = s;

	if (number(&end, &o->repetitions) && *end == '\0' && o->repetitions >= 1 &&
	    o->repetitions <= BENCH_REPETITIONS_MAX)
		return 0;
	snprintf(err, errlen, "--repetitions: '%s' is not a number from 1 to %d", s, BENCH_REPETITIONS_MAX);
	return -EINVAL;
}

static int read_cpus(struct options *o, const char *s, char *err, size_t errlen)
{
	unsigned int cpu[BENCH_CPUS];

	o->cpus = s;
	if (options_cpus(s, cpu, BENCH_CPUS) > 0)
		return 0;
	snprintf(err, errlen, "--cpus: '%s' is not a list such as 2,4-5 of at most %d", s, BENCH_CPUS);
	return -EINVAL;
}

static int read_share(struct options *o, const char *s, char *err, size_t errlen)
{
	const char *end = s;

	if (number(&end, &o->share) && *end == '\0' && o->share <= 100)
		return 0;
	snprintf(err, errlen, "--share: '%s' is not a number from 0 to 100", s);
	return -EINVAL;
}

static int read_nice(struct options *o, const char *s, char *err, size_t errlen)
{
	char *end;
	long value = strtol(s, &end, 10);

	if (end != s && *end == '\0' && value >= -20 && value <= 19) {
		o->nice = (int)value;
		return 0;
	}
	snprintf(err, errlen, "--nice: '%s' is not a number from -20 to 19", s);
	return -EINVAL;
}

static int read_one(struct options *o, int opt, const char *arg, char *err, size_t errlen)
{
	switch (opt) {
	case OPT_LIST:
		o->list = true;
		return 0;
	case OPT_ONLY:
		o->only = arg;
		return 0;
	case OPT_REPETITIONS:
		return read_repetitions(o, arg, err, errlen);
	case OPT_JSON:
		o->json = arg;
		return 0;
	case OPT_QUICK:
		o->quick = true;
		return 0;
	case OPT_CPUS:
		return read_cpus(o, arg, err, errlen);
	case OPT_SHARE:
		return read_share(o, arg, err, errlen);
	case OPT_NICE:
		return read_nice(o, arg, err, errlen);
	case OPT_EMU:
		o->emu = arg;
		return 0;
	case OPT_FABRICS:
		o->fabrics = arg;
		return 0;
	default:
		o->help = true;
		return ARGUMENT_ENOUGH;
	}
}

static int take(void *options, int opt, const char *arg, char *err, size_t errlen)
{
	return read_one(options, opt, arg, err, errlen);
}

int options_parse(struct options *o, int argc, char **argv, char *err, size_t errlen)
{
	static const int files[] = {OPT_JSON, OPT_EMU, OPT_FABRICS, 0};
	const struct argument_reader reader = {
		.letters = ":", .table = table, .take = take, .options = o, .files = files};
	int rc;

	*o = (struct options){.share = (unsigned int)(BENCH_SHARE * 100)};
	rc = argument_options(&reader, argc, argv, err, errlen);
	if (rc == ARGUMENT_ENOUGH)
		return 0;
	if (rc == 0 && optind < argc) {
		snprintf(err, errlen, "'%s' is no option", argv[optind]);
		return -EINVAL;
	}
	if (o->repetitions == 0)
		o->repetitions = o->quick ? 1 : BENCH_REPETITIONS;
	return rc;
}
