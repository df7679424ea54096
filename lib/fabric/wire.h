/* SPDX-License-Identifier: BSD-3-Clause */
/* Links of the virtual clock: delay lines for spans. */
#ifndef WIRE_H
#define WIRE_H

#include "fabric_priv.h"

/** A span under way, without the room that it does not use: its sync headers, and its words behind them. */
struct flight {
	mf_time due;
	mf_time start;
	uint32_t period;
	uint16_t count; /**< 0: there is nothing behind it, the next flight is at the start of the ring */
	uint16_t flags;
	uint8_t sync[];
};

/**
 * One direction of a link: the spans arrive in the order in which they were sent. They lie one behind the
 * other in a ring, which grows with what is under way.
 */
struct wire {
	mf_time due; /**< of the first; MF_NEVER: none is under way */
	uint8_t *ring;
	uint32_t size; /**< octets of the ring, a power of two */
	uint32_t head, tail; /**< of what is under way, in octets from some time on */
	mf_time delay;
	mf_time busy_until; /**< arrival of the last block that was sent */
	const struct link_timing *timing;
	bool scramble;
	struct mf_scrambler scrambler, descrambler;
} __attribute__((aligned(64)));

static inline struct flight *flight_at(const struct wire *w, uint32_t position)
{
	return (void *)(w->ring + (position & (w->size - 1)));
}

/** So that mf_blocks_copy() has room. */
static inline uint32_t flight_syncs(unsigned int count)
{
	return (count + 7) / 8 * 8;
}

static inline uint32_t flight_octets(unsigned int count)
{
	return (uint32_t)sizeof(struct flight) + flight_syncs(count) + (count + 1) / 2 * 16;
}

static inline uint64_t *flight_words(const struct flight *fl)
{
	return (void *)((uintptr_t)fl->sync + flight_syncs(fl->count));
}

/** The flight at a position, which may have had no room there. */
static inline struct flight *flight_from(const struct wire *w, uint32_t *position)
{
	struct flight *fl = flight_at(w, *position);

	if (fl->count != 0)
		return fl;
	*position = (*position | (w->size - 1)) + 1;
	return flight_at(w, *position);
}

#define WIRE_RING 2048 /**< octets of a ring at first */

/** @param ring  room for WIRE_RING octets, which the wire does not free */
void wire_init(struct wire *w, const struct link_timing *timing, uint8_t *ring);
void wire_fini(struct wire *w);

/**
 * Sends a span that starts at its own time.
 * @param span   copied; its words are scrambled where the link does that
 * @param after  it is handed over then at the earliest
 * @return 0 or -ENOMEM
 */
int wire_send(struct wire *w, struct mf_span *span, mf_time after);

/** When the next span is handed over; MF_NEVER: none is under way. */
static inline mf_time wire_due(const struct wire *w)
{
	return w->due;
}

/** Takes the next span; there must be one. */
void wire_receive(struct wire *w, struct mf_span *span);

/** The span that is under way behind those before a position, or NULL. Begin with position w->head. */
static inline const struct flight *wire_behind(const struct wire *w, uint32_t *position)
{
	const struct flight *fl = NULL;

	if (*position != w->tail)
		*position += flight_octets((fl = flight_from(w, position))->count);
	return fl;
}

/** The flights of a wire will soon be taken: has them fetched into the caches. */
static inline void wire_fetch(const struct wire *w)
{
	for (uint32_t at = w->head; at < w->tail; at += 64)
		__builtin_prefetch(flight_at(w, at));
}

/** Of those flights the first. */
static inline void wire_fetch_first(const struct wire *w)
{
	__builtin_prefetch(flight_at(w, w->head));
	__builtin_prefetch(flight_at(w, w->head + 64));
}

/** Nothing is under way, and the last block of what was has arrived. */
static inline bool wire_idle(const struct wire *w, mf_time now)
{
	return w->due == MF_NEVER && w->busy_until <= now;
}

#endif
