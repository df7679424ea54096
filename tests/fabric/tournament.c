/* SPDX-License-Identifier: BSD-3-Clause */
/* The event queue of the virtual clock, against a search through all actors. */
#include <stdlib.h>

#include <criterion/criterion.h>

#include "virtual/tournament.h"
#include "base/mf_rng.h"

#define STEPS 20000

/** The actor that is first by time, then by number. @return its time, MF_NEVER: there is none */
static mf_time first(const mf_time *due, uint32_t actors, uint32_t *actor)
{
	mf_time at = MF_NEVER;

	for (uint32_t i = 0; i < actors; i++) {
		if (due[i] >= at)
			continue;
		at = due[i];
		*actor = i;
	}
	return at;
}

/** Times that are equal often, now and then far ahead, and sometimes beyond what a key holds. */
static mf_time draw(struct mf_rng *rng, mf_time now)
{
	switch (mf_rng_below(rng, 64)) {
	case 0:
		return MF_NEVER;
	case 1:
		return now + MF_SEC(mf_rng_below(rng, 10000));
	case 2:
		return now + (mf_rng_next(rng) >> 14);
	default:
		return now + mf_rng_below(rng, 20);
	}
}

static void run(uint32_t actors, uint64_t seed)
{
	struct tournament q;
	mf_time *due = malloc(actors * sizeof(*due)), now = 0;
	struct mf_rng rng;

	mf_rng_init(&rng, seed, "event", actors);
	cr_assert_eq(tournament_init(&q, actors), 0);
	for (uint32_t i = 0; i < actors; i++)
		due[i] = MF_NEVER;
	for (unsigned int step = 0; step < STEPS; step++) {
		uint32_t actor = 0, other = (uint32_t)mf_rng_below(&rng, actors);
		mf_time at = first(due, actors, &actor), next;

		cr_assert_eq(tournament_next(&q), at, "seed %lu, %u actors, step %u", seed, actors, step);
		if (at != MF_NEVER) {
			cr_assert_eq(tournament_actor(&q), actor, "seed %lu, %u actors, step %u", seed,
				     actors, step);
			now = at;
			due[actor] = draw(&rng, now);
			tournament_set(&q, actor, due[actor]);
		}
		next = draw(&rng, now);
		if (mf_rng_below(&rng, 2)) {
			due[other] = next;
			tournament_set(&q, other, next);
		} else {
			due[other] = mf_time_min(due[other], next);
			tournament_hasten(&q, other, next);
		}
	}
	tournament_fini(&q);
	free(due);
}

Test(tournament, first_by_time_then_by_number)
{
	static const uint32_t actors[] = {1, 2, 3, 13, 64, 65, 2563};

	for (unsigned int i = 0; i < sizeof(actors) / sizeof(*actors); i++)
		for (uint64_t seed = 1; seed <= 3; seed++)
			run(actors[i], seed);
}

Test(tournament, nothing_is_due)
{
	struct tournament q;

	cr_assert_eq(tournament_init(&q, 5), 0);
	cr_assert_eq(tournament_next(&q), MF_NEVER);
	tournament_set(&q, 4, MF_NEVER - 1);
	cr_assert_eq(tournament_next(&q), MF_NEVER - 1);
	cr_assert_eq(tournament_actor(&q), 4);
	tournament_set(&q, 4, MF_NEVER);
	cr_assert_eq(tournament_next(&q), MF_NEVER);
	tournament_fini(&q);
}
