/* SPDX-License-Identifier: BSD-3-Clause */
/* The layer of spaces over a host that refuses, loses and starts again. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "memory/mf_call.h"
#include "rig.h"
#include "spaces/spaces.h"

#define SEED 0x5eed0051
#define REGION (6 * RIG_PAGE) /* of rig_config() */

static struct rig r;
static uint8_t buffer[16][REGION];

static void begin(const struct rig_config *config)
{
	memset(buffer, 0, sizeof(buffer));
	rig_make(&r, config);
}

static void end(void)
{
	for (unsigned int i = 1; i <= r.config.targets; i++)
		cr_expect_null(rig_audit(&r, i), "node %u: %s", i, rig_audit(&r, i));
	cr_expect(!r.bad_order, "completions in the order of their time");
	rig_free(&r);
}

static void submit(struct mf_op op)
{
	cr_assert_eq(rig_submit(&r, &op), 0);
}

static void settle(void)
{
	cr_assert(rig_settle(&r, MF_MS(200)), "%u calls at one time, %u outstanding", r.calls_most,
		  r.layer->ops->outstanding(r.layer));
}

static uint8_t status_of(uint64_t user)
{
	int i = rig_find(&r, user);

	return i < 0 ? MF_STATUS_WORDS : r.done[i].status;
}

static void all_are_good(unsigned int ops)
{
	cr_expect_eq(r.dones, ops);
	for (unsigned int i = 0; i < r.dones; i++)
		cr_expect_eq(r.done[i].status, MF_OK, "operation %lu: %u", r.done[i].user, r.done[i].status);
}

Test(spaces, a_region_is_memory)
{
	const struct rig_config c = rig_config(SEED);

	begin(&c);
	memset(buffer[0], 0x5a, REGION);
	submit(rig_write_ack(1, 0, REGION, buffer[0]));
	submit(rig_read(2, 0, REGION, buffer[1]));
	submit(rig_add(3, RIG_PAGE - 8, 1));
	settle();
	all_are_good(3);
	cr_expect_arr_eq(buffer[0], buffer[1], REGION);
	cr_expect_eq(r.done[rig_find(&r, 3)].result, UINT64_C(0x5a5a5a5a5a5a5a5a));
	cr_expect(rig_stats(&r).ready == 2 && rig_stats(&r).failed == 0 && rig_stats(&r).ready_at > 0);
	cr_expect_gt(rig_stats(&r).asked_again, 0, "the slow path takes longer than a round trip");
	end();
}

Test(spaces, what_is_no_operation_is_refused)
{
	const struct rig_config c = rig_config(SEED);
	struct mf_op op;

	begin(&c);
	op = rig_read(1, REGION, 8, buffer[0]);
	cr_expect_eq(rig_submit(&r, &op), -EINVAL, "after the region");
	op = rig_read(1, REGION - 4, 8, buffer[0]);
	cr_expect_eq(rig_submit(&r, &op), -EINVAL, "across its end");
	op = rig_read(1, 0, 0, buffer[0]);
	cr_expect_eq(rig_submit(&r, &op), -EINVAL, "of no byte");
	op.len = 8;
	op.node = FAR_NODES;
	cr_expect_eq(rig_submit(&r, &op), -EINVAL, "no such node");
	for (unsigned int i = 0; i < c.depth; i++)
		submit(rig_read(i, 0, 8, buffer[0]));
	op = rig_read(1, 0, 8, buffer[0]);
	cr_expect_eq(rig_submit(&r, &op), -EAGAIN, "too many");
	settle();
	all_are_good(c.depth);
	end();
}

/* ---- pages that are missing ---- */

/** Each is asked before the page is there. All kinds, of the same bytes and their neighbours. */
static void overlapping(unsigned int from)
{
	memset(buffer[0], 1, 600);
	memset(buffer[1], 2, 100);
	memset(buffer[2], 3, 3 * RIG_PAGE);
	submit(rig_write_ack(from + 1, 100, 600, buffer[0])); /* longer than what is written at once */
	submit(rig_write(from + 2, 200, 100, buffer[1]));
	submit(rig_read(from + 3, 0, 1000, buffer[3]));
	submit(rig_add(from + 4, 200, 1));
	submit(rig_write(from + 5, 600, 3 * RIG_PAGE, buffer[2]));
	submit(rig_read(from + 6, 0, RIG_PAGE, buffer[4]));
	submit(rig_read(from + 7, 3 * RIG_PAGE, 1000, buffer[5]));
}

static void check_overlapping(void)
{
	for (unsigned int i = 0; i < 1000; i++)
		cr_assert_eq(buffer[3][i],
			     i < 100   ? 0
			     : i < 200 ? 1
			     : i < 300 ? 2
			     : i < 700 ? 1
				       : 0,
			     "%u", i);
	for (unsigned int i = 0; i < RIG_PAGE; i++)
		cr_assert_eq(buffer[4][i],
			     i < 100    ? 0
			     : i < 200  ? 1
			     : i == 200 ? 3
			     : i < 300  ? 2
			     : i < 600  ? 1
					: 3,
			     "%u", i);
	for (unsigned int i = 0; i < 1000; i++)
		cr_assert_eq(buffer[5][i], i < 600 ? 3 : 0, "%u", i);
}

Test(spaces, what_overlaps_keeps_its_order_while_pages_are_missing)
{
	struct rig_config c = rig_config(SEED);

	for (unsigned int there = 0; there < 2; there++) {
		c.ring = 1;
		begin(&c);
		if (there > 0)
			settle();
		overlapping(0);
		settle();
		all_are_good(7);
		check_overlapping();
		cr_expect_gt(rig_stats(&r).waited, 0, "pages were missing");
		end();
	}
}

Test(spaces, pages_may_be_there_at_the_start)
{
	struct rig_config c = rig_config(SEED);
	uint64_t waited;

	c.populate = true;
	c.ring = 2;
	begin(&c);
	settle();
	cr_expect_eq(rig_memory(&r, 1).present, 6);
	waited = rig_stats(&r).waited;
	overlapping(0);
	settle();
	check_overlapping();
	cr_expect_eq(rig_stats(&r).waited, waited);
	end();
}

/** Of 6 pages 4 can be had. The operations of the others fail after a while, and no other does. */
Test(spaces, a_page_that_never_comes_is_given_up)
{
	struct rig_config c = rig_config(SEED);
	unsigned int failed = 0;

	c.physical = 4;
	c.ring = 4;
	c.give_up = MF_US(300);
	begin(&c);
	for (unsigned int i = 0; i < 6; i++)
		submit(rig_read(i, i * RIG_PAGE, 64, buffer[i]));
	submit(rig_write(6, 5 * RIG_PAGE, 64, buffer[6]));
	submit(rig_read(7, 5 * RIG_PAGE + 32, 64, buffer[7]));
	settle();
	cr_expect_eq(r.dones, 8);
	for (unsigned int i = 0; i < 8; i++) {
		failed += status_of(i) != MF_OK;
		cr_expect(status_of(i) == MF_OK || status_of(i) == MF_ERR_RESOURCE, "%u", status_of(i));
	}
	cr_expect(failed >= 2 && failed <= 4 && rig_stats(&r).given_up >= 2, "%u failed", failed);
	r.dones = 0;
	for (unsigned int i = 0; i < 4; i++)
		submit(rig_read(i, 0, 64, buffer[i]));
	settle();
	all_are_good(4);
	end();
}

/** An operation that never went fails at a later date than those that complete meanwhile. */
Test(spaces, completions_come_in_the_order_of_their_time)
{
	struct rig_config c = rig_config(SEED);

	c.physical = 4;
	c.ring = 4;
	c.give_up = MF_US(50);
	begin(&c);
	settle();
	for (unsigned int i = 0; i < 4; i++)
		submit(rig_read(i, i * RIG_PAGE, 64, buffer[i]));
	settle();
	submit(rig_write(4, 4 * RIG_PAGE, 64, buffer[4]));
	submit(rig_write(5, 4 * RIG_PAGE, 64, buffer[4]));
	for (unsigned int i = 0; i < 100; i++) {
		submit(rig_read(10 + i, 0, 64, buffer[0]));
		cr_assert(rig_drive(&r, r.now + MF_US(1)));
	}
	settle();
	cr_expect_eq(status_of(4), MF_ERR_RESOURCE);
	cr_expect_eq(status_of(5), MF_ERR_RESOURCE);
	end();
}

/* ---- a host without room ---- */

/** Seed 1221 of tests/fabric/spaces.py: pieces were due again while the host was full. */
Test(spaces, a_full_host_is_not_asked_for_good)
{
	struct rig_config c = rig_config(SEED);

	for (unsigned int room = 1; room <= 3; room++) {
		c.ring = 1;
		c.crossing = MF_US(50); /* until a page comes */
		begin(&c);
		settle();
		r.host->room = room;
		r.host->latency = MF_US(20); /* longer than until something is due again */
		for (unsigned int i = 0; i < 12; i++)
			submit(rig_read(i, i % 6 * RIG_PAGE, 64, buffer[i]));
		settle();
		all_are_good(12);
		cr_expect_gt(rig_stats(&r).waited, 0);
		cr_expect_gt(r.host->refused, 0);
		end();
	}
}

Test(spaces, a_host_may_refuse_at_any_time)
{
	struct rig_config c = rig_config(SEED);

	for (unsigned int i = 0; i < 40; i++) {
		c.seed = SEED + i;
		c.ring = 1 + i % 3;
		begin(&c);
		r.host->refuses = 64 + 4 * i;
		r.host->room = 1 + i % 5;
		overlapping(0);
		settle();
		all_are_good(7);
		check_overlapping();
		cr_expect_gt(r.host->refused, 10);
		end();
	}
}

/** A piece is 8 bytes, so an operation needs many times more than there are. */
Test(spaces, operations_wait_for_pieces_in_their_order)
{
	struct rig_config c = rig_config(SEED);

	c.interleave = 8;
	c.depth = 4;
	begin(&c);
	for (unsigned int i = 0; i < REGION; i++)
		buffer[0][i] = (uint8_t)(i * 7);
	submit(rig_write_ack(1, 0, 20000, buffer[0]));
	submit(rig_read(2, 0, 20000, buffer[1]));
	submit(rig_add(3, 16000, 1));
	submit(rig_read(4, 16000, 8, buffer[2]));
	settle();
	all_are_good(4);
	cr_expect_arr_eq(buffer[0], buffer[1], 20000);
	cr_expect_eq(buffer[2][0], (uint8_t)(buffer[0][16000] + 1));
	end();
}

/** An atomic is one access, also where it does not stand as it should. */
Test(spaces, an_atomic_is_not_cut)
{
	struct rig_config c = rig_config(SEED);

	c.interleave = 64;
	begin(&c);
	settle();
	submit(rig_add(1, 60, UINT64_C(0x0101010101010101)));
	settle();
	cr_expect_eq(status_of(1), MF_ERR_ALIGN);
	submit(rig_read(2, 0, 256, buffer[0]));
	settle();
	for (unsigned int i = 0; i < 256; i++)
		cr_assert_eq(buffer[0][i], 0, "byte %u was changed", i);
	end();
}

/* ---- what is lost ---- */

Test(spaces, spaces_are_made_though_much_is_lost)
{
	struct rig_config c = rig_config(SEED);

	for (unsigned int i = 0; i < 20; i++) {
		c.seed = SEED + i;
		c.spaces = 5;
		c.pages = 70;
		c.physical = 400;
		begin(&c);
		r.host->loses = 100;
		settle();
		cr_expect_eq(rig_stats(&r).ready, 5);
		cr_expect_gt(r.host->lost, 5);
		end();
	}
}

Test(spaces, a_memory_that_is_busy_is_asked_again)
{
	struct rig_config c = rig_config(SEED);
	struct mf_vm_timed_config memory;

	c.spaces = 8;
	begin(&c);
	memory = r.host->memory;
	mf_vm_timed_free(r.host->node[1]);
	memory.vm.tasks = 1;
	r.host->node[1] = mf_vm_timed_new(&memory);
	settle();
	cr_expect_eq(rig_stats(&r).ready, 8);
	cr_expect_gt(rig_memory(&r, 1).ask_full, 0, "there was one place for tasks, and four asked");
	end();
}

Test(spaces, after_a_restart_of_the_target_all_is_made_again)
{
	struct rig_config c = rig_config(SEED);

	for (unsigned int i = 0; i < 100; i++) {
		c.seed = SEED + i;
		c.ring = 1 + i % 4;
		begin(&c);
		memset(buffer[0], 9, REGION);
		if (i % 2 == 0)
			settle();
		submit(rig_write_ack(1, 0, REGION, buffer[0]));
		cr_assert(rig_drive(&r, r.now + i * MF_NS(300)));
		far_lose(r.host, r.now, 1, true);
		cr_expect_eq(r.lost, 1);
		submit(rig_write_ack(2, 100, 100, buffer[0]));
		submit(rig_read(3, 0, 300, buffer[1]));
		settle();
		cr_expect_neq(status_of(1), MF_STATUS_WORDS, "it completes, whatever becomes of it");
		cr_expect(status_of(2) == MF_OK && status_of(3) == MF_OK, "seed %lu: %u, %u", c.seed,
			  status_of(2), status_of(3));
		for (unsigned int k = 100; k < 200; k++)
			cr_assert_eq(buffer[1][k], 9);
		cr_expect_eq(rig_stats(&r).ready, 2);
		cr_expect_eq(rig_memory(&r, 1).entries, 6);
		end();
	}
}

Test(spaces, after_a_loss_of_the_link_all_is_there)
{
	const struct rig_config c = rig_config(SEED);
	uint64_t asked;

	begin(&c);
	memset(buffer[0], 9, REGION);
	submit(rig_write_ack(1, 0, REGION, buffer[0]));
	settle();
	asked = rig_memory(&r, 1).asked;
	far_lose(r.host, r.now, 1, false);
	submit(rig_read(2, 0, REGION, buffer[1]));
	settle();
	all_are_good(2);
	cr_expect_arr_eq(buffer[0], buffer[1], REGION);
	cr_expect_eq(rig_memory(&r, 1).asked - asked, 2, "each space is asked for once");
	end();
}

struct named {
	uint64_t user[32];
	unsigned int n;
};

static void name(void *ctx, uint64_t user)
{
	struct named *n = ctx;

	n->user[n->n++ % 32] = user;
}

static struct named named;

static void ask_under_way(void *ctx, uint16_t node)
{
	struct rig *of = ctx;

	named.n = 0;
	of->layer->ops->under_way(of->layer, node, name, &named);
}

/** Who waits here goes on at the new node: all of it, or what is left of it. */
Test(spaces, what_waits_is_named_after_a_loss)
{
	struct rig_config c = rig_config(SEED);

	c.ring = 1;
	begin(&c);
	settle();
	r.told = ask_under_way;
	r.ctx = &r;
	submit(rig_read(1, 0, 64, buffer[1]));
	settle();
	/* Its first piece goes; another one has the page of the second. */
	submit(rig_read(2, RIG_PAGE, 64, buffer[2]));
	submit(rig_write_ack(3, 0, 2 * RIG_PAGE, buffer[3]));
	submit(rig_write_ack(4, RIG_PAGE, 64, buffer[4]));
	far_lose(r.host, r.now, 1, true);
	for (uint64_t user = 3; user <= 4; user++) {
		bool found = false;

		for (unsigned int i = 0; i < named.n; i++)
			found |= named.user[i] == user;
		cr_expect(found, "operation %lu", user);
	}
	settle();
	end();
}

Test(spaces, after_a_crash_the_old_spaces_end)
{
	struct rig_config c = rig_config(SEED);

	for (unsigned int i = 0; i < 100; i++) {
		c.seed = SEED + i;
		c.ring = 2;
		c.step = i % 4 < 2 ? MF_NS(20) : MF_US(2); /* the end of a space takes a while */
		begin(&c);
		memset(buffer[0], 9, REGION);
		submit(rig_write_ack(1, 0, REGION, buffer[0]));
		settle();
		rig_crash(&r);
		cr_assert(rig_drive(&r, r.now + i * MF_NS(200)));
		if (i % 2 == 1) /* and again, in the middle of it */
			rig_crash(&r);
		r.dones = 0;
		submit(rig_read(2, 0, REGION, buffer[1]));
		settle();
		all_are_good(1);
		for (unsigned int k = 0; k < REGION; k++)
			cr_assert_eq(buffer[1][k], 0, "seed %lu: byte %u is of before", c.seed, k);
		cr_expect(rig_stats(&r).ready == 2 && rig_stats(&r).failed == 0, "seed %lu: %lu, %lu", c.seed,
			  rig_stats(&r).ready, rig_stats(&r).failed);
		cr_expect_eq(rig_memory(&r, 1).entries, 6);
		end();
	}
}

Test(spaces, own_and_target_are_started_again_at_one_time)
{
	struct rig_config c = rig_config(SEED);

	for (unsigned int i = 0; i < 100; i++) {
		c.seed = SEED + i;
		begin(&c);
		settle();
		rig_crash(&r);
		cr_assert(rig_drive(&r, r.now + i * MF_NS(50)));
		far_lose(r.host, r.now, 1, true);
		submit(rig_read(2, 0, REGION, buffer[1]));
		settle();
		all_are_good(1);
		cr_expect(rig_stats(&r).ready == 2 && rig_stats(&r).failed == 0, "seed %lu: %lu, %lu", c.seed,
			  rig_stats(&r).ready, rig_stats(&r).failed);
		end();
	}
}

/** Spaces that cannot be had: operations fail, and the run ends. */
Test(spaces, a_space_that_cannot_be_had_fails)
{
	struct rig_config c = rig_config(SEED);

	c.pages = 200;
	c.physical = 64; /* 128 slots */
	begin(&c);
	submit(rig_read(1, 0, 64, buffer[0]));
	submit(rig_write(2, 0, 64, buffer[0]));
	submit(rig_read(3, RIG_PAGE, 64, buffer[0]));
	settle();
	cr_expect_gt(rig_stats(&r).failed, 0);
	cr_expect_eq(r.dones, 3);
	cr_expect(status_of(1) == MF_ERR_RESOURCE || status_of(3) == MF_ERR_RESOURCE);
	end();
}

/* ---- spaces of a client's own ---- */

static struct mf_op ask(uint64_t user, uint16_t node, enum mf_space_task task, uint64_t how_much,
			uint64_t key, uint64_t *answer)
{
	return (struct mf_op){.kind = MF_OP_RMW,
			      .rmw = MF_RMW_SPACE,
			      .node = node,
			      .user = user,
			      .key = key,
			      .buf = answer,
			      .arg = {MF_SPACE_ASK(task, 0, 0), how_much},
			      .space = mf_space_number(FAR_MAKER, 100)};
}

Test(spaces, a_client_may_ask_for_spaces_itself)
{
	const struct rig_config c = rig_config(SEED);
	uint64_t answer[8][2] = {{0}};
	struct mf_op op;

	begin(&c);
	r.host->loses = 0;
	submit(ask(1, 1, MF_SPACE_MAKE, 0, 0, answer[1])); /* while others are being made */
	settle();
	cr_expect(answer[1][0] == MF_OK && answer[1][1] != 0);
	submit(ask(2, 1, MF_SPACE_JOIN, MF_RIGHT_WRITE, 0, answer[2]));
	submit(ask(3, 1, MF_SPACE_JOIN, MF_RIGHT_READ, 0, answer[3]));
	submit(ask(4, 1, MF_SPACE_MAKE, 0, 0, answer[4]));
	submit(ask(5, 3, MF_SPACE_MAKE, 0, 0, answer[5]));
	settle();
	cr_expect_eq(answer[2][0], MF_OK);
	cr_expect_eq(answer[3][0], MF_OK);
	cr_expect_eq(answer[4][0], MF_ERR_KEY, "it is there");
	cr_expect_eq(status_of(5), MF_ERR_OPCODE, "a node without spaces");
	submit(ask(6, 1, MF_SPACE_ALLOCATE, MF_SPACE_ALLOC(RIG_PAGE, 0, MF_PAGE_WRITE), answer[2][1],
		   answer[6]));
	settle();
	cr_assert_eq(answer[6][0], MF_OK);
	memset(buffer[0], 5, 100);
	op = rig_write_ack(7, 0, 100, buffer[0]);
	op.addr = answer[6][1];
	op.space = mf_space_number(FAR_MAKER, 100);
	op.key = answer[2][1];
	submit(op);
	op.kind = MF_OP_READ;
	op.user = 8;
	op.key = answer[3][1];
	op.buf = buffer[1];
	submit(op);
	settle();
	cr_expect(status_of(7) == MF_OK && status_of(8) == MF_OK, "%u, %u", status_of(7), status_of(8));
	cr_expect_arr_eq(buffer[0], buffer[1], 100);
	end();
}

/* ---- calls ---- */

Test(spaces, a_call_is_of_a_page_of_the_region)
{
	const struct rig_config c = rig_config(SEED);

	begin(&c);
	memset(buffer[0], 7, REGION);
	submit(rig_write_ack(1, 0, REGION, buffer[0]));
	submit(rig_call(2, MF_CALL_ECHO, 100, 200, buffer[1])); /* of what is written before it */
	submit(rig_call(3, MF_CALL_ECHO, RIG_PAGE - 50, 100, buffer[2]));
	submit(rig_call(4, MF_CALLS, 0, 16, buffer[2]));
	submit(rig_call(5, MF_CALL_ECHO, 3 * RIG_PAGE, 1024, buffer[3]));
	settle();
	cr_expect_eq(status_of(2), MF_OK);
	cr_expect_arr_eq(buffer[0], buffer[1], 200);
	cr_expect_eq(r.done[rig_find(&r, 2)].len, 200);
	cr_expect_eq(status_of(3), MF_ERR_RANGE, "of two spaces");
	cr_expect_eq(status_of(4), MF_ERR_OPCODE);
	cr_expect(status_of(5) == MF_OK && r.done[rig_find(&r, 5)].result == 1024);
	cr_expect_arr_eq(buffer[0], buffer[3], 1024);
	end();
}

/* Without anything written before it: its first access finds no page for a while. */
Test(spaces, a_call_waits_for_its_page)
{
	struct rig_config c = rig_config(SEED);

	c.ring = 1;
	begin(&c);
	for (unsigned int i = 0; i < 6; i++)
		submit(rig_call(i, i % 2 == 0 ? MF_CALL_ECHO : MF_CALL_ECHO_FENCED, i * RIG_PAGE,
				i < 3 ? 64 : 600, buffer[i]));
	settle();
	all_are_good(6);
	cr_expect_gt(rig_stats(&r).waited, 0);
	end();
}

Test(spaces, what_is_no_call_is_refused_at_once)
{
	struct rig_config c = rig_config(SEED);
	struct mf_op op;

	begin(&c);
	op = rig_call(1, MF_CALL_ECHO, 0, 0, buffer[0]);
	cr_expect_eq(rig_submit(&r, &op), -EINVAL, "of no byte");
	op.len = c.answer + 1;
	cr_expect_eq(rig_submit(&r, &op), -EINVAL, "a longer answer than there are");
	op = rig_call(1, MF_CALL_ECHO, REGION - 8, 16, buffer[0]);
	cr_expect_eq(rig_submit(&r, &op), -EINVAL, "across the end of the region");
	op = rig_call(1, MF_CALL_ECHO, 0, 16, buffer[0]);
	op.node = FAR_NODES;
	cr_expect_eq(rig_submit(&r, &op), -EINVAL, "no such node");
	op.node = 3;
	cr_expect_eq(rig_submit(&r, &op), -EINVAL, "a node without spaces");
	settle();
	end();
	c.answer = 0;
	begin(&c);
	op = rig_call(1, MF_CALL_ECHO, 0, 16, buffer[0]);
	cr_expect_eq(rig_submit(&r, &op), -EINVAL, "a memory without calls");
	settle();
	end();
}

/* More than there are slots: each has its turn, and is asked again by the same ticket. */
Test(spaces, a_late_call_is_asked_again_until_it_is_answered)
{
	struct rig_config c = rig_config(SEED);
	uint64_t asked;

	c.step = MF_US(3);
	begin(&c);
	memset(buffer[0], 3, REGION);
	submit(rig_write_ack(1, 0, REGION, buffer[0]));
	settle();
	asked = rig_memory(&r, 1).asked;
	for (unsigned int i = 0; i < 10; i++)
		submit(rig_call(2 + i, MF_CALL_ECHO_FENCED, i * 100, 100, buffer[1 + i]));
	settle();
	all_are_good(11);
	for (unsigned int i = 0; i < 10; i++)
		cr_expect_arr_eq(buffer[0], buffer[1 + i], 100, "call %u", i);
	cr_expect_eq(rig_memory(&r, 1).asked - asked, 10, "a fence each");
	cr_expect_gt(r.host->pending, 10, "asked again");
	end();
}

/** A space of a program, with a page. @return its address */
static uint64_t space_of_program(void)
{
	uint64_t answer[2][2] = {{0}};

	submit(ask(1, 1, MF_SPACE_MAKE, 0, 0, answer[0]));
	settle();
	submit(ask(2, 1, MF_SPACE_ALLOCATE, MF_SPACE_ALLOC(2 * RIG_PAGE, 0, MF_PAGE_WRITE), 0, answer[1]));
	settle();
	cr_assert(answer[0][0] == MF_OK && answer[1][0] == MF_OK);
	r.dones = 0;
	return answer[1][1];
}

static struct mf_op at_pointer(struct mf_op op, uint64_t addr)
{
	op.addr = addr;
	op.space = mf_space_number(FAR_MAKER, 100);
	return op;
}

/* The layer asks for the key; the pages of a call may be two. */
Test(spaces, a_program_calls_by_pointer)
{
	const struct rig_config c = rig_config(SEED);
	uint64_t at;

	begin(&c);
	settle();
	at = space_of_program();
	memset(buffer[0], 9, 200);
	submit(at_pointer(rig_write_ack(3, 0, 200, buffer[0]), at + RIG_PAGE - 100));
	submit(at_pointer(rig_call(4, MF_CALL_ECHO, 0, 200, buffer[1]), at + RIG_PAGE - 100));
	submit(at_pointer(rig_call(5, MF_CALL_ECHO_FENCED, 0, 200, buffer[2]), at + RIG_PAGE - 100));
	settle();
	all_are_good(3);
	cr_expect_arr_eq(buffer[0], buffer[1], 200);
	cr_expect_arr_eq(buffer[0], buffer[2], 200);
	submit(at_pointer(rig_call(6, MF_CALL_ECHO, 0, 200, buffer[3]), at + 2 * RIG_PAGE - 100));
	submit(at_pointer(rig_call(7, MF_CALL_ECHO_FENCED, 0, 64, buffer[3]), 8));
	settle();
	cr_expect_eq(status_of(6), MF_ERR_KEY, "beyond its pages");
	cr_expect_eq(status_of(7), MF_ERR_KEY, "no page at all");
	end();
}

/** Asks the memory node of node 1 itself, so that the layer knows nothing of it. */
static uint64_t ask_apart(enum mf_space_task task, uint64_t how_much, uint64_t key)
{
	static uint32_t number;
	const uint64_t arg[2] = {MF_SPACE_ASK(task, 3, ++number), how_much};
	struct mf_access a = {
		.key = key, .data = arg, .space = mf_space_number(FAR_MAKER, 100), .node = FAR_MAKER};
	uint8_t status = MF_ERR_PENDING;
	uint64_t result = 0;

	for (unsigned int i = 0; i < 1000 && status == MF_ERR_PENDING; i++) {
		cr_assert(rig_drive(&r, r.now + MF_NS(100)));
		a.at = r.now;
		status = mf_memory_timed.ask(mf_vm_timed_memory(r.host->node[1]), MF_RMW_SPACE, &a, &result);
	}
	cr_assert_eq(status, MF_OK);
	return result;
}

/* All slots have late calls whose keys are not the right ones any more: who asks for others finds a slot. */
Test(spaces, late_calls_get_new_keys)
{
	struct rig_config c = rig_config(SEED);
	uint64_t at, own, asked;

	c.tasks = 1;
	begin(&c);
	settle();
	at = space_of_program();
	submit(at_pointer(rig_call(3, MF_CALL_ECHO, 0, 64, buffer[0]), at)); /* the key is there */
	settle();
	own = ask_apart(MF_SPACE_JOIN, MF_SPACE_OWN, 0);
	own = ask_apart(MF_SPACE_GRANT, MF_SPACE_GRANTED(FAR_MAKER + 1, MF_PAGE_READ), own);
	(void)ask_apart(MF_SPACE_GRANT, MF_SPACE_GRANTED(FAR_MAKER + 1, 0), own); /* an epoch begins */
	r.dones = 0;
	asked = rig_stats(&r).joins;
	for (unsigned int i = 0; i < 5; i++)
		submit(at_pointer(rig_call(10 + i, MF_CALL_ECHO_FENCED, 0, 64, buffer[i]), at));
	settle();
	all_are_good(5);
	cr_expect_eq(rig_stats(&r).joins, asked + 1, "for one other key");
	end();
}

/* A free waits for a call of its range, and a call for a free. */
Test(spaces, calls_and_frees_keep_their_order)
{
	struct rig_config c = rig_config(SEED);
	uint64_t at, answer[2][2] = {{0}};
	struct mf_op op;

	c.step = MF_US(1);
	begin(&c);
	settle();
	at = space_of_program();
	memset(buffer[0], 9, 64);
	submit(at_pointer(rig_write_ack(3, 0, 64, buffer[0]), at));
	submit(at_pointer(rig_write_ack(4, 0, 64, buffer[0]), at + RIG_PAGE));
	settle();
	submit(at_pointer(rig_call(5, MF_CALL_ECHO_FENCED, 0, 64, buffer[1]), at));
	op = ask(6, 1, MF_SPACE_FREE, RIG_PAGE, 0, answer[0]);
	op.addr = at;
	submit(op);
	settle();
	cr_expect(status_of(5) == MF_OK && answer[0][0] == MF_OK, "%u, %lu", status_of(5), answer[0][0]);
	cr_expect_arr_eq(buffer[0], buffer[1], 64);
	op = ask(7, 1, MF_SPACE_FREE, RIG_PAGE, 0, answer[1]);
	op.addr = at + RIG_PAGE;
	submit(op);
	submit(at_pointer(rig_call(8, MF_CALL_ECHO, 0, 64, buffer[2]), at + RIG_PAGE));
	settle();
	cr_expect_eq(answer[1][0], MF_OK);
	cr_expect_eq(status_of(8), MF_ERR_KEY, "it is free by then");
	end();
}

/* Requests and answers are lost, the target is started again, the own node is: nothing is left over. */
Test(spaces, calls_end_whatever_is_lost)
{
	for (unsigned int i = 0; i < 200; i++) {
		struct rig_config c = rig_config(SEED + i);

		c.step = i % 3 == 0 ? MF_US(2) : MF_NS(20);
		begin(&c);
		if (i % 2 == 0)
			settle();
		r.host->loses = i % 5 * 20;
		for (unsigned int k = 0; k < 12; k++)
			submit(rig_call(k, k % 3 == 0 ? MF_CALL_ECHO : MF_CALL_ECHO_FENCED, k % 6 * RIG_PAGE,
					64, buffer[k]));
		cr_assert(rig_drive(&r, r.now + i * MF_NS(30)));
		if (i % 4 == 1)
			far_lose(r.host, r.now, 1, i % 8 == 1);
		if (i % 4 == 3)
			rig_crash(&r);
		settle();
		cr_expect(i % 4 == 3 || r.dones == 12, "seed %u: %u", i, r.dones);
		r.host->loses = 0;
		r.dones = 0;
		for (unsigned int k = 0; k < 6; k++)
			submit(rig_call(k, MF_CALL_ECHO_FENCED, k * RIG_PAGE, 64, buffer[k]));
		settle();
		cr_expect_eq(r.dones, 6, "seed %u", i);
		for (unsigned int k = 0; k < 6; k++)
			cr_expect_eq(status_of(k), MF_OK, "seed %u: call %u: %u", i, k, status_of(k));
		end();
	}
}

/** Many pages of one space, and one of each of others. */
Test(spaces, pages_that_are_freed_are_not_known_any_more)
{
	const struct rig_config c = rig_config(SEED);
	const uint32_t space = mf_space_number(FAR_MAKER, 100), other = mf_space_number(FAR_MAKER, 101);
	uint64_t tag = mf_remote_tag(space, 0, MF_PAGE_SHIFT_MIN), pages = 2 * FORGET_MAX;
	struct spaces *s;

	begin(&c);
	s = spaces_of(r.layer);
	s->target[0].config.class_shift[0] = MF_PAGE_SHIFT_MIN; /* programs have pointers there */
	for (unsigned int few = 0; few < 2; few++) {
		uint64_t freed = few ? FORGET_MAX / 2 : pages - 1;

		for (uint64_t i = 0; i < pages; i++)
			cr_assert(page_put(s, WAY_POINTER, 0, tag + i, PAGE_PRESENT));
		cr_assert(page_put(s, WAY_POINTER, 0, tag + 3, PAGE_BUSY));
		cr_assert(page_put(s, WAY_POINTER, 0, mf_remote_tag(other, 0, MF_PAGE_SHIFT_MIN),
				   PAGE_PRESENT));
		pages_forget(s, 0, space, 0, freed * RIG_PAGE);
		for (uint64_t i = 0; i < pages; i++) {
			enum page_state state = page_state(s, WAY_POINTER, 0, tag + i);

			if (i == 3)
				cr_expect_eq(state, PAGE_BUSY);
			else if (i < freed)
				cr_expect_eq(state, PAGE_UNKNOWN, "page %lu", i);
			else if (few)
				cr_expect_eq(state, PAGE_PRESENT, "page %lu", i);
		}
		cr_expect_eq(page_state(s, WAY_POINTER, 0, mf_remote_tag(other, 0, MF_PAGE_SHIFT_MIN)),
			     PAGE_PRESENT);
		page_put(s, WAY_POINTER, 0, tag + 3, PAGE_UNKNOWN);
	}
	end();
}
