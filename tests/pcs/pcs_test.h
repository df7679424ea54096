/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of lib/pcs share: seeded randomness and the conformance vectors. */
#ifndef PCS_TEST_H
#define PCS_TEST_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "pcs/mf_codec.h"

/** The seed of this run: MF_SEED, or a fixed one. Assertions on random input print it. */
static inline uint64_t test_seed(void)
{
	const char *text = getenv("MF_SEED");

	return text ? strtoull(text, NULL, 0) : 0x66b;
}

/** splitmix64 */
static inline uint64_t test_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/** In 0..n-1; n is small. */
static inline uint32_t test_below(uint64_t *state, uint32_t n)
{
	return (uint32_t)((test_random(state) >> 32) * n >> 32);
}

void test_fill(uint64_t *state, uint8_t *octets, size_t n);

/** For suites whose blocks or frames pass a variant of mf_pcs.h: the widest, instead of the scalar one. */
void test_widest(void);

/** Whether the long versions of the tests are to be run. */
static inline bool test_long(void)
{
	return getenv("MF_LONG") != NULL;
}

/** A file of vectors, from the folder MF_VECTORS; fails the test where it cannot be read. */
json_t *vectors_load(const char *name);

/** Array of a vector file; fails the test unless it has entries. */
const json_t *vectors_list(const json_t *file, const char *key);

const char *vector_text(const json_t *v, const char *key);
int vector_int(const json_t *v, const char *key);

/** Octets in the order of the text; fails the test where there are more than max. @return count */
size_t vector_octets(const json_t *v, const char *key, uint8_t *octets, size_t max);

/** Sync header and payload of a vector. */
struct mf_block vector_block(const json_t *v);

/** XGMII characters of a vector; the control mask has its own key. */
struct mf_xgmii vector_xgmii(const json_t *v, const char *data, const char *ctl);

#endif
