/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines that memfab-bench-program measures. */
#ifndef PROGRAM_LINES_H
#define PROGRAM_LINES_H

#include "bench.h"

/** Of bench_line.param. The line's fabric file is the one that is opened. */
struct program_param {
	const char *test;
	unsigned int threads, depth; /**< 0 is 1 */
	unsigned int cpus; /**< 0 is 1 */
	/** What the figures of the program come to. */
	double (*figure)(const double *figure);
};

extern const struct bench_ops bench_program;

/** The first figure, as it is. */
double program_first(const double *figure);

#endif
