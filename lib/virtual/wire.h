/* SPDX-License-Identifier: BSD-3-Clause */
/* Links of the virtual clock: delay lines for spans. */
#ifndef WIRE_H
#define WIRE_H

#include "fabric/mf_fabric_state.h"

#define WIRE_LINE 64
#define WIRE_SYNCS MF_BLOCKS_FEW /**< room for the sync headers of a flight, at least */
#define WIRE_FIRST 16 /**< flights that a wire has room for at first */
#define WIRE_CLASSES 8

/** A span under way, in as many cache lines as it needs: its sync headers, and its words behind them. */
struct flight {
	union {
		mf_time start;
		struct flight *next; /**< among those that are not used */
	};
	uint32_t period;
	uint16_t count;
	uint16_t taken : 12; /**< of those: blocks that have been handed over; start is that of the next */
	uint16_t flags : 4;
	uint8_t sync[];
} __attribute__((aligned(16)));

/** When it is handed over. */
struct wire_entry {
	mf_time due;
	struct flight *flight;
};

/**
 * The room of all flights, of 1, 2, 4 and so on lines. What has arrived is the next to be used again: so no
 * more memory is ever looked at than there is under way, and what one side has read the other one's answers
 * are written to.
 */
struct flights {
	struct flight *free[WIRE_CLASSES];
	struct slab *slab; /**< the last one, and those before it */
	uint32_t used; /**< octets of it */
	uint32_t octets; /**< of each */
};

/**
 * One direction of a link: the spans arrive in the order in which they were sent. They stand in a ring, which
 * grows with what is under way.
 */
struct wire {
	mf_time due; /**< of the first; MF_NEVER: none is under way */
	struct wire_entry *ring;
	uint32_t mask; /**< of the ring */
	uint32_t head, tail; /**< of what is under way */
	mf_time delay;
	mf_time busy_until; /**< arrival of the last block that was sent */
	const struct link_timing *timing;
	struct mf_fault *fault; /**< what happens to what is sent, before it is on the wire; NULL: nothing */
	struct flights *flights;
	struct virtual_switch *to; /**< whose port it leads to; NULL: it leads to a node */
	uint32_t end; /**< of the graph: at which it arrives */
	uint32_t number; /**< of the port there, or of the node */
	uint8_t class; /**< of the receiver: 0 or 1 */
	uint8_t from_place, to_place; /**< enum stage_place of its ends */
	bool impaired; /**< something may happen to what is sent: virtual_impair_send() */
	bool cut; /**< what is sent is lost */
	bool whole; /**< the receiver has messages at their last blocks: see wire_whole() */
	bool scramble;
	bool grown; /**< the ring is the wire's own */
	struct mf_scrambler scrambler, descrambler;
} __attribute__((aligned(64)));

/** @param wires  that there will be @return 0 or -ENOMEM */
int flights_init(struct flights *f, unsigned int wires);
void flights_fini(struct flights *f);

/** @param ring  room for WIRE_FIRST flights, which the wire does not free */
void wire_init(struct wire *w, const struct link_timing *timing, struct flights *flights,
	       struct wire_entry *ring);
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

/**
 * The same, but for what arrives later than `until`, which is still under way then. The first block arrives
 * by then.
 */
void wire_receive_until(struct wire *w, mf_time until, struct mf_span *span);

/**
 * Says when messages are handed over that are under way or will be: with their last blocks, or with the
 * first. A receiver that does nothing with a message before its last block is to have it then: what happens
 * to the receiver while the message comes, by a timer or by another link, is behind it otherwise.
 */
void wire_whole(struct wire *w, bool whole, mf_time now);

/** Whether blocks have arrived by now of a span that is handed over later, with its last one. */
bool wire_has_part(const struct wire *w, mf_time now);

/** What is under way is lost. */
void wire_clear(struct wire *w, mf_time now);

/** The words of a flight, which lie behind as many sync headers as mf_blocks_copy() takes. */
static inline uint64_t *flight_words(const struct flight *fl)
{
	uint32_t syncs = fl->count <= WIRE_SYNCS ? WIRE_SYNCS : (fl->count + 15u) & ~15u;

	return (void *)((uintptr_t)fl->sync + syncs);
}

/** Blocks of a flight that have not been handed over. */
static inline unsigned int flight_left(const struct flight *fl)
{
	return (unsigned int)fl->count - fl->taken;
}

/** When the last block of a flight arrives. */
static inline mf_time flight_last(const struct flight *fl)
{
	return fl->start + (mf_time)(flight_left(fl) - 1) * fl->period;
}

/**
 * When it is handed over. A memory message is acted upon from its first block on, but where the receiver
 * collects it; blocks of a frame mean nothing before the /T/.
 */
static inline mf_time flight_due(const struct wire *w, const struct flight *fl)
{
	return fl->flags & MF_SPAN_FRAME || w->whole ? flight_last(fl) : fl->start;
}

/**
 * When the first block arrives, of what is handed over next, behind which a message may be over: a control
 * block. MF_NEVER: that is handed over whole.
 */
static inline mf_time wire_first_end(const struct wire *w)
{
	const struct flight *fl = w->ring[w->head & w->mask].flight;
	unsigned int i = fl->taken;

	if (fl->flags & MF_SPAN_FRAME || w->whole)
		return MF_NEVER;
	while (i + 1 < fl->count && fl->sync[i] != MF_SYNC_CTRL)
		i++;
	return fl->start + (mf_time)(i - fl->taken) * fl->period;
}

/** How many are under way. */
static inline uint32_t wire_flights(const struct wire *w)
{
	return w->tail - w->head;
}

/** Of those the i-th. */
static inline struct wire_entry *wire_flight(const struct wire *w, uint32_t i)
{
	return &w->ring[(w->head + i) & w->mask];
}

/** A flight will soon be taken: has it fetched into the caches. Most are no longer than that. */
static inline void flight_fetch(const struct flight *fl)
{
	__builtin_prefetch(fl);
	__builtin_prefetch((const uint8_t *)fl + WIRE_LINE);
}

/** ... all flights of a wire. */
static inline void wire_fetch(const struct wire *w)
{
	for (uint32_t i = 0; i < wire_flights(w); i++)
		flight_fetch(wire_flight(w, i)->flight);
}

/** Whether blocks of the first flight have been handed over, and others of it are still under way. */
static inline bool wire_is_begun(const struct wire *w)
{
	return wire_flights(w) > 0 && wire_flight(w, 0)->flight->taken > 0;
}

/** When what a fault holds back is to be let go; MF_NEVER: nothing is. */
static inline mf_time wire_held(const struct wire *w)
{
	return __builtin_expect(w->fault == NULL, 1) ? MF_NEVER : mf_fault_next(w->fault);
}

/**
 * Whether, after a span, other blocks of frames that have begun are to go at once: the sender may be called
 * for what a fault sends, and that comes after all of them.
 */
static inline bool wire_wants_all(const struct wire *w, const struct mf_span *span)
{
	return __builtin_expect(w->impaired, 0) && (span->flags & MF_SPAN_FRAME) != 0;
}

/**
 * Whether what is sent next cuts a message at its receiver: a frame does so with its first block, which is
 * not to wait for the others.
 */
static inline bool wire_hangs(const struct wire *w)
{
	return __builtin_expect(w->fault != NULL, 0) && mf_fault_hangs(w->fault);
}

/** Nothing is under way, and the last block of what was has arrived. */
static inline bool wire_idle(const struct wire *w, mf_time now)
{
	return w->due == MF_NEVER && w->busy_until <= now && wire_held(w) == MF_NEVER;
}

#endif
