/* SPDX-License-Identifier: BSD-3-Clause */
/* A link of the virtual clock: spans arrive in the order in which they were sent, a fixed time later. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mf_table.h"
#include "wire.h"

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
	struct flight *fl = wire_flights(w) <= w->mask || grow(w) ? flight_take(w->flights, n) : NULL;
	mf_time due;

	if (fl == NULL)
		return -ENOMEM;
	if (w->scramble)
		mf_scramble(&w->scrambler, span->word, n);
	fl->start = span->start + w->delay;
	fl->period = span->period;
	fl->count = span->count;
	fl->flags = span->flags;
	mf_blocks_copy(flight_words(fl), fl->sync, span->word, span->sync, n);
	due = mf_time_max(after, arrival(span, w->delay));
	if (w->head == w->tail)
		w->due = due;
	w->ring[w->tail++ & w->mask] = (struct wire_entry){.due = due, .flight = fl};
	w->busy_until = mf_span_at(span, n - 1U) + w->delay;
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

void wire_receive(struct wire *w, struct mf_span *span)
{
	struct flight *fl = w->ring[w->head++ & w->mask].flight;
	unsigned int n = fl->count;

	span->start = fl->start;
	span->period = fl->period;
	span->count = fl->count;
	span->flags = fl->flags;
	mf_blocks_copy(span->word, span->sync, flight_words(fl), fl->sync, n);
	flight_give(w->flights, fl);
	if (w->head == w->tail) {
		w->head = w->tail = 0; /* the start of the ring is what is still in the cache */
		w->due = MF_NEVER;
	} else {
		w->due = wire_flight(w, 0)->due;
	}
	if (w->scramble)
		mf_descramble(&w->descrambler, span->word, n);
}
