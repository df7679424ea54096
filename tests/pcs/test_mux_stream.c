/* SPDX-License-Identifier: BSD-3-Clause */
/* Through multiplexer and demultiplexer: every frame and every message arrives unchanged and in order. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

#include "mux_test.h"
#include "pcs/mf_demux.h"
#include "pcs_test.h"

/** One of every size. */
#define FRAMES (MF_FRAME_MAX - MF_FRAME_MIN + 1)
#define MESSAGES (1 << 18)
#define LONGEST 100
#define ITEMS 7

static uint8_t pool[1 << 16];

/** What was sent and has not arrived: messages by number, frames by place in the pool. */
struct link {
	uint64_t seed, rng;
	struct mf_mux *mux;
	struct mf_demux demux;
	uint32_t frame_at[FRAMES], frame_len[FRAMES];
	unsigned int frames_in, frames_out;
	uint32_t length[MESSAGES]; /**< of message number */
	unsigned int messages_in, messages_out;
	unsigned int inside, word; /**< the message that is arriving: number and next word */
	mf_time last_frame;
};

static struct link l;

static void send_message(mf_time now)
{
	unsigned int n = test_below(&l.rng, 3) ? 1 + test_below(&l.rng, LONGEST) : 1;
	uint64_t *words;
	struct mf_mux_item *it = mf_mux_push(l.mux, now, 0, n, 0, &words);

	if (!it)
		return;
	for (unsigned int i = 0; i < n; i++)
		words[i] = message_word(l.messages_in, i, n);
	l.length[l.messages_in++] = n;
	mf_mux_append(l.mux, it, n);
}

static void send_frame(mf_time now)
{
	/* FRAMES and the factor have no divisor in common: all sizes come, in no order. */
	uint16_t len = (uint16_t)(MF_FRAME_MIN + l.frames_in * 3571 % FRAMES);

	l.frame_at[l.frames_in] = test_below(&l.rng, sizeof(pool) - MF_FRAME_MAX);
	l.frame_len[l.frames_in] = len;
	if (mf_mux_frame(l.mux, now, pool + l.frame_at[l.frames_in], len))
		l.frames_in++;
}

static void take_words(const struct mf_rx_item *it)
{
	unsigned int n = l.length[l.messages_out];

	cr_assert_eq(it->kind == MF_RX_SINGLE, n == 1);
	cr_assert_eq(it->kind == MF_RX_RUN && it->begins, n > 1 && l.word == 0);
	for (unsigned int i = 0; i < it->count; i++)
		cr_assert_eq(it->word[i], message_word(l.messages_out, l.word++, n), "seed %" PRIu64, l.seed);
	cr_assert_eq(it->kind == MF_RX_SINGLE || it->ends, l.word == n);
	if (l.word < n)
		return;
	l.word = 0;
	l.messages_out++;
}

static void take_frame(const struct mf_rx_item *it)
{
	unsigned int i = l.frames_out++;

	cr_assert_lt(i, l.frames_in);
	cr_assert_eq(it->count, l.frame_len[i], "seed %" PRIu64, l.seed);
	cr_assert_eq(memcmp(it->frame, pool + l.frame_at[i], it->count), 0, "seed %" PRIu64, l.seed);
	cr_assert(!l.demux.period || it->at > l.last_frame);
	l.last_frame = it->at;
}

static void take_items(const struct mf_rx_item *item, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		cr_assert_neq(item[i].kind, MF_RX_ABORT, "seed %" PRIu64, l.seed);
		cr_assert(item[i].kind != MF_RX_FRAME || i == n - 1);
		if (item[i].kind == MF_RX_FRAME)
			take_frame(&item[i]);
		else
			take_words(&item[i]);
	}
}

/** Wall clock: a few pulls, so that messages turn up while frames are under way. */
static void cross(mf_time now)
{
	unsigned int pulls = l.demux.period ? UINT32_MAX : test_below(&l.rng, 4);
	struct mf_rx_item item[ITEMS];
	static struct mf_span span;

	while (pulls-- && mf_mux_pull(l.mux, now, 1 + test_below(&l.rng, MF_SPAN_MAX), &span)) {
		unsigned int pos = 0, n;

		while ((n = mf_demux_span(&l.demux, &span, &pos, item, 1 + test_below(&l.rng, ITEMS))))
			take_items(item, n);
		cr_assert_eq(pos, span.count);
	}
	take_items(item, mf_demux_poll(&l.demux, now, item));
}

static void check_end(void)
{
	const struct mf_mux_stats *tx = mf_mux_stats(l.mux);
	const struct mf_demux_stats *rx = &l.demux.stats;

	cr_assert_eq(l.frames_out, l.frames_in, "seed %" PRIu64, l.seed);
	cr_assert_eq(l.messages_out, l.messages_in, "seed %" PRIu64, l.seed);
	cr_assert_eq(rx->memory_blocks, tx->memory_blocks);
	cr_assert_eq(rx->frame_blocks, tx->frame_blocks);
	cr_assert_eq(rx->idle_blocks, tx->gap_blocks);
	cr_assert_eq(rx->bad_blocks + rx->aborts, 0);
	cr_assert_leq(tx->frame_wait_max, MF_MUX_FRAME_WAIT);
	cr_assert_gt(tx->gap_reused, 0);
}

static void round_trips(enum mf_mux_policy policy, uint32_t period, bool align8)
{
	struct mf_mux_config config = mux_test_config(policy, period);
	mf_time now = 0, event = 0;

	memset(&l, 0, sizeof(l));
	l.seed = l.rng = test_seed() + policy + period;
	test_fill(&l.rng, pool, sizeof(pool));
	config.align8 = align8;
	config.memory_blocks = 1024;
	config.memory_items = 64;
	config.frames = 16;
	config.frame_bytes = 40000;
	l.mux = mf_mux_new(&config);
	cr_assert_eq(mf_demux_init(&l.demux, true, period, MF_US(125)), 0);
	while (l.frames_out < FRAMES) {
		now = mf_time_min(mf_mux_next(l.mux, now), mf_demux_next(&l.demux));
		now = period ? mf_time_min(event, now) : event;
		cr_assert_neq(now, MF_NEVER, "seed %" PRIu64 ": %u frames", l.seed, l.frames_out);
		if (now == event) {
			event += 1 + test_below(&l.rng, 200 * PERIOD);
			for (unsigned int i = test_below(&l.rng, 4); i-- && l.messages_in < MESSAGES;)
				send_message(now);
			for (unsigned int i = test_below(&l.rng, 3); i-- && l.frames_in < FRAMES;)
				send_frame(now);
		}
		cross(now);
	}
	while (l.messages_out < l.messages_in || mf_mux_next(l.mux, now) != MF_NEVER) {
		now = mf_mux_next(l.mux, now);
		cr_assert_neq(now, MF_NEVER, "seed %" PRIu64 ": %u messages", l.seed, l.messages_out);
		cross(now);
	}
	check_end();
	cr_assert_eq(mf_mux_stats(l.mux)->preemptions > 0, policy != MF_MUX_NO_PREEMPT);
	mf_demux_fini(&l.demux);
	mf_mux_free(l.mux);
}

static void all_periods(enum mf_mux_policy policy)
{
	round_trips(policy, 0, false);
	round_trips(policy, 2560, false);
	round_trips(policy, 640, true);
}

Test(mux_stream, memory_first)
{
	all_periods(MF_MUX_MEMORY_FIRST);
}

Test(mux_stream, fair)
{
	all_periods(MF_MUX_FAIR);
}

Test(mux_stream, no_preempt)
{
	all_periods(MF_MUX_NO_PREEMPT);
}
