/* SPDX-License-Identifier: BSD-3-Clause */
/* The policy FAIR: deficit round robin in blocks (D14). */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>

#include "mux_test.h"
#include "pcs_test.h"

#define LONGEST 40

static struct mf_span span;
static const uint8_t octets[MF_FRAME_MAX];

static void push_at(struct mf_mux *m, mf_time ready, unsigned int n)
{
	uint64_t *words;
	struct mf_mux_item *it = mf_mux_push(m, ready, 0, n, 0, &words);

	cr_assert_not_null(it);
	for (unsigned int i = 0; i < n; i++)
		words[i] = message_word(0, i, n);
	mf_mux_append(m, it, n);
}

static void fill(struct mf_mux *m, mf_time now, unsigned int longest, uint64_t *rng)
{
	while (mf_mux_backlog(m, now) < MF_SPAN_MAX + longest)
		push_at(m, now, 1 + test_below(rng, longest));
	while (mf_mux_frame_bytes(m) < 8 * MF_SPAN_MAX + 1500)
		cr_assert(mf_mux_frame(m, now, octets, (uint16_t)(60 + test_below(rng, 1400))));
}

/** Both sides always have something to send: neither gets ahead by more than a turn and a message. */
static void share(uint32_t period, uint16_t quantum)
{
	uint64_t seed = test_seed() + quantum, rng = seed;
	struct mf_mux_config config = mux_test_config(MF_MUX_FAIR, period);
	const struct mf_mux_stats *stats;
	struct mf_mux *m;
	mf_time now = 0;

	config.quantum = quantum;
	m = mf_mux_new(&config);
	stats = mf_mux_stats(m);
	for (int i = 0; i < 20000; i++) {
		int64_t ahead;

		fill(m, now, LONGEST, &rng);
		now = mf_mux_next(m, now);
		mf_mux_pull(m, now, 1 + test_below(&rng, MF_SPAN_MAX), &span);
		ahead = (int64_t)stats->memory_blocks - (int64_t)(stats->frame_blocks + stats->gap_blocks);
		cr_assert_leq(llabs(ahead), quantum + LONGEST, "seed %" PRIu64 ", quantum %u: %" PRId64, seed,
			      quantum, ahead);
	}
	cr_assert_gt(stats->memory_blocks, 100 * LONGEST);
	mf_mux_free(m);
}

Test(mux_fair, shares_within_a_message_of_the_quantum)
{
	static const uint16_t quanta[] = {1, 5, 16, 64, 200};

	for (unsigned int i = 0; i < sizeof(quanta) / sizeof(*quanta); i++) {
		share(PERIOD, quanta[i]);
		share(0, quanta[i]);
	}
}

/** When the first block of memory goes that is ready at r, while a long frame is sent from 0 on. */
static mf_time first_memory(struct mf_mux *m, mf_time now)
{
	do {
		now = mf_mux_next(m, now);
		cr_assert_neq(now, MF_NEVER);
		mf_mux_pull(m, now, MF_SPAN_MAX, &span);
	} while (span.count == 0 || span.flags & MF_SPAN_FRAME);
	return span.start;
}

Test(mux_fair, a_new_message_splits_a_frame_at_once)
{
	struct mf_mux_config config = mux_test_config(MF_MUX_FAIR, PERIOD);
	struct mf_mux *m = mf_mux_new(&config);

	cr_assert(mf_mux_frame(m, 0, octets, MF_FRAME_MAX));
	push_at(m, 100 * PERIOD + 1, 10);
	cr_assert_eq(first_memory(m, 0), 101 * PERIOD);
	mf_mux_free(m);
}

/** Words that come later than they could have gone, at the time of a frame: one of the two has its turn. */
Test(mux_fair, late_words_come_with_a_frame)
{
	struct mf_mux_config config = mux_test_config(MF_MUX_FAIR, PERIOD);
	struct mf_mux *m = mf_mux_new(&config);
	mf_time now = 10 * PERIOD, next;
	struct mf_mux_item *it;
	uint64_t *words;

	it = mf_mux_push(m, now - PERIOD, 0, 2, 0, &words);
	words[0] = MF_BT_MS;
	words[1] = MF_BT_MT;
	mf_mux_append(m, it, 2);
	cr_assert(mf_mux_frame(m, now, octets, MF_FRAME_MIN));
	if (mf_mux_pull(m, now, MF_SPAN_MAX, &span) == 0) {
		next = mf_mux_next(m, now);
		cr_assert_gt(next, now, "it comes to nothing to ask again at once");
		cr_assert_gt(mf_mux_pull(m, next, MF_SPAN_MAX, &span), 0);
	}
	mf_mux_free(m);
}

/** A message of ten times the quantum is paid for: the next one waits as many blocks. */
Test(mux_fair, a_debt_is_paid_off)
{
	struct mf_mux_config config = mux_test_config(MF_MUX_FAIR, PERIOD);
	struct mf_mux *m;
	mf_time first;

	config.quantum = 8;
	m = mf_mux_new(&config);
	cr_assert(mf_mux_frame(m, 0, octets, MF_FRAME_MAX));
	push_at(m, 100 * PERIOD, 80);
	push_at(m, 100 * PERIOD, 1);
	first = first_memory(m, 0);
	cr_assert_eq(first, 100 * PERIOD);
	cr_assert_eq(first_memory(m, first), first + (80 + 80) * PERIOD);
	mf_mux_free(m);
}

/** Frames that go while memory has nothing count towards its debt. */
Test(mux_fair, a_debt_is_paid_off_while_memory_is_idle)
{
	struct mf_mux_config config = mux_test_config(MF_MUX_FAIR, PERIOD);
	struct mf_mux *m;
	mf_time first, behind;

	config.quantum = 8;
	m = mf_mux_new(&config);
	cr_assert(mf_mux_frame(m, 0, octets, MF_FRAME_MAX));
	push_at(m, 100 * PERIOD, 80);
	push_at(m, 200 * PERIOD, 1);
	first = first_memory(m, 0);
	behind = (first_memory(m, first) - first) / PERIOD - 80;
	cr_assert(behind + 2U * config.quantum >= 80 && behind <= 80, "%" PRIu64 " blocks of the frame",
		  behind);
	mf_mux_free(m);
}

/** A turn ends when the other side goes: the frame does not keep the rest of it. */
Test(mux_fair, a_turn_without_a_rival_is_over)
{
	struct mf_mux_config config = mux_test_config(MF_MUX_FAIR, PERIOD);
	struct mf_mux_item *rival;
	struct mf_mux *m;
	uint64_t *words;
	mf_time first;

	config.quantum = 64;
	m = mf_mux_new(&config);
	cr_assert(mf_mux_frame(m, 0, octets, MF_FRAME_MAX));
	push_at(m, 100 * PERIOD, 64);
	rival = mf_mux_push(m, 100 * PERIOD, 1, 2, 0, &words);
	mf_mux_append(m, rival, 1);
	first = first_memory(m, 0);
	cr_assert_eq(mf_mux_pull(m, first + 70 * PERIOD, MF_SPAN_MAX, &span), 6);
	mf_mux_abort(m, rival);
	push_at(m, first + 80 * PERIOD, 1);
	cr_assert_eq(first_memory(m, first + 70 * PERIOD), first + 80 * PERIOD);
	mf_mux_free(m);
}

/** What was taken from a line that nobody else wanted is owed to nobody. */
Test(mux_fair, an_idle_line_wipes_a_debt_out)
{
	struct mf_mux_config config = mux_test_config(MF_MUX_FAIR, PERIOD);
	struct mf_mux *m;

	config.quantum = 8;
	m = mf_mux_new(&config);
	cr_assert(mf_mux_frame(m, 0, octets, MF_FRAME_MIN));
	push_at(m, 2 * PERIOD, 80);
	push_at(m, 150 * PERIOD, 10);
	cr_assert(mf_mux_frame(m, 150 * PERIOD, octets, MF_FRAME_MIN));
	cr_assert_eq(first_memory(m, 0), 2 * PERIOD);
	cr_assert_eq(first_memory(m, 2 * PERIOD), 150 * PERIOD);
	mf_mux_free(m);
}
