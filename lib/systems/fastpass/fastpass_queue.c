/* SPDX-License-Identifier: BSD-3-Clause */
/* Fastpass, messages: those that are not ready yet, and those in line for a peer, which need slots. */
#include "systems/fastpass/fastpass.h"

/** Octets on the wire of what a message still has to send. */
static uint64_t fastpass_message_octets(const struct fastpass *f, const struct remote_message *m)
{
	uint32_t most = f->payload - REMOTE_HEADER, rest = m->len - m->sent, full = rest / most;
	uint64_t octets = full * fastpass_frame_octets(f->payload);

	return rest % most != 0 || full == 0 ? octets + fastpass_frame_octets(REMOTE_HEADER + rest % most)
					     : octets;
}

void fastpass_send(struct remote *r, uint32_t m, mf_time now)
{
	struct fastpass *f = (struct fastpass *)r;
	struct remote_message *all = r->message;
	uint32_t before = f->coming_tail;

	(void)now;
	if (all[m].op != OPERATION_NIL && !all[m].retransmit)
		retransmit_new(&f->retransmit, all[m].op);
	while (before != REMOTE_NIL && all[before].ready > all[m].ready)
		before = all[before].prev;
	all[m].prev = before;
	all[m].next = before != REMOTE_NIL ? all[before].next : f->coming_head;
	if (all[m].next == REMOTE_NIL)
		f->coming_tail = m;
	else
		all[all[m].next].prev = m;
	if (before == REMOTE_NIL)
		f->coming_head = m;
	else
		all[before].next = m;
}

static void leave_coming(struct fastpass *f, uint32_t m)
{
	struct remote_message *all = f->remote.message;

	if (all[m].prev == REMOTE_NIL)
		f->coming_head = all[m].next;
	else
		all[all[m].prev].next = all[m].next;
	if (all[m].next == REMOTE_NIL)
		f->coming_tail = all[m].prev;
	else
		all[all[m].next].prev = all[m].prev;
}

void fastpass_must_ask(struct fastpass *f, uint16_t node)
{
	struct fastpass_peer *p = &f->peer[node];

	if (p->asks)
		return;
	p->asks = true;
	if (f->asks++ == 0)
		f->ask = node;
	else
		f->peer[f->last_ask].next = node;
	f->last_ask = node;
}

void fastpass_need(struct fastpass *f, uint16_t node)
{
	struct fastpass_peer *p = &f->peer[node];
	uint32_t slots = (uint32_t)((p->queued + f->slot_octets - 1) / f->slot_octets);

	if (f->active == node || slots <= p->owed)
		return;
	p->asked += slots - p->owed;
	p->owed = slots;
	fastpass_must_ask(f, node);
}

void fastpass_settle(struct fastpass *f, mf_time now)
{
	struct remote_message *all = f->remote.message;
	uint32_t m;

	while ((m = f->coming_head) != REMOTE_NIL && all[m].ready <= now) {
		struct fastpass_peer *p = &f->peer[all[m].peer];

		leave_coming(f, m);
		all[m].next = REMOTE_NIL;
		all[m].prev = p->tail;
		if (p->tail == REMOTE_NIL)
			p->head = m;
		else
			all[p->tail].next = m;
		p->tail = m;
		all[m].first = 1; /* it stands in line */
		p->queued += fastpass_message_octets(f, &all[m]);
		fastpass_need(f, all[m].peer);
	}
}

void fastpass_leave_line(struct fastpass *f, uint32_t m)
{
	struct remote_message *all = f->remote.message;
	struct fastpass_peer *p = &f->peer[all[m].peer];

	if (all[m].prev == REMOTE_NIL)
		p->head = all[m].next;
	else
		all[all[m].prev].next = all[m].next;
	if (all[m].next == REMOTE_NIL)
		p->tail = all[m].prev;
	else
		all[all[m].next].prev = all[m].prev;
}

void fastpass_give_up(struct remote *r, uint32_t op, mf_time now)
{
	struct fastpass *f = (struct fastpass *)r;
	struct fastpass_peer *p = &f->peer[r->operations.op[op].c.node];
	uint32_t m, next;

	(void)now;
	retransmit_over(&f->retransmit, op, MF_NEVER);
	for (m = f->coming_head; m != REMOTE_NIL; m = next) {
		next = r->message[m].next;
		if (r->message[m].op != op)
			continue;
		leave_coming(f, m);
		remote_free_message(r, m);
	}
	for (m = p->head; m != REMOTE_NIL; m = next) {
		next = r->message[m].next;
		if (r->message[m].op != op)
			continue;
		p->queued -= fastpass_message_octets(f, &r->message[m]);
		fastpass_leave_line(f, m);
		remote_free_message(r, m);
	}
}
