/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random operations, many under way, against a model: the order in a pair is that of submission, so each one
 * must find exactly what those before it in its queue have left. Two queues have a memory node each.
 */
#include <stdio.h>

#include "rig.h"

#define MEMORY 4096 /* a small part: operations meet */
#define DEPTH 32
#define LEN_MAX 700

struct task {
	bool busy;
	uint8_t op;
	uint8_t buf[LEN_MAX], expected[LEN_MAX];
	struct iovec iov[4];
	uint64_t len, old;
	int64_t res;
};

struct side {
	struct memfab_queue *q;
	int node;
	uint8_t model[MEMORY];
	struct task task[DEPTH];
	bool broken; /* the one before is linked, and will fail */
	unsigned int under_way;
};

TestSuite(client_random, .init = rig_init, .fini = rig_fini);

static void model_atomic(struct side *s, struct task *t, struct memfab_sqe *sqe, struct mf_rng *rng)
{
	uint64_t addr = mf_rng_below(rng, MEMORY / 8) * 8, arg = mf_rng_next(rng), now;

	memcpy(&t->old, s->model + addr, 8);
	now = t->old;
	if (t->op == MEMFAB_CAS) {
		uint64_t expected = mf_rng_below(rng, 2) ? now : now + 1;

		memfab_prep_cas(sqe, s->node, addr, expected, arg);
		now = expected == now ? arg : now;
	} else {
		memfab_prep_atomic(sqe, (enum memfab_op)t->op, s->node, addr, arg);
		now = t->op == MEMFAB_FETCH_ADD  ? now + arg
		      : t->op == MEMFAB_SWAP     ? arg
		      : t->op == MEMFAB_FETCH_OR ? now | arg
						 : now & arg;
	}
	t->res = 0;
	if (!s->broken)
		memcpy(s->model + addr, &now, 8);
}

static void model_transfer(struct side *s, struct task *t, struct memfab_sqe *sqe, struct mf_rng *rng)
{
	uint64_t addr, at = 0;
	unsigned int parts = (unsigned int)mf_rng_below(rng, 4);

	t->len = 1 + mf_rng_below(rng, LEN_MAX);
	addr = mf_rng_below(rng, MEMORY - t->len + 1);
	t->res = (int64_t)t->len;
	if (t->op != MEMFAB_READ)
		rig_fill(rng, t->buf, t->len);
	for (unsigned int i = 0; i < parts; i++) {
		t->iov[i].iov_base = t->buf + at;
		t->iov[i].iov_len = i + 1 < parts ? mf_rng_below(rng, t->len - at + 1) : t->len - at;
		at += t->iov[i].iov_len;
	}
	if (parts > 0)
		memfab_prep_vector(sqe, (enum memfab_op)t->op, s->node, addr, t->iov, parts);
	else
		memfab_prep(sqe, (enum memfab_op)t->op, s->node, addr, t->buf, t->len);
	memcpy(t->expected, s->model + addr, t->len);
	if (t->op != MEMFAB_READ && !s->broken)
		memcpy(s->model + addr, t->buf, t->len);
}

/** @return whether it will succeed */
static bool prepare(struct side *s, struct task *t, struct memfab_sqe *sqe, struct mf_rng *rng)
{
	t->op = (uint8_t)mf_rng_below(rng, MEMFAB_FETCH_AND + 1);
	t->res = 0;
	if (mf_rng_below(rng, 20) == 0) { /* refused */
		t->op = MEMFAB_NOP;
		memfab_prep_write(sqe, s->node, RIG_MEMORY, t->buf, 8);
		t->res = -ERANGE;
	} else if (t->op >= MEMFAB_CAS) {
		model_atomic(s, t, sqe, rng);
	} else if (t->op != MEMFAB_NOP) {
		model_transfer(s, t, sqe, rng);
	}
	if (s->broken)
		t->res = -ECANCELED;
	return t->res >= 0;
}

static bool push(struct side *s, struct mf_rng *rng)
{
	struct memfab_sqe *sqe;
	struct task *t = s->task;
	bool good;

	if (s->under_way == DEPTH || (sqe = memfab_get_sqe(s->q)) == NULL)
		return false;
	while (t->busy)
		t++;
	good = prepare(s, t, sqe, rng);
	t->busy = true;
	sqe->user_data = (uintptr_t)t;
	sqe->flags = (uint8_t)(mf_rng_below(rng, 6) == 0 ? MEMFAB_FENCE : 0);
	sqe->flags |= (uint8_t)(mf_rng_below(rng, 4) == 0 ? MEMFAB_LINK : 0);
	s->broken = !good && (sqe->flags & MEMFAB_LINK);
	s->under_way++;
	return true;
}

static void check(struct side *s, const struct memfab_cqe *c)
{
	struct task *t = (struct task *)(uintptr_t)c->user_data;

	cr_assert(t >= s->task && t < s->task + DEPTH && t->busy);
	cr_assert_eq(c->res, t->res, "op %u: %lld instead of %lld", t->op, (long long)c->res,
		     (long long)t->res);
	if (c->res >= 0 && t->op == MEMFAB_READ)
		cr_assert_arr_eq(t->buf, t->expected, t->len);
	if (c->res >= 0 && t->op >= MEMFAB_CAS)
		cr_assert_eq(c->old, t->old);
	t->busy = false;
	s->under_way--;
}

static void take(struct side *s, struct mf_rng *rng)
{
	const struct memfab_cqe *c[8];
	unsigned int n = memfab_peek_batch_cqe(s->q, c, 1 + (unsigned int)mf_rng_below(rng, 8));

	for (unsigned int i = 0; i < n; i++)
		check(s, c[i]);
	memfab_cq_advance(s->q, n);
}

static void sequence(uint64_t seed)
{
	struct side *side[2] = {calloc(1, sizeof(struct side)), calloc(1, sizeof(struct side))};
	static const uint8_t zero[MEMORY];
	struct mf_rng rng;

	mf_rng_init(&rng, seed, "sequence", 0);
	for (unsigned int i = 0; i < 2; i++) {
		side[i]->q = rig_queue(mf_rng_below(&rng, 2) ? "cn0" : "cn1",
				       1 + (unsigned int)mf_rng_below(&rng, DEPTH));
		side[i]->node = i == 0 ? mn0 : mn1;
		cr_assert_eq(memfab_write_ack(side[i]->q, side[i]->node, 0, zero, MEMORY), 0);
	}
	for (unsigned int i = 0; i < 3000; i++) {
		struct side *s = side[mf_rng_below(&rng, 2)];

		if (mf_rng_below(&rng, 2) == 0)
			push(s, &rng);
		else if (mf_rng_below(&rng, 3) == 0)
			memfab_submit(s->q);
		else
			take(s, &rng);
	}
	for (unsigned int i = 0; i < 2; i++) {
		memfab_submit(side[i]->q);
		cr_assert_eq(memfab_outstanding(side[i]->q), side[i]->under_way);
		while (side[i]->under_way > 0)
			take(side[i], &rng);
		memfab_queue_free(side[i]->q);
		free(side[i]);
	}
}

Test(client_random, against_a_model)
{
	for (uint64_t seed = 1; seed <= 30; seed++) {
		fprintf(stderr, "# seed %d\n", (int)seed);
		sequence(seed);
	}
}
