/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much corruption a receiver sees before its link is to be disabled (EDM 3.3): so many bad blocks
 * within a time, a bit error rate that is too high (hi-BER), or the loss of block lock. It only says so;
 * who owns the link disables it.
 *
 * Sans-I/O; what it is told may come out of order, by some dozens.
 */
#ifndef MF_GUARD_H
#define MF_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mf_time.h"

#define MF_GUARD_MAX 1024 /**< most bad blocks that can be asked for */

enum mf_guard_cause {
	MF_GUARD_NONE,
	MF_GUARD_BAD, /**< blocks with bad headers or types, messages whose check fails */
	MF_GUARD_HI_BER, /**< 16 bad headers in the window of the bit error monitor (49.2.13, 125 us) */
	MF_GUARD_LOCK, /**< 16 bad headers among 64 */
	MF_GUARD_CAUSES
};

/** "bad blocks", "hi-BER", "block lock" by cause; of none "" */
extern const char *const mf_guard_names[MF_GUARD_CAUSES];

struct mf_guard {
	mf_time window; /**< `limit` bad ones in less than that are too many */
	uint32_t limit; /**< 0: they are not counted */
	uint32_t n; /**< of `seen` */
	mf_time *seen; /**< the latest bad ones, in order */
	mf_time tripped; /**< when it was too much; MF_NEVER: it was not */
	uint8_t cause; /**< enum mf_guard_cause */
	uint64_t bad; /**< of all times */
};

/**
 * @param limit   0..MF_GUARD_MAX
 * @param window  ps, 1..
 * @return 0, -EINVAL or -ENOMEM
 */
int mf_guard_init(struct mf_guard *g, uint32_t limit, mf_time window);
void mf_guard_fini(struct mf_guard *g);

/** A bad block, or a message whose check failed at its last block, at a time. */
void mf_guard_bad(struct mf_guard *g, mf_time at);
/** It is too much for another reason. */
void mf_guard_trip(struct mf_guard *g, mf_time at, enum mf_guard_cause cause);
/** Whether it was hi-BER or lost lock that was too much: then the receiver is in local fault. */
static inline bool mf_guard_is_deaf(const struct mf_guard *g)
{
	return g->tripped != MF_NEVER && g->cause != MF_GUARD_BAD;
}

/** The link is there again: from now on. */
void mf_guard_reset(struct mf_guard *g);

#endif
