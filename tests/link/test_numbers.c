/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules of numbers by themselves: where windows end, wherever numbers begin, the wrap included. */
#include <criterion/criterion.h>

#include "link/llr.h"

#define WINDOW 16

static const uint32_t first[] = {0, 1, 0x7ffffff8, 0x80000000, 0xfffffff8, 0xffffffff};
#define FIRSTS (sizeof(first) / sizeof(first[0]))

static struct llr begun(uint32_t at)
{
	const struct llr_config config = {.window = WINDOW,
					  .partner_window = WINDOW,
					  .send_window = WINDOW,
					  .ack_every = 4,
					  .replays = 3,
					  .ack_after = MF_US(50),
					  .replay_after = MF_US(500),
					  .replay_max = MF_MS(1),
					  .poll_max = MF_MS(1)};
	struct llr l;

	llr_init(&l, &config, at, at);
	return l;
}

/* What is behind the window was not sent by a partner that keeps to it: nothing is asked for again. */
Test(numbers, the_window_ends)
{
	static const struct {
		int32_t from;
		enum llr_data want;
	} edge[] = {{WINDOW - 1, LLR_DATA_GAP},      {WINDOW, LLR_DATA_OUTSIDE},
		    {WINDOW + 1, LLR_DATA_OUTSIDE},  {INT32_MAX, LLR_DATA_OUTSIDE},
		    {-1, LLR_DATA_DUPLICATE},        {-WINDOW, LLR_DATA_DUPLICATE},
		    {-WINDOW - 1, LLR_DATA_OUTSIDE}, {INT32_MIN, LLR_DATA_OUTSIDE}};

	for (unsigned int i = 0; i < FIRSTS; i++)
		for (unsigned int e = 0; e < sizeof(edge) / sizeof(edge[0]); e++) {
			struct llr l = begun(first[i]);
			uint64_t missing = 0;

			cr_expect_eq(llr_received(&l, 1, first[i] + (uint32_t)edge[e].from, true, &missing),
				     edge[e].want, "%d from %#x", edge[e].from, first[i]);
			cr_expect_eq(l.nack, edge[e].want == LLR_DATA_GAP);
			cr_expect_eq(l.ack, edge[e].want == LLR_DATA_DUPLICATE);
			cr_expect_eq(missing, edge[e].want == LLR_DATA_GAP ? WINDOW - 1 : 0);
			cr_expect_eq(l.expected, first[i], "nothing is taken");
		}
}

/* Each is counted once, however often what is behind it comes, before the wrap and behind it. */
Test(numbers, what_is_missing_is_counted_once)
{
	for (unsigned int i = 0; i < FIRSTS; i++) {
		struct llr l = begun(first[i]);
		uint64_t missing = 0;

		llr_received(&l, 1, first[i] + 3, true, &missing);
		cr_expect_eq(missing, 3, "from %#x", first[i]);
		llr_received(&l, 2, first[i] + 3, true, &missing);
		llr_received(&l, 3, first[i] + 4, true, &missing);
		llr_polled(&l, first[i] + 5, &missing);
		cr_expect_eq(missing, 3, "from %#x", first[i]);
		llr_received(&l, 4, first[i] + 12, true, &missing);
		cr_expect_eq(missing, 3 + 7, "from %#x", first[i]);
		for (uint32_t k = 0; k < 13; k++)
			cr_expect_eq(llr_received(&l, 5, first[i] + k, true, &missing), LLR_DATA_TAKE);
		cr_expect_eq(missing, 3 + 7, "from %#x", first[i]);
	}
}

/* What was never sent cannot be acknowledged, nor room be given beyond the window. */
Test(numbers, acknowledgements_end)
{
	for (unsigned int i = 0; i < FIRSTS; i++) {
		struct llr l = begun(first[i]);
		uint32_t at = first[i];

		for (unsigned int k = 0; k < WINDOW; k++) {
			cr_assert_eq(llr_may_emit(&l, at + 2 * WINDOW), LLR_EMIT_NEW);
			llr_emitted(&l, 1);
		}
		cr_expect_eq(llr_may_emit(&l, at + 2 * WINDOW), LLR_EMIT_NONE, "from %#x", at);
		cr_expect_eq(llr_acked(&l, 2, at + WINDOW + 1, at + 2 * WINDOW), LLR_ACK_BAD);
		cr_expect_eq(llr_acked(&l, 2, at + 4, at + 4 + WINDOW + 1), LLR_ACK_BAD_LIMIT);
		cr_expect_eq(l.una, at + 4);
		cr_expect_eq(l.limit, at + WINDOW, "of what is bad nothing is taken");
		cr_expect_eq(llr_acked(&l, 2, at + 3, at + 3 + WINDOW), LLR_ACK_OLD);
		cr_expect_eq(llr_acked(&l, 3, at + WINDOW, at + 2 * WINDOW), LLR_ACK_GOOD);
		cr_expect_eq(l.limit, at + 2 * WINDOW, "from %#x", at);
		cr_expect_eq(llr_acked(&l, 4, at + WINDOW, at + WINDOW + 2), LLR_ACK_GOOD);
		cr_expect_eq(l.limit, at + 2 * WINDOW, "a limit never goes back");
	}
}

/* A process that was away takes that for a round trip: what is lost next does not wait for as long. */
Test(numbers, a_round_trip_is_no_absence)
{
	struct llr l = begun(first[0]);
	mf_time now = MF_SEC(1);

	llr_emitted(&l, now);
	now += MF_SEC(7);
	llr_shift(&l, now, MF_SEC(7));
	cr_expect_eq(llr_run(&l, now, now), LLR_TIMER_NONE);
	cr_assert_eq(llr_acked(&l, now, first[0] + 1, first[0] + 1 + WINDOW), LLR_ACK_GOOD);
	llr_emitted(&l, now); /* is lost */
	now += 2 * l.config.replay_max + l.config.ack_after;
	cr_expect_eq(llr_run(&l, now, now), LLR_TIMER_REPLAY);
}

/* Who waits for room asks for it as often as a replay timer would, and no more when there is room. */
Test(numbers, room_is_asked_for_less_and_less_often)
{
	static const mf_time asked[] = {500, 1500, 2500, 3500}; /* us */
	struct llr l = begun(first[0]);
	uint32_t end = first[0] + 2 * WINDOW;
	unsigned int n = 0;

	for (unsigned int k = 0; k < WINDOW; k++)
		llr_emitted(&l, 1);
	cr_assert_not(llr_stalled(&l, 1, end), "it waits for acknowledgements");
	cr_assert_eq(llr_acked(&l, 2, first[0] + WINDOW, first[0] + WINDOW), LLR_ACK_GOOD);
	cr_assert_not(llr_stalled(&l, 0, end - WINDOW), "it has nothing to send");
	cr_assert(llr_stalled(&l, 0, end));
	cr_assert_not(llr_stalled(&l, 0, end), "once");
	for (mf_time now = 0; now < MF_MS(4); now += MF_US(100)) {
		cr_assert_eq(llr_run(&l, now, now), LLR_TIMER_NONE);
		if (!l.poll)
			continue;
		l.poll = false;
		cr_assert_lt(n, sizeof(asked) / sizeof(asked[0]));
		cr_expect_eq(now, MF_US(asked[n++]));
	}
	cr_expect_eq(n, sizeof(asked) / sizeof(asked[0]));
	cr_assert_eq(llr_acked(&l, MF_MS(4), first[0] + WINDOW, end), LLR_ACK_GOOD);
	cr_assert_eq(llr_may_emit(&l, end), LLR_EMIT_NEW);
	llr_run(&l, MF_MS(100), MF_MS(100));
	cr_expect_not(l.poll);
}
