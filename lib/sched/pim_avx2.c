/* SPDX-License-Identifier: BSD-3-Clause */
/* The policy "pim" for CPUs with AVX2: the same source, with times_avx2.h. */
#if defined(__x86_64__)
#pragma GCC target("avx2,bmi,bmi2,popcnt")
#endif
#include "pim.h"

bool mf_sched_pim_has_avx2(void)
{
#ifdef __AVX2__
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
#else
	return false;
#endif
}

unsigned int mf_sched_pim_run_avx2(struct mf_sched *s, mf_time now, struct mf_sched_grant *grants,
				   unsigned int max)
{
	return run_with(pim_match, s, now, grants, max);
}
