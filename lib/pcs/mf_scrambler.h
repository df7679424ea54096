/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The self-synchronous scrambler x^58 + x^39 + 1 (IEEE 802.3 clause 49.2.6, 49.2.10).
 *
 * Sync headers bypass it. Idle that is not sent as blocks does not advance it: both ends see the
 * same sequence of blocks, and a receiver that starts late is in step after 58 bits.
 */
#ifndef MF_SCRAMBLER_H
#define MF_SCRAMBLER_H

#include <stdint.h>

/** The last 58 scrambled bits in bits 6..63 of the last scrambled word; bit 63 is the newest. */
struct mf_scrambler {
	uint64_t state;
};

/** All ones, as in the published samples. */
#define MF_SCRAMBLER_INIT (UINT64_MAX << 6)

/** Scrambles n payload words in place. */
void mf_scramble(struct mf_scrambler *s, uint64_t *word, unsigned int n);

/** Descrambles n payload words in place. */
void mf_descramble(struct mf_scrambler *s, uint64_t *word, unsigned int n);

#endif
