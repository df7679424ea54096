/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>

#include "base/mf_counter.h"

struct stats {
	uint64_t frames;
	uint64_t without_a_row;
	uint64_t longest, room, waiting, matchings;
};

#define ROW(section, key, merge, field) MF_COUNTER(section, key, merge, struct stats, field)

static const struct mf_counter_desc table[] = {
	ROW("a", "frames", MF_SUM, frames),
	MF_COUNTER_RATIO("a", "frames_per_matching", struct stats, frames, matchings),
	ROW("a", "longest_max", MF_MAX, longest),
	ROW("a", "room", MF_SAME, room),
	ROW("b", "waiting", MF_LEVEL, waiting),
	ROW("b", "matchings", MF_SUM, matchings),
	ROW("b", "all_frames", MF_SUM, frames),
	{0},
};

static void assert_stats(const struct stats *s, const struct stats *expected)
{
	cr_expect_eq(s->frames, expected->frames);
	cr_expect_eq(s->without_a_row, expected->without_a_row);
	cr_expect_eq(s->longest, expected->longest);
	cr_expect_eq(s->room, expected->room);
	cr_expect_eq(s->waiting, expected->waiting);
	cr_expect_eq(s->matchings, expected->matchings);
}

static const struct stats first = {
	.frames = 10, .without_a_row = 1, .longest = 7, .room = 64, .waiting = 3, .matchings = 4};
static const struct stats second = {
	.frames = 5, .without_a_row = 2, .longest = 6, .room = 64, .waiting = 2, .matchings = 0};

/* A field with rows in two sections is added once, and one that only a quotient names is not added by it. */
Test(counter, merged)
{
	struct stats sum = {0};

	mf_counters_add(table, &sum, &first);
	assert_stats(&sum,
		     &(struct stats){.frames = 10, .longest = 7, .room = 64, .waiting = 3, .matchings = 4});
	mf_counters_add(table, &sum, &second);
	assert_stats(&sum,
		     &(struct stats){.frames = 15, .longest = 7, .room = 64, .waiting = 5, .matchings = 4});
	sum = second;
	mf_counters_add(table, &sum, &first);
	assert_stats(&sum, &(struct stats){.frames = 15,
					   .without_a_row = 2,
					   .longest = 7,
					   .room = 64,
					   .waiting = 5,
					   .matchings = 4});
}

Test(counter, quotient_without_rows)
{
	static const struct mf_counter_desc ratio[] = {
		MF_COUNTER_RATIO("a", "frames_per_matching", struct stats, frames, matchings), {0}};
	struct stats sum = first;

	mf_counters_add(ratio, &sum, &first);
	assert_stats(&sum, &first);
}

Test(counter, rows)
{
	cr_expect_eq(table[0].offset, 0);
	cr_expect_eq(table[1].merge, MF_RATIO);
	cr_expect_eq(mf_counter_at(&first, table[1].offset), first.frames);
	cr_expect_eq(mf_counter_at(&first, table[1].per), first.matchings);
	cr_expect_eq(mf_counter_at(&first, table[2].offset), first.longest);
}

Test(counter, ratio)
{
	cr_expect_eq(mf_counter_ratio(10, 4), 2.5);
	cr_expect_eq(mf_counter_ratio(0, 4), 0);
	cr_expect_eq(mf_counter_ratio(10, 0), 0, "nothing to divide by");
}

Test(counter, list)
{
	struct mf_counter sum[] = {mf_counter_sum("frames", 10), mf_counter_max("longest_max", 7),
				   (struct mf_counter){"room", 64, MF_SAME}};
	const struct mf_counter one[] = {mf_counter_sum("frames", 5), mf_counter_max("longest_max", 9),
					 (struct mf_counter){"room", 64, MF_SAME}};

	cr_expect_eq((struct mf_counter){.name = "frames"}.merge, MF_SUM, "where nothing is said");
	mf_counter_list_add(sum, one, 3);
	cr_expect_eq(sum[0].value, 15);
	cr_expect_eq(sum[1].value, 9);
	cr_expect_eq(sum[2].value, 64);
	mf_counter_list_add(sum, one, 1);
	cr_expect_eq(sum[0].value, 20);
	cr_expect_eq(sum[1].value, 9, "not of the first counter alone");
}
