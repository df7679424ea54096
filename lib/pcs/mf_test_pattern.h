/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Test patterns of a physical coding sublayer: generators (IEEE 802.3 49.2.8) and checkers (49.2.12).
 *
 * A pattern takes the place of all that a link carries. What is made is on the wire as it is: blocks are not
 * scrambled again, and the sync header is two bits of the pattern where the pattern has no headers.
 *
 * Sans-I/O: the caller carries each block from the generator to the checker, and damages it on the way.
 */
#ifndef MF_TEST_PATTERN_H
#define MF_TEST_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

#include "pcs/mf_block.h"
#include "pcs/mf_lock.h"
#include "pcs/mf_scrambler.h"

enum mf_test_kind {
	/**
	 * The scrambler, loaded with a seed every 128 blocks: A, A inverted, B, B inverted. Its input is the
	 * data pattern, inverted where the seed is. The header of each block is that of a control block.
	 */
	MF_TEST_PSEUDO_RANDOM,
	/** n ones, n zeros, and so on, without headers. */
	MF_TEST_SQUARE_WAVE,
	/** The inverted sequence of x^31 + x^28 + 1, without headers. */
	MF_TEST_PRBS31,
	MF_TEST_KINDS
};

/** "pseudo-random", "square-wave", "prbs31" by kind; NULL ends the list */
extern const char *const mf_test_names[MF_TEST_KINDS + 1];

/** The input of the scrambler: two Local Fault ordered sets, or zeros. */
enum mf_test_data { MF_TEST_LOCAL_FAULT, MF_TEST_ZEROS, MF_TEST_DATA };

/** "local-fault", "zeros"; NULL ends the list */
extern const char *const mf_test_data_names[MF_TEST_DATA + 1];

#define MF_TEST_SEED_BITS 58
#define MF_TEST_SEED_MAX ((UINT64_C(1) << MF_TEST_SEED_BITS) - 1)
/** Segments A_n and B_n of table 52-20: bit i is register S_i of figure 49-8, of which S0 is the newest. */
#define MF_TEST_SEED_A UINT64_C(0x3c8b44dcab6804f)
#define MF_TEST_SEED_B UINT64_C(0x34906bb85a38884)
#define MF_TEST_SEED_BLOCKS 128 /**< blocks from one seed to the next */

/** The run of a square wave. */
#define MF_TEST_RUN_MIN 4
#define MF_TEST_RUN_MAX 11
#define MF_TEST_RUN_DEFAULT 8

struct mf_test_pattern {
	uint32_t kind; /**< enum mf_test_kind */
	uint32_t data; /**< pseudo-random: enum mf_test_data */
	uint32_t run; /**< square wave: bits of one level, MF_TEST_RUN_MIN..MF_TEST_RUN_MAX */
	uint64_t seed_a, seed_b; /**< pseudo-random: 0..MF_TEST_SEED_MAX */
};

/** A transmitter in test-pattern mode. */
struct mf_test_generator {
	struct mf_test_pattern pattern;
	struct mf_scrambler scrambler;
	unsigned int block; /**< pseudo-random: of the four segments, 0..4 * MF_TEST_SEED_BLOCKS - 1 */
	uint32_t history; /**< without headers: the last bits; the newest is the highest */
};

/** @param pattern  copied */
void mf_test_generator_init(struct mf_test_generator *g, const struct mf_test_pattern *pattern);
/** @return the next block of the pattern, as it is on the wire */
struct mf_block mf_test_generate(struct mf_test_generator *g);

/** What a checker has counted since mf_test_checker_init(). */
struct mf_test_counts {
	uint64_t blocks; /**< that were checked */
	/**
	 * Pseudo-random: blocks that are neither the data pattern nor its inverse, but for the first in each
	 * window of 128 blocks, which a new seed causes. A wrong bit makes one to two such blocks.
	 * PRBS31: wrong bits; the checker synchronises to what it receives, so one on the wire counts three
	 * times. Square wave: bits that equal the one a run before; one on the wire counts twice.
	 */
	uint64_t errors;
	uint64_t unlocked; /**< pseudo-random: blocks that came without block lock, and were not checked */
	uint64_t locks_lost; /**< pseudo-random: how often block lock was lost */
};

/**
 * A receiver in test-pattern mode. It finds the pattern by itself: it knows no seed and no phase. The monitor
 * of hi-BER is off, as 49.2.12 demands. 49.2.12 has no checker of square waves: that one is memfab's.
 */
struct mf_test_checker {
	struct mf_test_pattern pattern;
	struct mf_test_counts counts;
	struct mf_scrambler descrambler;
	struct mf_lock lock; /**< pseudo-random */
	unsigned int block, mismatches; /**< pseudo-random: of the window under way */
	unsigned int known; /**< without headers: bits of history that were received, up to what is needed */
	uint32_t history;
};

/** @param pattern  copied; what generator and checker must have in common: kind, data, run */
void mf_test_checker_init(struct mf_test_checker *c, const struct mf_test_pattern *pattern);
/** Checks the next block. */
void mf_test_check(struct mf_test_checker *c, const struct mf_block *block);
/** A block time without a signal: the pattern has to be found again. Nothing is counted but a lost lock. */
void mf_test_no_signal(struct mf_test_checker *c);

#endif
