/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes what stands before the demultiplexer in a receiver: bits, of which block lock makes blocks, with
 * slips; the monitor of bad headers; the descrambler; and the demultiplexer behind them. The input is a list
 * of steps: good blocks, blocks with any header and any payload, single bits that come between or are wrong,
 * and a line that is silent for a while.
 *
 * Lock is found after 64 good headers in a row and lost with the 16th bad one of a window, by a naive count
 * of the same headers; with good blocks from wherever it is, it is found soon.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mf_rng.h"
#include "input.h"
#include "pcs/mf_demux.h"
#include "pcs/mf_lock.h"
#include "pcs/mf_scrambler.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

#define BLOCK_BITS 66
#define WINDOW 64
#define PERIOD 2560
#define BER_WINDOW MF_US(125)

struct run {
	struct input in;
	struct mf_scrambler tx, rx;
	unsigned __int128 bits; /* that were received and belong to no block yet, the first one lowest */
	unsigned int n;
	struct mf_lock lock;
	struct mf_ber ber;
	struct mf_demux demux;
	struct mf_span span;
	mf_time now;
	/* The naive count. */
	unsigned int headers, bad, in_row;
	bool locked;
	uint64_t bad_total;
};

static void end_span(struct run *r)
{
	struct mf_rx_item item[8];
	unsigned int pos = 0, n;

	while ((n = mf_demux_span(&r->demux, &r->span, &pos, item, 8)))
		for (unsigned int i = 0; i < n; i++)
			require(item[i].kind != MF_RX_RUN ||
				item[i].word + item[i].count <= r->span.word + r->span.count);
	require(pos == r->span.count);
	r->span.start = r->now;
	r->span.count = 0;
}

/** By the words of figure 49-12, for one header. @return whether the receiver slips */
static bool naive_lock(struct run *r, bool good)
{
	if (!r->locked) {
		r->in_row = good ? r->in_row + 1 : 0;
		r->locked = r->in_row == WINDOW;
		r->headers = r->bad = 0;
		return !good;
	}
	r->headers++;
	r->bad += !good;
	if (r->bad == MF_BER_LIMIT) {
		r->locked = false;
		r->in_row = 0;
		return true;
	}
	if (r->headers == WINDOW)
		r->headers = r->bad = 0;
	return false;
}

static void header(struct run *r, uint8_t sync)
{
	bool good = sync == MF_SYNC_DATA || sync == MF_SYNC_CTRL, slip = mf_lock_feed(&r->lock, sync);

	require(slip == naive_lock(r, good) && r->lock.block_lock == r->locked);
	mf_ber_feed(&r->ber, r->now, !good);
	r->bad_total += !good;
	require(!r->ber.hi_ber || r->bad_total >= MF_BER_LIMIT);
	r->now += PERIOD;
	if (slip) {
		r->bits >>= 1;
		r->n--;
	}
}

static void blocks(struct run *r)
{
	while (r->n >= BLOCK_BITS + 1) { /* and the bit of a slip */
		uint8_t sync = (uint8_t)(r->bits & 3);
		uint64_t word = (uint64_t)(r->bits >> 2);
		bool was = r->lock.block_lock;

		header(r, sync);
		r->bits >>= BLOCK_BITS;
		r->n -= BLOCK_BITS;
		mf_descramble(&r->rx, &word, 1);
		if (!was || !r->lock.block_lock)
			continue;
		mf_span_put(&r->span, sync, word);
		if (r->span.count == MF_SPAN_MAX)
			end_span(r);
	}
}

static void bits(struct run *r, unsigned __int128 value, unsigned int n)
{
	while (n > 0) { /* what is held is less than a block and a bit */
		unsigned int part = n < 60 ? n : 60;

		r->bits |= (value & (((unsigned __int128)1 << part) - 1)) << r->n;
		r->n += part;
		value >>= part;
		n -= part;
		blocks(r);
	}
}

static void send(struct run *r, uint8_t sync, uint64_t word)
{
	mf_scramble(&r->tx, &word, 1);
	bits(r, (unsigned __int128)word << 2 | sync, BLOCK_BITS);
}

static void good_blocks(struct run *r, unsigned int n)
{
	while (n-- > 0)
		send(r, MF_SYNC_CTRL, 0x1e);
}

static void step(struct run *r)
{
	uint8_t what = (uint8_t)take(&r->in, 1);

	switch (what >> 5) {
	case 0:
	case 1:
		good_blocks(r, 1 + (what & 63));
		break;
	case 2:
		send(r, what & 3, take(&r->in, 8));
		break;
	case 3:
		for (unsigned int n = what & 31; n > 0; n--)
			send(r, MF_SYNC_DATA, n);
		break;
	case 4: /* bits that nobody sent */
		bits(r, take(&r->in, 2), 1 + (what & 15));
		break;
	case 5: /* bad headers in a row */
		for (unsigned int n = what & 31; n > 0; n--)
			send(r, 0, 0);
		break;
	case 6:
		r->now += (mf_time)PERIOD << (what & 31);
		break;
	default: /* any bits */
		bits(r, take(&r->in, 8), 64);
	}
}

/** A lock on what are no headers is lost soon; then there is at most a slip for each bit of a block. */
static void mend(struct run *r)
{
	for (unsigned int i = 0; i < 4 * WINDOW || (i < 3 * BLOCK_BITS * WINDOW && !r->lock.block_lock); i++)
		send(r, i & 1 ? MF_SYNC_DATA : MF_SYNC_CTRL, mf_hash64(i) << 8 | 0x1e);
	require(r->lock.block_lock);
	r->now += 2 * BER_WINDOW;
	good_blocks(r, 2);
	require(r->lock.block_lock && !r->ber.hi_ber);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	static struct run r;

	memset(&r, 0, sizeof(r));
	r.in = (struct input){input, size};
	r.tx.state = r.rx.state = MF_SCRAMBLER_INIT;
	r.span.period = PERIOD;
	mf_lock_init(&r.lock);
	mf_ber_init(&r.ber, BER_WINDOW);
	if (mf_demux_init(&r.demux, true, PERIOD, BER_WINDOW))
		return 0;
	while (r.in.left > 0)
		step(&r);
	mend(&r);
	end_span(&r);
	mf_demux_fini(&r.demux);
	return 0;
}
