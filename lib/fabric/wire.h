/* SPDX-License-Identifier: BSD-3-Clause */
/* Links of the virtual clock: delay lines for spans. */
#ifndef WIRE_H
#define WIRE_H

#include <assert.h>

#include "fabric_priv.h"

/** A span under way, without the room that it does not use: its words, and its sync headers behind them. */
struct flight {
	struct flight *next;
	mf_time next_due; /**< of the next: it need not be looked at before it is taken */
	mf_time start;
	uint32_t period;
	uint16_t count, flags;
	uint64_t word[];
};

/** Blocks that fit in two cache lines: a chunk of 64 octets has as many. */
#define FLIGHT_SHORT 10
static_assert(sizeof(struct flight) + FLIGHT_SHORT * (sizeof(uint64_t) + 1) <= 128, "two cache lines");

/** Flights that are not under way, short and long: last in, first out, so that they stay in the cache. */
struct flight_pool {
	struct flight *free[2];
	struct flight *slab[2]; /**< all that there are, in slabs */
};

/** One direction of a link: the spans arrive in the order in which they were sent. */
struct wire {
	struct flight *head, *tail;
	mf_time due; /**< of the first; MF_NEVER: none is under way */
	mf_time busy_until; /**< arrival of the last block that was sent */
	mf_time delay;
	const struct link_timing *timing;
	struct mf_scrambler scrambler, descrambler;
	bool scramble;
} __attribute__((aligned(64)));

void flight_fini(struct flight_pool *p);

void wire_init(struct wire *w, const struct link_timing *timing);

/**
 * Sends a span that starts at its own time, known from now on.
 * @param span  copied; its words are scrambled where the link does that
 * @return 0 or -ENOMEM
 */
int wire_send(struct wire *w, struct flight_pool *p, struct mf_span *span, mf_time now);

/** When the next span is handed over; MF_NEVER: none is under way. */
static inline mf_time wire_due(const struct wire *w)
{
	return w->due;
}

/** Takes the next span; there must be one. */
void wire_receive(struct wire *w, struct flight_pool *p, struct mf_span *span);

/** The next span is about to be taken: has it fetched into the caches. */
static inline void wire_fetch(const struct wire *w)
{
	if (w->head != NULL) {
		__builtin_prefetch(w->head, 1);
		__builtin_prefetch((const uint8_t *)w->head + 64, 1);
	}
}

/** Nothing is under way, and the last block of what was has arrived. */
static inline bool wire_idle(const struct wire *w, mf_time now)
{
	return w->head == NULL && w->busy_until <= now;
}

#endif
