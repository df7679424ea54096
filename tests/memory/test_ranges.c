/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranges of several spaces, against an array that has a cell for each octet. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "base/mf_rng.h"
#include "memory/mf_ranges.h"
#include "memory/range_tree.h"

#define SEED 0x5eed0036
#define CELLS 120
#define SPACES 2
#define STEPS 60000
#define HOLE UINT8_MAX

static struct mf_rng rng;

static void begin(void)
{
	mf_rng_init(&rng, SEED, "ranges", 0);
}

TestSuite(ranges, .init = begin);

struct cell {
	uint8_t state, rights; /* state HOLE: in no range */
	uint32_t task; /* not LIVE: cells of one range have one number */
};

struct space {
	struct mf_ranges r;
	uint64_t base; /* the address of cell 0 */
	struct cell cell[CELLS];
};

static struct space space[SPACES];
static struct mf_range_pool *pool;
static uint32_t ranges_max, covered_max, tasks;

static bool same_range(const struct cell *a, const struct cell *b)
{
	return a->state == b->state && a->rights == b->rights && a->task == b->task;
}

/** Whether a range begins at a cell, if it is in one. */
static bool begins(const struct space *s, uint64_t i)
{
	return s->cell[i].state != HOLE && (i == 0 || !same_range(&s->cell[i - 1], &s->cell[i]));
}

static uint32_t count(const struct space *s)
{
	uint32_t n = 0;

	for (uint64_t i = 0; i < CELLS; i++)
		n += begins(s, i);
	return n;
}

static uint32_t left(void)
{
	uint32_t n = ranges_max;

	for (unsigned int i = 0; i < SPACES; i++)
		n -= count(&space[i]);
	return n;
}

/** All ranges, by mf_ranges_next() from each address. */
static void compare(const struct space *s)
{
	struct mf_range range;

	cr_assert_eq(s->r.ranges, count(s));
	cr_assert_eq(mf_range_pool_left(pool), left());
	for (uint64_t i = 0; i <= CELLS; i++) {
		uint64_t at = i, end;
		bool found = mf_ranges_next(pool, &s->r, s->base + i, &range);

		while (at < CELLS && s->cell[at].state == HOLE)
			at++;
		cr_assert_eq(found, at < CELLS);
		if (!found)
			continue;
		for (end = at + 1; end < CELLS && !begins(s, end) && s->cell[end].state != HOLE;)
			end++;
		while (!begins(s, at))
			at--;
		cr_assert_eq(range.at, s->base + at);
		cr_assert_eq(range.end, s->base + end);
		cr_assert_eq(range.kind.state, s->cell[at].state);
		cr_assert_eq(range.kind.rights, s->cell[at].rights);
	}
}

static void compare_holes(const struct space *s)
{
	uint64_t from = mf_rng_below(&rng, CELLS + 1), to = mf_rng_below(&rng, CELLS + 1);
	uint64_t len = 1 + mf_rng_below(&rng, mf_rng_below(&rng, 2) == 0 ? 4 : CELLS), at, run = 0;

	for (at = from; at < to && run < len; at++)
		run = s->cell[at].state == HOLE ? run + 1 : 0;
	cr_assert_eq(mf_ranges_hole(pool, &s->r, s->base + from, s->base + to, len),
		     run == len ? s->base + at - len : MF_RANGE_NONE, "%lu to %lu, %lu", from, to, len);
}

static void set(struct space *s, uint64_t at, uint64_t len, struct mf_range_kind kind)
{
	tasks++;
	for (uint64_t i = at; i < at + len; i++)
		s->cell[i] = (struct cell){kind.state, kind.rights, kind.state == MF_RANGE_LIVE ? 0 : tasks};
}

static struct mf_range_kind some_kind(uint64_t live)
{
	return (struct mf_range_kind){.state = mf_rng_below(&rng, live) > 0
						       ? MF_RANGE_LIVE
						       : (uint8_t)mf_rng_below(&rng, MF_RANGE_STATES),
				      .rights = (uint8_t)mf_rng_below(&rng, 3)};
}

static void put(struct space *s, uint64_t at, uint64_t len)
{
	struct mf_range_kind kind = some_kind(4);
	const struct cell new = {kind.state, kind.rights, 0};
	bool hole = true, joins;

	for (uint64_t i = at; i < at + len; i++)
		hole = hole && s->cell[i].state == HOLE;
	joins = kind.state == MF_RANGE_LIVE && ((at > 0 && same_range(&s->cell[at - 1], &new)) ||
						(at + len < CELLS && same_range(&s->cell[at + len], &new)));
	cr_assert_eq(mf_ranges_put(pool, &s->r, s->base + at, len, kind), !hole                   ? -EEXIST
									  : left() == 0 && !joins ? -ENOSPC
												  : 0);
	if (hole && (left() > 0 || joins))
		set(s, at, len, kind);
}

/** What a change or drop is to say. */
static int expected(const struct space *s, uint64_t at, uint64_t len, uint8_t from, bool change)
{
	uint32_t covered = 0, cuts = !begins(s, at) + (at + len < CELLS && !begins(s, at + len) &&
						       s->cell[at + len].state != HOLE);

	for (uint64_t i = at; i < at + len; i++) {
		if (s->cell[i].state != from)
			return -ENOENT;
		if ((i == at || begins(s, i)) && ++covered > covered_max)
			return -E2BIG;
	}
	return left() + covered < cuts + change ? -ENOSPC : 0;
}

static unsigned int seen[4]; /* answers of change and drop: 0, ENOENT, E2BIG, ENOSPC */

static void note(int rc)
{
	seen[rc == 0 ? 0 : rc == -ENOENT ? 1 : rc == -E2BIG ? 2 : 3]++;
}

static void change_or_drop(struct space *s, uint64_t at, uint64_t len)
{
	bool change = mf_rng_below(&rng, 2) == 0;
	struct mf_range_kind kind = some_kind(2);
	uint8_t from = s->cell[at].state != HOLE && mf_rng_below(&rng, 8) > 0
			       ? s->cell[at].state
			       : (uint8_t)mf_rng_below(&rng, MF_RANGE_STATES);
	int want = expected(s, at, len, from, change), rc;

	if (change)
		rc = mf_ranges_change(pool, &s->r, s->base + at, len, from, kind);
	else
		rc = mf_ranges_drop(pool, &s->r, s->base + at, len, from);
	cr_assert_eq(rc, want, "%d, not %d", rc, want);
	note(rc);
	if (rc == 0)
		set(s, at, len, change ? kind : (struct mf_range_kind){.state = HOLE});
}

static void run(uint32_t ranges, uint32_t covered)
{
	const struct mf_range_pool_config c = {.ranges = ranges, .covered_max = covered};

	ranges_max = ranges;
	covered_max = covered;
	pool = mf_range_pool_new(&c);
	cr_assert_not_null(pool);
	memset(space, 0, sizeof(space));
	memset(space[0].cell, HOLE, sizeof(space[0].cell));
	memset(space[1].cell, HOLE, sizeof(space[1].cell));
	space[1].base = (UINT64_C(1) << 48) - CELLS; /* the last addresses of all */
	for (unsigned int i = 0; i < STEPS; i++) {
		struct space *s = &space[mf_rng_below(&rng, SPACES)];
		uint64_t at = mf_rng_below(&rng, CELLS), most = mf_rng_below(&rng, 4) == 0 ? CELLS : 6;
		uint64_t len = 1 + mf_rng_below(&rng, CELLS - at < most ? CELLS - at : most);

		if (mf_rng_below(&rng, 2) == 0)
			put(s, at, len);
		else
			change_or_drop(s, at, len);
		compare_holes(s);
		if (i % 16 == 0)
			compare(s);
	}
	mf_range_pool_free(pool);
}

Test(ranges, as_an_array)
{
	memset(seen, 0, sizeof(seen));
	run(1000, 1000);
	run(1000, 3);
	run(40, 4);
	run(12, 2);
	run(3, 1);
	for (unsigned int i = 0; i < 4; i++)
		cr_expect_gt(seen[i], 30, "answer %u: %u times", i, seen[i]);
}

/** Address and length come from peers: none is taken for another range because a sum has wrapped. */
Test(ranges, no_sum_wraps)
{
	const struct mf_range_pool_config c = {.ranges = 4, .covered_max = 4};
	const struct mf_range_kind live = {MF_RANGE_LIVE, 1};
	const uint64_t end = UINT64_C(1) << 48;
	const struct {
		uint64_t at, len;
	} bad[] = {{4096, 0},
		   {4096, UINT64_MAX},
		   {4096, UINT64_MAX - 4095},
		   {4096, UINT64_MAX - 4096 + 2},
		   {4096, end},
		   {0, end + 1},
		   {end, 1},
		   {end - 1, 2},
		   {end, 0},
		   {UINT64_MAX, 1},
		   {UINT64_MAX, UINT64_MAX},
		   {UINT64_MAX - 4095, 4096 + 4096}};
	struct mf_ranges r = {0};
	struct mf_range range;

	pool = mf_range_pool_new(&c);
	cr_assert_not_null(pool);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect_eq(mf_ranges_put(pool, &r, bad[i].at, bad[i].len, live), -EINVAL, "%zu", i);
	cr_expect_eq(r.ranges, 0);
	cr_assert_eq(mf_ranges_put(pool, &r, 0, end, live), 0, "all addresses there are");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		cr_expect_eq(mf_ranges_drop(pool, &r, bad[i].at, bad[i].len, MF_RANGE_LIVE), -EINVAL);
		cr_expect_eq(mf_ranges_change(pool, &r, bad[i].at, bad[i].len, MF_RANGE_LIVE, live), -EINVAL);
	}
	cr_expect(mf_ranges_next(pool, &r, end - 1, &range) && range.at == 0 && range.end == end);
	cr_expect(!mf_ranges_next(pool, &r, end, &range));
	cr_expect_eq(mf_ranges_hole(pool, &r, 0, end, 1), MF_RANGE_NONE);
	cr_expect_eq(mf_ranges_drop(pool, &r, 0, end, MF_RANGE_LIVE), 0);
	cr_expect_eq(mf_ranges_hole(pool, &r, 0, end, end), 0);
	mf_range_pool_free(pool);
}

/** Nodes are taken again, before any that was never used; and the largest pool is one that can be had. */
Test(ranges, the_largest_pool)
{
	const struct mf_range_pool_config c = {.ranges = MF_RANGES_OF_POOL_MAX, .covered_max = 1};
	const struct mf_range_kind making = {MF_RANGE_MAKING, 0};
	struct mf_ranges r = {0};

	pool = mf_range_pool_new(&c);
	if (pool == NULL) /* a sanitizer, or a limit, has no 16 GiB of addresses */
		cr_skip_test("no addresses for 16 GiB");
	for (uint64_t i = 0; i < 100000; i++) {
		cr_assert_eq(mf_ranges_put(pool, &r, 4096 * i, 4096, making), 0);
		if (i >= 2)
			cr_assert_eq(mf_ranges_drop(pool, &r, 4096 * (i - 2), 4096, MF_RANGE_MAKING), 0);
		cr_assert_leq(r.root, 3);
	}
	cr_expect_eq(r.ranges, 2);
	cr_expect_eq(mf_range_pool_left(pool), MF_RANGES_OF_POOL_MAX - 2);
	mf_range_pool_free(pool);
}

Test(ranges, faulty_configurations)
{
	const struct mf_range_pool_config bad[] = {{.ranges = 0, .covered_max = 1},
						   {.ranges = MF_RANGES_OF_POOL_MAX + 1, .covered_max = 1},
						   {.ranges = 1}};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		errno = 0;
		cr_expect_null(mf_range_pool_new(&bad[i]), "%zu", i);
		cr_expect_eq(errno, EINVAL);
	}
	mf_range_pool_free(NULL);
}

/* ---- the tree itself ---- */

#define NODES (1 << 14)

static struct range_node node[NODES + 1];

/** @return the height; what a node says of its subtree is so, and it is in balance */
static uint32_t sound(uint32_t i)
{
	const struct range_node *n = &node[i];
	uint32_t l, r;
	uint64_t hole = 0;

	if (i == RANGE_NIL)
		return 0;
	l = sound(n->left);
	r = sound(n->right);
	cr_assert(l <= r + 1 && r <= l + 1, "it leans");
	cr_assert_eq(n->height, 1 + (l > r ? l : r));
	cr_assert_eq(n->first, n->left == RANGE_NIL ? n->range.at : node[n->left].first);
	cr_assert_eq(n->last, n->right == RANGE_NIL ? n->range.end : node[n->right].last);
	if (n->left != RANGE_NIL) {
		cr_assert_leq(node[n->left].last, n->range.at);
		hole = n->range.at - node[n->left].last;
		hole = node[n->left].hole > hole ? node[n->left].hole : hole;
	}
	if (n->right != RANGE_NIL) {
		uint64_t behind = node[n->right].first - n->range.end;

		cr_assert_geq(node[n->right].first, n->range.end);
		hole = behind > hole ? behind : hole;
		hole = node[n->right].hole > hole ? node[n->right].hole : hole;
	}
	cr_assert_eq(n->hole, hole);
	return n->height;
}

static void fill(int order)
{
	uint32_t root = RANGE_NIL, removed;

	for (uint32_t i = 0; i < NODES; i++) {
		uint64_t at = order == 0 ? i : order == 1 ? NODES - 1 - i : (i * UINT64_C(6073)) % NODES;

		node[i + 1].range =
			(struct mf_range){.at = 10 * at, .end = 10 * at + 1 + mf_rng_below(&rng, 10)};
		root = range_tree_insert(node, root, i + 1);
		if (i % 1024 == 0)
			sound(root);
	}
	cr_expect_leq(sound(root), 20, "1.44 log2 of 2^14 + 2");
	for (uint32_t i = 0; i < NODES; i++) {
		uint64_t at = 10 * (order == 1 ? i : (i * UINT64_C(4099)) % NODES);

		root = range_tree_remove(node, root, at, &removed);
		cr_assert_eq(node[removed].range.at, at);
		if (i % 1024 == 0)
			sound(root);
	}
	cr_expect_eq(root, RANGE_NIL);
}

Test(ranges, the_tree_is_in_balance)
{
	for (int order = 0; order < 3; order++)
		fill(order);
}
