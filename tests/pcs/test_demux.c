/* SPDX-License-Identifier: BSD-3-Clause */
/* The demultiplexer: what each block is taken for, and that each is taken once. */
#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "mux_test.h"
#include "pcs/mf_demux.h"
#include "pcs_test.h"

#define WINDOW MF_US(125)
#define START 1000000

static struct mf_demux d;
static struct mf_span span;
static struct mf_rx_item item[MF_SPAN_MAX];
static unsigned int pos;

static void setup(bool memory_enabled, uint32_t period)
{
	cr_assert_eq(mf_demux_init(&d, memory_enabled, period, WINDOW), 0);
}

static void begin_span(void)
{
	span.start = START;
	span.period = d.period;
	span.count = 0;
	pos = 0;
}

static void put_ctrl(uint8_t type)
{
	mf_span_put(&span, MF_SYNC_CTRL, type | UINT64_C(0x1234) << 32);
}

static void put_data(unsigned int n)
{
	while (n--)
		mf_span_put(&span, MF_SYNC_DATA, 0x1e + n);
}

/** Puts a whole frame without the gap behind it. @return blocks */
static unsigned int put_frame(unsigned int len)
{
	static uint8_t octets[MF_FRAME_MAX];
	unsigned int before = span.count;
	struct mf_frame_enc e;
	struct mf_block b;
	enum mf_frame_part part;

	mf_frame_enc_init(&e, true);
	mf_frame_enc_start(&e, octets, (uint16_t)len);
	do {
		part = mf_frame_enc_next(&e, &b);
		mf_span_put(&span, b.sync, b.word);
	} while (part != MF_FRAME_END);
	return span.count - before;
}

static unsigned int take(void)
{
	return mf_demux_span(&d, &span, &pos, item, MF_SPAN_MAX);
}

static void assert_run(const struct mf_rx_item *it, unsigned int first, unsigned int count, bool begins,
		       bool ends)
{
	cr_assert_eq(it->kind, MF_RX_RUN);
	cr_assert_eq(it->word, &span.word[first], "not where it lies in the span");
	cr_assert_eq(it->count, count, "%u words of %u", it->count, count);
	cr_assert_eq(it->begins, begins);
	cr_assert_eq(it->ends, ends);
	cr_assert_eq(it->at, START + (mf_time)first * d.period);
	cr_assert_eq(it->period, d.period);
}

static void assert_single(const struct mf_rx_item *it, unsigned int at)
{
	cr_assert_eq(it->kind, MF_RX_SINGLE);
	cr_assert_eq(it->word, &span.word[at]);
	cr_assert_eq(it->count, 1);
	cr_assert_eq(it->at, START + (mf_time)at * d.period);
}

static void assert_all_counted(void)
{
	const struct mf_demux_stats *s = &d.stats;

	cr_assert_eq(s->memory_blocks + s->frame_blocks + s->idle_blocks + s->bad_blocks, s->blocks);
}

Test(demux, a_window_is_needed)
{
	cr_assert_eq(mf_demux_init(&d, true, PERIOD, 0), -EINVAL);
}

Test(demux, a_whole_message_is_one_run)
{
	setup(true, PERIOD);
	for (unsigned int n = 2; n <= MF_SPAN_MAX; n++) {
		begin_span();
		put_ctrl(MF_BT_MS);
		put_data(n - 2);
		put_ctrl(MF_BT_MT);
		cr_assert_eq(take(), 1);
		assert_run(&item[0], 0, n, true, true);
		cr_assert_eq(take(), 0);
	}
	assert_all_counted();
	mf_demux_fini(&d);
}

Test(demux, holes_and_singles_split_a_run)
{
	setup(true, PERIOD);
	begin_span();
	put_ctrl(MF_BT_MS);
	put_data(20);
	put_ctrl(MF_BT_G);
	put_data(1);
	mf_span_put(&span, MF_SYNC_CTRL, MF_IDLE_WORD);
	put_ctrl(MF_BT_N);
	put_ctrl(MF_BT_MST);
	put_data(2);
	cr_assert_eq(take(), 6);
	assert_run(&item[0], 0, 21, true, false);
	assert_single(&item[1], 21);
	assert_run(&item[2], 22, 1, false, false);
	assert_single(&item[3], 24);
	assert_single(&item[4], 25);
	assert_run(&item[5], 26, 2, false, false);
	begin_span();
	put_ctrl(MF_BT_MT);
	cr_assert_eq(take(), 1);
	assert_run(&item[0], 0, 1, false, true);
	cr_assert_eq(d.stats.aborts, 0);
	cr_assert_eq(d.stats.idle_blocks, 1);
	mf_demux_fini(&d);
}

Test(demux, what_cuts_a_message)
{
	static const struct {
		uint8_t sync, type;
		bool bad;
	} cut[] = {{MF_SYNC_CTRL, MF_BT_S, false},
		   {MF_SYNC_CTRL, MF_BT_T3, false},
		   {MF_SYNC_CTRL, MF_BT_O_C, false},
		   {MF_SYNC_CTRL, MF_BT_C, false},
		   {MF_SYNC_CTRL, 0x00, true},
		   {0, MF_BT_MT, true},
		   {3, MF_BT_MT, true}};

	setup(true, PERIOD);
	for (unsigned int i = 0; i < sizeof(cut) / sizeof(*cut); i++) {
		uint64_t bad = d.stats.bad_blocks, frame = d.stats.frame_blocks;

		begin_span();
		put_ctrl(MF_BT_MS);
		put_data(3);
		mf_span_put(&span, cut[i].sync, cut[i].type | 0x1eULL << 8);
		put_ctrl(MF_BT_MT);
		cr_assert_eq(take(), 2);
		assert_run(&item[0], 0, 4, true, false);
		cr_assert_eq(item[1].kind, MF_RX_ABORT);
		cr_assert_eq(item[1].at, START + 4 * PERIOD);
		cr_assert_eq(d.stats.aborts, i + 1);
		cr_assert_eq(d.stats.bad_blocks, bad + cut[i].bad + 1, "and the /MT/ behind it");
		cr_assert_eq(d.stats.frame_blocks, frame + !cut[i].bad);
	}
	cr_assert_eq(d.ber.ber_cnt, 2);
	assert_all_counted();
	mf_demux_fini(&d);
}

Test(demux, a_start_inside_a_message_begins_another)
{
	setup(true, PERIOD);
	begin_span();
	put_ctrl(MF_BT_MS);
	put_data(3);
	put_ctrl(MF_BT_MS);
	put_ctrl(MF_BT_MT);
	cr_assert_eq(take(), 3);
	assert_run(&item[0], 0, 4, true, false);
	cr_assert_eq(item[1].kind, MF_RX_ABORT);
	assert_run(&item[2], 4, 2, true, true);
	mf_demux_fini(&d);
}

Test(demux, a_standard_port_takes_memory_for_bad_blocks)
{
	static const uint8_t types[] = {MF_BT_MS, MF_BT_MT, MF_BT_MST, MF_BT_N, MF_BT_G};
	unsigned int n;

	setup(false, PERIOD);
	for (unsigned int i = 0; i < sizeof(types); i++) {
		begin_span();
		n = put_frame(100);
		span.word[3] = types[i];
		span.sync[3] = MF_SYNC_CTRL;
		mf_span_put(&span, MF_SYNC_CTRL, MF_IDLE_WORD);
		cr_assert_eq(take(), 0);
		cr_assert_eq(pos, n + 1);
		cr_assert_eq(d.stats.bad_blocks, i + 1);
		cr_assert_eq(d.dec.drops[MF_FRAME_BAD_BLOCK], i + 1);
	}
	assert_all_counted();
	mf_demux_fini(&d);
}

Test(demux, a_frame_comes_one_block_behind_its_end_by_itself)
{
	unsigned int n;

	setup(true, PERIOD);
	begin_span();
	n = put_frame(100);
	cr_assert_eq(mf_demux_next(&d), MF_NEVER);
	cr_assert_eq(take(), 0);
	cr_assert_eq(mf_demux_next(&d), START + n * PERIOD);
	cr_assert_eq(mf_demux_poll(&d, START + n * PERIOD - 1, item), 0);
	cr_assert_eq(mf_demux_poll(&d, START + n * PERIOD, item), 1);
	cr_assert_eq(item[0].kind, MF_RX_FRAME);
	cr_assert_eq(item[0].count, 100);
	cr_assert_eq(item[0].at, START + n * PERIOD);
	cr_assert_eq(mf_demux_next(&d), MF_NEVER);
	cr_assert_eq(mf_demux_poll(&d, START + n * PERIOD, item), 0);
	mf_demux_fini(&d);
}

/** What stands behind a /T/: sync, word and whether the frame is good. */
static void behind(uint8_t sync, uint64_t word, unsigned int after, bool good)
{
	unsigned int n, items, frames = 0;

	setup(true, PERIOD);
	begin_span();
	n = put_frame(100);
	cr_assert_eq(take(), 0);
	begin_span();
	span.start = START + n * PERIOD + after;
	mf_span_put(&span, sync, word);
	while ((items = take())) {
		frames += item[items - 1].kind == MF_RX_FRAME;
		if (item[items - 1].kind == MF_RX_FRAME)
			cr_assert_eq(item[items - 1].at, START + n * PERIOD);
	}
	cr_assert_eq(frames, good);
	cr_assert_eq(d.dec.drops[MF_FRAME_BAD_END], !good);
	assert_all_counted();
	mf_demux_fini(&d);
}

Test(demux, the_block_behind_the_end_decides)
{
	behind(MF_SYNC_CTRL, MF_IDLE_WORD, 0, true);
	behind(MF_SYNC_CTRL, MF_BT_S, 0, true);
	behind(MF_SYNC_CTRL, MF_BT_G, 0, true);
	behind(MF_SYNC_CTRL, MF_BT_MS, 0, true);
	behind(MF_SYNC_DATA, 0, 0, false);
	behind(0, 0, 0, false);
	behind(MF_SYNC_CTRL, 0xff00 | MF_BT_T2, 0, false);
	behind(MF_SYNC_CTRL, 0x00, 0, false);
	/* A block time later the line was idle in between. */
	behind(MF_SYNC_DATA, 0, 1, true);
	behind(0, 0, PERIOD, true);
}

Test(demux, under_the_wall_clock_the_next_span_or_poll_decides)
{
	setup(true, 0);
	begin_span();
	put_frame(100);
	cr_assert_eq(take(), 0);
	cr_assert_eq(mf_demux_next(&d), START);
	cr_assert_eq(mf_demux_poll(&d, START + 7, item), 1);
	begin_span();
	put_frame(200);
	cr_assert_eq(take(), 0);
	begin_span();
	span.start += 5000;
	put_ctrl(MF_BT_N);
	cr_assert_eq(take(), 1);
	cr_assert_eq(item[0].kind, MF_RX_FRAME);
	cr_assert_eq(item[0].count, 200);
	cr_assert_eq(take(), 1);
	cr_assert_eq(item[0].kind, MF_RX_SINGLE);
	mf_demux_fini(&d);
}

Test(demux, bad_headers_feed_the_monitor)
{
	setup(true, PERIOD);
	begin_span();
	for (unsigned int i = 0; i < MF_BER_LIMIT; i++)
		mf_span_put(&span, i % 2 ? 3 : 0, i);
	take();
	cr_assert(d.ber.hi_ber);
	for (unsigned int i = 1; i <= 3; i++) {
		begin_span();
		span.start = i * WINDOW;
		put_ctrl(MF_BT_G);
		take();
	}
	cr_assert_not(d.ber.hi_ber);
	mf_demux_fini(&d);
}

/** n bad headers, each in a span of its own, `every` blocks apart. */
static void bad_headers(mf_time start, unsigned int n, unsigned int every)
{
	for (unsigned int i = 0; i < n; i++) {
		begin_span();
		span.start = start + (mf_time)i * every * PERIOD;
		mf_span_put(&span, i % 2 * 3, MF_IDLE_WORD);
		take();
	}
}

static unsigned int singles_taken(mf_time start, unsigned int n)
{
	begin_span();
	span.start = start;
	while (n-- > 0)
		put_ctrl(MF_BT_G);
	return take();
}

/* 16 of them in 125 us: nothing of what comes is taken until a window has ended that had fewer. */
Test(demux, all_is_lost_while_the_error_rate_is_high)
{
	setup(true, PERIOD);
	bad_headers(0, MF_BER_LIMIT - 1, 20);
	cr_expect_eq(singles_taken(1000 * PERIOD, 3), 3, "15 are not too many");
	bad_headers(1100 * PERIOD, 1, 1);
	cr_assert(d.ber.hi_ber);
	cr_expect_eq(singles_taken(2000 * PERIOD, 3), 0);
	cr_expect_eq(singles_taken(WINDOW, 3), 0, "the next window is not over");
	cr_expect_eq(singles_taken(2 * WINDOW - 2 * PERIOD, 5), 3, "it ends with the second of these");
	cr_expect_eq(d.stats.bad_blocks, MF_BER_LIMIT + 3 + 3 + 2);
	cr_expect_not(d.alert);
	assert_all_counted();
	mf_demux_fini(&d);
}

/*
 * The 16th among 64 ends the lock, and 64 good ones find it again. A window of the monitor begins among
 * these 64, so that its rate is not high.
 */
Test(demux, all_is_lost_without_block_lock)
{
	const mf_time headers = 64 * PERIOD, from = WINDOW / headers * headers, last = from + 62 * PERIOD;
	struct mf_guard g;

	cr_assert_eq(mf_guard_init(&g, 0, WINDOW), 0);
	setup(true, PERIOD);
	mf_demux_guard(&d, &g);
	cr_assert_gt(from + 61 * PERIOD, WINDOW);
	bad_headers(from, 14, 1);
	bad_headers(from + 61 * PERIOD, 1, 1);
	cr_expect_eq(singles_taken(from + 61 * PERIOD, 1), 1, "15 do no harm");
	bad_headers(last, 1, 1);
	cr_expect_not(d.ber.hi_ber);
	cr_expect_eq(g.tripped, last);
	cr_expect_eq(g.cause, MF_GUARD_LOCK);
	cr_expect_eq(singles_taken(last + PERIOD, 63), 0);
	cr_expect_eq(singles_taken(last + headers - PERIOD, 1), 0, "until the other end knows as well");
	mf_guard_reset(&g);
	cr_expect_eq(singles_taken(last + headers, 3), 3, "and there it is again");
	bad_headers(last + headers + 3 * PERIOD, 1, 1);
	cr_expect_eq(singles_taken(last + headers + 4 * PERIOD, 3), 3, "it counts anew");
	assert_all_counted();
	mf_demux_fini(&d);
	mf_guard_fini(&g);
}

Test(demux, a_guard_is_told_of_what_is_bad)
{
	struct mf_guard g;

	cr_assert_eq(mf_guard_init(&g, 3, WINDOW), 0);
	setup(true, PERIOD);
	mf_demux_guard(&d, &g);
	begin_span();
	put_ctrl(MF_BT_MS);
	mf_span_put(&span, 0, 0); /* cuts the message, and is bad */
	put_ctrl(MF_BT_MT); /* outside of one */
	put_ctrl(MF_BT_G);
	put_ctrl(0x01); /* there is no such type */
	take();
	cr_expect_eq(g.bad, 3);
	cr_expect_eq(g.tripped, START + 4 * PERIOD);
	cr_expect_eq(g.cause, MF_GUARD_BAD);
	mf_guard_reset(&g);
	cr_expect_eq(g.tripped, MF_NEVER);
	bad_headers(2 * START, MF_BER_LIMIT, 70);
	cr_expect_eq(g.cause, MF_GUARD_BAD, "the third comes before the 16th");
	mf_guard_fini(&g);
	cr_assert_eq(mf_guard_init(&g, 0, WINDOW), 0);
	bad_headers(WINDOW, MF_BER_LIMIT, 70);
	cr_expect_eq(g.cause, MF_GUARD_HI_BER);
	cr_expect_eq(g.tripped, WINDOW + 70 * (MF_BER_LIMIT - 1) * PERIOD);
	mf_demux_fini(&d);
	mf_guard_fini(&g);
}

/**
 * 16 bad headers among 64, of which the monitor's window has the last two alone. @return when the last one is
 */
static mf_time lose_the_lock(void)
{
	const mf_time headers = 64 * PERIOD, from = WINDOW / headers * headers;

	bad_headers(from, 14, 1);
	bad_headers(from + 61 * PERIOD, 2, 1);
	cr_assert_not(d.ber.hi_ber);
	return from + 62 * PERIOD;
}

/* Without a guard the lock is there again behind 64 headers, and not one earlier. */
Test(demux, lock_takes_64_headers)
{
	mf_time last;

	setup(true, PERIOD);
	last = lose_the_lock();
	cr_expect_eq(singles_taken(last + 63 * PERIOD, 1), 0);
	cr_expect_eq(singles_taken(last + 64 * PERIOD, 1), 1);
	mf_demux_fini(&d);
}

/* With one it stays in local fault for as long as its other end may not know: until that is told. */
Test(demux, a_guarded_receiver_stays_deaf)
{
	struct mf_guard g;
	mf_time last;

	cr_assert_eq(mf_guard_init(&g, 0, WINDOW), 0);
	setup(true, PERIOD);
	mf_demux_guard(&d, &g);
	last = lose_the_lock();
	cr_expect_eq(singles_taken(last + 64 * PERIOD, 1), 0);
	cr_expect_eq(singles_taken(last + 10 * WINDOW, 1), 0);
	mf_guard_reset(&g);
	cr_expect_eq(singles_taken(last + 10 * WINDOW + PERIOD, 1), 1);
	mf_demux_fini(&d);
	mf_guard_fini(&g);
}

/* In local fault every block is an error, and those alone count that are bad themselves. */
Test(demux, what_is_bad_counts_in_local_fault)
{
	struct mf_guard g;

	cr_assert_eq(mf_guard_init(&g, 0, WINDOW), 0);
	setup(true, PERIOD);
	mf_demux_guard(&d, &g);
	bad_headers(0, MF_BER_LIMIT, 1);
	cr_assert(mf_guard_is_deaf(&g));
	cr_expect_eq(g.bad, MF_BER_LIMIT);
	cr_expect_eq(singles_taken(20 * PERIOD, 3), 0);
	cr_expect_eq(g.bad, MF_BER_LIMIT, "they are good");
	bad_headers(30 * PERIOD, 2, 1);
	cr_expect_eq(g.bad, MF_BER_LIMIT + 2);
	cr_expect_eq(d.stats.bad_blocks, MF_BER_LIMIT + 3 + 2);
	mf_demux_fini(&d);
	mf_guard_fini(&g);
}

static uint64_t random_word(uint64_t *rng)
{
	static const uint8_t types[] = {MF_BT_MS, MF_BT_MS, MF_BT_MT, MF_BT_MT, MF_BT_MST,
					MF_BT_N,  MF_BT_G,  MF_BT_C,  MF_BT_S,  MF_BT_S,
					MF_BT_T0, MF_BT_T1, MF_BT_T4, MF_BT_T7, MF_BT_C_S4};

	switch (test_below(rng, 8)) {
	case 0:
		return test_random(rng);
	case 1:
		return MF_IDLE_WORD;
	default:
		return types[test_below(rng, sizeof(types))];
	}
}

static uint8_t random_sync(uint64_t *rng)
{
	unsigned int dice = test_below(rng, 100);

	if (dice < 60)
		return MF_SYNC_DATA;
	return dice < 98 ? MF_SYNC_CTRL : (uint8_t)(dice == 99 ? 0 : test_random(rng));
}

static void random_span(mf_time at, uint64_t *rng)
{
	unsigned int n = test_below(rng, MF_SPAN_MAX + 1);

	begin_span();
	span.start = at;
	if (test_below(rng, 4) == 0)
		put_frame(60 + test_below(rng, 200));
	while (span.count < n)
		mf_span_put(&span, random_sync(rng), random_word(rng));
}

/** What the items tell has to fit together, and with the counters. */
struct told {
	uint64_t words, frames, aborts;
	bool inside;
};

static void check_item(struct told *t, const struct mf_rx_item *it, uint64_t seed)
{
	if (it->kind == MF_RX_FRAME) {
		cr_assert(it->count >= MF_FRAME_MIN && it->count <= MF_FRAME_MAX, "seed %" PRIu64, seed);
		t->frames++;
		return;
	}
	if (it->kind == MF_RX_ABORT) {
		cr_assert(t->inside, "seed %" PRIu64, seed);
		t->aborts++;
		t->inside = false;
		return;
	}
	t->words += it->count;
	cr_assert(it->word >= span.word && it->word + it->count <= span.word + span.count, "seed %" PRIu64,
		  seed);
	if (it->kind == MF_RX_SINGLE)
		return;
	cr_assert_eq(it->begins, !t->inside, "seed %" PRIu64, seed);
	cr_assert(!it->begins || mf_block_type(it->word[0]) == MF_BT_MS);
	cr_assert(!it->ends || mf_block_type(it->word[it->count - 1]) == MF_BT_MT);
	t->inside = !it->ends;
}

static void garbage(bool memory_enabled, uint32_t period)
{
	uint64_t seed = test_seed() + period + memory_enabled, rng = seed, blocks = 0;
	uint64_t limit = test_long() ? UINT64_C(1000000000) : 1000000;
	struct told told = {0};
	mf_time at = 0;
	unsigned int n;

	/* A short window, so that the error rate is too high only now and then. */
	cr_assert_eq(mf_demux_init(&d, memory_enabled, period, 150 * PERIOD), 0);
	while (blocks < limit) {
		random_span(at, &rng);
		while ((n = mf_demux_span(&d, &span, &pos, item, 1 + test_below(&rng, 5))))
			for (unsigned int i = 0; i < n; i++)
				check_item(&told, &item[i], seed);
		cr_assert_eq(pos, span.count);
		blocks += span.count;
		at = mf_span_at(&span, span.count) + test_below(&rng, 3) * test_below(&rng, 9000);
		if (test_below(&rng, 4) == 0)
			told.frames += mf_demux_poll(&d, at, item);
	}
	cr_assert_eq(d.stats.blocks, blocks, "seed %" PRIu64, seed);
	assert_all_counted();
	cr_assert_eq(d.stats.memory_blocks, told.words);
	cr_assert_eq(d.stats.aborts, told.aborts);
	cr_assert_eq(d.dec.frames, told.frames);
	cr_assert_gt(told.frames, 100);
	cr_assert_eq(told.words > 0, memory_enabled);
	mf_demux_fini(&d);
}

Test(demux, garbage_is_all_accounted_for)
{
	garbage(true, PERIOD);
	garbage(true, 0);
	garbage(false, PERIOD);
}
