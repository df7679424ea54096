/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The self-synchronous scrambler x^58 + x^39 + 1 (IEEE 802.3 clause 49.2.6, 49.2.10).
 *
 * Sync headers bypass it. Idle that is not sent as blocks does not advance it: both ends see the
 * same sequence of blocks, and a receiver that starts late is in step after 58 bits.
 *
 * Bit by bit, out[i] = in[i] ^ out[i - 39] ^ out[i - 58]. With the stream as a polynomial over GF(2), bit
 * i the coefficient of z^i, that is out * P = in with P = 1 + z^39 + z^58. Squaring doubles the
 * exponents: P^2 = 1 + z^78 + z^116. So out * P^2 = in * P: descramble once more than needed, and then
 * scramble with taps that reach back by more than a word. That shortens the chain from word to word, and
 * is done on and on for vectors.
 *
 * The state only ever reaches over into the first word, so it can be added to that: what is left is a
 * stream with nothing but zeros in front of it.
 */
#ifndef MF_SCRAMBLER_H
#define MF_SCRAMBLER_H

#include "pcs/mf_pcs.h"

/** The last 58 scrambled bits in bits 6..63 of the last scrambled word; bit 63 is the newest. */
struct mf_scrambler {
	uint64_t state;
};

/** All ones, as in the published samples. */
#define MF_SCRAMBLER_INIT (UINT64_MAX << 6)

/** Up to here the call and the set-up of a vector cost more than they gain. */
#define MF_SCRAMBLE_SHORT 12
#define MF_DESCRAMBLE_SHORT 12

/** What the word before contributes through the taps of P: before >> 25 ^ before >> 6. */
static inline uint64_t mf_scrambler_carry(uint64_t before)
{
	return (before ^ before >> 19) >> 6;
}

/** What a word contributes to itself: word << 39 ^ word << 58. */
static inline uint64_t mf_scrambler_taps(uint64_t word)
{
	return (word ^ word << 19) << 39;
}

/** mf_scramble() without vectors: through the taps of P^2, so the chain from word to word is short. */
static inline void mf_scramble_words(struct mf_scrambler *s, uint64_t *word, unsigned int n)
{
	uint64_t in, in_before, before, far = 0;

	if (n == 0)
		return;
	in = word[0] ^ mf_scrambler_carry(s->state);
	before = in ^ mf_scrambler_taps(in);
	word[0] = before;
	for (unsigned int i = 1; i < n; i++) {
		uint64_t x;

		in_before = in;
		in = word[i];
		x = in ^ mf_scrambler_taps(in) ^ mf_scrambler_carry(in_before) ^ far;
		/* Only what hangs on the word before is to wait for it: no sum over all of these. */
		__asm__("" : "+r"(x));
		far = (before ^ before >> 38) >> 12;
		before = x ^ (before ^ before << 38) << 14;
		word[i] = before;
	}
	s->state = before;
}

/** mf_descramble() without vectors. */
static inline void mf_descramble_words(struct mf_scrambler *s, uint64_t *word, unsigned int n)
{
	uint64_t before = s->state;

	for (unsigned int i = 0; i < n; i++) {
		uint64_t in = word[i];

		word[i] = in ^ mf_scrambler_taps(in) ^ mf_scrambler_carry(before);
		before = in;
	}
	s->state = before;
}

/** Scrambles n payload words in place. Made for a message of a few words as well as for a whole span. */
static inline void mf_scramble(struct mf_scrambler *s, uint64_t *word, unsigned int n)
{
	if (n <= MF_SCRAMBLE_SHORT)
		mf_scramble_words(s, word, n);
	else
		mf_pcs_ops->scramble(s, word, n);
}

/** Descrambles n payload words in place. */
static inline void mf_descramble(struct mf_scrambler *s, uint64_t *word, unsigned int n)
{
	if (n <= MF_DESCRAMBLE_SHORT)
		mf_descramble_words(s, word, n);
	else
		mf_pcs_ops->descramble(s, word, n);
}

/** Scrambles n payload words of each of eight links in place: several times faster than one by one. */
static inline void mf_scramble_batch(struct mf_scrambler *const s[MF_PCS_BATCH],
				     uint64_t *const word[MF_PCS_BATCH], unsigned int n)
{
	mf_pcs_ops->scramble_batch(s, word, n);
}

#endif
