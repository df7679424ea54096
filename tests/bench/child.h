/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that are started: on chosen CPUs, with what they print kept, and never left behind. */
#ifndef CHILD_H
#define CHILD_H

#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "bench.h"

struct child {
	pid_t pid; /**< 0: none */
	int out; /**< what it prints, both streams */
	/* at its end */
	struct rusage usage;
	double cpu, waited; /**< seconds of its first thread: running, and ready to run but not let */
	int status; /**< as of waitpid() */
};

/** Where a program runs: CPUs [first, first + n) of the run, round about. */
struct child_cpus {
	unsigned int first, n;
};

/**
 * Starts a program, found by PATH.
 * @param set  "NAME=value" for its environment, up to NULL; or NULL
 * @return 0 or -errno
 */
int child_start(struct child *c, const struct bench_env *env, struct child_cpus cpus,
		const char *const argv[], const char *const set[]);

/**
 * Reads what it prints until its end, or until it took too long and is ended.
 * @return 0: it ended with status 0; -ETIMEDOUT; -EIO: with another one, or by a signal
 */
int child_wait(struct child *c, double seconds, char *text, size_t room);

/** Ends it, if it is still there. */
void child_kill(struct child *c);

/** Whether PATH has a program of this name; otherwise why says so. */
bool child_there(const char *program, char *why);

/** The last line of a text that is not blank, as a reason. */
void child_reason(const char *program, const char *text, char *why);

#endif
