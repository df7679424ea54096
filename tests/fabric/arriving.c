/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of messages that are coming in, against a plain array. */
#include <criterion/criterion.h>

#include "base/mf_rng.h"
#include "measure/mf_arriving.h"

#define NAMES 3000

static uint64_t octets[NAMES]; /* of what is there; 0: it is not */

/** Some are close together, as those of a pair are, others far apart. */
static uint64_t name_of(unsigned int i)
{
	return i % 3 == 0 ? i : i % 3 == 1 ? (uint64_t)i << 40 | 7 : UINT64_MAX - 1 - i;
}

static void look_at_all(const struct arriving *a)
{
	uint32_t there = 0;

	for (unsigned int i = 0; i < NAMES; i++) {
		const struct arriving_message *m = arriving_find(a, name_of(i));

		cr_assert_eq(m != NULL, octets[i] != 0, "%u", i);
		cr_assert(m == NULL || (m->octets == octets[i] && m->begin == i));
		there += m != NULL;
	}
	cr_assert_eq(a->count, there);
}

/** It fills up, empties, and fills up again, with what is put and removed at random on the way. */
Test(arriving, against_an_array)
{
	struct arriving a;
	struct mf_rng rng;

	cr_assert_eq(arriving_init(&a), 0);
	mf_rng_init(&rng, 1, "arriving", 0);
	for (unsigned int step = 0; step < 200000; step++) {
		unsigned int i = (unsigned int)mf_rng_below(&rng, NAMES);
		bool fills = step / 20000 % 2 == 0;
		struct arriving_message *m = arriving_find(&a, name_of(i));

		if (m == NULL && mf_rng_below(&rng, fills ? 1 : 4) == 0) {
			m = arriving_put(&a, name_of(i));
			cr_assert_not_null(m);
			cr_assert_eq(m->octets + m->begin + m->format, 0);
			m->begin = i;
			m->octets = octets[i] = 1 + step;
		} else if (m != NULL && mf_rng_below(&rng, fills ? 4 : 1) == 0) {
			arriving_remove(&a, m);
			octets[i] = 0;
		}
		if (step % 5000 == 4999)
			look_at_all(&a);
	}
	arriving_fini(&a);
}
