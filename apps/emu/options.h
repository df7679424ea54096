/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of memfab-emu. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/mf_capture.h"
#include "eal.h"
#include "history_option.h"
#include "run/mf_fabric.h"

/** What is to be done. */
enum action {
	ACTION_RUN,
	ACTION_CHECK, /**< read the file, run nothing */
	ACTION_PRINT_CONFIG,
	ACTION_PRINT_GRAPH,
	ACTION_REPLAY,
	ACTION_HELP,
	ACTION_VERSION,
};

struct options {
	enum action action;
	enum mf_clock clock;
	struct eal_args eal;
	const char *file; /**< the fabric file */
	const char *roles; /**< NULL: all */
	struct mf_process_roles plays; /**< those of roles */
	const char *json; /**< NULL: none */
	const char *messages; /**< CSV file for the log, NULL: none */
	const char *record; /**< folder, NULL: none */
	const char *replay; /**< folder, for ACTION_REPLAY */
	const char *capture[MF_CAPTURES_MAX]; /**< arguments of --capture */
	unsigned int captures;
	struct mf_history_target history;
	bool block_by_block;
	bool normalised;
	uint64_t seeds; /**< 0: one run, as ever */
	uint64_t jobs; /**< runs at a time; 0: as many as CPUs */
	mf_time linger; /**< behind the report, 0: not at all */
	bool has_duration, has_warmup, has_seed; /**< override the file */
	mf_time duration, warmup;
	uint64_t seed;
};

/**
 * Reads the command line; strings of o point into argv.
 *
 * @param err  on failure one line
 * @return 0, or -EINVAL: it is to be refused
 */
int options_parse(struct options *o, int argc, char **argv, char *err, size_t errlen);

/** Lays what the command line says over what the file says. */
void options_apply(const struct options *o, struct mf_config *config);

void options_help(void);

#endif
