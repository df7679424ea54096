/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>

#include "base/mf_table.h"
#include "systems/frames/remote_priv.h"

int remote_init(struct remote *r, const struct mf_stack_config *c, unsigned int params,
		const struct remote_transport *transport)
{
	int err;

	r->config = *c;
	memcpy(r->param, c->param, params * sizeof(*r->param));
	r->config.param = r->param;
	r->transport = transport;
	r->cost_tx = r->cost_rx = c->timing.cost[MF_STAGE_PROTOCOL] + c->timing.cost[MF_STAGE_MAC];
	r->free = r->head = REMOTE_NIL;
	r->messages = c->queue + (uint32_t)REMOTE_MESSAGES_PEER * c->nodes;
	r->write_ids = c->memory_ops != NULL ? OPERATION_IDS : 1;
	err = operations_init(&r->operations, c);
	r->message = mf_table_new(r->messages, sizeof(*r->message));
	r->write = mf_table_new((size_t)r->write_ids * c->nodes, sizeof(*r->write));
	return err == 0 && r->message != NULL && r->write != NULL ? 0 : -ENOMEM;
}

/** What a message holds of the memory is not used any more. */
static void let_go(struct remote *r, struct remote_message *m)
{
	if (!m->held)
		return;
	r->config.memory_ops->let_go(r->config.memory, &m->data);
	m->held = false;
}

void remote_fini(struct remote *r)
{
	for (uint32_t i = 0; r->message != NULL && i < r->fresh; i++)
		let_go(r, &r->message[i]);
	operations_fini(&r->operations);
	mf_table_free(r->message);
	mf_table_free(r->write);
}

static uint32_t new_message(struct remote *r)
{
	uint32_t i = r->free;

	if (i != REMOTE_NIL)
		r->free = r->message[i].next;
	else if (r->fresh < r->messages)
		i = r->fresh++;
	else
		r->drop_room++;
	return i;
}

void remote_free_message(struct remote *r, uint32_t m)
{
	uint32_t op = r->message[m].op;

	if (op != OPERATION_NIL && r->operations.op[op].message == m)
		r->operations.op[op].message = OPERATION_NIL;
	let_go(r, &r->message[m]);
	r->message[m].next = r->free;
	r->free = m;
}

void remote_send(struct remote *r, mf_time now, struct remote_message *from)
{
	uint32_t m = new_message(r);

	if (m == REMOTE_NIL) {
		let_go(r, from);
		return;
	}
	r->message[m] = *from;
	if (from->op != OPERATION_NIL)
		r->operations.op[from->op].message = m;
	r->transport->send(r, m, now);
}

struct remote_header remote_header_of(const struct remote_message *m, uint32_t offset, uint32_t octets)
{
	return (struct remote_header){.kind = m->kind,
				      .code = m->code,
				      .id = rte_cpu_to_be_16(m->id),
				      .retransmit = m->retransmit,
				      .octets = rte_cpu_to_be_16((uint16_t)octets),
				      .offset = rte_cpu_to_be_32(offset),
				      .len = rte_cpu_to_be_32(m->told),
				      .addr = rte_cpu_to_be_64(m->addr)};
}

uint32_t remote_put_segment(struct remote *r, const struct remote_message *m, uint32_t offset,
			    uint32_t octets, uint8_t *out)
{
	const struct remote_header h = remote_header_of(m, offset, octets);

	memcpy(out, &h, sizeof(h));
	remote_put_data(m, offset, octets, out + REMOTE_HEADER);
	r->segments_sent++;
	r->octets_sent += octets;
	return REMOTE_HEADER + octets;
}

/* What comes */

void remote_decode(const uint8_t *octets, struct remote_header *h)
{
	memcpy(h, octets, sizeof(*h));
	h->id = rte_be_to_cpu_16(h->id);
	h->octets = rte_be_to_cpu_16(h->octets);
	h->offset = rte_be_to_cpu_32(h->offset);
	h->len = rte_be_to_cpu_32(h->len);
	h->addr = rte_be_to_cpu_64(h->addr);
}

static bool parse(const uint8_t *segment, uint32_t max, struct remote_header *h)
{
	if (max < REMOTE_HEADER)
		return false;
	remote_decode(segment, h);
	if (h->kind == 0 || h->kind >= REMOTE_KINDS || h->octets > max - REMOTE_HEADER)
		return false;
	if (h->kind == REMOTE_RMW)
		return h->octets == 16 && h->offset == 0;
	if (h->kind == REMOTE_WRITE || h->kind == REMOTE_WRITE_ACK)
		return h->octets != 0 && h->offset <= h->len && h->octets <= h->len - h->offset;
	return h->kind != REMOTE_READ || (h->octets == 0 && h->len != 0);
}

void remote_take(struct remote *r, mf_time at, uint16_t peer, const struct remote_header *h,
		 const uint8_t *data)
{
	mf_time known = at + r->cost_rx;

	r->octets_received += h->octets;
	switch (h->kind) {
	case REMOTE_READ:
		remote_read(r, at, known, peer, h);
		break;
	case REMOTE_RMW:
		remote_rmw(r, at, known, peer, h, data);
		break;
	case REMOTE_WRITE:
	case REMOTE_WRITE_ACK:
		remote_write(r, at, known, peer, h, data);
		break;
	default:
		remote_outcome(r, at, known, peer, h, data);
	}
}

bool remote_segment(struct remote *r, mf_time at, uint16_t peer, const uint8_t *segment, uint32_t max)
{
	struct remote_header h;

	if (peer >= r->config.nodes || peer == r->config.node || !parse(segment, max, &h)) {
		r->drop_bad++;
		return false;
	}
	r->segments_received++;
	stack_stamp_rx(&r->config, at);
	remote_take(r, at, peer, &h, segment + REMOTE_HEADER);
	return true;
}

unsigned int remote_counters(const struct remote *r, struct mf_counter *out)
{
	unsigned int n = 0;

	out[n++] = mf_counter_sum("segments_sent", r->segments_sent);
	out[n++] = mf_counter_sum("segments_received", r->segments_received);
	out[n++] = mf_counter_sum("octets_sent", r->octets_sent);
	out[n++] = mf_counter_sum("octets_received", r->octets_received);
	out[n++] = mf_counter_sum("drop_room", r->drop_room);
	out[n++] = mf_counter_sum("drop_bad", r->drop_bad);
	out[n++] = mf_counter_sum("drop_unknown", r->drop_unknown);
	return n;
}

struct remote_load remote_load(uint8_t kind, uint64_t octets)
{
	switch (kind) {
	case MF_OP_READ:
		return (struct remote_load){.back = octets, .answers = true};
	case MF_OP_RMW:
		return (struct remote_load){.there = 16, .back = 8, .answers = true};
	default:
		return (struct remote_load){.there = octets, .answers = kind == MF_OP_WRITE_ACK};
	}
}
