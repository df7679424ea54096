/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "base/mf_rng.h"

#define GOLDEN UINT64_C(0x9e3779b97f4a7c15) /* the increment of splitmix64 */

void mf_rng_init(struct mf_rng *r, uint64_t seed, const char *name, uint64_t number)
{
	uint64_t x = mf_hash64(seed + GOLDEN);

	for (; *name != '\0'; name++)
		x = mf_hash64((x ^ (unsigned char)*name) + GOLDEN);
	x = mf_hash64(~x + GOLDEN) ^ mf_hash64(number + GOLDEN);
	for (int i = 0; i < 4; i++)
		r->s[i] = mf_hash64(x += GOLDEN);
}

uint64_t mf_rng_below_again(struct mf_rng *r, uint64_t n, uint64_t x)
{
	unsigned __int128 m = (unsigned __int128)x * n;
	uint64_t biased = -n % n;

	while ((uint64_t)m < biased)
		m = (unsigned __int128)mf_rng_next(r) * n;
	return (uint64_t)(m >> 64);
}

double mf_rng_exp(struct mf_rng *r, double mean)
{
	return -log1p(-mf_rng_double(r)) * mean;
}
