/* SPDX-License-Identifier: BSD-3-Clause */
/* What one thread puts into a crossing is what the other one takes, in order, whatever lies in old cells. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "role/mf_cell_ring.h"
#include "base/mf_rng.h"

#define SEED 1
#define CELLS 256
#define SPANS 200000

static struct crossing *new_crossing(uint32_t cells)
{
	size_t size = sizeof(struct crossing) + cells * sizeof(struct cell);
	struct crossing *c = aligned_alloc(__alignof__(struct crossing), size);

	cr_assert_not_null(c);
	memset(c, 0, size);
	crossing_init(c, (struct cell *)(c + 1), cells);
	return c;
}

/** The same for both sides. Words look like the heads of cells, and sync headers take every value. */
static void make_span(struct mf_rng *rng, struct mf_span *s)
{
	s->count = (uint16_t)(1 + mf_rng_below(rng, mf_rng_below(rng, 4) ? 16 : MF_SPAN_MAX));
	s->flags = (uint16_t)mf_rng_below(rng, 2);
	s->period = 0;
	for (unsigned int i = 0; i < s->count; i++) {
		s->word[i] = mf_rng_below(rng, 2) ? mf_rng_next(rng) : mf_rng_below(rng, 2 * CELLS);
		s->sync[i] = (uint8_t)mf_rng_below(rng, 4);
	}
}

static void expect_same(const struct mf_span *a, const struct mf_span *b)
{
	cr_assert_eq(a->count, b->count);
	cr_assert_eq(a->flags, b->flags);
	cr_assert_eq(a->period, b->period);
	cr_assert_arr_eq(a->word, b->word, a->count * sizeof(a->word[0]));
	cr_assert_arr_eq(a->sync, b->sync, a->count);
}

static void *put_all(void *arg)
{
	struct crossing *c = arg;
	struct mf_span s;
	struct mf_rng rng;

	mf_rng_init(&rng, SEED, "crossing", 0);
	for (unsigned int i = 0; i < SPANS; i++) {
		make_span(&rng, &s);
		while (crossing_room(c, CROSSING_SPAN) < CROSSING_SPAN)
			sched_yield();
		crossing_put_span(c, &s);
	}
	return NULL;
}

Test(crossing, between_threads)
{
	struct crossing *c = new_crossing(CELLS);
	struct mf_span expected, got = {.start = 0};
	struct mf_rng rng;
	pthread_t thread;

	mf_rng_init(&rng, SEED, "crossing", 0);
	cr_assert_eq(pthread_create(&thread, NULL, put_all, c), 0);
	for (unsigned int i = 0; i < SPANS; i++) {
		make_span(&rng, &expected);
		while (!crossing_take_span(c, &got))
			sched_yield();
		expect_same(&expected, &got);
	}
	cr_assert_eq(pthread_join(thread, NULL), 0);
	cr_assert_not(crossing_take_span(c, &got), "nothing is left");
	free(c);
}

/** All sizes, one at a time: the room that is left, and nothing is there but what was put. */
Test(crossing, room)
{
	struct crossing *c = new_crossing(CELLS);
	struct mf_span s = {.start = 0}, got = {.start = 0};

	for (unsigned int n = 1; n <= MF_SPAN_MAX; n++) {
		unsigned int cells = (n + CELL_WORDS - 1) / CELL_WORDS;

		s.count = (uint16_t)n;
		for (unsigned int i = 0; i < n; i++) {
			s.word[i] = n * 1000 + i;
			s.sync[i] = i % 4;
		}
		cr_assert_not(crossing_take_span(c, &got));
		crossing_put_span(c, &s);
		cr_assert_eq(crossing_room(c, CELLS), CELLS - cells, "%u blocks", n);
		cr_assert(crossing_take_span(c, &got));
		expect_same(&s, &got);
		cr_assert_eq(crossing_room(c, CELLS), CELLS);
	}
	free(c);
}

/** Positions run over: what is left of the earlier rounds is still told from what is new. */
Test(crossing, wraps)
{
	struct crossing *c = new_crossing(32);
	struct mf_span s = {.count = 8, .word = {1, 2, 3, 4, 5, 6, 7, 8}, .sync = {2, 1, 1, 1, 1, 1, 1, 2}},
		       got = {.start = 0};

	c->put = c->take = c->taken = c->taken_seen = UINT32_MAX - 100;
	for (unsigned int i = 0; i < 200; i++) {
		cr_assert_not(crossing_take_span(c, &got));
		crossing_put_span(c, &s);
		cr_assert(crossing_take_span(c, &got));
		expect_same(&s, &got);
	}
	free(c);
}

/** Words of any number, taken as they were put together. */
Test(crossing, words)
{
	struct crossing *c = new_crossing(CELLS);
	uint64_t put[300 + CELL_WORDS] = {0}, got[300 + CELL_WORDS];
	struct mf_rng rng;

	mf_rng_init(&rng, SEED, "words", 0);
	for (unsigned int i = 0; i < 10000; i++) {
		unsigned int n = (unsigned int)(1 + mf_rng_below(&rng, 300));

		cr_assert_eq(crossing_take(c, got), 0);
		for (unsigned int k = 0; k < n; k++)
			put[k] = mf_rng_next(&rng);
		crossing_put(c, put, n);
		cr_assert_eq(crossing_room(c, CELLS), CELLS - CROSSING_CELLS(n));
		cr_assert_eq(crossing_take(c, got), n);
		cr_assert_arr_eq(got, put, n * sizeof(put[0]));
	}
	free(c);
}

static void *put_dated(void *arg)
{
	struct crossing *c = arg;
	struct mf_span s;
	struct mf_rng rng;

	mf_rng_init(&rng, SEED, "crossing", 0);
	for (unsigned int i = 0; i < SPANS; i++) {
		make_span(&rng, &s);
		while (crossing_room(c, CROSSING_SPAN + 1) <= CROSSING_SPAN)
			sched_yield();
		crossing_put_dated(c, i, &s);
	}
	return NULL;
}

/* Where the time can be seen the span behind it can be taken, from another thread, too. */
Test(crossing, dated_between_threads)
{
	struct crossing *c = new_crossing(CELLS);
	uint64_t time[1 + CELL_WORDS];
	struct mf_span expected, got = {.start = 0};
	struct mf_rng rng;
	pthread_t thread;

	mf_rng_init(&rng, SEED, "crossing", 0);
	cr_assert_eq(pthread_create(&thread, NULL, put_dated, c), 0);
	for (unsigned int i = 0; i < SPANS; i++) {
		const struct cell *cell;

		make_span(&rng, &expected);
		while ((cell = crossing_peek(c)) == NULL)
			sched_yield();
		cr_assert_eq(cell->word[0], i);
		cr_assert_eq(crossing_take(c, time), 1);
		cr_assert_eq(time[0], i);
		cr_assert(crossing_take_span(c, &got), "span %u", i);
		expect_same(&got, &expected);
	}
	cr_assert_null(crossing_peek(c));
	pthread_join(thread, NULL);
	free(c);
}
