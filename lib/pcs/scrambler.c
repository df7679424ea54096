/* SPDX-License-Identifier: BSD-3-Clause */
/* The scrambler without vectors: mf_scrambler.h has its loops, for short bursts to be inlined. */
#include "pcs/pcs_variants.h"

void pcs_scramble_scalar(struct mf_scrambler *s, uint64_t *word, unsigned int n)
{
	mf_scramble_words(s, word, n);
}

void pcs_descramble_scalar(struct mf_scrambler *s, uint64_t *word, unsigned int n)
{
	mf_descramble_words(s, word, n);
}

void pcs_scramble_batch_scalar(struct mf_scrambler *const s[MF_PCS_BATCH], uint64_t *const word[MF_PCS_BATCH],
			       unsigned int n)
{
	for (unsigned int i = 0; i < MF_PCS_BATCH; i++)
		mf_scramble_words(s[i], word[i], n);
}
