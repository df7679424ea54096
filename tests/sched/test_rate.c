/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Line rate at 512 x 100 Gb/s (EDM 3.1.3): iterations of 3 cycles at 3 GHz, inserts of 2. Each source
 * always has 128 messages of one chunk to random destinations.
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "script.h"

#define PORTS 512
#define BACKLOG 128
#define PERIOD 640 /* of a block at 100 Gb/s */
#define ITERATION 1000

struct rate {
	double line; /* part of the time that the links are used by granted chunks */
	double iterations; /* of a matching */
};

struct run {
	struct mf_sched_config c;
	struct mf_sched *s;
	struct rng rng;
	uint8_t id[PORTS][PORTS];
	uint64_t blocks; /* granted after the warm-up */
};

static void ask(struct run *r, unsigned int src, mf_time at)
{
	struct mf_sched_msg m = {.kind = MF_SCHED_DEMAND, .src = src, .size = r->c.chunk, .at = at};

	m.dst = rng_below(&r->rng, PORTS);
	m.id = r->id[src][m.dst]++;
	cr_assert_eq(mf_sched_pim.input(r->s, &m), 0);
}

/* Every message that is granted is followed by another. */
static void serve(struct run *r, mf_time from, mf_time end)
{
	struct mf_sched_grant g[64];
	unsigned int n;

	for (mf_time t; (t = mf_sched_pim.next(r->s)) < end;) {
		do {
			n = mf_sched_pim.run(r->s, t, g, 64);
			for (unsigned int i = 0; i < n; i++) {
				r->blocks += g[i].at >= from ? g[i].size / 8 + r->c.chunk_overhead : 0;
				ask(r, g[i].src, t + 1);
			}
		} while (n == 64);
	}
}

static struct rate measure(uint32_t chunk, mf_time iteration, mf_time ahead)
{
	static struct run r;
	const mf_time from = MF_NS(300), end = MF_NS(1300);
	struct mf_sched_stats st;

	r = (struct run){.c = {.ports = PORTS, .chunk = chunk, .x = 32, .chunk_overhead = 2}, .rng = {11}};
	r.c.iteration = iteration;
	r.c.insert = iteration * 2 / 3;
	r.c.ahead = ahead;
	for (unsigned int p = 0; p < PORTS; p++)
		r.c.period[p] = PERIOD;
	r.s = mf_sched_pim.create(&r.c);
	cr_assert(r.s);
	for (unsigned int i = 0; i < BACKLOG * PORTS; i++) {
		ask(&r, i % PORTS, i);
		serve(&r, from, i);
	}
	serve(&r, from, end);
	mf_sched_pim.stats(r.s, &st);
	mf_sched_pim.destroy(r.s);
	return (struct rate){(double)r.blocks * PERIOD / (PORTS * (double)(end - from)),
			     (double)st.iterations / st.matchings};
}

/*
 * The yardstick is a scheduler that takes no time: what it leaves idle, maximal matchings of this demand
 * leave idle. To the letter of step (7), a port waits from its release for the matching under way, then
 * for its own, so no chunk reaches it. With the next matching formed while the chunk is sent (3.1.3) by
 * the mean time of log2(N) iterations, what counts is whether a chunk lasts longer than a matching.
 */
Test(sched_rate, chunk_of_128_reaches_the_line)
{
	const mf_time ahead = 9 * ITERATION; /* log2(512) */
	double part[3];

	for (int i = 0; i < 3; i++) {
		uint32_t chunk = 64 << i;
		struct rate ideal = measure(chunk, 0, 0), literal = measure(chunk, ITERATION, 0);
		struct rate piped = measure(chunk, ITERATION, ahead);

		part[i] = piped.line / ideal.line;
		fprintf(stderr,
			"# chunk %u: line rate %.3f without scheduling time, %.3f released at l/B, %.3f "
			"matched %lu ns ahead; %.2f iterations of %u ns a matching, chunk %.2f ns\n",
			chunk, ideal.line, literal.line, piped.line, ahead / 1000, piped.iterations,
			ITERATION / 1000, (chunk / 8 + 2) * PERIOD / 1000.0);
		cr_expect_lt(literal.line, 0.95 * ideal.line);
	}
	cr_expect_lt(part[0], 0.98, "64 B: %.3f of what matchings can do", part[0]);
	cr_expect_geq(part[1], 0.99, "128 B: %.3f", part[1]);
	cr_expect_geq(part[2], 0.99, "256 B: %.3f", part[2]);
}
