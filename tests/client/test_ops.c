/* SPDX-License-Identifier: BSD-3-Clause */
/* Each operation by itself: what it does to memory and buffers, its result, and all that is refused. */
#include "rig.h"

#define MIB (UINT64_C(1) << 20)
#define GUARD 64

TestSuite(client_ops, .init = rig_init, .fini = rig_fini);

/** What is written is read, and nothing beside it. */
static void there_and_back(struct memfab_queue *q, struct mf_rng *rng, uint64_t addr, uint64_t len, bool ack)
{
	uint8_t *out = malloc(len), *in = malloc(len + 2 * GUARD), guard[GUARD], *at = in + GUARD;

	rig_fill(rng, out, len);
	memset(guard, 0xa5, GUARD);
	memset(in, 0xa5, len + 2 * GUARD);
	cr_assert_eq(ack ? memfab_write_ack(q, mn0, addr, out, len) : memfab_write(q, mn0, addr, out, len),
		     0);
	cr_assert_eq(memfab_read(q, mn0, addr, at, len), 0);
	cr_assert_arr_eq(at, out, len);
	cr_assert_arr_eq(in, guard, GUARD);
	cr_assert_arr_eq(at + len, guard, GUARD);
	free(out);
	free(in);
}

Test(client_ops, sizes)
{
	static const uint64_t size[] = {1,     2,     7,     8,      9,       63,      64,
					65,    255,   256,   1500,   4095,    4096,    4097,
					65535, 65536, 65537, 131072, 1000003, MIB - 1, MIB};
	struct memfab_queue *q = rig_queue(NULL, 1);
	struct mf_rng rng;

	mf_rng_init(&rng, 1, "sizes", 0);
	for (size_t i = 0; i < sizeof(size) / sizeof(size[0]); i++) {
		there_and_back(q, &rng, mf_rng_below(&rng, 4096), size[i], i % 2 == 0);
		there_and_back(q, &rng, RIG_MEMORY - size[i], size[i], i % 2 != 0);
	}
	memfab_queue_free(q);
}

Test(client_ops, results_are_octets_and_own_data)
{
	struct memfab_queue *q = rig_queue("cn0", 4);
	uint8_t buf[100] = {1};
	struct memfab_cqe c;

	memfab_prep_write(rig_sqe(q), mn0, 0, buf, sizeof(buf));
	cr_assert_eq(rig_do(q), 100);
	struct memfab_sqe *s = rig_sqe(q);
	memfab_prep_read(s, mn0, 0, buf, 33);
	s->user_data = 0x123456789abcdef0;
	memfab_submit(q);
	c = rig_take(q);
	cr_assert_eq(c.res, 33);
	cr_assert_eq(c.user_data, 0x123456789abcdef0);
	memfab_prep(rig_sqe(q), MEMFAB_NOP, 0, 0, NULL, 0);
	cr_assert_eq(rig_do(q), 0);
	memfab_queue_free(q);
}

/** What an atomic leaves. */
static uint64_t after(enum memfab_op op, uint64_t old, uint64_t arg)
{
	switch (op) {
	case MEMFAB_FETCH_ADD:
		return old + arg;
	case MEMFAB_SWAP:
		return arg;
	case MEMFAB_FETCH_OR:
		return old | arg;
	default:
		return old & arg;
	}
}

Test(client_ops, atomics)
{
	struct memfab_queue *q = rig_queue("cn1", 1);
	uint64_t addr = 4096, value = 0, old, now;
	struct mf_rng rng;

	mf_rng_init(&rng, 2, "atomics", 0);
	for (unsigned int i = 0; i < 400; i++) {
		enum memfab_op op = (enum memfab_op)(MEMFAB_FETCH_ADD + i % 4);
		uint64_t arg = mf_rng_next(&rng);

		cr_assert_eq(memfab_atomic(q, op, mn1, addr, arg, &old), 0);
		cr_assert_eq(old, value);
		value = after(op, value, arg);
		cr_assert_eq(memfab_cas(q, mn1, addr, value ^ 1, arg, &old), 0);
		cr_assert_eq(old, value, "a comparison that fails changes nothing");
		cr_assert_eq(memfab_cas(q, mn1, addr, value, arg, &old), 0);
		cr_assert_eq(old, value);
		value = arg;
		cr_assert_eq(memfab_read(q, mn1, addr, &now, 8), 0);
		cr_assert_eq(now, value);
	}
	cr_assert_eq(memfab_cas(q, mn1, addr, value, 0, NULL), 0);
	cr_assert_eq(memfab_atomic(q, MEMFAB_READ, mn1, addr, 0, NULL), -EOPNOTSUPP);
	cr_assert_eq(memfab_atomic(q, MEMFAB_CAS, mn1, addr, 0, NULL), -EOPNOTSUPP);
	memfab_queue_free(q);
}

Test(client_ops, misuse)
{
	struct memfab_queue *q = rig_queue("cn0", 8);
	uint8_t byte = 0, *buf = malloc(MIB);
	const struct {
		struct memfab_sqe s;
		int64_t res;
	} bad[] = {
		{{.op = MEMFAB_READ, .node = (uint16_t)mn0, .buf = &byte, .len = 0}, -EINVAL},
		{{.op = MEMFAB_READ, .node = (uint16_t)mn0, .buf = NULL, .len = 1}, -EINVAL},
		{{.op = MEMFAB_WRITE, .node = (uint16_t)mn0, .buf = NULL, .len = 1}, -EINVAL},
		{{.op = MEMFAB_READ, .node = (uint16_t)memfab_node(rig, "cn0"), .buf = buf, .len = 1},
		 -EINVAL},
		{{.op = MEMFAB_READ, .node = (uint16_t)memfab_node(rig, "cn1"), .buf = buf, .len = 1},
		 -EINVAL},
		{{.op = MEMFAB_READ, .node = (uint16_t)-ENOENT, .buf = buf, .len = 1}, -EINVAL},
		{{.op = MEMFAB_READ, .node = 511, .buf = buf, .len = 1}, -EINVAL},
		{{.op = MEMFAB_READ, .node = 512, .buf = buf, .len = 1}, -EINVAL},
		{{.op = MEMFAB_READ, .node = (uint16_t)mn0, .addr = UINT64_C(1) << 48, .buf = buf, .len = 1},
		 -EINVAL},
		{{.op = MEMFAB_READ, .node = (uint16_t)mn0, .addr = UINT64_MAX, .buf = buf, .len = 2},
		 -EINVAL},
		{{.op = MEMFAB_READ, .node = (uint16_t)mn0, .addr = RIG_MEMORY, .buf = buf, .len = 1},
		 -ERANGE},
		{{.op = MEMFAB_WRITE, .node = (uint16_t)mn0, .addr = RIG_MEMORY - 1, .buf = buf, .len = 2},
		 -ERANGE},
		{{.op = MEMFAB_WRITE_ACK,
		  .node = (uint16_t)mn0,
		  .addr = RIG_MEMORY - 1,
		  .buf = buf,
		  .len = 2},
		 -ERANGE},
		{{.op = MEMFAB_READ, .node = (uint16_t)mn0, .addr = 1, .buf = buf, .len = RIG_MEMORY},
		 -ERANGE},
		{{.op = MEMFAB_READ, .node = (uint16_t)mn0, .addr = 1, .buf = buf, .len = UINT64_MAX},
		 -ERANGE},
		{{.op = MEMFAB_CAS, .node = (uint16_t)mn0, .addr = 4}, -EFAULT},
		{{.op = MEMFAB_SWAP, .node = (uint16_t)mn0, .addr = RIG_MEMORY - 7}, -ERANGE},
		{{.op = MEMFAB_SWAP, .node = (uint16_t)mn0, .addr = RIG_MEMORY}, -ERANGE},
		{{.op = MEMFAB_SHARE + 1, .node = (uint16_t)mn0, .buf = buf, .len = 8}, -EOPNOTSUPP},
		{{.op = 255, .node = (uint16_t)mn0, .buf = buf, .len = 8}, -EOPNOTSUPP},
		{{.op = MEMFAB_NOP, .flags = 4}, -EINVAL},
		{{.op = MEMFAB_READ, .flags = 0x80, .node = (uint16_t)mn0, .buf = buf, .len = 8}, -EINVAL},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int64_t res;

		*rig_sqe(q) = bad[i].s;
		res = rig_do(q);
		cr_assert_eq(res, bad[i].res, "%zu: %lld instead of %lld", i, (long long)res,
			     (long long)bad[i].res);
	}
	cr_assert_eq(memfab_read(q, mn0, 0, buf, 64), 0, "it goes on");
	cr_assert_eq(memfab_read(q, -ENOENT, 0, buf, 64), -EINVAL);
	cr_assert_eq(memfab_read(q, 0x10000 + mn0, 0, buf, 64), -EINVAL, "not the node of its lower bits");
	memfab_queue_free(q);
	free(buf);
}

/** Cuts a buffer at random, with empty pieces among them. @return number of pieces */
static unsigned int cut(struct mf_rng *rng, uint8_t *buf, size_t len, struct iovec *iov, unsigned int most)
{
	unsigned int n = 0;

	while (n + 1 < most && len > 0 && mf_rng_below(rng, 8) != 0) {
		size_t piece = mf_rng_below(rng, 4) == 0 ? 0 : mf_rng_below(rng, len + 1);

		iov[n++] = (struct iovec){buf, piece};
		buf += piece;
		len -= piece;
	}
	iov[n++] = (struct iovec){buf, len};
	return n;
}

Test(client_ops, vectors)
{
	/* The host of cn1 has room for four operations: vectors are longer. */
	static const char *const node[] = {"cn0", "cn1"};
	enum { LEN = 150000, MOST = 40 };
	uint8_t *out = malloc(LEN), *in = malloc(LEN);
	struct iovec iov[2][MOST];
	struct mf_rng rng;

	mf_rng_init(&rng, 3, "vectors", 0);
	for (unsigned int i = 0; i < 60; i++) {
		struct memfab_queue *q = rig_queue(node[i % 2], 4);
		size_t len = 1 + mf_rng_below(&rng, i % 4 == 0 ? LEN : 600);
		unsigned int n[2] = {cut(&rng, out, len, iov[0], MOST), cut(&rng, in, len, iov[1], MOST)};

		rig_fill(&rng, out, len);
		memset(in, 0, len);
		memfab_prep_vector(rig_sqe(q), i % 3 == 0 ? MEMFAB_WRITE_ACK : MEMFAB_WRITE, mn1, i, iov[0],
				   n[0]);
		memfab_prep_vector(rig_sqe(q), MEMFAB_READ, mn1, i, iov[1], n[1]);
		cr_assert_eq(memfab_submit(q), 2);
		cr_assert_eq(rig_take(q).res, (int64_t)len);
		cr_assert_eq(rig_take(q).res, (int64_t)len);
		cr_assert_arr_eq(in, out, len);
		memfab_queue_free(q);
	}
	free(in);
	free(out);
}

Test(client_ops, bad_vectors)
{
	struct memfab_queue *q = rig_queue("cn0", 1);
	uint8_t buf[64];
	struct iovec none = {buf, 0}, missing[2] = {{buf, 8}, {NULL, 8}},
		     huge[2] = {{buf, 9}, {buf, SIZE_MAX}}, good[2] = {{buf, 32}, {NULL, 0}};
	struct memfab_sqe *s;

	memfab_prep_vector(rig_sqe(q), MEMFAB_READ, mn0, 0, &none, 1);
	cr_assert_eq(rig_do(q), -EINVAL, "nothing to do");
	memfab_prep_vector(rig_sqe(q), MEMFAB_READ, mn0, 0, missing, 2);
	cr_assert_eq(rig_do(q), -EINVAL, "a buffer that is not there");
	memfab_prep_vector(rig_sqe(q), MEMFAB_READ, mn0, 0, huge, 2);
	cr_assert_eq(rig_do(q), -EINVAL, "more than there are addresses");
	s = rig_sqe(q);
	memfab_prep_vector(s, MEMFAB_READ, mn0, 0, good, 2);
	s->len++;
	cr_assert_eq(rig_do(q), -EINVAL, "lengths that do not agree");
	memfab_prep_vector(rig_sqe(q), MEMFAB_READ, mn0, RIG_MEMORY - 31, good, 2);
	cr_assert_eq(rig_do(q), -ERANGE);
	memfab_prep_vector(rig_sqe(q), MEMFAB_READ, mn0, RIG_MEMORY - 32, good, 2);
	cr_assert_eq(rig_do(q), 32);
	memfab_queue_free(q);
}
