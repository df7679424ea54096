/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Histories of a memory that is as it should be: each operation takes effect at a time between its call and
 * its return, an unacknowledged write in the order of its pair, perhaps after it returned.
 */
#ifndef HISTORY_SIM_H
#define HISTORY_SIM_H

#include "base/mf_rng.h"
#include "linear/mf_history.h"

#define SIM_CLIENTS 6
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
	double restart; /**< chance that memory is lost at a time; each client is told of it later */
	double unplug; /**< chance that the link of a client is lost then */
	bool apart; /**< each second client asks one node alone, and of the other one it only hears */
	mf_time now;
	bool untold[SIM_CLIENTS]
		   [SIM_NODES]; /**< nothing that the client asks is done there before it is told */
	uint8_t memory[SIM_NODES][SIM_OCTETS];
	uint64_t written;
};

/** Runs so many operations into s->h, which it makes. */
void sim_run(struct sim *s, unsigned int operations);

#endif
