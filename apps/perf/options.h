/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of memfab-perf. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "eal.h"
#include "history_option.h"
#include "test.h"

enum action { ACTION_RUN, ACTION_HELP, ACTION_VERSION };

struct options {
	enum action action;
	struct eal_args eal;
	enum mf_clock clock;
	const char *file; /**< the fabric file */
	const char *roles; /**< NULL: all */
	struct mf_process_roles plays; /**< those of roles */
	struct test test;
	bool interactive;
	const char *commands; /**< file of commands, or NULL */
	bool gbits;
	const char *json, *hgrm; /**< files, or NULL */
	struct mf_history_target history;
	mf_time stats_period; /**< of real time; 0: none */
	bool has_warmup, has_seed; /**< override the file */
	mf_time warmup;
	uint64_t seed;
};

/**
 * Reads the command line; strings of o point into argv.
 *
 * @param err  on failure one line
 * @return 0, or -EINVAL: it is to be refused
 */
int options_parse(struct options *o, int argc, char **argv, char *err, size_t errlen);

/** Lays what the command line says over what the file says, and checks the test against the fabric. */
int options_apply(struct options *o, struct mf_config *config, char *err, size_t errlen);

void options_help(void);

#endif
