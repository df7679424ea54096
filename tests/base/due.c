/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>

#include "mf_due.h"
#include "mf_rng.h"

#define NUMBERS 300
#define HEAPS 3
#define STEPS 20000

TestSuite(due, .timeout = 60);

struct entry {
	int heap; /* -1: in none */
	mf_time at;
};

/** The number that is first due, by looking at all. */
static uint32_t first_of(const struct entry *e, int heap)
{
	uint32_t first = MF_DUE_NIL;

	for (uint32_t i = 0; i < NUMBERS; i++)
		if (e[i].heap == heap && (first == MF_DUE_NIL || e[i].at < e[first].at))
			first = i;
	return first;
}

/** Heaps beside each other give what a scan gives, equal times by number. */
Test(due, as_by_a_scan)
{
	struct entry e[NUMBERS];
	struct mf_due d[HEAPS];
	struct mf_rng r;

	mf_rng_init(&r, 1, "due", 0);
	for (uint32_t i = 0; i < NUMBERS; i++)
		e[i].heap = -1;
	cr_assert_eq(mf_due_init(&d[0], NUMBERS), 0);
	for (int h = 1; h < HEAPS; h++)
		cr_assert_eq(mf_due_init_beside(&d[h], NUMBERS, &d[0]), 0);
	for (unsigned int s = 0; s < STEPS; s++) {
		uint32_t i = (uint32_t)mf_rng_below(&r, NUMBERS);
		int h = e[i].heap >= 0 ? e[i].heap : (int)mf_rng_below(&r, HEAPS);

		if (e[i].heap >= 0 && s % 2 == 0) {
			mf_due_remove(&d[h], i);
			e[i].heap = -1;
		} else { /* in, or moved */
			e[i] = (struct entry){h, mf_rng_below(&r, 50)};
			mf_due_set(&d[h], i, e[i].at);
			cr_assert_eq(mf_due_at(&d[h], i), e[i].at);
		}
		cr_assert_eq(mf_due_first(&d[h], MF_NEVER), first_of(e, h), "step %u", s);
	}
	for (int h = HEAPS; h-- > 0;)
		mf_due_fini(&d[h]);
}
