/* SPDX-License-Identifier: BSD-3-Clause */
/* The priority of a candidate. */
#ifndef MF_SCHED_KEY_H
#define MF_SCHED_KEY_H

#include <stdbool.h>
#include <stdint.h>

/**
 * The lowest goes first, no two are equal: ties go by time, source, id (D1). It names its candidate, too.
 *
 *   SRPT: octets (33 bits) | at (64) | source (9) | id (8) | resp (1) | destination (9) | mega (1)
 *   FCFS: 0
 *
 * The first bit of the octets, which are never so many, is that of demands beyond a share.
 */
typedef unsigned __int128 sched_key;
#define SCHED_KEY_NONE (~(sched_key)0 >> 1) /* keys have less than 127 bits: see pim_priority_encoder() */
#define SCHED_KEY_DST 1
#define SCHED_KEY_RESP 10
#define SCHED_KEY_ID 11
#define SCHED_KEY_SRC 19
#define SCHED_KEY_AT 28
#define SCHED_KEY_OCTETS 92
#define SCHED_KEY_EXCESS 32 /* of the octets */

static inline unsigned int sched_key_src(sched_key key)
{
	return (uint64_t)key >> SCHED_KEY_SRC & 0x1ff;
}

static inline bool sched_key_resp(sched_key key)
{
	return (uint64_t)key >> SCHED_KEY_RESP & 1;
}

static inline unsigned int sched_key_dst(sched_key key)
{
	return (uint64_t)key >> SCHED_KEY_DST & 0x1ff;
}

static inline bool sched_key_mega(sched_key key)
{
	return key & 1;
}

#endif
