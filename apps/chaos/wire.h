/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ends over a wire that does what it likes: drops, duplicates, reorders, delays and corrupts, while ends
 * are killed and started, away, or leave. When it is good again, all that is put must come. rig.c holds what
 * comes against what was sent.
 */
#ifndef WIRE_H
#define WIRE_H

#include "rig.h"

/** What was seen: a class that never fired was not tested. */
struct wire_seen {
	struct mf_link_stats link; /**< of both ends, of all their processes */
	struct mf_impair_stats faults;
	uint64_t delivered, connections;
	uint64_t kills, pauses, leaves, cables;
};

/** One run. @param seen  is added to */
void wire_run(uint64_t seed, struct wire_seen *seen);

#endif
