/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two switches, one of which is late: what it brings is not executed behind what was asked later and came by
 * the other one.
 */
#include <criterion/criterion.h>

#include "bench.h"

#define HALF (UINT32_C(1) << (MF_NUMBER_BITS - 1))

/** A write of 32 octets of a value at an address, whole; the id follows from the number. */
static void write_by(struct bench *b, unsigned int link, uint16_t src, uint32_t number, uint64_t addr,
		     uint8_t value)
{
	struct mf_msg m = bench_chunk(src, (uint8_t)number, 0, 32, true);
	uint8_t data[32];

	memset(data, value, sizeof(data));
	m.number = number & ((1u << MF_NUMBER_BITS) - 1);
	m.addr = addr;
	bench_give_by(b, link, &m, data);
}

/** An atomic adds one. */
static void add_by(struct bench *b, unsigned int link, uint32_t number)
{
	const struct mf_msg m = {.kind = MF_RMWREQ,
				 .src = US,
				 .dst = MEMORY,
				 .id = (uint8_t)number,
				 .ext = true,
				 .epoch = 7,
				 .op = MF_RMW_FADD,
				 .arg = {1},
				 .number = number};

	bench_request_by(b, link, &m);
	bench_run(b, b->now + MF_US(1));
}

static void read_by(struct bench *b, unsigned int link, uint32_t number)
{
	const struct mf_msg m = {.kind = MF_RREQ,
				 .src = US,
				 .dst = MEMORY,
				 .id = (uint8_t)number,
				 .ext = true,
				 .epoch = 7,
				 .size = 32,
				 .number = number};

	bench_request_by(b, link, &m);
	bench_run(b, b->now + MF_US(1));
}

static uint64_t dropped(const struct bench *b)
{
	return mf_host_stats(b->host)->gaps;
}

/** It is not applied, and not acknowledged; nor is it when it comes once more. */
Test(host_overtaken, a_write_behind_a_later_one)
{
	struct bench b;

	bench_begin(&b, MEMORY, true);
	write_by(&b, 0, US, 5, 0, 2);
	write_by(&b, 1, US, 4, 0, 1);
	write_by(&b, 1, US, 4, 0, 1);
	write_by(&b, 1, US, 5, 0, 2);
	bench_expect(&b, 0, 32, 2);
	cr_expect_eq(b.acks, 1);
	cr_expect_eq(dropped(&b), 2);
	cr_expect_eq(mf_host_stats(b.host)->copies, 1);
	write_by(&b, 1, US, 6, 0, 3);
	bench_expect(&b, 0, 32, 3);
	bench_stop(&b);
}

/** The chunks of a message have one number, whichever switch each of them comes by. */
Test(host_overtaken, a_write_of_several_chunks)
{
	struct mf_msg first = bench_chunk(US, 3, 0, 32, false), second = bench_chunk(US, 3, 32, 32, true);
	uint8_t data[32];
	struct bench b;

	memset(data, 1, sizeof(data));
	first.number = second.number = 5;
	bench_begin(&b, MEMORY, true);
	bench_give_by(&b, 0, &first, data);
	bench_give_by(&b, 1, &second, data);
	bench_expect(&b, 0, 64, 1);
	cr_expect_eq(b.acks, 1);
	cr_expect_eq(dropped(&b), 0);
	bench_stop(&b);
}

/** A read that was answered has not seen it, and another one would. */
Test(host_overtaken, a_write_behind_a_later_read)
{
	struct bench b;

	bench_begin(&b, MEMORY, true);
	read_by(&b, 0, 5);
	write_by(&b, 1, US, 4, 0, 1);
	bench_expect(&b, 0, 32, 0);
	cr_expect_eq(dropped(&b), 1);
	bench_stop(&b);
}

Test(host_overtaken, an_atomic_behind_a_later_write)
{
	struct bench b;
	unsigned int sent;

	bench_begin(&b, MEMORY, true);
	add_by(&b, 0, 3);
	bench_expect(&b, 0, 1, 1);
	write_by(&b, 0, US, 5, 64, 2);
	sent = b.messages;
	add_by(&b, 1, 4);
	bench_expect(&b, 0, 1, 1);
	cr_expect_eq(b.messages, sent, "no result");
	cr_expect_eq(dropped(&b), 1);
	bench_stop(&b);
}

/** A read changes nothing: who waits for it is answered. What comes then is not judged by it. */
Test(host_overtaken, a_read_is_answered)
{
	struct bench b;
	unsigned int sent;

	bench_begin(&b, MEMORY, true);
	write_by(&b, 0, US, 5, 0, 2);
	sent = b.messages;
	read_by(&b, 1, 3);
	cr_expect_eq(b.messages, sent + 1);
	cr_expect_eq(dropped(&b), 0);
	write_by(&b, 1, US, 4, 0, 1);
	bench_expect(&b, 0, 32, 2);
	cr_expect_eq(dropped(&b), 1);
	bench_stop(&b);
}

/** Each source has an order of its own. */
Test(host_overtaken, others_are_not)
{
	struct bench b;

	bench_begin(&b, MEMORY, true);
	write_by(&b, 0, US, 5, 0, 2);
	write_by(&b, 1, OTHER, 4, 0, 1);
	bench_expect(&b, 0, 32, 1);
	cr_expect_eq(dropped(&b), 0);
	bench_stop(&b);
}

/** Numbers go round: one is behind another if it is less than half of them back. */
Test(host_overtaken, numbers_go_round)
{
	struct bench b;

	bench_begin(&b, MEMORY, true);
	write_by(&b, 0, US, 2 * HALF - 1, 0, 1);
	write_by(&b, 0, US, 2 * HALF, 32, 2);
	bench_expect(&b, 32, 64, 2);
	write_by(&b, 1, US, 2 * HALF - 2, 0, 3);
	bench_expect(&b, 0, 32, 1);
	write_by(&b, 0, US, HALF - 3, 0, 4);
	bench_expect(&b, 0, 32, 4);
	write_by(&b, 1, US, 3, 0, 5);
	bench_expect(&b, 0, 32, 4);
	cr_expect_eq(dropped(&b), 2);
	bench_stop(&b);
}

/** The numbers of an incarnation have nothing to do with those of the one before. */
Test(host_overtaken, a_new_incarnation_begins_anew)
{
	struct bench b;

	bench_begin(&b, MEMORY, true);
	write_by(&b, 0, US, 5, 0, 2);
	bench_tell_incarnation(&b, US, 0, 2, MF_ERR_RESTARTED);
	bench_tell_incarnation(&b, US, 1, 2, MF_ERR_RESTARTED);
	write_by(&b, 1, US, 4, 0, 1);
	bench_expect(&b, 0, 32, 1);
	write_by(&b, 0, US, 3, 0, 3);
	bench_expect(&b, 0, 32, 1);
	bench_stop(&b);
}

/** With one switch there is one way, and no order to be kept here. */
Test(host_overtaken, with_one_switch_nothing_is)
{
	struct bench b;

	bench_start(&b, MEMORY);
	write_by(&b, 0, US, 5, 0, 2);
	write_by(&b, 0, US, 4, 0, 1);
	bench_expect(&b, 0, 32, 1);
	bench_stop(&b);
}

/** `order: direction`: writes have an order among them, and requests, and neither with the other. */
Test(host_overtaken, directions_apart)
{
	struct bench b;

	bench_begin_direction(&b, MEMORY);
	read_by(&b, 0, 9);
	write_by(&b, 1, US, 5, 0, 2);
	bench_expect(&b, 0, 32, 2);
	write_by(&b, 1, US, 4, 0, 1);
	bench_expect(&b, 0, 32, 2);
	add_by(&b, 1, 8);
	bench_expect(&b, 0, 1, 2);
	add_by(&b, 1, 10);
	bench_expect(&b, 0, 1, 3);
	cr_expect_eq(dropped(&b), 2);
	bench_stop(&b);
}

/** Who asks numbers what it asks of each node, of all kinds; what is sent again keeps its number. */
Test(host_overtaken, messages_are_numbered)
{
	static uint8_t buf[8];
	struct mf_op op = {.kind = MF_OP_READ, .node = MEMORY, .len = sizeof(buf), .buf = buf};
	struct bench b;

	bench_begin(&b, US, true);
	for (uint32_t i = 1; i <= 3; i++) {
		op.kind = i == 2 ? MF_OP_RMW : MF_OP_READ;
		op.rmw = MF_RMW_FADD;
		op.node = MEMORY;
		cr_assert_eq(mf_host_submit(b.host, b.now, &op), 0);
		bench_run(&b, b.now + MF_US(1));
		cr_expect_eq(b.sent.number, i);
		if (i > 1)
			continue;
		op.node = OTHER;
		cr_assert_eq(mf_host_submit(b.host, b.now, &op), 0);
		bench_run(&b, b.now + MF_US(1));
		cr_expect_eq(b.sent.number, 1, "of another node");
	}
	bench_run(&b, MF_US(1) + RETRY + MF_US(1));
	cr_expect_eq(b.sent.again, 1);
	cr_expect(b.sent.number >= 1 && b.sent.number <= 3);
	bench_stop(&b);

	bench_start(&b, US);
	cr_assert_eq(mf_host_submit(b.host, b.now, &op), 0);
	bench_run(&b, b.now + MF_US(1));
	cr_expect_eq(b.sent.number, 0, "with one switch there is none");
	bench_stop(&b);
}
