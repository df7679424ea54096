/* SPDX-License-Identifier: BSD-3-Clause */
/* Long random streams through encoder and decoder: whole ones, and ones in which anything goes. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

#include "frame_test.h"
#include "pcs_test.h"

TestSuite(frame_stream, .init = test_widest);

#define POOL (1 << 16)

/** Random octets: a frame is any stretch of them. */
static uint8_t pool[POOL];

/** What may stand between two frames, as the decoder sees it: idle in the place of memory blocks. */
static void send_gap(struct mf_frame_enc *e, struct receiver *r, uint64_t *rng)
{
	struct mf_block b;

	if (test_below(rng, 2))
		return;
	while (mf_frame_enc_next(e, &b) != MF_FRAME_NONE)
		receive(r, b.sync, b.word);
	for (uint32_t memory = test_below(rng, 4); memory > 0; memory--) {
		receive(r, MF_SYNC_CTRL, MF_IDLE_WORD);
		mf_frame_enc_gap(e, 8);
	}
}

static void assert_is(const struct receiver *r, const uint8_t *frame, unsigned int len, uint64_t seed)
{
	cr_assert_eq(r->len, len, "seed %" PRIu64 ": %u octets of %u", seed, r->len, len);
	cr_assert_eq(memcmp(r->frame, frame, len), 0, "seed %" PRIu64 ": %u octets differ", seed, len);
}

static void round_trips(bool align8)
{
	uint64_t seed = test_seed(), rng = seed;
	const uint8_t *before = NULL;
	struct mf_frame_enc e;
	struct mf_block b;
	struct receiver r;

	test_fill(&rng, pool, sizeof(pool));
	receiver_init(&r);
	mf_frame_enc_init(&e, align8);
	for (unsigned int len = MF_FRAME_MIN; len <= MF_FRAME_MAX; len++) {
		const uint8_t *frame = pool + test_below(&rng, POOL - MF_FRAME_MAX);
		enum mf_frame_part part;

		mf_frame_enc_start(&e, frame, (uint16_t)len);
		do {
			part = mf_frame_enc_next(&e, &b);
			if (receive(&r, b.sync, b.word))
				assert_is(&r, before, len - 1, seed);
		} while (part != MF_FRAME_END);
		before = frame;
		cr_assert(mf_frame_dec_waiting(&r.dec), "seed %" PRIu64, seed);
		send_gap(&e, &r, &rng);
		if (!mf_frame_dec_waiting(&r.dec))
			cr_assert_eq(r.dec.frames, len - MF_FRAME_MIN + 1);
	}
	receive(&r, MF_SYNC_CTRL, MF_IDLE_WORD);
	cr_assert_eq(r.dec.frames, MF_FRAME_MAX - MF_FRAME_MIN + 1);
	cr_assert_eq(receiver_drops(&r) + r.dec.stray_blocks, 0);
	receiver_check(&r);
	receiver_fini(&r);
}

Test(frame_stream, every_size)
{
	round_trips(false);
}

Test(frame_stream, every_size_in_lane_0)
{
	round_trips(true);
}

/** A stream in which anything goes, and what is certain about it. */
struct chaos {
	uint64_t seed, rng;
	struct receiver r;
	struct mf_frame_enc enc;
	const uint8_t *sent; /**< whole, and the next block has to deliver it; or NULL */
	unsigned int sent_len;
	uint64_t whole, delivered; /**< frames sent unharmed, and those of them that came out */
};

static void put(struct chaos *c, uint8_t sync, uint64_t word)
{
	enum mf_codec_class class = mf_codec_classify(sync, word);
	bool decides = c->sent != NULL;

	receive(&c->r, sync, word);
	if (decides && (class == MF_CODEC_C || class == MF_CODEC_S)) {
		assert_is(&c->r, c->sent, c->sent_len, c->seed);
		c->delivered++;
	} else if (decides) {
		cr_assert_eq(c->r.len, 0, "seed %" PRIu64, c->seed);
		c->whole--;
	}
	c->sent = NULL;
}

static unsigned int random_len(uint64_t *rng)
{
	switch (test_below(rng, 64)) {
	case 0:
		return MF_FRAME_MAX - test_below(rng, 20);
	case 1 ... 7:
		return 1 + test_below(rng, 1514);
	default:
		return 1 + test_below(rng, 100);
	}
}

/** One way to spoil a block of a frame. @return false where the block is left out */
static bool spoil(uint64_t *rng, struct mf_block *b)
{
	switch (test_below(rng, 5)) {
	case 0:
		return false;
	case 1:
		b->sync ^= (uint8_t)(1 + test_below(rng, 3));
		return true;
	case 2:
		b->word = test_random(rng);
		return true;
	case 3:
		*b = (struct mf_block){.word = MF_IDLE_WORD, .sync = MF_SYNC_CTRL};
		return true;
	default:
		b->word ^= UINT64_C(1) << test_below(rng, 64);
		return true;
	}
}

/** A frame, in one of 3 cases with a spoilt block now and then. */
static void put_frame(struct chaos *c)
{
	unsigned int given = random_len(&c->rng),
		     harm = test_below(&c->rng, 3) ? 0 : 1 + test_below(&c->rng, 64);
	const uint8_t *frame = pool + test_below(&c->rng, POOL - MF_FRAME_MAX);
	enum mf_frame_part part;
	struct mf_block b;
	bool whole = true;

	mf_frame_enc_start(&c->enc, frame, (uint16_t)given);
	do {
		part = mf_frame_enc_next(&c->enc, &b);
		if (harm && test_below(&c->rng, harm) == 0) {
			whole = false;
			if (!spoil(&c->rng, &b))
				continue;
		}
		put(c, b.sync, b.word);
	} while (part != MF_FRAME_END);
	if (!whole || given < MF_FRAME_MIN)
		return;
	c->sent = frame;
	c->sent_len = given;
	c->whole++;
}

static void put_noise(struct chaos *c)
{
	static const uint8_t types[] = {MF_BT_C,  MF_BT_C_O4, MF_BT_C_S4, MF_BT_O_S4, MF_BT_O_O4,
					MF_BT_S,  MF_BT_O_C,  MF_BT_T0,   MF_BT_T1,   MF_BT_T2,
					MF_BT_T3, MF_BT_T4,   MF_BT_T5,   MF_BT_T6,   MF_BT_T7,
					MF_BT_MS, MF_BT_MT,   MF_BT_MST,  MF_BT_N,    MF_BT_G};

	for (uint32_t n = 1 + test_below(&c->rng, 12); n > 0; n--) {
		uint64_t word = test_random(&c->rng);

		if (test_below(&c->rng, 2))
			word &= ~UINT64_C(0xff);
		if (test_below(&c->rng, 2))
			word = 0;
		word ^= types[test_below(&c->rng, sizeof(types))];
		put(c,
		    (uint8_t)(test_below(&c->rng, 8) ? 1 + test_below(&c->rng, 2) : test_below(&c->rng, 4)),
		    word);
	}
}

/** More data than any frame may have, now and then with a start in front and a /T/ behind. */
static void put_flood(struct chaos *c)
{
	if (test_below(&c->rng, 4))
		put(c, MF_SYNC_CTRL, test_below(&c->rng, 2) ? MF_BT_S : MF_BT_C_S4);
	for (uint32_t n = test_below(&c->rng, 2 * MF_FRAME_BLOCKS_MAX); n > 0; n--)
		put(c, MF_SYNC_DATA, n);
	if (test_below(&c->rng, 4))
		put(c, MF_SYNC_CTRL, MF_BT_T7);
}

static void put_idle(struct chaos *c)
{
	static const uint64_t quiet[] = {MF_IDLE_WORD, MF_IDLE_WORD, MF_BT_C_O4, MF_BT_O_O4, MF_BT_O_C};

	for (uint32_t n = test_below(&c->rng, 4); n > 0; n--)
		put(c, MF_SYNC_CTRL, quiet[test_below(&c->rng, 5)]);
}

static void put_anything(struct chaos *c)
{
	uint32_t what = test_below(&c->rng, 1024);

	if (what < 640)
		put_frame(c);
	else if (what < 860)
		put_idle(c);
	else if (what < 1023)
		put_noise(c);
	else
		put_flood(c);
}

Test(frame_stream, all_blocks_are_accounted_for)
{
	const uint64_t blocks = test_long() ? UINT64_C(1000000000) : 10000000;
	struct chaos c = {.seed = test_seed(), .rng = test_seed()};

	test_fill(&c.rng, pool, sizeof(pool));
	receiver_init(&c.r);
	mf_frame_enc_init(&c.enc, false);
	while (c.r.blocks < blocks) {
		put_anything(&c);
		receiver_check(&c.r);
	}
	put(&c, MF_SYNC_CTRL, MF_IDLE_WORD);
	receiver_check(&c.r);
	cr_assert_eq(c.delivered, c.whole, "seed %" PRIu64, c.seed);
	cr_assert_geq(c.r.dec.frames, c.whole, "seed %" PRIu64, c.seed);
	/* Every cause must have been at work. */
	for (int cause = MF_FRAME_OK + 1; cause < MF_FRAME_ERRORS; cause++)
		cr_assert_gt(c.r.dec.drops[cause], 0, "seed %" PRIu64 ", cause %d", c.seed, cause);
	cr_assert(c.whole > 0 && c.r.dec.stray_blocks > 0);
	receiver_fini(&c.r);
}
