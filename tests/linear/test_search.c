/* SPDX-License-Identifier: BSD-3-Clause */
/* The search against the definition: all orders of small histories; and large ones whose order is known. */
#include <errno.h>
#include <stdlib.h>

#include <criterion/criterion.h>

#include "base/mf_rng.h"
#include "linear/mf_linear.h"

#define STATES (1U << 20)

static bool has_to(const struct mf_linear_op *o)
{
	return o->ret != MF_NEVER && !o->may;
}

/** A read of which nobody was told says nothing, and holds nobody. */
static bool says(const struct mf_linear_op *o)
{
	return (o->kind != MF_LINEAR_READ && o->kind != MF_LINEAR_READ_PART) || o->found != MF_LINEAR_NOTHING;
}

/** By the definition: tries all orders of those that happen, some of which may never. */
static bool any_order(const struct mf_linear_op *op, size_t n, unsigned int happened, uint64_t value)
{
	bool all = true;

	for (size_t i = 0; i < n; i++)
		all &= (happened & 1U << i) || op[i].may || op[i].ret == MF_NEVER;
	if (all)
		return true;
	for (size_t i = 0; i < n; i++) {
		const struct mf_linear_op *o = &op[i];
		uint64_t next = value;
		bool may = !(happened & 1U << i), equal = value == o->arg[0];
		uint64_t read = o->kind == MF_LINEAR_READ_PART ? value & o->arg[1] : value;

		for (size_t k = 0; k < n; k++)
			may &= !(happened & 1U << k) || o->ret >= op[k].call;
		for (size_t k = 0; k < n && o->chain != 0 && says(o); k++)
			may &= op[k].chain != o->chain || !says(&op[k]) ||
			       (happened >> k & 1 ? k < i : k >= i || !has_to(&op[k]));
		may &= o->found != MF_LINEAR_VALUE || o->value == read;
		may &= o->found != MF_LINEAR_EQUAL || equal;
		may &= o->found != MF_LINEAR_UNEQUAL || !equal;
		if (!may)
			continue;
		switch (o->kind) {
		case MF_LINEAR_CAS:
			next = equal ? o->arg[1] : value;
			break;
		case MF_LINEAR_FADD:
			next = value + o->arg[0];
			break;
		case MF_LINEAR_OR:
			next = value | o->arg[0];
			break;
		case MF_LINEAR_AND:
			next = value & o->arg[0];
			break;
		case MF_LINEAR_READ:
		case MF_LINEAR_READ_PART:
			break;
		case MF_LINEAR_WRITE_PART:
			next = (value & ~o->arg[1]) | (o->arg[0] & o->arg[1]);
			break;
		default:
			next = o->arg[0];
		}
		if (any_order(op, n, happened | 1U << i, next))
			return true;
	}
	return false;
}

static struct mf_linear_op random_op(struct mf_rng *rng)
{
	struct mf_linear_op o = {
		.kind = (uint8_t)mf_rng_below(rng, MF_LINEAR_KINDS),
		.call = mf_rng_below(rng, 10),
		.arg = {mf_rng_below(rng, 3), mf_rng_below(rng, 3)},
		.value = mf_rng_below(rng, 3),
	};

	o.may = mf_rng_below(rng, 6) == 0;
	o.ret = mf_rng_below(rng, 5) == 0 ? MF_NEVER : o.call + mf_rng_below(rng, 5);
	if (o.kind == MF_LINEAR_CAS)
		o.found = (uint8_t)mf_rng_below(rng, 4);
	else if (o.kind != MF_LINEAR_WRITE && o.kind != MF_LINEAR_WRITE_PART)
		o.found = (uint8_t)mf_rng_below(rng, 2);
	return o;
}

/** Some of them are of the same client, whose order is kept. */
static void chain_some(struct mf_rng *rng, struct mf_linear_op *op, size_t n)
{
	for (size_t i = 0; i < n; i++)
		op[i].chain = (uint32_t)mf_rng_below(rng, n < 3 ? n + 1 : 3);
}

Test(linear_search, small_histories_as_by_the_definition)
{
	struct mf_linear *l = mf_linear_new(8, STATES);
	struct mf_rng rng;
	unsigned int verdicts[2] = {0, 0};

	mf_rng_init(&rng, 20261122, "linear", 0);
	for (unsigned int run = 0; run < 20000; run++) {
		size_t n = 1 + mf_rng_below(&rng, 6);
		struct mf_linear_op op[8];
		struct mf_linear_result r;
		uint64_t initial = mf_rng_below(&rng, 3);
		bool expected;

		for (size_t i = 0; i < n; i++)
			op[i] = random_op(&rng);
		chain_some(&rng, op, n);
		expected = any_order(op, n, 0, initial);
		cr_assert_eq(mf_linear_check(l, op, n, initial, &r), 0);
		cr_assert_eq(r.verdict, expected ? MF_LINEAR_YES : MF_LINEAR_NO, "run %u of seed 20261122",
			     run);
		verdicts[expected]++;
	}
	cr_expect_gt(verdicts[0], 2000);
	cr_expect_gt(verdicts[1], 2000);
	mf_linear_free(l);
}

#define CLIENTS 8
#define LONG 20000

/** Clients that each do one thing after the other, on a word that is what it should be. */
static void long_history(struct mf_rng *rng, struct mf_linear_op *op)
{
	mf_time free_at[CLIENTS] = {0}, now = 0;
	uint64_t word = 0;

	for (size_t i = 0; i < LONG; i++) {
		unsigned int c = (unsigned int)mf_rng_below(rng, CLIENTS);
		struct mf_linear_op *o = &op[i];

		now += 1 + mf_rng_below(rng, 5); /* it happens now */
		*o = (struct mf_linear_op){.kind = (uint8_t)mf_rng_below(rng, MF_LINEAR_KINDS)};
		o->call = now - mf_rng_below(rng, 20) % (now - (free_at[c] < now ? free_at[c] : now - 1));
		o->ret = now + mf_rng_below(rng, 20);
		free_at[c] = o->ret + 1;
		o->arg[0] = o->kind == MF_LINEAR_CAS ? word + mf_rng_below(rng, 2) : i + 1;
		o->arg[1] = i + 1;
		if (o->kind != MF_LINEAR_WRITE && o->kind != MF_LINEAR_WRITE_PART) {
			o->found = MF_LINEAR_VALUE;
			o->value = o->kind == MF_LINEAR_READ_PART ? word & o->arg[1] : word;
		}
		switch (o->kind) {
		case MF_LINEAR_CAS:
			word = word == o->arg[0] ? o->arg[1] : word;
			break;
		case MF_LINEAR_FADD:
			word += o->arg[0];
			break;
		case MF_LINEAR_OR:
			word |= o->arg[0];
			break;
		case MF_LINEAR_AND:
			word &= o->arg[0];
			break;
		case MF_LINEAR_READ:
		case MF_LINEAR_READ_PART:
			break;
		case MF_LINEAR_WRITE_PART:
			word = (word & ~o->arg[1]) | (o->arg[0] & o->arg[1]);
			break;
		default:
			word = o->arg[0];
		}
	}
}

Test(linear_search, long_histories_that_happened)
{
	struct mf_linear *l = mf_linear_new(LONG, STATES);
	struct mf_linear_op *op = calloc(LONG, sizeof(*op));
	struct mf_linear_result r;
	struct mf_rng rng;

	for (unsigned int seed = 0; seed < 5; seed++) {
		mf_rng_init(&rng, seed, "linear", 0);
		long_history(&rng, op);
		cr_assert_eq(mf_linear_check(l, op, LONG, 0, &r), 0);
		cr_expect_eq(r.verdict, MF_LINEAR_YES, "seed %u", seed);
	}
	free(op);
	mf_linear_free(l);
}

Test(linear_search, a_read_of_what_nobody_wrote_is_found_and_named)
{
	struct mf_linear *l = mf_linear_new(LONG, STATES);
	struct mf_linear_op *op = calloc(LONG, sizeof(*op));
	struct mf_linear_result r;
	struct mf_rng rng;
	size_t at = LONG / 2;

	mf_rng_init(&rng, 7, "linear", 0);
	long_history(&rng, op);
	while (op[at].kind != MF_LINEAR_READ)
		at++;
	op[at].value = UINT64_MAX;
	cr_assert_eq(mf_linear_check(l, op, LONG, 0, &r), 0);
	cr_expect_eq(r.verdict, MF_LINEAR_NO);
	cr_expect_eq(r.op, at);
	free(op);
	mf_linear_free(l);
}

static struct mf_linear_op write_of(mf_time call, mf_time ret, uint64_t value)
{
	return (struct mf_linear_op){.kind = MF_LINEAR_WRITE, .call = call, .ret = ret, .arg = {value}};
}

static struct mf_linear_op read_of(mf_time call, mf_time ret, uint64_t value)
{
	return (struct mf_linear_op){
		.kind = MF_LINEAR_READ, .call = call, .ret = ret, .found = MF_LINEAR_VALUE, .value = value};
}

static enum mf_linear_verdict verdict(const struct mf_linear_op *op, size_t n)
{
	struct mf_linear *l = mf_linear_new(n, STATES);
	struct mf_linear_result r;

	cr_assert_eq(mf_linear_check(l, op, n, 0, &r), 0);
	mf_linear_free(l);
	return r.verdict;
}

Test(linear_search, an_open_write_may_be_seen_late_or_never_but_not_before_it_began)
{
	struct mf_linear_op op[] = {write_of(10, MF_NEVER, 5), read_of(20, 21, 0), read_of(1000, 1001, 5)};

	cr_expect_eq(verdict(op, 3), MF_LINEAR_YES);
	op[2].value = 0;
	cr_expect_eq(verdict(op, 3), MF_LINEAR_YES);
	op[1] = read_of(5, 9, 5);
	cr_expect_eq(verdict(op, 3), MF_LINEAR_NO);
}

Test(linear_search, a_write_is_not_undone)
{
	struct mf_linear_op op[] = {write_of(10, 11, 5), read_of(20, 21, 5), read_of(30, 31, 0)};

	cr_expect_eq(verdict(op, 3), MF_LINEAR_NO);
}

Test(linear_search, what_touches_in_time_may_be_in_either_order)
{
	struct mf_linear_op op[] = {write_of(10, 20, 5), read_of(20, 21, 0)};

	cr_expect_eq(verdict(op, 2), MF_LINEAR_YES);
	op[1].call = 21;
	cr_expect_eq(verdict(op, 2), MF_LINEAR_NO);
}

Test(linear_search, gives_up_rather_than_guess)
{
	struct mf_linear_op op[21];
	struct mf_linear *l = mf_linear_new(21, 1000);
	struct mf_linear_result r;

	for (unsigned int i = 0; i < 20; i++)
		op[i] = write_of(0, MF_NEVER, 1ULL << i);
	op[20] = read_of(1, 2, UINT64_MAX);
	cr_assert_eq(mf_linear_check(l, op, 21, 0, &r), 0);
	cr_expect_eq(r.verdict, MF_LINEAR_GAVE_UP);
	cr_expect_eq(r.states, 1000);
	mf_linear_free(l);
}

Test(linear_search, nothing_is_linearizable)
{
	struct mf_linear *l = mf_linear_new(1, 1);
	struct mf_linear_result r;

	cr_assert_eq(mf_linear_check(l, NULL, 0, 0, &r), 0);
	cr_expect_eq(r.verdict, MF_LINEAR_YES);
	mf_linear_free(l);
}

Test(linear_search, refuses_what_cannot_be)
{
	struct mf_linear *l = mf_linear_new(2, 16);
	struct mf_linear_result r;
	struct mf_linear_op op[3] = {write_of(1, 2, 3), write_of(1, 2, 3), write_of(1, 2, 3)};

	cr_expect_eq(mf_linear_check(l, op, 3, 0, &r), -EINVAL);
	op[0].ret = 0;
	cr_expect_eq(mf_linear_check(l, op, 1, 0, &r), -EINVAL);
	op[0] = write_of(1, 2, 3);
	op[0].kind = MF_LINEAR_KINDS;
	cr_expect_eq(mf_linear_check(l, op, 1, 0, &r), -EINVAL);
	op[0].kind = MF_LINEAR_READ;
	op[0].found = MF_LINEAR_UNEQUAL;
	cr_expect_eq(mf_linear_check(l, op, 1, 0, &r), -EINVAL);
	op[0].kind = MF_LINEAR_WRITE;
	op[0].found = MF_LINEAR_VALUE;
	cr_expect_eq(mf_linear_check(l, op, 1, 0, &r), -EINVAL);
	op[0] = write_of(1, 2, 3);
	op[0].chain = 2;
	cr_expect_eq(mf_linear_check(l, op, 1, 0, &r), -EINVAL);
	mf_linear_free(l);
	errno = 0;
	cr_expect_null(mf_linear_new(0, 16));
	cr_expect_eq(errno, EINVAL);
	cr_expect_null(mf_linear_new(16, 0));
	cr_expect_null(mf_linear_new(1U << 25, 16));
}
