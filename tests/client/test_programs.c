/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random asynchronous programs on address spaces, at two nodes, against a model that does one thing after the
 * other. A program allocates, frees and protects while its reads, writes and atomics are under way; one space
 * is its own, one both programs have. Each must find what the operations before it in its queue have left,
 * and where a range has changed hands, what the other program has left. MF_LONG: 5,000 of them.
 */
#include <stdio.h>

#include "rig.h"

#define PROGRAMS 200
#define PROGRAMS_LONG 5000
#define STEPS 1500
#define DEPTH 24
#define RANGES 6 /* of a program */
#define PAGES_MAX 4
#define SHIFT 12
#define LARGE 16
#define RANGE_MAX ((uint64_t)PAGES_MAX << SHIFT)
#define LEN_MAX 9000 /* three pages and a bit */
#define COUNTERS 4

TestSuite(client_programs);

enum step { READ, WRITE, ATOMIC, COUNT, ALLOCATE, FREE, PROTECT, REFUSED_READ, REFUSED_WRITE };
enum range_state { NONE, COMING, THERE, GOING };

/** Pages that a program has. */
struct range {
	enum range_state state;
	unsigned int space; /* 0: of the program, 1: of both */
	uint64_t ptr, size;
	bool read_only;
	uint8_t *octets; /* of the model */
};

struct task {
	bool busy;
	enum step step;
	unsigned int range, counter;
	uint8_t buf[LEN_MAX], expected[LEN_MAX];
	uint64_t len, old;
	int64_t res;
};

struct program {
	struct memfab_queue *q;
	struct memfab_space *space[2];
	struct range range[RANGES];
	struct task task[DEPTH];
	unsigned int under_way, allocations, stale; /* the last two: under way in its own space */
	uint64_t counted[COUNTERS], last[COUNTERS];
	/* The last pages of its own space that were freed, and that nobody has allocated since. */
	uint64_t freed, freed_size;
};

static uint64_t counters; /* their address, in the space of both */
static unsigned long seen[REFUSED_WRITE + 1], swapped;

static struct range *some(struct program *p, struct mf_rng *rng, bool write)
{
	unsigned int first = (unsigned int)mf_rng_below(rng, RANGES);

	for (unsigned int i = 0; i < RANGES; i++) {
		struct range *r = &p->range[(first + i) % RANGES];

		if (r->state == THERE && (!write || !r->read_only))
			return r;
	}
	return NULL;
}

static void allocate(struct program *p, struct task *t, struct memfab_sqe *sqe, struct mf_rng *rng)
{
	bool large = mf_rng_below(rng, 8) == 0;
	struct range *r = p->range;

	while (r < p->range + RANGES && r->state != NONE)
		r++;
	if (r == p->range + RANGES)
		return;
	r->space = (unsigned int)mf_rng_below(rng, 2);
	if (r->space == 0 && p->stale > 0)
		return;
	r->state = COMING;
	r->read_only = false;
	r->size = large ? UINT64_C(1) << LARGE : (1 + mf_rng_below(rng, PAGES_MAX)) << SHIFT;
	memset(r->octets, 0, r->size);
	p->allocations += r->space == 0;
	p->freed_size = r->space == 0 ? 0 : p->freed_size;
	memfab_prep_ralloc(sqe, p->space[r->space], mf_rng_below(rng, 2) ? mn0 : mn1, r->size,
			   large ? LARGE : SHIFT, MEMFAB_RIGHTS_WRITE);
	t->step = ALLOCATE;
	t->range = (unsigned int)(r - p->range);
	t->res = 0;
}

/** All of it, or the first page: what is left begins behind it. */
static void give_back(struct program *p, struct task *t, struct memfab_sqe *sqe, struct mf_rng *rng)
{
	struct range *r = some(p, rng, false);
	uint64_t page, size;

	if (r == NULL)
		return;
	page = r->size > RANGE_MAX ? UINT64_C(1) << LARGE : UINT64_C(1) << SHIFT;
	size = mf_rng_below(rng, 2) ? r->size : page;
	memfab_prep_rfree(sqe, p->space[r->space], r->ptr, size);
	if (r->space == 0 && p->allocations == 0) {
		p->freed = r->ptr;
		p->freed_size = size;
	}
	t->step = FREE;
	t->res = 0;
	t->range = (unsigned int)(r - p->range);
	r->ptr += size;
	r->size -= size;
	memmove(r->octets, r->octets + size, r->size);
	r->state = r->size == 0 ? GOING : THERE;
}

static void protect(struct program *p, struct task *t, struct memfab_sqe *sqe, struct mf_rng *rng)
{
	struct range *r = some(p, rng, false);

	if (r == NULL)
		return;
	r->read_only = !r->read_only;
	memfab_prep_rprotect(sqe, p->space[r->space], r->ptr, r->size,
			     r->read_only ? MEMFAB_RIGHTS_READ : MEMFAB_RIGHTS_WRITE);
	t->step = PROTECT;
	t->res = 0;
}

static void transfer(struct program *p, struct task *t, struct memfab_sqe *sqe, struct mf_rng *rng)
{
	bool write = mf_rng_below(rng, 2) == 0;
	struct range *r = some(p, rng, write);
	uint64_t at, most;

	if (r == NULL)
		return;
	most = r->size < LEN_MAX ? r->size : LEN_MAX;
	t->len = 1 + mf_rng_below(rng, mf_rng_below(rng, 3) == 0 ? most : most < 64 ? most : 64);
	at = mf_rng_below(rng, r->size - t->len + 1);
	t->step = write ? WRITE : READ;
	t->res = (int64_t)t->len;
	if (write) {
		rig_fill(rng, t->buf, t->len);
		memfab_prep_rwrite(sqe, p->space[r->space], r->ptr + at, t->buf, t->len);
		memcpy(r->octets + at, t->buf, t->len);
	} else {
		memfab_prep_rread(sqe, p->space[r->space], r->ptr + at, t->buf, t->len);
		memcpy(t->expected, r->octets + at, t->len);
	}
}

static uint64_t modified(enum memfab_op op, uint64_t old, uint64_t arg)
{
	return op == MEMFAB_FETCH_ADD  ? old + arg
	       : op == MEMFAB_SWAP     ? arg
	       : op == MEMFAB_FETCH_OR ? old | arg
				       : old & arg;
}

static void atomic(struct program *p, struct task *t, struct memfab_sqe *sqe, struct mf_rng *rng)
{
	struct range *r = some(p, rng, true);
	enum memfab_op op = MEMFAB_CAS + (enum memfab_op)mf_rng_below(rng, MEMFAB_FETCH_AND - MEMFAB_CAS + 1);
	uint64_t at, arg = mf_rng_next(rng), now;

	if (r == NULL)
		return;
	at = mf_rng_below(rng, r->size / 8) * 8;
	memcpy(&t->old, r->octets + at, 8);
	now = t->old;
	if (op == MEMFAB_CAS) {
		uint64_t expected = mf_rng_below(rng, 2) ? now : now + 1;

		memfab_prep_rcas(sqe, p->space[r->space], r->ptr + at, expected, arg);
		now = expected == now ? arg : now;
	} else {
		memfab_prep_ratomic(sqe, p->space[r->space], op, r->ptr + at, arg);
		now = modified(op, now, arg);
	}
	memcpy(r->octets + at, &now, 8);
	t->step = ATOMIC;
	t->res = 0;
}

/** A word that both programs count up. */
static void count(struct program *p, struct task *t, struct memfab_sqe *sqe, struct mf_rng *rng)
{
	uint64_t by = 1 + mf_rng_below(rng, 1000);

	t->counter = (unsigned int)mf_rng_below(rng, COUNTERS);
	memfab_prep_ratomic(sqe, p->space[1], MEMFAB_FETCH_ADD, counters + 8 * t->counter, by);
	p->counted[t->counter] += by;
	t->step = COUNT;
	t->len = by;
	t->res = 0;
}

/** Pages that were freed, or may only be read. */
static void refused(struct program *p, struct task *t, struct memfab_sqe *sqe, struct mf_rng *rng)
{
	struct range *r = some(p, rng, false);

	if (p->freed_size > 0 && mf_rng_below(rng, 2) == 0) {
		t->len = 1 + mf_rng_below(rng, 64);
		memfab_prep_rread(sqe, p->space[0], p->freed + mf_rng_below(rng, p->freed_size - t->len + 1),
				  t->buf, t->len);
		p->stale++;
		t->step = REFUSED_READ;
	} else if (r != NULL && r->read_only) {
		t->len = 1 + mf_rng_below(rng, 64);
		rig_fill(rng, t->buf, t->len);
		memfab_prep_rwrite(sqe, p->space[r->space], r->ptr + mf_rng_below(rng, r->size - t->len + 1),
				   t->buf, t->len);
		t->step = REFUSED_WRITE;
	} else {
		return;
	}
	t->res = -EACCES;
}

static void push(struct program *p, struct mf_rng *rng)
{
	static void (*const what[])(struct program * p, struct task * t, struct memfab_sqe * sqe,
				    struct mf_rng * rng) = {allocate, allocate, give_back, protect,
							    transfer, transfer, transfer,  transfer,
							    atomic,   count,    refused,   refused};
	struct memfab_sqe *sqe;
	struct task *t = p->task;

	if (p->under_way == DEPTH || (sqe = memfab_get_sqe(p->q)) == NULL)
		return;
	while (t->busy)
		t++;
	memfab_prep(sqe, MEMFAB_NOP, 0, 0, NULL, 0);
	t->step = READ; /* of nothing, where there is nothing to be done */
	t->res = 0;
	t->len = 0;
	what[mf_rng_below(rng, sizeof(what) / sizeof(what[0]))](p, t, sqe, rng);
	t->busy = true;
	sqe->user_data = (uintptr_t)t;
	sqe->flags = (uint8_t)(mf_rng_below(rng, 16) == 0 ? MEMFAB_FENCE : 0);
	p->under_way++;
}

static void allocated(struct program *p, struct range *r, const struct memfab_cqe *c)
{
	r->ptr = c->old;
	r->state = THERE;
	p->allocations -= r->space == 0;
	for (unsigned int i = 0; i < RANGES; i++) {
		const struct range *o = &p->range[i];

		cr_assert(o == r || o->state != THERE || o->space != r->space || r->ptr + r->size <= o->ptr ||
				  o->ptr + o->size <= r->ptr,
			  "two ranges overlap");
	}
}

static void check(struct program *p, const struct memfab_cqe *c)
{
	struct task *t = (struct task *)(uintptr_t)c->user_data;

	cr_assert(t >= p->task && t < p->task + DEPTH && t->busy);
	cr_assert_eq(c->res, t->res, "step %d: %ld instead of %ld", (int)t->step, (long)c->res, (long)t->res);
	seen[t->step] += t->step != READ || t->len > 0;
	if (t->step == READ)
		cr_assert_arr_eq(t->buf, t->expected, t->len);
	if (t->step == ATOMIC)
		cr_assert_eq(c->old, t->old);
	if (t->step == COUNT) { /* its own ones are in their order, whatever the other program adds */
		cr_assert_geq(c->old, p->last[t->counter]);
		p->last[t->counter] = c->old + t->len;
	}
	if (t->step == ALLOCATE)
		allocated(p, &p->range[t->range], c);
	if (t->step == FREE && p->range[t->range].state == GOING)
		p->range[t->range].state = NONE;
	p->stale -= t->step == REFUSED_READ;
	t->busy = false;
	p->under_way--;
}

static void take(struct program *p, struct mf_rng *rng)
{
	const struct memfab_cqe *c[8];
	unsigned int n = memfab_peek_batch_cqe(p->q, c, 1 + (unsigned int)mf_rng_below(rng, 8));

	for (unsigned int i = 0; i < n; i++)
		check(p, c[i]);
	memfab_cq_advance(p->q, n);
}

static void drain(struct program *p, struct mf_rng *rng)
{
	memfab_submit(p->q);
	cr_assert_eq(memfab_outstanding(p->q), p->under_way);
	while (p->under_way > 0)
		take(p, rng);
}

/** A range of the space of both changes hands, when nothing of the former owner is under way. */
static void hand_over(struct program *from, struct program *to, struct mf_rng *rng)
{
	struct range *r = some(from, rng, false), *n = to->range, was;

	while (n < to->range + RANGES && n->state != NONE)
		n++;
	if (r == NULL || r->space != 1 || n == to->range + RANGES)
		return;
	drain(from, rng);
	was = *n;
	*n = *r;
	*r = was;
	swapped++;
}

static void begin(struct program *p, struct memfab_queue *q)
{
	p->q = q;
	cr_assert_eq(memfab_space_new(q, NULL, 0, &p->space[0]), 0);
	for (unsigned int i = 0; i < RANGES; i++)
		p->range[i].octets = malloc(UINT64_C(1) << LARGE);
}

/** Both have the second space: the first program has made it. */
static void share(struct program *a, struct program *b)
{
	struct memfab_token token;

	cr_assert_eq(memfab_space_new(a->q, NULL, 0, &a->space[1]), 0);
	cr_assert_eq(memfab_space_grant(a->q, a->space[1], memfab_node(rig, "cn1"), MEMFAB_RIGHTS_WRITE), 0);
	memfab_space_token(a->space[1], &token);
	cr_assert_eq(memfab_space_join(b->q, &token, &b->space[1]), 0);
	cr_assert_eq(memfab_ralloc(a->q, a->space[1], UINT64_C(1) << SHIFT, 0, &counters), 0);
}

static void end(struct program *p)
{
	cr_assert_eq(memfab_space_end(p->q, p->space[1]), 0);
	cr_assert_eq(memfab_space_end(p->q, p->space[0]), 0);
	for (unsigned int i = 0; i < RANGES; i++)
		free(p->range[i].octets);
	free(p);
}

static void run(uint64_t seed, struct memfab_queue *const q[2])
{
	struct program *p[2] = {calloc(1, sizeof(struct program)), calloc(1, sizeof(struct program))};
	struct mf_rng rng;
	uint64_t word;

	mf_rng_init(&rng, seed, "program", 0);
	begin(p[0], q[0]);
	begin(p[1], q[1]);
	share(p[0], p[1]);
	for (unsigned int i = 0; i < STEPS; i++) {
		struct program *one = p[mf_rng_below(&rng, 2)];

		if (mf_rng_below(&rng, 40) == 0)
			hand_over(one, one == p[0] ? p[1] : p[0], &rng);
		else if (mf_rng_below(&rng, 2) == 0)
			push(one, &rng);
		else if (mf_rng_below(&rng, 3) == 0)
			memfab_submit(one->q);
		else
			take(one, &rng);
	}
	drain(p[0], &rng);
	drain(p[1], &rng);
	for (unsigned int i = 0; i < COUNTERS; i++) {
		cr_assert_eq(memfab_rread(p[1]->q, p[1]->space[1], counters + 8 * i, &word, 8), 0);
		cr_assert_eq(word, p[0]->counted[i] + p[1]->counted[i]);
	}
	end(p[1]);
	end(p[0]);
}

Test(client_programs, against_a_sequential_model)
{
	const char *only = getenv("PROGRAM_SEED");
	uint64_t first = only != NULL ? strtoull(only, NULL, 0) : 1;
	uint64_t last = only != NULL ? first : getenv("MF_LONG") != NULL ? PROGRAMS_LONG : PROGRAMS;
	struct memfab_queue *q[2];

	setenv("MF_CLIENT_FABRIC", getenv("MF_CLIENT_SPACES"), 1);
	rig_open(NULL);
	q[0] = rig_queue("cn0", DEPTH);
	q[1] = rig_queue("cn1", DEPTH);
	for (uint64_t seed = first; seed <= last; seed++) {
		fprintf(stderr, "# PROGRAM_SEED=%d\n", (int)seed);
		run(seed, q);
	}
	for (enum step i = READ; i <= REFUSED_WRITE && only == NULL; i++)
		cr_expect_gt(seen[i], last, "step %d: %lu", (int)i, seen[i]);
	cr_expect(only != NULL || swapped > last / 4, "%lu", swapped);
	memfab_queue_free(q[0]);
	memfab_queue_free(q[1]);
	rig_fini();
}
