/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>

#include "mf_table.h"
#include "remote.h"

int remote_init(struct remote *r, const struct mf_stack_config *c, unsigned int params,
		const struct remote_transport *transport)
{
	int err;

	r->config = *c;
	memcpy(r->param, c->param, params * sizeof(*r->param));
	r->config.param = r->param;
	r->transport = transport;
	r->cost_tx = r->cost_rx = c->timing.cost[MF_STAGE_PROTOCOL] + c->timing.cost[MF_STAGE_MAC];
	r->free = REMOTE_NIL;
	r->messages = c->queue + (uint32_t)REMOTE_MESSAGES_PEER * c->nodes;
	err = operations_init(&r->operations, c);
	r->message = mf_table_new(r->messages, sizeof(*r->message));
	r->write = mf_table_new((size_t)OPERATION_IDS * c->nodes, sizeof(*r->write));
	return err == 0 && r->message != NULL && r->write != NULL ? 0 : -ENOMEM;
}

void remote_fini(struct remote *r)
{
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
	r->message[m].next = r->free;
	r->free = m;
}

static void send(struct remote *r, mf_time now, const struct remote_message *from)
{
	uint32_t m = new_message(r);

	if (m == REMOTE_NIL)
		return;
	r->message[m] = *from;
	if (from->op != OPERATION_NIL)
		r->operations.op[from->op].message = m;
	r->transport->send(r, m, now);
}

mf_time stack_stamp(const struct mf_stack_config *c, enum mf_stage stage, mf_time from, mf_time cost)
{
	if (stack_stamps(c))
		c->probe->stamp(c->probe->ctx, c->node, MF_PROBE_ANY, 0, stage, from, from + cost);
	return from + cost;
}

void stack_stamp_tx(const struct mf_stack_config *c, mf_time from)
{
	mf_time made = stack_stamp(c, MF_STAGE_PROTOCOL, from, c->timing.cost[MF_STAGE_PROTOCOL]);

	stack_stamp(c, MF_STAGE_MAC, made, c->timing.cost[MF_STAGE_MAC]);
}

void stack_stamp_start(const struct mf_stack_config *c, mf_time from, bool write)
{
	if (!stack_stamps(c))
		return;
	c->probe->start(c->probe->ctx, write);
	stack_stamp_tx(c, from);
}

void stack_stamp_rx(const struct mf_stack_config *c, mf_time from)
{
	mf_time up = stack_stamp(c, MF_STAGE_MAC, from, c->timing.cost[MF_STAGE_MAC]);

	stack_stamp(c, MF_STAGE_PROTOCOL, up, c->timing.cost[MF_STAGE_PROTOCOL]);
}

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
		m.data = o->buf;
		m.len = (uint32_t)o->c.len;
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
	send(r, now, &m);
	return 0;
}

void remote_again(struct remote *r, uint32_t op, mf_time now)
{
	struct remote_message m = request(&r->operations.op[op], op);

	m.again = true;
	m.ready = now + r->cost_tx;
	send(r, now, &m);
}

unsigned int remote_completions(struct mf_stack *s, mf_time now, struct mf_completion *out, unsigned int max)
{
	return operations_take(&remote_of(s)->operations, now, out, max);
}

uint32_t remote_outstanding(const struct mf_stack *s)
{
	return remote_const(s)->operations.count;
}

/** A read that timed out has moved nothing; whether a write or an atomic has, nobody knows. */
void remote_expire(struct remote *r, mf_time now)
{
	uint32_t i;

	while ((i = operations_expired(&r->operations, now)) != OPERATION_NIL) {
		bool read = r->operations.op[i].c.kind == MF_OP_READ;

		r->transport->give_up(r, i, now);
		operations_complete(&r->operations, i, now, read ? MF_ERR_TIMEOUT : MF_ERR_UNKNOWN);
	}
}

static struct remote_header header_of(const struct remote_message *m, uint32_t offset, uint32_t octets)
{
	return (struct remote_header){.kind = m->kind,
				      .code = m->code,
				      .again = m->again,
				      .id = rte_cpu_to_be_16(m->id),
				      .octets = rte_cpu_to_be_16((uint16_t)octets),
				      .offset = rte_cpu_to_be_32(offset),
				      .len = rte_cpu_to_be_32(m->told),
				      .addr = rte_cpu_to_be_64(m->addr)};
}

static const uint8_t *data_of(const struct remote_message *m)
{
	return m->data != NULL ? m->data : (const uint8_t *)m->word;
}

uint32_t remote_put_segment(struct remote *r, const struct remote_message *m, uint32_t offset,
			    uint32_t octets, uint8_t *out)
{
	const struct remote_header h = header_of(m, offset, octets);

	memcpy(out, &h, sizeof(h));
	memcpy(out + REMOTE_HEADER, data_of(m) + offset, octets);
	r->segments_sent++;
	r->octets_sent += octets;
	return REMOTE_HEADER + octets;
}

void remote_put_stream(struct remote *r, const struct remote_message *m, uint64_t offset, uint32_t octets,
		       uint8_t *out)
{
	if (offset < REMOTE_HEADER) {
		const struct remote_header h = header_of(m, 0, 0);
		uint32_t n = (uint32_t)(REMOTE_HEADER - offset);

		n = octets < n ? octets : n;
		memcpy(out, (const uint8_t *)&h + offset, n);
		offset += n;
		octets -= n;
		out += n;
	}
	if (octets == 0)
		return;
	memcpy(out, data_of(m) + (offset - REMOTE_HEADER), octets);
	r->octets_sent += octets;
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

/* The memory node */

static void answer(struct remote *r, mf_time now, mf_time ready, uint16_t peer, uint16_t id,
		   enum remote_kind kind, const struct remote_message *with)
{
	struct remote_message m = *with;

	m.peer = peer;
	m.id = id;
	m.kind = (uint8_t)kind;
	m.op = OPERATION_NIL;
	m.ready = ready + r->cost_tx;
	m.told = m.len;
	stack_stamp_tx(&r->config, ready);
	send(r, now, &m);
}

static void refuse(struct remote *r, mf_time now, mf_time known, uint16_t peer, uint16_t id,
		   enum mf_status status)
{
	answer(r, now, known, peer, id, REMOTE_ERROR, &(struct remote_message){.code = (uint8_t)status});
}

static uint8_t check(const struct remote *r, const struct remote_header *h)
{
	if (r->config.memory_ops == NULL)
		return MF_ERR_RANGE;
	return r->config.memory_ops->check(r->config.memory, h->addr, h->len);
}

/** @return when the memory has answered */
static mf_time access_memory(const struct remote *r, mf_time known, uint64_t addr, uint32_t len)
{
	return stack_stamp(&r->config, MF_STAGE_DRAM, known,
			   r->config.memory_ops->delay(r->config.memory, addr, len));
}

static void read_memory(struct remote *r, mf_time now, mf_time known, uint16_t peer,
			const struct remote_header *h)
{
	const struct mf_memory_ops *ops = r->config.memory_ops;
	uint8_t status = check(r, h);
	const void *data = status == MF_OK ? ops->at(r->config.memory, h->addr, h->len) : NULL;

	if (status == MF_OK && data == NULL)
		status = MF_ERR_RESOURCE;
	if (status != MF_OK)
		refuse(r, now, known, peer, h->id, status);
	else
		answer(r, now, access_memory(r, known, h->addr, h->len), peer, h->id, REMOTE_RESPONSE,
		       &(struct remote_message){.data = data, .len = h->len});
}

static struct remote_write *write_of(const struct remote *r, uint16_t peer, uint16_t id)
{
	return &r->write[(uint32_t)(id % OPERATION_IDS) * r->config.nodes + peer];
}

/**
 * It was sent before, and has taken effect. What an entry speaks of is the last of its number: the way from a
 * node to another keeps the order.
 */
static bool is_done(const struct remote_write *w, const struct remote_header *h)
{
	return h->again != 0 && w->done && w->id == h->id && w->addr == h->addr;
}

static void change_memory(struct remote *r, mf_time now, mf_time known, uint16_t peer,
			  const struct remote_header *h, const uint8_t *data)
{
	const struct mf_memory_ops *ops = r->config.memory_ops;
	struct remote_message m = {.len = mf_proto_rmw_size(h->code)};
	struct remote_write *w = write_of(r, peer, h->id);
	uint64_t arg[2];
	uint8_t status;

	if (is_done(w, h)) {
		m.word[0] = w->result;
		answer(r, now, known, peer, h->id, REMOTE_RESPONSE, &m);
		return;
	}
	memcpy(arg, data, sizeof(arg));
	status = ops != NULL ? ops->rmw(r->config.memory, h->code, h->addr, arg, &m.word[0]) : MF_ERR_RANGE;
	if (status != MF_OK)
		refuse(r, now, known, peer, h->id, status);
	else
		answer(r, now, access_memory(r, known, h->addr, m.len), peer, h->id, REMOTE_RESPONSE, &m);
	if (r->transport->repeats)
		*w = (struct remote_write){
			.addr = h->addr, .result = m.word[0], .id = h->id, .done = status == MF_OK};
}

static void tell_effect(const struct remote *r, uint16_t peer, const struct remote_header *h, bool last,
			mf_time known)
{
	const struct mf_probe *p = r->config.probe;

	if (p != NULL && p->effect != NULL)
		p->effect(p->ctx, peer, r->config.node, h->id, h->offset, h->octets, last, known, known);
}

static void write_memory(struct remote *r, mf_time now, mf_time known, uint16_t peer,
			 const struct remote_header *h, const uint8_t *data)
{
	struct remote_write *w = write_of(r, peer, h->id);
	bool answers = h->kind == REMOTE_WRITE_ACK || r->transport->repeats;
	uint8_t status;

	if (is_done(w, h)) {
		if (h->offset + h->octets == h->len)
			answer(r, now, known, peer, h->id, REMOTE_ACK, &(struct remote_message){0});
		return;
	}
	if (!w->busy || w->id != h->id || w->addr != h->addr || (h->offset == 0 && !r->transport->unordered))
		*w = (struct remote_write){.addr = h->addr, .id = h->id, .busy = true};
	status = check(r, h);
	if (status != MF_OK) {
		if (!w->refused)
			refuse(r, now, known, peer, h->id, status);
		w->refused = true;
		return;
	}
	if (r->transport->repeats && h->offset != w->received) {
		r->drop_order++; /* behind a gap: it comes again with the rest */
		return;
	}
	r->config.memory_ops->write(r->config.memory, h->addr + h->offset, h->octets, data);
	w->received += h->octets;
	tell_effect(r, peer, h, w->received == h->len, known);
	if (w->received < h->len)
		return;
	w->busy = false;
	w->done = true;
	if (answers)
		answer(r, now, known, peer, h->id, REMOTE_ACK, &(struct remote_message){0});
}

/* The compute node */

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

static void outcome(struct remote *r, mf_time now, mf_time known, uint16_t peer,
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

static void decode(const uint8_t *octets, struct remote_header *h)
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
	decode(segment, h);
	if (h->kind == 0 || h->kind >= REMOTE_KINDS || h->octets > max - REMOTE_HEADER)
		return false;
	if (h->kind == REMOTE_RMW)
		return h->octets == 16 && h->offset == 0;
	if (h->kind == REMOTE_WRITE || h->kind == REMOTE_WRITE_ACK)
		return h->octets != 0 && h->offset <= h->len && h->octets <= h->len - h->offset;
	return h->kind != REMOTE_READ || (h->octets == 0 && h->len != 0);
}

/** A part of a message, or all of it. */
static void take(struct remote *r, mf_time at, uint16_t peer, const struct remote_header *h,
		 const uint8_t *data)
{
	mf_time known = at + r->cost_rx;

	r->octets_received += h->octets;
	switch (h->kind) {
	case REMOTE_READ:
		read_memory(r, at, known, peer, h);
		break;
	case REMOTE_RMW:
		change_memory(r, at, known, peer, h, data);
		break;
	case REMOTE_WRITE:
	case REMOTE_WRITE_ACK:
		write_memory(r, at, known, peer, h, data);
		break;
	default:
		outcome(r, at, known, peer, h, data);
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
	take(r, at, peer, &h, segment + REMOTE_HEADER);
	return true;
}

/* Streams */

static bool is_write(uint8_t kind)
{
	return kind == REMOTE_WRITE || kind == REMOTE_WRITE_ACK;
}

/** Octets of data that come behind a header and may be taken as they come. */
static uint32_t follows(const struct remote_header *h)
{
	return is_write(h->kind) || h->kind == REMOTE_RESPONSE ? h->len : 0;
}

static bool header_right(const struct remote_header *h)
{
	if (h->kind == 0 || h->kind >= REMOTE_KINDS || h->octets != 0 || h->offset != 0)
		return false;
	return h->len != 0 || h->kind == REMOTE_ACK || h->kind == REMOTE_ERROR;
}

/** @return octets of the head that are to be there before it can be used */
static uint32_t head_size(const struct remote_stream *s)
{
	return s->have >= REMOTE_HEADER && s->header.kind == REMOTE_RMW ? sizeof(s->head) : REMOTE_HEADER;
}

/** The head of a message. @return octets taken */
static uint32_t stream_head(struct remote *r, struct remote_stream *s, mf_time at, uint16_t peer,
			    const uint8_t *data, uint32_t octets)
{
	uint32_t n = head_size(s) - s->have;

	n = octets < n ? octets : n;
	if (data == NULL) {
		s->broken = true;
		return n;
	}
	memcpy(s->head + s->have, data, n);
	s->have += n;
	if (s->have == REMOTE_HEADER) {
		decode(s->head, &s->header);
		s->broken = !header_right(&s->header);
	}
	if (s->broken || s->have < head_size(s))
		return n;
	s->taken = 0;
	if (follows(&s->header) != 0)
		return n;
	s->have = 0;
	s->header.octets = s->header.kind == REMOTE_RMW ? sizeof(s->head) - REMOTE_HEADER : 0;
	take(r, at, peer, &s->header, s->head + REMOTE_HEADER);
	return n;
}

/** Data of a message whose header is there. @return octets taken */
static uint32_t stream_data(struct remote *r, struct remote_stream *s, mf_time at, uint16_t peer,
			    const uint8_t *data, uint32_t octets)
{
	uint32_t n = s->header.len - s->taken;

	n = octets < n ? octets : n;
	n = n < UINT16_MAX ? n : UINT16_MAX;
	s->header.offset = s->taken;
	s->header.octets = (uint16_t)n;
	if (data != NULL)
		take(r, at, peer, &s->header, data);
	s->taken += n;
	if (s->taken == s->header.len)
		s->have = 0;
	return n;
}

void remote_stream(struct remote *r, struct remote_stream *s, mf_time at, uint16_t peer, const uint8_t *data,
		   uint32_t octets)
{
	stack_stamp_rx(&r->config, at);
	while (octets > 0 && !s->broken) {
		uint32_t n = s->have < head_size(s) ? stream_head(r, s, at, peer, data, octets)
						    : stream_data(r, s, at, peer, data, octets);

		data = data != NULL ? data + n : NULL;
		octets -= n;
	}
	r->drop_bad += s->broken;
}

unsigned int remote_counters(const struct remote *r, struct mf_counter *out)
{
	unsigned int n = 0;

	out[n++] = (struct mf_counter){"segments_sent", r->segments_sent};
	out[n++] = (struct mf_counter){"segments_received", r->segments_received};
	out[n++] = (struct mf_counter){"octets_sent", r->octets_sent};
	out[n++] = (struct mf_counter){"octets_received", r->octets_received};
	out[n++] = (struct mf_counter){"drop_room", r->drop_room};
	out[n++] = (struct mf_counter){"drop_bad", r->drop_bad};
	out[n++] = (struct mf_counter){"drop_unknown", r->drop_unknown};
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
