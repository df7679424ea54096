/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations complete as a whole when all their messages have (D7). Messages end in the order of
 * their dates (timers.c), so operations are appended here in the order of their completion.
 */
#include "host.h"

static void op_complete(struct mf_host *h, uint32_t i, mf_time date)
{
	struct host_op *o = &h->op[i];

	o->done = date;
	if (o->status != MF_OK || o->first > date)
		o->first = date;
	if (o->status == MF_OK)
		h->stats.completed[o->op.kind]++;
	else
		h->stats.failed[o->op.kind]++;
	o->next = HOST_NIL;
	if (h->due_head == HOST_NIL)
		h->due_head = i;
	else
		h->op[h->due_tail].next = i;
	h->due_tail = i;
}

/** A message of an operation has ended. When it failed, no more are started. */
void host_op_part(struct mf_host *h, const struct host_state *s)
{
	struct host_op *o = &h->op[s->op];

	o->live--;
	if (o->status == MF_OK)
		o->status = s->status;
	if (o->status != MF_OK && o->issued < o->op.len) {
		o->issued = o->op.len;
		host_queue_pop(h, &h->peer[s->node]);
	}
	if (o->live == 0 && o->issued == o->op.len)
		op_complete(h, s->op, s->event_at);
}

unsigned int mf_host_completions(struct mf_host *h, mf_time now, struct mf_completion *out, unsigned int max)
{
	unsigned int n = 0;

	if (now >= h->wake)
		host_advance(h, now);
	for (; n < max && h->due_head != HOST_NIL; n++) {
		uint32_t i = h->due_head;
		struct host_op *o = &h->op[i];

		out[n] = (struct mf_completion){.user = o->op.user,
						.result = o->result,
						.len = o->status == MF_OK ? o->op.len : 0,
						.submitted = o->submitted,
						.first = o->first,
						.done = o->done,
						.kind = o->op.kind,
						.status = o->status,
						.node = o->op.node};
		h->due_head = o->next;
		o->next = h->op_free;
		h->op_free = i;
		h->op_count--;
	}
	return n;
}
