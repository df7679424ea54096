/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Block lock and bit error monitors (IEEE 802.3 clause 49.2.9, 49.2.13, figures 49-12 and 49-13).
 */
#ifndef MF_LOCK_H
#define MF_LOCK_H

#include "pcs/mf_block.h"

/**
 * The block lock state machine.
 *
 *               64 good headers in a row
 *     unlocked --------------------------> locked, in windows of 64 headers
 *      ^ |  ^                               |
 *      +-+  +-------------------------------+
 *    bad: slip     16 bad in a window: slip
 */
struct mf_lock {
	uint8_t sh_cnt; /**< headers of this window */
	uint8_t sh_invalid_cnt; /**< bad ones among them */
	bool block_lock;
};

void mf_lock_init(struct mf_lock *l);

/**
 * Feeds the sync header of one candidate block.
 *
 * @return true when the caller has to slip by one bit before it looks at the next candidate.
 */
bool mf_lock_feed(struct mf_lock *l, uint8_t sync);

/** The hi-BER monitor: 16 bad headers within one window; windows run free from time 0. */
struct mf_ber {
	mf_time window; /**< ps; 125 us for 10GBASE-R */
	mf_time window_end;
	uint32_t ber_cnt; /**< bad headers of this window, up to the limit */
	bool hi_ber; /**< from the 16th bad header on until a window ends with fewer */
};

#define MF_BER_LIMIT 16

/** @param window  ps, not 0 */
void mf_ber_init(struct mf_ber *b, mf_time window);

/**
 * Tells the monitor that a header at time now was good or bad; closes windows that have passed. A header
 * at the very end of a window belongs to the next. Idle need not be told, so hi_ber is up to date only
 * behind a call: feed a good header to ask at a time at which nothing came.
 *
 * @param now  not before that of an earlier call
 */
void mf_ber_feed(struct mf_ber *b, mf_time now, bool bad);

#endif
