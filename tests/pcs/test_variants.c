/* SPDX-License-Identifier: BSD-3-Clause */
/* Every variant of mf_pcs.h does what the scalar one does: of all lengths, and in turns on one stream. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "pcs/mf_scrambler.h"
#include "pcs_test.h"

#define WORDS 512
#define MARGIN 16 /* words behind the burst that nobody may touch */
#define STREAM 20000

struct burst {
	struct mf_scrambler s;
	uint64_t word[WORDS + MARGIN];
};

static unsigned int variants(void)
{
	unsigned int n = 0;

	while (mf_pcs_variant(n) != NULL)
		n++;
	return n;
}

static const struct mf_pcs_ops *any_variant(uint64_t *rng)
{
	return mf_pcs_variant(test_below(rng, variants()));
}

static void fill(uint64_t *rng, struct burst *b)
{
	b->s.state = test_random(rng);
	for (unsigned int i = 0; i < WORDS + MARGIN; i++)
		b->word[i] = test_below(rng, 8) ? test_random(rng) : 0;
}

static void assert_same(const struct burst *got, const struct burst *want, const char *what, unsigned int n)
{
	cr_assert_eq(got->s.state, want->s.state, "%s of %u words, state, seed %" PRIu64, what, n,
		     test_seed());
	cr_assert_arr_eq(got->word, want->word, sizeof(got->word), "%s of %u words, seed %" PRIu64, what, n,
			 test_seed());
}

Test(variants, the_scalar_one_is_first)
{
	cr_assert_str_eq(mf_pcs_variant(0)->name, "scalar");
	cr_assert_eq(mf_pcs_ops, mf_pcs_variant(0));
	for (unsigned int i = 1; i < variants(); i++)
		cr_assert_gt(mf_pcs_variant(i)->simd_bits, mf_pcs_variant(i - 1)->simd_bits);
	cr_assert_null(mf_pcs_variant(UINT_MAX));
}

Test(variants, the_widest_that_is_allowed_is_chosen)
{
	for (unsigned int i = variants(); i-- > 0;) {
		const struct mf_pcs_ops *v = mf_pcs_variant(i);

		mf_pcs_select(v->simd_bits);
		cr_assert_eq(mf_pcs_ops, v, "%s", v->name);
	}
	mf_pcs_select(UINT_MAX);
	cr_assert_eq(mf_pcs_ops, mf_pcs_variant(variants() - 1));
	mf_pcs_select(0);
	cr_assert_eq(mf_pcs_ops, mf_pcs_variant(0));
}

Test(variants, scramble_every_length)
{
	uint64_t rng = test_seed();

	for (unsigned int n = 0; n <= WORDS; n++) {
		static struct burst in, want, got;

		fill(&rng, &in);
		want = in;
		mf_pcs_variant(0)->scramble(&want.s, want.word, n);
		for (unsigned int i = 1; i < variants(); i++) {
			got = in;
			mf_pcs_variant(i)->scramble(&got.s, got.word, n);
			assert_same(&got, &want, mf_pcs_variant(i)->name, n);
		}
	}
}

Test(variants, descramble_every_length)
{
	uint64_t rng = test_seed();

	for (unsigned int n = 0; n <= WORDS; n++) {
		static struct burst in, want, got;

		fill(&rng, &in);
		want = in;
		mf_pcs_variant(0)->descramble(&want.s, want.word, n);
		for (unsigned int i = 1; i < variants(); i++) {
			got = in;
			mf_pcs_variant(i)->descramble(&got.s, got.word, n);
			assert_same(&got, &want, mf_pcs_variant(i)->name, n);
		}
	}
}

Test(variants, scramble_batch_every_length)
{
	static struct burst want[MF_PCS_BATCH], got[MF_PCS_BATCH];
	struct mf_scrambler *s[MF_PCS_BATCH];
	uint64_t *word[MF_PCS_BATCH];
	uint64_t rng = test_seed();

	for (unsigned int round = 0; round < 2000; round++) {
		const struct mf_pcs_ops *v = any_variant(&rng);
		unsigned int n = round <= WORDS ? round : test_below(&rng, 40);

		for (unsigned int i = 0; i < MF_PCS_BATCH; i++) {
			fill(&rng, &want[i]);
			got[i] = want[i];
			s[i] = &got[i].s;
			word[i] = got[i].word;
			mf_pcs_variant(0)->scramble(&want[i].s, want[i].word, n);
		}
		v->scramble_batch(s, word, n);
		for (unsigned int i = 0; i < MF_PCS_BATCH; i++)
			assert_same(&got[i], &want[i], v->name, n);
	}
}

/** How a stream is cut into calls, and who does each, leaves no trace. */
Test(variants, take_turns_on_a_stream)
{
	uint64_t seed = test_seed(), rng = seed, state = test_random(&rng);
	struct mf_scrambler whole = {.state = state}, tx = whole, rx = whole;
	static uint64_t plain[STREAM], want[STREAM], word[STREAM];

	test_fill(&rng, (uint8_t *)plain, sizeof(plain));
	memcpy(want, plain, sizeof(plain));
	memcpy(word, plain, sizeof(plain));
	mf_pcs_variant(0)->scramble(&whole, want, STREAM);
	for (unsigned int i = 0, n; i < STREAM; i += n) {
		n = test_below(&rng, 4) ? test_below(&rng, 24) : test_below(&rng, 300);
		n = n < STREAM - i ? n : STREAM - i;
		any_variant(&rng)->scramble(&tx, word + i, n);
	}
	cr_assert_arr_eq(word, want, sizeof(word), "seed %" PRIu64, seed);
	cr_assert_eq(tx.state, whole.state);
	for (unsigned int i = 0, n; i < STREAM; i += n) {
		n = test_below(&rng, 4) ? test_below(&rng, 24) : test_below(&rng, 300);
		n = n < STREAM - i ? n : STREAM - i;
		any_variant(&rng)->descramble(&rx, word + i, n);
	}
	cr_assert_arr_eq(word, plain, sizeof(word), "seed %" PRIu64, seed);
}

Test(variants, data_blocks)
{
	static uint8_t octet[8 * WORDS + 8], back[8 * WORDS + 8], sync[WORDS + MARGIN];
	static uint64_t word[WORDS + MARGIN];
	uint64_t seed = test_seed(), rng = seed;

	test_fill(&rng, octet, sizeof(octet));
	for (unsigned int n = 0; n <= WORDS; n++) {
		const struct mf_pcs_ops *v = any_variant(&rng);
		unsigned int skew = test_below(&rng, 8);

		memset(word, 0x5a, sizeof(word));
		memset(sync, 0x5a, sizeof(sync));
		memset(back, 0x5a, sizeof(back));
		v->put_data(word, sync, octet + skew, n);
		v->get_data(back + skew, word, n);
		cr_assert_eq(memcmp(word, octet + skew, 8 * n), 0, "%s, %u", v->name, n);
		cr_assert_eq(memcmp(back + skew, octet + skew, 8 * n), 0, "%s, %u", v->name, n);
		for (unsigned int i = 0; i < n; i++)
			cr_assert_eq(sync[i], MF_SYNC_DATA, "%s, %u of %u", v->name, i, n);
		for (unsigned int i = n; i < WORDS + MARGIN; i++)
			cr_assert(sync[i] == 0x5a && word[i] == UINT64_C(0x5a5a5a5a5a5a5a5a), "%s, %u",
				  v->name, n);
		for (unsigned int i = skew + 8 * n; i < sizeof(back); i++)
			cr_assert_eq(back[i], 0x5a, "%s, %u", v->name, n);
	}
}
