/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>

#include "memory/mf_vm_timed.h"
#include "memory/vm.h"
#include "memory/vm_slow.h"

#define SLICE_OCTETS 4096 /* that are zeroed in a turn, so that tasks have theirs */

struct mf_vm_timed {
	struct mf_vm_timed_config config;
	struct mf_vm *fast;
	struct mf_vm_slow *slow;
	mf_time free; /**< the slow path's turn ends then */
	mf_time busy; /**< so long it was at work */
	bool more; /**< it has something to do without another item */
	struct still {
		mf_time from, until;
	} * still; /**< no turn begins then; in any order */
	unsigned int stills;
};

static struct mf_vm_timed *of(struct mf_memory *m)
{
	return (struct mf_vm_timed *)m;
}

static const struct mf_vm_timed *const_of(const struct mf_memory *m)
{
	return (const struct mf_vm_timed *)m;
}

/** When the first item of a queue has crossed; MF_NEVER: it has none. */
static mf_time arrives(const struct mf_vm_timed *t, const struct mf_vm_queue *q)
{
	return q->items > 0 ? q->item[q->first].at + t->config.crossing : MF_NEVER;
}

/** When a turn begins that would begin at t. */
static mf_time awake(const struct mf_vm_timed *t, mf_time at)
{
	unsigned int i = 0;

	while (i < t->stills) {
		bool in = at >= t->still[i].from && at < t->still[i].until;

		at = in ? t->still[i].until : at;
		i = in ? 0 : i + 1;
	}
	return at;
}

/** When the slow path has its next turn. What waits for places goes on when the fast path has taken items. */
static mf_time next_turn(const struct mf_vm_timed *t)
{
	mf_time next = mf_time_min(arrives(t, t->fast->out), mf_vm_slow_next(t->slow));

	return awake(t, mf_time_max(t->free, t->more ? 0 : next));
}

/** What the slow path has sent in a turn leaves at its end. */
static void date_sent(struct mf_vm_queue *q, uint32_t before, mf_time at)
{
	for (uint32_t i = before; i < q->items; i++) {
		uint32_t place = q->first + i;

		q->item[place < q->size ? place : place - q->size].at = at;
	}
}

static void turn(struct mf_vm_timed *t, mf_time at)
{
	const struct mf_vm_slow_stats before = {.steps = t->slow->stats.steps,
						.octets = t->slow->stats.octets};
	struct mf_vm_queue *out = t->slow->out;
	uint32_t sent = out->items;
	struct mf_vm_item item;
	mf_time lasts;

	while (arrives(t, t->fast->out) <= at && mf_vm_queue_take(t->fast->out, &item))
		mf_vm_slow_take(t->slow, &item);
	mf_vm_slow_date(t->slow, at);
	t->more = mf_vm_slow_work(t->slow, VM_SLOW_SLICE, SLICE_OCTETS);
	lasts = (t->slow->stats.steps - before.steps) * t->config.step +
		(t->slow->stats.octets - before.octets) * t->config.zero / SLICE_OCTETS;
	t->busy += lasts;
	t->free = at + lasts;
	date_sent(out, sent, t->free);
}

/** The fast path takes an item. A place is free: the slow path may go on. */
static void take(struct mf_vm_timed *t, mf_time at)
{
	struct mf_vm_item item;

	if (!mf_vm_queue_take(t->slow->out, &item))
		return;
	item.at = at;
	mf_vm_take(t->fast, &item);
	if (!t->more) {
		t->more = true;
		t->free = mf_time_max(t->free, at);
	}
}

void mf_vm_timed_advance(struct mf_vm_timed *t, mf_time until)
{
	for (;;) {
		mf_time taken = arrives(t, t->slow->out), next = next_turn(t);

		if (mf_time_min(taken, next) >= until)
			return;
		if (taken <= next)
			take(t, taken);
		else
			turn(t, next);
	}
}

int mf_vm_timed_stall(struct mf_vm_timed *t, mf_time from, mf_time until)
{
	struct still *more;

	if (until < from)
		return -EINVAL;
	more = realloc(t->still, (t->stills + 1) * sizeof(*more));
	if (more == NULL)
		return -ENOMEM;
	t->still = more;
	more[t->stills++] = (struct still){from, until};
	return 0;
}

/* ---- as a memory ---- */

static uint8_t timed_access(struct mf_memory *m, const struct mf_access *a, struct mf_answer *out)
{
	mf_vm_timed_advance(of(m), a->at);
	return mf_memory_virtual.access(mf_vm_memory(of(m)->fast), a, out);
}

static void timed_let_go(struct mf_memory *m, const struct mf_places *places)
{
	mf_memory_virtual.let_go(mf_vm_memory(of(m)->fast), places);
}

static uint64_t timed_held(const struct mf_memory *m)
{
	return mf_memory_virtual.held(mf_vm_memory(const_of(m)->fast));
}

static void timed_fetch(const struct mf_memory *m, uint64_t addr)
{
	mf_memory_virtual.fetch(mf_vm_memory(const_of(m)->fast), addr);
}

static const void *timed_at(const struct mf_memory *m, uint64_t addr, uint32_t len)
{
	return mf_memory_virtual.at(mf_vm_memory(const_of(m)->fast), addr, len);
}

static uint8_t timed_check(const struct mf_memory *m, uint64_t addr, uint64_t len)
{
	return mf_memory_virtual.check(mf_vm_memory(const_of(m)->fast), addr, len);
}

static uint8_t timed_zero(struct mf_memory *m, uint64_t addr, uint64_t len)
{
	return mf_memory_virtual.zero(mf_vm_memory(of(m)->fast), addr, len);
}

static uint8_t timed_ask(struct mf_memory *m, uint8_t op, const struct mf_access *a, uint64_t *result)
{
	mf_vm_timed_advance(of(m), a->at);
	return mf_memory_virtual.ask(mf_vm_memory(of(m)->fast), op, a, result);
}

static uint8_t timed_call(struct mf_memory *m, const struct mf_access *a, uint64_t *result,
			  struct mf_answer *out)
{
	mf_vm_timed_advance(of(m), a->at);
	return mf_memory_virtual.call(mf_vm_memory(of(m)->fast), a, result, out);
}

static void timed_forget(struct mf_memory *m, uint16_t node, mf_time at)
{
	mf_vm_timed_advance(of(m), at);
	mf_memory_virtual.forget(mf_vm_memory(of(m)->fast), node, at);
}

static void timed_destroy(struct mf_memory *m)
{
	mf_vm_timed_free(of(m));
}

const struct mf_memory_ops mf_memory_timed = {
	.name = "virtual",
	.destroy = timed_destroy,
	.access = timed_access,
	.let_go = timed_let_go,
	.held = timed_held,
	.fetch = timed_fetch,
	.at = timed_at,
	.check = timed_check,
	.zero = timed_zero,
	.ask = timed_ask,
	.call = timed_call,
	.forget = timed_forget,
};

/* ---- set-up ---- */

/** Until nothing is left to do: the ring is full, without time. */
static void settle(struct mf_vm_timed *t)
{
	do {
		t->free = 0;
		t->more = false;
		turn(t, 0);
		while (t->slow->out->items > 0)
			take(t, 0);
	} while (t->fast->out->items > 0 || t->slow->out->items > 0 ||
		 mf_vm_slow_work(t->slow, VM_SLOW_SLICE, SLICE_OCTETS));
	t->free = t->busy = 0;
	t->more = false;
}

struct mf_vm_timed *mf_vm_timed_new(const struct mf_vm_timed_config *config)
{
	struct mf_vm_timed *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return NULL;
	t->config = *config;
	t->fast = mf_vm_new(&config->vm);
	t->slow = t->fast != NULL ? mf_vm_slow_new(&config->vm, mf_vm_octets(t->fast)) : NULL;
	if (t->slow == NULL) {
		mf_vm_timed_free(t);
		return NULL;
	}
	settle(t);
	return t;
}

void mf_vm_timed_free(struct mf_vm_timed *t)
{
	if (t == NULL)
		return;
	mf_vm_slow_free(t->slow);
	mf_vm_free(t->fast);
	free(t->still);
	free(t);
}

const struct mf_vm *mf_vm_timed_fast(const struct mf_vm_timed *t)
{
	return t->fast;
}

const struct mf_vm_slow *mf_vm_timed_slow(const struct mf_vm_timed *t)
{
	return t->slow;
}

mf_time mf_vm_timed_busy(const struct mf_vm_timed *t)
{
	return t->busy;
}
