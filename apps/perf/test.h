/* SPDX-License-Identifier: BSD-3-Clause */
/* A test: which one, and how it is set. */
#ifndef TEST_H
#define TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "run/mf_fabric.h"

enum test_kind {
	TEST_READ_LAT,
	TEST_WRITE_LAT,
	TEST_ATOMIC_LAT,
	TEST_READ_BW,
	TEST_WRITE_BW,
	TEST_MIXED,
	TEST_LOADED_LATENCY,
	TEST_BANDWIDTH_MATRIX,
	TEST_KINDS
};

#define TEST_CLIENTS_ALL UINT32_MAX

/** 0 (false) of a member: its default, by test and fabric. */
struct test {
	enum test_kind kind;
	bool all; /**< sizes: 2, 4, 8, ... */
	uint32_t size; /**< octets */
	uint64_t iterations; /**< of a client */
	mf_time duration;
	bool forever; /**< without iterations and duration: until it is stopped */
	uint32_t depth; /**< operations of a client under way */
	uint32_t clients; /**< compute nodes that take part, from the first on */
	double rate; /**< open loop: operations a second and client */
	uint32_t burst; /**< open loop: operations that arrive together */
	enum mf_config_pattern pattern;
	double mix[MF_MIXES]; /**< MIXED; all 0: the default */
	bool unverified;
	const struct mf_process_roles *plays; /**< roles of this process; NULL: all */
};

/** What a kind of test is like. */
struct test_info {
	const char *name, *title;
	bool latency; /**< perftest's table of latencies first; else that of bandwidths */
	bool matrix; /**< prints MLC's tables */
	uint32_t size, depth; /**< defaults */
	uint64_t iterations; /**< default; 0: by time */
	enum mf_mix mix; /**< the operation, but for MIXED; WRITE stands for WRITE_ACK, too */
};

const struct test_info *test_info(enum test_kind kind);

/** @return 0 or -ENOENT */
int test_find(const char *name, enum test_kind *kind);

/* Settings with their defaults. */
uint32_t test_size(const struct test *t);
uint32_t test_depth(const struct test *t);
uint32_t test_clients(const struct test *t, const struct mf_config *config);

/**
 * Iterations of a client for operations of this size; 0: the test goes by time. The default of large
 * operations is lower, so that a test of all sizes ends.
 */
uint64_t test_iterations(const struct test *t, uint32_t size);
/** How long is measured where the test goes by time. */
mf_time test_duration(const struct test *t, enum mf_clock clock);

/** Only sizes that are multiples of 8 octets and nothing else: the atomics. */
bool test_atomic(const struct test *t);

/**
 * Whether writes go unacknowledged: a write without acknowledgement has no round trip, so where latency
 * counts only the virtual clock, which sees the effect at the memory, has it. From an intended start
 * only what is acknowledged can be measured.
 */
bool test_unacknowledged(const struct test *t, enum mf_clock clock);

/** Weights of the operations, as the clients get them. */
void test_mix(const struct test *t, enum mf_clock clock, double mix[MF_MIXES]);

/** Compute nodes that may take part: those of a process, NULL: all; by port. @return how many */
unsigned int test_compute_nodes(const struct mf_process_roles *plays, const struct mf_config *config,
				uint16_t node[MF_NODES_MAX]);
/** Memory nodes of a fabric, whoever plays them. */
unsigned int test_memory_nodes(const struct mf_config *config, uint16_t node[MF_NODES_MAX]);

#endif
