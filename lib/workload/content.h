/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Content that proves where it comes from. The words of one write or frame are key + i * CONTENT_STEP
 * with i the number of the word: no two are equal, and a key is a hash of the writer and the number
 * of the write, so that words of different writes are equal only by a chance of 2^-64.
 */
#ifndef CONTENT_H
#define CONTENT_H

#include <stddef.h>

#include "mf_rng.h"

#define CONTENT_STEP UINT64_C(0x9e3779b97f4a7c15) /* odd */

static inline uint64_t content_key(uint64_t writer, uint64_t number)
{
	return mf_hash64(number + mf_hash64(~writer));
}

/** Word i of the content. */
static inline uint64_t content_word(uint64_t key, uint64_t i)
{
	return key + i * CONTENT_STEP;
}

/** Words first..first + n - 1. */
static inline void content_fill(uint64_t *word, size_t n, uint64_t key, uint64_t first)
{
	for (size_t i = 0; i < n; i++)
		word[i] = content_word(key, first + i);
}

#endif
