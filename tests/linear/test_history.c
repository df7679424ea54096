/* SPDX-License-Identifier: BSD-3-Clause */
/* Histories: of a memory that is as it should be they pass, of one that is not the word is named. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "history_sim.h"
#include "linear/history.h"

#define OPERATIONS 3000

static const struct sim quiet = {
	.config = {.fingerprint = 5, .in_order = true, .lossless = true, .tells = true},
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

Test(history, restarts_and_links_of_many_clients_pass)
{
	struct sim s = quiet;

	s.plain = .3;
	s.restart = .001;
	s.unplug = .001;
	s.apart = true;
	passes(&s, 30);
	s.unaligned = true;
	s.fail = .003;
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

/** What an altered find says. */
enum alteration { OTHER_BIT, ZERO, OF_ANOTHER, ALTERATIONS };

/** A read or an atomic that found something, the n-th of them: the word that it found. */
static uint64_t *a_find(const struct mf_history *h, unsigned int n)
{
	for (unsigned int i = 0; i < h->logs; i++) {
		const struct mf_history_log *l = &h->log[i];

		for (uint64_t place = 0; place < l->used; place = history_next(l, place)) {
			const struct mf_history_record *r = history_at(l, place);
			uint64_t *data = &l->word[place + HISTORY_RECORD_WORDS];

			if (r->outcome != MF_HISTORY_OK || r->words == 0 || history_writes(r->kind) ||
			    r->kind >= MF_HISTORY_OPS || n-- > 0)
				continue;
			return history_is_rmw(r->kind) ? &data[HISTORY_RMW_WORDS - 1] : data;
		}
	}
	return NULL;
}

/** @return whether it is another value now */
static bool alter(struct sim *s, enum alteration what)
{
	uint64_t *found = a_find(s->h, (unsigned int)mf_rng_below(&s->rng, OPERATIONS / 4));
	const uint64_t *other = a_find(s->h, (unsigned int)mf_rng_below(&s->rng, OPERATIONS / 4));
	uint64_t before;

	if (found == NULL || other == NULL)
		return false;
	before = *found;
	if (what == OTHER_BIT)
		*found ^= UINT64_C(1) << mf_rng_below(&s->rng, 64);
	else
		*found = what == ZERO ? 0 : *other;
	return *found != before;
}

/** Of so many altered histories those that are found out. */
static unsigned int found_out(const struct sim *like, enum alteration what, bool tells, unsigned int *altered,
			      uint64_t *across)
{
	unsigned int n = 0;

	*altered = 0;
	*across = 0;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct sim s = sim_of(like, seed);
		struct mf_history_verdict v;

		s.config.tells = tells;
		sim_run(&s, OPERATIONS);
		if (alter(&s, what)) {
			++*altered;
			cr_assert_eq(mf_history_check((const struct mf_history *const[]){s.h}, 1, 0, &v), 0);
			n += v.answer == MF_HISTORY_NO;
			*across += v.across;
			mf_history_verdict_free(&v);
		}
		mf_history_free(s.h);
	}
	return n;
}

/** What other clients were answered says where memory was not lost, where the fabric tells. */
Test(history, what_others_found_shows_more_of_what_is_altered)
{
	static const char *const names[] = {"other bit", "zero", "of another"};
	struct sim s = quiet;

	s.plain = .2;
	s.restart = .0005;
	s.unplug = .0005;
	s.apart = true;
	for (enum alteration what = 0; what < ALTERATIONS; what++) {
		unsigned int altered, without, with;
		uint64_t across, fewer;

		without = found_out(&s, what, false, &altered, &across);
		with = found_out(&s, what, true, &altered, &fewer);
		cr_log_info("%s: of %u altered %u are found out, without what others found %u; "
			    "finds not looked at %lu, %lu",
			    names[what], altered, with, without, (unsigned long)fewer, (unsigned long)across);
		cr_expect_gt(with, without, "%s: %u, %u", names[what], with, without);
		cr_expect_lt(fewer, across);
	}
}

/** A history as octets of a file. The caller's. */
static char *file_of(const struct mf_history *h, size_t *len)
{
	char *octets = NULL;
	FILE *out = open_memstream(&octets, len);

	cr_assert_not_null(out);
	cr_assert_eq(mf_history_write(h, out), 0);
	cr_assert_eq(fclose(out), 0);
	return octets;
}

Test(history, a_file_reads_back)
{
	struct sim s = sim_of(&quiet, 7);
	char err[256], path[] = "/tmp/mf_history_XXXXXX", *octets, *again;
	size_t len, n;
	struct mf_history *h;
	int fd = mkstemp(path);

	sim_run(&s, OPERATIONS);
	octets = file_of(s.h, &len);
	cr_assert_eq(write(fd, octets, len), (ssize_t)len);
	close(fd);
	h = mf_history_read(path, err, sizeof(err));
	cr_assert_not_null(h, "%s", err);
	again = file_of(h, &n);
	cr_expect(n == len && memcmp(octets, again, len) == 0);
	cr_expect_eq(mf_history_records(h), mf_history_records(s.h));
	cr_expect_eq(answer_of(h), MF_HISTORY_YES);
	unlink(path);
	cr_expect_null(mf_history_read(path, err, sizeof(err)));
	cr_expect_not_null(strstr(err, path));
	free(octets);
	free(again);
	mf_history_free(h);
	mf_history_free(s.h);
}

Test(history, a_damaged_file_is_refused)
{
	struct sim s = sim_of(&quiet, 8);
	char err[256], *octets;
	size_t len;

	sim_run(&s, 200);
	octets = file_of(s.h, &len);
	for (unsigned int i = 0; i < 3000; i++) {
		size_t at = mf_rng_below(&s.rng, len);
		char was = octets[at];

		octets[at] = (char)(was ^ 1 << mf_rng_below(&s.rng, 8));
		err[0] = '\0';
		cr_expect_null(mf_history_parse(octets, len, err, sizeof(err)), "octet %zu", at);
		cr_expect_neq(err[0], '\0');
		octets[at] = was;
	}
	for (size_t n = 0; n < len; n += 1 + n / 16)
		cr_expect_null(mf_history_parse(octets, n, err, sizeof(err)), "cut off at %zu", n);
	cr_expect_null(mf_history_parse(octets, len - 1, err, sizeof(err)));
	cr_expect_not_null(strstr(err, "cut off"));
	cr_expect_null(mf_history_parse("client,op\n", 10, err, sizeof(err)));
	cr_expect_not_null(strstr(err, "no history"), "of other tools: %s", err);
	octets[8]++; /* its version, which is looked at before the sum */
	cr_expect_null(mf_history_parse(octets, len, err, sizeof(err)));
	cr_expect_str_eq(err, "a history of version 2: 1 is known");
	free(octets);
	mf_history_free(s.h);
}

/* What stands in logs behind the time at which one was full cannot be explained: it is left out. */
Test(history, a_full_log_ends_what_is_checked)
{
	struct mf_history_config config = {.in_order = true, .lossless = true};
	struct mf_history *h = mf_history_new(&config, 2, 56 * 4);
	struct mf_history_verdict v;
	uint64_t place, value;

	for (mf_time t = 0; t < 10; t++) {
		value = t + 1;
		place = mf_history_begin(mf_history_log(h, 0),
					 &(struct mf_history_record){.call = MF_NS(2 * t),
								     .len = 8,
								     .kind = MF_HISTORY_WRITE_ACK},
					 &value);
		cr_expect_eq(place == MF_HISTORY_NONE, t >= 4);
		mf_history_end(mf_history_log(h, 0), place, MF_NS(2 * t) + 1, MF_HISTORY_OK, 0, NULL);
	}
	cr_expect_eq(mf_history_full(h), MF_NS(8));
	for (mf_time t = 3; t <= 10; t += 7) { /* finds 4, and 10, which was never recorded */
		value = t == 3 ? 4 : 10;
		place = mf_history_begin(
			mf_history_log(h, 1),
			&(struct mf_history_record){
				.call = MF_NS(2 * t) + 2, .client = 1, .len = 8, .kind = MF_HISTORY_READ},
			NULL);
		mf_history_end(mf_history_log(h, 1), place, MF_NS(2 * t) + 3, MF_HISTORY_OK, 0, &value);
	}
	cr_assert_eq(mf_history_check((const struct mf_history *const[]){h}, 1, 0, &v), 0);
	cr_expect_eq(v.answer, MF_HISTORY_YES);
	cr_expect_eq(v.full, MF_NS(8));
	cr_expect_eq(v.operations, 5);
	mf_history_verdict_free(&v);
	mf_history_free(h);
}

static mf_time no_time(void *ctx)
{
	return *(const mf_time *)ctx;
}

/** One operation of a process that began at a tick. */
static struct mf_history *process(uint64_t tick0, uint64_t hz, uint8_t kind, mf_time call, mf_time ret,
				  uint64_t value)
{
	const struct mf_history_config config = {.fingerprint = 1, .in_order = true, .lossless = true};
	struct mf_history *h = mf_history_new(&config, 1, 4096);
	mf_time now = ret;
	const struct mf_history_clock clock = {
		.now = no_time, .ctx = &now, .tick0 = tick0, .hz = hz, .machine = {1}};
	uint64_t place;

	mf_history_set_clock(h, &clock);
	place = mf_history_begin(
		mf_history_log(h, 0),
		&(struct mf_history_record){
			.call = call, .len = 8, .client = (uint16_t)(tick0 / 1000), .kind = kind},
		&value);
	mf_history_end(mf_history_log(h, 0), place, 0, MF_HISTORY_OK, 0, &value);
	return h;
}

Test(history, several_processes_are_compared_by_their_common_clock)
{
	/* 1000 ticks a microsecond: this write is over at tick 3000 */
	struct mf_history *w = process(1000, 1000000000, MF_HISTORY_WRITE_ACK, MF_US(1), MF_US(2), 5);
	/* of another rate; it finds nothing yet, at the ticks 500 to 2900, or 3100 to 3200 */
	struct mf_history *early = process(500, 500000000, MF_HISTORY_READ, 0, MF_NS(4800), 0);
	struct mf_history *late = process(500, 500000000, MF_HISTORY_READ, MF_NS(5200), MF_NS(5400), 0);
	struct mf_history_verdict v;

	cr_assert_eq(mf_history_check((const struct mf_history *const[]){w, early}, 2, 0, &v), 0);
	cr_expect_eq(v.answer, MF_HISTORY_YES);
	mf_history_verdict_free(&v);
	cr_assert_eq(mf_history_check((const struct mf_history *const[]){late, w}, 2, 0, &v), 0);
	cr_expect_eq(v.answer, MF_HISTORY_NO);
	mf_history_verdict_free(&v);
	late->clock.machine[0] = 2;
	cr_expect_eq(mf_history_check((const struct mf_history *const[]){late, w}, 2, 0, &v), -EXDEV);
	late->config.fingerprint = 2;
	cr_expect_eq(mf_history_check((const struct mf_history *const[]){late, w}, 2, 0, &v), -EINVAL);
	cr_expect_eq(mf_history_check(NULL, 0, 0, &v), -EINVAL);
	mf_history_free(w);
	mf_history_free(early);
	mf_history_free(late);
}

Test(history, samples_are_among_each_other)
{
	struct mf_rng rng;

	mf_rng_init(&rng, 3, "samples", 0);
	for (unsigned int i = 0; i < 10000; i++) {
		uint64_t seed = mf_rng_next(&rng), word = mf_rng_next(&rng) >> 19;
		uint32_t k = 1 + (uint32_t)mf_rng_below(&rng, MF_HISTORY_SAMPLE_MAX);
		uint64_t chosen = history_chosen(seed, k, 3, word >> k);

		cr_expect_eq(chosen >> k, word >> k);
		cr_expect_eq(history_chosen(seed, k - 1, 3, chosen >> (k - 1)), chosen);
	}
	cr_expect_eq(mf_history_sample(512), 0);
	cr_expect_eq(mf_history_sample(513), 1);
	cr_expect_eq(mf_history_sample(1024), 1);
	cr_expect_eq(mf_history_sample(UINT64_MAX), MF_HISTORY_SAMPLE_MAX);
}

static void reads(struct mf_history_log *l, mf_time at, uint64_t found)
{
	const struct mf_history_record r = {.call = at, .len = 8, .kind = MF_HISTORY_READ};
	uint64_t place = mf_history_begin(l, &r, NULL);

	mf_history_end(l, place, at + MF_US(1), MF_HISTORY_OK, 0, &found);
}

/** What is found while memory may have been lost says nothing, and that is said. */
Test(history, what_is_found_meanwhile_is_counted)
{
	struct mf_history_config config = {.in_order = true, .lossless = true};
	struct mf_history *h = mf_history_new(&config, 2, 4096);
	const struct mf_history *const one = h;
	struct mf_history_verdict v;

	reads(mf_history_log(h, 0), MF_US(50), 7); /* which nobody has written */
	reads(mf_history_log(h, 1), MF_US(70), 0);
	mf_history_cut(mf_history_log(h, 1), 1, 0, MF_US(100));
	reads(mf_history_log(h, 0), MF_US(90), 0);
	reads(mf_history_log(h, 0), MF_US(101), 0);
	cr_assert_eq(mf_history_check(&one, 1, 0, &v), 0);
	cr_expect_eq(v.answer, MF_HISTORY_NO);
	cr_expect_eq(v.across, 2, "those at 70 and 90");
	mf_history_verdict_free(&v);
	mf_history_free(h);
}

/** Whether a write of the life before, which is known to be lost, is taken for one that landed. */
Test(history, a_write_that_failed_with_a_restart_does_not_come_back)
{
	struct mf_history_config config = {.in_order = true, .lossless = true};

	for (int landed = 0; landed < 2; landed++) {
		struct mf_history *h = mf_history_new(&config, 1, 4096);
		struct mf_history_log *l = mf_history_log(h, 0);
		struct mf_history_record r = {.call = MF_US(1), .len = 8, .kind = MF_HISTORY_WRITE_ACK};
		uint64_t value = 7, found = 0;
		uint64_t place = mf_history_begin(l, &r, &value);

		mf_history_end(l, place, MF_US(2), MF_HISTORY_RESTARTED, 8, NULL);
		mf_history_cut(l, 0, 0, MF_US(2));
		r.kind = MF_HISTORY_READ;
		for (mf_time t = 3; t < 6; t++) {
			r.call = MF_US(t);
			found = landed && t == 5 ? 7 : 0;
			place = mf_history_begin(l, &r, NULL);
			mf_history_end(l, place, MF_US(t) + 1, MF_HISTORY_OK, 0, &found);
			if (t == 3)
				mf_history_cut(l, 0, 0, MF_US(t) + 2);
		}
		cr_expect_eq(answer_of(h), landed ? MF_HISTORY_NO : MF_HISTORY_YES);
		mf_history_free(h);
	}
}

Test(history, a_hundred_thousand_operations)
{
	struct sim s = quiet;

	s.hot = 4096;
	s.len_max = 64;
	s.plain = .3;
	s = sim_of(&s, 1);
	sim_run(&s, 100000);
	cr_expect_eq(answer_of(s.h), MF_HISTORY_YES);
	mf_history_free(s.h);
}
