/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines whose repetitions are written down: for the tests of the harness, without any clock. */
#ifndef SCRIPT_H
#define SCRIPT_H

#include "bench.h"

#define SCRIPT_MAX 32

/** What a line does; .param of struct bench_line. */
struct script {
	const char *skip; /**< reason why it cannot be opened, or NULL */
	unsigned int fail; /**< the repetition that fails, from 1; 0: none */
	unsigned int n; /**< samples; over again from the first */
	double value[SCRIPT_MAX], share[SCRIPT_MAX];
};

extern const struct bench_ops script_ops;

/** What ran, a character a repetition: the first of the line's name; '(' and ')': opened, closed. */
extern char script_log[4096];

#endif
