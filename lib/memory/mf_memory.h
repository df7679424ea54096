/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What answers at a memory node. Flat memory is the one kind that EDM needs; others stand behind the
 * same ops table.
 */
#ifndef MF_MEMORY_H
#define MF_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mf_time.h"
#include "op/mf_op.h"

struct mf_memory_config {
	uint64_t size; /**< octets, 1..2^48 */
	int numa_node; /**< preferred; -1: any. Without effect where there is no NUMA */
	bool huge_pages; /**< reserved ones where there are enough, else transparent ones */
	mf_time dram; /**< time of an access under the virtual clock */
};

struct mf_memory;

/** One thread calls; requests are executed one after the other, so nothing interleaves with an atomic. */
struct mf_memory_ops {
	const char *name;
	/** Zeroed. @return NULL with errno: EINVAL for a size or a NUMA node that cannot be, ENOMEM */
	struct mf_memory *(*create)(const struct mf_memory_config *config);
	void (*destroy)(struct mf_memory *m);
	/** @return enum mf_status: MF_OK or why an access of len octets at addr would be refused */
	uint8_t (*check)(const struct mf_memory *m, uint64_t addr, uint64_t len);
	uint8_t (*read)(struct mf_memory *m, uint64_t addr, uint32_t len, void *out);
	uint8_t (*write)(struct mf_memory *m, uint64_t addr, uint32_t len, const void *in);
	/**
	 * Atomic on 8 octets, little-endian. *old: the value before.
	 * @return MF_OK; MF_ERR_OPCODE, MF_ERR_RANGE, MF_ERR_ALIGN, looked at in this order: nothing is done
	 */
	uint8_t (*rmw)(struct mf_memory *m, uint8_t op, uint64_t addr, const uint64_t arg[2], uint64_t *old);
	/** Time that a read or a write takes under the virtual clock, ps. */
	mf_time (*delay)(const struct mf_memory *m, uint64_t addr, uint32_t len);
	/** Where the octets are (for in-place reading), or NULL where there is no such place. */
	const void *(*at)(const struct mf_memory *m, uint64_t addr, uint32_t len);
	/** Zeroes octets. @return enum mf_status */
	uint8_t (*zero)(struct mf_memory *m, uint64_t addr, uint64_t len);
};

/** Time of an atomic: it reads, and then writes what comes of it (EDM 3.2.1). */
static inline mf_time mf_memory_rmw_delay(const struct mf_memory_ops *ops, const struct mf_memory *m,
					  uint64_t addr, uint32_t len)
{
	return 2 * ops->delay(m, addr, len);
}

extern const struct mf_memory_ops mf_memory_flat;

/** By the name of the JSON: "flat". NULL: unknown. */
const struct mf_memory_ops *mf_memory_find(const char *name);

#endif
