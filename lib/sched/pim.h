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

#include "again.h"
#include "burst.h"
#include "run.h"

#define PIM_AHEAD 8 /* between prefetch and use */
#define PIM_MANY 4 /* demands of a port: so many are not in the nearest cache */

struct pim {
	struct mf_sched core;
	struct sched_map asked_map; /* sources that are asked */

	/* destinations that look for a source, and the places of their lists from which they do */
	unsigned int seekers;
	uint16_t dst[SCHED_LIST];
	uint16_t from[SCHED_LIST];

	struct burst burst;
};

/**
 * Second cycle. The hardware has a boolean for each entry of the order array and encodes the first that
 * is set. Software sees the requests one by one, so it keeps the first in order as they come.
 *
 * No branch hangs on which is the better one, nor on whether there is a request at all, and no address: where
 * there is none, what is there is written again.
 */
static inline void pim_priority_encoder(struct pim *p, struct sched_request *asked, sched_key key,
					uint32_t at, bool found)
{
	unsigned int src = sched_key_src(key);
	struct sched_request *best = asked + src;
	uint64_t low = best->low, high = best->high, better;

	better = -(uint64_t)(found & (key < ((sched_key)high << 64 | low)));
	best->low = low ^ ((low ^ (uint64_t)key) & better);
	best->high = high ^ ((high ^ (uint64_t)(key >> 64)) & better);
	best->at ^= (best->at ^ at) & better;
	p->asked_map.word[src / 64] |= (uint64_t)found << src % 64;
}

/** The list that is looked at soon. (A function that only prefetches would have no effect for gcc.) */
static inline const struct sched_list *pim_soon(const struct pim *p, unsigned int i, unsigned int n)
{
	return p->core.list + p->dst[i + PIM_AHEAD < n ? i + PIM_AHEAD : n - 1];
}

/** The queue of a candidate, which is needed if it is granted. */
static inline const uint32_t *pim_queue(const struct mf_sched *s, unsigned int dst, sched_key key)
{
	return s->queue + sched_queue(s, sched_key_src(key), dst, sched_key_resp(key));
}

/** Where the best eligible candidates of those that look for a source are, which are looked at then. */
static inline void pim_search(struct pim *p, bool first)
{
	struct mf_sched *s = &p->core;
	unsigned int n = p->seekers;

	for (unsigned int i = 0; i < n; i++) {
		struct sched_list *l = s->list + p->dst[i];

		__builtin_prefetch(pim_soon(p, i, n)->src);
		p->from[i] = run_best(s, l, first ? 0 : p->from[i]);
		__builtin_prefetch(list_at(l, p->from[i]));
	}
}

/**
 * First cycle. Who has no other source to turn to does not look for one any more. Sources become busy in a
 * matching, but not free: the others go on where they are in their lists.
 */
SCHED_PART void pim_requests(struct pim *p, bool first)
{
	struct mf_sched *s = &p->core;
	struct sched_request *asked = s->asked;
	unsigned int n = p->seekers, kept = 0;

	pim_search(p, first);
	for (unsigned int i = 0; i < n; i++) {
		unsigned int dst = p->dst[i], at = p->from[i];
		struct sched_list *l = s->list + dst;
		sched_key key = *list_at(l, at);

		pim_priority_encoder(p, asked, key, at, at < l->count);
		__builtin_prefetch(pim_queue(s, dst, key));
		p->dst[kept] = dst;
		p->from[kept] = at + 1;
		kept += at + 1 < l->count;
	}
	p->seekers = kept;
}

/** ... while all sources are free and have room for any chunk: all turn to the first of their lists. */
SCHED_PART void pim_requests_open(struct pim *p)
{
	struct mf_sched *s = &p->core;
	struct sched_request *asked = s->asked;
	struct sched_list *list = s->list;
	const bool many = s->stats.entries > PIM_MANY * s->ports;
	unsigned int n = p->seekers, kept = 0;

	for (unsigned int i = 0; i < n; i++) {
		unsigned int dst = p->dst[i];
		struct sched_list *l = list + dst;
		sched_key key = l->few[0];

		if (sched_rarely(many)) {
			__builtin_prefetch(pim_queue(s, dst, key));
		}
		pim_priority_encoder(p, asked, key, 0, true);
		p->dst[kept] = dst;
		p->from[kept] = 1;
		kept += l->count > 1;
	}
	p->seekers = kept;
}

static inline bool pim_open(const struct mf_sched *s)
{
	return !s->any_tight && !s->megas && sched_map_equal(&s->free[SCHED_SRC], &s->all);
}

/** Destinations that have been granted nothing go on, and those that have a new candidate begin. */
static inline void pim_seek(struct pim *p)
{
	struct mf_sched *s = &p->core;
	unsigned int n = p->seekers, kept = 0;

	for (unsigned int i = 0; i < n; i++) {
		p->dst[kept] = p->dst[i];
		p->from[kept] = p->from[i];
		kept += sched_test(&s->free[SCHED_DST], p->dst[i]);
	}
	p->seekers = kept;
}

static inline void pim_begin(struct pim *p)
{
	struct mf_sched *s = &p->core;

	p->seekers = run_active(s, p->dst);
	s->active = (struct sched_map){{0}};
	s->active_any = 0;
}

/** Destinations that still look for a source when a matching ends. */
static inline void pim_end(struct pim *p)
{
	for (unsigned int i = 0; i < p->seekers; i++)
		sched_activate(&p->core, p->dst[i] / 64, UINT64_C(1) << p->dst[i] % 64);
	p->seekers = 0;
}

/** Third cycle. @return grants */
static inline unsigned int pim_grant(struct pim *p, unsigned int iteration)
{
	struct mf_sched *s = &p->core;
	uint16_t src[SCHED_LIST];
	unsigned int n = scan_ports(&p->asked_map, s->words, src);

	if (!n)
		return 0;
	for (unsigned int w = 0; w < SCHED_WORDS_MAX; w++)
		s->free[SCHED_SRC].word[w] &= ~p->asked_map.word[w];
	p->asked_map = (struct sched_map){{0}};
	issue(s, src, n, iteration);
	return n;
}

static inline void pim_match(struct mf_sched *s)
{
	struct pim *p = (struct pim *)s;
	unsigned int limit = s->config.iterations, k = 0, n;
	uint64_t grants = 0;

	ports_begin(s);
	pim_begin(p);
	while ((!limit || k < limit) && p->seekers) {
		if (!k && pim_open(s))
			pim_requests_open(p);
		else
			pim_requests(p, !k);
		n = pim_grant(p, k + 1);
		if (!n)
			break;
		grants += n;
		k++;
		pim_seek(p);
		if (s->active_any) { /* a new candidate, maybe ahead of where somebody looks */
			pim_end(p);
			pim_begin(p);
			memset(p->from, 0, p->seekers * sizeof(p->from[0]));
		}
	}
	pim_end(p);
	issue_matched(s, k, grants);
	if (!s->window || !k)
		return;
	if (k == 1 && !s->config.iteration)
		again(s);
	ports_reopen(s);
}

static inline void pim_intake(struct mf_sched *s)
{
	if (!burst(s, &((struct pim *)s)->burst))
		intake(s);
}

/* run() for CPUs that have more (pim_avx2.c, pim_avx512.c), and whether this one does (pim.c) */
bool mf_sched_pim_has_avx2(void);
unsigned int mf_sched_pim_run_avx2(struct mf_sched *s, mf_time now, struct mf_sched_grant *grants,
				   unsigned int max);
bool mf_sched_pim_has_avx512(void);
unsigned int mf_sched_pim_run_avx512(struct mf_sched *s, mf_time now, struct mf_sched_grant *grants,
				     unsigned int max);

#endif
