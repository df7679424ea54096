/* SPDX-License-Identifier: BSD-3-Clause */
/* What comes in for the scheduler: notifications, requests, and all that is refused. */
#include <criterion/criterion.h>
#include <string.h>

#include "rig.h"

static struct mf_switch_config config;

static void start(struct rig *r)
{
	rig_config(&config, 4);
	rig_start(r, &config, false);
}

static void send_single(struct rig *r, mf_time at, unsigned int port, const struct mf_msg *m)
{
	uint64_t word;

	rig_single(m, &word);
	rig_message(r, at, port, &word, 1);
}

Test(intake, notification_becomes_a_descriptor)
{
	struct rig r;
	const struct mf_msg m = {.kind = MF_NOTIFY, .dst = 2, .id = 77, .size = 4000, .mega = true};
	struct mf_sched_msg d;

	start(&r);
	send_single(&r, MF_NS(100), 1, &m);
	rig_run(&r, MF_US(1));
	cr_assert_eq(r.msgs, 1);
	d = r.msg[0];
	cr_expect_eq(d.kind, MF_SCHED_DEMAND);
	cr_expect_eq(d.at, MF_NS(100) + IDENTIFY);
	cr_expect(d.src == 1 && d.dst == 2 && d.id == 77 && d.size == 4000);
	cr_expect(!d.resp && d.mega && d.behind == 0);
	cr_expect_eq(d.cookie, MF_SCHED_NO_COOKIE);
	cr_expect_eq(mf_switch_stats(r.sw)->notifications, 1);
	rig_stop(&r);
}

Test(intake, request_waits_for_its_grant)
{
	for (unsigned int by_block = 0; by_block < 2; by_block++) {
		struct rig r;
		uint64_t word[MF_REQUEST_BLOCKS_MAX];
		struct mf_sched_msg d;
		struct mf_sched_grant g;
		unsigned int n;

		rig_config(&config, 4);
		rig_start(&r, &config, by_block);
		n = rig_request(&r, 0, 3, 9, 512, word);
		rig_message(&r, MF_NS(50), 0, word, n);
		rig_run(&r, MF_US(1));
		cr_assert_eq(rig_told(&r, MF_SCHED_DEMAND, &d), 1);
		cr_expect_eq(d.at, MF_NS(50) + (n - 1) * P + IDENTIFY, "the check is in the last block");
		cr_expect(d.src == 3 && d.dst == 0 && d.id == 9 && d.size == 512 && d.resp);
		cr_expect_eq(d.request_blocks, n);
		cr_expect_eq(r.outs[3], 0);
		g = rig_grant_of(MF_US(2), 3, 0, 9, true, true, 256, d.cookie);
		rig_grant(&r, g.at, &g);
		rig_run(&r, MF_US(3));
		cr_expect(rig_sent(&r, 3, 0, g.at + MAKE_GRANT + FORWARD, word, n));
		cr_expect_eq(r.outs[3], n);
		rig_stop(&r);
	}
}

/* D7: of a read and of a write. */
Test(intake, what_a_transfer_has_behind_a_piece_is_told)
{
	struct mf_msg m = {.kind = MF_RREQ, .src = 1, .dst = 2, .size = MF_MESSAGE_MAX, .behind = 770};
	uint64_t word[MF_REQUEST_BLOCKS_MAX];
	struct rig r;
	unsigned int n;

	start(&r);
	n = mf_proto_put_request(&config.proto, &m, word);
	rig_message(&r, MF_NS(100), 1, word, n);
	m.kind = MF_NOTIFY;
	send_single(&r, MF_NS(200), 1, &m);
	rig_run(&r, MF_US(1));
	cr_assert_eq(r.msgs, 2);
	for (unsigned int i = 0; i < 2; i++)
		cr_expect(r.msg[i].size == MF_MESSAGE_MAX && r.msg[i].behind == 770, "message %u", i);
	rig_stop(&r);
}

Test(intake, a_read_modify_write_is_as_long_as_its_response)
{
	struct rig r;
	struct mf_msg m = {.kind = MF_RMWREQ, .src = 0, .dst = 1, .op = MF_RMW_CAS, .addr = 8, .arg = {1, 2}};
	uint64_t word[MF_REQUEST_BLOCKS_MAX];
	struct mf_sched_msg d;
	unsigned int n;

	start(&r);
	n = mf_proto_put_request(&config.proto, &m, word);
	rig_message(&r, 0, 0, word, n);
	rig_run(&r, MF_US(1));
	cr_assert_eq(rig_told(&r, MF_SCHED_DEMAND, &d), 1);
	cr_expect_eq(d.size, 8);
	cr_expect_eq(d.request_blocks, n);
	rig_stop(&r);
}

/* Its response is as long as the request says: so much is reserved on the way to its node. */
Test(intake, a_call_says_how_long_its_response_is)
{
	static const uint32_t lens[] = {1, 16, 17, 1000, 4080, MF_CALL_MAX};

	for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		struct mf_msg m = {.kind = MF_RMWREQ,
				   .src = 0,
				   .dst = 1,
				   .op = MF_RMW_CALL,
				   .size = mf_call_size(lens[i])};
		uint64_t word[MF_REQUEST_BLOCKS_MAX];
		struct mf_sched_msg d;
		unsigned int n;
		struct rig r;

		rig_config(&config, 4);
		config.answer = lens[i];
		rig_start(&r, &config, i % 2);
		n = mf_proto_put_request(&config.proto, &m, word);
		rig_message(&r, 0, 0, word, n);
		m.size += MF_CALL_UNIT;
		if (m.size < 4096 * MF_CALL_UNIT)
			rig_message(&r, MF_NS(100), 0, word, mf_proto_put_request(&config.proto, &m, word));
		m.size = MF_CALL_HEAD;
		rig_message(&r, MF_NS(200), 0, word, mf_proto_put_request(&config.proto, &m, word));
		rig_run(&r, MF_US(1));
		cr_assert_eq(rig_told(&r, MF_SCHED_DEMAND, &d), 1, "one that is longer or empty is dropped");
		cr_expect_eq(d.size, mf_call_size(lens[i]));
		cr_expect(d.resp && d.src == 1 && d.dst == 0 && d.request_blocks == n);
		cr_expect_eq(mf_switch_stats(r.sw)->drop_proto, lens[i] == MF_CALL_MAX ? 1 : 2);
		rig_stop(&r);
	}
}

/* A fabric without them. */
Test(intake, where_there_are_no_calls_they_are_dropped)
{
	const struct mf_msg m = {.kind = MF_RMWREQ, .src = 0, .dst = 1, .op = MF_RMW_CALL, .size = 32};
	uint64_t word[MF_REQUEST_BLOCKS_MAX];
	struct mf_sched_msg d;
	struct rig r;

	start(&r);
	rig_message(&r, 0, 0, word, mf_proto_put_request(&config.proto, &m, word));
	rig_run(&r, MF_US(1));
	cr_expect_eq(rig_told(&r, MF_SCHED_DEMAND, &d), 0);
	cr_expect_eq(mf_switch_stats(r.sw)->drop_proto, 1);
	rig_stop(&r);
	config.answer = MF_CALL_MAX + 1;
	cr_expect_null(mf_switch_new(&config), "longer than the wire can say");
}

Test(intake, grant_has_its_fields)
{
	struct rig r;
	struct mf_sched_grant w, s;
	struct mf_msg m;

	rig_config(&config, 4);
	config.align[1] = MF_NS(30);
	rig_start(&r, &config, false);
	w = rig_grant_of(MF_NS(10), 1, 2, 33, false, true, 256, MF_SCHED_NO_COOKIE);
	s = rig_grant_of(MF_US(1), 1, 3, 34, true, false, 128, 0);
	rig_grant(&r, w.at, &w);
	rig_grant(&r, s.at, &s);
	rig_run(&r, MF_US(2));
	cr_assert_eq(r.outs[1], 2);
	cr_expect_eq(r.out[1][0].at, w.at + MAKE_GRANT + FORWARD + MF_NS(30), "aligned: a write's");
	cr_assert_eq(mf_proto_get_single(r.out[1][0].word, &m), 0);
	cr_expect(m.kind == MF_GRANT && m.dst == 2 && m.id == 33 && m.size == 256 && !m.resp);
	cr_expect_eq(r.out[1][1].at, s.at + MAKE_GRANT + FORWARD, "a response's is not");
	cr_assert_eq(mf_proto_get_single(r.out[1][1].word, &m), 0);
	cr_expect(m.kind == MF_GRANT && m.dst == 3 && m.id == 34 && m.size == 128 && m.resp);
	rig_stop(&r);
}

/** Every slot is given back, forwarded or dismissed: with two slots nothing is ever lost. */
Test(intake, slots_do_not_leak)
{
	struct rig r;
	struct mf_sched_msg msg;
	struct mf_span s;
	unsigned int n;
	mf_time now = 0;

	rig_config(&config, 3);
	config.requests = 2;
	rig_start(&r, &config, false);
	for (unsigned int i = 0; i < 100000; i++) {
		struct mf_sched_grant g;

		now += MF_US(1);
		s = (struct mf_span){.start = now, .period = P};
		n = rig_request(&r, 0, 1, (uint8_t)i, 64, s.word);
		s.count = (uint16_t)n;
		for (unsigned int k = 0; k < n; k++)
			s.sync[k] = k == 0 || k == n - 1 ? MF_SYNC_CTRL : MF_SYNC_DATA;
		mf_switch_rx(r.sw, 0, now, &s);
		cr_assert_eq(mf_switch_to_sched(r.sw, &msg, 1), 1, "round %u", i);
		g = rig_grant_of(now, 1, 0, (uint8_t)i, true, true, i % 2 ? 64 : 0, msg.cookie);
		mf_switch_grant(r.sw, now, &g);
		if (i % 2 == 0)
			continue;
		cr_assert_eq(mf_switch_tx(r.sw, 1, now + MF_NS(500), MF_SPAN_MAX, &s), n);
		s.count = (uint16_t)rig_chunk(&r, MF_RRES, 1, 0, (uint8_t)i, 64, s.word);
		s.start = now + MF_NS(600);
		for (unsigned int k = 0; k < s.count; k++)
			s.sync[k] = k == 0 || k + 1 == s.count ? MF_SYNC_CTRL : MF_SYNC_DATA;
		mf_switch_rx(r.sw, 1, s.start, &s);
		while (mf_switch_tx(r.sw, 0, now + MF_NS(900), MF_SPAN_MAX, &s) > 0)
			;
	}
	cr_expect_eq(rig_drops(&r), 0);
	cr_expect_eq(mf_switch_stats(r.sw)->chunks, 50000);
	rig_stop(&r);
}

/** What arrives at once: whole, at port 0. */
static void arrives(struct rig *r, mf_time at, const uint64_t *word, unsigned int n)
{
	struct mf_span s = {.start = at, .period = P, .count = (uint16_t)n};

	memcpy(s.word, word, n * sizeof(*word));
	for (unsigned int k = 0; k < n; k++)
		s.sync[k] = k == 0 || k == n - 1 ? MF_SYNC_CTRL : MF_SYNC_DATA;
	mf_switch_rx(r->sw, 0, at, &s);
}

/** Nor is one kept of a request that the scheduler is not told of, since nobody empties the ring. */
Test(intake, slots_do_not_leak_where_no_descriptor_is_free)
{
	const struct mf_msg notify = {.kind = MF_NOTIFY, .dst = 1, .size = 64};
	const uint64_t single = mf_proto_put_single(&notify);
	uint64_t word[MF_REQUEST_BLOCKS_MAX];
	const struct mf_switch_stats *s;
	struct mf_sched_msg msg;
	struct rig r;
	mf_time now = MF_US(1);

	rig_config(&config, 3);
	config.requests = 2;
	rig_start(&r, &config, false);
	s = mf_switch_stats(r.sw);
	while (s->drop_descriptor == 0)
		arrives(&r, now += 4 * P, &single, 1);
	for (unsigned int i = 0; i < 5; i++)
		arrives(&r, now += 4 * P, word, rig_request(&r, 0, 1, (uint8_t)i, 64, word));
	cr_expect_eq(s->drop_descriptor, 1 + 5);
	while (mf_switch_to_sched(r.sw, &msg, 1) == 1)
		cr_assert(!msg.resp);
	for (unsigned int i = 0; i < 2; i++) {
		arrives(&r, now += 4 * P, word, rig_request(&r, 0, 1, (uint8_t)i, 64, word));
		cr_expect_eq(mf_switch_to_sched(r.sw, &msg, 1), 1, "request %u", i);
	}
	cr_expect_eq(s->drop_room, 0);
	rig_stop(&r);
}

Test(intake, no_slot_is_a_counted_drop)
{
	struct rig r;
	uint64_t word[MF_REQUEST_BLOCKS_MAX];

	rig_config(&config, 3);
	config.requests = 2;
	rig_start(&r, &config, false);
	for (unsigned int i = 0; i < 5; i++)
		rig_message(&r, MF_US(i), 0, word, rig_request(&r, 0, 1, (uint8_t)i, 64, word));
	rig_run(&r, MF_US(10));
	cr_expect_eq(rig_told(&r, MF_SCHED_DEMAND, NULL), 2);
	cr_expect_eq(mf_switch_stats(r.sw)->drop_room, 3);
	rig_stop(&r);
}

/* Who asks for more than X lets it fills its own part of the buffer, and has it again as it is used. */
Test(intake, a_flood_leaves_room_for_the_others)
{
	struct rig r;
	const struct mf_switch_stats *s;
	uint64_t word[MF_REQUEST_BLOCKS_MAX];
	struct mf_sched_grant g;
	unsigned int share;
	mf_time now = 0;

	rig_config(&config, 3);
	config.x = 2;
	share = 2 * config.x * config.ports;
	rig_start(&r, &config, false);
	s = mf_switch_stats(r.sw);
	for (unsigned int i = 0; i < 4 * share; i++)
		rig_message(&r, now += MF_US(1), 0, word, rig_request(&r, 0, 2, (uint8_t)i, 64, word));
	rig_run(&r, now += MF_US(1));
	cr_expect_eq(s->requests, share);
	cr_expect_eq(s->drop_room, 3 * share);
	for (unsigned int i = 0; i < share; i++)
		rig_message(&r, now += MF_US(1), 1, word, rig_request(&r, 1, 2, (uint8_t)i, 64, word));
	rig_run(&r, now += MF_US(1));
	cr_expect_eq(s->requests, 2 * share, "the other one's are there");
	cr_expect_eq(s->drop_room, 3 * share);
	g = rig_grant_of(now, 2, 0, r.msg[0].id, true, true, 0, r.msg[0].cookie);
	mf_switch_grant(r.sw, now, &g);
	for (unsigned int i = 0; i < 2; i++)
		rig_message(&r, now += MF_US(1), 0, word, rig_request(&r, 0, 2, (uint8_t)i, 64, word));
	rig_run(&r, now += MF_US(1));
	cr_expect_eq(s->requests, 2 * share + 1);
	cr_expect_eq(s->drop_room, 3 * share + 1);
	rig_stop(&r);
}

Test(intake, what_is_wrong_is_dropped_by_cause)
{
	struct rig r;
	const struct mf_switch_stats *s;
	uint64_t word[MF_REQUEST_BLOCKS_MAX];
	unsigned int n;
	struct mf_msg m = {.kind = MF_NOTIFY, .dst = 1, .size = 64};

	rig_config(&config, 4);
	config.port[3].memory_enabled = config.port[3].mux.memory_enabled = false;
	config.port[2].up = false;
	rig_start(&r, &config, false);
	s = mf_switch_stats(r.sw);

	send_single(&r, MF_US(1), 1, &m); /* to itself */
	m.dst = 2;
	send_single(&r, MF_US(2), 1, &m); /* nothing is there */
	m.dst = 3;
	send_single(&r, MF_US(3), 1, &m); /* a plain port */
	m.dst = 300;
	send_single(&r, MF_US(4), 1, &m); /* no such port */
	rig_run(&r, MF_US(5));
	cr_expect_eq(s->drop_dst, 4);

	m = (struct mf_msg){.kind = MF_GRANT, .dst = 1, .size = 64};
	send_single(&r, MF_US(6), 0, &m); /* hosts grant nothing */
	rig_run(&r, MF_US(7));
	cr_expect_eq(s->drop_proto, 1);

	m = (struct mf_msg){.kind = MF_ACK, .src = 1, .dst = 0};
	send_single(&r, MF_US(8), 0, &m); /* from another port */
	n = rig_request(&r, 1, 0, 5, 64, word);
	rig_message(&r, MF_US(9), 0, word, n);
	rig_run(&r, MF_US(10));
	cr_expect_eq(s->drop_spoof, 2);

	n = rig_request(&r, 0, 1, 5, 64, word);
	word[n - 1] ^= UINT64_C(1) << 40;
	rig_message(&r, MF_US(11), 0, word, n);
	rig_single(&(struct mf_msg){.kind = MF_NOTIFY, .dst = 1, .size = 64}, word);
	word[0] ^= UINT64_C(1) << 20;
	rig_message(&r, MF_US(12), 0, word, 1);
	rig_run(&r, MF_US(13));
	cr_expect_eq(s->drop_check, 2);

	m = (struct mf_msg){.kind = MF_GRET, .dst = 400, .size = 64};
	send_single(&r, MF_US(14), 0, &m);
	rig_run(&r, MF_US(15));
	cr_expect_eq(s->drop_dst, 5);

	cr_expect_eq(r.msgs, 0);
	for (unsigned int i = 0; i < 4; i++)
		cr_expect_eq(r.outs[i], 0);
	rig_stop(&r);
}

/** Every kind of nonsense in the first block of a message, and lengths that no message has. */
Test(intake, unknown_kinds_and_lengths)
{
	struct rig r;
	uint64_t word[64] = {0};

	start(&r);
	for (unsigned int k = 0; k < 16; k++)
		for (unsigned int n = 2; n < 20; n++) {
			struct mf_msg m;

			word[0] = MF_BT_MS | (uint64_t)k << 8;
			word[n - 1] = MF_BT_MT;
			mf_proto_peek(word[0], &m);
			rig_message(&r, MF_US(1) * (k * 20 + n), 0, word, n);
			word[n - 1] = 0;
		}
	rig_run(&r, MF_MS(1));
	cr_expect_eq(r.msgs, 0);
	cr_expect_eq(rig_drops(&r), 16 * 18);
	rig_stop(&r);
}

/** The scheduler has no room for it: who asked need not wait for a timer. */
Test(intake, one_beyond_x_is_answered)
{
	struct mf_sched_grant no = {
		.at = MF_US(2), .src = 3, .dst = 0, .id = 9, .resp = true, .refused = true};
	struct mf_sched_msg d;
	struct mf_msg err;
	uint64_t word[8];
	struct rig r;

	rig_config(&config, 4);
	rig_start(&r, &config, false);
	rig_message(&r, MF_US(1), 0, word, rig_request(&r, 0, 3, 9, 64, word));
	rig_run(&r, MF_US(2));
	cr_assert_eq(rig_told(&r, MF_SCHED_DEMAND, &d), 1);
	no.cookie = d.cookie;
	rig_grant(&r, no.at, &no);
	no = (struct mf_sched_grant){
		.at = MF_US(3), .src = 0, .dst = 3, .id = 5, .refused = true, .cookie = MF_SCHED_NO_COOKIE};
	rig_grant(&r, no.at, &no);
	rig_run(&r, MF_US(4));
	cr_assert_eq(r.outs[0], 2);
	cr_assert_eq(mf_proto_get_single(r.out[0][0].word, &err), 0);
	cr_expect(err.kind == MF_ERR && err.status == MF_ERR_RESOURCE && err.of == MF_RREQ && err.id == 9);
	cr_assert_eq(mf_proto_get_single(r.out[0][1].word, &err), 0);
	cr_expect(err.kind == MF_ERR && err.status == MF_ERR_RESOURCE && err.of == MF_NOTIFY && err.id == 5);
	cr_expect(err.src == 3 && err.dst == 0);
	cr_expect_eq(mf_switch_stats(r.sw)->refused_x, 2);
	rig_stop(&r);
}

/* A write of which a chunk is missing goes on: its demand and its grants stay. */
Test(intake, a_gap_is_passed_on)
{
	struct mf_msg m = {.kind = MF_ERR, .src = 3, .dst = 0, .id = 9, .status = MF_ERR_GAP};
	struct mf_sched_grant g = rig_grant_of(MF_US(1), 0, 3, 9, false, true, 64, MF_SCHED_NO_COOKIE);
	uint64_t word[16];
	unsigned int n;
	struct rig r;

	start(&r);
	rig_grant(&r, g.at, &g);
	for (m.of = 0; m.of < 16; m.of++)
		send_single(&r, MF_US(2 + m.of), 3, &m);
	m.of = 3;
	send_single(&r, MF_US(20), 1, &m);
	n = rig_chunk(&r, MF_WREQ_ACK, 0, 3, 9, 64, word);
	rig_message(&r, MF_US(21), 0, word, n);
	rig_run(&r, MF_US(22));
	cr_expect_eq(rig_told(&r, MF_SCHED_CANCEL, NULL), 0);
	cr_assert_eq(r.outs[0], 1 + 16, "the grant, and all that was told");
	for (uint8_t i = 0; i < 16; i++) {
		cr_assert_eq(mf_proto_get_single(r.out[0][1 + i].word, &m), 0);
		cr_expect(m.kind == MF_ERR && m.status == MF_ERR_GAP && m.of == i && m.src == 3 && m.id == 9);
	}
	cr_expect_eq(mf_switch_stats(r.sw)->drop_spoof, 1, "another node's name");
	cr_expect_eq(r.outs[3], n, "the chunk passes");
	rig_stop(&r);
}

/* Nobody else is told, and no other node can say it. */
Test(intake, what_is_given_up_is_cancelled)
{
	struct mf_msg m = {
		.kind = MF_ERR, .src = 0, .dst = 3, .id = 9, .status = MF_ERR_RESOURCE, .of = MF_NOTIFY};
	struct rig r;

	start(&r);
	send_single(&r, MF_US(1), 0, &m);
	rig_run(&r, MF_US(2));
	cr_assert_eq(r.msgs, 2, "its write, or the response to its request");
	for (unsigned int i = 0; i < 2; i++) {
		const struct mf_sched_msg *d = &r.msg[i];

		cr_expect(d->kind == MF_SCHED_CANCEL && d->id == 9 && d->at == MF_US(1) + IDENTIFY);
		cr_expect(d->src == (d->resp ? 3 : 0) && d->dst == (d->resp ? 0 : 3));
	}
	cr_expect_neq(r.msg[0].resp, r.msg[1].resp);
	send_single(&r, MF_US(3), 1, &m);
	m.dst = 4;
	send_single(&r, MF_US(4), 0, &m);
	m.dst = 0;
	send_single(&r, MF_US(5), 0, &m);
	rig_run(&r, MF_US(6));
	cr_expect_eq(r.msgs, 2);
	cr_expect_eq(mf_switch_stats(r.sw)->drop_spoof, 1);
	cr_expect_eq(mf_switch_stats(r.sw)->drop_dst, 2);
	for (unsigned int i = 0; i < 4; i++)
		cr_expect_eq(r.outs[i], 0);
	rig_stop(&r);
}
