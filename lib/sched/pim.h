/* SPDX-License-Identifier: BSD-3-Clause */
/* The first two cycles of an iteration of priority PIM (3.1.2), for any way to look for free sources. */
#ifndef MF_SCHED_PIM_H
#define MF_SCHED_PIM_H

#include "eligible.h"

struct pim {
	struct mf_sched core;
	bool (*request)(struct pim *p);
	struct sched_request *asked; /* [source]: the best request of this iteration, or none */
	uint64_t asked_map[SCHED_WORDS_MAX]; /* sources that are asked */
	uint64_t asked_words; /* words of it that are not 0 */
};

/** First cycle. @return whether there is a request */
bool mf_sched_pim_request_scalar(struct pim *p);
bool mf_sched_pim_request_avx512(struct pim *p);
bool mf_sched_pim_has_avx512(void);

/**
 * Second cycle. The hardware has a boolean for each entry of the order array and encodes the first that
 * is set. Software sees the requests one by one, so it keeps the first in order as they come.
 */
static inline void pim_priority_encoder(struct pim *p, sched_key key, uint32_t at)
{
	unsigned int src = sched_key_src(key);
	struct sched_request *asked = p->asked + src;

	if (key < asked->key)
		*asked = (struct sched_request){key, at};
	sched_set(p->asked_map, src);
	sched_set(&p->asked_words, src / 64);
}

/** The request of one destination. If it has no other to turn to, it is inactive until something changes. */
static inline __attribute__((always_inline)) void pim_ask(struct pim *p, unsigned int dst,
							  sched_first_free *first_free)
{
	const struct sched_list *l = p->core.list + dst;
	uint32_t at = sched_eligible(&p->core, l, first_free);

	if (at < l->count)
		pim_priority_encoder(p, sched_list_keys(l)[at], at);
	if (at + 1 >= l->count)
		sched_deactivate(&p->core, dst);
}

static inline __attribute__((always_inline)) bool pim_request(struct pim *p, sched_first_free *first_free)
{
	for (uint64_t words = p->core.active_words; words; words &= words - 1) {
		unsigned int w = __builtin_ctzll(words);

		for (uint64_t left = sched_active(&p->core, w); left; left &= left - 1)
			pim_ask(p, w * 64 + __builtin_ctzll(left), first_free);
	}
	return p->asked_words;
}

#endif
