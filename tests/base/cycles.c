/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include <criterion/criterion.h>

#include "base/mf_cycles.h"
#include "base/mf_rng.h"

#define OUTER MF_CYCLES_HOST_RX
#define INNER MF_CYCLES_DEMUX

static uint64_t sum_self(const struct mf_cycles *c)
{
	uint64_t sum = 0;

	for (int i = 0; i < MF_CYCLES_STAGES; i++)
		sum += c->at[i].self;
	return sum;
}

/* A clock by hand: 100 start, 110 in, 115 in, 135 out, 140 in, 143 out, 150 out, 170 stop. */
Test(cycles, a_cycle_is_that_of_the_innermost_stage)
{
	unsigned int first, second, third;
	struct mf_cycles c;

	memset(&c, 0xff, sizeof(c));
	mf_cycles_start(&c, 100);
	first = mf_cycles_enter(&c, OUTER, 110);
	second = mf_cycles_enter(&c, INNER, 115);
	mf_cycles_leave(&c, second, 135);
	third = mf_cycles_enter(&c, INNER, 140);
	mf_cycles_leave(&c, third, 143);
	mf_cycles_leave(&c, first, 150);
	mf_cycles_stop(&c, 170);
	cr_assert_eq(c.at[MF_CYCLES_NONE].self, 10 + 20);
	cr_assert_eq(c.at[OUTER].self, 5 + 5 + 7);
	cr_assert_eq(c.at[INNER].self, 20 + 3);
	cr_assert_eq(sum_self(&c), 70);
	cr_assert_eq(c.at[MF_CYCLES_NONE].inner, 1);
	cr_assert_eq(c.at[OUTER].calls, 1);
	cr_assert_eq(c.at[OUTER].inner, 2);
	cr_assert_eq(c.at[INNER].calls, 2);
	cr_assert_eq(c.at[INNER].inner, 0);
	cr_assert_eq(c.stage, MF_CYCLES_NONE);
}

Test(cycles, a_stage_within_itself)
{
	unsigned int first, second;
	struct mf_cycles c;

	mf_cycles_start(&c, 0);
	first = mf_cycles_enter(&c, OUTER, 0);
	second = mf_cycles_enter(&c, OUTER, 10);
	cr_assert_eq(second, OUTER);
	mf_cycles_leave(&c, second, 30);
	mf_cycles_leave(&c, first, 35);
	mf_cycles_stop(&c, 35);
	cr_assert_eq(c.at[OUTER].self, 35);
	cr_assert_eq(c.at[OUTER].calls, 2);
	cr_assert_eq(c.at[OUTER].inner, 1);
	cr_assert_eq(c.at[MF_CYCLES_NONE].self, 0);
}

/* An account that costs `inside` behind each entrance and `outside` before it: net is what was worked. */
static void work(struct mf_cycles *c, struct mf_rng *r, const struct mf_cycles_cost *cost, uint64_t *now,
		 uint64_t *worked, unsigned int depth)
{
	unsigned int stage = 1 + (unsigned int)mf_rng_below(r, MF_CYCLES_STAGES - 1);
	uint64_t pieces = mf_rng_below(r, 4);
	unsigned int outer;

	*now += (uint64_t)cost->outside;
	outer = mf_cycles_enter(c, stage, *now);
	*now += (uint64_t)cost->inside;
	for (uint64_t i = 0; i <= pieces; i++) {
		uint64_t cycles = mf_rng_below(r, 100);

		*now += cycles;
		worked[stage] += cycles;
		if (depth > 0)
			work(c, r, cost, now, worked, depth - 1);
	}
	mf_cycles_leave(c, outer, *now);
}

Test(cycles, what_the_account_costs_is_taken_off)
{
	struct mf_cycles_cost cost = {.inside = 20, .outside = 30};

	for (uint64_t seed = 1; seed <= 20; seed++) {
		uint64_t worked[MF_CYCLES_STAGES] = {0}, now = 12345, sum = 0;
		struct mf_cycles c;
		struct mf_rng r;

		mf_rng_init(&r, seed, "test.cycles", 0);
		mf_cycles_start(&c, now);
		for (int i = 0; i < 10; i++)
			work(&c, &r, &cost, &now, worked, 4);
		mf_cycles_stop(&c, now);
		for (int i = 0; i < MF_CYCLES_STAGES; i++) {
			cr_assert_float_eq(mf_cycles_net(&c, (enum mf_cycles_stage)i, cost),
					   (double)worked[i], 0.5, "seed %zu, %s", (size_t)seed,
					   mf_cycles_name((enum mf_cycles_stage)i));
			sum += worked[i];
		}
		cr_assert_eq(sum_self(&c), now - 12345, "seed %zu", (size_t)seed);
		cr_assert_float_eq(mf_cycles_overhead(&c, cost), (double)(now - 12345 - sum), 0.5, "seed %zu",
				   (size_t)seed);
	}
}

/* A stretch that is too long for any stage is none's; the shorter ones of the same stage stay. */
Test(cycles, away)
{
	struct mf_cycles sum = {0}, c;
	unsigned int outer;

	mf_cycles_start(&c, 0);
	outer = mf_cycles_enter(&c, OUTER, 10);
	mf_cycles_leave(&c, mf_cycles_enter(&c, INNER, 20), 20 + MF_CYCLES_AWAY);
	mf_cycles_leave(&c, mf_cycles_enter(&c, INNER, 25 + MF_CYCLES_AWAY), 24 + 2 * MF_CYCLES_AWAY);
	mf_cycles_leave(&c, outer, 24 + 5 * MF_CYCLES_AWAY);
	mf_cycles_stop(&c, 30 + 5 * MF_CYCLES_AWAY);
	cr_assert_eq(c.away, 4 * MF_CYCLES_AWAY);
	cr_assert_eq(c.at[INNER].self, MF_CYCLES_AWAY - 1);
	cr_assert_eq(c.at[OUTER].self, 10 + 5);
	cr_assert_eq(c.at[MF_CYCLES_NONE].self, 10 + 6);
	mf_cycles_add(&sum, &c);
	mf_cycles_add(&sum, &c);
	cr_assert_eq(sum.away, 8 * MF_CYCLES_AWAY);
}

Test(cycles, net_is_not_negative)
{
	struct mf_cycles_cost cost = {.inside = 20, .outside = 30};
	struct mf_cycles c;

	mf_cycles_start(&c, 0);
	mf_cycles_leave(&c, mf_cycles_enter(&c, OUTER, 5), 10);
	mf_cycles_stop(&c, 10);
	cr_assert_eq(mf_cycles_net(&c, OUTER, cost), 0);
	cr_assert_eq(mf_cycles_net(&c, MF_CYCLES_NONE, cost), 0);
	cr_assert_eq(mf_cycles_overhead(&c, cost), 10);
}

Test(cycles, threads_add_up)
{
	struct mf_cycles sum = {0}, c;

	for (uint64_t i = 1; i <= 3; i++) {
		mf_cycles_start(&c, 0);
		mf_cycles_leave(&c, mf_cycles_enter(&c, INNER, i), 10 * i);
		mf_cycles_stop(&c, 100);
		mf_cycles_add(&sum, &c);
	}
	cr_assert_eq(sum.at[INNER].self, 9 + 18 + 27);
	cr_assert_eq(sum.at[INNER].calls, 3);
	cr_assert_eq(sum.at[MF_CYCLES_NONE].inner, 3);
	cr_assert_eq(sum_self(&sum), 300);
}

Test(cycles, names)
{
	for (int i = 0; i < MF_CYCLES_STAGES; i++)
		for (int k = 0; k < i; k++)
			cr_assert_str_neq(mf_cycles_name((enum mf_cycles_stage)i),
					  mf_cycles_name((enum mf_cycles_stage)k));
	cr_assert_str_eq(mf_cycles_name(MF_CYCLES_STAGES), "?");
}

/* By whatever way a block is left, its stage is, too; and without the option it all compiles to nothing. */
static int leaves_early(int way)
{
	for (int i = 0; i < 3; i++) {
		MF_CYCLES(INNER);

		if (way == 0)
			return 1;
		if (way == 1)
			break;
	}
	return 2;
}

Test(cycles, every_way_out)
{
	cr_assert_eq(leaves_early(0), 1);
	cr_assert_eq(leaves_early(1), 2);
	cr_assert_eq(leaves_early(2), 2);
#ifdef MF_WITH_CYCLES
	cr_assert_eq(mf_cycles_here.stage, MF_CYCLES_NONE);
	cr_assert_eq(mf_cycles_here.at[INNER].calls, 1 + 1 + 3);
#endif
}
