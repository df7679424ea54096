/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Zipf-distributed choice as YCSB draws it (Gray et al., "Quickly generating billion-record synthetic
 * databases", SIGMOD 1994): item i of [0, n) has a probability proportional to 1 / (i + 1)^theta.
 */
#ifndef MF_ZIPF_H
#define MF_ZIPF_H

#include <stdint.h>

#include "base/mf_rng.h"

struct mf_zipf {
	uint64_t n;
	double zeta; /**< sum of 1 / i^theta over i = 1..n */
	double second; /**< below it, u * zeta falls on the items 0 and 1 */
	double alpha, eta;
};

/**
 * @param n      items, 1..2^53
 * @param theta  skew, 0 (uniform) <= theta < 1; YCSB: 0.99
 * @return 0 or -EINVAL
 */
int mf_zipf_init(struct mf_zipf *z, uint64_t n, double theta);

/** The item of a number u of [0, 1); 0 is the most popular. */
uint64_t mf_zipf_item(const struct mf_zipf *z, double u);

/** Draws an item. */
static inline uint64_t mf_zipf_next(const struct mf_zipf *z, struct mf_rng *r)
{
	return mf_zipf_item(z, mf_rng_double(r));
}

/**
 * Spreads the popular items over [0, n) by a 64-bit hash. As in YCSB, two items may fall together.
 *
 * @param salt  chooses the mapping: other salts, other hot spots
 */
static inline uint64_t mf_zipf_scramble(const struct mf_zipf *z, uint64_t item, uint64_t salt)
{
	return (uint64_t)((unsigned __int128)mf_hash64(item + mf_hash64(~salt)) * z->n >> 64);
}

#endif
