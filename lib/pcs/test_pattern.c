/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Test patterns: IEEE 802.3 49.2.8 and 49.2.12.
 *
 * A pattern without headers is a recurrence over the bits on the wire: a bit follows from those some places
 * before it. The generator appends what follows; the checker compares it with what came, and appends that.
 */
#include "pcs/mf_test_pattern.h"

#define SYNC_BITS 2
#define WORD_BITS 64
#define SEGMENTS 4

/** Two Local Fault ordered sets, encoded: type 0x55, 00 00 01 twice, O codes 0 (figure 49-7, table 46-5). */
#define LOCAL_FAULTS UINT64_C(0x0100000001000055)

const char *const mf_test_names[MF_TEST_KINDS + 1] = {
	[MF_TEST_PSEUDO_RANDOM] = "pseudo-random",
	[MF_TEST_SQUARE_WAVE] = "square-wave",
	[MF_TEST_PRBS31] = "prbs31",
};

const char *const mf_test_data_names[MF_TEST_DATA + 1] = {
	[MF_TEST_LOCAL_FAULT] = "local-fault",
	[MF_TEST_ZEROS] = "zeros",
};

static uint64_t ones(unsigned int bits)
{
	return bits < WORD_BITS ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
}

/* Patterns without headers. */

/** Bits that the next one follows from; it is the oldest of them that counts. */
static unsigned int depth(const struct mf_test_pattern *p)
{
	return p->kind == MF_TEST_PRBS31 ? 31 : p->run;
}

/** How many bits follow from a history at once. */
static unsigned int reach(const struct mf_test_pattern *p)
{
	return p->kind == MF_TEST_PRBS31 ? 28 : p->run;
}

/** The bits that follow, the first in bit 0; reach() of them. Bit 0 of a history is its oldest. */
static uint64_t following(const struct mf_test_pattern *p, uint32_t history)
{
	/* PRBS31 is inverted on the wire, and so is its recurrence: x[n] = ~(x[n - 31] ^ x[n - 28]). */
	return p->kind == MF_TEST_PRBS31 ? ~(history ^ history >> 3) : ~history;
}

static uint32_t append(const struct mf_test_pattern *p, uint32_t history, uint64_t bits, unsigned int n)
{
	return (uint32_t)(history >> n | bits << (depth(p) - n));
}

static uint64_t generate_bits(struct mf_test_generator *g, unsigned int n)
{
	uint64_t out = 0;

	for (unsigned int done = 0, step; done < n; done += step) {
		uint64_t bits;

		step = n - done < reach(&g->pattern) ? n - done : reach(&g->pattern);
		bits = following(&g->pattern, g->history) & ones(step);
		g->history = append(&g->pattern, g->history, bits, step);
		out |= bits << done;
	}
	return out;
}

static void check_bits(struct mf_test_checker *c, uint64_t in, unsigned int n)
{
	const struct mf_test_pattern *p = &c->pattern;

	for (unsigned int done = 0, step; done < n; done += step) {
		unsigned int unknown = depth(p) - c->known;
		uint64_t bits, wrong;

		step = n - done < reach(p) ? n - done : reach(p);
		/* What came before the first bits is not known, so nothing follows from it. */
		if (unknown > 0 && step > unknown)
			step = unknown;
		bits = in >> done & ones(step);
		wrong = (following(p, c->history) ^ bits) & ones(step);
		if (unknown == 0)
			c->counts.errors += (unsigned int)__builtin_popcountll(wrong);
		else
			c->known += step;
		c->history = append(p, c->history, bits, step);
	}
}

/* The pseudo-random pattern. */

static uint64_t data_pattern(const struct mf_test_pattern *p)
{
	return p->data == MF_TEST_ZEROS ? 0 : LOCAL_FAULTS;
}

/** Register S_i of figure 49-8 is bit 63 - i of the scrambler's state. */
static uint64_t seed_state(uint64_t seed)
{
	uint64_t state = 0;

	for (unsigned int i = 0; i < MF_TEST_SEED_BITS; i++)
		state |= (seed >> i & 1) << (63 - i);
	return state;
}

static struct mf_block generate_scrambled(struct mf_test_generator *g)
{
	unsigned int segment = g->block / MF_TEST_SEED_BLOCKS;
	uint64_t invert = segment % 2 ? UINT64_MAX : 0;
	struct mf_block b = {.word = data_pattern(&g->pattern) ^ invert, .sync = MF_SYNC_CTRL};

	if (g->block % MF_TEST_SEED_BLOCKS == 0)
		g->scrambler.state = seed_state(segment < 2 ? g->pattern.seed_a : g->pattern.seed_b) ^
				     (invert & MF_SCRAMBLER_INIT);
	g->block = (g->block + 1) % (SEGMENTS * MF_TEST_SEED_BLOCKS);
	mf_scramble_words(&g->scrambler, &b.word, 1);
	return b;
}

/** A new seed causes one mismatch within the blocks between two of them, wherever the window begins. */
static void count_mismatch(struct mf_test_checker *c, bool mismatch)
{
	c->mismatches += mismatch;
	c->counts.errors += mismatch && c->mismatches > 1;
	if (++c->block == MF_TEST_SEED_BLOCKS)
		c->block = c->mismatches = 0;
}

static void check_scrambled(struct mf_test_checker *c, const struct mf_block *b)
{
	uint64_t word = b->word, data = data_pattern(&c->pattern);
	bool locked = c->lock.block_lock;

	mf_descramble_words(&c->descrambler, &word, 1);
	mf_lock_feed(&c->lock, b->sync);
	c->counts.locks_lost += locked && !c->lock.block_lock;
	if (!locked || !c->lock.block_lock) {
		c->counts.unlocked++;
		c->block = c->mismatches = 0;
		return;
	}
	c->counts.blocks++;
	count_mismatch(c, word != data && word != ~data);
}

/* Both. */

void mf_test_generator_init(struct mf_test_generator *g, const struct mf_test_pattern *pattern)
{
	*g = (struct mf_test_generator){.pattern = *pattern};
}

struct mf_block mf_test_generate(struct mf_test_generator *g)
{
	struct mf_block b;

	if (g->pattern.kind == MF_TEST_PSEUDO_RANDOM)
		return generate_scrambled(g);
	b.sync = (uint8_t)generate_bits(g, SYNC_BITS);
	b.word = generate_bits(g, WORD_BITS);
	return b;
}

void mf_test_checker_init(struct mf_test_checker *c, const struct mf_test_pattern *pattern)
{
	*c = (struct mf_test_checker){.pattern = *pattern};
}

void mf_test_check(struct mf_test_checker *c, const struct mf_block *block)
{
	if (c->pattern.kind == MF_TEST_PSEUDO_RANDOM) {
		check_scrambled(c, block);
		return;
	}
	c->counts.blocks++;
	check_bits(c, block->sync, SYNC_BITS);
	check_bits(c, block->word, WORD_BITS);
}

void mf_test_no_signal(struct mf_test_checker *c)
{
	c->counts.locks_lost += c->lock.block_lock;
	mf_lock_init(&c->lock);
	c->block = c->mismatches = c->known = 0;
}
