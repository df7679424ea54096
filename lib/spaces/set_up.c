/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The spaces of the region. Each of a target's slots is a worker that asks for one task at a time, again and
 * again until it is answered: of a space on its way, step by step; of a client (task.c); or for a key
 * (key.c).
 *
 *      MAKE ──> JOIN_READ ──> JOIN_WRITE ──> JOIN_RMW ──> ALLOCATE ──> [POPULATE] ──> READY
 *       │ there is one of before                                                       │ the target
 *       └──> RETAKE ──> END ──> MAKE        MAKE <── it is gone ── PROBE <── was lost ─┘
 *               └── it ends, or is gone ──> MAKE, later each time
 *
 * The same request again is the same task (mf_space.h). So what is lost, or late, is asked again.
 */
#include "spaces/spaces.h"

static struct space *space_at(const struct spaces *s, unsigned int target, uint32_t space)
{
	return &s->space[(uint64_t)target * s->config.spaces + space];
}

static unsigned int target_of(const struct spaces *s, const struct piece *p)
{
	return s->target_of[p->op.node];
}

static bool ask(struct spaces *s, unsigned int target, uint32_t worker, enum mf_space_task task, uint64_t key,
		uint64_t how_much)
{
	const struct target *t = &s->target[target];
	struct piece *p = task_piece(s, target, worker, PIECE_ASK);
	uint8_t tries = task == MF_SPACE_MAKE ? t->worker[worker].tries : 0;

	if (p == NULL)
		return false;
	p->op.kind = MF_OP_RMW;
	p->op.rmw = MF_RMW_SPACE;
	p->op.key = key;
	p->op.space = mf_space_number(t->config.maker, t->worker[worker].space);
	p->op.arg[0] = task_name(s, target, worker, task);
	p->op.arg[1] = how_much;
	p->tries = tries;
	if (s->log != NULL)
		history_asked(s, p);
	if (tries == 0)
		piece_go(s, p);
	else
		piece_again(s, p, s->now, s->config.ask_most);
	return true;
}

/** Reads a word of the next page that was not accessed yet. */
static bool populate(struct spaces *s, unsigned int target, uint32_t worker)
{
	struct target *t = &s->target[target];
	struct worker *w = &t->worker[worker];
	const struct space *sp = space_at(s, target, w->space);
	struct piece *p = task_piece(s, target, worker, PIECE_TOUCH);

	if (p == NULL)
		return false;
	p->op.kind = MF_OP_READ;
	p->op.len = sizeof(p->word[0]);
	p->op.addr = page_address(s, target, w->space, w->touched);
	p->op.space = mf_space_number(t->config.maker, w->space);
	p->op.key = sp->key[MF_RIGHT_READ];
	p->page = page_number(s, target, w->space, w->touched);
	piece_go(s, p);
	return true;
}

/** All but the last range are as long as they may be. */
static uint64_t range_pages(const struct spaces *s, uint64_t range)
{
	uint64_t left = s->config.pages - range * s->config.range;

	return left < s->config.range ? left : s->config.range;
}

/** Sends what the step of a worker's space needs. @return false: there is no piece for it */
static bool send_step(struct spaces *s, unsigned int target, uint32_t worker)
{
	const struct target *t = &s->target[target];
	const struct space *sp = space_at(s, target, t->worker[worker].space);

	switch (sp->step) {
	case SPACE_PROBE:
	case SPACE_JOIN_WRITE:
		return ask(s, target, worker, MF_SPACE_JOIN, 0, MF_RIGHT_WRITE);
	case SPACE_MAKE:
		return ask(s, target, worker, MF_SPACE_MAKE, 0, 0);
	case SPACE_RETAKE:
		return ask(s, target, worker, MF_SPACE_JOIN, 0, MF_SPACE_OWN);
	case SPACE_END:
		return ask(s, target, worker, MF_SPACE_END, sp->own, 0);
	case SPACE_JOIN_READ:
		return ask(s, target, worker, MF_SPACE_JOIN, 0, MF_RIGHT_READ);
	case SPACE_JOIN_RMW:
		return ask(s, target, worker, MF_SPACE_JOIN, 0, MF_RIGHT_RMW);
	case SPACE_ALLOCATE:
		return ask(s, target, worker, MF_SPACE_ALLOCATE, sp->key[MF_RIGHT_WRITE],
			   MF_SPACE_ALLOC(range_pages(s, t->worker[worker].ranges) << t->config.shift,
					  t->config.page_class, MF_PAGE_WRITE));
	default: /* SPACE_POPULATE */
		return populate(s, target, worker);
	}
}

/** A space is there, or will not be. */
static void end_space(struct spaces *s, struct worker *w, struct space *sp, enum space_step step)
{
	sp->step = (uint8_t)step;
	sp->worked = false;
	w->space = SPACES_NONE;
	s->setting_up--;
	s->stats.ready += step == SPACE_READY;
	s->stats.failed += step == SPACE_FAILED;
	if (s->setting_up == 0)
		s->stats.ready_at = s->now;
	s->look = true;
}

/** Its pages are others than before. */
static void forget_pages(struct spaces *s, const struct space *sp)
{
	uint64_t first = (uint64_t)(sp - s->space) * s->config.pages;

	for (uint64_t i = 0; i < s->config.pages; i++)
		if (bit(s->present, first + i))
			bit_put(s->present, first + i, false);
}

static void allocated(struct spaces *s, struct worker *w, struct space *sp, uint64_t at)
{
	s->at[(uint64_t)(sp - s->space) * s->ranges + w->ranges] = at;
	if (++w->ranges < s->ranges)
		return;
	forget_pages(s, sp);
	w->touched = 0;
	if (s->config.populate)
		sp->step = SPACE_POPULATE;
	else
		end_space(s, w, sp, SPACE_READY);
}

/** There was a space of this number, and now there is none to be had: it ends, or its target was lost. */
static bool is_ending(const struct spaces *s, struct worker *w, const struct space *sp, uint64_t status)
{
	if (status != MF_ERR_KEY || sp->step != SPACE_RETAKE || s->now - w->since >= s->config.give_up)
		return false;
	w->tries += w->tries < UINT8_MAX;
	return true;
}

/** A step was answered. */
static void stepped(struct spaces *s, struct worker *w, struct space *sp, uint64_t status, uint64_t result)
{
	bool ok = status == MF_OK;

	if (status == MF_ERR_KEY && sp->step == SPACE_MAKE)
		sp->step = SPACE_RETAKE;
	else if (sp->step == SPACE_PROBE && ok && result == sp->key[MF_RIGHT_WRITE])
		end_space(s, w, sp, SPACE_READY);
	else if (sp->step == SPACE_PROBE || (status == MF_ERR_KEY && sp->step > SPACE_RETAKE) ||
		 is_ending(s, w, sp, status))
		sp->step = SPACE_MAKE; /* the target was started again */
	else if (!ok)
		end_space(s, w, sp, SPACE_FAILED);
	else if (sp->step == SPACE_MAKE || sp->step == SPACE_RETAKE) {
		sp->own = result;
		sp->step = sp->step == SPACE_MAKE ? SPACE_JOIN_READ : SPACE_END;
	} else if (sp->step == SPACE_END) {
		sp->step = SPACE_MAKE;
	} else if (sp->step == SPACE_ALLOCATE) {
		allocated(s, w, sp, result);
	} else {
		sp->key[sp->step - SPACE_JOIN_READ] = result;
		sp->step++;
		w->ranges = 0;
	}
}

static void touched(struct spaces *s, struct worker *w, struct space *sp, struct piece *p,
		    const struct mf_completion *c)
{
	if (sp->step != SPACE_POPULATE)
		return; /* the target was lost meanwhile */
	if (c->status == MF_ERR_KEY) {
		sp->step = SPACE_MAKE;
	} else if (c->status == MF_OK) {
		bit_put(s->present, p->page, true);
		if (++w->touched == s->config.pages)
			end_space(s, w, sp, SPACE_READY);
	}
}

/** Whether a request was answered; if not it goes again. */
static bool is_answered(struct spaces *s, struct piece *p, const struct mf_completion *c)
{
	bool again = c->status == MF_ERR_RESOURCE;

	if (p->kind != PIECE_TOUCH)
		again |= c->status == MF_OK && (p->word[0] == MF_ERR_PENDING || p->word[0] == MF_ERR_BUSY);
	/* What of the set-up did not come through goes again, too; what is for a client is the client's. */
	again |= p->kind != PIECE_JOIN && p->operation == SPACES_NONE &&
		 (p->former || (c->status != MF_OK && c->status != MF_ERR_KEY));
	if (!again)
		return true;
	s->stats.asked_again++;
	piece_again(s, p, s->now, s->config.ask_most);
	return false;
}

void set_up_piece_done(struct spaces *s, struct piece *p, const struct mf_completion *c)
{
	unsigned int target = target_of(s, p);
	struct worker *w = &s->target[target].worker[p->worker];
	struct space *sp;

	if (!is_answered(s, p, c))
		return;
	w->piece = SPACES_NONE;
	if (p->kind == PIECE_JOIN) {
		key_answered(s, p, c->status == MF_OK ? (uint8_t)p->word[0] : c->status, p->word[1]);
	} else if (p->operation != SPACES_NONE) {
		task_done(s, p, c);
	} else {
		sp = space_at(s, target, w->space);
		if (s->log != NULL && p->kind == PIECE_ASK)
			history_answered(s, p, c);
		if (sp->step == SPACE_ALLOCATE)
			mf_hist_add(&s->stats.allocations, c->done - p->since);
		if (p->kind == PIECE_TOUCH)
			touched(s, w, sp, p, c);
		else
			stepped(s, w, sp, c->status == MF_OK ? p->word[0] : c->status, p->word[1]);
	}
	piece_free(s, p);
	s->look = true; /* a slot is free */
}

/** A space that needs a worker; SPACES_NONE: there is none. */
static uint32_t next_space(struct spaces *s, unsigned int target)
{
	struct target *t = &s->target[target];

	for (; t->next_space < s->config.spaces; t->next_space++) {
		struct space *sp = space_at(s, target, t->next_space);

		if (sp->step < SPACE_READY && !sp->worked) {
			sp->worked = true;
			return t->next_space++;
		}
	}
	return SPACES_NONE;
}

static void take_space(struct spaces *s, unsigned int target, struct worker *w)
{
	w->space = next_space(s, target);
	w->since = s->now;
	w->tries = 0;
}

void set_up_run(struct spaces *s)
{
	for (unsigned int target = 0; target < s->config.targets; target++)
		for (uint32_t i = 0; i < s->target[target].workers; i++) {
			struct worker *w = &s->target[target].worker[i];

			if (w->piece != SPACES_NONE)
				continue;
			if (w->space == SPACES_NONE)
				take_space(s, target, w);
			if (w->space != SPACES_NONE && !send_step(s, target, i))
				return;
		}
}

void set_up_probe(struct spaces *s, unsigned int target, uint32_t space)
{
	struct space *sp = space_at(s, target, space);

	/* What is accessed there now may be of a space that soon ends; a task of such a space is refused. */
	if (sp->step == SPACE_POPULATE)
		sp->step = SPACE_PROBE;
	if (sp->step != SPACE_READY)
		return;
	sp->step = SPACE_PROBE;
	s->setting_up++;
	s->stats.ready--;
	if (space < s->target[target].next_space)
		s->target[target].next_space = space;
}

void set_up_lost(struct spaces *s, unsigned int target)
{
	struct target *t = &s->target[target];

	pieces_lost(s, t->config.node);
	keys_forget_target(s, target);
	pages_forget_all(s);
	for (uint32_t i = 0; i < s->config.spaces; i++)
		set_up_probe(s, target, i);
	t->next_space = 0;
}
