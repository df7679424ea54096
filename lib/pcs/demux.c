/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The RX side of a port: memory blocks to the core, the rest to the frame decoder (EDM 3.2, 3.2.3).
 *
 *     outside a message          inside
 *     /MS/        -> inside      /MS/, frame or bad block -> ABORT, then as outside
 *     /N/ /G/ /MST/  SINGLE      the same
 *     data           frame's     of the message; /MT/ -> outside
 *     idle           decoder     a hole
 *
 * In local fault every block is a bad one.
 */
#include <errno.h>
#include <string.h>

#include "base/mf_cycles.h"
#include "pcs/mf_demux.h"

enum kind {
	BAD,
	BLIND, /**< bad or not: in local fault */
	STANDARD, /**< to the decoder, right or wrong */
	IDLE,
	DATA,
	/* memfab's own */
	SINGLE,
	START,
	END,
};

static const uint8_t kind_of_type[256] = {
	[MF_BT_C] = STANDARD,    [MF_BT_C_O4] = STANDARD, [MF_BT_C_S4] = STANDARD, [MF_BT_O_S4] = STANDARD,
	[MF_BT_O_O4] = STANDARD, [MF_BT_S] = STANDARD,    [MF_BT_O_C] = STANDARD,  [MF_BT_T0] = STANDARD,
	[MF_BT_T1] = STANDARD,   [MF_BT_T2] = STANDARD,   [MF_BT_T3] = STANDARD,   [MF_BT_T4] = STANDARD,
	[MF_BT_T5] = STANDARD,   [MF_BT_T6] = STANDARD,   [MF_BT_T7] = STANDARD,   [MF_BT_MS] = START,
	[MF_BT_MT] = END,        [MF_BT_MST] = SINGLE,    [MF_BT_N] = SINGLE,      [MF_BT_G] = SINGLE,
};

/** Headers among which block lock looks for bad ones (figure 49-12). */
#define LOCK_HEADERS 64

int mf_demux_init(struct mf_demux *d, bool memory_enabled, uint32_t period, mf_time ber_window)
{
	if (!ber_window)
		return -EINVAL;
	*d = (struct mf_demux){.standard = !memory_enabled, .period = period, .accept_at = MF_NEVER};
	mf_ber_init(&d->ber, ber_window);
	if (period != 0)
		mf_ber_init(&d->lock, LOCK_HEADERS * (mf_time)period);
	return mf_frame_dec_init(&d->dec);
}

void mf_demux_fini(struct mf_demux *d)
{
	mf_frame_dec_fini(&d->dec);
}

/**
 * Behind a bad header: whether the receiver is in local fault still. Where there is a guard that lasts
 * until the link's owner has reset it, when the other end knows. @return local fault
 */
static __attribute__((noinline)) bool look(struct mf_demux *d, mf_time at)
{
	bool unlocked = at < d->unlocked || (d->guard != NULL && mf_guard_is_deaf(d->guard));

	mf_ber_feed(&d->ber, at, false);
	d->alert = d->ber.ber_cnt != 0 || d->ber.hi_ber || unlocked;
	return d->period != 0 && (d->ber.hi_ber || unlocked);
}

static enum kind kind_of(struct mf_demux *d, uint8_t sync, uint64_t word, mf_time at)
{
	enum kind kind;

	if (__builtin_expect(d->alert, 0) && look(d, at))
		return BLIND;
	if (sync == MF_SYNC_DATA)
		return DATA;
	if (sync != MF_SYNC_CTRL)
		return BAD;
	if (word == MF_IDLE_WORD)
		return IDLE;
	kind = (enum kind)kind_of_type[mf_block_type(word)];
	if (kind >= SINGLE && d->standard)
		return BAD;
	return kind == END && !d->in_message ? BAD : kind;
}

/** Gives the decoder a block. @return 1 if the frame that waited for it is in *item */
static unsigned int decode(struct mf_demux *d, uint8_t sync, uint64_t word, mf_time at,
			   struct mf_rx_item *item)
{
	mf_time accept_at = d->accept_at;
	const uint8_t *frame;
	unsigned int len = mf_frame_dec_block(&d->dec, sync, word, &frame);

	d->waits = mf_frame_dec_waiting(&d->dec);
	d->accept_at = d->waits ? at + d->period : MF_NEVER;
	if (!len)
		return 0;
	*item = (struct mf_rx_item){
		.kind = MF_RX_FRAME, .count = (uint16_t)len, .frame = frame, .at = accept_at};
	return 1;
}

/** No block of frames follows the /T/ of the frame that waits: the line is idle there. */
static unsigned int accept(struct mf_demux *d, struct mf_rx_item *item)
{
	return decode(d, MF_SYNC_CTRL, MF_IDLE_WORD, d->accept_at, item);
}

/** First block from i on that is not data. */
static unsigned int skip_data(const struct mf_span *s, unsigned int i)
{
	const uint64_t data = UINT64_C(0x0101010101010101) * MF_SYNC_DATA;
	uint64_t eight;

	for (; i + 8 <= s->count; i += 8) {
		memcpy(&eight, &s->sync[i], 8);
		if (eight != data)
			return i + (unsigned int)__builtin_ctzll(eight ^ data) / 8;
	}
	while (i < s->count && s->sync[i] == MF_SYNC_DATA)
		i++;
	return i;
}

static void memory_item(struct mf_demux *d, const struct mf_span *s, unsigned int i, unsigned int end,
			struct mf_rx_item *item)
{
	item->count = (uint16_t)(end - i);
	item->word = &s->word[i];
	item->frame = NULL;
	item->at = mf_span_at(s, i);
	item->period = s->period;
	d->stats.memory_blocks += end - i;
}

/** A /MS/, or what follows one, to the next hole, single or the /MT/. @return the block behind */
static unsigned int take_run(struct mf_demux *d, const struct mf_span *s, unsigned int i,
			     struct mf_rx_item *item)
{
	bool begins = !d->in_message, ends;
	unsigned int end = skip_data(s, i + begins);

	ends = end < s->count && s->sync[end] == MF_SYNC_CTRL && mf_block_type(s->word[end]) == MF_BT_MT;
	end += ends;
	item->kind = MF_RX_RUN;
	item->begins = begins;
	item->ends = ends;
	memory_item(d, s, i, end, item);
	d->in_message = !ends;
	return end;
}

static void take_abort(struct mf_demux *d, mf_time at, struct mf_rx_item *item)
{
	*item = (struct mf_rx_item){.kind = MF_RX_ABORT, .at = at};
	d->in_message = false;
	d->stats.aborts++;
}

/** A sync header that is none. */
static void bad_header(struct mf_demux *d, mf_time at)
{
	uint32_t before = d->ber.ber_cnt;

	d->alert = true;
	mf_ber_feed(&d->ber, at, true);
	if (d->ber.ber_cnt == MF_BER_LIMIT && before != MF_BER_LIMIT && d->guard != NULL)
		mf_guard_trip(d->guard, at, MF_GUARD_HI_BER);
	if (d->period == 0)
		return;
	mf_ber_feed(&d->lock, at, true);
	if (!d->lock.hi_ber && at >= d->unlocked)
		return;
	d->lock.hi_ber = false; /* it counts anew when it is there again */
	d->lock.ber_cnt = 0;
	d->unlocked = at + LOCK_HEADERS * (mf_time)d->period;
	if (d->guard != NULL)
		mf_guard_trip(d->guard, at, MF_GUARD_LOCK);
}

/** @return what the decoder is to make of it */
static uint64_t bad_block(struct mf_demux *d, enum kind kind, uint8_t sync, uint64_t word, mf_time at)
{
	bool header = sync != MF_SYNC_DATA && sync != MF_SYNC_CTRL;

	d->stats.bad_blocks++;
	if (d->guard != NULL && (kind == BAD || header))
		mf_guard_bad(d->guard, at);
	if (header)
		bad_header(d, at);
	return kind == BLIND ? MF_ERROR_WORD : word;
}

/** A block that is not memory's. @return items */
static unsigned int take_other(struct mf_demux *d, enum kind kind, const struct mf_span *s, unsigned int i,
			       struct mf_rx_item *item)
{
	mf_time at = mf_span_at(s, i);
	uint64_t word = s->word[i];

	if (kind == BAD || kind == BLIND)
		word = bad_block(d, kind, s->sync[i], word, at);
	d->stats.idle_blocks += kind == IDLE;
	d->stats.frame_blocks += kind == STANDARD || kind == DATA;
	return decode(d, kind == BLIND ? MF_SYNC_CTRL : s->sync[i], word, at, item);
}

/** Data of a frame, to the next block that is not. @return the block behind */
static unsigned int take_data(struct mf_demux *d, const struct mf_span *s, unsigned int i)
{
	unsigned int end = skip_data(s, i);

	d->stats.frame_blocks += end - i;
	mf_frame_dec_data(&d->dec, &s->word[i], end - i);
	return end;
}

/** Takes what begins at block *pos. @return items: 0 or 1 */
static unsigned int take(struct mf_demux *d, const struct mf_span *s, unsigned int *pos,
			 struct mf_rx_item *item)
{
	unsigned int i = *pos;
	enum kind kind = kind_of(d, s->sync[i], s->word[i], mf_span_at(s, i));
	bool inside = d->in_message;

	if (d->waits && (kind >= SINGLE || (d->period && mf_span_at(s, i) > d->accept_at)))
		return accept(d, item);
	if (inside && (kind == START || kind == STANDARD || kind == BAD || kind == BLIND)) {
		take_abort(d, mf_span_at(s, i), item);
		return 1;
	}
	if (kind == START || kind == END || (inside && kind == DATA)) {
		*pos = take_run(d, s, i, item);
		return 1;
	}
	if (kind == DATA && !d->waits) {
		*pos = take_data(d, s, i);
		return 0;
	}
	*pos = i + 1;
	if (kind == SINGLE) {
		item->kind = MF_RX_SINGLE;
		memory_item(d, s, i, i + 1, item);
		return 1;
	}
	if (inside) {
		d->stats.idle_blocks++;
		return 0;
	}
	return take_other(d, kind, s, i, item);
}

unsigned int mf_demux_span(struct mf_demux *d, const struct mf_span *s, unsigned int *pos,
			   struct mf_rx_item *items, unsigned int max)
{
	MF_CYCLES(MF_CYCLES_DEMUX);
	unsigned int n = 0, from = *pos;

	if (from == s->count)
		return 0;
	while (*pos < s->count && n < max) {
		n += take(d, s, pos, &items[n]);
		if (n && items[n - 1].kind == MF_RX_FRAME)
			break;
	}
	d->stats.blocks += *pos - from;
	/* Good headers only end windows: worth a look where one has seen a bad header. */
	if (d->alert)
		look(d, mf_span_at(s, *pos ? *pos - 1 : 0));
	return n;
}

unsigned int mf_demux_poll(struct mf_demux *d, mf_time now, struct mf_rx_item *item)
{
	return now >= d->accept_at ? accept(d, item) : 0;
}
