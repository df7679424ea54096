/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allocations, against a model that looks at each page of a class: whether it is in a range, and what its
 * bucket holds.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "base/mf_rng.h"
#include "memory/mf_range_alloc.h"

#define SEED 0x5eed0037
#define SHIFT MF_PAGE_SHIFT_MAX /* the fewest addresses of a class: 2^15 pages */
#define NUMBERS (1u << (MF_CLASS_SHIFT - SHIFT))
#define BUCKETS 64
#define SPACE 77

static struct mf_rng rng;
static struct mf_page_shape shape;
static struct mf_bucket_use *use;
static struct mf_range_pool *pool;
static struct mf_ranges ranges;

static struct {
	bool in[MF_PAGE_CLASSES][NUMBERS]; /* the page is in a range */
	uint32_t bucket[BUCKETS];
} m;

static void make(uint32_t pool_ranges)
{
	const struct mf_range_pool_config rc = {.ranges = pool_ranges, .covered_max = 64};
	struct mf_page_shape_config c = {.pages = BUCKETS * 2, .slots = 2, .bucket = 4};

	mf_rng_init(&rng, SEED, "range alloc", 0);
	for (int i = 0; i < 2 * MF_PAGE_MIX_ROUNDS; i++)
		c.key[i] = mf_rng_next(&rng);
	cr_assert_eq(mf_page_shape_init(&shape, &c), 0);
	cr_assert_eq(1u << shape.bits, BUCKETS);
	use = mf_bucket_use_new(&shape);
	pool = mf_range_pool_new(&rc);
	cr_assert(use != NULL && pool != NULL);
	memset(&ranges, 0, sizeof(ranges));
	memset(&m, 0, sizeof(m));
}

static void done(void)
{
	mf_bucket_use_free(use);
	mf_range_pool_free(pool);
}

static struct mf_range_alloc_config config(uint8_t page_class, uint64_t pages, uint64_t from,
					   uint32_t retries)
{
	return (struct mf_range_alloc_config){
		.pool = pool,
		.ranges = &ranges,
		.use = use,
		.space = SPACE,
		.page_class = page_class,
		.shift = SHIFT,
		.rights = MF_PAGE_WRITE,
		.pages = pages,
		.from = from == 0 ? 0 : mf_remote_class_base(page_class) + (from << SHIFT),
		.retries_max = retries};
}

static uint64_t tag_of(uint8_t page_class, uint64_t number)
{
	return mf_remote_tag(SPACE, mf_remote_class_base(page_class) + (number << SHIFT), SHIFT);
}

static uint64_t bucket_of(uint8_t page_class, uint64_t number)
{
	return mf_page_bucket(&shape, mf_page_mix(&shape, tag_of(page_class, number)));
}

struct answer {
	int error;
	uint64_t number;
	uint32_t retries;
};

/** How many pages from one on are in no range, and have slots: all that are asked for, or those before. */
static uint64_t fits(uint8_t page_class, uint64_t number, uint64_t pages, bool *hole)
{
	uint32_t more[BUCKETS] = {0};

	*hole = true;
	for (uint64_t i = 0; i < pages; i++)
		*hole = *hole && !m.in[page_class][number + i];
	for (uint64_t i = 0; *hole && i < pages; i++) {
		uint64_t b = bucket_of(page_class, number + i);

		if (m.bucket[b] + ++more[b] > shape.bucket)
			return i;
	}
	return pages;
}

static uint64_t model_taken(void)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < BUCKETS; i++)
		n += m.bucket[i];
	return n;
}

/** What an allocation that is alone should come to, by what its header says. */
static struct answer predict(const struct mf_range_alloc_config *c, uint64_t from)
{
	struct answer a = {0};

	from = from == 0 ? 1 : from;
	if (c->pages > mf_page_slots(&shape) - model_taken()) {
		a.error = -ENOSPC;
		return a;
	}
	for (int round = 0; round < 2; round++) {
		uint64_t number = round == 0 ? from : 1;

		while (number + c->pages <= NUMBERS && (round == 0 || number < from)) {
			bool hole;
			uint64_t n = fits(c->page_class, number, c->pages, &hole);

			if (hole && n == c->pages) {
				a.number = number;
				return a;
			}
			number += hole ? n + 1 : 1;
			a.retries += hole;
			if (hole && a.retries > c->retries_max) {
				a.error = -EAGAIN;
				return a;
			}
		}
	}
	a.error = -ENOSPC;
	return a;
}

static void model_set(uint8_t page_class, uint64_t number, uint64_t pages, bool in)
{
	for (uint64_t i = number; i < number + pages; i++) {
		m.in[page_class][i] = in;
		m.bucket[bucket_of(page_class, i)] += in ? 1u : UINT32_MAX;
	}
}

/** To the end, in slices. */
static enum mf_range_alloc_state finish(struct mf_range_alloc *a, uint64_t slice)
{
	for (;;) {
		uint64_t steps = 1 + mf_rng_below(&rng, slice), before = steps;
		enum mf_range_alloc_state state = mf_range_alloc_run(a, &steps);

		cr_assert_leq(steps, before);
		cr_assert_eq(state, a->state);
		if (state == MF_ALLOC_DONE || state == MF_ALLOC_FAILED)
			return state;
		cr_assert_eq(steps, 0, "it goes on as long as it may");
	}
}

static bool allocate(const struct mf_range_alloc_config *c, uint64_t from, uint64_t slice)
{
	struct answer want = predict(c, from);
	struct mf_range_alloc a;
	uint64_t number;

	cr_assert_eq(mf_range_alloc_begin(&a, c), 0);
	if (finish(&a, slice) == MF_ALLOC_FAILED) {
		cr_assert_eq(a.error, want.error, "%d, not %d", a.error, want.error);
		cr_assert_eq(a.retries, want.retries);
		return false;
	}
	number = (a.at - mf_remote_class_base(c->page_class)) >> SHIFT;
	cr_assert_eq(want.error, 0);
	cr_assert_eq(number, want.number, "%lu, not %lu", number, want.number);
	cr_assert_eq(a.retries, want.retries);
	model_set(c->page_class, number, c->pages, true);
	cr_assert_eq(mf_ranges_change(pool, &ranges, a.at, mf_range_alloc_len(&a), MF_RANGE_MAKING,
				      (struct mf_range_kind){MF_RANGE_LIVE, c->rights}),
		     0);
	return true;
}

static void free_pages(uint8_t page_class, uint64_t number, uint64_t pages)
{
	uint64_t at = mf_remote_class_base(page_class) + (number << SHIFT);

	cr_assert_eq(mf_ranges_drop(pool, &ranges, at, pages << SHIFT, MF_RANGE_LIVE), 0);
	for (uint64_t i = number; i < number + pages; i++)
		mf_bucket_use_let_go(use, tag_of(page_class, i));
	model_set(page_class, number, pages, false);
}

/** Some pages of the class, in order, that are allocated. */
static void free_some(uint8_t page_class, uint64_t from)
{
	uint64_t number = from, pages = 0;

	for (unsigned int i = 0; i < NUMBERS && !m.in[page_class][number]; i++)
		number = (number + 1) % NUMBERS;
	while (pages < 8 && number + pages < NUMBERS && m.in[page_class][number + pages])
		pages++;
	if (pages > 0)
		free_pages(page_class, number, pages);
}

Test(range_alloc, as_a_model_finds)
{
	unsigned int ok = 0, refused = 0;

	make(1 << 12);
	for (unsigned int i = 0; i < 6000; i++) {
		uint8_t page_class = mf_rng_below(&rng, 2) == 0 ? 3 : MF_PAGE_CLASSES - 1;
		uint64_t from = mf_rng_below(&rng, 3) == 0   ? 0
				: mf_rng_below(&rng, 2) == 0 ? mf_rng_below(&rng, 200)
							     : NUMBERS - mf_rng_below(&rng, 12);
		uint64_t pages = 1 + mf_rng_below(&rng, mf_rng_below(&rng, 4) == 0 ? 30 : 4);
		struct mf_range_alloc_config c =
			config(page_class, pages, from, (uint32_t)mf_rng_below(&rng, 20));

		if (mf_rng_below(&rng, 8) < (i / 500 % 2 == 0 ? 5 : 4))
			*(allocate(&c, from, mf_rng_below(&rng, 2) == 0 ? 1 : 50) ? &ok : &refused) += 1;
		else
			free_some(page_class, mf_rng_below(&rng, 2) == 0
						      ? mf_rng_below(&rng, 200)
						      : NUMBERS - 1 - mf_rng_below(&rng, 12));
		cr_assert_eq(mf_bucket_use_taken(use), model_taken());
	}
	cr_expect(ok > 500 && refused > 500, "%u %u", ok, refused);
	done();
}

/** From the last page on, then from the first one again, and not further than where it began. */
Test(range_alloc, goes_round_once)
{
	struct mf_range_alloc_config c;

	make(1 << 12);
	c = config(7, 1, NUMBERS - 1, 1000000);
	cr_expect(allocate(&c, NUMBERS - 1, 10));
	cr_expect(m.in[7][NUMBERS - 1]);
	cr_expect(allocate(&c, NUMBERS - 1, 10));
	cr_expect(!m.in[7][0] && (m.in[7][1] || m.bucket[bucket_of(7, 1)] == 4), "page 0 is nobody's");
	while (allocate(&c, NUMBERS - 1, 100000)) /* until no bucket has a slot for any page of the class */
		;
	cr_expect_eq(mf_bucket_use_taken(use), mf_page_slots(&shape));
	/* Eight slots that no eight neighbours have. */
	for (uint64_t number = 1, freed = 0; freed < 8; number += 2)
		if (m.in[7][number]) {
			free_pages(7, number, 1);
			freed++;
		}
	c = config(7, 8, NUMBERS / 2, 1000000);
	cr_expect(!allocate(&c, NUMBERS / 2, 100000), "each hole is tried, and none twice");
	done();
}

/** More pages than there are free slots: nobody's slots are taken meanwhile, not even for a try. */
Test(range_alloc, more_than_the_slots)
{
	const uint64_t slots = BUCKETS * 4;
	struct mf_range_alloc_config c;
	struct mf_range_alloc a;
	uint64_t steps = UINT64_MAX;

	make(16);
	c = config(7, 1, 0, 0);
	cr_assert(allocate(&c, 0, 10));
	for (uint64_t pages = slots; pages < NUMBERS; pages = 2 * pages - 1) {
		c = config(7, pages, 0, UINT32_MAX);
		steps = UINT64_MAX;
		cr_assert_eq(mf_range_alloc_begin(&a, &c), 0);
		cr_expect_eq(mf_range_alloc_run(&a, &steps), MF_ALLOC_FAILED);
		cr_expect_eq(a.error, -ENOSPC);
		cr_expect_eq(steps, UINT64_MAX - 1);
	}
	cr_expect_eq(ranges.ranges, 1);
	cr_expect_eq(mf_bucket_use_left(use), slots - 1);
	done();
}

/** Tasks that are under way at a time keep out of each other's way, and what is cancelled leaves nothing. */
Test(range_alloc, several_at_a_time)
{
	enum { TASKS = 6 };
	struct mf_range_alloc a[TASKS];
	bool busy[TASKS] = {false};
	unsigned int cancelled = 0, ok = 0;

	make(1 << 12);
	for (unsigned int i = 0; i < 100000; i++) {
		unsigned int t = (unsigned int)mf_rng_below(&rng, TASKS);
		uint64_t steps = 1 + mf_rng_below(&rng, 9), number;
		struct mf_range_alloc_config c =
			config(2, 1 + mf_rng_below(&rng, 20), 1 + mf_rng_below(&rng, 60), 10);

		if (!busy[t]) {
			cr_assert_eq(mf_range_alloc_begin(&a[t], &c), 0);
			busy[t] = true;
		} else if (mf_rng_below(&rng, 20) == 0 && a[t].error == 0) {
			mf_range_alloc_cancel(&a[t]);
			cancelled++;
		}
		mf_range_alloc_run(&a[t], &steps);
		if (a[t].state == MF_ALLOC_FAILED)
			busy[t] = false;
		if (a[t].state != MF_ALLOC_DONE || mf_rng_below(&rng, 3) == 0)
			continue; /* a third of those that are done may still be cancelled */
		number = (a[t].at - mf_remote_class_base(2)) >> SHIFT;
		for (uint64_t k = 0; k < a[t].config.pages; k++)
			cr_assert(!m.in[2][number + k], "two have page %lu", number + k);
		model_set(2, number, a[t].config.pages, true);
		cr_assert_eq(mf_ranges_change(pool, &ranges, a[t].at, mf_range_alloc_len(&a[t]),
					      MF_RANGE_MAKING,
					      (struct mf_range_kind){MF_RANGE_LIVE, MF_PAGE_WRITE}),
			     0);
		for (unsigned int b = 0; b < BUCKETS; b++)
			cr_assert_leq(m.bucket[b], 4, "no bucket overflows");
		busy[t] = false;
		ok++;
		while (mf_rng_below(&rng, 3) != 0 || model_taken() > 100)
			free_some(2, mf_rng_below(&rng, 100));
	}
	cr_expect(cancelled > 100 && ok > 1000, "%u %u", cancelled, ok);
	for (unsigned int t = 0; t < TASKS; t++) {
		if (busy[t] && a[t].error == 0)
			mf_range_alloc_cancel(&a[t]);
		if (busy[t])
			cr_assert_eq(finish(&a[t], 5), MF_ALLOC_FAILED);
		cr_assert(!busy[t] || a[t].error != 0);
	}
	while (model_taken() > 0)
		free_some(2, 0);
	cr_expect_eq(mf_bucket_use_taken(use), 0);
	cr_expect_eq(ranges.ranges, 0);
	cr_expect_eq(mf_range_pool_left(pool), 1 << 12);
	done();
}

/** A try is undone page by page, so no call does more than it may. */
Test(range_alloc, a_slice_is_a_slice)
{
	struct mf_range_alloc_config c;
	struct mf_range_alloc a;
	uint64_t calls = 0, taken = 0;

	make(16);
	c = config(0, 200, 0, 3);
	cr_assert_eq(mf_range_alloc_begin(&a, &c), 0);
	while (a.state != MF_ALLOC_DONE && a.state != MF_ALLOC_FAILED) {
		uint64_t steps = 3, now;

		mf_range_alloc_run(&a, &steps);
		now = mf_bucket_use_taken(use);
		cr_assert_leq(now > taken ? now - taken : taken - now, 3);
		taken = now;
		calls++;
	}
	cr_expect_eq(a.error, -EAGAIN, "200 pages do not fit 256 slots by chance");
	cr_expect_eq(a.retries, 4);
	cr_expect_gt(calls, 100);
	cr_expect_eq(taken, 0);
	done();
}

/** Where the pool has no range left it says so, and has nothing. */
Test(range_alloc, no_range_is_left)
{
	struct mf_range_alloc_config c;
	struct mf_range_alloc a;
	uint64_t steps = 100;

	make(1);
	c = config(1, 1, 0, 100);
	cr_assert_eq(mf_range_alloc_begin(&a, &c), 0);
	cr_assert_eq(finish(&a, 10), MF_ALLOC_DONE);
	cr_assert_eq(mf_range_alloc_begin(&a, &c), 0);
	cr_expect_eq(mf_range_alloc_run(&a, &steps), MF_ALLOC_FAILED);
	cr_expect_eq(a.error, -ENOMEM);
	cr_expect_eq(mf_bucket_use_taken(use), 1);
	done();
}

/** What has failed has nothing: at its address another one may be at work by now. */
Test(range_alloc, failed_and_cancelled)
{
	struct mf_range_alloc_config c;
	struct mf_range_alloc a, b;
	uint64_t steps = UINT64_MAX;

	make(16);
	c = config(0, 100, 0, 0);
	cr_assert_eq(mf_range_alloc_begin(&a, &c), 0);
	cr_assert_eq(finish(&a, 100), MF_ALLOC_FAILED);
	cr_expect_eq(a.error, -EAGAIN);
	cr_assert_eq(mf_range_alloc_begin(&b, &c), 0);
	steps = 2;
	cr_assert_eq(mf_range_alloc_run(&b, &steps), MF_ALLOC_TAKING);
	cr_assert_eq(b.at, a.at);
	mf_range_alloc_cancel(&a);
	steps = 100;
	cr_expect_eq(mf_range_alloc_run(&a, &steps), MF_ALLOC_FAILED);
	cr_expect_eq(steps, 100);
	cr_expect_eq(a.error, -EAGAIN);
	cr_expect_eq(ranges.ranges, 1, "the other one's is still there");
	mf_range_alloc_cancel(&b);
	mf_range_alloc_cancel(&b);
	cr_expect_eq(finish(&b, 100), MF_ALLOC_FAILED);
	cr_expect_eq(mf_bucket_use_taken(use), 0);
	cr_expect_eq(ranges.ranges, 0);
	done();
}

Test(range_alloc, faulty_parameters)
{
	struct mf_range_alloc_config good, c;
	struct mf_range_alloc a;

	make(1);
	good = config(7, NUMBERS - 1, 0, 1);
	cr_expect_eq(mf_range_alloc_begin(&a, &good), 0);
#define BAD(field, value)                                                    \
	do {                                                                 \
		c = good;                                                    \
		c.field = (value);                                           \
		cr_expect_eq(mf_range_alloc_begin(&a, &c), -EINVAL, #field); \
	} while (0)
	BAD(space, MF_SPACES);
	BAD(page_class, MF_PAGE_CLASSES);
	BAD(shift, MF_PAGE_SHIFT_MIN - 1);
	BAD(shift, MF_PAGE_SHIFT_MAX + 1);
	BAD(rights, MF_PAGE_RIGHTS);
	BAD(pages, 0);
	BAD(pages, NUMBERS);
	BAD(pages, UINT64_MAX);
	BAD(from, mf_remote_class_base(7) - (UINT64_C(1) << SHIFT));
	BAD(from, mf_remote_class_base(8) + (UINT64_C(1) << SHIFT));
	BAD(from, mf_remote_class_base(7) + 4096);
	done();
}
