/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes the frame decoder. The input is a list of steps: an octet that says what, then its argument. A
 * step is one block of any kind, or a good frame from the encoder, of which one block may be left out:
 * no fuzzer finds an FCS by itself.
 */
#include <stdlib.h>
#include <string.h>

#include "pcs/mf_codec.h"
#include "pcs/mf_frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

struct run {
	const uint8_t *in;
	size_t left;
	struct mf_frame_dec dec;
	struct mf_frame_enc enc;
	uint64_t blocks, starts;
	uint8_t sum; /**< of the delivered octets: reads all of them */
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

static void check(const struct run *r)
{
	const struct mf_frame_dec *d = &r->dec;
	uint64_t ended = d->frames + mf_frame_dec_holding(d);

	for (int cause = 0; cause < MF_FRAME_ERRORS; cause++)
		ended += d->drops[cause];
	if (ended != r->starts || d->frame_blocks + d->idle_blocks + d->stray_blocks != r->blocks)
		abort();
}

static void feed(struct run *r, uint8_t sync, uint64_t word)
{
	const uint8_t *frame;
	unsigned int len;

	r->blocks++;
	r->starts += mf_codec_classify(sync, word) == MF_CODEC_S;
	len = mf_frame_dec_block(&r->dec, sync, word, &frame);
	if (len > MF_FRAME_MAX)
		abort();
	for (unsigned int i = 0; i < len; i++)
		r->sum += frame[i];
	check(r);
}

static void feed_frame(struct run *r)
{
	static const uint8_t frame[MF_FRAME_MAX];
	unsigned int without = (unsigned int)take(r, 1), n = 0;
	uint16_t len = (uint16_t)(1 + take(r, 2) % MF_FRAME_MAX);
	enum mf_frame_part part;
	struct mf_block b;

	mf_frame_enc_start(&r->enc, frame, len);
	do {
		part = mf_frame_enc_next(&r->enc, &b);
		if (n++ != without)
			feed(r, b.sync, b.word);
	} while (part != MF_FRAME_END);
}

static void step(struct run *r)
{
	uint8_t what = (uint8_t)take(r, 1);

	if (what < 0x40)
		feed(r, what & 3, take(r, 8));
	else if (what < 0x80)
		feed(r, MF_SYNC_CTRL, take(r, 1));
	else if (what < 0xc0)
		feed_frame(r);
	else
		mf_frame_enc_gap(&r->enc, (unsigned int)take(r, 1));
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	struct run r = {.in = input, .left = size};

	if (mf_frame_dec_init(&r.dec))
		return 0;
	mf_frame_enc_init(&r.enc, size % 2);
	while (r.left > 0)
		step(&r);
	mf_frame_dec_fini(&r.dec);
	return 0;
}
