/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The frame side of the multiplexer: frames that wait, the encoder, and the FIFO behind it (EDM 3.2.3).
 *
 * A frame enters the encoder when its start may be sent. Between frames the encoder pays the gap; while
 * a frame is in progress and memory preempts it, the encoder fills the FIFO and then is held back.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pcs/mux.h"

int mux_frames_init(struct mf_mux *m, const struct mf_mux_config *config)
{
	struct mux_frames *f = &m->frames;
	uint32_t n = config->frames;

	mf_frame_enc_init(&f->enc, config->align8);
	if (!n)
		return 0;
	if (n & (n - 1) || config->frame_bytes == 0)
		return -EINVAL;
	f->mask = n - 1;
	f->size = config->frame_bytes;
	f->near = n == 2 && f->size >= 3 * MF_FRAME_MAX; /* wherever the other one is, there is room */
	f->frame = malloc(n * sizeof(*f->frame)); /* not cleared: few are ever touched */
	f->octet = malloc(f->size);
	return f->frame && f->octet ? 0 : -ENOMEM;
}

void mux_frames_fini(struct mf_mux *m)
{
	free(m->frames.frame);
	free(m->frames.octet);
}

static struct mux_frame *frame_at(const struct mux_frames *f, uint32_t position)
{
	return &f->frame[position & f->mask];
}

/** Where len octets fit in one piece, or -1. */
static int64_t place(const struct mux_frames *f, uint32_t len)
{
	uint32_t oldest;

	if (f->put == f->get)
		return len <= f->size ? 0 : -1;
	oldest = frame_at(f, f->get)->at;
	if (f->write <= oldest)
		return len <= oldest - f->write ? (int64_t)f->write : -1;
	if (len <= f->size - f->write && !(f->near && len <= oldest))
		return (int64_t)f->write;
	return len <= oldest ? 0 : -1;
}

/** As place(), for whatever length, and whether there is a slot. */
static int64_t room(const struct mux_frames *f, uint16_t len)
{
	bool slot = f->frame && f->put - f->get <= f->mask;

	return slot && len && len <= MF_FRAME_MAX ? place(f, len) : -1;
}

bool mf_mux_frame_room(const struct mf_mux *m, uint16_t len)
{
	return room(&m->frames, len) >= 0;
}

/** Blocks went, or a frame came. One in progress stays in the ring until its /T/ was sent. */
static void note_waiting(struct mf_mux *m)
{
	const struct mux_frames *f = &m->frames;

	m->frames_wait = f->put != f->get || f->enc.owed || f->enc.close;
}

bool mf_mux_frame(struct mf_mux *m, mf_time now, const uint8_t *frame, uint16_t len)
{
	struct mux_frames *f = &m->frames;
	int64_t at = room(f, len);

	if (at < 0) {
		m->stats.frames_refused++;
		return false;
	}
	memcpy(f->octet + at, frame, len);
	*frame_at(f, f->put++) = (struct mux_frame){.queued = now, .at = (uint32_t)at, .len = len};
	f->write = (uint32_t)at + len;
	f->bytes += len;
	m->frames_wait = true;
	return true;
}

uint32_t mf_mux_frame_bytes(const struct mf_mux *m)
{
	return m->frames.bytes;
}

/** Whether a frame that is not in the encoder could start at s. */
static bool startable(const struct mux_frames *f, uint32_t position, mf_time s)
{
	return position != f->put && frame_at(f, position)->queued <= s;
}

/**
 * Virtual clock: the gap behind the last frame goes out with it, in one span. So the frame counts until the
 * gap has gone, in whatever spans; unless another one takes the gap's place.
 */
uint32_t mf_mux_frames(const struct mf_mux *m)
{
	const struct mux_frames *f = &m->frames;

	return f->put - f->get + (f->ended && !startable(f, f->get, m->line_free));
}

uint64_t mux_frames_octets(const struct mf_mux *m)
{
	const struct mux_frames *f = &m->frames;
	uint64_t octets = f->bytes;

	if (f->ended && !startable(f, f->get, m->line_free))
		octets += frame_at(f, f->get - 1)->len;
	return octets + (uint64_t)MF_FCS_LEN * mf_mux_frames(m);
}

bool mux_frames_pending(const struct mf_mux *m, mf_time s)
{
	const struct mux_frames *f = &m->frames;

	return f->left || mf_frame_enc_busy(&f->enc) || startable(f, f->get, s);
}

mf_time mux_frames_start(const struct mf_mux *m)
{
	const struct mux_frames *f = &m->frames;

	if (f->left || mf_frame_enc_busy(&f->enc))
		return m->line_free;
	return f->put == f->get ? MF_NEVER : mf_time_max(m->line_free, frame_at(f, f->get)->queued);
}

/** Octets that an idle line has paid of the gap when a block starts at s. */
static uint32_t idle_octets(const struct mf_mux *m, mf_time s)
{
	mf_time idle = s > m->line_free ? s - m->line_free : 0;

	if (!m->period || !idle)
		return 0;
	return idle < 4 * (mf_time)m->period ? 8 * (uint32_t)idle / m->period : 32;
}

/** Idle blocks that the encoder would give in front of a start, and the lane of that. */
static uint32_t gaps_owed(const struct mf_frame_enc *e, uint32_t owed, uint32_t *lane)
{
	uint32_t limit = e->slack < 4 ? e->slack + 4U : e->slack;
	uint32_t gaps = owed > limit ? (owed - limit + 7) / 8 : 0;

	owed = owed > 8 * gaps ? owed - 8 * gaps : 0;
	*lane = owed > e->slack ? 4 : 0;
	return gaps;
}

/** Blocks of a frame from its start to its /T/. */
static uint32_t frame_blocks(uint32_t lane, uint32_t len)
{
	if (len < MF_FRAME_MIN)
		len = MF_FRAME_MIN;
	return (lane + 8 + len + MF_FCS_LEN) / 8 + 1;
}

uint32_t mux_frames_ahead(const struct mf_mux *m, mf_time s, uint32_t *gaps)
{
	const struct mux_frames *f = &m->frames;
	uint32_t idle = idle_octets(m, s), owed = f->enc.owed > idle ? f->enc.owed - idle : 0;
	uint32_t lane;

	*gaps = 0;
	if (f->left)
		return f->left;
	if (mf_frame_enc_open(&f->enc) && !startable(f, f->get, s))
		return 0;
	*gaps = gaps_owed(&f->enc, owed, &lane);
	return *gaps + frame_blocks(lane, frame_at(f, f->get)->len);
}

uint32_t mux_frames_span(const struct mf_mux *m, mf_time s)
{
	uint32_t gaps, ahead = mux_frames_ahead(m, s, &gaps);

	if (!ahead)
		return 1;
	return ahead + !startable(&m->frames, m->frames.get + 1, s + (mf_time)ahead * m->period);
}

static void start(struct mux_frames *f)
{
	const struct mux_frame *frame = frame_at(f, f->get);

	mf_frame_enc_start(&f->enc, f->octet + frame->at, frame->len);
}

/** Blocks of the frame that has begun are sent. */
static void sent_blocks(struct mf_mux *m, uint32_t n)
{
	struct mux_frames *f = &m->frames;

	m->stats.frame_blocks += n;
	f->left -= n;
	if (f->left)
		return;
	m->stats.frames++;
	f->ended = m->period != 0;
	f->bytes -= frame_at(f, f->get++)->len;
}

static void put(struct mf_mux *m, enum mf_frame_part part, const struct mf_block *b, struct mf_span *out)
{
	struct mux_frames *f = &m->frames;

	mf_span_put(out, b->sync, b->word);
	f->ended = false;
	if (part == MF_FRAME_GAP) {
		m->stats.gap_blocks++;
		return;
	}
	if (!f->left)
		f->left = frame_blocks(mf_block_type(b->word) == MF_BT_S ? 0 : 4, f->enc.len);
	sent_blocks(m, 1);
}

/** Of a frame that has begun: many at once, at most max. @return how many */
static uint32_t put_body(struct mf_mux *m, uint32_t max, struct mf_span *out)
{
	struct mux_frames *f = &m->frames;
	uint32_t n;

	if (!f->left || f->fifo_get != f->fifo_put)
		return 0;
	n = mf_frame_enc_blocks(&f->enc, out->word + out->count, out->sync + out->count, max);
	out->count += (uint16_t)n;
	if (n)
		sent_blocks(m, n);
	return n;
}

/** The next block that is due: out of the FIFO, else straight from the encoder. */
static enum mf_frame_part next_block(struct mux_frames *f, struct mf_block *b)
{
	if (f->fifo_get == f->fifo_put)
		return mf_frame_enc_next(&f->enc, b);
	*b = f->fifo[f->fifo_get++ % MF_MUX_FRAME_WAIT];
	return MF_FRAME_BODY;
}

uint32_t mux_frames_send(struct mf_mux *m, mf_time s, uint32_t n, struct mf_span *out)
{
	struct mux_frames *f = &m->frames;
	enum mf_frame_part part;
	struct mf_block b;
	uint32_t i;

	if (!f->left)
		mf_frame_enc_gap(&f->enc, idle_octets(m, s));
	for (i = 0; i < n; i++) {
		bool between = !f->left && mf_frame_enc_open(&f->enc);

		if (between && startable(f, f->get, s + (mf_time)i * m->period)) {
			/* Under the virtual clock one frame at most is in a span: it waits for no other. */
			if (i && m->period)
				break;
			start(f);
		}
		part = next_block(f, &b);
		if (part == MF_FRAME_NONE)
			break;
		put(m, part, &b, out);
		i += put_body(m, n - i - 1, out);
	}
	note_waiting(m);
	return i;
}

void mux_frames_idle(struct mf_mux *m, mf_time s)
{
	if (!m->frames.left)
		mf_frame_enc_gap(&m->frames.enc, idle_octets(m, s));
}

/** Memory takes the place of the gap. */
static void fill_gap(struct mf_mux *m, uint32_t blocks)
{
	struct mf_frame_enc *e = &m->frames.enc;
	bool due = mf_frame_enc_open(e) && mf_frame_enc_busy(e);
	uint32_t lane, gaps = gaps_owed(e, e->owed, &lane);
	struct mf_block b;

	m->frames.ended = false;
	m->stats.gap_reused += due && !gaps ? 1 : gaps;
	if (due) {
		mf_frame_enc_next(e, &b);
		blocks--;
	}
	mf_frame_enc_gap(e, 8 * blocks);
	m->stats.gap_reused -= gaps_owed(e, e->owed, &lane);
}

void mux_frames_wait(struct mf_mux *m, mf_time s, uint32_t n)
{
	struct mux_frames *f = &m->frames;
	uint32_t waiting = f->fifo_put - f->fifo_get;

	if (!f->left) {
		mf_frame_enc_gap(&f->enc, idle_octets(m, s));
		if (f->enc.owed || mf_frame_enc_busy(&f->enc))
			fill_gap(m, n);
		note_waiting(m);
		return;
	}
	while (n-- && waiting < MF_MUX_FRAME_WAIT && waiting < f->left) {
		mf_frame_enc_next(&f->enc, &f->fifo[f->fifo_put++ % MF_MUX_FRAME_WAIT]);
		waiting++;
	}
	if (waiting > m->stats.frame_wait_max)
		m->stats.frame_wait_max = waiting;
}
