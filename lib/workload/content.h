/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Content that proves where it comes from. The words of one write or frame are key + i * CONTENT_STEP
 * with i the number of the word: no two are equal, and a key is a hash of the writer and the number
 * of the write, so that words of different writes are equal only by a chance of 2^-64.
 */
#ifndef CONTENT_H
#define CONTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/mf_rng.h"

#define CONTENT_STEP UINT64_C(0x9e3779b97f4a7c15) /* odd */

/** Words that are made side by side. */
#define CONTENT_LINE 8
typedef uint64_t content_line __attribute__((vector_size(8 * CONTENT_LINE)));

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

/** Words 0..CONTENT_LINE - 1 of key 0. */
#define CONTENT_LINE_0                                                                         \
	((content_line){0, CONTENT_STEP, 2 * CONTENT_STEP, 3 * CONTENT_STEP, 4 * CONTENT_STEP, \
			5 * CONTENT_STEP, 6 * CONTENT_STEP, 7 * CONTENT_STEP})

/* What does not fill a line is made word by word: a line with an address would not stay in a register. */

/** Words 0..n - 1. */
static inline void content_put(uint64_t *word, size_t n, uint64_t key)
{
	content_line line = CONTENT_LINE_0 + key;
	size_t whole = n - n % CONTENT_LINE;

	for (size_t i = 0; i < whole; i += CONTENT_LINE) {
		content_line made = line;

		memcpy(word + i, &made, sizeof(made));
		line += CONTENT_LINE * CONTENT_STEP;
	}
	for (size_t i = whole; i < n; i++)
		word[i] = content_word(key, i);
}

/** Whether the words at octets, which need not be aligned, are words 0..n - 1. */
static inline bool content_is(const void *octets, size_t n, uint64_t key)
{
	content_line line = CONTENT_LINE_0 + key, differs = {0};
	size_t whole = n - n % CONTENT_LINE;
	const uint8_t *at = octets;
	uint64_t any = 0, word;

	for (size_t i = 0; i < whole; i += CONTENT_LINE) {
		content_line found;

		memcpy(&found, at + 8 * i, sizeof(found));
		differs |= found ^ line;
		line += CONTENT_LINE * CONTENT_STEP;
	}
	for (size_t i = whole; i < n; i++) {
		memcpy(&word, at + 8 * i, sizeof(word));
		any |= word ^ content_word(key, i);
	}
	for (size_t i = 0; i < CONTENT_LINE; i++)
		any |= differs[i];
	return any == 0;
}

#endif
