/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdatomic.h>
#include <time.h>

#include "run/idle.h"

#define STEP 50000000 /* ns: no process is started again within so short a time */

static uint32_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint32_t)(((uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec) / STEP);
}

uint32_t fabric_new_incarnation(void)
{
	static _Atomic uint32_t last;
	uint32_t before = atomic_load(&last), next;

	do {
		next = now();
		if ((int32_t)(next - before) <= 0)
			next = before + 1;
		next += next == 0;
	} while (!atomic_compare_exchange_weak(&last, &before, next));
	return next;
}
