/* SPDX-License-Identifier: BSD-3-Clause */
/* A run of memfab-emu: the program that users run, started with a fabric file, its result read. */
#ifndef EMU_H
#define EMU_H

#include "child.h"

struct emu_run {
	const char *fabric; /**< path of the file */
	bool virtual_clock;
	const char *warmup, *duration; /**< NULL: the file's */
	unsigned int cpus;
};

/** Of the program from its start to its end. */
struct emu_cost {
	double cpu; /**< seconds on the CPU */
	double rss; /**< peak of its memory in octets */
};

/**
 * Runs it to its end.
 * @param cost  set to what it took, or NULL
 * @return the whole JSON, "result" and "run", or NULL with the reason in why
 */
json_t *emu_run(const struct bench_env *env, const struct emu_run *run, struct emu_cost *cost, char *why);

/** "run/cpu_share" and the like, keys with slashes between. @return the number, 0: none there */
double emu_number(const json_t *all, const char *path);

/**
 * A copy of a fabric file in the scratch folder, with another depth of its first workload.
 * @param path  set to where it is
 * @return 0, or -errno with the reason in why
 */
int emu_with_depth(const struct bench_env *env, const char *fabric, unsigned int depth, char *path,
		   size_t room, char *why);

#endif
