/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places of a memory with pages that stacks of frames hold: pages that are freed while they are sent from,
 * nodes that are gone with responses under way, losses and timeouts.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "../memory/paged.h"
#include "net.h"

#define PAGE 9004 /* not a multiple of 8: atomics cross its end, too */
#define AT (3 * PAGE - 4000) /* bytes from here on are in two pages */
#define LEN 8000

static const char *const stacks[] = {"ethernet", "tcp", "dctcp", "rocev2", "pfabric"};
#define STACKS (sizeof(stacks) / sizeof(stacks[0]))

static void start(struct net *n, const char *stack)
{
	paged_reset(PAGE);
	net_init(n, stack, NULL, 2);
	n->memory_ops = &mf_memory_paged;
}

static void stop(struct net *n, const char *stack)
{
	net_stop(n);
	cr_expect_eq(paged_counts.left_held, 0, "%s: %lu are held", stack, paged_counts.left_held);
	cr_expect_eq(paged_counts.strange, 0, "%s", stack);
}

/** Runs until the memory of node 1 holds something of which a part has been sent. */
static void until_it_is_sent(struct net *n)
{
	uint64_t before = n->frames;

	while (mf_memory_paged.held(n->memory[1]) == 0 || n->frames < before + 3) {
		cr_assert_lt(n->now, MF_MS(1));
		net_run(n, n->now + MF_NS(50));
		if (mf_memory_paged.held(n->memory[1]) == 0)
			before = n->frames;
	}
}

/* What another owner writes where a page was is not in a response that was begun before. */
Test(paged, a_page_that_is_freed_is_no_other_s_until_it_is_sent)
{
	for (unsigned int i = 0; i < STACKS; i++) {
		uint8_t *ours = malloc(LEN), *theirs = malloc(LEN), found[8];
		unsigned int op;
		struct net n;

		start(&n, stacks[i]);
		net_start(&n);
		net_content(77, ours, LEN);
		net_content(78, theirs, LEN);
		cr_assert_eq(mf_memory_write(&mf_memory_paged, n.memory[1], AT, LEN, ours), MF_OK);
		op = net_op(&n, 0, 1, MF_OP_READ, AT, LEN);
		until_it_is_sent(&n);
		paged_free(n.memory[1], AT, LEN);
		for (unsigned int k = 0; k < 2000; k++) /* all other frames are used, too */
			mf_memory_write(&mf_memory_paged, n.memory[1], k * PAGE, LEN, theirs);
		mf_memory_read(&mf_memory_paged, n.memory[1], 2 * PAGE, 8, found);
		cr_expect_arr_eq(found, theirs, 8, "%s: the page is theirs", stacks[i]);
		net_finish(&n, MF_MS(50));
		cr_expect_eq(n.done[op].status, MF_OK, "%s", stacks[i]);
		cr_expect_arr_eq(n.buffer[op], ours, LEN, "%s: another owner's bytes were sent", stacks[i]);
		net_run(&n, n.now + MF_MS(1));
		cr_expect_eq(mf_memory_paged.held(n.memory[1]), 0, "%s", stacks[i]);
		stop(&n, stacks[i]);
		free(ours);
		free(theirs);
	}
}

/* The stack is gone with responses half sent: with the run, or with the process of the node. */
Test(paged, a_node_that_is_gone_holds_nothing)
{
	for (unsigned int i = 0; i < 2 * STACKS; i++) {
		const char *stack = stacks[i / 2];
		struct net n;

		start(&n, stack);
		n.read_timeout = MF_US(40);
		net_start(&n);
		for (unsigned int k = 0; k < 8; k++)
			net_op(&n, 0, 1, MF_OP_READ, AT + k * 64, LEN);
		until_it_is_sent(&n);
		cr_expect_gt(mf_memory_paged.held(n.memory[1]), 0, "%s", stack);
		if (i % 2 == 1) {
			net_restart(&n, 1, 5);
			cr_expect_eq(mf_memory_paged.held(n.memory[1]), 0, "%s: after a restart", stack);
			net_finish(&n, MF_MS(50));
		}
		stop(&n, stack);
	}
}

/* Whoever asked has given up: what is under way to it ends, some time, or with the run. */
Test(paged, losses_and_timeouts)
{
	for (unsigned int i = 0; i < STACKS; i++) {
		struct net_losses losses = {.share = 0.2};
		struct net n;

		start(&n, stacks[i]);
		n.read_timeout = n.write_timeout = MF_US(60);
		n.script = net_lose;
		n.ctx = &losses;
		mf_rng_init(&losses.rng, 11, "paged", i);
		net_start(&n);
		for (unsigned int k = 0; k < 200; k++)
			net_op(&n, k % 2, 1 - k % 2, k % 3 == 0 ? MF_OP_WRITE_ACK : MF_OP_READ,
			       (k + 1) * UINT64_C(10000), LEN);
		net_finish(&n, MF_SEC(1));
		cr_expect_gt(paged_counts.held_max, 0, "%s", stacks[i]);
		stop(&n, stacks[i]);
	}
}

/* All kinds, both ways, over pages: each is done once and right. */
Test(paged, traffic)
{
	for (unsigned int i = 0; i < STACKS; i++) {
		struct net_losses losses = {.share = i == 0 ? 0 : 0.01}; /* Ethernet repairs nothing */
		struct net n;

		start(&n, stacks[i]);
		n.script = net_lose;
		n.ctx = &losses;
		mf_rng_init(&losses.rng, 12, "paged", i);
		net_start(&n);
		net_traffic(&n, 400);
		cr_expect_gt(paged_counts.crossings, 50, "%s", stacks[i]);
		cr_expect_gt(paged_counts.moved, 100, "%s", stacks[i]);
		net_run(&n, n.now + MF_MS(2));
		cr_expect_eq(mf_memory_paged.held(n.memory[0]), 0, "%s", stacks[i]);
		cr_expect_eq(mf_memory_paged.held(n.memory[1]), 0, "%s", stacks[i]);
		stop(&n, stacks[i]);
	}
}
