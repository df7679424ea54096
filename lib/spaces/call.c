/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls (memory/mf_call.h). One that is late has a slot of its target, as a task has, until it is answered.
 * It is asked again by the same name. When its key was refused it gives the slot back: whoever asks for the
 * key needs one.
 */
#include <errno.h>

#include "spaces/spaces.h"

int call_check(const struct spaces *s, const struct mf_op *op)
{
	const struct mf_node_shell *host = (const struct mf_node_shell *)(const void *)s->layer.host;
	unsigned int target = s->target_of[op->node];

	return mf_node_check_call(host, op, target != UINT16_MAX ? s->target[target].config.answer : 0);
}

bool call_name(struct spaces *s, struct piece *p)
{
	const struct mf_call_desc *call = p->op.kind == MF_OP_CALL ? mf_call_find(p->op.arg[0]) : NULL;
	unsigned int target = s->target_of[p->op.node];
	uint32_t worker;

	if (call == NULL || !call->late || p->worker != SPACES_NONE)
		return true;
	worker = task_worker(s, target);
	if (worker == SPACES_NONE)
		return false;
	p->worker = worker;
	s->target[target].worker[worker].piece = (uint32_t)(p - s->piece);
	p->op.arg[0] = task_name(s, target, worker, mf_space_ask_task(p->op.arg[0]));
	return true;
}

void call_slot_free(struct spaces *s, struct piece *p)
{
	if (p->worker == SPACES_NONE)
		return;
	s->target[s->target_of[p->op.node]].worker[p->worker].piece = SPACES_NONE;
	p->worker = SPACES_NONE;
	s->look = true;
}
