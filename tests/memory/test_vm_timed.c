/* SPDX-License-Identifier: BSD-3-Clause */
/* Virtual memory whose slow path takes time: when what it does is seen. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "base/mf_rng.h"
#include "memory/mf_vm_timed.h"
#include "vm_rig.h"

#define SEED 0x5eed0044
#define NODE 3
#define SPACE (3u << 13 | 1)
#define PAGE UINT64_C(4096)
#define STEP MF_NS(50)
#define CROSSING MF_US(1)
#define ZERO MF_US(4) /* a page of 4 KiB */
#define RING 6

static struct mf_vm_timed *t;
static uint64_t key[MF_RIGHTS];
static mf_time now;

static uint8_t ask_in(mf_time at, uint8_t slot, uint32_t number, uint64_t what, uint64_t how_much,
		      uint64_t addr, uint64_t with, uint64_t *result)
{
	const uint64_t arg[2] = {MF_SPACE_ASK(what, slot, number), how_much};
	const struct mf_access a = {
		.addr = addr, .key = with, .at = at, .data = arg, .space = SPACE, .node = NODE};

	return mf_memory_timed.ask(mf_vm_timed_memory(t), MF_RMW_SPACE, &a, result);
}

/** Asks, and again and again until that is answered. now is then. */
static uint8_t ask(uint64_t what, uint64_t how_much, uint64_t addr, uint64_t with, uint64_t *result)
{
	static uint32_t number;
	uint8_t status = MF_ERR_PENDING;

	number++;
	for (int i = 0; status == MF_ERR_PENDING && i < 100000; i++) {
		status = ask_in(now, 15, number, what, how_much, addr, with, result);
		now += MF_NS(100);
	}
	return status;
}

static struct mf_vm_timed_config config_of(uint64_t seed)
{
	return (struct mf_vm_timed_config){
		.vm = vm_rig_config(seed), .step = STEP, .zero = ZERO, .crossing = CROSSING};
}

static void join(void)
{
	uint64_t own;

	cr_assert_eq(ask(MF_SPACE_MAKE, 0, 0, 0, &own), MF_OK);
	for (unsigned int right = 0; right < MF_RIGHTS; right++)
		cr_assert_eq(ask(MF_SPACE_JOIN, right, 0, 0, &key[right]), MF_OK);
}

static void begin(void)
{
	const struct mf_vm_timed_config c = config_of(SEED);

	now = MF_US(10);
	t = mf_vm_timed_new(&c);
	cr_assert_not_null(t);
}

static void end(void)
{
	struct mf_vm_slow_stats s;
	struct mf_vm_stats f;

	mf_vm_stats(mf_vm_timed_fast(t), &f);
	mf_vm_slow_stats(mf_vm_timed_slow(t), &s);
	cr_expect(f.strange == 0 && s.strange == 0, "%lu, %lu", f.strange, s.strange);
	mf_vm_timed_free(t);
}

TestSuite(vm_timed, .init = begin, .fini = end);

static uint8_t read_at(mf_time at, uint64_t addr)
{
	const struct mf_access a = {.addr = addr,
				    .len = 8,
				    .at = at,
				    .right = MF_RIGHT_READ,
				    .space = SPACE,
				    .node = NODE,
				    .key = key[MF_RIGHT_READ]};
	struct mf_answer out;

	return mf_memory_timed.access(mf_vm_timed_memory(t), &a, &out);
}

static uint64_t allocate(uint64_t pages)
{
	uint64_t at = 0;

	cr_assert_eq(ask(MF_SPACE_ALLOCATE, MF_SPACE_ALLOC(pages * PAGE, 0, MF_PAGE_WRITE), 0,
			 key[MF_RIGHT_WRITE], &at),
		     MF_OK);
	return at;
}

/** The same request each time. */
static uint8_t make_at(mf_time at, uint64_t *result)
{
	return ask_in(at, 0, 1, MF_SPACE_MAKE, 0, 0, 0, result);
}

/** The task crosses, is taken and done, a step each, and its answer crosses. */
Test(vm_timed, an_answer_is_there_when_it_has_crossed)
{
	mf_time done = now + CROSSING + 2 * STEP + CROSSING;
	uint64_t result;

	cr_expect_eq(make_at(now, &result), MF_ERR_PENDING);
	cr_expect_eq(make_at(now, &result), MF_ERR_PENDING);
	cr_expect_eq(make_at(done, &result), MF_ERR_PENDING);
	cr_expect_eq(make_at(done + 1, &result), MF_OK);
	cr_expect_neq(result, 0);
	cr_expect_eq(mf_vm_timed_busy(t), 2 * STEP);
}

/** Of two tasks that come together the second one waits for the first. */
Test(vm_timed, one_slow_path_serves_all)
{
	mf_time done = now + CROSSING + 4 * STEP + CROSSING;
	uint64_t result;

	for (uint8_t slot = 0; slot < 2; slot++)
		cr_assert_eq(ask_in(now, slot, 1, MF_SPACE_JOIN, 0, 0, 0, &result), MF_ERR_PENDING);
	cr_expect_eq(ask_in(done, 1, 1, MF_SPACE_JOIN, 0, 0, 0, &result), MF_ERR_PENDING);
	cr_expect_eq(ask_in(done + 1, 1, 1, MF_SPACE_JOIN, 0, 0, 0, &result), MF_ERR_KEY);
}

/** A page of the ring takes nothing. Where all are taken it is dry until others have crossed. */
Test(vm_timed, the_ring_is_filled_again)
{
	uint64_t at;
	mf_time from;

	join();
	at = allocate(20);
	from = now + MF_US(50);
	for (unsigned int i = 0; i < RING; i++)
		cr_expect_eq(read_at(from, at + i * PAGE), MF_OK, "page %u", i);
	cr_expect_eq(read_at(from, at + RING * PAGE), MF_ERR_RESOURCE);
	/* The first fault tells of itself at once, and is heard. The other ones are told of then. */
	cr_expect_eq(read_at(from + 2 * CROSSING + STEP, at + RING * PAGE), MF_ERR_RESOURCE);
	cr_expect_eq(read_at(from + 2 * CROSSING + STEP + 1, at + RING * PAGE), MF_OK);
	cr_expect_eq(read_at(from + 2 * CROSSING + STEP + 1, at + (RING + 1) * PAGE), MF_ERR_RESOURCE);
	cr_expect_eq(read_at(from + 4 * CROSSING + 2 * STEP + 1, at + (RING + 1) * PAGE), MF_OK);
}

/** All 40 pages are in use, then freed: who wants one of them waits until it is zero. */
Test(vm_timed, zeroing_takes_time)
{
	const uint64_t pages = 30;
	uint64_t at, none;
	mf_time from;

	join();
	at = allocate(pages);
	for (unsigned int i = 0; i < pages; i++) {
		now += MF_US(10);
		cr_assert_eq(read_at(now, at + i * PAGE), MF_OK);
	}
	now += MF_US(100);
	cr_assert_eq(ask(MF_SPACE_FREE, pages * PAGE, at, key[MF_RIGHT_WRITE], &none), MF_OK);
	from = now;
	cr_assert_eq(ask_in(now, 0, 1, MF_SPACE_JOIN, 0, 0, 0, &none), MF_ERR_PENDING);
	cr_expect_eq(ask_in(from + 2 * CROSSING + 2 * STEP + 1, 0, 1, MF_SPACE_JOIN, 0, 0, 0, &none),
		     MF_ERR_PENDING, "a slice of zeroing is before it");
	mf_vm_timed_advance(t, from + (mf_time)pages * ZERO + MF_US(100));
	cr_expect_geq(mf_vm_timed_busy(t), pages * ZERO);
	cr_expect_leq(mf_vm_timed_busy(t), pages * ZERO + 1000 * STEP);
}

Test(vm_timed, while_it_stands_still_nothing_is_answered)
{
	mf_time from = now + MF_US(50), until = from + MF_MS(10);
	uint64_t result;

	cr_expect_eq(make_at(now, &result), MF_ERR_PENDING);
	cr_expect_eq(mf_vm_timed_stall(t, until, from), -EINVAL);
	cr_assert_eq(mf_vm_timed_stall(t, until - MF_MS(5), until), 0);
	cr_assert_eq(mf_vm_timed_stall(t, from, until - MF_MS(5)), 0);
	cr_expect_eq(make_at(from, &result), MF_OK, "what was before that is done");
	cr_expect_eq(ask_in(from, 0, 2, MF_SPACE_JOIN, 0, 0, 0, &result), MF_ERR_PENDING);
	cr_expect_eq(ask_in(until + 2 * STEP + CROSSING, 0, 2, MF_SPACE_JOIN, 0, 0, 0, &result),
		     MF_ERR_PENDING);
	cr_expect_eq(ask_in(until + 2 * STEP + CROSSING + 1, 0, 2, MF_SPACE_JOIN, 0, 0, 0, &result), MF_OK);
}

/* ---- what else the engine looks at changes nothing ---- */

#define CALLS 4000
#define SLOTS 6

struct called {
	uint8_t status;
	uint64_t result;
	mf_time time;
};

struct program {
	struct mf_rng calls, looks;
	bool looks_around;
	uint64_t page[8];
	unsigned int pages;
	struct {
		bool busy;
		uint64_t what, how_much, addr, with;
		uint32_t number;
	} slot[SLOTS];
};

/** The same request of a slot again. */
static struct called ask_again(struct program *p, unsigned int slot)
{
	struct called c = {0};

	c.status = ask_in(now, (uint8_t)slot, p->slot[slot].number, p->slot[slot].what,
			  p->slot[slot].how_much, p->slot[slot].addr, p->slot[slot].with, &c.result);
	if (c.status == MF_ERR_PENDING)
		return c;
	p->slot[slot].busy = false;
	if (c.status == MF_OK && c.result != 0)
		p->page[p->pages++ % 8] = c.result;
	return c;
}

static struct called random_ask(struct program *p)
{
	static const uint8_t what[] = {MF_SPACE_ALLOCATE, MF_SPACE_ALLOCATE, MF_SPACE_FREE, MF_SPACE_FENCE};
	unsigned int slot = (unsigned int)mf_rng_below(&p->calls, SLOTS);
	uint8_t task = what[mf_rng_below(&p->calls, 4)];
	uint64_t size = PAGE * (1 + mf_rng_below(&p->calls, 6));
	uint64_t where = p->page[mf_rng_below(&p->calls, 8)];

	if (!p->slot[slot].busy) {
		p->slot[slot].busy = true;
		p->slot[slot].number++;
		p->slot[slot].what = task;
		p->slot[slot].how_much =
			task == MF_SPACE_ALLOCATE ? MF_SPACE_ALLOC(size, 0, MF_PAGE_WRITE) : size;
		p->slot[slot].addr = task == MF_SPACE_FREE ? where : 0;
		p->slot[slot].with = key[task == MF_SPACE_FENCE ? MF_RIGHT_READ : MF_RIGHT_WRITE];
	}
	return ask_again(p, slot);
}

static struct called random_access(struct program *p)
{
	uint64_t data = mf_rng_next(&p->calls);
	struct mf_access a = {.addr = p->page[mf_rng_below(&p->calls, 8)] + mf_rng_below(&p->calls, 3 * PAGE),
			      .len = 8,
			      .at = now - mf_rng_below(&p->calls, 2) * MF_NS(30),
			      .data = &data,
			      .right = (uint8_t)mf_rng_below(&p->calls, 2),
			      .space = SPACE,
			      .node = NODE};
	struct mf_answer out = {0};
	struct called c;

	a.key = key[a.right];
	c = (struct called){.status = mf_memory_timed.access(mf_vm_timed_memory(t), &a, &out)};
	c.time = out.time;
	if (c.status == MF_OK && a.right == MF_RIGHT_READ)
		mf_places_copy(&out.places, 0, 8, &c.result);
	return c;
}

static struct called random_call(struct program *p)
{
	mf_time before = now;

	now += mf_rng_below(&p->calls, 4) == 0 ? mf_rng_below(&p->calls, MF_US(20))
					       : mf_rng_below(&p->calls, MF_NS(200));
	while (p->looks_around && mf_rng_below(&p->looks, 3) != 0) {
		before += mf_rng_below(&p->looks, now - before + 1);
		mf_vm_timed_advance(t, before);
	}
	switch (mf_rng_below(&p->calls, 4)) {
	case 0:
	case 1:
		return random_ask(p);
	default:
		return random_access(p);
	}
}

static unsigned int play(uint64_t seed, bool looks_around, struct called *log)
{
	const struct mf_vm_timed_config c = config_of(seed);
	struct program p = {.looks_around = looks_around};
	unsigned int passed = 0;

	mf_rng_init(&p.calls, seed, "calls", 0);
	mf_rng_init(&p.looks, seed, "looks", 0);
	now = MF_US(10);
	t = mf_vm_timed_new(&c);
	cr_assert_not_null(t);
	join();
	for (unsigned int i = 0; i < CALLS; i++) {
		log[i] = random_call(&p);
		passed += log[i].status == MF_OK;
	}
	end();
	return passed;
}

Test(vm_timed_calls, when_it_is_looked_at_changes_nothing)
{
	static struct called plain[CALLS], looked[CALLS];
	unsigned int passed = 0;

	for (uint64_t seed = 0; seed < 20; seed++) {
		passed += play(seed, false, plain);
		play(seed, true, looked);
		for (unsigned int i = 0; i < CALLS; i++)
			cr_assert(plain[i].status == looked[i].status &&
					  plain[i].result == looked[i].result &&
					  plain[i].time == looked[i].time,
				  "seed %lu, call %u", seed, i);
	}
	cr_expect_gt(passed, 20 * CALLS / 10, "%u", passed);
}
