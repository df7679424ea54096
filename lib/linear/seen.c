/* SPDX-License-Identifier: BSD-3-Clause */
#include "linear/seen.h"

#include <errno.h>
#include <stdlib.h>

#define SLOTS_MIN 1024

/** Room for `slots`: half of them are used at most. The old ones stay as they are if there is no memory. */
static int make_room(struct seen *s, size_t slots)
{
	struct fingerprint *slot = calloc(slots, sizeof(*slot));
	uint32_t *used = realloc(s->used, slots / 2 * sizeof(*used));

	s->used = used != NULL ? used : s->used;
	if (slot == NULL || used == NULL) {
		free(slot);
		return -ENOMEM;
	}
	for (size_t i = 0; i < s->count; i++) {
		struct fingerprint f = s->slot[used[i]];
		size_t at = (size_t)f.a & (slots - 1);

		while (slot[at].a != 0 || slot[at].b != 0)
			at = (at + 1) & (slots - 1);
		slot[at] = f;
		used[i] = (uint32_t)at;
	}
	free(s->slot);
	s->slot = slot;
	s->mask = slots - 1;
	return 0;
}

int seen_init(struct seen *s, size_t max)
{
	*s = (struct seen){.max = max};
	return make_room(s, SLOTS_MIN);
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
	size_t at;

	if (s->count > s->mask / 2 && make_room(s, 2 * (s->mask + 1)) != 0)
		return SEEN_FULL;
	if (f.a == 0 && f.b == 0)
		f.b = 1;
	for (at = (size_t)f.a & s->mask; s->slot[at].a != 0 || s->slot[at].b != 0; at = (at + 1) & s->mask)
		if (s->slot[at].a == f.a && s->slot[at].b == f.b)
			return SEEN_BEFORE;
	if (s->count == s->max)
		return SEEN_FULL;
	s->slot[at] = f;
	s->used[s->count++] = (uint32_t)at;
	return SEEN_NEW;
}
