/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scrambler, a word at a time: IEEE 802.3 clause 49.2.6 and 49.2.10.
 *
 * Bit by bit, out[i] = in[i] ^ out[i - 39] ^ out[i - 58]. With the words as polynomials over GF(2), bit i
 * the coefficient of z^i, the bits that reach over from the word before are x = in ^ before >> 25 ^
 * before >> 6 (64 - 39 and 64 - 58), and what is left is out = x + (z^39 + z^58) out. So out = x / (1 +
 * z^39 + z^58), and the series for that ends within a word, since the square of z^39 + z^58 begins at
 * z^78: out = x + z^39 x + z^58 x. No loop over bits, no second round.
 */
#include "mf_scrambler.h"

/** What the word before contributes to the taps. */
static inline uint64_t carry(uint64_t before)
{
	return before >> 25 ^ before >> 6;
}

static inline uint64_t taps(uint64_t word)
{
	return word << 39 ^ word << 58;
}

void mf_scramble(struct mf_scrambler *s, uint64_t *word, unsigned int n)
{
	uint64_t before = s->state;

	for (unsigned int i = 0; i < n; i++) {
		uint64_t x = word[i] ^ carry(before);

		before = x ^ taps(x);
		word[i] = before;
	}
	s->state = before;
}

void mf_descramble(struct mf_scrambler *s, uint64_t *word, unsigned int n)
{
	uint64_t before = s->state;

	for (unsigned int i = 0; i < n; i++) {
		uint64_t in = word[i];

		word[i] = in ^ taps(in) ^ carry(before);
		before = in;
	}
	s->state = before;
}
