/* SPDX-License-Identifier: BSD-3-Clause */
/* Pages that are held, against a plain table of all pages. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "base/mf_rng.h"
#include "memory/mf_pins.h"

#define SEED 0x5eed0034
#define PAGES 48
#define STEPS 200000

static struct mf_rng rng;

static struct {
	uint32_t number, holds;
	bool mapped;
} page[PAGES];

/** Any page is one that comes back at once, one that comes back when it is let go, or one that stays. */
static void run(uint32_t max)
{
	struct mf_pins *p = mf_pins_new(max);
	uint32_t held_pages = 0;
	uint64_t held = 0;

	cr_assert_not_null(p);
	for (unsigned int i = 0; i < PAGES; i++) {
		page[i].number = i == 0          ? 0
				 : i == 1        ? UINT32_MAX
				 : i < PAGES / 2 ? i
						 : (uint32_t)mf_rng_next(&rng);
		page[i].holds = 0;
		page[i].mapped = true;
	}
	for (unsigned int s = 0; s < STEPS; s++) {
		unsigned int i = (unsigned int)mf_rng_below(&rng, PAGES);
		uint64_t what = mf_rng_below(&rng, 9);

		if (what < 4 && page[i].mapped) {
			bool full = page[i].holds == 0 && held_pages == max;

			cr_assert_eq(mf_pins_hold(p, page[i].number), !full);
			held_pages += !full && page[i].holds == 0;
			page[i].holds += !full;
			held += !full;
		} else if (what < 8 && page[i].holds > 0) {
			bool last = --page[i].holds == 0;

			cr_assert_eq(mf_pins_let_go(p, page[i].number), last && !page[i].mapped);
			held_pages -= last;
			held--;
			page[i].mapped = page[i].mapped || last; /* it is another owner's */
		} else if (what == 8 && page[i].mapped) {
			cr_assert_eq(mf_pins_unmap(p, page[i].number), page[i].holds == 0);
			page[i].mapped = page[i].holds == 0;
		}
		cr_assert_eq(mf_pins_held(p), held);
		cr_assert_eq(mf_pins_pages(p), held_pages);
	}
	mf_pins_free(p);
}

Test(pins, as_a_table)
{
	mf_rng_init(&rng, SEED, "pins", 0);
	for (uint32_t max = 1; max <= PAGES; max += max < 8 ? 1 : 8)
		run(max);
}

Test(pins, sizes)
{
	struct mf_pins *p;

	errno = 0;
	cr_expect_null(mf_pins_new(0));
	cr_expect_eq(errno, EINVAL);
	cr_expect_null(mf_pins_new(MF_PINS_MAX + 1));
	mf_pins_free(NULL);
	p = mf_pins_new(1000);
	for (uint32_t i = 0; i < 1000; i++)
		cr_assert(mf_pins_hold(p, i * 4096));
	cr_expect(!mf_pins_hold(p, 1));
	cr_expect(mf_pins_hold(p, 0), "one that is held already can be held again");
	cr_expect_geq(mf_pins_octets(p), 1000 * 2 * sizeof(uint64_t));
	mf_pins_free(p);
}
