/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Priority-based parallel iterative matching (EDM 3.1.2). An iteration takes the hardware 3 cycles:
 *
 *   1. every free destination requests its eligible candidate of the highest priority: request()
 *   2. every source that was asked grants the best request: priority_encoder()
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
	sched_key *wish; /* [destination]: what it requests */
	/* The boolean values of the order arrays, [source][words]: destinations that ask in this iteration. */
	uint64_t *asks;
	uint64_t asked[SCHED_WORDS_MAX]; /* sources that are asked */
};

/** First cycle. @return whether there is a request */
static bool request(struct pim *p)
{
	struct mf_sched *s = &p->core;
	bool any = false;

	for (unsigned int w = 0; w < s->words; w++) {
		s->active[w] &= s->free[SCHED_DST][w];
		for (uint64_t left = s->active[w]; left; left &= left - 1) {
			unsigned int dst = w * 64 + __builtin_ctzll(left);
			sched_key best = mf_sched_best(s, dst);

			if (best == SCHED_KEY_NONE) {
				sched_clear(s->active, dst);
				continue;
			}
			p->wish[dst] = best;
			sched_set(p->asks + sched_key_src(best) * s->words, dst);
			sched_set(p->asked, sched_key_src(best));
			any = true;
		}
	}
	return any;
}

/** Second cycle, of one source: the best request of those that are set in its order array. Resets them. */
static sched_key priority_encoder(struct pim *p, unsigned int src)
{
	uint64_t *asks = p->asks + src * p->core.words;
	sched_key best = SCHED_KEY_NONE;

	for (unsigned int w = 0; w < p->core.words; w++) {
		for (; asks[w]; asks[w] &= asks[w] - 1) {
			sched_key key = p->wish[w * 64 + __builtin_ctzll(asks[w])];

			best = key < best ? key : best;
		}
	}
	return best;
}

/** Second and third cycle, of all sources. @return grants */
static unsigned int grant(struct pim *p, unsigned int iteration)
{
	unsigned int grants = 0;

	for (unsigned int w = 0; w < p->core.words; w++) {
		for (; p->asked[w]; p->asked[w] &= p->asked[w] - 1) {
			unsigned int src = w * 64 + __builtin_ctzll(p->asked[w]);

			mf_sched_issue(&p->core, priority_encoder(p, src), iteration);
			grants++;
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

	while ((!limit || k < limit) && request(p))
		grants += grant(p, ++k);
	for (unsigned int w = 0; w < s->words; w++)
		s->active[w] &= s->free[SCHED_DST][w];
	mf_sched_matched(s, k, grants);
}

static struct mf_sched *pim_create(const struct mf_sched_config *config)
{
	struct pim *p = mf_sched_new(config, sizeof(*p), pim_match);

	if (!p)
		return NULL;
	p->wish = mf_sched_alloc(&p->core, p->core.ports, sizeof(*p->wish));
	p->asks = mf_sched_alloc(&p->core, p->core.ports, p->core.words * sizeof(*p->asks));
	if (!p->wish || !p->asks) {
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
