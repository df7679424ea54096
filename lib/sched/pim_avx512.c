/* SPDX-License-Identifier: BSD-3-Clause */
/* The policy "pim" for CPUs with AVX-512: the same source, with scan_avx512.h and times_avx512.h. */
#if defined(__x86_64__)
#pragma GCC target("avx512f,avx512dq,bmi,bmi2,popcnt")
#endif
#include "pim.h"

bool mf_sched_pim_has_avx512(void)
{
#ifdef __AVX512F__
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
	       __builtin_cpu_supports("bmi2");
#else
	return false;
#endif
}

unsigned int mf_sched_pim_run_avx512(struct mf_sched *s, mf_time now, struct mf_sched_grant *grants,
				     unsigned int max)
{
	return run_with(pim_match, s, now, grants, max);
}
