/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Priority-based parallel iterative matching (EDM 3.1.2). An iteration takes the hardware 3 cycles:
 *
 *   1. every free destination requests its eligible candidate of the highest priority: request()
 *   2. every source that was asked takes the best request: priority_encoder()
 *   3. both are marked busy: mf_sched_issue()
 *
 * A destination that was turned down asks again in the next iteration; one that finds nobody is
 * inactive until something changes. So a matching is maximal when no active destination is left.
 */
#include <stdlib.h>
#include <string.h>

#include "core.h"

struct pim {
	struct mf_sched core;
	sched_key *asked; /* [source]: the best request of this iteration */
	uint64_t asked_map[SCHED_WORDS_MAX]; /* sources that are asked */
	uint64_t asked_words; /* words of it that are not 0 */
};

/**
 * Second cycle. The hardware has a boolean for each entry of the order array and encodes the first that
 * is set. Software sees the requests one by one, so it keeps the first in order as they come.
 */
static void priority_encoder(struct pim *p, sched_key request)
{
	unsigned int src = sched_key_src(request);

	if (!sched_test(p->asked_map, src) || request < p->asked[src])
		p->asked[src] = request;
	sched_set(p->asked_map, src);
	sched_set(&p->asked_words, src / 64);
}

/** First cycle. @return whether there is a request */
static bool request(struct pim *p)
{
	struct mf_sched *s = &p->core;

	for (uint64_t words = s->active_words; words; words &= words - 1) {
		unsigned int w = __builtin_ctzll(words);

		for (uint64_t left = sched_active(s, w); left; left &= left - 1) {
			unsigned int dst = w * 64 + __builtin_ctzll(left);
			sched_key best = mf_sched_best(s, dst);

			if (best != SCHED_KEY_NONE)
				priority_encoder(p, best);
			else
				sched_deactivate(s, dst);
		}
	}
	return p->asked_words;
}

/** Third cycle. @return grants */
static unsigned int grant(struct pim *p, unsigned int iteration)
{
	unsigned int grants = 0;

	for (; p->asked_words; p->asked_words &= p->asked_words - 1) {
		uint64_t *map = p->asked_map + __builtin_ctzll(p->asked_words);

		for (; *map; *map &= *map - 1, grants++)
			mf_sched_issue(&p->core, p->asked[(map - p->asked_map) * 64 + __builtin_ctzll(*map)],
				       iteration);
	}
	mf_sched_ports_settle(&p->core);
	return grants;
}

static void pim_match(struct mf_sched *s)
{
	struct pim *p = (struct pim *)s;
	unsigned int limit = s->config.iterations, k = 0;
	uint64_t grants = 0;

	while ((!limit || k < limit) && s->active_words && request(p))
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
	return &p->core;
}

const struct mf_sched_ops mf_sched_pim = {
	.name = "pim",
	.create = pim_create,
	MF_SCHED_CORE_OPS,
};
