/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of several chunks that are coming in, by name: a hash table with open addressing, which grows.
 * Pairs of nodes that never talk take no memory.
 */
#ifndef MF_ARRIVING_H
#define MF_ARRIVING_H

#include <stdint.h>

#include "base/mf_time.h"

struct arriving_message {
	uint64_t name; /**< plus one; 0: there is none */
	mf_time begin; /**< its first block */
	mf_time format; /**< its blocks until now */
	uint64_t octets; /**< until now */
};

struct arriving {
	struct arriving_message *slot; /**< [mask + 1]; at most half of them are used */
	uint32_t mask, count;
};

/** @return 0 or -ENOMEM */
int arriving_init(struct arriving *a);
/** @param a  also one that is all zero */
void arriving_fini(struct arriving *a);

/** @param name  below UINT64_MAX @return it, until the next put or remove; NULL: there is none */
struct arriving_message *arriving_find(const struct arriving *a, uint64_t name);
/** One that is not there. @return it, all zero but its name; NULL: no memory */
struct arriving_message *arriving_put(struct arriving *a, uint64_t name);
/** @param m  one that is there */
void arriving_remove(struct arriving *a, struct arriving_message *m);

#endif
