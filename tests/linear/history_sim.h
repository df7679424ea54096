/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Histories of a memory that is as it should be: each operation takes effect at a time between its call and
 * its return, an unacknowledged write in the order of its pair, perhaps after it returned.
 */
#ifndef HISTORY_SIM_H
#define HISTORY_SIM_H

#include "mf_history.h"
#include "mf_rng.h"

#define SIM_CLIENTS 4
#define SIM_NODES 2
#define SIM_OCTETS 4096

struct sim {
	struct mf_rng rng;
	struct mf_history *h;
	struct mf_history_config config;
	unsigned int hot; /**< octets of a node that are used */
	uint32_t len_max;
	bool unaligned; /**< lengths that are no whole words */
	double plain, rmw, fail; /**< shares of operations */
	bool lost; /**< plain writes may be lost */
	double restart; /**< chance that memory is lost before an operation takes effect */
	mf_time now;
	uint8_t memory[SIM_NODES][SIM_OCTETS];
	uint64_t written;
};

/** Runs so many operations into s->h, which it makes. */
void sim_run(struct sim *s, unsigned int operations);

#endif
