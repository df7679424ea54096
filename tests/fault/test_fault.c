/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/mf_rng.h"
#include "fault/mf_fault.h"
#include "pcs/mf_scrambler.h"

#define PERIOD 2560
#define BLOCKS 4096

/** Blocks with their times: what is sent, or what has come. */
struct stream {
	unsigned int n;
	mf_time t[BLOCKS];
	struct mf_block b[BLOCKS];
};

static void put(struct stream *s, mf_time t, uint8_t sync, uint64_t word)
{
	cr_assert_lt(s->n, BLOCKS);
	s->t[s->n] = t;
	s->b[s->n++] = (struct mf_block){.word = word, .sync = sync};
}

static void collect(void *ctx, struct mf_span *span)
{
	struct stream *s = ctx;

	cr_assert_eq(span->period, PERIOD);
	for (unsigned int i = 0; i < span->count; i++)
		put(s, mf_span_at(span, i), span->sync[i], span->word[i]);
	memset(span->word, 0xee, sizeof(span->word)); /* a receiver may use it up */
}

/** A message of n blocks: /MS/, data, /MT/; or one block. @return when the next one may start */
static mf_time message(struct stream *s, mf_time t, unsigned int n, uint64_t mark)
{
	if (n == 1)
		put(s, t, MF_SYNC_CTRL, mark << 8 | MF_BT_N);
	for (unsigned int i = 0; i < n && n > 1; i++)
		put(s, t + i * PERIOD, i == 0 || i == n - 1 ? MF_SYNC_CTRL : MF_SYNC_DATA,
		    i == 0       ? mark << 8 | MF_BT_MS
		    : i == n - 1 ? mark << 8 | MF_BT_MT
				 : mark << 8 | i);
	return t + n * PERIOD;
}

static mf_time frame(struct stream *s, mf_time t, unsigned int n, uint64_t mark)
{
	for (unsigned int i = 0; i < n; i++)
		put(s, t + i * PERIOD, i == 0 || i == n - 1 ? MF_SYNC_CTRL : MF_SYNC_DATA,
		    i == 0       ? mark << 8 | MF_BT_S
		    : i == n - 1 ? mark << 8 | MF_BT_T3
				 : mark << 8 | i);
	return t + n * PERIOD;
}

static struct mf_fault *make(const struct mf_fault_rule *rule, unsigned int rules, uint64_t seed)
{
	struct mf_fault_config c = {.rule = rule, .rules = rules, .period = PERIOD, .seed = seed};
	struct mf_fault *f = mf_fault_new(&c);

	cr_assert_not_null(f);
	return f;
}

/** Sends a stream in spans of at most `most` blocks, as far as there is no gap. */
static void send(struct mf_fault *f, const struct stream *in, unsigned int most, struct stream *out)
{
	struct mf_span s;

	for (unsigned int i = 0; i < in->n;) {
		s = (struct mf_span){.start = in->t[i], .period = PERIOD};
		while (i < in->n && s.count < most && in->t[i] == mf_span_at(&s, s.count)) {
			mf_span_put(&s, in->b[i].sync, in->b[i].word);
			i++;
		}
		mf_fault_send(f, &s, collect, out);
	}
	if (mf_fault_next(f) != MF_NEVER)
		mf_fault_run(f, mf_fault_next(f), collect, out);
}

static bool same(const struct stream *a, const struct stream *b)
{
	if (a->n != b->n)
		return false;
	for (unsigned int i = 0; i < a->n; i++)
		if (a->t[i] != b->t[i] || a->b[i].word != b->b[i].word || a->b[i].sync != b->b[i].sync)
			return false;
	return true;
}

/** Messages and frames of all sizes, some of them inside others, with gaps now and then. */
static void traffic(struct stream *s, uint64_t seed)
{
	struct mf_rng rng;
	mf_time t = 1000;

	mf_rng_init(&rng, seed, "traffic", 0);
	while (s->n < BLOCKS / 4) {
		uint64_t mark = s->n + 1, what = mf_rng_below(&rng, 4);

		if (what == 0) { /* a frame that a message splits */
			put(s, t, MF_SYNC_CTRL, mark << 8 | MF_BT_S);
			t = message(s, t + PERIOD, 2 + (unsigned int)mf_rng_below(&rng, 9), mark);
			put(s, t, MF_SYNC_DATA, mark << 8);
			put(s, t + PERIOD, MF_SYNC_CTRL, mark << 8 | MF_BT_T0);
			t += 2 * PERIOD;
		} else if (what == 1) {
			t = frame(s, t, 9, mark);
		} else {
			t = message(s, t, 1 + (unsigned int)mf_rng_below(&rng, 40), mark);
		}
		t += mf_rng_below(&rng, 3) * 777;
	}
}

#define ALWAYS .from = 0, .until = MF_NEVER

static const struct mf_fault_rule all_classes[] = {
	{.class = MF_FAULT_BIT, .rate = 1e-3, ALWAYS},
	{.class = MF_FAULT_SYNC, .rate = .02, ALWAYS},
	{.class = MF_FAULT_TYPE, .rate = .02, ALWAYS},
	{.class = MF_FAULT_CUT, .rate = .02, ALWAYS},
	{.class = MF_FAULT_LOSE, .rate = .1, ALWAYS},
	{.class = MF_FAULT_DUPLICATE, .rate = .1, ALWAYS},
	{.class = MF_FAULT_DELAY, .rate = .1, ALWAYS, .time = 12345},
	{.class = MF_FAULT_REORDER, .rate = .1, ALWAYS, .time = 99999},
};
#define ALL (sizeof(all_classes) / sizeof(all_classes[0]))

Test(fault, what_is_not_struck_passes_as_it_is)
{
	static struct stream in, out;
	const struct mf_fault_rule rule = {.class = MF_FAULT_LOSE, .rate = 1e-12, ALWAYS};
	struct mf_fault *f = make(&rule, 1, 1);

	traffic(&in, 1);
	send(f, &in, MF_SPAN_MAX, &out);
	cr_expect(same(&in, &out));
	cr_expect_eq(mf_fault_fired(f, 0), 0);
	mf_fault_free(f);
}

Test(fault, spans_make_no_difference_and_a_seed_repeats_itself)
{
	static struct stream in, first, again, other;

	for (uint64_t seed = 0; seed < 40; seed++) {
		struct mf_fault *f[3] = {make(all_classes, ALL, seed), make(all_classes, ALL, seed),
					 make(all_classes, ALL, seed + 1000)};

		in.n = first.n = again.n = other.n = 0;
		traffic(&in, seed);
		send(f[0], &in, MF_SPAN_MAX, &first);
		send(f[1], &in, 1 + (unsigned int)seed % 7, &again);
		send(f[2], &in, MF_SPAN_MAX, &other);
		cr_expect(same(&first, &again), "seed %lu", (unsigned long)seed);
		cr_expect_not(same(&first, &other), "seed %lu", (unsigned long)seed);
		for (unsigned int i = 0; i < ALL; i++)
			cr_expect_eq(mf_fault_fired(f[0], i), mf_fault_fired(f[1], i));
		for (int i = 0; i < 3; i++)
			mf_fault_free(f[i]);
	}
}

Test(fault, every_class_fires_and_times_never_go_back)
{
	static struct stream in, out;
	uint64_t fired[ALL] = {0};

	for (uint64_t seed = 0; seed < 20; seed++) {
		struct mf_fault *f = make(all_classes, ALL, seed);

		in.n = out.n = 0;
		traffic(&in, seed);
		send(f, &in, MF_SPAN_MAX, &out);
		for (unsigned int i = 1; i < out.n; i++)
			cr_assert_geq(out.t[i], out.t[i - 1] + PERIOD);
		for (unsigned int i = 0; i < ALL; i++)
			fired[i] += mf_fault_fired(f, i);
		mf_fault_free(f);
	}
	for (unsigned int i = 0; i < ALL; i++)
		cr_expect_gt(fired[i], 20, "%s fired %lu times", mf_fault_names[all_classes[i].class],
			     (unsigned long)fired[i]);
}

Test(fault, an_error_of_the_wire_is_what_a_scrambled_link_makes_of_it)
{
	static struct stream in, out;
	static uint64_t sent[BLOCKS], got[BLOCKS];
	unsigned int seen[3] = {0, 0, 0};

	for (uint64_t seed = 0; seed < 500; seed++) {
		const struct mf_fault_rule rule = {.class = MF_FAULT_BIT, .rate = .002, ALWAYS, .count = 1};
		struct mf_fault *f = make(&rule, 1, seed);
		struct mf_scrambler tx = {.state = MF_SCRAMBLER_INIT}, rx = tx;
		unsigned int bad = 0;

		in.n = out.n = 0;
		message(&in, 0, 60, seed);
		send(f, &in, MF_SPAN_MAX, &out);
		cr_assert_eq(out.n, in.n);
		/* Scrambled again, what came differs from what was sent in what the wire did, and no more. */
		for (unsigned int i = 0; i < in.n; i++) {
			sent[i] = in.b[i].word;
			got[i] = out.b[i].word;
			bad += (unsigned int)__builtin_popcount(in.b[i].sync ^ out.b[i].sync);
		}
		mf_scramble(&tx, sent, in.n);
		mf_scramble(&rx, got, in.n);
		for (unsigned int i = 0; i < in.n; i++)
			bad += (unsigned int)__builtin_popcountll(sent[i] ^ got[i]);
		cr_assert_eq(bad, mf_fault_fired(f, 0), "seed %lu: %u", (unsigned long)seed, bad);
		seen[bad]++;
		mf_fault_free(f);
	}
	cr_expect_gt(seen[1], 400);
}

Test(fault, bits_are_struck_as_often_as_the_rate_says)
{
	static struct stream in, out;
	const struct mf_fault_rule rule = {.class = MF_FAULT_BIT, .rate = 1e-3, ALWAYS};
	struct mf_fault *f = make(&rule, 1, 5);
	double expected, fired;

	for (unsigned int i = 0; i < 1000; i++) {
		in.n = out.n = 0;
		message(&in, i * MF_US(10), 1000, i);
		send(f, &in, MF_SPAN_MAX, &out);
	}
	expected = 1000 * 1000 * 66 * 1e-3;
	fired = (double)mf_fault_fired(f, 0);
	/* Five standard deviations. */
	cr_expect_lt((fired - expected) * (fired - expected), 25 * expected, "%g of %g", fired, expected);
	mf_fault_free(f);
}

/** One message of three is struck: the second. */
static void strike_second(enum mf_fault_class class, mf_time time, struct stream *in, struct stream *out)
{
	mf_time t1, t2;
	struct mf_fault_rule rule = {
		.class = (uint8_t) class, .rate = 1, .until = MF_NEVER, .count = 1, .time = time};
	struct mf_fault *f;

	in->n = out->n = 0;
	t1 = message(in, 0, 5, 1);
	t2 = message(in, t1, 6, 2);
	message(in, t2 + 100 * PERIOD, 7, 3);
	rule.from = t1;
	f = make(&rule, 1, 3);
	send(f, in, MF_SPAN_MAX, out);
	cr_expect_eq(mf_fault_fired(f, 0), 1);
	mf_fault_free(f);
}

/** Marks of the messages, in the order of their first blocks. */
static unsigned int marks(const struct stream *s, unsigned int *out)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < s->n; i++)
		if (s->b[i].sync == MF_SYNC_CTRL && mf_block_type(s->b[i].word) == MF_BT_MS)
			out[n++] = (unsigned int)(s->b[i].word >> 8);
	return n;
}

Test(fault, a_message_is_lost)
{
	static struct stream in, out;
	unsigned int m[4];

	strike_second(MF_FAULT_LOSE, 0, &in, &out);
	cr_expect_eq(marks(&out, m), 2);
	cr_expect_eq(m[1], 3);
	cr_expect_eq(out.n, 12);
	cr_expect_eq(out.t[5], in.t[11]);
}

Test(fault, a_message_is_cut)
{
	static struct stream in, out;
	unsigned int m[4];

	strike_second(MF_FAULT_CUT, 0, &in, &out);
	cr_expect_eq(marks(&out, m), 3);
	cr_expect_eq(out.n, 5 + 1 + 7, "its first block is all that is left");
}

Test(fault, a_message_comes_twice_and_what_follows_is_not_late_where_there_is_a_gap)
{
	static struct stream in, out;
	unsigned int m[5];

	strike_second(MF_FAULT_DUPLICATE, 0, &in, &out);
	cr_assert_eq(marks(&out, m), 4);
	cr_expect_eq(m[1], 2);
	cr_expect_eq(m[2], 2);
	for (unsigned int i = 0; i < 6; i++) {
		cr_expect_eq(out.b[5 + i].word, out.b[11 + i].word);
		cr_expect_eq(out.t[11 + i], out.t[5 + i] + 6 * PERIOD);
	}
	cr_expect_eq(out.t[17], in.t[11]);
}

Test(fault, a_message_is_held_up_and_what_follows_stays_behind_it)
{
	static struct stream in, out;

	strike_second(MF_FAULT_DELAY, 150 * PERIOD, &in, &out);
	cr_expect_eq(out.n, in.n);
	cr_expect_eq(out.t[5], in.t[5] + 150 * PERIOD);
	cr_expect_eq(out.t[11], out.t[10] + PERIOD, "it waits for the one before it");
}

Test(fault, a_message_comes_behind_the_next)
{
	static struct stream in, out;
	unsigned int m[4];

	strike_second(MF_FAULT_REORDER, MF_MS(1), &in, &out);
	cr_assert_eq(marks(&out, m), 3);
	cr_expect_eq(m[1], 3);
	cr_expect_eq(m[2], 2);
	cr_expect_eq(out.t[5], in.t[11]);
	cr_expect_eq(out.t[12], in.t[17] + PERIOD);
}

Test(fault, a_message_that_nothing_follows_comes_in_time)
{
	static struct stream in, out;
	unsigned int m[4];

	strike_second(MF_FAULT_REORDER, 10 * PERIOD, &in, &out);
	cr_assert_eq(marks(&out, m), 3);
	cr_expect_eq(m[1], 2);
	cr_expect_eq(out.t[5], in.t[5] + 10 * PERIOD);
}

Test(fault, a_message_within_a_frame_is_one_of_its_own)
{
	static struct stream in, out;
	const struct mf_fault_rule rule = {.class = MF_FAULT_LOSE, .rate = 1, ALWAYS, .count = 1};
	struct mf_fault *f;

	put(&in, 0, MF_SYNC_CTRL, MF_BT_S);
	message(&in, PERIOD, 4, 1);
	put(&in, 5 * PERIOD, MF_SYNC_DATA, 7);
	put(&in, 6 * PERIOD, MF_SYNC_CTRL, MF_BT_T0);
	f = make(&rule, 1, 1);
	send(f, &in, MF_SPAN_MAX, &out);
	cr_expect_eq(out.n, 4, "the frame is lost, the message is not: %u", out.n);
	cr_expect_eq(mf_block_type(out.b[0].word), MF_BT_MS);
	mf_fault_free(f);
}

Test(fault, sync_headers_and_types_are_wrong_where_they_are_struck)
{
	static struct stream in, out;
	const struct mf_fault_rule rule[] = {
		{.class = MF_FAULT_SYNC, .rate = 1, .until = 3 * PERIOD},
		{.class = MF_FAULT_TYPE, .rate = 1, .from = 3 * PERIOD, .until = MF_NEVER}};
	struct mf_fault *f = make(rule, 2, 1);

	message(&in, 0, 5, 9);
	send(f, &in, 2, &out);
	cr_assert_eq(out.n, 5);
	for (unsigned int i = 0; i < 3; i++)
		cr_expect(out.b[i].sync == 0 || out.b[i].sync == 3);
	cr_expect_eq(out.b[3].word, in.b[3].word, "a data block has no type");
	cr_expect_neq(mf_block_type(out.b[4].word), MF_BT_MT);
	cr_expect_eq(out.b[4].word >> 8, in.b[4].word >> 8);
	cr_expect_eq(mf_fault_fired(f, 0), 3);
	cr_expect_eq(mf_fault_fired(f, 1), 1);
	mf_fault_free(f);
}

Test(fault, rules_that_cannot_be_are_refused)
{
	const struct mf_fault_rule good = {.class = MF_FAULT_LOSE, .rate = .5, ALWAYS};
	struct mf_fault_rule bad[6] = {good, good, good, good, good, good};
	struct mf_fault_config c = {.rules = 1, .period = PERIOD};

	bad[0].class = MF_FAULT_CLASSES;
	bad[1].rate = 0;
	bad[2].rate = 1.1;
	bad[3].until = 0;
	bad[4].time = 1;
	bad[5].class = MF_FAULT_DELAY;
	for (unsigned int i = 0; i < 6; i++) {
		c.rule = &bad[i];
		errno = 0;
		cr_expect_null(mf_fault_new(&c), "%u", i);
		cr_expect_eq(errno, EINVAL);
	}
	c.rule = &good;
	c.rules = 0;
	cr_expect_null(mf_fault_new(&c));
	/* What goes by itself needs a pace and a protocol. */
	const struct mf_fault_rule source = {.class = MF_FAULT_GARBAGE, .rate = .5, ALWAYS};
	const struct mf_proto proto = {0};

	c = (struct mf_fault_config){.rule = &source, .rules = 1, .proto = &proto, .nodes = 2};
	cr_expect_null(mf_fault_new(&c));
	c.pace = PERIOD;
	c.proto = NULL;
	cr_expect_null(mf_fault_new(&c));
	cr_expect_null(mf_fault_names[MF_FAULT_CLASSES]);
}

/** Spans as they leave, and when. */
struct wall_taker {
	unsigned int spans, blocks;
	mf_time last;
	bool in_order;
};

static void wall_take(void *ctx, struct mf_span *s)
{
	struct wall_taker *t = ctx;

	t->in_order &= s->start >= t->last;
	t->last = s->start;
	t->spans++;
	t->blocks += s->count;
}

/** Blocks of the wall clock take no time: what is delayed starts later, and all behind it no sooner. */
Test(fault, delays_where_blocks_take_no_time)
{
	const struct mf_fault_rule rule = {.class = MF_FAULT_DELAY, .rate = .3, ALWAYS, .time = MF_US(5)};
	struct mf_fault_config c = {.rule = &rule, .rules = 1, .seed = 3};
	struct mf_fault *f = mf_fault_new(&c);
	struct wall_taker t = {.in_order = true};
	unsigned int sent = 0;

	cr_assert_not_null(f);
	for (unsigned int i = 0; i < 200; i++) {
		struct mf_span s = {.start = MF_NS(100) * i};

		mf_span_put(&s, MF_SYNC_CTRL, MF_BT_MS);
		for (unsigned int k = 0; k < i % 5; k++)
			mf_span_put(&s, MF_SYNC_DATA, k);
		mf_span_put(&s, MF_SYNC_CTRL, MF_BT_MT);
		sent += s.count;
		mf_fault_send(f, &s, wall_take, &t);
	}
	cr_expect_eq(t.blocks, sent);
	cr_expect(t.in_order);
	cr_expect_gt(mf_fault_fired(f, 0), 20);
	cr_expect_geq(t.last, mf_fault_fired(f, 0) * MF_US(5));
	mf_fault_free(f);
}

/* ---- idle ---- */

#define IDLE_RATE 1e-3
#define LOAD_OVER (400000 * (mf_time)PERIOD)
#define LATE ((MF_SPAN_MAX + 3) * (mf_time)PERIOD)

static struct mf_fault *make_idle(uint8_t class, bool idle, uint64_t count)
{
	const struct mf_fault_rule rule = {
		.class = class, .rate = IDLE_RATE, ALWAYS, .count = count, .idle = idle};
	struct mf_fault_config c = {
		.rule = &rule, .rules = 1, .period = PERIOD, .seed = 5, .idle_until = LOAD_OVER};
	struct mf_fault *f = mf_fault_new(&c);

	cr_assert_not_null(f);
	return f;
}

/** Lets all go that is due by then, as soon as it is. */
static void run_until(struct mf_fault *f, mf_time until, struct stream *out)
{
	for (mf_time at; (at = mf_fault_next(f)) <= until && at != MF_NEVER;)
		mf_fault_run(f, at, collect, out);
}

static struct stream idle_out[2];

Test(fault, idle_that_nothing_is_sent_on_is_struck_at_the_rate)
{
	struct stream *out = &idle_out[0];
	struct mf_fault *f = make_idle(MF_FAULT_SYNC, true, 0);

	run_until(f, MF_NEVER, out);
	/* 400 are expected, and 20 is a standard deviation. */
	cr_expect(out->n > 300 && out->n < 500, "%u", out->n);
	cr_expect_eq(mf_fault_fired(f, 0), out->n);
	cr_expect_eq(mf_fault_fired_idle(f, 0), out->n);
	for (unsigned int i = 0; i < out->n; i++) {
		cr_assert(out->b[i].sync == 0 || out->b[i].sync == 3);
		cr_assert_eq(out->b[i].word, MF_IDLE_WORD);
		cr_assert_eq(out->t[i] % PERIOD, 0);
		cr_assert(i == 0 || out->t[i] > out->t[i - 1]);
		cr_assert_lt(out->t[i], LOAD_OVER);
	}
	mf_fault_free(f);
	f = make_idle(MF_FAULT_SYNC, false, 0);
	cr_expect_eq(mf_fault_next(f), MF_NEVER);
	mf_fault_free(f);
	f = make_idle(MF_FAULT_SYNC, true, 7);
	out->n = 0;
	run_until(f, MF_NEVER, out);
	cr_expect_eq(out->n, 7);
	mf_fault_free(f);
}

/** Every block that starts within the time of a rule, or while idle counts, and no other. */
Test(fault, idle_is_struck_as_long_as_told)
{
	static struct stream out;
	struct mf_fault_rule rule = {.class = MF_FAULT_SYNC, .rate = 1, .idle = true};
	struct mf_fault_config c = {.rule = &rule, .rules = 1, .period = PERIOD, .idle_until = MF_NEVER};

	for (int late = 0; late < 3; late++) { /* ends at the start of a block, just before, just behind */
		struct mf_fault *f;

		rule.from = 100 * PERIOD + 1;
		rule.until = 150 * PERIOD - 1 + (mf_time)late;
		f = mf_fault_new(&c);
		out.n = 0;
		run_until(f, MF_US(10), &out);
		cr_expect_eq(out.n, late == 2 ? 50 : 49, "%u", out.n);
		cr_expect_eq(out.t[0], 101 * PERIOD);
		mf_fault_free(f);
	}
	rule.from = 0;
	rule.until = MF_NEVER;
	c.idle_until = 50 * PERIOD;
	struct mf_fault *f = mf_fault_new(&c);

	out.n = 0;
	run_until(f, MF_US(10), &out);
	cr_expect_eq(out.n, 50, "%u", out.n);
	mf_fault_free(f);
}

/** However far the next one is drawn. */
Test(fault, idle_is_not_struck_behind_its_time)
{
	static struct stream out;
	const struct mf_fault_rule rule = {.class = MF_FAULT_SYNC,
					   .rate = .1,
					   .idle = true,
					   .from = 100 * PERIOD,
					   .until = 110 * PERIOD};
	struct mf_fault_config c = {.rule = &rule, .rules = 1, .period = PERIOD, .idle_until = MF_NEVER};
	unsigned int n = 0;

	for (c.seed = 0; c.seed < 500; c.seed++) {
		struct mf_fault *f = mf_fault_new(&c);

		out.n = 0;
		run_until(f, MF_US(10), &out);
		cr_assert(out.n == 0 || (out.t[0] >= rule.from && out.t[out.n - 1] < rule.until));
		cr_assert_eq(mf_fault_fired(f, 0), out.n);
		n += out.n;
		mf_fault_free(f);
	}
	cr_expect(n > 400 && n < 600, "%u of 5000 blocks", n);
}

/* An error of the payload is three, and the last of them are in the blocks behind. */
Test(fault, a_bit_of_idle_is_wrong_as_one_of_a_message_is)
{
	struct stream *out = &idle_out[0];
	struct mf_fault *f = make_idle(MF_FAULT_BIT, true, 0);
	unsigned int headers = 0, bits = 0, payload;

	run_until(f, MF_US(60), out);
	for (unsigned int i = 0; i < out->n; i++) {
		headers += (unsigned int)__builtin_popcount(out->b[i].sync ^ MF_SYNC_CTRL);
		bits += (unsigned int)__builtin_popcountll(out->b[i].word ^ MF_IDLE_WORD);
	}
	payload = (unsigned int)mf_fault_fired(f, 0) - headers;
	cr_expect_gt(headers, 25);
	cr_expect_gt(payload, 32 * headers / 2);
	/* Those of the last block may be yet to come, and now and then two hit the same bit. */
	cr_expect(bits <= 3 * payload && bits > 3 * payload - payload / 10, "%u of %u", bits, payload);
	mf_fault_free(f);
}

/** Messages with long gaps, in spans of so many blocks; what is due in a gap goes by itself, or not. */
static void with_gaps(unsigned int most, bool runs, struct stream *out)
{
	struct mf_fault *f = make_idle(MF_FAULT_SYNC, true, 0);
	struct stream *in = &idle_out[1];
	mf_time t = 0;

	for (unsigned int k = 0; k < 60; k++) {
		in->n = 0;
		t = message(in, t, 1 + k % 9, k + 1);
		send(f, in, most, out);
		t += PERIOD * (mf_time)(k * 97 % 3000) + 700;
		if (runs)
			run_until(f, t, out);
	}
	run_until(f, t + LATE, out);
	mf_fault_free(f);
}

Test(fault, errors_of_idle_do_not_depend_on_when_it_is_looked_at)
{
	static struct stream all, again;

	with_gaps(MF_SPAN_MAX, true, &all);
	cr_expect_gt(all.n, 300);
	with_gaps(1, true, &again);
	cr_expect(same(&all, &again), "by block");
	again.n = 0;
	with_gaps(MF_SPAN_MAX, false, &again);
	cr_expect(same(&all, &again), "when the next message is sent");
}

Test(fault, idle_of_a_link_that_is_cut_is_not_struck)
{
	struct stream *out = &idle_out[0];
	struct mf_fault *f = make_idle(MF_FAULT_SYNC, true, 0);

	mf_fault_cut(f, 0);
	cr_expect_eq(mf_fault_next(f), MF_NEVER);
	mf_fault_mend(f, LOAD_OVER / 2);
	run_until(f, MF_NEVER, out);
	cr_assert_gt(out->n, 100);
	cr_expect_geq(out->t[0], LOAD_OVER / 2);
	cr_expect_lt(out->n, 300);
	mf_fault_free(f);
}
