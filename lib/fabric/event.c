/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "event.h"

int event_init(struct event_queue *q, uint32_t actors)
{
	q->due = malloc(actors * sizeof(*q->due));
	q->heap = malloc(actors * sizeof(*q->heap));
	q->place = malloc(actors * sizeof(*q->place));
	q->actors = actors;
	q->count = 0;
	if (q->due == NULL || q->heap == NULL || q->place == NULL) {
		event_fini(q);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < actors; i++)
		q->due[i] = MF_NEVER;
	return 0;
}

void event_fini(struct event_queue *q)
{
	free(q->due);
	free(q->heap);
	free(q->place);
}

static bool before(const struct event_queue *q, uint32_t a, uint32_t b)
{
	return q->due[a] < q->due[b] || (q->due[a] == q->due[b] && a < b);
}

static void put(struct event_queue *q, uint32_t place, uint32_t actor)
{
	q->heap[place] = actor;
	q->place[actor] = place;
}

static void sift_up(struct event_queue *q, uint32_t i, uint32_t actor)
{
	while (i > 0) {
		uint32_t parent = (i - 1) / 4;

		if (!before(q, actor, q->heap[parent]))
			break;
		put(q, i, q->heap[parent]);
		i = parent;
	}
	put(q, i, actor);
}

static void sift_down(struct event_queue *q, uint32_t i, uint32_t actor)
{
	for (;;) {
		uint32_t first = 4 * i + 1, last = first + 4, best = first;

		if (first >= q->count)
			break;
		if (last > q->count)
			last = q->count;
		for (uint32_t c = first + 1; c < last; c++)
			if (before(q, q->heap[c], q->heap[best]))
				best = c;
		if (!before(q, q->heap[best], actor))
			break;
		put(q, i, q->heap[best]);
		i = best;
	}
	put(q, i, actor);
}

static void take_out(struct event_queue *q, uint32_t actor)
{
	uint32_t i = q->place[actor], last = q->heap[--q->count];

	q->due[actor] = MF_NEVER;
	if (last == actor)
		return;
	if (i > 0 && before(q, last, q->heap[(i - 1) / 4]))
		sift_up(q, i, last);
	else
		sift_down(q, i, last);
}

void event_set(struct event_queue *q, uint32_t actor, mf_time due)
{
	mf_time old = q->due[actor];

	if (due == old)
		return;
	if (due == MF_NEVER) {
		take_out(q, actor);
		return;
	}
	q->due[actor] = due;
	if (old == MF_NEVER)
		sift_up(q, q->count++, actor);
	else if (due < old)
		sift_up(q, q->place[actor], actor);
	else
		sift_down(q, q->place[actor], actor);
}
