/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks that are on the wire as they are: those of a test pattern. No descrambler follows, so a wrong bit is
 * one wrong bit. They are no messages, so only what strikes bits and headers strikes them.
 */
#include "fault/mf_fault_stage.h"

#define SYNC_BITS 2

static void flip(struct mf_block *b, unsigned int bit)
{
	if (bit < SYNC_BITS)
		b->sync ^= (uint8_t)(1U << bit);
	else
		b->word ^= UINT64_C(1) << (bit - SYNC_BITS);
}

static unsigned int wrong_bits(const struct mf_block *a, const struct mf_block *b)
{
	return (unsigned int)(__builtin_popcountll(a->word ^ b->word) +
			      __builtin_popcount(a->sync ^ b->sync));
}

unsigned int mf_fault_raw(struct mf_fault *f, mf_time at, struct mf_block *b)
{
	struct mf_block before = *b;

	for (unsigned int i = 0; i < f->rules; i++) {
		struct fault_dice *d = &f->dice[i];
		unsigned int bit = 0;

		if (d->rule.class == MF_FAULT_SYNC && fault_roll(d, at, 1) == 0)
			b->sync = mf_rng_next(&f->rng) & 1 ? 3 : 0;
		while (d->rule.class == MF_FAULT_BIT && (bit = fault_struck(d, at, bit)) < FAULT_BLOCK_BITS)
			flip(b, bit++);
	}
	return wrong_bits(&before, b);
}
