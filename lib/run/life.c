/* SPDX-License-Identifier: BSD-3-Clause */
#include <time.h>

#include "run/mf_fabric.h"

#define STEP 10000000 /* ns: no process is started again within so short a time */

uint32_t mf_life_of_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint32_t)(((uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec) / STEP);
}
