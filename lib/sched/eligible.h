/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The eligible candidate of a destination that has the highest priority (3.1.1, steps (2) and (3)): the
 * first of its list whose source is free. How to find that is what the variants for wider CPUs differ in.
 */
#ifndef MF_SCHED_ELIGIBLE_H
#define MF_SCHED_ELIGIBLE_H

#include "core.h"

/** @return place of the first key, not before `from`, whose source is in the bitmap; n: there is none */
typedef uint32_t sched_first_free(const sched_key *keys, uint32_t n, uint32_t from, const uint64_t *free);

static inline uint32_t sched_first_free_scalar(const sched_key *keys, uint32_t n, uint32_t from,
					       const uint64_t *free)
{
	while (from < n && !sched_test(free, sched_key_src(keys[from])))
		from++;
	return from;
}

/** @return its place in the list; count: there is none */
static inline __attribute__((always_inline)) uint32_t sched_eligible(struct mf_sched *s,
								     const struct sched_list *l,
								     sched_first_free *first_free)
{
	const sched_key *keys = sched_list_keys(l);
	const uint64_t *free = s->free[SCHED_SRC];
	uint32_t at = first_free(keys, l->count, 0, free);

	if (s->window)
		while (at < l->count && !mf_sched_ports_fit(s, keys[at]))
			at = first_free(keys, l->count, at + 1, free);
	return at;
}

#endif
