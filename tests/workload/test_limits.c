/* SPDX-License-Identifier: BSD-3-Clause */
/* How much a client begins and when: measured ones, delays, bursts, and a stop that comes early. */
#include <inttypes.h>
#include <stdlib.h>

#include <criterion/criterion.h>

#include "client_test.h"

/* Behind the warm-up exactly so many are begun, whatever the depth, in both loops. */
Test(client_limits, measured_ones_are_counted_behind_the_warm_up)
{
	for (int i = 0; i < 12; i++) {
		struct mf_node *h = fake_host_new();
		struct mf_client_config config = test_config(h);
		struct mf_client_stats *s;

		config.depth = 1 + (unsigned int)i * 7;
		config.measured = 1 + (uint64_t)i * 33;
		config.measure = MF_US(10);
		config.interval = i % 2 == 1 ? MF_NS(40) : 0;
		s = test_run(&config);
		cr_assert_eq(s->kind[MF_CLIENT_READ].begun, config.measured, "run %d", i);
		cr_assert_eq(s->kind[MF_CLIENT_READ].completed, config.measured);
		cr_assert_gt(s->begun_all, config.measured, "the warm-up is beside them");
		cr_assert_geq(s->first_begun, config.measure);
		cr_assert_lt(s->first_begun, s->last_done);
		free(s);
		free(h);
	}
}

Test(client_limits, operations_bound_measured_ones_too)
{
	struct mf_node *h = fake_host_new();
	struct mf_client_config config = test_config(h);
	struct mf_client_stats *s;

	config.operations = 50;
	config.measured = 100;
	s = test_run(&config);
	cr_assert_eq(s->begun_all, 50);
	free(s);
	config.measured = 20;
	s = test_run(&config);
	cr_assert_eq(s->begun_all, 20, "there is no warm-up");
	free(s);
	free(h);
}

Test(client_limits, without_measured_ones_there_is_no_first)
{
	struct mf_node *h = fake_host_new();
	struct mf_client_config config = test_config(h);
	struct mf_client_stats *s;

	config.operations = 50;
	config.measure = MF_NEVER;
	s = test_run(&config);
	cr_assert_eq(s->first_begun, MF_NEVER);
	cr_assert_eq(s->completed_all, 50);
	free(s);
	free(h);
}

/* At depth 1 the delay holds from start to start, where the operation does not take longer. */
Test(client_limits, delay_is_from_start_to_start)
{
	static const mf_time delay[] = {0, MF_NS(50), MF_US(1), MF_US(7)};

	for (unsigned int i = 0; i < sizeof(delay) / sizeof(delay[0]); i++) {
		struct mf_node *h = fake_host_new();
		struct mf_client_config config = test_config(h);
		struct mf_client_stats *s;
		mf_time each = mf_time_max(delay[i], h->latency);

		config.depth = 1;
		config.delay = delay[i];
		config.operations = 100;
		s = test_run(&config);
		cr_assert_eq(s->last_done - s->first_begun, 99 * each + h->latency, "delay %u", i);
		cr_assert_leq(s->first_begun, delay[i], "a phase of its own");
		free(s);
		free(h);
	}
}

Test(client_limits, delay_holds_at_any_depth)
{
	struct mf_node *h = fake_host_new();
	struct mf_client_config config = test_config(h);
	struct mf_client_stats *s;

	config.depth = 64;
	config.delay = h->latency / 4;
	config.operations = 1000;
	s = test_run(&config);
	cr_assert_eq(s->last_done - s->first_begun, 999 * config.delay + h->latency);
	cr_assert_leq(h->busy_max, 5, "%u under way", h->busy_max);
	free(s);
	free(h);
}

Test(client_limits, bursts_arrive_together)
{
	struct mf_node *h = fake_host_new();
	struct mf_client_config config = test_config(h);
	struct mf_client *c;
	uint64_t before = 0;

	config.depth = 1000;
	config.interval = MF_US(5);
	config.burst = 10;
	config.operations = 95;
	c = mf_client_new(&config);
	cr_assert_not_null(c);
	for (mf_time now = 0; !mf_client_finished(c, now);) {
		mf_time next = mf_time_min(mf_client_run(c, now), fake_host_next(h));
		uint64_t begun = mf_client_stats(c)->begun_all;

		cr_assert(begun == before || begun == before + 10 || begun == 95, "%" PRIu64, begun - before);
		before = begun;
		now = next;
	}
	cr_assert_eq(before, 95);
	mf_client_free(c);
	free(h);
}

Test(client_limits, stop_ends_the_load_early_and_nothing_is_lost)
{
	for (int open = 0; open < 2; open++) {
		struct mf_node *h = fake_host_new();
		struct mf_client_config config = test_config(h);
		const struct mf_client_stats *s;
		struct mf_client *c;
		uint64_t begun;

		config.interval = open != 0 ? MF_NS(100) : 0;
		c = mf_client_new(&config);
		cr_assert_not_null(c);
		s = mf_client_stats(c);
		test_drive(c, h, 0, MF_US(20));
		cr_assert_not(mf_client_finished(c, MF_US(20)));
		begun = s->begun_all;
		mf_client_stop(c, MF_US(20));
		mf_client_stop(c, MF_US(90)); /* later than what there is: nothing */
		test_drive(c, h, MF_US(20), MF_US(100));
		cr_assert(mf_client_finished(c, MF_US(100)));
		cr_assert_eq(s->begun_all, begun);
		cr_assert_eq(s->completed_all, begun);
		mf_client_free(c);
		free(h);
	}
}
