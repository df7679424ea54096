/* SPDX-License-Identifier: BSD-3-Clause */
/* Address spaces, as a program has them: who may what, pages that come and go, order, locks, tokens. */
#include "rig.h"

#define PAGE 4096
#define LARGE (64 << 10)
#define LARGE_PAGES 16

static struct memfab_queue *c0, *c1;
static struct memfab_space *s0;

static void init(void)
{
	int rc;

	setenv("MF_CLIENT_FABRIC", getenv("MF_CLIENT_SPACES"), 1);
	rig_open(NULL);
	c0 = rig_queue("cn0", 64);
	c1 = rig_queue("cn1", 64);
	rc = memfab_space_new(c0, NULL, 0, &s0);
	cr_assert_eq(rc, 0, "%s", memfab_strerror(rc));
}

static void fini(void)
{
	if (s0 != NULL)
		cr_expect_eq(memfab_space_end(c0, s0), 0);
	memfab_queue_free(c0);
	memfab_queue_free(c1);
	rig_fini();
}

TestSuite(client_space, .init = init, .fini = fini);

static uint64_t alloc(struct memfab_space *s, uint64_t size, unsigned int flags)
{
	uint64_t ptr = 0;
	int rc = memfab_ralloc(c0, s, size, flags, &ptr);

	cr_assert_eq(rc, 0, "%s", memfab_strerror(rc));
	cr_assert_neq(ptr, 0);
	return ptr;
}

static uint64_t word_at(struct memfab_queue *q, const struct memfab_space *s, uint64_t ptr)
{
	uint64_t word = ~UINT64_C(0);
	int rc = memfab_rread(q, s, ptr, &word, sizeof(word));

	cr_assert_eq(rc, 0, "%s", memfab_strerror(rc));
	return word;
}

static void put(struct memfab_queue *q, const struct memfab_space *s, uint64_t ptr, uint64_t word)
{
	int rc = memfab_rwrite(q, s, ptr, &word, sizeof(word));

	cr_assert_eq(rc, 0, "%s", memfab_strerror(rc));
}

Test(client_space, reads_what_was_written)
{
	static uint8_t out[5 * PAGE], in[5 * PAGE];
	uint64_t ptr = alloc(s0, sizeof(out), 0), old = 0;
	struct mf_rng rng;

	mf_rng_init(&rng, 1, "space", 0);
	cr_expect(ptr >> 48 == (uint64_t)mn0 || ptr >> 48 == (uint64_t)mn1);
	cr_expect_eq(memfab_rread(c0, s0, ptr, in, sizeof(in)), 0);
	for (size_t i = 0; i < sizeof(in); i++)
		cr_assert_eq(in[i], 0, "fresh pages are zero");
	rig_fill(&rng, out, sizeof(out));
	cr_expect_eq(memfab_rwrite(c0, s0, ptr, out, sizeof(out)), 0);
	cr_expect_eq(memfab_rread(c0, s0, ptr, in, sizeof(in)), 0);
	cr_expect_arr_eq(in, out, sizeof(in));
	cr_expect_eq(memfab_rread(c0, s0, ptr + PAGE - 3, in, 7), 0, "across a page");
	cr_expect_arr_eq(in, out + PAGE - 3, 7);
	put(c0, s0, ptr + 8, 40);
	cr_expect_eq(memfab_ratomic(c0, s0, MEMFAB_FETCH_ADD, ptr + 8, 2, &old), 0);
	cr_expect_eq(old, 40);
	old = 42;
	cr_expect_eq(memfab_ratomic(c0, s0, MEMFAB_CAS, ptr + 8, 43, &old), 0);
	cr_expect_eq(old, 42);
	cr_expect_eq(word_at(c0, s0, ptr + 8), 43);
	cr_expect_eq(memfab_rfree(c0, s0, ptr, sizeof(out)), 0);
	cr_expect_eq(memfab_rread(c0, s0, ptr, in, 8), -EACCES, "freed");
}

Test(client_space, arguments)
{
	uint64_t ptr = alloc(s0, PAGE, 0), other = 0, word = 0, old;
	int nodes[] = {mn0, mn0}, compute = memfab_node(rig, "cn1");
	struct memfab_space *s;

	cr_expect_eq(memfab_ralloc(c0, s0, 0, 0, &other), -EINVAL);
	cr_expect_eq(memfab_ralloc(c0, s0, PAGE, 128, &other), -EINVAL, "no such flag");
	cr_expect_eq(memfab_ralloc(c0, s0, PAGE, MEMFAB_PAGE(13), &other), -EINVAL, "no such pages");
	cr_expect_eq(memfab_ralloc(c0, s0, PAGE, MEMFAB_AT(compute), &other), -EINVAL, "no memory node");
	cr_expect_eq(memfab_ralloc(c0, s0, UINT64_C(1) << 46, 0, &other), -EINVAL);
	cr_expect_eq(memfab_ralloc(c0, s0, UINT64_C(1) << 45, 0, &other), -EINVAL);
	cr_expect_eq(memfab_ralloc(c0, s0, (UINT64_C(1) << 45) - PAGE, MEMFAB_PAGE(12), &other), -ENOBUFS);
	cr_expect_eq(memfab_ralloc(c0, s0, UINT64_C(1) << 40, 0, &other), -ENOBUFS);
	cr_expect_eq(other, 0);
	cr_expect_eq(memfab_rread(c0, s0, ptr, NULL, 8), -EINVAL);
	cr_expect_eq(memfab_rread(c0, s0, ptr, &word, 0), -EINVAL);
	cr_expect_eq(memfab_rread(c0, s0, 0, &word, 8), -EACCES, "0 is no pointer");
	cr_expect_eq(memfab_rread(c0, s0, ptr | UINT64_C(77) << 48, &word, 8), -EACCES, "no such node");
	cr_expect_eq(memfab_rread(c0, s0, ptr + PAGE, &word, 8), -EACCES, "behind the end");
	cr_expect_eq(memfab_rread(c0, s0, ptr + PAGE - 4, &word, 8), -EACCES, "over the end");
	cr_expect_eq(memfab_ratomic(c0, s0, MEMFAB_FETCH_ADD, ptr + 4, 1, &old), -EFAULT);
	cr_expect_eq(memfab_ratomic(c0, s0, MEMFAB_CLAIM, ptr, 1, &old), -EOPNOTSUPP);
	cr_expect_eq(memfab_rfree(c0, s0, ptr, 0), -EINVAL);
	cr_expect_eq(memfab_rfree(c0, s0, ptr + 8, 8), -EACCES, "no page begins there");
	cr_expect_eq(memfab_rfree(c0, s0, ptr, 2 * PAGE), -EACCES);
	cr_expect_eq(memfab_rprotect(c0, s0, ptr, PAGE, MEMFAB_RIGHTS_NONE), -EINVAL);
	cr_expect_eq(word_at(c0, s0, ptr), 0, "and it is still there");
	cr_expect_eq(memfab_space_new(c0, nodes, 2, &s), -EINVAL, "a node twice");
	cr_expect_eq(memfab_space_new(c0, &compute, 1, &s), -EINVAL);
	cr_expect(memfab_has_spaces(rig, mn0) && !memfab_has_spaces(rig, compute) &&
		  !memfab_has_spaces(rig, -1));
	cr_expect_eq(memfab_space_new(c0, nodes, 0, &s), -EINVAL);
	cr_expect_eq(memfab_space_grant(c0, s0, mn0, MEMFAB_RIGHTS_READ), -EINVAL);
	cr_expect_eq(memfab_space_grant(c0, s0, compute, 3), -EINVAL);
	cr_expect_eq(memfab_space_grant(c0, s0, memfab_node(rig, "cn0"), MEMFAB_RIGHTS_READ), -EINVAL,
		     "who made it has all rights");
	cr_expect_eq(memfab_space_grant(c0, s0, memfab_node(rig, "cn0"), MEMFAB_RIGHTS_WRITE), 0);
	cr_expect_eq(memfab_read(c0, mn0, ptr & 0xffffffffffff, &word, 8), -EACCES, "not without the space");
}

Test(client_space, what_is_under_way_is_no_time_for_calls)
{
	uint64_t ptr = alloc(s0, PAGE, 0), word;
	struct memfab_space *s;

	memfab_prep_rread(rig_sqe(c0), s0, ptr, &word, 8);
	cr_expect_eq(memfab_rread(c0, s0, ptr, &word, 8), -EBUSY);
	cr_expect_eq(memfab_ralloc(c0, s0, PAGE, 0, &ptr), -EBUSY);
	cr_expect_eq(memfab_space_new(c0, NULL, 0, &s), -EBUSY);
	cr_expect_eq(memfab_space_end(c0, s0), -EBUSY);
	memfab_submit(c0);
	cr_expect_eq(memfab_rrelease(c0), 0);
	cr_expect_eq(memfab_rpoll(c0, NULL), 8);
	cr_expect_eq(memfab_rpoll(c0, NULL), -ENOENT);
}

Test(client_space, who_may_and_who_may_not)
{
	uint64_t ptr = alloc(s0, PAGE, 0), word, old;
	int other = memfab_node(rig, "cn1");
	struct memfab_token t, bad;
	struct memfab_space *s1 = NULL, *not_there;

	memfab_space_token(s0, &t);
	put(c0, s0, ptr, 7);
	cr_expect_eq(memfab_space_join(c1, &t, &s1), -EACCES, "a number opens nothing");
	cr_expect_eq(memfab_space_grant(c0, s0, other, MEMFAB_RIGHTS_READ), 0);
	cr_assert_eq(memfab_space_join(c1, &t, &s1), 0);
	cr_expect_eq(word_at(c1, s1, ptr), 7);
	cr_expect_eq(memfab_rwrite(c1, s1, ptr, &word, 8), -EACCES);
	cr_expect_eq(memfab_ratomic(c1, s1, MEMFAB_FETCH_ADD, ptr, 1, &old), -EACCES);
	cr_expect_eq(memfab_ralloc(c1, s1, PAGE, 0, &old), -EACCES);
	cr_expect_eq(memfab_rfree(c1, s1, ptr, PAGE), -EACCES);
	cr_expect_eq(memfab_space_grant(c1, s1, other, MEMFAB_RIGHTS_WRITE), -EACCES);
	cr_expect_eq(memfab_space_grant(c0, s0, other, MEMFAB_RIGHTS_WRITE), 0);
	put(c1, s1, ptr, 8);
	cr_expect_eq(memfab_ratomic(c1, s1, MEMFAB_FETCH_ADD, ptr, 1, &old), 0);
	cr_expect_eq(word_at(c0, s0, ptr), 9);
	cr_expect_eq(memfab_space_grant(c0, s0, other, MEMFAB_RIGHTS_READ), 0);
	cr_expect_eq(memfab_rwrite(c1, s1, ptr, &word, 8), -EACCES, "a right that was taken");
	cr_expect_eq(word_at(c1, s1, ptr), 9, "what is left of it, with a new key");
	put(c0, s0, ptr, 10);
	cr_expect_eq(memfab_space_grant(c0, s0, other, MEMFAB_RIGHTS_NONE), 0);
	cr_expect_eq(memfab_rread(c1, s1, ptr, &word, 8), -EACCES);
	cr_expect_eq(word_at(c0, s0, ptr), 10);
	cr_expect_eq(memfab_space_end(c1, s1), 0, "it is forgotten");
	cr_expect_eq(word_at(c0, s0, ptr), 10, "and no more");
	for (size_t i = 0; i < sizeof(t); i++) {
		bad = t;
		bad.octets[i] ^= 0x80;
		cr_expect_neq(memfab_space_join(c1, &bad, &not_there), 0, "octet %zu", i);
	}
}

Test(client_space, two_spaces_know_nothing_of_each_other)
{
	uint64_t ptr = alloc(s0, PAGE, MEMFAB_AT(mn0)), same = ptr, word;
	struct memfab_space *s;

	cr_assert_eq(memfab_space_new(c0, NULL, 0, &s), 0);
	cr_expect_eq(memfab_rread(c0, s, ptr, &word, 8), -EACCES);
	cr_expect_eq(memfab_ralloc(c0, s, PAGE, MEMFAB_HINT, &same), 0);
	cr_expect_eq(same, ptr, "the address that is wanted");
	put(c0, s0, ptr, 1);
	put(c0, s, ptr, 2);
	cr_expect_eq(word_at(c0, s0, ptr), 1);
	cr_expect_eq(word_at(c0, s, ptr), 2);
	cr_expect_eq(memfab_space_end(c0, s), 0);
	cr_expect_eq(word_at(c0, s0, ptr), 1);
}

Test(client_space, rights_of_pages)
{
	uint64_t ptr = alloc(s0, 3 * PAGE, MEMFAB_READ_ONLY), word = 1;

	cr_expect_eq(word_at(c0, s0, ptr), 0);
	cr_expect_eq(memfab_rwrite(c0, s0, ptr, &word, 8), -EACCES);
	cr_expect_eq(memfab_rprotect(c0, s0, ptr + PAGE, PAGE, MEMFAB_RIGHTS_WRITE), 0);
	put(c0, s0, ptr + PAGE, 5);
	cr_expect_eq(memfab_rwrite(c0, s0, ptr + 2 * PAGE, &word, 8), -EACCES);
	cr_expect_eq(memfab_rprotect(c0, s0, ptr, 3 * PAGE, MEMFAB_RIGHTS_READ), 0);
	cr_expect_eq(memfab_rwrite(c0, s0, ptr + PAGE, &word, 8), -EACCES);
	cr_expect_eq(word_at(c0, s0, ptr + PAGE), 5);
	cr_expect_eq(memfab_rfence(c0, s0), 0);
}

/** Sizes of pages, populated or not; where one node is full the other one is taken; all comes back. */
Test(client_space, pages_of_all_nodes)
{
	uint64_t ptr[2 * LARGE_PAGES + 1], small;
	unsigned int at[2] = {0, 0}, n = 0;

	while (memfab_ralloc(c0, s0, LARGE, MEMFAB_POPULATE | (n % 2 ? 0 : MEMFAB_PAGE(16)), &ptr[n]) == 0) {
		cr_assert_lt(n, 2 * LARGE_PAGES, "more pages than there are");
		at[ptr[n] >> 48 == (uint64_t)mn1]++;
		put(c0, s0, ptr[n], n);
		put(c0, s0, ptr[n] + LARGE - 8, n);
		n++;
	}
	cr_expect(at[0] == LARGE_PAGES && at[1] == LARGE_PAGES, "%u and %u", at[0], at[1]);
	for (unsigned int i = 0; i < n; i++) {
		cr_expect_eq(word_at(c0, s0, ptr[i]), i);
		cr_expect_eq(memfab_rfree(c0, s0, ptr[i], LARGE), 0);
	}
	for (unsigned int round = 0; round < 3; round++) {
		small = alloc(s0, 500 * PAGE, MEMFAB_PAGE(12) | MEMFAB_POPULATE | MEMFAB_SPREAD);
		cr_expect_eq(word_at(c0, s0, small + 499 * PAGE), 0, "what was freed is zero");
		put(c0, s0, small + 499 * PAGE, 1);
		cr_expect_eq(memfab_rfree(c0, s0, small, 500 * PAGE), 0);
	}
}

/** More first accesses at a time than there are pages that are ready. */
Test(client_space, many_first_accesses)
{
	uint64_t ptr = alloc(s0, 512 * PAGE, MEMFAB_PAGE(12));
	static uint64_t word[512];
	unsigned int done = 0;

	for (unsigned int i = 0; done < 512;) {
		struct memfab_sqe *s = i < 512 ? memfab_get_sqe(c0) : NULL;

		if (s == NULL) {
			cr_assert_eq(memfab_rpoll(c0, NULL), 8);
			done++;
			continue;
		}
		word[i] = i + 1;
		memfab_prep_rwrite(s, s0, ptr + (uint64_t)i * PAGE, &word[i], 8);
		memfab_submit(c0);
		i++;
	}
	for (unsigned int i = 0; i < 512; i++)
		cr_assert_eq(word_at(c0, s0, ptr + (uint64_t)i * PAGE), i + 1);
}

/** What is asked of the same octets takes effect in the order in which it was asked, frees included. */
Test(client_space, order_within_a_queue)
{
	uint64_t ptr = alloc(s0, 4 * PAGE, 0), found[3], word[3] = {1, 2, 3};
	static uint8_t all[2 * PAGE];
	int64_t res[8];

	memset(all, 9, sizeof(all));
	memfab_prep_rwrite(rig_sqe(c0), s0, ptr, &word[0], 8); /* a page that is not there */
	memfab_prep_rread(rig_sqe(c0), s0, ptr, &found[0], 8);
	memfab_prep_rwrite(rig_sqe(c0), s0, ptr, all, sizeof(all));
	memfab_prep_rread(rig_sqe(c0), s0, ptr + PAGE, &found[1], 8);
	memfab_prep_rfree(rig_sqe(c0), s0, ptr, PAGE);
	memfab_prep_rread(rig_sqe(c0), s0, ptr, &found[2], 8);
	memfab_prep_rread(rig_sqe(c0), s0, ptr + PAGE + 8, &found[2], 8);
	memfab_prep_ralloc(rig_sqe(c0), s0, (int)(ptr >> 48), PAGE, 12, MEMFAB_RIGHTS_WRITE);
	memfab_submit(c0);
	cr_expect_eq(memfab_rrelease(c0), 0);
	for (unsigned int i = 0; i < 8; i++)
		res[i] = rig_take(c0).res;
	for (unsigned int i = 0, refused = 0; i < 8; i++) {
		refused += res[i] == -EACCES;
		cr_expect(res[i] >= 0 || (res[i] == -EACCES && refused == 1), "%u: %ld", i, (long)res[i]);
	}
	cr_expect_eq(found[0], 1);
	cr_expect_eq(found[1], UINT64_C(0x0909090909090909));
	cr_expect_eq(found[2], UINT64_C(0x0909090909090909));
}

#define MANY 500

/** As many as a queue holds: frees of pages and of a range, each behind reads of them and before others. */
Test(client_space, frees_among_many_reads)
{
	struct memfab_queue *q = rig_queue("cn0", 4096);
	uint64_t ptr = alloc(s0, 2 * MANY * PAGE, MEMFAB_PAGE(12) | MEMFAB_POPULATE), user, word = 0;
	unsigned int refused = 0, n = 0;
	struct memfab_sqe *s;
	int64_t res;

	for (unsigned int i = 0; i < MANY; i++) {
		memfab_prep_rread(rig_sqe(q), s0, ptr + (uint64_t)i * PAGE, &word, 8);
		memfab_prep_rfree(rig_sqe(q), s0, ptr + (uint64_t)i * PAGE, PAGE);
		s = rig_sqe(q);
		memfab_prep_rread(s, s0, ptr + (uint64_t)i * PAGE + 8, &word, 8);
		s->user_data = 1;
	}
	for (unsigned int i = MANY; i < 2 * MANY; i++)
		memfab_prep_rread(rig_sqe(q), s0, ptr + (uint64_t)i * PAGE, &word, 8);
	memfab_prep_rfree(rig_sqe(q), s0, ptr + (uint64_t)MANY * PAGE, (uint64_t)MANY * PAGE);
	for (unsigned int i = MANY; i < 2 * MANY; i++) {
		s = rig_sqe(q);
		memfab_prep_rread(s, s0, ptr + (uint64_t)i * PAGE, &word, 8);
		s->user_data = 1;
	}
	memfab_submit(q);
	for (; (res = memfab_rpoll(q, &user)) != -ENOENT; n++) {
		cr_assert_eq(res == -EACCES, user == 1, "%u: %ld", n, (long)res);
		refused += res == -EACCES;
	}
	cr_expect_eq(n, 5 * MANY + 1);
	cr_expect_eq(refused, 2 * MANY);
	cr_expect_eq(word, 0);
	memfab_queue_free(q);
}

Test(client_space, locks_name_who_has_them)
{
	uint64_t ptr = alloc(s0, PAGE, 0);
	struct memfab_queue *also = rig_queue("cn0", 4);

	cr_expect_eq(memfab_rlock(c0, s0, ptr, 0), 0);
	cr_expect_eq(memfab_rlock(c0, s0, ptr, 0), -EDEADLK);
	cr_expect_eq(memfab_rlock(also, s0, ptr, 1000), -ETIMEDOUT);
	cr_expect_eq(memfab_runlock(also, s0, ptr), -EPERM);
	cr_expect_eq(word_at(c0, s0, ptr) >> 48, (uint64_t)memfab_node(rig, "cn0") + 1);
	cr_expect_eq(memfab_runlock(c0, s0, ptr), 0);
	cr_expect_eq(memfab_rlock(also, s0, ptr, -1), 0);
	cr_expect_eq(memfab_runlock(also, s0, ptr), 0);
	memfab_queue_free(also);
}

static void expect_usage(int node, uint64_t pages, uint64_t octets, uint64_t entries, uint64_t ranges)
{
	struct memfab_usage u;

	cr_assert_eq(memfab_rusage(c0, s0, node, &u), 0);
	cr_expect(u.pages == pages && u.octets == octets && u.entries == entries && u.ranges == ranges,
		  "node %d: %lu pages, %lu octets, %lu entries, %lu ranges", node, u.pages, u.octets,
		  u.entries, u.ranges);
}

Test(client_space, what_a_space_has)
{
	uint64_t ptr = alloc(s0, 4 * PAGE, MEMFAB_AT(mn0) | MEMFAB_PAGE(12));
	uint64_t large = alloc(s0, LARGE, MEMFAB_AT(mn1) | MEMFAB_PAGE(16) | MEMFAB_POPULATE);
	struct memfab_usage u = {.pages = 77};
	struct memfab_space *s1;
	struct memfab_token t;

	put(c0, s0, ptr + PAGE, 1);
	expect_usage(mn0, 1, PAGE, 4, 1);
	expect_usage(mn1, 1, LARGE, 1, 1);
	expect_usage(-1, 2, PAGE + LARGE, 5, 2);
	cr_expect_eq(memfab_rprotect(c0, s0, ptr, PAGE, MEMFAB_RIGHTS_READ), 0);
	expect_usage(mn0, 1, PAGE, 4, 2);
	cr_expect_eq(memfab_rusage(c0, s0, memfab_node(rig, "cn1"), &u), -EACCES);
	memfab_space_token(s0, &t);
	cr_expect_eq(memfab_space_grant(c0, s0, memfab_node(rig, "cn1"), MEMFAB_RIGHTS_READ), 0);
	cr_assert_eq(memfab_space_join(c1, &t, &s1), 0);
	cr_expect_eq(memfab_rusage(c1, s1, -1, &u), 0);
	cr_expect(u.pages == 2 && u.allocated == 4 * PAGE + LARGE);
	cr_expect_eq(memfab_space_grant(c0, s0, memfab_node(rig, "cn1"), MEMFAB_RIGHTS_NONE), 0);
	cr_expect_eq(memfab_rusage(c1, s1, mn0, &u), -EACCES);
	cr_expect_eq(memfab_space_end(c1, s1), 0);
	cr_expect_eq(memfab_rfree(c0, s0, ptr, 4 * PAGE), 0);
	cr_expect_eq(memfab_rfree(c0, s0, large, LARGE), 0);
	expect_usage(-1, 0, 0, 0, 0);
}

/** As many spaces as the node has, and again. */
Test(client_space, as_many_spaces_as_there_are)
{
	static struct memfab_space *s[256];
	unsigned int n = 0;
	int rc = 0;

	while (n < 256 && (rc = memfab_space_new(c0, &mn0, 1, &s[n])) == 0)
		n++;
	cr_expect_eq(n, 199, "200 with s0: %u", n);
	cr_expect_eq(rc, -ENOBUFS);
	cr_expect_eq(memfab_space_end(c0, s[--n]), 0);
	cr_expect_eq(memfab_space_new(c0, &mn0, 1, &s[n]), 0);
	for (n++; n > 0;)
		cr_expect_eq(memfab_space_end(c0, s[--n]), 0);
}

/* ---- calls ---- */

/** Write and call are under way together: one round trip, and the call finds what was written. */
Test(client_space, a_call_answers_with_what_was_written_before_it)
{
	uint64_t ptr = alloc(s0, 2 * PAGE, 0), user = 0;
	uint8_t out[600], in[600];
	struct memfab_sqe *e;
	struct mf_rng rng;

	mf_rng_init(&rng, 3, "call", 0);
	for (unsigned int i = 0; i < 50; i++) {
		uint64_t len = 1 + mf_rng_below(&rng, sizeof(out)),
			 at = ptr + mf_rng_below(&rng, 2 * PAGE - len);
		enum memfab_call call = i % 3 == 0 ? MEMFAB_ECHO_FENCED : MEMFAB_ECHO;

		rig_fill(&rng, out, sizeof(out));
		memset(in, 0xff, sizeof(in));
		e = memfab_get_sqe(c0);
		memfab_prep_rwrite(e, s0, at, out, len);
		e->user_data = 1;
		e = memfab_get_sqe(c0);
		memfab_prep_rcall(e, s0, call, at, len, in, sizeof(in));
		e->user_data = 2;
		memfab_submit(c0);
		for (unsigned int k = 0; k < 2; k++) {
			int64_t res = memfab_rpoll(c0, &user);

			cr_assert_eq(res, (int64_t)len, "%lu: %ld", user, res);
		}
		cr_assert_arr_eq(in, out, len);
		for (uint64_t k = len; k < sizeof(in); k++)
			cr_assert_eq(in[k], 0, "zeros behind the answer");
	}
}

Test(client_space, a_call_by_itself)
{
	uint64_t ptr = alloc(s0, PAGE, 0), word = UINT64_C(0x1122334455667788), found = 0;

	cr_expect_eq(memfab_rcall(c0, s0, MEMFAB_ECHO, ptr, 8, &found, 8), 8, "the page is new");
	cr_expect_eq(found, 0);
	put(c0, s0, ptr, word);
	cr_expect_eq(memfab_rcall(c0, s0, MEMFAB_ECHO, ptr, 8, &found, 8), 8);
	cr_expect_eq(found, word);
	cr_expect_eq(memfab_rcall(c0, s0, MEMFAB_ECHO_FENCED, ptr + 1, 3, &found, 8), 3);
	cr_expect_eq(found, word >> 8 & 0xffffff, "zeros behind it");
}

Test(client_space, what_is_no_call)
{
	uint64_t ptr = alloc(s0, PAGE, 0);
	static uint8_t out[1 << 16];
	struct memfab_sqe *e;

	cr_expect_eq(memfab_rcall(c0, s0, (enum memfab_call)2, ptr, 8, out, 8), -EOPNOTSUPP, "no such call");
	cr_expect_eq(memfab_rcall(c0, s0, (enum memfab_call)256, ptr, 8, out, 8), -EOPNOTSUPP, "nor this");
	cr_expect_eq(memfab_rcall(c0, s0, (enum memfab_call)(-1), ptr, 8, out, 8), -EOPNOTSUPP, "nor this");
	cr_expect_eq(memfab_rcall(c0, s0, MEMFAB_ECHO, ptr, 8, out, 0), -EINVAL, "no room");
	cr_expect_eq(memfab_rcall(c0, s0, MEMFAB_ECHO, ptr, 8, NULL, 8), -EINVAL, "no buffer");
	cr_expect_eq(memfab_rcall(c0, s0, MEMFAB_ECHO, ptr, 8, out, 4081), -EINVAL, "more than the limit");
	cr_expect_eq(memfab_rcall(c0, s0, MEMFAB_ECHO, ptr, 8, out, 4080), 8, "the limit");
	cr_expect_eq(memfab_rcall(c0, s0, MEMFAB_ECHO, ptr, 0, out, 8), -ERANGE, "no arguments");
	cr_expect_eq(memfab_rcall(c0, s0, MEMFAB_ECHO, ptr, 9, out, 8), -ERANGE, "more than its answer");
	cr_expect_eq(memfab_rcall(c0, s0, MEMFAB_ECHO, ptr, UINT64_MAX, out, 8), -ERANGE,
		     "more than there is");
	cr_expect_eq(memfab_rcall(c0, s0, MEMFAB_ECHO, ptr + PAGE - 4, 8, out, 8), -EACCES,
		     "beyond its page");
	cr_expect_eq(memfab_rcall(c0, s0, MEMFAB_ECHO, 8, 8, out, 8), -EACCES, "no pointer");
	cr_expect_eq(memfab_rcall(c1, s0, MEMFAB_ECHO, ptr, 8, out, 8), -EACCES,
		     "of a node that did not join");
	e = memfab_get_sqe(c0);
	memfab_prep(e, MEMFAB_CALL, mn0, 0, out, 8);
	memfab_submit(c0);
	cr_expect_eq(memfab_rpoll(c0, NULL), -EOPNOTSUPP, "of no space");
	e = memfab_get_sqe(c0);
	memfab_prep_rcall(e, s0, MEMFAB_ECHO, ptr, 8, out, 8);
	e->iovs = 1;
	memfab_submit(c0);
	cr_expect_eq(memfab_rpoll(c0, NULL), -EINVAL, "an answer has one buffer");
}

/** A node that may only read calls; one whose right was taken does not. */
Test(client_space, a_call_needs_the_right_to_read)
{
	uint64_t ptr = alloc(s0, PAGE, 0), found = 0;
	struct memfab_space *s1;
	struct memfab_token t;

	put(c0, s0, ptr, 5);
	cr_assert_eq(memfab_space_grant(c0, s0, memfab_node(rig, "cn1"), MEMFAB_RIGHTS_READ), 0);
	memfab_space_token(s0, &t);
	cr_assert_eq(memfab_space_join(c1, &t, &s1), 0);
	cr_expect_eq(memfab_rcall(c1, s1, MEMFAB_ECHO, ptr, 8, &found, 8), 8);
	cr_expect_eq(found, 5);
	cr_expect_eq(memfab_rcall(c1, s1, MEMFAB_ECHO_FENCED, ptr, 8, &found, 8), 8);
	cr_assert_eq(memfab_space_grant(c0, s0, memfab_node(rig, "cn1"), MEMFAB_RIGHTS_NONE), 0);
	cr_expect_eq(memfab_rcall(c1, s1, MEMFAB_ECHO, ptr, 8, &found, 8), -EACCES);
	cr_expect_eq(memfab_rcall(c1, s1, MEMFAB_ECHO_FENCED, ptr, 8, &found, 8), -EACCES);
	cr_expect_eq(memfab_rcall(c0, s0, MEMFAB_ECHO_FENCED, ptr, 8, &found, 8), 8,
		     "the maker has new keys");
	cr_expect_eq(memfab_space_end(c1, s1), 0);
}
