/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks to frames. Blocks go behind each other into the open frame, each payload to its place in the slot
 * where the frame will stay until it is acknowledged; sync headers are packed aside, since it is only known
 * at the end where they begin. A frame is closed when it is full, or when it is emitted: then its header is
 * written, once.
 */
#include <string.h>

#include "link/link.h"
#include "link/sync.h"

static uint8_t *slot_of(const struct mf_link *l, uint32_t seq)
{
	return l->tx_slot + (size_t)((seq - l->tx_origin) & l->tx_mask) * l->tx_stride;
}

static uint16_t *blocks_of(const struct mf_link *l, uint32_t seq)
{
	return &l->tx_blocks[(seq - l->tx_origin) & l->tx_mask];
}

bool mf_link_can_put(const struct mf_link *l)
{
	return l->up ? l->tx_end - l->llr.nxt < l->tx_queue : l->ever;
}

/** Two at a time, so that few are copied without a call: there is room for one behind the last. */
static void copy_words(uint8_t *to, const uint64_t *word, unsigned int n)
{
	if (n > MF_BLOCKS_FEW) {
		memcpy(to, word, 8 * (size_t)n);
		return;
	}
	for (unsigned int i = 0; i < n; i += 2)
		memcpy(to + 8 * i, word + i, 16);
}

/** n more behind `at`; what is behind the last of them in its word is 0. */
static void append_sync(uint64_t *to, unsigned int at, const uint8_t *sync, unsigned int n)
{
	for (unsigned int m; n > 0; at += m, sync += m, n -= m) {
		unsigned int shift = 2 * (at % 32);
		uint64_t bits;

		m = n < 32 ? n : 32;
		bits = sync_pack(sync, m);
		to += at / 32;
		at %= 32;
		if (shift == 0) {
			to[0] = bits;
			continue;
		}
		to[0] |= bits << shift;
		if (shift + 2 * m > 64)
			to[1] = bits >> (64 - shift);
	}
}

/** The open frame gets no more blocks. */
static void close_frame(struct mf_link *l)
{
	unsigned int octets = 8 * MF_LINK_SYNC_WORDS(l->tx_open);

	memcpy(slot_of(l, l->tx_end) + LINK_TX_WORDS - octets, l->tx_sync, octets);
	*blocks_of(l, l->tx_end) = l->tx_open;
	l->tx_open = 0;
	l->tx_end++;
}

static void append(struct mf_link *l, const struct mf_span *span)
{
	for (unsigned int at = 0, n; at < span->count; at += n) {
		unsigned int room = l->tx_cut - l->tx_open;

		n = span->count - at;
		n = n < room ? n : room;
		copy_words(slot_of(l, l->tx_end) + LINK_TX_WORDS + 8 * l->tx_open, span->word + at, n);
		append_sync(l->tx_sync, l->tx_open, span->sync + at, n);
		l->tx_open += (uint16_t)n;
		if (l->tx_open == l->tx_cut)
			close_frame(l);
	}
}

void mf_link_put(struct mf_link *l, const struct mf_span *span)
{
	uint32_t used = l->tx_end - l->llr.una;

	if (!l->up) {
		l->stats.tx_down_blocks += span->count;
		return;
	}
	if (used + l->tx_queue >= l->tx_mask) {
		l->stats.tx_no_room_blocks += span->count;
		return;
	}
	/* A link that has nothing under way begins again with slot 0: it is still in the cache. */
	if (used + l->tx_open == 0)
		l->tx_origin = l->tx_end;
	/* A span that fits a frame stays whole: so do its messages, and the receiver is faster with those. */
	if (l->tx_open + span->count > l->tx_cut && span->count <= l->tx_cut && l->tx_open != 0)
		close_frame(l);
	append(l, span);
}

void link_tx_drop(struct mf_link *l)
{
	for (uint32_t seq = l->llr.una; seq != l->tx_end; seq++)
		l->stats.tx_unsent_blocks += *blocks_of(l, seq);
	l->stats.tx_unsent_blocks += l->tx_open;
	l->tx_end = l->llr.una;
	l->tx_open = 0;
}

static uint8_t *frame_of(const struct mf_link *l, uint32_t seq)
{
	unsigned int sync = 8 * MF_LINK_SYNC_WORDS(*blocks_of(l, seq));

	return slot_of(l, seq) + LINK_TX_WORDS - sync - sizeof(struct mf_link_head);
}

/** Writes the header: from now on the frame is what it is. */
static void seal(struct mf_link *l, uint8_t *frame, unsigned int blocks)
{
	struct mf_link_head *h = (struct mf_link_head *)frame;

	*h = l->head;
	h->seq = l->llr.nxt;
	h->ack = l->llr.expected;
	h->limit = link_limit(l);
	h->blocks = (uint16_t)blocks;
	h->length = (uint16_t)MF_LINK_BODY(blocks);
	mf_link_frame_seal(frame);
	llr_tell(&l->llr, h->limit);
	l->stats.tx_data_frames++;
	l->stats.tx_data_blocks += blocks;
}

static void pace(struct mf_link *l, mf_time now, unsigned int blocks)
{
	mf_time period = l->config.pace_period != 0 ? l->config.pace_period : l->config.period;
	mf_time full = l->config.burst != 0 ? l->config.burst : l->tx_cut * period;

	l->pace_at = mf_time_max(l->pace_at, now > full ? now - full : 0) + blocks * period;
}

static const uint8_t *put_data(struct mf_link *l, mf_time now, enum llr_emit emit, uint16_t *len)
{
	uint32_t seq = l->llr.cursor;
	uint8_t *frame;

	if (seq == l->tx_end)
		close_frame(l);
	frame = frame_of(l, seq);
	if (emit == LLR_EMIT_NEW)
		seal(l, frame, *blocks_of(l, seq));
	else
		l->stats.tx_replayed_frames++;
	llr_emitted(&l->llr, now);
	if (!l->config.retransmit)
		llr_acked(&l->llr, now, l->llr.nxt, l->llr.nxt + l->llr.config.partner_window);
	if (l->config.pace)
		pace(l, now, *blocks_of(l, seq));
	*len = (uint16_t)(sizeof(struct mf_link_head) + MF_LINK_BODY(*blocks_of(l, seq)));
	return frame;
}

static const uint8_t *put_ack(struct mf_link *l, uint8_t type, uint16_t flags, uint16_t *len)
{
	struct mf_link_head h = l->head;

	h.type = type;
	h.flags |= flags;
	h.seq = l->llr.nxt;
	h.ack = l->llr.expected;
	h.limit = link_limit(l);
	/* The ACK that is due goes as well: it repairs the loss of a NACK. */
	if (type != MF_LINK_NACK)
		llr_tell(&l->llr, h.limit);
	*len = mf_link_frame_put_control(l->control, &h, NULL, 0);
	return l->control;
}

/** What has to go before blocks. */
static const uint8_t *tx_control(struct mf_link *l, mf_time now, enum llr_emit emit, uint16_t *len)
{
	if (l->llr.nack) {
		l->llr.nack = false;
		l->stats.tx_nack_frames++;
		return put_ack(l, MF_LINK_NACK, 0, len);
	}
	if (l->llr.poll) {
		l->llr.poll = false;
		l->stats.tx_poll_frames++;
		return put_ack(l, MF_LINK_ACK, MF_LINK_POLL, len);
	}
	/* A new frame tells it, a replayed one does not. */
	if (emit != LLR_EMIT_NEW && llr_ack_due(&l->llr, now)) {
		l->stats.tx_ack_frames++;
		return put_ack(l, MF_LINK_ACK, 0, len);
	}
	return NULL;
}

const uint8_t *mf_link_tx(struct mf_link *l, mf_time now, uint16_t *len)
{
	enum llr_emit emit;
	const uint8_t *frame;

	if (now >= l->greet_at) {
		frame = link_greet(l, now, len);
		if (frame != NULL)
			return frame;
	}
	if (!l->up)
		return NULL;
	emit = now >= l->pace_at ? llr_may_emit(&l->llr, link_tx_end(l)) : LLR_EMIT_NONE;
	frame = tx_control(l, now, emit, len);
	if (frame != NULL)
		return frame;
	if (emit != LLR_EMIT_NONE)
		return put_data(l, now, emit, len);
	if (llr_stalled(&l->llr, now, link_tx_end(l)))
		l->stats.tx_limit_stalls++;
	return NULL;
}
