/* SPDX-License-Identifier: BSD-3-Clause */
#include "workload/lines.h"

#include "workload/vectors.h"

#define HASHED 4096 /* octets that are hashed at a time: they stay in the first-level cache */

uint8_t lines_shift(uint64_t span)
{
	uint8_t shift = 6;

	while (UINT64_C(1) << shift < span && 1 << shift < LINES_BLOCK_MAX)
		shift++;
	return shift;
}

uint64_t lines_word(const struct lines *l, uint64_t at)
{
	uint64_t key = lines_key(l, at), word;

	if (!lines_is_number(key))
		return key != LINES_ZERO ? content_word(key, at / 8) : 0;
	memcpy(&word, l->octets + (key - 1) * LINE_OCTETS + at % LINE_OCTETS, sizeof(word));
	return word;
}

/** The key of a line in a block that has keys of lines from now on. */
static uint64_t *line_at(struct lines *l, uint64_t at)
{
	uint64_t *block = &l->block[at >> l->shift], octets = UINT64_C(1) << l->shift;

	if (!lines_is_number(*block)) {
		uint64_t key = *block, number = ++l->blocks, *line = lines_of_block(l, number);

		for (uint64_t i = 0; i < octets / LINE_OCTETS; i++)
			line[i] = key;
		*block = number;
	}
	return &lines_of_block(l, *block)[(at & (octets - 1)) / LINE_OCTETS];
}

/** The octets of a line, which are kept from now on. */
static uint8_t *apart(struct lines *l, uint64_t at)
{
	uint64_t *key = line_at(l, at), number = *key;
	uint8_t *octets;

	if (lines_is_number(number))
		return l->octets + (number - 1) * LINE_OCTETS;
	number = l->free != 0 ? l->free : ++l->apart;
	octets = l->octets + (number - 1) * LINE_OCTETS;
	if (l->free != 0)
		memcpy(&l->free, octets, sizeof(l->free));
	lines_get(l, at, octets);
	*key = number;
	return octets;
}

void lines_put(struct lines *l, uint64_t at, const void *octets, uint64_t len)
{
	const uint8_t *from = octets;

	for (uint64_t n; len > 0; at += n, from += n, len -= n) {
		uint64_t first = at % LINE_OCTETS;

		n = LINE_OCTETS - first < len ? LINE_OCTETS - first : len;
		memcpy(apart(l, at - first) + first, from, n);
	}
}

static void set_line(struct lines *l, uint64_t at, uint64_t key)
{
	uint64_t *line = line_at(l, at), number = *line;

	*line = key;
	if (!lines_is_number(number))
		return;
	memcpy(l->octets + (number - 1) * LINE_OCTETS, &l->free, sizeof(l->free));
	l->free = number;
}

void lines_write(struct lines *l, uint64_t at, const uint64_t *content, uint64_t len)
{
	uint64_t key = content[0] - content_word(0, at / 8);
	uint64_t block = UINT64_C(1) << l->shift, n;

	/* Few look as if they were something else. */
	if (__builtin_expect(key <= LINES_NUMBERS, 0)) {
		lines_put(l, at, content, len);
		return;
	}
	for (; len >= LINE_OCTETS; at += n, content += n / 8, len -= n) {
		uint64_t *whole = &l->block[at >> l->shift];

		if (at % block == 0 && len >= block && !lines_is_number(*whole)) {
			n = block;
			*whole = key;
		} else {
			n = LINE_OCTETS;
			set_line(l, at, key);
		}
	}
	if (len > 0)
		lines_put(l, at, content, len);
}

void lines_clear(struct lines *l, uint64_t at, uint64_t len)
{
	uint64_t octets = UINT64_C(1) << l->shift;

	for (uint64_t end = at + len; at < end; at += octets) {
		if (!lines_is_number(l->block[at >> l->shift])) {
			l->block[at >> l->shift] = LINES_ZERO;
			continue;
		}
		for (uint64_t i = 0; i < octets; i += LINE_OCTETS)
			set_line(l, at + i, LINES_ZERO);
	}
}

/** As many lines as have the key of the first one, n at most. @return how many */
static uint64_t copy_equal(const struct lines *l, uint64_t at, uint64_t n, uint64_t *out)
{
	uint64_t key = lines_key(l, at), same = 1;

	if (lines_is_number(key)) {
		lines_get(l, at, out);
		return 1;
	}
	while (same < n && lines_key(l, at + same * LINE_OCTETS) == key)
		same++;
	if (key == LINES_ZERO)
		memset(out, 0, same * LINE_OCTETS);
	else
		content_fill(out, same * CONTENT_LINE, key, at / 8);
	return same;
}

static uint64_t hash_next(uint64_t hash, const void *octets, uint64_t len)
{
	return mf_hash64(hash) + vectors->hash(octets, len);
}

uint64_t lines_hash(const struct lines *l, uint64_t at, uint64_t len)
{
	uint64_t part[HASHED / 8] __attribute__((aligned(LINE_OCTETS))), hash = 0, n;

	for (; len > 0; at += n, len -= n) {
		n = len < HASHED ? len : HASHED;
		for (uint64_t i = 0; i < n; i += LINE_OCTETS)
			i += (copy_equal(l, at + i, (n - i + LINE_OCTETS - 1) / LINE_OCTETS, &part[i / 8]) -
			      1) *
			     LINE_OCTETS;
		hash = hash_next(hash, part, n);
	}
	return hash;
}

void lines_read(const struct lines *l, uint64_t at, void *out, uint64_t len)
{
	uint8_t *to = out, line[LINE_OCTETS];

	for (uint64_t n; len > 0; at += n, to += n, len -= n) {
		uint64_t first = at % LINE_OCTETS;

		n = LINE_OCTETS - first < len ? LINE_OCTETS - first : len;
		lines_get(l, at - first, line);
		memcpy(to, line + first, n);
	}
}

uint64_t lines_hash_any(const struct lines *l, uint64_t at, uint64_t len)
{
	uint64_t part[HASHED / 8] __attribute__((aligned(LINE_OCTETS))), hash = 0, n;

	for (; len > 0; at += n, len -= n) {
		n = len < HASHED ? len : HASHED;
		lines_read(l, at, part, n);
		hash = hash_next(hash, part, n);
	}
	return hash;
}

uint64_t lines_hash_of(const void *octets, uint64_t len)
{
	const uint8_t *at = octets;
	uint64_t hash = 0, n;

	for (; len > 0; at += n, len -= n) {
		n = len < HASHED ? len : HASHED;
		hash = hash_next(hash, at, n);
	}
	return hash;
}
