/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rate that all accesses of a memory share: a memory over another one.
 *
 *      request ──> waits for those before it ──> its bytes at the rate ──> the time of the memory below
 *
 * One server takes accesses in the order of the calls, reads and writes alike. An access has it for
 * bytes / rate; an atomic for 8 bytes to read and 8 to write. Times are exact: what a division leaves is
 * carried to the next access while the server is busy, so no rate drifts. Virtual clock.
 *
 * One thread calls.
 */
#ifndef MF_BANDWIDTH_H
#define MF_BANDWIDTH_H

#include "memory/mf_memory.h"

struct mf_bandwidth;

/**
 * @param rate    bits a second, > 0
 * @param memory  the caller's, must outlive it
 * @return NULL with errno: ENOMEM
 */
struct mf_bandwidth *mf_bandwidth_new(uint64_t rate, const struct mf_memory_ops *ops,
				      struct mf_memory *memory);
void mf_bandwidth_free(struct mf_bandwidth *b);

/** The node is started again, with this memory: nothing is under way. */
void mf_bandwidth_restart(struct mf_bandwidth *b, struct mf_memory *memory);

/**
 * As a memory: the table, and mf_bandwidth_memory(). It is made and freed as above, not by this table. It can
 * be asked where the memory below can.
 */
const struct mf_memory_ops *mf_bandwidth_ops(const struct mf_bandwidth *b);

static inline struct mf_memory *mf_bandwidth_memory(struct mf_bandwidth *b)
{
	return (struct mf_memory *)b;
}

#endif
