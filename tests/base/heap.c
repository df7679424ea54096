/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>

#include "base/mf_heap.h"
#include "base/mf_rng.h"

#define ENTRIES 512
#define QUEUES 3
#define STEPS 20000

struct entry {
	int queue; /* -1: in none */
	struct mf_heap_link link;
};

/** The entry that should be first, by looking at all. */
static uint32_t first_of(const struct entry *e, int queue)
{
	uint32_t first = MF_HEAP_NIL;

	for (uint32_t i = 0; i < ENTRIES; i++)
		if (e[i].queue == queue && (first == MF_HEAP_NIL || e[i].link.key < e[first].link.key))
			first = i;
	return first;
}

/** Queues that share a table give what a scan gives, equal keys by number, whatever else is taken out. */
Test(heap, as_by_a_scan)
{
	static struct entry e[ENTRIES];
	const struct mf_heap h = {(uint8_t *)&e[0].link, sizeof(e[0])};
	uint32_t root[QUEUES] = {MF_HEAP_NIL, MF_HEAP_NIL, MF_HEAP_NIL};
	struct mf_rng r;

	mf_rng_init(&r, 1, "heap", 0);
	for (uint32_t i = 0; i < ENTRIES; i++)
		e[i].queue = -1;
	for (unsigned int s = 0; s < STEPS; s++) {
		uint32_t i = (uint32_t)mf_rng_below(&r, ENTRIES);
		int q = (int)mf_rng_below(&r, QUEUES);

		if (e[i].queue < 0) {
			e[i].queue = q;
			mf_heap_push(&h, &root[q], i, mf_rng_below(&r, 50));
		} else if (mf_rng_below(&r, 4) == 0) {
			mf_heap_remove(&h, &root[e[i].queue], i);
			e[i].queue = -1;
		} else if (root[q] != MF_HEAP_NIL) {
			uint32_t want = first_of(e, q), got = mf_heap_pop(&h, &root[q]);

			cr_assert_eq(got, want, "step %u: %u in place of %u", s, got, want);
			e[got].queue = -1;
		}
	}
}
