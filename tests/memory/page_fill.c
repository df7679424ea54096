/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How full the page table gets: retries of allocations, by shape of the table and by pages of a request
 * (docs/memory.md has the tables). Without arguments it measures and prints; with --check it tests what the
 * default shape promises.
 *
 *     page_fill [--check] [PAGES [SEEDS [RETRIES]]]
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mf_rng.h"
#include "memory/mf_range_alloc.h"

#define SHIFT MF_PAGE_SHIFT_MIN /* the size of a page does not matter: only its number does */
#define RETRIES_MAX 60 /* the most that the paper saw (Clio, figure 13), unless an argument says more */
#define CHURN 5 /* times that the pages change hands */
#define CHURN_AT 0.99 /* of the physical pages */
#define POINTS 5

static const double point[POINTS] = {0.50, 0.85, 0.90, 0.95, 0.99};
static const uint64_t request[] = {1, 10, 100};
#define REQUESTS (sizeof(request) / sizeof(request[0]))

static uint32_t retries_max = RETRIES_MAX;

struct shape {
	uint32_t bucket, slots;
};
static const struct shape shapes[] = {{16, 2}, {8, 2}, {8, 4}, {4, 2}};
#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

/** Requests and their retries. */
struct tally {
	uint64_t requests, retries, retried, max;
};

struct result {
	struct tally half; /* all up to the half */
	struct tally at[POINTS]; /* within a hundredth below a point */
	struct tally churn;
	uint64_t failed_at; /* pages that were allocated when a request failed first */
	uint64_t slots;
	unsigned int churn_failed;
};

struct table {
	struct mf_page_shape shape;
	struct mf_bucket_use *use;
	struct mf_range_pool *pool;
	struct mf_ranges ranges;
	struct mf_rng rng;
	uint64_t *live; /* first addresses */
	uint64_t lives, pages, next;
	bool first_fit; /* each request from the beginning of the class, not from where the last one ended */
};

static void *must(void *p)
{
	if (p != NULL)
		return p;
	perror("page_fill");
	exit(2);
}

static struct table make(const struct shape *s, uint64_t pages, uint64_t seed)
{
	struct table t = {.pages = pages};
	struct mf_page_shape_config c = {.pages = pages, .slots = s->slots, .bucket = s->bucket};
	const struct mf_range_pool_config rc = {.ranges = (uint32_t)(pages * s->slots), .covered_max = 1};

	mf_rng_init(&t.rng, seed, "page fill", 0);
	for (int i = 0; i < 2 * MF_PAGE_MIX_ROUNDS; i++)
		c.key[i] = mf_rng_next(&t.rng);
	if (mf_page_shape_init(&t.shape, &c) != 0)
		exit(2);
	t.use = must(mf_bucket_use_new(&t.shape));
	t.pool = must(mf_range_pool_new(&rc));
	t.live = must(calloc(pages * s->slots, sizeof(t.live[0])));
	return t;
}

static void done(struct table *t)
{
	mf_bucket_use_free(t->use);
	mf_range_pool_free(t->pool);
	free(t->live);
}

static void count(struct tally *t, uint32_t retries)
{
	t->requests++;
	t->retries += retries;
	t->retried += retries > 0;
	if (retries > t->max)
		t->max = retries;
}

/** @return it has them */
static bool allocate(struct table *t, uint64_t pages, uint32_t *retries)
{
	const struct mf_range_alloc_config c = {.pool = t->pool,
						.ranges = &t->ranges,
						.use = t->use,
						.shift = SHIFT,
						.rights = MF_PAGE_WRITE,
						.pages = pages,
						.from = t->first_fit ? 0 : t->next,
						.retries_max = retries_max};
	struct mf_range_alloc a;
	uint64_t steps = UINT64_MAX;

	if (mf_range_alloc_begin(&a, &c) != 0)
		exit(2);
	mf_range_alloc_run(&a, &steps);
	*retries = a.retries;
	if (a.state != MF_ALLOC_DONE)
		return false;
	(void)mf_ranges_change(t->pool, &t->ranges, a.at, mf_range_alloc_len(&a), MF_RANGE_MAKING,
			       (struct mf_range_kind){MF_RANGE_LIVE, MF_PAGE_WRITE});
	t->next = a.at + mf_range_alloc_len(&a);
	t->live[t->lives++] = a.at;
	return true;
}

static void free_one(struct table *t, uint64_t pages)
{
	uint64_t i = mf_rng_below(&t->rng, t->lives), at = t->live[i];

	t->live[i] = t->live[--t->lives];
	if (mf_ranges_drop(t->pool, &t->ranges, at, pages << SHIFT, MF_RANGE_LIVE) != 0)
		exit(2);
	for (uint64_t k = 0; k < pages; k++)
		mf_bucket_use_let_go(t->use, mf_remote_tag(0, at + (k << SHIFT), SHIFT));
}

/** Up to a number of pages. @return false: a request failed */
static bool fill(struct table *t, uint64_t pages, uint64_t upto, struct result *r)
{
	uint32_t retries;

	while ((t->lives + 1) * pages <= upto) {
		double full = (double)(t->lives * pages) / (double)t->pages;

		if (!allocate(t, pages, &retries))
			return false;
		if (full < 0.5)
			count(&r->half, retries);
		for (unsigned int i = 0; i < POINTS; i++)
			if (full >= point[i] - 0.01 && full < point[i])
				count(&r->at[i], retries);
	}
	return true;
}

/** Frees and allocates in turn. */
static void churn(struct table *t, uint64_t pages, struct result *r)
{
	uint32_t retries;

	for (uint64_t i = 0; i < CHURN * t->pages / pages && t->lives > 0; i++) {
		free_one(t, pages);
		if (allocate(t, pages, &retries))
			count(&r->churn, retries);
		else
			r->churn_failed++;
	}
}

static void measure(const struct shape *s, uint64_t pages, uint64_t of_request, uint64_t seed, bool first_fit,
		    struct result *r)
{
	struct table t = make(s, pages, seed);

	t.first_fit = first_fit;
	if (fill(&t, of_request, (uint64_t)(CHURN_AT * (double)pages), r))
		churn(&t, of_request, r);
	else
		r->churn_failed++;
	done(&t);
	t = make(s, pages, seed);
	t.first_fit = first_fit;
	r->slots = mf_page_slots(&t.shape);
	fill(&t, of_request, r->slots, &(struct result){0});
	r->failed_at += t.lives * of_request;
	done(&t);
}

static double mean(const struct tally *t)
{
	return t->requests > 0 ? (double)t->retries / (double)t->requests : 0;
}

static void print(const struct shape *s, uint64_t pages, unsigned int seeds, bool first_fit)
{
	for (unsigned int q = 0; q < (first_fit ? 1 : REQUESTS); q++) {
		struct result r = {0};

		for (unsigned int i = 0; i < seeds; i++)
			measure(s, pages, request[q], i, first_fit, &r);
		printf("| %u / %u%s | %lu | %.1f %% | %.1f %% |", s->bucket, s->slots,
		       first_fit ? ", first fit" : "", request[q],
		       100.0 * (double)r.failed_at / (double)pages / seeds,
		       100.0 * (double)r.failed_at / (double)r.slots / seeds);
		for (unsigned int i = 0; i < POINTS; i++)
			if (r.at[i].requests > 0)
				printf(" %.4f, %lu |", mean(&r.at[i]), r.at[i].max);
			else
				printf(" - |");
		if (r.churn_failed == 0)
			printf(" %.4f, %lu |\n", mean(&r.churn), r.churn.max);
		else
			printf(" fails |\n");
	}
}

static int number;

static int ok(bool good, const char *what, uint64_t of_request, double value)
{
	printf("%s %d - %s, requests of %lu pages: %g\n", good ? "ok" : "not ok", ++number, what, of_request,
	       value);
	return !good;
}

/** What issue and documents promise of the default shape; and of the narrow one, that it would not do. */
static int check(uint64_t pages)
{
	static const double mean_max[REQUESTS] = {0.02, 0.2, 1.5};
	struct result narrow = {0};
	int bad = 0;

	printf("1..%zu\n", REQUESTS * 5 + 1);
	for (unsigned int q = 0; q < REQUESTS; q++) {
		struct result r = {0};
		double retried;

		measure(&shapes[0], pages, request[q], 0, false, &r);
		retried = (double)r.half.retried / (double)r.half.requests;
		bad += ok(retried <= 0.001, "share with a retry below half full", request[q], retried);
		bad += ok(mean(&r.at[POINTS - 1]) <= mean_max[q], "mean retries at 99 %", request[q],
			  mean(&r.at[POINTS - 1]));
		bad += ok(mean(&r.churn) <= mean_max[q], "mean retries of churn at 99 %", request[q],
			  mean(&r.churn));
		bad += ok(r.churn_failed == 0, "no request fails", request[q], r.churn_failed);
		bad += ok(r.failed_at > pages, "first failure beyond the pages", request[q],
			  (double)r.failed_at);
	}
	measure(&shapes[SHAPES - 1], pages, request[REQUESTS - 1], 0, false, &narrow);
	bad += ok(narrow.failed_at < pages, "4 slots do not do", request[REQUESTS - 1],
		  (double)narrow.failed_at);
	return bad != 0;
}

int main(int argc, char **argv)
{
	bool checks = argc > 1 && strcmp(argv[1], "--check") == 0;
	char **arg = argv + 1 + checks;
	uint64_t pages = arg[0] != NULL ? strtoull(arg[0], NULL, 0) : UINT64_C(1) << 18;
	unsigned int seeds = arg[0] != NULL && arg[1] != NULL ? (unsigned int)strtoul(arg[1], NULL, 0) : 3;

	if (arg[0] != NULL && arg[1] != NULL && arg[2] != NULL)
		retries_max = (uint32_t)strtoul(arg[2], NULL, 0);
	if (pages < 1000 || pages > 1 << 24 || seeds == 0) {
		fprintf(stderr,
			"usage: page_fill [--check] [PAGES [SEEDS [RETRIES]]]; 1,000 to 2^24 pages\n");
		return 2;
	}
	if (checks)
		return check(pages);
	printf("| bucket / slots | pages of a request | fails at, of pages | of slots |");
	for (unsigned int i = 0; i < POINTS; i++)
		printf(" %.0f %% |", 100 * point[i]);
	printf(" churn at %.0f %% |\n| --- | --- | --- | --- |", 100 * CHURN_AT);
	for (unsigned int i = 0; i <= POINTS; i++)
		printf(" --- |");
	printf("\n");
	for (unsigned int i = 0; i < SHAPES; i++)
		print(&shapes[i], pages, seeds, false);
	print(&shapes[0], pages, seeds, true);
	return 0;
}
