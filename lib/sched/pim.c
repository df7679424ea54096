/* SPDX-License-Identifier: BSD-3-Clause */
/* The policy "pim", and the choice of how it is run on this CPU. */
#include <limits.h>

#include "pim.h"

static unsigned int pim_run(struct mf_sched *s, mf_time now, struct mf_sched_grant *grants, unsigned int max)
{
	return run_with(pim_match, s, now, grants, max);
}

static struct mf_sched *pim_create(const struct mf_sched_config *config)
{
	struct pim *p = mf_sched_new(config, sizeof(*p));
	unsigned int bits = config->max_simd_bits ? config->max_simd_bits : UINT_MAX;

	if (!p)
		return NULL;
	p->core.run = pim_run;
	if (bits >= 256 && mf_sched_pim_has_avx2())
		p->core.run = mf_sched_pim_run_avx2;
	if (bits >= 512 && mf_sched_pim_has_avx512())
		p->core.run = mf_sched_pim_run_avx512;
	p->asked = mf_sched_alloc(&p->core, p->core.ports, sizeof(*p->asked));
	if (!p->asked) {
		mf_sched_destroy(&p->core);
		return NULL;
	}
	for (unsigned int i = 0; i < p->core.ports; i++)
		p->asked[i].key = SCHED_KEY_NONE;
	return &p->core;
}

const struct mf_sched_ops mf_sched_pim = {
	.name = "pim",
	.create = pim_create,
	MF_SCHED_CORE_OPS,
};
