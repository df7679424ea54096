/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A switch that gives way to the other one (docs/fault-tolerance.md): nothing of it comes behind its word of
 * that, and while its ports come up again one node alone cannot call it back.
 */
#include <criterion/criterion.h>

#include "systems/edm/proto/mf_proto_inline.h"
#include "redundant_rig.h"

/** Requests that have left for the memory node. */
static unsigned int requests(const struct rig *r)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < r->outs[MEMORY]; i++) {
		const struct rig_block *b = &r->out[MEMORY][i];

		n += b->sync == MF_SYNC_CTRL && mf_block_type(b->word) == MF_BT_MS &&
		     mf_proto_kind(b->word) == MF_RREQ;
	}
	return n;
}

/** TAKE that tells what the epoch is. */
static bool is_word(const struct rig_block *b)
{
	struct mf_msg m;

	return b->sync == MF_SYNC_CTRL && mf_proto_get_single(b->word, &m) == 0 && m.kind == MF_TAKE &&
	       m.op == MF_TAKE_TELL;
}

/** Node 1 has lost its cable, and two of the three others say so: the last one demotes the switch. */
static void vouch(struct rig *r)
{
	rig_run(r, MF_US(1));
	mf_switch_link_down(r->sw, 1, MF_US(1));
	redundant_say(r, MF_US(2), 2, MF_TAKE_LOST, 1, 1);
	redundant_say(r, MF_US(3), 3, MF_TAKE_LOST, 1, 1);
}

/** A chunk of node 0 is granted, and has not come. */
static void grant_write(struct rig *r, uint8_t id)
{
	redundant_notify(r, MF_US(4), id);
	rig_run(r, MF_US(5));
	rig_grant(r, MF_US(5),
		  &(struct mf_sched_grant){.at = MF_US(5), .dst = MEMORY, .id = id, .size = 256});
}

/** Node 0 asks for a read. @return what grants it at `at` */
static struct mf_sched_grant asked(struct rig *r, mf_time ask, mf_time at, uint8_t id)
{
	struct mf_sched_msg demand;

	redundant_ask(r, ask, id);
	rig_run(r, at - 1);
	cr_assert(rig_told(r, MF_SCHED_DEMAND, &demand) > 0 && demand.id == id);
	return rig_grant_of(at, MEMORY, 0, id, true, true, 64, demand.cookie);
}

static void grant_read(struct rig *r, mf_time at, uint8_t id)
{
	const struct mf_sched_grant g = asked(r, at - MF_US(1), at, id);

	rig_grant(r, at, &g);
}

/**
 * A node that obeys the other switch says so behind what it has done for this one. So nothing comes behind
 * the word that it goes by: not what was let out just before, what waits for a write, nor what is granted.
 */
Test(demoted, nothing_is_let_out_behind_the_word)
{
	const mf_time at = MF_US(20);
	struct mf_sched_grant late;
	unsigned int told = 0;
	struct rig r;

	redundant_start(&r, 0);
	vouch(&r);
	late = asked(&r, MF_US(4), MF_US(5), 2);
	grant_read(&r, at, 1);
	redundant_say(&r, at + P, 0, MF_TAKE_LOST, 1, 1);
	rig_run(&r, at + P);
	cr_assert(mf_switch_demoted(r.sw));
	late.at = at + 2 * P;
	rig_grant(&r, late.at, &late);
	rig_run(&r, at + MF_US(2));
	while (told < r.outs[MEMORY] && !is_word(&r.out[MEMORY][told]))
		told++;
	cr_assert_lt(told, r.outs[MEMORY]);
	cr_expect_eq(requests(&r), 1);
	r.outs[MEMORY] = told; /* what is in front of it */
	cr_expect_eq(requests(&r), 1, "a request is behind the word");
	rig_stop(&r);
}

Test(demoted, a_demoted_switch_lets_nothing_out)
{
	const mf_time at = MF_US(20);
	unsigned int before;
	struct rig r;

	redundant_start(&r, 0);
	vouch(&r);
	grant_write(&r, 7);
	grant_read(&r, MF_US(10), 1); /* waits for that write */
	redundant_say(&r, at, 0, MF_TAKE_LOST, 1, 1);
	grant_read(&r, at + MF_NS(1), 2);
	redundant_write(&r, at + MF_NS(2), MF_WREQ_ACK, 7, 0);
	rig_run(&r, at + MF_NS(500));
	cr_assert(mf_switch_demoted(r.sw));
	before = r.outs[MEMORY];
	mf_switch_crash(r.sw, at + MF_US(1));
	rig_run(&r, at + MF_US(2));
	cr_expect_eq(mf_switch_stats(r.sw)->requests_forwarded, 0);
	cr_expect_eq(mf_switch_stats(r.sw)->chunks, 0);
	cr_expect_eq(before, 1, "the word");
	cr_expect_eq(r.outs[MEMORY], before);
	rig_stop(&r);
}

/** A write of node 0 has begun to come when the next read of the pair is granted, and goes no further. */
static void cut_a_write(bool collected, bool demoted)
{
	const mf_time at = MF_US(20);
	const struct mf_msg m = {
		.kind = MF_WREQ_ACK, .src = 0, .dst = MEMORY, .id = 7, .ext = true, .size = 256};
	static const uint8_t data[256];
	uint64_t word[MF_BLOCKS_MAX];
	struct rig r;

	redundant_start(&r, 0);
	rig_stop(&r);
	redundant_config.port[MEMORY].mux.period = collected ? P / 4 : P;
	rig_start(&r, &redundant_config, false);
	mf_proto_put_chunk(&redundant_config.proto, &m, data, word);
	vouch(&r);
	grant_write(&r, 7);
	rig_cut(&r, at - MF_NS(100), 0, word, 10);
	grant_read(&r, at, 1);
	rig_run(&r, at + MF_NS(100));
	if (demoted) {
		redundant_say(&r, at + MF_NS(200), 0, MF_TAKE_LOST, 1, 1);
		rig_run(&r, at + MF_NS(300));
		cr_assert(mf_switch_demoted(r.sw));
		mf_switch_crash(r.sw, at + MF_NS(300));
	} else {
		mf_switch_link_down(r.sw, 0, at + MF_NS(300));
	}
	rig_run(&r, at + MF_US(5));
	cr_expect_eq(requests(&r), 0, "collected %d, deposed %d", collected, demoted);
	rig_stop(&r);
}

/** That comes by the other switch, and what is behind it must not be there before. */
Test(demoted, what_is_behind_a_write_that_is_cut_is_not_let_out)
{
	cut_a_write(false, true);
	cut_a_write(false, false);
	cut_a_write(true, true);
	cut_a_write(true, false);
}

/** The first switch is demoted by most, and of its links that of node 0 is up again. */
static void depose(struct rig *r)
{
	const mf_time at = MF_US(20);

	redundant_start_patient(r, 0);
	for (unsigned int i = 1; i < PORTS; i++)
		redundant_say(r, at, i, MF_TAKE_TELL, 1, 1);
	rig_run(r, at + MF_US(1));
	cr_assert(mf_switch_demoted(r->sw));
	mf_switch_crash(r->sw, at + MF_US(1));
	rig_run(r, at + MF_US(2));
	rig_grant(r, at + MF_US(2), &(struct mf_sched_grant){.src = 0, .dst = 0});
	rig_run(r, at + MF_US(3));
	cr_assert(mf_switch_link_up(r->sw, 0, at + MF_US(3)));
}

/** The others will be there soon: whose link is up first is not most of them. */
Test(demoted, one_node_calls_no_switch_back)
{
	struct rig r;

	depose(&r);
	redundant_say(&r, MF_US(25), 0, MF_TAKE_TELL, 2, 1);
	rig_run(&r, MF_US(26));
	cr_expect_not(redundant_is_active(&r));
	for (uint16_t i = 1; i < PORTS; i++) {
		rig_grant(&r, MF_US(26 + i), &(struct mf_sched_grant){.src = i, .dst = i});
		rig_run(&r, MF_US(26 + i));
		cr_assert(mf_switch_link_up(r.sw, i, MF_US(26 + i)));
	}
	redundant_say(&r, MF_US(31), 1, MF_TAKE_TELL, 2, 1);
	rig_run(&r, MF_US(32));
	cr_expect_not(redundant_is_active(&r), "half of them are not most");
	mf_switch_link_down(r.sw, 3, MF_US(32));
	redundant_say(&r, MF_US(33), 1, MF_TAKE_TELL, 2, 1);
	rig_run(&r, MF_US(34));
	cr_expect(redundant_is_active(&r), "two of three are");
	rig_stop(&r);
}

/** From its word on, who asks takes it for known. */
Test(demoted, what_is_asked_while_ports_come_up_is_taken_down)
{
	struct rig r;

	depose(&r);
	redundant_ask(&r, MF_US(25), 1);
	redundant_notify(&r, MF_US(26), 1);
	rig_run(&r, MF_US(27));
	cr_expect_eq(mf_switch_stats(r.sw)->logged, 2);
	mf_switch_link_down(r.sw, MEMORY, MF_US(27));
	redundant_ask(&r, MF_US(28), 2);
	rig_run(&r, MF_US(29));
	cr_expect_eq(mf_switch_stats(r.sw)->logged, 2, "that port is lost");
	cr_expect_eq(mf_switch_stats(r.sw)->drop_link, 1);
	rig_stop(&r);
}

/** Where its own epoch comes again the other one was active between, and did what it had begun. */
Test(demoted, an_epoch_was_missed)
{
	struct rig r;

	redundant_start(&r, 0);
	for (unsigned int i = 1; i < PORTS; i++)
		redundant_say(&r, MF_US(1), i, MF_TAKE_TELL, 2, 1);
	rig_run(&r, MF_US(2));
	cr_expect(mf_switch_demoted(r.sw));
	rig_stop(&r);
}
