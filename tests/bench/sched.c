/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scheduler under demand that arrives while it runs and is never the same twice: random pairs, reads
 * and writes half and half, sizes from 64 octets to 16 chunks. Making the demands is not measured; taking
 * them in, matching, and the release of the ports are.
 *
 * As under the wall clock: all that has come by the time of a poll is dated by it and handed in as bursts,
 * ports have a window of octets, and what was granted is told as forwarded a chunk's time later. The time
 * between two polls is that of a chunk at 100 Gb/s. "bulk": demands of 1 to 64 chunks. "wire": as under the
 * virtual clock, called at every event, ports busy for l/B.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mf_hist.h"
#include "base/mf_rng.h"
#include "bench.h"
#include "sched_floor.h"
#include "systems/edm/sched/mf_sched.h"

#define BLOCK 4096 /* demands of a step */
#define PERIOD 640
#define CHUNK 256
#define OVERHEAD 2
#define POLL ((CHUNK / 8 + OVERHEAD) * PERIOD)
#define PORTS_MAX 512
#define GRANTS PORTS_MAX /* taken at a time */
#define WINDOW 16384
#define SMALLEST 64
#define FLIGHT \
	(PORTS_MAX * (WINDOW / SMALLEST)) /* grants that have not been forwarded: windows let out no more */

struct sched_param {
	unsigned int ports;
	enum mf_sched_priority priority;
	double load; /**< of the wire blocks */
	bool bulk; /**< demands of 1 to 64 chunks, as in bulk transfers */
	bool without; /**< scheduling: see sched_floor.c */
	enum mf_sched_release release; /**< PAPER charges payload alone, so all ports are released together */
};

struct sched {
	const struct bench_env *env;
	const struct sched_param *param;
	const struct mf_sched_ops *ops;
	struct mf_sched *s;
	struct mf_rng rng;
	double gap; /**< mean, between demands */
	mf_time now, last; /**< of the last poll, of the last demand */
	uint8_t id;
	uint64_t grants;
	unsigned int flights; /**< what was granted in the last poll, and is forwarded by this one */
	struct mf_sched_msg demand[BLOCK];
	struct mf_sched_msg flight[FLIGHT];
};

/** Six in ten of 64 octets, the others of one, four or sixteen chunks. */
static const uint32_t sizes[] = {64,    64,    64,        64,        64,        64,        64,
				 64,    64,    64,        64,        64,        CHUNK,     CHUNK,
				 CHUNK, CHUNK, 4 * CHUNK, 4 * CHUNK, 4 * CHUNK, 16 * CHUNK};
#define BULK_MAX 64 /* chunks */
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

static uint32_t blocks_of(uint32_t size)
{
	return (size + 7) / 8 + OVERHEAD * ((size + CHUNK - 1) / CHUNK);
}

static uint32_t any_size(struct sched *s)
{
	if (s->param->bulk)
		return CHUNK * (1 + (uint32_t)mf_rng_below(&s->rng, BULK_MAX));
	return sizes[mf_rng_below(&s->rng, SIZES)];
}

static double mean_blocks(bool bulk)
{
	double sum = 0;

	if (bulk)
		return (1 + BULK_MAX) / 2.0 * blocks_of(CHUNK);
	for (unsigned int i = 0; i < SIZES; i++)
		sum += blocks_of(sizes[i]);
	return sum / SIZES;
}

static void make_demands(void *ctx)
{
	struct sched *s = ctx;
	unsigned int ports = s->param->ports;

	for (unsigned int i = 0; i < BLOCK; i++) {
		struct mf_sched_msg *m = &s->demand[i];
		uint16_t src = (uint16_t)mf_rng_below(&s->rng, ports);

		s->last += (mf_time)mf_rng_exp(&s->rng, s->gap);
		*m = (struct mf_sched_msg){
			.kind = MF_SCHED_DEMAND,
			.at = s->last,
			.src = src,
			.dst = (uint16_t)((src + 1 + mf_rng_below(&s->rng, ports - 1)) % ports),
			.resp = mf_rng_next(&s->rng) & 1,
			.id = s->id++,
			.request_blocks = 2,
			.size = any_size(s),
			.cookie = MF_SCHED_NO_COOKIE};
	}
}

/* Wall clock */

/** Tells those that have come by now, dated by it. @return how many */
static unsigned int tell_demands(struct sched *s, unsigned int from)
{
	unsigned int n = 0;

	for (; from + n < BLOCK && s->demand[from + n].at <= s->now; n++)
		s->demand[from + n].at = s->now;
	return s->ops->inputs(s->s, s->demand + from, n);
}

static void match(struct sched *s)
{
	struct mf_sched_grant g[GRANTS];
	unsigned int n;

	s->flights = 0;
	do {
		n = s->ops->run(s->s, s->now, g, GRANTS);
		s->grants += n;
		for (unsigned int i = 0; i < n; i++)
			s->flight[s->flights++] = (struct mf_sched_msg){.kind = MF_SCHED_FORWARDED,
									.at = s->now + POLL,
									.src = g[i].src,
									.dst = g[i].dst,
									.resp = g[i].resp,
									.size = g[i].size};
	} while (n == GRANTS);
}

static uint64_t poll_through(void *ctx)
{
	struct sched *s = ctx;
	uint64_t before = s->grants;

	for (unsigned int i = 0; i < BLOCK; s->now += POLL) {
		s->ops->inputs(s->s, s->flight, s->flights);
		i += tell_demands(s, i);
		match(s);
	}
	return s->grants - before;
}

/* Virtual clock */

static void serve(struct sched *s, mf_time until)
{
	struct mf_sched_grant g[GRANTS];
	unsigned int n;

	for (mf_time t; (t = s->ops->next(s->s)) < until;)
		do {
			n = s->ops->run(s->s, t, g, GRANTS);
			s->grants += n;
		} while (n == GRANTS);
}

static uint64_t event_by_event(void *ctx)
{
	struct sched *s = ctx;
	uint64_t before = s->grants;

	for (unsigned int i = 0; i < BLOCK; i++) {
		serve(s, s->demand[i].at);
		s->ops->input(s->s, &s->demand[i]);
	}
	return s->grants - before;
}

static void sched_close(void *state)
{
	struct sched *s = state;

	if (s->s != NULL)
		s->ops->destroy(s->s);
	free(s);
}

/** Of the libraries' defaults, but the chunk is small: what is measured is grants, not octets. */
static struct mf_sched *make_sched(const struct mf_sched_ops *ops, const struct sched_param *p)
{
	struct mf_sched_config c = {.ports = p->ports,
				    .priority = p->priority,
				    .release = p->release,
				    .chunk = CHUNK,
				    .x = 3,
				    .window = WINDOW,
				    .chunk_overhead = OVERHEAD};

	for (unsigned int i = 0; i < p->ports; i++)
		c.period[i] = PERIOD;
	return ops->create(&c);
}

static void *sched_open(const struct bench_line *line, const struct bench_env *env, char *why)
{
	struct sched *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->env = env;
	s->param = line->param;
	s->ops = s->param->without ? &sched_floor : &mf_sched_pim;
	s->s = make_sched(s->ops, s->param);
	if (s->s == NULL) {
		snprintf(why, BENCH_REASON, "cannot be set up: %s", strerror(errno));
		sched_close(s);
		return NULL;
	}
	s->gap = mean_blocks(s->param->bulk) * PERIOD / (s->param->load * s->param->ports);
	s->last = 1;
	mf_rng_init(&s->rng, 1, "sched", s->param->ports);
	return s;
}

static int sched_run(void *state, struct bench_sample *out, char *why)
{
	struct sched *s = state;
	double grants =
		bench_loop(s->env, make_demands,
			   s->param->release == MF_RELEASE_WINDOW ? poll_through : event_by_event, s, out);

	struct mf_sched_stats st;

	out->value = grants / out->cpu / 1e6;
	s->ops->stats(s->s, &st);
	if (!st.refused)
		return 0;
	snprintf(why, BENCH_REASON, "%" PRIu64 " messages found no room", st.refused);
	return -EIO;
}

static const struct bench_ops sched_ops = {.open = sched_open, .run = sched_run, .close = sched_close};

/* From full demand: every pair of ports has some, and gets more when it is served. */

struct full {
	struct sched base;
	unsigned int n; /**< grants of the last matching */
	bool bad; /**< one was not maximal */
	struct mf_sched_grant grant[PORTS_MAX];
	struct mf_hist ns;
};

/** Whole chunks: see above. */
static void fill(struct full *f, uint16_t src, uint16_t dst, uint8_t id)
{
	struct mf_sched_msg m = {.kind = MF_SCHED_DEMAND,
				 .at = f->base.now,
				 .src = src,
				 .dst = dst,
				 .id = id,
				 .size = CHUNK * (1 + (uint32_t)mf_rng_below(&f->base.rng, 16)),
				 .cookie = MF_SCHED_NO_COOKIE};

	mf_sched_pim.input(f->base.s, &m);
}

static void hold(struct full *f, enum mf_sched_msg_kind kind)
{
	for (unsigned int p = 0; p < f->base.param->ports; p++) {
		struct mf_sched_msg m = {.kind = (uint8_t)kind, .at = f->base.now, .dst = (uint16_t)p};

		mf_sched_pim.input(f->base.s, &m);
	}
}

static uint64_t full_match(void *ctx)
{
	struct full *f = ctx;
	double from = bench_seconds();

	f->n = mf_sched_pim.run(f->base.s, f->base.now, f->grant, PORTS_MAX);
	mf_hist_add(&f->ns, (uint64_t)((bench_seconds() - from) * 1e9));
	/* All have demand for each other: two ports can only be left if they are the same one. */
	f->bad = f->bad || f->n + 1 < f->base.param->ports;
	return 1;
}

/** Nobody is served until all demand is there, in an order that follows no rule. */
static int fill_all(struct full *f)
{
	unsigned int ports = f->base.param->ports, pairs = ports * (ports - 1), at;
	uint32_t *pair = malloc(pairs * sizeof(*pair));

	if (pair == NULL)
		return -ENOMEM;
	hold(f, MF_SCHED_HOLD);
	mf_sched_pim.run(f->base.s, f->base.now, f->grant, PORTS_MAX);
	for (unsigned int i = 0; i < pairs; i++) {
		at = (unsigned int)mf_rng_below(&f->base.rng, i + 1);
		pair[i] = pair[at];
		pair[at] = i;
	}
	for (unsigned int i = 0; i < pairs; i++) {
		unsigned int src = pair[i] / (ports - 1), d = pair[i] % (ports - 1);

		fill(f, (uint16_t)src, (uint16_t)(d + (d >= src)), 0);
		mf_sched_pim.run(f->base.s, ++f->base.now, f->grant, PORTS_MAX);
	}
	free(pair);
	hold(f, MF_SCHED_UNHOLD);
	full_match(f);
	return 0;
}

/** What was served in full comes back; then all ports are released at once. */
static void full_prepare(void *ctx)
{
	struct full *f = ctx;

	f->base.now++;
	for (unsigned int i = 0; i < f->n; i++)
		if (f->grant[i].last)
			fill(f, f->grant[i].src, f->grant[i].dst, (uint8_t)(f->grant[i].id + 1));
	f->n = mf_sched_pim.run(f->base.s, f->base.now, f->grant, PORTS_MAX);
	f->bad = f->bad || f->n != 0;
	f->base.now += CHUNK / 8 * PERIOD - 1;
}

static void *full_open(const struct bench_line *line, const struct bench_env *env, char *why)
{
	struct full *f = calloc(1, sizeof(*f));

	if (f == NULL)
		return NULL;
	f->base.env = env;
	f->base.param = line->param;
	f->base.ops = &mf_sched_pim;
	f->base.s = make_sched(&mf_sched_pim, f->base.param);
	mf_rng_init(&f->base.rng, 1, "full", 0);
	if (f->base.s != NULL && fill_all(f) == 0)
		return f;
	snprintf(why, BENCH_REASON, "no memory");
	sched_close(&f->base);
	return NULL;
}

static int full_run(void *state, struct bench_sample *out, char *why)
{
	struct full *f = state;

	mf_hist_reset(&f->ns);
	bench_loop(f->base.env, full_prepare, full_match, f, out);
	out->value = (double)mf_hist_percentile(&f->ns, 500000) / 1e3;
	if (!f->bad)
		return 0;
	snprintf(why, BENCH_REASON, "a matching was not maximal, or ports were released at different times");
	return -EIO;
}

static const struct bench_ops full_ops = {.open = full_open, .run = full_run, .close = sched_close};

/* One read at a time: what it needs of the scheduler */

static uint64_t one_by_one(void *ctx)
{
	struct sched *s = ctx;
	struct mf_sched_grant g[GRANTS];

	for (unsigned int i = 0; i < BLOCK; i++) {
		struct mf_sched_msg done = s->demand[i];

		mf_sched_pim.input(s->s, &s->demand[i]);
		s->grants += mf_sched_pim.run(s->s, s->demand[i].at, g, GRANTS);
		done.kind = MF_SCHED_FORWARDED;
		mf_sched_pim.input(s->s, &done);
		s->grants += mf_sched_pim.run(s->s, done.at, g, GRANTS);
	}
	return BLOCK;
}

static void make_reads(void *ctx)
{
	struct sched *s = ctx;

	make_demands(s);
	for (unsigned int i = 0; i < BLOCK; i++) {
		s->demand[i].resp = true;
		s->demand[i].size = 64;
	}
}

static int one_run(void *state, struct bench_sample *out, char *why)
{
	struct sched *s = state;
	double reads;

	s->grants = 0;
	reads = bench_loop(s->env, make_reads, one_by_one, s, out);
	out->value = out->cpu * 1e9 / reads;
	if ((double)s->grants >= reads)
		return 0;
	snprintf(why, BENCH_REASON, "%.0f grants for %.0f reads", (double)s->grants, reads);
	return -EIO;
}

static const struct bench_ops one_ops = {.open = sched_open, .run = one_run, .close = sched_close};

static const char *const priority_name[] = {"FCFS", "SRPT"};

static void add_load(struct bench_suite *s, const struct sched_param *p)
{
	struct bench_line l = {
		.unit = "M/s", .better = BENCH_HIGHER, .crosses = -1, .ops = &sched_ops, .param = p};

	snprintf(l.name, sizeof(l.name), "sched.%s.%u.%.2f%s", p->priority == MF_SCHED_FCFS ? "fcfs" : "srpt",
		 p->ports, p->load,
		 p->bulk                         ? ".bulk"
		 : p->release == MF_RELEASE_WIRE ? ".wire"
						 : "");
	snprintf(l.what, sizeof(l.what), "scheduler, grants, %u ports, %s, load %.2f%s", p->ports,
		 priority_name[p->priority], p->load,
		 p->bulk                         ? ", bulk"
		 : p->release == MF_RELEASE_WIRE ? ", wire"
						 : "");
	if (p->ports == 256) {
		l.goal_kind = BENCH_GOAL;
		l.goal = 50;
	}
	if (p->ports == 256 && !p->bulk && p->release == MF_RELEASE_WINDOW)
		l.beside[0] = "sched.floor";
	bench_add(s, &l);
}

static void add_full(struct bench_suite *s, const struct sched_param *p)
{
	struct bench_line l = {.unit = "us",
			       .crosses = -1,
			       .goal_kind = BENCH_GOAL,
			       .goal = 10,
			       .beside = {"sched.full.floor"},
			       .ops = &full_ops,
			       .param = p};

	snprintf(l.name, sizeof(l.name), "sched.full.%s", p->priority == MF_SCHED_FCFS ? "fcfs" : "srpt");
	snprintf(l.what, sizeof(l.what), "scheduler, from full demand to maximal, 512 ports, %s",
		 priority_name[p->priority]);
	bench_add(s, &l);
}

void bench_sched(struct bench_suite *s)
{
	static const unsigned int ports[] = {16, 64, 144, 256, 512};
	static const double loads[] = {0.5, 0.8, 0.95};
	static struct sched_param param[5 * 2 * 3], bulk[2], wire[2], full[2];
	static const struct sched_param floor = {
		.ports = 256, .load = 0.8, .release = MF_RELEASE_WINDOW, .without = true};
	struct bench_line f = {.name = "sched.floor",
			       .what = "the same messages in and grants out, without scheduling",
			       .unit = "M/s",
			       .better = BENCH_HIGHER,
			       .crosses = -1,
			       .reference = true,
			       .ops = &sched_ops,
			       .param = &floor};
	struct bench_line ff = {.name = "sched.full.floor",
				.what = "512 grants from state of the same size, without matching",
				.unit = "us",
				.crosses = -1,
				.reference = true,
				.ops = &sched_full_floor};
	static const struct sched_param one = {.ports = 2, .load = 0.1, .release = MF_RELEASE_WINDOW};
	struct bench_line l = {.name = "sched.read",
			       .what = "scheduler, a 64 B read: demand, grant, release, 2 ports",
			       .unit = "ns",
			       .crosses = -1,
			       .ops = &one_ops,
			       .param = &one};

	bench_add(s, &l);
	bench_add(s, &f);
	bench_add(s, &ff);
	for (unsigned int i = 0; i < 5 * 2 * 3; i++) {
		param[i] = (struct sched_param){
			.ports = ports[i / 6], .load = loads[i % 3], .release = MF_RELEASE_WINDOW};
		param[i].priority = i / 3 % 2 ? MF_SCHED_SRPT : MF_SCHED_FCFS;
		add_load(s, &param[i]);
	}
	for (unsigned int i = 0; i < 2; i++) {
		enum mf_sched_priority priority = i ? MF_SCHED_SRPT : MF_SCHED_FCFS;

		bulk[i] = (struct sched_param){.ports = 256, .load = 0.8, .bulk = true, .priority = priority};
		bulk[i].release = MF_RELEASE_WINDOW;
		wire[i] = (struct sched_param){
			.ports = 256, .load = 0.8, .release = MF_RELEASE_WIRE, .priority = priority};
		full[i] =
			(struct sched_param){.ports = 512, .release = MF_RELEASE_PAPER, .priority = priority};
		add_load(s, &bulk[i]);
		add_load(s, &wire[i]);
		add_full(s, &full[i]);
	}
}
