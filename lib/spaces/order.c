/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an operation has to wait for: what is asked of the same octets is done in the order in which it was
 * asked.
 *
 * Thousands may wait, and each is looked at whenever something has happened. So those that wait are found by
 * where they are: each whose octets are within a granule is in the chain of that granule, the others are in
 * one of their own. Of frees and protects under way there are as many as slots for tasks, in one chain.
 */
#include <string.h>

#include "base/mf_rng.h"
#include "spaces/spaces.h"

#define GRANULE_SHIFT 16
#define WIDE CHAINS /* the chain of what is in several granules, or in none */

/** Octets of a space, or of a region, that an operation is about. */
struct range {
	uint16_t node;
	uint32_t space;
	uint64_t from, end;
};

static struct range range_of(const struct operation *o)
{
	uint64_t octets = o->done.len;

	if (o->op.kind == MF_OP_CALL)
		octets = o->op.arg[1];
	else if (o->way == WAY_TASK)
		octets = task_is_barrier(&o->op) ? o->op.arg[1] & MF_SPACE_OCTETS_MASK : 0;
	return (struct range){
		.node = o->op.node, .space = o->op.space, .from = o->op.addr, .end = o->op.addr + octets};
}

/** What is left of it. */
static struct range rest_of(const struct operation *o)
{
	struct range r = range_of(o);

	if (o->way != WAY_TASK)
		r.from += o->issued;
	return r;
}

static bool overlap(const struct range *a, const struct range *b)
{
	return a->node == b->node && a->space == b->space && a->from < b->end && b->from < a->end;
}

static unsigned int chain_of(const struct range *r)
{
	uint64_t granule = r->from >> GRANULE_SHIFT;

	if (r->end <= r->from || (r->end - 1) >> GRANULE_SHIFT != granule)
		return WIDE;
	return (unsigned int)(mf_hash64(granule ^ (uint64_t)r->space << 32 ^ (uint64_t)r->node << 54) %
			      CHAINS);
}

static uint32_t place_of(const struct spaces *s, const struct operation *o)
{
	return (uint32_t)(o - s->operation);
}

static void chain(struct spaces *s, uint32_t *first, struct operation *o)
{
	o->chain = *first;
	*first = place_of(s, o);
}

static void unchain(struct spaces *s, uint32_t *first, const struct operation *o)
{
	while (*first != place_of(s, o))
		first = &s->operation[*first].chain;
	*first = o->chain;
}

void order_begin(struct spaces *s)
{
	memset(s->waits, 0xff, sizeof(s->waits));
	s->barriers = SPACES_NONE;
}

void order_waits(struct spaces *s, struct operation *o)
{
	struct range r = range_of(o);

	chain(s, &s->waits[chain_of(&r)], o);
}

void order_waits_no_more(struct spaces *s, struct operation *o)
{
	struct range r = range_of(o);

	unchain(s, &s->waits[chain_of(&r)], o);
}

void order_none_waits(struct spaces *s)
{
	for (uint32_t i = s->held.first; i != SPACES_NONE; i = s->operation[i].next) {
		struct range r = range_of(&s->operation[i]);

		s->waits[chain_of(&r)] = SPACES_NONE;
	}
}

void order_barrier(struct spaces *s, struct operation *o)
{
	if (task_is_barrier(&o->op))
		chain(s, &s->barriers, o);
}

void order_barrier_done(struct spaces *s, struct operation *o)
{
	if (task_is_barrier(&o->op))
		unchain(s, &s->barriers, o);
}

/** Whether an operation that waits has octets of another one still to be dealt with. */
static bool waits_for(const struct operation *waits, const struct range *r)
{
	struct range left = rest_of(waits);

	return waits->way != WAY_PASSES && overlap(&left, r);
}

static bool chain_has(const struct spaces *s, uint32_t first, const struct range *r)
{
	for (uint32_t i = first; i != SPACES_NONE; i = s->operation[i].chain)
		if (waits_for(&s->operation[i], r))
			return true;
	return false;
}

/** Whether one that waits, before it, is about the same octets. */
static bool is_behind_waiting(const struct spaces *s, const struct operation *o, const struct range *left)
{
	struct range r = range_of(o);
	unsigned int at = chain_of(&r);

	if (s->held.first == SPACES_NONE)
		return false;
	if (at != WIDE)
		return chain_has(s, s->waits[at], left) || chain_has(s, s->waits[WIDE], left);
	for (uint32_t i = s->held.first; i != SPACES_NONE; i = s->operation[i].next)
		if (waits_for(&s->operation[i], left))
			return true;
	return false;
}

/** Whether a free or protect under way is of the same octets. */
static bool is_behind_barrier(const struct spaces *s, const struct range *left)
{
	for (uint32_t i = s->barriers; i != SPACES_NONE; i = s->operation[i].chain) {
		struct range of = range_of(&s->operation[i]);

		if (overlap(&of, left))
			return true;
	}
	return false;
}

/** Whether anything under way is of the same octets. */
static bool is_behind_any(const struct spaces *s, const struct operation *o, const struct range *left)
{
	for (uint32_t i = 0; i < s->used; i++) {
		const struct operation *other = &s->operation[i];
		struct range of = range_of(other);

		if (other->live > 0 && other != o && other->way != WAY_PASSES && overlap(&of, left))
			return true;
	}
	return false;
}

bool operation_is_behind_others(struct spaces *s, const struct operation *o)
{
	bool barrier = o->way == WAY_TASK && task_is_barrier(&o->op), barred;
	struct range left;

	if (s->held.first == SPACES_NONE && s->barriers == SPACES_NONE && !barrier)
		return false; /* as most often */
	left = rest_of(o);
	if (is_behind_waiting(s, o, &left))
		return true;
	barred = barrier ? is_behind_any(s, o, &left) : is_behind_barrier(s, &left);
	s->barred |= barred;
	return barred;
}
