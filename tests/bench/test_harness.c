/* SPDX-License-Identifier: BSD-3-Clause */
/* The rule by which repetitions count, what is made of them, and in which order they run. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/mf_rng.h"
#include "script.h"

static struct bench_suite suite; /* of measure(): its results point into it */

static void free_suite(void)
{
	bench_suite_free(&suite);
}

TestSuite(bench, .fini = free_suite);

static const struct bench_env env = {.repetitions = 5, .share = BENCH_SHARE};

static struct bench_tally tally(unsigned int want)
{
	return (struct bench_tally){.want = want, .share = BENCH_SHARE};
}

static void add(struct bench_tally *t, double value, double share)
{
	t->sample[t->samples++] = (struct bench_sample){.value = value, .got = share * 2, .wall = 2};
}

Test(bench, share_that_counts)
{
	struct bench_tally t = tally(5);

	add(&t, 1, 0.95);
	add(&t, 1, 0.9499);
	add(&t, 1, 1);
	t.sample[t.samples++] = (struct bench_sample){.value = 1};
	cr_assert(bench_counts(&t, 0));
	cr_assert_not(bench_counts(&t, 1));
	cr_assert(bench_counts(&t, 2));
	cr_assert_not(bench_counts(&t, 3), "no time has passed");
	cr_assert_eq(bench_counted(&t), 2);
}

Test(bench, stops_when_enough_count)
{
	struct bench_tally t = tally(5);

	for (unsigned int i = 0; i < 4; i++) {
		cr_assert(bench_wants(&t));
		add(&t, i, 1);
		cr_assert(bench_wants(&t));
		add(&t, 100, 0.5);
	}
	add(&t, 4, 1);
	cr_assert_not(bench_wants(&t));
	bench_judge(&t);
	cr_assert_eq(t.status, BENCH_MEASURED);
	cr_assert_eq(t.median, 2);
	cr_assert_eq(t.min, 0);
	cr_assert_eq(t.max, 4, "what does not count is in no figure");
}

Test(bench, noisy_host)
{
	struct bench_tally t = tally(5);

	for (unsigned int i = 0; i < 15; i++) {
		cr_assert(bench_wants(&t));
		add(&t, 1, i % 4 == 0 ? 0.99 : 0.9);
	}
	cr_assert_not(bench_wants(&t), "15 are tried");
	cr_assert_eq(bench_counted(&t), 4);
	bench_judge(&t);
	cr_assert_eq(t.status, BENCH_NOISY);
}

Test(bench, last_try_decides)
{
	struct bench_tally t = tally(5);

	for (unsigned int i = 0; i < 10; i++)
		add(&t, 9, 0.1);
	for (unsigned int i = 0; i < 5; i++) {
		cr_assert(bench_wants(&t));
		add(&t, 3, 1);
	}
	bench_judge(&t);
	cr_assert_eq(t.status, BENCH_MEASURED);
	cr_assert_eq(t.median, 3);
}

Test(bench, median_of_an_even_number)
{
	struct bench_tally t = tally(4);

	add(&t, 8, 1);
	add(&t, 2, 1);
	add(&t, 4, 1);
	add(&t, 1, 1);
	bench_judge(&t);
	cr_assert_eq(t.median, 3);
}

/* Against the definition: as many are not above it as are not below. */
Test(bench, median_of_anything)
{
	const uint64_t seed = 3;
	struct mf_rng rng;

	mf_rng_init(&rng, seed, "median", 0);
	for (unsigned int round = 0; round < 1000; round++) {
		struct bench_tally t = tally(1 + (unsigned int)mf_rng_below(&rng, 9) * 2);
		unsigned int below = 0, above = 0;

		while (bench_wants(&t))
			add(&t, (double)mf_rng_below(&rng, 20), 0.9 + 0.1 * mf_rng_double(&rng));
		bench_judge(&t);
		if (bench_counted(&t) < t.want) {
			cr_assert_eq(t.status, BENCH_NOISY);
			continue;
		}
		for (unsigned int i = 0; i < t.samples; i++) {
			below += bench_counts(&t, i) && t.sample[i].value <= t.median;
			above += bench_counts(&t, i) && t.sample[i].value >= t.median;
			if (bench_counts(&t, i))
				cr_assert(t.sample[i].value >= t.min && t.sample[i].value <= t.max);
		}
		cr_assert(2 * below > t.want && 2 * above > t.want, "seed %lu, round %u", seed, round);
	}
}

/* Whole lines, by script */

static struct bench_suite suite_of(const struct script *line, const struct script *reference)
{
	struct bench_suite s = {0};
	struct bench_line l = {
		.name = "line", .what = "the line", .unit = "ns", .crosses = -1, .ops = &script_ops};

	l.param = line;
	l.beside[0] = reference != NULL ? "reference" : NULL;
	bench_add(&s, &l);
	if (reference == NULL)
		return s;
	l = (struct bench_line){.name = "reference", .unit = "ns", .crosses = -1, .ops = &script_ops};
	l.reference = true;
	l.param = reference;
	bench_add(&s, &l);
	return s;
}

static struct bench_result measure(const struct script *line, const struct script *reference)
{
	struct bench_result r;

	suite = suite_of(line, reference);
	memset(script_log, 0, sizeof(script_log));
	bench_measure(&suite, suite.line[0], &env, &r);
	return r;
}

static const struct script steady = {.n = 1, .value = {10}, .share = {1}};

Test(bench, reference_between_the_repetitions)
{
	const struct script other = {.n = 1, .value = {4}, .share = {1}};
	struct bench_result r = measure(&steady, &other);

	cr_assert_str_eq(script_log, "((lrlrlrlrlr))");
	cr_assert_eq(r.besides, 1);
	cr_assert_eq(bench_ratio(&r, 0), 2.5);
}

Test(bench, each_goes_on_until_it_has_enough)
{
	const struct script other = {.n = 2, .value = {4, 4}, .share = {0.5, 1}};
	struct bench_result r = measure(&steady, &other);

	cr_assert_str_eq(script_log, "((lrlrlrlrlrrrrrr))");
	cr_assert_eq(r.tally.samples, 5);
	cr_assert_eq(r.beside[0].samples, 10);
	cr_assert_eq(bench_ratio(&r, 0), 2.5);
}

Test(bench, noise_beside_leaves_no_ratio)
{
	const struct script noisy = {.n = 1, .value = {4}, .share = {0.94}};
	struct bench_result r = measure(&steady, &noisy);

	cr_assert_eq(r.tally.status, BENCH_MEASURED);
	cr_assert_eq(r.beside[0].status, BENCH_NOISY);
	cr_assert_eq(r.beside[0].samples, 15);
	cr_assert_eq(bench_ratio(&r, 0), 0);
	cr_assert_not(bench_has_verdict(&r));
}

Test(bench, skipped_reference)
{
	const struct script skip = {.skip = "is not installed"};
	struct bench_result r = measure(&steady, &skip);

	cr_assert_eq(r.tally.status, BENCH_MEASURED);
	cr_assert_eq(r.beside[0].status, BENCH_SKIPPED);
	cr_assert_str_eq(r.beside[0].reason, "is not installed");
	cr_assert_str_eq(script_log, "(lllll)");
}

Test(bench, skipped_line_measures_nothing)
{
	const struct script skip = {.skip = "needs two CPUs"};
	struct bench_result r = measure(&skip, &steady);

	cr_assert_eq(r.tally.status, BENCH_SKIPPED);
	cr_assert_eq(r.besides, 0);
	cr_assert_str_eq(script_log, "", "the reference is not even opened");
}

Test(bench, failure_ends_a_line)
{
	const struct script fails = {.n = 1, .value = {1}, .share = {1}, .fail = 3};
	struct bench_result r = measure(&fails, &steady);

	cr_assert_eq(r.tally.status, BENCH_FAILED);
	cr_assert_str_eq(r.tally.reason, "as the script says");
	cr_assert_str_eq(script_log, "((lrlrlr))");
}

static bool stop_at_once(void)
{
	return strlen(script_log) >= 4;
}

Test(bench, stopped_in_between)
{
	struct bench_suite s = suite_of(&steady, &steady);
	struct bench_env stopping = env;
	struct bench_result r;

	stopping.stopped = stop_at_once;
	cr_assert_not(bench_measure(&s, s.line[0], &stopping, &r));
	cr_assert_str_eq(script_log, "((lr))", "and all is closed");
	bench_suite_free(&s);
}

/* Goals */

static bool met(enum bench_goal_kind kind, enum bench_better better, double goal, double figure, double other)
{
	struct bench_line l = {.goal_kind = kind, .goal = goal, .better = better};
	struct bench_result r = {.line = &l, .besides = 1};

	r.tally = (struct bench_tally){.status = BENCH_MEASURED, .median = figure};
	r.beside[0] = (struct bench_tally){.status = BENCH_MEASURED, .median = other};
	cr_assert(bench_has_verdict(&r));
	return bench_met(&r);
}

Test(bench, goals)
{
	cr_assert(met(BENCH_GOAL, BENCH_LOWER, 300, 300, 1));
	cr_assert_not(met(BENCH_GOAL, BENCH_LOWER, 300, 300.1, 1));
	cr_assert(met(BENCH_GOAL, BENCH_HIGHER, 6, 6, 1));
	cr_assert_not(met(BENCH_GOAL, BENCH_HIGHER, 6, 5.9, 1));
	cr_assert(met(BENCH_GOAL_RATIO, BENCH_LOWER, 2, 600, 300));
	cr_assert_not(met(BENCH_GOAL_RATIO, BENCH_LOWER, 2, 601, 300));
}

/* What is printed */

static char *printed(const struct bench_result *r)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	bench_print(out, r);
	fclose(out);
	return text;
}

Test(bench, noise_instead_of_a_figure)
{
	const struct script noisy = {.n = 2, .value = {777}, .share = {0.5, 0.75}};
	struct bench_suite s = suite_of(&noisy, NULL);
	struct bench_result r;
	char *text;

	bench_measure(&s, s.line[0], &env, &r);
	text = printed(&r);
	cr_assert_not_null(strstr(text, "noisy host: 0 of 15 count, the best got 75 %"), "%s", text);
	cr_assert_null(strstr(text, "777"), "%s", text);
	free(text);
	bench_suite_free(&s);
}

Test(bench, goal_beside_the_figure)
{
	struct bench_suite s = suite_of(&steady, &steady);
	struct bench_result r;
	char *text;

	s.line[0]->goal_kind = BENCH_GOAL;
	s.line[0]->goal = 9;
	bench_measure(&s, s.line[0], &env, &r);
	text = printed(&r);
	cr_assert_not_null(strstr(text, "<= 9 MISSED"), "%s", text);
	cr_assert_not_null(strstr(text, "ratio 1"), "%s", text);
	free(text);
	s.line[0]->goal = 10;
	text = printed(&r);
	cr_assert_not_null(strstr(text, "<= 10 met"), "%s", text);
	free(text);
	bench_suite_free(&s);
}

Test(bench, names)
{
	cr_assert(bench_named("pcs.*", "pcs.receive"));
	cr_assert(bench_named("a,pcs.re*,b", "pcs.receive"));
	cr_assert(bench_named("pcs.receive", "pcs.receive"));
	cr_assert_not(bench_named("pcs", "pcs.receive"));
	cr_assert_not(bench_named("", "pcs.receive"));
	cr_assert_not(bench_named(",,", "pcs.receive"));
}
