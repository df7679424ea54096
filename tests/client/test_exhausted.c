/* SPDX-License-Identifier: BSD-3-Clause */
/* A node takes all there is at a memory node: what its program is told, and that another does not notice. */
#include "rig.h"

#define PAGE 4096
#define PAGES 64 /* of mn0 */
#define RANGES 24
#define SPACES 4
#define WORD UINT64_C(0x6f72616e6765)

static struct memfab_queue *greedy, *other;
static struct memfab_space *all, *his;
static uint64_t page; /* of the other one */

static uint64_t alloc(struct memfab_queue *q, struct memfab_space *s, unsigned int pages, unsigned int flags)
{
	uint64_t ptr = 0;
	int rc = memfab_ralloc(q, s, (uint64_t)pages * PAGE, flags, &ptr);

	cr_assert_eq(rc, 0, "%s", memfab_strerror(rc));
	return ptr;
}

static void init(void)
{
	const uint64_t word = WORD;

	setenv("MF_CLIENT_FABRIC", getenv("MF_CLIENT_EXHAUSTED"), 1);
	rig_open(NULL);
	greedy = rig_queue("cn0", 64);
	other = rig_queue("cn1", 64);
	cr_assert_eq(memfab_space_new(greedy, &mn0, 1, &all), 0);
	cr_assert_eq(memfab_space_new(other, &mn0, 1, &his), 0);
	page = alloc(other, his, 1, 0);
	cr_assert_eq(memfab_rwrite(other, his, page, &word, 8), 0);
}

/** The other one has what he had, and can do what takes nothing more. */
static void expect_unharmed(void)
{
	uint64_t word = 0;

	cr_expect_eq(memfab_rread(other, his, page, &word, 8), 0);
	cr_expect_eq(word, WORD);
	cr_expect_eq(memfab_rwrite(other, his, page, &word, 8), 0);
	cr_expect_eq(memfab_rlock(other, his, page + 8, 0), 0);
	cr_expect_eq(memfab_runlock(other, his, page + 8), 0);
	cr_expect_eq(memfab_rprotect(other, his, page, PAGE, MEMFAB_RIGHTS_READ), 0);
	cr_expect_eq(memfab_rwrite(other, his, page, &word, 8), -EACCES);
	cr_expect_eq(memfab_rprotect(other, his, page, PAGE, MEMFAB_RIGHTS_WRITE), 0);
	cr_expect_eq(memfab_rfence(other, his), 0);
}

/** The other one can have all that is left of him alone: pages, ranges, spaces. */
static void expect_back(void)
{
	uint64_t ptr, each[RANGES];
	struct memfab_space *more[SPACES];
	unsigned int n;

	ptr = alloc(other, his, PAGES - 1, MEMFAB_POPULATE);
	cr_expect_eq(memfab_rfree(other, his, ptr, (PAGES - 1) * PAGE), 0);
	for (n = 0; n < RANGES - 1; n++)
		each[n] = alloc(other, his, 1, n % 2 ? 0 : MEMFAB_READ_ONLY);
	while (n-- > 0)
		cr_expect_eq(memfab_rfree(other, his, each[n], PAGE), 0);
	for (n = 0; n < SPACES - 2; n++)
		cr_expect_eq(memfab_space_new(other, &mn0, 1, &more[n]), 0);
	while (n-- > 0)
		cr_expect_eq(memfab_space_end(other, more[n]), 0);
}

static void fini(void)
{
	expect_unharmed();
	expect_back();
	cr_expect_eq(memfab_space_end(greedy, all), 0);
	cr_expect_eq(memfab_space_end(other, his), 0);
	memfab_queue_free(greedy);
	memfab_queue_free(other);
	rig_fini();
}

TestSuite(client_exhausted, .init = init, .fini = fini);

Test(client_exhausted, pages)
{
	uint64_t ptr = alloc(greedy, all, PAGES - 1, MEMFAB_POPULATE), more = 0, word = 1;
	uint64_t untouched = alloc(greedy, all, 2, 0);

	cr_expect_eq(memfab_rwrite(greedy, all, untouched, &word, 8), -ENOBUFS);
	cr_expect_eq(memfab_rread(greedy, all, untouched, &word, 8), -ENOBUFS);
	cr_expect_eq(memfab_ralloc(greedy, all, PAGE, MEMFAB_POPULATE, &more), -ENOBUFS);
	expect_unharmed();
	cr_expect_eq(memfab_rfree(greedy, all, ptr, PAGE), 0);
	cr_expect_eq(memfab_rwrite(greedy, all, untouched, &word, 8), 0, "the page that was freed");
	cr_expect_eq(memfab_rfree(greedy, all, ptr + PAGE, (PAGES - 2) * PAGE), 0);
	cr_expect_eq(memfab_rfree(greedy, all, untouched, 2 * PAGE), 0);
}

/** Of the page table. */
Test(client_exhausted, slots)
{
	uint64_t ptr[2 * PAGES], n = 0, more;
	int rc;

	while ((rc = memfab_ralloc(greedy, all, 8 * PAGE, 0, &ptr[n])) == 0)
		n++;
	cr_expect_eq(rc, -ENOBUFS);
	cr_expect(n >= 8 && n <= 16, "%lu times 8 pages of 128 slots", n);
	cr_expect_eq(memfab_ralloc(greedy, all, UINT64_C(1) << 40, 0, &more), -ENOBUFS);
	expect_unharmed();
	while (n-- > 0)
		cr_expect_eq(memfab_rfree(greedy, all, ptr[n], 8 * PAGE), 0);
}

Test(client_exhausted, ranges)
{
	uint64_t ptr[RANGES + 1], n = 0;
	int rc;

	while ((rc = memfab_ralloc(greedy, all, 3 * PAGE, n % 2 ? 0 : MEMFAB_READ_ONLY, &ptr[n])) == 0)
		n++;
	cr_expect_eq(rc, -ENOBUFS);
	cr_expect_eq(n, RANGES - 1);
	expect_unharmed();
	cr_expect_eq(memfab_rfree(greedy, all, ptr[3] + PAGE, PAGE), -ENOBUFS);
	cr_expect_eq(memfab_rprotect(greedy, all, ptr[3], PAGE, MEMFAB_RIGHTS_READ), -ENOBUFS);
	while (n-- > 0)
		cr_expect_eq(memfab_rfree(greedy, all, ptr[n], 3 * PAGE), 0);
}

/** More first accesses at a time than pages are ready, and more reads than may hold pages. */
Test(client_exhausted, ring_and_pins)
{
	enum { AT_A_TIME = 40 };
	static uint64_t word[AT_A_TIME];
	uint64_t ptr = alloc(greedy, all, AT_A_TIME, 0);

	for (unsigned int round = 0; round < 3; round++) {
		for (uint64_t i = 0; i < AT_A_TIME; i++) {
			word[i] = i;
			if (round < 2)
				memfab_prep_rwrite(rig_sqe(greedy), all, ptr + i * PAGE, &word[i], 8);
			else
				memfab_prep_rread(rig_sqe(greedy), all, ptr + i * PAGE, &word[i], 8);
		}
		memfab_submit(greedy);
		expect_unharmed();
		for (unsigned int i = 0; i < AT_A_TIME; i++)
			cr_expect_eq(memfab_rpoll(greedy, NULL), 8);
	}
	cr_expect_eq(memfab_rfree(greedy, all, ptr, AT_A_TIME * PAGE), 0);
}

/** More is asked of the slow path than it takes: what is too many is asked again, and each is done. */
Test(client_exhausted, tasks)
{
	enum { THREADS = 24 };
	struct memfab_queue *q[THREADS];
	uint64_t ptr[THREADS];

	for (unsigned int i = 0; i < THREADS; i++)
		q[i] = rig_queue("cn0", 4);
	for (unsigned int i = 0; i < THREADS; i++)
		ptr[i] = alloc(greedy, all, 1, 0);
	for (unsigned int i = 0; i < THREADS; i++) {
		memfab_prep_rfree(rig_sqe(q[i]), all, ptr[i], PAGE);
		memfab_submit(q[i]);
	}
	expect_unharmed();
	for (unsigned int i = 0; i < THREADS; i++) {
		cr_expect_eq(memfab_rpoll(q[i], NULL), 0);
		memfab_queue_free(q[i]);
	}
}

Test(client_exhausted, spaces)
{
	struct memfab_space *more[SPACES + 1];
	unsigned int n = 0;
	int rc;

	while ((rc = memfab_space_new(greedy, &mn0, 1, &more[n])) == 0)
		n++;
	cr_expect_eq(rc, -ENOBUFS);
	cr_expect_eq(n, SPACES - 2);
	expect_unharmed();
	while (n-- > 0)
		cr_expect_eq(memfab_space_end(greedy, more[n]), 0);
}

/** Where a node has no room the next one of the space is taken, whatever it is that it has not got. */
Test(client_exhausted, the_next_node_has_room)
{
	const int both[] = {mn0, mn1};
	uint64_t ptr[3], n = 0, at[40];
	struct memfab_space *two;

	cr_assert_eq(memfab_space_new(greedy, both, 2, &two), 0);
	while (memfab_ralloc(greedy, all, PAGE, n % 2 ? 0 : MEMFAB_READ_ONLY, &at[n]) == 0)
		n++;
	for (unsigned int i = 0; i < 3; i++) {
		ptr[i] = alloc(greedy, two, 1, MEMFAB_POPULATE);
		cr_expect_eq(ptr[i] >> 48, (uint64_t)mn1);
	}
	while (n-- > 0)
		cr_expect_eq(memfab_rfree(greedy, all, at[n], PAGE), 0);
	cr_expect_eq(memfab_space_end(greedy, two), 0);
}
