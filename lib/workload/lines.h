/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all lines of a client's regions hold, one region behind the other. A write leaves content whose words
 * ascend by a fixed step (content.h), so where it covers a line as a whole one word says all of it, and where
 * it covers a block of lines one word says all of that. What is kept of it:
 *
 *   block: a key -----------------------------> content of one write
 *          number of its lines' keys --> line: a key -----------> content of one write
 *                                              number of octets --> octets: written in part, or by an RMW
 *
 * Keys of lines and octets are given out one after the other, so what is touched lies close together.
 */
#ifndef LINES_H
#define LINES_H

#include <assert.h>
#include <string.h>

#include "workload/content.h"

#define LINE_OCTETS (8 * CONTENT_LINE)
#define LINES_BLOCK_MAX 4096 /**< octets */

/** A key says that the octets at `at` are words of content_word(key, at / 8). */
#define LINES_ZERO UINT64_C(0) /**< nothing was ever written */
#define LINES_NUMBERS (UINT64_C(1) << 42) /**< 1..this: no key, but a number, plus one */

struct lines {
	uint64_t *block; /**< of each block, one behind the other */
	uint64_t *line; /**< of each line of a block that has a number */
	uint8_t *octets; /**< of each line that has a number; zero where none was given out */
	uint64_t blocks, apart; /**< numbers of blocks, of octets that were given out */
	uint64_t
		free; /**< number of octets that were given back, 0: none; they begin with that of the next */
	uint8_t shift; /**< log2 of the octets of a block */
};

/** log2 of the octets of a block for regions of span octets. */
uint8_t lines_shift(uint64_t span);

static inline bool lines_is_number(uint64_t key)
{
	return key - 1 < LINES_NUMBERS;
}

static inline uint64_t *lines_of_block(const struct lines *l, uint64_t number)
{
	return &l->line[(number - 1) << l->shift >> 6];
}
static_assert(LINE_OCTETS == 1 << 6, "of shifts");

/** Of the line at this place. */
static inline uint64_t lines_key(const struct lines *l, uint64_t at)
{
	uint64_t key = l->block[at >> l->shift];

	if (lines_is_number(key))
		key = lines_of_block(l, key)[(at & ((UINT64_C(1) << l->shift) - 1)) / LINE_OCTETS];
	return key;
}

/** A line: at is a multiple of LINE_OCTETS. */
static inline void lines_get(const struct lines *l, uint64_t at, void *out)
{
	uint64_t key = lines_key(l, at);
	uint64_t written = -(uint64_t)(key != LINES_ZERO);
	content_line line = (CONTENT_LINE_0 + content_word(key, at / 8)) & written;

	if (__builtin_expect(lines_is_number(key), 0))
		memcpy(out, l->octets + (key - 1) * LINE_OCTETS, LINE_OCTETS);
	else
		memcpy(out, &line, LINE_OCTETS);
}

/** A word: at is a multiple of 8. */
uint64_t lines_word(const struct lines *l, uint64_t at);

/** Octets of any kind. */
void lines_put(struct lines *l, uint64_t at, const void *octets, uint64_t len);

/** Words that ascend by CONTENT_STEP, the last of which may be cut by len; at as in lines_get(). */
void lines_write(struct lines *l, uint64_t at, const uint64_t *content, uint64_t len);

/** Nothing was ever written there: whole blocks. */
void lines_clear(struct lines *l, uint64_t at, uint64_t len);

/** A hash of what is there; at as in lines_get(). */
uint64_t lines_hash(const struct lines *l, uint64_t at, uint64_t len);
/** The same where at is any octet: slower. */
uint64_t lines_hash_any(const struct lines *l, uint64_t at, uint64_t len);
/** Octets from any place. */
void lines_read(const struct lines *l, uint64_t at, void *out, uint64_t len);
/** As lines_hash(), of octets, wherever they are. */
uint64_t lines_hash_of(const void *octets, uint64_t len);

#endif
