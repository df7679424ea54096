/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a thread that polls loses on a CPU: it looks at the time stamp counter again and again, and where much
 * more has passed than a look takes, somebody else had the CPU: a thread, an interrupt, the hypervisor.
 */
#ifndef NOISE_H
#define NOISE_H

#include <stdint.h>

struct noise {
	int cpu;
	double share; /**< of the time that was ours; 0..1 */
	double longest; /**< gap, in seconds */
	uint64_t gaps; /**< of more than a microsecond */
};

/**
 * Listens on one CPU.
 * @return 0, or -errno: this thread cannot run there
 */
int noise_listen(int cpu, double seconds, struct noise *out);

#endif
