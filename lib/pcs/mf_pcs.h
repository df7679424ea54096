/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The PCS by vector instructions: which variant of its loops runs.
 *
 * One variant serves the whole process, chosen once at start. It is not handed to each scrambler and
 * encoder: it is a property of the CPU, not of a link; a link's state stays the eight octets that the
 * standard gives it, and mf_fcs() is called where there is no link at all. The results are the same.
 */
#ifndef MF_PCS_H
#define MF_PCS_H

#include <stddef.h>
#include <stdint.h>

/** Links that are scrambled in a batch. */
#define MF_PCS_BATCH 8

struct mf_scrambler;

/** A variant. What the functions promise stands at those that call them: mf_scramble() and so on. */
struct mf_pcs_ops {
	const char *name;
	uint16_t simd_bits; /**< of its widest vectors; 0: none */
	void (*scramble)(struct mf_scrambler *s, uint64_t *word, unsigned int n);
	void (*descramble)(struct mf_scrambler *s, uint64_t *word, unsigned int n);
	void (*scramble_batch)(struct mf_scrambler *const s[MF_PCS_BATCH], uint64_t *const word[MF_PCS_BATCH],
			       unsigned int n);
	/* n data blocks from octets, and octets from n of them: a library's memcpy() is slower for a frame */
	void (*put_data)(uint64_t *word, uint8_t *sync, const void *octets, unsigned int n);
	void (*get_data)(void *octets, const uint64_t *word, unsigned int n);
	uint32_t (*fcs)(const void *data, size_t len);
};

/** The variant in use: the scalar one until mf_pcs_select(), its only writer. */
extern const struct mf_pcs_ops *mf_pcs_ops;

/**
 * Chooses the widest variant that this CPU has, for the whole process: before any other thread runs.
 *
 * @param simd_bits  widest vectors that are allowed, as rte_vect_get_max_simd_bitwidth() says it;
 *                   0: the scalar variant.
 */
void mf_pcs_select(unsigned int simd_bits);

/** @return variant i of those that this CPU can run, the narrowest first; NULL behind the last. */
const struct mf_pcs_ops *mf_pcs_variant(unsigned int i);

#endif
