/* SPDX-License-Identifier: BSD-3-Clause */
#include "noise.h"

#include <errno.h>
#include <sched.h>
#include <time.h>

#include <rte_cycles.h>

#define GAP 1e-6 /* seconds: a look takes some 10 ns */
#define RATE_TIME 0.02 /* seconds to find the counter's rate */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* EAL knows the rate, but is not started here. */
static double rate(void)
{
	static double hz;
	uint64_t first;
	double begin;

	if (hz > 0)
		return hz;
	begin = now();
	first = rte_rdtsc();
	while (now() - begin < RATE_TIME)
		;
	hz = (double)(rte_rdtsc() - first) / (now() - begin);
	return hz;
}

static void listen(uint64_t until, uint64_t gap, uint64_t *lost, uint64_t *longest, uint64_t *gaps)
{
	uint64_t last = rte_rdtsc(), tsc, passed;

	do {
		tsc = rte_rdtsc();
		passed = tsc - last;
		last = tsc;
		if (passed <= gap)
			continue;
		*lost += passed;
		*longest = passed > *longest ? passed : *longest;
		++*gaps;
	} while (tsc < until);
}

int noise_listen(int cpu, double seconds, struct noise *out)
{
	uint64_t begin, lost = 0, longest = 0;
	double hz;
	cpu_set_t before, there;

	CPU_ZERO(&there);
	CPU_SET(cpu, &there);
	*out = (struct noise){.cpu = cpu};
	if (sched_getaffinity(0, sizeof(before), &before) != 0 ||
	    sched_setaffinity(0, sizeof(there), &there) != 0)
		return -errno;
	hz = rate();
	begin = rte_rdtsc();
	listen(begin + (uint64_t)(seconds * hz), (uint64_t)(GAP * hz), &lost, &longest, &out->gaps);
	out->share = 1 - (double)lost / (double)(rte_rdtsc() - begin);
	out->longest = (double)longest / hz;
	return sched_setaffinity(0, sizeof(before), &before) != 0 ? -errno : 0;
}
