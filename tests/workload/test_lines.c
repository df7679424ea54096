/* SPDX-License-Identifier: BSD-3-Clause */
/* What a client knows of its regions' octets, against octets; and what of its buffers stays in memory. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <criterion/criterion.h>

#include "workload/buffers.h"
#include "workload/vectors.h"
#include "workload/verify.h"

struct both {
	struct shadow s;
	uint8_t *octets; /**< the same, octet by octet */
	uint64_t span;
	unsigned int regions;
	struct mf_rng rng;
};

static void write_some(struct both *b, unsigned int region, uint64_t at, uint64_t len, uint64_t key)
{
	uint64_t *content = malloc(len + 8);

	content_fill(content, len / 8 + 1, key, at / 8);
	lines_write(&b->s.lines, shadow_at(&b->s, region, at), content, len);
	memcpy(b->octets + region * b->span + at, content, len);
	free(content);
}

static void put_word(struct both *b, unsigned int region, uint64_t at)
{
	uint64_t word = mf_rng_next(&b->rng);

	lines_put(&b->s.lines, shadow_at(&b->s, region, at), &word, sizeof(word));
	memcpy(b->octets + region * b->span + at, &word, sizeof(word));
}

static void compare_some(struct both *b, unsigned int region, uint64_t at, uint64_t len)
{
	uint64_t from = shadow_at(&b->s, region, at), word, line[CONTENT_LINE];
	uint8_t *expected = b->octets + region * b->span + at, octet = (uint8_t)mf_rng_below(&b->rng, len);

	cr_assert_eq(lines_hash(&b->s.lines, from, len), lines_hash_of(expected, len),
		     "region %u of %" PRIu64 ": %" PRIu64 " octets at %" PRIu64, region, b->span, len, at);
	if (len >= 8) {
		word = lines_word(&b->s.lines, from + (len - 8) / 8 * 8);
		cr_assert_arr_eq(&word, expected + (len - 8) / 8 * 8, 8);
	}
	if (len >= LINE_OCTETS) {
		lines_get(&b->s.lines, from, line);
		cr_assert_arr_eq(line, expected, LINE_OCTETS);
	}
	expected[octet] ^= 0x10;
	cr_assert_neq(lines_hash(&b->s.lines, from, len), lines_hash_of(expected, len), "octet %u", octet);
	expected[octet] ^= 0x10;
}

static void step(struct both *b)
{
	unsigned int region = (unsigned int)mf_rng_below(&b->rng, b->regions),
		     what = mf_rng_below(&b->rng, 8);
	uint64_t at = mf_rng_below(&b->rng, (b->span + 63) / 64) * 64;
	uint64_t len = 1 + mf_rng_below(&b->rng, b->span - at);

	if (what == 0 && b->span >= 8)
		put_word(b, region, mf_rng_below(&b->rng, b->span / 8) * 8);
	else if (what == 1) /* a key that looks as if it were none */
		write_some(b, region, at, len,
			   content_word(mf_rng_below(&b->rng, 3), shadow_at(&b->s, region, 0) / 8));
	else if (what < 5)
		write_some(b, region, at, what == 2 && len > 64 ? 64 : len, mf_rng_next(&b->rng));
	else
		compare_some(b, region, at, len);
}

/* Spans around those of lines, blocks and what is hashed at a time. */
Test(lines, hold_what_octets_hold)
{
	static const uint64_t spans[] = {1, 8, 63, 64, 65, 200, 1024, 4096, 4097, 20000};

	for (unsigned int i = 0; i < sizeof(spans) / sizeof(*spans); i++) {
		struct both b = {.span = spans[i], .regions = 3};

		cr_assert_eq(shadow_init(&b.s, b.regions, b.span, i % 2), 0);
		b.octets = calloc(b.regions, b.span);
		mf_rng_init(&b.rng, i, "lines", 0);
		for (int k = 0; k < 4000; k++)
			step(&b);
		cr_assert_leq(b.s.lines.blocks, b.regions * (b.s.stride >> b.s.lines.shift));
		cr_assert_leq(b.s.lines.apart, b.regions * b.s.stride / LINE_OCTETS, "octets are given back");
		free(b.octets);
		shadow_fini(&b.s);
	}
}

static size_t resident(const struct buffers *b, uint32_t slots)
{
	const uintptr_t page = 4096, first = (uintptr_t)b->octets & ~(page - 1);
	size_t pages = ((uintptr_t)b->octets + slots * b->stride - first + page - 1) / page, n = 0;
	unsigned char *in = malloc(pages);

	cr_assert_eq(mincore((void *)first, pages * page, in), 0);
	for (size_t i = 0; i < pages; i++)
		n += in[i] & 1;
	free(in);
	return n * page;
}

/* Slots that lie in one page with others keep what the others have written. */
Test(lines, idle_buffers_leave_memory)
{
	enum { SLOTS = 8, SIZE = 100032, IDLE = 150000 };
	struct buffers b;

	cr_assert_eq(buffers_init(&b, SLOTS, SIZE, IDLE), 0);
	for (uint32_t i = 0; i < SLOTS; i++) {
		buffers_take(&b, i);
		memset(buffers_at(&b, i), (int)i + 1, SIZE);
	}
	cr_assert_geq(resident(&b, SLOTS), SLOTS * SIZE);
	for (uint32_t i = 0; i < SLOTS; i += 2)
		buffers_give(&b, i, SIZE);
	cr_assert_leq(b.idle, IDLE);
	for (uint32_t i = 1; i < SLOTS; i += 2)
		for (uint32_t k = 0; k < SIZE; k++)
			cr_assert_eq(((uint8_t *)buffers_at(&b, i))[k], i + 1, "slot %u octet %u", i, k);
	for (uint32_t i = 1; i < SLOTS; i += 2)
		buffers_give(&b, i, SIZE);
	cr_assert_leq(b.idle, IDLE);
	cr_assert_leq(resident(&b, SLOTS), IDLE + SLOTS * 2 * 4096);
	for (uint32_t i = 0; i < SLOTS; i++)
		buffers_take(&b, i);
	cr_assert_eq(b.idle, 0);
	buffers_fini(&b);
}
