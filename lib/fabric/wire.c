/* SPDX-License-Identifier: BSD-3-Clause */
/* A link of the virtual clock: spans arrive in the order in which they were sent, a fixed time later. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "wire.h"

enum { SHORT, LONG };

#define SLAB (64 << 10)
/** Two lines that the hardware fetches together. */
#define FLIGHT_ALIGN 128

static const size_t octets[] = {
	[SHORT] = 128,
	[LONG] = (sizeof(struct flight) + MF_SPAN_MAX * (sizeof(uint64_t) + 1) + FLIGHT_ALIGN - 1) /
		 FLIGHT_ALIGN * FLIGHT_ALIGN,
};

static int length(unsigned int count)
{
	return count <= FLIGHT_SHORT ? SHORT : LONG;
}

/** Makes a slab of flights, the first of which holds the slabs together. */
static bool grow(struct flight_pool *p, int len)
{
	struct flight *first = aligned_alloc(FLIGHT_ALIGN, SLAB);

	if (first == NULL)
		return false;
	first->next = p->slab[len];
	p->slab[len] = first;
	for (size_t at = SLAB / octets[len] - 1; at > 0; at--) {
		struct flight *fl = (void *)((uint8_t *)first + at * octets[len]);

		fl->next = p->free[len];
		p->free[len] = fl;
	}
	return true;
}

void flight_fini(struct flight_pool *p)
{
	for (int len = SHORT; len <= LONG; len++)
		for (struct flight *slab = p->slab[len], *next; slab != NULL; slab = next) {
			next = slab->next;
			free(slab);
		}
}

void wire_init(struct wire *w, const struct link_timing *timing)
{
	*w = (struct wire){
		.timing = timing,
		.due = MF_NEVER,
		.delay = timing->delay,
		.scrambler.state = MF_SCRAMBLER_INIT,
		.descrambler.state = MF_SCRAMBLER_INIT,
		.scramble = timing->scramble,
	};
}

/**
 * When a span is handed over. A memory message is acted upon from its first block on; blocks of a
 * frame mean nothing before the /T/.
 */
static mf_time arrival(const struct mf_span *s, mf_time delay)
{
	return (s->flags & MF_SPAN_FRAME ? mf_span_at(s, s->count - 1U) : s->start) + delay;
}

/** The blocks of a span into a flight. A short one is copied whole: a fixed length takes no call. */
static void pack(struct flight *fl, const struct mf_span *s)
{
	unsigned int n = s->count;

	if (n <= FLIGHT_SHORT) {
		memcpy(fl->word, s->word, FLIGHT_SHORT * sizeof(*s->word));
		memcpy(fl->word + FLIGHT_SHORT, s->sync, 16);
	} else {
		memcpy(fl->word, s->word, n * sizeof(*s->word));
		memcpy(fl->word + n, s->sync, n);
	}
}

static void unpack(const struct flight *fl, struct mf_span *s)
{
	unsigned int n = fl->count;

	if (n <= FLIGHT_SHORT) {
		memcpy(s->word, fl->word, FLIGHT_SHORT * sizeof(*s->word));
		memcpy(s->sync, fl->word + FLIGHT_SHORT, 16);
	} else {
		memcpy(s->word, fl->word, n * sizeof(*s->word));
		memcpy(s->sync, fl->word + n, n);
	}
}

int wire_send(struct wire *w, struct flight_pool *p, struct mf_span *span, mf_time now)
{
	mf_time due = mf_time_max(now, arrival(span, w->delay));
	int len = length(span->count);
	struct flight *fl;

	if (p->free[len] == NULL && !grow(p, len))
		return -ENOMEM;
	fl = p->free[len];
	p->free[len] = fl->next;
	if (w->scramble)
		mf_scramble(&w->scrambler, span->word, span->count);
	fl->next = NULL;
	fl->next_due = MF_NEVER;
	fl->start = span->start + w->delay;
	fl->period = span->period;
	fl->count = span->count;
	fl->flags = span->flags;
	pack(fl, span);
	w->busy_until = mf_span_at(span, span->count - 1U) + w->delay;
	if (w->head == NULL) {
		w->head = fl;
		w->due = due;
	} else {
		w->tail->next = fl;
		w->tail->next_due = due;
	}
	w->tail = fl;
	return 0;
}

void wire_receive(struct wire *w, struct flight_pool *p, struct mf_span *span)
{
	struct flight *fl = w->head;
	int len = length(fl->count);

	w->head = fl->next;
	w->due = fl->next_due;
	span->start = fl->start;
	span->period = fl->period;
	span->count = fl->count;
	span->flags = fl->flags;
	unpack(fl, span);
	fl->next = p->free[len];
	p->free[len] = fl;
	if (w->scramble)
		mf_descramble(&w->descrambler, span->word, span->count);
}
