/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations: from addresses of a client's region to pieces, each within a page of a space. */
#include "spaces/spaces.h"

/** Where an octet of the region is. */
struct where {
	uint32_t space;
	uint64_t page, offset; /**< of the space; in the page */
	uint64_t left; /**< octets that follow each other there, it included */
};

/** Units of `interleave` octets go to all pages of all spaces in turn. */
static struct where find(const struct spaces *s, uint64_t addr)
{
	uint64_t in = addr - s->config.base, unit = s->config.interleave;
	uint64_t pages = s->config.spaces * s->config.pages, n = in / unit, turn = n % pages;

	return (struct where){.space = (uint32_t)(turn % s->config.spaces),
			      .page = turn / s->config.spaces,
			      .offset = n / pages * unit + in % unit,
			      .left = unit - in % unit};
}

uint64_t page_number(const struct spaces *s, unsigned int target, uint32_t space, uint64_t page)
{
	return ((uint64_t)target * s->config.spaces + space) * s->config.pages + page;
}

uint64_t page_address(const struct spaces *s, unsigned int target, uint32_t space, uint64_t page)
{
	uint64_t range = ((uint64_t)target * s->config.spaces + space) * s->ranges + page / SPACES_RANGE;

	return s->at[range] + (page % SPACES_RANGE << s->target[target].config.shift);
}

static enum mf_right right_of(uint8_t kind)
{
	return kind == MF_OP_READ ? MF_RIGHT_READ : kind == MF_OP_RMW ? MF_RIGHT_RMW : MF_RIGHT_WRITE;
}

/**
 * Whether it has no effect at all if there is no page for it, and leaves nothing under way: of more than a
 * chunk grants may still come, so the host could not use its id again for a while.
 */
static bool is_whole(const struct spaces *s, const struct operation *o, uint64_t len)
{
	return o->op.kind == MF_OP_RMW || (o->op.kind != MF_OP_WRITE && len <= s->config.whole);
}

static void fill(const struct spaces *s, struct piece *p, unsigned int target, const struct where *w)
{
	const struct target *t = &s->target[target];
	const struct space *sp = &s->space[(uint64_t)target * s->config.spaces + w->space];

	p->op.node = t->config.node;
	p->op.addr = page_address(s, target, w->space, w->page) + w->offset;
	p->op.space = mf_space_number(t->config.maker, w->space);
	p->op.key = sp->key[right_of(p->op.kind)];
}

/** Reads a word of a page, for an operation that has to find it. @return false: there is no piece for it */
static bool touch(struct spaces *s, unsigned int target, struct where w, uint64_t page)
{
	struct piece *p = piece_new(s, PIECE_TOUCH);

	if (p == NULL)
		return false;
	p->first = true;
	p->page = page;
	w.offset = 0;
	p->op.kind = MF_OP_READ;
	p->op.len = sizeof(p->word[0]);
	p->op.buf = p->word;
	fill(s, p, target, &w);
	bit_put(s->busy, page, true);
	piece_go(s, p);
	return true;
}

static bool send(struct spaces *s, struct operation *o, unsigned int target, const struct where *w,
		 uint64_t page, bool first)
{
	uint64_t left = o->op.kind == MF_OP_RMW ? o->done.len : o->op.len - o->issued;
	struct piece *p = piece_new(s, PIECE_OF_OPERATION);

	if (p == NULL)
		return false;
	p->op.kind = o->op.kind;
	p->op.rmw = o->op.rmw;
	p->op.arg[0] = o->op.arg[0];
	p->op.arg[1] = o->op.arg[1];
	p->op.len = left < w->left ? left : w->left;
	p->op.buf = o->op.buf != NULL ? (uint8_t *)o->op.buf + o->issued : NULL;
	p->operation = (uint32_t)(o - s->operation);
	p->first = first;
	p->page = page;
	fill(s, p, target, w);
	if (first)
		bit_put(s->busy, page, true);
	o->issued += p->op.len;
	o->live++;
	piece_go(s, p);
	return true;
}

/** It ends without what is left of it. One that never went takes as long as it takes to ask. */
static void fail(struct spaces *s, struct operation *o, uint8_t status)
{
	if (o->done.status == MF_OK)
		o->done.status = status;
	o->issued = o->done.len;
	if (o->done.done == 0)
		o->done.done = s->now + s->config.ask_most;
	if (o->live == 0 && !o->held)
		operation_finish(s, o);
}

static bool pass(struct spaces *s, struct operation *o)
{
	struct piece *p = piece_new(s, PIECE_OF_OPERATION);
	uint64_t user;

	if (p == NULL)
		return false;
	user = p->op.user;
	p->op = o->op;
	p->op.user = user;
	p->operation = (uint32_t)(o - s->operation);
	o->issued = o->done.len;
	o->live = 1;
	piece_go(s, p);
	return true;
}

/** @return false: it waits */
static bool advance_piece(struct spaces *s, struct operation *o)
{
	unsigned int target = s->target_of[o->op.node];
	struct where w = find(s, o->op.addr + o->issued);
	const struct space *sp = &s->space[(uint64_t)target * s->config.spaces + w.space];
	uint64_t page = page_number(s, target, w.space, w.page);

	if (sp->step == SPACE_FAILED) {
		fail(s, o, MF_ERR_RESOURCE);
		return true;
	}
	if (sp->step != SPACE_READY)
		return false;
	if (bit(s->present, page))
		return send(s, o, target, &w, page, false);
	if (bit(s->busy, page))
		return false;
	if (is_whole(s, o, o->op.len - o->issued < w.left ? o->op.len - o->issued : w.left))
		return send(s, o, target, &w, page, true);
	touch(s, target, w, page);
	return false;
}

/** Whether an operation that waits has octets of another one still to be read or written. */
static bool overlaps(const struct operation *waits, const struct operation *o)
{
	uint64_t from = waits->op.addr + waits->issued, end = waits->op.addr + waits->done.len;

	return !waits->passes && waits->op.node == o->op.node && from < o->op.addr + o->done.len &&
	       o->op.addr + o->issued < end;
}

/** What is asked of the same octets is done in the order in which it was asked. */
static bool is_behind_others(const struct spaces *s, const struct operation *o)
{
	for (uint32_t i = s->held.first; i != SPACES_NONE; i = s->operation[i].next)
		if (overlaps(&s->operation[i], o))
			return true;
	return false;
}

bool operation_advance(struct spaces *s, struct operation *o)
{
	if (!o->passes && is_behind_others(s, o))
		return false;
	if (o->passes) {
		if (o->op.kind == MF_OP_RMW && o->op.rmw == MF_RMW_SPACE)
			return set_up_ask(s, o);
		return pass(s, o);
	}
	while (o->issued < o->done.len)
		if (!advance_piece(s, o))
			return false;
	return true;
}

void operation_finish(struct spaces *s, struct operation *o)
{
	uint32_t i = (uint32_t)(o - s->operation);

	if (o->done.status != MF_OK)
		o->done.len = o->op.kind == MF_OP_READ ? 0 : o->done.len;
	o->next = SPACES_NONE;
	if (s->done.first == SPACES_NONE)
		s->done.first = i;
	else
		s->operation[s->done.last].next = i;
	s->done.last = i;
}

/** There was no page for it: it goes again, as long as that is of use. @return false: it is given up */
static bool goes_again(struct spaces *s, struct piece *p, const struct mf_completion *c)
{
	if (c->status != MF_ERR_RESOURCE || !p->first)
		return false;
	if (s->now - p->since >= s->config.give_up) {
		s->stats.given_up++;
		return false;
	}
	s->stats.waited++;
	piece_again(s, p, s->now, s->config.ask_most);
	return true;
}

/** What came of the first access of a page. */
static void first_done(struct spaces *s, const struct piece *p, uint8_t status)
{
	bit_put(s->busy, p->page, false);
	if (status == MF_OK)
		bit_put(s->present, p->page, true);
	s->look = true;
}

/** A page that could not be touched: the operations that waited for it try by themselves, and fail. */
static void touch_failed(struct spaces *s, const struct piece *p, uint8_t status)
{
	uint32_t *from = &s->held.first, last = SPACES_NONE;

	while (*from != SPACES_NONE) {
		struct operation *o = &s->operation[*from];
		uint32_t next = o->next;
		unsigned int target = o->passes ? 0 : s->target_of[o->op.node];
		struct where w = {0};

		if (!o->passes)
			w = find(s, o->op.addr + o->issued);
		if (o->passes || page_number(s, target, w.space, w.page) != p->page) {
			last = *from;
			from = &o->next;
			continue;
		}
		*from = next;
		o->held = false;
		fail(s, o, status);
	}
	s->held.last = last;
}

void operation_piece_done(struct spaces *s, struct piece *p, const struct mf_completion *c)
{
	struct operation *o;

	if (goes_again(s, p, c))
		return;
	if (p->first)
		first_done(s, p, c->status);
	if (p->kind == PIECE_TOUCH) {
		if (c->status != MF_OK)
			touch_failed(s, p, c->status);
		piece_free(s, p);
		return;
	}
	o = &s->operation[p->operation];
	o->live--;
	o->done.first = mf_time_min(o->done.first, c->first);
	o->done.done = mf_time_max(o->done.done, c->done);
	o->done.result = c->result;
	piece_free(s, p);
	if (c->status != MF_OK)
		fail(s, o, c->status);
	else if (o->live == 0 && o->issued == o->done.len && !o->held)
		operation_finish(s, o);
}

void operation_hold(struct spaces *s, struct operation *o)
{
	uint32_t i = (uint32_t)(o - s->operation);

	o->held = true;
	o->next = SPACES_NONE;
	if (s->held.first == SPACES_NONE)
		s->held.first = i;
	else
		s->operation[s->held.last].next = i;
	s->held.last = i;
}

void operations_look(struct spaces *s)
{
	struct list list = s->held;

	s->look = s->starved = false;
	s->held.first = s->held.last = SPACES_NONE;
	while (list.first != SPACES_NONE) {
		struct operation *o = &s->operation[list.first];

		list.first = o->next;
		if (s->starved || !operation_advance(s, o)) {
			operation_hold(s, o);
			continue;
		}
		o->held = false;
		if (o->live == 0)
			operation_finish(s, o);
	}
}
