/* SPDX-License-Identifier: BSD-3-Clause */
/* Captures under the virtual clock: frames come in any order, and go out in that of time. */
#include <stdlib.h>
#include <string.h>

#include "capture/mf_tap.h"

#define ROOM 1024 /* entries at first */

void capture_sort_init(struct mf_captures *c)
{
	c->origin = 0;
	c->sort = (struct capture_sort){.free = MF_HEAP_NIL, .first = MF_HEAP_NIL};
}

void capture_sort_fini(struct mf_captures *c)
{
	struct capture_sort *s = &c->sort;

	for (uint32_t i = 0; i < s->capacity; i++)
		free(s->held[i].frame);
	free(s->held);
	*s = (struct capture_sort){.free = MF_HEAP_NIL, .first = MF_HEAP_NIL};
}

/** Before the first frame there is no table, and nothing in the heap. */
static struct mf_heap heap_of(const struct capture_sort *s)
{
	return (struct mf_heap){.links = s->held != NULL ? (uint8_t *)&s->held->by_time : NULL,
				.stride = sizeof(*s->held)};
}

static bool grow(struct capture_sort *s)
{
	uint32_t capacity = s->capacity != 0 ? 2 * s->capacity : ROOM;
	struct capture_held *held = realloc(s->held, capacity * sizeof(*held));

	if (held == NULL)
		return false;
	s->held = held;
	for (; s->capacity < capacity; s->capacity++) {
		held[s->capacity] = (struct capture_held){.next_free = s->free};
		s->free = s->capacity;
	}
	return true;
}

/** @return an entry with room for a frame; NULL: no memory */
static struct capture_held *take(struct capture_sort *s, uint16_t len)
{
	uint8_t *frame = s->free != MF_HEAP_NIL || grow(s) ? malloc(len) : NULL;
	struct capture_held *h;

	if (frame == NULL)
		return NULL;
	h = &s->held[s->free];
	s->free = h->next_free;
	h->frame = frame;
	h->len = len;
	return h;
}

void capture_sort_span(struct capture_tap *tap, const struct mf_span *span)
{
	struct mf_captures *c = tap->captures;
	struct capture_sort *s = &c->sort;
	uint16_t len = capture_frame(c, tap, tap->seq++, span);
	struct capture_held *h = take(s, len);
	struct mf_heap heap = heap_of(s);

	if (h == NULL) {
		tap->dropped++;
		return;
	}
	memcpy(h->frame, c->frame, len);
	h->tap = tap;
	mf_heap_push(&heap, &s->first, (uint32_t)(h - s->held), span->start);
}

void capture_sort_until(struct mf_captures *c, mf_time until)
{
	struct capture_sort *s = &c->sort;
	struct mf_heap heap = heap_of(s);

	while (s->first != MF_HEAP_NIL && s->held[s->first].by_time.key < until) {
		uint32_t i = mf_heap_pop(&heap, &s->first);
		struct capture_held *h = &s->held[i];

		capture_write(c, h->tap, h->by_time.key, h->frame, h->len);
		free(h->frame);
		h->frame = NULL;
		h->next_free = s->free;
		s->free = i;
	}
	if (until == MF_NEVER)
		capture_end(c);
}
