/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of a memory with spaces: what is answered, when, and what is refused. */
#include <criterion/criterion.h>
#include <string.h>

#include "memory/mf_bandwidth.h"
#include "memory/mf_vm_timed.h"
#include "vm_rig.h"

#define SEED 0x5eed0071
#define NODE 3
#define OTHER 4
#define SPACE (3u << 13 | 1)
#define PAGE UINT64_C(4096)
#define ANSWER 512
#define SLOT 7
#define TASK_SLOT 15

static struct mf_vm_timed *t;
static uint64_t key[MF_RIGHTS], at;
static mf_time now;

static struct mf_memory *memory(void)
{
	return mf_vm_timed_memory(t);
}

static uint64_t ask(uint64_t what, uint64_t how_much, uint64_t addr, uint64_t with)
{
	static uint32_t number;
	uint64_t arg[2] = {MF_SPACE_ASK(what, TASK_SLOT, ++number), how_much}, result = 0;
	struct mf_access a = {.addr = addr, .key = with, .data = arg, .space = SPACE, .node = NODE};
	uint8_t status = MF_ERR_PENDING;

	for (int i = 0; status == MF_ERR_PENDING && i < 100000; i++) {
		a.at = now += MF_NS(100);
		status = mf_memory_timed.ask(memory(), MF_RMW_SPACE, &a, &result);
	}
	cr_assert_eq(status, MF_OK);
	return result;
}

static uint8_t access_memory(enum mf_right right, uint64_t addr, uint32_t len, const void *data)
{
	const struct mf_access a = {.addr = addr,
				    .len = len,
				    .at = now,
				    .data = data,
				    .right = (uint8_t)right,
				    .space = SPACE,
				    .node = NODE,
				    .key = key[right]};
	struct mf_answer out;

	return mf_memory_timed.access(memory(), &a, &out);
}

static void begin(void)
{
	struct mf_vm_timed_config c = {
		.vm = vm_rig_config(SEED), .step = MF_NS(20), .zero = MF_NS(400), .crossing = MF_NS(300)};

	c.vm.answer = ANSWER;
	c.vm.dram = MF_NS(82);
	c.vm.fault = MF_NS(12);
	now = MF_US(1);
	t = mf_vm_timed_new(&c);
	cr_assert_not_null(t);
	(void)ask(MF_SPACE_MAKE, 0, 0, 0);
	for (unsigned int right = 0; right < MF_RIGHTS; right++)
		key[right] = ask(MF_SPACE_JOIN, right, 0, 0);
	at = ask(MF_SPACE_ALLOCATE, MF_SPACE_ALLOC(4 * PAGE, 0, MF_PAGE_WRITE), 0, key[MF_RIGHT_WRITE]);
}

static struct mf_vm_stats fast(void)
{
	struct mf_vm_stats f;

	mf_vm_stats(mf_vm_timed_fast(t), &f);
	return f;
}

static void end(void)
{
	struct mf_vm_slow_stats s;

	mf_vm_slow_stats(mf_vm_timed_slow(t), &s);
	cr_expect(fast().strange == 0 && s.strange == 0 && fast().held == 0);
	mf_vm_timed_free(t);
}

TestSuite(call, .init = begin, .fini = end);

/** What may be wrong of a call. */
struct call {
	uint64_t ask, len, addr, key;
	uint32_t room, space;
	uint16_t node;
	bool dry;
};

static struct call good(uint64_t what)
{
	return (struct call){.ask = what,
			     .len = 100,
			     .addr = at,
			     .key = key[MF_RIGHT_READ],
			     .room = 112,
			     .space = SPACE,
			     .node = NODE};
}

static uint8_t call(const struct call *c, uint64_t *result, struct mf_answer *out)
{
	const uint64_t arg[2] = {c->ask, c->len};
	const struct mf_access a = {.addr = c->addr,
				    .key = c->key,
				    .at = now,
				    .data = arg,
				    .len = c->room,
				    .space = c->space,
				    .node = c->node,
				    .dry = c->dry};

	return mf_memory_timed.call(memory(), &a, result, out);
}

/** That it is refused, whether it is only asked for or not, and that nothing is told. */
static void refused(const struct call *c, uint8_t status, const char *why)
{
	uint64_t result = 1;
	struct call dry = *c;
	struct mf_answer out;

	dry.dry = true;
	cr_expect_eq(call(&dry, &result, &out), status, "%s, dry", why);
	cr_expect_eq(call(c, &result, &out), status, "%s", why);
	cr_expect(result == 0 && out.places.at[0] == NULL && out.time == 0, "%s", why);
}

Test(call, an_echo_answers_with_its_arguments)
{
	uint8_t in[300], back[300];
	struct call c = good(MF_CALL_ASK(MF_CALL_ECHO, 0, 0));
	struct mf_answer out;
	uint64_t result;

	for (unsigned int i = 0; i < sizeof(in); i++)
		in[i] = (uint8_t)(3 * i);
	c.addr += PAGE - 100; /* of two pages */
	c.len = c.room = sizeof(in);
	cr_assert_eq(access_memory(MF_RIGHT_WRITE, c.addr, sizeof(in), in), MF_OK);
	cr_assert_eq(call(&c, &result, &out), MF_OK);
	cr_assert_eq(result, sizeof(in));
	cr_assert(out.places.len[0] == 100 && out.places.len[1] == 200);
	mf_places_copy(&out.places, 0, sizeof(in), back);
	cr_expect_arr_eq(in, back, sizeof(in));
	cr_expect_eq(out.time, MF_NS(82), "one access: both pages are in the TLB");
}

/* Its page is made as by any first access. */
Test(call, an_echo_of_a_new_page_is_zeros)
{
	struct call c = good(MF_CALL_ASK(MF_CALL_ECHO, 0, 0));
	uint64_t result, faults = fast().faults;
	struct mf_answer out;

	c.dry = true;
	cr_assert_eq(call(&c, &result, &out), MF_OK);
	cr_expect_eq(fast().faults, faults, "nothing is done that is only asked for");
	cr_expect_eq(out.time, 2 * MF_NS(82) + MF_NS(12), "a miss and a fault");
	c.dry = false;
	cr_assert_eq(call(&c, &result, &out), MF_OK);
	cr_expect_eq(fast().faults, faults + 1);
	for (unsigned int i = 0; i < 100; i++)
		cr_expect_eq(out.places.at[0][i], 0);
}

/* What depends on the request alone: whatever its key. */
Test(call, what_is_no_call_is_an_unknown_opcode)
{
	static const uint64_t none[] = {
		MF_CALL_ASK(MF_CALLS, 0, 0),      UINT8_MAX,
		MF_CALL_ASK(MF_CALL_ECHO, 1, 0),  MF_CALL_ASK(MF_CALL_ECHO, 0, 1),
		MF_CALL_ECHO | UINT64_C(1) << 48, MF_CALL_ECHO_FENCED | UINT64_C(1) << 63};

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		struct call c = good(none[i]);

		refused(&c, MF_ERR_OPCODE, "no such call");
		c.key ^= 1;
		refused(&c, MF_ERR_OPCODE, "no such call, and no key");
	}
	cr_expect_str_eq(mf_call_name(MF_CALLS), "?");
	for (unsigned int i = 0; i < MF_CALLS; i++)
		cr_expect_str_eq(mf_call_name(i), mf_call_find(MF_CALL_ASK(i, 0, 0))->name);
}

Test(call, sizes_are_checked)
{
	for (unsigned int which = 0; which < MF_CALLS; which++) {
		struct call c = good(MF_CALL_ASK(which, 0, 0));

		c.room = 0;
		refused(&c, MF_ERR_RANGE, "no room for an answer");
		c.room = ANSWER + 16;
		refused(&c, MF_ERR_RANGE, "a longer answer than there are");
		c = good(MF_CALL_ASK(which, 0, 0));
		c.len = 0;
		refused(&c, MF_ERR_RANGE, "no arguments");
		c.len = c.room + 1;
		refused(&c, MF_ERR_RANGE, "more than its answer");
		c.len = UINT64_C(1) << 32 | 8;
		refused(&c, MF_ERR_RANGE, "more than 32 bits hold");
		c = good(MF_CALL_ASK(which, 0, 0));
		c.addr = MF_ADDR_MAX - 50;
		refused(&c, MF_ERR_RANGE, "beyond the addresses");
		c.addr = MF_ADDR_MAX + 1;
		refused(&c, MF_ERR_RANGE, "more than 48 bits");
	}
}

Test(call, it_needs_key_right_and_membership)
{
	for (unsigned int which = 0; which < MF_CALLS; which++) {
		struct call c = good(MF_CALL_ASK(which, SLOT * (which == MF_CALL_ECHO_FENCED), 0));

		c.key ^= 1;
		refused(&c, MF_ERR_KEY, "one bit off");
		c.key = 0;
		refused(&c, MF_ERR_KEY, "no key");
		c.key = key[MF_RIGHT_WRITE];
		refused(&c, MF_ERR_KEY, "of another right");
		c = good(c.ask);
		c.node = OTHER;
		refused(&c, MF_ERR_KEY, "of another node");
		c = good(c.ask);
		c.space++;
		refused(&c, MF_ERR_KEY, "of another space");
		if (which != MF_CALL_ECHO)
			continue; /* the address is looked at when the fence is done */
		c = good(c.ask);
		c.addr = at + 4 * PAGE - 50;
		refused(&c, MF_ERR_KEY, "beyond the space");
		c.addr = 8;
		refused(&c, MF_ERR_KEY, "where nothing is allocated");
	}
}

/** As often as it is asked, and only once a task. */
Test(call, one_that_is_late_has_a_ticket)
{
	const uint64_t ticket = MF_CALL_ASK(MF_CALL_ECHO_FENCED, SLOT, 9);
	struct call c = good(ticket);
	uint64_t result, asked, word = UINT64_C(0x1234567890);
	struct mf_answer out;

	cr_assert_eq(access_memory(MF_RIGHT_WRITE, at, sizeof(word), &word), MF_OK);
	asked = fast().asked;
	for (int i = 0; i < 3; i++) {
		cr_assert_eq(call(&c, &result, &out), MF_ERR_PENDING);
		cr_expect_eq(result, ticket);
	}
	cr_expect_eq(fast().asked, asked + 1, "one fence");
	c.ask = MF_CALL_ASK(MF_CALL_ECHO_FENCED, SLOT, 10);
	cr_expect_eq(call(&c, &result, &out), MF_ERR_BUSY, "another one in the same slot");
	cr_expect_eq(result, 0);
	c.ask = ticket;
	now += MF_US(10);
	for (int i = 0; i < 3; i++) {
		cr_assert_eq(call(&c, &result, &out), MF_OK, "time %d", i);
		cr_expect_eq(result, 100);
		cr_expect_eq(memcmp(out.places.at[0], &word, sizeof(word)), 0);
	}
	cr_expect_eq(fast().asked, asked + 1);
	c.ask = MF_CALL_ASK(MF_CALL_ECHO_FENCED, SLOT, 8);
	cr_expect_eq(call(&c, &result, &out), MF_ERR_KEY, "an older one");
}

/* When its fence is done it is judged anew: the pages may be gone. */
Test(call, a_late_one_is_judged_when_it_is_answered)
{
	struct call c = good(MF_CALL_ASK(MF_CALL_ECHO_FENCED, SLOT, 1));
	uint64_t result;
	struct mf_answer out;

	cr_assert_eq(call(&c, &result, &out), MF_ERR_PENDING);
	(void)ask(MF_SPACE_FREE, PAGE, at, key[MF_RIGHT_WRITE]);
	now += MF_US(10);
	cr_expect_eq(call(&c, &result, &out), MF_ERR_KEY);
	c.key ^= 1;
	c.addr += PAGE;
	cr_expect_eq(call(&c, &result, &out), MF_ERR_KEY, "the ticket opens nothing");
	c.key ^= 1;
	cr_expect_eq(call(&c, &result, &out), MF_OK);
}

/* Bytes of an answer pass a shared bandwidth as those of a read do. */
Test(call, a_shared_bandwidth_is_shared_by_calls)
{
	struct mf_bandwidth *b = mf_bandwidth_new(UINT64_C(8000000000), &mf_memory_timed, memory());
	const struct mf_memory_ops *ops = mf_bandwidth_ops(b);
	const uint64_t arg[2] = {MF_CALL_ASK(MF_CALL_ECHO, 0, 0), 100};
	struct mf_access a = {.addr = at,
			      .key = key[MF_RIGHT_READ],
			      .at = now,
			      .data = arg,
			      .len = 112,
			      .space = SPACE,
			      .node = NODE,
			      .dry = true};
	struct mf_answer first, second;
	uint64_t result;

	cr_assert_not_null(ops->call);
	cr_assert_eq(ops->call((struct mf_memory *)b, &a, &result, &first), MF_OK);
	a.dry = false;
	cr_assert_eq(ops->call((struct mf_memory *)b, &a, &result, &second), MF_OK);
	cr_expect_eq(first.time, second.time, "a dry one takes nothing");
	cr_expect_eq(second.time, 2 * MF_NS(82) + MF_NS(12) + MF_NS(100), "100 octets of 1 ns each");
	cr_assert_eq(ops->call((struct mf_memory *)b, &a, &result, &second), MF_OK);
	cr_expect_eq(second.time, MF_NS(82) + MF_NS(200), "behind those before");
	a.key ^= 1;
	cr_expect_eq(ops->call((struct mf_memory *)b, &a, &result, &second), MF_ERR_KEY);
	mf_bandwidth_free(b);
}

/* A memory without calls, by its file. */
Test(call, there_may_be_none)
{
	struct vm_rig r;
	struct mf_vm_config c = vm_rig_config(SEED);
	const uint64_t arg[2] = {MF_CALL_ASK(MF_CALL_ECHO, 0, 0), 8};
	const struct mf_access a = {.addr = at, .data = arg, .len = 16, .space = SPACE, .node = NODE};
	struct mf_answer out;
	uint64_t result;

	cr_assert(vm_rig_make(&r, &c));
	cr_expect_eq(mf_memory_virtual.call(r.memory, &a, &result, &out), MF_ERR_OPCODE);
	vm_rig_free(&r);
	c.answer = MF_CALL_MAX + 1;
	cr_expect_not(vm_rig_make(&r, &c), "longer than the wire can say");
	cr_expect_null(mf_memory_flat.call);
	cr_expect_null(mf_memory_sink.call);
}
