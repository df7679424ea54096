/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "base/mf_deadlines.h"
#include "base/mf_table.h"

int mf_deadlines_init(struct mf_deadlines *d, uint32_t size)
{
	*d = (struct mf_deadlines){.heap = mf_table_new(size, sizeof(*d->heap)),
				   .place = mf_table_new(size, sizeof(*d->place))};
	return d->heap != NULL && d->place != NULL ? 0 : -ENOMEM;
}

int mf_deadlines_init_beside(struct mf_deadlines *d, uint32_t size, const struct mf_deadlines *first)
{
	*d = (struct mf_deadlines){
		.heap = mf_table_new(size, sizeof(*d->heap)), .place = first->place, .lent = true};
	return d->heap != NULL ? 0 : -ENOMEM;
}

void mf_deadlines_fini(struct mf_deadlines *d)
{
	mf_table_free(d->heap);
	if (!d->lent)
		mf_table_free(d->place);
}

static inline bool before(const struct mf_deadlines_entry *a, const struct mf_deadlines_entry *b)
{
	return a->at != b->at ? a->at < b->at : (int32_t)(a->turn - b->turn) < 0;
}

static inline void put(struct mf_deadlines *d, uint32_t at, struct mf_deadlines_entry e)
{
	d->heap[at] = e;
	d->place[e.i] = at + 1;
}

static void up(struct mf_deadlines *d, uint32_t at, struct mf_deadlines_entry e)
{
	while (at > 0 && before(&e, &d->heap[(at - 1) / 2])) {
		put(d, at, d->heap[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	put(d, at, e);
}

static void down(struct mf_deadlines *d, uint32_t at, struct mf_deadlines_entry e)
{
	for (uint32_t child; (child = 2 * at + 1) < d->count; at = child) {
		child += child + 1 < d->count && before(&d->heap[child + 1], &d->heap[child]);
		if (!before(&d->heap[child], &e))
			break;
		put(d, at, d->heap[child]);
	}
	put(d, at, e);
}

static void settle(struct mf_deadlines *d, uint32_t at, struct mf_deadlines_entry e)
{
	if (at > 0 && before(&e, &d->heap[(at - 1) / 2]))
		up(d, at, e);
	else
		down(d, at, e);
}

void mf_deadlines_set(struct mf_deadlines *d, uint32_t i, mf_time at)
{
	const struct mf_deadlines_entry e = {.at = at, .turn = d->turn++, .i = i};

	if (d->place[i] == 0)
		up(d, d->count++, e);
	else
		settle(d, d->place[i] - 1, e);
}

void mf_deadlines_remove(struct mf_deadlines *d, uint32_t i)
{
	uint32_t at = d->place[i];

	if (at == 0)
		return;
	d->place[i] = 0;
	d->count--;
	if (at - 1 < d->count)
		settle(d, at - 1, d->heap[d->count]);
}
