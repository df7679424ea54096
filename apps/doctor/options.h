/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of memfab-doctor. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

struct options {
	bool help, version; /**< and nothing else */
	const char *file; /**< of the fabric; NULL: none */
	const char *roles; /**< of it; NULL: all */
	const char *json; /**< NULL: none */
	const char *root; /**< of all that is read */
	double noise; /**< seconds for each CPU */
	int lcores; /**< 0: nobody has chosen */
	cpu_set_t cpus; /**< of the lcores */
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
