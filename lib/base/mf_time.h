/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time in memfab: unsigned picoseconds since the start of the run, under both clocks.
 *
 * Whole picoseconds are exact for every rate that is modelled: 66 bits take 2,560 ps at
 * 25.78125 Gb/s and 640 ps at 103.125 Gb/s. 64 bits hold 213 days.
 */
#ifndef MF_TIME_H
#define MF_TIME_H

#include <stdint.h>

/** A point in time or a length of time, in picoseconds. */
typedef uint64_t mf_time;

/** "No deadline": later than every time. */
#define MF_NEVER UINT64_MAX

#define MF_NS(n) ((mf_time)(n)*1000)
#define MF_US(n) ((mf_time)(n)*1000000)
#define MF_MS(n) ((mf_time)(n)*1000000000)
#define MF_SEC(n) ((mf_time)(n)*1000000000000)

static inline mf_time mf_time_min(mf_time a, mf_time b)
{
	return a < b ? a : b;
}

static inline mf_time mf_time_max(mf_time a, mf_time b)
{
	return a > b ? a : b;
}

#endif
