/* SPDX-License-Identifier: BSD-3-Clause */
/* Epochs: which of two switches a node obeys, and what becomes of what that one does not know. */
#include <criterion/criterion.h>

#include "bench.h"

/** @return the epoch of a node that is told one by a link, and then another one by the second switch */
static uint16_t epoch_behind(bool first_link, uint16_t told)
{
	struct bench b;
	uint16_t epoch;

	bench_begin(&b, US, true);
	mf_host_link_down(b.host, 0, b.now);
	cr_expect_eq(mf_host_epoch(b.host), 1);
	bench_tell_epoch(&b, 1, 1);
	if (first_link)
		mf_host_link_up(b.host, 0, b.now);
	bench_tell_epoch(&b, 1, told);
	epoch = mf_host_epoch(b.host);
	bench_stop(&b);
	return epoch;
}

/**
 * Who is told an epoch whose active switch it has no link to would ask the other one for what that does not
 * know, and go in front of it when the link is back. It goes to the next epoch, as when it loses a link.
 */
Test(host_redundancy, obeys_no_switch_without_a_link)
{
	cr_expect_eq(epoch_behind(true, 2), 2);
	cr_expect_eq(epoch_behind(false, 2), 3);
	cr_expect_eq(epoch_behind(false, 3), 3);
	cr_expect_eq(epoch_behind(false, 4), 5);
	cr_expect_eq(epoch_behind(false, 0), 1, "an older one");
}

/** A node that is started again, and told of epoch 0 by the second switch: the first one may be coming. */
static void begin_alone(struct bench *b)
{
	const struct mf_op op = {.kind = MF_OP_RMW, .node = MEMORY, .addr = 64, .len = 8};

	bench_begin(b, US, true);
	mf_host_link_down(b->host, 0, b->now);
	mf_host_link_down(b->host, 1, b->now);
	cr_assert_eq(mf_host_restart(b->host, b->now, NULL), 0);
	mf_host_link_up(b->host, 1, b->now);
	bench_tell_epoch(b, 1, 0);
	bench_tell_incarnation(b, MEMORY, 1, 1, MF_ERR_INCARNATION);
	cr_assert_eq(mf_host_epoch(b->host), 0);
	cr_assert_not(mf_host_has_primary(b->host));
	cr_assert_eq(mf_host_submit(b->host, b->now, &op), 0);
	bench_run(b, b->now + MF_US(1));
	cr_assert_eq(b->messages, 1);
}

/** What it has asked by then is known to the second one alone. It is over, and that one is told. */
Test(host_redundancy, what_the_other_one_knows_alone_is_over)
{
	struct mf_completion c;
	struct bench b;

	begin_alone(&b);
	mf_host_link_up(b.host, 0, b.now);
	bench_run(&b, b.now + MF_US(1));
	cr_expect_eq(mf_host_epoch(b.host), 0);
	cr_expect_eq(b.passed_on, 1);
	cr_assert_eq(mf_host_completions(b.host, b.now, &c, 1), 1);
	cr_expect_eq(c.status, MF_ERR_UNKNOWN);
	bench_stop(&b);
}

/** And if it does not come: the second one is obeyed, if it can. */
Test(host_redundancy, a_switch_that_does_not_come_is_not_waited_for)
{
	struct bench b;

	begin_alone(&b);
	bench_run(&b, b.now + TIMEOUT);
	cr_expect(mf_host_has_primary(b.host));
	cr_expect_eq(mf_host_epoch(b.host), 1);
	bench_run(&b, b.now + 4 * TIMEOUT);
	cr_expect_eq(mf_host_epoch(b.host), 1);
	bench_stop(&b);
}

/** A write of another node comes by a link. @return whether it was heard */
static bool write_comes(struct bench *b, unsigned int link, uint8_t id, const uint8_t *data)
{
	struct mf_msg m = bench_chunk(US, id, 0, 32, true);
	uint64_t fenced = mf_host_stats(b->host)->drop_fenced;

	bench_give_by(b, link, &m, data);
	return mf_host_stats(b->host)->drop_fenced == fenced;
}

/** The active switch has renewed the epoch. What the other one sends, a standby as before, has no hole. */
Test(host_redundancy, a_standby_is_heard_before_it_has_heard_of_an_epoch)
{
	static const uint8_t data[32];
	struct bench b;

	bench_begin(&b, MEMORY, true);
	bench_tell_epoch(&b, 0, 2);
	cr_assert_eq(mf_host_epoch(b.host), 2);
	cr_expect(write_comes(&b, 1, 3, data));
	bench_tell_epoch(&b, 1, 2);
	cr_expect(write_comes(&b, 1, 4, data));
	bench_stop(&b);
}

/** What a switch sent while it was obeyed is not heard behind that, even if it is obeyed again by then. */
Test(host_redundancy, what_was_sent_in_an_epoch_before_is_not_heard)
{
	static const uint8_t data[32];
	struct bench b;

	bench_begin(&b, MEMORY, true);
	bench_tell_epoch(&b, 1, 1);
	cr_expect_not(write_comes(&b, 0, 3, data));
	cr_expect(write_comes(&b, 1, 4, data));
	mf_host_link_down(b.host, 1, b.now);
	cr_assert_eq(mf_host_epoch(b.host), 2);
	cr_expect_not(write_comes(&b, 0, 5, data));
	bench_tell_epoch(&b, 0, 1);
	cr_expect(write_comes(&b, 0, 6, data));
	bench_stop(&b);
}

/** The switch that is obeyed again had forgotten all, and its word of that comes late. */
Test(host_redundancy, what_was_forgotten_between_is_over)
{
	const struct mf_op op = {.kind = MF_OP_READ, .node = MEMORY, .addr = 64, .len = 8};
	struct mf_completion c;
	struct bench b;

	bench_begin(&b, US, true);
	cr_assert_eq(mf_host_submit(b.host, b.now, &op), 0);
	bench_run(&b, b.now + MF_US(1));
	bench_tell_epoch_knowing(&b, 1, 1, 1);
	mf_host_link_down(b.host, 1, b.now);
	cr_assert_eq(mf_host_epoch(b.host), 2);
	cr_expect_eq(mf_host_completions(b.host, b.now, &c, 1), 0);
	bench_tell_epoch(&b, 0, 1);
	cr_assert_eq(mf_host_completions(b.host, b.now, &c, 1), 1);
	cr_expect_eq(c.status, MF_ERR_TIMEOUT);
	bench_stop(&b);
}

/** A switch does not know the epoch. */
static void ask(struct bench *b, unsigned int link)
{
	const struct mf_msg m = {.kind = MF_TAKE, .op = MF_TAKE_ASK};
	struct mf_span s = {.start = b->now, .period = ALONE_PERIOD, .count = 1, .sync = {MF_SYNC_CTRL}};

	s.word[0] = mf_proto_put_single(&m);
	mf_host_rx_by(b->host, link, b->now, &s);
	bench_run(b, b->now + MF_US(1));
}

/** Nobody knows it: it begins one, when both switches have said so often enough. */
Test(host_redundancy, begins_an_epoch_where_nobody_knows_one)
{
	for (unsigned int link = 0; link < 2; link++) {
		struct bench b;
		uint64_t takes;

		bench_begin(&b, US, true);
		mf_host_link_down(b.host, 0, b.now);
		mf_host_link_down(b.host, 1, b.now);
		cr_assert_eq(mf_host_restart(b.host, b.now, NULL), 0);
		mf_host_link_up(b.host, 0, b.now);
		mf_host_link_up(b.host, 1, b.now);
		takes = mf_host_stats(b.host)->takes;
		for (unsigned int i = 0; i < 5; i++)
			ask(&b, link);
		ask(&b, !link);
		ask(&b, !link);
		cr_expect_eq(mf_host_stats(b.host)->takes, takes, "the other one may know it");
		ask(&b, !link);
		cr_expect_eq(mf_host_stats(b.host)->takes, takes + 1);
		cr_expect_eq(mf_host_epoch(b.host), 0);
		bench_stop(&b);
	}
}

/** A node that was started again tells what it obeys by any link that it has. */
Test(host_redundancy, tells_by_either_link)
{
	for (unsigned int link = 0; link < 2; link++) {
		struct bench b;

		bench_begin(&b, US, true);
		cr_expect_not(mf_host_tells(b.host), "it has told both");
		mf_host_link_down(b.host, 0, b.now);
		mf_host_link_down(b.host, 1, b.now);
		cr_assert_eq(mf_host_restart(b.host, b.now, NULL), 0);
		cr_expect_not(mf_host_tells(b.host), "there is nobody");
		mf_host_link_up(b.host, link, b.now);
		cr_expect(mf_host_tells(b.host), "link %u", link);
		bench_stop(&b);
	}
}
