/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys of spaces: each opens one thing. */
#include <criterion/criterion.h>

#include "base/mf_rng.h"
#include "memory/mf_space.h"

#define SEED 0x5eed0042
#define TRIES 20000

static struct mf_rng rng;

struct what {
	uint64_t secret[2];
	uint32_t space, epoch;
	uint16_t node;
	uint8_t right;
};

static uint64_t key_of(const struct what *w)
{
	return mf_space_key(w->secret, mf_space_what(w->space, w->epoch, w->node, w->right));
}

static uint64_t opens(const struct what *w, uint64_t key)
{
	return mf_space_opens(w->epoch, key_of(w), key);
}

static struct what draw(void)
{
	return (struct what){.secret = {mf_rng_next(&rng), mf_rng_next(&rng)},
			     .space = (uint32_t)mf_rng_below(&rng, MF_SPACES),
			     .epoch = 1 + (uint32_t)mf_rng_below(&rng, MF_SPACE_EPOCH_MAX - 1),
			     .node = (uint16_t)mf_rng_below(&rng, MF_PORTS_MAX),
			     .right = (uint8_t)mf_rng_below(&rng, MF_SPACE_RIGHTS)};
}

/** One bit of one thing is another one, and all is in range. */
static struct what other(const struct what *w)
{
	struct what o = *w;

	switch (mf_rng_below(&rng, 5)) {
	case 0:
		o.secret[mf_rng_below(&rng, 2)] ^= UINT64_C(1) << mf_rng_below(&rng, 64);
		break;
	case 1:
		o.space ^= UINT32_C(1) << mf_rng_below(&rng, MF_SPACE_BITS);
		break;
	case 2:
		o.epoch ^= UINT32_C(1) << mf_rng_below(&rng, 31);
		break;
	case 3:
		o.node ^= (uint16_t)(1u << mf_rng_below(&rng, 9));
		break;
	default:
		o.right ^= (uint8_t)(1u << mf_rng_below(&rng, 2));
		break;
	}
	return o;
}

Test(space, a_key_opens_one_thing)
{
	mf_rng_init(&rng, SEED, "space", 0);
	for (unsigned int i = 0; i < TRIES; i++) {
		struct what w = draw(), o = other(&w);
		uint64_t key = key_of(&w);

		cr_assert_neq(key, 0);
		cr_assert_eq(opens(&w, key), 1);
		cr_assert_eq(opens(&w, key ^ UINT64_C(1) << mf_rng_below(&rng, 64)), 0);
		cr_assert_eq(opens(&w, 0), 0);
		cr_assert_eq(opens(&o, key), 0);
	}
}

Test(space, what_is_not_there_has_no_key)
{
	mf_rng_init(&rng, SEED, "none", 0);
	for (unsigned int i = 0; i < TRIES; i++) {
		struct what w = draw();

		w.epoch = 0;
		cr_assert_eq(opens(&w, key_of(&w)), 0);
	}
}

Test(space, numbers)
{
	cr_expect_eq(mf_space_number(0, 0), 0);
	cr_expect_eq(mf_space_number(511, 8191), MF_SPACES - 1);
	cr_expect_eq(mf_space_maker(mf_space_number(311, 77)), 311);
	cr_expect_eq(MF_SPACE_ALLOC(UINT64_C(1) << 47, 5, 2) & MF_SPACE_OCTETS_MASK, UINT64_C(1) << 47);
	cr_expect_eq(mf_space_arg_class(MF_SPACE_ALLOC(MF_ADDR_MAX, 5, 2)), 5);
	cr_expect_eq(mf_space_arg_rights(MF_SPACE_ALLOC(MF_ADDR_MAX, 5, 2)), 2);
}
