/* SPDX-License-Identifier: BSD-3-Clause */
/* The policy "pim" for CPUs with AVX-512, from Ice Lake on: the same, with scan_avx512.h, times_avx512.h. */
#include "systems/edm/sched/pim.h"

unsigned int mf_sched_pim_run_avx512(struct mf_sched *s, mf_time now, struct mf_sched_grant *grants,
				     unsigned int max)
{
	return run_with(pim_intake, pim_match, s, now, grants, max);
}
