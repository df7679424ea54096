/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The TX multiplexer: one per direction of a link. Shares it between memory messages and the blocks
 * of ordinary frames, which it preempts between any two of their blocks (EDM 3.2.3).
 *
 * Memory messages wait in a queue that is sorted by the time from which they may be sent; a message
 * is indivisible: the link is held from its first block to its last (only single-block items may
 * stand inside, while it waits for blocks to arrive). Frames wait in front of the encoder; at most
 * MF_MUX_FRAME_WAIT encoded blocks wait behind it: more are not asked for (back-pressure).
 *
 * Virtual clock (period > 0): the multiplexer keeps the time at which the line is free. Blocks of
 * frames are only given out when they are in the past: a memory message that comes later still
 * splits them. Wall clock (period 0): everything that may be sent is given out at once.
 */
#ifndef MF_MUX_H
#define MF_MUX_H

#include "pcs/mf_block.h"
#include "pcs/mf_frame.h"

#define MF_MUX_FRAME_WAIT 4 /**< blocks, EDM 3.2.3 */

enum mf_mux_policy {
	MF_MUX_FAIR, /**< deficit round robin in blocks between memory and frames */
	MF_MUX_MEMORY_FIRST, /**< strict priority for memory */
	MF_MUX_NO_PREEMPT, /**< for comparison: memory waits for the end of the frame */
	MF_MUX_FIFO, /**< for comparison: memory waits for all frames that were there before it */
};

struct mf_mux_config {
	enum mf_mux_policy policy;
	uint32_t period; /**< ps a block; 0: wall clock */
	/**
	 * Room for blocks of waiting memory messages: a power of two, 64... Virtual clock: those of the usual
	 * length and shorter ones have room as long as there are items.
	 */
	uint32_t memory_blocks;
	/** Virtual clock: of the longest message of which there are many; above 48 it is none. */
	uint32_t usual_blocks;
	uint32_t memory_items; /**< room for waiting memory messages: a power of two, 8.. */
	uint32_t frames; /**< room for waiting frames: a power of two; 0: none */
	uint32_t frame_bytes; /**< room for their octets, sum of all waiting frames */
	uint16_t quantum; /**< of FAIR, in blocks: what one side may send before the other's turn */
	bool align8; /**< see mf_frame_enc_init() */
	bool memory_enabled; /**< false: a standard port; every push is refused */
	/**
	 * Wall clock: the line takes its time, a few blocks a call of mf_mux_pull(). So what waits is chosen
	 * anew at each of them, and messages are not put together, which pays where all goes out at once.
	 */
	bool shaped;
};

/** A handle of a memory message in the queue; valid until its last block was pulled. */
struct mf_mux_item;

struct mf_mux_stats {
	/* of memory messages: one cache line */
	uint64_t memory_blocks; /**< sent */
	uint64_t messages;
	mf_time waited; /**< of all memory messages together, from ready to their first block */
	uint64_t preemptions; /**< a memory message went out between two blocks of a frame */
	uint64_t aborted; /**< messages that were cut after their first block */
	/**
	 * Memory blocks that were ahead of a message when it was ready, maximum (D3): the blocks that it
	 * had to wait for less those of frames. Wall clock: those that waited when it was pushed.
	 */
	uint32_t backlog_max;
	uint32_t backlog_message_max; /**< of messages longer than one block: what a switch forwards */
	/* of frames */
	uint64_t frame_blocks, gap_blocks; /**< sent; gap: idle blocks sent */
	uint64_t gap_reused; /**< idle blocks of the gap, due behind a /T/, whose place memory blocks took */
	uint64_t frames;
	uint32_t frame_wait_max; /**< encoded frame blocks that waited, maximum: <= MF_MUX_FRAME_WAIT */
	uint64_t frames_refused; /**< no room, or a length that no frame has */
};

struct mf_mux;

/**
 * Allocates a multiplexer.
 * @return NULL with errno: EINVAL for a bad config, ENOMEM. The caller owns it; one thread at a time.
 */
struct mf_mux *mf_mux_new(const struct mf_mux_config *config);
void mf_mux_free(struct mf_mux *m);

/** Whether a message of n blocks would be taken now (with a cookie: if few enough wait for mf_mux_done()). */
bool mf_mux_room(const struct mf_mux *m, unsigned int n);

/**
 * Queues a memory message of n blocks: the first is a control block, the last too, those between
 * have the data sync header (n = 1: one control block).
 *
 * The words are written by the caller through the returned pointer, at once or in batches, each told by
 * mf_mux_append(). So the switch cuts through, and hosts build messages in place.
 *
 * @param ready   time from which the first block may be sent
 * @param tie     orders messages of equal ready time (then the order of pushing decides)
 * @param n       1..config.memory_blocks
 * @param cookie  told by mf_mux_done() when the last block has been given out; 0: not told
 * @param words   where the n words go; contiguous, owned by the multiplexer
 * @return the item, or NULL where there is no room (nothing is queued). As many items with a cookie are
 *         taken as config.memory_items, those counted that mf_mux_done() has still to tell.
 */
struct mf_mux_item *mf_mux_push(struct mf_mux *m, mf_time ready, uint32_t tie, unsigned int n,
				uint64_t cookie, uint64_t **words);

/**
 * Queues a memory message all of whose words the caller writes before the next mf_mux_pull(): as
 * mf_mux_push() and mf_mux_append(), but it cannot be aborted. Under the wall clock messages that are
 * queued so one behind the other go out in this order, together.
 *
 * @return where the n words go, or NULL where there is no room (nothing is queued)
 */
uint64_t *mf_mux_put(struct mf_mux *m, mf_time ready, uint32_t tie, unsigned int n, uint64_t cookie);

/**
 * Tells that n more words of an item have been written. Nothing is sent of an item before: until its
 * first word is there it stands in nobody's way.
 */
void mf_mux_append(struct mf_mux *m, struct mf_mux_item *it, unsigned int n);

/**
 * The last n words that were appended to an item have not come: those of them that were not given out do not
 * go. mf_mux_abort() has to follow, before anything else is asked of the multiplexer.
 */
void mf_mux_take_back(struct mf_mux_item *it, unsigned int n);

/**
 * The rest of an item will not come (D14). If nothing of it was sent, it is as if it had never been
 * pushed; otherwise the words that it has still go, and an /MT/ whose check fails behind them. Its cookie
 * is not told. The handle is no longer valid. Not for an item all of whose words were appended.
 */
void mf_mux_abort(struct mf_mux *m, struct mf_mux_item *it);

/**
 * Queues a frame: its octets are copied.
 *
 * @param now  its blocks may be sent from now on
 * @param len  1..MF_FRAME_MAX octets
 * @return false where there is no room (counted).
 */
bool mf_mux_frame(struct mf_mux *m, mf_time now, const uint8_t *frame, uint16_t len);

/** Whether a frame of len octets would be taken now. */
bool mf_mux_frame_room(const struct mf_mux *m, uint16_t len);

/** Octets of frames that wait, the encoder's one included. */
uint32_t mf_mux_frame_bytes(const struct mf_mux *m);
/** And how many they are. */
uint32_t mf_mux_frames(const struct mf_mux *m);

/**
 * Gives out the next blocks.
 *
 * Virtual clock: contiguous blocks of one memory message, the first starting now; or those of one frame
 * that started before now, up to the gap behind its /T/ (MF_SPAN_FRAME, out->start in the past). Call
 * until it returns 0, at the times that mf_mux_next() tells: memory that could have gone earlier goes
 * now.
 * Wall clock: mixed, and as many as there are.
 *
 * @param max  most blocks to give, 1..MF_SPAN_MAX
 * @return out->count. When 0, mf_mux_next() tells when to come again.
 */
unsigned int mf_mux_pull(struct mf_mux *m, mf_time now, unsigned int max, struct mf_span *out);

/**
 * The same without a copy where that is possible, which is under the wall clock.
 * @param room  where they go otherwise
 * @return the span, which stays as it is until the next pull, whatever is queued meanwhile, and may be
 *         written to until then; NULL: there is nothing
 */
struct mf_span *mf_mux_pull_in_place(struct mf_mux *m, mf_time now, struct mf_span *room);

/**
 * Under the wall clock: spans of more than one message stay short, so that whoever takes them can begin with
 * the first while the others are made. For a link whose ends are polled by different lcores.
 */
void mf_mux_short_spans(struct mf_mux *m);

/** Whether anything waits, ready or not. If not, mf_mux_pull() has nothing to give and changes nothing. */
bool mf_mux_waits(const struct mf_mux *m);

/**
 * When mf_mux_pull() should be called, if nothing is pushed before then; at that time it has something
 * to give. Virtual clock: when memory may start; or when the blocks of a frame, its gap included, are
 * through, as far as they fill a span.
 *
 * @return >= now; MF_NEVER: nothing waits
 */
mf_time mf_mux_next(const struct mf_mux *m, mf_time now);

/**
 * Virtual clock: the same, for who wants the first block of a frame when it is through, and not all of them
 * together.
 */
mf_time mf_mux_next_block(const struct mf_mux *m, mf_time now);

/**
 * Cookies of items whose last block was given out, oldest first.
 * @param at  start of that last block
 * @return the cookie, or 0 when there is none
 */
uint64_t mf_mux_done(struct mf_mux *m, mf_time *at);

/**
 * Throws away all that waits, as if it had never been queued: the line, and what is counted, are as before.
 * Cookies are not told. All words of all messages have been appended.
 */
void mf_mux_flush(struct mf_mux *m, mf_time now);
/**
 * Virtual clock: the line was down, and is there again. What waits starts now, and not when it would have
 * found the line free. Wall clock: nothing.
 */
void mf_mux_line_up(struct mf_mux *m, mf_time now);

/** A time not behind that at which the first memory message was ready that waits; MF_NEVER: none does. */
mf_time mf_mux_oldest(const struct mf_mux *m);

/** For how long, ps, nothing has been taken, though something waits; 0: nothing does. */
mf_time mf_mux_silent(const struct mf_mux *m, mf_time now);

/** For tests of what happens then: there is no room for memory, or there is again what there was. */
void mf_mux_close(struct mf_mux *m, bool closed);
/** When a memory message must be ready to stand behind all that waits: not before now. */
mf_time mf_mux_behind(const struct mf_mux *m, mf_time now);

/** What was counted by another multiplexer, in whose place this one is. */
void mf_mux_inherit(struct mf_mux *m, const struct mf_mux *from);

/** Memory blocks that wait at now: pushed, and not started before now. */
uint32_t mf_mux_backlog(const struct mf_mux *m, mf_time now);

/**
 * Octets that wait: 8 of each block of memory messages that are ready and have not begun, and the frames,
 * with their FCS; one that has begun counts until the gap behind it has gone. Virtual clock: the same in
 * whatever spans. Wall clock: any thread may ask, and has what was true a moment ago.
 */
uint64_t mf_mux_octets(const struct mf_mux *m, mf_time now);

/** Virtual clock: memory blocks that have been given out and start after now. */
uint32_t mf_mux_ahead(const struct mf_mux *m, mf_time now);

/** Blocks of memory messages of which nothing has been given out yet: the same in whatever spans. */
uint32_t mf_mux_waiting(const struct mf_mux *m);

/** A hint, which changes nothing: it will soon be used, and is fetched into the caches. */
void mf_mux_fetch(const struct mf_mux *m);
/** ... what is queued, and room for so many messages more; mf_mux_fetch() came before. */
void mf_mux_fetch_items(const struct mf_mux *m, unsigned int more);
/** ... what goes next; mf_mux_fetch() came before. */
void mf_mux_fetch_head(const struct mf_mux *m);

const struct mf_mux_stats *mf_mux_stats(const struct mf_mux *m);

#endif
