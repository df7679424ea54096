/* SPDX-License-Identifier: BSD-3-Clause */
/* Remote memory, for transports that send messages in the order in which they are there. */
#include "systems/frames/mf_remote.h"
#include "systems/frames/mf_wire_blocks.h"

static void fifo_send(struct remote *r, uint32_t m, mf_time now)
{
	(void)now;
	r->message[m].next = REMOTE_NIL;
	if (r->head == REMOTE_NIL)
		r->head = m;
	else
		r->message[r->tail].next = m;
	r->tail = m;
}

/** Its message is forgotten when its turn comes. */
static void fifo_give_up(struct remote *r, uint32_t op, mf_time now)
{
	(void)now;
	for (uint32_t m = r->head; m != REMOTE_NIL; m = r->message[m].next)
		if (r->message[m].op == op) {
			r->message[m].op = OPERATION_NIL;
			r->message[m].len = r->message[m].sent;
			r->message[m].data.at[0] = NULL;
		}
}

const struct remote_transport remote_fifo = {.send = fifo_send, .give_up = fifo_give_up};

uint32_t remote_fifo_pull(struct remote *r, mf_time now, uint32_t max, uint16_t *peer, uint8_t *out)
{
	uint32_t i = r->head, octets;
	struct remote_message *m;

	if (i == REMOTE_NIL || r->message[i].ready > now)
		return 0;
	m = &r->message[i];
	octets = remote_segment_size(m, m->sent, max) - REMOTE_HEADER;
	if (!m->begun)
		remote_begun(r, m, now);
	m->begun = true;
	*peer = m->peer;
	remote_put_segment(r, m, m->sent, octets, out);
	m->sent += octets;
	if (m->sent == m->len) {
		r->head = m->next;
		remote_sent(r, m, now);
		remote_free_message(r, i);
	}
	return REMOTE_HEADER + octets;
}

mf_time remote_fifo_ready(const struct mf_stack *s)
{
	const struct remote *r = remote_const(s);

	return r->head != REMOTE_NIL ? r->message[r->head].ready : MF_NEVER;
}

struct mf_op_blocks remote_blocks(uint8_t kind, uint64_t octets, uint32_t data, uint32_t headers)
{
	struct remote_load l = remote_load(kind, octets);
	double there = wire_blocks_of(l.there, data, headers);
	double back = l.answers ? wire_blocks_of(l.back, data, headers) : 0;

	return (struct mf_op_blocks){.cn_up = there, .mn_down = there, .mn_up = back, .cn_down = back};
}
