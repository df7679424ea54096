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
	w->got = read_clock(CLOCK_THREAD_CPUTIME_ID);
}

void bench_stop(const struct bench_watch *w, struct bench_sample *out)
{
	/* The other way round, so that the CPU's time lies within the wall's. */
	out->got += read_clock(CLOCK_THREAD_CPUTIME_ID) - w->got;
	out->wall += read_clock(CLOCK_MONOTONIC) - w->wall;
}

/** Between two looks at the clock, at least: seconds. */
#define LOOK 50e-6

/**
 * What a look at the time on the CPU takes itself, at least: a system call, so up to a microsecond and more
 * in a virtual machine, which is as long as a short step.
 */
static double look_cost(void)
{
	double least = 1;

	for (unsigned int i = 0; i < 64; i++) {
		double from = read_clock(CLOCK_THREAD_CPUTIME_ID);
		double took = read_clock(CLOCK_THREAD_CPUTIME_ID) - from;

		least = took < least ? took : least;
	}
	return least;
}

/** One step that is prepared, and its time on the CPU added to *cpu. */
static double prepared(void (*prepare)(void *), uint64_t (*step)(void *), void *ctx, double look, double *cpu)
{
	double from;
	uint64_t n;

	prepare(ctx);
	from = read_clock(CLOCK_THREAD_CPUTIME_ID);
	n = step(ctx);
	*cpu += read_clock(CLOCK_THREAD_CPUTIME_ID) - from - look;
	return (double)n;
}

static double repeated(unsigned int times, uint64_t (*step)(void *), void *ctx)
{
	double n = 0;

	while (times-- > 0)
		n += (double)step(ctx);
	return n;
}

/** Steps for so many seconds. @return the sum of what they returned, which is not 0 */
static double steps(double seconds, void (*prepare)(void *), uint64_t (*step)(void *), void *ctx, double *cpu)
{
	double look = prepare != NULL ? look_cost() : 0;
	double last, now = bench_seconds(), end = now + seconds, count = 0;
	unsigned int times = 1;

	do {
		last = now;
		count += prepare != NULL ? prepared(prepare, step, ctx, look, cpu)
					 : repeated(times, step, ctx);
		now = bench_seconds();
		if (now - last < LOOK)
			times *= 2;
	} while (now < end || count == 0);
	return count;
}

double bench_loop(const struct bench_env *env, void (*prepare)(void *), uint64_t (*step)(void *), void *ctx,
		  struct bench_sample *out)
{
	struct bench_watch w;
	double count;

	steps(env->seconds / 10, prepare, step, ctx, &out->cpu);
	out->cpu = out->got = out->wall = 0;
	bench_start(&w);
	count = steps(env->seconds, prepare, step, ctx, &out->cpu);
	bench_stop(&w, out);
	if (prepare == NULL)
		out->cpu = out->got;
	return count;
}

void bench_pin(const struct bench_env *env, unsigned int i)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(env->cpu[i % env->cpus], &set);
	sched_setaffinity(0, sizeof(set), &set);
}
