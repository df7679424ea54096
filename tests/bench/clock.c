/* SPDX-License-Identifier: BSD-3-Clause */
/* Time on the wall and time on the CPU. */
#include <sched.h>
#include <stddef.h>
#include <time.h>

#include "bench.h"

static double read_clock(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double bench_seconds(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

void bench_start(struct bench_watch *w)
{
	w->wall = read_clock(CLOCK_MONOTONIC);
	w->cpu = read_clock(CLOCK_THREAD_CPUTIME_ID);
}

void bench_stop(const struct bench_watch *w, struct bench_sample *out)
{
	/* The other way round, so that the CPU's time lies within the wall's. */
	out->cpu += read_clock(CLOCK_THREAD_CPUTIME_ID) - w->cpu;
	out->wall += read_clock(CLOCK_MONOTONIC) - w->wall;
}

double bench_loop(const struct bench_env *env, void (*prepare)(void *), uint64_t (*step)(void *), void *ctx,
		  struct bench_sample *out)
{
	double warm = bench_seconds() + env->seconds / 10, end = warm + env->seconds, count = 0, now;
	bool counted = false;

	out->cpu = out->wall = 0;
	do {
		struct bench_watch w;
		uint64_t n;

		if (prepare != NULL)
			prepare(ctx);
		bench_start(&w);
		n = step(ctx);
		now = bench_seconds();
		if (counted) {
			bench_stop(&w, out);
			count += (double)n;
		}
		counted = now >= warm;
	} while (now < end || count == 0);
	return count;
}

void bench_pin(const struct bench_env *env, unsigned int i)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(env->cpu[i % env->cpus], &set);
	sched_setaffinity(0, sizeof(set), &set);
}
