/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions, as a program has them: who may just does, who may not has -EACCES; owners claim, share, release */
#include "rig.h"

static struct memfab_queue *c0, *c1;

static void init(void)
{
	setenv("MF_CLIENT_FABRIC", getenv("MF_CLIENT_REGIONS"), 1);
	rig_open(NULL);
	c0 = rig_queue("cn0", 8);
	c1 = rig_queue("cn1", 8);
}

static void fini(void)
{
	memfab_queue_free(c0);
	memfab_queue_free(c1);
	rig_fini();
}

TestSuite(client_region, .init = init, .fini = fini);

static uint64_t at_of(const char *name)
{
	uint64_t addr, size;

	cr_assert_eq(memfab_region(rig, name, mn0, &addr, &size), 0);
	cr_assert_eq(size, 65536);
	return addr;
}

Test(client_region, found_by_name)
{
	uint64_t addr, size;

	cr_expect_eq(at_of("board"), 512 << 10);
	cr_expect_eq(memfab_region(rig, "attic", mn0, &addr, &size), -ENOENT);
	cr_expect_eq(memfab_region(rig, "board", mn1, &addr, &size), -ENOENT);
}

Test(client_region, who_may_and_who_may_not)
{
	uint64_t board = at_of("board"), word = 42, old;

	cr_expect_eq(memfab_write_ack(c0, mn0, board, &word, 8), 0);
	word = 0;
	cr_expect_eq(memfab_read(c1, mn0, board, &word, 8), 0);
	cr_expect_eq(word, 42);
	cr_expect_eq(memfab_atomic(c0, MEMFAB_FETCH_ADD, mn0, board, 1, &old), 0);
	cr_expect_eq(old, 42);
	cr_expect_eq(memfab_write(c1, mn0, board, &word, 8), -EACCES, "a plain write is told, too");
	cr_expect_eq(memfab_write_ack(c1, mn0, board, &word, 8), -EACCES);
	cr_expect_eq(memfab_atomic(c1, MEMFAB_FETCH_ADD, mn0, board, 1, &old), -EACCES);
	cr_expect_eq(memfab_read(c1, mn0, 256 << 10, &word, 8), -EACCES, "in no region");
	cr_expect_eq(memfab_read(c1, mn0, board + 65530, &word, 8), -EACCES, "beyond the end");
	cr_expect_eq(memfab_read(c1, mn0, at_of("heap"), &word, 8), -EACCES, "nobody's");
	cr_expect_eq(memfab_read(c1, mn1, 0, &word, 8), 0, "a node without regions");
	cr_expect_eq(memfab_read(c1, mn0, board, &word, 8), 0, "what was refused is no obstacle");
	cr_expect_eq(word, 43);
}

/** What reaches beyond a region is refused as a whole, of whatever kind: nothing has changed, and one is
 * told. */
Test(client_region, across_the_border)
{
	enum { LEN = 8192, BEYOND = 4096 };
	uint64_t board = at_of("board"), at = board + 65536 - (LEN - BEYOND);
	static uint8_t before[LEN - BEYOND], after[LEN - BEYOND], buf[LEN];
	struct iovec iov[] = {{buf, LEN - BEYOND}, {buf + LEN - BEYOND, BEYOND}};

	memset(before, 1, sizeof(before));
	cr_assert_eq(memfab_write_ack(c0, mn0, at, before, sizeof(before)), 0);
	memset(buf, 2, sizeof(buf));
	cr_expect_eq(memfab_write(c0, mn0, at, buf, LEN), -EACCES);
	cr_expect_eq(memfab_write_ack(c0, mn0, at, buf, LEN), -EACCES);
	for (enum memfab_op op = MEMFAB_READ; op <= MEMFAB_WRITE_ACK; op++) {
		struct memfab_sqe *s = memfab_get_sqe(c0);

		memfab_prep_vector(s, op, mn0, at, iov, 2);
		cr_assert_eq(memfab_submit(c0), 1);
		cr_assert_eq(memfab_wait_cqe(c0, 1, -1), 0);
		cr_expect_eq(memfab_peek_cqe(c0)->res, -EACCES, "%d", op);
		memfab_cq_advance(c0, 1);
	}
	cr_expect_eq(memfab_read(c0, mn0, at, buf, LEN), -EACCES);
	for (unsigned int i = 0; i < LEN; i++)
		cr_assert_eq(buf[i], 2, "nothing was read");
	cr_assert_eq(memfab_read(c0, mn0, at, after, sizeof(after)), 0);
	cr_expect_eq(memcmp(before, after, sizeof(after)), 0);
}

Test(client_region, from_owner_to_owner)
{
	uint64_t heap = at_of("heap"), word = 7, epoch, next;

	cr_expect_eq(memfab_region_release(c0, mn0, heap, NULL), -EACCES);
	cr_assert_eq(memfab_region_claim(c0, mn0, heap + 100, &epoch), 0);
	cr_expect_eq(memfab_region_claim(c1, mn0, heap, NULL), -EACCES);
	cr_expect_eq(memfab_region_claim(c0, mn0, at_of("more"), NULL), -EACCES, "that would be the third");
	cr_expect_eq(memfab_write_ack(c0, mn0, heap, &word, 8), 0);
	cr_expect_eq(memfab_read(c1, mn0, heap, &word, 8), -EACCES);
	cr_expect_eq(memfab_region_share(c1, mn0, heap, memfab_node(rig, "cn1"), MEMFAB_RIGHT_READ, true),
		     -EACCES);
	cr_expect_eq(memfab_region_share(c0, mn0, heap, memfab_node(rig, "cn1"), MEMFAB_RIGHT_READ, true), 0);
	cr_expect_eq(memfab_read(c1, mn0, heap, &word, 8), 0);
	cr_expect_eq(memfab_write_ack(c1, mn0, heap, &word, 8), -EACCES);
	cr_expect_eq(memfab_region_share(c0, mn0, heap, memfab_node(rig, "cn1"), MEMFAB_RIGHT_READ, false),
		     0);
	cr_expect_eq(memfab_read(c1, mn0, heap, &word, 8), -EACCES);
	cr_assert_eq(memfab_region_release(c0, mn0, heap, NULL), 0);
	cr_expect_eq(memfab_read(c0, mn0, heap, &word, 8), -EACCES, "not its own any more");
	cr_assert_eq(memfab_region_claim(c1, mn0, heap, &next), 0);
	cr_expect_eq(next, epoch + 2);
	word = 1;
	cr_expect_eq(memfab_read(c1, mn0, heap, &word, 8), 0);
	cr_expect_eq(word, 0, "nothing is left for the next owner");
	cr_expect_eq(memfab_read(c0, mn0, heap, &word, 8), -EACCES);
}
