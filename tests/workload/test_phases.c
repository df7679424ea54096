/* SPDX-License-Identifier: BSD-3-Clause */
/* Warm-up, steady state and drain of a client, by what a watch tells of each operation. */
#include <stdlib.h>

#include <criterion/criterion.h>

#include "client_test.h"

#define MEASURE MF_US(20)
#define STOP MF_US(100)

/** Of the measured operations, by when that was. */
struct seen {
	uint64_t begun[MF_CLIENT_PHASES], done[MF_CLIENT_PHASES];
	uint64_t octets_begun[MF_CLIENT_PHASES];
	uint64_t number; /**< of the next one */
};

static enum mf_client_phase phase_at(mf_time t)
{
	return t < MEASURE ? MF_CLIENT_WARMUP : t < STOP ? MF_CLIENT_STEADY : MF_CLIENT_DRAIN;
}

static void begun(void *ctx, const struct mf_op *op, enum mf_client_kind kind, mf_time intended, mf_time now)
{
	struct seen *s = ctx;

	cr_assert_lt(kind, MF_CLIENT_KINDS);
	cr_assert(intended >= MEASURE && intended <= now && intended < STOP);
	if (s->number != 0)
		cr_assert_eq(mf_client_number(op->user), s->number);
	s->number = mf_client_number(op->user) + 1;
	s->begun[phase_at(now)]++;
	s->octets_begun[phase_at(now)] += op->len;
}

static void done(void *ctx, const struct mf_completion *completion)
{
	struct seen *s = ctx;

	s->done[phase_at(completion->done)]++;
}

static void some_fail(void *ctx, const struct mf_op *op, struct fake_fault *fault)
{
	unsigned int *n = ctx;

	(void)op;
	fault->status = ++*n % 7 == 0 ? MF_ERR_TIMEOUT : MF_OK;
}

/** A client that has room for few, so that arrivals wait; driven until a time. */
static void check(mf_time until, mf_time interval, bool all)
{
	struct mf_node *h = fake_host_new();
	struct mf_client_config config = test_config(h);
	struct mf_client_totals t, sum = {0};
	const struct mf_client_stats *s;
	struct mf_client *c;
	struct seen seen = {0};
	struct mf_client_watch watch = {.begun = begun, .done = done, .ctx = &seen};
	unsigned int n = 0;

	h->hook = some_fail;
	h->hook_ctx = &n;
	test_mix_all(&config);
	config.size_dist = MF_CLIENT_SIZE_UNIFORM;
	config.size_max = 700;
	config.interval = interval;
	config.burst = 3;
	config.measure = MEASURE;
	config.stop = STOP;
	config.watch = &watch;
	c = mf_client_new(&config);
	cr_assert_not_null(c);
	test_drive(c, h, 0, until);
	s = mf_client_stats(c);
	for (int p = 0; p < MF_CLIENT_PHASES; p++) {
		t = mf_client_totals(s, (enum mf_client_phase)p);
		sum.begun += t.begun;
		sum.completed += t.completed;
		sum.failed += t.failed;
		if (p == MF_CLIENT_WARMUP)
			continue;
		/* What was intended in the warm-up and had to wait is begun in the steady state. */
		cr_assert_geq(t.begun, seen.begun[p], "phase %d", p);
		cr_assert_leq(t.begun - seen.begun[p], s->unmeasured.begun);
		if (p == MF_CLIENT_DRAIN) {
			cr_assert_eq(t.begun, seen.begun[p]);
			cr_assert_eq(t.octets_begun, seen.octets_begun[p]);
			cr_assert_eq(t.completed + t.failed, seen.done[p]);
		}
	}
	cr_assert_eq(sum.begun, s->begun_all);
	cr_assert_eq(sum.completed, s->completed_all);
	cr_assert_eq(sum.failed, s->failed_all);
	cr_assert_gt(sum.failed, 0);
	if (all)
		cr_assert_eq(mf_client_not_begun(c, 0, MF_NEVER), 0);
	else
		cr_assert_gt(mf_client_not_begun(c, 0, MF_NEVER), 10);
	/* However far it has come, as many are offered. */
	cr_assert_eq((s->begun_all + mf_client_not_begun(c, 0, MF_NEVER)) % config.burst, 0);
	cr_assert_eq(mf_client_not_begun(c, 0, MEASURE) + mf_client_not_begun(c, MEASURE, STOP),
		     mf_client_not_begun(c, 0, MF_NEVER));
	mf_client_free(c);
	free(h);
}

Test(phases, of_a_client_that_ends)
{
	check(MF_NEVER, MF_NS(300), true);
	check(MF_NEVER, MF_NS(60), true);
}

Test(phases, of_a_client_that_is_cut_off)
{
	check(STOP + MF_US(1), MF_NS(60), false);
	check(STOP / 2, MF_NS(60), false);
}

Test(phases, of_a_closed_loop_begin_on_time)
{
	struct mf_node *h = fake_host_new();
	struct mf_client_config config = test_config(h);
	struct mf_client_totals warmup, steady, drain;
	struct mf_client *c;

	config.measure = MEASURE;
	config.stop = STOP;
	c = mf_client_new(&config);
	test_drive(c, h, 0, MF_NEVER);
	warmup = mf_client_totals(mf_client_stats(c), MF_CLIENT_WARMUP);
	steady = mf_client_totals(mf_client_stats(c), MF_CLIENT_STEADY);
	drain = mf_client_totals(mf_client_stats(c), MF_CLIENT_DRAIN);
	cr_assert_eq(warmup.begun, mf_client_stats(c)->unmeasured.begun);
	cr_assert_eq(steady.begun, mf_client_stats(c)->kind[MF_CLIENT_READ].begun);
	cr_assert_eq(warmup.begun - warmup.completed, config.depth);
	cr_assert_eq(drain.completed, config.depth);
	cr_assert_eq(drain.begun, 0);
	mf_client_free(c);
	free(h);
}

/* The client was not called between the end of the steady state and the crash of its node. */
Test(phases, a_crash_counts_for_its_own_phase)
{
	struct mf_node *h = fake_host_new();
	struct mf_client_config config = test_config(h);
	struct mf_client_totals steady, drain;
	struct mf_client *c;

	config.measure = MEASURE;
	config.stop = STOP;
	c = mf_client_new(&config);
	mf_client_run(c, MEASURE);
	mf_client_crashed(c, STOP + 1);
	mf_client_run(c, STOP + 2);
	steady = mf_client_totals(mf_client_stats(c), MF_CLIENT_STEADY);
	drain = mf_client_totals(mf_client_stats(c), MF_CLIENT_DRAIN);
	cr_assert_eq(steady.begun, config.depth);
	cr_assert_eq(steady.failed, 0);
	cr_assert_eq(drain.failed, config.depth);
	mf_client_free(c);
	free(h);
}
