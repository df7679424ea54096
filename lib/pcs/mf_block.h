/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The 66-bit block and the span, a burst of blocks: all that ever crosses a link.
 *
 * A block is a 2-bit sync header and a 64-bit payload (IEEE 802.3 clause 49.2.4). Octet 0 (the
 * block type of a control block) is the least significant byte of the payload, bit 0 is first on
 * the wire. The sync header is kept as a number whose bit 0 is first on the wire.
 */
#ifndef MF_BLOCK_H
#define MF_BLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/mf_time.h"

/** Sync headers: wire order "01" is data, "10" is control, all else is an error. */
#define MF_SYNC_DATA 2
#define MF_SYNC_CTRL 1

/** Block types of clause 49, figure 49-7. */
enum mf_block_type {
	MF_BT_C = 0x1e, /**< C0..C7: idle, error */
	MF_BT_C_O4 = 0x2d, /**< C0..C3, O4 */
	MF_BT_C_S4 = 0x33, /**< C0..C3, start in lane 4 */
	MF_BT_O_S4 = 0x66, /**< O0, start in lane 4 */
	MF_BT_O_O4 = 0x55, /**< O0, O4 */
	MF_BT_S = 0x78, /**< start in lane 0: /S/ */
	MF_BT_O_C = 0x4b, /**< O0, C4..C7 */
	MF_BT_T0 = 0x87, /**< /T/ in lane 0, and so on */
	MF_BT_T1 = 0x99,
	MF_BT_T2 = 0xaa,
	MF_BT_T3 = 0xb4,
	MF_BT_T4 = 0xcc,
	MF_BT_T5 = 0xd2,
	MF_BT_T6 = 0xe1,
	MF_BT_T7 = 0xff,
	/*
	 * memfab's own kinds (EDM 3.2), out of the coset 0x03 ^ (the 16 words of the standard code):
	 * distance 4 from each other, distance 2 from every standard type. docs/wire-format.md.
	 */
	MF_BT_MS = 0x1d, /**< /MS/: start of a memory message */
	MF_BT_MT = 0xe2, /**< /MT/: end of a memory message */
	MF_BT_MST = 0x2e, /**< /MST/: a memory message of one block */
	MF_BT_N = 0x56, /**< /N/: demand notification */
	MF_BT_G = 0xa9, /**< /G/: grant */
};

/** An all-idle control block. */
#define MF_IDLE_WORD ((uint64_t)MF_BT_C)

/** A control block of eight /E/: what a receiver makes of a link without a signal (49.2.4.11, EBLOCK_R). */
#define MF_ERROR_WORD (UINT64_C(0x3c78f1e3c78f1e00) | MF_BT_C)

static inline uint8_t mf_block_type(uint64_t word)
{
	return (uint8_t)word;
}

/** A block without a time. */
struct mf_block {
	uint64_t word;
	uint8_t sync;
};

/**
 * Most blocks that one span can hold: a chunk of 4 KiB, the default of the wall clock, with all that may be
 * around it. A message that stands whole in a span is made, forwarded and used where it is.
 */
#define MF_SPAN_MAX 520

/** Room behind them, so that whole vectors can be copied. */
#define MF_SPAN_SLACK 8

/** What mf_span.flags can say. */
enum {
	/** All blocks belong to ordinary frames: nobody acts on one before its /T/, so under the
	 *  virtual clock the span may be delivered when its last block arrives. */
	MF_SPAN_FRAME = 1,
	/** Blocks of idle that an error has struck (lib/fault): only between a stage and its caller. */
	MF_SPAN_IDLE = 2,
};

/**
 * A burst of consecutive blocks on one direction of one link.
 *
 * Block i starts at start + i * period. Under the wall clock period is 0. Idle blocks need not be
 * there: the time between spans is idle. Sync headers and payload words stand in arrays of their
 * own so that vector code can work on either.
 */
struct mf_span {
	mf_time start; /**< ps; at the sender's multiplexer, or shifted by the link at the receiver */
	uint32_t period; /**< ps a block */
	uint16_t count; /**< 0..MF_SPAN_MAX */
	uint16_t flags; /**< MF_SPAN_* */
	uint8_t sync[MF_SPAN_MAX + MF_SPAN_SLACK]; /**< the first of them in the cache line of the header */
	uint64_t word[MF_SPAN_MAX + MF_SPAN_SLACK] __attribute__((aligned(64)));
};

/** Start of block i of a span. */
static inline mf_time mf_span_at(const struct mf_span *s, unsigned int i)
{
	return s->start + (mf_time)i * s->period;
}

static inline void mf_span_put(struct mf_span *s, uint8_t sync, uint64_t word)
{
	s->sync[s->count] = sync;
	s->word[s->count++] = word;
}

/** A link without a signal, as its receiver sees it: one block of errors, which cuts what was under way. */
static inline void mf_span_no_signal(struct mf_span *s, mf_time now)
{
	s->start = now;
	s->period = 0;
	s->count = s->flags = 0;
	mf_span_put(s, MF_SYNC_CTRL, MF_ERROR_WORD);
}

#define MF_BLOCKS_FEW 16

/**
 * Copies n blocks. Most are few, and a call would take longer: of MF_BLOCKS_FEW or less words are copied by
 * two, and before them 16 sync headers, whatever n is.
 */
static inline void mf_blocks_copy(uint64_t *word, uint8_t *sync, const uint64_t *from_word,
				  const uint8_t *from_sync, unsigned int n)
{
	if (__builtin_expect(n > MF_BLOCKS_FEW, 0)) {
		memcpy(sync, from_sync, n);
		memcpy(word, from_word, n * sizeof(*word));
		return;
	}
	memcpy(sync, from_sync, MF_BLOCKS_FEW);
	for (unsigned int i = 0; i < n; i += 2)
		memcpy(word + i, from_word + i, 2 * sizeof(*word));
}

/** How many of n sync headers are those of data, up to the first that is not. */
static inline unsigned int mf_sync_data(const uint8_t *sync, unsigned int n)
{
	const uint64_t data = UINT64_C(0x0101010101010101) * MF_SYNC_DATA;
	unsigned int i = 0;
	uint64_t eight;

	for (; i + 8 <= n; i += 8) {
		memcpy(&eight, sync + i, 8);
		if (eight != data)
			return i + (unsigned int)__builtin_ctzll(eight ^ data) / 8;
	}
	while (i < n && sync[i] == MF_SYNC_DATA)
		i++;
	return i;
}

#endif
