/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What scheduling costs in CPU time, all calls included. Demand comes in as time goes by and is never the
 * same twice: random pairs, reads and writes half and half. Its making is not timed.
 *
 *   bench_sched [scalar | avx2] [load | goal | read | full]...
 *   bench_sched PORTS PRIORITY LOAD MIXED TIMING
 *
 * load: ns a grant at a load of the wire blocks, 64 octets each or a mix. "untimed" is called at each
 *       event, "3 GHz" takes the time of 3.1.3, "window" is the wall clock's, polled once a chunk
 * goal: the same for 256 ports only
 * read: one demand at a time, from notification to release: cycles of the TSC
 * full: every pair has demand: one matching, until it is maximal
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>

#include "mf_sched.h"

#define BLOCK 2048 /* demands between two looks at the clock */
#define ROUNDS 200
#define PERIOD 640
#define CHUNK 256
#define OVERHEAD 2
#define PORTS_MAX 512
#define FLIGHT 4096 /* WINDOW: grants that have not been forwarded */

enum timing { UNTIMED, TIMED, WINDOW };
static const char *const timing_name[] = {"untimed", "3 GHz", "window"};

struct bench {
	struct mf_sched *s;
	enum timing timing;
	unsigned int ports;
	bool mixed;
	double gap; /* between demands */
	uint64_t rng, calls, grants;
	mf_time now, last;
	uint8_t id;
	struct mf_sched_msg *flight; /* ring */
	unsigned int head, tail;
};

static uint32_t below(struct bench *b, uint32_t n)
{
	b->rng = b->rng * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (b->rng >> 32) * n >> 32;
}

static uint32_t size(struct bench *b)
{
	uint32_t dice = below(b, 20);

	if (!b->mixed || dice < 12)
		return 64;
	return dice < 16 ? 256 : dice < 19 ? 1024 : 4096;
}

/* Wire blocks of a mean demand. */
static double blocks(bool mixed)
{
	const double small = 64 / 8 + OVERHEAD, chunk = CHUNK / 8 + OVERHEAD;

	return mixed ? (12 * small + (4 + 3 * 4 + 1 * 16) * chunk) / 20 : small;
}

static struct mf_sched_msg demand(struct bench *b)
{
	struct mf_sched_msg m = {.kind = MF_SCHED_DEMAND, .request_blocks = 2, .cookie = MF_SCHED_NO_COOKIE};

	m.at = b->last += (mf_time)(b->gap * 2 * below(b, 1000) / 1000);
	m.src = below(b, b->ports);
	m.dst = below(b, b->ports);
	m.resp = below(b, 2);
	m.id = b->id++;
	m.size = size(b);
	return m;
}

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

/* At every time at which the scheduler wants to, until end. */
static void serve(struct bench *b, mf_time end)
{
	struct mf_sched_grant g[512];
	unsigned int n;

	for (mf_time t; (t = mf_sched_pim.next(b->s)) <= end; b->calls++) {
		do {
			n = mf_sched_pim.run(b->s, t, g, 512);
			b->grants += n;
		} while (n == 512);
	}
}

static void play_events(struct bench *b, const struct mf_sched_msg *m, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		serve(b, m[i].at - 1);
		mf_sched_pim.input(b->s, &m[i]);
	}
}

static void poll(struct bench *b, mf_time now)
{
	struct mf_sched_grant g[512];
	unsigned int n;

	for (; b->head != b->tail && b->flight[b->head % FLIGHT].at <= now; b->head++) {
		b->flight[b->head % FLIGHT].at = now;
		mf_sched_pim.input(b->s, &b->flight[b->head % FLIGHT]);
	}
	do {
		n = mf_sched_pim.run(b->s, now, g, 512);
		b->grants += n;
		for (unsigned int i = 0; i < n; i++)
			b->flight[b->tail++ % FLIGHT] = (struct mf_sched_msg){
				.kind = MF_SCHED_FORWARDED,
				.at = g[i].at + (CHUNK / 8 + OVERHEAD) * PERIOD,
				.src = g[i].src,
				.dst = g[i].dst,
				.resp = g[i].resp,
				.size = g[i].size,
			};
	} while (n == 512);
	b->calls++;
}

/* As the wall clock does: all is dated by the turn in which it is found. */
static void play_polls(struct bench *b, const struct mf_sched_msg *m, unsigned int n)
{
	for (unsigned int i = 0; i < n;) {
		for (; i < n && m[i].at <= b->now; i++) {
			struct mf_sched_msg dated = m[i];

			dated.at = b->now;
			mf_sched_pim.input(b->s, &dated);
		}
		poll(b, b->now);
		b->now += (CHUNK / 8 + OVERHEAD) * PERIOD;
	}
}

static unsigned int max_simd_bits;

static struct mf_sched_config config(unsigned int ports, enum mf_sched_priority priority, enum timing timing)
{
	struct mf_sched_config c = {
		.ports = ports, .chunk = CHUNK, .x = 3, .chunk_overhead = OVERHEAD, .window = 16384};

	c.max_simd_bits = max_simd_bits;
	c.priority = priority;
	c.release = timing == WINDOW ? MF_RELEASE_WINDOW : MF_RELEASE_WIRE;
	if (timing == TIMED) {
		c.insert = 667;
		c.iteration = 1000;
		for (unsigned int n = 1; n < ports; n *= 2)
			c.ahead += c.iteration;
	}
	for (unsigned int p = 0; p < ports; p++)
		c.period[p] = PERIOD;
	return c;
}

static struct mf_sched *make(const struct mf_sched_config *c)
{
	struct mf_sched *s = mf_sched_pim.create(c);

	if (!s) {
		perror("create");
		exit(EXIT_FAILURE);
	}
	return s;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void load(unsigned int ports, enum mf_sched_priority priority, double load, bool mixed,
		 enum timing timing)
{
	const struct mf_sched_config c = config(ports, priority, timing);
	struct bench b = {.s = make(&c), .timing = timing, .ports = ports, .mixed = mixed, .rng = 1};
	static struct mf_sched_msg m[BLOCK];
	struct mf_sched_stats st;
	double ns[ROUNDS];

	b.gap = blocks(mixed) * PERIOD / load / ports;
	b.last = 1;
	b.flight = calloc(FLIGHT, sizeof(*b.flight));
	for (int round = -20; round < ROUNDS; round++) {
		uint64_t before = b.grants;
		double from;

		for (unsigned int i = 0; i < BLOCK; i++)
			m[i] = demand(&b);
		from = cpu_ns();
		if (timing == WINDOW)
			play_polls(&b, m, BLOCK);
		else
			play_events(&b, m, BLOCK);
		if (round >= 0)
			ns[round] = (cpu_ns() - from) / (b.grants - before);
	}
	qsort(ns, ROUNDS, sizeof(*ns), by_value);
	mf_sched_pim.stats(b.s, &st);
	printf("%5u %s %4.2f %5s %8s %7.1f %7.1f ns %7.2f M/s %7.2f %7.2f %6.2f %8lu %8.2f MB\n", ports,
	       priority ? "srpt" : "fcfs", load, mixed ? "mixed" : "64", timing_name[timing], ns[0],
	       ns[ROUNDS / 2], 1e3 / ns[ROUNDS / 2], (double)b.calls / b.grants,
	       (double)st.grants / st.matchings, (double)st.iterations / st.matchings, st.entries_max,
	       st.memory / 1e6);
	mf_sched_pim.destroy(b.s);
	free(b.flight);
}

static void loads(void)
{
	static const unsigned int ports[] = {16, 64, 144, 256, 512};

	printf("ports prio load sizes   timing     min  median            calls/grant, per matching: grants, "
	       "iterations; entries max\n");
	for (unsigned int i = 0; i < sizeof(ports) / sizeof(ports[0]); i++)
		for (int priority = MF_SCHED_FCFS; priority <= MF_SCHED_SRPT; priority++)
			for (enum timing t = UNTIMED; t <= WINDOW; t++)
				for (int mixed = 0; mixed < 2; mixed++)
					load(ports[i], priority, 0.8, mixed, t);
	for (int priority = MF_SCHED_FCFS; priority <= MF_SCHED_SRPT; priority++)
		for (int l = 0; l < 3; l++)
			load(256, priority, (const double[]){0.5, 0.8, 0.95}[l], true, TIMED);
}

static void one_read(unsigned int ports)
{
	enum { READS = 20000 };
	const struct mf_sched_config c = config(ports, MF_SCHED_FCFS, WINDOW);
	struct bench b = {.s = make(&c), .ports = ports, .rng = 1, .gap = 1e6};
	static double cycles[READS];

	for (int i = 0; i < READS; i++) {
		struct mf_sched_msg m = demand(&b), f = {.kind = MF_SCHED_FORWARDED, .size = 64};
		struct mf_sched_grant g[16];
		uint64_t from;
		mf_time next;

		m.size = 64;
		m.resp = true;
		f.src = m.src;
		f.dst = m.dst;
		f.resp = m.resp;
		f.at = m.at + 100;
		from = __rdtsc();
		mf_sched_pim.input(b.s, &m);
		b.grants += mf_sched_pim.run(b.s, m.at, g, 16);
		next = mf_sched_pim.next(b.s);
		mf_sched_pim.input(b.s, &f);
		if (mf_sched_pim.next(b.s) <= f.at && next > f.at)
			b.grants += mf_sched_pim.run(b.s, f.at, g, 16);
		cycles[i] = __rdtsc() - from;
	}
	qsort(cycles, READS, sizeof(*cycles), by_value);
	printf("%5u ports: a read %4.0f cycles (p50), %4.0f (p99), grants %lu\n", ports, cycles[READS / 2],
	       cycles[READS / 100 * 99], b.grants);
	mf_sched_pim.destroy(b.s);
}

/* Its size is a whole number of chunks, so that all ports are released together. */
static void fill(struct bench *b, unsigned int src, unsigned int dst, uint8_t id, mf_time now)
{
	struct mf_sched_msg m = {
		.kind = MF_SCHED_DEMAND, .cookie = MF_SCHED_NO_COOKIE, .src = src, .dst = dst};

	m.id = id;
	m.at = now - below(b, now < MF_US(1) ? now : MF_US(1));
	m.size = CHUNK * (1 + (b->mixed ? below(b, 16) : 0));
	mf_sched_pim.input(b->s, &m);
}

static void hold(struct bench *b, enum mf_sched_msg_kind kind, mf_time at)
{
	for (unsigned int p = 0; p < b->ports; p++)
		mf_sched_pim.input(b->s, &(struct mf_sched_msg){.kind = kind, .dst = p, .at = at});
}

static void full(unsigned int ports, enum mf_sched_priority priority, bool mixed)
{
	enum { MATCHINGS = 200 };
	struct mf_sched_config c = config(ports, priority, UNTIMED);
	struct bench b = {.ports = ports, .mixed = mixed, .rng = 7};
	static struct mf_sched_grant g[PORTS_MAX + 1];
	mf_time now = 0;
	double ns[MATCHINGS], first;
	struct mf_sched_stats st;

	c.release = MF_RELEASE_PAPER;
	b.s = make(&c);
	hold(&b, MF_SCHED_HOLD, now);
	for (unsigned int i = 0; i < ports * ports; i++) {
		unsigned int dst = below(&b, ports), src = below(&b, ports);

		mf_sched_pim.run(b.s, ++now, g, PORTS_MAX + 1);
		fill(&b, src, dst, 0, now);
		mf_sched_pim.run(b.s, ++now, g, PORTS_MAX + 1);
		fill(&b, i % ports, i / ports, 1, now);
	}
	mf_sched_pim.run(b.s, now = MF_MS(1), g, PORTS_MAX + 1);
	hold(&b, MF_SCHED_UNHOLD, now);
	for (unsigned int k = 0; k < MATCHINGS; k++) {
		double from = cpu_ns();
		unsigned int n = mf_sched_pim.run(b.s, now, g, PORTS_MAX + 1);

		ns[k] = cpu_ns() - from;
		for (unsigned int i = 0; i < n; i++) /* as much comes back */
			if (g[i].last)
				fill(&b, g[i].src, g[i].dst, g[i].id + 2, now + 1);
		mf_sched_pim.run(b.s, now + 1, g, PORTS_MAX + 1);
		now += CHUNK / 8 * PERIOD;
	}
	mf_sched_pim.stats(b.s, &st);
	first = ns[0];
	qsort(ns, MATCHINGS, sizeof(*ns), by_value);
	printf("%5u ports %s %5s: %8.2f us the first, %8.2f us min, %8.2f us median; %.1f grants, %.2f "
	       "iterations a matching\n",
	       ports, priority ? "srpt" : "fcfs", mixed ? "mixed" : "one", first / 1e3, ns[0] / 1e3,
	       ns[MATCHINGS / 2] / 1e3, (double)st.grants / st.matchings,
	       (double)st.iterations / st.matchings);
	mf_sched_pim.destroy(b.s);
}

int main(int argc, char **argv)
{
	bool all = argc == 1;

	if (argc == 6) {
		load(atoi(argv[1]), atoi(argv[2]), atof(argv[3]), atoi(argv[4]), atoi(argv[5]));
		return 0;
	}

	for (int i = 0; i < argc; i++) {
		if (!strcmp(argv[i], "scalar"))
			max_simd_bits = 64;
		if (!strcmp(argv[i], "avx2"))
			max_simd_bits = 256;
		if (all || !strcmp(argv[i], "load"))
			loads();
		if (all || !strcmp(argv[i], "read"))
			for (unsigned int ports = 2; ports <= 16; ports *= 2)
				one_read(ports);
		for (int k = 0; k < 4 && (all || !strcmp(argv[i], "full")); k++)
			full(512, k % 2, k / 2);
		if (!strcmp(argv[i], "goal"))
			for (int k = 0; k < 2; k++)
				for (enum timing t = UNTIMED; t <= WINDOW; t++)
					for (int mixed = 0; mixed < 2; mixed++)
						load(256, k, 0.8, mixed, t);
	}
	return 0;
}
