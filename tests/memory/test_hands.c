/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pages that change hands: one space frees a range, another one gets its pages, at once. A new owner finds
 * zeros. A read that was under way has the old bytes until it is let go, or it was refused.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/mf_rng.h"
#include "memory/mf_vm_timed.h"
#include "vm_rig.h"

#define SEED 0x5eed0054
#define ROUNDS 400
#define PAGE UINT64_C(4096)
#define PAGES_MAX 30
#define HOLDS 4
#define LEN 200

struct tenant {
	uint16_t node;
	uint32_t space;
	uint64_t key[MF_RIGHTS];
	uint64_t at; /* of its range; 0: none */
	uint64_t pages;
	uint8_t byte; /* that it writes */
	bool written[PAGES_MAX];
	uint32_t number; /* of the last task */
	uint64_t arg, addr; /* of it */
	uint8_t task;
	bool busy;
};

struct hold {
	bool busy;
	struct mf_places places;
	uint8_t byte;
};

static struct tenant tenant[2] = {{.node = 3, .space = 3u << 13}, {.node = 9, .space = 9u << 13 | 5}};
static struct mf_vm_timed *t;
static struct mf_rng rng;
static struct hold hold[HOLDS];
static mf_time now;
static uint64_t zeros, olds, refused, kept;

static uint64_t draw(uint64_t n)
{
	return mf_rng_below(&rng, n);
}

/* ---- tasks ---- */

static uint8_t poll(struct tenant *of, uint64_t *result)
{
	const uint64_t arg[2] = {MF_SPACE_ASK(of->task, 0, of->number), of->arg};
	const struct mf_access a = {.addr = of->addr,
				    .key = of->key[MF_RIGHT_WRITE],
				    .at = now,
				    .data = arg,
				    .space = of->space,
				    .node = of->node};
	uint8_t status = mf_memory_timed.ask(mf_vm_timed_memory(t), MF_RMW_SPACE, &a, result);

	of->busy = status == MF_ERR_PENDING;
	return status;
}

static void ask(struct tenant *of, uint8_t task, uint64_t arg, uint64_t addr)
{
	uint64_t none;

	of->task = task;
	of->arg = arg;
	of->addr = addr;
	of->number++;
	cr_assert_eq(poll(of, &none), MF_ERR_PENDING, "task %u", task);
}

static uint64_t wait_for(struct tenant *of)
{
	uint64_t result = 0;
	uint8_t status = MF_ERR_PENDING;

	for (int i = 0; i < 10000 && status == MF_ERR_PENDING; i++) {
		now += MF_US(1);
		status = poll(of, &result);
	}
	cr_assert_eq(status, MF_OK, "task %u: %u", of->task, status);
	return result;
}

static void begin_allocation(struct tenant *of)
{
	of->pages = 5 + draw(PAGES_MAX - 4);
	of->byte = of->byte % 100 + (of == &tenant[1] ? 101 : 1); /* the other one has others */
	of->at = 0;
	memset(of->written, 0, sizeof(of->written));
	ask(of, MF_SPACE_ALLOCATE, MF_SPACE_ALLOC(of->pages * PAGE, 0, MF_PAGE_WRITE), 0);
}

static void begin(void)
{
	const struct mf_vm_timed_config c = {
		.vm = vm_rig_config(SEED), .step = MF_NS(50), .zero = MF_US(1), .crossing = MF_NS(300)};

	mf_rng_init(&rng, SEED, "hands", 0);
	now = MF_US(10);
	t = mf_vm_timed_new(&c);
	cr_assert_not_null(t);
	for (unsigned int i = 0; i < 2; i++) {
		ask(&tenant[i], MF_SPACE_MAKE, 0, 0);
		(void)wait_for(&tenant[i]);
		for (unsigned int right = 0; right < MF_RIGHTS; right++) {
			ask(&tenant[i], MF_SPACE_JOIN, right, 0);
			tenant[i].key[right] = wait_for(&tenant[i]);
		}
	}
}

/* ---- accesses ---- */

static uint8_t access_page(const struct tenant *of, uint64_t offset, uint8_t right, uint32_t len,
			   const void *data, bool holds, struct mf_answer *out)
{
	const struct mf_access a = {.addr = of->at + offset,
				    .key = of->key[right],
				    .at = now,
				    .data = data,
				    .len = len,
				    .space = of->space,
				    .node = of->node,
				    .right = right,
				    .hold = holds};

	return mf_memory_timed.access(mf_vm_timed_memory(t), &a, out);
}

/** Some octets of it have been written, the others have not. */
static void check(const struct mf_places *p, uint32_t len, uint8_t byte, const bool written[2],
		  uint32_t first)
{
	uint8_t found[LEN];

	mf_places_copy(p, 0, len, found);
	for (uint32_t i = 0; i < len; i++)
		cr_assert_eq(found[i], written[i >= first] ? byte : 0, "octet %u of %u: %u, of %u", i, len,
			     found[i], byte);
}

static void keep(const struct tenant *of, const struct mf_answer *out)
{
	unsigned int i = 0;

	while (i < HOLDS && hold[i].busy)
		i++;
	if (i == HOLDS) {
		mf_memory_timed.let_go(mf_vm_timed_memory(t), &out->places);
		return;
	}
	hold[i] = (struct hold){.busy = true, .places = out->places, .byte = of->byte};
	kept++;
}

static void let_go(struct hold *h)
{
	const bool written[2] = {true, true};

	if (!h->busy)
		return;
	check(&h->places, h->places.len[0] + h->places.len[1], h->byte, written, LEN);
	mf_memory_timed.let_go(mf_vm_timed_memory(t), &h->places);
	h->busy = false;
}

/** Within a page, or across the end of one. */
static void read_some(const struct tenant *of, bool is_freed)
{
	uint64_t page = draw(of->pages), offset = page * PAGE + draw(PAGE - LEN);
	bool crosses = page + 1 < of->pages && draw(3) == 0, holds;
	bool written[2] = {of->written[page], of->written[page]};
	uint32_t first = LEN;
	struct mf_answer out;
	uint8_t status;

	if (crosses) {
		first = 1 + (uint32_t)draw(LEN - 1);
		offset = (page + 1) * PAGE - first;
		written[1] = of->written[page + 1];
	}
	holds = written[0] && written[1] && draw(2) == 0;
	status = access_page(of, offset, MF_RIGHT_READ, LEN, NULL, holds, &out);
	cr_assert(status == MF_OK || status == MF_ERR_RESOURCE || (is_freed && status == MF_ERR_KEY), "%u",
		  status);
	refused += status == MF_ERR_KEY;
	if (status != MF_OK)
		return;
	check(&out.places, LEN, of->byte, written, first);
	olds += is_freed;
	zeros += !written[0] || !written[1];
	if (holds)
		keep(of, &out);
}

static void write_some(struct tenant *of)
{
	static uint8_t page[PAGE];
	uint64_t i = draw(of->pages);
	struct mf_answer out;
	uint8_t status;

	memset(page, of->byte, sizeof(page));
	status = access_page(of, i * PAGE, MF_RIGHT_WRITE, PAGE, page, false, &out);
	cr_assert(status == MF_OK || status == MF_ERR_RESOURCE);
	of->written[i] |= status == MF_OK;
}

/** One frees what the other one wants, while both go on. */
static void change_hands(struct tenant *from, struct tenant *to)
{
	uint64_t result;

	ask(from, MF_SPACE_FREE, from->pages * PAGE, from->at);
	begin_allocation(to);
	for (unsigned int i = 0; i < 120; i++) {
		now += draw(draw(8) == 0 ? MF_US(8) : MF_NS(300));
		if (from->busy || draw(4) == 0)
			read_some(from, true);
		if (from->busy)
			(void)poll(from, &result);
		if (to->at == 0 && poll(to, &result) == MF_OK)
			to->at = result;
		if (to->at != 0 && draw(2) == 0)
			write_some(to);
		if (to->at != 0)
			read_some(to, false);
		if (draw(16) == 0)
			let_go(&hold[draw(HOLDS)]);
	}
	while (from->busy)
		(void)wait_for(from);
	if (to->at == 0)
		to->at = wait_for(to);
}

Test(hands, a_page_that_changes_hands_is_zero)
{
	unsigned int rounds = getenv("MF_LONG") != NULL ? 50 * ROUNDS : ROUNDS;
	struct mf_vm_slow_stats slow;
	struct mf_vm_stats fast;

	begin();
	begin_allocation(&tenant[0]);
	tenant[0].at = wait_for(&tenant[0]);
	for (unsigned int i = 0; i < rounds; i++)
		change_hands(&tenant[i % 2], &tenant[(i + 1) % 2]);
	for (unsigned int i = 0; i < HOLDS; i++)
		let_go(&hold[i]);
	mf_vm_stats(mf_vm_timed_fast(t), &fast);
	mf_vm_slow_stats(mf_vm_timed_slow(t), &slow);
	cr_expect(fast.strange == 0 && slow.strange == 0 && fast.held == 0);
	cr_expect(zeros > 20 * rounds && olds > rounds && refused > rounds && kept > 2 * rounds &&
			  fast.late > rounds,
		  "%lu of zeros, %lu of old data, %lu refused, %lu held, %lu late", zeros, olds, refused,
		  kept, fast.late);
	mf_vm_timed_free(t);
}
