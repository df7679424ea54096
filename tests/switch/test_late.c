/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two switches: a chunk of a write that comes later than `grant_timeout` passes by the standby, so what its
 * node asked behind it stays behind it at the active one, too (docs/fault-tolerance.md, "A chunk that is
 * late").
 */
#include <criterion/criterion.h>

#include "systems/edm/switch/mf_switch_leaks.h"
#include "redundant_rig.h"

#define TIMEOUT MF_US(10)
#define GRANTED MF_US(2)
#define REQUEST 1 /* ids */
#define WRITE 2

/** Node 0 has been granted a chunk of a write, and a read behind that. */
static void start(struct rig *r, mf_time longest, bool window)
{
	struct mf_sched_grant g =
		rig_grant_of(GRANTED, 0, MEMORY, WRITE, false, true, 256, MF_SCHED_NO_COOKIE);
	struct mf_sched_msg d;

	redundant_start(r, 0);
	rig_stop(r);
	redundant_config.grant_timeout = TIMEOUT;
	redundant_config.longest = longest;
	redundant_config.window = window;
	for (unsigned int i = 0; i < PORTS; i++)
		redundant_config.port[i].backlog_k = redundant_config.port[i].source_w = 1000;
	rig_start(r, &redundant_config, false);
	redundant_notify(r, MF_US(1), WRITE);
	redundant_ask(r, MF_US(1) + MF_NS(100), REQUEST);
	rig_run(r, MF_US(1) + MF_NS(500));
	cr_assert_eq(rig_told(r, MF_SCHED_DEMAND, &d), 2);
	rig_grant(r, g.at, &g);
	g = rig_grant_of(MF_US(3), MEMORY, 0, REQUEST, true, true, 64, d.cookie);
	rig_grant(r, g.at, &g);
	rig_run(r, MF_US(4));
	cr_assert_eq(r->outs[MEMORY], 0);
}

/** Times that node 0 was asked where its chunk stays. @param last  the last of them */
static unsigned int asked(const struct rig *r, struct mf_msg *last)
{
	unsigned int n = 0;
	struct mf_msg m;

	for (unsigned int i = 0; i < r->outs[0]; i++)
		if (mf_proto_get_single(r->out[0][i].word, &m) == 0 && m.kind == MF_GRET &&
		    m.op == MF_GRET_ASKED && m.dst == MEMORY && m.id == WRITE && !m.resp) {
			*last = m;
			n++;
		}
	return n;
}

static void say(struct rig *r, mf_time at, unsigned int port, struct mf_msg m)
{
	uint64_t word;

	rig_single(&m, &word);
	rig_message(r, at, port, &word, 1);
}

/** @param other  it is not what was asked for */
static void answer(struct rig *r, mf_time at, bool other)
{
	struct mf_msg m = {.kind = MF_GRET, .op = MF_GRET_ASKED, .dst = MEMORY, .id = WRITE, .size = 1};

	asked(r, &m);
	m.size += other;
	say(r, at, 0, m);
}

/** Whether the request has left. */
static bool let_out(const struct rig *r)
{
	return mf_switch_stats(r->sw)->requests_forwarded == 1;
}

Test(late, it_comes_and_what_waits_comes_behind_it)
{
	struct mf_msg m;
	struct rig r;

	start(&r, LONGEST, false);
	rig_run(&r, GRANTED + 3 * TIMEOUT + MF_US(1));
	cr_expect_eq(asked(&r, &m), 3);
	cr_expect_not(let_out(&r));
	cr_expect_eq(mf_switch_stats(r.sw)->expired, 1);
	redundant_write(&r, MF_US(50), MF_WREQ_ACK, WRITE, 0);
	rig_run(&r, MF_US(52));
	cr_expect_eq(mf_switch_stats(r.sw)->chunks, 1);
	cr_expect(let_out(&r));
	cr_assert_geq(r.outs[MEMORY], 2);
	cr_expect_eq((r.out[MEMORY][0].word >> 8 & 15), MF_WREQ_ACK);
	cr_expect_eq(rig_drops(&r), 1, "what has expired counts, and nothing else");
	rig_stop(&r);
}

/** How it becomes known that the chunk does not come here, and what happens if it does all the same. */
Test(late, it_does_not_come)
{
	for (unsigned int how = 0; how < 4; how++) {
		struct rig r;

		start(&r, LONGEST, false);
		rig_run(&r, GRANTED + TIMEOUT + MF_US(1));
		if (how == 0) /* the writer says so */
			answer(&r, MF_US(20), false);
		if (how == 1) /* the memory node has it, by the other switch */
			say(&r, MF_US(20), MEMORY,
			    (struct mf_msg){.kind = MF_ACK, .src = MEMORY, .dst = 0, .id = WRITE});
		if (how == 2) /* it was given up */
			say(&r, MF_US(20), 0,
			    (struct mf_msg){.kind = MF_ERR,
					    .src = 0,
					    .dst = MEMORY,
					    .id = WRITE,
					    .status = MF_ERR_RESOURCE,
					    .of = MF_NOTIFY});
		if (how < 3) {
			rig_run(&r, MF_US(20) - 1);
			cr_expect_not(let_out(&r), "how %u", how);
			rig_run(&r, MF_US(21));
		} else { /* nobody says anything for as long as an operation may take */
			rig_run(&r, GRANTED + LONGEST - 1);
			cr_expect_not(let_out(&r));
			rig_run(&r, GRANTED + LONGEST + MF_US(1));
		}
		cr_expect(let_out(&r), "how %u", how);
		redundant_write(&r, MF_US(120), MF_WREQ_ACK, WRITE, 0);
		rig_run(&r, MF_US(121));
		cr_expect_eq(mf_switch_stats(r.sw)->chunks, 0, "how %u", how);
		cr_expect_eq(mf_switch_stats(r.sw)->drop_ungranted, 1, "how %u", how);
		rig_stop(&r);
	}
}

/* Some operations have no timer, so nobody knows how long one takes. */
Test(late, is_not_waited_for_without_end)
{
	struct rig r;

	start(&r, 0, false);
	rig_run(&r, GRANTED + 8 * TIMEOUT - 1);
	cr_expect_not(let_out(&r));
	rig_run(&r, GRANTED + 9 * TIMEOUT);
	cr_expect(let_out(&r));
	rig_stop(&r);
}

/* Of several grants of an id the question names one, and so does the answer. */
Test(late, an_answer_is_of_one_grant)
{
	struct rig r;

	start(&r, LONGEST, false);
	rig_run(&r, GRANTED + TIMEOUT + MF_US(1));
	answer(&r, MF_US(20), true);
	rig_run(&r, MF_US(21));
	cr_expect_not(let_out(&r));
	rig_stop(&r);
}

/* The answer comes behind a demand that has the id now: it is of the grant before. */
Test(late, an_answer_cancels_no_new_demand)
{
	struct rig r;

	start(&r, LONGEST, false);
	rig_run(&r, GRANTED + TIMEOUT + MF_US(1));
	cr_expect_eq(rig_told(&r, MF_SCHED_CANCEL, NULL), 1, "what is left of the late one");
	redundant_notify(&r, MF_US(20), WRITE);
	answer(&r, MF_US(21), false);
	answer(&r, MF_US(22), false);
	rig_run(&r, MF_US(25));
	cr_expect(let_out(&r));
	cr_expect_eq(rig_told(&r, MF_SCHED_DEMAND, NULL), 3);
	cr_expect_eq(rig_told(&r, MF_SCHED_CANCEL, NULL), 1);
	rig_stop(&r);
}

/* It was cancelled when it became late: when it is given up its id has another demand. */
Test(late, who_is_given_up_cancels_no_new_demand)
{
	struct rig r;

	start(&r, LONGEST, false);
	rig_run(&r, GRANTED + TIMEOUT + MF_US(1));
	cr_expect_eq(rig_told(&r, MF_SCHED_CANCEL, NULL), 1, "what is left of the late one");
	redundant_notify(&r, GRANTED + LONGEST - MF_US(5), WRITE);
	rig_run(&r, GRANTED + LONGEST - 1);
	cr_expect_not(let_out(&r));
	cr_expect_eq(rig_told(&r, MF_SCHED_DEMAND, NULL), 3);
	rig_run(&r, GRANTED + LONGEST + MF_US(1));
	cr_expect(let_out(&r), "it is waited for no longer");
	cr_expect_eq(rig_told(&r, MF_SCHED_CANCEL, NULL), 1);
	rig_stop(&r);
}

/* An answer came by the other switch, and its id asks again: what has expired is nothing of that. */
Test(late, who_is_answered_cancels_no_new_demand)
{
	for (unsigned int again = 0; again < 2; again++) {
		struct mf_sched_msg d;
		struct rig r;

		start(&r, LONGEST, false);
		redundant_write(&r, MF_US(4) + MF_NS(100), MF_WREQ_ACK, WRITE, 0);
		rig_run(&r, MF_US(5));
		cr_assert(let_out(&r));
		if (again > 0)
			redundant_ask(&r, MF_US(8), REQUEST);
		rig_run(&r, MF_US(5) + TIMEOUT);
		cr_expect_eq(mf_switch_stats(r.sw)->expired, 1, "the response");
		cr_expect_eq(rig_told(&r, MF_SCHED_DEMAND, &d), 2 + again);
		cr_expect_eq(rig_told(&r, MF_SCHED_CANCEL, NULL), 1 - again, "its rest");
		rig_stop(&r);
	}
}

/* Who is late keeps no share of K, of W, or of the window from others, and what comes gives none back. */
Test(late, holds_nothing)
{
	for (unsigned int window = 0; window < 2; window++) {
		struct mf_switch_held held;
		struct rig r;

		start(&r, LONGEST, window);
		mf_switch_held(r.sw, MF_US(4), &held);
		cr_expect_gt(held.granted, 0);
		rig_run(&r, GRANTED + TIMEOUT + MF_US(1));
		mf_switch_held(r.sw, r.now, &held);
		cr_expect_eq(held.circuits, 2, "the late one, and that of the response");
		rig_run(&r, GRANTED + 2 * TIMEOUT);
		mf_switch_held(r.sw, r.now, &held);
		cr_expect_eq(held.granted, 0);
		cr_expect_eq(rig_told(&r, MF_SCHED_FORWARDED, NULL), 2 * window);
		redundant_write(&r, MF_US(25), MF_WREQ_ACK, WRITE, 0);
		rig_run(&r, MF_US(27));
		redundant_respond(&r, MF_US(28), REQUEST);
		rig_run(&r, MF_US(30));
		cr_expect_eq(rig_told(&r, MF_SCHED_FORWARDED, NULL), 2 * window);
		mf_switch_held(r.sw, r.now, &held);
		cr_expect_eq(held.granted + held.inbound + held.circuits, 0);
		rig_stop(&r);
	}
}

/* What answers the first message of a mega says nothing of the others: their ids are not known here. */
Test(late, a_mega_is_over_when_its_writer_says_so)
{
	struct mf_sched_grant g =
		rig_grant_of(GRANTED, 0, MEMORY, WRITE, false, true, 512, MF_SCHED_NO_COOKIE);
	struct mf_sched_msg d;
	struct rig r;

	redundant_start(&r, 0);
	rig_stop(&r);
	redundant_config.grant_timeout = TIMEOUT;
	redundant_config.longest = LONGEST;
	rig_start(&r, &redundant_config, false);
	redundant_ask(&r, MF_US(1), REQUEST);
	rig_run(&r, MF_US(1) + MF_NS(500));
	cr_assert_eq(rig_told(&r, MF_SCHED_DEMAND, &d), 1);
	g.mega = true;
	rig_grant(&r, g.at, &g);
	g = rig_grant_of(MF_US(3), MEMORY, 0, REQUEST, true, true, 64, d.cookie);
	rig_grant(&r, g.at, &g);
	rig_run(&r, GRANTED + TIMEOUT + MF_US(1));
	say(&r, MF_US(20), MEMORY, (struct mf_msg){.kind = MF_ACK, .src = MEMORY, .dst = 0, .id = WRITE});
	rig_run(&r, MF_US(21));
	cr_expect_not(let_out(&r));
	answer(&r, MF_US(22), false);
	rig_run(&r, MF_US(23));
	cr_expect(let_out(&r));
	rig_stop(&r);
}

/* It has begun in time: hold_timeout is for what stops within it. */
Test(late, who_has_begun_is_not)
{
	static const uint8_t data[256];
	const struct mf_msg m = {
		.kind = MF_WREQ_ACK, .src = 0, .dst = MEMORY, .id = WRITE, .ext = true, .size = sizeof(data)};
	uint64_t word[MF_BLOCKS_MAX];
	struct mf_msg last;
	struct rig r;
	unsigned int n;

	start(&r, LONGEST, true);
	r.by_block = true;
	n = mf_proto_put_chunk(&redundant_config.proto, &m, data, word);
	rig_message(&r, GRANTED + TIMEOUT - P * n / 2, 0, word, n);
	rig_run(&r, GRANTED + TIMEOUT + MF_US(1));
	cr_expect_eq(asked(&r, &last), 0);
	cr_expect_eq(mf_switch_stats(r.sw)->expired, 0);
	cr_expect_eq(mf_switch_stats(r.sw)->chunks, 1);
	cr_expect_eq(rig_told(&r, MF_SCHED_FORWARDED, NULL), 1);
	rig_stop(&r);
}

/* A response of several grants, all behind the late write: none expires while it waits, or right then. */
Test(late, all_that_waits_has_its_time_again)
{
	struct mf_sched_grant g =
		rig_grant_of(MF_US(3), MEMORY, 0, REQUEST, true, false, 256, MF_SCHED_NO_COOKIE);
	struct mf_switch_held held;
	struct rig r;

	start(&r, LONGEST, false);
	for (unsigned int i = 0; i < 2; i++, g.at += MF_NS(100))
		rig_grant(&r, MF_US(4) + i, &g);
	rig_run(&r, MF_US(50));
	redundant_write(&r, MF_US(51), MF_WREQ_ACK, WRITE, 0);
	rig_run(&r, MF_US(51) + TIMEOUT - MF_US(1));
	mf_switch_held(r.sw, r.now, &held);
	cr_expect_eq(held.circuits, 3, "%u", held.circuits);
	cr_expect_eq(held.parked, 0);
	rig_run(&r, MF_US(53) + TIMEOUT);
	mf_switch_held(r.sw, r.now, &held);
	cr_expect_eq(held.circuits, 0, "nobody answers");
	rig_stop(&r);
}

/* The write and the response behind it expire at once, and the memory node's port is looked at first. */
Test(late, in_the_same_instant)
{
	const struct mf_msg ask = {
		.kind = MF_RREQ, .src = MEMORY + 1, .dst = MEMORY, .id = REQUEST, .ext = true, .size = 64};
	struct mf_sched_grant g =
		rig_grant_of(GRANTED, MEMORY + 1, MEMORY, WRITE, false, true, 256, MF_SCHED_NO_COOKIE);
	uint64_t word[MF_BLOCKS_MAX];
	struct mf_switch_held held;
	struct mf_sched_msg d;
	struct rig r;

	redundant_start(&r, 0);
	rig_stop(&r);
	redundant_config.grant_timeout = TIMEOUT;
	redundant_config.longest = LONGEST;
	rig_start(&r, &redundant_config, false);
	rig_message(&r, MF_US(1), MEMORY + 1, word,
		    mf_proto_put_request(&redundant_config.proto, &ask, word));
	rig_run(&r, MF_US(1) + MF_NS(500));
	cr_assert_eq(rig_told(&r, MF_SCHED_DEMAND, &d), 1);
	rig_grant(&r, g.at, &g);
	g = rig_grant_of(GRANTED, MEMORY, MEMORY + 1, REQUEST, true, true, 64, d.cookie);
	rig_grant(&r, g.at, &g);
	rig_run(&r, GRANTED + TIMEOUT + MF_US(1));
	mf_switch_held(r.sw, r.now, &held);
	cr_expect_eq(held.circuits, 2);
	cr_expect_eq(mf_switch_stats(r.sw)->expired, 1, "the write");
	rig_stop(&r);
}

/* The standby has asked nobody, and one that is alone does not. */
Test(late, it_is_the_active_one_that_asks)
{
	struct rig r;

	redundant_start(&r, 1);
	redundant_notify(&r, MF_US(1), WRITE);
	answer(&r, MF_US(2), false);
	redundant_write(&r, MF_US(3), MF_WREQ_ACK, WRITE, 0);
	rig_run(&r, MF_US(5));
	cr_expect_eq(mf_switch_stats(r.sw)->chunks, 1, "it is in the log still");
	rig_stop(&r);
	redundant_config.redundant = false;
	rig_start(&r, &redundant_config, false);
	answer(&r, MF_US(2), false);
	rig_run(&r, MF_US(5));
	cr_expect_eq(mf_switch_stats(r.sw)->drop_proto, 1);
	rig_stop(&r);
}
