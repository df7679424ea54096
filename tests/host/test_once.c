/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests that are sent again (once.h), message by message: what was sent again rests, and of what comes in
 * other pieces than before each octet counts once.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "bench.h"

/** Reads 64 octets, which is answered when the request was sent so often. @return its id */
static uint8_t read_with(struct bench *b, unsigned int sendings)
{
	static const uint8_t data[64];
	uint8_t buf[64];
	struct mf_op op = {.kind = MF_OP_READ, .node = MEMORY, .len = sizeof(buf), .buf = buf};
	struct mf_completion done;
	struct mf_msg answer;
	unsigned int before = b->messages;

	cr_assert_eq(mf_host_submit(b->host, b->now, &op), 0);
	while (b->messages < before + sendings)
		bench_run(b, b->now + MF_US(1));
	answer = (struct mf_msg){.kind = MF_RRES,
				 .src = MEMORY,
				 .dst = US,
				 .id = b->sent.id,
				 .ext = true,
				 .epoch = b->sent.epoch,
				 .size = sizeof(data),
				 .last = true};
	bench_give(b, &answer, data);
	cr_assert_eq(mf_host_completions(b->host, b->now, &done, 1), 1);
	cr_assert_eq(done.status, MF_OK);
	return answer.id;
}

/**
 * Each sending of a request may be granted and answered, and a /G/ does not say which use of the id it is
 * for: the id of what was sent again rests, also where it ended well. One that was sent once does not.
 */
Test(host_once, what_was_sent_again_rests)
{
	for (unsigned int sendings = 1; sendings <= 3; sendings++) {
		uint8_t id, next;
		struct bench b;

		bench_start(&b, US);
		id = read_with(&b, sendings);
		next = read_with(&b, 1);
		cr_assert_eq(next == id, sendings == 1, "sent %u times: ids %u, then %u", sendings, id, next);
		cr_assert_eq(mf_host_stats(b.host)->quarantined, sendings > 1);
		bench_run(&b, b.now + QUARANTINE + MF_US(1));
		cr_assert_eq(read_with(&b, 1), id, "the lowest one that is free");
		bench_stop(&b);
	}
}

/** Writes 8 octets in one chunk, which is granted. @return its id */
static uint8_t write_one(struct bench *b)
{
	uint8_t data[8] = {0};
	struct mf_op op = {.kind = MF_OP_WRITE, .node = MEMORY, .len = sizeof(data), .buf = data};
	struct mf_completion done;
	struct mf_span grant = {.period = ALONE_PERIOD, .count = 1, .sync = {MF_SYNC_CTRL}};
	struct mf_msg m;

	cr_assert_eq(mf_host_submit(b->host, b->now, &op), 0);
	bench_run(b, b->now + MF_US(1));
	m = (struct mf_msg){.kind = MF_GRANT, .dst = MEMORY, .id = b->asked, .size = sizeof(data)};
	grant.start = b->now;
	grant.word[0] = mf_proto_put_single(&m);
	mf_host_rx(b->host, b->now, &grant);
	bench_run(b, b->now + MF_US(1));
	cr_assert_eq(mf_host_completions(b->host, b->now, &done, 1), 1);
	cr_assert_eq(done.status, MF_OK);
	return m.id;
}

/**
 * A plain write is over when it is sent. If it is lost on the way, the switch waits for it behind those that
 * come before its next chunk: none of all other ids is used twice in between.
 */
Test(host_once, writes_take_ids_in_turn)
{
	struct bench b;

	bench_start(&b, US);
	for (unsigned int i = 0; i < 3 * MF_IDS; i++) {
		uint8_t id = write_one(&b);

		cr_assert_eq(id, i % MF_IDS, "write %u has id %u", i, id);
		if (i % 16 == 0)
			cr_assert_eq(read_with(&b, 1), 0, "a read takes the lowest");
	}
	bench_stop(&b);
}

/** Begins to read. @return the request */
static struct mf_msg ask(struct bench *b)
{
	static uint8_t buf[64];
	struct mf_op op = {.kind = MF_OP_READ, .node = MEMORY, .len = sizeof(buf), .buf = buf};

	cr_assert_eq(mf_host_submit(b->host, b->now, &op), 0);
	bench_run(b, b->now + MF_US(1));
	return b->sent;
}

/** A request is refused, by way of a switch. @return operations that have failed with that */
static unsigned int refuse_by(struct bench *b, unsigned int link, const struct mf_msg *request)
{
	const struct mf_msg err = {.kind = MF_ERR,
				   .src = MEMORY,
				   .dst = US,
				   .id = request->id,
				   .epoch = request->epoch & ((1 << MF_ERR_USE_BITS) - 1),
				   .status = MF_ERR_KEY,
				   .of = MF_RREQ};
	struct mf_span s = {.start = b->now, .period = ALONE_PERIOD, .count = 1, .sync = {MF_SYNC_CTRL}};
	struct mf_completion done[16];
	unsigned int n;

	s.word[0] = mf_proto_put_single(&err);
	mf_host_rx_by(b->host, link, b->now, &s);
	bench_run(b, b->now + MF_US(1));
	n = mf_host_completions(b->host, b->now, done, 16);
	for (unsigned int i = 0; i < n; i++)
		cr_assert_eq(done[i].status, MF_ERR_KEY);
	return n;
}

/**
 * Two switches, and a long cable to one of them: the second copy of a refusal comes when four others have
 * been refused. It says two bits of the use of its id, so the id rests until it is there.
 */
Test(host_once, a_refusal_comes_by_both_switches)
{
	struct mf_msg m[5], next;
	struct bench b;

	bench_begin(&b, US, true);
	for (unsigned int i = 0; i < 4; i++) {
		m[i] = ask(&b);
		cr_assert_eq(refuse_by(&b, 1, &m[i]), 1);
	}
	m[4] = ask(&b);
	for (unsigned int i = 0; i < 4; i++)
		cr_expect_eq(refuse_by(&b, 0, &m[i]), 0,
			     "copy %u is taken for a refusal of what is asked now", i);
	cr_expect_eq(refuse_by(&b, 0, &m[4]), 1);
	cr_expect_eq(refuse_by(&b, 1, &m[4]), 0);
	next = ask(&b);
	cr_expect_eq(next.id, m[0].id, "all copies are there: the lowest id is free");
	mf_host_link_down(b.host, 1, b.now);
	cr_expect_eq(refuse_by(&b, 0, &next), 1);
	cr_expect_neq(ask(&b).id, next.id, "the link may be there again when the copy comes");
	bench_stop(&b);
}

/**
 * A write is sent again and granted in other pieces: what of it was applied before has been overwritten by
 * somebody since, and stays so.
 */
Test(host_once, octets_of_a_write_are_applied_once)
{
	uint8_t first[64], second[64];
	struct mf_msg m = bench_chunk(US, 3, 0, 32, false);
	struct bench b;

	memset(first, 1, sizeof(first));
	memset(second, 2, sizeof(second));
	bench_start(&b, MEMORY);
	bench_give(&b, &m, first);
	bench_expect(&b, 0, 32, 1);
	m = bench_chunk(OTHER, 3, 0, 32, true);
	bench_give(&b, &m, second);
	bench_expect(&b, 0, 32, 2);
	cr_assert_eq(b.acks, 1);
	m = bench_chunk(US, 3, 0, 64, true);
	m.again = 1;
	bench_give(&b, &m, first);
	bench_expect(&b, 0, 32, 2);
	bench_expect(&b, 32, 64, 1);
	cr_assert_eq(b.acks, 2, "it is there as a whole");
	cr_assert_eq(mf_host_stats(b.host)->rx_octets, 96);
	bench_stop(&b);
}

/** Chunks of 64 octets of one sending, from..to. */
static void give_chunks(struct bench *b, uint8_t again, uint32_t from, uint32_t to)
{
	const uint8_t data[64] = {0};

	for (uint32_t at = from; at < to; at += sizeof(data)) {
		struct mf_msg m = bench_chunk(US, 3, at, sizeof(data), at == SIZE - sizeof(data));

		m.again = again;
		bench_give(b, &m, data);
	}
}

/** So often a gap was told so far, the last time with this: applied, in MF_GAP_UNIT. */
static void expect_gaps(const struct bench *b, unsigned int gaps, uint8_t applied, const char *where)
{
	cr_assert_eq(b->gaps, gaps, "%s: told %u times", where, b->gaps);
	cr_assert_eq(b->gap.of, applied, "%s: %u", where, b->gap.of);
	cr_assert(b->gap.dst == US && b->gap.id == 3 && b->gap.epoch == (7 & ((1 << MF_ERR_USE_BITS) - 1)));
}

/** The memory node tells how far it is: once a sending when a chunk is missing, once when it has one. */
Test(host_once, a_gap_is_told)
{
	struct bench b;

	bench_start(&b, MEMORY);
	give_chunks(&b, 0, 0, 4096 + 64);
	give_chunks(&b, 0, 0, 64);
	cr_assert_eq(b.gaps, 0, "a copy within the first sending says nothing");
	give_chunks(&b, 0, 4096 + 128, 6000);
	expect_gaps(&b, 1, 1, "a chunk is missing");
	give_chunks(&b, 1, 0, 256);
	expect_gaps(&b, 2, 1, "the second sending begins at 0");
	give_chunks(&b, 1, 4096, 8192);
	expect_gaps(&b, 2, 1, "in order");
	give_chunks(&b, 1, 9216, 10240);
	expect_gaps(&b, 3, 2, "a chunk is missing again");
	give_chunks(&b, 0, 12288, 16384);
	expect_gaps(&b, 3, 2, "of the first sending");
	give_chunks(&b, 2, 8192, SIZE);
	expect_gaps(&b, 3, 2, "the rest");
	cr_assert_eq(b.acks, 1);
	cr_assert_eq(b.refusals, 0);
	bench_stop(&b);
}

/** Nobody sends again: nobody is told. */
Test(host_once, no_gap_is_told_without_retries)
{
	struct bench b;

	bench_begin_with(&b, MEMORY, false, 0);
	give_chunks(&b, 0, 64, 128);
	cr_assert_eq(mf_host_stats(b.host)->gaps, 1);
	cr_assert_eq(b.gaps, 0);
	bench_stop(&b);
}

static void give_single(struct bench *b, const struct mf_msg *m)
{
	struct mf_span s = {.start = b->now, .period = ALONE_PERIOD, .count = 1, .sync = {MF_SYNC_CTRL}};

	s.word[0] = mf_proto_put_single(m);
	mf_host_rx(b->host, b->now, &s);
}

/** What is asked for next: its octets, and where its first chunk begins. All of it is granted and sent. */
static void expect_sending(struct bench *b, unsigned int number, uint32_t size, uint32_t from)
{
	struct mf_msg m = {.kind = MF_GRANT, .dst = MEMORY, .size = 64};

	while (b->demands < number)
		bench_run(b, b->now + MF_NS(100));
	cr_assert_eq(b->asked_size, size, "sending %u is of %u octets", number, b->asked_size);
	m.id = b->asked;
	give_single(b, &m);
	bench_run(b, b->now + MF_NS(100));
	cr_assert_eq(b->sent.offset, from, "sending %u begins at %u", number, b->sent.offset);
	for (uint32_t granted = 64; granted < size; granted += 64)
		give_single(b, &m);
	while (!b->sent.last)
		bench_run(b, b->now + MF_NS(100));
}

/** Who writes goes on where the memory node is, if that is of the use which is under way. */
Test(host_once, a_write_goes_on_at_the_gap)
{
	static uint8_t data[3 * 4096];
	struct mf_op op = {.kind = MF_OP_WRITE_ACK, .node = MEMORY, .len = sizeof(data), .buf = data};
	struct mf_msg gap = {.kind = MF_ERR, .src = MEMORY, .dst = US, .status = MF_ERR_GAP, .of = 2};
	struct bench b;

	bench_begin_with(&b, US, false, 5);
	cr_assert_eq(mf_host_submit(b.host, b.now, &op), 0);
	expect_sending(&b, 1, sizeof(data), 0);
	gap.id = b.asked;
	gap.epoch = (b.sent.epoch ^ 1) & ((1 << MF_ERR_USE_BITS) - 1);
	give_single(&b, &gap);
	cr_assert_eq(mf_host_stats(b.host)->old, 1);
	expect_sending(&b, 2, sizeof(data), 0); /* that was of another use */
	gap.epoch ^= 1;
	give_single(&b, &gap);
	expect_sending(&b, 3, 4096, 8192);
	gap.of = 1; /* it had been told too much */
	give_single(&b, &gap);
	expect_sending(&b, 4, 8192, 4096);
	gap.of = 3; /* there is not so much */
	give_single(&b, &gap);
	expect_sending(&b, 5, sizeof(data), 0);
	bench_stop(&b);
}

/** The same of a response: what comes again in a longer piece is taken from where it is new. */
Test(host_once, octets_of_a_response_are_taken_once)
{
	uint8_t data[64], buf[64];
	struct mf_op op = {.kind = MF_OP_READ, .node = MEMORY, .len = sizeof(buf), .buf = buf};
	struct mf_completion done;
	struct mf_msg m;
	struct bench b;

	bench_start(&b, US);
	cr_assert_eq(mf_host_submit(b.host, b.now, &op), 0);
	bench_run(&b, b.now + MF_US(1));
	m = (struct mf_msg){.kind = MF_RRES,
			    .src = MEMORY,
			    .dst = US,
			    .id = b.sent.id,
			    .ext = true,
			    .epoch = b.sent.epoch,
			    .size = 32};
	memset(data, 1, sizeof(data));
	bench_give(&b, &m, data);
	m.size = 64;
	m.last = true;
	memset(data, 2, sizeof(data));
	bench_give(&b, &m, data);
	cr_assert_eq(mf_host_completions(b.host, b.now, &done, 1), 1);
	cr_assert_eq(done.status, MF_OK);
	for (unsigned int i = 0; i < 64; i++)
		cr_assert_eq(buf[i], i < 32 ? 1 : 2, "octet %u", i);
	cr_assert_eq(mf_host_stats(b.host)->rx_octets, 64);
	bench_stop(&b);
}

/** What comes behind the first half of a write, by the switch that is obeyed. */
static void give_read(struct bench *b)
{
	const struct mf_msg m = {
		.kind = MF_RREQ, .src = US, .dst = MEMORY, .id = 9, .ext = true, .number = 2, .size = 64};

	bench_request_by(b, 0, &m);
	bench_run(b, b->now + MF_US(1));
}

/**
 * Two switches. By the first one half of a write came, and what is behind it in the order of their pair: the
 * other half was lost there. It comes by the second one, too late for the order. When it is sent again it is
 * applied: what is sent again has no place in the order.
 */
static void half_comes_late(bool read, bool rest)
{
	struct mf_msg first = bench_chunk(US, 3, 0, 32, false), second = bench_chunk(US, 3, 32, 32, true);
	struct mf_msg other = bench_chunk(US, 4, 0, 32, true);
	uint8_t data[32], later[32];
	struct bench b;

	memset(data, 1, sizeof(data));
	memset(later, 2, sizeof(later));
	other.addr = 32;
	first.number = second.number = 1;
	other.number = 2;
	bench_begin(&b, MEMORY, true);
	bench_give_by(&b, 0, &first, data);
	if (read)
		give_read(&b);
	else
		bench_give_by(&b, 0, &other, later);
	if (rest)
		bench_give_by(&b, 1, &first, data);
	bench_give_by(&b, 1, &second, data);
	bench_expect(&b, 0, 32, 1);
	bench_expect(&b, 32, 64, read ? 0 : 2);
	cr_expect_eq(b.acks, !read, "of what was written as a whole");
	cr_expect_eq(mf_host_stats(b.host)->gaps, 1);
	cr_expect_eq(mf_host_stats(b.host)->copies, rest);
	second.again = 1;
	bench_give_by(&b, 1, &second, data);
	bench_expect(&b, 32, 64, 1);
	cr_expect_eq(b.acks, !read + 1u);
	bench_stop(&b);
}

Test(host_once, a_copy_does_not_overtake)
{
	for (unsigned int i = 0; i < 4; i++)
		half_comes_late(i & 1, i & 2);
}

/** A switch of two refuses a demand. @return operations that have failed with that */
static unsigned int refuse_demand(struct bench *b, unsigned int link, uint8_t id)
{
	const struct mf_msg err = {.kind = MF_ERR,
				   .src = MEMORY,
				   .dst = US,
				   .id = id,
				   .status = MF_ERR_RESOURCE,
				   .of = MF_NOTIFY};
	struct mf_span s = {.start = b->now, .period = ALONE_PERIOD, .count = 1, .sync = {MF_SYNC_CTRL}};
	struct mf_completion done;
	unsigned int n;

	s.word[0] = mf_proto_put_single(&err);
	mf_host_rx_by(b->host, link, b->now, &s);
	bench_run(b, b->now + MF_US(1));
	n = mf_host_completions(b->host, b->now, &done, 1);
	cr_expect(n == 0 || done.status == MF_ERR_RESOURCE);
	return n;
}

/** The active switch refuses what is asked too often, reads, too. The other one is told, and is not heard. */
Test(host_once, the_active_switch_refuses)
{
	const unsigned int last_sending = 2; /* of RETRY each */
	struct mf_msg m;
	struct bench b;

	bench_begin(&b, US, true);
	m = ask(&b);
	bench_run(&b, b.now + last_sending * RETRY);
	cr_expect_eq(refuse_demand(&b, 1, m.id), 0, "it is not the active one");
	cr_expect_eq(b.passed_on, 0);
	cr_expect_eq(refuse_demand(&b, 0, m.id), 1);
	cr_expect_eq(b.passed_on, 1);
	bench_stop(&b);
}

/**
 * The other switch is the active one, which may have let reads out behind a write: what the demoted one sent
 * of that comes too late. When it says that it knows, all of that has come.
 */
Test(host_once, what_a_demoted_switch_sent_is_not_applied)
{
	struct mf_msg m = bench_chunk(US, 3, 0, 32, true);
	uint8_t data[32];
	struct bench b;

	memset(data, 1, sizeof(data));
	bench_begin(&b, MEMORY, true);
	bench_tell_epoch(&b, 1, 1);
	cr_expect_eq(mf_host_epoch(b.host), 1);
	bench_give_by(&b, 0, &m, data);
	bench_expect(&b, 0, 32, 0);
	cr_expect_eq(mf_host_stats(b.host)->drop_fenced, 1);
	bench_tell_epoch(&b, 0, 1);
	bench_give_by(&b, 0, &m, data);
	bench_expect(&b, 0, 32, 1);
	bench_stop(&b);
}

/** A switch died: what the other one passed before it knows is not lost. */
Test(host_once, what_the_other_switch_sends_is_applied)
{
	struct mf_msg m = bench_chunk(US, 3, 0, 32, true);
	uint8_t data[32];
	struct bench b;

	memset(data, 1, sizeof(data));
	bench_begin(&b, MEMORY, true);
	mf_host_link_down(b.host, 0, b.now);
	cr_expect_eq(mf_host_epoch(b.host), 1);
	bench_give_by(&b, 1, &m, data);
	bench_expect(&b, 0, 32, 1);
	bench_stop(&b);
}

/**
 * The standby may have what the requester gives up, and would let it out behind what is asked next; a switch
 * that stood still has its demand, and no room for the next. They are told, and behind the request, which may
 * have begun just before.
 */
Test(host_once, what_is_given_up_is_passed_on)
{
	static uint8_t buf[64];
	struct mf_op op = {.kind = MF_OP_READ, .node = MEMORY, .len = sizeof(buf), .buf = buf};
	struct mf_completion done[4];

	static const uint16_t incarnation[] = {0, 700};

	for (unsigned int i = 0; i < 4; i++) {
		struct bench b;

		bench_begin(&b, US, i < 3);
		cr_expect_eq(mf_host_submit(b.host, b.now, &op), 0);
		if (i >= 2) /* its timer ends, with two switches and with one */
			bench_run(&b, b.now + 4 * TIMEOUT);
		else
			bench_tell_incarnation(&b, MEMORY, 0, incarnation[i], MF_ERR_RESTARTED);
		bench_run(&b, b.now + MF_US(1));
		cr_expect_eq(mf_host_completions(b.host, b.now, done, 4), 1);
		cr_expect_eq(b.passed_on, 1, "%u: %u", i, b.passed_on);
		cr_expect_eq(b.passed_behind, b.messages, "%u: in front of the request", i);
		bench_stop(&b);
	}
}

/** A read beyond the end of the memory, sent so often before. */
static void ask_beyond(struct bench *b, unsigned int link, uint8_t again)
{
	const struct mf_msg m = {.kind = MF_RREQ,
				 .src = US,
				 .dst = MEMORY,
				 .id = 9,
				 .ext = true,
				 .again = again,
				 .addr = SIZE,
				 .size = 64};

	bench_request_by(b, link, &m);
	bench_run(b, b->now + MF_US(1));
}

/* What was refused is so again when it is sent again, and not for a copy of that by the other switch. */
Test(host_once, each_sending_is_refused_once)
{
	struct bench b;

	bench_begin(&b, MEMORY, true);
	ask_beyond(&b, 0, 0);
	cr_assert_geq(b.refusals, 1);
	b.refusals = 0;
	ask_beyond(&b, 1, 0);
	cr_expect_eq(b.refusals, 0, "a copy");
	ask_beyond(&b, 0, 1);
	cr_expect_geq(b.refusals, 1, "sent again");
	b.refusals = 0;
	ask_beyond(&b, 1, 1);
	cr_expect_eq(b.refusals, 0, "a copy of what was sent again");
	bench_stop(&b);
}

/** A request while there is neither a data buffer nor room in the multiplexer. */
static void ask_without_room(struct bench *b, const struct mf_msg *m)
{
	mf_host_exhaust(b->host, MF_HOST_BUFFERS, true);
	mf_host_exhaust(b->host, MF_HOST_MUX, true);
	bench_request_by(b, 0, m);
	mf_host_exhaust(b->host, MF_HOST_MUX, false);
	mf_host_exhaust(b->host, MF_HOST_BUFFERS, false);
	bench_run(b, b->now + MF_US(1));
}

/** What was not executed for want of room is executed when it is sent again; an atomic that was is not. */
Test(host_once, what_had_no_room_is_tried_again)
{
	struct mf_msg read = {.kind = MF_RREQ, .src = US, .dst = MEMORY, .id = 3, .ext = true, .size = 64};
	struct mf_msg add = {.kind = MF_RMWREQ, .src = US, .dst = MEMORY, .id = 4, .ext = true};
	struct bench b;

	add.op = MF_RMW_FADD;
	add.arg[0] = 5;
	bench_start(&b, MEMORY);
	ask_without_room(&b, &read);
	ask_without_room(&b, &add);
	bench_expect(&b, 0, 8, 0);
	cr_expect_eq(b.refusals, 2);
	cr_expect_eq(b.messages, 0);
	bench_request_by(&b, 0, &read);
	bench_run(&b, b.now + MF_US(1));
	cr_expect_eq(b.refusals, 3, "a copy is answered as before");
	read.again = add.again = 1;
	bench_request_by(&b, 0, &read);
	bench_run(&b, b.now + MF_US(1));
	cr_expect_eq(b.messages, 1);
	cr_expect_eq(b.sent.kind, MF_RRES);
	for (; add.again <= 2; add.again++) {
		bench_request_by(&b, 0, &add);
		bench_run(&b, b.now + MF_US(1));
		cr_expect_eq(b.messages, 1u + add.again);
		cr_expect_eq(b.sent.kind, MF_RRES);
		bench_expect(&b, 0, 1, 5);
	}
	cr_expect_eq(b.refusals, 3);
	bench_stop(&b);
}

/** Time passes, and the line takes nothing. */
static void hold(struct bench *b, mf_time time)
{
	for (mf_time until = b->now + time; b->now < until; b->now += MF_US(1))
		mf_host_run(b->host, b->now);
}

static unsigned int failed(struct bench *b)
{
	struct mf_completion done[16];
	unsigned int n = mf_host_completions(b->host, b->now, done, 16);

	for (unsigned int i = 0; i < n; i++)
		cr_assert_eq(done[i].status, MF_ERR_UNKNOWN);
	return n;
}

/** A part of the write that has this id is granted. */
static void grant_part(struct bench *b, uint8_t id, uint32_t size)
{
	const struct mf_msg m = {.kind = MF_GRANT, .dst = MEMORY, .id = id, .size = size};
	struct mf_span s = {.start = b->now, .period = ALONE_PERIOD, .count = 1, .sync = {MF_SYNC_CTRL}};

	s.word[0] = mf_proto_put_single(&m);
	mf_host_rx(b->host, b->now, &s);
}

/**
 * The first chunk of a write stands in front of a line that takes nothing until the write has failed, and its
 * id is that of another write. When it goes at last it is not that one which has begun.
 */
Test(host_once, a_chunk_that_goes_late_is_of_its_own_use)
{
	static uint8_t data[128];
	const struct mf_op op = {.kind = MF_OP_WRITE, .node = MEMORY, .len = sizeof(data), .buf = data};
	struct mf_completion done;
	struct bench b;
	mf_time gone;

	bench_begin_with(&b, US, false, 1); /* the line has room for all that is said */
	cr_assert_eq(mf_host_submit(b.host, b.now, &op), 0);
	bench_run(&b, b.now + MF_US(1));
	cr_assert_eq(b.asked, 0);
	grant_part(&b, 0, 64);
	for (unsigned int i = 1; i <= MF_IDS; i++) {
		hold(&b, RETRY + TIMEOUT + MF_US(2));
		cr_assert_eq(failed(&b), 1, "write %u", i);
		cr_assert_eq(mf_host_submit(b.host, b.now, &op), 0);
	}
	cr_assert_eq(b.messages, 0);
	bench_run(&b, b.now + MF_US(5));
	cr_assert_eq(b.messages, 1, "the chunk has gone");
	cr_assert_eq(b.asked, 0, "the last one has its id");
	gone = b.now;
	for (unsigned int i = 0; i < 2; i++) {
		grant_part(&b, 0, 64);
		bench_run(&b, b.now + MF_US(1));
	}
	cr_assert_eq(mf_host_completions(b.host, b.now, &done, 1), 1);
	cr_assert_eq(done.status, MF_OK);
	cr_expect_geq(done.first, gone);
	bench_stop(&b);
}
