/* SPDX-License-Identifier: BSD-3-Clause */
/* Order within a pair (D9): a request goes out behind the writes that were granted before it. */
#include <criterion/criterion.h>

#include "rig.h"
#include "systems/edm/switch/mf_switch_leaks.h"

#define CN 0
#define MN 1

static struct mf_switch_config config;
static uint64_t request[MF_REQUEST_BLOCKS_MAX], word[MF_BLOCKS_MAX];
static unsigned int blocks; /* of request */

static void start(struct rig *r, bool by_block)
{
	rig_config(&config, 4);
	config.grant_timeout = MF_US(20);
	rig_start(r, &config, by_block);
}

/** A request waits at the switch; its grant, and that of a write before it, are given. */
static void write_then_read(struct rig *r)
{
	struct mf_sched_grant g;
	struct mf_sched_msg d;

	blocks = rig_request(r, CN, MN, 8, 64, request);
	rig_message(r, 0, CN, request, blocks);
	rig_run(r, MF_NS(500));
	cr_assert_eq(rig_told(r, MF_SCHED_DEMAND, &d), 1);
	g = rig_grant_of(MF_US(1), CN, MN, 7, false, true, 512, MF_SCHED_NO_COOKIE);
	rig_grant(r, g.at, &g);
	g = rig_grant_of(MF_US(2), MN, CN, 8, true, true, 64, d.cookie);
	rig_grant(r, g.at, &g);
	rig_run(r, MF_US(3));
	cr_assert_eq(r->outs[MN], 0, "the request waits");
}

/** Whether the request is all that the memory node has got from block `first` on, at `at` or any time: 0. */
static bool request_at(const struct rig *r, unsigned int first, mf_time at)
{
	return r->outs[MN] == first + blocks &&
	       rig_sent(r, MN, first, at ? at : r->out[MN][first].at, request, blocks);
}

Test(order, right_behind_the_chunk)
{
	struct rig r[2];

	for (unsigned int b = 0; b < 2; b++) {
		unsigned int n;
		mf_time leaves = MF_US(4) + IDENTIFY + FORWARD;

		start(&r[b], b);
		write_then_read(&r[b]);
		n = rig_chunk(&r[b], MF_WREQ, CN, MN, 7, 512, word);
		rig_message(&r[b], MF_US(4), CN, word, n);
		rig_run(&r[b], MF_US(10));
		cr_expect(rig_sent(&r[b], MN, 0, leaves, word, n));
		cr_expect(request_at(&r[b], n, leaves + n * P));
		cr_expect_eq(mf_switch_stats(r[b].sw)->parked, 1);
	}
	cr_expect(rig_same(&r[0], &r[1]));
	rig_stop(&r[0]);
	rig_stop(&r[1]);
}

/** A request that is granted while the chunk is passing stands behind it, too. */
Test(order, behind_a_chunk_that_is_passing)
{
	struct rig r;
	struct mf_sched_grant g;
	struct mf_sched_msg d;
	unsigned int n;

	start(&r, false);
	blocks = rig_request(&r, CN, MN, 8, 64, request);
	rig_message(&r, 0, CN, request, blocks);
	rig_run(&r, MF_NS(500));
	cr_assert_eq(rig_told(&r, MF_SCHED_DEMAND, &d), 1);
	g = rig_grant_of(MF_US(1), CN, MN, 7, false, true, 4096, MF_SCHED_NO_COOKIE);
	rig_grant(&r, g.at, &g);
	n = rig_chunk(&r, MF_WREQ, CN, MN, 7, 4096, word);
	rig_message(&r, MF_US(2), CN, word, n);
	g = rig_grant_of(MF_US(2) + P, MN, CN, 8, true, true, 64, d.cookie);
	rig_grant(&r, g.at, &g);
	rig_run(&r, MF_US(10));
	cr_expect(rig_sent(&r, MN, 0, MF_US(2) + IDENTIFY + FORWARD, word, n));
	cr_expect(request_at(&r, n, 0));
	rig_stop(&r);
}

/** A write of another pair is waited for by nobody. */
Test(order, other_pairs_do_not_wait)
{
	struct rig r;
	struct mf_sched_grant g;
	struct mf_sched_msg d;

	start(&r, false);
	blocks = rig_request(&r, CN, MN, 8, 64, request);
	rig_message(&r, 0, CN, request, blocks);
	rig_run(&r, MF_NS(500));
	cr_assert_eq(rig_told(&r, MF_SCHED_DEMAND, &d), 1);
	g = rig_grant_of(MF_US(1), CN, 2, 7, false, true, 512, MF_SCHED_NO_COOKIE);
	rig_grant(&r, g.at, &g);
	g.src = 3, g.dst = MN;
	rig_grant(&r, g.at, &g);
	g = rig_grant_of(MF_US(2), MN, CN, 8, true, true, 64, d.cookie);
	rig_grant(&r, g.at, &g);
	rig_run(&r, MF_US(3));
	cr_expect(request_at(&r, 0, MF_US(2) + MAKE_GRANT + FORWARD));
	rig_stop(&r);
}

/** The write does not come: returned, cut, refused, expired. The request goes all the same. */
Test(order, goes_when_the_write_does_not)
{
	for (unsigned int how = 0; how < 4; how++) {
		struct rig r;
		struct mf_msg m = {.kind = MF_GRET, .dst = MN, .id = 7, .size = 512};
		uint64_t w;

		start(&r, false);
		write_then_read(&r);
		if (how == 0) { /* returned (D5) */
			rig_single(&m, &w);
			rig_message(&r, MF_US(4), CN, &w, 1);
		} else if (how == 1) { /* cut */
			rig_chunk(&r, MF_WREQ, CN, MN, 7, 512, word);
			rig_cut(&r, MF_US(4), CN, word, 20);
			rig_single(&m, &w);
			rig_message(&r, MF_US(5), CN, &w, 1);
		} else if (how == 2) { /* an earlier chunk of it was refused */
			m = (struct mf_msg){.kind = MF_ERR,
					    .src = MN,
					    .dst = CN,
					    .id = 7,
					    .status = MF_ERR_RANGE,
					    .of = MF_WREQ};
			rig_single(&m, &w);
			rig_message(&r, MF_US(4), MN, &w, 1);
		}
		rig_run(&r, how == 3 ? MF_US(20) : MF_US(10));
		if (how == 3) {
			cr_expect_eq(r.outs[MN], 0);
			rig_run(&r, MF_US(21) + MF_NS(100));
			cr_expect_eq(mf_switch_stats(r.sw)->expired, 1);
		}
		cr_expect(request_at(&r, r.outs[MN] - blocks, 0), "how %u", how);
		cr_expect_eq(r.outs[MN], how == 1 ? 21 + blocks : blocks, "how %u", how);
		cr_expect_eq(rig_told(&r, MF_SCHED_CANCEL, NULL), 1, "how %u", how);
		rig_stop(&r);
	}
}

/** The younger of two writes is returned: the request still waits for the older one. */
Test(order, an_older_write_still_counts)
{
	for (unsigned int late = 0; late < 2; late++) {
		struct rig r;
		struct mf_sched_grant g;
		struct mf_sched_msg d;
		const struct mf_msg m = {.kind = MF_GRET, .dst = MN, .id = 7, .size = 512};
		uint64_t w;
		unsigned int n;

		start(&r, false);
		blocks = rig_request(&r, CN, MN, 8, 64, request);
		rig_message(&r, 0, CN, request, blocks);
		rig_run(&r, MF_NS(500));
		cr_assert_eq(rig_told(&r, MF_SCHED_DEMAND, &d), 1);
		g = rig_grant_of(MF_US(1), CN, MN, 6, false, true, 512, MF_SCHED_NO_COOKIE);
		rig_grant(&r, g.at, &g);
		g.id = 7;
		rig_grant(&r, g.at, &g);
		g = rig_grant_of(late ? MF_US(4) : MF_US(2), MN, CN, 8, true, true, 64, d.cookie);
		rig_grant(&r, g.at, &g);
		rig_single(&m, &w);
		rig_message(&r, MF_US(3), CN, &w, 1);
		rig_run(&r, MF_US(5));
		cr_expect_eq(r.outs[MN], 0, "write 6 is still to come");
		n = rig_chunk(&r, MF_WREQ, CN, MN, 6, 512, word);
		rig_message(&r, MF_US(6), CN, word, n);
		rig_run(&r, MF_US(10));
		cr_expect(rig_sent(&r, MN, 0, MF_US(6) + IDENTIFY + FORWARD, word, n));
		cr_expect(request_at(&r, n, 0));
		rig_stop(&r);
	}
}

/** A /G/ of a response's second chunk does not overtake the request that is its first grant. */
Test(order, grants_stay_behind_their_request)
{
	struct rig r;
	struct mf_sched_grant g;
	struct mf_msg m;
	unsigned int n;

	start(&r, false);
	write_then_read(&r);
	g = rig_grant_of(MF_US(3), MN, CN, 8, true, false, 64, 0);
	rig_grant(&r, g.at, &g);
	n = rig_chunk(&r, MF_WREQ, CN, MN, 7, 512, word);
	rig_message(&r, MF_US(4), CN, word, n);
	rig_run(&r, MF_US(10));
	cr_assert_eq(r.outs[MN], n + blocks + 1);
	cr_expect(rig_sent(&r, MN, n, r.out[MN][n].at, request, blocks));
	cr_expect_eq(mf_proto_get_single(r.out[MN][n + blocks].word, &m), 0);
	cr_expect(m.kind == MF_GRANT && m.resp && m.id == 8);
	rig_stop(&r);
}

/** An error ends the demand and what was granted of it; an error about one of a mega leaves the others. */
Test(order, errors_cancel)
{
	for (unsigned int mega = 0; mega < 2; mega++) {
		struct rig r;
		struct mf_sched_grant g =
			rig_grant_of(MF_US(1), CN, MN, 7, false, true, 0, MF_SCHED_NO_COOKIE);
		const struct mf_msg m = {
			.kind = MF_ERR, .src = MN, .dst = CN, .id = 7, .status = MF_ERR_RANGE, .of = MF_WREQ};
		struct mf_sched_msg d;
		uint64_t w;
		unsigned int n;

		start(&r, false);
		n = rig_chunk(&r, MF_WREQ, CN, MN, 7, 512, word);
		g.mega = mega;
		g.size = mega ? 8 * n : 512;
		rig_grant(&r, g.at, &g);
		rig_single(&m, &w);
		rig_message(&r, MF_US(2), MN, &w, 1);
		rig_message(&r, MF_US(4), CN, word, n);
		rig_run(&r, MF_US(10));
		cr_assert_eq(rig_told(&r, MF_SCHED_CANCEL, &d), 1);
		cr_expect(d.src == CN && d.dst == MN && d.id == 7 && !d.resp);
		cr_expect_eq(r.out[CN][r.outs[CN] - 1].word, w, "the compute node is told");
		cr_expect_eq(mf_switch_stats(r.sw)->drop_ungranted, !mega);
		cr_expect_eq(r.outs[MN], mega ? n : 0);
		cr_expect_eq(mf_switch_stats(r.sw)->errors, 1);
		rig_stop(&r);
	}
}

/**
 * The chunk that a request waits for, or its /G/, is lost, and the next write of the pair comes: it does not
 * overtake the request. Chunks of responses say nothing of those of writes, nor do those of other pairs.
 */
Test(order, a_later_write_does_not_overtake_it)
{
	for (unsigned int b = 0; b < 2; b++) {
		struct rig r;
		struct mf_sched_grant g;
		unsigned int n;

		start(&r, b);
		write_then_read(&r);
		g = rig_grant_of(MF_US(3), CN, 2, 9, false, true, 64, MF_SCHED_NO_COOKIE);
		rig_grant(&r, g.at, &g);
		n = rig_chunk(&r, MF_WREQ, CN, 2, 9, 64, word);
		rig_message(&r, MF_US(4), CN, word, n);
		rig_run(&r, MF_US(5));
		cr_expect_eq(r.outs[2], n);
		cr_expect_eq(r.outs[MN], 0);
		g = rig_grant_of(MF_US(5), CN, MN, 9, false, true, 64, MF_SCHED_NO_COOKIE);
		rig_grant(&r, g.at, &g);
		n = rig_chunk(&r, MF_WREQ, CN, MN, 9, 64, word);
		rig_message(&r, MF_US(6), CN, word, n);
		rig_run(&r, MF_US(10));
		cr_assert_eq(r.outs[MN], blocks + n);
		cr_expect(rig_sent(&r, MN, 0, r.out[MN][0].at, request, blocks));
		cr_expect(rig_sent(&r, MN, blocks, r.out[MN][blocks].at, word, n));
		cr_expect_eq(mf_switch_stats(r.sw)->overtaken, 1);
		cr_expect_eq(rig_told(&r, MF_SCHED_CANCEL, NULL), 1);
		rig_run(&r, MF_US(40));
		cr_expect_eq(mf_switch_stats(r.sw)->expired, 1, "the response that nobody sends");
		rig_stop(&r);
	}
}

/**
 * Nor does it go along the circuit of a mega of which one message was lost: it is none of that, so nothing
 * of the mega comes any more, and the request goes before it.
 */
Test(order, nor_does_it_take_the_place_of_one_of_a_mega)
{
	for (unsigned int b = 0; b < 2; b++) {
		struct rig r;
		struct mf_sched_grant g;
		struct mf_sched_msg d;
		unsigned int n;

		start(&r, b);
		n = rig_chunk(&r, MF_WREQ, CN, MN, 20, 64, word);
		blocks = rig_request(&r, CN, MN, 8, 64, request);
		rig_message(&r, 0, CN, request, blocks);
		rig_run(&r, MF_NS(500));
		cr_assert_eq(rig_told(&r, MF_SCHED_DEMAND, &d), 1);
		g = rig_grant_of(MF_US(1), CN, MN, 7, false, true, 2 * 8 * n, MF_SCHED_NO_COOKIE);
		g.mega = true;
		rig_grant(&r, g.at, &g);
		g = rig_grant_of(MF_US(2), MN, CN, 8, true, true, 64, d.cookie);
		rig_grant(&r, g.at, &g);
		rig_message(&r, MF_US(3), CN, word, n); /* of two: 7 is lost, 20 comes */
		g = rig_grant_of(MF_US(4), CN, MN, 9, false, true, 64, MF_SCHED_NO_COOKIE);
		rig_grant(&r, g.at, &g);
		rig_run(&r, MF_US(5));
		cr_assert_eq(r.outs[MN], n, "the request waits for the other one");
		n = rig_chunk(&r, MF_WREQ, CN, MN, 9, 64, word);
		rig_message(&r, MF_US(6), CN, word, n);
		rig_run(&r, MF_US(10));
		cr_assert_eq(r.outs[MN], n + blocks + n);
		cr_expect(rig_sent(&r, MN, n, r.out[MN][n].at, request, blocks));
		cr_expect(rig_sent(&r, MN, n + blocks, r.out[MN][n + blocks].at, word, n));
		cr_expect_eq(mf_switch_stats(r.sw)->overtaken, 1);
		rig_run(&r, MF_US(40));
		cr_expect_eq(mf_switch_stats(r.sw)->expired, 1, "the response that nobody sends");
		rig_stop(&r);
	}
}

/** What it was granted for will not come: the circuit ends at once, and the scheduler is told. */
Test(order, a_request_that_finds_no_room_is_given_up)
{
	struct mf_switch_held held;
	struct mf_sched_grant g;
	struct mf_sched_msg d;
	struct rig r;

	start(&r, false);
	blocks = rig_request(&r, CN, MN, 8, 128, request);
	rig_message(&r, 0, CN, request, blocks);
	rig_run(&r, MF_NS(500));
	cr_assert_eq(rig_told(&r, MF_SCHED_DEMAND, &d), 1);
	mf_switch_close(r.sw, MN, true);
	g = rig_grant_of(MF_US(1), MN, CN, 8, true, true, 64, d.cookie);
	rig_grant(&r, g.at, &g);
	rig_run(&r, MF_US(2));
	cr_expect_eq(r.outs[MN], 0);
	cr_expect_eq(mf_switch_stats(r.sw)->drop_room, 1);
	cr_expect_eq(rig_told(&r, MF_SCHED_CANCEL, &d), 1);
	cr_expect(d.src == MN && d.dst == CN && d.id == 8 && d.resp);
	mf_switch_held(r.sw, MF_US(2), &held);
	cr_expect_eq(held.circuits, 0);
	cr_expect_eq(held.requests, 0);
	rig_stop(&r);
}

/** Nor will it where the request has waited for a write first. */
Test(order, a_request_that_waited_and_finds_no_room_is_given_up)
{
	struct mf_switch_held held;
	struct mf_sched_msg d;
	struct rig r;
	unsigned int n;

	start(&r, false);
	write_then_read(&r);
	mf_switch_close(r.sw, MN, true);
	n = rig_chunk(&r, MF_WREQ, CN, MN, 7, 512, word);
	rig_message(&r, MF_US(4), CN, word, n);
	rig_run(&r, MF_US(10));
	cr_expect_eq(r.outs[MN], 0);
	cr_expect_eq(mf_switch_stats(r.sw)->drop_room, 2);
	cr_expect_eq(rig_told(&r, MF_SCHED_CANCEL, &d), 1);
	cr_expect(d.src == MN && d.dst == CN && d.id == 8 && d.resp);
	mf_switch_held(r.sw, MF_US(10), &held);
	cr_expect_eq(held.circuits, 0);
	cr_expect_eq(held.requests, 0);
	rig_stop(&r);
}
