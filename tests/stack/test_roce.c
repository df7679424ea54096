/* SPDX-License-Identifier: BSD-3-Clause */
/* RoCEv2: its packets, go-back-N after every kind of loss, refusals, bad input. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>

#include "base/mf_rng.h"
#include "systems/rdma/roce.h"
#include "wires.h"

/** A congestion notification as a ConnectX-4 Lx sent it (captured by H. Eran, in scapy's tests). */
static const uint8_t captured[] = {
	0xe4, 0x1d, 0x2d, 0xab, 0x2b, 0xc2, 0x7c, 0xfe, 0x90, 0x64, 0x3b, 0x32, 0x08, 0x00, 0x45,
	0xc2, 0x00, 0x3c, 0x71, 0x8c, 0x40, 0x00, 0x40, 0x11, 0x91, 0x61, 0x0a, 0x00, 0x11, 0x01,
	0x0a, 0x00, 0x12, 0x01, 0x00, 0x00, 0x12, 0xb7, 0x00, 0x28, 0x00, 0x00, 0x81, 0x00, 0xff,
	0xff, 0x40, 0x00, 0x01, 0x18, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x82, 0xfd, 0x00, 0x2a};

Test(roce, icrc_of_a_captured_packet)
{
	uint8_t frame[sizeof(captured)];
	struct roce_packet p;

	memcpy(frame, captured, sizeof(frame));
	cr_assert_eq(roce_get(frame, sizeof(frame), &p), 0);
	cr_expect_eq(p.opcode, ROCE_CNP);
	cr_expect_eq(p.qp, 0x118);
	cr_expect_eq(p.class, 6);
	cr_expect_arr_eq(frame, captured, sizeof(frame));
	frame[52] ^= 1; /* in the BTH: its PSN */
	cr_expect_eq(roce_get(frame, sizeof(frame), &p), -EBADMSG);
}

/** Another one, with payload and padding, of an unreliable connection: only its ICRC is of use. */
Test(roce, icrc_of_a_packet_with_payload)
{
	static const uint8_t packet[] = {
		0x24, 0x8a, 0x07, 0xa8, 0xfa, 0x22, 0x24, 0x8a, 0x07, 0xa8, 0xfa, 0x22, 0x08, 0x00, 0x45,
		0x01, 0x00, 0x40, 0x04, 0x78, 0x40, 0x00, 0x40, 0x11, 0xb4, 0xd5, 0xc0, 0xa8, 0x00, 0x07,
		0xc0, 0xa8, 0x00, 0x07, 0xc0, 0x00, 0x12, 0xb7, 0x00, 0x2c, 0xac, 0xa2, 0x24, 0x60, 0xff,
		0xff, 0x00, 0x00, 0x00, 0xd3, 0x00, 0xcf, 0x17, 0x10, 0x46, 0x30, 0x81, 0x8b, 0xe2, 0x89,
		0x35, 0xd9, 0x0e, 0x9a, 0x95, 0x50, 0x54, 0x01, 0xbe, 0x88, 0x5e, 0x50, 0x00, 0x00};
	uint8_t frame[sizeof(packet)];

	memcpy(frame, packet, sizeof(frame));
	cr_expect_eq(roce_icrc(frame, sizeof(frame)), 0xf353f378);
}

/** What a switch may change does not count, all else does. */
Test(roce, icrc_is_invariant)
{
	uint8_t data[5] = {1, 2, 3, 4, 5}, frame[128];
	struct roce_packet p = {.opcode = ROCE_WRITE_ONLY,
				.ecn = MF_ECN_ECT0,
				.qp = 7,
				.psn = 0xfffffe,
				.octets = 5,
				.len = 5,
				.data = data,
				.src = 1,
				.dst = 2,
				.ack = true},
			   q;
	uint16_t len = roce_put(frame, &p);

	cr_assert_eq(len, 14 + 20 + 8 + 12 + 16 + 8 + 4);
	cr_assert(mf_packet_mark(frame, len));
	cr_assert_eq(roce_get(frame, len, &q), 0);
	cr_expect_eq(q.ecn, MF_ECN_CE);
	cr_expect_eq(q.psn, 0xfffffe);
	cr_expect_eq(q.len, 5);
	cr_expect_arr_eq(q.data, data, 5);
	cr_expect(q.ack);
	for (unsigned int bit = 8 * ROCE_BTH; bit < 8U * len; bit++) {
		if (bit / 8 == ROCE_BTH + 4)
			continue;
		frame[bit / 8] ^= (uint8_t)(1 << bit % 8);
		cr_expect_neq(roce_get(frame, len, &q), 0, "bit %u", bit);
		frame[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	for (uint16_t cut = 0; cut < len; cut++)
		cr_expect_neq(roce_get(frame, cut, &q), 0, "%u octets", cut);
}

Test(roce, sequence_numbers_wrap)
{
	cr_expect_eq(roce_psn(0, 5), 5);
	cr_expect_eq(roce_psn(0xfffffe, 1), 0x1000001);
	cr_expect_eq(roce_psn(0x1000001, 0xfffffe), 0xfffffe);
	cr_expect_eq(roce_psn(0xfffffffe, 3), 0x100000003 & 0xffffffff);
}

/* Losses by script */

struct what {
	unsigned int from;
	uint8_t opcode;
	unsigned int count; /**< the first so many of them pass */
};

static struct what lost;

static bool lose_one(struct wires *w, unsigned int from, uint8_t *frame, uint16_t len)
{
	(void)len;
	if (from != lost.from || frame[ROCE_BTH] != lost.opcode)
		return true;
	return w->seen++ != lost.count;
}

static bool data_came(struct wires *w, unsigned int op, uint64_t addr, uint64_t len)
{
	return memcmp(wires_memory(w, 1, addr), w->buffer[op], len) == 0;
}

/**
 * A write of 8 packets, a read of 8, an atomic and another write, of which one packet is lost.
 * @param again  packets that node 0 sends again at most
 */
static void loses(unsigned int from, uint8_t opcode, unsigned int count, bool by_timer, uint64_t retransmit)
{
	struct wires w;
	unsigned int write, read, add, last;

	lost = (struct what){from, opcode, count};
	wires_init(&w, "rocev2");
	w.script = lose_one;
	wires_start(&w);
	for (unsigned int i = 0; i < 8192; i++)
		wires_memory(&w, 1, 65536)[i] = (uint8_t)(i * 7);
	write = wires_op(&w, 0, MF_OP_WRITE, 0, 8000);
	read = wires_op(&w, 0, MF_OP_READ, 65536, 8000);
	add = wires_op(&w, 0, MF_OP_RMW, 200000, 8);
	last = wires_op(&w, 0, MF_OP_WRITE_ACK, 100000, 500);
	wires_finish(&w, MF_MS(100));
	for (unsigned int i = 0; i < w.begun; i++)
		cr_assert_eq(w.done[i].status, MF_OK, "operation %u: %u", i, w.done[i].status);
	cr_expect_gt(w.seen, count, "nothing was lost");
	cr_expect(data_came(&w, write, 0, 8000));
	cr_expect(data_came(&w, last, 100000, 500));
	cr_expect_arr_eq(w.buffer[read], wires_memory(&w, 1, 65536), 8000);
	cr_expect_eq(w.done[add].result, 0);
	cr_expect_eq(*wires_memory(&w, 1, 200000), 1, "an atomic is done once");
	cr_expect_eq(wires_counter(&w, 0, "timeouts"), by_timer ? 1 : 0);
	cr_expect_gt(wires_counter(&w, 0, "packets_sent_again"), 0);
	cr_expect_leq(wires_counter(&w, 0, "packets_sent_again"), retransmit);
	if (!by_timer)
		cr_expect_lt(w.now, MF_US(20), "%lu", (unsigned long)w.now);
	wires_stop(&w);
}

/** Requests, of which something follows: a NAK tells. */
Test(roce, goes_back_after_the_loss_of_a_request)
{
	loses(0, ROCE_READ_REQUEST, 0, false, 3);
	loses(0, ROCE_FETCH_ADD, 0, false, 2);
	loses(0, ROCE_WRITE_FIRST, 0, false, 11);
}

Test(roce, goes_back_after_the_loss_of_data)
{
	loses(0, ROCE_WRITE_MIDDLE, 0, false, 10);
	loses(0, ROCE_WRITE_MIDDLE, 4, false, 6);
	loses(0, ROCE_WRITE_LAST, 0, false, 5);
}

/** Responses that follow one that was lost tell: the rest of the read is asked for. */
Test(roce, goes_back_after_the_loss_of_a_response)
{
	loses(1, ROCE_READ_FIRST, 0, false, 3);
	loses(1, ROCE_READ_MIDDLE, 3, false, 3);
	loses(1, ROCE_READ_LAST, 0, false, 3);
	loses(1, ROCE_ATOMIC_ACKNOWLEDGE, 0, false, 2);
}

/** The last packet of all, and its ack: only the timer can tell. An ack in the middle nobody misses. */
Test(roce, goes_back_when_the_timer_tells)
{
	loses(0, ROCE_WRITE_ONLY, 0, true, 1);
	loses(1, ROCE_ACKNOWLEDGE, 1, true, 1);
}

Test(roce, acks_are_cumulative)
{
	struct wires w;

	lost = (struct what){1, ROCE_ACKNOWLEDGE, 0};
	wires_init(&w, "rocev2");
	w.script = lose_one;
	wires_start(&w);
	for (unsigned int i = 0; i < 10; i++)
		wires_op(&w, 0, MF_OP_WRITE, 4096 * i, 1000);
	wires_finish(&w, MF_US(100));
	cr_expect_gt(w.seen, 1);
	cr_expect_eq(wires_counter(&w, 0, "went_back"), 0);
	cr_expect_eq(wires_counter(&w, 0, "packets_sent_again"), 0);
	wires_stop(&w);
}

/** What is sent again begins at what was lost, and goes on from there. */
static uint32_t sent_psn[64];
static unsigned int sent_count;

static bool note(struct wires *w, unsigned int from, uint8_t *frame, uint16_t len)
{
	(void)len;
	if (from == 0 && sent_count < 64)
		sent_psn[sent_count++] = (uint32_t)frame[51] << 16 | (uint32_t)frame[52] << 8 | frame[53];
	return from != 0 || w->seen++ != 5;
}

Test(roce, goes_back_to_where_it_was)
{
	struct wires w;
	unsigned int back = 6;

	wires_init(&w, "rocev2");
	w.script = note;
	wires_start(&w);
	wires_op(&w, 0, MF_OP_WRITE, 0, 64000);
	wires_finish(&w, MF_MS(1));
	for (unsigned int i = 0; i < 6; i++)
		cr_assert_eq(sent_psn[i], i);
	while (back < sent_count && sent_psn[back] == back)
		back++;
	cr_assert_lt(back, sent_count);
	for (unsigned int i = back; i < sent_count; i++)
		cr_assert_eq(sent_psn[i], 5 + i - back);
	cr_expect(data_came(&w, 0, 0, 64000));
	cr_expect_eq(wires_counter(&w, 1, "naks_sent"), 1, "one NAK, whatever comes out of order");
	wires_stop(&w);
}

/** What is asked for again replaces what was still to be sent: it is not sent twice. */
Test(roce, a_read_is_resumed_not_repeated)
{
	struct wires w;
	uint64_t packets = (1 << 20) / 1024;

	lost = (struct what){1, ROCE_READ_MIDDLE, 3};
	wires_init(&w, "rocev2");
	w.script = lose_one;
	wires_start(&w);
	wires_op(&w, 0, MF_OP_READ, 0, 1 << 20);
	wires_finish(&w, MF_MS(1));
	cr_expect_eq(w.frames[0], 2);
	cr_expect_gt(w.frames[1], packets);
	cr_expect_lt(w.frames[1], packets + 40, "%lu packets", (unsigned long)w.frames[1]);
	wires_stop(&w);
}

/* Losses at random */

static struct mf_rng rng;

static bool lose_some(struct wires *w, unsigned int from, uint8_t *frame, uint16_t len)
{
	(void)from;
	if (mf_rng_below(&rng, 100) < 2)
		frame[mf_rng_below(&rng, len)] ^= 0x10; /* damaged: the ICRC tells, or a header */
	return mf_rng_below(&rng, 100) >= w->ctx;
}

Test(roce, all_comes_whatever_is_lost)
{
	static const enum mf_op_kind kinds[] = {MF_OP_READ, MF_OP_WRITE, MF_OP_WRITE_ACK, MF_OP_RMW};

	for (uint64_t seed = 1; seed <= 10; seed++) {
		unsigned int adds = 0;
		struct wires w;

		wires_init(&w, "rocev2");
		wires_set(&w, "path_mtu", seed % 2 ? 1024 : 256);
		w.script = lose_some;
		w.ctx = seed;
		mf_rng_init(&rng, seed, "loss", 0);
		wires_start(&w);
		for (unsigned int i = 0; i < 65536; i++)
			wires_memory(&w, 1, 1 << 20)[i] = (uint8_t)(mf_hash64(i));
		for (unsigned int i = 0; i < 200; i++) {
			enum mf_op_kind kind = kinds[mf_rng_below(&rng, 4)];
			uint64_t len = kind == MF_OP_RMW ? 8 : 1 + mf_rng_below(&rng, 9000);
			uint64_t addr = kind == MF_OP_RMW    ? 0
					: kind == MF_OP_READ ? 1 << 20
							     : (2 << 20) + i * 16384;

			adds += kind == MF_OP_RMW;
			wires_op(&w, 0, kind, addr, len);
		}
		wires_finish(&w, MF_SEC(1));
		for (unsigned int i = 0; i < w.begun; i++) {
			const struct mf_completion *c = &w.done[i];

			cr_assert_eq(c->status, MF_OK, "seed %lu: operation %u: %u", (unsigned long)seed, i,
				     c->status);
			if (c->kind == MF_OP_READ)
				cr_assert_arr_eq(w.buffer[i], wires_memory(&w, 1, 1 << 20), c->len);
			else if (c->kind != MF_OP_RMW)
				cr_assert(data_came(&w, i, (2 << 20) + i * 16384, c->len), "write %u", i);
		}
		cr_expect_eq(*(uint64_t *)(void *)wires_memory(&w, 1, 0), adds, "seed %lu",
			     (unsigned long)seed);
		cr_expect_gt(wires_counter(&w, 0, "went_back"), 0);
		wires_stop(&w);
	}
}

/* Failures */

Test(roce, a_refused_request_fails_alone)
{
	struct wires w;
	unsigned int good[4], bad, wrong, adds;

	wires_init(&w, "rocev2");
	wires_start(&w);
	good[0] = wires_op(&w, 0, MF_OP_READ, 0, 3000);
	bad = wires_op(&w, 0, MF_OP_READ, WIRES_MEMORY - 8, 64);
	good[1] = wires_op(&w, 0, MF_OP_WRITE, 0, 3000);
	adds = wires_op(&w, 0, MF_OP_RMW, 8192, 8);
	wrong = wires_op(&w, 0, MF_OP_RMW, 8193, 8);
	good[2] = wires_op(&w, 0, MF_OP_WRITE_ACK, 4096, 64);
	good[3] = wires_op(&w, 0, MF_OP_READ, 4096, 64);
	wires_finish(&w, MF_MS(1));
	cr_expect_eq(w.done[bad].status, MF_ERR_RANGE);
	cr_expect_eq(w.done[wrong].status, MF_ERR_ALIGN);
	for (unsigned int i = 0; i < 4; i++)
		cr_expect_eq(w.done[good[i]].status, MF_OK, "%u", i);
	cr_expect_eq(w.done[adds].status, MF_OK);
	cr_expect_eq(*wires_memory(&w, 1, 8192), 1);
	cr_expect(data_came(&w, good[1], 0, 3000));
	cr_expect_eq(wires_counter(&w, 0, "queue_pairs_failed"), 2);
	cr_expect_eq(wires_counter(&w, 0, "timeouts"), 0);
	wires_stop(&w);
}

static bool lose_all(struct wires *w, unsigned int from, uint8_t *frame, uint16_t len)
{
	(void)from;
	(void)frame;
	(void)len;
	return w->ctx != 0;
}

/** Eight timeouts of 4.096 us x 2^8, and no more: then its operations have failed, and a new one goes on. */
Test(roce, a_dead_link_ends_everything)
{
	struct wires w;
	unsigned int read, write, after;

	wires_init(&w, "rocev2");
	w.script = lose_all;
	wires_start(&w);
	read = wires_op(&w, 0, MF_OP_READ, 0, 5000);
	write = wires_op(&w, 0, MF_OP_WRITE, 0, 5000);
	wires_finish(&w, MF_MS(20));
	cr_expect_eq(w.done[read].status, MF_ERR_TIMEOUT);
	cr_expect_eq(w.done[write].status, MF_ERR_UNKNOWN);
	cr_expect_eq(wires_counter(&w, 0, "timeouts"), 8);
	cr_expect_gt(w.done[read].done, 8 * (4096000ul << 8));
	cr_expect_lt(w.done[read].done, 8 * (4096000ul << 8) + MF_US(10));
	w.ctx = 1;
	after = wires_op(&w, 0, MF_OP_WRITE, 0, 5000);
	wires_finish(&w, MF_MS(30));
	cr_expect_eq(w.done[after].status, MF_OK);
	cr_expect(data_came(&w, after, 0, 5000));
	wires_stop(&w);
}

/* Rates */

/** One long message fills the line but for its headers: of 1,024 octets of data in 1,106 of the wire. */
Test(roce, one_long_message_has_the_line)
{
	static const enum mf_op_kind kinds[] = {MF_OP_READ, MF_OP_WRITE};

	for (unsigned int k = 0; k < 2; k++)
		for (unsigned int s = 0; s < 2; s++) {
			struct wires w;
			double octets = 4 << 20, rate, full = 12.5 * 1024 / (1024 + 58 + 4 + 8 + 12);

			wires_init(&w, s == 0 ? "rocev2" : "pfc");
			wires_start(&w);
			wires_op(&w, 0, kinds[k], 0, (uint64_t)octets);
			wires_finish(&w, MF_MS(10));
			rate = octets / ((double)w.done[0].done / 1000);
			cr_expect_geq(rate, 0.985 * full, "%s: %g of %g octets/ns", w.ops->name, rate, full);
			cr_expect_leq(rate, full);
			wires_stop(&w);
		}
}

/* Congestion */

static bool mark(struct wires *w, unsigned int from, uint8_t *frame, uint16_t len)
{
	(void)w;
	if (from == 0)
		mf_packet_mark(frame, len);
	return true;
}

/** Every packet is marked: a CNP each 50 us, for each of which the rate is halved. */
Test(roce, a_cnp_in_fifty_us)
{
	struct wires w;

	wires_init(&w, "pfc");
	w.script = mark;
	wires_start(&w);
	wires_op(&w, 0, MF_OP_WRITE, 0, 4 << 20);
	wires_run(&w, MF_US(399));
	cr_expect_geq(wires_counter(&w, 1, "cnps_sent"), 7);
	cr_expect_leq(wires_counter(&w, 1, "cnps_sent"), 8);
	cr_expect_gt(wires_counter(&w, 1, "ce_received"), 500);
	cr_expect_geq(wires_counter(&w, 0, "cnps_received"), 7);
	/* The first comes at once: 50 us at a half of the line, then at a quarter, ... */
	cr_expect_gt(w.octets[0], 12.5 * 50000 * 0.9);
	cr_expect_lt(w.octets[0], 12.5 * 50000 * 1.15);
	wires_finish(&w, MF_SEC(1));
	wires_stop(&w);
}

/* Pauses */

static void pause(struct wires *w, unsigned int node, uint8_t classes, uint16_t quanta)
{
	uint8_t frame[MF_PAUSE_LEN];
	const uint16_t all[MF_CLASSES] = {quanta, quanta, quanta, quanta, quanta, quanta, quanta, quanta};

	mf_pause_put(frame, 0, classes, all);
	cr_assert(w->ops->frame(w->stack[node], w->now, frame, sizeof(frame)));
}

Test(roce, a_pause_is_obeyed)
{
	struct wires w;
	mf_time end;

	wires_init(&w, "rocev2");
	wires_start(&w);
	pause(&w, 0, 0xf7, 1000); /* all classes but its own */
	wires_op(&w, 0, MF_OP_WRITE, 0, 100);
	wires_finish(&w, MF_US(3));
	pause(&w, 0, 0x08, 1000); /* 1,000 x 5.12 ns */
	end = w.now + 5120000;
	wires_op(&w, 0, MF_OP_WRITE, 0, 100);
	wires_run(&w, end - 1);
	cr_expect_eq(w.frames[0], 1);
	wires_run(&w, end);
	cr_expect_eq(w.frames[0], 2, "it ends by itself");
	wires_finish(&w, MF_US(20));
	pause(&w, 0, 0x08, 1000);
	wires_op(&w, 0, MF_OP_WRITE, 0, 100);
	wires_run(&w, w.now + MF_US(1));
	cr_expect_eq(w.frames[0], 2);
	pause(&w, 0, 0x08, 0);
	wires_run(&w, w.now + 1);
	cr_expect_eq(w.frames[0], 3, "or by another frame");
	wires_finish(&w, MF_US(20));
	pause(&w, 0, 0x08, 65535);
	wires_op(&w, 0, MF_OP_WRITE, 0, 100);
	wires_run(&w, w.now + MF_US(1));
	cr_expect_eq(w.frames[0], 3);
	w.ops->link_lost(w.stack[0]);
	wires_run(&w, w.now + 1);
	cr_expect_eq(w.frames[0], 4, "or with the link");
	cr_expect_eq(wires_counter(&w, 0, "pauses_received"), 4);
	cr_expect_eq(wires_counter(&w, 0, "resumes_received"), 1);
	wires_stop(&w);
}

/* Input of whatever kind */

static bool damage(struct wires *w, unsigned int from, uint8_t *frame, uint16_t len)
{
	uint8_t copy[1600];

	(void)from;
	for (unsigned int i = 0; i < 4; i++) {
		struct roce_packet p;

		memcpy(copy, frame, len);
		if (roce_get(copy, len, &p) != 0)
			break;
		/* Well-formed, and wrong: the ICRC is right. */
		switch (mf_rng_below(&rng, 6)) {
		case 0:
			p.psn += (uint32_t)mf_rng_below(&rng, 5) - 2;
			break;
		case 1:
			p.qp ^= 1U << mf_rng_below(&rng, 24);
			break;
		case 2:
			p.octets = (uint32_t)mf_rng_next(&rng);
			break;
		case 3:
			p.addr = mf_rng_next(&rng) >> mf_rng_below(&rng, 64);
			break;
		case 4:
			p.src = (uint16_t)mf_rng_below(&rng, 4);
			break;
		default:
			p.syndrome = (uint8_t)mf_rng_next(&rng);
		}
		len = roce_put(copy, &p);
		w->ops->frame(w->stack[1 - from], w->now, copy, (uint16_t)mf_rng_below(&rng, len + 1U));
		if (mf_rng_below(&rng, 4) == 0)
			w->ops->frame(w->stack[1 - from], w->now, copy, len);
	}
	return true;
}

Test(roce, survives_any_input)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct wires w;

		wires_init(&w, seed % 2 ? "rocev2" : "pfc");
		w.script = damage;
		mf_rng_init(&rng, seed, "damage", 0);
		wires_start(&w);
		for (unsigned int i = 0; i < 100; i++) {
			wires_op(&w, i % 2, i % 3 ? MF_OP_WRITE : MF_OP_READ, 4096 * i,
				 1 + mf_rng_below(&rng, 3000));
			wires_op(&w, i % 2, MF_OP_RMW, 8 * i, 8);
		}
		/* They end, well or not: what a forged packet brings about nobody can undo. */
		wires_finish(&w, MF_SEC(3));
		wires_stop(&w);
	}
}
