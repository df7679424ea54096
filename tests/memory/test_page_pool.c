/* SPDX-License-Identifier: BSD-3-Clause */
/* Physical pages: each is in one place, and what is taken is zero, whoever had it before. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mf_rng.h"
#include "memory/mf_page_pool.h"
#include "memory/mf_page_ring.h"

#define SEED 0x5eed0035
#define PAGES 37
#define OCTETS 100
#define FIRST 5
#define STEPS 50000

static struct mf_rng rng;

static struct {
	uint8_t octets[PAGES][OCTETS];
	bool out[PAGES], used[PAGES];
	uint64_t outs, zeroed, touched;
	uint64_t slice; /* what the call under way may still do */
	bool touches;
} m;

static void count_slice(uint32_t page, uint64_t offset, uint64_t len)
{
	cr_assert(page >= FIRST && page < FIRST + PAGES);
	cr_assert(!m.out[page - FIRST], "a page that the fast path has is left alone");
	cr_assert(len > 0 && offset + len <= OCTETS && len <= m.slice);
	m.slice -= len;
}

static void zero(void *ctx, uint32_t page, uint64_t offset, uint64_t len)
{
	cr_assert_eq(ctx, &m);
	count_slice(page, offset, len);
	cr_assert(m.used[page - FIRST], "a page never used is not zeroed");
	memset(m.octets[page - FIRST] + offset, 0, len);
	m.zeroed += len;
}

static void touch(void *ctx, uint32_t page, uint64_t offset, uint64_t len)
{
	cr_assert_eq(ctx, &m);
	count_slice(page, offset, len);
	cr_assert(!m.used[page - FIRST]);
	for (uint64_t i = offset; i < offset + len; i++)
		cr_assert_eq(m.octets[page - FIRST][i]++, 0, "each octet is touched once");
	m.touched += len;
}

static struct mf_page_pool *make(bool touches)
{
	const struct mf_page_pool_config c = {.pages = PAGES,
					      .first = FIRST,
					      .octets = OCTETS,
					      .zero = zero,
					      .touch = touches ? touch : NULL,
					      .ctx = &m};

	mf_rng_init(&rng, SEED, "page pool", touches);
	memset(&m, 0, sizeof(m));
	m.touches = touches;
	return mf_page_pool_new(&c);
}

static void check(const struct mf_page_pool *p)
{
	const struct mf_page_pool_stats *s = mf_page_pool_stats(p);

	cr_assert_eq(s->fresh + s->dirty + s->working + s->clean + s->out, PAGES);
	cr_assert_eq(s->out, m.outs);
	cr_assert_eq(mf_page_pool_left(p), PAGES - m.outs);
	cr_assert_eq(s->zeroed, m.zeroed);
	cr_assert_eq(s->touched, m.touched);
}

static void take(struct mf_page_pool *p)
{
	const struct mf_page_pool_stats before = *mf_page_pool_stats(p);
	bool ready = before.clean > 0 || (before.fresh > 0 && !m.touches);
	uint32_t page;

	cr_assert_eq(mf_page_pool_take(p, &page), ready);
	if (!ready)
		return;
	cr_assert(page >= FIRST && page < FIRST + PAGES);
	page -= FIRST;
	cr_assert(!m.out[page], "a page is taken once");
	cr_assert(before.clean > 0 ? m.used[page] || m.touches : !m.used[page], "used ones come first");
	for (unsigned int i = 0; i < OCTETS; i++)
		cr_assert_eq(m.octets[page][i], m.touches && !m.used[page]);
	memset(m.octets[page], 0xa5, OCTETS);
	m.out[page] = m.used[page] = true;
	m.outs++;
}

static void give(struct mf_page_pool *p)
{
	uint32_t page = (uint32_t)mf_rng_below(&rng, PAGES + 2 * FIRST);
	bool known = page >= FIRST && page < FIRST + PAGES && m.out[page - FIRST];

	if (known)
		m.out[page - FIRST] = false;
	m.outs -= known;
	cr_assert_eq(mf_page_pool_give(p, page), known ? 0 : -EINVAL, "page %u", page);
}

static void work(struct mf_page_pool *p)
{
	uint64_t octets =
		mf_rng_below(&rng, 3) == 0 ? mf_rng_below(&rng, 5 * OCTETS) : mf_rng_below(&rng, OCTETS);
	const struct mf_page_pool_stats *s = mf_page_pool_stats(p);
	uint64_t done;

	m.slice = octets;
	done = mf_page_pool_work(p, octets);
	cr_assert_eq(done, octets - m.slice);
	if (done < octets)
		cr_assert(s->dirty == 0 && s->working == 0 && (!m.touches || s->clean > 0 || s->fresh == 0));
}

static void run(bool touches)
{
	struct mf_page_pool *p = make(touches);
	bool was_full = false, was_dry = false;

	cr_assert_not_null(p);
	for (unsigned int i = 0; i < STEPS; i++) {
		uint64_t what = mf_rng_below(&rng, i / 5000 % 2 == 0 ? 3 : 9);

		if (what < 2)
			take(p);
		else if (what == 2)
			work(p);
		else
			give(p);
		check(p);
		was_full = was_full || mf_page_pool_left(p) == 0;
		was_dry = was_dry || (mf_page_pool_left(p) > 0 && mf_page_pool_stats(p)->clean == 0 &&
				      mf_page_pool_stats(p)->fresh == 0);
	}
	cr_expect(was_full && was_dry, "both happen");
	mf_page_pool_free(p);
}

Test(page_pool, as_a_table)
{
	run(false);
}

Test(page_pool, with_pages_that_are_touched)
{
	run(true);
}

/** What was used and is zero again is taken before a page that never was. */
Test(page_pool, used_ones_come_first)
{
	struct mf_page_pool *p = make(false);
	uint32_t first = 0, second = 0, page;

	cr_assert(mf_page_pool_take(p, &first) && mf_page_pool_take(p, &second));
	m.used[first - FIRST] = true;
	cr_assert_eq(mf_page_pool_give(p, first), 0);
	cr_expect(mf_page_pool_take(p, &page) && page != first && page != second, "it is not zero yet");
	m.slice = OCTETS;
	cr_expect_eq(mf_page_pool_work(p, OCTETS), OCTETS);
	cr_expect(mf_page_pool_take(p, &page) && page == first);
	mf_page_pool_free(p);
}

/** Memory that nobody uses is not touched: at most one page ahead. */
Test(page_pool, touches_no_more_than_one_ahead)
{
	struct mf_page_pool *p = make(true);
	uint32_t page;

	m.slice = UINT64_MAX;
	cr_expect(!mf_page_pool_take(p, &page));
	cr_expect_eq(mf_page_pool_work(p, UINT64_MAX), OCTETS);
	cr_expect_eq(mf_page_pool_work(p, UINT64_MAX), 0);
	cr_expect(mf_page_pool_take(p, &page));
	cr_expect_eq(mf_page_pool_work(p, 0), 0);
	mf_page_pool_free(p);
}

Test(page_pool, faulty_configurations)
{
	const struct mf_page_pool_config good = {
		.pages = UINT64_C(1) << 32, .octets = 4096, .zero = zero, .first = 0};
	struct mf_page_pool_config c = good;
	struct mf_page_pool *p = mf_page_pool_new(&c);

	if (p != NULL) { /* a limit may have no 17 GiB of addresses */
		uint32_t page = 1;

		cr_expect(mf_page_pool_take(p, &page));
		cr_expect_eq(page, 0);
		mf_page_pool_free(p);
	}
	c.first = 1;
	errno = 0;
	cr_expect_null(mf_page_pool_new(&c));
	cr_expect_eq(errno, EINVAL);
	c = good;
	c.pages = 0;
	cr_expect_null(mf_page_pool_new(&c));
	c = good;
	c.octets = 0;
	cr_expect_null(mf_page_pool_new(&c));
	c = good;
	c.zero = NULL;
	cr_expect_null(mf_page_pool_new(&c));
	mf_page_pool_free(NULL);
}

/** First in, first out, up to its size, wherever it begins. */
Test(page_ring, as_a_queue)
{
	for (uint32_t size = 1; size <= 9; size++) {
		struct mf_page_ring *r = mf_page_ring_new(size);
		uint32_t put = 0, taken = 0;

		cr_assert_not_null(r);
		mf_rng_init(&rng, SEED, "page ring", size);
		for (unsigned int i = 0; i < 5000; i++) {
			uint32_t page = UINT32_MAX;

			if (mf_rng_below(&rng, i / 100 % 2 == 0 ? 3 : 2) != 0) {
				bool fits = put - taken < size;

				cr_assert_eq(mf_page_ring_put(r, put), fits);
				put += fits;
			} else {
				bool any = put != taken;

				cr_assert_eq(mf_page_ring_take(r, &page), any);
				if (any)
					cr_assert_eq(page, taken++);
			}
			cr_assert_eq(r->pages, put - taken);
		}
		free(r);
	}
	cr_expect_null(mf_page_ring_new(0));
	cr_expect_null(mf_page_ring_new(MF_PAGE_RING_MAX + 1));
}
