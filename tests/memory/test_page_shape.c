/* SPDX-License-Identifier: BSD-3-Clause */
/* Pointers, tags, and where the entry of a tag stands. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "base/mf_rng.h"
#include "memory/mf_page_shape.h"

#define SEED 0x5eed0031
#define TAGS (UINT64_C(1) << MF_TAG_BITS)

static struct mf_rng rng;

static void begin(void)
{
	mf_rng_init(&rng, SEED, "page shape", 0);
}

TestSuite(page_shape, .init = begin);

static struct mf_page_shape_config config(uint64_t pages, uint32_t slots, uint32_t bucket)
{
	struct mf_page_shape_config c = {.pages = pages, .slots = slots, .bucket = bucket};

	for (int i = 0; i < 2 * MF_PAGE_MIX_ROUNDS; i++)
		c.key[i] = mf_rng_next(&rng);
	return c;
}

Test(page_shape, pointers)
{
	uint64_t p = mf_remote_pointer(0xfedc, MF_ADDR_MAX);

	cr_expect_eq(p, UINT64_C(0xfedcffffffffffff));
	cr_expect_eq(mf_remote_node(p), 0xfedc);
	cr_expect_eq(mf_remote_addr(p), MF_ADDR_MAX);
	cr_expect_eq(mf_remote_class(MF_ADDR_MAX), MF_PAGE_CLASSES - 1);
	cr_expect_eq(mf_remote_class_base(MF_PAGE_CLASSES), MF_ADDR_MAX + 1);
	for (unsigned int c = 0; c < MF_PAGE_CLASSES; c++) {
		cr_expect_eq(mf_remote_class(mf_remote_class_base(c)), c);
		cr_expect_eq(mf_remote_class(mf_remote_class_base(c + 1) - 1), c);
	}
}

/** Space, class and page number can be had back from a tag: no two pages share one. */
Test(page_shape, tags)
{
	for (int i = 0; i < 100000; i++) {
		uint64_t addr = mf_rng_next(&rng) & MF_ADDR_MAX;
		uint32_t space = (uint32_t)mf_rng_below(&rng, MF_SPACES);
		unsigned int shift =
			MF_PAGE_SHIFT_MIN +
			(unsigned int)mf_rng_below(&rng, MF_PAGE_SHIFT_MAX - MF_PAGE_SHIFT_MIN + 1);
		uint64_t tag = mf_remote_tag(space, addr, shift);

		cr_assert_lt(tag, TAGS);
		cr_assert_eq(tag >> 36, space);
		cr_assert_eq(tag >> 33 & 7, mf_remote_class(addr));
		cr_assert_eq((tag & 0x1ffffffff) << shift,
			     (addr & ((UINT64_C(1) << 45) - 1)) >> shift << shift);
		cr_assert_eq(tag,
			     mf_remote_tag(space, addr ^ mf_rng_below(&rng, UINT64_C(1) << shift), shift));
	}
	cr_expect_eq(mf_remote_tag(MF_SPACES - 1, MF_ADDR_MAX, MF_PAGE_SHIFT_MIN), TAGS - 1);
}

Test(page_shape, rights)
{
	const bool may[MF_PAGE_RIGHTS][MF_RIGHTS] = {
		[MF_PAGE_NONE] = {false, false, false},
		[MF_PAGE_READ] = {true, false, false},
		[MF_PAGE_WRITE] = {true, true, true},
	};

	for (uint8_t page = 0; page < MF_PAGE_RIGHTS; page++)
		for (uint8_t right = 0; right < MF_RIGHTS; right++)
			cr_expect_eq(mf_page_may(page, right), may[page][right], "%u %u", page, right);
}

Test(page_shape, faulty_configurations)
{
	const struct {
		uint64_t pages;
		uint32_t slots, bucket;
		int rc;
	} set[] = {
		{0, 2, 16, -EINVAL},
		{(UINT64_C(1) << 32) + 1, 2, 16, -EINVAL},
		{UINT64_C(1) << 32, 2, 16, 0},
		{8, 0, 1, -EINVAL},
		{8, MF_PAGE_BUCKET_MAX + 1, 1, -EINVAL},
		{8, MF_PAGE_BUCKET_MAX, 1, 0},
		{8, 2, 0, -EINVAL},
		{8, 2, 3, -EINVAL},
		{8, 2, 12, -EINVAL},
		{8, 2, 32, -EINVAL}, /* an entry could not hold it */
		{8, 1, 16, -EINVAL},
		{8, 1, 8, 0},
		{8, 64, 64, 0},
		{8, 64, 128, -EINVAL},
	};

	for (size_t i = 0; i < sizeof(set) / sizeof(set[0]); i++) {
		struct mf_page_shape_config c = config(set[i].pages, set[i].slots, set[i].bucket);
		struct mf_page_shape s;

		cr_expect_eq(mf_page_shape_init(&s, &c), set[i].rc, "%zu", i);
	}
}

/** Enough slots, of buckets that are a power of two, and no more than that takes. */
Test(page_shape, sizes)
{
	for (int i = 0; i < 10000; i++) {
		uint32_t bucket = 1u << mf_rng_below(&rng, 7);
		uint32_t slots = (bucket + 7) / 8 + (uint32_t)mf_rng_below(&rng, 4);
		uint64_t pages = 1 + (mf_rng_next(&rng) >> (32 + mf_rng_below(&rng, 32)));
		struct mf_page_shape_config c = config(pages, slots, bucket);
		struct mf_page_shape s;

		cr_assert_eq(mf_page_shape_init(&s, &c), 0);
		cr_assert_geq(mf_page_slots(&s), pages * slots);
		cr_assert(s.bits == 0 || mf_page_slots(&s) / 2 < pages * slots);
		cr_assert_eq(mf_page_slots(&s) % bucket, 0);
		cr_assert_leq(pages, UINT64_C(8) << s.bits, "a page number fits an entry");
	}
}

/** Bucket and rest are the tag again, whatever the key is. */
Test(page_shape, the_mix_is_a_bijection)
{
	for (int i = 0; i < 200; i++) {
		struct mf_page_shape_config c = config(1 + mf_rng_below(&rng, 1 << 20), 2, 16);
		struct mf_page_shape s;

		if (i < 4) /* no random bits at all, or all ones */
			for (int k = 0; k < 2 * MF_PAGE_MIX_ROUNDS; k++)
				c.key[k] = i % 2 == 0 ? 0 : UINT64_MAX;
		cr_assert_eq(mf_page_shape_init(&s, &c), 0);
		for (int k = 0; k < 1000; k++) {
			uint64_t tag = k == 0 ? 0 : k == 1 ? TAGS - 1 : mf_rng_below(&rng, TAGS);
			uint64_t mixed = mf_page_mix(&s, tag);

			cr_assert_lt(mixed, TAGS);
			cr_assert_eq(mf_page_unmix(&s, mixed), tag);
			cr_assert_lt(mf_page_bucket(&s, mixed), UINT64_C(1) << s.bits);
			cr_assert_eq(mf_page_rest(&s, mixed) << s.bits | mf_page_bucket(&s, mixed), mixed);
			cr_assert_eq(mf_page_rest(&s, mixed) >> (MF_TAG_BITS - s.bits), 0);
		}
	}
}

#define SPREAD_BITS 12 /* buckets */
#define SPREAD_TAGS (8 << SPREAD_BITS)

/** A tag of a pattern that programs have, or that a tenant may take on purpose. */
static uint64_t tag_of(int pattern, uint64_t i)
{
	switch (pattern) {
	case 0:
		return UINT64_C(5) << 36 | i; /* pages in order */
	case 1:
		return i << 36 |
		       1; /* the first page of each space: there are more than spaces here, no matter */
	case 2:
		return UINT64_C(5) << 36 | i << 9; /* one in 512 pages */
	case 3:
		return UINT64_C(5) << 36 | i << 18; /* one in 2^18: the upper bits of page numbers alone */
	case 4:
		return (i / 64) << 36 | (i % 64); /* 64 pages of each space */
	case 5:
		return UINT64_C(5) << 36 | (i % 2) << 35 | (i / 2 % 4) << 33 | i / 8; /* classes */
	default:
		return UINT64_C(5) << 36 | (i & 0xff) | (i >> 8) << 25; /* low and high bits alone */
	}
}

/** The sum of (n - mean)^2 / mean over all buckets: about as many as there are buckets if it is random. */
static double spread(const struct mf_page_shape *s, int pattern)
{
	static uint32_t n[1 << SPREAD_BITS];
	const double mean = (double)SPREAD_TAGS / (1 << SPREAD_BITS);
	double sum = 0;

	memset(n, 0, sizeof(n));
	for (uint64_t i = 0; i < SPREAD_TAGS; i++)
		n[mf_page_bucket(s, mf_page_mix(s, tag_of(pattern, i)))]++;
	for (size_t i = 0; i < 1 << SPREAD_BITS; i++)
		sum += (n[i] - mean) * (n[i] - mean) / mean;
	return sum / (1 << SPREAD_BITS);
}

/** Patterns fall into buckets as random ones do, or more evenly: with each of 64 keys nearly so. */
Test(page_shape, patterns_spread_as_if_random)
{
	for (int pattern = 0; pattern < 7; pattern++) {
		double sum = 0, worst = 0;

		for (int k = 0; k < 64; k++) {
			struct mf_page_shape_config c = config(UINT64_C(8) << SPREAD_BITS, 2, 16);
			struct mf_page_shape s;
			double x;

			cr_assert_eq(mf_page_shape_init(&s, &c), 0);
			cr_assert_eq(s.bits, SPREAD_BITS);
			x = spread(&s, pattern);
			sum += x;
			worst = x > worst ? x : worst;
		}
		/* A random one has a standard deviation of sqrt(2 / 4096) = 0.022. */
		cr_expect_lt(sum / 64, 1.015, "pattern %d: mean %f", pattern, sum / 64);
		cr_expect_lt(worst, 1.1, "pattern %d: worst %f", pattern, worst);
	}
}

/** Another key is another order: what a tenant learns of one start says nothing of the next one. */
Test(page_shape, the_key_decides)
{
	for (int word = 0; word < 2 * MF_PAGE_MIX_ROUNDS; word++) {
		struct mf_page_shape_config c = config(1 << 16, 2, 16);
		struct mf_page_shape a, b;
		unsigned int same = 0;

		cr_assert_eq(mf_page_shape_init(&a, &c), 0);
		c.key[word] = mf_rng_next(&rng);
		cr_assert_eq(mf_page_shape_init(&b, &c), 0);
		for (uint64_t i = 0; i < 4096; i++)
			same += mf_page_bucket(&a, mf_page_mix(&a, i)) ==
				mf_page_bucket(&b, mf_page_mix(&b, i));
		cr_expect_lt(same, 16, "word %d: %u of 4,096", word, same);
	}
}
