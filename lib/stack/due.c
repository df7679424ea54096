/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>

#include "due.h"

int due_init(struct due *d, uint16_t peers)
{
	*d = (struct due){0};
	d->heap = malloc(peers * sizeof(*d->heap));
	d->place = calloc(peers, sizeof(*d->place));
	return d->heap != NULL && d->place != NULL ? 0 : -ENOMEM;
}

void due_fini(struct due *d)
{
	free(d->heap);
	free(d->place);
}

static bool before(const struct due_entry *a, const struct due_entry *b)
{
	return a->at != b->at ? a->at < b->at : a->turn < b->turn;
}

static void put(struct due *d, unsigned int i, const struct due_entry *e)
{
	d->heap[i] = *e;
	d->place[e->peer] = (uint16_t)(i + 1);
}

static void rise(struct due *d, unsigned int i, struct due_entry e)
{
	for (; i > 0 && before(&e, &d->heap[(i - 1) / 2]); i = (i - 1) / 2)
		put(d, i, &d->heap[(i - 1) / 2]);
	put(d, i, &e);
}

/** From a place that is free. */
static void settle(struct due *d, unsigned int i, struct due_entry e)
{
	for (unsigned int child; (child = 2 * i + 1) < d->count; i = child) {
		if (child + 1U < d->count && before(&d->heap[child + 1], &d->heap[child]))
			child++;
		if (!before(&d->heap[child], &e))
			break;
		put(d, i, &d->heap[child]);
	}
	rise(d, i, e);
}

static void leave(struct due *d, uint16_t peer)
{
	unsigned int i = d->place[peer] - 1U;

	d->place[peer] = 0;
	d->count--;
	if (i != d->count)
		settle(d, i, d->heap[d->count]);
}

void due_served(struct due *d, uint16_t peer, mf_time at)
{
	struct due_entry e = {.at = at, .turn = d->turn++, .peer = peer};

	if (at == MF_NEVER) {
		if (d->place[peer] != 0)
			leave(d, peer);
	} else if (d->place[peer] != 0) {
		settle(d, d->place[peer] - 1U, e);
	} else {
		rise(d, d->count++, e);
	}
}

void due_set(struct due *d, uint16_t peer, mf_time at, mf_time now)
{
	mf_time was = d->place[peer] != 0 ? d->heap[d->place[peer] - 1].at : MF_NEVER;

	if (was != at && (was > now || at > now))
		due_served(d, peer, at);
}
