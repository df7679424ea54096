/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of the multiplexer share. Private to this folder.
 *
 *      mf_mux_push() --> mux_queue.c: sorted queue ---------------.
 *                                                                  >-- mux_policy_*.c --> mux.c: span
 *      mf_mux_frame() -> mux_frames.c: frames -> encoder -> FIFO -'
 */
#ifndef MUX_H
#define MUX_H

#include <assert.h>
#include <stddef.h>

#include "pcs/mf_mux.h"

#define MUX_NONE UINT32_MAX

/** Items of which the first free one is taken: so few of many are ever touched, and stand close together. */
#define MUX_LOW 32

/**
 * Wall clock: most blocks of a span with frames, since what comes meanwhile goes behind it; so also of
 * messages that go out as one.
 */
#define MUX_MIXED_SPAN 128

/**
 * A memory message; or several whole ones that were queued one behind the other under the wall clock and
 * go out as one. One cache line.
 */
struct mf_mux_item {
	mf_time ready; /**< the first one's */
	union {
		uint64_t cookie; /**< one message */
		mf_time later; /**< several: how much later the others were ready, together */
	};
	uint32_t tie;
	uint32_t n, have, sent; /**< words in all, written, given out */
	uint32_t first; /**< index of its first word in the ring; not if `own` */
	uint32_t end; /**< store.write behind it; not if `own` */
	uint32_t prev, next; /**< in its queue */
	uint32_t seq; /**< order of pushing */
	uint32_t younger; /**< pushed behind it; not if `own` */
	uint32_t mark; /**< marked: frame blocks that had started before ready */
	uint8_t messages, cookies; /**< several: how many, and how many of them have a cookie */
	bool several : 1;
	bool single : 1; /**< of one block; several: each of them */
	bool own : 1; /**< its words are in the room of its item */
	bool queued : 1, marked : 1, done : 1;
	bool cut : 1; /**< aborted when it had begun */
} __attribute__((aligned(64)));

/** Items that have words and have not begun, sorted by (ready, tie, order of pushing). */
struct mux_queue {
	uint32_t head, tail;
	uint32_t unmarked; /**< first one behind whose ready time no frame block has started yet */
};

/**
 * Words and items. The first free item is taken, so that few of many are ever touched and those are in the
 * cache; under the virtual clock, where no messages are put together, an item has room for a message of the
 * usual length behind it: its sync headers, and then its words. The words of all others are in a ring: they
 * are given back in the order of pushing, so that a message is contiguous and nothing has to be searched; but
 * while there is always a next one they walk over all of it. Positions in the ring run free, the low bits are
 * the index.
 */
struct mux_store {
	/** [MUX_LOW] of struct mf_mux_item, with the room behind it. */
	uint8_t *item;
	uint64_t *word; /**< the ring, and behind it the sync header of each word */
	uint8_t *item_far; /**< the others, at their numbers; behind them those that are free */
	uint32_t low; /**< bitmap of the free ones of the first MUX_LOW items */
	uint8_t items_shift; /**< log2 of the number of items */
	uint8_t item_shift; /**< log2 of the octets of one with its room */
	uint16_t own; /**< blocks for which it has room */
	uint32_t free, fresh; /**< of the others: how many were given back; from fresh on never used */
	uint32_t seq;
	uint32_t word_mask, write, read;
	uint32_t oldest, youngest; /**< items that have words in the ring */
};

struct mux_done {
	uint64_t cookie;
	mf_time at;
};

/** Cookies on their way back; at most as many are promised as there is room. */
struct mux_done_ring {
	struct mux_done *entry;
	uint32_t mask, put, get;
	uint32_t promised; /**< of items that wait, and in the ring */
	uint64_t *waiting; /**< those of items of several messages, in their order */
	uint32_t waiting_put, waiting_get;
};

struct mux_frame {
	mf_time queued;
	uint32_t at; /**< first octet */
	uint16_t len;
};

struct mux_frames {
	uint32_t put, get, mask; /**< of frame */
	uint32_t left; /**< blocks left of the frame whose start was sent, /T/ included; 0: none */
	bool ended; /**< virtual clock: the last block that was sent is a /T/ */
	struct mf_frame_enc enc; /**< works on the first frame of the ring once that has started */
	struct mux_frame *frame;
	uint8_t *octet;
	uint32_t size, write; /**< of octet */
	uint32_t bytes; /**< octets of all frames that wait */
	bool near; /**< of two frames: where there is room, at the start, which is in the caches */
	struct mf_block fifo[MF_MUX_FRAME_WAIT]; /**< encoded and overtaken by memory */
	uint32_t fifo_put, fifo_get;
};

/** Credit of FAIR; see mux_policy_fair.c. */
struct mux_fair {
	int32_t credit[2];
	uint16_t quantum;
	uint8_t turn;
};

/** The last message that frames went in front of: one that is queued later may have been ready with it. */
struct mux_marked {
	mf_time ready;
	uint32_t mark;
};

struct mux_policy {
	/**
	 * How many blocks of frames go out from time s on, when a block may start, before memory that is
	 * ready from r on goes. 0: memory first. Any number beyond the frame, or MF_SPAN_MAX, is as good.
	 */
	uint32_t (*frames)(const struct mf_mux *m, mf_time s, mf_time r);
	/** n blocks of frames are sent from s on, while memory was ready from r on. May be NULL. */
	void (*sent_frames)(struct mf_mux *m, mf_time s, mf_time r, uint32_t n);
	/** A message of n blocks begins at s. contended: a frame waits. May be NULL. */
	void (*sent_memory)(struct mf_mux *m, mf_time s, bool contended, uint32_t n);
};

extern const struct mux_policy mux_policy_fair, mux_policy_memory_first, mux_policy_no_preempt,
	mux_policy_fifo;

/** A span of whole messages, on its way out; see mux_open.h. */
struct mux_open_span {
	struct mf_span span;
	mf_time ready; /**< sum, of all messages */
	uint32_t messages, cookies; /**< those with a cookie, which is among the waiting ones */
};

#define MUX_OPEN_SPANS 8

struct mux_open {
	struct mux_open_span *span; /**< [MUX_OPEN_SPANS]; NULL: virtual clock */
	struct mux_open_span *fill; /**< the one that is filled; NULL: there are none */
	mf_time ready; /**< the last message's */
	uint32_t put, get; /**< the one that is filled; the first to go */
	uint32_t start; /**< where filling began when all were out */
	uint32_t given; /**< which one was given out last: it is still read */
	uint32_t from; /**< blocks of the first to go that are out already */
	uint32_t room; /**< for blocks in all of them */
	uint32_t several; /**< blocks that a span of more than one message may have; 0: it is closed */
	uint32_t longest; /**< the same, where it is not */
	uint32_t whole; /**< the same, as far as there is room when all are out */
	uint32_t blocks; /**< that are there */
	uint32_t limit; /**< blocks that the one that is filled may have */
	uint32_t ahead; /**< blocks when the last message was queued, */
	uint32_t ahead_message; /**< and the last one of several blocks */
};

/** By cache lines: what every call looks at; the store; what only some do. */
struct mf_mux {
	const struct mux_policy *policy;
	mf_time line_free; /**< virtual clock: when the next block may start */
	uint32_t period;
	bool frames_wait; /**< the frame side has something, if it is only a gap owed: see mux_frames.c */
	bool memory_enabled;
	bool memory_last; /**< the last blocks given out were memory's */
	bool marks; /**< some message was marked */
	struct mf_mux_item *held; /**< the message that has begun and is not through */
	uint32_t backlog; /**< memory blocks of items that are not given out */
	uint32_t waiting; /**< those of messages that have not begun */
	struct mux_queue messages, singles; /**< of more blocks than one; of one */
	struct mux_store store;
	struct mux_done_ring done;
	struct mf_mux_item *begun_singles; /**< an item of several singles that has begun */
	struct mux_fair fair;
	struct mux_open open;
	struct mux_marked marked;
	bool shaped; /**< of the configuration */
	struct mux_frames frames __attribute__((aligned(64)));
	struct mf_mux_stats stats __attribute__((aligned(64)));
};
static_assert(offsetof(struct mf_mux, store) == 64 && offsetof(struct mf_mux, done) == 128, "cache lines");

/** Memory blocks that are not given out. */
static inline uint32_t mux_backlog(const struct mf_mux *m)
{
	return m->backlog + m->open.blocks;
}

/* mux_queue.c */
int mux_queue_init(struct mf_mux *m, const struct mf_mux_config *config);
void mux_queue_fini(struct mf_mux *m);

static inline struct mf_mux_item *mux_item_at(const struct mf_mux *m, uint32_t index)
{
	uint8_t *base = index < MUX_LOW ? m->store.item : m->store.item_far;

	return (void *)(base + ((size_t)index << m->store.item_shift));
}

static inline uint32_t mux_index_of(const struct mf_mux *m, const struct mf_mux_item *it)
{
	uintptr_t at = (uintptr_t)it, near = at - (uintptr_t)m->store.item;

	if (near >> m->store.item_shift >= MUX_LOW)
		near = at - (uintptr_t)m->store.item_far;
	return (uint32_t)(near >> m->store.item_shift);
}

static inline uint8_t *mux_store_syncs(const struct mux_store *s)
{
	return (uint8_t *)&s->word[s->word_mask + (size_t)1];
}

static inline uint64_t *mux_words(const struct mf_mux *m, struct mf_mux_item *it)
{
	return it->own ? (void *)((uint8_t *)(it + 1) + m->store.own) : &m->store.word[it->first];
}

static inline uint8_t *mux_syncs(const struct mf_mux *m, struct mf_mux_item *it)
{
	return it->own ? (uint8_t *)(it + 1) : &mux_store_syncs(&m->store)[it->first];
}

/** Whether a is sent before b. */
static inline bool mux_item_before(const struct mf_mux_item *a, const struct mf_mux_item *b)
{
	if (a->ready != b->ready)
		return a->ready < b->ready;
	if (a->tie != b->tie)
		return a->tie < b->tie;
	return (int32_t)(a->seq - b->seq) < 0;
}

/** First item of a queue, NULL: none. */
static inline struct mf_mux_item *mux_queue_head(const struct mf_mux *m, const struct mux_queue *q)
{
	return q->head == MUX_NONE ? NULL : mux_item_at(m, q->head);
}

/** First of all items, ready or not; NULL: none. */
static inline struct mf_mux_item *mux_queue_first(const struct mf_mux *m)
{
	struct mf_mux_item *a = mux_queue_head(m, &m->messages), *b = mux_queue_head(m, &m->singles);

	if (!a || !b)
		return a ? a : b;
	return mux_item_before(a, b) ? a : b;
}

static inline struct mux_queue *mux_queue_of(struct mf_mux *m, const struct mf_mux_item *it)
{
	return it->single ? &m->singles : &m->messages;
}

/** Takes an item that begins out of its queue. */
static inline void mux_queue_remove(struct mf_mux *m, struct mf_mux_item *it)
{
	struct mux_queue *q = mux_queue_of(m, it);

	if (q->unmarked == mux_index_of(m, it))
		q->unmarked = it->next;
	*(it->prev == MUX_NONE ? &q->head : &mux_item_at(m, it->prev)->next) = it->next;
	*(it->next == MUX_NONE ? &q->tail : &mux_item_at(m, it->next)->prev) = it->prev;
	it->queued = false;
}

/** The numbers of the free items from MUX_LOW on: a stack. */
static inline uint32_t *mux_free(const struct mux_store *s)
{
	return (void *)(s->item_far + ((size_t)1 << s->items_shift << s->item_shift));
}

static inline void mux_item_free(struct mf_mux *m, struct mf_mux_item *it)
{
	struct mux_store *s = &m->store;
	uint32_t index = mux_index_of(m, it);

	if (index < MUX_LOW)
		s->low |= UINT32_C(1) << index;
	else
		mux_free(s)[s->free++] = index;
}

/** An item is through, or will never be: gives back its room. */
static inline void mux_queue_release(struct mf_mux *m, struct mf_mux_item *it)
{
	struct mux_store *s = &m->store;

	if (it->own) {
		mux_item_free(m, it);
		return;
	}
	it->done = true;
	while (s->oldest != MUX_NONE && (it = mux_item_at(m, s->oldest))->done) {
		s->read = it->end;
		s->oldest = it->younger;
		mux_item_free(m, it);
	}
	if (s->oldest == MUX_NONE)
		s->read = s->write = 0;
}

/** Blocks of the messages that are ready and have not begun. */
uint64_t mux_queue_ready(const struct mf_mux *m, mf_time now);
/** n blocks of frames were sent from s on; `sent` before them. */
void mux_queue_overtaken(struct mf_mux *m, mf_time s, uint32_t n, uint32_t sent);
/** Blocks of frames that have gone out since an item was ready. */
uint32_t mux_queue_overtakers(const struct mf_mux *m, const struct mf_mux_item *it);

/* mux_frames.c */
int mux_frames_init(struct mf_mux *m, const struct mf_mux_config *config);
void mux_frames_fini(struct mf_mux *m);
/** Whether the frame side has nothing at all, not even a gap owed: the common case of a memory fabric. */
static inline bool mux_frames_quiet(const struct mf_mux *m)
{
	return !m->frames_wait;
}

/** Octets of the frames that mf_mux_frames() counts, with their FCS. */
uint64_t mux_frames_octets(const struct mf_mux *m);

/** Whether a block of frames could be sent at time s, the gap behind a /T/ included. */
bool mux_frames_pending(const struct mf_mux *m, mf_time s);
/** Virtual clock: when the next block of frames can start; MF_NEVER: none waits. */
mf_time mux_frames_start(const struct mf_mux *m);
/**
 * Blocks up to the next /T/, when the next one starts at s, where a frame is pending. 0: only the gap
 * behind the last one is.
 * @param gaps  how many of them are gap in front of the frame
 */
uint32_t mux_frames_ahead(const struct mf_mux *m, mf_time s, uint32_t *gaps);
/** Blocks of the span that would begin at s: as above, with the gap behind the /T/ if that would be sent. */
uint32_t mux_frames_span(const struct mf_mux *m, mf_time s);
/** Puts up to n blocks behind those in the span, the first starting at s. @return how many */
uint32_t mux_frames_send(struct mf_mux *m, mf_time s, uint32_t n, struct mf_span *out);
/** The line was idle up to s. To be called before line_free is set to that. */
void mux_frames_idle(struct mf_mux *m, mf_time s);

/** n memory blocks are sent from s on: they fill the gap, or the frame in progress waits in the FIFO. */
void mux_frames_wait(struct mf_mux *m, mf_time s, uint32_t n);

/** Blocks that start before r, when the first starts at s. */
static inline uint32_t mux_blocks_before(const struct mf_mux *m, mf_time s, mf_time r)
{
	if (r <= s)
		return 0;
	if (!m->period || r - s > (mf_time)m->period * MF_SPAN_MAX)
		return MF_SPAN_MAX + 1;
	if (__builtin_expect(r - s > INT32_MAX, 0)) /* a slow line; the others save a long division */
		return (uint32_t)((r - s + m->period - 1) / m->period);
	return ((uint32_t)(r - s) + m->period - 1) / m->period;
}

#endif
