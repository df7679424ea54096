/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of CPUs, as the kernel and DPDK write them. */
#ifndef CPUS_H
#define CPUS_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

#define CPUS_TEXT 256

/** Reads "0-3,8"; an empty text is an empty set. @return 0, or -EINVAL */
int cpus_parse(const char *text, cpu_set_t *out);

/** Writes it so; one that does not fit in CPUS_TEXT ends with "...". @return out */
char *cpus_text(const cpu_set_t *set, char *out);

/** What is in a and not in b. */
cpu_set_t cpus_without(const cpu_set_t *a, const cpu_set_t *b);

/** What is in both. */
cpu_set_t cpus_both(const cpu_set_t *a, const cpu_set_t *b);

bool cpus_meet(const cpu_set_t *a, const cpu_set_t *b);

/** The smallest at least from, or -1. */
int cpus_next(const cpu_set_t *set, int from);

static inline bool cpus_none(const cpu_set_t *set)
{
	return CPU_COUNT(set) == 0;
}

/**
 * Reads EAL's --lcores: items "LCORES" or "LCORES@CPUS" with commas between; both are a number, a range, or
 * several of them in brackets. Without CPUS an lcore runs on the CPUs of its own number.
 *
 * @param cpus  all CPUs that are named
 * @return number of lcores, or -EINVAL
 */
int cpus_lcores(const char *text, cpu_set_t *cpus);

#endif
