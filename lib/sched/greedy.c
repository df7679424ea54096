/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steps (3) to (6) of EDM 3.1.1 to the letter: the eligible message of the highest priority is granted,
 * its ports are marked busy, again, forever. It is the definition of a greedy online matching and one
 * grant each scheduling time, which is why 3.1.2 has another one.
 *
 * A matching is one grant, so config.iterations means nothing here.
 */
#include "eligible.h"

/** Step (3), over the destinations that may have an eligible message. */
static struct sched_request select_message(struct mf_sched *s)
{
	struct sched_request best = {SCHED_KEY_NONE, 0};

	for (uint64_t words = s->active_words; words; words &= words - 1) {
		unsigned int w = __builtin_ctzll(words);

		for (uint64_t left = sched_active(s, w); left; left &= left - 1) {
			unsigned int dst = w * 64 + __builtin_ctzll(left);
			const struct sched_list *l = s->list + dst;
			uint32_t at = sched_eligible(s, l, sched_first_free_scalar);

			if (at == l->count)
				sched_deactivate(s, dst);
			else if (sched_list_keys(l)[at] < best.key)
				best = (struct sched_request){sched_list_keys(l)[at], at};
		}
	}
	return best;
}

static void greedy_match(struct mf_sched *s)
{
	struct sched_request best = select_message(s);

	if (best.key == SCHED_KEY_NONE)
		return;
	mf_sched_issue(s, &best, 1);
	mf_sched_ports_settle(s);
	mf_sched_matched(s, 1, 1);
}

static struct mf_sched *greedy_create(const struct mf_sched_config *config)
{
	return mf_sched_new(config, sizeof(struct mf_sched), greedy_match);
}

const struct mf_sched_ops mf_sched_greedy = {
	.name = "greedy",
	.create = greedy_create,
	MF_SCHED_CORE_OPS,
};
