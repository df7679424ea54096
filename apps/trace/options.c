/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "argument.h"
#include "base/mf_number.h"

enum {
	OPT_TO = 256,
	OPT_FROM,
	OPT_CLOCK,
	OPT_DURATION,
	OPT_SEED,
	OPT_MESSAGES,
	OPT_NODES,
	OPT_SPLIT,
	OPT_LINK,
	OPT_DIST,
	OPT_MIX,
	OPT_LOAD,
	OPT_RATE,
	OPT_ARRIVAL,
	OPT_FLOWS,
	OPT_JSON,
	OPT_HELP,
	OPT_VERSION
};

static const char short_options[] = ":o:h";
static const struct option table[] = {
	{"to", required_argument, NULL, OPT_TO},
	{"from", required_argument, NULL, OPT_FROM},
	{"output", required_argument, NULL, 'o'},
	{"clock", required_argument, NULL, OPT_CLOCK},
	{"duration", required_argument, NULL, OPT_DURATION},
	{"seed", required_argument, NULL, OPT_SEED},
	{"messages", required_argument, NULL, OPT_MESSAGES},
	{"nodes", required_argument, NULL, OPT_NODES},
	{"split", no_argument, NULL, OPT_SPLIT},
	{"link", required_argument, NULL, OPT_LINK},
	{"dist", required_argument, NULL, OPT_DIST},
	{"mix", required_argument, NULL, OPT_MIX},
	{"load", required_argument, NULL, OPT_LOAD},
	{"rate", required_argument, NULL, OPT_RATE},
	{"arrival", required_argument, NULL, OPT_ARRIVAL},
	{"reads-as-flows", no_argument, NULL, OPT_FLOWS},
	{"json", required_argument, NULL, OPT_JSON},
	{"help", no_argument, NULL, OPT_HELP},
	{"version", no_argument, NULL, OPT_VERSION},
	{NULL, 0, NULL, 0},
};

#define C(command) (1U << (command))

/** Where an option has an effect. */
static const struct {
	int opt;
	unsigned int commands;
	bool made; /**< only where there is no fabric file */
} effects[] = {
	{OPT_TO, C(COMMAND_GEN) | C(COMMAND_CONVERT), false},
	{OPT_FROM, C(COMMAND_CONVERT) | C(COMMAND_INFO), false},
	{'o', C(COMMAND_GEN) | C(COMMAND_CONVERT), false},
	{OPT_CLOCK, C(COMMAND_GEN), false},
	{OPT_DURATION, C(COMMAND_GEN), false},
	{OPT_SEED, C(COMMAND_GEN), false},
	{OPT_MESSAGES, C(COMMAND_GEN), false},
	{OPT_NODES, C(COMMAND_GEN), true},
	{OPT_SPLIT, C(COMMAND_GEN), true},
	{OPT_LINK, C(COMMAND_GEN) | C(COMMAND_INFO), true},
	{OPT_DIST, C(COMMAND_GEN), true},
	{OPT_MIX, C(COMMAND_GEN), true},
	{OPT_LOAD, C(COMMAND_GEN), true},
	{OPT_RATE, C(COMMAND_GEN), true},
	{OPT_ARRIVAL, C(COMMAND_GEN), true},
	{OPT_FLOWS, C(COMMAND_GEN) | C(COMMAND_CONVERT), false},
	{OPT_JSON, C(COMMAND_INFO), false},
};

static const int files[] = {'o', OPT_JSON, 0};

static const char help[] =
	"usage: memfab-trace gen [options] FABRIC.json\n"
	"       memfab-trace gen --nodes N --load L [options]\n"
	"       memfab-trace convert --to FORMAT [options] TRACE\n"
	"       memfab-trace info [options] TRACE\n"
	"\n"
	"Makes, converts and describes traces: files of messages, a line each; - is standard input.\n"
	"Formats: " MF_TRACE_FORMAT_NAMES " (docs/traces.md).\n"
	"\n"
	"gen writes the messages that the clients of a fabric would ask for, or those of a fabric made of\n"
	"the options:\n"
	"  --to FORMAT           default: edm\n"
	"  -o, --output FILE     default: standard output\n"
	"  --messages N          at most so many\n"
	"  --duration T          until then, with a unit (default: the file's; with --nodes: no end)\n"
	"  --seed N              of everything random (default: the file's)\n"
	"  --clock wall|virtual  whose times and chunks count; default: virtual\n"
	"  --nodes N             nodes of the fabric, 2 to 512\n"
	"  --split               half of them ask the other half; default: all ask all others\n"
	"  --link RATE           of the links; default: 100G\n"
	"  --dist SIZE|NAME      sizes: one of \"64\", \"4KiB\", or those of an application: graphlab,\n"
	"                        hadoop, memcached, spark, sparksql; or a file of sizes and percentages,\n"
	"                        whose name has a point or a slash; default: 64\n"
	"  --mix KIND:WEIGHT,..  default: read:1,write:1\n"
	"  --load L              share of the busiest link direction that is asked for, or\n"
	"  --rate R              messages a second and node\n"
	"  --arrival A           poisson (default) or constant\n"
	"  --reads-as-flows      hpcc: a read becomes the flow of its data; otherwise it is refused\n"
	"\n"
	"convert\n"
	"  --to FORMAT           required\n"
	"  --from FORMAT         default: what its first line looks like\n"
	"  -o, --output FILE     default: standard output\n"
	"  --reads-as-flows      as above\n"
	"\n"
	"info\n"
	"  --from FORMAT         default: what its first line looks like\n"
	"  --link RATE           that the load is a share of; default: 100G\n"
	"  --json FILE           writes it as JSON, too\n"
	"\n"
	"  --help, --version\n"
	"\n"
	"Exit status: 0 good; 1 it could not be read or written; 2 the command line, the fabric file or\n"
	"the trace is faulty: one line says why, with file and line.\n";

void options_help(void)
{
	fputs(help, stdout);
}

static int read_format(const char *option, const char *arg, enum mf_trace_format *out, char *err,
		       size_t errlen)
{
	*out = mf_trace_format_find(arg);
	if (*out != MF_TRACE_FORMATS)
		return 0;
	return argument_refuse(err, errlen, "%s: '%s' is none of " MF_TRACE_FORMAT_NAMES, option, arg);
}

static int read_real(const char *option, const char *arg, double hi, double *out, char *err, size_t errlen)
{
	const char *end = mf_number_real(arg, out);

	if (end != NULL && *end == '\0' && *out > 0 && *out <= hi)
		return 0;
	return argument_refuse(err, errlen, "%s: '%s' is not a number above 0, at most %g", option, arg, hi);
}

static int read_nodes(struct options *o, const char *arg, char *err, size_t errlen)
{
	uint64_t nodes;
	int rc = argument_count("--nodes", arg, 2, MF_PORTS_MAX, &nodes, err, errlen);

	o->made.nodes = (unsigned int)nodes;
	return rc;
}

static int read_one(struct options *o, int opt, const char *arg, char *err, size_t errlen)
{
	switch (opt) {
	case OPT_TO:
		return read_format("--to", arg, &o->to, err, errlen);
	case OPT_FROM:
		return read_format("--from", arg, &o->from, err, errlen);
	case 'o':
		o->out = arg;
		return 0;
	case OPT_CLOCK:
		return argument_clock("--clock", arg, &o->clock, err, errlen);
	case OPT_DURATION:
		o->has_duration = true;
		return argument_time("--duration", arg, 1, &o->duration, err, errlen);
	case OPT_SEED:
		o->has_seed = true;
		return argument_seed("--seed", arg, &o->seed, err, errlen);
	case OPT_MESSAGES:
		return argument_count("--messages", arg, 1, UINT64_C(1) << 48, &o->messages, err, errlen);
	case OPT_NODES:
		return read_nodes(o, arg, err, errlen);
	case OPT_SPLIT:
		o->made.split = true;
		return 0;
	case OPT_LINK:
		o->made.rate = o->line_rate = arg;
		return 0;
	case OPT_DIST:
		o->made.size = arg;
		return 0;
	case OPT_MIX:
		o->made.mix = arg;
		return 0;
	case OPT_LOAD:
		return read_real("--load", arg, 4, &o->made.load, err, errlen);
	case OPT_RATE:
		return read_real("--rate", arg, 1e12, &o->made.per_second, err, errlen);
	case OPT_ARRIVAL:
		o->made.arrival = arg;
		return 0;
	case OPT_FLOWS:
		o->reads_as_flows = true;
		return 0;
	case OPT_JSON:
		o->json = arg;
		return 0;
	case 'h':
	case OPT_HELP:
		o->command = COMMAND_HELP;
		return 0;
	default:
		o->command = COMMAND_VERSION;
		return 0;
	}
}

static const char *long_name(int opt)
{
	const struct option *t = table;

	while (t->val != opt)
		t++;
	return t->name;
}

/** What would have no effect is refused, as in the fabric file. */
static int check_effects(const struct options *o, const bool *given, char *err, size_t errlen)
{
	static const char *const names[] = {"gen", "convert", "info"};

	for (size_t i = 0; i < sizeof(effects) / sizeof(effects[0]); i++) {
		int opt = effects[i].opt;

		if (!given[opt])
			continue;
		if (!(effects[i].commands & C(o->command)))
			return argument_refuse(err, errlen, "--%s has no effect on %s", long_name(opt),
					       names[o->command]);
		if (effects[i].made && o->command == COMMAND_GEN && o->file != NULL)
			return argument_refuse(err, errlen, "--%s has no effect beside a fabric file",
					       long_name(opt));
	}
	if (o->reads_as_flows && o->to != MF_TRACE_HPCC)
		return argument_refuse(err, errlen, "--reads-as-flows needs --to hpcc");
	return 0;
}

static int check(const struct options *o, const bool *given, char *err, size_t errlen)
{
	int rc = check_effects(o, given, err, errlen);

	if (rc != 0)
		return rc;
	if (o->command != COMMAND_GEN && o->file == NULL)
		return argument_refuse(err, errlen, "no trace, see --help");
	if (o->command == COMMAND_CONVERT && o->to == MF_TRACE_FORMATS)
		return argument_refuse(err, errlen, "convert needs --to FORMAT");
	if (o->command != COMMAND_GEN || o->file != NULL)
		return 0;
	if (o->made.nodes == 0)
		return argument_refuse(err, errlen, "gen needs a fabric file or --nodes, see --help");
	if ((o->made.load > 0) == (o->made.per_second > 0))
		return argument_refuse(err, errlen, "--nodes needs either --load or --rate");
	if (o->messages == 0 && !o->has_duration)
		return argument_refuse(err, errlen, "--nodes needs --messages or --duration");
	return 0;
}

static int read_command(struct options *o, const char *s, char *err, size_t errlen)
{
	if (strcmp(s, "gen") == 0)
		o->command = COMMAND_GEN;
	else if (strcmp(s, "convert") == 0)
		o->command = COMMAND_CONVERT;
	else if (strcmp(s, "info") == 0)
		o->command = COMMAND_INFO;
	else
		return argument_refuse(err, errlen, "'%s' is none of gen, convert, info; see --help", s);
	return 0;
}

static int read_words(struct options *o, int argc, char **argv, char *err, size_t errlen)
{
	int rc;

	if (optind == argc)
		return argument_refuse(err, errlen, "none of gen, convert, info; see --help");
	rc = read_command(o, argv[optind], err, errlen);
	if (rc == 0 && optind + 2 < argc)
		return argument_refuse(err, errlen, "more than one file, see --help");
	if (rc == 0 && optind + 1 < argc)
		o->file = argv[optind + 1];
	return rc;
}

/** What is read, and which options were there. */
struct reading {
	struct options *o;
	bool given[OPT_VERSION + 1];
};

static int take(void *options, int opt, const char *arg, char *err, size_t errlen)
{
	struct reading *r = options;
	int rc;

	r->given[opt] = true;
	rc = read_one(r->o, opt, arg, err, errlen);
	return rc == 0 && (r->o->command == COMMAND_HELP || r->o->command == COMMAND_VERSION)
		       ? ARGUMENT_ENOUGH
		       : rc;
}

int options_parse(struct options *o, int argc, char **argv, char *err, size_t errlen)
{
	struct reading r = {.o = o};
	const struct argument_reader reader = {
		.letters = short_options,
		.table = table,
		.take = take,
		.options = &r,
		.files = files,
	};
	int rc;

	*o = (struct options){
		.from = MF_TRACE_AUTO,
		.to = MF_TRACE_FORMATS,
		.clock = MF_CLOCK_VIRTUAL,
		.line_rate = "100G",
		.made = {.rate = "100G", .size = "64", .mix = "read:1,write:1", .arrival = "poisson"},
	};
	rc = argument_options(&reader, argc, argv, err, errlen);
	if (rc != 0)
		return rc == ARGUMENT_ENOUGH ? 0 : rc;
	rc = read_words(o, argc, argv, err, errlen);
	if (rc == 0 && o->command == COMMAND_GEN && o->to == MF_TRACE_FORMATS)
		o->to = MF_TRACE_EDM;
	return rc != 0 ? rc : check(o, r.given, err, errlen);
}
