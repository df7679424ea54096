/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "memory/mf_range_alloc.h"

/* Pages whose buckets are fetched before they are tested: about as many misses as a CPU has under way. */
#define AHEAD 8

/** Page 0 of a class is never given out, so 0 is no pointer. */
static uint64_t lowest(const struct mf_range_alloc_config *c)
{
	return mf_remote_class_base(c->page_class) + (UINT64_C(1) << c->shift);
}

static uint64_t highest(const struct mf_range_alloc_config *c)
{
	return mf_remote_class_base(c->page_class + 1);
}

int mf_range_alloc_begin(struct mf_range_alloc *a, const struct mf_range_alloc_config *c)
{
	uint64_t from = c->from;

	if (c->space >= MF_SPACES || c->page_class >= MF_PAGE_CLASSES || c->shift < MF_PAGE_SHIFT_MIN ||
	    c->shift > MF_PAGE_SHIFT_MAX || c->rights >= MF_PAGE_RIGHTS || c->pages == 0 ||
	    c->pages > (highest(c) - lowest(c)) >> c->shift)
		return -EINVAL;
	if (from != 0 && (from < mf_remote_class_base(c->page_class) || from > highest(c) ||
			  from % (UINT64_C(1) << c->shift) != 0))
		return -EINVAL;
	if (from < lowest(c))
		from = lowest(c);
	*a = (struct mf_range_alloc){.config = *c, .state = MF_ALLOC_FINDING, .next = from};
	a->config.from = from;
	return 0;
}

static void fail(struct mf_range_alloc *a, int error)
{
	a->state = MF_ALLOC_FAILED;
	a->error = error;
}

/** A hole of the size; from below where it began once more, but no further than where it has been. */
static void find(struct mf_range_alloc *a)
{
	const struct mf_range_alloc_config *c = &a->config;
	uint64_t len = mf_range_alloc_len(a), to = highest(c);
	uint64_t again = c->from + len -
			 (UINT64_C(1) << c->shift); /* the end of the last one that begins before .from */

	/* It cannot succeed. Each try would only keep the slots from others for a while. */
	if (c->pages > mf_bucket_use_left(c->use)) {
		fail(a, -ENOSPC);
		return;
	}
	if (a->wrapped && again < to)
		to = again;
	a->at = mf_ranges_hole(c->pool, c->ranges, a->next, to, len);
	if (a->at == MF_RANGE_NONE && !a->wrapped) {
		a->wrapped = true;
		a->next = lowest(c);
		return;
	}
	if (a->at == MF_RANGE_NONE) {
		fail(a, -ENOSPC);
		return;
	}
	if (mf_ranges_put(c->pool, c->ranges, a->at, len,
			  (struct mf_range_kind){MF_RANGE_MAKING, c->rights}) != 0) {
		fail(a, -ENOMEM);
		return;
	}
	a->state = MF_ALLOC_TAKING;
}

static void take(struct mf_range_alloc *a, uint64_t *steps)
{
	const struct mf_range_alloc_config *c = &a->config;
	uint64_t tag = mf_remote_tag(c->space, a->at, c->shift);

	for (; *steps > 0 && a->taken < c->pages; --*steps) {
		if (a->taken + AHEAD < c->pages)
			mf_bucket_use_fetch(c->use, tag + a->taken + AHEAD);
		if (!mf_bucket_use_take(c->use, tag + a->taken)) {
			a->next = a->at + ((a->taken + 1) << c->shift);
			a->retries++;
			a->state = MF_ALLOC_UNDOING;
			--*steps;
			return;
		}
		a->taken++;
	}
	if (a->taken == c->pages)
		a->state = MF_ALLOC_DONE;
}

/** Lets go the slots of a try, the last one first; then the range. */
static void undo(struct mf_range_alloc *a, uint64_t *steps)
{
	const struct mf_range_alloc_config *c = &a->config;
	uint64_t tag = mf_remote_tag(c->space, a->at, c->shift);

	for (; *steps > 0 && a->taken > 0; --*steps)
		mf_bucket_use_let_go(c->use, tag + --a->taken);
	if (a->taken > 0 || *steps == 0)
		return;
	--*steps;
	/* It is one range, which no other task changes, so this cannot fail. */
	(void)mf_ranges_drop(c->pool, c->ranges, a->at, mf_range_alloc_len(a), MF_RANGE_MAKING);
	if (a->error != 0)
		a->state = MF_ALLOC_FAILED;
	else if (a->retries > c->retries_max)
		fail(a, -EAGAIN);
	else
		a->state = MF_ALLOC_FINDING;
}

enum mf_range_alloc_state mf_range_alloc_run(struct mf_range_alloc *a, uint64_t *steps)
{
	while (*steps > 0 && a->state != MF_ALLOC_DONE && a->state != MF_ALLOC_FAILED) {
		switch (a->state) {
		case MF_ALLOC_FINDING:
			--*steps;
			find(a);
			break;
		case MF_ALLOC_TAKING:
			take(a, steps);
			break;
		default:
			undo(a, steps);
			break;
		}
	}
	return (enum mf_range_alloc_state)a->state;
}

void mf_range_alloc_cancel(struct mf_range_alloc *a)
{
	if (a->state == MF_ALLOC_FAILED)
		return; /* it has nothing; at its last address another task may be making a range */
	a->error = -ECANCELED;
	a->state = a->state == MF_ALLOC_FINDING ? MF_ALLOC_FAILED : MF_ALLOC_UNDOING;
}
