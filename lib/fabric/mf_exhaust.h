/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pools and queues whose free room is taken away for a time (fault "exhaust"). Where several rules take the
 * same, it is given back when the last of them has ended.
 */
#ifndef MF_EXHAUST_H
#define MF_EXHAUST_H

#include <stdbool.h>

/** One more of *wants rules takes it, or one less. @return whether it is taken, or given back, by that */
static inline bool exhaust_counts(unsigned int *wants, bool on)
{
	*wants += on ? 1 : -1U;
	return *wants == on;
}

#endif
