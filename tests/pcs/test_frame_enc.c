/* SPDX-License-Identifier: BSD-3-Clause */
/* The frame encoder, looked at as XGMII characters: what is in a frame, and the gaps between frames. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

#include "pcs/mf_frame.h"
#include "pcs_test.h"

TestSuite(frame_enc, .init = test_widest);

/** Blocks turned back into characters, one frame at a time, by the codec and nothing else. */
struct line {
	uint8_t octets[8 + MF_FRAME_MAX + MF_FCS_LEN]; /**< from behind the start character to the /T/ */
	unsigned int len;
	unsigned int frames;
	unsigned int start_lane;
	unsigned int terminate_lane;
	unsigned int gap; /**< idle and /T/ since the last frame */
	unsigned int last_gap; /**< the one in front of the last frame; counts from the second on */
	uint64_t gaps;
	bool inside;
};

static void line_control(struct line *l, unsigned int lane, uint8_t character)
{
	switch (character) {
	case MF_XGMII_START:
		cr_assert_not(l->inside);
		l->inside = true;
		l->start_lane = lane;
		l->len = 0;
		l->last_gap = l->gap;
		l->gaps += l->frames ? l->gap : 0;
		break;
	case MF_XGMII_TERM:
		cr_assert(l->inside);
		l->inside = false;
		l->frames++;
		l->terminate_lane = lane;
		l->gap = 1;
		break;
	default:
		cr_assert_eq(character, MF_XGMII_IDLE);
		cr_assert_not(l->inside);
		l->gap++;
	}
}

static void line_block(struct line *l, const struct mf_block *b)
{
	struct mf_xgmii x;

	cr_assert(mf_codec_decode(b, &x));
	for (unsigned int i = 0; i < 8; i++) {
		uint8_t character = (uint8_t)(x.data >> 8 * i);

		if (x.ctl >> i & 1) {
			line_control(l, i, character);
			continue;
		}
		cr_assert(l->inside && l->len < sizeof(l->octets));
		l->octets[l->len++] = character;
	}
}

/** Sends a frame up to its /T/. @return blocks */
static unsigned int send_frame(struct mf_frame_enc *e, struct line *l, const uint8_t *frame, uint16_t len)
{
	enum mf_frame_part part;
	struct mf_block b;
	unsigned int n = 0;

	cr_assert(mf_frame_enc_open(e));
	mf_frame_enc_start(e, frame, len);
	do {
		cr_assert_not(mf_frame_enc_open(e));
		part = mf_frame_enc_next(e, &b);
		line_block(l, &b);
		n++;
	} while (part == MF_FRAME_BODY || part == MF_FRAME_GAP);
	cr_assert_eq(part, MF_FRAME_END);
	return n;
}

/** The frame on the line is this one, padded, with its preamble and FCS. */
static void assert_frame(const struct line *l, const uint8_t *frame, unsigned int len)
{
	static const uint8_t preamble[] = {0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0xd5};
	unsigned int padded = len < MF_FRAME_MIN ? MF_FRAME_MIN : len;
	const uint8_t *sent = l->octets + sizeof(preamble);
	uint32_t fcs;

	cr_assert_eq(l->len, sizeof(preamble) + padded + MF_FCS_LEN, "%u octets for a frame of %u", l->len,
		     len);
	cr_assert_arr_eq(l->octets, preamble, sizeof(preamble));
	cr_assert_arr_eq(sent, frame, len);
	for (unsigned int i = len; i < padded; i++)
		cr_assert_eq(sent[i], 0, "padding");
	memcpy(&fcs, sent + padded, sizeof(fcs));
	cr_assert_eq(fcs, mf_fcs(sent, padded));
}

Test(frame_enc, published_frame)
{
	json_t *file = vectors_load("01_ieee_published_frame.json");
	const json_t *encoded = vectors_list(file, "encoded");
	uint8_t frame[64], fcs[MF_FCS_LEN];
	size_t len = vector_octets(file, "mac_frame_no_fcs", frame, sizeof(frame));
	uint32_t want_fcs;
	struct mf_frame_enc e;
	struct mf_block b;

	cr_assert_eq(vector_octets(file, "fcs_wire_bytes", fcs, sizeof(fcs)), sizeof(fcs));
	memcpy(&want_fcs, fcs, sizeof(fcs));
	cr_assert_eq(mf_fcs(frame, len), want_fcs);
	mf_frame_enc_init(&e, false);
	mf_frame_enc_start(&e, frame, (uint16_t)len);
	/* The first block of the sample is the idle in front of the frame. */
	for (size_t i = 1; i < json_array_size(encoded); i++) {
		struct mf_block want = vector_block(json_array_get(encoded, i));
		bool last = i == json_array_size(encoded) - 1;

		cr_assert_eq(mf_frame_enc_next(&e, &b), last ? MF_FRAME_END : MF_FRAME_BODY);
		cr_assert(b.sync == want.sync && b.word == want.word, "block %zu", i);
	}
	json_decref(file);
}

Test(frame_enc, every_size_in_either_lane)
{
	uint64_t rng = test_seed();
	static uint8_t frame[MF_FRAME_MAX];
	static struct line line;
	unsigned int started[2] = {0}, terminated[2][8] = {{0}}, longest = 0;
	struct mf_frame_enc e;

	test_fill(&rng, frame, sizeof(frame));
	mf_frame_enc_init(&e, false);
	for (uint16_t round = 0; round < 2; round++) {
		for (uint16_t len = 1; len <= MF_FRAME_MAX; len += len > 200 ? 1 + test_below(&rng, 30) : 1) {
			unsigned int n = send_frame(&e, &line, frame, len);

			assert_frame(&line, frame, len);
			started[line.start_lane / 4]++;
			terminated[line.start_lane / 4][line.terminate_lane]++;
			longest = n > longest ? n : longest;
		}
	}
	cr_assert(started[0] && started[1]);
	for (unsigned int i = 0; i < 16; i++)
		cr_assert(terminated[i / 8][i % 8], "no /T/ in lane %u behind a start in lane %u", i % 8,
			  i / 8 * 4);
}

Test(frame_enc, longest_frame_has_the_most_blocks)
{
	static uint8_t frame[MF_FRAME_MAX];
	static struct line line;
	struct mf_frame_enc e;

	mf_frame_enc_init(&e, false);
	send_frame(&e, &line, frame, MF_FRAME_MIN);
	cr_assert_eq(send_frame(&e, &line, frame, MF_FRAME_MAX), MF_FRAME_BLOCKS_MAX);
	cr_assert_eq(line.start_lane, 4);
}

Test(frame_enc, one_block_follows_a_lone_frame)
{
	static struct line line;
	uint8_t frame[MF_FRAME_MIN] = {1};
	struct mf_frame_enc e;
	struct mf_block b = {.word = 77, .sync = 7};

	mf_frame_enc_init(&e, false);
	cr_assert_not(mf_frame_enc_busy(&e));
	cr_assert_eq(mf_frame_enc_next(&e, &b), MF_FRAME_NONE);
	cr_assert(b.word == 77 && b.sync == 7, "the block is not written");
	send_frame(&e, &line, frame, sizeof(frame));
	cr_assert(mf_frame_enc_busy(&e) && mf_frame_enc_open(&e));
	cr_assert_eq(mf_frame_enc_next(&e, &b), MF_FRAME_GAP);
	cr_assert(b.word == MF_IDLE_WORD && b.sync == MF_SYNC_CTRL);
	cr_assert_not(mf_frame_enc_busy(&e));
	cr_assert_eq(mf_frame_enc_next(&e, &b), MF_FRAME_NONE);
}

/** Back-to-back frames of random sizes: the sum of the gaps is never off by more than the deficit. */
static void check_average_gap(bool align8, unsigned int slack)
{
	uint64_t seed = test_seed(), rng = seed;
	static uint8_t frame[MF_FRAME_MAX];
	static struct line line;
	struct mf_frame_enc e;

	mf_frame_enc_init(&e, align8);
	for (unsigned int n = 0; n < 20000; n++) {
		int64_t owed;

		send_frame(&e, &line, frame,
			   (uint16_t)(MF_FRAME_MIN + test_below(&rng, n % 16 ? 100 : 2000)));
		owed = (int64_t)n * MF_FRAME_IFG - (int64_t)line.gaps;
		cr_assert(owed >= 0 && owed <= slack, "seed %" PRIu64 ", frame %u: %" PRId64, seed, n, owed);
		cr_assert(n == 0 || line.last_gap + slack >= MF_FRAME_IFG, "gap of %u", line.last_gap);
		cr_assert(line.start_lane == 0 || (line.start_lane == 4 && !align8));
	}
}

Test(frame_enc, average_gap)
{
	check_average_gap(false, 3);
}

Test(frame_enc, average_gap_in_lane_0_only)
{
	check_average_gap(true, 7);
}

/** A frame of 64 octets takes 84 on the line, on average. */
static void check_64(bool align8)
{
	static struct line line;
	uint8_t frame[MF_FRAME_MIN] = {1};
	struct mf_frame_enc e;
	unsigned int blocks = 0;

	mf_frame_enc_init(&e, align8);
	send_frame(&e, &line, frame, sizeof(frame));
	for (int i = 0; i < 1000; i++)
		blocks += send_frame(&e, &line, frame, sizeof(frame));
	cr_assert_eq(8 * blocks, 84 * 1000, "%u blocks", blocks);
}

Test(frame_enc, line_rate_of_64_octets)
{
	check_64(false);
	check_64(true);
}

Test(frame_enc, sizes_at_which_every_gap_is_12)
{
	static struct line line;
	uint8_t frame[MF_FRAME_MIN + 4] = {1};
	struct mf_frame_enc e;

	/* Multiples of 4 are aligned with lanes 0 and 4 and never need the deficit. */
	mf_frame_enc_init(&e, false);
	for (int i = 0; i < 100; i++) {
		send_frame(&e, &line, frame, (uint16_t)(i % 3 ? sizeof(frame) : MF_FRAME_MIN));
		cr_assert(i == 0 || line.last_gap == MF_FRAME_IFG);
		cr_assert_eq(e.owed, MF_FRAME_IFG - (8 - line.terminate_lane));
	}
}

Test(frame_enc, memory_blocks_pay_the_gap)
{
	static struct line line;
	uint8_t frame[MF_FRAME_MIN + 3] = {1};
	struct mf_frame_enc e;
	struct mf_block b;

	/* /T/ in lane 3: 7 are owed, so a GAP block comes first. */
	mf_frame_enc_init(&e, true);
	send_frame(&e, &line, frame, sizeof(frame));
	e.owed += 4;
	mf_frame_enc_start(&e, frame, sizeof(frame));
	cr_assert_eq(mf_frame_enc_next(&e, &b), MF_FRAME_GAP);
	cr_assert_eq(mf_frame_enc_next(&e, &b), MF_FRAME_BODY);
	cr_assert_eq(b.word & 0xff, MF_BT_S);
	/* With a memory block in between none is needed. */
	mf_frame_enc_init(&e, true);
	line.inside = false;
	send_frame(&e, &line, frame, sizeof(frame));
	e.owed += 4;
	mf_frame_enc_gap(&e, 8);
	mf_frame_enc_start(&e, frame, sizeof(frame));
	cr_assert_eq(mf_frame_enc_next(&e, &b), MF_FRAME_BODY);
}

Test(frame_enc, memory_blocks_do_not_take_the_closing_block_away)
{
	static struct line line;
	uint8_t frame[MF_FRAME_MIN] = {1};
	struct mf_frame_enc e;
	struct mf_block b;

	mf_frame_enc_init(&e, false);
	send_frame(&e, &line, frame, sizeof(frame));
	mf_frame_enc_gap(&e, 8000);
	cr_assert(mf_frame_enc_busy(&e));
	cr_assert_eq(mf_frame_enc_next(&e, &b), MF_FRAME_GAP);
}

Test(frame_enc, idle_pays_the_deficit)
{
	static struct line line;
	uint8_t frame[MF_FRAME_MIN + 3] = {1};
	struct mf_frame_enc e;

	mf_frame_enc_init(&e, false);
	for (int i = 0; i < 4; i++) {
		send_frame(&e, &line, frame, sizeof(frame));
		mf_frame_enc_gap(&e, 1000000);
		cr_assert_eq(e.owed, 0);
	}
	cr_assert_eq(line.start_lane, 0, "an idle line starts in lane 0");
}
