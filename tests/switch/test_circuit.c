/* SPDX-License-Identifier: BSD-3-Clause */
/* Grants that are not used, and what holds a destination or a source (D3, D5). */
#include <criterion/criterion.h>

#include "rig.h"

static struct mf_switch_config config;
static uint64_t word[MF_BLOCKS_MAX];

Test(circuit, grant_expires)
{
	struct rig r;
	struct mf_sched_grant g = rig_grant_of(MF_US(1), 0, 1, 5, false, true, 256, MF_SCHED_NO_COOKIE);
	struct mf_msg word_of_loss;
	struct mf_sched_msg d;
	unsigned int n;

	rig_config(&config, 3);
	config.grant_timeout = MF_US(10);
	config.window = true;
	rig_start(&r, &config, false);
	rig_grant(&r, g.at, &g);
	n = rig_chunk(&r, MF_WREQ, 0, 1, 5, 256, word);
	rig_message(&r, MF_US(12), 0, word, n); /* too late */
	rig_run(&r, MF_US(11) - 1);
	cr_expect_eq(mf_switch_stats(r.sw)->expired, 0);
	rig_run(&r, MF_US(20));
	cr_expect_eq(mf_switch_stats(r.sw)->expired, 1);
	cr_expect_eq(mf_switch_stats(r.sw)->drop_ungranted, 1);
	cr_expect_eq(rig_told(&r, MF_SCHED_FORWARDED, &d), 1);
	cr_expect(d.at == MF_US(11) && d.src == 0 && d.dst == 1 && d.size == 256);
	cr_expect_eq(rig_told(&r, MF_SCHED_CANCEL, &d), 1);
	cr_expect(d.at == MF_US(11) && d.src == 0 && d.dst == 1 && d.id == 5 && !d.resp);
	cr_expect_eq(r.outs[1], 0);
	/* The sender may take a plain write for done: behind its /G/ it hears that it may be lost. */
	cr_assert_eq(r.outs[0], 2);
	cr_assert_eq(mf_proto_get_single(r.out[0][1].word, &word_of_loss), 0);
	cr_expect(word_of_loss.kind == MF_ERR && word_of_loss.status == MF_ERR_RESTARTED &&
		  word_of_loss.src == 1);
	rig_stop(&r);
}

/**
 * The node of a port has no CPU: its chunks are not late by that, whole or begun, and those of another node
 * that has one are.
 */
Test(circuit, a_node_without_a_cpu_is_borne)
{
	const mf_time borne = MF_US(50);
	struct rig r;
	unsigned int n;

	rig_config(&config, 4);
	config.grant_timeout = MF_US(10);
	config.hold_timeout = MF_US(5);
	config.window = true;
	rig_start(&r, &config, false);
	for (uint16_t src = 0; src < 3; src++) {
		struct mf_sched_grant g =
			rig_grant_of(MF_US(1), src, 3, 5, false, true, 256, MF_SCHED_NO_COOKIE);

		rig_grant(&r, g.at, &g);
	}
	n = rig_chunk(&r, MF_WREQ, 1, 3, 5, 256, word);
	rig_cut(&r, MF_US(2), 1, word, n / 2);
	rig_run(&r, MF_US(3));
	mf_switch_bear(r.sw, 0, borne);
	mf_switch_bear(r.sw, 1, borne);
	n = rig_chunk(&r, MF_WREQ, 0, 3, 5, 256, word);
	rig_message(&r, MF_US(40), 0, word, n);
	rig_run(&r, MF_US(30));
	cr_expect_eq(mf_switch_stats(r.sw)->expired, 1, "that of the third node");
	cr_expect_eq(mf_switch_stats(r.sw)->drop_cut, 0);
	rig_run(&r, MF_US(100));
	cr_expect_eq(mf_switch_stats(r.sw)->drop_ungranted, 0,
		     "the chunk of the first one was still granted");
	cr_expect_eq(mf_switch_stats(r.sw)->drop_cut, 1, "the second one has not gone on");
	rig_stop(&r);
}

/** Half of a chunk has come, and another was granted, when the switch stands still for too long. */
static void stand_still(struct rig *r, bool comes)
{
	struct mf_sched_grant half = rig_grant_of(MF_US(1), 0, 1, 5, false, true, 256, MF_SCHED_NO_COOKIE);
	struct mf_sched_grant none = rig_grant_of(MF_US(1), 2, 1, 6, false, true, 256, MF_SCHED_NO_COOKIE);
	struct mf_span s = {.start = MF_US(2)}, rest = {.start = MF_MS(900)};
	unsigned int n;

	rig_config(&config, 3);
	config.grant_timeout = MF_MS(200);
	config.hold_timeout = MF_MS(100);
	config.window = true;
	for (unsigned int i = 0; i < 3; i++)
		config.port[i].mux.period = 0;
	rig_start(r, &config, false);
	mf_switch_grant(r->sw, half.at, &half);
	mf_switch_grant(r->sw, none.at, &none);
	n = rig_chunk(r, MF_WREQ, 0, 1, 5, 256, word);
	for (unsigned int i = 0; i < n; i++)
		mf_span_put(i < n / 2 ? &s : &rest, i == 0 || i == n - 1 ? MF_SYNC_CTRL : MF_SYNC_DATA,
			    word[i]);
	mf_switch_rx(r->sw, 0, s.start, &s);
	mf_switch_run(r->sw, MF_US(3));
	mf_switch_run(r->sw, MF_MS(899));
	cr_expect_eq(mf_switch_stats(r->sw)->expired + mf_switch_stats(r->sw)->drop_cut, 0);
	if (!comes)
		return;
	mf_switch_rx(r->sw, 0, rest.start, &rest);
	n = rig_chunk(r, MF_WREQ, 2, 1, 6, 256, word);
	s = (struct mf_span){.start = MF_MS(901)};
	for (unsigned int i = 0; i < n; i++)
		mf_span_put(&s, i == 0 || i == n - 1 ? MF_SYNC_CTRL : MF_SYNC_DATA, word[i]);
	mf_switch_rx(r->sw, 2, s.start, &s);
}

/** What came meanwhile is not too late; what did not come is, soon, however often it stands still. */
Test(circuit, who_stands_still_has_not_waited)
{
	struct rig r;

	stand_still(&r, true);
	mf_switch_run(r.sw, MF_MS(10000));
	cr_expect_eq(mf_switch_stats(r.sw)->chunks, 2);
	cr_expect_eq(mf_switch_stats(r.sw)->expired + mf_switch_stats(r.sw)->drop_cut, 0);
	rig_stop(&r);
	stand_still(&r, false);
	cr_expect_leq(mf_switch_next(r.sw), MF_MS(899 + 50));
	mf_switch_run(r.sw, MF_MS(899 + 53));
	cr_expect_eq(mf_switch_stats(r.sw)->expired, 1);
	cr_expect_eq(mf_switch_stats(r.sw)->drop_cut, 1);
	rig_stop(&r);
}

/** More circuits than there are: no /G/ goes out for a chunk that would be dropped, and all come back. */
Test(circuit, no_circuit_no_grant)
{
	struct rig r;
	const unsigned int grants = 6000;
	uint64_t windows = 0;

	rig_config(&config, 2);
	config.x = 1;
	config.grant_timeout = MF_MS(1);
	config.window = true;
	config.port[0].mux.memory_items = 1 << 13;
	rig_start(&r, &config, false);
	for (unsigned int i = 0; i < grants; i++) {
		struct mf_sched_grant g =
			rig_grant_of(MF_US(1), 0, 1, (uint8_t)i, false, true, 64, MF_SCHED_NO_COOKIE);

		rig_grant(&r, g.at, &g);
	}
	rig_run(&r, MF_MS(3));
	cr_expect_gt(mf_switch_stats(r.sw)->drop_room, 0);
	cr_expect_eq(mf_switch_stats(r.sw)->expired, grants - mf_switch_stats(r.sw)->drop_room);
	cr_expect_eq(r.outs[0], 2 * mf_switch_stats(r.sw)->expired, "a /G/ and a word of its loss each");
	cr_expect_eq(mf_switch_stats(r.sw)->drop_descriptor, 0);
	for (unsigned int i = 0; i < r.msgs; i++)
		windows += r.msg[i].kind == MF_SCHED_FORWARDED ? r.msg[i].size : 0;
	cr_expect_eq(windows, grants * 64);
	cr_expect_eq(rig_told(&r, MF_SCHED_CANCEL, NULL), grants);
	rig_stop(&r);
}

/** Holds and releases of a port take turns, beginning with a hold. @return whether it is held at the end */
static bool held(const struct rig *r, unsigned int hold, unsigned int unhold, unsigned int port)
{
	bool is = false;

	for (unsigned int i = 0; i < r->msgs; i++) {
		const struct mf_sched_msg *m = &r->msg[i];
		unsigned int of = hold == MF_SCHED_HOLD ? m->dst : m->src;

		if ((m->kind != hold && m->kind != unhold) || of != port)
			continue;
		cr_assert_eq(m->kind, is ? unhold : hold);
		is = !is;
	}
	return is;
}

/** Grants beyond K and W, chunks that come or do not: in the end nothing is held. */
Test(circuit, holds_pair_up)
{
	struct rig r[2];

	for (unsigned int b = 0; b < 2; b++) {
		struct mf_rng rng;
		unsigned int ports = 4;

		mf_rng_init(&rng, 7, "holds", 0);
		rig_config(&config, ports);
		for (unsigned int i = 0; i < ports; i++) {
			config.port[i].backlog_k = 60;
			config.port[i].source_w = 80;
		}
		config.grant_timeout = MF_US(50);
		config.hold_timeout = MF_US(5);
		config.port[3].mux.period = 4 * P;
		rig_start(&r[b], &config, b);
		for (unsigned int i = 0; i < 400; i++) {
			uint16_t src = (uint16_t)mf_rng_below(&rng, ports);
			uint16_t dst = (uint16_t)((src + 1 + mf_rng_below(&rng, ports - 1)) % ports);
			uint32_t size = 1 + (uint32_t)mf_rng_below(&rng, 400);
			mf_time at = MF_US(1) * (i + 1);
			struct mf_sched_grant g =
				rig_grant_of(at, src, dst, (uint8_t)i, false, true, size, MF_SCHED_NO_COOKIE);
			unsigned int n = rig_chunk(&r[b], MF_WREQ, src, dst, (uint8_t)i, size, word);

			rig_grant(&r[b], at, &g);
			if (mf_rng_below(&rng, 8) != 0)
				rig_message(&r[b], at + MF_NS(600), src, word, n);
		}
		rig_run(&r[b], MF_MS(2));
		cr_expect_gt(rig_told(&r[b], MF_SCHED_HOLD, NULL), 0);
		cr_expect_gt(rig_told(&r[b], MF_SCHED_HOLD_SRC, NULL), 0);
		cr_expect_gt(mf_switch_stats(r[b].sw)->expired, 0);
		for (unsigned int p = 0; p < ports; p++) {
			cr_expect(!held(&r[b], MF_SCHED_HOLD, MF_SCHED_UNHOLD, p), "destination %u", p);
			cr_expect(!held(&r[b], MF_SCHED_HOLD_SRC, MF_SCHED_UNHOLD_SRC, p), "source %u", p);
		}
	}
	rig_stop(&r[0]);
	rig_stop(&r[1]);
}

/** Tiny slots: the /G/ of a long response that wait behind a write need none of the requests'. */
Test(circuit, parked_grants_take_no_request_slots)
{
	struct rig r;
	struct mf_sched_grant g;
	struct mf_sched_msg d;
	unsigned int n;

	rig_config(&config, 3);
	config.requests = 1;
	rig_start(&r, &config, false);
	n = rig_request(&r, 0, 1, 8, 16 * 200, word);
	rig_message(&r, 0, 0, word, n);
	rig_run(&r, MF_NS(500));
	cr_assert_eq(rig_told(&r, MF_SCHED_DEMAND, &d), 1);
	g = rig_grant_of(MF_US(1), 0, 1, 7, false, true, 64, MF_SCHED_NO_COOKIE);
	rig_grant(&r, g.at, &g);
	for (unsigned int i = 0; i < 200; i++) {
		g = rig_grant_of(MF_US(1) + (i + 1) * P, 1, 0, 8, true, i == 0, 16, d.cookie);
		rig_grant(&r, g.at, &g);
	}
	rig_run(&r, MF_US(3));
	cr_expect_eq(r.outs[1], 0);
	rig_message(&r, MF_US(4), 0, word, rig_chunk(&r, MF_WREQ, 0, 1, 7, 64, word));
	rig_run(&r, MF_US(10));
	cr_expect_eq(r.outs[1], mf_proto_chunk_blocks(&config.proto, 64) + n + 199);
	cr_expect_eq(rig_drops(&r), 0);
	rig_stop(&r);
}
