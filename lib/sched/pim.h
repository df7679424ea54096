/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Priority-based parallel iterative matching (EDM 3.1.2). An iteration takes the hardware 3 cycles:
 *
 *   1. every free destination requests its eligible candidate of the highest priority: pim_request()
 *   2. every source that was asked takes the best request: pim_priority_encoder()
 *   3. both are marked busy: pim_grant()
 *
 * A destination that was turned down asks again in the next iteration; one that finds nobody is
 * inactive until something changes. So a matching is maximal when no active destination is left.
 */
#ifndef MF_SCHED_PIM_H
#define MF_SCHED_PIM_H

#include "run.h"

#define PIM_AHEAD 32 /* grants between prefetch and use */

struct pim {
	struct mf_sched core;
	struct sched_request *asked; /* [source]: the best request of this iteration, or none */
	struct sched_map asked_map; /* sources that are asked */
};

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
	__builtin_prefetch(p->core.queue +
			   sched_queue(&p->core, src, sched_key_dst(key), sched_key_resp(key)));
	sched_set(&p->asked_map, src);
}

/** First cycle, of one destination. If it has no other to turn to, it is inactive until something changes. */
static inline void pim_request(struct pim *p, unsigned int dst)
{
	const struct sched_list *l = p->core.list + dst;
	uint32_t at = run_best(&p->core, l);

	if (at < l->count)
		pim_priority_encoder(p, list_keys(l)[at], at);
	run_deactivate(&p->core, dst, at + 1 >= l->count);
}

static inline void pim_requests(struct pim *p)
{
	uint16_t dst[SCHED_LIST];
	unsigned int n = run_active(&p->core, dst);

	for (unsigned int i = 0; i < n; i++)
		pim_request(p, dst[i]);
	run_activated(&p->core);
}

/** The demand that a source was asked for is soon needed. */
static inline void pim_prefetch(const struct pim *p, unsigned int src)
{
	const struct mf_sched *s = &p->core;
	sched_key key = p->asked[src].key;

	__builtin_prefetch(s->demand +
			   s->queue[sched_queue(s, src, sched_key_dst(key), sched_key_resp(key))]);
}

/** Third cycle. @return grants */
static inline unsigned int pim_grant(struct pim *p, unsigned int iteration)
{
	struct mf_sched *s = &p->core;
	uint16_t src[SCHED_LIST];
	unsigned int n = scan_ports(&p->asked_map, s->words, src);

	for (unsigned int i = 0; i < n; i++) {
		pim_prefetch(p, src[i + PIM_AHEAD < n ? i + PIM_AHEAD : i]);
		run_issue(s, p->asked + src[i], iteration);
		p->asked[src[i]].key = SCHED_KEY_NONE;
	}
	p->asked_map = (struct sched_map){{0}};
	ports_settle(s);
	return n;
}

static inline void pim_match(struct mf_sched *s)
{
	struct pim *p = (struct pim *)s;
	unsigned int limit = s->config.iterations, k = 0, n;
	uint64_t grants = 0;

	while ((!limit || k < limit) && s->active_any) {
		pim_requests(p);
		n = pim_grant(p, k + 1);
		if (!n)
			break;
		grants += n;
		k++;
	}
	run_matched(s, k, grants);
	if (s->window)
		ports_reopen(s);
}

/* run() for CPUs that have more: pim_avx2.c, pim_avx512.c */
bool mf_sched_pim_has_avx2(void);
unsigned int mf_sched_pim_run_avx2(struct mf_sched *s, mf_time now, struct mf_sched_grant *grants,
				   unsigned int max);
bool mf_sched_pim_has_avx512(void);
unsigned int mf_sched_pim_run_avx512(struct mf_sched *s, mf_time now, struct mf_sched_grant *grants,
				     unsigned int max);

#endif
