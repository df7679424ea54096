/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One direction of a link that carries a test pattern for a while ("test_patterns"): a transmitter and a
 * receiver in test-pattern mode, and what came of it.
 */
#ifndef MF_LINK_TEST_H
#define MF_LINK_TEST_H

#include "config/mf_config.h"
#include "fault/mf_fault.h"

struct mf_fabric;

struct link_test {
	const struct mf_config_test *rule;
	uint16_t node;
	bool up; /**< what the node sends */
	bool on; /**< it has begun, and has not ended */
	bool over;
	uint32_t period; /**< ps a block */
	struct mf_test_generator tx;
	struct mf_test_checker rx;
	uint64_t sent; /**< block times since the pattern began */
	uint64_t dark; /**< of these: nothing came, since something else has cut the link, too */
	uint64_t wrong_bits; /**< that faults made on the wire */
};

/** How many there are, by the file. */
unsigned int link_tests_of(const struct mf_config *config);
/** Fills in all of them. @param period  ps a block of the link of a node to a switch */
void link_tests_init(struct link_test *t, const struct mf_config *config,
		     uint32_t (*period)(const void *ctx, unsigned int sw, unsigned int node),
		     const void *ctx);

/**
 * The pattern goes on: all blocks that begin before a time are sent, damaged and checked.
 * @param fault   the stage of this direction; NULL: there is none
 * @param signal  the link carries what is sent
 */
void link_test_run(struct link_test *t, mf_time until, struct mf_fault *fault, bool signal);

#endif
