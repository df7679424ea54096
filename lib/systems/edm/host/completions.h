/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations complete as a whole when all their messages have (D7). Messages end in the order of
 * their dates (timers.c), so operations are appended here in the order of their completion.
 */
#ifndef HOST_COMPLETIONS_H
#define HOST_COMPLETIONS_H

#include "systems/edm/host/keys.h"
#include "systems/edm/host/timers.h"

static inline void host_op_complete(struct mf_host *h, uint32_t i, mf_time date)
{
	struct host_op *o = &h->op[i];
	struct mf_completion *c = &o->c;

	host_op_timer_stop(h, i);
	c->done = date;
	if (c->first > date)
		c->first = date;
	if (unlikely(c->kind == MF_OP_CALL) && !mf_call_failed(c->status)) {
		h->stats.completed[c->kind]++;
		c->len = c->status == MF_OK ? c->result : 0;
	} else if (likely(c->status == MF_OK)) {
		h->stats.completed[c->kind]++;
	} else {
		c->first = date;
		c->len = 0;
		h->stats.failed[c->kind]++;
	}
	o->next = HOST_NIL;
	if (h->due_head == HOST_NIL)
		h->due_head = i;
	else
		h->op[h->due_tail].next = i;
	h->due_tail = i;
}

/** A message of an operation has ended. When it failed, no more are started. */
static inline void host_op_part(struct mf_host *h, const struct host_state *s)
{
	struct host_op *o = &h->op[s->op];

	if (unlikely(host_is_attach(h, s->op))) {
		host_op_timer_stop(h, s->op);
		host_key_answered(h, s);
		return;
	}
	o->live--;
	if (unlikely(s->status != MF_OK)) {
		if (o->c.status == MF_OK)
			o->c.status = s->status;
		if (o->issued < o->c.len) {
			o->issued = o->c.len;
			host_queue_pop(h, &h->peer[s->node]);
		}
	}
	if (o->live == 0 && o->issued == o->c.len) {
		host_op_complete(h, s->op, s->event_at);
	} else if (s->status == MF_OK && o->c.status == MF_OK) {
		host_op_timer_stop(h, s->op);
		host_op_timer_start(h, s->op, s->event_at);
	}
}

#endif
