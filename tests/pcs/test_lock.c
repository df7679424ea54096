/* SPDX-License-Identifier: BSD-3-Clause */
/* Block lock and hi-BER at their edges: figures 49-12 and 49-13. */
#include <criterion/criterion.h>
#include <inttypes.h>

#include "pcs/mf_lock.h"
#include "pcs_test.h"

#define GOOD MF_SYNC_DATA
#define BAD 3

static struct mf_lock locked(void)
{
	struct mf_lock l;

	mf_lock_init(&l);
	for (int i = 0; i < 64; i++)
		mf_lock_feed(&l, i % 2 ? MF_SYNC_DATA : MF_SYNC_CTRL);
	cr_assert(l.block_lock);
	return l;
}

static void feed(struct mf_lock *l, unsigned int n, uint8_t sync)
{
	while (n--)
		cr_assert_not(mf_lock_feed(l, sync));
}

Test(lock, locks_at_the_64th_good_header)
{
	struct mf_lock l;

	mf_lock_init(&l);
	feed(&l, 63, GOOD);
	cr_assert_not(l.block_lock);
	feed(&l, 1, GOOD);
	cr_assert(l.block_lock);
}

Test(lock, slips_at_every_bad_header_while_unlocked)
{
	struct mf_lock l;

	mf_lock_init(&l);
	for (unsigned int good = 0; good < 64; good++) {
		feed(&l, good, GOOD);
		cr_assert(mf_lock_feed(&l, good % 2 ? 0 : 3), "behind %u good ones", good);
		cr_assert_not(l.block_lock);
	}
	feed(&l, 63, GOOD);
	cr_assert_not(l.block_lock, "the count starts anew behind a slip");
	feed(&l, 1, GOOD);
	cr_assert(l.block_lock);
}

Test(lock, keeps_with_15_bad_in_a_window)
{
	struct mf_lock l = locked();

	for (int window = 0; window < 10; window++) {
		feed(&l, 15, BAD);
		cr_assert(l.block_lock);
		feed(&l, 49, GOOD);
		cr_assert(l.block_lock);
	}
}

Test(lock, loses_at_the_16th_bad_in_a_window)
{
	struct mf_lock l = locked();

	feed(&l, 48, GOOD);
	feed(&l, 15, BAD);
	cr_assert(l.block_lock);
	cr_assert(mf_lock_feed(&l, BAD), "the 64th header of the window");
	cr_assert_not(l.block_lock);
}

Test(lock, windows_do_not_slide)
{
	struct mf_lock l = locked();

	/* 30 bad headers in a row, but 15 in each of two windows. */
	feed(&l, 49, GOOD);
	feed(&l, 30, BAD);
	cr_assert(l.block_lock);
	feed(&l, 49, GOOD);
	feed(&l, 15, BAD);
	cr_assert(mf_lock_feed(&l, BAD), "16 in one");
}

Test(lock, window_with_bad_headers_does_not_lock_again)
{
	struct mf_lock l = locked();

	feed(&l, 15, BAD);
	cr_assert(mf_lock_feed(&l, BAD));
	feed(&l, 63, GOOD);
	cr_assert_not(l.block_lock);
	feed(&l, 1, GOOD);
	cr_assert(l.block_lock);
}

/** A run of n bad headers from t on. */
static void bad(struct mf_ber *b, mf_time t, unsigned int n)
{
	while (n--)
		mf_ber_feed(b, t++, true);
}

Test(ber, at_16_bad_in_a_window)
{
	struct mf_ber b;

	mf_ber_init(&b, MF_US(125));
	bad(&b, 100, 15);
	cr_assert_not(b.hi_ber);
	mf_ber_feed(&b, 1000, false);
	cr_assert_not(b.hi_ber);
	mf_ber_feed(&b, MF_US(125) - 1, true);
	cr_assert(b.hi_ber);
}

Test(ber, windows_run_free)
{
	const mf_time w = MF_US(125);
	struct mf_ber b;

	/* 15 at the end of one window, 15 at the start of the next: 30 within a moment, and no hi-BER. */
	mf_ber_init(&b, w);
	bad(&b, w - 15, 30);
	cr_assert_not(b.hi_ber);
	/* What was before does not shift the windows: the 16th of the second one comes at its very end. */
	mf_ber_feed(&b, 2 * w - 1, true);
	cr_assert(b.hi_ber);
}

Test(ber, header_at_the_end_belongs_to_the_next_window)
{
	const mf_time w = 1000;
	struct mf_ber b;

	mf_ber_init(&b, w);
	bad(&b, 0, 15);
	mf_ber_feed(&b, w, true);
	cr_assert_not(b.hi_ber);
	cr_assert_eq(b.ber_cnt, 1);
}

Test(ber, ends_with_a_window_of_fewer)
{
	const mf_time w = 1000;
	struct mf_ber b;

	mf_ber_init(&b, w);
	bad(&b, 0, 16);
	mf_ber_feed(&b, w, false);
	cr_assert(b.hi_ber, "its own window was bad");
	bad(&b, w + 1, 15);
	mf_ber_feed(&b, 2 * w - 1, false);
	cr_assert(b.hi_ber, "the next is not over");
	mf_ber_feed(&b, 2 * w, false);
	cr_assert_not(b.hi_ber);
}

Test(ber, stays_through_bad_windows)
{
	const mf_time w = 1000;
	struct mf_ber b;

	mf_ber_init(&b, w);
	for (mf_time t = 0; t < 20 * w; t += w) {
		bad(&b, t, 100);
		mf_ber_feed(&b, t + w - 1, false);
		cr_assert(b.hi_ber);
	}
}

Test(ber, silence_ends_it)
{
	const mf_time w = 1000;
	struct mf_ber b;

	mf_ber_init(&b, w);
	bad(&b, 0, 16);
	mf_ber_feed(&b, 2 * w - 1, false);
	cr_assert(b.hi_ber);
	mf_ber_init(&b, w);
	bad(&b, 0, 16);
	mf_ber_feed(&b, 2 * w, false);
	cr_assert_not(b.hi_ber, "a whole window without a bad header lies between");
}

/** One window after another, each told of on its own, as a timer would. */
Test(ber, equals_one_that_sees_every_window)
{
	uint64_t seed = test_seed(), rng = seed;

	for (int round = 0; round < 200; round++) {
		const mf_time w = 50 + test_below(&rng, 1000);
		mf_time now = 0, end = w;
		uint32_t count = 0;
		bool hi = false;
		struct mf_ber b;

		mf_ber_init(&b, w);
		for (int i = 0; i < 2000; i++) {
			bool is_bad = test_below(&rng, 4) > 0;

			now += test_below(&rng, 100) ? test_below(&rng, 40) : test_below(&rng, 4000);
			for (; now >= end; end += w) {
				hi = hi && count >= 16;
				count = 0;
			}
			count += is_bad;
			hi = hi || count >= 16;
			mf_ber_feed(&b, now, is_bad);
			cr_assert_eq(b.hi_ber, hi, "seed %" PRIu64 ", round %d, header %d", seed, round, i);
		}
	}
}
