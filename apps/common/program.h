/* SPDX-License-Identifier: BSD-3-Clause */
/* What programs do alike from the command line to the configuration, and how they say that they failed. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stdbool.h>

#include "config/mf_config.h"

enum { SOUND = 0, FAILED = 1, USAGE = 2 }; /* exit status, see --help */

#define ERR_LEN 2048

/** Of the program itself: each main.c has its own. */
extern const char program_name[];

/** One line on standard error. @return status */
int complain(int status, const char *reason);

/** @param rc  0, or -errno of what has this name @return exit status */
int complain_of(const char *name, int rc);

/** What the command line asks of the program. */
struct request {
	bool help, version; /**< and nothing else */
	const char *file; /**< of the fabric */
	void *options; /**< of the program */
};

/**
 * Does what is asked.
 * @param help  prints it
 * @param act   is given the configuration that the file says; returns the exit status
 * @return exit status
 */
int program_run(const struct request *r, void (*help)(void),
		int (*act)(void *options, struct mf_config *config));

#endif
