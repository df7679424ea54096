/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>

#include "argument.h"
#include "base/mf_number.h"
#include "cpus.h"
#include "tree.h"

#define NOISE 0.2 /* seconds */
#define NOISE_MAX 60

enum { OPT_LCORES = 256, OPT_RUN, OPT_NOISE, OPT_JSON, OPT_ROOT, OPT_VERSION };

static const char short_options[] = ":h";
static const struct option table[] = {
	{"lcores", required_argument, NULL, OPT_LCORES}, {"run", required_argument, NULL, OPT_RUN},
	{"noise", required_argument, NULL, OPT_NOISE},   {"json", required_argument, NULL, OPT_JSON},
	{"root", required_argument, NULL, OPT_ROOT},     {"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPT_VERSION},     {NULL, 0, NULL, 0},
};

static const int files[] = {OPT_JSON, OPT_ROOT, 0};

static const char help[] =
	"usage: memfab-doctor [options] [FABRIC.json]\n"
	"\n"
	"Looks at the machine and says what keeps memfab from running well on it, a line for each thing:\n"
	"pass, warn or fail, what was found, and what to type against it. Changes nothing.\n"
	"With a fabric file it looks whether that fits, too.\n"
	"\n"
	"  --lcores LIST     lcores as EAL takes them: 1-3, 0@2,1@3, (0-1)@2 (default: the CPUs that are\n"
	"                    isolated, or all that this process may use; not more than there are roles)\n"
	"  --run ROLES       what this machine plays of the fabric, as memfab-emu has it (default: all)\n"
	"  --noise SECS      how long it listens to each of their CPUs; 0: not at all (default: 0.2)\n"
	"  --json FILE       writes it as JSON, too (docs/doctor.schema.json)\n"
	"  --root DIR        reads /proc, /sys and /dev below DIR and does not listen; for tests\n"
	"  -h, --help, --version\n"
	"\n"
	"Exit status: 0 nothing failed; 1 something did, or the JSON could not be written; 2 the command\n"
	"line or the fabric file is faulty: one line says why.\n";

void options_help(void)
{
	fputs(help, stdout);
}

static int read_lcores(struct options *o, const char *arg, char *err, size_t errlen)
{
	o->lcores = cpus_lcores(arg, &o->cpus);
	if (o->lcores > 0)
		return 0;
	return argument_refuse(err, errlen, "--lcores: '%s' is not a list such as 1-3 or 0@2,1@3", arg);
}

static int read_noise(struct options *o, const char *arg, char *err, size_t errlen)
{
	const char *end = mf_number_real(arg, &o->noise);

	if (end != NULL && *end == '\0' && o->noise <= NOISE_MAX)
		return 0;
	return argument_refuse(err, errlen, "--noise: '%s' is not a number of seconds from 0 to %d", arg,
			       NOISE_MAX);
}

static int read_root(struct options *o, const char *arg, char *err, size_t errlen)
{
	o->root = arg;
	if (tree_exists(arg, "/."))
		return 0;
	return argument_refuse(err, errlen, "--root: '%s' is no folder", arg);
}

static int read_one(struct options *o, int opt, const char *arg, char *err, size_t errlen)
{
	switch (opt) {
	case OPT_LCORES:
		return read_lcores(o, arg, err, errlen);
	case OPT_RUN:
		o->roles = arg;
		return 0;
	case OPT_NOISE:
		return read_noise(o, arg, err, errlen);
	case OPT_JSON:
		o->json = arg;
		return 0;
	case OPT_ROOT:
		return read_root(o, arg, err, errlen);
	case 'h':
		o->help = true;
		return 0;
	default:
		o->version = true;
		return 0;
	}
}

static int take(void *options, int opt, const char *arg, char *err, size_t errlen)
{
	struct options *o = options;
	int rc = read_one(o, opt, arg, err, errlen);

	return rc == 0 && (o->help || o->version) ? ARGUMENT_ENOUGH : rc;
}

int options_parse(struct options *o, int argc, char **argv, char *err, size_t errlen)
{
	const struct argument_reader reader = {
		.letters = short_options,
		.table = table,
		.take = take,
		.options = o,
		.files = files,
	};
	int rc;

	*o = (struct options){.root = "", .noise = NOISE};
	rc = argument_options(&reader, argc, argv, err, errlen);
	if (rc != 0)
		return rc == ARGUMENT_ENOUGH ? 0 : rc;
	if (optind + 1 < argc)
		return argument_refuse(err, errlen, "more than one file, see --help");
	if (optind < argc)
		o->file = argv[optind];
	if (o->roles != NULL && o->file == NULL)
		return argument_refuse(err, errlen, "--run has no effect without a fabric file");
	return 0;
}
