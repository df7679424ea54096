/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes the demultiplexer. The input is a list of steps: an octet that says what, then its argument: a
 * block of any kind, one of memfab's own types, a good frame from the encoder, the end of the span, or a
 * poll.
 */
#include <stdlib.h>
#include <string.h>

#include "pcs/mf_demux.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

struct run {
	const uint8_t *in;
	size_t left;
	struct mf_demux demux;
	struct mf_span span;
	uint64_t blocks, words, aborts, frames;
	bool inside; /**< a message, as the items tell it */
};

static uint64_t take(struct run *r, size_t octets)
{
	uint64_t value = 0;

	octets = octets < r->left ? octets : r->left;
	memcpy(&value, r->in, octets);
	r->in += octets;
	r->left -= octets;
	return value;
}

static void require(bool good)
{
	if (!good)
		abort();
}

static void check_item(struct run *r, const struct mf_rx_item *it)
{
	switch ((enum mf_rx_kind)it->kind) {
	case MF_RX_FRAME:
		require(it->count >= MF_FRAME_MIN && it->count <= MF_FRAME_MAX);
		r->frames++;
		return;
	case MF_RX_ABORT:
		require(r->inside);
		r->inside = false;
		r->aborts++;
		return;
	case MF_RX_RUN:
		require(it->begins != r->inside);
		r->inside = !it->ends;
		break;
	case MF_RX_SINGLE:
		require(it->count == 1);
		break;
	}
	require(it->word >= r->span.word && it->word + it->count <= r->span.word + r->span.count);
	r->words += it->count;
}

static void check_counts(const struct run *r)
{
	const struct mf_demux_stats *s = &r->demux.stats;

	require(s->blocks == r->blocks);
	require(s->memory_blocks + s->frame_blocks + s->idle_blocks + s->bad_blocks == s->blocks);
	require(s->memory_blocks == r->words && s->aborts == r->aborts && r->demux.dec.frames == r->frames);
}

static void end_span(struct run *r, unsigned int max)
{
	struct mf_rx_item item[8];
	unsigned int pos = 0, n;

	while ((n = mf_demux_span(&r->demux, &r->span, &pos, item, 1 + max % 8)))
		for (unsigned int i = 0; i < n; i++)
			check_item(r, &item[i]);
	require(pos == r->span.count);
	r->blocks += r->span.count;
	r->span.start = mf_span_at(&r->span, r->span.count);
	r->span.count = 0;
	check_counts(r);
}

static void put(struct run *r, uint8_t sync, uint64_t word)
{
	mf_span_put(&r->span, sync, word);
	if (r->span.count == MF_SPAN_MAX)
		end_span(r, (unsigned int)word);
}

static void put_frame(struct run *r)
{
	static const uint8_t frame[MF_FRAME_MAX];
	struct mf_frame_enc e;
	enum mf_frame_part part;
	struct mf_block b;

	mf_frame_enc_init(&e, false);
	mf_frame_enc_start(&e, frame, (uint16_t)(1 + take(r, 2) % MF_FRAME_MAX));
	do {
		part = mf_frame_enc_next(&e, &b);
		put(r, b.sync, b.word);
	} while (part != MF_FRAME_END);
}

static void poll_later(struct run *r)
{
	struct mf_rx_item item;

	r->span.start += take(r, 2);
	if (mf_demux_poll(&r->demux, r->span.start, &item))
		check_item(r, &item);
}

static void step(struct run *r)
{
	static const uint8_t own[] = {MF_BT_MS, MF_BT_MT, MF_BT_MST, MF_BT_N, MF_BT_G, MF_BT_C};
	uint8_t what = (uint8_t)take(r, 1);

	if (what < 0x30)
		put(r, what & 3, take(r, 8));
	else if (what < 0x80)
		put(r, MF_SYNC_DATA, what);
	else if (what < 0xc0)
		put(r, MF_SYNC_CTRL, own[what % sizeof(own)]);
	else if (what < 0xd0)
		put_frame(r);
	else if (what < 0xf0)
		end_span(r, what);
	else
		poll_later(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	struct run r = {.in = input, .left = size};

	r.span.period = size % 2 ? 2560 : 0;
	if (mf_demux_init(&r.demux, size % 8 != 7, r.span.period, MF_US(125)))
		return 0;
	while (r.left > 0)
		step(&r);
	end_span(&r, 0);
	mf_demux_fini(&r.demux);
	return 0;
}
