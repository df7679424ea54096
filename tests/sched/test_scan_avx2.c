/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a scheduler that look for things, for CPUs with AVX2. */
#if defined(__x86_64__) && !defined(__clang__)
#pragma GCC target("avx2,bmi,bmi2,popcnt")
/* A compiler that only preprocesses, as for a cache of objects, does not know what the target defines. */
#ifndef __AVX2__
#define __AVX2__ 1
#endif
#ifndef __BMI2__
#define __BMI2__ 1
#endif
#endif
#include "scan_cases.h"

#include "systems/edm/sched/pim.h"

Test(sched_scan_avx2, lists)
{
	if (!mf_sched_pim_has_avx2())
		cr_skip("this CPU has no AVX2");
	lists();
}

Test(sched_scan_avx2, scans)
{
	if (!mf_sched_pim_has_avx2())
		cr_skip("this CPU has no AVX2");
	scans();
}
