/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long after its grant a chunk arrives, and what follows for the backlog of an egress (D3).
 */
#ifndef MF_BOUND_H
#define MF_BOUND_H

#include "fabric/mf_fabric_state.h"

/** From a grant to the arrival of the chunk's first block at the switch, idle fabric, ps. */
mf_time bound_write_delay(const struct mf_fabric *f, unsigned int cn);
mf_time bound_read_delay(const struct mf_fabric *f, unsigned int mn);
/** The same of an atomic's result: what it has read is written first. */
mf_time bound_atomic_delay(const struct mf_fabric *f, unsigned int mn);

/** D: the largest difference of grant-to-arrival times in this fabric. */
mf_time bound_difference(const struct mf_fabric *f);

/**
 * What aligning adds to the /G/ of a write of this node, so that its chunk comes as late as the latest of a
 * read: results of atomics are later, and a few blocks.
 */
mf_time bound_align(const struct mf_fabric *f, unsigned int cn);

/** K and W of a port by default: blocks that are under way at the full rate of its link, and two chunks. */
uint32_t bound_under_way(const struct mf_fabric *f, unsigned int port);

/** Wire blocks of a whole chunk. */
uint32_t bound_chunk_blocks(const struct mf_fabric *f);

/** The bound of the memory backlog of port d, blocks. */
uint32_t bound_backlog(const struct mf_fabric *f, unsigned int d);

#endif
