/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a grant costs in CPU time, all included: demand comes in as time goes by, random pairs, reads
 * and writes, FCFS, as many wire blocks as make up the load of each destination.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "mf_sched.h"

static uint64_t state = 1;

static uint32_t below(uint32_t n)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (state >> 32) * n >> 32;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static void one(unsigned int ports, uint32_t size, double load, enum mf_sched_release release, bool timed)
{
	struct mf_sched_config c = {
		.ports = ports, .chunk = 256, .x = 3, .chunk_overhead = 2, .release = release};
	struct mf_sched *s;
	struct mf_sched_grant g[64];
	struct mf_sched_msg m = {.kind = MF_SCHED_DEMAND, .size = size};
	struct mf_sched_stats st;
	uint64_t grants = 0, demands = 2000000, steps = 0;
	double gap = (size / 8 + 2) * 640 / load / ports, at = 0, start;

	c.window = 16384;
	if (timed) {
		c.insert = 667;
		c.iteration = 1000;
		c.ahead = 9000;
	}
	for (unsigned int p = 0; p < ports; p++)
		c.period[p] = 640;
	s = mf_sched_pim.create(&c);
	if (!s) {
		perror("create");
		exit(1);
	}
	start = seconds();
	for (uint64_t i = 0; i <= demands; i++) {
		unsigned int n;
		mf_time t;

		for (; (t = mf_sched_pim.next(s)) <= (i < demands ? m.at : MF_NEVER - 1); steps++) {
			do {
				n = mf_sched_pim.run(s, t, g, 64);
				grants += n;
				for (unsigned int j = 0; release == MF_RELEASE_WINDOW && j < n; j++) {
					struct mf_sched_msg f = {.at = g[j].at + 1000,
								 .kind = MF_SCHED_FORWARDED,
								 .src = g[j].src,
								 .dst = g[j].dst,
								 .size = g[j].size};

					mf_sched_pim.input(s, &f);
				}
			} while (n == 64);
		}
		at += gap * 2 * below(1000) / 1000;
		m.at = (mf_time)at;
		m.src = below(ports);
		m.dst = below(ports);
		m.resp = below(2);
		m.request_blocks = 2;
		m.id++;
		if (i < demands)
			mf_sched_pim.input(s, &m);
	}
	start = seconds() - start;
	mf_sched_pim.stats(s, &st);
	printf("N %3u, %4u B, load %.2f, %s%s: %6.1f ns a grant; %.2f calls, %.2f matchings, %.2f iterations a grant; "
	       "%lu dropped, entries <= %lu, memory %.1f MB (paper %.2f)\n",
	       ports, size, load, release == MF_RELEASE_WINDOW ? "window" : "wire", timed ? ", timed" : "",
	       start * 1e9 / grants, (double)steps / grants, (double)st.matchings / grants,
	       (double)st.iterations / grants, st.dropped_x + st.dropped_bad, st.entries_max, st.memory / 1e6,
	       st.memory_paper / 1e6);
	mf_sched_pim.destroy(s);
}

int main(void)
{
	static const unsigned int ports[] = {4, 16, 144, 512};

	for (unsigned int i = 0; i < 4; i++) {
		one(ports[i], 64, 0.8, MF_RELEASE_WIRE, false);
		one(ports[i], 64, 0.8, MF_RELEASE_WIRE, true);
		one(ports[i], 1024, 0.8, MF_RELEASE_WIRE, false);
		one(ports[i], 64, 0.8, MF_RELEASE_WINDOW, false);
	}
	return 0;
}
