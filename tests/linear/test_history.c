/* SPDX-License-Identifier: BSD-3-Clause */
/* Histories: of a memory that is as it should be they pass, of one that is not the word is named. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "history.h"
#include "history_sim.h"

TestSuite(history, .timeout = 60);

#define OPERATIONS 3000

static const struct sim quiet = {.config = {.fingerprint = 5, .in_order = true, .lossless = true},
				 .hot = 512,
				 .len_max = 128,
				 .rmw = .2};

static struct sim sim_of(const struct sim *like, uint64_t seed)
{
	struct sim s = *like;

	mf_rng_init(&s.rng, seed, "history", 0);
	s.config.fingerprint = seed;
	return s;
}

static enum mf_history_answer answer_of(const struct mf_history *h)
{
	struct mf_history_verdict v;
	enum mf_history_answer answer;

	cr_assert_eq(mf_history_check(&h, 1, 0, &v), 0);
	answer = v.answer;
	if (answer != MF_HISTORY_YES)
		mf_history_explain(&v, stderr);
	mf_history_verdict_free(&v);
	return answer;
}

static void passes(const struct sim *like, unsigned int seeds)
{
	for (uint64_t seed = 1; seed <= seeds; seed++) {
		struct sim s = sim_of(like, seed);

		sim_run(&s, OPERATIONS);
		cr_expect_eq(answer_of(s.h), MF_HISTORY_YES, "seed %lu", (unsigned long)seed);
		mf_history_free(s.h);
	}
}

Test(history, acknowledged_operations_pass)
{
	passes(&quiet, 10);
}

Test(history, unacknowledged_writes_pass)
{
	struct sim s = quiet;

	s.plain = .5;
	passes(&s, 10);
}

Test(history, writes_that_may_be_lost_pass)
{
	struct sim s = quiet;

	s.plain = .4;
	s.lost = true;
	s.config.lossless = false;
	passes(&s, 10);
}

Test(history, failed_operations_pass)
{
	struct sim s = quiet;

	s.plain = .2;
	s.fail = .01;
	passes(&s, 10);
}

Test(history, operations_on_parts_of_words_pass)
{
	struct sim s = quiet;

	s.plain = .3;
	s.unaligned = true;
	passes(&s, 10);
}

Test(history, restarts_pass)
{
	struct sim s = quiet;

	s.plain = .3;
	s.restart = .002;
	passes(&s, 10);
}

Test(history, a_choice_of_words_passes)
{
	struct sim s = quiet;

	s.plain = .3;
	s.config.sample = 2;
	s.unaligned = true;
	passes(&s, 10);
}

Test(history, all_of_it_at_once_passes)
{
	struct sim s = quiet;

	s.plain = .3;
	s.unaligned = true;
	s.fail = .003;
	s.restart = .001;
	passes(&s, 10);
}

/** A read that found something, to be altered: the n-th of them. */
static struct mf_history_record *a_read(const struct mf_history *h, unsigned int n)
{
	for (unsigned int i = 0; i < h->logs; i++) {
		const struct mf_history_log *l = &h->log[i];

		for (uint64_t place = 0; place < l->used; place = history_next(l, place)) {
			struct mf_history_record *r = (void *)&l->word[place];

			if (r->kind == MF_HISTORY_READ && r->outcome == MF_HISTORY_OK && r->words > 0 &&
			    n-- == 0)
				return r;
		}
	}
	return NULL;
}

static void altered_is_named(const struct sim *like)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct sim s = sim_of(like, seed);
		struct mf_history_verdict v;
		struct mf_history_record *r;
		struct history_walk w;
		uint64_t *data;

		sim_run(&s, OPERATIONS);
		r = a_read(s.h, (unsigned int)mf_rng_below(&s.rng, OPERATIONS / 8));
		cr_assert_not_null(r);
		w = history_walk(&s.config, r);
		data = (uint64_t *)(void *)(r + 1);
		data[0] ^= UINT64_C(1)
			   << mf_rng_below(&s.rng, 8); /* the first octet of a word is always read */
		cr_assert_eq(mf_history_check((const struct mf_history *const[]){s.h}, 1, 0, &v), 0);
		cr_expect_eq(v.answer, MF_HISTORY_NO, "seed %lu", (unsigned long)seed);
		cr_expect_eq(v.node, r->node);
		cr_expect_eq(v.addr, w.word * 8);
		cr_expect_lt(v.bad, v.ops);
		mf_history_verdict_free(&v);
		mf_history_free(s.h);
	}
}

Test(history, one_altered_value_is_named)
{
	altered_is_named(&quiet);
}

Test(history, one_altered_value_among_plain_writes_is_named)
{
	struct sim s = quiet;

	s.plain = .5;
	altered_is_named(&s);
	s.lost = true;
	s.config.lossless = false;
	altered_is_named(&s);
}
