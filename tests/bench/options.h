/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

struct options {
	bool list, help, quick;
	const char *only; /**< NULL: all */
	const char *json; /**< NULL: none */
	unsigned int repetitions;
	unsigned int share; /**< percent */
	const char *cpus; /**< "0,2-3", or NULL: those that we may use */
	int nice;
	const char *emu, *fabrics; /**< NULL: found beside this program, in the sources */
};

/** @return 0, or -EINVAL with one line in err */
int options_parse(struct options *o, int argc, char **argv, char *err, size_t errlen);
void options_help(void);

/** "0,2-3" as numbers. @return how many, or -EINVAL */
int options_cpus(const char *text, unsigned int *cpu, unsigned int room);

#endif
