/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of virtual memory together, fast and slow path by hand in one thread, against an array of what
 * each page of each space should hold. Two spaces want more pages than there are.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/mf_rng.h"
#include "memory/mf_page_pool.h"
#include "memory/mf_page_ring.h"
#include "memory/mf_page_table.h"
#include "memory/mf_pins.h"
#include "memory/mf_range_alloc.h"
#include "memory/mf_tlb.h"

#define SEED 0x5eed0038
#define SPACES 2
#define NUMBERS 200 /* addresses that a test uses, in pages */
#define SHIFT MF_PAGE_SHIFT_MIN
#define WORDS 4 /* of a page's memory: enough to see whose they are */
#define PAGES 48
#define RING 6
#define HOLDS 12
#define STEPS 300000

static struct mf_rng rng;

/** A memory node. */
static struct {
	struct mf_page_table *table;
	struct mf_tlb *tlb;
	struct mf_page_ring *ring;
	struct mf_pins *pins;
	struct mf_page_pool *pool;
	struct mf_bucket_use *use;
	struct mf_range_pool *range_pool;
	struct mf_ranges ranges[SPACES];
	uint64_t memory[PAGES][WORDS];
} n;

/** What is so: by space and page number. */
static struct page {
	bool allocated;
	uint8_t rights;
	uint64_t word; /* all that is in it; 0: nothing was written yet */
} page[SPACES][NUMBERS];

static struct hold {
	bool busy;
	uint32_t page;
	uint64_t word;
} hold[HOLDS];

static uint64_t words; /* that were written: each is another one */
static struct {
	uint64_t faults, dry, hits, later, full;
} seen;

static void zero(void *ctx, uint32_t i, uint64_t offset, uint64_t len)
{
	(void)ctx;
	memset((uint8_t *)n.memory[i] + offset, 0, len);
}

static void make(void)
{
	struct mf_page_shape_config sc = {.pages = PAGES, .slots = 2, .bucket = 8};
	const struct mf_page_pool_config pc = {.pages = PAGES, .octets = sizeof(n.memory[0]), .zero = zero};
	const struct mf_range_pool_config rc = {.ranges = 100, .covered_max = 100};
	struct mf_tlb_config tc = {.sets = 2, .ways = 3};
	struct mf_page_shape shape;

	mf_rng_init(&rng, SEED, "paging", 0);
	for (int i = 0; i < 2 * MF_PAGE_MIX_ROUNDS; i++)
		sc.key[i] = mf_rng_next(&rng);
	tc.key = mf_rng_next(&rng); /* with 0 all tags are of one set */
	cr_assert_eq(mf_page_shape_init(&shape, &sc), 0);
	n.table = mf_page_table_new(&shape, false);
	n.use = mf_bucket_use_new(&shape);
	n.tlb = mf_tlb_new(&tc);
	n.ring = mf_page_ring_new(RING);
	n.pins = mf_pins_new(HOLDS / 2);
	n.pool = mf_page_pool_new(&pc);
	n.range_pool = mf_range_pool_new(&rc);
	cr_assert(n.table && n.use && n.tlb && n.ring && n.pins && n.pool && n.range_pool);
}

static void done(void)
{
	mf_page_table_free(n.table);
	mf_bucket_use_free(n.use);
	mf_tlb_free(n.tlb);
	free(n.ring);
	mf_pins_free(n.pins);
	mf_page_pool_free(n.pool);
	mf_range_pool_free(n.range_pool);
}

static uint64_t tag_of(uint32_t space, uint64_t number)
{
	return mf_remote_tag(space, number << SHIFT, SHIFT);
}

/* ---- slow path ---- */

static void slow_work(void)
{
	uint32_t i;

	while (n.ring->pages < RING && mf_page_pool_take(n.pool, &i))
		mf_page_ring_put(n.ring, i);
	mf_page_pool_work(n.pool, 1 + mf_rng_below(&rng, 2 * sizeof(n.memory[0])));
}

static void allocate(uint32_t space)
{
	struct mf_range_alloc_config c = {.pool = n.range_pool,
					  .ranges = &n.ranges[space],
					  .use = n.use,
					  .space = space,
					  .shift = SHIFT,
					  .rights = (uint8_t)mf_rng_below(&rng, MF_PAGE_RIGHTS),
					  .pages = 1 + mf_rng_below(&rng, 9),
					  .from = mf_rng_below(&rng, NUMBERS / 2) << SHIFT,
					  .retries_max = 8};
	struct mf_range_alloc a;
	uint64_t steps = UINT64_MAX;

	cr_assert_eq(mf_range_alloc_begin(&a, &c), 0);
	mf_range_alloc_run(&a, &steps);
	if (a.state == MF_ALLOC_DONE && a.at + mf_range_alloc_len(&a) > (uint64_t)NUMBERS << SHIFT) {
		mf_range_alloc_cancel(&a); /* beyond what the test looks at */
		mf_range_alloc_run(&a, &steps);
	}
	if (a.state != MF_ALLOC_DONE) {
		seen.full++;
		return;
	}
	for (uint64_t i = a.at >> SHIFT; i < (a.at >> SHIFT) + c.pages; i++) {
		cr_assert(!page[space][i].allocated);
		page[space][i] = (struct page){.allocated = true, .rights = c.rights};
		cr_assert_eq(mf_page_table_add(n.table, tag_of(space, i), c.rights), 0,
			     "no bucket overflows");
	}
	cr_assert_eq(mf_ranges_change(n.range_pool, &n.ranges[space], a.at, mf_range_alloc_len(&a),
				      MF_RANGE_MAKING, (struct mf_range_kind){MF_RANGE_LIVE, c.rights}),
		     0);
}

/** All that a page has is gone before anybody can get it. */
static void unmap(uint32_t space, uint64_t number)
{
	uint64_t tag = tag_of(space, number);
	struct mf_mapping was;

	cr_assert_eq(mf_page_table_remove(n.table, tag, &was), 0);
	mf_tlb_remove(n.tlb, tag);
	if (was.present && mf_pins_unmap(n.pins, was.page))
		cr_assert_eq(mf_page_pool_give(n.pool, was.page), 0);
	else
		seen.later += was.present;
	mf_bucket_use_let_go(n.use, tag);
	page[space][number].allocated = false;
}

static void free_some(uint32_t space, uint64_t most)
{
	uint64_t first = mf_rng_below(&rng, NUMBERS), pages = 0, len;

	while (pages < most && first + pages < NUMBERS && page[space][first + pages].allocated)
		pages++;
	if (pages == 0)
		return;
	len = pages << SHIFT;
	cr_assert_eq(mf_ranges_change(n.range_pool, &n.ranges[space], first << SHIFT, len, MF_RANGE_LIVE,
				      (struct mf_range_kind){MF_RANGE_GOING, MF_PAGE_NONE}),
		     0);
	for (uint64_t i = first; i < first + pages; i++)
		unmap(space, i);
	cr_assert_eq(mf_ranges_drop(n.range_pool, &n.ranges[space], first << SHIFT, len, MF_RANGE_GOING), 0);
}

static void protect(uint32_t space, uint64_t number)
{
	const struct mf_range_kind kind = {MF_RANGE_LIVE, (uint8_t)mf_rng_below(&rng, MF_PAGE_RIGHTS)};
	struct mf_tlb_page cached;

	if (!page[space][number].allocated)
		return;
	cr_assert_eq(mf_ranges_change(n.range_pool, &n.ranges[space], number << SHIFT, 1 << SHIFT,
				      MF_RANGE_LIVE, kind),
		     0);
	cr_assert_eq(mf_page_table_protect(n.table, tag_of(space, number), kind.rights), 0);
	if (mf_tlb_peek(n.tlb, tag_of(space, number), &cached)) {
		cached.rights = kind.rights;
		mf_tlb_put(n.tlb, tag_of(space, number), cached);
	}
	page[space][number].rights = kind.rights;
}

/* ---- fast path ---- */

enum access { GRANTED, REFUSED, DRY };

static enum access translate(uint32_t space, uint64_t number, uint8_t right, uint32_t *physical)
{
	uint64_t tag = tag_of(space, number);
	struct mf_tlb_page cached;
	struct mf_mapping m;

	if (mf_tlb_find(n.tlb, tag, &cached)) {
		*physical = cached.page;
		seen.hits++;
		return mf_page_may(cached.rights, right) ? GRANTED : REFUSED;
	}
	if (!mf_page_table_find(n.table, tag, &m) || !mf_page_may(m.rights, right))
		return REFUSED;
	if (!m.present) {
		if (!mf_page_ring_take(n.ring, &m.page))
			return DRY;
		seen.faults++;
		mf_page_table_map(n.table, m.slot, m.page);
	}
	mf_tlb_put(n.tlb, tag, (struct mf_tlb_page){.page = m.page, .rights = m.rights});
	*physical = m.page;
	return GRANTED;
}

static void let_go(struct hold *h)
{
	for (int w = 0; w < WORDS; w++)
		cr_assert(n.memory[h->page][w] == h->word, "what is held stays, whoever has the page");
	if (mf_pins_let_go(n.pins, h->page))
		cr_assert_eq(mf_page_pool_give(n.pool, h->page), 0);
	h->busy = false;
}

/** A page is not written while it is held: the test knows what the holder should see. */
static bool is_held(uint32_t physical)
{
	for (unsigned int i = 0; i < HOLDS; i++)
		if (hold[i].busy && hold[i].page == physical)
			return true;
	return false;
}

static void access_page(uint32_t space, uint64_t number)
{
	struct page *p = &page[space][number];
	uint8_t right = mf_rng_below(&rng, 2) == 0 ? MF_RIGHT_READ : MF_RIGHT_WRITE;
	struct hold *h = &hold[mf_rng_below(&rng, HOLDS)];
	uint32_t physical = 0;
	enum access got = translate(space, number, right, &physical);

	if (got == DRY) {
		cr_assert_eq(n.ring->pages, 0);
		seen.dry++;
	}
	if (got != DRY)
		cr_assert_eq(got == GRANTED, p->allocated && mf_page_may(p->rights, right));
	if (got != GRANTED)
		return;
	for (int w = 0; w < WORDS; w++)
		cr_assert_eq(n.memory[physical][w], p->word, "space %u, page %lu", space, number);
	if (right == MF_RIGHT_WRITE && !is_held(physical)) {
		p->word = ++words;
		for (int w = 0; w < WORDS; w++)
			n.memory[physical][w] = p->word;
	} else if (!h->busy && mf_pins_hold(n.pins, physical)) {
		*h = (struct hold){.busy = true, .page = physical, .word = p->word};
	}
}

static void check(void)
{
	const struct mf_page_pool_stats *s = mf_page_pool_stats(n.pool);
	struct mf_page_table_stats t = mf_page_table_stats(n.table);
	uint64_t allocated = 0;

	for (unsigned int i = 0; i < SPACES * NUMBERS; i++)
		allocated += page[i / NUMBERS][i % NUMBERS].allocated;
	cr_assert_eq(t.entries, allocated);
	cr_assert_eq(mf_bucket_use_taken(n.use), allocated);
	cr_assert_leq(mf_tlb_stats(n.tlb)->entries, t.present);
	cr_assert_geq(s->out, t.present + n.ring->pages);
	cr_assert_leq(s->out, t.present + n.ring->pages + mf_pins_pages(n.pins));
}

Test(paging, no_page_is_of_two)
{
	make();
	for (unsigned int i = 0; i < STEPS; i++) {
		uint32_t space = (uint32_t)mf_rng_below(&rng, SPACES);
		uint64_t what = mf_rng_below(&rng, 40), number = mf_rng_below(&rng, NUMBERS);

		if (what < 2)
			allocate(space);
		else if (what < 5)
			free_some(space, 1 + mf_rng_below(&rng, 12));
		else if (what == 5)
			protect(space, number);
		else if (what < 9)
			slow_work();
		else if (what < 12 && hold[number % HOLDS].busy)
			let_go(&hold[number % HOLDS]);
		else
			access_page(space, number);
		if (i % 64 == 0)
			check();
	}
	for (unsigned int i = 0; i < HOLDS; i++)
		if (hold[i].busy)
			let_go(&hold[i]);
	for (unsigned int i = 0; i < 100000; i++)
		free_some(i % SPACES, NUMBERS);
	check();
	cr_expect_eq(mf_page_table_stats(n.table).entries, 0);
	cr_expect_eq(mf_pins_held(n.pins), 0);
	cr_expect_eq(mf_page_pool_stats(n.pool)->out, n.ring->pages, "no page is lost");
	cr_expect_eq(mf_range_pool_left(n.range_pool), 100);
	cr_expect(seen.faults > 1000 && seen.dry > 1000 && seen.hits > 1000 && seen.later > 300 &&
			  seen.full > 1000,
		  "%lu faults, %lu dry, %lu hits, %lu given back later, %lu full", seen.faults, seen.dry,
		  seen.hits, seen.later, seen.full);
	done();
}
