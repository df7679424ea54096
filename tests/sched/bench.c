/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a grant costs in CPU time, all calls included: demand comes in as time goes by, random pairs,
 * reads and writes half and half, FCFS, at a load of 0.8 of the wire blocks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "mf_sched.h"

#define DEMANDS 1000000
#define PERIOD 640
#define LOAD 0.8

struct bench {
	struct mf_sched *s;
	enum mf_sched_release release;
	uint64_t rng, calls, grants;
};

static uint32_t below(struct bench *b, uint32_t n)
{
	b->rng = b->rng * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (b->rng >> 32) * n >> 32;
}

static void forward(struct bench *b, const struct mf_sched_grant *g)
{
	struct mf_sched_msg m = {
		.kind = MF_SCHED_FORWARDED, .at = g->at + 1000, .src = g->src, .dst = g->dst};

	m.size = g->size;
	mf_sched_pim.input(b->s, &m);
}

/* Runs at every time at which the scheduler wants to, until end. */
static void serve(struct bench *b, mf_time end)
{
	struct mf_sched_grant g[64];
	unsigned int n;

	for (mf_time t; (t = mf_sched_pim.next(b->s)) <= end; b->calls++) {
		do {
			n = mf_sched_pim.run(b->s, t, g, 64);
			b->grants += n;
			for (unsigned int i = 0; b->release == MF_RELEASE_WINDOW && i < n; i++)
				forward(b, &g[i]);
		} while (n == 64);
	}
}

static double demand(struct bench *b, unsigned int ports, uint32_t size)
{
	const double gap = (size / 8 + 2) * PERIOD / LOAD / ports; /* between demands */
	struct mf_sched_msg m = {.kind = MF_SCHED_DEMAND, .size = size, .request_blocks = 2};
	struct timespec from, to;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	for (uint32_t i = 0; i < DEMANDS; i++) {
		m.at += (mf_time)(gap * 2 * below(b, 1000) / 1000);
		m.src = below(b, ports);
		m.dst = below(b, ports);
		m.resp = below(b, 2);
		m.id++;
		serve(b, m.at);
		mf_sched_pim.input(b->s, &m);
	}
	serve(b, MF_NEVER - 1);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	return (to.tv_sec - from.tv_sec) * 1e9 + (to.tv_nsec - from.tv_nsec);
}

static void measure(unsigned int ports, uint32_t size, enum mf_sched_release release, mf_time iteration)
{
	struct mf_sched_config c = {
		.ports = ports, .chunk = 256, .x = 3, .chunk_overhead = 2, .window = 16384};
	struct bench b = {.release = release, .rng = 1};
	struct mf_sched_stats st;
	double ns;

	c.release = release;
	c.iteration = iteration;
	c.ahead = 9 * iteration;
	for (unsigned int p = 0; p < ports; p++)
		c.period[p] = PERIOD;
	b.s = mf_sched_pim.create(&c);
	if (!b.s) {
		perror("create");
		exit(EXIT_FAILURE);
	}
	ns = demand(&b, ports, size);
	mf_sched_pim.stats(b.s, &st);
	printf("%5u %6u %8s %9.1f ns %9.1f ns %8.2f %10.2f %10.2f %10lu %8.2f MB\n", ports, size,
	       release == MF_RELEASE_WINDOW ? "window" : "wire", iteration / 1e3, ns / b.grants,
	       (double)b.calls / b.grants, (double)st.grants / st.matchings,
	       (double)st.iterations / st.matchings, st.entries_max, st.memory / 1e6);
	mf_sched_pim.destroy(b.s);
}

int main(void)
{
	static const unsigned int ports[] = {4, 16, 144, 512};

	printf("ports octets  release  iteration    a grant    calls/grant  per matching: grants  "
	       "iterations  entries max   memory\n");
	for (unsigned int i = 0; i < sizeof(ports) / sizeof(ports[0]); i++) {
		measure(ports[i], 64, MF_RELEASE_WIRE, 0);
		measure(ports[i], 64, MF_RELEASE_WIRE, 1000);
		measure(ports[i], 1024, MF_RELEASE_WIRE, 0);
		measure(ports[i], 64, MF_RELEASE_WINDOW, 0);
	}
	return 0;
}
