/* SPDX-License-Identifier: BSD-3-Clause */
/* The multiplexer's interface: room, order, holds, aborts, the gap, what it measures. */
#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "mux_test.h"
#include "pcs_test.h"

static struct mf_span span;
static const uint8_t octets[MF_FRAME_MAX];

/** Blocks of a frame that starts in lane 0, with the gap behind it. */
static unsigned int frame_and_gap(unsigned int len)
{
	return (8 + len + MF_FCS_LEN) / 8 + 1 + 1;
}

static struct mf_mux *make(enum mf_mux_policy policy, uint32_t period)
{
	struct mf_mux_config config = mux_test_config(policy, period);
	struct mf_mux *m = mf_mux_new(&config);

	cr_assert_not_null(m);
	return m;
}

/** Pushes a message of which `there` words are there. */
static struct mf_mux_item *push(struct mf_mux *m, mf_time ready, uint32_t tie, unsigned int id,
				unsigned int n, unsigned int there)
{
	uint64_t *words;
	struct mf_mux_item *it = mf_mux_push(m, ready, tie, n, id, &words);

	if (!it)
		return NULL;
	for (unsigned int i = 0; i < n; i++)
		words[i] = message_word(id, i, n);
	mf_mux_append(m, it, there);
	return it;
}

static void assert_pull(struct mf_mux *m, mf_time now, unsigned int id, unsigned int first,
			unsigned int count, unsigned int n)
{
	cr_assert_eq(mf_mux_pull(m, now, MF_SPAN_MAX, &span), count, "%u blocks of %u", span.count, count);
	cr_assert_eq(span.start, now);
	cr_assert_eq(span.flags, 0);
	for (unsigned int i = 0; i < count; i++) {
		bool ctrl = first + i == 0 || first + i == n - 1;

		cr_assert_eq(span.word[i], message_word(id, first + i, n));
		cr_assert_eq(span.sync[i], ctrl ? MF_SYNC_CTRL : MF_SYNC_DATA);
	}
}

static void assert_refused(struct mf_mux_config config)
{
	errno = 0;
	cr_assert_null(mf_mux_new(&config));
	cr_assert_eq(errno, EINVAL);
}

Test(mux, bad_configs_are_refused)
{
	struct mf_mux_config good = mux_test_config(MF_MUX_FAIR, PERIOD), bad;

#define BAD(field, value) (bad = good, bad.field = (value), assert_refused(bad))
	BAD(policy, 4);
	BAD(quantum, 0);
	BAD(period, UINT32_MAX);
	BAD(memory_blocks, 32);
	BAD(memory_blocks, 100);
	BAD(memory_blocks, 0);
	BAD(memory_items, 4);
	BAD(memory_items, 9);
	BAD(frames, 3);
	BAD(frame_bytes, 0);
#undef BAD
}

Test(mux, a_standard_port_refuses_memory)
{
	struct mf_mux_config config = {.policy = MF_MUX_MEMORY_FIRST, .frames = 4, .frame_bytes = 4000};
	struct mf_mux *m = mf_mux_new(&config);

	cr_assert_not_null(m);
	cr_assert_not(mf_mux_room(m, 1));
	cr_assert_null(push(m, 0, 0, 1, 1, 1));
	cr_assert(mf_mux_frame(m, 0, octets, 60));
	cr_assert_gt(mf_mux_pull(m, 0, MF_SPAN_MAX, &span), 0);
	mf_mux_free(m);
}

Test(mux, messages_go_by_ready_tie_and_order_of_pushing)
{
	struct mf_mux *m = make(MF_MUX_MEMORY_FIRST, PERIOD);
	mf_time at = 0, last;

	push(m, 5 * PERIOD, 2, 1, 3, 3);
	push(m, 5 * PERIOD, 1, 2, 1, 1);
	push(m, 5 * PERIOD, 1, 3, 4, 4);
	push(m, 4 * PERIOD, 9, 4, 2, 2);
	push(m, 5 * PERIOD, 1, 5, 1, 1);
	cr_assert_eq(mf_mux_next(m, 0), 4 * PERIOD);
	cr_assert_eq(mf_mux_pull(m, 4 * PERIOD - 1, MF_SPAN_MAX, &span), 0);
	assert_pull(m, 4 * PERIOD, 4, 0, 2, 2);
	cr_assert_eq(mf_mux_pull(m, 6 * PERIOD - 1, MF_SPAN_MAX, &span), 0);
	assert_pull(m, 6 * PERIOD, 2, 0, 1, 1);
	assert_pull(m, 7 * PERIOD, 3, 0, 4, 4);
	assert_pull(m, 11 * PERIOD, 5, 0, 1, 1);
	assert_pull(m, 12 * PERIOD, 1, 0, 3, 3);
	cr_assert_eq(mf_mux_next(m, 12 * PERIOD), MF_NEVER);
	for (unsigned int i = 0; i < 5; i++) {
		last = at;
		cr_assert_neq(mf_mux_done(m, &at), 0);
		cr_assert_gt(at, last);
	}
	cr_assert_eq(at, 14 * PERIOD);
	cr_assert_eq(mf_mux_done(m, &at), 0);
	mf_mux_free(m);
}

Test(mux, only_singles_pass_a_held_message_that_waits)
{
	struct mf_mux *m = make(MF_MUX_MEMORY_FIRST, PERIOD);
	struct mf_mux_item *held = push(m, 0, 0, 1, 6, 2);

	assert_pull(m, 0, 1, 0, 2, 6);
	push(m, 2 * PERIOD, 0, 2, 3, 3);
	cr_assert(mf_mux_frame(m, PERIOD, octets, 100));
	cr_assert_eq(mf_mux_next(m, PERIOD), MF_NEVER);
	push(m, PERIOD, 0, 3, 1, 1);
	cr_assert_eq(mf_mux_next(m, PERIOD), 2 * PERIOD);
	assert_pull(m, 2 * PERIOD, 3, 0, 1, 1);
	mf_mux_append(m, held, 1);
	push(m, PERIOD, 0, 4, 1, 1);
	assert_pull(m, 3 * PERIOD, 1, 2, 1, 6);
	assert_pull(m, 4 * PERIOD, 4, 0, 1, 1);
	cr_assert_eq(mf_mux_pull(m, 9 * PERIOD, MF_SPAN_MAX, &span), 0);
	mf_mux_append(m, held, 3);
	push(m, 3 * PERIOD, 0, 5, 1, 1); /* behind a message that waits, too: stays behind it */
	assert_pull(m, 10 * PERIOD, 1, 3, 3, 6);
	assert_pull(m, 13 * PERIOD, 2, 0, 3, 3);
	assert_pull(m, 16 * PERIOD, 5, 0, 1, 1);
	cr_assert_eq(mf_mux_next(m, 16 * PERIOD), (17 + frame_and_gap(100)) * PERIOD);
	mf_mux_free(m);
}

Test(mux, a_message_without_words_stands_in_nobodys_way)
{
	struct mf_mux *m = make(MF_MUX_MEMORY_FIRST, PERIOD);
	struct mf_mux_item *it = push(m, 0, 0, 1, 4, 0);

	push(m, 10, 0, 2, 3, 3);
	push(m, 5, 0, 3, 1, 1);
	mf_mux_append(m, it, 4);
	assert_pull(m, 10, 1, 0, 4, 4);
	it = push(m, 20, 0, 4, 4, 0);
	assert_pull(m, 10 + 4 * PERIOD, 3, 0, 1, 1);
	assert_pull(m, 10 + 5 * PERIOD, 2, 0, 3, 3);
	cr_assert_eq(mf_mux_next(m, 11), MF_NEVER);
	mf_mux_append(m, it, 1);
	cr_assert_eq(mf_mux_next(m, 11), 10 + 8 * PERIOD);
	mf_mux_free(m);
}

Test(mux, abort_before_and_after_the_first_block)
{
	struct mf_mux *m = make(MF_MUX_MEMORY_FIRST, PERIOD);
	struct mf_mux_item *a = push(m, 0, 0, 1, 6, 3), *b = push(m, 0, 0, 2, 6, 3);
	mf_time at;

	cr_assert_eq(mf_mux_backlog(m, 0), 12);
	cr_assert_eq(mf_mux_pull(m, 0, 1, &span), 1);
	mf_mux_abort(m, b);
	cr_assert_eq(mf_mux_backlog(m, 0), 6);
	cr_assert_eq(mf_mux_stats(m)->aborted, 0);
	mf_mux_abort(m, a);
	cr_assert_eq(mf_mux_stats(m)->aborted, 1);
	cr_assert_eq(mf_mux_pull(m, PERIOD, MF_SPAN_MAX, &span), 3, "the words that were there, and an /MT/");
	cr_assert_eq(span.sync[1], MF_SYNC_DATA);
	cr_assert_eq(span.sync[2], MF_SYNC_CTRL);
	cr_assert_eq(mf_block_type(span.word[2]), MF_BT_MT);
	push(m, 0, 0, 3, 2, 2);
	assert_pull(m, 4 * PERIOD, 3, 0, 2, 2);
	cr_assert_eq(mf_mux_done(m, &at), 3);
	cr_assert_eq(mf_mux_done(m, &at), 0);
	cr_assert_eq(mf_mux_stats(m)->messages, 1);
	cr_assert_eq(mf_mux_backlog(m, 6 * PERIOD), 0);
	cr_assert_eq(mf_mux_waiting(m), 0);
	mf_mux_free(m);
}

/** An aborted hold frees the line from then on, not from the past on. */
Test(mux, frames_do_not_fill_a_hold_that_was_aborted)
{
	struct mf_mux *m = make(MF_MUX_MEMORY_FIRST, PERIOD);
	struct mf_mux_item *it = push(m, 0, 0, 1, 6, 1);

	assert_pull(m, 0, 1, 0, 1, 6);
	cr_assert(mf_mux_frame(m, 0, octets, 60));
	mf_mux_abort(m, it);
	cr_assert_eq(mf_mux_next(m, 50 * PERIOD), 50 * PERIOD);
	cr_assert_eq(mf_mux_pull(m, 50 * PERIOD, MF_SPAN_MAX, &span), 1, "its failing /MT/");
	cr_assert_eq(mf_mux_next(m, 50 * PERIOD), (51 + frame_and_gap(60)) * PERIOD);
	cr_assert_gt(mf_mux_pull(m, 80 * PERIOD, MF_SPAN_MAX, &span), 0);
	cr_assert_eq(span.start, 51 * PERIOD);
	mf_mux_free(m);
}

Test(mux, a_full_ring_refuses_and_recovers)
{
	struct mf_mux_config config = mux_test_config(MF_MUX_MEMORY_FIRST, 0);
	uint64_t seed = test_seed(), rng = seed, pushed = 0, refused = 0;
	unsigned int sent = 0, waiting[64], get = 0, put = 0;
	struct mf_mux *m;

	config.memory_blocks = 64;
	config.memory_items = 8;
	m = mf_mux_new(&config);
	for (int i = 0; i < 20000; i++) {
		unsigned int n = 1 + test_below(&rng, test_below(&rng, 4) ? 12 : 64);
		bool room = mf_mux_room(m, n);

		cr_assert_eq(!!push(m, 0, 0, 1 + put % 64, n, n), room, "seed %" PRIu64, seed);
		cr_assert(room || mf_mux_backlog(m, 0) > 0, "an empty ring has room for %u", n);
		pushed += room;
		refused += !room;
		if (room)
			waiting[put++ % 64] = n;
		while (get < put && test_below(&rng, 3)) {
			unsigned int left = waiting[get % 64] - sent, k = 1 + test_below(&rng, left);

			cr_assert_eq(mf_mux_pull(m, 0, k, &span), k);
			cr_assert_eq(span.word[0], message_word(1 + get % 64, sent, waiting[get % 64]),
				     "seed %" PRIu64, seed);
			sent += k;
			if (k < left)
				continue;
			cr_assert_eq(mf_mux_done(m, &(mf_time){0}), 1 + get++ % 64);
			sent = 0;
		}
	}
	cr_assert(pushed > 1000 && refused > 1000, "%" PRIu64 " pushed, %" PRIu64 " refused", pushed,
		  refused);
	cr_assert_not(mf_mux_room(m, 65));
	cr_assert_not(mf_mux_room(m, 0));
	mf_mux_free(m);
}

Test(mux, cookies_that_nobody_fetches_are_not_lost)
{
	struct mf_mux_config config = mux_test_config(MF_MUX_MEMORY_FIRST, 0);
	struct mf_mux *m;
	mf_time at;

	config.memory_items = 8;
	m = mf_mux_new(&config);
	for (unsigned int i = 1; i <= 8; i++) {
		cr_assert_not_null(push(m, i, 0, i, 1, 1));
		assert_pull(m, i, i, 0, 1, 1);
	}
	cr_assert_null(push(m, 9, 0, 9, 1, 1));
	cr_assert_not_null(push(m, 9, 0, 0, 1, 1), "one without a cookie");
	for (unsigned int i = 1; i <= 8; i++) {
		cr_assert_eq(mf_mux_done(m, &at), i);
		cr_assert_eq(at, i);
	}
	cr_assert_not_null(push(m, 9, 0, 9, 1, 1));
	mf_mux_free(m);
}

Test(mux, frames_beyond_the_room_are_refused_and_counted)
{
	struct mf_mux_config config = mux_test_config(MF_MUX_MEMORY_FIRST, 0);
	uint64_t seed = test_seed(), rng = seed, taken = 0, refused = 0, bytes = 0;
	uint64_t refused_before;
	struct mf_mux *m;

	config.frames = 4;
	config.frame_bytes = 2000;
	m = mf_mux_new(&config);
	cr_assert_not(mf_mux_frame(m, 0, octets, 0));
	cr_assert_not(mf_mux_frame(m, 0, octets, MF_FRAME_MAX + 1));
	cr_assert_not(mf_mux_frame(m, 0, octets, 2001));
	refused_before = mf_mux_stats(m)->frames_refused;
	for (int i = 0; i < 5000; i++) {
		uint16_t len = (uint16_t)(1 + test_below(&rng, 1200));
		bool room = mf_mux_frame_room(m, len);

		if (mf_mux_frame(m, 0, octets, len))
			taken++, bytes += len;
		else
			refused++;
		cr_assert_eq(room, mf_mux_stats(m)->frames_refused == refused_before);
		refused_before = mf_mux_stats(m)->frames_refused;
		cr_assert_leq(mf_mux_frame_bytes(m), 2000);
		if (test_below(&rng, 2))
			mf_mux_pull(m, 0, MF_SPAN_MAX, &span);
	}
	cr_assert(taken > 500 && refused > 500, "seed %" PRIu64, seed);
	while (mf_mux_pull(m, 0, MF_SPAN_MAX, &span))
		;
	cr_assert_eq(mf_mux_frame_bytes(m), 0);
	cr_assert_eq(mf_mux_stats(m)->frames, taken);
	cr_assert_eq(mf_mux_stats(m)->frames_refused, refused + 3);
	cr_assert(mf_mux_frame(m, 0, octets, 2000));
	mf_mux_free(m);
}

Test(mux, a_late_pull_gives_one_frame_a_span)
{
	struct mf_mux *m = make(MF_MUX_MEMORY_FIRST, PERIOD);
	unsigned int blocks = frame_and_gap(60) - 1;

	for (unsigned int i = 0; i < 3; i++)
		cr_assert(mf_mux_frame(m, 0, octets, 60));
	for (unsigned int i = 0; i < 3; i++) {
		/* There may be a block of gap in front, and one behind the last. */
		cr_assert_geq(mf_mux_pull(m, 1000 * PERIOD, MF_SPAN_MAX, &span), blocks);
		cr_assert_leq(span.count, blocks + 2);
		cr_assert_eq(mf_mux_stats(m)->frames, i + 1);
	}
	push(m, 0, 0, 1, 2, 2);
	assert_pull(m, 1000 * PERIOD, 1, 0, 2, 2);
	mf_mux_free(m);
}

Test(mux, memory_takes_the_place_of_the_gap)
{
	struct mf_mux *m = make(MF_MUX_NO_PREEMPT, PERIOD);
	mf_time end = (frame_and_gap(60) - 1) * PERIOD;

	cr_assert(mf_mux_frame(m, 0, octets, 60));
	push(m, PERIOD, 0, 1, 3, 3);
	cr_assert_eq(mf_mux_next(m, 0), end);
	cr_assert_eq(mf_mux_pull(m, end, MF_SPAN_MAX, &span), 10);
	cr_assert_eq(span.flags, MF_SPAN_FRAME);
	cr_assert_eq(mf_block_type(span.word[9]), MF_BT_T0);
	assert_pull(m, end, 1, 0, 3, 3);
	cr_assert_eq(mf_mux_next(m, end), MF_NEVER);
	cr_assert_eq(mf_mux_stats(m)->gap_reused, 1);
	cr_assert_eq(mf_mux_stats(m)->gap_blocks, 0);
	cr_assert_eq(mf_mux_stats(m)->preemptions, 0);
	mf_mux_free(m);
}

/** First come, first served: behind the frames that were there before, and before those that came later. */
Test(mux, fifo)
{
	struct mf_mux *m = make(MF_MUX_FIFO, PERIOD);
	mf_time end = 0;

	cr_assert(mf_mux_frame(m, 0, octets, 60));
	cr_assert(mf_mux_frame(m, PERIOD, octets, 60));
	push(m, PERIOD, 0, 1, 3, 3);
	cr_assert(mf_mux_frame(m, PERIOD + 1, octets, 60));
	for (unsigned int i = 0; i < 2; i++) {
		cr_assert_gt(mf_mux_pull(m, mf_mux_next(m, end), MF_SPAN_MAX, &span), 0);
		cr_assert_eq(span.flags, MF_SPAN_FRAME);
		end = mf_span_at(&span, span.count);
	}
	cr_assert_eq(mf_mux_stats(m)->frames, 2);
	cr_assert_eq(mf_mux_next(m, end), end);
	assert_pull(m, end, 1, 0, 3, 3);
	cr_assert_neq(mf_mux_next(m, end), MF_NEVER);
	mf_mux_free(m);
}

/** D3: what a message waits for memory counts, what it waits for frames does not. */
static uint32_t backlog_of(enum mf_mux_policy policy)
{
	struct mf_mux *m = make(policy, PERIOD);
	mf_time now = 0;
	uint32_t backlog;

	cr_assert(mf_mux_frame(m, 0, octets, 1500));
	push(m, 20 * PERIOD, 0, 1, 10, 10);
	push(m, 20 * PERIOD, 1, 2, 7, 7);
	push(m, 22 * PERIOD, 0, 3, 1, 1);
	while ((now = mf_mux_next(m, now)) != MF_NEVER)
		mf_mux_pull(m, now, MF_SPAN_MAX, &span);
	cr_assert_eq(mf_mux_stats(m)->backlog_message_max, 10);
	backlog = mf_mux_stats(m)->backlog_max;
	mf_mux_free(m);
	return backlog;
}

Test(mux, backlog_counts_memory_and_not_frames)
{
	/* The last is ready when 2 blocks of the first have gone, or none where they wait for the frame. */
	cr_assert_eq(backlog_of(MF_MUX_MEMORY_FIRST), 10 + 7 - 2);
	cr_assert_eq(backlog_of(MF_MUX_NO_PREEMPT), 10 + 7);
	cr_assert_eq(backlog_of(MF_MUX_FAIR), 10 + 7 - 2);
}

Test(mux, preemption_is_counted_and_at_most_four_blocks_wait)
{
	struct mf_mux *m = make(MF_MUX_MEMORY_FIRST, PERIOD);
	mf_time now = 0;

	cr_assert(mf_mux_frame(m, 0, octets, 1500));
	push(m, 20 * PERIOD, 0, 1, 3, 3);
	while ((now = mf_mux_next(m, now)) != MF_NEVER)
		mf_mux_pull(m, now, MF_SPAN_MAX, &span);
	cr_assert_eq(mf_mux_stats(m)->frame_wait_max, 3);
	cr_assert(mf_mux_frame(m, now = 1000 * PERIOD, octets, 1500));
	push(m, 1020 * PERIOD, 0, 1, 10, 10);
	while ((now = mf_mux_next(m, now)) != MF_NEVER)
		mf_mux_pull(m, now, MF_SPAN_MAX, &span);
	cr_assert_eq(mf_mux_stats(m)->frame_wait_max, MF_MUX_FRAME_WAIT);
	cr_assert_eq(mf_mux_stats(m)->preemptions, 2);
	mf_mux_free(m);
}

/** What waits is gone, as if it had never been queued; what comes then goes as ever. */
Test(mux, a_flush_leaves_nothing)
{
	for (enum mf_mux_policy policy = MF_MUX_FAIR; policy <= MF_MUX_FIFO; policy++)
		for (unsigned int wall = 0; wall < 2; wall++) {
			struct mf_mux *m = make(policy, wall ? 0 : PERIOD);
			struct mf_mux_stats before;
			mf_time at = 10 * PERIOD, told;
			unsigned int memory = 0, frames = 0, n;

			for (unsigned int i = 1; i <= 4; i++) {
				cr_assert_not_null(push(m, i * 3 * PERIOD, 0, i, 5, 5));
				cr_assert(mf_mux_frame(m, i * PERIOD, octets, 100));
			}
			mf_mux_pull(m, 2 * PERIOD, 3, &span); /* in the midst of something */
			before = *mf_mux_stats(m);
			mf_mux_flush(m, at);
			cr_assert_eq(mf_mux_next(m, at), MF_NEVER);
			cr_assert_eq(mf_mux_done(m, &told), 0);
			cr_assert_eq(mf_mux_waiting(m), 0);
			cr_assert_eq(memcmp(&before, mf_mux_stats(m), sizeof(before)), 0);
			for (unsigned int i = 5; i <= 8; i++) {
				cr_assert_not_null(push(m, at, 0, i, 5, 5));
				cr_assert(mf_mux_frame(m, at, octets, 100));
			}
			while ((at = mf_mux_next(m, at)) != MF_NEVER)
				if ((n = mf_mux_pull(m, at, MF_SPAN_MAX, &span)) > 0)
					*(span.flags & MF_SPAN_FRAME ? &frames : &memory) += n;
			cr_expect_eq(mf_mux_stats(m)->messages - before.messages, 4);
			cr_expect_eq(mf_mux_stats(m)->frames - before.frames, 4);
			cr_expect(wall || (memory == 20 && frames >= 4 * 15));
			mf_mux_free(m);
		}
}

/** What waited for a line that was down starts when it is there again, with no gap before it. */
Test(mux, a_line_that_was_down)
{
	for (enum mf_mux_policy policy = MF_MUX_FAIR; policy <= MF_MUX_FIFO; policy++)
		for (unsigned int before = 0; before < 2; before++) {
			struct mf_mux *m = make(policy, PERIOD);
			mf_time up = 1000 * PERIOD + 1, at = 0, first = 0, end = 0;
			unsigned int blocks = 0;

			if (before > 0) { /* one frame was sent, and its gap is over */
				cr_assert(mf_mux_frame(m, 0, octets, 100));
				while ((at = mf_mux_next(m, at)) != MF_NEVER)
					mf_mux_pull(m, at, MF_SPAN_MAX, &span);
			}
			cr_assert(mf_mux_frame(m, 100 * PERIOD, octets, 100));
			cr_assert(mf_mux_frame(m, 200 * PERIOD, octets, 100));
			mf_mux_line_up(m, up);
			for (at = up; (at = mf_mux_next(m, at)) != MF_NEVER;) {
				unsigned int n = mf_mux_pull(m, at, MF_SPAN_MAX, &span);

				if (n > 0 && blocks == 0) {
					first = span.start;
					cr_expect_eq(mf_block_type(span.word[0]), MF_BT_S);
				}
				if (n > 0)
					end = mf_span_at(&span, n);
				blocks += n;
			}
			cr_expect_eq(first, up);
			cr_expect_geq(end, up + (2 * (8 + 100 + 4) / 8) * PERIOD);
			cr_expect_leq(blocks, 2 * 15 + 3, "two frames and their gaps");
			/* A line that is busy stays so. */
			cr_assert(mf_mux_frame(m, 5000 * PERIOD, octets, 100));
			mf_mux_pull(m, 5001 * PERIOD, 1, &span);
			mf_mux_line_up(m, 5000 * PERIOD);
			mf_mux_pull(m, 5100 * PERIOD, 1, &span);
			cr_expect_eq(span.start, 5001 * PERIOD);
			mf_mux_free(m);
		}
}

/*
 * A line of the wall clock that takes few blocks at a time: a message that comes while a frame is on its way
 * goes next, each message is told when its own last block has gone, and nothing is lost.
 */
Test(mux, a_shaped_line_chooses_anew_at_each_call)
{
	struct mf_mux_config config = mux_test_config(MF_MUX_MEMORY_FIRST, 0);
	unsigned int memory = 0, frame = 5, told = 0;
	struct mf_mux *m;
	mf_time at;

	config.shaped = true;
	m = mf_mux_new(&config);
	cr_assert(mf_mux_frame(m, 0, octets, 1000));
	cr_assert_eq(mf_mux_pull(m, 1, 5, &span), 5);
	for (unsigned int i = 1; i <= 3; i++) {
		uint64_t *words = mf_mux_put(m, 2, 0, 10, i);

		cr_assert_not_null(words);
		for (unsigned int k = 0; k < 10; k++)
			words[k] = message_word(i, k, 10);
	}
	for (mf_time now = 3; mf_mux_waits(m); now++) {
		unsigned int n = mf_mux_pull(m, now, 3, &span);

		cr_assert(n > 0 && n <= 3);
		for (unsigned int k = 0; k < n; k++) {
			if (memory == 30) {
				frame++;
				continue;
			}
			cr_assert_eq(span.word[k], message_word(1 + memory / 10, memory % 10, 10));
			memory++;
		}
		while (mf_mux_done(m, &at) != 0)
			told++;
		cr_assert_eq(told, memory / 10, "%u messages of %u blocks", told, memory);
	}
	cr_assert_eq(memory, 30);
	cr_assert_eq(mf_mux_stats(m)->frame_blocks + mf_mux_stats(m)->gap_blocks, frame);
	cr_assert_eq(mf_mux_stats(m)->frames, 1);
	mf_mux_free(m);
}
