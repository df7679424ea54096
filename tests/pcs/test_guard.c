/* SPDX-License-Identifier: BSD-3-Clause */
/* When corruption is too much for a link. */
#include <criterion/criterion.h>
#include <errno.h>

#include "pcs/mf_guard.h"
#include "pcs_test.h"

#define WINDOW 1000

Test(guard, so_many_within_the_window_and_not_one_less)
{
	struct mf_guard g;

	cr_assert_eq(mf_guard_init(&g, 3, WINDOW), 0);
	mf_guard_bad(&g, 5000);
	mf_guard_bad(&g, 5500);
	cr_expect_eq(g.tripped, MF_NEVER);
	mf_guard_bad(&g, 5000 + WINDOW); /* just too late */
	cr_expect_eq(g.tripped, MF_NEVER);
	mf_guard_bad(&g, 5500 + WINDOW - 1); /* just in time: the second, third and fourth */
	cr_expect_eq(g.tripped, 5500 + WINDOW - 1);
	cr_expect_eq(g.cause, MF_GUARD_BAD);
	mf_guard_bad(&g, 9000);
	cr_expect_eq(g.tripped, 5500 + WINDOW - 1, "it stays");
	mf_guard_reset(&g);
	mf_guard_bad(&g, 9001);
	mf_guard_bad(&g, 9002);
	cr_expect_eq(g.tripped, MF_NEVER, "what was before does not count");
	cr_expect_eq(g.bad, 7);
	mf_guard_fini(&g);
}

Test(guard, one_can_be_too_many)
{
	struct mf_guard g;

	cr_assert_eq(mf_guard_init(&g, 1, 1), 0);
	mf_guard_bad(&g, 7);
	cr_expect_eq(g.tripped, 7);
	mf_guard_fini(&g);
}

Test(guard, the_first_cause_is_the_cause)
{
	struct mf_guard g;

	cr_assert_eq(mf_guard_init(&g, 0, WINDOW), 0);
	for (mf_time t = 0; t < 100; t++)
		mf_guard_bad(&g, t);
	cr_expect_eq(g.tripped, MF_NEVER, "they are not counted");
	mf_guard_trip(&g, 100, MF_GUARD_HI_BER);
	mf_guard_trip(&g, 200, MF_GUARD_LOCK);
	cr_expect_eq(g.tripped, 100);
	cr_expect_eq(g.cause, MF_GUARD_HI_BER);
	mf_guard_fini(&g);
}

/* In whatever order they are told, as long as none is as late as the window is long. */
Test(guard, order_makes_no_difference)
{
	uint64_t rng = 77;

	for (unsigned int round = 0; round < 2000; round++) {
		mf_time at[40], first = MF_NEVER;
		struct mf_guard sorted, mixed;
		unsigned int limit = 2 + (unsigned int)test_below(&rng, 8);

		cr_assert_eq(mf_guard_init(&sorted, limit, WINDOW), 0);
		cr_assert_eq(mf_guard_init(&mixed, limit, WINDOW), 0);
		at[0] = 1;
		for (unsigned int i = 1; i < 40; i++)
			at[i] = at[i - 1] + 1 + test_below(&rng, 3 * WINDOW / limit);
		for (unsigned int i = limit - 1; i < 40 && first == MF_NEVER; i++)
			if (at[i] - at[i + 1 - limit] < WINDOW)
				first = at[i];
		for (unsigned int i = 0; i < 40; i++)
			mf_guard_bad(&sorted, at[i]);
		for (unsigned int i = 0; i < 40; i += 2) { /* each pair the other way round */
			mf_guard_bad(&mixed, at[i + 1]);
			mf_guard_bad(&mixed, at[i]);
		}
		cr_assert_eq(sorted.tripped, first, "round %u, seed 77", round);
		cr_assert_eq(mixed.tripped, first, "round %u, seed 77", round);
		mf_guard_fini(&sorted);
		mf_guard_fini(&mixed);
	}
}

Test(guard, what_cannot_be_is_refused)
{
	struct mf_guard g;

	cr_expect_eq(mf_guard_init(&g, MF_GUARD_MAX + 1, WINDOW), -EINVAL);
	cr_expect_eq(mf_guard_init(&g, 1, 0), -EINVAL);
}
