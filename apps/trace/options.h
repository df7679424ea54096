/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of memfab-trace. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/mf_config.h"
#include "workload/mf_trace.h"

enum command { COMMAND_GEN, COMMAND_CONVERT, COMMAND_INFO, COMMAND_HELP, COMMAND_VERSION };

/** What a fabric without a file consists of. */
struct made {
	unsigned int nodes; /**< 0: none */
	bool split; /**< half of the nodes ask, the others have the memory; false: all do both */
	const char *rate; /**< of the links */
	const char *size; /**< a size, or the name of a distribution */
	const char *mix; /**< "read:1,write:1" */
	const char *arrival;
	double load, per_second; /**< one of them; the other is 0 */
};

struct options {
	enum command command;
	const char *file; /**< gen: fabric, NULL: made; otherwise the trace */
	const char *out; /**< NULL: standard output */
	enum mf_trace_format from, to; /**< from: MF_TRACE_AUTO */
	enum mf_clock clock;
	struct made made;
	uint64_t messages; /**< most that are made; 0: no limit */
	bool has_duration, has_seed; /**< override the file */
	mf_time duration;
	uint64_t seed;
	bool reads_as_flows;
	const char *line_rate; /**< info: of a link, "100G" */
	const char *json; /**< info: NULL: none */
};

/**
 * Reads the command line; strings of o point into argv.
 *
 * @param err  on failure one line
 * @return 0, or -EINVAL: it is to be refused
 */
int options_parse(struct options *o, int argc, char **argv, char *err, size_t errlen);

void options_help(void);

#endif
