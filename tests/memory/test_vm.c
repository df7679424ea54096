/* SPDX-License-Identifier: BSD-3-Clause */
/* Virtual memory: times, answers and limits, one at a time. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "base/mf_rng.h"
#include "vm_rig.h"

#define SEED 0x5eed0043
#define OWNER 3
#define GUEST 5
#define SPACE (3u << 13 | 1)
#define PAGE UINT64_C(4096)
#define DRAM MF_NS(100)
#define FAULT MF_NS(12)

static struct vm_rig r;
static uint64_t own, key[MF_RIGHTS]; /* of the owner */

static uint8_t ask(uint16_t node, uint32_t space, uint8_t what, uint64_t with, uint64_t arg0, uint64_t arg1,
		   uint64_t *result)
{
	const struct mf_vm_request q = {
		.what = what, .node = node, .space = space, .key = with, .arg = {arg0, arg1}};

	return vm_rig_ask(&r, &q, result);
}

static uint64_t join(uint16_t node, uint32_t space, uint8_t right)
{
	uint64_t with;
	uint8_t status = ask(node, space, MF_SPACE_JOIN, 0, right, 0, &with);

	cr_expect_eq(status == MF_OK, with != 0);
	return with;
}

static void begin_with(const struct mf_vm_config *c)
{
	cr_assert(vm_rig_make(&r, c));
	vm_rig_settle(&r);
	cr_assert_eq(ask(OWNER, SPACE, MF_SPACE_MAKE, 0, 0, 0, &own), MF_OK);
	for (uint8_t right = 0; right < MF_RIGHTS; right++)
		key[right] = join(OWNER, SPACE, right);
}

static void begin(void)
{
	const struct mf_vm_config c = vm_rig_config(SEED);

	begin_with(&c);
}

static void end(void)
{
	struct mf_vm_slow_stats s;
	struct mf_vm_stats f;

	mf_vm_stats(r.fast, &f);
	mf_vm_slow_stats(r.slow, &s);
	cr_expect(f.strange == 0 && s.strange == 0, "%lu, %lu", f.strange, s.strange);
	vm_rig_free(&r);
}

TestSuite(vm, .init = begin, .fini = end);

static struct mf_vm_stats stats(void)
{
	struct mf_vm_stats f;

	mf_vm_stats(r.fast, &f);
	return f;
}

static uint64_t allocate(uint64_t octets, unsigned int page_class, uint8_t rights)
{
	uint64_t at;

	cr_assert_eq(ask(OWNER, SPACE, MF_SPACE_ALLOCATE, key[MF_RIGHT_WRITE],
			 MF_SPACE_ALLOC(octets, page_class, rights), 0, &at),
		     MF_OK);
	return at;
}

static struct mf_access access_of(uint64_t addr, uint32_t len, uint8_t right, const void *data)
{
	return (struct mf_access){.addr = addr,
				  .len = len,
				  .right = right,
				  .data = data,
				  .space = SPACE,
				  .node = OWNER,
				  .op = MF_RMW_FADD,
				  .key = right < MF_RIGHTS ? key[right] : 0};
}

static uint8_t run(const struct mf_access *a, struct mf_answer *out)
{
	return mf_memory_virtual.access(r.memory, a, out);
}

/** @return what it takes */
static mf_time time_of(uint64_t addr, uint32_t len, uint8_t right)
{
	static const uint8_t data[64];
	const struct mf_access a = access_of(addr, len, right, data);
	struct mf_answer out;

	cr_assert_eq(run(&a, &out), MF_OK);
	return out.time;
}

Test(vm, times)
{
	uint64_t at = allocate(20 * PAGE, 0, MF_PAGE_WRITE);

	cr_expect_eq(time_of(at, 8, MF_RIGHT_READ), 2 * DRAM + FAULT, "miss and fault");
	cr_expect_eq(time_of(at, 8, MF_RIGHT_READ), DRAM, "hit");
	cr_expect_eq(time_of(at, 8, MF_RIGHT_WRITE), 0);
	cr_expect_eq(time_of(at, 8, MF_RIGHT_RMW), 2 * DRAM);
	cr_expect_eq(time_of(at + PAGE, 8, MF_RIGHT_WRITE), DRAM + FAULT);
	cr_expect_eq(time_of(at + 2 * PAGE - 8, 16, MF_RIGHT_READ), 2 * DRAM + FAULT,
		     "one page of two is new");
	cr_expect_eq(time_of(at + 4 * PAGE - 8, 16, MF_RIGHT_READ), 3 * DRAM + 2 * FAULT);
	for (unsigned int i = 4; i < 20; i++) {
		vm_rig_settle(&r);
		time_of(at + i * PAGE, 8, MF_RIGHT_READ);
	}
	cr_expect_eq(time_of(at, 8, MF_RIGHT_READ), 2 * DRAM, "there, and not in the TLB any more");
	cr_expect_eq(stats().faults, 20);
}

Test(vm, in_the_order_of_the_contract)
{
	uint64_t at = allocate(2 * PAGE, 0, MF_PAGE_READ), args[2] = {1, 2};
	struct mf_access a = access_of(at + 4, 8, MF_RIGHT_RMW, args);
	struct mf_answer out;

	a.op = MF_RMW_OPS;
	cr_expect_eq(run(&a, &out), MF_ERR_KEY, "it may only be read");
	at = allocate(2 * PAGE, 0, MF_PAGE_WRITE);
	a.addr = at + 4;
	cr_expect_eq(run(&a, &out), MF_ERR_OPCODE);
	a.op = MF_RMW_SWAP;
	cr_expect_eq(run(&a, &out), MF_ERR_ALIGN);
	a.addr = at;
	cr_expect_eq(run(&a, &out), MF_OK);
	cr_expect_eq(out.old, 0);
	cr_expect_eq(run(&a, &out), MF_OK);
	cr_expect_eq(out.old, 1);
	at = allocate(3 * PAGE, 0, MF_PAGE_WRITE);
	a = access_of(at + 8, 2 * PAGE, MF_RIGHT_READ, NULL);
	cr_expect_eq(run(&a, &out), MF_ERR_RESOURCE, "three places");
	a.dry = true;
	cr_expect_eq(run(&a, &out), MF_OK, "as a question it may be longer");
	a.len = 3 * PAGE;
	cr_expect_eq(run(&a, &out), MF_ERR_KEY, "behind the end");
	cr_expect_eq(stats().many, 1);
}

/** Whatever it is: the same answer, of which nothing is said, and nothing has changed. */
static void refuse(const struct mf_access *a, enum mf_vm_refusal reason)
{
	struct mf_vm_stats before = stats(), after;
	struct mf_answer out, was;

	memset(&out, 0x5a, sizeof(out));
	was = out;
	cr_expect_eq(run(a, &out), MF_ERR_KEY);
	cr_expect_eq(memcmp(&out, &was, sizeof(out)), 0);
	after = stats();
	before.refused[reason]++;
	cr_expect_eq(memcmp(&before, &after, sizeof(after)), 0, "%s: something has changed",
		     mf_vm_refusal_name(reason));
}

Test(vm, who_is_refused_changes_nothing)
{
	uint64_t at = allocate(2 * PAGE, 0, MF_PAGE_READ), top = mf_remote_class_base(1) - 8;
	const struct mf_access good = access_of(at, 8, MF_RIGHT_READ, NULL);
	struct mf_access a = good;

	a.space++;
	refuse(&a, MF_VM_REFUSED_SPACE);
	a.space = UINT32_MAX;
	refuse(&a, MF_VM_REFUSED_SPACE);
	a = good;
	a.node = GUEST;
	refuse(&a, MF_VM_REFUSED_KEY);
	a.node = OWNER + 512;
	refuse(&a, MF_VM_REFUSED_KEY);
	a = good;
	a.key ^= 1;
	refuse(&a, MF_VM_REFUSED_KEY);
	a.addr = 0;
	refuse(&a, MF_VM_REFUSED_KEY); /* whatever is wrong beside it */
	a = access_of(at, 8, MF_RIGHT_WRITE, "01234567");
	refuse(&a, MF_VM_REFUSED_RIGHT);
	a.key = good.key;
	refuse(&a, MF_VM_REFUSED_KEY);
	for (unsigned int i = 0; i < 6; i++) {
		const uint64_t where[] = {0,   at + 2 * PAGE,   at + 2 * PAGE - 4,
					  top, MF_ADDR_MAX - 3, UINT64_MAX};

		a = access_of(where[i], 8, MF_RIGHT_READ, NULL);
		refuse(&a, MF_VM_REFUSED_PAGE);
	}
	a = access_of(mf_remote_class_base(2), 8, MF_RIGHT_READ, NULL); /* no such class */
	refuse(&a, MF_VM_REFUSED_PAGE);
	a = access_of(at, 0, MF_RIGHT_READ, NULL);
	refuse(&a, MF_VM_REFUSED_PAGE);
	a = good;
	a.right = 77;
	refuse(&a, MF_VM_REFUSED_KEY);
}

/** @return enum mf_status of a read by a node with a key */
static uint8_t read_as(uint16_t node, uint32_t space, uint64_t with, uint64_t addr)
{
	struct mf_access a = access_of(addr, 8, MF_RIGHT_READ, NULL);
	struct mf_answer out;

	a.node = node;
	a.space = space;
	a.key = with;
	return run(&a, &out);
}

Test(vm, members)
{
	uint64_t at = allocate(PAGE, 0, MF_PAGE_WRITE), guest, before, none;

	cr_expect_eq(join(GUEST, SPACE, MF_RIGHT_READ), 0);
	cr_expect_eq(ask(GUEST, SPACE, MF_SPACE_GRANT, own, GUEST, MF_PAGE_WRITE, &none), MF_ERR_KEY,
		     "the owner's key, at another node");
	cr_expect_eq(ask(OWNER, SPACE, MF_SPACE_GRANT, key[MF_RIGHT_WRITE], GUEST, 2, &none), MF_ERR_KEY);
	cr_expect_eq(ask(OWNER, SPACE, MF_SPACE_GRANT, own, GUEST, MF_PAGE_READ, &none), MF_OK);
	cr_expect_eq(none, own, "nothing was taken, so no epoch has begun");
	guest = join(GUEST, SPACE, MF_RIGHT_READ);
	cr_expect_neq(guest, key[MF_RIGHT_READ]);
	cr_expect_eq(join(GUEST, SPACE, MF_RIGHT_WRITE), 0);
	cr_expect_eq(join(GUEST, SPACE, MF_SPACE_OWN), 0);
	cr_expect_eq(read_as(GUEST, SPACE, guest, at), MF_OK);
	cr_expect_eq(read_as(OWNER, SPACE, guest, at), MF_ERR_KEY);
	cr_expect_eq(read_as(GUEST, SPACE, key[MF_RIGHT_READ], at), MF_ERR_KEY);
	before = own;
	cr_expect_eq(ask(OWNER, SPACE, MF_SPACE_GRANT, own, GUEST, MF_PAGE_NONE, &own), MF_OK);
	cr_expect_neq(own, before);
	cr_expect_eq(read_as(GUEST, SPACE, guest, at), MF_ERR_KEY, "an old epoch");
	cr_expect_eq(join(GUEST, SPACE, MF_RIGHT_READ), 0);
	cr_expect_eq(read_as(OWNER, SPACE, key[MF_RIGHT_READ], at), MF_ERR_KEY);
	cr_expect_eq(read_as(OWNER, SPACE, join(OWNER, SPACE, MF_RIGHT_READ), at), MF_OK);
	cr_expect_eq(ask(OWNER, SPACE, MF_SPACE_END, before, 0, 0, &none), MF_ERR_KEY);
	cr_expect_eq(ask(OWNER, SPACE, MF_SPACE_GRANT, own, OWNER, MF_PAGE_READ, &none), MF_ERR_RANGE,
		     "the owner keeps his own rights");
	cr_expect_eq(ask(OWNER, SPACE, MF_SPACE_GRANT, own, 512, MF_PAGE_READ, &none), MF_ERR_RANGE);
	cr_expect_eq(ask(OWNER, SPACE, MF_SPACE_GRANT, own, GUEST, 3, &none), MF_ERR_RANGE);
}

Test(vm, after_a_restart_no_key_opens_anything)
{
	const struct mf_vm_config c = vm_rig_config(SEED + 1);
	uint64_t at = allocate(PAGE, 0, MF_PAGE_WRITE), before = key[MF_RIGHT_READ], none;

	end();
	begin_with(&c);
	cr_expect_eq(allocate(PAGE, 0, MF_PAGE_WRITE), at);
	cr_expect_eq(read_as(OWNER, SPACE, before, at), MF_ERR_KEY);
	cr_expect_eq(read_as(OWNER, SPACE, key[MF_RIGHT_READ], at), MF_OK);
	cr_expect_eq(ask(OWNER, SPACE, MF_SPACE_END, own, 0, 0, &none), MF_OK);
	cr_expect_eq(read_as(OWNER, SPACE, key[MF_RIGHT_READ], at), MF_ERR_KEY);
	cr_expect_eq(stats().refused[MF_VM_REFUSED_SPACE], 1);
	before = key[MF_RIGHT_READ];
	cr_expect_eq(ask(OWNER, SPACE, MF_SPACE_MAKE, 0, 0, 0, &own), MF_OK);
	cr_expect_neq(join(OWNER, SPACE, MF_RIGHT_READ), before, "the number again, not the key");
}

Test(vm, what_is_asked_wrongly)
{
	uint64_t at = allocate(4 * PAGE, 0, MF_PAGE_WRITE), w = key[MF_RIGHT_WRITE], out;
	const struct {
		uint8_t what;
		uint64_t arg0, arg1;
		uint8_t status;
	} of[] = {
		{MF_SPACE_ALLOCATE, MF_SPACE_ALLOC(0, 0, 2), 0, MF_ERR_RANGE},
		{MF_SPACE_ALLOCATE, MF_SPACE_ALLOC(PAGE, 1, 2), 0, MF_ERR_RANGE},
		{MF_SPACE_ALLOCATE, MF_SPACE_ALLOC(PAGE, 0, 3), 0, MF_ERR_RANGE},
		{MF_SPACE_ALLOCATE, MF_SPACE_ALLOC(UINT64_C(1) << 46, 0, 2), 0, MF_ERR_RANGE},
		{MF_SPACE_ALLOCATE, MF_SPACE_ALLOC(1000 * PAGE, 0, 2), 0, MF_ERR_RESOURCE},
		{MF_SPACE_FREE, 0, at, MF_ERR_RANGE},
		{MF_SPACE_FREE, PAGE, at + 8, MF_ERR_KEY},
		{MF_SPACE_FREE, 5 * PAGE, at, MF_ERR_KEY},
		{MF_SPACE_FREE, MF_ADDR_MAX, at, MF_ERR_KEY},
		{MF_SPACE_FREE, PAGE, UINT64_MAX, MF_ERR_KEY},
		{MF_SPACE_FREE, PAGE, 0, MF_ERR_KEY},
		{MF_SPACE_FREE, PAGE, mf_remote_class_base(1), MF_ERR_KEY},
		{MF_SPACE_PROTECT, MF_SPACE_ALLOC(PAGE, 0, 3), at, MF_ERR_RANGE},
		{MF_SPACE_PROTECT, MF_SPACE_ALLOC(PAGE, 0, 1), at + 4 * PAGE, MF_ERR_KEY},
		{MF_SPACE_PROTECT, MF_SPACE_ALLOC(1, 0, 1), at + PAGE, MF_OK},
		{MF_SPACE_FREE, 3 * PAGE, at, MF_OK},
		{MF_SPACE_FREE, PAGE, at, MF_ERR_KEY},
		{MF_SPACE_TASKS, 0, 0, MF_ERR_KEY},
	};

	for (unsigned int i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		cr_expect_eq(ask(OWNER, SPACE, of[i].what, w, of[i].arg0, of[i].arg1, &out), of[i].status,
			     "%u", i);
		cr_expect_eq(out, 0);
	}
	cr_expect_eq(stats().entries, 1);
	cr_expect_eq(stats().under_way, 0);
}

Test(vm, a_hint)
{
	uint64_t at, w = key[MF_RIGHT_WRITE];

	cr_expect_eq(ask(OWNER, SPACE, MF_SPACE_ALLOCATE, w, MF_SPACE_ALLOC(PAGE, 0, 2), 100 * PAGE, &at),
		     MF_OK);
	cr_expect_eq(at, 100 * PAGE);
	cr_expect_eq(ask(OWNER, SPACE, MF_SPACE_ALLOCATE, w, MF_SPACE_ALLOC(PAGE, 0, 2), 100 * PAGE, &at),
		     MF_OK);
	cr_expect_eq(at, 101 * PAGE, "it is taken: as soon as can be behind");
	cr_expect_eq(ask(OWNER, SPACE, MF_SPACE_ALLOCATE, w, MF_SPACE_ALLOC(PAGE, 5, 2), 100 * PAGE, &at),
		     MF_OK);
	cr_expect_eq(mf_remote_class(at), 5, "it is of another class, so it is none");
}

/** No work of the slow path: what is in the ring is all. */
Test(vm, dry_and_full)
{
	uint64_t at = allocate(60 * PAGE, 0, MF_PAGE_WRITE), none;
	struct mf_access a = access_of(at, 8, MF_RIGHT_READ, NULL);
	struct mf_answer out;
	unsigned int i = 0;

	for (; run(&a, &out) == MF_OK; i++)
		a.addr += PAGE;
	cr_expect_eq(i, r.config.ring);
	cr_expect_eq(stats().dry, 1);
	for (; i < 40; i++, a.addr += PAGE) {
		vm_rig_settle(&r);
		cr_expect_eq(run(&a, &out), MF_OK);
	}
	vm_rig_settle(&r);
	cr_expect_eq(run(&a, &out), MF_ERR_RESOURCE);
	cr_expect_eq(stats().full, 1);
	cr_expect_eq(stats().dry, 1);
	a.addr = at;
	cr_expect_eq(run(&a, &out), MF_OK, "others are unharmed");
	cr_expect_eq(ask(OWNER, SPACE, MF_SPACE_FREE, key[MF_RIGHT_WRITE], PAGE, at, &none), MF_OK);
	a.addr = at + 59 * PAGE;
	cr_expect_eq(run(&a, &out), MF_OK, "and one that was freed comes back");
}

/** Two absent pages, and one in the ring: neither faults. */
Test(vm, all_or_nothing)
{
	uint64_t at = allocate(20 * PAGE, 0, MF_PAGE_WRITE);
	struct mf_access a = access_of(at, 8, MF_RIGHT_READ, NULL);
	struct mf_answer out;

	for (unsigned int i = 0; i + 1 < r.config.ring; i++, a.addr += PAGE)
		cr_assert_eq(run(&a, &out), MF_OK);
	a.addr += PAGE - 8;
	a.len = 16;
	cr_expect_eq(run(&a, &out), MF_ERR_RESOURCE);
	cr_expect_eq(stats().ring[0], 1);
	cr_expect_eq(stats().present, r.config.ring - 1);
	vm_rig_settle(&r);
	cr_expect_eq(run(&a, &out), MF_OK);
}

Test(vm, the_second_page_has_rights_of_its_own)
{
	uint64_t at = allocate(2 * PAGE, 0, MF_PAGE_WRITE), none;
	struct mf_access a = access_of(at + PAGE - 8, 16, MF_RIGHT_WRITE, "0123456789abcdef");
	struct mf_answer out;

	cr_expect_eq(ask(OWNER, SPACE, MF_SPACE_PROTECT, key[MF_RIGHT_WRITE], MF_SPACE_ALLOC(PAGE, 0, 1),
			 at + PAGE, &none),
		     MF_OK);
	refuse(&a, MF_VM_REFUSED_RIGHT);
	a = access_of(at + PAGE - 8, 16, MF_RIGHT_READ, NULL);
	cr_expect_eq(run(&a, &out), MF_OK);
	cr_expect_eq(*(const uint64_t *)(const void *)out.places.at[0], 0, "nothing was written");
	a.right = MF_RIGHT_WRITE;
	a.data = "0123456789abcdef";
	a.key = key[MF_RIGHT_WRITE];
	refuse(&a, MF_VM_REFUSED_RIGHT); /* by the TLB, too */
}

Test(vm, a_held_page_goes_back_when_it_is_let_go)
{
	uint64_t at = allocate(2 * PAGE, 0, MF_PAGE_WRITE), none, word;
	struct mf_access w = access_of(at + PAGE - 8, 16, MF_RIGHT_WRITE, "0123456789abcdef");
	struct mf_access a = access_of(at + PAGE - 8, 16, MF_RIGHT_READ, NULL);
	struct mf_vm_slow_stats s;
	struct mf_answer held, out;

	a.hold = true;
	cr_assert_eq(run(&w, &out), MF_OK);
	cr_assert_eq(run(&a, &held), MF_OK);
	cr_expect_eq(mf_memory_virtual.held(r.memory), 1);
	cr_expect_eq(ask(OWNER, SPACE, MF_SPACE_END, own, 0, 0, &none), MF_OK);
	cr_expect_eq(run(&a, &out), MF_ERR_KEY);
	memcpy(&word, held.places.at[1], sizeof(word));
	cr_expect_eq(memcmp(&word, "89abcdef", 8), 0, "as it was");
	mf_vm_slow_stats(r.slow, &s);
	cr_expect_eq(s.pages[0].fast, stats().ring[0] + 2);
	mf_memory_virtual.let_go(r.memory, &held.places);
	vm_rig_settle(&r);
	mf_vm_slow_stats(r.slow, &s);
	cr_expect_eq(s.pages[0].fast, stats().ring[0]);
	cr_expect_eq(stats().late, 2);
	cr_expect_eq(mf_memory_virtual.held(r.memory), 0);
}

/** One of a thousand pages is under way; another space's goes by. */
Test(vm, a_large_allocation_holds_up_nobody)
{
	struct mf_vm_config c = vm_rig_config(SEED);
	struct mf_vm_request large = {.what = MF_SPACE_ALLOCATE, .node = OWNER, .space = SPACE}, small;
	uint64_t ticket[2], result, other;
	uint8_t status;

	end();
	c.page_class[0].pages = 1 << 20;
	begin_with(&c);
	cr_assert_eq(ask(GUEST, 5u << 13, MF_SPACE_MAKE, 0, 0, 0, &other), MF_OK);
	small = large;
	small.node = GUEST;
	small.space = 5u << 13;
	small.key = join(GUEST, 5u << 13, MF_RIGHT_WRITE);
	large.key = key[MF_RIGHT_WRITE];
	large.arg[0] = MF_SPACE_ALLOC(PAGE << 14, 0, 2);
	small.arg[0] = MF_SPACE_ALLOC(PAGE, 0, 2);
	cr_assert_eq(vm_rig_begin(&r, &large, &ticket[0]), MF_OK);
	for (unsigned int i = 0; i < 20; i++)
		vm_rig_turn(&r, 16, 256, 4096);
	for (unsigned int i = 0; i < 50; i++) {
		unsigned int turns = 0;

		cr_assert_eq(vm_rig_begin(&r, &small, &ticket[1]), MF_OK);
		while (!vm_rig_answer(&r, GUEST, ticket[1], &status, &result) && turns++ < 10)
			vm_rig_turn(&r, 16, 256, 4096);
		cr_expect_eq(status, MF_OK);
		cr_expect_leq(turns, 2, "%u turns", turns);
	}
	cr_expect(!vm_rig_answer(&r, OWNER, ticket[0], &status, &result), "it is still under way");
	vm_rig_settle(&r);
	cr_expect(vm_rig_answer(&r, OWNER, ticket[0], &status, &result) && status == MF_OK);
	cr_expect_eq(stats().entries, (1 << 14) + 50);
}

/** Many pages, so that what is asked of them is not done at once. */
static uint64_t begin_large(void)
{
	struct mf_vm_config c = vm_rig_config(SEED);

	end();
	c.page_class[0].pages = 1 << 20;
	begin_with(&c);
	return allocate(1000 * PAGE, 0, MF_PAGE_WRITE);
}

/** @return its ticket */
static uint64_t begin_task(uint16_t node, uint8_t what, uint64_t with, uint64_t arg0, uint64_t arg1)
{
	const struct mf_vm_request q = {
		.what = what, .node = node, .space = SPACE, .key = with, .arg = {arg0, arg1}};
	uint64_t ticket;

	cr_assert_eq(vm_rig_begin(&r, &q, &ticket), MF_OK);
	return ticket;
}

static uint8_t status_of(uint16_t node, uint64_t ticket)
{
	uint64_t result;
	uint8_t status;

	return vm_rig_answer(&r, node, ticket, &status, &result) ? status : MF_ERR_TIMEOUT;
}

/** Both lcores have as little to do in a turn as the slow path was told, if it was told little. */
Test(vm, a_turn_of_few_steps_is_short_for_both_paths)
{
	const uint64_t steps = 5;
	uint64_t before, at;

	at = begin_large();
	begin_task(OWNER, MF_SPACE_ALLOCATE, key[MF_RIGHT_WRITE],
		   MF_SPACE_ALLOC(300 * PAGE, 0, MF_PAGE_WRITE), 0);
	do {
		before = stats().entries;
		cr_assert(vm_rig_turn(&r, 16, steps, 4096));
		cr_expect_leq(stats().entries - before, steps);
	} while (stats().entries < 1300);
	vm_rig_settle(&r);
	begin_task(OWNER, MF_SPACE_FREE, key[MF_RIGHT_WRITE], 300 * PAGE, at);
	do {
		before = stats().entries;
		cr_assert(vm_rig_turn(&r, 16, steps, 4096));
		cr_expect_leq(before - stats().entries, steps);
	} while (stats().entries > 1000);
	vm_rig_settle(&r);
}

/** As many pages as may be held, let go while the slow path takes nothing, and then as many once more. */
Test(vm, there_is_a_place_for_each_page_that_comes_back)
{
	enum { PINS = 100, PAGES = 2 * PINS };
	static struct mf_answer held[PAGES];
	struct mf_vm_config c = vm_rig_config(SEED);
	struct mf_vm_slow_stats s;
	struct mf_vm_item item;
	uint64_t at, none;

	end();
	c.page_class[0].pages = 1000;
	c.bucket = 16;
	c.ring = PAGES;
	c.pins = PINS;
	begin_with(&c);
	at = allocate(PAGES * PAGE, 0, MF_PAGE_WRITE);
	for (unsigned int i = 0; i < PAGES; i++)
		time_of(at + i * PAGE, 8, MF_RIGHT_READ);
	for (unsigned int i = 0; i < PAGES; i++) {
		struct mf_access a = access_of(at + i * PAGE, 8, MF_RIGHT_READ, NULL);

		if (i == PINS) {
			cr_assert_eq(
				ask(OWNER, SPACE, MF_SPACE_FREE, key[MF_RIGHT_WRITE], PINS * PAGE, at, &none),
				MF_OK);
			begin_task(OWNER, MF_SPACE_FREE, key[MF_RIGHT_WRITE], PINS * PAGE, at + PINS * PAGE);
			while (mf_vm_queue_take(mf_vm_out(r.fast), &item))
				mf_vm_slow_take(r.slow, &item);
			while (mf_vm_slow_work(r.slow, 1000, 0))
				;
			for (unsigned int k = 0; k < PINS; k++)
				mf_memory_virtual.let_go(r.memory, &held[k].places);
		}
		a.hold = true;
		cr_assert_eq(run(&a, &held[i]), MF_OK);
	}
	while (mf_vm_queue_take(mf_vm_slow_out(r.slow), &item))
		mf_vm_take(r.fast, &item);
	for (unsigned int i = PINS; i < PAGES; i++)
		mf_memory_virtual.let_go(r.memory, &held[i].places);
	cr_expect_eq(stats().late, PAGES);
	vm_rig_settle(&r);
	mf_vm_slow_stats(r.slow, &s);
	cr_expect_eq(s.pages[0].fast, stats().ring[0], "%lu pages are lost",
		     s.pages[0].fast - stats().ring[0]);
}

/** Joins come as fast as they are answered. They need no key. */
Test(vm, many_small_tasks_hold_up_nobody)
{
	uint64_t ticket, joins[4];
	unsigned int turns = 0;
	uint8_t status;

	ticket =
		begin_task(OWNER, MF_SPACE_ALLOCATE, key[MF_RIGHT_WRITE], MF_SPACE_ALLOC(20 * PAGE, 0, 2), 0);
	vm_rig_turn(&r, 16, 4, 0);
	do {
		for (unsigned int i = 0; i < 4; i++)
			joins[i] = begin_task(GUEST, MF_SPACE_JOIN, 0, MF_SPACE_OWN, 0);
		do {
			vm_rig_turn(&r, 16, 4, 0);
		} while ((status = status_of(GUEST, joins[0])) == MF_ERR_TIMEOUT);
		cr_expect_eq(status, MF_ERR_KEY);
		for (unsigned int i = 1; i < 4; i++)
			while (status_of(GUEST, joins[i]) == MF_ERR_TIMEOUT)
				vm_rig_turn(&r, 16, 1, 0);
		status = status_of(OWNER, ticket);
	} while (status == MF_ERR_TIMEOUT && turns++ < 100);
	cr_expect_eq(status, MF_OK);
}

/** A fence that waits takes the only step; the task behind it can go on. */
Test(vm, work_that_was_not_looked_at_is_left)
{
	uint64_t at = begin_large(), w = key[MF_RIGHT_WRITE], allocated;
	struct mf_vm_item item;

	begin_task(OWNER, MF_SPACE_FREE, w, 1000 * PAGE, at);
	while (mf_vm_queue_take(mf_vm_out(r.fast), &item))
		mf_vm_slow_take(r.slow, &item);
	while (mf_vm_slow_work(r.slow, 1000, 0))
		;
	begin_task(OWNER, MF_SPACE_FENCE, key[MF_RIGHT_READ], 0, 0);
	allocated = begin_task(OWNER, MF_SPACE_ALLOCATE, w, MF_SPACE_ALLOC(PAGE, 0, 2), 0);
	while (mf_vm_queue_take(mf_vm_out(r.fast), &item))
		mf_vm_slow_take(r.slow, &item);
	while (mf_vm_slow_work(r.slow, 1, 0))
		;
	while (mf_vm_queue_take(mf_vm_slow_out(r.slow), &item))
		mf_vm_take(r.fast, &item);
	cr_expect_eq(status_of(OWNER, allocated), MF_OK);
}

Test(vm, what_is_asked_of_a_range_is_done_in_order)
{
	uint64_t at = begin_large(), w = key[MF_RIGHT_WRITE], ticket[3];

	ticket[0] = begin_task(OWNER, MF_SPACE_PROTECT, w, MF_SPACE_ALLOC(1000 * PAGE, 0, 1), at);
	ticket[1] = begin_task(OWNER, MF_SPACE_PROTECT, w, MF_SPACE_ALLOC(1000 * PAGE, 0, 2), at);
	ticket[2] = begin_task(OWNER, MF_SPACE_FREE, w, 1000 * PAGE, at);
	vm_rig_turn(&r, 4, 100, 0);
	cr_expect_eq(status_of(OWNER, ticket[2]), MF_ERR_TIMEOUT);
	vm_rig_settle(&r);
	for (unsigned int i = 0; i < 3; i++)
		cr_expect_eq(status_of(OWNER, ticket[i]), MF_OK, "%u", i);
	cr_expect_eq(stats().entries, 0);
}

/** The right that it was asked with is taken before it begins. */
Test(vm, a_task_of_an_epoch_that_is_over)
{
	uint64_t at = begin_large(), ticket[3], guest, none;

	cr_assert_eq(ask(OWNER, SPACE, MF_SPACE_GRANT, own, GUEST, MF_PAGE_WRITE, &none), MF_OK);
	guest = join(GUEST, SPACE, MF_RIGHT_WRITE);
	ticket[0] = begin_task(OWNER, MF_SPACE_FREE, key[MF_RIGHT_WRITE], 999 * PAGE, at);
	ticket[1] = begin_task(GUEST, MF_SPACE_FREE, guest, PAGE, at + 999 * PAGE);
	ticket[2] = begin_task(OWNER, MF_SPACE_GRANT, own, GUEST, MF_PAGE_NONE);
	vm_rig_settle(&r);
	cr_expect_eq(status_of(OWNER, ticket[0]), MF_OK, "it had begun");
	cr_expect_eq(status_of(GUEST, ticket[1]), MF_ERR_KEY);
	cr_expect_eq(status_of(OWNER, ticket[2]), MF_OK);
	cr_expect_eq(stats().entries, 1);
}

Test(vm, a_space_that_ends_is_closed_first)
{
	uint64_t at = begin_large(), ticket = begin_task(OWNER, MF_SPACE_END, own, 0, 0);

	cr_expect_eq(read_as(OWNER, SPACE, key[MF_RIGHT_READ], at + 999 * PAGE), MF_OK);
	for (unsigned int i = 0; i < 4; i++)
		vm_rig_turn(&r, 4, 10, 0);
	cr_expect_eq(read_as(OWNER, SPACE, key[MF_RIGHT_READ], at + 999 * PAGE), MF_ERR_KEY);
	cr_expect_eq(stats().refused[MF_VM_REFUSED_SPACE], 1);
	cr_expect_gt(stats().entries, 900);
	vm_rig_settle(&r);
	cr_expect_eq(status_of(OWNER, ticket), MF_OK);
	cr_expect_eq(stats().entries, 0);
}

/** However many faults there are, the slow path has at most one item of them to take. */
Test(vm, faults_without_the_slow_path)
{
	struct mf_vm_config c = vm_rig_config(SEED);
	uint64_t at;

	end();
	c.page_class[0].pages = 200;
	c.ring = 100;
	begin_with(&c);
	at = allocate(150 * PAGE, 0, MF_PAGE_WRITE);
	for (unsigned int i = 0; i < 100; i++)
		time_of(at + i * PAGE, 8, MF_RIGHT_READ);
	cr_expect_eq(mf_vm_out(r.fast)->items, 1);
	vm_rig_settle(&r);
	cr_expect_eq(stats().ring[0], 100, "all are made up for");
}

static uint8_t ask_in(uint16_t node, uint8_t slot, uint32_t number, uint8_t what, uint64_t *result)
{
	const struct mf_vm_request q = {.what = what,
					.slot = slot,
					.node = node,
					.number = number,
					.space = SPACE,
					.key = what == MF_SPACE_FENCE ? key[MF_RIGHT_READ] : 0};

	return mf_vm_ask(r.fast, &q, result);
}

Test(vm, what_is_asked_again_is_not_done_again)
{
	struct mf_vm_slow_stats before, after;
	uint64_t result, again;

	mf_vm_slow_stats(r.slow, &before);
	cr_expect_eq(ask_in(OWNER, 7, 5000, MF_SPACE_JOIN, &result), MF_ERR_PENDING);
	cr_expect_eq(ask_in(OWNER, 7, 5000, MF_SPACE_JOIN, &result), MF_ERR_PENDING);
	cr_expect_eq(ask_in(GUEST, 7, 5000, MF_SPACE_FENCE, &result), MF_ERR_KEY,
		     "another node has other slots");
	vm_rig_settle(&r);
	cr_expect_eq(ask_in(OWNER, 7, 5000, MF_SPACE_JOIN, &result), MF_OK);
	cr_expect_eq(result, key[MF_RIGHT_READ]);
	cr_expect_eq(ask_in(OWNER, 7, 5000, MF_SPACE_FENCE, &again), MF_OK, "it is the same task");
	cr_expect_eq(again, result);
	mf_vm_slow_stats(r.slow, &after);
	cr_expect_eq(after.tasks[MF_SPACE_JOIN], before.tasks[MF_SPACE_JOIN] + 1);
	cr_expect_eq(ask_in(OWNER, 7, 4999, MF_SPACE_JOIN, &result), MF_ERR_KEY, "an older one");
	cr_expect_eq(ask_in(OWNER, 7, 5001, MF_SPACE_JOIN, &result), MF_ERR_PENDING);
	cr_expect_eq(ask_in(OWNER, 7, 5000, MF_SPACE_JOIN, &result), MF_ERR_KEY,
		     "its place is another task's now");
	vm_rig_settle(&r);
}

Test(vm, numbers_of_tasks_go_round)
{
	uint64_t result;

	cr_expect_eq(ask_in(OWNER, 7, UINT32_MAX, MF_SPACE_JOIN, &result), MF_ERR_PENDING);
	vm_rig_settle(&r);
	cr_expect_eq(ask_in(OWNER, 7, 3, MF_SPACE_JOIN, &result), MF_ERR_PENDING);
	cr_expect_eq(ask_in(OWNER, 7, UINT32_MAX, MF_SPACE_JOIN, &result), MF_ERR_KEY);
	vm_rig_settle(&r);
	cr_expect_eq(ask_in(OWNER, 7, 3, MF_SPACE_JOIN, &result), MF_OK);
}

Test(vm, slots_and_tasks_and_their_limits)
{
	struct mf_vm_config c = vm_rig_config(SEED);
	uint64_t result;

	end();
	c.tasks = 3;
	c.node_tasks = 2;
	begin_with(&c);
	cr_expect_eq(ask_in(OWNER, 2, 100, MF_SPACE_FENCE, &result), MF_ERR_KEY, "no such slot");
	cr_expect_eq(ask_in(OWNER, 0, 100, MF_SPACE_FENCE, &result), MF_ERR_PENDING);
	cr_expect_eq(ask_in(OWNER, 0, 101, MF_SPACE_FENCE, &result), MF_ERR_BUSY, "the slot has a task");
	cr_expect_eq(ask_in(OWNER, 1, 100, MF_SPACE_FENCE, &result), MF_ERR_PENDING);
	cr_expect_eq(ask_in(GUEST, 0, 100, MF_SPACE_JOIN, &result), MF_ERR_PENDING, "others are unharmed");
	cr_expect_eq(ask_in(GUEST, 1, 100, MF_SPACE_JOIN, &result), MF_ERR_BUSY, "of all");
	cr_expect_eq(stats().under_way, 3);
	mf_vm_forget_node(r.fast, GUEST);
	cr_expect_eq(ask_in(GUEST, 0, 1, MF_SPACE_JOIN, &result), MF_ERR_BUSY, "until that is done");
	vm_rig_settle(&r);
	cr_expect_eq(stats().under_way, 0);
	cr_expect_eq(ask_in(GUEST, 0, 1, MF_SPACE_JOIN, &result), MF_ERR_PENDING, "any number does");
	mf_vm_forget_node(r.fast, OWNER);
	cr_expect_eq(ask_in(OWNER, 0, 1, MF_SPACE_FENCE, &result), MF_ERR_PENDING);
	vm_rig_settle(&r);
	cr_expect_eq(ask_in(OWNER, 0, 1, MF_SPACE_FENCE, &result), MF_ERR_KEY, "its space ends");
	cr_expect_eq(stats().ask_full, 3);
}

Test(vm, spaces_and_their_limit)
{
	uint64_t octets = stats().state_octets, with, none;
	unsigned int made = 1;

	while (ask(7, 7u << 13 | made, MF_SPACE_MAKE, 0, 0, 0, &with) == MF_OK)
		made++;
	cr_expect_eq(made, r.config.spaces);
	cr_expect_eq(stats().state_octets, octets, "it does not grow with spaces");
	cr_expect_eq(ask(7, 7u << 13 | 100, MF_SPACE_MAKE, 0, 0, 0, &with), MF_ERR_RESOURCE);
	cr_expect_eq(ask(7, SPACE, MF_SPACE_MAKE, 0, 0, 0, &with), MF_ERR_KEY, "another node's number");
	cr_expect_eq(ask(OWNER, SPACE, MF_SPACE_END, own, 0, 0, &none), MF_OK);
	cr_expect_eq(ask(7, 7u << 13 | 100, MF_SPACE_MAKE, 0, 0, 0, &with), MF_OK);
}

static void expect_usage(uint64_t pages, uint64_t octets, uint64_t entries, uint64_t allocated,
			 uint64_t ranges)
{
	const uint64_t want[MF_USAGES] = {pages, octets, entries, allocated, ranges};

	for (unsigned int i = 0; i < MF_USAGES; i++) {
		uint64_t got;

		cr_expect_eq(ask(OWNER, SPACE, MF_SPACE_USAGE, key[MF_RIGHT_READ], i, 0, &got), MF_OK);
		cr_expect_eq(got, want[i], "%u: %lu, not %lu", i, got, want[i]);
	}
}

Test(vm, what_a_space_has)
{
	uint64_t at, large, w = key[MF_RIGHT_WRITE], none;
	struct mf_access a;
	struct mf_answer held;

	expect_usage(0, 0, 0, 0, 0);
	at = allocate(5 * PAGE, 0, MF_PAGE_WRITE);
	large = allocate(8192, 5, MF_PAGE_WRITE);
	expect_usage(0, 0, 6, 5 * PAGE + 8192, 2);
	time_of(at, 8, MF_RIGHT_READ);
	time_of(at + PAGE, 8, MF_RIGHT_READ);
	time_of(at + PAGE, 8, MF_RIGHT_READ);
	time_of(large, 8, MF_RIGHT_WRITE);
	expect_usage(3, 2 * PAGE + 8192, 6, 5 * PAGE + 8192, 2);
	cr_expect_eq(ask(OWNER, SPACE, MF_SPACE_PROTECT, w, MF_SPACE_ALLOC(PAGE, 0, 1), at + PAGE, &none),
		     MF_OK);
	expect_usage(3, 2 * PAGE + 8192, 6, 5 * PAGE + 8192, 4);
	a = access_of(at, 8, MF_RIGHT_READ, NULL);
	a.hold = true;
	cr_assert_eq(run(&a, &held), MF_OK);
	cr_expect_eq(ask(OWNER, SPACE, MF_SPACE_FREE, w, PAGE, at, &none), MF_OK);
	expect_usage(2, PAGE + 8192, 5, 4 * PAGE + 8192, 3);
	cr_expect_eq(ask(OWNER, SPACE, MF_SPACE_FREE, w, 4 * PAGE, at + PAGE, &none), MF_OK);
	expect_usage(1, 8192, 1, 8192, 1);
	mf_memory_virtual.let_go(r.memory, &held.places);
	cr_expect_eq(ask(OWNER, SPACE, MF_SPACE_USAGE, key[MF_RIGHT_READ], MF_USAGES, 0, &none),
		     MF_ERR_RANGE);
	cr_expect_eq(ask(OWNER, SPACE, MF_SPACE_USAGE, w, 0, 0, &none), MF_ERR_KEY);
	cr_expect_eq(ask(GUEST, SPACE, MF_SPACE_USAGE, key[MF_RIGHT_READ], 0, 0, &none), MF_ERR_KEY);
	cr_expect_eq(ask(OWNER, SPACE, MF_SPACE_END, own, 0, 0, &none), MF_OK);
	cr_expect_eq(ask(OWNER, SPACE, MF_SPACE_USAGE, key[MF_RIGHT_READ], 0, 0, &none), MF_ERR_KEY);
	cr_expect_eq(ask(OWNER, SPACE, MF_SPACE_MAKE, 0, 0, 0, &own), MF_OK);
	for (uint8_t right = 0; right < MF_RIGHTS; right++)
		key[right] = join(OWNER, SPACE, right);
	expect_usage(0, 0, 0, 0, 0);
}

Test(vm, what_came_of_accesses_to_a_space)
{
	struct mf_vm_space_stats s, sum = {.hits = 0};
	uint64_t at = allocate(4 * PAGE, 0, MF_PAGE_READ), with;
	uint32_t place = 0, space, spaces = 0;
	struct mf_vm_hot hot[4];

	cr_assert_eq(ask(GUEST, 5u << 13, MF_SPACE_MAKE, 0, 0, 0, &with), MF_OK);
	for (unsigned int i = 0; i < 160000; i++)
		time_of(at + (i % 8 == 0 ? 1 : i % 8 < 3 ? 3 : 2) * PAGE, 8, MF_RIGHT_READ);
	cr_expect_eq(read_as(GUEST, SPACE, key[MF_RIGHT_READ], at), MF_ERR_KEY);
	cr_expect_eq(read_as(OWNER, SPACE, key[MF_RIGHT_READ], at + 4 * PAGE), MF_ERR_KEY);
	cr_expect_eq(read_as(OWNER, SPACE + 1, key[MF_RIGHT_READ], at), MF_ERR_KEY, "no such space");
	mf_vm_space_stats(r.fast, SPACE, &s);
	cr_expect(s.hits == 160000 - 3 && s.faults == 3 && s.refused == 2, "%lu, %lu, %lu", s.hits, s.faults,
		  s.refused);
	cr_expect(s.used[MF_USAGE_PAGES] == 3 && s.used[MF_USAGE_ENTRIES] == 4 &&
		  s.used[MF_USAGE_RANGES] == 1);
	mf_vm_space_stats(r.fast, SPACE + 1, &s);
	cr_expect_eq(s.refused, 0, "nothing is kept of what is not there");
	for (; (space = mf_vm_slow_next_space(r.slow, &place)) != MF_SPACES; spaces++) {
		mf_vm_space_stats(r.fast, space, &s);
		sum.hits += s.hits;
	}
	cr_expect(spaces == 2 && sum.hits == stats().hits, "%u spaces, %lu hits", spaces, sum.hits);
	/* About 625 samples, of 5, 2 and 1 of 8 accesses. */
	cr_assert_eq(mf_vm_hot_pages(r.fast, SPACE, hot, 4), 3);
	cr_expect(hot[0].addr == at + 2 * PAGE && hot[1].addr == at + 3 * PAGE && hot[2].addr == at + PAGE);
	cr_expect(hot[0].samples > 2 * hot[1].samples && hot[1].samples > hot[2].samples &&
			  hot[2].samples > 40,
		  "%u, %u, %u", hot[0].samples, hot[1].samples, hot[2].samples);
	cr_expect_eq(mf_vm_hot_pages(r.fast, SPACE, hot, 1), 1);
	cr_expect_eq(hot[0].addr, at + 2 * PAGE);
	cr_expect_eq(mf_vm_hot_pages(r.fast, 5u << 13, hot, 4), 0);
	cr_expect_eq(ask(OWNER, SPACE, MF_SPACE_END, own, 0, 0, &with), MF_OK);
	cr_expect_eq(ask(OWNER, SPACE, MF_SPACE_MAKE, 0, 0, 0, &own), MF_OK);
	mf_vm_space_stats(r.fast, SPACE, &s);
	cr_expect(s.hits == 0 && s.faults == 0 && s.refused == 0, "a new one has a number of before");
}

/** Whatever a node asks, and with whatever it accesses, of its own space and of others'. */
Test(vm, garbage)
{
	struct mf_rng rng;
	uint64_t args[2], out;
	struct mf_answer answer;

	mf_rng_init(&rng, SEED, "garbage", 0);
	for (unsigned int i = 0; i < 200000; i++) {
		uint64_t addr = mf_rng_next(&rng) >> mf_rng_below(&rng, 64);
		struct mf_access a = access_of(addr, (uint32_t)mf_rng_below(&rng, 70000),
					       (uint8_t)mf_rng_below(&rng, 5), "");

		args[0] = MF_SPACE_ALLOC(mf_rng_next(&rng) >> mf_rng_below(&rng, 64), mf_rng_below(&rng, 8),
					 mf_rng_below(&rng, 4));
		args[1] = mf_rng_next(&rng) >> mf_rng_below(&rng, 64);
		if (i % 16 == 0)
			ask(OWNER, SPACE, (uint8_t)(MF_SPACE_ALLOCATE + mf_rng_below(&rng, 5)),
			    key[MF_RIGHT_WRITE], args[0], args[1], &out);
		if (a.right == MF_RIGHT_WRITE)
			a.right = MF_RIGHT_READ; /* there is no such data */
		a.key = key[a.right % MF_RIGHTS];
		a.data = args;
		a.op = (uint8_t)mf_rng_below(&rng, 7);
		(void)run(&a, &answer);
	}
	cr_expect_eq(ask(OWNER, SPACE, MF_SPACE_END, own, 0, 0, &out), MF_OK);
	cr_expect_eq(stats().entries, 0);
}

/** 10^6 guesses of a node that is no member, at pages that are there. */
Test(vm, guesses)
{
	uint64_t at = allocate(8 * PAGE, 0, MF_PAGE_WRITE), before;
	struct mf_rng rng;

	mf_rng_init(&rng, SEED, "guesses", 0);
	for (unsigned int i = 0; i < 6; i++)
		time_of(at + i * PAGE, 8, MF_RIGHT_READ);
	before = stats().refused[MF_VM_REFUSED_KEY];
	for (unsigned int i = 0; i < 1000000; i++) {
		struct mf_access a = access_of(at + mf_rng_below(&rng, 6 * PAGE), 8,
					       (uint8_t)mf_rng_below(&rng, MF_RIGHTS), "01234567");
		struct mf_answer out;

		a.node = GUEST;
		a.key = i % 2 == 0 ? mf_rng_next(&rng) : a.key ^ UINT64_C(1) << mf_rng_below(&rng, 64);
		cr_assert_eq(run(&a, &out), MF_ERR_KEY);
	}
	cr_expect_eq(stats().refused[MF_VM_REFUSED_KEY], before + 1000000);
}

/** 4 TiB of pages of 4 MiB, allocated and freed, take little of the host's memory. */
Test(vm, terabytes)
{
	struct mf_vm_config c = vm_rig_config(SEED);
	struct rusage used;
	uint64_t none;

	end();
	memset(c.page_class, 0, sizeof(c.page_class));
	c.page_class[3] = (struct mf_vm_class){.shift = 22, .pages = 1 << 20};
	c.bucket = 16;
	c.retries_max = 60; /* that of the paper's figure 13 */
	c.ranges = 1 << 16;
	begin_with(&c);
	for (unsigned int i = 0; i < 1 << 14; i++) {
		uint64_t at = allocate(UINT64_C(64) << 22, 3, MF_PAGE_WRITE);

		if (i % 256 == 0)
			time_of(at + 64, 8, MF_RIGHT_READ);
	}
	cr_expect_eq(stats().entries, 1 << 20);
	cr_expect_eq(ask(OWNER, SPACE, MF_SPACE_END, own, 0, 0, &none), MF_OK);
	cr_expect_eq(stats().entries, 0);
	getrusage(RUSAGE_SELF, &used);
	cr_expect_lt(used.ru_maxrss, 1 << 19, "%ld KiB", used.ru_maxrss);
}

Test(vm_limits, configurations)
{
	const struct mf_vm_config good = vm_rig_config(SEED);
	struct mf_vm_config bad[11];

	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		bad[i] = good;
	memset(bad[0].page_class, 0, sizeof(bad[0].page_class));
	bad[1].page_class[0].shift = 11;
	bad[2].page_class[0].shift = 31;
	bad[3].page_class[0].pages = (UINT64_C(1) << 32) - 11;
	bad[4].page_class[0].pages = UINT64_MAX;
	bad[5].bucket = 128;
	bad[6].tlb_ways = 0;
	bad[7].ring = 0;
	bad[8].pins = 0;
	bad[9].tasks = 0;
	bad[10].pins = UINT32_MAX;
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		errno = 0;
		cr_expect_null(mf_vm_new(&bad[i]), "%u", i);
		cr_expect_eq(errno, EINVAL, "%u: %d", i, errno);
	}
	bad[0] = bad[1] = good;
	bad[0].spaces = 0;
	bad[1].ranges = 0;
	cr_expect_null(mf_vm_slow_new(&bad[0], NULL));
	cr_expect_null(mf_vm_slow_new(&bad[1], NULL));
	mf_vm_free(NULL);
	mf_vm_slow_free(NULL);
}
