/* SPDX-License-Identifier: BSD-3-Clause */
/* Many blocks at once are what the same blocks are one by one, however the calls cut them. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

#include "frame_test.h"
#include "pcs/mf_pcs.h"
#include "pcs_test.h"

TestSuite(frame_bulk, .init = test_widest);

#define POOL (1 << 16)
#define STREAM 400000

static uint8_t pool[POOL];

struct stream {
	uint64_t seed, rng;
	unsigned int n;
	uint64_t word[STREAM];
	uint8_t sync[STREAM];
};

static struct stream stream;

/** Another variant now and then: what it leaves in an encoder or decoder is all the same. */
static void change_variant(uint64_t *rng)
{
	mf_pcs_select(128 * test_below(rng, 5));
}

static unsigned int random_len(uint64_t *rng)
{
	static const unsigned int most[] = {64, 200, 1514, MF_FRAME_MAX};

	return 1 + test_below(rng, most[test_below(rng, 4)]);
}

/** Takes a frame's blocks from an encoder, many at once mixed with single ones. */
static unsigned int take_frame(struct mf_frame_enc *e, uint64_t *rng, uint64_t *word, uint8_t *sync)
{
	enum mf_frame_part part = MF_FRAME_BODY;
	struct mf_block b;
	unsigned int n = 0;

	while (!mf_frame_enc_open(e)) {
		unsigned int max = test_below(rng, 2) ? test_below(rng, 12) : test_below(rng, 1200);
		unsigned int got = mf_frame_enc_blocks(e, word + n, sync + n, max);

		cr_assert_leq(got, max);
		n += got;
		change_variant(rng);
		if (mf_frame_enc_open(e) || (got > 0 && test_below(rng, 2)))
			continue;
		part = mf_frame_enc_next(e, &b);
		cr_assert(part != MF_FRAME_NONE);
		if (got == 0 && max > 0)
			cr_assert_eq(part, MF_FRAME_GAP, "it was not due at once");
		word[n] = b.word;
		sync[n++] = b.sync;
	}
	cr_assert_eq(mf_frame_enc_blocks(e, word + n, sync + n, 100), 0, "behind the /T/");
	return n;
}

static void encodes(bool align8)
{
	static uint64_t word[MF_FRAME_BLOCKS_MAX + 1300];
	static uint8_t sync[MF_FRAME_BLOCKS_MAX + 1300];
	uint64_t seed = test_seed(), rng = seed;
	struct mf_frame_enc one, many;

	test_fill(&rng, pool, sizeof(pool));
	mf_frame_enc_init(&one, align8);
	mf_frame_enc_init(&many, align8);
	for (unsigned int round = 0; round < 5000; round++) {
		const uint8_t *frame = pool + test_below(&rng, POOL - MF_FRAME_MAX);
		unsigned int len = random_len(&rng), gap = test_below(&rng, 20), n, i;
		struct mf_block b;

		mf_frame_enc_start(&one, frame, (uint16_t)len);
		mf_frame_enc_start(&many, frame, (uint16_t)len);
		n = take_frame(&many, &rng, word, sync);
		for (i = 0; !mf_frame_enc_open(&one); i++) {
			mf_frame_enc_next(&one, &b);
			cr_assert(i < n && b.word == word[i] && b.sync == sync[i],
				  "block %u of %u, round %u, seed %" PRIu64, i, n, round, seed);
		}
		cr_assert_eq(i, n, "round %u, seed %" PRIu64, round, seed);
		mf_frame_enc_gap(&one, gap);
		mf_frame_enc_gap(&many, gap);
	}
}

Test(frame_bulk, encodes)
{
	encodes(false);
}

Test(frame_bulk, encodes_in_lane_0)
{
	encodes(true);
}

static void put(struct stream *s, uint8_t sync, uint64_t word)
{
	if (s->n == STREAM)
		return;
	s->sync[s->n] = sync;
	s->word[s->n++] = word;
}

/** A frame, of which a block in a few hundred is spoilt. */
static void put_frame(struct stream *s, struct mf_frame_enc *e)
{
	const uint8_t *frame = pool + test_below(&s->rng, POOL - MF_FRAME_MAX);
	struct mf_block b;

	mf_frame_enc_start(e, frame, (uint16_t)random_len(&s->rng));
	while (!mf_frame_enc_open(e)) {
		mf_frame_enc_next(e, &b);
		if (test_below(&s->rng, 400) == 0)
			b.sync = (uint8_t)test_below(&s->rng, 4);
		if (test_below(&s->rng, 400) == 0)
			b.word = test_random(&s->rng);
		put(s, b.sync, b.word);
	}
}

static void put_data(struct stream *s, unsigned int n)
{
	while (n--)
		put(s, MF_SYNC_DATA, test_random(&s->rng));
}

static void make_stream(struct stream *s)
{
	struct mf_frame_enc e;

	s->seed = s->rng = test_seed();
	test_fill(&s->rng, pool, sizeof(pool));
	mf_frame_enc_init(&e, false);
	while (s->n < STREAM) {
		put_frame(s, &e);
		if (test_below(&s->rng, 16) == 0)
			put_data(s, test_below(&s->rng, 20));
		if (test_below(&s->rng, 16) == 0) {
			put(s, MF_SYNC_CTRL, MF_BT_S);
			put_data(s, test_below(&s->rng, 2 * MF_FRAME_BLOCKS_MAX));
		}
		for (uint32_t idle = test_below(&s->rng, 3); idle > 0; idle--)
			put(s, MF_SYNC_CTRL, MF_IDLE_WORD);
	}
}

static void assert_counts(const struct mf_frame_dec *a, const struct mf_frame_dec *b, unsigned int at)
{
	cr_assert_eq(a->frames, b->frames, "at %u", at);
	cr_assert_arr_eq(a->drops, b->drops, sizeof(a->drops), "at %u", at);
	cr_assert_eq(a->frame_blocks, b->frame_blocks, "at %u", at);
	cr_assert_eq(a->idle_blocks, b->idle_blocks, "at %u", at);
	cr_assert_eq(a->stray_blocks, b->stray_blocks, "at %u", at);
	cr_assert_eq(mf_frame_dec_waiting(a), mf_frame_dec_waiting(b), "at %u", at);
	cr_assert_eq(mf_frame_dec_holding(a), mf_frame_dec_holding(b), "at %u", at);
}

/** Gives one decoder the blocks that another has taken at once. @return length of the frame, or 0 */
static unsigned int one_by_one(struct mf_frame_dec *d, const struct stream *s, unsigned int at,
			       unsigned int n, const uint8_t **frame)
{
	unsigned int len = 0;

	for (unsigned int i = 0; i < n; i++) {
		cr_assert_eq(len, 0, "a frame before the last block, at %u, seed %" PRIu64, at + i, s->seed);
		len = mf_frame_dec_block(d, s->sync[at + i], s->word[at + i], frame);
	}
	return len;
}

Test(frame_bulk, decodes)
{
	struct stream *s = &stream;
	struct receiver one, many;
	uint64_t frames = 0;

	make_stream(s);
	receiver_init(&one);
	receiver_init(&many);
	for (unsigned int i = 0, n; i < STREAM; i += n) {
		unsigned int max =
			1 + (test_below(&s->rng, 2) ? test_below(&s->rng, 10) : test_below(&s->rng, 400));
		const uint8_t *a = NULL, *b = NULL;
		unsigned int len, want;

		change_variant(&s->rng);
		max = max < STREAM - i ? max : STREAM - i;
		n = mf_frame_dec_blocks(&many.dec, s->sync + i, s->word + i, max, &a, &len);
		cr_assert(n > 0 && n <= max, "%u of %u at %u", n, max, i);
		want = one_by_one(&one.dec, s, i, n, &b);
		cr_assert_eq(len, want, "at %u, seed %" PRIu64, i, s->seed);
		cr_assert(n == max || len > 0, "%u of %u at %u", n, max, i);
		cr_assert(len == 0 || memcmp(a, b, len) == 0, "at %u, seed %" PRIu64, i, s->seed);
		assert_counts(&many.dec, &one.dec, i);
		frames += len > 0;
	}
	cr_assert_gt(frames, 100);
	for (int cause = MF_FRAME_OK + 1; cause < MF_FRAME_ERRORS; cause++)
		cr_assert(cause == MF_FRAME_TOO_SHORT || many.dec.drops[cause] > 0, "cause %d never happened",
			  cause);
	receiver_fini(&one);
	receiver_fini(&many);
}

Test(frame_bulk, finds_the_end_of_data)
{
	uint8_t sync[100];
	uint64_t rng = test_seed();

	for (unsigned int n = 0; n <= sizeof(sync); n++) {
		unsigned int bad = test_below(&rng, n + 1);

		memset(sync, MF_SYNC_DATA, sizeof(sync));
		cr_assert_eq(mf_sync_data(sync, n), n);
		if (bad < n) {
			sync[bad] = (uint8_t)(MF_SYNC_DATA ^ (1 + test_below(&rng, 255)));
			cr_assert_eq(mf_sync_data(sync, n), bad, "%u of %u", bad, n);
		}
	}
}
