/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations: cut into pieces, each within a page of a space, or within pages that are there. */
#include "spaces/spaces.h"

enum way operation_way(const struct spaces *s, const struct mf_op *op)
{
	bool has = op->node < s->nodes && s->target_of[op->node] != UINT16_MAX;

	if (op->kind == MF_OP_RMW && op->rmw == MF_RMW_SPACE)
		return WAY_TASK;
	if (!has || op->key != 0 || (op->kind == MF_OP_RMW && op->rmw >= MF_RMW_OPS))
		return WAY_PASSES;
	if (op->space != 0)
		return WAY_POINTER;
	return s->config.spaces > 0 ? WAY_REGION : WAY_PASSES;
}

/**
 * Whether it has no effect at all if there is no page for it, and leaves nothing under way: of more than a
 * chunk grants may still come, so the host could not use its id again for a while.
 */
static bool is_whole(const struct spaces *s, const struct operation *o, uint64_t len)
{
	if (o->op.kind == MF_OP_CALL)
		return mf_call_size(o->op.len) <= s->config.whole;
	return o->op.kind == MF_OP_RMW || (o->op.kind != MF_OP_WRITE && len <= s->config.whole);
}

/**
 * Where its next octets are, and the key to do something there.
 * @param right  enum mf_right
 * @return MF_OK; MF_ERR_PENDING: that comes; or why it does not
 */
static uint8_t find(struct spaces *s, const struct operation *o, uint8_t right, struct where *w,
		    uint64_t *key)
{
	return o->way == WAY_REGION ? region_where(s, o, right, w, key) : pointer_where(s, o, right, w, key);
}

/** A piece at a page. @return NULL: it has to wait */
static struct piece *piece_at(struct spaces *s, const struct operation *o, enum piece_kind kind,
			      const struct where *w, uint64_t key, bool first)
{
	struct piece *p = piece_new(s, kind);

	if (p == NULL)
		return NULL;
	if (first && !page_put(s, o->way, w->target, w->page, PAGE_BUSY)) {
		piece_free(s, p);
		return NULL;
	}
	p->first = first;
	p->way = o->way;
	p->page = w->page;
	p->op.node = o->op.node;
	p->op.addr = w->addr;
	p->op.space = w->space;
	p->op.key = key;
	return p;
}

/** Reads a word of a page, for an operation that has to find it. @return as find() */
static uint8_t touch(struct spaces *s, const struct operation *o)
{
	struct where w;
	uint64_t key;
	uint8_t status = find(s, o, MF_RIGHT_READ, &w, &key);
	struct piece *p = status == MF_OK ? piece_at(s, o, PIECE_TOUCH, &w, key, true) : NULL;

	if (p == NULL)
		return status != MF_OK ? status : MF_ERR_PENDING;
	p->op.kind = MF_OP_READ;
	p->op.len = sizeof(p->word[0]);
	p->op.buf = p->word;
	p->op.addr = w.start;
	piece_go(s, p);
	return MF_ERR_PENDING;
}

/** @return MF_OK; MF_ERR_PENDING: it has to wait */
static uint8_t send(struct spaces *s, struct operation *o, const struct where *w, uint64_t key, bool first)
{
	uint64_t left = o->done.len - o->issued;
	struct piece *p = piece_at(s, o, PIECE_OF_OPERATION, w, key, first);

	if (p == NULL)
		return MF_ERR_PENDING;
	p->op.kind = o->op.kind;
	p->op.rmw = o->op.rmw;
	p->op.arg[0] = o->op.arg[0];
	p->op.arg[1] = o->op.arg[1];
	/* An atomic that does not stand as it should is refused there: half of it would be another one. Half
	 * of a call would, too. */
	p->op.len = left < w->left || o->op.kind >= MF_OP_RMW ? left : w->left;
	p->op.buf = o->op.buf != NULL ? (uint8_t *)o->op.buf + o->issued : NULL;
	p->operation = (uint32_t)(o - s->operation);
	if (!call_name(s, p)) {
		if (first)
			page_put(s, o->way, w->target, w->page, PAGE_UNKNOWN);
		piece_free(s, p);
		return MF_ERR_PENDING;
	}
	o->issued += p->op.len;
	o->live++;
	if (__builtin_expect(s->log != NULL, 0))
		history_begun(s, p);
	piece_go(s, p);
	return MF_OK;
}

void operation_fail(struct spaces *s, struct operation *o, uint8_t status)
{
	if (o->done.status == MF_OK)
		o->done.status = status;
	o->issued = o->done.len;
	o->done.done = o->done.done == 0 ? s->now + s->config.ask_most : mf_time_max(o->done.done, s->now);
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

/** @return MF_OK; MF_ERR_PENDING: it waits; or why it fails */
static uint8_t advance_piece(struct spaces *s, struct operation *o)
{
	struct where w;
	uint64_t key = 0, left = o->done.len - o->issued;
	uint8_t status = find(s, o, right_of(&o->op), &w, &key);
	enum page_state page;

	if (status != MF_OK)
		return status;
	if (o->op.kind == MF_OP_CALL && o->way == WAY_REGION && o->op.arg[1] > w.left)
		return MF_ERR_RANGE; /* its arguments would be those of several spaces */
	page = page_state(s, o->way, w.target, w.page);
	if (page == PAGE_BUSY)
		return MF_ERR_PENDING;
	if (page == PAGE_PRESENT || is_whole(s, o, left < w.left ? left : w.left))
		return send(s, o, &w, key, page != PAGE_PRESENT);
	return touch(s, o);
}

bool operation_advance(struct spaces *s, struct operation *o)
{
	uint8_t status = MF_OK;

	if (o->way == WAY_TASK)
		return task_ask(s, o);
	if (o->way == WAY_PASSES)
		return pass(s, o);
	if (operation_is_behind_others(s, o))
		return false;
	while (o->issued < o->done.len && status == MF_OK)
		status = advance_piece(s, o);
	if (status != MF_OK && status != MF_ERR_PENDING)
		operation_fail(s, o, status);
	return status != MF_ERR_PENDING;
}

void operation_finish(struct spaces *s, struct operation *o)
{
	uint32_t i = (uint32_t)(o - s->operation), *from = &s->done.first;

	o->done.done += s->config.client;
	if (o->done.status != MF_OK)
		o->done.len = o->op.kind == MF_OP_READ ? 0 : o->done.len;
	/* One that has failed may have a later date than those that complete now. */
	if (*from != SPACES_NONE && s->operation[s->done.last].done.done <= o->done.done)
		from = &s->operation[s->done.last].next;
	while (*from != SPACES_NONE && s->operation[*from].done.done <= o->done.done)
		from = &s->operation[*from].next;
	if (*from == SPACES_NONE)
		s->done.last = i;
	o->next = *from;
	*from = i;
	s->look |= s->barred;
}

/** There was no page for it: it goes again, as long as that is of use. @return false: it is given up */
static bool goes_again(struct spaces *s, struct piece *p, const struct mf_completion *c)
{
	if (c->status != MF_ERR_RESOURCE || (!p->first && p->way != WAY_POINTER))
		return false;
	if (!p->first) /* another node has freed the page, and it is allocated anew */
		pages_forget(s, s->target_of[p->op.node], p->op.space, p->op.addr, p->op.len);
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
	bool present = status == MF_OK && !p->former;

	page_put(s, p->way, s->target_of[p->op.node], p->page, present ? PAGE_PRESENT : PAGE_UNKNOWN);
	s->look = true;
}

/** Whether a touch was of a space that is not there any more, or may not be: others wait for the new one. */
static bool is_former(const struct spaces *s, const struct piece *p)
{
	const struct space *sp;

	if (p->way != WAY_REGION)
		return false;
	sp = &s->space[p->page / s->config.pages];
	return sp->step != SPACE_READY || sp->key[MF_RIGHT_READ] != p->op.key;
}

/** Whether an operation that waits has its next octets in a page. */
static bool is_at(struct spaces *s, const struct operation *o, const struct piece *p)
{
	struct where w;
	uint64_t key;

	if (o->way != p->way || o->op.node != p->op.node ||
	    (o->way == WAY_POINTER && o->op.space != p->op.space))
		return false;
	(void)find(s, o, right_of(&o->op), &w, &key);
	return w.page == p->page;
}

/** A page that could not be touched: the operations that wait for it fail. */
static void touch_failed(struct spaces *s, const struct piece *p, uint8_t status)
{
	uint32_t *from = &s->held.first, last = SPACES_NONE;

	while (*from != SPACES_NONE) {
		struct operation *o = &s->operation[*from];
		uint32_t next = o->next;

		if (!is_at(s, o, p)) {
			last = *from;
			from = &o->next;
			continue;
		}
		*from = next;
		o->held = false;
		order_waits_no_more(s, o);
		operation_fail(s, o, status);
	}
	s->held.last = last;
}

/** Its key may be of an epoch that is over: it goes again if there is another one. */
static bool is_refused(struct spaces *s, struct piece *p, uint8_t status)
{
	if (status != MF_ERR_KEY || p->way != WAY_POINTER)
		return false;
	key_refused(s, s->target_of[p->op.node], p->op.space, right_of(&p->op), p->op.key);
	call_slot_free(s, p);
	p->state = PIECE_REFUSED;
	piece_put(s, &s->refused, p);
	s->look = true;
	return true;
}

/** A call that was answered that it is under way, or has not begun: it is asked again. */
static bool is_under_way(struct spaces *s, struct piece *p, uint8_t status)
{
	if (p->op.kind != MF_OP_CALL || (status != MF_ERR_PENDING && status != MF_ERR_BUSY))
		return false;
	s->stats.asked_again++;
	piece_again(s, p, s->now, s->config.ask_most);
	return true;
}

static void piece_over(struct spaces *s, struct piece *p, const struct mf_completion *c)
{
	struct operation *o;

	if (p->first)
		first_done(s, p, c->status);
	if (p->kind == PIECE_TOUCH) {
		if (c->status != MF_OK && !is_former(s, p))
			touch_failed(s, p, c->status);
		piece_free(s, p);
		return;
	}
	o = &s->operation[p->operation];
	if (__builtin_expect(s->log != NULL, 0) && o->way != WAY_PASSES)
		history_over(s, p, c);
	o->live--;
	o->done.first = mf_time_min(o->done.first, c->first);
	o->done.done = mf_time_max(o->done.done, c->done);
	o->done.result = c->result;
	if (o->op.kind == MF_OP_CALL && c->status == MF_OK)
		o->issued = o->done.len = c->len;
	call_slot_free(s, p);
	piece_free(s, p);
	if (c->status != MF_OK) {
		operation_fail(s, o, c->status);
		s->look |= o->held; /* what is left of it does not wait any more */
	} else if (o->live == 0 && o->issued == o->done.len && !o->held) {
		operation_finish(s, o);
	}
}

void operation_piece_done(struct spaces *s, struct piece *p, const struct mf_completion *c)
{
	s->stats.failed_writes +=
		c->status != MF_OK && (p->op.kind == MF_OP_WRITE || p->op.kind == MF_OP_WRITE_ACK);
	if (!goes_again(s, p, c) && !is_under_way(s, p, c->status) && !is_refused(s, p, c->status))
		piece_over(s, p, c);
}

/** Those whose keys were refused: with other keys, or that was all. */
static void look_at_refused(struct spaces *s)
{
	struct list list = s->refused;

	s->refused.first = s->refused.last = SPACES_NONE;
	while (list.first != SPACES_NONE) {
		struct piece *p = &s->piece[list.first];
		struct mf_completion c = {.status = MF_ERR_KEY, .first = MF_NEVER, .done = s->now};
		uint64_t key = 0;
		uint8_t status = key_get(s, s->target_of[p->op.node], p->op.space, right_of(&p->op), &key);

		list.first = p->next;
		if (status == MF_ERR_PENDING || (status == MF_OK && key != p->op.key && !call_name(s, p))) {
			piece_put(s, &s->refused, p);
		} else if (status == MF_OK && key != p->op.key) {
			p->op.key = key;
			piece_go(s, p);
		} else {
			c.status = status == MF_OK ? MF_ERR_KEY : status;
			piece_over(s, p, &c);
		}
	}
}

void operation_hold(struct spaces *s, struct operation *o)
{
	uint32_t i = (uint32_t)(o - s->operation);

	o->held = true;
	order_waits(s, o);
	o->next = SPACES_NONE;
	if (s->held.first == SPACES_NONE)
		s->held.first = i;
	else
		s->operation[s->held.last].next = i;
	s->held.last = i;
}

void operations_look(struct spaces *s)
{
	struct list list;

	s->look = s->starved = s->barred = false;
	look_at_refused(s);
	list = s->held;
	order_none_waits(s);
	s->held.first = s->held.last = SPACES_NONE;
	while (list.first != SPACES_NONE) {
		struct operation *o = &s->operation[list.first];

		list.first = o->next;
		if (o->issued < o->done.len && (s->starved || !operation_advance(s, o))) {
			operation_hold(s, o);
			continue;
		}
		o->held = false;
		if (o->live == 0)
			operation_finish(s, o);
	}
	keys_looked(s);
}
