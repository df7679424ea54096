/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "argument.h"
#include "options.h"

#define SEEDS_MAX 10000

enum {
	OPT_CLOCK = 256,
	OPT_RUN,
	OPT_DURATION,
	OPT_WARMUP,
	OPT_SEED,
	OPT_JSON,
	OPT_MESSAGES,
	OPT_CAPTURE,
	OPT_HISTORY,
	OPT_TELEMETRY,
	OPT_LINGER,
	OPT_NORMALISED,
	OPT_SEEDS,
	OPT_JOBS,
	OPT_BLOCKS,
	OPT_RECORD,
	OPT_REPLAY,
	OPT_CHECK,
	OPT_PRINT,
	OPT_GRAPH,
	OPT_HELP,
	OPT_VERSION
};

static const struct option table[] = {
	{"clock", required_argument, NULL, OPT_CLOCK},
	{"run", required_argument, NULL, OPT_RUN},
	{"duration", required_argument, NULL, OPT_DURATION},
	{"warmup", required_argument, NULL, OPT_WARMUP},
	{"seed", required_argument, NULL, OPT_SEED},
	{"json", required_argument, NULL, OPT_JSON},
	{"seeds", required_argument, NULL, OPT_SEEDS},
	{"jobs", required_argument, NULL, OPT_JOBS},
	{"normalised", no_argument, NULL, OPT_NORMALISED},
	{"messages", required_argument, NULL, OPT_MESSAGES},
	{"capture", required_argument, NULL, OPT_CAPTURE},
	{"history", required_argument, NULL, OPT_HISTORY},
	{"telemetry", no_argument, NULL, OPT_TELEMETRY},
	{"linger", required_argument, NULL, OPT_LINGER},
	{"block-by-block", no_argument, NULL, OPT_BLOCKS},
	{"record", required_argument, NULL, OPT_RECORD},
	{"replay", required_argument, NULL, OPT_REPLAY},
	{"check", no_argument, NULL, OPT_CHECK},
	{"print-config", no_argument, NULL, OPT_PRINT},
	{"print-graph", no_argument, NULL, OPT_GRAPH},
	{"help", no_argument, NULL, OPT_HELP},
	{"version", no_argument, NULL, OPT_VERSION},
	{NULL, 0, NULL, 0},
};

static const int files[] = {OPT_JSON, OPT_MESSAGES, OPT_CAPTURE, OPT_HISTORY, OPT_RECORD, OPT_REPLAY, 0};
static const int several[] = {OPT_CAPTURE, 0};
static const struct argument_apart apart[] = {{OPT_CHECK, OPT_PRINT},
					      {OPT_CHECK, OPT_REPLAY},
					      {OPT_PRINT, OPT_REPLAY},
					      {OPT_GRAPH, OPT_CHECK},
					      {OPT_GRAPH, OPT_PRINT},
					      {OPT_GRAPH, OPT_REPLAY},
					      {0, 0}};

static const char help[] =
	"usage: memfab-emu [EAL options --] [options] FABRIC.json\n"
	"\n"
	"Runs the fabric that the file describes and prints a report.\n"
	"\n"
	"  --clock wall|virtual  wall (default): in real time on DPDK's lcores;\n"
	"                        virtual: in simulated time, as the modelled hardware would do\n"
	"  --run ROLES           what this process plays, with commas between: nodes, the switch,\n"
	"                        which has the scheduler with it; the others are played by other\n"
	"                        processes (docs/running-on-servers.md). Default: all\n"
	"  --duration T          how long is measured, with a unit: 3s, 2ms, 10min (default: the file's)\n"
	"  --warmup T            how long load runs before that (default: the file's)\n"
	"  --seed N              seed of everything random (default: the file's)\n"
	"  --json FILE           writes the result as JSON, too\n"
	"  --messages FILE       virtual clock: writes what became of each measured message as CSV\n"
	"  --normalised          virtual clock: latencies over what each message takes alone\n"
	"  --seeds N             virtual clock: runs with N seeds from the seed on; mean and 95 % interval\n"
	"  --jobs N              as many of them at a time (default: CPUs that there are)\n"
	"  --capture FILE[,link=LINK[+LINK...]][,dir=up|down]\n"
	"                        writes what is sent on the links as link frames, for Wireshark: of\n"
	"                        all links, or of some, NODE or SWITCH:SWITCH; both ways, or up to the\n"
	"                        switch, or down to the nodes. FILE ends in .pcap or .pcapng. May be\n"
	"                        given several times\n"
	"  --history FILE[,room=SIZE]\n"
	"                        writes what the clients asked for and were told, for a check of whether\n"
	"                        it is linearizable (docs/history.md); room in memory, 256MiB if not said\n"
	"  --telemetry           wall clock: counters can be read with dpdk-telemetry.py, under\n"
	"                        /memfab/ (docs/telemetry.md); says with which prefix\n"
	"  --linger T            wall clock: they stay for so long behind the report, or until Ctrl-C\n"
	"  --block-by-block      virtual clock: every block is an event of its own; slow, same result\n"
	"  --record DIR          wall clock: records into DIR what each role was given and gave\n"
	"  --replay DIR          repeats a recorded run, role by role, and compares what each gives;\n"
	"                        with the same fabric file, --duration, --warmup and --seed\n"
	"  --check               only reads and checks the file\n"
	"  --print-config        prints the effective configuration, all defaults included\n"
	"  --print-graph         prints nodes, switches and links for Graphviz: ... | dot -Tsvg\n"
	"  --help, --version\n"
	"\n"
	"Arguments before a lone -- go to DPDK's EAL (wall clock). Without, the program chooses some\n"
	"that need no hugepages, no devices and no root: an lcore for each CPU, at most one for each role.\n"
	"\n"
	"Ctrl-C, or a terminal that is closed, ends a run with the report of what was measured until then.\n"
	"A file is written beside its place and renamed when it is whole; - is standard output.\n"
	"\n"
	"Exit status: 0 the run was sound (every operation completed with the right data, no frame was\n"
	"lost), or was so far when it was interrupted; 1 it was not, or it failed, or the replay differs;\n"
	"2 the command line or the fabric file is faulty: one line says why, nothing was started.\n";

void options_help(void)
{
	fputs(help, stdout);
}

static int read_one(struct options *o, int opt, const char *arg, char *err, size_t errlen)
{
	switch (opt) {
	case OPT_CLOCK:
		return argument_clock("--clock", arg, &o->clock, err, errlen);
	case OPT_RUN:
		o->roles = arg;
		return 0;
	case OPT_DURATION:
		o->has_duration = true;
		return argument_time("--duration", arg, 1, &o->duration, err, errlen);
	case OPT_WARMUP:
		o->has_warmup = true;
		return argument_time("--warmup", arg, 0, &o->warmup, err, errlen);
	case OPT_SEED:
		o->has_seed = true;
		return argument_seed("--seed", arg, &o->seed, err, errlen);
	case OPT_JSON:
		o->json = arg;
		return 0;
	case OPT_MESSAGES:
		o->messages = arg;
		return 0;
	case OPT_CAPTURE:
		if (o->captures == MF_CAPTURES_MAX)
			return argument_refuse(err, errlen, "--capture: at most %d of them", MF_CAPTURES_MAX);
		o->capture[o->captures++] = arg;
		return 0;
	case OPT_HISTORY:
		return history_option_read("--history", arg, &o->history, err, errlen);
	case OPT_TELEMETRY:
		o->eal.telemetry = true;
		return 0;
	case OPT_LINGER:
		return argument_time("--linger", arg, 1, &o->linger, err, errlen);
	case OPT_NORMALISED:
		o->normalised = true;
		return 0;
	case OPT_SEEDS:
		return argument_count("--seeds", arg, 1, SEEDS_MAX, &o->seeds, err, errlen);
	case OPT_JOBS:
		return argument_count("--jobs", arg, 1, SEEDS_MAX, &o->jobs, err, errlen);
	case OPT_BLOCKS:
		o->block_by_block = true;
		return 0;
	case OPT_RECORD:
		o->record = arg;
		return 0;
	case OPT_REPLAY:
		o->replay = arg;
		o->action = ACTION_REPLAY;
		return 0;
	case OPT_CHECK:
		o->action = ACTION_CHECK;
		return 0;
	case OPT_PRINT:
		o->action = ACTION_PRINT_CONFIG;
		return 0;
	case OPT_GRAPH:
		o->action = ACTION_PRINT_GRAPH;
		return 0;
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
	if (o->block_by_block && o->clock != MF_CLOCK_VIRTUAL)
		return argument_refuse(err, errlen, "--block-by-block needs --clock virtual");
	if (o->messages != NULL && o->clock != MF_CLOCK_VIRTUAL)
		return argument_refuse(err, errlen, "--messages needs --clock virtual");
	if (o->seeds != 0 && (o->clock != MF_CLOCK_VIRTUAL || o->messages != NULL))
		return argument_refuse(err, errlen, "--seeds needs --clock virtual, and no --messages");
	if (o->captures != 0 && (o->seeds != 0 || o->action != ACTION_RUN))
		return argument_refuse(
			err, errlen,
			"--capture goes with none of --seeds, --replay, --check, --print-config and "
			"--print-graph");
	if (o->history.name[0] != '\0' && (o->seeds != 0 || o->action != ACTION_RUN))
		return argument_refuse(
			err, errlen,
			"--history goes with none of --seeds, --replay, --check, --print-config and "
			"--print-graph");
	if (o->jobs != 0 && o->seeds == 0)
		return argument_refuse(err, errlen, "--jobs has no effect without --seeds");
	if (o->normalised && o->clock != MF_CLOCK_VIRTUAL)
		return argument_refuse(err, errlen, "--normalised needs --clock virtual");
	if (o->record != NULL && o->clock != MF_CLOCK_WALL)
		return argument_refuse(err, errlen, "--record needs --clock wall");
	if (o->replay != NULL && o->clock != MF_CLOCK_WALL)
		return argument_refuse(err, errlen, "--replay needs --clock wall");
	if (o->replay != NULL && (o->record != NULL || o->json != NULL))
		return argument_refuse(err, errlen, "--replay goes with none of --record and --json");
	if (o->replay != NULL && o->eal.given)
		return argument_refuse(err, errlen, "EAL options have no effect on a replay");
	if (o->eal.telemetry && (o->clock != MF_CLOCK_WALL || o->action != ACTION_RUN))
		return argument_refuse(
			err, errlen,
			"--telemetry needs --clock wall, and goes with none of --replay, --check, "
			"--print-config and --print-graph");
	if (o->eal.telemetry && o->eal.given)
		return argument_refuse(err, errlen, "--telemetry has no effect with EAL options: they say");
	if (o->linger != 0 && !o->eal.telemetry && !o->eal.given)
		return argument_refuse(err, errlen, "--linger has no effect without --telemetry");
	if (o->linger != 0 && (o->clock != MF_CLOCK_WALL || o->action != ACTION_RUN))
		return argument_refuse(err, errlen, "--linger needs --clock wall, and a run");
	if (o->eal.given && o->clock != MF_CLOCK_WALL)
		return argument_refuse(err, errlen, "EAL options have no effect under the virtual clock");
	return 0;
}

static int take(void *options, int opt, const char *arg, char *err, size_t errlen)
{
	struct options *o = options;
	int rc = read_one(o, opt, arg, err, errlen);

	return rc == 0 && (o->action == ACTION_HELP || o->action == ACTION_VERSION) ? ARGUMENT_ENOUGH : rc;
}

int options_parse(struct options *o, int argc, char **argv, char *err, size_t errlen)
{
	const struct argument_reader reader = {.letters = ":h",
					       .table = table,
					       .take = take,
					       .options = o,
					       .files = files,
					       .several = several,
					       .apart = apart};
	int rc;

	*o = (struct options){.clock = MF_CLOCK_WALL};
	eal_split(&o->eal, "memfab-emu", &argc, &argv);
	rc = argument_options(&reader, argc, argv, err, errlen);
	if (rc == 0)
		rc = argument_file(argc, argv, &o->file, err, errlen);
	else if (rc == ARGUMENT_ENOUGH)
		return 0;
	return rc == 0 ? check(o, err, errlen) : rc;
}

void options_apply(const struct options *o, struct mf_config *config)
{
	struct mf_config_clock *clock = &config->clock[o->clock];

	if (o->has_duration)
		clock->duration = o->duration;
	if (o->has_warmup)
		clock->warmup = o->warmup;
	if (o->has_seed)
		config->seed = o->seed;
	if (o->messages != NULL)
		config->report_messages = true;
	if (o->normalised)
		config->report_normalised = true;
}
