/* SPDX-License-Identifier: BSD-3-Clause */
/* Links of the virtual clock: delay lines for spans. */
#ifndef WIRE_H
#define WIRE_H

#include "fabric_priv.h"

/** A span under way. */
struct flight {
	struct flight *next;
	mf_time due;
	struct mf_span span;
};

/** Flights that are not under way: last in, first out, so that they stay in the cache. */
struct flight_pool {
	struct flight *free;
};

/** One direction of a link: the spans arrive in the order in which they were sent. */
struct wire {
	struct flight *head, *tail;
	mf_time busy_until; /**< arrival of the last block that was sent */
	const struct link_timing *timing;
	struct mf_scrambler scrambler, descrambler;
};

/** @return NULL: no memory */
struct flight *flight_get(struct flight_pool *p);
void flight_put(struct flight_pool *p, struct flight *fl);
void flight_fini(struct flight_pool *p);

void wire_init(struct wire *w, const struct link_timing *timing);
/** Frees what is under way. */
void wire_fini(struct wire *w);

/** Sends a span that starts at its own time, known from now on. */
void wire_send(struct wire *w, struct flight *fl, mf_time now);

/** When the next span is handed over; MF_NEVER: none is under way. */
static inline mf_time wire_due(const struct wire *w)
{
	return w->head != NULL ? w->head->due : MF_NEVER;
}

/** Takes the next span; there must be one. The caller gives it back to the pool. */
struct flight *wire_receive(struct wire *w);

/** Nothing is under way, and the last block of what was has arrived. */
static inline bool wire_idle(const struct wire *w, mf_time now)
{
	return w->head == NULL && w->busy_until <= now;
}

#endif
