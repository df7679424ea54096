/* SPDX-License-Identifier: BSD-3-Clause */
/* The ordinary layer-2 path, and standard ports (D15, D16). */
#include <criterion/criterion.h>
#include <string.h>

#include "rig.h"

static struct mf_switch_config config;
static uint8_t frame[MF_FRAME_MAX], got[MF_FRAME_MAX];
static unsigned int len;

/** A frame between stations; a station's address is made of its number, group: a group's. */
static const uint8_t *between(unsigned int from, unsigned int to, bool group, unsigned int octets)
{
	memset(frame, 0, sizeof(frame));
	for (unsigned int i = 12; i < octets; i++)
		frame[i] = (uint8_t)(i * 7 + from);
	frame[0] = group ? 1 : 2;
	frame[4] = (uint8_t)(to >> 8), frame[5] = (uint8_t)to;
	frame[6] = 2;
	frame[10] = (uint8_t)(from >> 8), frame[11] = (uint8_t)from;
	return frame;
}

static unsigned int count(const struct rig *r, unsigned int port)
{
	return rig_frames(r, port, got, &len);
}

Test(l2, learns_and_floods)
{
	struct rig r;
	const struct mf_switch_stats *s;

	rig_config(&config, 4);
	rig_start(&r, &config, false);
	s = mf_switch_stats(r.sw);
	rig_frame(&r, MF_US(1), 0, between(0, 1, false, 200), 200); /* unknown: to all others */
	rig_run(&r, MF_US(2));
	cr_expect_eq(s->flooded, 1);
	cr_expect_eq(s->learned, 1);
	cr_expect(count(&r, 0) == 0 && count(&r, 1) == 1 && count(&r, 2) == 1 && count(&r, 3) == 1);
	cr_expect(len == 200 && memcmp(got, frame, 200) == 0);
	rig_frame(&r, MF_US(3), 1, between(1, 0, false, 60), 60); /* known by now */
	rig_run(&r, MF_US(4));
	cr_expect(count(&r, 0) == 1 && count(&r, 2) == 1);
	cr_expect_eq(s->flooded, 1);
	rig_frame(&r, MF_US(5), 2, between(2, 0, true, 60), 60); /* a group: to all others, known or not */
	rig_run(&r, MF_US(6));
	cr_expect(count(&r, 0) == 2 && count(&r, 1) == 2 && count(&r, 2) == 1 && count(&r, 3) == 2);
	rig_frame(&r, MF_US(7), 0, between(9, 0, false, 60), 60); /* to its own port */
	rig_run(&r, MF_US(8));
	cr_expect_eq(s->drop_frame_self, 1);
	rig_frame(&r, MF_US(9), 3, between(0, 1, false, 60), 60); /* station 0 has moved */
	rig_frame(&r, MF_US(10), 1, between(1, 0, false, 60), 60);
	rig_run(&r, MF_US(12));
	cr_expect_eq(count(&r, 3), 3);
	cr_expect_eq(count(&r, 0), 2);
	cr_expect_eq(s->frames, 6);
	rig_stop(&r);
}

/* Of 4 ports two have a node: a flood goes to these, and nothing waits at the others for who never comes. */
Test(l2, floods_no_port_without_a_node)
{
	struct rig r;

	rig_config(&config, 4);
	config.port[1].up = config.port[3].up = false;
	rig_start(&r, &config, false);
	for (unsigned int i = 0; i < 50; i++)
		rig_frame(&r, MF_US(1 + i), 0, between(0, 1, i % 2, 1000), 1000);
	rig_run(&r, MF_US(100));
	cr_expect_eq(mf_switch_stats(r.sw)->flooded, 50);
	cr_expect_eq(count(&r, 2), 50);
	cr_expect_eq(mf_switch_stats(r.sw)->drop_frame_room, 0);
	for (unsigned int port = 0; port < 4; port++) {
		const struct mf_mux_stats *m = mf_switch_mux_stats(r.sw, port);

		cr_expect_eq(count(&r, port), port == 2 ? 50 : 0);
		cr_expect_eq(m->frames, port == 2 ? 50 : 0, "port %u: %lu", port, m->frames);
	}
	rig_stop(&r);
}

Test(l2, latency)
{
	struct rig r[2];

	for (unsigned int b = 0; b < 2; b++) {
		mf_time t;

		rig_config(&config, 2);
		rig_start(&r[b], &config, b);
		t = rig_frame(&r[b], MF_US(1), 0, between(0, 1, false, 333), 333);
		rig_run(&r[b], MF_US(5));
		cr_assert_gt(r[b].outs[1], 0);
		cr_expect_eq(r[b].out[1][0].at, t + P + L2_LATENCY, "known one block behind its /T/");
	}
	cr_expect(rig_same(&r[0], &r[1]));
	rig_stop(&r[0]);
	rig_stop(&r[1]);
}

/** Frames of equal time leave in the order of their ports, whoever was called first. */
Test(l2, equal_times_by_port)
{
	struct rig r[2];

	for (unsigned int b = 0; b < 2; b++) {
		rig_config(&config, 4);
		rig_start(&r[b], &config, false);
		r[b].reverse = b;
		for (unsigned int i = 0; i < 3; i++) {
			unsigned int port = 3 - i;

			rig_frame(&r[b], MF_US(1), port, between(port, 0, false, 100), 100);
		}
		rig_run(&r[b], MF_US(5));
		cr_assert_eq(count(&r[b], 0), 3);
		cr_expect_eq(got[11], 3, "port 3 is last");
	}
	cr_expect(rig_same(&r[0], &r[1]));
	rig_stop(&r[0]);
	rig_stop(&r[1]);
}

/** A table that is far too small: frames are flooded, none is lost or goes to a wrong port. */
Test(l2, full_table)
{
	struct rig r;
	unsigned int stations = 300;

	rig_config(&config, 3);
	config.mac_table = 16;
	config.port[1].mux.frames = config.port[2].mux.frames = 1024;
	rig_start(&r, &config, false);
	for (unsigned int i = 0; i < stations; i++) {
		unsigned int from = i % 2;

		rig_frame(&r, MF_US(1) * (i + 1), from, between(i, i > 0 ? i - 1 : 5000, false, 60), 60);
	}
	rig_run(&r, MF_MS(1));
	cr_expect_eq(mf_switch_stats(r.sw)->frames, stations);
	cr_expect_eq(count(&r, 0) + count(&r, 1), stations);
	cr_expect_eq(mf_switch_stats(r.sw)->learned, stations);
	cr_expect_eq(mf_switch_stats(r.sw)->drop_frame_room, 0);
	rig_stop(&r);
}

/** More than the queue of an egress holds: what does not fit is dropped and counted, the rest arrives. */
Test(l2, bounded_queue)
{
	struct rig r;
	unsigned int n = 40;

	rig_config(&config, 5);
	config.port[0].mux.frames = 8;
	config.port[0].mux.frame_bytes = 9000;
	config.port[0].mux.period = 16 * P;
	rig_start(&r, &config, false);
	rig_frame(&r, 1, 0, between(0, 1, true, 60), 60); /* station 0 is known */
	for (unsigned int i = 0; i < n; i++)
		rig_frame(&r, MF_US(2) * (i / 4 + 1), 1 + i % 4, between(1 + i % 4, 0, false, 1500), 1500);
	rig_run(&r, MF_MS(3));
	cr_expect_gt(mf_switch_stats(r.sw)->drop_frame_room, 0);
	cr_expect_eq(count(&r, 0) + mf_switch_stats(r.sw)->drop_frame_room, n);
	rig_stop(&r);
}

/** The pipeline takes what all ports can bring at once, of the shortest and the longest frames. */
Test(l2, pipeline_is_long_enough)
{
	static const unsigned int sizes[] = {60, 61, 512, 9000, MF_FRAME_MAX};

	for (unsigned int k = 0; k < 5; k++) {
		struct rig r;
		unsigned int n = sizes[k] > 1000 ? 4 : 60, ports = 4;

		rig_config(&config, ports);
		for (unsigned int i = 0; i < ports; i++) {
			config.port[i].mux.frames = 1024;
			config.port[i].mux.frame_bytes = 1 << 20;
		}
		rig_start(&r, &config, false);
		for (unsigned int i = 0; i < n; i++)
			for (unsigned int p = 0; p < ports; p++)
				rig_frame(&r, MF_US(1) + i * (sizes[k] / 8 + 5) * P, p,
					  between(p, (p + 1) % ports, false, sizes[k]), (uint16_t)sizes[k]);
		rig_run(&r, MF_MS(1));
		cr_expect_eq(mf_switch_stats(r.sw)->frames, n * ports);
		cr_expect_eq(mf_switch_stats(r.sw)->drop_frame_room, 0, "%u octets", sizes[k]);
		rig_stop(&r);
	}
}

/** Wall clock: all that a port may bring before the switch has its turn, of short frames and of long ones. */
Test(l2, a_turn_does_not_overrun_the_pipeline)
{
	static struct mf_span span;

	for (unsigned int octets = 60; octets <= MF_FRAME_MAX; octets += 1706) {
		unsigned int n = 1 + 300 * 60 / octets;
		struct mf_switch *sw;
		struct mf_mux *source;

		rig_config(&config, 2);
		config.window = true;
		config.l2_latency = 0;
		for (unsigned int i = 0; i < 2; i++) {
			config.port[i].mux.period = 0;
			config.port[i].mux.frames = 1024;
			config.port[i].mux.frame_bytes = 1 << 20;
		}
		sw = mf_switch_new(&config);
		source = mf_mux_new(&config.port[0].mux);
		cr_assert(sw != NULL && source != NULL);
		for (unsigned int i = 0; i < n; i++)
			cr_assert(mf_mux_frame(source, 1, between(0, 1, false, octets), (uint16_t)octets));
		while (mf_mux_pull(source, 1, MF_SPAN_MAX, &span) > 0)
			mf_switch_rx(sw, 0, 1, &span);
		mf_switch_run(sw, 1);
		while (mf_switch_tx(sw, 1, 1, MF_SPAN_MAX, &span) > 0)
			;
		cr_expect_eq(mf_switch_stats(sw)->drop_frame_room, 0, "%u octets", octets);
		cr_expect_eq(mf_switch_mux_stats(sw, 1)->frames, n, "%u octets", octets);
		mf_mux_free(source);
		mf_switch_free(sw);
	}
}

/** A standard port: memory blocks from it are errors, none are ever sent to it; frames pass (D16). */
Test(l2, plain_port)
{
	struct rig r;
	uint64_t word[64];
	const struct mf_msg n = {.kind = MF_NOTIFY, .dst = 1, .size = 64};
	const struct mf_msg to = {.kind = MF_NOTIFY, .dst = 0, .size = 64};
	const struct mf_msg ack = {.kind = MF_ACK, .src = 1, .dst = 0};
	unsigned int blocks;

	rig_config(&config, 3);
	config.port[0].memory_enabled = config.port[0].mux.memory_enabled = false;
	rig_start(&r, &config, false);
	rig_single(&n, word);
	rig_message(&r, MF_US(1), 0, word, 1);
	blocks = rig_request(&r, 0, 1, 3, 64, word);
	rig_message(&r, MF_US(2), 0, word, blocks);
	rig_run(&r, MF_US(3));
	cr_expect_eq(r.msgs, 0);
	cr_expect_eq(mf_switch_demux(r.sw, 0)->stats.bad_blocks, 1 + 2);
	rig_single(&to, word);
	rig_message(&r, MF_US(4), 1, word, 1);
	rig_single(&ack, word);
	rig_message(&r, MF_US(5), 1, word, 1);
	blocks = rig_request(&r, 1, 0, 3, 64, word);
	rig_message(&r, MF_US(6), 1, word, blocks);
	rig_frame(&r, MF_US(7), 0, between(0, 1, false, 60), 60);
	rig_frame(&r, MF_US(8), 1, between(1, 0, false, 60), 60);
	rig_run(&r, MF_US(10));
	cr_expect_eq(mf_switch_stats(r.sw)->drop_dst, 3);
	cr_expect_eq(count(&r, 1), 1);
	cr_expect_eq(count(&r, 0), 1);
	for (unsigned int i = 0; i < r.outs[0]; i++)
		cr_expect(r.out[0][i].sync == MF_SYNC_DATA || (mf_block_type(r.out[0][i].word) != MF_BT_N &&
							       mf_block_type(r.out[0][i].word) != MF_BT_MS &&
							       mf_block_type(r.out[0][i].word) != MF_BT_MST));
	rig_stop(&r);
}
