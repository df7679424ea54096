/* SPDX-License-Identifier: BSD-3-Clause */
#include "definition.h"

#define GRID (2 * DEF_TIMES) /* times, and what lies between them */
#define VALUES 1024

/** An operation on a word in a life, as the tables of the document have it. */
struct step {
	uint8_t log, kind;
	bool must, found, chained;
	mf_time call, last;
	uint64_t mask, value, arg[2];
};

struct incarnation {
	unsigned int n;
	struct step step[DEF_OPS];
	bool parts, blind;
};

static bool is_atomic(const struct def_op *o)
{
	return o->kind >= MF_HISTORY_CAS && o->kind <= MF_HISTORY_AND;
}

static bool is_op(const struct def_op *o)
{
	return o->kind <= MF_HISTORY_AND || o->kind == MF_HISTORY_ZEROED;
}

/** Recorded, and not an atomic that memfab refuses whatever is there. */
static bool is_seen(const struct def_history *h, const struct def_op *o)
{
	return o->call < h->full && !(is_atomic(o) && o->addr % 8 != 0);
}

static bool is_answered(const struct def_op *o)
{
	return o->outcome == MF_HISTORY_OK && o->kind != MF_HISTORY_WRITE;
}

static bool is_cut_of(const struct def_history *h, unsigned int i, const struct def_op *like)
{
	const struct def_op *o = &h->op[i];

	return o->kind == MF_HISTORY_CUT && o->log == like->log && o->node == like->node && o->call < h->full;
}

/** The first cut of the operation's node in its log that stands behind it. */
static mf_time next_cut(const struct def_history *h, unsigned int i)
{
	for (unsigned int k = i + 1; k < h->n; k++)
		if (is_cut_of(h, k, &h->op[i]))
			return h->op[k].call;
	return MF_NEVER;
}

/** Answered by its client's log: neither a region nor what came behind a cut. */
static bool answers(const struct def_history *h, unsigned int i, const struct def_op *like)
{
	const struct def_op *o = &h->op[i];

	return o->kind <= MF_HISTORY_AND && is_seen(h, o) && is_answered(o) && o->log == like->log &&
	       o->node == like->node && o->ret < next_cut(h, i);
}

/** When the first of the later ones was answered with no cut between them. */
static mf_time answered_behind(const struct def_history *h, unsigned int i)
{
	mf_time first = MF_NEVER;

	for (unsigned int k = i; k < h->n && !is_cut_of(h, k, &h->op[i]); k++)
		if (answers(h, k, &h->op[i]) && h->op[k].ret < first)
			first = h->op[k].ret;
	return first;
}

/** Where memory of a node may have been lost, as the document has it. */
static void find_losses(const struct def_history *h, unsigned int node, bool lost[GRID])
{
	bool alive[GRID] = {false};

	for (unsigned int i = 0; i < GRID; i++)
		lost[i] = false;
	for (unsigned int i = 0; i < h->n; i++) {
		const struct def_op *o = &h->op[i];
		mf_time from = 0;

		if (o->node != node || !is_cut_of(h, i, o))
			continue;
		for (unsigned int k = 0; k < i; k++)
			if (h->op[k].kind <= MF_HISTORY_AND && is_seen(h, &h->op[k]) &&
			    is_answered(&h->op[k]) && h->op[k].log == o->log && h->op[k].node == node &&
			    h->op[k].ret < o->call)
				from = h->op[k].call;
		for (mf_time t = 2 * from; t <= 2 * o->call; t++)
			lost[t] = true;
	}
	/* Two that a client was answered between cuts: what lies between them is of one life. */
	for (unsigned int i = 0; i < h->n; i++) {
		const struct def_op *o = &h->op[i];

		for (unsigned int k = i; h->tells && o->node == node && k < h->n && !is_cut_of(h, k, o);
		     k++) {
			const struct def_op *p = &h->op[k];

			if (!answers(h, i, o) || !answers(h, k, o) || o->ret >= h->full || p->ret >= h->full)
				continue;
			for (mf_time t = 2 * o->ret; t <= 2 * p->call; t++)
				alive[t] = true;
			for (mf_time t = 2 * p->ret; t <= 2 * o->call; t++)
				alive[t] = true;
		}
	}
	/* Of a stretch of time that is alive the ends are not: lost and alive touch there. */
	for (unsigned int i = 0; i < GRID; i++) {
		bool inside = i > 0 && i + 1 < GRID && alive[i - 1] && alive[i + 1];

		lost[i] &= !(alive[i] && inside);
	}
	for (unsigned int i = 0; i < GRID; i++) /* a time alone is none */
		if (lost[i] && !(i > 0 && lost[i - 1]) && !(i + 1 < GRID && lost[i + 1]))
			lost[i] = false;
}

static uint64_t mask_of(const struct def_op *o, unsigned int word)
{
	uint64_t mask = 0;

	for (unsigned int octet = 0; octet < 8; octet++)
		if (word * 8 + octet >= o->addr && word * 8 + octet < o->addr + o->len)
			mask |= UINT64_C(0xff) << 8 * octet;
	return is_atomic(o) && mask != 0 ? UINT64_MAX : mask;
}

static bool was_cut(const struct def_history *h, unsigned int node)
{
	for (unsigned int i = 0; i < h->n; i++)
		if (h->op[i].node == node && is_cut_of(h, i, &h->op[i]))
			return true;
	return false;
}

/** The table "What is checked". @return false: it says nothing of the word */
static bool step_of(const struct def_history *h, unsigned int i, unsigned int node, unsigned int word,
		    struct step *s)
{
	const struct def_op *o = &h->op[i];
	bool refused = o->outcome == MF_HISTORY_REFUSED || (o->outcome == MF_HISTORY_NO_ROOM && h->in_order);
	bool zeroing = o->kind == MF_HISTORY_ZEROED;
	mf_time behind;

	if (!is_op(o) || !is_seen(h, o) || o->node != node || mask_of(o, word) == 0 ||
	    (refused && !was_cut(h, node)))
		return false;
	*s = (struct step){.log = o->log,
			   .kind = o->kind,
			   .must = is_answered(o),
			   .chained = h->in_order && !zeroing,
			   .call = o->call,
			   .last = is_answered(o) || o->outcome == MF_HISTORY_RESTARTED ? o->ret : MF_NEVER,
			   .mask = mask_of(o, word),
			   .value = is_atomic(o) ? o->data[0] : o->data[word],
			   .arg = {o->arg[0], o->arg[1]}};
	if (zeroing)
		s->value = 0;
	s->found = s->must && o->ret < h->full && (o->kind == MF_HISTORY_READ || is_atomic(o));
	behind = s->chained ? answered_behind(h, i) : MF_NEVER;
	if (behind != MF_NEVER && h->lossless && o->kind == MF_HISTORY_WRITE && o->outcome == MF_HISTORY_OK)
		s->must = true;
	if (behind < s->last)
		s->last = behind;
	return s->found || o->kind != MF_HISTORY_READ;
}

/** @return false: it cannot have found that */
static bool happens(const struct step *s, uint64_t was, uint64_t *now)
{
	if (s->found && (was & s->mask) != s->value)
		return false;
	switch (s->kind) {
	case MF_HISTORY_READ:
		*now = was;
		break;
	case MF_HISTORY_CAS:
		*now = was == s->arg[0] ? s->arg[1] : was;
		break;
	case MF_HISTORY_FADD:
		*now = was + s->arg[0];
		break;
	case MF_HISTORY_SWAP:
		*now = s->arg[0];
		break;
	case MF_HISTORY_OR:
		*now = was | s->arg[0];
		break;
	case MF_HISTORY_AND:
		*now = was & s->arg[0];
		break;
	default:
		*now = (was & ~s->mask) | s->value;
	}
	return true;
}

/** Whether the i-th may be the next one. */
static bool may_follow(const struct incarnation *l, unsigned int done, unsigned int i)
{
	const struct step *s = &l->step[i];

	for (unsigned int k = 0; k < l->n; k++) {
		const struct step *o = &l->step[k];
		bool own = k != i && o->log == s->log && o->chained && s->chained;

		if ((done >> k & 1) != 0 ? o->call > s->last || (own && k > i) : own && k < i && o->must)
			return false;
	}
	return true;
}

static bool any_order(const struct incarnation *l, unsigned int done, uint64_t value)
{
	bool whole = true;
	uint64_t next;

	for (unsigned int i = 0; i < l->n; i++)
		whole &= !l->step[i].must || (done >> i & 1) != 0;
	if (whole)
		return true;
	for (unsigned int i = 0; i < l->n; i++)
		if ((done >> i & 1) == 0 && may_follow(l, done, i) && happens(&l->step[i], value, &next) &&
		    any_order(l, done | 1U << i, next))
			return true;
	return false;
}

/** Of those of the word the ones that lie in a life, or may: it began in [from, to], the next one at `end`.
 */
static void choose(const struct incarnation *all, bool first, mf_time from, mf_time to, mf_time end,
		   struct incarnation *of)
{
	*of = (struct incarnation){0};
	for (unsigned int i = 0; i < all->n; i++) {
		struct step s = all->step[i];
		bool whole = s.must && (first || s.call > to) && (end == MF_NEVER || s.last < end);
		bool touches = s.call <= end && (first || s.last >= from);

		if (!whole && (s.kind == MF_HISTORY_READ || !touches))
			continue;
		s.must = whole;
		of->parts |= s.mask != UINT64_MAX;
		of->blind |= !s.found && (s.kind == MF_HISTORY_FADD || s.kind == MF_HISTORY_OR ||
					  s.kind == MF_HISTORY_AND);
		of->step[of->n++] = s;
	}
}

/** What an operation may have left; nothing else was there before a loss. @return false: nobody knows */
static bool leaves(const struct step *s, uint64_t *value)
{
	bool blind_cas = s->kind == MF_HISTORY_CAS && !s->found;

	*value = blind_cas ? s->arg[1] : s->kind == MF_HISTORY_SWAP ? s->arg[0] : s->value;
	if (blind_cas || s->kind == MF_HISTORY_SWAP)
		return true;
	if (s->mask != UINT64_MAX || (is_atomic(&(struct def_op){.kind = s->kind}) && !s->found))
		return false;
	return happens(s, s->value, value);
}

static bool was_left(const struct incarnation *all, mf_time to, uint64_t value)
{
	uint64_t left;

	for (unsigned int i = 0; i < all->n; i++) {
		const struct step *s = &all->step[i];

		if (s->kind != MF_HISTORY_READ && s->call <= to && (!leaves(s, &left) || left == value))
			return true;
	}
	return value == 0;
}

static unsigned int add_value(uint64_t *v, unsigned int n, uint64_t value)
{
	for (unsigned int i = 0; i < n; i++)
		if (v[i] == value)
			return n;
	if (n < VALUES)
		v[n++] = value;
	return n;
}

/** All that a word may have held so that it makes a difference: what was found or expected, less what was
 * added. */
static unsigned int initials(const struct incarnation *l, uint64_t v[VALUES])
{
	unsigned int n = add_value(v, 0, 0);

	for (unsigned int i = 0; i < l->n; i++) {
		n = add_value(v, n, l->step[i].value);
		n = add_value(v, n, l->step[i].arg[0]);
	}
	for (unsigned int i = 0; i < l->n; i++)
		for (unsigned int k = 0, m = n; k < m && l->step[i].kind == MF_HISTORY_FADD; k++)
			n = add_value(v, n, v[k] - l->step[i].arg[0]);
	return n;
}

static enum def_answer judge_incarnation(const struct incarnation *all, const struct incarnation *l,
					 bool first, mf_time to, bool unknown)
{
	uint64_t v[VALUES];
	unsigned int n;

	if (first && !unknown)
		return any_order(l, 0, 0) ? DEF_YES : DEF_NO;
	if (l->parts)
		return DEF_YES; /* it is not looked at */
	n = initials(l, v);
	for (unsigned int i = 0; i < n; i++)
		if ((unknown || was_left(all, to, v[i])) && any_order(l, 0, v[i]))
			return l->blind ? DEF_YES_OR_UNKNOWN : DEF_YES;
	return l->blind ? DEF_NO_OR_UNKNOWN : DEF_NO;
}

static enum def_answer worse(enum def_answer a, enum def_answer b)
{
	return a > b ? a : b;
}

static enum def_answer judge_word(const struct def_history *h, unsigned int node, unsigned int word)
{
	enum def_answer answer = DEF_YES;
	struct incarnation all = {0}, one;
	bool lost[GRID], first = true, unknown = false;
	mf_time from = 0, to = 0;

	for (unsigned int i = 0; i < h->n; i++) {
		all.n += step_of(h, i, node, word, &all.step[all.n]);
		unknown |= h->op[i].kind == MF_HISTORY_UNKNOWN && h->op[i].node == node &&
			   mask_of(&h->op[i], word) != 0;
	}
	find_losses(h, node, lost);
	for (unsigned int t = 0; t < GRID; t++) {
		if (!lost[t] || (t > 0 && lost[t - 1]))
			continue;
		choose(&all, first, from, to, t / 2, &one);
		answer = worse(answer, judge_incarnation(&all, &one, first, to, unknown));
		first = false;
		from = t / 2;
		while (t + 1 < GRID && lost[t + 1])
			t++;
		to = t / 2;
	}
	choose(&all, first, from, to, MF_NEVER, &one);
	return worse(answer, judge_incarnation(&all, &one, first, to, unknown));
}

enum def_answer def_judge(const struct def_history *h)
{
	enum def_answer answer = DEF_YES;

	for (unsigned int i = 0; i < 2 * DEF_WORDS; i++)
		answer = worse(answer, judge_word(h, i / DEF_WORDS, i % DEF_WORDS));
	return answer;
}
