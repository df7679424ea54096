/* SPDX-License-Identifier: BSD-3-Clause */
/* By buckets of time first, of which there are as many as arrivals: so nearly all are in their place then. */
#include <errno.h>
#include <stdlib.h>

#include "virtual/arrivals.h"

#define ROOM_MIN 64

void arrivals_fini(struct arrivals *a)
{
	free(a->arrival);
	free(a->found);
	free(a->before);
}

static int grow(struct arrivals *a)
{
	uint32_t room = a->room != 0 ? 2 * a->room : ROOM_MIN;
	struct arrival *found = realloc(a->found, room * sizeof(*found));
	struct arrival *arrival;
	uint32_t *before;

	if (found == NULL)
		return -ENOMEM;
	a->found = found;
	arrival = realloc(a->arrival, room * sizeof(*arrival));
	if (arrival == NULL)
		return -ENOMEM;
	a->arrival = arrival;
	before = realloc(a->before, room * sizeof(*before));
	if (before == NULL)
		return -ENOMEM;
	a->before = before;
	a->room = room;
	return 0;
}

static int find(struct arrivals *a, const struct wire *w, unsigned int port, mf_time until, mf_time *next)
{
	for (uint32_t i = 0; i < wire_flights(w); i++) {
		const struct wire_entry *e = wire_flight(w, i);

		if (e->due > until) {
			*next = mf_time_min(*next, e->due);
			return 0;
		}
		if (a->n == a->room && grow(a) != 0)
			return -ENOMEM;
		a->found[a->n++] = (struct arrival){.key = (e->due - a->base) << ARRIVALS_PORT_BITS | port,
						    .flight = e->flight};
	}
	return 0;
}

/** Those of a bucket, and the few of one that are not in order: one wire's stay in theirs. */
static void insert(struct arrival *x, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		struct arrival at = x[i];
		uint32_t k = i;

		for (; k > 0 && x[k - 1].key > at.key; k--)
			x[k] = x[k - 1];
		x[k] = at;
	}
}

static void sort(struct arrivals *a, mf_time span)
{
	unsigned int shift = ARRIVALS_PORT_BITS;
	uint32_t buckets = ROOM_MIN, sum = 0;

	while (buckets < a->n)
		buckets *= 2;
	while (span >> (shift - ARRIVALS_PORT_BITS) >= buckets)
		shift++;
	memset(a->before, 0, buckets * sizeof(*a->before));
	for (uint32_t i = 0; i < a->n; i++)
		a->before[a->found[i].key >> shift]++;
	for (uint32_t i = 0; i < buckets; i++) {
		uint32_t count = a->before[i];

		a->before[i] = sum;
		sum += count;
	}
	for (uint32_t i = 0; i < a->n; i++)
		a->arrival[a->before[a->found[i].key >> shift]++] = a->found[i];
	insert(a->arrival, a->n);
}

int arrivals_find(struct arrivals *a, const struct wire *wire, unsigned int wires, mf_time first,
		  mf_time until, mf_time *next)
{
	a->n = a->next = 0;
	a->base = first;
	*next = MF_NEVER;
	for (unsigned int i = 0; i < wires; i++)
		if (find(a, &wire[i], i, until, next) != 0)
			return -ENOMEM;
	if (a->n > 1)
		sort(a, until - first);
	else if (a->n == 1)
		a->arrival[0] = a->found[0];
	return 0;
}
