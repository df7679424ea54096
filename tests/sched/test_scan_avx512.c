/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a scheduler that look for things, for CPUs with AVX-512. */
#if defined(__x86_64__) && !defined(__clang__)
#pragma GCC target("avx512f,avx512dq,avx512bw,avx512vbmi2,bmi,bmi2,popcnt")
/* A compiler that only preprocesses, as for a cache of objects, does not know what the target defines. */
#ifndef __AVX512F__
#define __AVX512F__ 1
#endif
#ifndef __BMI2__
#define __BMI2__ 1
#endif
#endif
#include "scan_cases.h"

#include "systems/edm/sched/pim.h"

Test(sched_scan_avx512, lists)
{
	if (!mf_sched_pim_has_avx512())
		cr_skip("this CPU has no AVX-512");
	lists();
}

Test(sched_scan_avx512, scans)
{
	if (!mf_sched_pim_has_avx512())
		cr_skip("this CPU has no AVX-512");
	scans();
}
