/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From core to core and back: an object through an rte_ring each way, and a cache line alone. It is the
 * floor of everything that has two lcores.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <rte_config.h>
#include <rte_pause.h>
#include <rte_ring.h>

#include "bench.h"

#define RING_SIZE 64
#define TURNS 1000 /* between two looks at the clock */

struct side {
	struct rte_ring *out, *in;
};

struct ring {
	const struct bench_env *env;
	bool line; /**< a cache line, no ring */
	struct rte_ring *way[2];
	_Alignas(64) atomic_ulong ball; /**< even: the first one's turn */
	_Alignas(64) atomic_bool stop;
	struct bench_sample second; /**< time of the other thread */
};

/** @return false: the other one has stopped */
static bool ring_wait(struct ring *r, struct rte_ring *in)
{
	void *object;

	while (rte_ring_sc_dequeue(in, &object) != 0) {
		if (atomic_load_explicit(&r->stop, memory_order_relaxed))
			return false;
		rte_pause();
	}
	return true;
}

static bool line_wait(struct ring *r, unsigned long until)
{
	while (atomic_load_explicit(&r->ball, memory_order_acquire) != until) {
		if (atomic_load_explicit(&r->stop, memory_order_relaxed))
			return false;
		rte_pause();
	}
	return true;
}

static void *answer(void *arg)
{
	struct ring *r = arg;
	struct bench_watch w;
	unsigned long turn = 1;

	bench_pin(r->env, 1);
	bench_start(&w);
	if (r->line)
		for (; line_wait(r, turn); turn += 2)
			atomic_store_explicit(&r->ball, turn + 1, memory_order_release);
	else
		while (ring_wait(r, r->way[0]))
			rte_ring_sp_enqueue(r->way[1], r);
	bench_stop(&w, &r->second);
	return NULL;
}

static uint64_t ring_step(void *ctx)
{
	struct ring *r = ctx;

	for (unsigned int i = 0; i < TURNS; i++) {
		rte_ring_sp_enqueue(r->way[0], r);
		ring_wait(r, r->way[1]);
	}
	return TURNS;
}

static uint64_t line_step(void *ctx)
{
	struct ring *r = ctx;
	unsigned long ball = atomic_load_explicit(&r->ball, memory_order_relaxed);

	for (unsigned int i = 0; i < TURNS; i++, ball += 2) {
		atomic_store_explicit(&r->ball, ball + 1, memory_order_release);
		line_wait(r, ball + 2);
	}
	return TURNS;
}

static void ring_close(void *state)
{
	struct ring *r = state;

	free(r->way[0]);
	free(r->way[1]);
	free(r);
}

static int make_ring(struct ring *r, unsigned int i)
{
	r->way[i] = aligned_alloc(64, (size_t)rte_ring_get_memsize(RING_SIZE));
	if (r->way[i] == NULL)
		return -1;
	return rte_ring_init(r->way[i], "bench", RING_SIZE, RING_F_SP_ENQ | RING_F_SC_DEQ);
}

static void *ring_open(const struct bench_line *line, const struct bench_env *env, char *why)
{
	struct ring *r;

	if (env->cpus < 2) {
		snprintf(why, BENCH_REASON, "needs two CPUs");
		return NULL;
	}
	r = aligned_alloc(64, sizeof(*r));
	if (r == NULL)
		return NULL;
	*r = (struct ring){.env = env, .line = *(const bool *)line->param};
	if (make_ring(r, 0) == 0 && make_ring(r, 1) == 0)
		return r;
	snprintf(why, BENCH_REASON, "no memory");
	ring_close(r);
	return NULL;
}

static int ring_run(void *state, struct bench_sample *out, char *why)
{
	struct ring *r = state;
	double turns, wall;
	pthread_t other;

	r->second = (struct bench_sample){0};
	atomic_store(&r->ball, 0);
	atomic_store(&r->stop, false);
	if (pthread_create(&other, NULL, answer, r) != 0) {
		snprintf(why, BENCH_REASON, "cannot start a thread");
		return -1;
	}
	turns = bench_loop(r->env, NULL, r->line ? line_step : ring_step, r, out);
	wall = out->wall;
	atomic_store(&r->stop, true);
	pthread_join(other, NULL);
	out->got += r->second.got;
	out->wall += r->second.wall;
	out->value = wall * 1e9 / turns;
	return 0;
}

static const struct bench_ops ring_ops = {.open = ring_open, .run = ring_run, .close = ring_close};

void bench_ring(struct bench_suite *s)
{
	static const bool line[] = {false, true};
	struct bench_line l = {.name = "reference.ring",
			       .what = "an object through rte_rings, there and back",
			       .unit = "ns",
			       .reference = true,
			       .crosses = 2,
			       .ops = &ring_ops,
			       .param = &line[0]};

	bench_add(s, &l);
	snprintf(l.name, sizeof(l.name), "reference.line");
	snprintf(l.what, sizeof(l.what), "a cache line, there and back");
	l.param = &line[1];
	bench_add(s, &l);
}
