/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attempts to use what is not one's own: a request that would be good, with one or two things wrong. Each is
 * refused with the same answer, at the same time, and counted by its reason. MF_LONG: a million of them.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mf_rng.h"
#include "memory/mf_vm_timed.h"
#include "vm_rig.h"

#define SEED 0x5eed0053
#define ATTEMPTS 200000
#define STEP MF_NS(50)
#define CROSSING MF_US(1)
#define NODES 4
#define SPACES 4 /* VICTIM, OTHER, ENDED, NONE */
#define PAGES 400 /* of a class, that are looked at */
#define OLD 128
#define NUMBERS 3
#define SPOILS 12 /* what may be wrong */
#define SPOILS_PLACE 7 /* from here on: the place, or how much of it */

enum { VICTIM, OTHER, ENDED, NONE };
enum { OWNER, MEMBER, STRANGER, NOBODY };

static const uint16_t node_of[NODES] = {3, 5, 9, 511};
static const uint32_t space_of[SPACES] = {3u << 13 | 1, 9u << 13 | 2, 3u << 13 | 4, 5u << 13 | 77};
static const unsigned int shift_of[MF_PAGE_CLASSES] = {[0] = 12, [5] = 13};

static struct mf_vm_timed *t;
static struct mf_rng rng;
static mf_time now;
static uint32_t number;
static uint64_t key[SPACES][NODES][MF_SPACE_RIGHTS]; /* that open something, now; 0: there is none */
static uint64_t base[SPACES][NODES][MF_SPACE_RIGHTS]; /* that did when the memory was made */
static uint64_t old[OLD]; /* that opened something once */
static unsigned int olds;
static bool there[SPACES];
static uint8_t rights[SPACES][MF_PAGE_CLASSES][PAGES]; /* enum mf_page_right and 1 more; 0: not allocated */
static uint64_t expected[MF_VM_REFUSALS], expected_asked[MF_VM_REFUSALS], expected_slow;

static uint64_t draw(uint64_t n)
{
	return mf_rng_below(&rng, n);
}

static struct mf_memory *memory(void)
{
	return mf_vm_timed_memory(t);
}

/* ---- the world ---- */

static uint8_t ask_in(mf_time at, uint64_t what, uint64_t how_much, uint64_t addr, uint64_t with,
		      uint32_t space, uint16_t node, uint64_t *result)
{
	const uint64_t arg[2] = {what, how_much};
	const struct mf_access a = {
		.addr = addr, .key = with, .at = at, .data = arg, .space = space, .node = node};

	return mf_memory_timed.ask(memory(), MF_RMW_SPACE, &a, result);
}

/** Asks, until it is answered, and nothing is under way. */
static uint64_t ask(unsigned int space, unsigned int node, uint64_t task, uint64_t how_much, uint64_t addr,
		    uint64_t with)
{
	uint64_t what = MF_SPACE_ASK(task, 0, ++number), result = 0;
	uint8_t status = MF_ERR_PENDING;

	for (int i = 0; status == MF_ERR_PENDING && i < 10000; i++) {
		status = ask_in(now, what, how_much, addr, with, space_of[space], node_of[node], &result);
		now += MF_NS(500);
	}
	cr_assert_eq(status, MF_OK, "task %lu: %u", task, status);
	now += MF_US(20);
	return result;
}

static void forget_keys(unsigned int space)
{
	for (unsigned int i = 0; i < NODES * MF_SPACE_RIGHTS; i++) {
		uint64_t *k = &key[space][i / MF_SPACE_RIGHTS][i % MF_SPACE_RIGHTS];

		if (*k != 0)
			old[olds++ % OLD] = *k;
		*k = 0;
	}
}

static void join(unsigned int space, unsigned int node, uint8_t right)
{
	key[space][node][right] = ask(space, node, MF_SPACE_JOIN, right, 0, 0);
}

static void make(unsigned int space, unsigned int owner)
{
	(void)ask(space, owner, MF_SPACE_MAKE, 0, 0, 0);
	there[space] = true;
	for (uint8_t right = 0; right < MF_SPACE_RIGHTS; right++)
		join(space, owner, right);
}

/** Gives rights, or takes them. All keys of before are old where one was taken. */
static void grant(unsigned int space, unsigned int owner, unsigned int to, uint8_t may)
{
	uint64_t with = key[space][owner][MF_SPACE_OWN];
	uint64_t own = ask(space, owner, MF_SPACE_GRANT, MF_SPACE_GRANTED(node_of[to], may), 0, with);

	if (own == with)
		return;
	forget_keys(space);
	for (uint8_t right = 0; right < MF_SPACE_RIGHTS; right++)
		join(space, owner, right);
}

static void put_rights(unsigned int space, uint64_t addr, uint64_t pages, uint8_t value)
{
	unsigned int c = mf_remote_class(addr);
	uint64_t first = (addr - mf_remote_class_base(c)) >> shift_of[c];

	cr_assert_leq(first + pages, PAGES);
	memset(&rights[space][c][first], value, pages);
}

static uint64_t allocate(unsigned int space, unsigned int owner, unsigned int page_class, uint64_t pages)
{
	uint64_t size = pages << shift_of[page_class];
	uint64_t at = ask(space, owner, MF_SPACE_ALLOCATE, MF_SPACE_ALLOC(size, page_class, MF_PAGE_WRITE), 0,
			  key[space][owner][MF_RIGHT_WRITE]);

	put_rights(space, at, pages, MF_PAGE_WRITE + 1);
	return at;
}

static void change(unsigned int space, unsigned int owner, uint64_t task, uint64_t at, uint64_t pages,
		   uint8_t may)
{
	uint64_t size = pages << shift_of[mf_remote_class(at)];

	(void)ask(space, owner, task, task == MF_SPACE_FREE ? size : MF_SPACE_ALLOC(size, 0, may), at,
		  key[space][owner][MF_RIGHT_WRITE]);
	put_rights(space, at, pages, task == MF_SPACE_FREE ? 0 : may + 1);
}

/** Pages with each right, with and without neighbours. */
static void furnish(unsigned int space, unsigned int owner)
{
	uint64_t at = allocate(space, owner, 0, 9), large = allocate(space, owner, 5, 3);

	change(space, owner, MF_SPACE_PROTECT, at + 4096, 2, MF_PAGE_READ);
	change(space, owner, MF_SPACE_PROTECT, at + 4 * 4096, 1, MF_PAGE_NONE);
	change(space, owner, MF_SPACE_FREE, at + 6 * 4096, 1, 0);
	change(space, owner, MF_SPACE_PROTECT, large + 8192, 1, MF_PAGE_READ);
}

static void make_victim(void)
{
	make(VICTIM, OWNER);
	grant(VICTIM, OWNER, STRANGER, MF_PAGE_WRITE);
	for (uint8_t right = 0; right < MF_RIGHTS; right++)
		join(VICTIM, STRANGER, right);
	grant(VICTIM, OWNER, STRANGER, MF_PAGE_NONE);
	grant(VICTIM, OWNER, MEMBER, MF_PAGE_READ);
	join(VICTIM, MEMBER, MF_RIGHT_READ);
	furnish(VICTIM, OWNER);
}

static void end_space(unsigned int space, unsigned int owner)
{
	(void)ask(space, owner, MF_SPACE_END, 0, 0, key[space][owner][MF_SPACE_OWN]);
	forget_keys(space);
	there[space] = false;
	memset(rights[space], 0, sizeof(rights[space]));
}

static void make_world(uint64_t seed)
{
	const struct mf_vm_timed_config c = {
		.vm = vm_rig_config(seed), .step = STEP, .zero = MF_US(1), .crossing = CROSSING};

	for (unsigned int i = 0; i < SPACES; i++)
		forget_keys(i);
	memset(there, 0, sizeof(there));
	memset(rights, 0, sizeof(rights));
	memset(expected, 0, sizeof(expected));
	memset(expected_asked, 0, sizeof(expected_asked));
	expected_slow = 0;
	t = mf_vm_timed_new(&c);
	cr_assert_not_null(t);
	now += MF_US(10);
	make_victim();
	make(OTHER, STRANGER);
	furnish(OTHER, STRANGER);
	make(ENDED, OWNER);
	furnish(ENDED, OWNER);
	memcpy(base, key, sizeof(base));
	end_space(ENDED, OWNER);
}

/* ---- an attempt ---- */

static unsigned int place_of(uint32_t space)
{
	unsigned int i = 0;

	while (i < SPACES && space_of[i] != space)
		i++;
	return i;
}

static enum mf_vm_refusal judge_key(uint32_t space, uint16_t node, uint8_t right, uint64_t with)
{
	unsigned int s = place_of(space % MF_SPACES), n = 0;

	if (s == SPACES || !there[s])
		return MF_VM_REFUSED_SPACE;
	while (n < NODES && node_of[n] != node)
		n++;
	if (space >= MF_SPACES || n == NODES || right >= MF_SPACE_RIGHTS || with == 0)
		return MF_VM_REFUSED_KEY;
	return key[s][n][right] == with ? MF_VM_REFUSED_NOT : MF_VM_REFUSED_KEY;
}

static enum mf_vm_refusal judge_page(unsigned int s, unsigned int c, uint64_t page, uint8_t right)
{
	uint8_t may = s < SPACES && page < PAGES ? rights[s][c][page] : 0;

	if (may == 0)
		return MF_VM_REFUSED_PAGE;
	return mf_page_may(may - 1, right) ? MF_VM_REFUSED_NOT : MF_VM_REFUSED_RIGHT;
}

static enum mf_vm_refusal judge(const struct mf_access *a, bool *many)
{
	enum mf_vm_refusal reason = judge_key(a->space, a->node, a->right, a->key);
	uint64_t last = a->addr + a->len - 1, first, end;
	unsigned int c = mf_remote_class(a->addr & MF_ADDR_MAX);

	*many = false;
	if (reason != MF_VM_REFUSED_NOT)
		return reason;
	if (a->len == 0 || a->addr > MF_ADDR_MAX || last > MF_ADDR_MAX || a->right >= MF_RIGHTS ||
	    shift_of[c] == 0 || mf_remote_class(last) != c)
		return MF_VM_REFUSED_PAGE;
	first = (a->addr - mf_remote_class_base(c)) >> shift_of[c];
	end = (last - mf_remote_class_base(c)) >> shift_of[c];
	*many = end - first > 1;
	for (uint64_t i = first; i <= end && (a->dry || i < first + 3) && reason == MF_VM_REFUSED_NOT; i++)
		reason = judge_page(place_of(a->space), c, i, a->right);
	return reason;
}

/** A page of a space, most often one that is there. */
static uint64_t some_address(unsigned int space)
{
	unsigned int c = draw(3) == 0 ? 5 : 0;
	uint64_t page = 1 + draw(30);

	for (unsigned int i = 0; i < 30 && rights[space][c][page] == 0; i++)
		page = 1 + page % 30;
	return mf_remote_class_base(c) + (page << shift_of[c]) + draw(UINT64_C(1) << shift_of[c]) / 8 * 8;
}

static uint64_t other_key(void)
{
	switch (draw(4)) {
	case 0:
		return old[draw(OLD)];
	case 1:
		return draw(2) * mf_rng_next(&rng);
	default:
		return base[draw(SPACES)][draw(NODES)][draw(MF_SPACE_RIGHTS)];
	}
}

/** Something else than it was, mostly. */
static void spoil(struct mf_access *a, uint64_t what)
{
	unsigned int c = mf_remote_class(a->addr & MF_ADDR_MAX);

	switch (what) {
	case 0:
		a->space = space_of[draw(SPACES)];
		break;
	case 1:
		a->space ^= 1u << draw(MF_SPACE_BITS);
		break;
	case 2:
	case 3:
		a->key ^= UINT64_C(1) << draw(64);
		break;
	case 4:
	case 5:
		a->key = other_key();
		break;
	case 6:
		a->node = draw(2) == 0 ? node_of[draw(NODES)] : a->node ^ (uint16_t)(1u << draw(9));
		break;
	case 7:
		a->addr += mf_remote_class_base((c + 1 + (unsigned int)draw(7)) % MF_PAGE_CLASSES) -
			   mf_remote_class_base(c);
		break;
	case 8:
		a->addr ^= UINT64_C(1) << draw(draw(4) == 0 ? 64 : 48);
		break;
	case 9: /* across the end of the page */
		a->addr |= (UINT64_C(1) << (shift_of[c] == 0 ? 12 : shift_of[c])) - 8;
		a->len = 9 + (uint32_t)draw(100);
		break;
	case 10:
		a->right = (uint8_t)draw(MF_RIGHTS + 1);
		a->len = draw(2) * (uint32_t)draw(70000);
		break;
	default:
		a->addr = some_address(place_of(a->space) % SPACES);
		break;
	}
}

static struct mf_access some_access(uint64_t *data)
{
	unsigned int space = (unsigned int)draw(3), node = (unsigned int)draw(NODES);
	struct mf_access a = {.addr = some_address(space),
			      .at = now,
			      .data = data,
			      .len = 8,
			      .space = space_of[space],
			      .node = node_of[node],
			      .right = (uint8_t)draw(MF_RIGHTS),
			      .hold = draw(4) == 0,
			      .dry = draw(8) == 0};

	a.key = base[space][node][a.right];
	a.op = (uint8_t)draw(MF_RMW_ALL);
	data[0] = data[1] = draw(2) * mf_rng_next(&rng);
	if (draw(2) == 0) {
		for (uint64_t n = 1 + draw(2); n > 0; n--)
			spoil(&a, draw(SPOILS));
		return a;
	}
	/* A member, who is right in all but the place. */
	node = space == OTHER ? STRANGER : draw(4) == 0 ? MEMBER : OWNER;
	a.node = node_of[node];
	a.key = key[space][node][a.right];
	spoil(&a, SPOILS_PLACE + draw(SPOILS - SPOILS_PLACE));
	return a;
}

/** @return false: it would not have been an attempt at anything */
static bool attempt_access(void)
{
	static uint64_t data[70000 / 8];
	struct mf_access a = some_access(data);
	struct mf_answer out, none;
	enum mf_vm_refusal reason;
	uint8_t status;
	bool many;

	reason = judge(&a, &many);
	if (reason == MF_VM_REFUSED_NOT)
		return false;
	memset(&none, 0xa5, sizeof(none));
	memset(&out, 0xa5, sizeof(out));
	status = mf_memory_timed.access(memory(), &a, &out);
	cr_assert_eq(status, MF_ERR_KEY, "space %x node %u right %u at %lx: %u", a.space, a.node, a.right,
		     a.addr, status);
	cr_assert(memcmp(&out, &none, sizeof(out)) == 0, "a refusal says something");
	expected[reason] += !a.dry;
	return true;
}

static const uint8_t right_for[MF_SPACE_ASKS] = {
	[MF_SPACE_END] = MF_SPACE_OWN,        [MF_SPACE_GRANT] = MF_SPACE_OWN,
	[MF_SPACE_ALLOCATE] = MF_RIGHT_WRITE, [MF_SPACE_FREE] = MF_RIGHT_WRITE,
	[MF_SPACE_PROTECT] = MF_RIGHT_WRITE,  [MF_SPACE_FENCE] = MF_RIGHT_READ,
	[MF_SPACE_RENEW] = MF_RIGHT_READ,     [MF_SPACE_LIFE] = MF_RIGHT_READ,
	[MF_SPACE_USAGE] = MF_RIGHT_READ,
};

/** Tasks that need a key: they are refused at once. */
static bool attempt_task(void)
{
	static const uint8_t tasks[] = {MF_SPACE_END,   MF_SPACE_GRANT,   MF_SPACE_ALLOCATE,
					MF_SPACE_FREE,  MF_SPACE_PROTECT, MF_SPACE_FENCE,
					MF_SPACE_RENEW, MF_SPACE_LIFE,    MF_SPACE_USAGE};
	uint8_t task = tasks[draw(sizeof(tasks))], status;
	uint64_t data[2], result = 1, how_much = draw(2) * 4096;
	struct mf_access a = some_access(data);
	enum mf_vm_refusal reason = judge_key(a.space, a.node, right_for[task], a.key);
	bool is_bad = draw(64) == 0; /* of something that there is not: of no space */

	if (reason == MF_VM_REFUSED_NOT && !is_bad)
		return false;
	if (task == MF_SPACE_GRANT)
		how_much = MF_SPACE_GRANTED(node_of[STRANGER], MF_PAGE_WRITE);
	if (task == MF_SPACE_RENEW)
		how_much = MF_RIGHT_READ;
	status = ask_in(now,
			is_bad ? MF_SPACE_ASK(MF_SPACE_ASKS + draw(200), 0, ++number)
			       : MF_SPACE_ASK(task, 0, ++number),
			how_much, a.addr, a.key, a.space, a.node, &result);
	cr_assert(status == MF_ERR_KEY && result == 0, "task %u: %u, %lx", task, status, result);
	expected_asked[is_bad ? MF_VM_REFUSED_SPACE : reason]++;
	return true;
}

/** Whether a node may have a key; nobody but the slow path knows. */
static bool may_join(unsigned int space, unsigned int node, uint64_t right)
{
	if (!there[space] || right >= MF_SPACE_RIGHTS)
		return false;
	if (space == OTHER)
		return node == STRANGER;
	return node == OWNER || (node == MEMBER && right == MF_RIGHT_READ);
}

/** A key, or a space, that is not one's own: it is refused when it has crossed, and always so late. */
static bool attempt_join(void)
{
	unsigned int space = (unsigned int)draw(SPACES), node = (unsigned int)draw(NODES);
	uint64_t right = draw(5), task = draw(4) == 0 ? MF_SPACE_MAKE : MF_SPACE_JOIN, result = 1;
	mf_time done = now + CROSSING + 2 * STEP + CROSSING;
	uint64_t what = MF_SPACE_ASK(task, draw(NUMBERS), ++number), with = draw(2) * other_key();
	bool makes = task == MF_SPACE_MAKE;

	if (makes ? mf_space_maker(space_of[space]) == node_of[node] && !there[space]
		  : may_join(space, node, right))
		return false;
	cr_assert_eq(ask_in(now, what, makes ? 0 : right, 0, with, space_of[space], node_of[node], &result),
		     MF_ERR_PENDING);
	cr_assert_eq(ask_in(done, what, makes ? 0 : right, 0, with, space_of[space], node_of[node], &result),
		     MF_ERR_PENDING, "sooner than others: task %lu, space %u, node %u", task, space, node);
	cr_assert_eq(
		ask_in(done + 1, what, makes ? 0 : right, 0, with, space_of[space], node_of[node], &result),
		MF_ERR_KEY, "later than others, or not at all: task %lu, space %u, node %u", task, space,
		node);
	cr_assert_eq(result, 0);
	now = done + MF_US(1);
	expected_slow++;
	return true;
}

/* ---- all of them ---- */

static uint64_t tag_of(unsigned int space, uint64_t addr)
{
	return (uint64_t)(space + 1) << 56 | addr;
}

/** The owner writes what can be written of each page, or finds what it wrote. */
static void use(unsigned int space, unsigned int owner, bool writes)
{
	for (unsigned int i = 0; i < MF_PAGE_CLASSES * PAGES; i++) {
		unsigned int c = i / PAGES;
		uint64_t addr = mf_remote_class_base(c) + ((uint64_t)(i % PAGES) << shift_of[c]);
		uint64_t word = tag_of(space, addr), found = 0;
		struct mf_access a = {.addr = addr + 8,
				      .at = now,
				      .data = &word,
				      .len = 8,
				      .space = space_of[space],
				      .node = node_of[owner],
				      .right = writes ? MF_RIGHT_WRITE : MF_RIGHT_READ};
		struct mf_answer out;

		if (rights[space][c][i % PAGES] != MF_PAGE_WRITE + 1)
			continue;
		now += MF_US(20);
		a.at = now;
		a.key = key[space][owner][a.right];
		cr_assert_eq(mf_memory_timed.access(memory(), &a, &out), MF_OK, "page %u", i);
		expected[MF_VM_REFUSED_NOT]++;
		if (writes)
			continue;
		mf_places_copy(&out.places, 0, 8, &found);
		cr_assert_eq(found, word, "page %u: somebody has written %lx", i, found);
	}
}

static void check_counts(const struct mf_vm_stats *from, const struct mf_vm_slow_stats *slow_from)
{
	struct mf_vm_slow_stats slow;
	struct mf_vm_stats s;

	mf_vm_timed_advance(t, now);
	mf_vm_stats(mf_vm_timed_fast(t), &s);
	mf_vm_slow_stats(mf_vm_timed_slow(t), &slow);
	for (unsigned int i = MF_VM_REFUSED_SPACE; i < MF_VM_REFUSALS; i++) {
		cr_assert_eq(s.refused[i] - from->refused[i], expected[i], "%s", mf_vm_refusal_name(i));
		cr_assert_eq(s.ask_refused[i] - from->ask_refused[i], expected_asked[i], "%s",
			     mf_vm_refusal_name(i));
	}
	cr_assert_eq(s.refused[MF_VM_REFUSED_NOT] - from->refused[MF_VM_REFUSED_NOT],
		     expected[MF_VM_REFUSED_NOT]);
	cr_assert_eq(slow.refused[MF_SPACE_JOIN] + slow.refused[MF_SPACE_MAKE] -
			     slow_from->refused[MF_SPACE_JOIN] - slow_from->refused[MF_SPACE_MAKE],
		     expected_slow);
	cr_assert(s.entries == from->entries && s.held == 0 && s.strange == 0 && slow.strange == 0);
}

/** @return how many there were, by kind: access, task, join */
static void attempts(unsigned int n, uint64_t kinds[3])
{
	struct mf_vm_slow_stats slow;
	struct mf_vm_stats from;

	now += MF_MS(1); /* the slow path is idle then: what it does for others is seen in its answers */
	mf_vm_timed_advance(t, now);
	mf_vm_stats(mf_vm_timed_fast(t), &from);
	mf_vm_slow_stats(mf_vm_timed_slow(t), &slow);
	memset(expected, 0, sizeof(expected));
	memset(expected_asked, 0, sizeof(expected_asked));
	expected_slow = 0;
	for (unsigned int i = 0; i < n;) {
		unsigned int kind = draw(8) == 0 ? 2 : draw(4) == 0 ? 1 : 0;
		bool was = kind == 0 ? attempt_access() : kind == 1 ? attempt_task() : attempt_join();

		i += was;
		kinds[kind] += was;
		now += draw(MF_NS(40));
	}
	check_counts(&from, &slow);
}

Test(protection, what_is_not_ones_own_is_refused)
{
	unsigned int n = getenv("MF_LONG") != NULL ? 1000000 : ATTEMPTS;
	uint64_t kinds[3] = {0}, sum[2 * MF_VM_REFUSALS] = {0};

	mf_rng_init(&rng, SEED, "protection", 0);
	for (unsigned int phase = 0; phase < 5; phase++) {
		if (phase == 0 || phase == 3) {
			if (phase == 3) /* the memory node is started again */
				mf_vm_timed_free(t);
			make_world(SEED + phase);
			use(VICTIM, OWNER, true);
			use(OTHER, STRANGER, true);
		} else if (phase == 1 || phase == 4) {
			end_space(VICTIM, OWNER);
		} else {
			make_victim(); /* at the same addresses */
			use(VICTIM, OWNER, true);
		}
		attempts(n / 5, kinds);
		for (unsigned int i = 0; i < MF_VM_REFUSALS; i++) {
			sum[i] += i > 0 ? expected[i] : 0;
			sum[MF_VM_REFUSALS + i] += expected_asked[i];
		}
		if (there[VICTIM])
			use(VICTIM, OWNER, false);
		use(OTHER, STRANGER, false);
	}
	mf_vm_timed_free(t);
	for (unsigned int i = 1; i < MF_VM_REFUSALS; i++)
		cr_expect_gt(sum[i], n / 200, "%lu for %s", sum[i], mf_vm_refusal_name(i));
	cr_expect(sum[MF_VM_REFUSALS + 1] > n / 100 && sum[MF_VM_REFUSALS + 2] > n / 100);
	cr_expect(kinds[0] > n / 3 && kinds[1] > n / 20 && kinds[2] > n / 20, "%lu, %lu, %lu", kinds[0],
		  kinds[1], kinds[2]);
	fprintf(stderr, "# %lu accesses, %lu tasks, %lu joins; space %lu, key %lu, page %lu, right %lu\n",
		kinds[0], kinds[1], kinds[2], sum[1], sum[2], sum[3], sum[4]);
}
