/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of memfab-chaos. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "generate.h"

enum action { ACTION_CAMPAIGN, ACTION_CASE, ACTION_PRINT, ACTION_HELP, ACTION_VERSION, ACTION_NOTHING };

struct options {
	enum action action;
	bool link; /**< ends of links instead of fabrics */
	const char *file; /**< NULL: link */
	const char *out; /**< folder of the cases that are wrong */
	uint64_t runs, seed, minutes, jobs; /**< runs 0: as many as there is time for */
	uint64_t smaller; /**< runs that make a case smaller, at most */
	bool chosen; /**< classes were chosen: not all of them are on */
	struct classes classes;
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
