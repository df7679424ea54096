/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "argument.h"
#include "roles.h"
#include "setting.h"

#define REASON 512

enum {
	OPT_RATE = 256,
	OPT_BURST,
	OPT_PATTERN,
	OPT_MIX,
	OPT_GBITS,
	OPT_JSON,
	OPT_HGRM,
	OPT_HISTORY,
	OPT_CLOCK,
	OPT_RUN,
	OPT_WARMUP,
	OPT_SEED,
	OPT_NO_VERIFY,
	OPT_COMMANDS,
	OPT_STATS,
	OPT_TELEMETRY,
	OPT_VERSION
};

/* Short ones as perftest and testpmd have them, and long names as theirs. */
static const char short_options[] = ":s:an:D:t:q:ih";
static const struct option table[] = {
	{"size", required_argument, NULL, 's'},
	{"all", no_argument, NULL, 'a'},
	{"iters", required_argument, NULL, 'n'},
	{"duration", required_argument, NULL, 'D'},
	{"tx-depth", required_argument, NULL, 't'},
	{"clients", required_argument, NULL, 'q'},
	{"rate", required_argument, NULL, OPT_RATE},
	{"burst", required_argument, NULL, OPT_BURST},
	{"pattern", required_argument, NULL, OPT_PATTERN},
	{"mix", required_argument, NULL, OPT_MIX},
	{"report_gbits", no_argument, NULL, OPT_GBITS},
	{"out_json", required_argument, NULL, OPT_JSON},
	{"hgrm", required_argument, NULL, OPT_HGRM},
	{"history", required_argument, NULL, OPT_HISTORY},
	{"clock", required_argument, NULL, OPT_CLOCK},
	{"run", required_argument, NULL, OPT_RUN},
	{"warmup", required_argument, NULL, OPT_WARMUP},
	{"seed", required_argument, NULL, OPT_SEED},
	{"no-verify", no_argument, NULL, OPT_NO_VERIFY},
	{"interactive", no_argument, NULL, 'i'},
	{"cmdline-file", required_argument, NULL, OPT_COMMANDS},
	{"stats-period", required_argument, NULL, OPT_STATS},
	{"telemetry", no_argument, NULL, OPT_TELEMETRY},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPT_VERSION},
	{NULL, 0, NULL, 0},
};

static const int files[] = {OPT_JSON, OPT_HGRM, OPT_HISTORY, OPT_COMMANDS, 0};
static const struct argument_apart apart[] = {{'s', 'a'}, {'n', 'D'}, {0, 0}};

static const char help[] =
	"usage: memfab-perf [EAL options --] TEST [options] FABRIC.json\n"
	"       memfab-perf [EAL options --] -i [TEST] [options] FABRIC.json\n"
	"\n"
	"Measures the fabric that the file describes; the test takes the place of the file's workload.\n"
	"\n"
	"  read_lat, write_lat, atomic_lat   latency, one operation at a time (perftest's table)\n"
	"  read_bw, write_bw                 bandwidth, and the latency under that load\n"
	"  mixed                             reads and writes together, or what --mix says\n"
	"  loaded_latency                    latency against load (MLC's table)\n"
	"  bandwidth_matrix                  each compute node with each memory node (MLC's table)\n"
	"\n"
	"  -s, --size SIZE       octets of an operation (lat, mixed 64; bw 64KiB)\n"
	"  -a, --all             sizes 2, 4, 8 to 8MiB, as far as they fit\n"
	"  -n, --iters N         operations that each client measures (lat 1000, bw 5000)\n"
	"  -D, --duration T      measures so long instead: seconds, or with a unit (2ms)\n"
	"  -t, --tx-depth N      operations of a client under way (lat 1, others 16)\n"
	"  -q, --clients N|all   compute nodes that take part, each with one client (1)\n"
	"      --rate R          open loop: operations a second and client (2.5M); latency is told from\n"
	"                        the intended start, and beside it from the submission\n"
	"      --burst N         open loop: operations that arrive together (1)\n"
	"      --pattern P       uniform, incast, permutation, all-to-all, zipf: which memory node\n"
	"      --mix M           mixed: read:60,write:30,cas:10\n"
	"      --report_gbits    Gb/sec instead of MiB/sec\n"
	"      --out_json FILE   the result as JSON, too (docs/perf.schema.json)\n"
	"      --hgrm FILE       percentiles as text of HdrHistogram, in microseconds\n"
	"      --history FILE[,room=SIZE]\n"
	"                        what the clients asked for and were told, for a check of whether it is\n"
	"                        linearizable (docs/history.md); room in memory, 256MiB if not said\n"
	"      --clock wall|virtual  real time on lcores (default), or simulated time\n"
	"      --run ROLES       what this process plays, a compute node at least, as memfab-emu's; the\n"
	"                        other roles are played by memfab-emu --run with the same file\n"
	"      --warmup T        load before anything is measured (default: the file's)\n"
	"      --seed N          seed of everything random (default: the file's)\n"
	"      --no-verify       does not check what is read\n"
	"  -i, --interactive     a prompt; \"help\" lists its commands\n"
	"      --cmdline-file F  runs the commands of a file, then the prompt where there is -i\n"
	"      --stats-period T  shows the ports' counters each T of real time while a test runs\n"
	"      --telemetry       wall clock: counters of the run can be read with dpdk-telemetry.py, under\n"
	"                        /memfab/ (docs/telemetry.md); says with which prefix\n"
	"  -h, --help, --version\n"
	"\n"
	"READ and ATOMIC latency is the full round trip. A WRITE that is not acknowledged has none: under\n"
	"the virtual clock its time to effect at the memory is told, under the wall clock writes are\n"
	"acknowledged and their round trip is told. Nothing is divided by two.\n"
	"\n"
	"Arguments before a lone -- go to DPDK's EAL (wall clock). Ctrl-C ends a test with the report of\n"
	"what was measured until then.\n"
	"\n"
	"Exit status: 0 every test was sound; 1 there were no samples, something was lost, wrong or failed;\n"
	"2 the command line, the fabric file or a command is faulty.\n";

void options_help(void)
{
	fputs(help, stdout);
}

static int set(struct options *o, enum setting s, const char *value, char *err, size_t errlen)
{
	char reason[REASON];

	if (setting_set(&o->test, s, value, reason, sizeof(reason)) == 0)
		return 0;
	return argument_refuse(err, errlen, s == SETTING_TEST ? "%s%s" : "option %s: %s",
			       s == SETTING_TEST ? "" : setting_option(s), reason);
}

/** Seconds, as testpmd takes them, or a time with a unit. */
static int read_period(struct options *o, const char *s, char *err, size_t errlen)
{
	char text[64];

	snprintf(text, sizeof(text), "%.60s%s", s, strspn(s, "0123456789.") == strlen(s) ? "s" : "");
	return argument_time("option --stats-period", text, MF_MS(10), &o->stats_period, err, errlen);
}

static int read_one(struct options *o, int opt, const char *arg, char *err, size_t errlen)
{
	static const struct {
		int opt;
		enum setting s;
	} settings[] = {{'s', SETTING_SIZE},        {'n', SETTING_ITERATIONS},      {'D', SETTING_DURATION},
			{'t', SETTING_DEPTH},       {'q', SETTING_CLIENTS},         {OPT_RATE, SETTING_RATE},
			{OPT_BURST, SETTING_BURST}, {OPT_PATTERN, SETTING_PATTERN}, {OPT_MIX, SETTING_MIX}};

	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		if (settings[i].opt == opt)
			return set(o, settings[i].s, arg, err, errlen);
	switch (opt) {
	case 'a':
		return set(o, SETTING_SIZE, "all", err, errlen);
	case OPT_GBITS:
		o->gbits = true;
		return 0;
	case OPT_JSON:
		o->json = arg;
		return 0;
	case OPT_HGRM:
		o->hgrm = arg;
		return 0;
	case OPT_HISTORY:
		return history_option_read("option --history", arg, &o->history, err, errlen);
	case OPT_CLOCK:
		return argument_clock("option --clock", arg, &o->clock, err, errlen);
	case OPT_RUN:
		o->roles = arg;
		return 0;
	case OPT_WARMUP:
		o->has_warmup = true;
		return argument_time("option --warmup", arg, 0, &o->warmup, err, errlen);
	case OPT_SEED:
		o->has_seed = true;
		return argument_seed("option --seed", arg, &o->seed, err, errlen);
	case OPT_NO_VERIFY:
		o->test.unverified = true;
		return 0;
	case 'i':
		o->interactive = true;
		return 0;
	case OPT_COMMANDS:
		o->commands = arg;
		return 0;
	case OPT_STATS:
		return read_period(o, arg, err, errlen);
	case OPT_TELEMETRY:
		o->eal.telemetry = true;
		return 0;
	case 'h':
		o->action = ACTION_HELP;
		return 0;
	default:
		o->action = ACTION_VERSION;
		return 0;
	}
}

/** "TEST FILE", or "FILE" where a prompt or a file of commands can name the test. */
static int read_names(struct options *o, int argc, char **argv, char *err, size_t errlen)
{
	bool prompt = o->interactive || o->commands != NULL;
	int n = argc - optind;

	if (n > 2)
		return argument_refuse(err, errlen, "more than one test and one fabric file, see --help");
	if (n == 0 || (n == 1 && !prompt))
		return argument_refuse(err, errlen, "%s, see --help",
				       n == 0 && !prompt ? "no test and no fabric file"
				       : n == 0          ? "no fabric file"
							 : "a test and a fabric file are needed");
	o->file = argv[argc - 1];
	return n == 2 ? set(o, SETTING_TEST, argv[optind], err, errlen) : 0;
}

/** What would have no effect, or cannot be meant, is refused. */
static int check(const struct options *o, char *err, size_t errlen)
{
	bool prompt = o->interactive || o->commands != NULL;

	if (o->eal.given && o->clock != MF_CLOCK_WALL)
		return argument_refuse(err, errlen, "EAL options have no effect under the virtual clock");
	if (o->eal.telemetry && (o->eal.given || o->clock != MF_CLOCK_WALL))
		return argument_refuse(err, errlen,
				       "option --telemetry: needs --clock wall; EAL options say "
				       "themselves whether there is telemetry");
	if (o->hgrm != NULL && (o->test.all || test_info(o->test.kind)->matrix))
		return argument_refuse(err, errlen,
				       "option --hgrm: has one histogram, this test has several");
	if (o->hgrm != NULL && prompt)
		return argument_refuse(err, errlen, "option --hgrm: has no effect with commands");
	if (o->history.name[0] != '\0' &&
	    (prompt || o->test.all || test_info(o->test.kind)->matrix || o->test.kind == TEST_LOADED_LATENCY))
		return argument_refuse(err, errlen,
				       "option --history: is that of one run, this would be several");
	if (o->json != NULL && prompt)
		return argument_refuse(err, errlen, "option --out_json: has no effect with commands");
	if (o->hgrm != NULL && o->test.kind == TEST_WRITE_BW && o->clock == MF_CLOCK_WALL &&
	    o->test.rate == 0)
		return argument_refuse(err, errlen,
				       "option --hgrm: writes that are not acknowledged have no latency "
				       "under the wall clock");
	return 0;
}

static int take(void *options, int opt, const char *arg, char *err, size_t errlen)
{
	struct options *o = options;
	int rc = read_one(o, opt, arg, err, errlen);

	return rc == 0 && o->action != ACTION_RUN ? ARGUMENT_ENOUGH : rc;
}

int options_parse(struct options *o, int argc, char **argv, char *err, size_t errlen)
{
	const struct argument_reader reader = {
		.letters = short_options,
		.table = table,
		.take = take,
		.options = o,
		.files = files,
		.apart = apart,
	};
	int rc;

	*o = (struct options){.clock = MF_CLOCK_WALL};
	eal_split(&o->eal, "memfab-perf", &argc, &argv);
	rc = argument_options(&reader, argc, argv, err, errlen);
	if (rc != 0)
		return rc == ARGUMENT_ENOUGH ? 0 : rc;
	rc = read_names(o, argc, argv, err, errlen);
	if (rc != 0)
		return rc;
	/* A prompt has a command to stop, a test of its own has not. */
	o->test.forever =
		(o->interactive || o->commands != NULL) && o->test.iterations == 0 && o->test.duration == 0;
	return check(o, err, errlen);
}

/** The roles that are asked for; the test's clients are among them. */
static int apply_roles(struct options *o, const struct mf_config *config, char *err, size_t errlen)
{
	char reason[REASON];

	if (o->roles == NULL)
		return 0;
	if (roles_choose(config, o->roles, &o->plays, reason, sizeof(reason)) != 0)
		return argument_refuse(err, errlen, "option %s", reason);
	if (o->clock == MF_CLOCK_VIRTUAL && roles_missing(config, &o->plays))
		return argument_refuse(err, errlen,
				       "option --run: under the virtual clock one process plays all roles");
	o->test.plays = &o->plays;
	return 0;
}

int options_apply(struct options *o, struct mf_config *config, char *err, size_t errlen)
{
	char reason[REASON];
	enum setting at;

	if (apply_roles(o, config, err, errlen) != 0)
		return -EINVAL;
	if (o->has_warmup)
		config->clock[o->clock].warmup = o->warmup;
	if (o->has_seed)
		config->seed = o->seed;
	if (setting_check(&o->test, config, &at, reason, sizeof(reason)) == 0)
		return 0;
	return argument_refuse(err, errlen, at == SETTING_TEST ? "%s%s" : "option %s: %s",
			       at == SETTING_TEST ? "" : setting_option(at), reason);
}
