/* SPDX-License-Identifier: BSD-3-Clause */
/* The embedded client's side of a queue: begins what has been submitted, puts completions. */
#include <errno.h>

#include <rte_branch_prediction.h>

#include "client/history.h"
#include "memory/mf_remote.h"
#include "systems/mf_layer.h"

static void finish(struct memfab_queue *q, struct slot *s, mf_time now)
{
	uint32_t at = atomic_load_explicit(&q->completed, memory_order_relaxed);
	struct completion *c = &q->cq[at & q->mask];

	if (unlikely(q->history != NULL))
		queue_history_end(q, s, now);
	c->cqe.user_data = s->sqe.user_data;
	c->cqe.res = s->error != 0              ? s->error
		     : s->sqe.op == MEMFAB_CALL ? (int64_t)s->old
						: (int64_t)operation_octets(&s->sqe);
	c->cqe.old = s->old;
	c->slot = (uint32_t)(s - q->slot);
	q->active--;
	if (s->sqe.flags & MEMFAB_LINK)
		q->link = s->error != 0 ? LINK_BROKEN : LINK_NONE;
	/* Guards the completion, and what a read has put into the program's buffers. */
	atomic_store_explicit(&q->completed, at + 1, memory_order_release);
}

void queue_completed(const struct mf_completion *c)
{
	struct slot *s = (struct slot *)(uintptr_t)c->user;

	bool task = unlikely(space_is_task(s->sqe.op)) && c->status == MF_OK;
	uint8_t status = task ? (uint8_t)s->answer[0] : c->status;

	if (unlikely(status != MF_OK) && s->error == 0)
		s->error = error_of(status);
	s->old = !task                                ? c->result
		 : s->sqe.op == MEMFAB_SPACE_ALLOCATE ? mf_remote_pointer(s->sqe.node, s->answer[1])
						      : s->answer[1];
	if (unlikely(s->queue->history != NULL))
		queue_history_part(s->queue, s, status);
	if (--s->live == 0 && likely(s->queue->halfway != s))
		finish(s->queue, s, c->done);
}

/** What it is part of is over when all its operations of the host are. */
static bool all_given(const struct slot *s)
{
	if (s->error != 0 || s->sqe.op == MEMFAB_NOP)
		return true;
	return s->given > 0 && s->given >= operation_octets(&s->sqe);
}

/** @return false: the host has no room; it goes on from here */
static bool give(struct slot *s, const struct mf_below *below, mf_time now)
{
	while (!all_given(s)) {
		struct mf_op op;
		int rc;

		operation_piece(s, mf_session_config(attachment_session(s->queue->attachment)), &op);
		rc = mf_below_submit(below, now, &op);
		if (rc == -EAGAIN)
			return false;
		if (rc != 0) {
			s->error = rc;
			break;
		}
		s->live++;
		s->iov++;
		s->given += op.len;
	}
	if (s->live == 0)
		finish(s->queue, s, now);
	return true;
}

static bool may_begin(const struct memfab_queue *q, const struct slot *s)
{
	return q->link != LINK_WAITS && (!(s->sqe.flags & MEMFAB_FENCE) || q->active == 0);
}

static void begin(struct memfab_queue *q, struct slot *s, mf_time now)
{
	s->given = 0;
	s->old = 0;
	s->iov = 0;
	s->live = 0;
	s->error = q->link == LINK_BROKEN
			   ? -ECANCELED
			   : operation_check(mf_session_config(attachment_session(q->attachment)),
					     attachment_node(q->attachment), &s->sqe);
	if (unlikely(q->history != NULL) && s->error == 0)
		s->error = queue_history_begin(q, s, now);
	q->active++;
	q->link = s->sqe.flags & MEMFAB_LINK ? LINK_WAITS : LINK_NONE;
}

bool queue_go_on(struct memfab_queue *q, const struct mf_below *below, mf_time now)
{
	struct slot *s = q->halfway;

	if (s == NULL)
		return true;
	q->halfway = NULL;
	if (!give(s, below, now)) {
		q->halfway = s;
		return false;
	}
	q->begun++;
	return true;
}

unsigned int queue_begin(struct memfab_queue *q, const struct mf_below *below, mf_time now)
{
	/* Guards the slots up to there. */
	uint32_t end = atomic_load_explicit(&q->submitted, memory_order_acquire);
	unsigned int n = 0;

	for (; q->begun != end; n++) {
		struct slot *s = &q->slot[q->sq[q->begun & q->mask]];

		if (!may_begin(q, s))
			break;
		begin(q, s, now);
		q->halfway = s;
		if (!queue_go_on(q, below, now))
			break;
	}
	return n;
}

uint32_t queue_stop(struct memfab_queue *q)
{
	uint32_t end = q->begun;

	if (q->halfway != NULL) {
		end++;
		if (q->halfway->error == 0)
			q->halfway->error = -ECANCELED;
	}
	atomic_store_explicit(&q->submitted, end, memory_order_relaxed);
	return end;
}
