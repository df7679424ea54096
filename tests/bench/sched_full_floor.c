/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is left of a matching from full demand without matching: a grant for each of 512 destinations, whose
 * pairs and places in the lists are known. Of state that is as large as the scheduler's, a grant touches what
 * it cannot do without: the two lines of its list, the line of its key, its queue's entry, its demand. No
 * grant waits for another one, so that all of it can be fetched ahead. As there, one in nine grants is a new
 * pair's in the next matching.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mf_hist.h"
#include "base/mf_rng.h"
#include "bench.h"
#include "sched_floor.h"
#include "systems/edm/sched/mf_sched.h"

#define PORTS 512
#define PAIRS (PORTS * PORTS)
#define ROOM 1092 /* keys of a list */
#define PLACES 64 /* at which of them candidates are found */
#define CHANGE 9

struct demand {
	uint64_t since;
	uint32_t rest, cookie, next, flags;
};

struct list {
	uint64_t word[16];
} __attribute__((aligned(64)));

struct state {
	const struct bench_env *env;
	struct mf_rng rng;
	struct mf_hist ns;
	uint32_t pair[PORTS]; /* of each destination's grant */
	uint16_t place[PORTS];
	uint64_t sum;
	struct list *list;
	unsigned __int128 *key;
	uint32_t *queue;
	struct demand *demand;
	struct mf_sched_grant grant[PORTS];
};

static void floor_close(void *state)
{
	struct state *s = state;

	free(s->list);
	free(s->key);
	free(s->queue);
	free(s->demand);
	free(s);
}

static void change(struct state *s, unsigned int dst)
{
	s->pair[dst] = dst * PORTS + (uint32_t)mf_rng_below(&s->rng, PORTS);
	s->place[dst] = (uint16_t)mf_rng_below(&s->rng, PLACES);
}

static void floor_prepare(void *ctx)
{
	struct state *s = ctx;

	for (unsigned int i = 0; i < PORTS / CHANGE; i++)
		change(s, (unsigned int)mf_rng_below(&s->rng, PORTS));
}

/** Which demand is whose follows no rule. */
static void fill(struct state *s)
{
	for (uint32_t i = 0; i < PAIRS; i++) {
		uint32_t at = (uint32_t)mf_rng_below(&s->rng, i + 1);

		s->demand[i] = (struct demand){.since = i, .rest = UINT32_MAX, .cookie = i};
		s->queue[i] = s->queue[at];
		s->queue[at] = i;
	}
	for (uint32_t i = 0; i < PORTS * ROOM; i++)
		s->key[i] = i;
	for (unsigned int dst = 0; dst < PORTS; dst++)
		change(s, dst);
}

static void *floor_open(const struct bench_line *line, const struct bench_env *env, char *why)
{
	struct state *s = calloc(1, sizeof(*s));

	(void)line;
	if (s == NULL)
		return NULL;
	s->env = env;
	s->list = aligned_alloc(sizeof(struct list), PORTS * sizeof(*s->list));
	s->key = malloc((size_t)PORTS * ROOM * sizeof(*s->key));
	s->queue = malloc(PAIRS * sizeof(*s->queue));
	s->demand = malloc(PAIRS * sizeof(*s->demand));
	if (s->list == NULL || s->key == NULL || s->queue == NULL || s->demand == NULL) {
		snprintf(why, BENCH_REASON, "no memory");
		floor_close(s);
		return NULL;
	}
	memset(s->list, 0, PORTS * sizeof(*s->list));
	mf_rng_init(&s->rng, 1, "floor", 0);
	fill(s);
	return s;
}

static void fetch(const struct state *s)
{
	for (unsigned int dst = 0; dst < PORTS; dst++) {
		__builtin_prefetch(s->queue + s->pair[dst]);
		__builtin_prefetch(s->key + (size_t)dst * ROOM + s->place[dst]);
	}
	for (unsigned int dst = 0; dst < PORTS; dst++)
		__builtin_prefetch(s->demand + s->queue[s->pair[dst]]);
}

static uint64_t floor_match(void *ctx)
{
	struct state *s = ctx;
	double from = bench_seconds();

	fetch(s);
	for (unsigned int dst = 0; dst < PORTS; dst++) {
		struct demand *d = s->demand + s->queue[s->pair[dst]];

		s->sum += s->list[dst].word[0] + s->list[dst].word[8] +
			  (uint64_t)s->key[(size_t)dst * ROOM + s->place[dst]];
		d->rest--;
		s->grant[dst] = (struct mf_sched_grant){
			.since = d->since, .dst = (uint16_t)dst, .size = d->rest, .cookie = d->cookie};
	}
	mf_hist_add(&s->ns, (uint64_t)((bench_seconds() - from) * 1e9));
	return 1;
}

static int floor_run(void *state, struct bench_sample *out, char *why)
{
	struct state *s = state;

	(void)why;
	mf_hist_reset(&s->ns);
	bench_loop(s->env, floor_prepare, floor_match, s, out);
	out->value = (double)mf_hist_percentile(&s->ns, 500000) / 1e3;
	return 0;
}

const struct bench_ops sched_full_floor = {.open = floor_open, .run = floor_run, .close = floor_close};
