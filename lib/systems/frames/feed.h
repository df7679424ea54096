/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a host or a switch of frames gives a line: as late as may be, so that what is sent next is decided as
 * late as in a NIC.
 */
#ifndef FEED_H
#define FEED_H

#include <string.h>

#include "pcs/mf_mux.h"

/** Frames that are committed. Where a line has a rate: the one that is being sent, and the next. */
#define FEED_COMMIT 2
/** Wall clock, without a rate: a burst. */
#define FEED_COMMIT_WALL 32

/** Whether the line wants another frame, or message. @param commit  frames that are committed at most */
static inline bool feed_wants(const struct mf_mux *mux, bool messages, uint32_t commit)
{
	return messages ? mf_mux_waiting(mux) == 0 : mf_mux_frames(mux) < commit;
}

/** Queues a message of n blocks, 2... @return false: there is no room for it */
static inline bool feed_words(struct mf_mux *mux, mf_time now, const uint64_t *word, unsigned int n)
{
	uint64_t *to = mf_mux_put(mux, now, 0, n, 0);

	if (to == NULL)
		return false;
	memcpy(to, word, n * sizeof(*to));
	return true;
}

/** Blocks were sent. Which messages ended with them does not matter here. */
static inline void feed_sent(struct mf_mux *mux)
{
	mf_time at;

	while (mf_mux_done(mux, &at) != 0)
		;
}

#endif
