/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SipHash-2-4 (Aumasson and Bernstein 2012): a keyed hash of 64 bits for short messages, here of whole words.
 * Without the key its values look random, also those of chosen messages. So a value can serve as a token:
 * it cannot be guessed, or derived from other tokens. The steps are the same for all values: no branch and
 * no address depends on key or message.
 */
#ifndef MF_SIPHASH_H
#define MF_SIPHASH_H

#include <stdint.h>

static inline uint64_t mf_siphash_rotl(uint64_t x, int k)
{
	return x << k | x >> (64 - k);
}

static inline void mf_siphash_round(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = mf_siphash_rotl(v[1], 13) ^ v[0];
	v[3] = mf_siphash_rotl(v[3], 16) ^ v[2];
	v[0] = mf_siphash_rotl(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = mf_siphash_rotl(v[1], 17) ^ v[2];
	v[3] = mf_siphash_rotl(v[3], 21) ^ v[0];
	v[2] = mf_siphash_rotl(v[2], 32);
}

static inline void mf_siphash_word(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	mf_siphash_round(v);
	mf_siphash_round(v);
	v[0] ^= word;
}

/**
 * @param key    128 random bits
 * @param words  of the message: 0..31. A word counts as 8 octets, little-endian
 */
static inline uint64_t mf_siphash(const uint64_t key[2], const uint64_t *message, unsigned int words)
{
	uint64_t v[4] = {key[0] ^ UINT64_C(0x736f6d6570736575), key[1] ^ UINT64_C(0x646f72616e646f6d),
			 key[0] ^ UINT64_C(0x6c7967656e657261), key[1] ^ UINT64_C(0x7465646279746573)};

	for (unsigned int i = 0; i < words; i++)
		mf_siphash_word(v, message[i]);
	mf_siphash_word(v, (uint64_t)words * sizeof(*message) << 56);
	v[2] ^= 0xff;
	for (int i = 0; i < 4; i++)
		mf_siphash_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

#endif
