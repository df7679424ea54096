/* SPDX-License-Identifier: BSD-3-Clause */
/* The policy "pim", and the choice of how it is run on this CPU. */
#include <limits.h>

#include "systems/edm/sched/pim.h"

bool mf_sched_pim_has_avx2(void)
{
#ifdef __x86_64__
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
	       __builtin_cpu_supports("popcnt");
#else
	return false;
#endif
}

bool mf_sched_pim_has_avx512(void)
{
#ifdef __x86_64__
	return mf_sched_pim_has_avx2() && __builtin_cpu_supports("avx512f") &&
	       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
	       __builtin_cpu_supports("avx512vbmi2");
#else
	return false;
#endif
}

static unsigned int pim_run(struct mf_sched *s, mf_time now, struct mf_sched_grant *grants, unsigned int max)
{
	return run_with(pim_intake, pim_match, s, now, grants, max);
}

static struct mf_sched *pim_create(const struct mf_sched_config *config)
{
	struct pim *p = mf_sched_new(config, sizeof(*p));
	unsigned int bits = config->max_simd_bits ? config->max_simd_bits : UINT_MAX;

	if (!p)
		return NULL;
	for (unsigned int i = 0; i < SCHED_PORTS_MAX; i++)
		p->best[i] = SCHED_NOBODY;
	p->asked[SCHED_NOBODY] = SCHED_KEY_NONE;
	p->core.run = pim_run;
	if (bits >= 256 && mf_sched_pim_has_avx2())
		p->core.run = mf_sched_pim_run_avx2;
	if (bits >= 512 && mf_sched_pim_has_avx512())
		p->core.run = mf_sched_pim_run_avx512;
	return &p->core;
}

const struct mf_sched_ops mf_sched_pim = {
	.name = "pim",
	.iterates = true,
	.create = pim_create,
	MF_SCHED_CORE_OPS,
};
