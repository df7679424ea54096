/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>

#include "base/mf_deadlines.h"
#include "base/mf_rng.h"

#define NUMBERS 300
#define STEPS 20000

/** The number that should be first, by looking at all. */
static uint32_t first_of(const mf_time *at, const unsigned int *set)
{
	uint32_t first = MF_DEADLINES_NIL;

	for (uint32_t i = 0; i < NUMBERS; i++)
		if (at[i] != MF_NEVER && (first == MF_DEADLINES_NIL || at[i] < at[first] ||
					  (at[i] == at[first] && set[i] < set[first])))
			first = i;
	return first;
}

/** Numbers that are put in, moved and taken out at random: the first is what a scan finds. */
Test(deadlines, as_by_a_scan)
{
	mf_time at[NUMBERS];
	unsigned int set[NUMBERS] = {0};
	struct mf_deadlines d = {.turn = 0};
	struct mf_rng r;

	mf_rng_init(&r, 1, "due", 0);
	cr_assert_eq(mf_deadlines_init(&d, NUMBERS), 0);
	d.turn = UINT32_MAX - STEPS / 4; /* which comes to its end meanwhile */
	for (unsigned int i = 0; i < NUMBERS; i++)
		at[i] = MF_NEVER;
	for (unsigned int s = 1; s <= STEPS; s++) {
		uint32_t i = (uint32_t)mf_rng_below(&r, NUMBERS);

		if (mf_rng_below(&r, 3) == 0) {
			mf_deadlines_remove(&d, i);
			at[i] = MF_NEVER;
		} else {
			at[i] = mf_rng_below(&r, 40);
			set[i] = s;
			mf_deadlines_set(&d, i, at[i]);
		}
		cr_assert_eq(mf_deadlines_first(&d, MF_NEVER), first_of(at, set), "step %u", s);
		cr_assert_eq(mf_deadlines_at(&d, i), at[i]);
	}
	mf_deadlines_fini(&d);
}

/** Those that are due at the same time take turns. */
Test(deadlines, equals_take_turns)
{
	struct mf_deadlines d;

	cr_assert_eq(mf_deadlines_init(&d, 4), 0);
	for (uint32_t i = 0; i < 4; i++)
		mf_deadlines_set(&d, 3 - i, 7);
	for (uint32_t s = 0; s < 12; s++) {
		uint32_t i = mf_deadlines_first(&d, 7);

		cr_assert_eq(i, 3 - s % 4, "turn %u", s);
		mf_deadlines_set(&d, i, 7);
	}
	mf_deadlines_fini(&d);
}

#define HEAPS 3

/** Heaps beside each other: no number is in two of them. */
Test(deadlines, beside_each_other)
{
	struct mf_deadlines d[HEAPS];
	int heap[NUMBERS];
	mf_time at[NUMBERS], of_heap[NUMBERS];
	unsigned int set[NUMBERS] = {0};
	struct mf_rng r;

	mf_rng_init(&r, 2, "due", 0);
	cr_assert_eq(mf_deadlines_init(&d[0], NUMBERS), 0);
	for (int h = 1; h < HEAPS; h++)
		cr_assert_eq(mf_deadlines_init_beside(&d[h], NUMBERS, &d[0]), 0);
	for (uint32_t i = 0; i < NUMBERS; i++) {
		heap[i] = -1;
		at[i] = MF_NEVER;
	}
	for (unsigned int s = 1; s <= STEPS; s++) {
		uint32_t i = (uint32_t)mf_rng_below(&r, NUMBERS);
		int h = heap[i] >= 0 ? heap[i] : (int)mf_rng_below(&r, HEAPS);

		if (heap[i] >= 0 && s % 2 == 0) {
			mf_deadlines_remove(&d[h], i);
			heap[i] = -1;
			at[i] = MF_NEVER;
		} else { /* in, or moved */
			heap[i] = h;
			set[i] = s;
			at[i] = mf_rng_below(&r, 50);
			mf_deadlines_set(&d[h], i, at[i]);
			cr_assert_eq(mf_deadlines_at(&d[h], i), at[i]);
		}
		for (uint32_t k = 0; k < NUMBERS; k++)
			of_heap[k] = heap[k] == h ? at[k] : MF_NEVER;
		cr_assert_eq(mf_deadlines_first(&d[h], MF_NEVER), first_of(of_heap, set), "step %u", s);
	}
	for (int h = HEAPS; h-- > 0;)
		mf_deadlines_fini(&d[h]);
}
