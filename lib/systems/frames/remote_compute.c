/* SPDX-License-Identifier: BSD-3-Clause */
/* Remote memory, the compute node: operations, and what comes of them. */
#include <errno.h>
#include <string.h>

#include "systems/frames/remote_priv.h"

static void tell_begun(const struct remote *r, const struct operation *o)
{
	const struct mf_probe *p = r->config.probe;

	if (p != NULL && p->begun != NULL && (o->c.kind == MF_OP_WRITE || o->c.kind == MF_OP_WRITE_ACK))
		p->begun(p->ctx, r->config.node, o->c.node, o->id, o->c.user, o->c.submitted);
}

/** The message that an operation begins with. */
static struct remote_message request(const struct operation *o, uint32_t op)
{
	static const uint8_t kind[MF_OPS] = {[MF_OP_READ] = REMOTE_READ,
					     [MF_OP_WRITE] = REMOTE_WRITE,
					     [MF_OP_WRITE_ACK] = REMOTE_WRITE_ACK,
					     [MF_OP_RMW] = REMOTE_RMW};
	struct remote_message m = {.addr = o->addr,
				   .op = op,
				   .peer = o->c.node,
				   .id = o->id,
				   .kind = kind[o->c.kind],
				   .told = (uint32_t)o->c.len};

	switch (o->c.kind) {
	case MF_OP_READ:
		break;
	case MF_OP_RMW:
		m.code = o->rmw;
		m.word[0] = o->arg[0];
		m.word[1] = o->arg[1];
		m.len = m.told = sizeof(m.word);
		break;
	default:
		m.len = (uint32_t)o->c.len;
		m.data = remote_place(o->buf, m.len);
	}
	return m;
}

int remote_submit(struct mf_stack *s, mf_time now, const struct mf_op *op)
{
	struct remote *r = remote_of(s);
	struct remote_message m;
	uint32_t i;

	if (op->len > UINT32_MAX || (r->free == REMOTE_NIL && r->fresh == r->messages))
		return op->len > UINT32_MAX ? -EINVAL : -EAGAIN;
	i = operations_add(&r->operations, now, op);
	if (i == OPERATION_NIL)
		return -EAGAIN;
	tell_begun(r, &r->operations.op[i]);
	stack_stamp_start(&r->config, now, op->kind == MF_OP_WRITE || op->kind == MF_OP_WRITE_ACK);
	m = request(&r->operations.op[i], i);
	m.ready = now + r->cost_tx;
	remote_send(r, now, &m);
	return 0;
}

void remote_retransmit(struct remote *r, uint32_t op, mf_time now)
{
	struct remote_message m = request(&r->operations.op[op], op);

	m.retransmit = true;
	m.ready = now + r->cost_tx;
	remote_send(r, now, &m);
}

unsigned int remote_completions(struct mf_stack *s, mf_time now, struct mf_completion *out, unsigned int max)
{
	return operations_take(&remote_of(s)->operations, now, out, max);
}

uint32_t remote_outstanding(const struct mf_stack *s)
{
	return remote_const(s)->operations.count;
}

void remote_expire(struct remote *r, mf_time now)
{
	uint32_t i;

	while ((i = operations_expired(&r->operations, now)) != OPERATION_NIL) {
		bool read = r->operations.op[i].c.kind == MF_OP_READ;

		r->transport->give_up(r, i, now);
		operations_complete(&r->operations, i, now, read ? MF_ERR_TIMEOUT : MF_ERR_UNKNOWN);
	}
}

void remote_run(struct mf_stack *s, mf_time now)
{
	remote_expire(remote_of(s), now);
}

mf_time remote_next(const struct mf_stack *s)
{
	return operations_next(&remote_const(s)->operations);
}

void remote_begun(struct remote *r, const struct remote_message *m, mf_time at)
{
	struct operation *o = m->op != OPERATION_NIL ? &r->operations.op[m->op] : NULL;

	if (o == NULL || o->begun || m->kind == REMOTE_READ || m->kind == REMOTE_RMW)
		return;
	o->begun = true;
	o->c.first = at;
}

void remote_sent(struct remote *r, const struct remote_message *m, mf_time at)
{
	if (m->op != OPERATION_NIL && m->kind == REMOTE_WRITE)
		operations_complete(&r->operations, m->op, at, MF_OK);
}

/* What comes of them */

static void tell_response(const struct remote *r, uint16_t peer, const struct remote_header *h, bool last,
			  mf_time known)
{
	const struct mf_probe *p = r->config.probe;

	if (p != NULL && p->response != NULL)
		p->response(p->ctx, r->config.node, peer, h->id, h->offset, h->octets, last, known, known);
}

static void take_data(struct remote *r, mf_time known, uint32_t i, const struct remote_header *h,
		      const uint8_t *data)
{
	struct operation *o = &r->operations.op[i];
	bool rmw = o->c.kind == MF_OP_RMW, last;

	if (h->offset > o->c.len || h->octets > o->c.len - h->offset || (!rmw && o->c.kind != MF_OP_READ)) {
		r->drop_bad++;
		return;
	}
	if (!r->transport->unordered && h->offset != o->moved) {
		r->drop_order++; /* behind a gap, or twice: so much more would not be all of it */
		return;
	}
	memcpy(rmw ? (uint8_t *)&o->c.result + h->offset : o->buf + h->offset, data, h->octets);
	if (!o->begun)
		o->c.first = known;
	o->begun = true;
	o->moved += h->octets;
	last = o->moved >= o->c.len;
	tell_response(r, o->c.node, h, last, known);
	if (last)
		operations_complete(&r->operations, i, known, MF_OK);
}

void remote_outcome(struct remote *r, mf_time now, mf_time known, uint16_t peer,
		    const struct remote_header *h, const uint8_t *data)
{
	uint32_t i = operations_find(&r->operations, peer, h->id);

	if (i == OPERATION_NIL) {
		r->drop_unknown++;
	} else if (h->kind == REMOTE_RESPONSE) {
		take_data(r, known, i, h, data);
	} else if (h->kind == REMOTE_ERROR) {
		r->transport->give_up(r, i, now);
		operations_complete(&r->operations, i, known,
				    h->code != MF_OK && h->code < MF_STATUSES ? h->code : MF_ERR_RESOURCE);
	} else {
		r->transport->give_up(r, i, now);
		operations_complete(&r->operations, i, known, MF_OK);
	}
}
