/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CXL's memory node: does what requests ask for, and answers. A request that finds no room for its answer
 * waits in its buffer.
 */
#include "systems/cxl/cxl_node.h"

/** An answer to a request, which goes when it is ready: at `done` the memory is. @return it, for its data */
static struct cxl_answer *reply(struct cxl *x, const struct cxl_message *to, enum cxl_op op, uint8_t code,
				mf_time done)
{
	struct cxl_queue *q = &x->out[cxl_op_class[op]];
	uint32_t i = x->free_answer;

	if (i != CXL_NIL)
		x->free_answer = x->answer[i].next;
	else
		i = x->fresh_answers++;
	x->answer[i] = (struct cxl_answer){.ready = done + x->cost_tx,
					   .next = CXL_NIL,
					   .tag = to->tag,
					   .peer = to->src,
					   .op = (uint8_t)op,
					   .code = code};
	if (q->tail == CXL_NIL)
		q->head = i;
	else
		x->answer[q->tail].next = i;
	q->tail = i;
	x->in_work++;
	return &x->answer[i];
}

static void tell_effect(struct cxl *x, const struct cxl_message *m, mf_time known, mf_time done)
{
	const struct mf_probe *p = x->config.probe;
	uint32_t *written = &x->peer[m->src].written, octets = CXL_LINE, offset = *written;
	unsigned int probe = cxl_get_probe(m);
	uint64_t enables;

	if (m->op == CXL_MEM_WR_PTL) {
		memcpy(&enables, m->data + CXL_LINE, sizeof(enables));
		octets = (uint32_t)__builtin_popcountll(enables);
	}
	x->octets_received += octets;
	*written = probe & CXL_PROBE_LAST ? 0 : offset + octets;
	if (p != NULL && p->effect != NULL)
		p->effect(p->ctx, m->src, x->config.node, (uint8_t)probe, offset, octets,
			  (probe & CXL_PROBE_LAST) != 0, known, done);
}

static uint64_t line_of(const struct cxl_message *m)
{
	return m->addr / CXL_LINE * CXL_LINE;
}

static uint8_t access_memory(struct cxl *x, const struct cxl_message *m, enum mf_right right, uint64_t addr,
			     uint32_t len, const void *data, mf_time at, struct mf_answer *out)
{
	const struct mf_access a = {.addr = addr,
				    .at = at,
				    .data = data,
				    .len = len,
				    .node = m->src,
				    .end = x->config.end,
				    .right = (uint8_t)right,
				    .op = right == MF_RIGHT_RMW ? m->code : 0,
				    .hold = right == MF_RIGHT_READ};

	return x->config.memory_ops->access(x->config.memory, &a, out);
}

/** The bytes that the byte enables say, run by run, one after the other. */
static uint8_t write_partly(struct cxl *x, const struct cxl_message *m, mf_time at, mf_time *taken)
{
	uint8_t status = MF_OK;
	uint64_t enables;

	*taken = 0;
	memcpy(&enables, m->data + CXL_LINE, sizeof(enables));
	while (enables != 0 && status == MF_OK) {
		unsigned int from = (unsigned int)__builtin_ctzll(enables), n;
		uint64_t run = ~(enables >> from);
		struct mf_answer got = {.time = 0};

		n = run != 0 ? (unsigned int)__builtin_ctzll(run) : CXL_LINE;
		status = access_memory(x, m, MF_RIGHT_WRITE, line_of(m) + from, n, m->data + from,
				       at + *taken, &got);
		*taken += got.time;
		enables = from + n < CXL_LINE ? enables >> (from + n) << (from + n) : 0;
	}
	return status;
}

static void serve_write(struct cxl *x, mf_time known, const struct cxl_message *m)
{
	struct mf_answer got = {.time = 0};
	uint8_t status;

	if (m->op == CXL_MEM_WR_PTL)
		status = write_partly(x, m, known, &got.time);
	else
		status = access_memory(x, m, MF_RIGHT_WRITE, line_of(m), CXL_LINE, m->data, known, &got);
	if (status != MF_OK) {
		reply(x, m, CXL_ERR, status, known);
		return;
	}
	tell_effect(x, m, known, known + got.time);
	reply(x, m, CXL_CMP, 0, known + got.time);
}

static void serve_rmw(struct cxl *x, mf_time known, const struct cxl_message *m)
{
	struct mf_answer got;
	uint64_t arg[2];
	uint8_t status;

	memcpy(arg, m->data, sizeof(arg));
	status = access_memory(x, m, MF_RIGHT_RMW, m->addr, sizeof(uint64_t), arg, known, &got);
	if (status != MF_OK)
		reply(x, m, CXL_ERR, status, known);
	else
		reply(x, m, CXL_RMW_DATA, 0, known + got.time)->value = got.old;
}

/** The line stays where it is until it goes out. */
static void serve_read(struct cxl *x, mf_time known, const struct cxl_message *m)
{
	struct mf_answer got;
	uint8_t status = access_memory(x, m, MF_RIGHT_READ, m->addr, CXL_LINE, NULL, known, &got);

	if (status != MF_OK) {
		reply(x, m, CXL_ERR, status, known);
		return;
	}
	__builtin_prefetch(got.places.at[0]);
	reply(x, m, CXL_MEM_DATA, 0, known + got.time)->line = got.places;
}

/** Does what a request asks for. There is room for the answer. */
static void serve(struct cxl *x, mf_time now, const struct cxl_message *m)
{
	mf_time known = now + x->cost_rx;

	if (x->config.memory_ops == NULL)
		reply(x, m, CXL_ERR, MF_ERR_RANGE, known);
	else if (m->op == CXL_MEM_RD)
		serve_read(x, known, m);
	else if (m->op == CXL_MEM_RMW)
		serve_rmw(x, known, m);
	else
		serve_write(x, known, m);
}

static void keep_waiting(struct cxl *x, const struct cxl_message *m)
{
	uint32_t i = x->free_wait;

	if (i != CXL_NIL)
		x->free_wait = x->wait[i].next;
	else
		i = x->fresh_wait++;
	cxl_copy_message(&x->wait[i].message, m);
	x->wait[i].next = CXL_NIL;
	if (x->waiting.tail == CXL_NIL)
		x->waiting.head = i;
	else
		x->wait[x->waiting.tail].next = i;
	x->waiting.tail = i;
	x->waited_depth++;
}

/** Requests that waited for room. */
static void go_on(struct cxl *x, mf_time now)
{
	while (x->waiting.head != CXL_NIL && x->in_work < x->answers) {
		uint32_t i = x->waiting.head;

		x->waiting.head = x->wait[i].next;
		if (x->waiting.head == CXL_NIL)
			x->waiting.tail = CXL_NIL;
		serve(x, now, &x->wait[i].message);
		cxl_link_freed(&x->link, cxl_op_class[x->wait[i].message.op], now);
		x->wait[i].next = x->free_wait;
		x->free_wait = i;
	}
}

bool cxl_request(struct cxl *x, mf_time at, const struct cxl_message *m)
{
	bool room = x->in_work < x->answers && x->waiting.head == CXL_NIL;

	if (room)
		serve(x, at, m);
	else
		keep_waiting(x, m);
	return room;
}

void cxl_take_answer(struct cxl *x, unsigned int class, mf_time now, struct cxl_message *m)
{
	uint32_t i = x->out[class].head;
	struct cxl_answer *a = &x->answer[i];

	m->addr = 0;
	m->tag = a->tag;
	m->src = x->config.node;
	m->dst = a->peer;
	m->op = a->op;
	m->code = a->code;
	if (a->op == CXL_MEM_DATA) {
		mf_places_copy(&a->line, 0, CXL_LINE, m->data);
		x->config.memory_ops->let_go(x->config.memory, &a->line);
		x->octets_sent += CXL_LINE;
	} else if (a->op == CXL_RMW_DATA) {
		memset(m->data, 0, CXL_SLOT);
		memcpy(m->data, &a->value, sizeof(a->value));
	}
	x->out[class].head = a->next;
	if (a->next == CXL_NIL)
		x->out[class].tail = CXL_NIL;
	a->next = x->free_answer;
	x->free_answer = i;
	x->in_work--;
	go_on(x, now);
}

void cxl_memory_fini(struct cxl *x)
{
	if (x->answer == NULL)
		return;
	for (uint32_t i = x->out[CXL_DRS].head; i != CXL_NIL; i = x->answer[i].next)
		if (x->answer[i].op == CXL_MEM_DATA)
			x->config.memory_ops->let_go(x->config.memory, &x->answer[i].line);
}
