/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads, and counters, as a program sees them. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/mf_rng.h"
#include "program.h"

#define READ_PAGES 16 /* in the TLB, and in the caches, as the flat memory's */
#define COUNTERS 1024
#define THREADS_MAX 64

/** @return memory that is read: of *space, or of the node as such where that has no spaces: NULL */
static uint64_t memory_of(struct program *p, struct memfab_queue *q, uint64_t size,
			  struct memfab_space **space)
{
	uint64_t ptr = 0;
	int rc = memfab_space_new(q, &p->memory, 1, space);

	if (rc == -EINVAL) {
		*space = NULL;
		return 0;
	}
	program_must(rc, "space");
	program_must(memfab_ralloc(q, *space, size, MEMFAB_POPULATE, &ptr), "allocation");
	return ptr;
}

void program_read(struct program *p)
{
	struct memfab_queue *q = program_queue(p, NULL, 4);
	struct memfab_space *space;
	uint64_t to[8], at = memory_of(p, q, READ_PAGES * PROGRAM_PAGE, &space), page = 0;
	static struct mf_hist h;
	struct bench_watch w = {0};
	double now = program_ns(), from = now + p->seconds * 1e8, end = from + p->seconds * 1e9, before;
	bool warm = true;

	do {
		if (warm && now >= from) {
			warm = false;
			mf_hist_reset(&h);
			program_start(p, &w);
		}
		page = (page + 1) % READ_PAGES;
		before = program_ns();
		program_must(space != NULL ? memfab_rread(q, space, at + page * PROGRAM_PAGE, to, sizeof(to))
					   : memfab_read(q, p->memory, page * PROGRAM_PAGE, to, sizeof(to)),
			     "read");
		now = program_ns();
		mf_hist_add(&h, (uint64_t)(now - before));
	} while (now < end);
	program_stop(p, &w);
	p->figure[p->figures++] = (double)mf_hist_percentile(&h, 500000);
	if (space != NULL)
		program_must(memfab_space_end(q, space), "end");
	memfab_queue_free(q);
}

/* ---- counters ---- */

struct counting {
	struct program *p;
	struct memfab_queue *q;
	const struct memfab_space *space;
	uint64_t ptr;
	struct mf_rng rng;
	uint64_t n, counted; /**< additions in all, and those within the measured time */
	struct bench_sample cost;
	pthread_t thread;
};

static atomic_uint stage; /* 0: warm-up, 1: counted, 2: ends */

static void add(struct counting *c)
{
	struct memfab_sqe *s = memfab_get_sqe(c->q);

	memfab_prep_ratomic(s, c->space, MEMFAB_FETCH_ADD, c->ptr + mf_rng_below(&c->rng, COUNTERS) * 8, 1);
}

/** A batch at a time, as clients of servers with pipelines do. */
static void batch(struct counting *c)
{
	const struct memfab_cqe *done;
	unsigned int depth = (unsigned int)c->p->depth;

	for (unsigned int i = 0; i < depth; i++)
		add(c);
	memfab_submit(c->q);
	program_must(memfab_wait_cqe(c->q, depth, -1), "wait");
	for (unsigned int i = 0; i < depth; i++) {
		done = memfab_peek_cqe(c->q);
		program_must((int)done->res, "addition");
		memfab_cq_advance(c->q, 1);
	}
	c->n += depth;
}

static void *count(void *arg)
{
	struct counting *c = arg;
	struct bench_watch w;

	while (atomic_load_explicit(&stage, memory_order_relaxed) == 0)
		batch(c);
	c->counted = c->n;
	bench_start(&w);
	while (atomic_load_explicit(&stage, memory_order_relaxed) == 1)
		batch(c);
	c->counted = c->n - c->counted;
	bench_stop(&w, &c->cost);
	return NULL;
}

static void start(struct counting *c, struct program *p, const struct memfab_space *space, uint64_t ptr,
		  uint64_t seed)
{
	*c = (struct counting){.p = p, .space = space, .ptr = ptr};
	c->q = program_queue(p, NULL, (unsigned int)p->depth);
	mf_rng_init(&c->rng, seed, "counters", 0);
	program_must(-pthread_create(&c->thread, NULL, count, c), "thread");
}

static void sleep_for(double seconds)
{
	struct timespec t = {.tv_sec = (time_t)seconds,
			     .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};

	nanosleep(&t, NULL);
}

/** All counters together are what was added, warm-up included. */
static void check(struct counting *c, uint64_t sum)
{
	static uint64_t counter[COUNTERS];

	program_must(memfab_rread(c->q, c->space, c->ptr, counter, sizeof(counter)), "read");
	for (unsigned int i = 0; i < COUNTERS; i++)
		sum -= counter[i];
	program_must(sum == 0 ? 0 : -EIO, "a wrong count");
}

void program_count(struct program *p)
{
	struct memfab_queue *q = program_queue(p, NULL, 4);
	struct memfab_space *space;
	uint64_t ptr = memory_of(p, q, COUNTERS * 8, &space), n = 0, all = 0;
	struct counting c[THREADS_MAX];
	double begin, seconds;

	if (space == NULL || p->threads > THREADS_MAX)
		program_must(-EINVAL, "counters");
	for (unsigned int i = 0; i < p->threads; i++)
		start(&c[i], p, space, ptr, i);
	sleep_for(p->seconds / 10);
	atomic_store(&stage, 1);
	begin = program_ns();
	sleep_for(p->seconds);
	seconds = (program_ns() - begin) / 1e9;
	atomic_store(&stage, 2);
	for (unsigned int i = 0; i < p->threads; i++) {
		program_must(-pthread_join(c[i].thread, NULL), "thread");
		n += c[i].counted;
		all += c[i].n;
		p->cost.got += c[i].cost.got;
		p->cost.wall += c[i].cost.wall;
		memfab_queue_free(c[i].q);
	}
	check(&(struct counting){.q = q, .space = space, .ptr = ptr}, all);
	p->figure[p->figures++] = (double)n / seconds / 1e6;
	program_must(memfab_space_end(q, space), "end");
	memfab_queue_free(q);
}
