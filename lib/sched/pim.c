/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Priority-based parallel iterative matching (EDM 3.1.2). An iteration takes the hardware 3 cycles:
 *
 *   1. every free destination requests its eligible candidate of the highest priority: pim_request()
 *   2. every source that was asked takes the best request: pim_priority_encoder()
 *   3. both are marked busy: mf_sched_issue()
 *
 * A destination that was turned down asks again in the next iteration; one that finds nobody is
 * inactive until something changes. So a matching is maximal when no active destination is left.
 */
#include "pim.h"

bool mf_sched_pim_request_scalar(struct pim *p)
{
	return pim_request(p, sched_first_free_scalar);
}

/** Third cycle. @return grants */
static unsigned int grant(struct pim *p, unsigned int iteration)
{
	unsigned int grants = 0;

	for (; p->asked_words; p->asked_words &= p->asked_words - 1) {
		unsigned int w = __builtin_ctzll(p->asked_words);

		for (; p->asked_map[w]; p->asked_map[w] &= p->asked_map[w] - 1, grants++) {
			struct sched_request *r = p->asked + w * 64 + __builtin_ctzll(p->asked_map[w]);

			mf_sched_issue(&p->core, r, iteration);
			r->key = SCHED_KEY_NONE;
		}
	}
	mf_sched_ports_settle(&p->core);
	return grants;
}

static void pim_match(struct mf_sched *s)
{
	struct pim *p = (struct pim *)s;
	unsigned int limit = s->config.iterations, k = 0;
	uint64_t grants = 0;

	while ((!limit || k < limit) && s->active_words && p->request(p))
		grants += grant(p, ++k);
	mf_sched_matched(s, k, grants);
}

static struct mf_sched *pim_create(const struct mf_sched_config *config)
{
	struct pim *p = mf_sched_new(config, sizeof(*p), pim_match);

	if (!p)
		return NULL;
	p->asked = mf_sched_alloc(&p->core, p->core.ports, sizeof(*p->asked));
	if (!p->asked) {
		mf_sched_destroy(&p->core);
		return NULL;
	}
	for (unsigned int i = 0; i < p->core.ports; i++)
		p->asked[i].key = SCHED_KEY_NONE;
	p->request = mf_sched_pim_request_scalar;
	return &p->core;
}

const struct mf_sched_ops mf_sched_pim = {
	.name = "pim",
	.create = pim_create,
	MF_SCHED_CORE_OPS,
};
