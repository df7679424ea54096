/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues: slots, batches, waiting, fences and links, and what is left when one is freed. */
#include "rig.h"

TestSuite(client_queue, .init = rig_init, .fini = rig_fini);

Test(client_queue, as_many_as_there_are_slots)
{
	static const unsigned int entries[][2] = {{1, 1}, {2, 2}, {3, 4}, {64, 64}, {65, 128}, {4096, 4096}};
	struct memfab_queue *q;

	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		unsigned int n = 0;

		q = rig_queue("cn0", entries[i][0]);
		for (struct memfab_sqe *s; (s = memfab_get_sqe(q)) != NULL; n++)
			s->user_data = n;
		cr_assert_eq(n, entries[i][1]);
		cr_assert_eq(memfab_outstanding(q), 0, "prepared is not under way");
		cr_assert_eq(memfab_submit(q), n);
		cr_assert_eq(memfab_submit(q), 0);
		cr_assert_eq(memfab_outstanding(q), n);
		cr_assert_eq(memfab_wait_cqe(q, n, -1), 0);
		cr_assert_null(memfab_get_sqe(q), "a completion that waits has its slot");
		for (unsigned int k = 0; k < n; k++)
			cr_assert_eq(rig_take(q).user_data, k);
		cr_assert_eq(memfab_outstanding(q), 0);
		cr_assert_null(memfab_peek_cqe(q));
		memfab_queue_free(q);
	}
	cr_assert_eq(memfab_queue_new(rig, "cn0", 0, &q, rig_err, sizeof(rig_err)), -EINVAL);
	cr_assert_eq(memfab_queue_new(rig, "cn0", 4097, &q, rig_err, sizeof(rig_err)), -EINVAL);
}

/** Slots are all 0, whatever was in them; rings wrap; completions come once each. */
Test(client_queue, wraps)
{
	const struct memfab_cqe *c[3];
	struct memfab_queue *q = rig_queue("cn1", 3);
	static const struct memfab_sqe zero;
	uint64_t word[4], sent = 0, seen = 0;

	while (seen < 5000) {
		struct memfab_sqe *s;
		unsigned int n;

		while (sent < 5000 && (s = memfab_get_sqe(q)) != NULL) {
			cr_assert_arr_eq(s, &zero, sizeof(zero));
			memfab_prep_atomic(s, MEMFAB_FETCH_ADD, mn0, 8, 1);
			s->user_data = sent++;
		}
		memfab_submit(q);
		n = memfab_peek_batch_cqe(q, c, 3);
		for (unsigned int i = 0; i < n; i++, seen++) {
			cr_assert_eq(c[i]->res, 0);
			cr_assert_eq(c[i]->user_data, seen);
			cr_assert_eq(c[i]->old, seen, "a pair keeps its order");
		}
		memfab_cq_advance(q, n);
	}
	memfab_cq_advance(q, 7);
	cr_assert_eq(memfab_outstanding(q), 0, "nothing can be taken that is not there");
	cr_assert_eq(memfab_read(q, mn0, 8, word, 8), 0);
	cr_assert_eq(word[0], 5000);
	memfab_queue_free(q);
}

Test(client_queue, waiting)
{
	struct memfab_queue *q = rig_queue("cn0", 4);
	uint8_t *buf = malloc(1 << 20);

	cr_assert_eq(memfab_wait_cqe(q, 0, 0), 0);
	cr_assert_eq(memfab_wait_cqe(q, 1, -1), -ENOENT);
	memfab_prep_read(rig_sqe(q), mn0, 0, buf, 1 << 20);
	cr_assert_eq(memfab_wait_cqe(q, 1, -1), -ENOENT, "prepared only");
	memfab_submit(q);
	cr_assert_eq(memfab_wait_cqe(q, 2, -1), -ENOENT);
	cr_assert_eq(memfab_wait_cqe(q, 1, 0), -ETIMEDOUT, "a turn is not enough");
	cr_assert_eq(memfab_wait_cqe(q, 1, INT64_MAX), 0);
	cr_assert_eq(memfab_wait_cqe(q, 1, 0), 0);
	cr_assert_eq(memfab_read(q, mn0, 0, buf, 8), -EBUSY);
	memfab_cq_advance(q, 1);
	cr_assert_eq(memfab_read(q, mn0, 0, buf, 8), 0);
	rig_sqe(q);
	cr_assert_eq(memfab_write(q, mn0, 0, buf, 8), -EBUSY, "something is prepared");
	memfab_queue_free(q);
	free(buf);
}

/** A fence completes behind all before it; without one a short operation passes a long one. */
Test(client_queue, fence)
{
	enum { LONG = 1 << 20 };
	uint8_t *buf = malloc(LONG);

	for (unsigned int fence = 0; fence < 2; fence++) {
		struct memfab_queue *q = rig_queue("cn0", 8);
		uint64_t word;
		struct memfab_sqe *s;

		memfab_prep_read(rig_sqe(q), mn0, 0, buf, LONG);
		s = rig_sqe(q);
		memfab_prep_read(s, mn1, 0, &word, 8);
		s->user_data = 1;
		s->flags = fence ? MEMFAB_FENCE : 0;
		s = rig_sqe(q);
		s->user_data = 2;
		memfab_submit(q);
		cr_assert_eq(rig_take(q).user_data, fence ? 0 : 2);
		cr_assert_eq(rig_take(q).user_data, fence ? 2 : 1);
		cr_assert_eq(rig_take(q).user_data, fence ? 1 : 0);
		memfab_queue_free(q);
	}
	free(buf);
}

static void chain(struct memfab_queue *q, uint64_t addr, bool link, void *buf)
{
	struct memfab_sqe *s = rig_sqe(q);

	memfab_prep_write_ack(s, mn0, addr, buf, 8);
	s->flags = link ? MEMFAB_LINK : 0;
	s->user_data = addr;
}

Test(client_queue, links)
{
	struct memfab_queue *q = rig_queue("cn0", 16);
	uint64_t word = 42, is;
	static const int64_t res[] = {8, -ERANGE, -ECANCELED, -ECANCELED, 8, 8};

	chain(q, 0, true, &word);
	chain(q, RIG_MEMORY, true, &word);
	chain(q, 16, true, &word);
	chain(q, 24, false, &word);
	chain(q, 32, false, &word); /* not of the chain */
	chain(q, 40, true, &word);
	memfab_submit(q);
	for (size_t i = 0; i < sizeof(res) / sizeof(res[0]); i++)
		cr_assert_eq(rig_take(q).res, res[i], "%zu", i);
	for (uint64_t addr = 0; addr < 48; addr += 8) {
		bool begun = addr == 0 || addr == 32 || addr == 40;

		cr_assert_eq(memfab_read(q, mn0, addr, &is, 8), 0);
		cr_assert_eq(is, begun ? 42 : 0, "%d", (int)addr);
	}
	/* The chain goes on with what is submitted next, whenever that is. */
	chain(q, RIG_MEMORY, true, &word);
	cr_assert_eq(rig_do(q), -ERANGE);
	cr_assert_eq(memfab_read(q, mn0, 0, &is, 8), -ECANCELED);
	cr_assert_eq(memfab_read(q, mn0, 0, &is, 8), 0);
	memfab_queue_free(q);
}

/** The next one begins when this one has succeeded: also at another node, where nothing keeps an order. */
Test(client_queue, link_is_order)
{
	struct memfab_queue *q = rig_queue("cn0", 4);
	uint8_t *buf = calloc(1, 1 << 20);
	struct memfab_sqe *s;

	for (unsigned int i = 0; i < 3; i++) {
		s = rig_sqe(q);
		memfab_prep_read(s, i == 0 ? mn0 : mn1, 0, buf, i == 0 ? 1 << 20 : 8);
		s->flags = i == 0 ? MEMFAB_LINK : 0;
		s->user_data = i;
	}
	memfab_submit(q);
	for (unsigned int i = 0; i < 3; i++)
		cr_assert_eq(rig_take(q).user_data, i);
	memfab_queue_free(q);
	free(buf);
}

/** In whatever state: no operation touches a buffer once the queue is gone, and others go on. */
Test(client_queue, freed_with_work)
{
	enum { LONG = 1 << 18 };
	struct memfab_queue *other = rig_queue("cn1", 4);
	uint8_t *buf = malloc(LONG);
	uint64_t word;

	for (unsigned int turns = 0; turns < 40; turns++) {
		struct memfab_queue *q = rig_queue("cn1", 16);
		struct iovec iov[8];

		for (unsigned int i = 0; i < 8; i++)
			iov[i] = (struct iovec){buf + i * (LONG / 8), LONG / 8};
		for (unsigned int i = 0; i < 12; i++) {
			struct memfab_sqe *s = rig_sqe(q);

			memfab_prep_vector(s, MEMFAB_READ, i % 2 ? mn0 : mn1, 0, iov, 8);
			s->flags = turns % 5 == 4 ? MEMFAB_FENCE : turns % 5 == 3 ? MEMFAB_LINK : 0;
		}
		if (turns % 7 != 6)
			memfab_submit(q);
		for (unsigned int i = 0; i < turns; i++)
			memfab_peek_cqe(q);
		memfab_queue_free(q);
		memset(buf, (int)turns, LONG);
		for (unsigned int i = 0; i < 20; i++)
			cr_assert_eq(memfab_read(other, i % 2 ? mn0 : mn1, 0, &word, 8), 0);
		for (unsigned int i = 0; i < LONG; i++)
			cr_assert_eq(buf[i], turns);
	}
	memfab_queue_free(other);
	memfab_queue_free(NULL);
	free(buf);
}
