/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Seeded random numbers: xoshiro256**, its state filled by splitmix64.
 *
 * One seed serves a whole run. Whoever needs random numbers derives a stream of its own from the seed
 * and its name and number, so that one consumer more or less does not change what the others draw.
 */
#ifndef MF_RNG_H
#define MF_RNG_H

#include <stdint.h>

struct mf_rng {
	uint64_t s[4];
};

/** Bijective mixing of 64 bits: the output function of splitmix64. */
static inline uint64_t mf_hash64(uint64_t x)
{
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

/**
 * Starts the stream (name, number) of a seed.
 *
 * @param name  of the consumer, such as "workload"; not kept
 */
void mf_rng_init(struct mf_rng *r, uint64_t seed, const char *name, uint64_t number);

static inline uint64_t mf_rng_rotl(uint64_t x, int k)
{
	return x << k | x >> (64 - k);
}

/** The next 64 random bits. */
static inline uint64_t mf_rng_next(struct mf_rng *r)
{
	uint64_t result = mf_rng_rotl(r->s[1] * 5, 7) * 9;
	uint64_t t = r->s[1] << 17;

	r->s[2] ^= r->s[0];
	r->s[3] ^= r->s[1];
	r->s[1] ^= r->s[2];
	r->s[0] ^= r->s[3];
	r->s[2] ^= t;
	r->s[3] = mf_rng_rotl(r->s[3], 45);
	return result;
}

/** mf_rng_below() where the draw x may be one that would make a bias, and others may have to follow. */
uint64_t mf_rng_below_again(struct mf_rng *r, uint64_t n, uint64_t x);

/** Uniform in [0, n), without bias; n > 0. It divides only in a share of n / 2^64 of the calls. */
static inline __attribute__((always_inline)) uint64_t mf_rng_below(struct mf_rng *r, uint64_t n)
{
	uint64_t x = mf_rng_next(r);
	unsigned __int128 m = (unsigned __int128)x * n;

	if (__builtin_expect((uint64_t)m < n, 0)) {
		/* A copy: a state whose address nobody takes can stay in registers. */
		struct mf_rng copy = *r;
		uint64_t value = mf_rng_below_again(&copy, n, x);

		*r = copy;
		return value;
	}
	return (uint64_t)(m >> 64);
}

/** Uniform in [0, 1), a multiple of 2^-53. */
static inline double mf_rng_double(struct mf_rng *r)
{
	return (double)(mf_rng_next(r) >> 11) * 0x1p-53;
}

/** Exponentially distributed with this mean: the gaps of a Poisson process. At most 37 means. */
double mf_rng_exp(struct mf_rng *r, double mean);

#endif
