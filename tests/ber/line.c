/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "ber.h"

#define BLOCK_BITS 66
#define SYNC_BITS 2
#define PERIOD 2560 /* ps a block: 25.78125 Gb/s */
#define CHUNK 64 /* octets: the messages of short reads and writes */
#define RUN_MAX (2 + CHUNK / 8 + 1)

/** Bits that pass until the next one that is wrong: geometrically distributed. */
static uint64_t spared(struct ber_line *l)
{
	double n;

	if (l->rate <= 0)
		return UINT64_MAX / 2;
	n = floor(log1p(-mf_rng_double(&l->rng)) / log1p(-l->rate));
	return n < 0x1p62 ? (uint64_t)n : UINT64_MAX / 2;
}

int ber_line_init(struct ber_line *l, bool check32, double rate, uint64_t seed, uint64_t number)
{
	memset(l, 0, sizeof(*l));
	l->proto.check32 = check32;
	l->rate = rate;
	mf_rng_init(&l->rng, seed, "bit errors", number);
	l->left = spared(l);
	l->tx.state = l->rx.state = MF_SCRAMBLER_INIT;
	l->span.period = PERIOD;
	mf_lock_init(&l->lock);
	mf_ber_init(&l->ber, MF_US(125));
	l->witness = mf_witness_new(&l->proto);
	return l->witness != NULL ? 0 : -ENOMEM;
}

void ber_line_fini(struct ber_line *l)
{
	mf_witness_free(l->witness);
}

static void any_single(struct ber_line *l, uint64_t *word)
{
	static const uint8_t kinds[] = {MF_ACK, MF_NOTIFY, MF_GRANT, MF_ERR, MF_GRET};
	uint64_t r = mf_rng_next(&l->rng);
	const struct mf_msg m = {.kind = kinds[mf_rng_below(&l->rng, sizeof(kinds))],
				 .id = (uint8_t)r,
				 .src = r >> 8 & 511,
				 .dst = r >> 17 & 511,
				 .size = 1 + (r >> 32) % MF_MESSAGE_MAX,
				 .status = MF_ERR_RANGE,
				 .of = MF_RREQ};

	*word = mf_proto_put_single(&m);
}

/** A request or a chunk of 64 octets. */
static unsigned int any_run(struct ber_line *l, uint64_t *word)
{
	static const uint8_t kinds[] = {MF_RREQ, MF_RRES, MF_WREQ, MF_WREQ_ACK, MF_RMWREQ};
	uint64_t r = mf_rng_next(&l->rng), data[CHUNK / 8];
	struct mf_msg m = {.kind = kinds[mf_rng_below(&l->rng, sizeof(kinds))],
			   .id = (uint8_t)r,
			   .src = r >> 8 & 511,
			   .dst = r >> 17 & 511,
			   .addr = r >> 26,
			   .op = MF_RMW_CAS,
			   .size = CHUNK};

	for (unsigned int i = 0; i < CHUNK / 8; i++)
		data[i] = mf_rng_next(&l->rng);
	m.arg[0] = data[0];
	m.arg[1] = data[1];
	m.last = m.kind != MF_RREQ && m.kind != MF_RMWREQ;
	return m.last ? mf_proto_put_chunk(&l->proto, &m, data, word)
		      : mf_proto_put_request(&l->proto, &m, word);
}

static void put(struct ber_line *l, uint8_t sync, uint64_t word, struct mf_witness_tag tag)
{
	tag.word = word;
	l->tag[l->span.count] = tag;
	mf_span_put(&l->span, sync, word);
}

static void put_idle(struct ber_line *l)
{
	put(l, MF_SYNC_CTRL, MF_IDLE_WORD, (struct mf_witness_tag){0});
}

static void put_single(struct ber_line *l)
{
	uint64_t word;

	any_single(l, &word);
	put(l, MF_SYNC_CTRL, word, (struct mf_witness_tag){.message = ++l->messages, .last = true});
}

/** Single blocks may stand in a message of several (D14). */
static void put_run(struct ber_line *l)
{
	uint64_t word[RUN_MAX], message = ++l->messages;
	unsigned int n = any_run(l, word), parted = (unsigned int)mf_rng_below(&l->rng, 4 * RUN_MAX);

	for (unsigned int i = 0; i < n; i++) {
		if (i == parted && i > 0)
			put_single(l);
		put(l, i == 0 || i == n - 1 ? MF_SYNC_CTRL : MF_SYNC_DATA, word[i],
		    (struct mf_witness_tag){.message = message, .index = (uint16_t)i, .last = i == n - 1});
	}
}

/** A span of messages, idle here and there. */
static void fill(struct ber_line *l)
{
	l->span.start = l->blocks * PERIOD;
	l->span.count = 0;
	while (l->span.count + RUN_MAX + 2 <= MF_SPAN_MAX) {
		uint64_t what = mf_rng_next(&l->rng) % 8;

		if (what == 0)
			put_idle(l);
		else if (what < 5)
			put_run(l);
		else
			put_single(l);
	}
	l->blocks += l->span.count;
}

static void corrupt(struct ber_line *l)
{
	uint64_t bits = (uint64_t)l->span.count * BLOCK_BITS, at = 0;

	while (l->left < bits - at) {
		unsigned int block, bit;

		at += l->left;
		block = (unsigned int)(at / BLOCK_BITS);
		bit = at % BLOCK_BITS;
		if (bit < SYNC_BITS)
			l->span.sync[block] ^= (uint8_t)(1U << bit);
		else
			l->span.word[block] ^= UINT64_C(1) << (bit - SYNC_BITS);
		l->bits_wrong++;
		at++;
		l->left = spared(l);
	}
	l->left -= bits - at;
}

/** What block lock and the bit error monitor make of the headers. */
static void watch(struct ber_line *l)
{
	for (unsigned int i = 0; i < l->span.count; i++) {
		uint8_t sync = l->span.sync[i];
		bool before = l->ber.hi_ber;

		l->slips += mf_lock_feed(&l->lock, sync);
		if (sync == MF_SYNC_DATA || sync == MF_SYNC_CTRL)
			continue;
		mf_ber_feed(&l->ber, mf_span_at(&l->span, i), true);
		l->hi_ber += l->ber.hi_ber && !before;
	}
}

void ber_line_run(struct ber_line *l, uint64_t checked)
{
	while (mf_witness_checked(mf_witness_stats(l->witness)) < checked) {
		fill(l);
		mf_scramble(&l->tx, l->span.word, l->span.count);
		corrupt(l);
		mf_descramble(&l->rx, l->span.word, l->span.count);
		watch(l);
		mf_witness_see(l->witness, &l->span, l->tag);
	}
}
