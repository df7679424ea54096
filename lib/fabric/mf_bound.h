/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long after its grant a chunk arrives, and what follows for the backlog of an egress (D3). Of a network
 * of EDM; nodes and ports by their numbers there.
 */
#ifndef MF_BOUND_H
#define MF_BOUND_H

#include "fabric/mf_fabric_state.h"

/** Sets arrives_least and arrives_most, before all others are asked; links and numbers are there. */
void bound_init(struct fabric_tier *t);

/** From a grant to the arrival of the chunk's first block at the switch, idle fabric, ps. */
mf_time bound_write_delay(const struct fabric_tier *t, unsigned int cn);
mf_time bound_read_delay(const struct fabric_tier *t, unsigned int mn);
/** The same of an atomic's result: what it has read is written first. */
mf_time bound_atomic_delay(const struct fabric_tier *t, unsigned int mn);

/** D: the largest difference of grant-to-arrival times in this fabric. */
mf_time bound_difference(const struct fabric_tier *t);

/**
 * What aligning adds to the /G/ of a write of this node, so that its chunk comes as late as the latest of a
 * read: results of atomics are later, and a few blocks.
 */
mf_time bound_align(const struct fabric_tier *t, unsigned int cn);

/** Blocks that are under way at the full rate of a port's link, and two chunks. */
uint32_t bound_under_way(const struct fabric_tier *t, unsigned int port);

/*
 * K and W of a port by default: what is under way. Where memories have a bandwidth, it is also a longest
 * message, all chunks of which are granted while it waits for the memory. Otherwise the memory would idle
 * until the last of them has come.
 */
uint32_t bound_default_k(const struct fabric_tier *t, unsigned int port);
uint32_t bound_default_w(const struct fabric_tier *t, unsigned int port);

/** Wire blocks of a whole chunk. */
uint32_t bound_chunk_blocks(const struct fabric_tier *t);

/** The bound of the memory backlog of port d, blocks. */
uint32_t bound_backlog(const struct fabric_tier *t, unsigned int d);

#endif
