/* SPDX-License-Identifier: BSD-3-Clause */
/* The page table and the slow path's count of its buckets, against a plain list of entries. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "base/mf_rng.h"
#include "memory/mf_bucket_use.h"
#include "memory/mf_page_table.h"

#define SEED 0x5eed0032
#define TAGS (UINT64_C(1) << MF_TAG_BITS)
#define TAGS_MAX 600 /* that a test knows */
#define STEPS 20000

static struct mf_rng rng;

static void begin(void)
{
	mf_rng_init(&rng, SEED, "page table", 0);
}

TestSuite(page_table, .init = begin);

struct known {
	uint64_t tag, bucket;
	bool in;
	struct mf_mapping is;
};

static struct model {
	struct mf_page_shape shape;
	struct mf_page_table *table;
	struct mf_bucket_use *use;
	struct known known[TAGS_MAX];
	uint32_t used[1 << 10];
	uint64_t entries, present;
} m;

static bool is_new(uint64_t tag, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (m.known[i].tag == tag)
			return false;
	return true;
}

/** Tags at the edges, tags whose rest is 0 or all ones, one bit from another one, in order, and any. */
static uint64_t draw_tag(unsigned int n)
{
	switch (mf_rng_below(&rng, 6)) {
	case 0:
		return mf_rng_below(&rng, 2) == 0 ? mf_rng_below(&rng, 4) : TAGS - 1 - mf_rng_below(&rng, 4);
	case 1: /* rest 0 */
		return mf_page_unmix(&m.shape, mf_rng_below(&rng, UINT64_C(1) << m.shape.bits));
	case 2: /* rest of ones */
		return mf_page_unmix(&m.shape, TAGS - 1 - mf_rng_below(&rng, UINT64_C(1) << m.shape.bits));
	case 3:
		return n == 0 ? 0
			      : mf_page_unmix(&m.shape,
					      mf_page_mix(&m.shape, m.known[mf_rng_below(&rng, n)].tag) ^
						      UINT64_C(1) << mf_rng_below(&rng, MF_TAG_BITS));
	case 4:
		return n == 0 ? 0 : (m.known[n - 1].tag + 1) % TAGS;
	default:
		return mf_rng_below(&rng, TAGS);
	}
}

static void make(uint64_t pages, uint32_t slots, uint32_t bucket)
{
	struct mf_page_shape_config c = {.pages = pages, .slots = slots, .bucket = bucket};

	memset(&m, 0, sizeof(m));
	for (int i = 0; i < 2 * MF_PAGE_MIX_ROUNDS; i++)
		c.key[i] = mf_rng_next(&rng);
	cr_assert_eq(mf_page_shape_init(&m.shape, &c), 0);
	cr_assert_leq(UINT64_C(1) << m.shape.bits, sizeof(m.used) / sizeof(m.used[0]));
	m.table = mf_page_table_new(&m.shape, false);
	m.use = mf_bucket_use_new(&m.shape);
	cr_assert(m.table != NULL && m.use != NULL);
	for (unsigned int i = 0; i < TAGS_MAX; i++) {
		uint64_t tag;

		do
			tag = draw_tag(i);
		while (!is_new(tag, i));
		m.known[i].tag = tag;
		m.known[i].bucket = mf_page_bucket(&m.shape, mf_page_mix(&m.shape, tag));
	}
}

static void done(void)
{
	mf_page_table_free(m.table);
	mf_bucket_use_free(m.use);
}

static void look_at(const struct known *k)
{
	struct mf_mapping found = {0};

	cr_assert_eq(mf_page_table_find(m.table, k->tag, &found), k->in, "tag %lx", k->tag);
	if (!k->in)
		return;
	cr_assert_eq(found.page, k->is.page);
	cr_assert_eq(found.rights, k->is.rights);
	cr_assert_eq(found.present, k->is.present);
}

static void look_at_all(void)
{
	struct mf_page_table_stats s = mf_page_table_stats(m.table);

	for (unsigned int i = 0; i < TAGS_MAX; i++)
		look_at(&m.known[i]);
	cr_assert_eq(s.entries, m.entries);
	cr_assert_eq(s.present, m.present);
	cr_assert_eq(mf_bucket_use_taken(m.use), m.entries);
}

static void add(struct known *k)
{
	uint8_t rights = (uint8_t)mf_rng_below(&rng, MF_PAGE_RIGHTS);
	bool full = m.used[k->bucket] == m.shape.bucket;

	cr_assert_eq(mf_page_table_add(m.table, k->tag, rights), k->in ? -EEXIST : full ? -ENOSPC : 0);
	if (k->in)
		return;
	mf_bucket_use_fetch(m.use, k->tag);
	cr_assert_eq(mf_bucket_use_take(m.use, k->tag), !full, "the count knows it before the table does");
	if (full)
		return;
	k->in = true;
	k->is = (struct mf_mapping){.rights = rights};
	m.used[k->bucket]++;
	m.entries++;
}

static void map(struct known *k)
{
	struct mf_mapping found;
	uint32_t page = (uint32_t)mf_rng_below(&rng, m.shape.pages);

	if (!k->in || k->is.present)
		return;
	if (mf_rng_below(&rng, 4) == 0)
		page = mf_rng_below(&rng, 2) == 0 ? 0 : (uint32_t)(m.shape.pages - 1);
	mf_page_table_fetch(m.table, k->tag);
	cr_assert(mf_page_table_find(m.table, k->tag, &found));
	mf_page_table_map(m.table, found.slot, page);
	k->is.page = page;
	k->is.present = true;
	m.present++;
}

static void remove_it(struct known *k)
{
	struct mf_mapping was = {0};

	cr_assert_eq(mf_page_table_remove(m.table, k->tag, &was), k->in ? 0 : -ENOENT);
	if (!k->in)
		return;
	cr_assert_eq(was.page, k->is.page);
	cr_assert_eq(was.rights, k->is.rights);
	cr_assert_eq(was.present, k->is.present);
	mf_bucket_use_let_go(m.use, k->tag);
	k->in = false;
	m.used[k->bucket]--;
	m.entries--;
	m.present -= k->is.present;
}

static void protect(struct known *k)
{
	uint8_t rights = (uint8_t)mf_rng_below(&rng, MF_PAGE_RIGHTS);

	cr_assert_eq(mf_page_table_protect(m.table, k->tag, rights), k->in ? 0 : -ENOENT);
	k->is.rights = rights;
}

static void step(unsigned int removals)
{
	struct known *k = &m.known[mf_rng_below(&rng, TAGS_MAX)];
	uint64_t what = mf_rng_below(&rng, 6 + removals);

	if (what < 3)
		add(k);
	else if (what == 3)
		map(k);
	else if (what == 4)
		protect(k);
	else if (what > 5)
		remove_it(k);
	look_at(k);
}

/** A sequence that fills the table, then one in balance, then one that empties it. */
static void run(void)
{
	for (unsigned int i = 0; i < STEPS; i++) {
		step(i < STEPS / 3 ? 0 : i < 2 * STEPS / 3 ? 3 : 12);
		if (i % 500 == 0)
			look_at_all();
	}
	for (unsigned int i = 0; i < TAGS_MAX; i++)
		remove_it(&m.known[i]);
	look_at_all();
	cr_assert_eq(m.entries, 0);
}

Test(page_table, as_a_list)
{
	const struct {
		uint64_t pages;
		uint32_t slots, bucket;
	} shape[] = {{8, 2, 16}, {1, 1, 1},   {64, 1, 8},  {100, 2, 16},
		     {77, 4, 8}, {128, 2, 4}, {40, 8, 64}, {200, 2, 1}};

	for (size_t i = 0; i < sizeof(shape) / sizeof(shape[0]); i++) {
		make(shape[i].pages, shape[i].slots, shape[i].bucket);
		run();
		done();
	}
}

/** Of the largest table an entry holds the highest page, beside the highest and the lowest rest. */
Test(page_table, the_largest_one)
{
	struct mf_page_shape_config c = {.pages = UINT64_C(1) << 32, .slots = 2, .bucket = 16};
	const uint64_t tags[] = {0, 1, TAGS - 1, TAGS / 4, 0x155555555555555};
	struct mf_page_shape s;
	struct mf_page_table *t;

	for (int i = 0; i < 2 * MF_PAGE_MIX_ROUNDS; i++)
		c.key[i] = mf_rng_next(&rng);
	cr_assert_eq(mf_page_shape_init(&s, &c), 0);
	t = mf_page_table_new(&s, false);
	if (t == NULL) /* a sanitizer, or a limit, has no 64 GiB of addresses */
		cr_skip_test("no addresses for 64 GiB");
	for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
		uint64_t tag = mf_page_unmix(&s, tags[i]);
		struct mf_mapping is;

		cr_assert_eq(mf_page_table_add(t, tag, MF_PAGE_WRITE), 0);
		cr_assert(mf_page_table_find(t, tag, &is));
		cr_assert(!is.present);
		mf_page_table_map(t, is.slot, UINT32_MAX - (uint32_t)i);
	}
	for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
		struct mf_mapping is = {0};

		cr_assert(mf_page_table_find(t, mf_page_unmix(&s, tags[i]), &is));
		cr_assert_eq(is.page, UINT32_MAX - (uint32_t)i);
		cr_assert(is.present && is.rights == MF_PAGE_WRITE);
		cr_assert(!mf_page_table_find(t, mf_page_unmix(&s, tags[i] ^ UINT64_C(1) << 57), &is));
	}
	mf_page_table_free(t);
}

/** Rights that do not exist change no other bits of an entry. */
Test(page_table, there_are_three_rights)
{
	struct mf_mapping is = {0};

	make(8, 2, 16);
	for (unsigned int rights = MF_PAGE_RIGHTS; rights <= UINT8_MAX; rights++)
		cr_assert_eq(mf_page_table_add(m.table, m.known[0].tag, (uint8_t)rights), -EINVAL);
	cr_assert_eq(mf_page_table_stats(m.table).entries, 0);
	cr_assert_eq(mf_page_table_add(m.table, m.known[0].tag, MF_PAGE_READ), 0);
	cr_assert(mf_page_table_find(m.table, m.known[0].tag, &is));
	mf_page_table_map(m.table, is.slot, 6);
	for (unsigned int rights = MF_PAGE_RIGHTS; rights <= UINT8_MAX; rights++)
		cr_assert_eq(mf_page_table_protect(m.table, m.known[0].tag, (uint8_t)rights), -EINVAL);
	cr_assert(mf_page_table_find(m.table, m.known[0].tag, &is));
	cr_expect(is.present && is.page == 6 && is.rights == MF_PAGE_READ);
	done();
}

/** Nothing but what was taken for a page counts against its bucket, to the last slot. */
Test(page_table, a_bucket_has_its_slots)
{
	make(8, 2, 16); /* one bucket */
	for (unsigned int i = 0; i < 16; i++)
		cr_assert(mf_bucket_use_take(m.use, m.known[i].tag));
	cr_assert(!mf_bucket_use_take(m.use, m.known[16].tag));
	cr_assert_eq(mf_bucket_use_taken(m.use), 16);
	mf_bucket_use_let_go(m.use, m.known[3].tag);
	cr_assert(mf_bucket_use_take(m.use, m.known[16].tag));
	cr_assert(!mf_bucket_use_take(m.use, m.known[3].tag));
	done();
}

Test(page_table, nothing)
{
	mf_page_table_free(NULL);
	mf_bucket_use_free(NULL);
}
