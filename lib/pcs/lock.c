/* SPDX-License-Identifier: BSD-3-Clause */
/* Block lock and hi-BER: IEEE 802.3 figures 49-12 and 49-13. */
#include "pcs/mf_lock.h"

/** Headers that are looked at before the counters start anew. */
#define WINDOW 64
/** Bad ones in a window that end the lock. */
#define INVALID_LIMIT 16

static bool sh_valid(uint8_t sync)
{
	return sync == MF_SYNC_DATA || sync == MF_SYNC_CTRL;
}

/** State RESET_CNT. */
static void reset_counts(struct mf_lock *l)
{
	l->sh_cnt = 0;
	l->sh_invalid_cnt = 0;
}

void mf_lock_init(struct mf_lock *l)
{
	*l = (struct mf_lock){0};
}

bool mf_lock_feed(struct mf_lock *l, uint8_t sync)
{
	l->sh_cnt++;
	if (!sh_valid(sync)) {
		l->sh_invalid_cnt++;
		if (!l->block_lock || l->sh_invalid_cnt == INVALID_LIMIT) {
			l->block_lock = false;
			reset_counts(l);
			return true;
		}
	}
	if (l->sh_cnt == WINDOW) {
		if (l->sh_invalid_cnt == 0)
			l->block_lock = true;
		reset_counts(l);
	}
	return false;
}

void mf_ber_init(struct mf_ber *b, mf_time window)
{
	*b = (struct mf_ber){.window = window, .window_end = window};
}

/** Ends the window in progress, and those behind it that have passed without a bad header. */
static void close_windows(struct mf_ber *b, mf_time now)
{
	mf_time further = (now - b->window_end) / b->window;

	if (b->ber_cnt < MF_BER_LIMIT || further > 0)
		b->hi_ber = false;
	b->ber_cnt = 0;
	b->window_end += (further + 1) * b->window;
}

void mf_ber_feed(struct mf_ber *b, mf_time now, bool bad)
{
	if (now >= b->window_end)
		close_windows(b, now);
	if (!bad || b->ber_cnt == MF_BER_LIMIT)
		return;
	if (++b->ber_cnt == MF_BER_LIMIT)
		b->hi_ber = true;
}
