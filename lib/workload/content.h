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

#define CONTENT_LINE 8 /* words that are made together */

/** What content_key() knows of a writer alone. */
static inline uint64_t content_writer(uint64_t writer)
{
	return mf_hash64(~writer);
}

/** Key of a write of the writer that content_writer() has made a hash of. */
static inline uint64_t content_key_of(uint64_t hash, uint64_t number)
{
	return mf_hash64(number + hash);
}

static inline uint64_t content_key(uint64_t writer, uint64_t number)
{
	return content_key_of(content_writer(writer), number);
}

/** Word i of the content. */
static inline uint64_t content_word(uint64_t key, uint64_t i)
{
	return key + i * CONTENT_STEP;
}

/** Words first..first + n - 1. By lines, whose words the compiler makes side by side. */
static inline void content_fill(uint64_t *word, size_t n, uint64_t key, uint64_t first)
{
	key = content_word(key, first);
	for (size_t line = n / CONTENT_LINE; line > 0; line--) {
		for (size_t i = 0; i < CONTENT_LINE; i++)
			word[i] = content_word(key, i);
		word += CONTENT_LINE;
		key = content_word(key, CONTENT_LINE);
	}
	for (size_t i = 0; i < n % CONTENT_LINE; i++)
		word[i] = content_word(key, i);
}

#endif
