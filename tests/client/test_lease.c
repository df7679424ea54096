/* SPDX-License-Identifier: BSD-3-Clause */
/* Leases: who is idle keeps his spaces; a lock is taken over from who is gone. */
#include <time.h>

#include "rig.h"

#define LEASE 200000 /* us, of the file */

static struct memfab_queue *c0, *c1;
static struct memfab_space *s0, *s1;
static uint64_t ptr;

static void init(void)
{
	struct memfab_token t;

	setenv("MF_CLIENT_FABRIC", getenv("MF_CLIENT_LEASES"), 1);
	rig_open(NULL);
	c0 = rig_queue("cn0", 8);
	c1 = rig_queue("cn1", 8);
	cr_assert_eq(memfab_space_new(c0, NULL, 0, &s0), 0);
	cr_assert_eq(memfab_ralloc(c0, s0, 4096, 0, &ptr), 0);
	cr_assert_eq(memfab_space_grant(c0, s0, memfab_node(rig, "cn1"), MEMFAB_RIGHTS_WRITE), 0);
	memfab_space_token(s0, &t);
	cr_assert_eq(memfab_space_join(c1, &t, &s1), 0);
}

static void fini(void)
{
	cr_expect_eq(memfab_space_end(c1, s1), 0);
	cr_expect_eq(memfab_space_end(c0, s0), 0);
	memfab_queue_free(c0);
	memfab_queue_free(c1);
	rig_fini();
}

TestSuite(client_lease, .init = init, .fini = fini);

/** Turns the fabric, and has nothing else to do. */
static void idle(int64_t us)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		(void)memfab_wait(rig, 1000);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000000 + (now.tv_nsec - begin.tv_nsec) / 1000 < us);
}

Test(client_lease, who_is_idle_keeps_his_spaces)
{
	uint64_t word = 7;

	cr_assert_eq(memfab_rwrite(c0, s0, ptr, &word, 8), 0);
	idle(5 * LEASE);
	word = 0;
	cr_expect_eq(memfab_rread(c0, s0, ptr, &word, 8), 0);
	cr_expect_eq(word, 7);
	cr_expect_eq(memfab_rread(c1, s1, ptr, &word, 8), 0);
}

/** The layer has one key of it alone. */
Test(client_lease, a_space_that_was_only_made_is_kept)
{
	struct memfab_space *s;
	uint64_t at;

	cr_assert_eq(memfab_space_new(c0, &mn0, 1, &s), 0);
	idle(5 * LEASE);
	cr_expect_eq(memfab_ralloc(c0, s, 4096, 0, &at), 0);
	cr_expect_eq(memfab_space_end(c0, s), 0);
}

Test(client_lease, lock_of_one_that_is_there_is_his)
{
	cr_expect_eq(memfab_rlock(c1, s1, ptr, 0), 0);
	cr_expect_eq(memfab_rlock(c0, s0, ptr, 3 * LEASE), -ETIMEDOUT);
	cr_expect_eq(memfab_runlock(c1, s1, ptr), 0);
	cr_expect_eq(memfab_rlock(c0, s0, ptr, 0), 0);
	cr_expect_eq(memfab_runlock(c0, s0, ptr), 0);
}

/** As a process of cn1 has left it that the memory node has seen another one follow. */
Test(client_lease, lock_of_one_that_is_gone_is_taken_over)
{
	uint64_t word = ((uint64_t)memfab_node(rig, "cn1") + 1) << 48 | UINT64_C(77) << 32 | 5;

	cr_assert_eq(memfab_rwrite(c0, s0, ptr, &word, 8), 0);
	cr_expect_eq(memfab_rlock(c0, s0, ptr, -1), 0);
	cr_expect_eq(memfab_runlock(c0, s0, ptr), 0);
	cr_expect_eq(memfab_rread(c0, s0, ptr, &word, 8), 0);
	cr_expect_eq(word, 0);
}
