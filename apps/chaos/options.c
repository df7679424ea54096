/* SPDX-License-Identifier: BSD-3-Clause */
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "argument.h"
#include "base/mf_seeded_bug.h"
#include "campaign.h"
#include "options.h"

#define RUNS 1000
#define SMALLER 200
#define SMALLER_MAX 1000000
#define RUNS_MAX UINT64_C(1000000000000)
#define MINUTES_MAX (30 * 24 * 60)

enum {
	OPT_RUNS = 256,
	OPT_MINUTES,
	OPT_SEED,
	OPT_CLASSES,
	OPT_JOBS,
	OPT_SMALLER,
	OPT_OUT,
	OPT_CASE,
	OPT_PRINT,
	OPT_LINK,
	OPT_PLANT,
	OPT_PLANTS,
	OPT_HELP,
	OPT_VERSION
};

static const struct option table[] = {
	{"runs", required_argument, NULL, OPT_RUNS},
	{"minutes", required_argument, NULL, OPT_MINUTES},
	{"seed", required_argument, NULL, OPT_SEED},
	{"classes", required_argument, NULL, OPT_CLASSES},
	{"jobs", required_argument, NULL, OPT_JOBS},
	{"smaller", required_argument, NULL, OPT_SMALLER},
	{"out", required_argument, NULL, OPT_OUT},
	{"case", no_argument, NULL, OPT_CASE},
	{"print", no_argument, NULL, OPT_PRINT},
	{"link", no_argument, NULL, OPT_LINK},
#ifdef MF_WITH_SEEDED_BUGS
	{"plant", required_argument, NULL, OPT_PLANT},
	{"plants", no_argument, NULL, OPT_PLANTS},
#endif
	{"help", no_argument, NULL, OPT_HELP},
	{"version", no_argument, NULL, OPT_VERSION},
	{NULL, 0, NULL, 0},
};

static const int files[] = {OPT_OUT, 0};
static const struct argument_apart apart[] = {{OPT_CASE, OPT_PRINT}, {0, 0}};

static const char help[] =
	"usage: memfab-chaos [options] FABRIC.json\n"
	"       memfab-chaos --case CASE.json\n"
	"       memfab-chaos --link [options]\n"
	"       memfab-chaos --history FILE...\n"
	"\n"
	"Runs fabrics, workloads and faults at random under the virtual clock, and judges each run\n"
	"(docs/chaos.md). The file says which nodes there may be; all else is drawn from a seed.\n"
	"\n"
	"  --runs N        so many, of seeds one after the other (default: 1000)\n"
	"  --minutes M     as many as can be begun in that time; with --runs: whichever ends first\n"
	"  --seed S        the first seed (default: 1)\n"
	"  --classes A,B   faults of these classes only (default: all)\n"
	"  --jobs N        so many at a time (default: CPUs that there are)\n"
	"  --smaller N     so many runs at most that make a case smaller with which something is wrong\n"
	"                  (default: 200)\n"
	"  --out DIR       where a case is written with which something is wrong (default: here)\n"
	"  --case          the file is a case: it is run and judged as it is\n"
	"  --print         prints the case of the seed instead\n"
	"  --link          no fabric: two ends of a link between processes, and a wire that does what\n"
	"                  it likes\n"
	"  --history       nothing is run: the files are histories of memfab-emu or memfab-perf, all of one\n"
	"                  run, and it is judged whether they are linearizable (docs/history.md)\n"
#ifdef MF_WITH_SEEDED_BUGS
	"  --plant NAME    with this bug\n"
	"  --plants        prints what there is\n"
#endif
	"  --help, --version\n"
	"\n"
	"The first case with which something is wrong ends the campaign. It is made smaller, written to\n"
	"a file, and the command that repeats it is printed.\n"
	"\n"
	"Exit status: 0 nothing was wrong, and each class of faults has fired; 1 something was, or one\n"
	"has not, which is asked of 100 runs and more only; 2 the command line or the file is faulty: one\n"
	"line says why, nothing was started.\n";

void options_help(void)
{
	fputs(help, stdout);
}

static int choose(struct options *o, const char *name, size_t len, char *err, size_t errlen)
{
	for (unsigned int i = 0; i < MF_FAULT_CLASSES; i++)
		if (strlen(mf_fault_names[i]) == len && memcmp(mf_fault_names[i], name, len) == 0) {
			if (o->classes.on[i])
				return argument_refuse(err, errlen, "--classes: '%.*s' is named twice",
						       (int)len, name);
			o->classes.on[i] = true;
			return 0;
		}
	return argument_refuse(err, errlen, "--classes: there is no class '%.*s'", (int)len, name);
}

static int read_classes(struct options *o, const char *arg, char *err, size_t errlen)
{
	int rc;

	memset(&o->classes, 0, sizeof(o->classes));
	o->chosen = true;
	do {
		size_t len = strcspn(arg, ",");

		rc = choose(o, arg, len, err, errlen);
		arg += len;
	} while (rc == 0 && *arg++ == ',');
	return rc;
}

static int read_one(struct options *o, int opt, const char *arg, char *err, size_t errlen)
{
	switch (opt) {
	case OPT_RUNS:
		return argument_count("--runs", arg, 1, RUNS_MAX, &o->runs, err, errlen);
	case OPT_MINUTES:
		return argument_count("--minutes", arg, 1, MINUTES_MAX, &o->minutes, err, errlen);
	case OPT_SEED:
		return argument_seed("--seed", arg, &o->seed, err, errlen);
	case OPT_CLASSES:
		return read_classes(o, arg, err, errlen);
	case OPT_JOBS:
		return argument_count("--jobs", arg, 1, JOBS_MAX, &o->jobs, err, errlen);
	case OPT_SMALLER:
		return argument_count("--smaller", arg, 0, SMALLER_MAX, &o->smaller, err, errlen);
	case OPT_OUT:
		o->out = arg;
		return 0;
	case OPT_CASE:
		o->action = ACTION_CASE;
		return 0;
	case OPT_PRINT:
		o->action = ACTION_PRINT;
		return 0;
	case OPT_LINK:
		o->link = true;
		return 0;
#ifdef MF_WITH_SEEDED_BUGS
	case OPT_PLANT:
		return mf_seed_bug(arg) ? 0
					: argument_refuse(err, errlen, "--plant: there is no bug '%s'", arg);
	case OPT_PLANTS:
		for (unsigned int i = 0; mf_seeded_bug_name(i) != NULL; i++)
			puts(mf_seeded_bug_name(i));
		o->action = ACTION_NOTHING;
		return 0;
#endif
	case 'h':
	case OPT_HELP:
		o->action = ACTION_HELP;
		return 0;
	default:
		o->action = ACTION_VERSION;
		return 0;
	}
}

/** What would have no effect is refused, as in the fabric file. */
static int check(const struct options *o, char *err, size_t errlen)
{
	bool drawn = o->runs != 0 || o->minutes != 0 || o->chosen || o->smaller != UINT64_MAX;

	if (o->link && (o->action != ACTION_CAMPAIGN || o->chosen || o->smaller != UINT64_MAX))
		return argument_refuse(err, errlen,
				       "--link goes with none of --case, --print, --classes and --smaller");
	if (o->action == ACTION_CASE && (drawn || o->seed != UINT64_MAX || o->jobs != 0))
		return argument_refuse(err, errlen,
				       "--case goes with none of --runs, --minutes, --seed, --classes, "
				       "--jobs and --smaller");
	if (o->action == ACTION_PRINT &&
	    (o->runs != 0 || o->minutes != 0 || o->jobs != 0 || o->smaller != UINT64_MAX))
		return argument_refuse(err, errlen,
				       "--print goes with none of --runs, --minutes, --jobs and --smaller");
	return 0;
}

static void fill_in(struct options *o)
{
	cpu_set_t set;

	if (o->runs == 0 && o->minutes == 0)
		o->runs = RUNS;
	if (o->seed == UINT64_MAX)
		o->seed = 1;
	if (o->smaller == UINT64_MAX)
		o->smaller = SMALLER;
	if (o->jobs == 0)
		o->jobs = sched_getaffinity(0, sizeof(set), &set) == 0 ? (uint64_t)CPU_COUNT(&set) : 1;
	if (o->jobs > JOBS_MAX)
		o->jobs = JOBS_MAX;
}

static int take_file(struct options *o, int argc, char **argv, char *err, size_t errlen)
{
	if (!o->link)
		return argument_file(argc, argv, &o->file, err, errlen);
	return optind < argc ? argument_refuse(err, errlen, "--link takes no file") : 0;
}

static int take(void *options, int opt, const char *arg, char *err, size_t errlen)
{
	struct options *o = options;
	int rc = read_one(o, opt, arg, err, errlen);

	return rc == 0 && o->action >= ACTION_HELP ? ARGUMENT_ENOUGH : rc;
}

int options_parse(struct options *o, int argc, char **argv, char *err, size_t errlen)
{
	const struct argument_reader reader = {
		.letters = ":h", .table = table, .take = take, .options = o, .files = files, .apart = apart};
	int rc;

	*o = (struct options){.seed = UINT64_MAX, .smaller = UINT64_MAX, .out = "."};
	for (unsigned int i = 0; i < MF_FAULT_CLASSES; i++)
		o->classes.on[i] = true;
	rc = argument_options(&reader, argc, argv, err, errlen);
	if (rc != 0)
		return rc == ARGUMENT_ENOUGH ? 0 : rc;
	rc = check(o, err, errlen);
	if (rc == 0)
		rc = take_file(o, argc, argv, err, errlen);
	fill_in(o);
	return rc;
}
