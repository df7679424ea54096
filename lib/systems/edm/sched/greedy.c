/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steps (3) to (6) of EDM 3.1.1 to the letter: the eligible message of the highest priority is granted,
 * its ports are marked busy, again, forever. It is the definition of a greedy online matching and one
 * grant each scheduling time, which is why 3.1.2 has another one.
 *
 * A matching is one grant, so config.iterations means nothing here.
 */
#include "systems/edm/sched/run.h"

/** Destinations of the list may have been taken out of active. */
static inline void activated(struct mf_sched *s)
{
	s->active_any = 0;
	for (unsigned int w = 0; w < s->words; w++)
		s->active_any |= s->active.word[w];
}

/** A destination is active no more, if so. */
static inline void deactivate(struct mf_sched *s, unsigned int dst, bool so)
{
	s->active.word[dst / 64] &= ~((uint64_t)so << dst % 64);
}

/** Step (3), over the destinations that may have an eligible message. @return its key, or that of none */
static sched_key select_message(struct mf_sched *s, uint32_t *place)
{
	sched_key best = SCHED_KEY_NONE;
	uint16_t dst[SCHED_LIST];
	unsigned int n = run_active(s, dst);

	for (unsigned int i = 0; i < n; i++) {
		struct sched_list *l = s->list + dst[i];
		uint32_t at = run_best(s, l, 0);

		deactivate(s, dst[i], at == l->count);
		if (at < l->count && *list_at(l, at) < best) {
			best = *list_at(l, at);
			*place = at;
		}
	}
	activated(s);
	return best;
}

static void greedy_match(struct mf_sched *s)
{
	uint32_t at = 0;
	sched_key best = select_message(s, &at);

	if (best == SCHED_KEY_NONE)
		return;
	ports_begin(s);
	sched_clear(&s->free[SCHED_SRC], sched_key_src(best));
	issue_add(s, s->issues.n++, best, at, 1);
	issue(s);
	issue_matched(s, 1, 1);
	if (s->window)
		ports_reopen(s);
}

static unsigned int greedy_run(struct mf_sched *s, mf_time now, struct mf_sched_grant *grants,
			       unsigned int max)
{
	return run_with(intake, greedy_match, s, now, grants, max);
}

static struct mf_sched *greedy_create(const struct mf_sched_config *config)
{
	struct mf_sched *s = mf_sched_new(config, sizeof(*s));

	if (s)
		s->run = greedy_run;
	return s;
}

const struct mf_sched_ops mf_sched_greedy = {
	.name = "greedy",
	.create = greedy_create,
	MF_SCHED_CORE_OPS,
};
