/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Read and write timers (EDM 3.3). They are of operations, and run from the submission: whatever an operation
 * waits for (a place among the X of its pair, an id, a key, a link, room), it ends when its time is over.
 * What never began has not happened, and its status says so (MF_ERR_TIMEOUT).
 *
 * A transfer of more than 64 KiB, which is cut (D7), has the time again whenever a piece of it has completed.
 * With retries the times of all sendings come to it.
 *
 * All operations of a kind have the same time and are submitted in the order of time, so a list holds them in
 * order.
 */
#include "systems/edm/host/completions.h"
#include "systems/edm/host/state_table.h"

static void queue_remove(struct mf_host *h, struct host_peer *p, uint32_t i)
{
	const struct host_op *o = &h->op[i];

	if (p->head == i)
		p->head = o->next;
	else
		h->op[o->prev].next = o->next;
	if (p->tail == i)
		p->tail = o->prev;
	else
		h->op[o->next].prev = o->prev;
}

/** What of an operation is under way. */
static void expire_messages(struct mf_host *h, uint32_t i, mf_time date)
{
	uint16_t node = h->op[i].c.node;

	for (uint32_t id = 0; id < MF_IDS; id++) {
		struct host_state *s = host_state_at(h, node, (uint8_t)id);

		if (s->op == i && host_state_waits(s))
			host_state_over(h, s, date);
	}
}

/** What a deadline means for an operation that has not begun, or not all of it. */
static uint8_t waiting_status(const struct host_op *o)
{
	return o->issued == 0 || o->c.kind == MF_OP_READ ? MF_ERR_TIMEOUT : MF_ERR_UNKNOWN;
}

HOST_ASIDE void host_op_expire(struct mf_host *h, uint32_t i, mf_time date)
{
	struct host_op *o = &h->op[i];
	struct host_peer *p = &h->peer[o->c.node];
	uint16_t node = o->c.node;
	bool head = p->head == i;

	host_op_timer_stop(h, i);
	if (o->issued < o->c.len) {
		queue_remove(h, p, i);
		h->stats.timeouts++;
		if (o->c.status == MF_OK)
			o->c.status = waiting_status(o);
		o->issued = o->c.len;
		if (o->live == 0)
			host_op_complete(h, i, date);
	}
	if (o->live > 0)
		expire_messages(h, i, date);
	if (head && p->head != HOST_NIL)
		host_kick(h, node, date);
}
