/* SPDX-License-Identifier: BSD-3-Clause */
#include "seen.h"

#include <errno.h>
#include <stdlib.h>

int seen_init(struct seen *s, size_t max)
{
	size_t slots = 16;

	while (slots < 2 * max)
		slots *= 2;
	*s = (struct seen){.slot = calloc(slots, sizeof(*s->slot)),
			   .used = calloc(max, sizeof(*s->used)),
			   .mask = slots - 1,
			   .max = max};
	return s->slot != NULL && s->used != NULL ? 0 : -ENOMEM;
}

void seen_fini(struct seen *s)
{
	free(s->slot);
	free(s->used);
}

void seen_clear(struct seen *s)
{
	for (size_t i = 0; i < s->count; i++)
		s->slot[s->used[i]] = (struct fingerprint){0, 0};
	s->count = 0;
}

enum seen_answer seen_add(struct seen *s, struct fingerprint f)
{
	size_t at = (size_t)f.a & s->mask;

	if (f.a == 0 && f.b == 0)
		f.b = 1;
	for (; s->slot[at].a != 0 || s->slot[at].b != 0; at = (at + 1) & s->mask)
		if (s->slot[at].a == f.a && s->slot[at].b == f.b)
			return SEEN_BEFORE;
	if (s->count == s->max)
		return SEEN_FULL;
	s->slot[at] = f;
	s->used[s->count++] = (uint32_t)at;
	return SEEN_NEW;
}
