/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the entry of a page stands in the page table of a memory node (Clio 4.2).
 *
 * A keyed bijection mixes a tag: a Feistel network over two halves of 29 bits. Its rounds are multiply-shift
 * hashes ((k r + c) >> 35 of 64 bits, pairwise independent). The low bits of the mixed tag are the bucket.
 * The other bits, the rest, are what an entry has to store: bucket and rest together are the tag again.
 * Two tags fall into one of B buckets with a chance below 1/B + 2^-27, whichever tags a tenant chooses: the
 * key is drawn at each start of the node and never leaves it.
 *
 * The fast path, which has the table, and the slow path, which counts what buckets hold, have a copy each.
 */
#ifndef MF_PAGE_SHAPE_H
#define MF_PAGE_SHAPE_H

#include <stdint.h>

#include "memory/mf_remote.h"

/**
 * With three rounds, every fourth key spreads the first pages of many spaces much worse than at random: for
 * such tags only one round has an input that is not an arithmetic progression.
 */
#define MF_PAGE_MIX_ROUNDS 4
#define MF_PAGE_HALF_BITS (MF_TAG_BITS / 2)
#define MF_PAGE_BUCKET_MAX 64 /**< slots */

struct mf_page_shape_config {
	uint64_t pages; /**< physical ones, of all classes: 1..2^32 */
	/** For each physical page: 1..MF_PAGE_BUCKET_MAX. The number of buckets is rounded up to 2^n. */
	uint32_t slots;
	/** Slots of a bucket: 2^n, 1..MF_PAGE_BUCKET_MAX, and at most 8 x .slots (mf_page_shape_init). */
	uint32_t bucket;
	uint64_t key[2 * MF_PAGE_MIX_ROUNDS]; /**< random bits of this start of the node */
};

struct mf_page_shape {
	uint64_t times[MF_PAGE_MIX_ROUNDS], plus[MF_PAGE_MIX_ROUNDS];
	uint64_t pages;
	uint32_t bucket;
	uint8_t bucket_shift; /**< a bucket has 2^bucket_shift slots */
	uint8_t bits; /**< there are 2^bits buckets */
};

/**
 * @return 0; -EINVAL: out of range. A bucket of more than 8 x slots is, too: an entry of 8 octets could not
 *         hold rest, physical page and state
 */
int mf_page_shape_init(struct mf_page_shape *s, const struct mf_page_shape_config *config);

/** @param tag  below 2^MF_TAG_BITS. @return below that, too, and another one for each tag */
static inline uint64_t mf_page_mix(const struct mf_page_shape *s, uint64_t tag)
{
	const uint64_t mask = (UINT64_C(1) << MF_PAGE_HALF_BITS) - 1;
	uint64_t left = tag >> MF_PAGE_HALF_BITS, right = tag & mask;

	for (int i = 0; i < MF_PAGE_MIX_ROUNDS; i++) {
		uint64_t mixed = left ^ (s->times[i] * right + s->plus[i]) >> (64 - MF_PAGE_HALF_BITS);

		left = right;
		right = mixed;
	}
	return left << MF_PAGE_HALF_BITS | right;
}

/** The tag that was mixed. */
static inline uint64_t mf_page_unmix(const struct mf_page_shape *s, uint64_t mixed)
{
	const uint64_t mask = (UINT64_C(1) << MF_PAGE_HALF_BITS) - 1;
	uint64_t left = mixed >> MF_PAGE_HALF_BITS, right = mixed & mask;

	for (int i = MF_PAGE_MIX_ROUNDS; i-- > 0;) {
		uint64_t before = right ^ (s->times[i] * left + s->plus[i]) >> (64 - MF_PAGE_HALF_BITS);

		right = left;
		left = before;
	}
	return left << MF_PAGE_HALF_BITS | right;
}

/** @param mixed  of mf_page_mix(). @return below 2^bits */
static inline uint64_t mf_page_bucket(const struct mf_page_shape *s, uint64_t mixed)
{
	return mixed & ((UINT64_C(1) << s->bits) - 1);
}

/** What is left of it, MF_TAG_BITS - bits bits. */
static inline uint64_t mf_page_rest(const struct mf_page_shape *s, uint64_t mixed)
{
	return mixed >> s->bits;
}

/** Slots of all buckets. */
static inline uint64_t mf_page_slots(const struct mf_page_shape *s)
{
	return (uint64_t)s->bucket << s->bits;
}

#endif
