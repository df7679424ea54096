/* SPDX-License-Identifier: BSD-3-Clause */
/* What was not over when the time of the drain was. */
#ifndef MF_DRAIN_H
#define MF_DRAIN_H

#include "fabric/mf_fabric_state.h"

struct drain {
	uint64_t under_way, octets_under_way; /**< operations that have neither completed nor failed */
	uint64_t never_begun; /**< of open loops */
	/**
	 * Virtual clock: writes, and pieces of cut ones, that have completed for their senders and not taken
	 * effect. They are on their way, or lost: nobody can tell yet.
	 */
	uint64_t late_writes;
	/**
	 * About how long a drain is needed, ps: as long as all that is left takes at the pace of this one.
	 * 0: there was no progress in it, so nobody knows.
	 */
	mf_time enough;
};

/** All 0 where all was over, or the run was interrupted. */
struct drain drain_of(const struct mf_fabric *f);

static inline bool drain_is_over(const struct drain *d)
{
	return d->under_way == 0 && d->never_begun == 0 && d->late_writes == 0;
}

#endif
