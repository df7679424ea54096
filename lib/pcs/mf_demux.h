/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The RX side of a port: takes memory blocks out of the stream, hands the rest, with idles in their
 * place, to the frame decoder (EDM 3.2, 3.2.3), and watches the sync headers.
 *
 * While the bit error rate is too high, and while there is no block lock, all that comes is taken for
 * errors (local fault, IEEE 802.3 49.2.13.2.2). Block lock is lost with the 16th bad header in 64 block
 * times, and there again when 64 went by without one: idle, of which nothing is told here, has good
 * headers. Under the wall clock blocks have no times, so a bad header is only a bad block.
 */
#ifndef MF_DEMUX_H
#define MF_DEMUX_H

#include "pcs/mf_block.h"
#include "pcs/mf_frame.h"
#include "pcs/mf_guard.h"
#include "pcs/mf_lock.h"

enum mf_rx_kind {
	MF_RX_SINGLE, /**< one block: /N/, /G/ or /MST/ */
	MF_RX_RUN, /**< blocks of one /MS/ .. /MT/ message, or a part of it */
	MF_RX_ABORT, /**< the message in progress will not be completed; at: the block that cut it */
	MF_RX_FRAME, /**< a whole frame */
};

/** What a span brought, in order. */
struct mf_rx_item {
	uint8_t kind; /**< enum mf_rx_kind */
	bool begins; /**< RUN: word[0] is its /MS/ */
	bool ends; /**< RUN: the last word is its /MT/ */
	uint16_t count; /**< SINGLE, RUN: words; FRAME: octets */
	const uint64_t *word; /**< SINGLE, RUN: into the span */
	const uint8_t *frame; /**< FRAME: without preamble and FCS; valid until the next call */
	mf_time at; /**< start of the first block; FRAME: one block behind its /T/ */
	uint32_t period; /**< ps from block to block of a RUN */
};

struct mf_demux_stats {
	uint64_t blocks; /**< seen, of all kinds; the next four add up to it */
	uint64_t memory_blocks; /**< handed out as SINGLE or RUN */
	uint64_t frame_blocks; /**< data outside messages, standard control blocks: to the decoder as is */
	uint64_t idle_blocks; /**< all-idle; inside a message they are holes */
	uint64_t bad_blocks; /**< bad sync header or type, /MT/ outside a message, all in local fault: errors
				to the decoder */
	uint64_t aborts; /**< messages begun and not completed */
};

struct mf_demux {
	struct mf_frame_dec dec;
	struct mf_ber ber;
	union {
		struct {
			bool alert; /**< a header was bad lately: each block is looked at */
			bool standard; /**< a standard port: memory kinds are bad blocks */
			bool in_message;
			bool waits; /**< a good frame does: accept_at */
		};
		uint32_t special; /**< any of these: no message is taken at a glance */
	};
	bool guarded; /**< there is a guard */
	uint32_t period; /**< 0: wall clock, where the next block or poll decides about a frame */
	mf_time accept_at; /**< a good frame waits for the block that starts now; MF_NEVER: none waits */
	struct mf_demux_stats stats;
	struct mf_ber lock; /**< bad headers of 64; of no use under the wall clock */
	mf_time unlocked; /**< until then there is no block lock */
	struct mf_guard *guard; /**< the caller's, who is told of what is bad; NULL: nobody is */
};

/**
 * @param period      ps a block; 0: wall clock
 * @param ber_window  of the hi-BER monitor, ps
 * @return 0, -EINVAL without a window, or -ENOMEM; mf_demux_fini() frees.
 */
int mf_demux_init(struct mf_demux *d, bool memory_enabled, uint32_t period, mf_time ber_window);
void mf_demux_fini(struct mf_demux *d);

/**
 * The whole message, /MS/ to /MT/, that begins at block pos, where nothing is under way: what
 * mf_demux_span() would give as one RUN, in a few instructions. It has been taken then.
 *
 * @param pos  less than s->count
 * @return its blocks, 2..; 0: something else is there, ask mf_demux_span(); nothing has been taken
 */
static inline unsigned int mf_demux_message(struct mf_demux *d, const struct mf_span *s, unsigned int pos)
{
	const uint64_t data = UINT64_C(0x0101010101010101) * MF_SYNC_DATA;
	unsigned int end = pos;
	uint64_t eight;

	if (mf_block_type(s->word[pos]) != MF_BT_MS || d->special)
		return 0;
	/* The sync headers, eight at a time: differences from what a message has that goes on. */
	__builtin_memcpy(&eight, &s->sync[pos], 8);
	eight ^= data ^ (MF_SYNC_DATA ^ MF_SYNC_CTRL);
	while (eight == 0) {
		end += 8;
		if (end >= s->count)
			return 0;
		__builtin_memcpy(&eight, &s->sync[end], 8);
		eight ^= data;
	}
	end += (unsigned int)__builtin_ctzll(eight) / 8;
	if (end >= s->count || s->sync[end] != MF_SYNC_CTRL || mf_block_type(s->word[end]) != MF_BT_MT)
		return 0;
	end -= pos - 1;
	d->stats.blocks += end;
	d->stats.memory_blocks += end;
	return end;
}

/**
 * Takes the blocks of a span from *pos on.
 *
 * Call until it returns 0. At most one FRAME is given a call, and always as the last item. Spans come
 * in the order of their blocks.
 *
 * @param pos  next block of the span; start with 0
 * @return number of items written to items[0..max)
 */
unsigned int mf_demux_span(struct mf_demux *d, const struct mf_span *s, unsigned int *pos,
			   struct mf_rx_item *items, unsigned int max);

/** When mf_demux_poll() has something to do: the block time behind a /T/ that nothing followed. */
static inline mf_time mf_demux_next(const struct mf_demux *d)
{
	return d->accept_at;
}

/** Idle has passed up to now: delivers the frame that waits for the block behind its /T/. @return 0 or 1 */
unsigned int mf_demux_poll(struct mf_demux *d, mf_time now, struct mf_rx_item *item);

/** Who is told of what is bad; NULL: nobody is any longer. */
static inline void mf_demux_guard(struct mf_demux *d, struct mf_guard *guard)
{
	d->guard = guard;
	d->guarded = guard != NULL;
}

/** A message that came whole has failed its check, at its last block, and was right when it was sent here. */
static inline void mf_demux_refused(const struct mf_demux *d, mf_time at)
{
	if (d->guard != NULL)
		mf_guard_bad(d->guard, at);
}

#endif
