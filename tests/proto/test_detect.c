/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the check detects; with --verbose it prints the figures that docs/wire-format.md has.
 *
 * A wire error at payload bit p leaves the descrambler as errors at p, p + 39 and p + 58. They need not
 * all fall on the message: it may begin or end between them, and single-block messages, idles and so
 * on may stand between any two of its blocks (D14), at least 64 bits that take what would have fallen
 * there. So a wire error near the edge of a block can leave all of its three errors in the message, or
 * only those before the edge, or only those behind it. The check is linear: an error goes unnoticed
 * where its syndrome is 0, a pair of errors where their syndromes are equal.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random_msg.h"
#include "systems/edm/proto/proto_crc.h"

#define SEED 0x5eed0003
#define TAP1 39
#define TAP2 58
#define GUARANTEED_BLOCKS 18 /* 1,152 bits */

/* The syndrome of every single payload bit, and of every error that one wire error can leave. */
struct syndromes {
	unsigned int blocks;
	uint64_t *bit;
	uint64_t *error;
	size_t errors;
};

/* What the check makes of one wrong bit: taken from the code, by linearity. */
static uint64_t bit_syndrome(uint64_t *word, unsigned int n, unsigned int bit, bool check32)
{
	unsigned int crc_block = n - 2;
	uint64_t s, mt;

	memset(word, 0, n * sizeof(*word));
	s = mf_crc16(word, n);
	word[bit / 64] = UINT64_C(1) << bit % 64;
	s ^= mf_crc16(word, n);
	if (!check32)
		return s;
	mt = word[n - 1] & (UINT64_MAX >> 16);
	if (bit / 64 == crc_block)
		return s | (word[crc_block] & UINT32_MAX) << 16;
	s |= (uint64_t)mf_crc32c(word, crc_block, mt) << 16;
	memset(word, 0, n * sizeof(*word));
	return s ^ (uint64_t)mf_crc32c(word, crc_block, 0) << 16;
}

/* Of the payload errors at p, p + 39, p + 58 those that lie in [from, to). */
static uint64_t error_syndrome(const struct syndromes *s, int p, int from, int to)
{
	const int at[] = {p, p + TAP1, p + TAP2};
	uint64_t sum = 0;

	for (int i = 0; i < 3; i++)
		if (at[i] >= from && at[i] < to)
			sum ^= s->bit[at[i]];
	return sum;
}

static void add_errors(struct syndromes *s, int p)
{
	int end = 64 * (int)s->blocks;
	int edge = (p + TAP2 + 64) / 64 * 64 - 64;

	if (p >= 0 && p + TAP2 < end)
		s->error[s->errors++] = error_syndrome(s, p, 0, end);
	if (p >= edge)
		return;
	if (edge > 0)
		s->error[s->errors++] = error_syndrome(s, p, 0, edge);
	if (edge < end)
		s->error[s->errors++] = error_syndrome(s, p, edge, end);
}

static struct syndromes *syndromes_alloc(unsigned int blocks)
{
	struct syndromes *s = malloc(sizeof(*s));

	cr_assert(s != NULL);
	s->blocks = blocks;
	s->errors = 0;
	s->bit = malloc(64 * blocks * sizeof(*s->bit));
	s->error = malloc(3 * (64 * blocks + TAP2) * sizeof(*s->error));
	cr_assert(s->bit && s->error);
	return s;
}

static struct syndromes *syndromes_new(unsigned int blocks, bool check32)
{
	struct syndromes *s = syndromes_alloc(blocks);
	uint64_t *word = malloc(blocks * sizeof(*word));

	cr_assert(word != NULL);
	for (unsigned int i = 0; i < 64 * blocks; i++)
		s->bit[i] = bit_syndrome(word, blocks, i, check32);
	free(word);
	for (int p = -TAP2; p < 64 * (int)blocks; p++)
		add_errors(s, p);
	return s;
}

/* Of any CRC-16: the remainder of each bit is the next one's times x. poly: reflected. */
static struct syndromes *syndromes_of(unsigned int blocks, uint16_t poly)
{
	struct syndromes *s = syndromes_alloc(blocks);
	uint64_t power = 0x8000;

	for (unsigned int i = 64 * blocks; i-- > 0; power = power >> 1 ^ (power & 1 ? poly : 0))
		s->bit[i] = power;
	for (int p = -TAP2; p < 64 * (int)blocks; p++)
		add_errors(s, p);
	return s;
}

static void syndromes_free(struct syndromes *s)
{
	free(s->bit);
	free(s->error);
	free(s);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Pairs of errors with equal syndromes; sorts them. */
static uint64_t unnoticed_pairs(struct syndromes *s)
{
	uint64_t pairs = 0, same = 0;

	qsort(s->error, s->errors, sizeof(*s->error), by_value);
	for (size_t i = 1; i < s->errors; i++) {
		same = s->error[i] == s->error[i - 1] ? same + 1 : 0;
		pairs += same;
	}
	return pairs;
}

static void tell(const char *what, struct syndromes *s)
{
	uint64_t unnoticed = unnoticed_pairs(s);
	uint64_t all = (uint64_t)s->errors * (s->errors - 1) / 2;

	fprintf(stderr, "# %s (%u blocks): %zu ways for one wire error, %s; %lu of %lu pairs unnoticed", what,
		s->blocks, s->errors, s->error[0] ? "all noticed" : "NOT all noticed",
		(unsigned long)unnoticed, (unsigned long)all);
	if (unnoticed)
		fprintf(stderr, ", one in %lu", (unsigned long)(all / unnoticed));
	fprintf(stderr, "\n");
}

/*
 * With a cut allowed at every edge, the last n blocks of the longest message are a message of n: so
 * this covers every shorter one, single control blocks included.
 */
Test(detect, all_pairs_of_wire_errors_up_to_1152_bits)
{
	struct syndromes *s = syndromes_new(GUARANTEED_BLOCKS, false);
	uint64_t unnoticed = unnoticed_pairs(s);

	cr_assert_neq(s->error[0], 0, "a single wire error goes unnoticed");
	cr_assert_eq(unnoticed, 0, "%lu pairs go unnoticed", (unsigned long)unnoticed);
	tell("1,152 bits", s);
	syndromes_free(s);
}

/* Every way to harm a message harms a longer one, too: so the first length can be searched by halves. */
static unsigned int first_unnoticed(uint16_t poly, unsigned int max)
{
	unsigned int good = 0, bad = max + 1;

	while (bad - good > 1) {
		unsigned int blocks = (good + bad) / 2;
		struct syndromes *s = syndromes_of(blocks, poly);

		if (unnoticed_pairs(s) || s->error[0] == 0)
			bad = blocks;
		else
			good = blocks;
		syndromes_free(s);
	}
	return bad;
}

/* How far it goes, and how far others would: printed, not promised. */
Test(detect, figures_for_polynomials)
{
	static const uint16_t normal[] = {0x1021, 0x8005, 0x8bb7, 0xc867, 0x2f15,
					  0xa097, 0x1dcf, 0x755b, 0x0589};

	for (unsigned int i = 0; i < sizeof(normal) / sizeof(normal[0]); i++) {
		uint16_t reflected = 0;

		for (unsigned int bit = 0; bit < 16; bit++)
			reflected |= (normal[i] >> bit & 1) << (15 - bit);
		unsigned int blocks = first_unnoticed(reflected, 1000);

		fprintf(stderr, "# polynomial %#06x%s: first unnoticed pair at %u blocks, %u bits\n",
			normal[i], reflected == MF_CRC16_POLY ? " (ours)" : "", blocks, 64 * blocks);
		cr_assert(reflected != MF_CRC16_POLY || blocks > GUARANTEED_BLOCKS);
	}
}

Test(detect, figures_for_chunks)
{
	const struct mf_proto p16 = {0}, p32 = {.check32 = true};
	const uint32_t sizes[] = {256, 1024, 4096};

	for (unsigned int i = 0; i < 2 * sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint32_t size = sizes[i / 2];
		struct syndromes *s = syndromes_new(mf_proto_chunk_blocks(i & 1 ? &p32 : &p16, size), i & 1);
		char what[64];

		snprintf(what, sizeof(what), "chunk of %u octets, check %d", size, i & 1 ? 32 : 16);
		tell(what, s);
		syndromes_free(s);
	}
}

/* Flips what a wire error at payload bit p leaves of a message of n blocks. */
static void wire_error(uint64_t *word, unsigned int n, int p)
{
	const int at[] = {p, p + TAP1, p + TAP2};

	for (int i = 0; i < 3; i++)
		if (at[i] >= 0 && at[i] < 64 * (int)n)
			word[at[i] / 64] ^= UINT64_C(1) << at[i] % 64;
}

/* The same by doing it: real messages, through the real decoder. */
Test(detect, real_messages_with_wire_errors)
{
	struct test_rng r = {SEED};
	uint64_t word[GUARANTEED_BLOCKS];
	uint8_t data[128];
	const uint8_t *got;

	cr_log_info("seed %#x", SEED);
	for (unsigned int i = 0; i < 3000; i++) {
		const struct mf_proto proto = {.check32 = i & 1};
		struct mf_msg m = random_msg(&r, 1 + below(&r, MF_KINDS - 1), 96), out;
		unsigned int n = encode(&proto, &m, data, word);

		for (int p = -TAP2; p < 64 * (int)n; p++) {
			wire_error(word, n, p);
			cr_assert_eq(decode(&proto, word, n, &out, &got), -EBADMSG);
			int q = (int)below(&r, 64 * n + TAP2) - TAP2;

			wire_error(word, n, q);
			cr_assert_eq(decode(&proto, word, n, &out, &got), p == q ? 0 : -EBADMSG);
			wire_error(word, n, q);
			wire_error(word, n, p);
		}
	}
}

/* Nor does a pair turn an idle into a message of one block: two bits make 0x1e the type of /MST/ or /N/. */
Test(detect, idle_with_two_wire_errors)
{
	struct mf_msg m;

	for (int p = -TAP2; p < 64; p++) {
		for (int q = -TAP2; q <= p; q++) {
			uint64_t word = MF_IDLE_WORD;

			wire_error(&word, 1, p);
			wire_error(&word, 1, q);
			cr_assert_neq(mf_proto_get_single(word, &m), 0, "wire errors at %d and %d", p, q);
		}
	}
}
