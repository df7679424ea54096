/* SPDX-License-Identifier: BSD-3-Clause */
/* The translation cache against a list of each set, by the last use. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "base/mf_rng.h"
#include "memory/mf_tlb.h"

#define SEED 0x5eed0033
#define TAGS 64 /* that a test knows */
#define STEPS 30000

static struct mf_rng rng;

static void begin(void)
{
	mf_rng_init(&rng, SEED, "tlb", 0);
}

TestSuite(tlb, .init = begin);

static struct model {
	uint64_t tag[TAGS];
	uint32_t set[TAGS]; /* the least number of a tag of the same set */
	bool in[TAGS];
	uint64_t used[TAGS];
	struct mf_tlb_page is[TAGS];
	struct mf_tlb_stats s;
	uint64_t now;
	uint32_t ways;
} m;

static struct mf_tlb_page some_page(void)
{
	return (struct mf_tlb_page){.page = (uint32_t)mf_rng_next(&rng),
				    .rights = (uint8_t)mf_rng_below(&rng, MF_PAGE_RIGHTS)};
}

/** Which tags share a set: with one way, one of them drives the other out. */
static void find_sets(struct mf_tlb_config c)
{
	struct mf_tlb *t;
	uint32_t sets = 0;

	c.ways = 1;
	t = mf_tlb_new(&c);
	cr_assert_not_null(t);
	for (uint32_t i = 0; i < TAGS; i++) {
		m.set[i] = i;
		for (uint32_t k = 0; k < i && m.set[i] == i; k++) {
			struct mf_tlb_page page;

			mf_tlb_put(t, m.tag[k], some_page());
			mf_tlb_put(t, m.tag[i], some_page());
			if (!mf_tlb_peek(t, m.tag[k], &page))
				m.set[i] = m.set[k];
		}
		sets += m.set[i] == i;
	}
	if (c.sets <= TAGS / 8)
		cr_assert_eq(sets, c.sets, "all of a few sets are used");
	mf_tlb_free(t);
}

static void model_put(uint32_t i, struct mf_tlb_page page)
{
	uint32_t full = 0, oldest = TAGS;

	for (uint32_t k = 0; k < TAGS; k++) {
		if (!m.in[k] || m.set[k] != m.set[i])
			continue;
		full++;
		if (oldest == TAGS || m.used[k] < m.used[oldest])
			oldest = k;
	}
	if (!m.in[i] && full == m.ways) {
		m.in[oldest] = false;
		m.s.evicted++;
		m.s.entries--;
	}
	m.s.entries += !m.in[i];
	m.in[i] = true;
	m.is[i] = page;
	m.used[i] = ++m.now;
}

static void same(bool found, uint32_t i, struct mf_tlb_page page)
{
	cr_assert_eq(found, m.in[i], "tag %u", i);
	cr_assert(!found || (page.page == m.is[i].page && page.rights == m.is[i].rights));
}

static void step(struct mf_tlb *t)
{
	uint32_t i = (uint32_t)mf_rng_below(&rng, TAGS);
	struct mf_tlb_page page = {0};
	uint32_t place;
	bool found;

	switch (mf_rng_below(&rng, 16)) {
	case 0:
		found = mf_tlb_remove(t, m.tag[i]);
		cr_assert_eq(found, m.in[i]);
		m.s.removed += found;
		m.s.entries -= found;
		m.in[i] = false;
		break;
	case 1:
	case 2:
	case 3:
		page = some_page();
		mf_tlb_put(t, m.tag[i], page);
		model_put(i, page);
		break;
	case 4:
		page = some_page();
		mf_tlb_protect(t, m.tag[i], page.rights);
		m.is[i].rights = page.rights;
		break;
	case 5:
	case 6:
		same(mf_tlb_peek(t, m.tag[i], &page), i, page);
		break;
	case 7:
	case 8:
		same(mf_tlb_look(t, m.tag[i], &page, &place), i, page);
		if (!m.in[i])
			break;
		cr_assert(mf_tlb_use(t, m.tag[i], place));
		cr_assert(!mf_tlb_use(t, MF_TAG_NONE - 1, place), "it has another tag");
		m.s.hits++;
		m.used[i] = ++m.now;
		break;
	default:
		found = mf_tlb_find(t, m.tag[i], &page);
		same(found, i, page);
		m.s.hits += found;
		m.s.misses += !found;
		m.used[i] = ++m.now;
		break;
	}
}

static void compare(const struct mf_tlb *t)
{
	const struct mf_tlb_stats *s = mf_tlb_stats(t);

	for (uint32_t i = 0; i < TAGS; i++) {
		struct mf_tlb_page page = {0};

		same(mf_tlb_peek(t, m.tag[i], &page), i, page);
	}
	cr_assert_eq(s->hits, m.s.hits);
	cr_assert_eq(s->misses, m.s.misses);
	cr_assert_eq(s->evicted, m.s.evicted);
	cr_assert_eq(s->removed, m.s.removed);
	cr_assert_eq(s->entries, m.s.entries);
}

static void run(uint32_t sets, uint32_t ways)
{
	const struct mf_tlb_config c = {.sets = sets, .ways = ways, .key = mf_rng_next(&rng)};
	struct mf_tlb *t = mf_tlb_new(&c);

	cr_assert_not_null(t);
	memset(&m, 0, sizeof(m));
	m.ways = ways;
	for (uint32_t i = 0; i < TAGS; i++)
		m.tag[i] = i == 0   ? 0
			   : i == 1 ? (UINT64_C(1) << MF_TAG_BITS) - 1
			   : i < 32 ? (UINT64_C(7) << 36) + i
				    : mf_rng_below(&rng, UINT64_C(1) << MF_TAG_BITS);
	find_sets(c);
	for (unsigned int i = 0; i < STEPS; i++) {
		step(t);
		if (i % 100 == 0)
			compare(t);
	}
	mf_tlb_clear(t);
	memset(m.in, 0, sizeof(m.in));
	m.s.entries = 0;
	compare(t);
	mf_tlb_free(t);
}

Test(tlb, as_lists)
{
	const uint32_t shape[][2] = {{1, 1}, {1, 2}, {1, 16}, {1, 63}, {1, 64},
				     {2, 8}, {4, 4}, {16, 1}, {8, 3},  {64, 16}};

	for (size_t i = 0; i < sizeof(shape) / sizeof(shape[0]); i++)
		run(shape[i][0], shape[i][1]);
}

/** Pages in order use all sets, about evenly: as many of them as there are places nearly all stay. */
Test(tlb, sets_are_used)
{
	const struct mf_tlb_config c = {.sets = 64, .ways = 16, .key = mf_rng_next(&rng)};
	struct mf_tlb *t = mf_tlb_new(&c);
	unsigned int in = 0;

	for (uint64_t i = 0; i < 1024; i++)
		mf_tlb_put(t, i, (struct mf_tlb_page){.page = (uint32_t)i});
	for (uint64_t i = 0; i < 1024; i++) {
		struct mf_tlb_page page;

		in += mf_tlb_peek(t, i, &page);
	}
	cr_expect_gt(in, 850, "%u", in);
	cr_expect_geq(mf_tlb_octets(t), 1024 * (sizeof(uint64_t) + sizeof(struct mf_tlb_page)));
	mf_tlb_free(t);
}

/** One more page than there are ways, in turn: LRU never hits (Clio, figure 5: the step is at the size). */
Test(tlb, the_step)
{
	const struct mf_tlb_config c = {.sets = 1, .ways = 16};

	for (uint64_t pages = 1; pages <= 32; pages++) {
		struct mf_tlb *t = mf_tlb_new(&c);

		for (uint64_t i = 0; i < 10 * pages; i++) {
			struct mf_tlb_page page;

			if (!mf_tlb_find(t, i % pages, &page))
				mf_tlb_put(t, i % pages, (struct mf_tlb_page){.page = 1});
		}
		cr_expect_eq(mf_tlb_stats(t)->misses, pages <= 16 ? pages : 10 * pages, "%lu", pages);
		mf_tlb_free(t);
	}
}

Test(tlb, faulty_configurations)
{
	const struct mf_tlb_config bad[] = {{.sets = 0, .ways = 1},
					    {.sets = 3, .ways = 1},
					    {.sets = 2 * MF_TLB_SETS_MAX, .ways = 1},
					    {.sets = 1, .ways = 0},
					    {.sets = 1, .ways = MF_TLB_WAYS_MAX + 1}};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		errno = 0;
		cr_expect_null(mf_tlb_new(&bad[i]), "%zu", i);
		cr_expect_eq(errno, EINVAL);
	}
	mf_tlb_free(NULL);
}
