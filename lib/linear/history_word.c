/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A word: which of its operations must have happened, which may have, and whether there is an order of them.
 *
 * Where what the node held may have been lost the history of the word falls into stretches, one for each
 * incarnation of the memory. Each is looked at by itself. An operation that lies in a stretch as a whole
 * counts there as ever. One that touches the time of a loss may belong to the incarnation before, to that
 * behind it, or to neither.
 *
 * What may or may not have happened makes the search long, so it is cut down first. Contents are unlike each
 * other: an operation that leaves a value which nobody has found afterwards, by itself or through operations
 * of which nobody knows what they found, changes nothing by having happened. The others are taken to have
 * happened before their value was found; only if there is no such order are all orders tried.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "linear/history.h"

#define ROOM_MIN 64
#define BLIND_MAX 3 /* operations of unknown find that are followed */
#define INITIAL_MAX 64 /* values that are tried where nobody knows what there was */
#define SOUGHT (MF_NEVER - 1) /* found, or expected by a CAS, if that has happened at all */
#define PARTS_MAX 4096 /* of a stretch with parts so many are compared with each other */

/** An incarnation of the memory: it began in [from, to] and ended at `end` or later. */
struct stretch {
	mf_time from, to, end;
	bool first;
};

/** What is known of the operations of a stretch. */
struct about {
	const struct word *w;
	size_t n; /**< of .chosen */
	size_t found, made; /**< values */
	size_t optional;
	size_t blinds;
	const struct touch *blind[BLIND_MAX]; /**< the first of them */
	bool parts;
};

void word_check_init(struct word_check *c, size_t states)
{
	*c = (struct word_check){.states = states};
}

void word_check_fini(struct word_check *c)
{
	mf_linear_free(c->linear);
	free(c->op);
	free(c->of);
	free(c->chosen);
	free(c->found);
	free(c->made);
}

static int make_room(struct word_check *c, size_t n)
{
	size_t capacity = n < ROOM_MIN ? ROOM_MIN : n + n / 2, states = c->states;

	if (n <= c->capacity)
		return 0;
	word_check_fini(c);
	c->op = calloc(capacity, sizeof(*c->op));
	c->of = calloc(capacity, sizeof(*c->of));
	c->chosen = calloc(capacity, sizeof(*c->chosen));
	c->found = calloc(capacity, sizeof(*c->found));
	c->made = calloc(capacity, sizeof(*c->made));
	c->linear = mf_linear_new(capacity,
				  states < 4 * capacity ? 4 * capacity : states); /* each step is a state */
	c->capacity = c->linear != NULL ? capacity : 0;
	return c->linear != NULL && c->op != NULL && c->of != NULL && c->chosen != NULL && c->found != NULL &&
			       c->made != NULL
		       ? 0
		       : -ENOMEM;
}

/** Whether it lies in the stretch as a whole, with what it found. */
static inline bool certain(const struct touch *t, const struct stretch *s)
{
	return t->o.must && (s->first || t->o.call > s->to) && (t->last < s->end || s->end == MF_NEVER);
}

static inline bool finds(const struct touch *t)
{
	return t->o.found;
}

/** What it leaves behind whatever was there, or having found what it did. @return false: nobody knows */
static bool makes(const struct touch *t, uint64_t *value)
{
	uint64_t found = t->o.value;

	*value = history_writes(t->o.op->kind) ? t->o.value : t->arg[0];
	switch (t->o.op->kind) {
	case MF_HISTORY_WRITE:
	case MF_HISTORY_WRITE_ACK:
	case MF_HISTORY_ZEROED:
		return t->o.mask == UINT64_MAX;
	case MF_HISTORY_SWAP:
		return true;
	case MF_HISTORY_CAS:
		*value = finds(t) && found != t->arg[0] ? found : t->arg[1];
		return true;
	case MF_HISTORY_FADD:
		*value += found;
		return finds(t);
	case MF_HISTORY_OR:
		*value |= found;
		return finds(t);
	case MF_HISTORY_AND:
		*value &= found;
		return finds(t);
	default:
		return false;
	}
}

/** What an operation of unknown find makes of a value. */
static uint64_t blindly(const struct touch *t, uint64_t value)
{
	switch (t->o.op->kind) {
	case MF_HISTORY_FADD:
		return value + t->arg[0];
	case MF_HISTORY_OR:
		return value | t->arg[0];
	default:
		return value & t->arg[0];
	}
}

static int by_value(const void *a, const void *b)
{
	const struct seen_value *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return x->ret < y->ret ? -1 : x->ret > y->ret;
}

/** Place of the first that is not below. */
static size_t lower(const struct seen_value *v, size_t n, uint64_t value, mf_time ret)
{
	const struct seen_value key = {value, ret};
	size_t from = 0;

	while (n > 0) {
		size_t half = n / 2;

		if (by_value(&v[from + half], &key) < 0) {
			from += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return from;
}

/** When a value was found first, by somebody who returned at `since` or later; MF_NEVER: by nobody. */
static mf_time found_at(const struct word_check *c, const struct about *a, uint64_t value, mf_time since)
{
	size_t i = lower(c->found, a->found, value, since);

	return i < a->found && c->found[i].value == value ? c->found[i].ret : MF_NEVER;
}

static size_t made_times(const struct word_check *c, const struct about *a, uint64_t value)
{
	return lower(c->made, a->made, value, MF_NEVER) - lower(c->made, a->made, value, 0);
}

/** A CAS whose find nobody knows changes nothing but what it expects: that has been looked for, too. */
static void note_find(struct word_check *c, struct about *a, const struct touch *t, bool sure)
{
	if (t->o.found)
		c->found[a->found++] = (struct seen_value){t->o.value, sure ? t->last : SOUGHT};
	else if (t->o.op->kind == MF_HISTORY_CAS)
		c->found[a->found++] = (struct seen_value){t->arg[0], SOUGHT};
}

static void note(struct word_check *c, struct about *a, const struct touch *t, bool sure)
{
	uint64_t value;

	a->parts |= t->o.mask != UINT64_MAX;
	a->optional += !sure;
	note_find(c, a, t, sure);
	if (t->o.op->kind == MF_HISTORY_READ)
		return;
	if (makes(t, &value)) {
		c->made[a->made++] = (struct seen_value){value, 0};
	} else if (t->o.mask == UINT64_MAX) {
		if (a->blinds < BLIND_MAX)
			a->blind[a->blinds] = t;
		a->blinds++;
	}
}

/** The operations that may belong to a stretch. A read counts only if it does. */
static void choose(struct word_check *c, const struct word *w, const struct stretch *s, struct about *a)
{
	*a = (struct about){.w = w};
	for (size_t i = 0; i < w->n; i++) {
		const struct touch *t = &w->touch[i];
		bool sure = certain(t, s);

		if ((t->o.op->kind == MF_HISTORY_READ && !sure) ||
		    (!sure && (t->o.call > s->end || (!s->first && t->last < s->from))))
			continue;
		note(c, a, t, sure);
		c->chosen[a->n++] = (uint32_t)i;
	}
	qsort(c->found, a->found, sizeof(*c->found), by_value);
	qsort(c->made, a->made, sizeof(*c->made), by_value);
}

/** Whether somebody has found a value, or what operations that we know nothing of may have made of it. */
static bool reaches(const struct word_check *c, const struct about *a, uint64_t value, unsigned int used)
{
	if (found_at(c, a, value, 0) != MF_NEVER)
		return true;
	for (size_t i = 0; i < a->blinds; i++)
		if ((used >> i & 1) == 0 && reaches(c, a, blindly(a->blind[i], value), used | 1U << i))
			return true;
	return false;
}

/** Whether a find has an octet in common with what was written. */
static bool shares_octet(const struct word_check *c, const struct about *a, const struct touch *t,
			 uint64_t value)
{
	for (size_t i = 0; i < a->n; i++) {
		const struct touch *f = &a->w->touch[c->chosen[i]];
		bool expects = !f->o.found && f->o.op->kind == MF_HISTORY_CAS;
		uint64_t mask = t->o.mask & f->o.mask, differs = value ^ (expects ? f->arg[0] : f->o.value);

		if ((!f->o.found && !expects) || f->last < t->o.call)
			continue;
		for (uint64_t octet = 0xff; octet != 0; octet <<= 8)
			if ((octet & mask) != 0 && (octet & differs) == 0)
				return true;
	}
	return false;
}

/** Whether it can make a difference that it has happened. */
static bool matters(const struct word_check *c, const struct about *a, const struct touch *t)
{
	uint64_t value;
	bool made = makes(t, &value);

	if (a->blinds > BLIND_MAX)
		return true;
	if (!a->parts)
		return !made || reaches(c, a, value, 0);
	if (a->blinds > 0 || a->n > PARTS_MAX)
		return true;
	return shares_octet(c, a, t, made ? value : t->o.value);
}

/**
 * When it has happened, of one that may have: before its value was found. As a guess that is good as it is;
 * to be sure nobody else may have made the value.
 */
static mf_time deadline(const struct word_check *c, const struct about *a, const struct touch *t, bool guess,
			uint64_t initial)
{
	uint64_t value;
	mf_time at;

	if (a->parts || !makes(t, &value))
		return MF_NEVER;
	if (!guess && (a->blinds > 0 || value == initial || made_times(c, a, value) != 1))
		return MF_NEVER;
	at = found_at(c, a, value, t->o.call);
	return at == SOUGHT ? MF_NEVER : at;
}

static void step_of(const struct touch *t, struct mf_linear_op *o)
{
	static const uint8_t kind[] = {
		[MF_HISTORY_READ] = MF_LINEAR_READ,       [MF_HISTORY_WRITE] = MF_LINEAR_WRITE,
		[MF_HISTORY_WRITE_ACK] = MF_LINEAR_WRITE, [MF_HISTORY_CAS] = MF_LINEAR_CAS,
		[MF_HISTORY_FADD] = MF_LINEAR_FADD,       [MF_HISTORY_SWAP] = MF_LINEAR_SWAP,
		[MF_HISTORY_OR] = MF_LINEAR_OR,           [MF_HISTORY_AND] = MF_LINEAR_AND,
		[MF_HISTORY_ZEROED] = MF_LINEAR_WRITE,
	};

	*o = (struct mf_linear_op){.kind = kind[t->o.op->kind],
				   .call = t->o.call,
				   .arg = {t->arg[0], t->arg[1]},
				   .found = t->o.found ? MF_LINEAR_VALUE : MF_LINEAR_NOTHING,
				   .value = t->o.value};
	if (history_is_rmw(t->o.op->kind))
		return;
	o->arg[0] = t->o.value;
	o->arg[1] = t->o.mask;
	if (t->o.mask != UINT64_MAX)
		o->kind = o->kind == MF_LINEAR_READ ? MF_LINEAR_READ_PART : MF_LINEAR_WRITE_PART;
}

/** Until when it happens, and whether it has to. */
static void bound(const struct word_check *c, const struct about *a, const struct touch *t, bool sure,
		  bool guess, uint64_t initial, struct mf_linear_op *o)
{
	mf_time by = sure ? t->last : deadline(c, a, t, guess, initial);

	o->may = by == MF_NEVER;
	o->ret = o->may ? t->last : mf_time_min(by, t->last);
}

/** That of a client whose requests take effect in their order, if they do: of place n, behind the others. */
static uint32_t chain_of(const struct word_check *c, const struct about *a, size_t n, const struct touch *t)
{
	if (!t->in_order)
		return 0;
	return n > 0 && a->w->touch[c->of[n - 1]].log == t->log ? c->op[n - 1].chain : (uint32_t)n + 1;
}

/** @param guess  what is taken for granted may be wrong: only YES counts */
static int search(struct word_check *c, const struct about *a, const struct stretch *s, uint64_t initial,
		  bool guess)
{
	struct mf_linear_result r;
	size_t n = 0;

	for (size_t i = 0; i < a->n; i++) {
		const struct touch *t = &a->w->touch[c->chosen[i]];
		bool sure = certain(t, s);

		if (!sure && !matters(c, a, t)) {
			c->unread += guess;
			continue;
		}
		step_of(t, &c->op[n]);
		bound(c, a, t, sure, guess, initial, &c->op[n]);
		c->op[n].chain = chain_of(c, a, n, t);
		c->of[n++] = c->chosen[i];
	}
	if (mf_linear_check(c->linear, c->op, n, initial, &r) != 0)
		return MF_HISTORY_GAVE_UP; /* not reached: each of them is sane */
	c->bad = n > 0 ? c->of[r.op] : 0;
	if (r.verdict == MF_LINEAR_YES)
		return MF_HISTORY_YES;
	return r.verdict == MF_LINEAR_NO ? MF_HISTORY_NO : MF_HISTORY_GAVE_UP;
}

static int search_from(struct word_check *c, const struct about *a, const struct stretch *s, uint64_t initial)
{
	int answer = search(c, a, s, initial, true);

	c->initial = initial;
	if (answer == MF_HISTORY_YES || a->optional == 0)
		return answer;
	return search(c, a, s, initial, false);
}

/** Whether a word may have held it at the begin: 0, any where nobody knows, or what somebody wrote by then.
 */
static bool may_begin_with(const struct word *w, const struct stretch *s, uint64_t value)
{
	uint64_t made;

	if (value == 0 || w->unknown)
		return true;
	for (size_t i = 0; i < w->n; i++) {
		const struct touch *t = &w->touch[i];

		if (t->o.op->kind == MF_HISTORY_READ || t->o.call > s->to)
			continue;
		if (t->o.mask != UINT64_MAX || !makes(t, &made) || made == value)
			return true;
	}
	return false;
}

/** A find that no operation of the stretch has made. @return false: there is none */
static bool inherited(const struct word_check *c, const struct about *a, uint64_t *value)
{
	for (size_t i = 0; i < a->found; i++) {
		*value = c->found[i].value;
		if (c->found[i].ret != SOUGHT && made_times(c, a, *value) == 0)
			return true;
	}
	return false;
}

/**
 * Tries 0 and all that was found and may have been there: one of them it held, or what it held makes no
 * difference. Not after one that was given up: it cannot be wrong any more, and the next would take as long.
 */
static int search_any(struct word_check *c, const struct about *a, const struct stretch *s)
{
	int answer = search_from(c, a, s, 0);
	bool gave_up = answer == MF_HISTORY_GAVE_UP || a->blinds > 0;
	unsigned int tries = 0;

	for (size_t i = 0; i < a->found && answer == MF_HISTORY_NO; i++) {
		if ((i > 0 && c->found[i].value == c->found[i - 1].value) ||
		    !may_begin_with(a->w, s, c->found[i].value))
			continue;
		if (tries++ == INITIAL_MAX)
			return MF_HISTORY_GAVE_UP;
		answer = search_from(c, a, s, c->found[i].value);
		gave_up |= answer == MF_HISTORY_GAVE_UP;
	}
	return answer != MF_HISTORY_YES && gave_up ? MF_HISTORY_GAVE_UP : answer;
}

/** A stretch of which nobody knows what the word held at its begin. */
static int search_unknown(struct word_check *c, const struct about *a, const struct stretch *s)
{
	uint64_t value;

	if (a->blinds > 0 || !inherited(c, a, &value))
		return search_any(c, a, s);
	return search_from(c, a, s, may_begin_with(a->w, s, value) ? value : 0);
}

/** Finds that lie in no incarnation as a whole: nobody knows which they are of, and they are not looked at.
 */
static size_t finds_across(const struct word *w)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n && w->cuts > 0; i++) {
		const struct touch *t = &w->touch[i];
		size_t k = 0;

		while (k < w->cuts && (t->last < w->cut[k].from || t->o.call > w->cut[k].to))
			k++;
		n += t->o.found && k < w->cuts;
	}
	return n;
}

int word_check(struct word_check *c, const struct word *w)
{
	int answer = MF_HISTORY_YES, rc;

	if (w->n == 0)
		return MF_HISTORY_YES; /* no operation touched it, so there are no tables */
	rc = make_room(c, w->n);
	c->across += finds_across(w);
	for (size_t i = 0; rc == 0 && i <= w->cuts; i++) {
		struct stretch s = {.first = i == 0, .end = i < w->cuts ? w->cut[i].from : MF_NEVER};
		struct about a;
		int one;

		if (i > 0) {
			s.from = w->cut[i - 1].from;
			s.to = w->cut[i - 1].to;
		}
		choose(c, w, &s, &a);
		if (i == 0 && !w->unknown)
			one = search_from(c, &a, &s, 0);
		else
			one = a.parts ? WORD_PARTS : search_unknown(c, &a, &s);
		if (one == MF_HISTORY_NO)
			return one;
		answer = one != MF_HISTORY_YES && answer != MF_HISTORY_GAVE_UP ? one : answer;
	}
	return rc != 0 ? rc : answer;
}
