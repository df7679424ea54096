/* SPDX-License-Identifier: BSD-3-Clause */
/* A link of the virtual clock: spans arrive in the order in which they were sent, a fixed time later. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "wire.h"

static_assert(sizeof(struct flight) % 8 == 0, "flights are aligned");

void wire_init(struct wire *w, const struct link_timing *timing, uint8_t *ring)
{
	*w = (struct wire){
		.timing = timing,
		.due = MF_NEVER,
		.ring = ring,
		.size = WIRE_RING,
		.delay = timing->delay,
		.scrambler.state = MF_SCRAMBLER_INIT,
		.descrambler.state = MF_SCRAMBLER_INIT,
		.scramble = timing->scramble,
	};
}

void wire_fini(struct wire *w)
{
	if (w->size > WIRE_RING)
		free(w->ring);
}

/** A ring of twice the size, with all that is under way at its start. */
static bool grow(struct wire *w)
{
	uint8_t *ring = aligned_alloc(64, 2 * (size_t)w->size);
	uint32_t put = 0;

	if (ring == NULL)
		return false;
	while (w->head != w->tail) {
		const struct flight *fl = flight_from(w, &w->head);

		memcpy(ring + put, fl, flight_octets(fl->count));
		put += flight_octets(fl->count);
		w->head += flight_octets(fl->count);
	}
	wire_fini(w);
	w->ring = ring;
	w->size *= 2;
	w->head = 0;
	w->tail = put;
	return true;
}

/** Room for a flight of so many octets behind the others. Behind it there is always room for an end. */
static struct flight *room(struct wire *w, uint32_t n)
{
	uint32_t to_end = w->size - (w->tail & (w->size - 1));
	uint32_t skip = n + sizeof(struct flight) <= to_end ? 0 : to_end;

	if (w->tail - w->head + skip + n + sizeof(struct flight) > w->size)
		return grow(w) ? room(w, n) : NULL;
	if (skip != 0) {
		flight_at(w, w->tail)->count = 0;
		w->tail += skip;
	}
	return flight_at(w, w->tail);
}

/**
 * When a span is handed over. A memory message is acted upon from its first block on; blocks of a
 * frame mean nothing before the /T/.
 */
static mf_time arrival(const struct mf_span *s, mf_time delay)
{
	return (s->flags & MF_SPAN_FRAME ? mf_span_at(s, s->count - 1U) : s->start) + delay;
}

int wire_send(struct wire *w, struct mf_span *span, mf_time after)
{
	unsigned int n = span->count;
	struct flight *fl = room(w, flight_octets(n));

	if (fl == NULL)
		return -ENOMEM;
	if (w->scramble)
		mf_scramble(&w->scrambler, span->word, n);
	fl->due = mf_time_max(after, arrival(span, w->delay));
	fl->start = span->start + w->delay;
	fl->period = span->period;
	fl->count = span->count;
	fl->flags = span->flags;
	mf_blocks_copy(flight_words(fl), fl->sync, span->word, span->sync, n);
	if (w->head == w->tail)
		w->due = fl->due;
	w->tail += flight_octets(n);
	w->busy_until = mf_span_at(span, n - 1U) + w->delay;
	return 0;
}

void wire_receive(struct wire *w, struct mf_span *span)
{
	const struct flight *fl = flight_from(w, &w->head);
	unsigned int n = fl->count;

	span->start = fl->start;
	span->period = fl->period;
	span->count = fl->count;
	span->flags = fl->flags;
	mf_blocks_copy(span->word, span->sync, flight_words(fl), fl->sync, n);
	w->head += flight_octets(n);
	if (w->head == w->tail)
		w->head = w->tail = 0; /* the start of the ring is what is still in the cache */
	w->due = w->head == w->tail ? MF_NEVER : flight_from(w, &w->head)->due;
	if (w->scramble)
		mf_descramble(&w->descrambler, span->word, n);
}
