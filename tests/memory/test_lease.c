/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spaces that end by themselves: their lease is over, or the node that made them has begun anew (Clio leaves
 * open what becomes of the memory of a client that has died).
 */
#include <criterion/criterion.h>
#include <string.h>

#include "memory/mf_vm_timed.h"
#include "vm_rig.h"

#define LEASE MF_MS(1)
#define PAGE UINT64_C(4096)
#define NODES 3
#define OF(node) ((uint32_t)(node) << 13 | 1)

static struct mf_vm_timed *t;
static mf_time now;

static uint64_t key[NODES][MF_SPACE_RIGHTS], at[NODES]; /* of each node's space */

static uint8_t ask(unsigned int node, uint32_t space, uint64_t what, uint64_t how_much, uint64_t with,
		   uint64_t *result)
{
	static uint32_t number;
	const uint64_t arg[2] = {MF_SPACE_ASK(what, 15, ++number), how_much};
	struct mf_access a = {.key = with, .data = arg, .space = space, .node = (uint16_t)node};
	uint8_t status = MF_ERR_PENDING;

	for (int i = 0; status == MF_ERR_PENDING && i < 100000; i++) {
		a.at = now;
		status = mf_memory_timed.ask(mf_vm_timed_memory(t), MF_RMW_SPACE, &a, result);
		now += MF_NS(100);
	}
	return status;
}

static void make(unsigned int node)
{
	cr_assert_eq(ask(node, OF(node), MF_SPACE_MAKE, 0, 0, &key[node][MF_SPACE_OWN]), MF_OK);
	for (unsigned int right = 0; right < MF_RIGHTS; right++)
		cr_assert_eq(ask(node, OF(node), MF_SPACE_JOIN, right, 0, &key[node][right]), MF_OK);
	cr_assert_eq(ask(node, OF(node), MF_SPACE_ALLOCATE, MF_SPACE_ALLOC(4 * PAGE, 0, MF_PAGE_WRITE),
			 key[node][MF_RIGHT_WRITE], &at[node]),
		     MF_OK);
}

static uint8_t use(unsigned int node, unsigned int of)
{
	const struct mf_access a = {.addr = at[of],
				    .len = 8,
				    .at = now,
				    .right = MF_RIGHT_READ,
				    .space = OF(of),
				    .node = (uint16_t)node,
				    .key = key[of][MF_RIGHT_READ]};
	struct mf_answer out;

	return mf_memory_timed.access(mf_vm_timed_memory(t), &a, &out);
}

static uint8_t renew(unsigned int node, uint64_t with)
{
	uint64_t result;

	return ask(node, OF(node), MF_SPACE_RENEW, MF_RIGHT_READ, with, &result);
}

static uint64_t life(unsigned int who, unsigned int node)
{
	uint64_t result = ~UINT64_C(0);

	cr_assert_eq(ask(who, OF(who), MF_SPACE_LIFE, node, key[who][MF_RIGHT_READ], &result), MF_OK);
	return result;
}

static struct mf_vm_slow_stats slow(void)
{
	struct mf_vm_slow_stats s;

	mf_vm_timed_advance(t, now);
	mf_vm_slow_stats(mf_vm_timed_slow(t), &s);
	return s;
}

static void begin_with(mf_time lease)
{
	struct mf_vm_timed_config c = {
		.vm = vm_rig_config(1), .step = MF_NS(50), .zero = MF_NS(400), .crossing = MF_NS(100)};

	c.vm.lease = lease;
	now = MF_US(10);
	t = mf_vm_timed_new(&c);
	cr_assert_not_null(t);
	for (unsigned int node = 0; node < NODES; node++)
		make(node);
}

static void begin(void)
{
	begin_with(LEASE);
}

static void end(void)
{
	struct mf_vm_slow_stats s = slow();
	struct mf_vm_stats f;

	mf_vm_stats(mf_vm_timed_fast(t), &f);
	cr_expect(f.strange == 0 && s.strange == 0, "%lu, %lu", f.strange, s.strange);
	mf_vm_timed_free(t);
}

TestSuite(lease, .init = begin, .fini = end);

Test(lease, ends_what_nobody_uses)
{
	struct mf_vm_slow_stats before = slow();
	mf_time last, over = 0;

	cr_expect_eq(use(2, 2), MF_OK);
	last = now;
	while (now < last + 2 * LEASE) {
		now += LEASE / 10;
		cr_assert_eq(use(0, 0), MF_OK, "an access holds it");
		cr_assert_eq(renew(1, key[1][MF_RIGHT_READ]), MF_OK, "so does a renewal");
		cr_assert(slow().spaces == 3 || now > last + LEASE, "not before");
		over = now;
		if (slow().spaces == 2)
			break;
	}
	cr_expect(over <= last + LEASE * 3 / 2, "and soon after: %lu us", (over - last) / MF_US(1));
	cr_expect_eq(use(2, 2), MF_ERR_KEY);
	cr_expect_eq(renew(2, key[2][MF_RIGHT_READ]), MF_ERR_KEY);
	now += MF_US(100);
	cr_expect_eq(slow().expired, 1);
	cr_expect_eq(slow().left, 0);
	cr_expect_eq(slow().slots + 4, before.slots, "its entries are free");
	cr_expect_eq(slow().under_way, 0);
	make(2);
	cr_expect_eq(use(2, 2), MF_OK);
}

Test(lease, is_held_by_any_member_but_by_no_stranger)
{
	uint64_t granted, other, own = key[0][MF_SPACE_OWN];

	cr_assert_eq(ask(0, OF(0), MF_SPACE_GRANT, MF_SPACE_GRANTED(1, MF_PAGE_READ), own, &granted), MF_OK);
	cr_assert_eq(ask(1, OF(0), MF_SPACE_JOIN, MF_RIGHT_READ, 0, &other), MF_OK);
	for (int i = 0; i < 30; i++) {
		uint64_t result;

		now += LEASE / 10;
		cr_assert_eq(ask(1, OF(0), MF_SPACE_RENEW, MF_RIGHT_READ, other, &result), MF_OK);
		cr_assert_eq(ask(1, OF(2), MF_SPACE_RENEW, MF_RIGHT_READ, other, &result), MF_ERR_KEY);
		cr_assert_eq(ask(1, OF(2), MF_SPACE_JOIN, MF_RIGHT_READ, 0, &result), MF_ERR_KEY);
	}
	cr_expect_eq(use(0, 0), MF_OK);
	cr_expect_eq(slow().spaces, 1, "the others are gone");
}

Test(lease, node_that_begins_anew_leaves_its_spaces)
{
	struct mf_memory *m = mf_vm_timed_memory(t);
	uint64_t result;

	mf_memory_timed.forget(m, 1, now);
	now += MF_US(50);
	cr_expect_eq(use(1, 1), MF_ERR_KEY);
	cr_expect_eq(use(0, 0), MF_OK);
	cr_expect_eq(slow().left, 1);
	cr_expect_eq(slow().spaces, 2);
	make(1);
	cr_expect_eq(use(1, 1), MF_OK, "what it makes then is its own");
	/* Twice at once, and what it makes then is there though the first is still told. */
	mf_memory_timed.forget(m, 1, now);
	mf_memory_timed.forget(m, 1, now);
	for (int i = 0; ask(1, OF(1), MF_SPACE_MAKE, 0, 0, &result) != MF_OK; i++)
		cr_assert_lt(i, 100);
	now += MF_US(50);
	cr_expect_eq(ask(1, OF(1), MF_SPACE_JOIN, MF_RIGHT_READ, 0, &result), MF_OK);
	cr_expect_eq(slow().left, 2);
	cr_expect_eq(slow().spaces, 3);
}

/** Its node asks at once whether its space is still there, or goes on to make it: it would keep to it. */
Test(lease, space_that_is_about_to_end_is_of_no_use)
{
	uint64_t result;

	mf_memory_timed.forget(mf_vm_timed_memory(t), 1, now);
	cr_expect_eq(ask(1, OF(1), MF_SPACE_JOIN, MF_RIGHT_WRITE, 0, &result), MF_ERR_KEY);
	mf_memory_timed.forget(mf_vm_timed_memory(t), 2, now);
	cr_expect_eq(ask(2, OF(2), MF_SPACE_ALLOCATE, MF_SPACE_ALLOC(PAGE, 0, MF_PAGE_WRITE),
			 key[2][MF_RIGHT_WRITE], &result),
		     MF_ERR_KEY);
	cr_expect_eq(ask(0, OF(0), MF_SPACE_JOIN, MF_RIGHT_WRITE, 0, &result), MF_OK);
	now += MF_US(50);
	cr_expect_eq(slow().spaces, 1);
}

Test(lease, life_of_nodes)
{
	cr_expect_eq(life(0, 1), mf_space_life(0, true));
	mf_memory_timed.forget(mf_vm_timed_memory(t), 1, now);
	cr_expect_eq(life(0, 1), mf_space_life(1, true));
	for (int i = 0; i < 20; i++) {
		now += LEASE / 10;
		cr_assert_eq(renew(0, key[0][MF_RIGHT_READ]), MF_OK);
	}
	cr_expect_eq(life(0, 1), mf_space_life(1, false));
	cr_expect_eq(life(0, 0), mf_space_life(0, true));
	cr_expect_eq(life(0, UINT16_MAX), 0);
	make(1);
	(void)use(1, 1);
	cr_expect_eq(life(0, 1), mf_space_life(1, true));
}

/** Who has no leases: nothing ends, and nothing is asked. */
Test(no_lease, nothing_ends)
{
	begin_with(0);
	now += MF_SEC(100);
	cr_expect_eq(use(2, 2), MF_OK);
	cr_expect_eq(slow().spaces, 3);
	cr_expect_eq(life(0, 1), 0);
	mf_memory_timed.forget(mf_vm_timed_memory(t), 1, now);
	now += MF_US(50);
	cr_expect_eq(slow().spaces, 2, "but what a node has left is nobody's");
	end();
}
