/* SPDX-License-Identifier: BSD-3-Clause */
/* The frame decoder's reaction to every kind of damage, one at a time. */
#include <criterion/criterion.h>
#include <string.h>

#include "frame_test.h"
#include "pcs_test.h"

TestSuite(frame_dec, .init = test_widest);

#define FRAME_LEN 100
#define QUIET MF_IDLE_WORD
#define ERROR_BLOCK UINT64_C(0x3c78f1e3c78f1e1e)
#define LOCAL_FAULT UINT64_C(0x0100004b)

/** A frame as blocks; start in lane 0 (14 blocks, /T/ in lane 0) unless asked otherwise. */
struct wire {
	struct mf_block block[MF_FRAME_BLOCKS_MAX];
	unsigned int count;
	uint8_t frame[MF_FRAME_MAX];
	unsigned int len;
};

static void wire_make(struct wire *w, unsigned int len, unsigned int lane)
{
	struct mf_frame_enc e;
	uint64_t rng = len;

	test_fill(&rng, w->frame, len);
	w->len = len;
	w->count = 0;
	mf_frame_enc_init(&e, false);
	e.owed = lane ? e.slack + 1 : 0;
	mf_frame_enc_start(&e, w->frame, (uint16_t)len);
	while (mf_frame_enc_next(&e, &w->block[w->count++]) != MF_FRAME_END)
		cr_assert_lt(w->count, MF_FRAME_BLOCKS_MAX);
}

static void feed_blocks(struct receiver *r, const struct wire *w, unsigned int first, unsigned int count)
{
	for (unsigned int i = first; i < first + count; i++)
		cr_assert_eq(receive(r, w->block[i].sync, w->block[i].word), 0, "block %u", i);
}

static void feed_all(struct receiver *r, const struct wire *w)
{
	feed_blocks(r, w, 0, w->count);
}

static unsigned int feed_idle(struct receiver *r)
{
	return receive(r, MF_SYNC_CTRL, QUIET);
}

static void assert_delivered(const struct receiver *r, const struct wire *w)
{
	cr_assert_eq(r->len, w->len);
	cr_assert_arr_eq(r->frame, w->frame, w->len);
}

/** Nothing but this one drop; then a good frame passes. */
static void assert_one_drop(struct receiver *r, enum mf_frame_error cause)
{
	static struct wire good;

	cr_assert_eq(r->dec.drops[cause], 1, "cause %d", cause);
	cr_assert_eq(receiver_drops(r), 1);
	cr_assert_eq(r->dec.frames, 0);
	cr_assert_not(mf_frame_dec_holding(&r->dec));
	wire_make(&good, 77, 4);
	feed_all(r, &good);
	feed_idle(r);
	assert_delivered(r, &good);
	receiver_check(r);
	receiver_fini(r);
}

Test(frame_dec, delivers_behind_the_block_that_follows)
{
	static const uint64_t behind[] = {QUIET, LOCAL_FAULT, MF_BT_O_O4, MF_BT_C_O4, MF_BT_C_O4};
	static struct wire w;
	struct receiver r;

	receiver_init(&r);
	for (unsigned int i = 0; i < 5; i++) {
		wire_make(&w, FRAME_LEN + i, 4 * (i & 1));
		feed_all(&r, &w);
		cr_assert(mf_frame_dec_waiting(&r.dec));
		receive(&r, MF_SYNC_CTRL, behind[i]);
		assert_delivered(&r, &w);
		cr_assert_not(mf_frame_dec_waiting(&r.dec));
	}
	cr_assert_eq(receiver_drops(&r), 0);
	receiver_check(&r);
	receiver_fini(&r);
}

Test(frame_dec, next_start_delivers)
{
	static struct wire a, b;
	struct receiver r;

	receiver_init(&r);
	for (unsigned int lanes = 0; lanes < 4; lanes++) {
		wire_make(&a, FRAME_LEN, 4 * (lanes & 1));
		wire_make(&b, 200, 4 * (lanes >> 1));
		feed_all(&r, &a);
		receive(&r, b.block[0].sync, b.block[0].word);
		assert_delivered(&r, &a);
		feed_blocks(&r, &b, 1, b.count - 1);
		feed_idle(&r);
		assert_delivered(&r, &b);
	}
	receiver_check(&r);
	receiver_fini(&r);
}

Test(frame_dec, start_behind_an_ordered_set)
{
	static struct wire w;
	struct receiver r;

	receiver_init(&r);
	wire_make(&w, FRAME_LEN, 4);
	/* O0 instead of C0..C3 in front of the start: type 0x66. */
	w.block[0].word = (w.block[0].word & ~UINT64_C(0xffffffffff)) | 0x01000066;
	feed_all(&r, &w);
	feed_idle(&r);
	assert_delivered(&r, &w);
	receiver_check(&r);
	receiver_fini(&r);
}

Test(frame_dec, unused_bits_do_not_matter)
{
	static struct wire w;
	struct receiver r;

	receiver_init(&r);
	wire_make(&w, FRAME_LEN, 4);
	w.block[0].word |= UINT64_C(0xf) << 36;
	cr_assert_eq(mf_block_type(w.block[w.count - 1].word), MF_BT_T4);
	w.block[w.count - 1].word |= UINT64_C(7) << 40;
	feed_all(&r, &w);
	feed_idle(&r);
	assert_delivered(&r, &w);
	receiver_fini(&r);
}

/** Puts a block in the place of block i of a good frame, for all i behind the start. */
static void replace_each(uint8_t sync, uint64_t word, enum mf_frame_error cause, bool data_goes_on)
{
	static struct wire w;
	unsigned int strays = data_goes_on ? 0 : 1;

	wire_make(&w, FRAME_LEN, 0);
	for (unsigned int i = 1; i < w.count; i++) {
		struct receiver r;

		receiver_init(&r);
		feed_blocks(&r, &w, 0, i);
		receive(&r, sync, word);
		feed_blocks(&r, &w, i + 1, w.count - i - 1);
		cr_assert_eq(r.dec.stray_blocks, strays * (w.count - i - 1));
		feed_idle(&r);
		assert_one_drop(&r, cause);
	}
}

Test(frame_dec, error_inside)
{
	replace_each(MF_SYNC_CTRL, ERROR_BLOCK, MF_FRAME_BAD_BLOCK, true);
	/* One /E/ among idles is enough. */
	replace_each(MF_SYNC_CTRL, MF_IDLE_WORD | UINT64_C(0x1e) << 57, MF_FRAME_BAD_BLOCK, true);
}

Test(frame_dec, bad_sync_inside)
{
	replace_each(0, QUIET, MF_FRAME_BAD_BLOCK, true);
	replace_each(3, QUIET, MF_FRAME_BAD_BLOCK, true);
}

Test(frame_dec, bad_type_inside)
{
	replace_each(MF_SYNC_CTRL, 0, MF_FRAME_BAD_BLOCK, true);
	replace_each(MF_SYNC_CTRL, MF_BT_G, MF_FRAME_BAD_BLOCK, true);
}

Test(frame_dec, bad_code_inside)
{
	replace_each(MF_SYNC_CTRL, MF_IDLE_WORD | 0x7f00, MF_FRAME_BAD_BLOCK, true);
	replace_each(MF_SYNC_CTRL, LOCAL_FAULT | UINT64_C(1) << 32, MF_FRAME_BAD_BLOCK, true);
	/* A start and a /T/ with bad control characters are none. */
	replace_each(MF_SYNC_CTRL, MF_BT_C_S4 | 0x100, MF_FRAME_BAD_BLOCK, true);
	replace_each(MF_SYNC_CTRL, MF_BT_T0 | UINT64_C(1) << 63, MF_FRAME_BAD_BLOCK, true);
}

Test(frame_dec, idle_inside)
{
	replace_each(MF_SYNC_CTRL, QUIET, MF_FRAME_CUT, false);
	replace_each(MF_SYNC_CTRL, LOCAL_FAULT, MF_FRAME_CUT, false);
}

Test(frame_dec, start_inside_begins_anew)
{
	static struct wire cut, w;
	struct receiver r;

	receiver_init(&r);
	wire_make(&cut, 300, 4);
	wire_make(&w, FRAME_LEN, 0);
	for (unsigned int n = 1; n < cut.count; n++) {
		feed_blocks(&r, &cut, 0, n);
		feed_all(&r, &w);
		feed_idle(&r);
		assert_delivered(&r, &w);
		cr_assert_eq(r.dec.drops[MF_FRAME_CUT], n);
	}
	cr_assert_eq(receiver_drops(&r), cut.count - 1);
	receiver_check(&r);
	receiver_fini(&r);
}

Test(frame_dec, start_inside_a_dropped_frame_begins_anew)
{
	static struct wire w;
	struct receiver r;

	receiver_init(&r);
	wire_make(&w, FRAME_LEN, 0);
	feed_blocks(&r, &w, 0, 3);
	receive(&r, 0, 0);
	feed_all(&r, &w);
	feed_idle(&r);
	assert_delivered(&r, &w);
	cr_assert_eq(r.dec.drops[MF_FRAME_BAD_BLOCK], 1);
	cr_assert_eq(receiver_drops(&r), 1);
	receiver_check(&r);
	receiver_fini(&r);
}

Test(frame_dec, bad_block_behind_the_end)
{
	static const struct mf_block behind[] = {
		{.word = 1, .sync = MF_SYNC_DATA},
		{.word = ERROR_BLOCK, .sync = MF_SYNC_CTRL},
		{.word = MF_BT_T0, .sync = MF_SYNC_CTRL},
		{.word = QUIET, .sync = 3},
	};
	static struct wire w;

	wire_make(&w, FRAME_LEN, 0);
	for (unsigned int i = 0; i < 4; i++) {
		struct receiver r;

		receiver_init(&r);
		feed_all(&r, &w);
		cr_assert_eq(receive(&r, behind[i].sync, behind[i].word), 0);
		cr_assert_eq(feed_idle(&r), 0);
		assert_one_drop(&r, MF_FRAME_BAD_END);
	}
}

Test(frame_dec, bad_fcs)
{
	static struct wire w;

	wire_make(&w, FRAME_LEN, 0);
	/* Any bit of the frame and of its FCS. The preamble is in block 0. */
	for (unsigned int bit = 0; bit < 8 * (FRAME_LEN + MF_FCS_LEN); bit++) {
		struct mf_block *b = &w.block[1 + bit / 64];
		struct receiver r;

		receiver_init(&r);
		b->word ^= UINT64_C(1) << bit % 64;
		feed_all(&r, &w);
		b->word ^= UINT64_C(1) << bit % 64;
		cr_assert_eq(feed_idle(&r), 0);
		assert_one_drop(&r, MF_FRAME_BAD_FCS);
	}
}

Test(frame_dec, bad_preamble)
{
	for (unsigned int lane = 0; lane < 8; lane += 4) {
		static struct wire w;

		wire_make(&w, FRAME_LEN, lane);
		for (unsigned int bit = 8 * (lane + 1); bit < 8 * (lane + 8); bit++) {
			struct mf_block *b = &w.block[bit / 64];
			struct receiver r;

			receiver_init(&r);
			b->word ^= UINT64_C(1) << bit % 64;
			feed_all(&r, &w);
			b->word ^= UINT64_C(1) << bit % 64;
			cr_assert_eq(feed_idle(&r), 0);
			assert_one_drop(&r, MF_FRAME_BAD_PREAMBLE);
		}
	}
}

/** A /T/ behind some of the data blocks of a frame that starts in lane 4. */
static void check_length(const struct wire *w, unsigned int blocks, unsigned int lane)
{
	static const uint8_t types[8] = {MF_BT_T0, MF_BT_T1, MF_BT_T2, MF_BT_T3,
					 MF_BT_T4, MF_BT_T5, MF_BT_T6, MF_BT_T7};
	int octets = (int)(8 * blocks + lane) - 4;
	struct receiver r;

	receiver_init(&r);
	feed_blocks(&r, w, 0, blocks + 1);
	receive(&r, MF_SYNC_CTRL, types[lane]);
	if (octets < MF_FRAME_MIN + MF_FCS_LEN)
		assert_one_drop(&r, MF_FRAME_TOO_SHORT);
	else
		assert_one_drop(&r, MF_FRAME_BAD_FCS);
}

Test(frame_dec, too_short)
{
	static struct wire w;

	wire_make(&w, 200, 4);
	for (unsigned int blocks = 0; blocks < 10; blocks++)
		for (unsigned int lane = 0; lane < 8; lane++)
			check_length(&w, blocks, lane);
}

/** A frame of any length by hand: the encoder makes none that are too long. */
static void feed_long(struct receiver *r, unsigned int lane, unsigned int data_blocks, uint8_t terminate)
{
	receive(r, MF_SYNC_CTRL, lane ? 0x5555550000000033 : 0xd555555555555578);
	if (lane)
		receive(r, MF_SYNC_DATA, 0xd5555555);
	for (unsigned int i = lane ? 1 : 0; i < data_blocks; i++)
		cr_assert_eq(receive(r, MF_SYNC_DATA, i), 0);
	receive(r, MF_SYNC_CTRL, terminate);
}

Test(frame_dec, too_long)
{
	/* 9,022 octets with FCS: 1,127 blocks and 6 octets; behind a start in lane 4, 1,128 blocks and 2. */
	static const struct {
		unsigned int lane, blocks;
		uint8_t terminate;
		bool longer;
	} edge[] = {
		{0, 1127, MF_BT_T6, false}, {0, 1127, MF_BT_T7, true},  {0, 1128, MF_BT_T0, true},
		{0, 1128, MF_BT_T7, true},  {0, 1129, MF_BT_T0, true},  {4, 1128, MF_BT_T2, false},
		{4, 1128, MF_BT_T3, true},  {4, 1128, MF_BT_T7, true},  {4, 1129, MF_BT_T0, true},
		{0, 5000, MF_BT_T3, true},  {4, 20000, MF_BT_T7, true},
	};

	for (unsigned int i = 0; i < sizeof(edge) / sizeof(edge[0]); i++) {
		struct receiver r;

		receiver_init(&r);
		feed_long(&r, edge[i].lane, edge[i].blocks, edge[i].terminate);
		cr_assert_eq(feed_idle(&r), 0);
		assert_one_drop(&r, edge[i].longer ? MF_FRAME_TOO_LONG : MF_FRAME_BAD_FCS);
	}
}

Test(frame_dec, longest_frame_in_either_lane)
{
	static struct wire w;
	struct receiver r;

	receiver_init(&r);
	for (unsigned int lane = 0; lane < 8; lane += 4) {
		wire_make(&w, MF_FRAME_MAX, lane);
		feed_all(&r, &w);
		feed_idle(&r);
		assert_delivered(&r, &w);
	}
	receiver_fini(&r);
}

Test(frame_dec, strays)
{
	struct receiver r;

	receiver_init(&r);
	receive(&r, MF_SYNC_DATA, 1);
	receive(&r, MF_SYNC_CTRL, MF_BT_T3);
	receive(&r, MF_SYNC_CTRL, ERROR_BLOCK);
	receive(&r, MF_SYNC_CTRL, MF_BT_MST);
	receive(&r, 0, 0);
	cr_assert_eq(r.dec.stray_blocks, 5);
	feed_idle(&r);
	receive(&r, MF_SYNC_CTRL, LOCAL_FAULT);
	cr_assert_eq(r.dec.idle_blocks, 2);
	cr_assert_eq(receiver_drops(&r), 0);
	receiver_check(&r);
	receiver_fini(&r);
}
