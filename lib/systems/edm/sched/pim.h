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

#include "systems/edm/sched/repeat_matching.h"
#include "systems/edm/sched/burst.h"
#include "systems/edm/sched/run.h"

#define PIM_AHEAD 8 /* between prefetch and use */
#define PIM_BLOCK 32 /* grants ... */
#define PIM_MANY 4 /* demands of a port: so many make long lists */

struct pim {
	struct mf_sched core;
	/* [source]: the best request of the iteration, or that of nobody */
	uint16_t best[SCHED_PORTS_MAX] __attribute__((aligned(64)));

	/* destinations that look for a source, and the places of their lists from which they do */
	unsigned int seekers;
	uint16_t dst[SCHED_LIST];
	uint16_t from[SCHED_LIST];

	/*
	 * Those that found one, where, and its key. Arrays of their own: a load waits for a store before it
	 * into the same array, if the place of that hangs on what was found.
	 */
	unsigned int founds;
	uint16_t found_dst[SCHED_LIST];
	uint16_t found_at[SCHED_LIST];
	const sched_key *key[SCHED_LIST];

	struct burst burst;
	sched_key asked[SCHED_PORTS_MAX + 1]; /* theirs; the last is that of nobody */
};

/**
 * Second cycle. The hardware has a boolean for each entry of the order array and encodes the first that
 * is set. Software sees the requests one by one, so it keeps the first in order as they come.
 *
 * No branch hangs on which is the better one, which nobody could foretell.
 */
static inline void pim_priority_encoder(struct pim *p, unsigned int i, sched_key key)
{
	unsigned int src = sched_key_src(key), best = p->best[src];
	unsigned int better = (__int128)(key - p->asked[best]) >> 127; /* keys have less than 127 bits */

	p->asked[i] = key;
	p->best[src] = best ^ ((best ^ i) & better);
}

/**
 * Where the best eligible candidates of destinations are, which are looked at then. Who has none does not
 * look for one any more. Sources become busy in a matching, but not free: so all go on where they are in
 * their lists.
 */
static inline void pim_search(struct pim *p, const uint16_t *dst, const uint16_t *from, unsigned int n)
{
	struct mf_sched *s = &p->core;
	unsigned int found = p->founds;

	for (unsigned int i = 0; i < n; i++) {
		struct sched_list *l = s->list + dst[i];
		uint32_t at = run_best(s, l, from[i]);

		__builtin_prefetch(s->list[dst[i + PIM_AHEAD]].src);
		p->key[found] = list_at(l, at);
		__builtin_prefetch(p->key[found]);
		p->found_dst[found] = dst[i];
		p->found_at[found] = at;
		found += at < l->count;
	}
	p->founds = found;
}

/** ... of some, behind the line of names, where all are busy that are in it, or in a list that is a few. */
static inline void pim_search_far(struct pim *p, const uint16_t *some, unsigned int n)
{
	const struct mf_sched *s = &p->core;
	const struct sched_map *free = &s->free[SCHED_SRC];
	unsigned int found = p->founds;

	for (unsigned int i = 0; i < n; i++) {
		unsigned int dst = p->dst[some[i]], from = p->from[some[i]];
		const struct sched_list *l = s->list + dst;
		uint32_t at = l->more ? list_free_far(l, from > SCHED_NAMED ? from : SCHED_NAMED, free)
				      : scan_few(l->few, l->count, from, free);

		p->key[found] = list_at(l, at);
		__builtin_prefetch(p->key[found]);
		p->found_dst[found] = dst;
		p->found_at[found] = at;
		found += at < l->count;
	}
	p->founds = found;
}

/**
 * ... where lists are long: most find somebody in the line of names, whose sources before `from` are busy by
 * now. Nobody could foretell who does not. These are looked after when all others are done.
 */
static inline void pim_search_many(struct pim *p, unsigned int n)
{
	const struct mf_sched *s = &p->core;
	const struct sched_map *free = &s->free[SCHED_SRC];
	uint16_t others[SCHED_LIST];
	unsigned int far = 0;

	for (unsigned int i = 0; i < n; i++) {
		unsigned int dst = p->dst[i];
		const struct sched_list *l = s->list + dst;
		uint32_t at = scan_named(l->src, l->named, 0, free);

		__builtin_prefetch(s->list[p->dst[i + PIM_AHEAD]].src);
		others[far] = i;
		p->key[i - far] = list_at(l, at);
		__builtin_prefetch(p->key[i - far]);
		p->found_dst[i - far] = dst;
		p->found_at[i - far] = at;
		far += at == SCAN_NAMES;
	}
	p->founds = n - far;
	pim_search_far(p, others, far);
}

/** First cycle. */
SCHED_PART void pim_requests(struct pim *p)
{
	const struct mf_sched *s = &p->core;
	unsigned int n = p->seekers;

	p->seekers = p->founds = 0;
	if (s->stats.entries > PIM_MANY * s->ports && !s->any_tight && !s->megas)
		pim_search_many(p, n);
	else
		pim_search(p, p->dst, p->from, n);
	n = p->founds;
	for (unsigned int i = 0; i < n; i++)
		pim_priority_encoder(p, i, *p->key[i]);
}

/** ... while all sources are free and have room for any chunk: all turn to the first of their lists. */
SCHED_PART void pim_requests_open(struct pim *p)
{
	const struct sched_list *list = p->core.list;
	unsigned int n = p->seekers;

	p->seekers = 0;
	for (unsigned int i = 0; i < n; i++) {
		__builtin_prefetch(list[p->dst[i + PIM_AHEAD]].few);
		pim_priority_encoder(p, i, list[p->dst[i]].few[0]);
	}
	p->founds = n;
	memcpy(p->found_dst, p->dst, n * sizeof(p->dst[0]));
	memset(p->found_at, 0, n * sizeof(p->found_at[0]));
}

static inline bool pim_open(const struct mf_sched *s)
{
	return !s->any_tight && !s->megas && sched_map_equal(&s->free[SCHED_SRC], &s->all);
}

/** Destinations that found a source and have been granted nothing go on. */
static inline void pim_seek(struct pim *p)
{
	struct scan_places from = {p->found_dst, p->found_at}, to = {p->dst, p->from};

	p->seekers = scan_keep(from, p->founds, &p->core.free[SCHED_DST], to);
}

/**
 * Whether what is granted makes no difference to the rest of the matching, but that its ports are not free:
 * no demand takes over from one that ends, and no destination is charged. So all is issued at the end.
 */
static inline bool pim_defers(const struct mf_sched *s)
{
	return !s->followers && s->config.release != MF_RELEASE_WIRE;
}

/** All that are active look for a source, from the start of their lists. */
static inline void pim_begin(struct pim *p)
{
	struct mf_sched *s = &p->core;

	p->seekers = run_active(s, p->dst);
	s->active = (struct sched_map){{0}};
	s->active_any = 0;
	memset(p->from, 0, p->seekers * sizeof(p->from[0]));
}

/** Destinations that still look for a source when a matching ends. */
static inline void pim_end(struct pim *p)
{
	struct mf_sched *s = &p->core;

	for (unsigned int i = 0; i < p->seekers; i++) {
		unsigned int dst = p->dst[i];

		sched_activate(s, dst / 64, (uint64_t)(p->from[i] < s->list[dst].count) << dst % 64);
	}
	p->seekers = 0;
}

/** The requests that won, by source. Their sources are not free any more. @return how many */
static inline unsigned int pim_won(struct pim *p, uint16_t *won)
{
	struct mf_sched *s = &p->core;
	unsigned int src = sched_key_src(p->asked[0]);

	if (p->founds > 1)
		return scan_won(p->best, s->words, won, &s->free[SCHED_SRC]);
	if (!p->founds)
		return 0;
	won[0] = 0;
	p->best[src] = SCHED_NOBODY;
	sched_clear(&s->free[SCHED_SRC], src);
	return 1;
}

/** Third cycle. @return grants, which are to be issued */
static inline unsigned int pim_grant(struct pim *p, unsigned int iteration, bool early)
{
	struct mf_sched *s = &p->core;
	uint16_t won[SCHED_LIST];
	unsigned int n = pim_won(p, won), first = s->issues.n;

	for (unsigned int k = 0; k < n;) {
		unsigned int end = n - k > PIM_BLOCK ? k + PIM_BLOCK : n;

		if (early)
			issue_write(s, s->issues.found);
		issue_find(s);
		for (; k < end; k++)
			issue_add(s, first + k, p->asked[won[k]], p->found_at[won[k]], iteration);
		s->issues.n = first + k;
	}
	return n;
}

static inline void pim_match(struct mf_sched *s)
{
	struct pim *p = (struct pim *)s;
	const bool defers = pim_defers(s), early = defers && issue_at_once(s, s->ports);
	unsigned int limit = s->config.iterations, k = 0, n;
	uint64_t grants = 0;

	ports_begin(s);
	pim_begin(p);
	while ((!limit || k < limit) && p->seekers) {
		if (!k && pim_open(s))
			pim_requests_open(p);
		else
			pim_requests(p);
		n = pim_grant(p, k + 1, early);
		if (!n)
			break;
		grants += n;
		k++;
		if (!defers)
			issue(s);
		pim_seek(p);
		if (s->active_any) { /* a new candidate, maybe ahead of where somebody looks */
			pim_end(p);
			pim_begin(p);
		}
	}
	if (s->issues.n)
		issue(s);
	pim_end(p);
	issue_matched(s, k, grants);
	if (!s->window || !k)
		return;
	if (k == 1 && !s->config.iteration)
		repeat(s);
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
