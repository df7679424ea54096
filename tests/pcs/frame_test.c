/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <inttypes.h>

#include "frame_test.h"

void receiver_init(struct receiver *r)
{
	*r = (struct receiver){0};
	cr_assert_eq(mf_frame_dec_init(&r->dec), 0);
}

void receiver_fini(struct receiver *r)
{
	mf_frame_dec_fini(&r->dec);
}

static bool has_start(const struct mf_block *b)
{
	struct mf_xgmii x;

	if (!mf_codec_decode(b, &x))
		return false;
	return ((x.ctl & 1) && (x.data & 0xff) == MF_XGMII_START) ||
	       ((x.ctl & 0x10) && (x.data >> 32 & 0xff) == MF_XGMII_START);
}

unsigned int receive(struct receiver *r, uint8_t sync, uint64_t word)
{
	r->blocks++;
	r->starts += has_start(&(struct mf_block){.word = word, .sync = sync});
	r->len = mf_frame_dec_block(&r->dec, sync, word, &r->frame);
	return r->len;
}

uint64_t receiver_drops(const struct receiver *r)
{
	uint64_t sum = 0;

	for (int cause = 0; cause < MF_FRAME_ERRORS; cause++)
		sum += r->dec.drops[cause];
	return sum;
}

void receiver_check(const struct receiver *r)
{
	const struct mf_frame_dec *d = &r->dec;

	cr_assert_eq(d->frame_blocks + d->idle_blocks + d->stray_blocks, r->blocks,
		     "of %" PRIu64 " blocks: %" PRIu64 " frame, %" PRIu64 " idle, %" PRIu64 " stray",
		     r->blocks, d->frame_blocks, d->idle_blocks, d->stray_blocks);
	cr_assert_eq(d->frames + receiver_drops(r) + mf_frame_dec_holding(d), r->starts,
		     "of %" PRIu64 " starts: %" PRIu64 " delivered, %" PRIu64 " dropped", r->starts,
		     d->frames, receiver_drops(r));
	cr_assert_eq(d->drops[MF_FRAME_OK], 0);
}
