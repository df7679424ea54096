/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A node takes all there is of something. It is told so, its neighbour does not notice in what it has, and
 * when it has freed what it took all is there as before.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "vm_rig.h"

#define SEED 0x5eed0061
#define GREEDY 3
#define OTHER 5
#define PAGE UINT64_C(4096)
#define DRAM MF_NS(100)
#define MANY 200 /* more than there is of anything */

/** A node with a space. */
struct tenant {
	uint16_t node;
	uint32_t space;
	uint64_t own, key[MF_RIGHTS];
	uint64_t at; /**< a page that is there */
};

/** What there is. */
struct stock {
	uint64_t entries, present, held, under_way, slots, ranges, spaces;
	uint64_t ready[MF_PAGE_CLASSES], clean[MF_PAGE_CLASSES], zeroing[MF_PAGE_CLASSES],
		fast[MF_PAGE_CLASSES];
};

static struct vm_rig r;
static struct tenant greedy, other;
static struct stock before;

static uint8_t ask(const struct tenant *t, uint32_t space, uint8_t what, uint64_t with, uint64_t arg0,
		   uint64_t arg1, uint64_t *result)
{
	const struct mf_vm_request q = {
		.what = what, .node = t->node, .space = space, .key = with, .arg = {arg0, arg1}};

	return vm_rig_ask(&r, &q, result);
}

static uint8_t allocate(const struct tenant *t, uint64_t pages, uint8_t rights, uint64_t *at)
{
	return ask(t, t->space, MF_SPACE_ALLOCATE, t->key[MF_RIGHT_WRITE],
		   MF_SPACE_ALLOC(pages * PAGE, 0, rights), 0, at);
}

static uint8_t give_back(const struct tenant *t, uint64_t at, uint64_t pages)
{
	uint64_t none;

	return ask(t, t->space, MF_SPACE_FREE, t->key[MF_RIGHT_WRITE], pages * PAGE, at, &none);
}

static uint8_t protect(const struct tenant *t, uint64_t at, uint8_t rights)
{
	uint64_t none;

	return ask(t, t->space, MF_SPACE_PROTECT, t->key[MF_RIGHT_WRITE], MF_SPACE_ALLOC(PAGE, 0, rights), at,
		   &none);
}

static uint8_t end_space(const struct tenant *t)
{
	uint64_t none;

	return ask(t, t->space, MF_SPACE_END, t->own, 0, 0, &none);
}

static uint8_t run(const struct tenant *t, uint64_t at, uint8_t right, bool hold, struct mf_answer *out)
{
	static const uint64_t word = 7;
	const struct mf_access a = {.addr = at,
				    .len = sizeof(word),
				    .right = right,
				    .data = &word,
				    .space = t->space,
				    .node = t->node,
				    .hold = hold,
				    .key = t->key[right]};

	return mf_memory_virtual.access(r.memory, &a, out);
}

static uint8_t read_of(const struct tenant *t, uint64_t at)
{
	struct mf_answer out;

	return run(t, at, MF_RIGHT_READ, false, &out);
}

static struct stock stock(void)
{
	struct mf_vm_slow_stats s;
	struct mf_vm_stats f;
	struct stock now = {0};

	mf_vm_stats(r.fast, &f);
	mf_vm_slow_stats(r.slow, &s);
	cr_expect(f.strange == 0 && s.strange == 0, "%lu, %lu", f.strange, s.strange);
	now = (struct stock){.entries = f.entries,
			     .present = f.present,
			     .held = f.held,
			     .under_way = f.under_way + s.under_way,
			     .slots = s.slots,
			     .ranges = s.ranges_left,
			     .spaces = s.spaces};
	for (unsigned int c = 0; c < MF_PAGE_CLASSES; c++) {
		now.ready[c] = f.ring[c];
		now.clean[c] = s.pages[c].free;
		now.zeroing[c] = s.pages[c].zeroing;
		now.fast[c] = s.pages[c].fast;
	}
	return now;
}

static struct mf_vm_stats fast(void)
{
	struct mf_vm_stats f;

	mf_vm_stats(r.fast, &f);
	return f;
}

static struct tenant tenant(uint16_t node)
{
	struct tenant t = {.node = node, .space = (uint32_t)node << 13 | 1};
	struct mf_answer out;

	cr_assert_eq(ask(&t, t.space, MF_SPACE_MAKE, 0, 0, 0, &t.own), MF_OK);
	for (uint8_t right = 0; right < MF_RIGHTS; right++)
		cr_assert_eq(ask(&t, t.space, MF_SPACE_JOIN, 0, right, 0, &t.key[right]), MF_OK);
	cr_assert_eq(allocate(&t, 1, MF_PAGE_WRITE, &t.at), MF_OK);
	cr_assert_eq(run(&t, t.at, MF_RIGHT_WRITE, false, &out), MF_OK);
	vm_rig_settle(&r);
	return t;
}

static void begin_with(const struct mf_vm_config *c)
{
	cr_assert(vm_rig_make(&r, c));
	vm_rig_settle(&r);
	greedy = tenant(GREEDY);
	other = tenant(OTHER);
	before = stock();
}

static void begin(void)
{
	const struct mf_vm_config c = vm_rig_config(SEED);

	begin_with(&c);
}

/** All that was taken has come back. */
static void expect_back(void)
{
	struct stock now;

	vm_rig_settle(&r);
	now = stock();
	cr_expect_eq(memcmp(&now, &before, sizeof(now)), 0,
		     "entries %lu of %lu, pages %lu of %lu, slots %lu of %lu, ranges %lu of %lu, spaces %lu "
		     "of %lu, held %lu",
		     now.entries, before.entries, now.fast[0], before.fast[0], now.slots, before.slots,
		     now.ranges, before.ranges, now.spaces, before.spaces, now.held);
}

static void end(void)
{
	expect_back();
	cr_expect_eq(end_space(&greedy), MF_OK);
	cr_expect_eq(end_space(&other), MF_OK);
	vm_rig_free(&r);
}

TestSuite(exhaustion, .init = begin, .fini = end);

/** What the neighbour has is his, in the time that it takes otherwise; what he frees is free. */
static void expect_unharmed(void)
{
	struct mf_answer out;
	uint64_t word;

	cr_expect_eq(run(&other, other.at, MF_RIGHT_WRITE, false, &out), MF_OK);
	cr_expect_eq(run(&other, other.at, MF_RIGHT_READ, false, &out), MF_OK);
	cr_expect_eq(out.time, DRAM, "a hit");
	mf_places_copy(&out.places, 0, sizeof(word), &word);
	cr_expect_eq(word, 7);
	cr_expect_eq(protect(&other, other.at, MF_PAGE_READ), MF_OK);
	cr_expect_eq(run(&other, other.at, MF_RIGHT_WRITE, false, &out), MF_ERR_KEY);
	cr_expect_eq(protect(&other, other.at, MF_PAGE_WRITE), MF_OK);
	cr_expect_eq(ask(&other, other.space, MF_SPACE_FENCE, other.key[MF_RIGHT_READ], 0, 0, &word), MF_OK);
}

Test(exhaustion, of_pages)
{
	const uint64_t pages = 40 - 2; /* without those that both have */
	uint64_t at;

	cr_assert_eq(allocate(&greedy, 60, MF_PAGE_WRITE, &at), MF_OK);
	for (uint64_t i = 0; i < pages; i++, vm_rig_settle(&r))
		cr_assert_eq(read_of(&greedy, at + i * PAGE), MF_OK, "page %lu", i);
	cr_expect_eq(read_of(&greedy, at + pages * PAGE), MF_ERR_RESOURCE);
	cr_expect_eq(fast().full, 1);
	expect_unharmed();
	cr_expect_eq(give_back(&greedy, at, 1), MF_OK);
	cr_expect_eq(read_of(&greedy, at + pages * PAGE), MF_OK, "the page that was freed");
	cr_expect_eq(read_of(&greedy, at + (pages + 1) * PAGE), MF_ERR_RESOURCE);
	cr_expect_eq(give_back(&greedy, at + PAGE, 59), MF_OK);
	expect_back();
	cr_assert_eq(allocate(&other, pages, MF_PAGE_WRITE, &at), MF_OK);
	for (uint64_t i = 0; i < pages; i++, vm_rig_settle(&r))
		cr_expect_eq(read_of(&other, at + i * PAGE), MF_OK, "another one has them all");
	cr_expect_eq(give_back(&other, at, pages), MF_OK);
}

/** The slow path does nothing: what is ready is all. */
Test(exhaustion, of_the_ring)
{
	uint64_t at;

	cr_assert_eq(allocate(&greedy, 20, MF_PAGE_WRITE, &at), MF_OK);
	for (uint64_t i = 0; i < r.config.ring; i++)
		cr_assert_eq(read_of(&greedy, at + i * PAGE), MF_OK);
	for (uint64_t i = 0; i < MANY; i++)
		cr_expect_eq(read_of(&greedy, at + r.config.ring * PAGE), MF_ERR_RESOURCE);
	cr_expect_eq(fast().dry, MANY);
	cr_expect_eq(read_of(&other, other.at), MF_OK);
	vm_rig_settle(&r);
	cr_expect_eq(read_of(&greedy, at + r.config.ring * PAGE), MF_OK);
	expect_unharmed();
	cr_expect_eq(give_back(&greedy, at, 20), MF_OK);
}

/** Of the page table: an allocation fails that finds no buckets with a slot left. */
Test(exhaustion, of_slots)
{
	uint64_t at[MANY], more, n = 0, slots = before.slots;
	uint8_t status;

	while ((status = allocate(&greedy, 1, MF_PAGE_WRITE, &at[n])) == MF_OK)
		n++;
	cr_expect_eq(status, MF_ERR_RESOURCE);
	cr_expect_eq(more = stock().slots, slots + n, "%lu of %lu", n, more);
	cr_expect_gt(n, 80, "%lu of 104 slots", n);
	cr_expect_eq(allocate(&greedy, 1 << 20, MF_PAGE_WRITE, &more), MF_ERR_RESOURCE);
	expect_unharmed();
	cr_expect_eq(give_back(&greedy, at[n / 2], 1), MF_OK);
	cr_expect_eq(ask(&greedy, greedy.space, MF_SPACE_ALLOCATE, greedy.key[MF_RIGHT_WRITE],
			 MF_SPACE_ALLOC(PAGE, 0, 2), at[n / 2], &more),
		     MF_OK);
	cr_expect_eq(more, at[n / 2], "the slot that was freed");
	for (uint64_t i = 0; i < n; i++)
		cr_assert_eq(give_back(&greedy, at[i], 1), MF_OK);
}

/** Ranges that do not join, as their rights differ. */
Test(exhaustion, of_ranges)
{
	struct mf_vm_config c = vm_rig_config(SEED);
	uint64_t at[MANY], none, n = 0;
	uint8_t status;

	vm_rig_free(&r);
	c.ranges = 12;
	begin_with(&c);
	while ((status = allocate(&greedy, 3, n % 2 ? MF_PAGE_WRITE : MF_PAGE_READ, &at[n])) == MF_OK)
		n++;
	cr_expect_eq(status, MF_ERR_RESOURCE);
	cr_expect_eq(n, before.ranges);
	cr_expect_eq(stock().ranges, 0);
	cr_expect_lt(stock().slots, 60, "slots are left");
	expect_unharmed();
	cr_expect_eq(give_back(&greedy, at[4] + PAGE, 1), MF_ERR_RESOURCE, "two would be left of one");
	cr_expect_eq(give_back(&greedy, at[4], 1), MF_ERR_RESOURCE, "while it goes it is one more");
	cr_expect_eq(protect(&greedy, at[4] + PAGE, MF_PAGE_WRITE), MF_ERR_RESOURCE);
	cr_expect_eq(read_of(&greedy, at[4] + PAGE), MF_OK, "nothing was changed");
	cr_expect_eq(give_back(&greedy, at[4], 3), MF_OK, "as a whole");
	cr_expect_eq(allocate(&greedy, 1, MF_PAGE_NONE, &at[4]), MF_OK);
	cr_expect_eq(allocate(&greedy, 1, MF_PAGE_READ, &none), MF_ERR_RESOURCE);
	for (uint64_t i = 0; i < n; i++)
		cr_assert_eq(give_back(&greedy, at[i], i == 4 ? 1 : 3), MF_OK);
}

/** A space ends though nothing is left to do it with. */
Test(exhaustion, of_ranges_by_a_space_that_ends)
{
	struct mf_vm_config c = vm_rig_config(SEED);
	uint64_t at, n = 0;

	vm_rig_free(&r);
	c.ranges = 12;
	begin_with(&c);
	while (allocate(&greedy, 2, n % 2 ? MF_PAGE_WRITE : MF_PAGE_READ, &at) == MF_OK)
		(void)read_of(&greedy, at + n++ % 2 * PAGE);
	cr_expect_eq(end_space(&greedy), MF_OK);
	expect_unharmed();
	greedy = tenant(GREEDY);
}

/** Each slot of the node has a task; then those of others have all that may be under way. */
Test(exhaustion, of_tasks)
{
	struct mf_vm_config c = vm_rig_config(SEED);
	struct mf_vm_request q = {
		.what = MF_SPACE_FENCE, .node = GREEDY, .space = greedy.space, .slot = 0, .number = 1000};
	unsigned int begun = 0;
	uint64_t result;
	uint8_t status;

	vm_rig_free(&r);
	c.tasks = 10;
	c.node_tasks = 8;
	begin_with(&c);
	q.key = greedy.key[MF_RIGHT_READ];
	for (; q.slot < c.node_tasks; q.slot++)
		cr_assert_eq(mf_vm_ask(r.fast, &q, &result), MF_ERR_PENDING);
	for (unsigned int i = 0; i < MANY; i++) {
		q.slot = (uint8_t)(i % c.node_tasks);
		q.number = 2000 + i;
		cr_expect_eq(mf_vm_ask(r.fast, &q, &result), MF_ERR_BUSY);
	}
	cr_expect_eq(read_of(&other, other.at), MF_OK);
	q = (struct mf_vm_request){
		.what = MF_SPACE_JOIN, .node = OTHER, .space = other.space, .number = 1000};
	while ((status = mf_vm_ask(r.fast, &q, &result)) == MF_ERR_PENDING && begun < MANY) {
		q.slot++;
		begun++;
	}
	cr_expect(status == MF_ERR_BUSY && begun == 2, "%u, %u tasks of another node", status, begun);
	cr_expect_eq(fast().ask_full, MANY + 1);
	cr_expect_eq(read_of(&other, other.at), MF_OK);
	vm_rig_settle(&r);
	cr_expect_eq(mf_vm_ask(r.fast, &q, &result), MF_ERR_PENDING);
	vm_rig_settle(&r);
	cr_expect_eq(mf_vm_ask(r.fast, &q, &result), MF_OK);
	r.number = 4000; /* above those of here */
	expect_unharmed();
}

Test(exhaustion, of_spaces)
{
	uint32_t first = (uint32_t)GREEDY << 13 | 100, n = 0;
	uint64_t own[MANY], none;
	uint8_t status;

	while ((status = ask(&greedy, first + n, MF_SPACE_MAKE, 0, 0, 0, &own[n])) == MF_OK)
		n++;
	cr_expect_eq(status, MF_ERR_RESOURCE);
	cr_expect_eq(n, r.config.spaces - 2);
	expect_unharmed();
	for (uint32_t i = 0; i < n; i++)
		cr_expect_eq(ask(&greedy, first + i, MF_SPACE_END, own[i], 0, 0, &none), MF_OK);
}

Test(exhaustion, of_pins)
{
	struct mf_answer held[MANY], out;
	unsigned int n = 0;
	uint64_t at;
	uint8_t status;

	cr_assert_eq(allocate(&greedy, 20, MF_PAGE_WRITE, &at), MF_OK);
	while ((status = run(&greedy, at + n * PAGE, MF_RIGHT_READ, true, &held[n])) == MF_OK) {
		vm_rig_settle(&r);
		n++;
	}
	cr_expect_eq(status, MF_ERR_RESOURCE);
	cr_expect_eq(n, r.config.pins);
	cr_expect_eq(fast().unpinned, 1);
	expect_unharmed();
	cr_expect_eq(give_back(&greedy, at, 20), MF_OK, "also while they are held");
	while (n-- > 0)
		mf_memory_virtual.let_go(r.memory, &held[n].places);
	cr_expect_eq(run(&other, other.at, MF_RIGHT_READ, true, &out), MF_OK);
	mf_memory_virtual.let_go(r.memory, &out.places);
}

/** A node may have so much, in all of its spaces. Others have what it may not. */
Test(exhaustion, of_what_a_node_may_have)
{
	struct mf_vm_config c = vm_rig_config(SEED);
	struct tenant second;
	struct mf_vm_slow_stats s;
	uint64_t at, more, none;

	vm_rig_free(&r);
	c.node_octets = 8 * PAGE + 100;
	c.node_entries = 20;
	begin_with(&c);
	second = greedy;
	second.space++;
	cr_assert_eq(ask(&second, second.space, MF_SPACE_MAKE, 0, 0, 0, &second.own), MF_OK);
	for (uint8_t right = 0; right < MF_RIGHTS; right++)
		cr_assert_eq(ask(&second, second.space, MF_SPACE_JOIN, 0, right, 0, &second.key[right]),
			     MF_OK);
	cr_assert_eq(allocate(&greedy, 12, MF_PAGE_WRITE, &at), MF_OK);
	cr_expect_eq(allocate(&second, 8, MF_PAGE_WRITE, &more), MF_ERR_RESOURCE, "21 entries");
	cr_expect_eq(allocate(&second, 1 << 20, MF_PAGE_WRITE, &more), MF_ERR_RESOURCE);
	cr_assert_eq(allocate(&second, 7, MF_PAGE_WRITE, &more), MF_OK);
	cr_expect_eq(allocate(&greedy, 1, MF_PAGE_WRITE, &none), MF_ERR_RESOURCE);
	for (uint64_t i = 0; i < 7; i++, vm_rig_settle(&r))
		cr_expect_eq(i % 2 ? read_of(&second, more + i * PAGE) : read_of(&greedy, at + i * PAGE),
			     MF_OK);
	cr_expect_eq(read_of(&greedy, at + 11 * PAGE), MF_ERR_RESOURCE, "the ninth page");
	cr_expect_eq(read_of(&second, more), MF_ERR_RESOURCE);
	cr_expect_eq(read_of(&greedy, at), MF_OK, "what is there is");
	mf_vm_slow_stats(r.slow, &s);
	cr_expect(fast().beyond == 2 && s.beyond == 3, "%lu, %lu", fast().beyond, s.beyond);
	expect_unharmed();
	cr_assert_eq(allocate(&other, 19, MF_PAGE_WRITE, &none), MF_OK, "another node may have as much");
	for (uint64_t i = 0; i < 7; i++, vm_rig_settle(&r))
		cr_expect_eq(read_of(&other, none + i * PAGE), MF_OK);
	cr_expect_eq(read_of(&other, none + 7 * PAGE), MF_ERR_RESOURCE);
	cr_expect_eq(give_back(&other, none, 19), MF_OK);
	cr_expect_eq(give_back(&greedy, at, 1), MF_OK);
	cr_expect_eq(read_of(&second, more), MF_OK, "in the place of the one that was freed");
	cr_expect_eq(allocate(&second, 1, MF_PAGE_WRITE, &none), MF_OK);
	cr_expect_eq(allocate(&second, 1, MF_PAGE_WRITE, &none), MF_ERR_RESOURCE);
	cr_expect_eq(end_space(&second), MF_OK);
	cr_expect_eq(give_back(&greedy, at + PAGE, 11), MF_OK);
	for (unsigned int i = 0; i < MANY; i++) { /* nothing is left of what failed or was freed */
		cr_assert_eq(allocate(&greedy, 19, MF_PAGE_WRITE, &at), MF_OK);
		for (uint64_t k = 0; k < 7 && i % 16 == 0; k++, vm_rig_settle(&r))
			cr_assert_eq(read_of(&greedy, at + k * PAGE), MF_OK);
		cr_assert_eq(allocate(&greedy, 1, MF_PAGE_WRITE, &none), MF_ERR_RESOURCE);
		cr_assert_eq(give_back(&greedy, at, 19), MF_OK);
	}
}

/** All of it at a time, by a node that then begins anew, and never frees anything. */
Test(exhaustion, of_everything_by_a_node_that_is_gone)
{
	uint32_t first = (uint32_t)GREEDY << 13 | 100, n = 0;
	uint64_t at, own;

	cr_assert_eq(allocate(&greedy, 40, MF_PAGE_WRITE, &at), MF_OK);
	for (uint64_t i = 0; i < 40; i++, vm_rig_settle(&r))
		(void)read_of(&greedy, at + i * PAGE);
	while (allocate(&greedy, 1, n++ % 2 ? MF_PAGE_WRITE : MF_PAGE_READ, &at) == MF_OK)
		;
	for (n = 0; ask(&greedy, first + n, MF_SPACE_MAKE, 0, 0, 0, &own) == MF_OK; n++)
		;
	expect_unharmed();
	mf_vm_forget_node(r.fast, GREEDY);
	vm_rig_settle(&r);
	cr_expect_eq(read_of(&greedy, greedy.at), MF_ERR_KEY);
	expect_unharmed();
	greedy = tenant(GREEDY);
}
