/* SPDX-License-Identifier: BSD-3-Clause */
/* Chunks along circuits: cut through, collected, and what becomes of those that are not as granted. */
#include <criterion/criterion.h>
#include <string.h>

#include "rig.h"

static struct mf_switch_config config;
static uint64_t word[MF_BLOCKS_MAX];

static void grant_write(struct rig *r, mf_time at, uint16_t src, uint16_t dst, uint8_t id, uint32_t size)
{
	struct mf_sched_grant g = rig_grant_of(at, src, dst, id, false, true, size, MF_SCHED_NO_COOKIE);

	rig_grant(r, at, &g);
}

Test(forward, cuts_through)
{
	struct rig r[2];

	for (unsigned int b = 0; b < 2; b++) {
		unsigned int n;

		rig_config(&config, 4);
		rig_start(&r[b], &config, b);
		grant_write(&r[b], MF_NS(10), 0, 1, 5, 4096);
		n = rig_chunk(&r[b], MF_WREQ, 0, 1, 5, 4096, word);
		rig_message(&r[b], MF_US(1), 0, word, n);
		rig_run(&r[b], MF_US(10));
		cr_expect(rig_sent(&r[b], 1, 0, MF_US(1) + IDENTIFY + FORWARD, word, n));
		cr_expect_eq(r[b].outs[1], n);
		cr_expect_eq(mf_switch_stats(r[b].sw)->chunks, 1);
		cr_expect_eq(mf_switch_stats(r[b].sw)->chunk_blocks, n);
		cr_expect_eq(rig_drops(&r[b]), 0);
	}
	cr_expect(rig_same(&r[0], &r[1]));
	rig_stop(&r[0]);
	rig_stop(&r[1]);
}

/** Each pair of rates: the chunk leaves whole, without holes, as early as it can. */
Test(forward, rates)
{
	static const uint32_t period[] = {640, 2560, 6400};

	for (unsigned int i = 0; i < 9; i++) {
		struct rig r[2];
		uint32_t in = period[i / 3], out = period[i % 3];

		for (unsigned int b = 0; b < 2; b++) {
			mf_time leaves = MF_US(1) + IDENTIFY + FORWARD;
			unsigned int n;

			rig_config(&config, 3);
			config.port[0].mux.period = in;
			config.port[1].mux.period = out;
			rig_start(&r[b], &config, b);
			grant_write(&r[b], 0, 0, 1, 5, 2000);
			n = rig_chunk(&r[b], MF_WREQ, 0, 1, 5, 2000, word);
			rig_message(&r[b], MF_US(1), 0, word, n);
			rig_run(&r[b], MF_US(20));
			if (in > out) /* collected: known whole at the start of its last block */
				leaves += (n - 1) * (mf_time)in;
			cr_expect(rig_sent(&r[b], 1, 0, leaves, word, n), "%u to %u ps", in, out);
			cr_expect_eq(r[b].outs[1], n);
		}
		cr_expect(rig_same(&r[0], &r[1]), "%u to %u ps", in, out);
		rig_stop(&r[0]);
		rig_stop(&r[1]);
	}
}

/** Two sources to one egress at the same time: one after the other, never mixed, the lower port first. */
Test(forward, egress_is_held_by_one)
{
	struct rig r[2];
	static uint64_t second[MF_BLOCKS_MAX];

	for (unsigned int b = 0; b < 2; b++) {
		mf_time leaves = MF_US(1) + IDENTIFY + FORWARD;
		unsigned int n;

		rig_config(&config, 4);
		rig_start(&r[b], &config, b);
		grant_write(&r[b], 0, 2, 1, 7, 3000);
		grant_write(&r[b], 0, 0, 1, 5, 3000);
		n = rig_chunk(&r[b], MF_WREQ, 0, 1, 5, 3000, word);
		rig_chunk(&r[b], MF_WREQ, 2, 1, 7, 3000, second);
		rig_message(&r[b], MF_US(1), 2, second, n);
		rig_message(&r[b], MF_US(1), 0, word, n);
		rig_run(&r[b], MF_US(20));
		cr_expect(rig_sent(&r[b], 1, 0, leaves, word, n));
		cr_expect(rig_sent(&r[b], 1, n, leaves + n * P, second, n));
	}
	cr_expect(rig_same(&r[0], &r[1]));
	rig_stop(&r[0]);
	rig_stop(&r[1]);
}

/** The messages of a mega come with ids of their own; their circuit is there until the last. */
Test(forward, mega)
{
	struct rig r[2];

	for (unsigned int b = 0; b < 2; b++) {
		struct mf_sched_grant g;
		unsigned int n[3], sent = 0;
		const uint32_t size[3] = {64, 9, 200};
		mf_time at = MF_US(1);

		rig_config(&config, 3);
		rig_start(&r[b], &config, b);
		g = rig_grant_of(0, 0, 1, 10, false, true, 0, MF_SCHED_NO_COOKIE);
		g.mega = true;
		for (unsigned int i = 0; i < 3; i++) {
			n[i] = rig_chunk(&r[b], MF_WREQ, 0, 1, (uint8_t)(10 + i), size[i], word);
			g.size += 8 * n[i];
			rig_message(&r[b], at, 0, word, n[i]);
			at += n[i] * P;
		}
		rig_grant(&r[b], 0, &g);
		/* nothing is granted any more */
		n[0] = rig_chunk(&r[b], MF_WREQ, 0, 1, 13, 64, word);
		rig_message(&r[b], at, 0, word, n[0]);
		rig_run(&r[b], MF_US(20));
		at = MF_US(1);
		for (unsigned int i = 0; i < 3; i++) {
			n[i] = rig_chunk(&r[b], MF_WREQ, 0, 1, (uint8_t)(10 + i), size[i], word);
			at += n[i] * P;
			cr_expect(rig_sent(&r[b], 1, sent, r[b].out[1][sent].at, word, n[i]));
			cr_expect_geq(r[b].out[1][sent].at, at - P + IDENTIFY + FORWARD);
			sent += n[i];
		}
		cr_expect_eq(r[b].outs[1], sent);
		cr_expect_eq(mf_switch_stats(r[b].sw)->chunks, 3);
		cr_expect_eq(mf_switch_stats(r[b].sw)->drop_ungranted, 1);
	}
	cr_expect(rig_same(&r[0], &r[1]));
	rig_stop(&r[0]);
	rig_stop(&r[1]);
}

/** Windows: all that was granted is told back once, when it has left or when it will not. */
static uint32_t windows(const struct rig *r)
{
	uint32_t octets = 0;

	for (unsigned int i = 0; i < r->msgs; i++)
		if (r->msg[i].kind == MF_SCHED_FORWARDED)
			octets += r->msg[i].size;
	return octets;
}

Test(forward, not_granted)
{
	struct rig r;
	unsigned int n;

	rig_config(&config, 4);
	config.window = true;
	rig_start(&r, &config, false);
	grant_write(&r, 0, 0, 1, 5, 256);
	n = rig_chunk(&r, MF_WREQ, 0, 1, 6, 256, word); /* another id */
	rig_message(&r, MF_US(1), 0, word, n);
	rig_chunk(&r, MF_WREQ, 0, 2, 5, 256, word); /* another destination */
	rig_message(&r, MF_US(2), 0, word, n);
	rig_chunk(&r, MF_RRES, 0, 1, 5, 256, word); /* another direction */
	rig_message(&r, MF_US(3), 0, word, n);
	rig_chunk(&r, MF_WREQ, 0, 1, 5, 256, word); /* another port, and source */
	rig_message(&r, MF_US(4), 2, word, n);
	rig_run(&r, MF_US(5));
	cr_expect_eq(mf_switch_stats(r.sw)->drop_ungranted, 3);
	cr_expect_eq(mf_switch_stats(r.sw)->drop_spoof, 1);
	cr_expect_eq(r.outs[1] + r.outs[2], 0);
	cr_expect_eq(windows(&r), 0, "the grant stands");
	rig_message(&r, MF_US(6), 0, word, n);
	rig_message(&r, MF_US(7), 0, word, n); /* used up */
	rig_run(&r, MF_US(8));
	cr_expect_eq(r.outs[1], n);
	cr_expect_eq(mf_switch_stats(r.sw)->drop_ungranted, 4);
	cr_expect_eq(windows(&r), 256);
	rig_stop(&r);
}

static bool whole_at(const struct rig *r, unsigned int port, const uint64_t *sent, unsigned int n)
{
	return r->outs[port] == n && rig_sent(r, port, 0, r->out[port][0].at, sent, n);
}

/** Too long, too short, cut by another block: the window comes back, the egress goes on, the check fails. */
Test(forward, wrong_length)
{
	for (unsigned int mode = 0; mode < 24; mode++) {
		bool by_block = mode & 1, collect = mode & 2;
		uint32_t granted = mode & 4 ? 1024 : 256; /* more than a span, or within one */
		unsigned int how = mode / 8, n, m;
		static uint64_t good[MF_BLOCKS_MAX];
		struct rig r;
		struct mf_msg msg;
		const uint8_t *data;

		rig_config(&config, 4);
		config.window = true;
		config.port[0].mux.period = collect ? 2 * P : P;
		rig_start(&r, &config, by_block);
		grant_write(&r, 0, 0, 1, 5, granted);
		n = rig_chunk(&r, MF_WREQ, 0, 1, 5,
			      how == 0   ? granted + 16
			      : how == 1 ? granted - 16
					 : granted,
			      word);
		if (how == 2)
			rig_cut(&r, MF_US(1), 0, word, n / 2);
		else
			rig_message(&r, MF_US(1), 0, word, n);
		/* and then as it should be */
		grant_write(&r, MF_US(2), 0, 1, 6, 512);
		m = rig_chunk(&r, MF_WREQ, 0, 1, 6, 512, good);
		rig_message(&r, MF_US(4), 0, good, m);
		rig_run(&r, MF_US(20));
		cr_expect_eq(mf_switch_stats(r.sw)->drop_cut, 1, "mode %u", mode);
		cr_expect_eq(windows(&r), granted + 512, "mode %u", mode);
		cr_assert_geq(r.outs[1], m);
		cr_expect(rig_sent(&r, 1, r.outs[1] - m, r.out[1][r.outs[1] - m].at, good, m), "mode %u",
			  mode);
		n = r.outs[1] - m;
		if (collect) {
			cr_expect_eq(n, 0);
		} else if (n > 0) { /* what was sent of it ends, and is seen to be wrong */
			uint64_t got[MF_BLOCKS_MAX];

			for (unsigned int i = 0; i < n; i++)
				got[i] = r.out[1][i].word;
			cr_expect_eq(r.out[1][n - 1].sync, MF_SYNC_CTRL);
			cr_expect_eq(mf_block_type(got[n - 1]), MF_BT_MT);
			cr_expect_neq(mf_proto_get(&config.proto, got, n, &msg, &data), 0, "mode %u", mode);
		}
		rig_stop(&r);
	}
}

/** An egress is not held for ever by a message whose next block does not come (D14). */
Test(forward, hold_timeout)
{
	for (unsigned int collect = 0; collect < 2; collect++) {
		struct rig r;
		uint64_t good[64];
		unsigned int n;

		rig_config(&config, 4);
		config.hold_timeout = MF_US(5);
		config.window = true;
		config.port[0].mux.period = collect ? 2 * P : P;
		rig_start(&r, &config, false);
		grant_write(&r, 0, 0, 1, 5, 1024);
		grant_write(&r, 0, 2, 1, 9, 64);
		rig_chunk(&r, MF_WREQ, 0, 1, 5, 1024, word);
		rig_cut(&r, MF_US(1), 0, word, 50);
		n = rig_chunk(&r, MF_WREQ, 2, 1, 9, 64, good);
		rig_message(&r, MF_US(2), 2, good, n);
		rig_run(&r, MF_US(5));
		cr_expect_eq(r.outs[1], collect ? n : 50, "held until then");
		rig_run(&r, MF_US(20));
		cr_expect_eq(mf_switch_stats(r.sw)->drop_cut, 1);
		cr_assert_eq(r.outs[1], collect ? n : 51 + n);
		cr_expect(rig_sent(&r, 1, r.outs[1] - n, r.out[1][r.outs[1] - n].at, good, n));
		cr_expect_eq(windows(&r), 1024 + 64);
		/* the rest of it, when it comes, is nothing */
		rig_stop(&r);
	}
}

/** Single blocks may stand inside a message that waits for its blocks. */
Test(forward, singles_pass)
{
	struct rig r;
	const struct mf_msg ack = {.kind = MF_ACK, .src = 2, .dst = 1, .id = 3};
	uint64_t w;

	rig_config(&config, 4);
	rig_start(&r, &config, false);
	grant_write(&r, 0, 0, 1, 5, 1024);
	rig_chunk(&r, MF_WREQ, 0, 1, 5, 1024, word);
	rig_cut(&r, MF_US(1), 0, word, 50);
	rig_single(&ack, &w);
	rig_message(&r, MF_US(2), 2, &w, 1);
	rig_run(&r, MF_US(20));
	cr_assert_eq(r.outs[1], 51);
	cr_expect_eq(r.out[1][50].word, w);
	cr_expect_eq(r.out[1][50].at, MF_US(2) + IDENTIFY + FORWARD);
	cr_expect_eq(mf_switch_stats(r.sw)->singles, 1);
	rig_stop(&r);
}

/** The longest chunk there is, with the longest check, into tiny egresses: no room is a counted drop. */
Test(forward, no_room_at_the_egress)
{
	for (unsigned int collect = 0; collect < 2; collect++) {
		struct rig r;
		uint64_t good[64];
		unsigned int n;

		rig_config(&config, 4);
		config.window = true;
		config.proto.check32 = true;
		for (unsigned int i = 0; i < 4; i++)
			config.port[i].mux.memory_blocks = 64;
		config.port[0].mux.period = collect ? 2 * P : P;
		rig_start(&r, &config, false);
		grant_write(&r, 0, 0, 1, 5, MF_MESSAGE_MAX);
		n = rig_chunk(&r, MF_WREQ, 0, 1, 5, MF_MESSAGE_MAX, word);
		rig_message(&r, MF_US(1), 0, word, n);
		grant_write(&r, 0, 0, 1, 6, 64);
		n = rig_chunk(&r, MF_WREQ, 0, 1, 6, 64, good);
		rig_message(&r, MF_US(100), 0, good, n);
		rig_run(&r, MF_US(200));
		cr_expect_eq(mf_switch_stats(r.sw)->drop_room, 1);
		cr_expect_eq(windows(&r), MF_MESSAGE_MAX + 64);
		cr_expect(whole_at(&r, 1, good, n));
		rig_stop(&r);
	}
}

/* A chunk that is shorter or longer than granted is cut when that is seen, and not before: in a span as by
 * block. */
Test(forward, not_as_granted_is_cut_when_it_is_seen)
{
	for (unsigned int how = 0; how < 2; how++) {
		uint32_t granted = how == 0 ? 4096 : 2000, comes = how == 0 ? 2000 : 4096;
		struct rig r[2];

		for (unsigned int b = 0; b < 2; b++) {
			unsigned int n;

			rig_config(&config, 4);
			rig_start(&r[b], &config, b);
			grant_write(&r[b], MF_NS(10), 0, 1, 5, granted);
			n = rig_chunk(&r[b], MF_WREQ, 0, 1, 5, comes, word);
			rig_message(&r[b], MF_US(1), 0, word, n);
			rig_run(&r[b], MF_US(20));
			cr_expect_gt(r[b].outs[1], 200, "how %u", how);
			cr_expect_eq(mf_switch_stats(r[b].sw)->drop_cut, 1, "how %u", how);
			cr_expect_eq(mf_switch_stats(r[b].sw)->chunks, 0, "how %u", how);
		}
		cr_expect(rig_same(&r[0], &r[1]), "how %u", how);
		rig_stop(&r[0]);
		rig_stop(&r[1]);
	}
}

/* A write is refused for an earlier chunk while the next one passes: that one is whole, as a message is. */
Test(forward, an_answer_does_not_cut_what_passes)
{
	struct mf_msg m = {
		.kind = MF_ERR, .src = 1, .dst = 0, .id = 5, .status = MF_ERR_RANGE, .of = MF_WREQ};
	struct rig r[2];

	for (unsigned int b = 0; b < 2; b++) {
		unsigned int n;
		uint64_t w;

		rig_config(&config, 4);
		rig_start(&r[b], &config, b);
		grant_write(&r[b], MF_NS(10), 0, 1, 5, 4096);
		n = rig_chunk(&r[b], MF_WREQ, 0, 1, 5, 4096, word);
		rig_message(&r[b], MF_US(1), 0, word, n);
		rig_single(&m, &w);
		rig_message(&r[b], MF_US(1) + 40 * P, 1, &w, 1);
		rig_run(&r[b], MF_US(10));
		cr_expect(rig_sent(&r[b], 1, 0, MF_US(1) + IDENTIFY + FORWARD, word, n));
		cr_expect_eq(r[b].outs[1], n);
		cr_expect_eq(rig_drops(&r[b]), 0);
	}
	cr_expect(rig_same(&r[0], &r[1]));
	rig_stop(&r[0]);
	rig_stop(&r[1]);
}
