/* SPDX-License-Identifier: BSD-3-Clause */
/* Links of the virtual clock, against a list of all that is under way. */
#include <string.h>

#include <criterion/criterion.h>

#include "base/mf_rng.h"
#include "virtual/wire.h"

#define STEPS 20000
#define UNDER_WAY 512
#define DELAY MF_NS(58)
#define PERIOD 640

struct sent {
	mf_time due;
	struct mf_span span; /**< as it arrives */
};

struct bench {
	struct wire wire;
	struct mf_rng rng;
	struct sent under_way[UNDER_WAY];
	unsigned int put, get;
	mf_time now;
	uint64_t seed;
};

static unsigned int draw_count(struct mf_rng *rng)
{
	switch (mf_rng_below(rng, 8)) {
	case 0:
		return 1 + (unsigned int)mf_rng_below(rng, MF_SPAN_MAX);
	case 1:
		return 1 + (unsigned int)mf_rng_below(rng, MF_BLOCKS_FEW + 1);
	default:
		return (unsigned int[]){1, 2, 10}[mf_rng_below(rng, 3)];
	}
}

/** Memory that starts now, or a frame's blocks that are given out late. */
static void send(struct bench *b)
{
	struct sent *sent = &b->under_way[b->put++ % UNDER_WAY];
	struct mf_span span = {.start = b->now, .period = PERIOD, .count = (uint16_t)draw_count(&b->rng)};
	mf_time after = 0, arrival = b->now + DELAY;

	if (mf_rng_below(&b->rng, 4) == 0) {
		span.flags = MF_SPAN_FRAME;
		span.start -= mf_rng_below(&b->rng, 2) * span.count * PERIOD;
		arrival = mf_span_at(&span, span.count - 1U) + DELAY;
	}
	if (mf_rng_below(&b->rng, 4) == 0)
		after = b->now + mf_rng_below(&b->rng, DELAY);
	for (unsigned int i = 0; i < span.count; i++) {
		span.word[i] = mf_rng_next(&b->rng);
		span.sync[i] = (uint8_t)mf_rng_below(&b->rng, 4);
	}
	sent->span = span;
	sent->span.start += DELAY;
	sent->due = mf_time_max(after, arrival);
	cr_assert_eq(wire_send(&b->wire, &span, after), 0);
	b->now = mf_span_at(&span, span.count);
}

static void receive(struct bench *b)
{
	const struct sent *sent = &b->under_way[b->get % UNDER_WAY];
	const struct mf_span *expected = &sent->span;
	struct mf_span span;

	cr_assert_eq(wire_due(&b->wire), sent->due, "seed %lu, span %u", b->seed, b->get);
	wire_receive(&b->wire, &span);
	cr_assert(span.start == expected->start && span.period == PERIOD && span.count == expected->count &&
			  span.flags == expected->flags &&
			  memcmp(span.word, expected->word, span.count * sizeof(*span.word)) == 0 &&
			  memcmp(span.sync, expected->sync, span.count) == 0,
		  "seed %lu, span %u of %u blocks", b->seed, b->get, expected->count);
	b->get++;
}

/** What is under way can be looked at. */
static void look(const struct bench *b)
{
	cr_assert_eq(wire_flights(&b->wire), b->put - b->get, "seed %lu", b->seed);
	for (unsigned int i = 0; i < b->put - b->get; i++) {
		const struct wire_entry *e = wire_flight(&b->wire, i);
		const struct sent *sent = &b->under_way[(b->get + i) % UNDER_WAY];

		cr_assert_eq(e->due, sent->due, "seed %lu", b->seed);
		cr_assert_eq(e->flight->count, sent->span.count, "seed %lu", b->seed);
		cr_assert_eq(flight_words(e->flight)[0], sent->span.word[0], "seed %lu", b->seed);
	}
}

static void run(uint64_t seed, bool scramble)
{
	static struct wire_entry ring[WIRE_FIRST];
	static struct bench b;
	struct flights flights;
	const struct link_timing timing = {.delay = DELAY, .period = PERIOD, .scramble = scramble};

	b = (struct bench){.seed = seed, .now = MF_US(10)};
	mf_rng_init(&b.rng, seed, "wire", scramble);
	cr_assert_eq(flights_init(&flights, 1), 0);
	wire_init(&b.wire, &timing, &flights, ring);
	for (unsigned int step = 0; step < STEPS; step++) {
		/* By and by few, many, and few again. */
		unsigned int most = step / (STEPS / 8) % 2 == 0 ? 12 : UNDER_WAY;

		cr_assert_eq(wire_due(&b.wire) == MF_NEVER, b.put == b.get, "seed %lu", seed);
		if (b.put - b.get < most && mf_rng_below(&b.rng, 16) < 9)
			send(&b);
		else if (b.put != b.get)
			receive(&b);
		if (step % 64 == 0 && !scramble)
			look(&b);
	}
	while (b.put != b.get)
		receive(&b);
	cr_assert(wire_idle(&b.wire, b.wire.busy_until));
	cr_assert_not(wire_idle(&b.wire, b.wire.busy_until - 1));
	wire_fini(&b.wire);
	flights_fini(&flights);
}

Test(wire, what_was_sent_arrives_in_order)
{
	for (uint64_t seed = 1; seed <= 4; seed++) {
		run(seed, false);
		run(seed, true);
	}
}

/* A span that something breaks in the middle of is handed over in parts, each with what has arrived by then.
 */
static void in_parts(uint64_t seed, bool scramble, uint16_t flags, bool whole)
{
	static struct wire_entry ring[WIRE_FIRST];
	const struct link_timing timing = {.delay = DELAY, .period = PERIOD, .scramble = scramble};
	struct mf_span span = {.start = MF_US(1), .period = PERIOD, .flags = flags}, sent, part;
	struct flights flights;
	struct mf_rng rng;
	struct wire w;
	unsigned int got = 0;

	mf_rng_init(&rng, seed, "parts", 0);
	span.count = (uint16_t)(1 + mf_rng_below(&rng, MF_SPAN_MAX));
	for (unsigned int i = 0; i < span.count; i++) {
		span.word[i] = mf_rng_next(&rng);
		span.sync[i] = (uint8_t)mf_rng_below(&rng, 4);
	}
	sent = span;
	cr_assert_eq(flights_init(&flights, 1), 0);
	wire_init(&w, &timing, &flights, ring);
	wire_whole(&w, whole, 0);
	cr_assert_eq(wire_send(&w, &span, 0), 0);
	while (wire_due(&w) != MF_NEVER) {
		mf_time first = sent.start + DELAY + (mf_time)got * PERIOD;
		mf_time last = sent.start + DELAY + (mf_time)(sent.count - 1) * PERIOD;
		mf_time now = first + mf_rng_below(&rng, 40 * PERIOD);
		unsigned int n = (unsigned int)((now - first) / PERIOD) + 1;

		n = n < sent.count - got ? n : sent.count - got;
		cr_assert_eq(wire_due(&w), flags != 0 || whole ? last : first, "seed %lu", seed);
		cr_assert_eq(wire_has_part(&w, now), (flags != 0 || whole) && now < last, "seed %lu", seed);
		wire_receive_until(&w, now, &part);
		cr_assert(part.start == first && part.count == n && part.flags == flags, "seed %lu", seed);
		cr_assert_eq(memcmp(part.word, sent.word + got, n * sizeof(*part.word)), 0, "seed %lu", seed);
		cr_assert_eq(memcmp(part.sync, sent.sync + got, n), 0, "seed %lu", seed);
		got += n;
	}
	cr_assert_eq(got, sent.count, "seed %lu", seed);
	wire_fini(&w);
	flights_fini(&flights);
}

Test(wire, in_parts)
{
	for (uint64_t seed = 1; seed <= 40; seed++)
		for (unsigned int how = 0; how < 8; how++)
			in_parts(seed, how & 1, how & 2 ? MF_SPAN_FRAME : 0, how & 4);
}
