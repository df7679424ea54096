/* SPDX-License-Identifier: BSD-3-Clause */
/* What the client's verification finds, and what it must not blame. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "client_test.h"
#include "workload/vectors.h"
#include "workload/verify.h"

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Words of two writers, 64 writes each, the same addresses and others. */
Test(verify, content_is_unique)
{
	enum { WRITERS = 2, WRITES = 64, WORDS = 512, ALL = WRITERS * WRITES * WORDS };
	uint64_t *word = malloc(ALL * sizeof(*word)), *at = word;

	for (uint64_t w = 0; w < WRITERS; w++)
		for (uint64_t n = 0; n < WRITES; n++, at += WORDS)
			content_fill(at, WORDS, content_key(w, n), n % 4 * 100);
	qsort(word, ALL, sizeof(*word), compare);
	for (int i = 1; i < ALL; i++)
		cr_assert_neq(word[i], word[i - 1]);
	free(word);
}

Test(verify, content_of_a_part_is_part_of_the_content)
{
	uint64_t whole[16], part[4];

	content_fill(whole, 16, 99, 1000);
	content_fill(part, 4, 99, 1005);
	cr_assert_arr_eq(part, whole + 5, sizeof(part));
}

/* Lengths and places around those at which vectors, and XXH3's ways of hashing, end. */
Test(verify, variants_are_equal)
{
	enum { WORDS = 700, CASES = 3000 };
	uint64_t expected[WORDS], word[WORDS + 1], stream;
	const struct vectors *v;
	struct mf_rng rng;

	mf_rng_init(&rng, 7, "variants", 0);
	for (unsigned int i = 0; (v = vectors_variant(i)) != NULL; i++)
		for (unsigned int k = 0; k < CASES; k++) {
			size_t n = mf_rng_below(&rng, k % 4 ? 40 : WORDS), len = 8 * n,
			       at = mf_rng_below(&rng, 8);
			uint8_t *octets = (uint8_t *)word + at;

			stream = mf_rng_next(&rng);
			for (size_t w = 0; w < n; w++)
				expected[w] = content_word(stream, w);
			word[n] = 99;
			v->put(word, n, stream);
			cr_assert_arr_eq(word, expected, len, "%s, %zu words", v->name, n);
			cr_assert_eq(word[n], 99, "%s, %zu words", v->name, n);
			memmove(octets, word, len);
			cr_assert(v->is(octets, n, stream), "%s, %zu words", v->name, n);
			len -= len ? mf_rng_below(&rng, 8) : 0;
			cr_assert_eq(v->hash(octets, len), vectors_any.hash(octets, len), "%s, %zu octets",
				     v->name, len);
			if (n == 0)
				continue;
			octets[mf_rng_below(&rng, 8 * n)] ^= (uint8_t)(1U << mf_rng_below(&rng, 8));
			cr_assert(!v->is(octets, n, stream), "%s, %zu words", v->name, n);
		}
}

Test(verify, unknown_words)
{
	struct shadow s;
	struct shadow_region *r;

	cr_assert_eq(shadow_init(&s, 2, 1000, false), 0);
	r = shadow_region(&s, 1);
	cr_assert(shadow_known(r, 0, 1000));
	shadow_fail(r, 5, 60, 70); /* words 7..16 */
	cr_assert(shadow_known(r, 0, 56));
	cr_assert(!shadow_known(r, 0, 57));
	cr_assert(!shadow_known(r, 135, 1));
	cr_assert(shadow_known(r, 136, 864));
	cr_assert(shadow_known(shadow_region(&s, 0), 0, 1000));
	shadow_settle(r, 5, 0, 1000);
	cr_assert(!shadow_known(r, 60, 1), "only what was submitted later settles");
	shadow_settle(r, 6, 0, 63);
	cr_assert(!shadow_known(r, 56, 8), "only whole words settle");
	shadow_settle(r, 6, 0, 64);
	cr_assert(shadow_known(r, 0, 64));
	cr_assert(!shadow_known(r, 64, 1));
	shadow_settle(r, 7, 64, 72);
	cr_assert(shadow_known(r, 0, 1000));
	cr_assert_eq(r->unknown_words, 0);
	shadow_fini(&s);
}

/* Of one region, whatever its length, and known again word by word. */
Test(verify, lost_regions)
{
	static const uint64_t span[] = {1, 8, 64, 504, 512, 520, 1000, 4096};

	for (unsigned int i = 0; i < sizeof(span) / sizeof(*span); i++) {
		uint64_t words = (span[i] + 7) / 8;
		struct shadow s;

		cr_assert_eq(shadow_init(&s, 3, span[i], false), 0);
		shadow_fail(shadow_region(&s, 1), 9, 0, 1);
		shadow_lose(&s, 1, 5);
		cr_assert_eq(s.region[1].unknown_words, words);
		for (uint64_t w = 0; w < words; w++) {
			cr_assert(shadow_known(shadow_region(&s, 0), w * 8, 1) &&
				  shadow_known(shadow_region(&s, 2), w * 8, 1));
			cr_assert_not(shadow_known(shadow_region(&s, 1), w * 8, 1));
			shadow_settle(shadow_region(&s, 1), 9, w * 8, 8);
			cr_assert_not(shadow_known(shadow_region(&s, 1), w * 8, 1),
				      "something younger has failed");
			shadow_settle(shadow_region(&s, 1), 10, w * 8, 8);
			cr_assert(shadow_known(shadow_region(&s, 1), w * 8, 1));
		}
		cr_assert_eq(s.region[1].unknown_words, 0);
		shadow_lose(&s, 1, 20);
		shadow_settle(shadow_region(&s, 1), 19, 0, 8 * words);
		cr_assert_eq(s.region[1].unknown_words, words);
		shadow_settle(shadow_region(&s, 1), 20, 0, 8 * words);
		cr_assert_eq(s.region[1].unknown_words, 0);
		shadow_fini(&s);
	}
}

/* The arguments do something, and a CAS has both outcomes. */
Test(verify, rmw_arguments)
{
	struct mf_rng rng;
	uint64_t arg[2], value = 0;
	int swapped = 0, changed = 0;

	mf_rng_init(&rng, 3, "test", 0);
	for (int i = 0; i < 10000; i++) {
		rmw_arguments(MF_CLIENT_CAS, value, &rng, arg);
		swapped += rmw_result(MF_CLIENT_CAS, value, arg) == arg[1];
		value = rmw_result(MF_CLIENT_CAS, value, arg);
	}
	cr_assert_float_eq(swapped, 7500, 200);
	for (int i = 0; i < 1000; i++) {
		enum mf_client_kind kind = i % 2 ? MF_CLIENT_OR : MF_CLIENT_AND;
		uint64_t before = value;

		rmw_arguments(kind, value, &rng, arg);
		value = rmw_result(kind, value, arg);
		changed += value != before;
	}
	cr_assert_gt(changed, 950);
}

/* Faults that are planted in operations number from .. to. */
struct plan {
	struct fake_fault fault;
	uint64_t from, to, count;
	uint8_t kind; /**< enum mf_op_kind */
	struct mf_op first; /**< in which one was planted */
};

static void planted(void *ctx, const struct mf_op *op, struct fake_fault *f)
{
	struct plan *p = ctx;

	if (op->kind != p->kind)
		return;
	if (p->count == p->from)
		p->first = *op;
	if (p->count >= p->from && p->count < p->to)
		*f = p->fault;
	p->count++;
}

static struct mf_client_stats *run_planted(struct plan *p, uint64_t seed)
{
	struct mf_node *h = fake_host_new();
	struct mf_client_config config = test_config(h);
	struct mf_client_stats *s;

	test_mix_all(&config);
	config.span = 512;
	config.seed = seed;
	config.operations = 2000;
	h->hook = planted;
	h->hook_ctx = p;
	s = test_run(&config);
	free(h);
	return s;
}

Test(verify, one_wrong_octet)
{
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct plan p = {.fault.flip = true, .from = 100, .to = 101, .kind = MF_OP_READ};
		struct mf_client_stats *s = run_planted(&p, seed);

		cr_assert_eq(s->mismatches, 1);
		cr_assert_eq(s->mismatch.kind, MF_CLIENT_READ);
		cr_assert_eq(s->mismatch.node, p.first.node);
		cr_assert_eq(s->mismatch.addr, p.first.addr);
		cr_assert_eq(s->mismatch.octets, p.first.len);
		cr_assert_eq(s->unverified, 0);
		free(s);
	}
}

/* Where nothing is written reads are compared with the shadow itself. */
Test(verify, one_wrong_octet_among_reads_only)
{
	static const uint64_t sizes[] = {1, 8, 63, 64, 65, 200, 1000, TEST_SPAN};

	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct mf_node *h = fake_host_new();
		struct mf_client_config config = test_config(h);
		struct plan p = {.fault.flip = true, .from = 100, .to = 103, .kind = MF_OP_READ};
		struct mf_client_stats *s;

		config.size_min = sizes[i];
		config.operations = 500;
		h->hook = planted;
		h->hook_ctx = &p;
		s = test_run(&config);
		cr_assert_eq(s->mismatches, 3, "%" PRIu64 " octets", sizes[i]);
		cr_assert_eq(s->verified, 500);
		cr_assert_eq(s->unverified, 0);
		free(s);
		free(h);
	}
}

Test(verify, a_wrong_result)
{
	struct plan p = {.fault.flip = true, .from = 100, .to = 103, .kind = MF_OP_RMW};
	struct mf_client_stats *s = run_planted(&p, 1);

	cr_assert_eq(s->mismatches, 3);
	free(s);
}

Test(verify, stale_data)
{
	struct plan p = {.fault.stale = true, .from = 100, .to = 200, .kind = MF_OP_READ};
	struct mf_client_stats *s = run_planted(&p, 1);

	cr_assert_gt(s->mismatches, 80);
	cr_assert_leq(s->mismatches, 100);
	free(s);
}

Test(verify, a_write_without_effect)
{
	for (uint8_t kind = MF_OP_WRITE; kind <= MF_OP_RMW; kind++) {
		struct plan p = {.fault.lost = true, .from = 50, .to = 70, .kind = kind};
		struct mf_client_stats *s = run_planted(&p, 1);

		cr_assert_gt(s->mismatches, 5);
		free(s);
	}
}

struct last_two {
	void *buf[2];
	unsigned int n;
};

static void remember(void *ctx, const struct mf_op *op, struct fake_fault *f)
{
	struct last_two *l = ctx;

	(void)f;
	l->buf[l->n++ % 2] = op->buf;
}

static void swap_octets(void *a, void *b, size_t len)
{
	uint8_t *x = a, *y = b;

	for (size_t i = 0; i < len; i++) {
		uint8_t t = x[i];

		x[i] = y[i];
		y[i] = t;
	}
}

/* Two reads that exchange their data: what each brings was really written, but elsewhere. */
Test(verify, swapped_completions)
{
	struct mf_node *h = fake_host_new();
	struct mf_client_config config = test_config(h);
	struct last_two l = {0};
	struct mf_client *c;
	bool swapped = false;

	config.pattern = MF_CLIENT_TO_ONE;
	config.address = MF_CLIENT_AT_SEQUENTIAL;
	config.mix[MF_CLIENT_WRITE] = 1;
	config.size_min = 256;
	config.span = 512;
	config.depth = 2;
	h->hook = remember;
	h->hook_ctx = &l;
	c = mf_client_new(&config);
	for (mf_time now = 0; !swapped && now < 1000 * h->latency; now += h->latency) {
		mf_client_run(c, now);
		swapped = now > 100 * h->latency && h->pending[0].kind == MF_OP_READ &&
			  h->pending[1].kind == MF_OP_READ;
	}
	cr_assert(swapped);
	cr_assert_eq(mf_client_stats(c)->mismatches, 0);
	swap_octets(l.buf[0], l.buf[1], 256);
	mf_client_run(c, h->pending[0].done);
	cr_assert_eq(mf_client_stats(c)->mismatches, 2);
	mf_client_free(c);
	free(h);
}

/* RMW results that are exchanged: each word holds something else. */
Test(verify, swapped_results)
{
	struct mf_node *h = fake_host_new();
	struct mf_client_config config = test_config(h);
	struct mf_client *c;
	uint64_t user;

	config.mix[MF_CLIENT_READ] = 0;
	config.mix[MF_CLIENT_SWAP] = 1;
	config.pattern = MF_CLIENT_TO_ONE;
	config.address = MF_CLIENT_AT_SEQUENTIAL;
	config.span = 16;
	config.depth = 2;
	config.operations = 4;
	c = mf_client_new(&config);
	mf_client_run(c, 0);
	mf_client_run(c, h->latency);
	cr_assert_eq(h->pendings, 2);
	user = h->pending[0].user;
	h->pending[0].user = h->pending[1].user;
	h->pending[1].user = user;
	mf_client_run(c, 2 * h->latency);
	cr_assert_eq(mf_client_stats(c)->verified, 4);
	cr_assert_eq(mf_client_stats(c)->mismatches, 2);
	mf_client_free(c);
	free(h);
}

Test(verify, completions_of_nothing)
{
	struct plan p = {.fault.twice = true, .from = 100, .to = 110, .kind = MF_OP_READ};
	struct mf_client_stats *s = run_planted(&p, 1);

	cr_assert_eq(s->stray, 10);
	cr_assert_eq(s->completed_all, 2000);
	cr_assert_eq(s->mismatches, 0);
	free(s);
}

Test(verify, a_completion_under_another_name)
{
	struct plan p = {.fault.wrong_user = true, .from = 10, .to = 11, .kind = MF_OP_READ};
	struct mf_node *h = fake_host_new();
	struct mf_client_config config = test_config(h);
	struct mf_client *c;

	config.depth = 1;
	config.operations = 20;
	h->hook = planted;
	h->hook_ctx = &p;
	c = mf_client_new(&config);
	test_drive(c, h, 0, MF_NEVER);
	cr_assert_eq(mf_client_stats(c)->stray, 1);
	cr_assert(!mf_client_finished(c, MF_SEC(1)), "the operation is still under way");
	mf_client_free(c);
	free(h);
}

/* Writes that fail, with effect or without, at once or late: no read may be blamed for that. */
Test(verify, failed_writes_explain_what_reads_find)
{
	for (int i = 0; i < 120; i++) {
		struct plan p = {.fault = {.status = i % 2 ? MF_ERR_UNKNOWN : MF_ERR_TIMEOUT,
					   .lost = i / 2 % 2,
					   .late = MF_NS(100) * (uint64_t)(i / 4 % 10)},
				 .from = 90,
				 .to = 120,
				 .kind = (uint8_t)(MF_OP_WRITE + i / 40)};
		struct mf_client_stats *s = run_planted(&p, (uint64_t)i);

		cr_assert_eq(s->mismatches, 0, "seed %d", i);
		cr_assert_eq(s->failed_all, 30);
		cr_assert_eq(s->failed_status[p.fault.status], 30);
		cr_assert_gt(s->unverified, 0);
		cr_assert_eq(s->completed_all, 1970);
		free(s);
	}
}

/* Octets that are written again are verified again: wrong data long after the failures is found. */
Test(verify, what_is_written_again_is_known_again)
{
	struct mf_node *h = fake_host_new();
	struct mf_client_config config = test_config(h);
	struct plan p = {
		.fault = {.status = MF_ERR_UNKNOWN, .lost = true}, .from = 0, .to = 20, .kind = MF_OP_WRITE};
	struct mf_client *c;
	uint64_t verified, unverified;

	config.mix[MF_CLIENT_WRITE] = 1;
	config.span = 512;
	config.operations = 4000;
	h->hook = planted;
	h->hook_ctx = &p;
	c = mf_client_new(&config);
	test_drive(c, h, 0, MF_US(60));
	verified = mf_client_stats(c)->verified;
	unverified = mf_client_stats(c)->unverified;
	cr_assert_gt(unverified, 0);
	test_drive(c, h, MF_US(60), MF_NEVER);
	cr_assert_gt(mf_client_stats(c)->verified, verified + 500);
	cr_assert_eq(mf_client_stats(c)->unverified, unverified);
	cr_assert_eq(mf_client_stats(c)->mismatches, 0);
	mf_client_free(c);
	free(h);
}

static void wrong_read_then_failed_write(void *ctx, const struct mf_op *op, struct fake_fault *f)
{
	(void)ctx;
	if (op->kind == MF_OP_READ)
		*f = (struct fake_fault){.flip = true, .late = MF_US(1)};
	else
		f->status = MF_ERR_UNKNOWN;
}

/* A write that fails explains nothing about the reads that came before it. */
Test(verify, a_failed_write_does_not_excuse_older_reads)
{
	static const struct mf_client_target target = {1, 0};
	struct mf_node *h = fake_host_new();
	struct mf_client_config config = test_config(h);
	struct mf_client *c;

	config.targets = &target;
	config.targets_count = 1;
	config.span = 64;
	config.operations = 2;
	config.mix[MF_CLIENT_WRITE] = 1;
	h->hook = wrong_read_then_failed_write;
	for (config.seed = 0;; config.seed++) {
		c = mf_client_new(&config);
		mf_client_run(c, 0);
		cr_assert_eq(h->pendings, 2);
		/* Of two operations the read comes first, and completes last. */
		if (h->pending[1].kind == MF_OP_READ && h->last.kind == MF_OP_WRITE)
			break;
		test_drive(c, h, 0, MF_NEVER);
		mf_client_free(c);
	}
	test_drive(c, h, 0, MF_NEVER);
	cr_assert_eq(mf_client_stats(c)->failed_all, 1);
	cr_assert_eq(mf_client_stats(c)->mismatches, 1);
	mf_client_free(c);
	free(h);
}

/* A read that is wrong, while a write of its octets is late: blamed once that write has not failed. */
Test(verify, a_late_write_does_not_excuse_wrong_data)
{
	static const struct mf_client_target target = {1, 0};
	struct mf_node *h = fake_host_new();
	struct mf_client_config config = test_config(h);
	struct plan p = {
		.fault = {.late = MF_US(50), .lost = true}, .from = 20, .to = 21, .kind = MF_OP_WRITE_ACK};
	struct mf_client *c;

	config.targets = &target;
	config.targets_count = 1;
	config.mix[MF_CLIENT_READ] = 20;
	config.mix[MF_CLIENT_WRITE_ACK] = 1;
	config.span = 64;
	config.stop = MF_US(40);
	h->hook = planted;
	h->hook_ctx = &p;
	c = mf_client_new(&config);
	test_drive(c, h, 0, MF_US(45));
	cr_assert_eq(mf_client_stats(c)->mismatches, 0);
	cr_assert(!mf_client_finished(c, MF_US(45)));
	test_drive(c, h, MF_US(45), MF_NEVER);
	cr_assert_gt(mf_client_stats(c)->mismatches, 0);
	cr_assert(mf_client_finished(c, MF_US(200)));
	mf_client_free(c);
	free(h);
}

Test(verify, can_be_switched_off)
{
	struct mf_node *h = fake_host_new();
	struct mf_client_config config = test_config(h);
	struct plan p = {.fault.flip = true, .from = 0, .to = UINT64_MAX, .kind = MF_OP_READ};
	struct mf_client_stats *s;

	test_mix_all(&config);
	config.verify = false;
	config.operations = 1000;
	h->hook = planted;
	h->hook_ctx = &p;
	s = test_run(&config);
	cr_assert_eq(s->completed_all, 1000);
	cr_assert_eq(s->verified + s->unverified + s->mismatches, 0);
	free(s);
	free(h);
}

static void stale_read(void *ctx, const struct mf_op *op, struct fake_fault *f)
{
	f->stale = op->kind == MF_OP_READ && *(uint64_t *)ctx > 0 && --*(uint64_t *)ctx % 50 == 0;
}

static struct mf_client_stats *run_passing(uint64_t seed, uint64_t stale, bool any,
					   enum mf_client_order order)
{
	struct mf_node *h = fake_host_new();
	struct mf_client_config config = test_config(h);
	struct mf_client_stats *s;

	test_mix_all(&config);
	config.size_dist = MF_CLIENT_SIZE_UNIFORM;
	config.size_min = 1;
	config.size_max = 700;
	config.order = order;
	config.operations = 5000;
	config.seed = seed;
	h->passing = true;
	h->any_order = any;
	mf_rng_init(&h->rng, seed, "passing", 0);
	h->hook = stale_read;
	h->hook_ctx = &stale;
	s = test_run(&config);
	free(h);
	return s;
}

/* Reads and writes pass each other: nothing is blamed for it, and what nothing has passed is verified. */
Test(verify, passing_operations)
{
	uint64_t blamed = 0, caught = 0;

	for (uint64_t seed = 0; seed < 20; seed++) {
		struct mf_client_stats *s = run_passing(seed, 0, false, MF_CLIENT_BY_DIRECTION);

		cr_assert_eq(s->mismatches, 0, "seed %lu", seed);
		cr_assert_gt(s->verified, 100, "seed %lu", seed);
		cr_assert_gt(s->unverified, 0);
		free(s);
		s = run_passing(seed, 0, false, MF_CLIENT_IN_ORDER);
		blamed += s->mismatches;
		free(s);
		s = run_passing(seed, UINT64_MAX, false, MF_CLIENT_BY_DIRECTION);
		caught += s->mismatches;
		free(s);
	}
	cr_assert_gt(blamed, 0, "the operations did not pass each other");
	cr_assert_gt(caught, 0, "stale reads were not found");
}

/* Nothing is in order: writes pass writes, reads find what came behind them. */
Test(verify, any_order)
{
	uint64_t blamed = 0, caught = 0;

	for (uint64_t seed = 0; seed < 20; seed++) {
		struct mf_client_stats *s = run_passing(seed, 0, true, MF_CLIENT_ANY_ORDER);

		cr_assert_eq(s->mismatches, 0, "seed %lu", seed);
		cr_assert_gt(s->verified, 100, "seed %lu", seed);
		cr_assert_gt(s->unverified, 0);
		free(s);
		s = run_passing(seed, 0, true, MF_CLIENT_WRITES_IN_ORDER);
		blamed += s->mismatches;
		free(s);
		s = run_passing(seed, UINT64_MAX, true, MF_CLIENT_ANY_ORDER);
		caught += s->mismatches;
		free(s);
	}
	cr_assert_gt(blamed, 0, "writes did not pass each other");
	cr_assert_gt(caught, 0, "stale reads were not found");
}

/* Words 0..7 and 4..11 are written side by side: 4..7 are anybody's until they are written alone. */
Test(verify, words_that_two_raced_for)
{
	struct shadow s;
	struct shadow_region *r;

	cr_assert_eq(shadow_init(&s, 1, 1000, true), 0);
	r = shadow_region(&s, 0);
	shadow_begin(r, 0, 0, 64);
	cr_assert(!shadow_known(r, 0, 8));
	shadow_begin(r, 1, 32, 64);
	shadow_race(r, 32, 32);
	shadow_over(r, 0, 0, 64);
	cr_assert(shadow_known(r, 0, 32));
	cr_assert(!shadow_known(r, 32, 8));
	cr_assert(!shadow_known(r, 64, 8), "its write is under way");
	shadow_over(r, 1, 32, 64);
	cr_assert(!shadow_known(r, 56, 8));
	cr_assert(shadow_known(r, 64, 32));
	shadow_begin(r, 2, 32, 32);
	shadow_over(r, 2, 32, 32);
	shadow_settle(r, 2, 32, 32);
	cr_assert(shadow_known(r, 0, 1000));
	shadow_fini(&s);
}

static void lose(void *ctx, const struct mf_op *op, struct fake_fault *f)
{
	f->lost = op->kind == MF_OP_WRITE && mf_rng_below(ctx, 20) == 0;
	f->stale = op->kind == MF_OP_READ && mf_rng_below(ctx, 200) == 0;
}

static void lose_only(void *ctx, const struct mf_op *op, struct fake_fault *f)
{
	lose(ctx, op, f);
	f->stale = false;
}

static struct mf_client_stats *run_losing(uint64_t seed, bool stale, enum mf_client_order order)
{
	struct mf_node *h = fake_host_new();
	struct mf_client_config config = test_config(h);
	struct mf_client_stats *s;
	struct mf_rng rng;

	test_mix_all(&config);
	config.order = order;
	config.operations = 5000;
	config.seed = seed;
	mf_rng_init(&rng, seed, "losing", 0);
	h->passing = true;
	mf_rng_init(&h->rng, seed, "passing", 0);
	h->hook = stale ? lose : lose_only;
	h->hook_ctx = &rng;
	s = test_run(&config);
	free(h);
	return s;
}

/*
 * Unacknowledged writes are lost: what reads find in their place is nobody's fault, though later writes are
 * acknowledged. What those have written is verified all the same.
 */
Test(verify, lost_writes)
{
	uint64_t blamed = 0, caught = 0;

	for (uint64_t seed = 0; seed < 20; seed++) {
		struct mf_client_stats *s = run_losing(seed, false, MF_CLIENT_LOSSY);

		cr_assert_eq(s->mismatches, 0, "seed %lu", seed);
		cr_assert_gt(s->verified, 100, "seed %lu", seed);
		cr_assert_gt(s->unverified, 0);
		free(s);
		s = run_losing(seed, false, MF_CLIENT_WRITES_IN_ORDER);
		blamed += s->mismatches;
		free(s);
		s = run_losing(seed, true, MF_CLIENT_LOSSY);
		caught += s->mismatches;
		free(s);
	}
	cr_assert_gt(blamed, 0, "no lost write was found");
	cr_assert_gt(caught, 0, "stale reads were not found");
}

/* Memory nodes that lose what they held, or the last of it, while operations are under way. */
static struct mf_client_stats *run_restarts(uint64_t seed, bool told, bool passing)
{
	static uint8_t image[FAKE_MEMORY];
	struct mf_node *h = fake_host_new();
	struct mf_client_config config = test_config(h);
	struct mf_client_stats *s = malloc(sizeof(*s));
	struct mf_client *c;
	mf_time now = 0;

	config.seed = seed;
	config.operations = 6000;
	config.span = 1024;
	config.order = passing ? MF_CLIENT_BY_DIRECTION : MF_CLIENT_IN_ORDER;
	test_mix_all(&config);
	config.mix[MF_CLIENT_WRITE] = 5;
	h->passing = passing;
	mf_rng_init(&h->rng, seed, "restarts", 0);
	c = mf_client_new(&config);
	for (unsigned int i = 0; i < 10; i++) {
		if (i % 2 == 0)
			memset(image, 0, sizeof(image));
		else
			memcpy(image, h->memory[1], sizeof(image));
		now = test_drive(c, h, now, now + MF_US(10));
		fake_host_restart(h, 1, image, told);
		fake_host_restart(h, 7, image, told); /* no target */
	}
	cr_assert_not(mf_client_finished(c, now), "the end comes later");
	test_drive(c, h, now, MF_NEVER);
	*s = *mf_client_stats(c);
	cr_assert_eq(s->completed_all, 6000);
	mf_client_free(c);
	free(h);
	return s;
}

Test(verify, what_was_lost_is_nobody_s_fault)
{
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct mf_client_stats *s = run_restarts(seed, true, seed % 2);

		cr_assert_eq(s->mismatches, 0, "seed %" PRIu64, seed);
		cr_assert_eq(s->restarts, 10);
		cr_assert_gt(s->unverified, 0);
		cr_assert_gt(s->verified, s->unverified, "other targets, and what is written again");
		free(s);
		s = run_restarts(seed, false, seed % 2);
		cr_assert_gt(s->mismatches, 0, "seed %" PRIu64, seed);
		cr_assert_eq(s->restarts, 0);
		free(s);
	}
}

/* What comes back in place of a memory node that was lost. */
enum found {
	FOUND_ZERO,
	FOUND_STALE, /**< but for what an old write has left in some words */
	FOUND_AS_IT_WAS, /**< the own link was lost, the memory node was not */
};

static struct mf_client_stats *run_empty(uint64_t seed, enum found found)
{
	static uint8_t image[FAKE_MEMORY];
	struct mf_node *h = fake_host_new();
	struct mf_client_config config = test_config(h);
	struct mf_client_stats *s = malloc(sizeof(*s));
	struct mf_client *c;
	mf_time now = 0;

	config.seed = seed;
	config.operations = 6000;
	config.span = 1024;
	config.lost_is_empty = true;
	test_mix_all(&config);
	config.mix[MF_CLIENT_WRITE] = 5;
	c = mf_client_new(&config);
	h->link_lost = found == FOUND_AS_IT_WAS;
	for (unsigned int i = 0; i < 10; i++) {
		now = test_drive(c, h, now, now + MF_US(10));
		memset(image, 0, sizeof(image));
		if (found == FOUND_STALE)
			memcpy(image, h->memory[1], sizeof(image) / 2);
		fake_host_restart(h, 1, found == FOUND_AS_IT_WAS ? h->memory[1] : image, true);
	}
	test_drive(c, h, now, MF_NEVER);
	*s = *mf_client_stats(c);
	cr_assert_eq(s->completed_all, 6000);
	cr_assert_eq(s->restarts, 10);
	cr_assert_eq(s->stray, 0);
	mf_client_free(c);
	free(h);
	return s;
}

Test(verify, what_comes_back_empty_is_known)
{
	uint64_t unknown = 0, known = 0;

	for (uint64_t seed = 0; seed < 20; seed++) {
		struct mf_client_stats *s = run_empty(seed, FOUND_ZERO);

		cr_assert_eq(s->mismatches, 0, "seed %" PRIu64, seed);
		known += s->unverified;
		free(s);
		s = run_empty(seed, FOUND_STALE);
		cr_assert_gt(s->mismatches, 0, "seed %" PRIu64, seed);
		free(s);
		s = run_empty(seed, FOUND_AS_IT_WAS);
		cr_assert_eq(s->mismatches, 0, "seed %" PRIu64, seed);
		unknown += s->unverified;
		free(s);
	}
	cr_assert_lt(known, unknown / 4, "%" PRIu64 " of %" PRIu64, known, unknown);
}

/* Where nothing is ever written there is nothing to lose, and all is verified on. */
Test(verify, reads_alone_lose_nothing)
{
	static const uint8_t image[FAKE_MEMORY];
	struct mf_node *h = fake_host_new();
	struct mf_client_config config = test_config(h);
	struct mf_client *c;
	mf_time now;

	config.operations = 1000;
	c = mf_client_new(&config);
	now = test_drive(c, h, 0, MF_US(10));
	fake_host_restart(h, 1, image, true);
	test_drive(c, h, now, MF_NEVER);
	cr_assert_eq(mf_client_stats(c)->restarts, 1);
	cr_assert_eq(mf_client_stats(c)->verified, 1000);
	cr_assert_eq(mf_client_stats(c)->unverified + mf_client_stats(c)->mismatches, 0);
	mf_client_free(c);
	free(h);
}
