/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A message on the wire with an idle block in front of it, which bits of the wire may be wrong, and what is
 * received then. A payload bit p that is wrong on the wire is wrong behind the descrambler, and so are p + 39
 * and p + 58 (IEEE 802.3 49.2.10).
 */
#ifndef WIRE_H
#define WIRE_H

#include <string.h>

#include "ber.h"

#define WIRE_BLOCK_BITS 66
#define WIRE_SYNC_BITS 2
#define WIRE_BLOCKS (1 + 2 + MF_EXT_BLOCKS + 256 / 8 + 1)

struct wire_image {
	unsigned int blocks; /**< idle, then those of the message */
	uint8_t sync[WIRE_BLOCKS];
	uint64_t word[WIRE_BLOCKS];
};

static inline unsigned int wire_bits(const struct wire_image *w)
{
	return w->blocks * WIRE_BLOCK_BITS;
}

static inline void wire_set(struct wire_image *w, const uint64_t *word, unsigned int n)
{
	w->blocks = n + 1;
	w->sync[0] = MF_SYNC_CTRL;
	w->word[0] = MF_IDLE_WORD;
	for (unsigned int i = 0; i < n; i++) {
		w->word[1 + i] = word[i];
		w->sync[1 + i] = i == 0 || i == n - 1 ? MF_SYNC_CTRL : MF_SYNC_DATA;
	}
}

/** A bit of the wire is wrong; what is carried behind the message is left out. Again: it is right. */
static inline void wire_flip(struct wire_image *w, unsigned int bit)
{
	unsigned int block = bit / WIRE_BLOCK_BITS, in = bit % WIRE_BLOCK_BITS, p;

	if (in < WIRE_SYNC_BITS) {
		w->sync[block] ^= (uint8_t)(1U << in);
		return;
	}
	p = block * 64 + in - WIRE_SYNC_BITS;
	w->word[p / 64] ^= UINT64_C(1) << p % 64;
	p += 39;
	if (p / 64 < w->blocks)
		w->word[p / 64] ^= UINT64_C(1) << p % 64;
	p += 58 - 39;
	if (p / 64 < w->blocks)
		w->word[p / 64] ^= UINT64_C(1) << p % 64;
}

/** Whether the message, not only the idle block in front of it, is another one. */
static inline bool wire_hurt(const struct wire_image *w, const struct wire_image *sent)
{
	return memcmp(w->sync + 1, sent->sync + 1, w->blocks - 1) != 0 ||
	       memcmp(w->word + 1, sent->word + 1, (w->blocks - 1) * sizeof(*w->word)) != 0;
}

/** Whether a receiver takes it for one message of all its blocks, whatever is in it. */
static inline bool wire_framed(const struct wire_image *w, const struct wire_image *sent)
{
	unsigned int last = w->blocks - 1;

	return memcmp(w->sync, sent->sync, w->blocks) == 0 && w->word[0] == sent->word[0] &&
	       (uint8_t)w->word[1] == (uint8_t)sent->word[1] &&
	       (uint8_t)w->word[last] == (uint8_t)sent->word[last];
}

/** What came goes to the receiver, and then a block that ends what it may have begun. */
void wire_receive(struct mf_witness *witness, const struct wire_image *w, const struct wire_image *sent);

#endif
