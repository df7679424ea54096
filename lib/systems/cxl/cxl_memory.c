/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CXL's memory node: does what requests ask for, and answers. A request that finds no room for its answer
 * waits in its buffer.
 */
#include "systems/cxl/cxl_node.h"

static void reply(struct cxl *x, const struct cxl_message *to, enum cxl_op op, uint8_t code, uint64_t addr,
		  mf_time ready)
{
	struct cxl_queue *q = &x->out[cxl_op_class[op]];
	uint32_t i = x->free_answer;

	if (i != CXL_NIL)
		x->free_answer = x->answer[i].next;
	else
		i = x->fresh_answers++;
	x->answer[i] = (struct cxl_answer){.ready = ready + x->cost_tx,
					   .addr = addr,
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
}

static void tell_effect(struct cxl *x, const struct cxl_message *m, mf_time known)
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
			  (probe & CXL_PROBE_LAST) != 0, known, known);
}

static uint64_t line_of(const struct cxl_message *m)
{
	return m->addr / CXL_LINE * CXL_LINE;
}

/** The octets that the byte enables say, run by run. */
static uint8_t write_partly(struct cxl *x, const struct cxl_message *m)
{
	const struct mf_memory_ops *ops = x->config.memory_ops;
	uint8_t status = MF_OK;
	uint64_t enables;

	memcpy(&enables, m->data + CXL_LINE, sizeof(enables));
	while (enables != 0 && status == MF_OK) {
		unsigned int from = (unsigned int)__builtin_ctzll(enables), n;
		uint64_t run = ~(enables >> from);

		n = run != 0 ? (unsigned int)__builtin_ctzll(run) : CXL_LINE;
		status = ops->check(x->config.memory, line_of(m) + from, n);
		if (status == MF_OK)
			ops->write(x->config.memory, line_of(m) + from, n, m->data + from);
		enables = from + n < CXL_LINE ? enables >> (from + n) << (from + n) : 0;
	}
	return status;
}

static uint8_t write_line(struct cxl *x, const struct cxl_message *m)
{
	const struct mf_memory_ops *ops = x->config.memory_ops;
	uint8_t status;

	if (m->op == CXL_MEM_WR_PTL)
		return write_partly(x, m);
	status = ops->check(x->config.memory, line_of(m), CXL_LINE);
	if (status == MF_OK)
		ops->write(x->config.memory, line_of(m), CXL_LINE, m->data);
	return status;
}

static uint64_t swapped(const struct cxl_message *m, struct cxl *x, uint8_t *status)
{
	uint64_t arg[2], old = 0;

	memcpy(arg, m->data, sizeof(arg));
	*status = x->config.memory_ops->rmw(x->config.memory, m->code, m->addr, arg, &old);
	return old;
}

/** Does what a request asks for. There is room for the answer. */
static void serve(struct cxl *x, mf_time now, const struct cxl_message *m)
{
	const struct mf_memory_ops *ops = x->config.memory_ops;
	mf_time known = now + x->cost_rx, done = known;
	uint8_t status = MF_OK;
	uint64_t addr = m->addr;

	if (ops == NULL) {
		status = MF_ERR_RANGE;
	} else if (m->op == CXL_MEM_RD) {
		status = ops->check(x->config.memory, m->addr, CXL_LINE);
	} else if (m->op == CXL_MEM_RMW) {
		addr = swapped(m, x, &status);
	} else {
		status = write_line(x, m);
	}
	if (status != MF_OK) {
		reply(x, m, CXL_ERR, status, 0, known);
	} else if (m->op == CXL_MEM_WR || m->op == CXL_MEM_WR_PTL) {
		tell_effect(x, m, known);
		reply(x, m, CXL_CMP, 0, 0, known);
	} else {
		__builtin_prefetch(ops->at(x->config.memory, line_of(m), CXL_LINE));
		done += m->op == CXL_MEM_RD ? ops->delay(x->config.memory, m->addr, CXL_LINE)
					    : mf_memory_rmw_delay(ops, x->config.memory, m->addr, CXL_LINE);
		reply(x, m, m->op == CXL_MEM_RD ? CXL_MEM_DATA : CXL_RMW_DATA, 0, addr, done);
	}
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
	const struct mf_memory_ops *ops = x->config.memory_ops;
	uint32_t i = x->out[class].head;
	struct cxl_answer *a = &x->answer[i];

	m->addr = 0;
	m->tag = a->tag;
	m->src = x->config.node;
	m->dst = a->peer;
	m->op = a->op;
	m->code = a->code;
	if (a->op == CXL_MEM_DATA) {
		ops->read(x->config.memory, a->addr, CXL_LINE, m->data);
		x->octets_sent += CXL_LINE;
	} else if (a->op == CXL_RMW_DATA) {
		memset(m->data, 0, CXL_SLOT);
		memcpy(m->data, &a->addr, sizeof(a->addr));
	}
	x->out[class].head = a->next;
	if (a->next == CXL_NIL)
		x->out[class].tail = CXL_NIL;
	a->next = x->free_answer;
	x->free_answer = i;
	x->in_work--;
	go_on(x, now);
}
