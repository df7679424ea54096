/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The search. Calls and returns stand in a list by time. An operation whose call comes before the first
 * return in the list may be the next one that happens; then both of its entries leave the list. When the
 * search comes to the return of an operation that has not happened, the last step was wrong: it is taken
 * back and the next candidate tried.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "linear/mf_linear.h"
#include "base/mf_rng.h"
#include "linear/seen.h"
#include "linear/step.h"

#define OPS_MAX (1U << 24)
#define STATES_MAX (1U << 30)

/** A call (even number: 2 * operation) or a return (odd), in the list; the head is behind them all. */
struct entry {
	uint32_t prev, next;
};

/** A step that was taken. */
struct taken {
	uint32_t op;
	uint32_t newest; /**< before it, of its chain */
	uint64_t value; /**< before it */
	mf_time latest; /**< before it */
};

struct mf_linear {
	size_t max;
	struct entry *entry; /**< [2 * max + 1] */
	uint32_t *order; /**< [2 * max]: entries by time */
	uint32_t *spare; /**< [2 * max]: of the sort */
	struct taken *taken; /**< [max] */
	bool *happened; /**< [max] */
	uint32_t *newest; /**< [max + 1]: of each chain, 1 + place of the last that has happened; 0: none */
	uint32_t *
		needs; /**< [max]: 1 + place of the last before it in its chain that has to happen; 0: none */
	struct seen seen;
	/* Of the history that is checked. */
	const struct mf_linear_op *op;
	uint32_t head;
	size_t depth; /**< steps that are taken */
	size_t left; /**< operations that have returned and are in the list */
	uint64_t value;
	mf_time latest; /**< call of those that have happened: what returned before it cannot any more */
	struct fingerprint set; /**< of the operations that have happened */
	mf_time furthest; /**< return that a try came to a stop at */
	size_t furthest_op;
};

struct mf_linear *mf_linear_new(size_t ops, size_t states)
{
	struct mf_linear *l;

	if (ops == 0 || ops > OPS_MAX || states == 0 || states > STATES_MAX) {
		errno = EINVAL;
		return NULL;
	}
	l = calloc(1, sizeof(*l));
	if (l == NULL)
		return NULL;
	l->max = ops;
	l->entry = calloc(2 * ops + 1, sizeof(*l->entry));
	l->order = calloc(2 * ops, sizeof(*l->order));
	l->spare = calloc(2 * ops, sizeof(*l->spare));
	l->taken = calloc(ops, sizeof(*l->taken));
	l->happened = calloc(ops, sizeof(*l->happened));
	l->newest = calloc(ops + 1, sizeof(*l->newest));
	l->needs = calloc(ops, sizeof(*l->needs));
	if (seen_init(&l->seen, states) == 0 && l->entry != NULL && l->order != NULL && l->spare != NULL &&
	    l->taken != NULL && l->happened != NULL && l->newest != NULL && l->needs != NULL)
		return l;
	mf_linear_free(l);
	errno = ENOMEM;
	return NULL;
}

void mf_linear_free(struct mf_linear *l)
{
	if (l == NULL)
		return;
	seen_fini(&l->seen);
	free(l->entry);
	free(l->order);
	free(l->spare);
	free(l->taken);
	free(l->happened);
	free(l->newest);
	free(l->needs);
	free(l);
}

static bool sane(const struct mf_linear_op *o)
{
	if (o->kind >= MF_LINEAR_KINDS || o->ret < o->call || o->found > MF_LINEAR_UNEQUAL)
		return false;
	if (o->kind == MF_LINEAR_WRITE || o->kind == MF_LINEAR_WRITE_PART)
		return o->found == MF_LINEAR_NOTHING;
	return o->found < MF_LINEAR_EQUAL || o->kind == MF_LINEAR_CAS;
}

/** Whether it has to happen. */
static inline bool must(const struct mf_linear_op *o)
{
	return o->ret != MF_NEVER && !o->may;
}

static inline bool reads(const struct mf_linear_op *o)
{
	return o->kind == MF_LINEAR_READ || o->kind == MF_LINEAR_READ_PART;
}

/** At one time calls come first: what touches in time may have happened in either order. */
static inline bool before(const struct mf_linear_op *op, uint32_t a, uint32_t b)
{
	mf_time ta = a % 2 ? op[a / 2].ret : op[a / 2].call, tb = b % 2 ? op[b / 2].ret : op[b / 2].call;

	return ta != tb ? ta < tb : a % 2 < b % 2;
}

/** Merge sort: what is equal keeps its order, so that a history has one search. */
static void sort(struct mf_linear *l, size_t n)
{
	for (size_t run = 1; run < n; run *= 2) {
		uint32_t *swap = l->order;

		for (size_t from = 0; from < n; from += 2 * run) {
			size_t mid = from + run < n ? from + run : n,
			       end = from + 2 * run < n ? from + 2 * run : n;
			size_t i = from, k = mid;

			for (size_t at = from; at < end; at++) {
				bool second =
					i == mid || (k < end && before(l->op, l->order[k], l->order[i]));

				l->spare[at] = l->order[second ? k++ : i++];
			}
		}
		l->order = l->spare;
		l->spare = swap;
	}
}

/** A read of which nobody was told says nothing. */
static inline bool counts(const struct mf_linear_op *o)
{
	return !reads(o) || o->found != MF_LINEAR_NOTHING;
}

/** Of each operation the one of its chain that it waits for; that one waits for those before it. */
static void order_chains(struct mf_linear *l, const struct mf_linear_op *op, size_t n)
{
	memset(l->newest, 0, (n + 1) * sizeof(*l->newest));
	for (size_t i = 0; i < n; i++) {
		l->needs[i] = l->newest[op[i].chain];
		if (op[i].chain != 0 && must(&op[i]) && counts(&op[i]))
			l->newest[op[i].chain] = (uint32_t)i + 1;
	}
	memset(l->newest, 0, (n + 1) * sizeof(*l->newest));
}

/** Lists all calls, and the returns that there were. */
static void list(struct mf_linear *l, const struct mf_linear_op *op, size_t n)
{
	size_t entries = 0;

	l->op = op;
	l->left = 0;
	for (size_t i = 0; i < n; i++) {
		if (!counts(&op[i]))
			continue;
		l->order[entries++] = (uint32_t)(2 * i);
		l->happened[i] = false;
		if (!must(&op[i]))
			continue;
		l->order[entries++] = (uint32_t)(2 * i + 1);
		l->left++;
	}
	sort(l, entries);
	l->head = (uint32_t)(2 * n);
	l->entry[l->head] = (struct entry){l->head, l->head};
	for (size_t i = 0; i < entries; i++) {
		uint32_t e = l->order[i], last = l->entry[l->head].prev;

		l->entry[e] = (struct entry){.prev = last, .next = l->head};
		l->entry[last].next = e;
		l->entry[l->head].prev = e;
	}
}

static inline void unlist(struct mf_linear *l, uint32_t e)
{
	l->entry[l->entry[e].prev].next = l->entry[e].next;
	l->entry[l->entry[e].next].prev = l->entry[e].prev;
}

static inline void relist(struct mf_linear *l, uint32_t e)
{
	l->entry[l->entry[e].prev].next = e;
	l->entry[l->entry[e].next].prev = e;
}

/** In a set, or out of it again. */
static inline void toggle(struct fingerprint *set, uint32_t op)
{
	set->a ^= mf_hash64(op + 0x9e3779b97f4a7c15U);
	set->b ^= mf_hash64(~(uint64_t)op * 0xd6e8feb86659fd93U);
}

static inline struct fingerprint with_value(struct fingerprint set, uint64_t value)
{
	return (struct fingerprint){mf_hash64(set.a + mf_hash64(value)),
				    mf_hash64(set.b ^ mf_hash64(value + 0x632be59bd9b4e019U))};
}

static void take(struct mf_linear *l, uint32_t op, uint64_t next)
{
	uint32_t *newest = &l->newest[l->op[op].chain];

	l->taken[l->depth++] =
		(struct taken){.op = op, .newest = *newest, .value = l->value, .latest = l->latest};
	*newest = op + 1;
	l->value = next;
	l->latest = l->op[op].call > l->latest ? l->op[op].call : l->latest;
	l->happened[op] = true;
	unlist(l, 2 * op);
	if (must(&l->op[op])) {
		unlist(l, 2 * op + 1);
		l->left--;
	}
}

/** @return the operation whose step was the last one */
static uint32_t take_back(struct mf_linear *l)
{
	const struct taken *t = &l->taken[--l->depth];

	if (must(&l->op[t->op])) {
		relist(l, 2 * t->op + 1);
		l->left++;
	}
	relist(l, 2 * t->op);
	toggle(&l->set, t->op);
	l->value = t->value;
	l->latest = t->latest;
	l->newest[l->op[t->op].chain] = t->newest;
	l->happened[t->op] = false;
	return t->op;
}

static void stopped_at(struct mf_linear *l, uint32_t e)
{
	if (e == l->head || l->op[e / 2].ret < l->furthest)
		return;
	l->furthest = l->op[e / 2].ret;
	l->furthest_op = e / 2;
}

/** What has to happen of its chain before it has, and nothing that comes after it. */
static inline bool is_its_turn(const struct mf_linear *l, uint32_t op)
{
	uint32_t chain = l->op[op].chain, needs = l->needs[op];

	return chain == 0 || (l->newest[chain] <= op && (needs == 0 || l->happened[needs - 1]));
}

/** Whether the operation can be the next one to happen, and was not tried as that: then it happens. */
static enum seen_answer attempt(struct mf_linear *l, uint32_t op)
{
	const struct mf_linear_op *o = &l->op[op];
	struct fingerprint set = l->set;
	enum seen_answer answer;
	uint64_t next;

	if (!is_its_turn(l, op) || o->ret < l->latest || !linear_step(o, l->value, &next))
		return SEEN_BEFORE;
	toggle(&set, op);
	answer = seen_add(&l->seen, with_value(set, next));
	if (answer == SEEN_NEW) {
		l->set = set;
		take(l, op, next);
	}
	return answer;
}

static enum mf_linear_verdict search(struct mf_linear *l)
{
	uint32_t e = l->entry[l->head].next;

	while (l->left > 0) {
		enum seen_answer answer;

		if (e == l->head || e % 2 != 0) {
			stopped_at(l, e);
			if (l->depth == 0)
				return MF_LINEAR_NO;
			e = l->entry[2 * take_back(l)].next;
			continue;
		}
		answer = attempt(l, e / 2);
		if (answer == SEEN_FULL)
			return MF_LINEAR_GAVE_UP;
		e = l->entry[answer == SEEN_NEW ? l->head : e].next;
	}
	return MF_LINEAR_YES;
}

int mf_linear_check(struct mf_linear *l, const struct mf_linear_op *op, size_t n, uint64_t initial,
		    struct mf_linear_result *out)
{
	if (n > l->max)
		return -EINVAL;
	for (size_t i = 0; i < n; i++)
		if (!sane(&op[i]) || op[i].chain > n)
			return -EINVAL;
	seen_clear(&l->seen);
	order_chains(l, op, n);
	list(l, op, n);
	l->depth = 0;
	l->value = initial;
	l->latest = 0;
	l->set = (struct fingerprint){0, 0};
	l->furthest = 0;
	l->furthest_op = 0;
	*out = (struct mf_linear_result){.verdict = search(l)};
	out->states = l->seen.count;
	out->op = l->furthest_op;
	return 0;
}
