/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of the variants. Private to lib/pcs: see mf_pcs.h. */
#ifndef PCS_VARIANTS_H
#define PCS_VARIANTS_H

#include "pcs/mf_pcs.h"
#include "pcs/mf_scrambler.h"

void pcs_put_data_avx2(uint64_t *word, uint8_t *sync, const void *octets, unsigned int n);
void pcs_put_data_avx512(uint64_t *word, uint8_t *sync, const void *octets, unsigned int n);

void pcs_get_data_avx2(void *octets, const uint64_t *word, unsigned int n);
void pcs_get_data_avx512(void *octets, const uint64_t *word, unsigned int n);

uint32_t pcs_fcs_scalar(const void *data, size_t len);
uint32_t pcs_fcs_clmul(const void *data, size_t len);
uint32_t pcs_fcs_avx512(const void *data, size_t len);

void pcs_scramble_scalar(struct mf_scrambler *s, uint64_t *word, unsigned int n);
void pcs_scramble_avx512(struct mf_scrambler *s, uint64_t *word, unsigned int n);

void pcs_descramble_scalar(struct mf_scrambler *s, uint64_t *word, unsigned int n);
void pcs_descramble_avx2(struct mf_scrambler *s, uint64_t *word, unsigned int n);
void pcs_descramble_avx512(struct mf_scrambler *s, uint64_t *word, unsigned int n);

void pcs_scramble_batch_scalar(struct mf_scrambler *const s[MF_PCS_BATCH], uint64_t *const word[MF_PCS_BATCH],
			       unsigned int n);
void pcs_scramble_batch_avx2(struct mf_scrambler *const s[MF_PCS_BATCH], uint64_t *const word[MF_PCS_BATCH],
			     unsigned int n);
void pcs_scramble_batch_avx512(struct mf_scrambler *const s[MF_PCS_BATCH], uint64_t *const word[MF_PCS_BATCH],
			       unsigned int n);

#endif
