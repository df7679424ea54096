/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/mf_stall.h"

mf_time stalls_over(const struct stalls *s, mf_time t)
{
	for (unsigned int i = 0; i < s->n && s->stall[i].from <= t; i++)
		if (t < s->stall[i].until)
			return s->stall[i].until;
	return t;
}

mf_time stalls_next(const struct stalls *s, mf_time t)
{
	for (unsigned int i = 0; i < s->n; i++)
		if (s->stall[i].from > t)
			return s->stall[i].from;
	return MF_NEVER;
}

static int compare(const void *a, const void *b)
{
	const struct stall *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

/** Makes one of stalls that overlap or touch; they are in order. */
static void join(struct stalls *s)
{
	unsigned int n = 0;

	for (unsigned int i = 1; i < s->n; i++) {
		struct stall *last = &s->stall[n], *next = &s->stall[i];

		if (next->from <= last->until)
			last->until = mf_time_max(last->until, next->until);
		else
			s->stall[++n] = *next;
	}
	s->n = n + 1;
}

int stalls_add(struct stalls *s, mf_time from, mf_time until)
{
	struct stall *more = realloc(s->stall, (s->n + 1) * sizeof(*more));

	if (more == NULL)
		return -ENOMEM;
	s->stall = more;
	more[s->n++] = (struct stall){from, until};
	qsort(more, s->n, sizeof(*more), compare);
	join(s);
	return 0;
}

mf_time stalls_clock(const struct stalls *s, mf_time t)
{
	mf_time lost = 0;

	if (t == MF_NEVER)
		return t;
	for (unsigned int i = 0; i < s->n && s->stall[i].from < t; i++)
		lost += mf_time_min(t, s->stall[i].until) - s->stall[i].from;
	return t - lost;
}

mf_time stalls_time(const struct stalls *s, mf_time clock)
{
	mf_time t = clock;

	if (t == MF_NEVER)
		return t;
	for (unsigned int i = 0; i < s->n && s->stall[i].from < t; i++)
		t += s->stall[i].until - s->stall[i].from;
	return t;
}
