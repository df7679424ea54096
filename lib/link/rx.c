/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames to blocks. What comes in its order is unpacked into spans of our own, as many as the window has, so
 * that the port has its buffer back at once.
 */
#include "base/mf_seeded_bug.h"
#include "link/link.h"

/** The first of those that wait. */
static uint16_t shift(struct mf_link *l)
{
	uint16_t span = l->rx_order[l->rx_head];

	l->rx_head = l->rx_head + 1 == l->rx_size ? 0 : l->rx_head + 1;
	l->rx_held--;
	return span;
}

/** There are as many spans as the window has frames, and one more. */
static void keep(struct mf_link *l, mf_time now, const uint8_t *frame)
{
	uint16_t span = l->rx_free[--l->rx_frees];
	uint32_t at = l->rx_head + l->rx_held++;

	l->rx_order[at < l->rx_size ? at : at - l->rx_size] = span;
	mf_link_frame_get(frame, &l->rx_span[span]);
	if (__builtin_expect(l->config.delay != 0, 0))
		l->rx_span[span].start = now + l->config.delay;
	l->stats.rx_data_frames++;
	l->stats.rx_data_blocks += mf_link_frame_head(frame)->blocks;
}

bool mf_link_waits(const struct mf_link *l)
{
	return l->rx_held != 0;
}

mf_time mf_link_due(const struct mf_link *l)
{
	return l->rx_span[l->rx_order[l->rx_head]].start;
}

struct mf_span *mf_link_take(struct mf_link *l)
{
	if (l->rx_held == 0)
		return NULL;
	if (l->rx_lends)
		l->rx_free[l->rx_frees++] = l->rx_lent;
	l->rx_lends = true;
	l->rx_lent = shift(l);
	if (l->config.retransmit)
		llr_room(&l->llr, link_limit(l));
	return &l->rx_span[l->rx_lent];
}

void link_rx_drop(struct mf_link *l)
{
	while (l->rx_held > 0) {
		uint16_t span = shift(l);

		l->stats.rx_untaken_blocks += l->rx_span[span].count;
		l->rx_free[l->rx_frees++] = span;
	}
}

static void rx_data(struct mf_link *l, mf_time now, const uint8_t *frame)
{
	uint32_t seq = mf_link_frame_head(frame)->seq;
	bool room = l->rx_held < l->config.window;
	enum llr_data data = l->config.retransmit
				     ? llr_received(&l->llr, now, seq, room, &l->stats.rx_missing_frames)
				     : llr_received_once(&l->llr, seq, room, &l->stats.rx_missing_frames);

	switch (data) {
	case LLR_DATA_TAKE:
		keep(l, now, frame);
		break;
	case LLR_DATA_DUPLICATE:
		l->stats.rx_duplicate_frames++;
		break;
	case LLR_DATA_GAP:
		l->stats.rx_gap_frames++;
		break;
	case LLR_DATA_OUTSIDE:
		l->stats.rx_outside_frames++;
		break;
	case LLR_DATA_NO_ROOM:
		l->stats.rx_no_room_frames++;
		break;
	}
}

/** @return whether its ack is good */
static bool rx_acked(struct mf_link *l, mf_time now, const struct mf_link_head *h)
{
	switch (llr_acked(&l->llr, now, h->ack, h->limit)) {
	case LLR_ACK_GOOD:
		return true;
	case LLR_ACK_BAD_LIMIT:
		l->stats.rx_bad_limits++;
		return true;
	case LLR_ACK_OLD:
		l->stats.rx_old_acks++;
		return false;
	case LLR_ACK_BAD:
		break;
	}
	l->stats.rx_bad_acks++;
	return false;
}

static void rx_ack(struct mf_link *l, const struct mf_link_head *h)
{
	if ((h->flags & MF_LINK_POLL) == 0) {
		l->stats.rx_ack_frames++;
		return;
	}
	l->stats.rx_poll_frames++;
	if (l->config.retransmit)
		llr_polled(&l->llr, h->seq, &l->stats.rx_missing_frames);
}

static void rx_nack(struct mf_link *l, mf_time now, const struct mf_link_head *h, bool acked)
{
	l->stats.rx_nack_frames++;
	if (!acked || !l->config.retransmit)
		return;
	switch (llr_nacked(&l->llr, now, h->ack)) {
	case LLR_NACK_REPLAY:
		l->stats.tx_nack_replays++;
		break;
	case LLR_NACK_HELD:
		l->stats.tx_held_nacks++;
		break;
	case LLR_NACK_NOTHING:
		break;
	}
}

static void rx_bye(struct mf_link *l, const struct mf_link_bye *b)
{
	l->stats.rx_bye_frames++;
	link_down(l, b->leave == MF_LINK_GAVE_UP ? MF_LINK_DOWN_PARTNER_GAVE_UP : MF_LINK_DOWN_PARTNER_LEFT,
		  0);
}

/** A frame of this connection whose contents are good. */
static void rx_connection(struct mf_link *l, mf_time now, const uint8_t *frame, const struct mf_link_head *h)
{
	bool acked = true;

	l->heard = now;
	if (l->config.retransmit)
		acked = rx_acked(l, now, h);
	switch (h->type) {
	case MF_LINK_DATA:
		rx_data(l, now, frame);
		break;
	case MF_LINK_ACK:
		rx_ack(l, h);
		break;
	case MF_LINK_NACK:
		rx_nack(l, now, h, acked);
		break;
	default:
		rx_bye(l, mf_link_frame_body(frame));
	}
}

/** Whether a frame with a tag is one of this connection; it may be what begins it. */
static bool is_ours(struct mf_link *l, mf_time now, const struct mf_link_head *h)
{
	if (l->up && (h->epoch == l->tag || MF_SEEDED_BUG(stale_connection)))
		return true;
	if (l->up)
		l->stats.rx_stale_frames++;
	else if (h->type != MF_LINK_BYE && link_prove(l, now, h->epoch))
		return true;
	else
		l->stats.rx_down_frames++;
	return false;
}

static bool is_good(struct mf_link *l, const uint8_t *frame, const struct mf_link_head *h)
{
	if (mf_link_frame_good(frame) && h->blocks <= l->config.blocks)
		return true;
	l->stats.rx_malformed_frames++;
	return false;
}

/** Frames that are no connection's. */
static void rx_other(struct mf_link *l, mf_time now, const uint8_t *frame, const struct mf_link_head *h)
{
	if (h->type == 0 || h->type >= MF_LINK_TYPES)
		l->stats.rx_type_frames++;
	else if (!is_good(l, frame, h))
		return;
	else if (h->type == MF_LINK_HELLO)
		link_rx_hello(l, now, frame);
	else if (h->type == MF_LINK_PROBE)
		link_rx_probe(l, now, h);
	else
		link_rx_refuse(l, frame);
}

void mf_link_rx(struct mf_link *l, mf_time now, const uint8_t *frame)
{
	const struct mf_link_head *h = mf_link_frame_head(frame);

	if (((h->flags & MF_LINK_FROM_SWITCH) != 0) == l->config.switch_end)
		l->stats.rx_reflected_frames++;
	else if (h->version != MF_LINK_VERSION && h->type != MF_LINK_REFUSE)
		link_rx_version(l, now, frame);
	else if (h->type < MF_LINK_DATA || h->type > MF_LINK_BYE)
		rx_other(l, now, frame, h);
	else if (is_ours(l, now, h) && is_good(l, frame, h))
		rx_connection(l, now, frame, h);
}

void mf_link_damaged(struct mf_link *l, mf_time now)
{
	(void)now;
	l->stats.rx_damaged_frames++;
	if (l->up && l->config.retransmit)
		llr_damaged(&l->llr);
}
