/* SPDX-License-Identifier: BSD-3-Clause */
/* A link of the virtual clock: spans arrive in the order in which they were sent, a fixed time later. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mf_table.h"
#include "virtual/wire.h"

#define SLAB_MIN 65536
#define SLAB_WIRE 1024 /* octets for each wire: few have more under way */

struct slab {
	struct slab *before;
} __attribute__((aligned(WIRE_LINE)));

static_assert(sizeof(struct flight) == 16 && sizeof(struct flight) + WIRE_SYNCS + 12 * 8 <= 2 * WIRE_LINE,
	      "a flight of two blocks is a line, and one of ten is two");
static_assert(SLAB_MIN >= (WIRE_LINE << (WIRE_CLASSES - 1)) + sizeof(struct slab) &&
		      WIRE_LINE << (WIRE_CLASSES - 1) >=
			      (int)(sizeof(struct flight) + (MF_SPAN_MAX + 15) / 16 * 16 + MF_SPAN_MAX * 8),
	      "the longest has a class");

static int slab_add(struct flights *f)
{
	struct slab *s = mf_table_new_dense(f->octets, 1);

	if (s == NULL)
		return -ENOMEM;
	s->before = f->slab;
	f->slab = s;
	f->used = sizeof(*s);
	return 0;
}

int flights_init(struct flights *f, unsigned int wires)
{
	*f = (struct flights){.octets = SLAB_MIN};
	if (f->octets < wires * SLAB_WIRE)
		f->octets = wires * SLAB_WIRE;
	return slab_add(f);
}

void flights_fini(struct flights *f)
{
	struct slab *before;

	for (struct slab *s = f->slab; s != NULL; s = before) {
		before = s->before;
		mf_table_free(s);
	}
}

static inline unsigned int class_of(unsigned int count)
{
	uint32_t octets = (uint32_t)sizeof(struct flight) + (count + 1) / 2 * 16;

	octets += count <= WIRE_SYNCS ? WIRE_SYNCS : (count + 15) & ~15u;
	return octets <= WIRE_LINE ? 0 : 32 - (unsigned int)__builtin_clz((octets - 1) / WIRE_LINE);
}

static struct flight *flight_fresh(struct flights *f, unsigned int class)
{
	uint32_t octets = WIRE_LINE << class;
	struct flight *fl;

	if (f->octets - f->used < octets && slab_add(f) != 0)
		return NULL;
	fl = (void *)((uint8_t *)f->slab + f->used);
	f->used += octets;
	return fl;
}

/** Room for so many blocks. */
static inline struct flight *flight_take(struct flights *f, unsigned int count)
{
	unsigned int class = class_of(count);
	struct flight *fl = f->free[class];

	if (__builtin_expect(fl == NULL, 0))
		return flight_fresh(f, class);
	f->free[class] = fl->next;
	return fl;
}

static inline void flight_give(struct flights *f, struct flight *fl)
{
	unsigned int class = class_of(fl->count);

	fl->next = f->free[class];
	f->free[class] = fl;
}

void wire_init(struct wire *w, const struct link_timing *timing, struct flights *flights,
	       struct wire_entry *ring)
{
	*w = (struct wire){
		.timing = timing,
		.due = MF_NEVER,
		.flights = flights,
		.ring = ring,
		.mask = WIRE_FIRST - 1,
		.delay = timing->delay,
		.scrambler.state = MF_SCRAMBLER_INIT,
		.descrambler.state = MF_SCRAMBLER_INIT,
		.scramble = timing->scramble,
	};
}

void wire_fini(struct wire *w)
{
	if (w->grown)
		free(w->ring);
}

/** A ring of twice the size, with all that is under way at its start. */
static bool grow(struct wire *w)
{
	uint32_t n = wire_flights(w);
	struct wire_entry *ring = malloc(2 * (size_t)n * sizeof(*ring));

	if (ring == NULL)
		return false;
	for (uint32_t i = 0; i < n; i++)
		ring[i] = *wire_flight(w, i);
	wire_fini(w);
	w->ring = ring;
	w->grown = true;
	w->mask = 2 * n - 1;
	w->head = 0;
	w->tail = n;
	return true;
}

int wire_send(struct wire *w, struct mf_span *span, mf_time after)
{
	unsigned int n = span->count;
	struct flight *fl = wire_flights(w) <= w->mask || grow(w) ? flight_take(w->flights, n) : NULL;
	mf_time due;

	if (fl == NULL)
		return -ENOMEM;
	if (w->scramble)
		mf_scramble(&w->scrambler, span->word, n);
	fl->start = span->start + w->delay;
	fl->period = span->period;
	fl->count = span->count;
	fl->taken = 0;
	fl->flags = span->flags & (MF_SPAN_FRAME | MF_SPAN_IDLE);
	mf_blocks_copy(flight_words(fl), fl->sync, span->word, span->sync, n);
	due = mf_time_max(after, flight_due(w, fl));
	if (w->head == w->tail)
		w->due = due;
	w->ring[w->tail++ & w->mask] = (struct wire_entry){.due = due, .flight = fl};
	w->busy_until = flight_last(fl);
	return 0;
}

void wire_clear(struct wire *w, mf_time now)
{
	for (uint32_t i = 0; i < wire_flights(w); i++)
		flight_give(w->flights, wire_flight(w, i)->flight);
	w->head = w->tail = 0;
	w->due = MF_NEVER;
	w->busy_until = now;
	w->descrambler.state = w->scrambler.state;
}

/** The first flight has been handed over. */
static inline void drop_first(struct wire *w)
{
	flight_give(w->flights, w->ring[w->head++ & w->mask].flight);
	if (w->head == w->tail) {
		w->head = w->tail = 0; /* the start of the ring is what is still in the cache */
		w->due = MF_NEVER;
	} else {
		w->due = wire_flight(w, 0)->due;
	}
}

void wire_receive(struct wire *w, struct mf_span *span)
{
	struct flight *fl = wire_flight(w, 0)->flight;
	unsigned int n = fl->count;

	span->start = fl->start;
	span->period = fl->period;
	span->count = fl->count;
	span->flags = fl->flags;
	mf_blocks_copy(span->word, span->sync, flight_words(fl), fl->sync, n);
	drop_first(w);
	if (w->scramble)
		mf_descramble(&w->descrambler, span->word, n);
}

/** The next n blocks of the first flight, the rest of which is still under way. */
static void take_part(struct wire *w, unsigned int n, struct mf_span *span)
{
	struct wire_entry *e = wire_flight(w, 0);
	struct flight *fl = e->flight;

	span->start = fl->start;
	span->period = fl->period;
	span->count = (uint16_t)n;
	span->flags = fl->flags;
	memcpy(span->word, flight_words(fl) + fl->taken, n * sizeof(*span->word));
	memcpy(span->sync, fl->sync + fl->taken, n);
	fl->taken = (uint16_t)((fl->taken + n) & 0xfff);
	fl->start += (mf_time)n * fl->period;
	if (w->scramble)
		mf_descramble(&w->descrambler, span->word, n);
}

void wire_receive_until(struct wire *w, mf_time until, struct mf_span *span)
{
	struct wire_entry *e = wire_flight(w, 0);
	const struct flight *fl = e->flight;

	if (flight_last(fl) > until) {
		take_part(w, (unsigned int)((until - fl->start) / fl->period) + 1, span);
		w->due = e->due = flight_due(w, fl);
	} else if (fl->taken == 0) {
		wire_receive(w, span);
	} else {
		take_part(w, flight_left(fl), span);
		drop_first(w);
	}
}

bool wire_has_part(const struct wire *w, mf_time now)
{
	const struct flight *fl;

	if (w->due == MF_NEVER || w->due <= now)
		return false;
	fl = wire_flight(w, 0)->flight;
	return fl->start <= now && w->due == flight_last(fl);
}

void wire_whole(struct wire *w, bool whole, mf_time now)
{
	mf_time due = now;

	if (w->whole == whole)
		return;
	w->whole = whole;
	for (uint32_t i = 0; i < wire_flights(w); i++) {
		struct wire_entry *e = wire_flight(w, i);

		e->due = due = mf_time_max(due, flight_due(w, e->flight));
	}
	if (wire_flights(w) > 0)
		w->due = wire_flight(w, 0)->due;
}
