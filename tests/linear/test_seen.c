/* SPDX-License-Identifier: BSD-3-Clause */
/* The set of fingerprints, with few values of each half: what differs in one of them differs. */
#include <stdlib.h>

#include <criterion/criterion.h>

#include "linear/seen.h"

#define SIDE 64 /* values of a half: so many squared are more than there is room for at first */

/** Adds all, in a stride that mixes them. @return how many gave that answer */
static unsigned int add_all(struct seen *s, enum seen_answer answer)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < SIDE * SIDE; i++) {
		unsigned int k = i * 1237 % (SIDE * SIDE);

		n += seen_add(s, (struct fingerprint){k / SIDE, k % SIDE}) == answer;
	}
	return n;
}

Test(seen, each_is_new_once)
{
	struct seen s;

	cr_assert_eq(seen_init(&s, SIDE * SIDE), 0);
	for (unsigned int round = 0; round < 3; round++) {
		/* {0, 0} stands for {0, 1}: of these two one is new */
		cr_expect_eq(add_all(&s, SEEN_NEW), SIDE * SIDE - 1);
		cr_expect_eq(add_all(&s, SEEN_BEFORE), SIDE * SIDE);
		seen_clear(&s);
		cr_expect_eq(s.count, 0);
	}
	seen_fini(&s);
}

Test(seen, no_more_than_it_may_hold)
{
	struct seen s;

	cr_assert_eq(seen_init(&s, 100), 0);
	cr_expect_eq(add_all(&s, SEEN_NEW), 100);
	cr_expect_eq(s.count, 100);
	seen_clear(&s);
	cr_expect_eq(add_all(&s, SEEN_FULL), SIDE * SIDE - 1 - 100);
	seen_fini(&s);
}
