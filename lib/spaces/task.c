/* SPDX-License-Identifier: BSD-3-Clause */
/* What clients ask of spaces, and the slots of a target in which tasks are asked (mf_space.h). */
#include <string.h>

#include "spaces/spaces.h"

struct piece *task_piece(struct spaces *s, unsigned int target, uint32_t worker, enum piece_kind kind)
{
	struct target *t = &s->target[target];
	struct piece *p = piece_new(s, kind);

	if (p == NULL)
		return NULL;
	p->worker = worker;
	p->op.node = t->config.node;
	p->op.buf = p->word;
	t->worker[worker].piece = (uint32_t)(p - s->piece);
	return p;
}

uint64_t task_name(struct spaces *s, unsigned int target, uint32_t worker, uint64_t task)
{
	struct target *t = &s->target[target];

	t->worker[worker].number = ++t->number;
	s->stats.asked++;
	return MF_SPACE_ASK(task, worker, t->worker[worker].number);
}

uint32_t task_worker(const struct spaces *s, unsigned int target)
{
	const struct target *t = &s->target[target];

	for (uint32_t i = 0; i < t->workers; i++)
		if (t->worker[i].piece == SPACES_NONE && t->worker[i].space == SPACES_NONE)
			return i;
	return SPACES_NONE;
}

static uint8_t task_of(const struct mf_op *op)
{
	return mf_space_ask_task(op->arg[0]);
}

bool task_is_barrier(const struct mf_op *op)
{
	return task_of(op) == MF_SPACE_FREE || task_of(op) == MF_SPACE_PROTECT;
}

/** The right whose key a task needs; MF_SPACE_RIGHTS: it needs none, or is given one. */
static uint8_t right_for(const struct mf_op *op)
{
	static const uint8_t right[MF_SPACE_ASKS] = {
		[MF_SPACE_MAKE] = MF_SPACE_RIGHTS,    [MF_SPACE_END] = MF_SPACE_OWN,
		[MF_SPACE_JOIN] = MF_SPACE_RIGHTS,    [MF_SPACE_GRANT] = MF_SPACE_OWN,
		[MF_SPACE_ALLOCATE] = MF_RIGHT_WRITE, [MF_SPACE_FREE] = MF_RIGHT_WRITE,
		[MF_SPACE_PROTECT] = MF_RIGHT_WRITE,  [MF_SPACE_FENCE] = MF_RIGHT_READ,
		[MF_SPACE_LIFE] = MF_RIGHT_READ,      [MF_SPACE_USAGE] = MF_RIGHT_READ,
	};

	return op->key == 0 && task_of(op) < MF_SPACE_ASKS ? right[task_of(op)] : MF_SPACE_RIGHTS;
}

static void end(struct spaces *s, struct operation *o, uint8_t status)
{
	o->done.status = status;
	o->issued = o->done.len;
	o->done.done = s->now + 1;
	if (!o->held)
		operation_finish(s, o);
}

/** What it is refused with comes in the answer, as from the memory node. */
static void refuse(struct spaces *s, struct operation *o, uint8_t status)
{
	uint64_t answer[2] = {status, 0};

	if (o->op.buf != NULL)
		memcpy(o->op.buf, answer, sizeof(answer));
	o->done.result = status;
	end(s, o, MF_OK);
}

static bool send(struct spaces *s, struct operation *o, unsigned int target, uint64_t key)
{
	uint32_t worker = task_worker(s, target);
	struct piece *p = worker != SPACES_NONE ? task_piece(s, target, worker, PIECE_ASK) : NULL;

	if (p == NULL)
		return false;
	p->op.kind = MF_OP_RMW;
	p->op.rmw = MF_RMW_SPACE;
	p->op.addr = o->op.addr;
	p->op.key = key;
	p->op.space = o->op.space;
	p->op.arg[0] = task_name(s, target, worker, task_of(&o->op));
	p->op.arg[1] = o->op.arg[1];
	p->operation = (uint32_t)(o - s->operation);
	o->issued = o->done.len;
	o->live = 1;
	order_barrier(s, o);
	if (task_of(&o->op) == MF_SPACE_FREE)
		pages_forget(s, target, o->op.space, o->op.addr, o->op.arg[1]);
	if (s->log != NULL)
		history_asked(s, p);
	piece_go(s, p);
	return true;
}

bool task_ask(struct spaces *s, struct operation *o)
{
	unsigned int target = s->target_of[o->op.node];
	uint64_t key = o->op.key;
	uint8_t status = MF_OK, right = right_for(&o->op);

	if (target == UINT16_MAX) { /* it has none: it says so itself */
		end(s, o, MF_ERR_OPCODE);
		return true;
	}
	if (task_of(&o->op) == MF_SPACES_LEAVE) {
		keys_forget(s, target, o->op.space);
		refuse(s, o, MF_OK);
		return true;
	}
	if (task_worker(s, target) == SPACES_NONE || operation_is_behind_others(s, o))
		return false;
	if (right != MF_SPACE_RIGHTS)
		status = key_get(s, target, o->op.space, right, &key);
	if (status == MF_ERR_PENDING)
		return false;
	if (status == MF_OK && (o->refused == 0 || o->refused != key))
		return send(s, o, target, key);
	refuse(s, o, status == MF_OK ? MF_ERR_KEY : status);
	return true;
}

/** What an answer says of the keys of its space. */
static void learn(struct spaces *s, const struct piece *p, unsigned int target)
{
	uint8_t task = task_of(&p->op);

	if (task == MF_SPACE_END)
		keys_forget(s, target, p->op.space);
	if (task == MF_SPACE_GRANT && p->word[1] != p->op.key)
		keys_forget(s, target, p->op.space);
	if (task == MF_SPACE_GRANT || task == MF_SPACE_MAKE)
		key_put(s, target, p->op.space, MF_SPACE_OWN, p->word[1]);
}

/** Its key may be of an epoch that is over: then it is asked again, with another one. */
static bool goes_again(struct spaces *s, struct operation *o, const struct piece *p, unsigned int target)
{
	uint8_t right = right_for(&o->op);

	if (p->word[0] != MF_ERR_KEY || right == MF_SPACE_RIGHTS)
		return false;
	key_refused(s, target, p->op.space, right, p->op.key);
	o->refused = p->op.key;
	o->issued = 0;
	operation_hold(s, o);
	return true;
}

void task_done(struct spaces *s, const struct piece *p, const struct mf_completion *c)
{
	struct operation *o = &s->operation[p->operation];
	unsigned int target = s->target_of[p->op.node];

	o->live = 0;
	if (s->log != NULL)
		history_answered(s, p, c);
	order_barrier_done(s, o);
	if (c->status == MF_OK && goes_again(s, o, p, target))
		return;
	if (c->status == MF_OK && p->word[0] == MF_OK)
		learn(s, p, target);
	o->done.first = c->first;
	o->done.done = c->done;
	o->done.status = c->status;
	o->done.result = p->word[0];
	if (o->op.buf != NULL)
		memcpy(o->op.buf, p->word, sizeof(p->word));
	operation_finish(s, o);
}
