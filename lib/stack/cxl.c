/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CXL.mem: a node reads and writes the memory of others by cache lines, over a link with credits
 * (cxl_link.h).
 *
 *      READ        for each line MemRd (REQ)            -> MemData (DRS), 64 octets
 *      WRITE       for each line MemWr, MemWrPtl (RwD)  -> Cmp (NDR)
 *      RMW         MemRmw (RwD) with two operands       -> RmwData (DRS), the old value
 *
 * An operation is cut into lines. Each has a tag until its answer has come; an operation completes when
 * all of its lines have. Memory nodes take turns, line by line; the reads to one go in their order, and
 * so do its writes, but nothing orders the ones and the others. Answers are taken in at once, whatever
 * else goes on. A memory node takes a request out of its buffer when it has room for the answer
 * (`depth`), and its credit returns then: what its answers wait for holds up requests, and never the
 * other way round.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cxl_param.h"
#include "mf_table.h"
#include "operations.h"
#include "stacks.h"

#define NIL UINT32_MAX

enum { TAGS = CXL_LINK_PARAMS, DEPTH, PARAMS };

static const struct mf_param params[] = {
	{CXL_PARAM_FLIT},
	{CXL_PARAM_REQ},
	{CXL_PARAM_RWD},
	{CXL_PARAM_NDR},
	{CXL_PARAM_DRS},
	{CXL_PARAM_REPLAY},
	{CXL_PARAM_TIMEOUT},
	{CXL_PARAM_TELL},
	{"tags", MF_PARAM_COUNT, 512, 1, 65536, "lines that a node has under way"},
	{"depth", MF_PARAM_COUNT, 128, 1, 65536, "requests that a memory node works on"},
	{0}};

/** What an operation has beyond struct operation, by its number. */
struct lines {
	uint64_t sent; /**< octets whose lines have been sent */
	mf_time ready; /**< its lines may go from then on */
	uint32_t under_way; /**< lines whose answers are to come */
	uint32_t next, prev; /**< among those that are not ready, or to the same memory node */
	uint32_t generation; /**< of the operation of this number */
	bool listed;
};

struct queue {
	uint32_t head, tail;
};

/** By peer. */
struct peer {
	struct queue ops[CXL_RWD + 1]; /**< operations that have lines to send, by class */
	uint16_t next[CXL_RWD + 1], prev[CXL_RWD + 1]; /**< in the ring of those that have some */
	uint32_t written; /**< memory node: octets of the write whose lines come */
};

struct tag {
	uint32_t op, generation;
	uint32_t offset; /**< of its octets in the operation's */
	uint8_t skip, len; /**< of the line: its octets */
};

/** An answer that a memory node is to give. */
struct answer {
	mf_time ready;
	uint64_t addr; /**< of the line; RMW: the old value */
	uint32_t next;
	uint16_t tag, peer;
	uint8_t op, code;
};

/** A request that waits in its buffer. */
struct waiting {
	struct cxl_message message;
	uint32_t next;
};

struct cxl {
	struct mf_stack_config config;
	struct operations operations;
	struct cxl_link link;
	mf_time cost_tx, cost_rx;
	/* compute node */
	struct lines *lines; /**< [operations.size] */
	struct queue fresh; /**< operations that are not ready, by their time */
	struct peer *peer; /**< [nodes] */
	uint32_t turn[CXL_RWD + 1]; /**< peers with lines to send, a ring: whose turn it is, by class; NIL */
	struct tag *tag;
	uint32_t *free_tag;
	uint32_t tags, fresh_tags, free_tags;
	/* memory node */
	struct answer *answer;
	uint32_t answers, fresh_answers, free_answer, in_work;
	struct queue out[CXL_CLASSES]; /**< NDR, DRS: answers by their time */
	struct waiting *wait;
	uint32_t waits, fresh_wait, free_wait;
	struct queue waiting;
	/* what has come, until its time */
	mf_time arrival; /**< MF_NEVER: nothing */
	unsigned int blocks;
	uint64_t word[CXL_FLIT_WORDS];
	uint64_t octets_sent, octets_received, waited_depth, drop_unknown, drop_bad;
};

static struct cxl *cxl_of(struct mf_stack *s)
{
	return (struct cxl *)s;
}

static const struct cxl *cxl_const(const struct mf_stack *s)
{
	return (const struct cxl *)s;
}

/* Operations that have lines to send */

static unsigned int class_of(const struct cxl *x, uint32_t op)
{
	return x->operations.op[op].c.kind == MF_OP_READ ? CXL_REQ : CXL_RWD;
}

static void append(struct cxl *x, struct queue *q, uint32_t op)
{
	struct lines *l = &x->lines[op];

	l->listed = true;
	l->next = NIL;
	l->prev = q->tail;
	if (q->tail == NIL)
		q->head = op;
	else
		x->lines[q->tail].next = op;
	q->tail = op;
}

static void unlist(struct cxl *x, struct queue *q, uint32_t op)
{
	struct lines *l = &x->lines[op];

	l->listed = false;
	if (l->prev == NIL)
		q->head = l->next;
	else
		x->lines[l->prev].next = l->next;
	if (l->next == NIL)
		q->tail = l->prev;
	else
		x->lines[l->next].prev = l->prev;
}

/** A peer has something to send: its turn comes last. */
static void join(struct cxl *x, unsigned int class, uint16_t peer)
{
	uint32_t at = x->turn[class];
	struct peer *p = &x->peer[peer];

	if (at == NIL) {
		x->turn[class] = p->next[class] = p->prev[class] = peer;
		return;
	}
	p->next[class] = (uint16_t)at;
	p->prev[class] = x->peer[at].prev[class];
	x->peer[p->prev[class]].next[class] = peer;
	x->peer[at].prev[class] = peer;
}

static void leave(struct cxl *x, unsigned int class, uint16_t peer)
{
	struct peer *p = &x->peer[peer];

	x->peer[p->prev[class]].next[class] = p->next[class];
	x->peer[p->next[class]].prev[class] = p->prev[class];
	if (x->turn[class] == peer)
		x->turn[class] = p->next[class] != peer ? p->next[class] : NIL;
}

static bool is_fresh(const struct lines *l)
{
	return l->ready != 0;
}

static void begin(struct cxl *x, mf_time now)
{
	uint32_t op;

	while ((op = x->fresh.head) != NIL && x->lines[op].ready <= now) {
		uint16_t peer = x->operations.op[op].c.node;
		struct queue *q = &x->peer[peer].ops[class_of(x, op)];

		unlist(x, &x->fresh, op);
		x->lines[op].ready = 0;
		if (q->head == NIL)
			join(x, class_of(x, op), peer);
		append(x, q, op);
	}
}

/** It has no more lines to send. */
static void drop_lines(struct cxl *x, uint32_t op)
{
	uint16_t peer = x->operations.op[op].c.node;
	unsigned int class = class_of(x, op);
	struct queue *q = &x->peer[peer].ops[class];

	if (is_fresh(&x->lines[op])) {
		unlist(x, &x->fresh, op);
		return;
	}
	unlist(x, q, op);
	if (q->head == NIL)
		leave(x, class, peer);
}

/** It has come to its end: what of it has not been sent is not, and the answers to the rest are nobody's. */
static void finish(struct cxl *x, uint32_t op, mf_time date, enum mf_status status)
{
	struct lines *l = &x->lines[op];

	if (l->listed)
		drop_lines(x, op);
	l->generation++;
	operations_complete(&x->operations, op, date, status);
}

static void tell_begun(const struct cxl *x, const struct operation *o)
{
	const struct mf_probe *p = x->config.probe;

	if (p != NULL && p->begun != NULL && (o->c.kind == MF_OP_WRITE || o->c.kind == MF_OP_WRITE_ACK))
		p->begun(p->ctx, x->config.node, o->c.node, (uint8_t)o->id, o->c.user, o->c.submitted);
}

static int cxl_submit(struct mf_stack *s, mf_time now, const struct mf_op *op)
{
	struct cxl *x = cxl_of(s);
	uint32_t i;

	if (op->len > UINT32_MAX)
		return -EINVAL;
	i = operations_add(&x->operations, now, op);
	if (i == OPERATION_NIL)
		return -EAGAIN;
	x->lines[i].sent = 0;
	x->lines[i].under_way = 0;
	x->lines[i].ready = now + x->cost_tx + 1;
	append(x, &x->fresh, i);
	tell_begun(x, &x->operations.op[i]);
	return 0;
}

/* Requests */

static uint32_t take_tag(struct cxl *x)
{
	return x->free_tags != 0 ? x->free_tag[--x->free_tags] : x->fresh_tags++;
}

static bool has_tag(const struct cxl *x)
{
	return x->free_tags != 0 || x->fresh_tags < x->tags;
}

/** Which octets of the line are written. */
static uint64_t byte_enables(const struct tag *t)
{
	return (t->len == CXL_LINE ? UINT64_MAX : (UINT64_C(1) << t->len) - 1) << t->skip;
}

/**
 * Where a real CXL has nothing, in 4 bits of the message and the low bits of the line's address, a write
 * has the number of its operation, and whether it is the last line: for the probe at the memory node.
 */
#define PROBE_LAST 0x100

static void put_probe(struct cxl_message *m, unsigned int probe)
{
	m->code = probe & 15;
	m->addr |= probe >> 4;
}

static unsigned int get_probe(const struct cxl_message *m)
{
	return m->code | (unsigned int)(m->addr % CXL_LINE) << 4;
}

static void put_write(const struct operation *o, const struct tag *t, struct cxl_message *m)
{
	bool last = (uint64_t)t->offset + t->len == o->c.len;
	uint64_t enables = byte_enables(t);

	put_probe(m, (o->id & 0xff) | (last ? PROBE_LAST : 0));

	m->op = t->len == CXL_LINE ? CXL_MEM_WR : CXL_MEM_WR_PTL;
	memset(m->data, 0, sizeof(m->data));
	memcpy(m->data + t->skip, o->buf + t->offset, t->len);
	memcpy(m->data + CXL_LINE, &enables, sizeof(enables));
}

/** The next line of an operation: from where it has come to, to the end of the line or of itself. */
static void put_line(struct cxl *x, uint32_t op, struct cxl_message *m)
{
	struct operation *o = &x->operations.op[op];
	struct lines *l = &x->lines[op];
	uint64_t at = o->addr + l->sent, rest = o->c.len - l->sent;
	uint32_t i = take_tag(x), skip = at % CXL_LINE;
	struct tag *t = &x->tag[i];

	*t = (struct tag){.op = op,
			  .generation = l->generation,
			  .offset = (uint32_t)l->sent,
			  .skip = (uint8_t)skip,
			  .len = (uint8_t)(rest < CXL_LINE - skip ? rest : CXL_LINE - skip)};
	m->src = x->config.node;
	m->dst = o->c.node;
	m->tag = (uint16_t)i;
	m->code = 0;
	m->addr = at - skip;
	if (o->c.kind == MF_OP_READ) {
		m->op = CXL_MEM_RD;
	} else if (o->c.kind == MF_OP_RMW) {
		m->op = CXL_MEM_RMW;
		m->code = o->rmw;
		m->addr = at;
		memcpy(m->data, o->arg, sizeof(o->arg));
	} else {
		put_write(o, t, m);
		x->octets_sent += t->len;
	}
	l->sent += t->len;
	l->under_way++;
}

/** A write has begun when its first line goes. */
static void take_request(struct cxl *x, unsigned int class, mf_time now, struct cxl_message *m)
{
	uint32_t peer = x->turn[class], op = x->peer[peer].ops[class].head;
	struct operation *o = &x->operations.op[op];

	put_line(x, op, m);
	if (!o->begun && (o->c.kind == MF_OP_WRITE || o->c.kind == MF_OP_WRITE_ACK)) {
		o->begun = true;
		o->c.first = now;
	}
	x->turn[class] = x->peer[peer].next[class];
	if (x->lines[op].sent == o->c.len)
		drop_lines(x, op);
}

/* Answers of a memory node */

static void reply(struct cxl *x, const struct cxl_message *to, enum cxl_op op, uint8_t code, uint64_t addr,
		  mf_time ready)
{
	struct queue *q = &x->out[cxl_op_class[op]];
	uint32_t i = x->free_answer;

	if (i != NIL)
		x->free_answer = x->answer[i].next;
	else
		i = x->fresh_answers++;
	x->answer[i] = (struct answer){.ready = ready + x->cost_tx,
				       .addr = addr,
				       .next = NIL,
				       .tag = to->tag,
				       .peer = to->src,
				       .op = (uint8_t)op,
				       .code = code};
	if (q->tail == NIL)
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
	unsigned int probe = get_probe(m);
	uint64_t enables;

	memcpy(&enables, m->data + CXL_LINE, sizeof(enables));
	if (m->op == CXL_MEM_WR_PTL)
		octets = (uint32_t)__builtin_popcountll(enables);
	x->octets_received += octets;
	*written = probe & PROBE_LAST ? 0 : offset + octets;
	if (p != NULL && p->effect != NULL)
		p->effect(p->ctx, m->src, x->config.node, (uint8_t)probe, offset, octets,
			  (probe & PROBE_LAST) != 0, known, known);
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
		done += ops->delay(x->config.memory, m->addr, CXL_LINE);
		reply(x, m, m->op == CXL_MEM_RD ? CXL_MEM_DATA : CXL_RMW_DATA, 0, addr, done);
	}
}

static void keep_waiting(struct cxl *x, const struct cxl_message *m)
{
	uint32_t i = x->free_wait;

	if (i != NIL)
		x->free_wait = x->wait[i].next;
	else
		i = x->fresh_wait++;
	x->wait[i].message = *m;
	x->wait[i].next = NIL;
	if (x->waiting.tail == NIL)
		x->waiting.head = i;
	else
		x->wait[x->waiting.tail].next = i;
	x->waiting.tail = i;
	x->waited_depth++;
}

/** Requests that waited for room. */
static void go_on(struct cxl *x, mf_time now)
{
	while (x->waiting.head != NIL && x->in_work < x->answers) {
		uint32_t i = x->waiting.head;

		x->waiting.head = x->wait[i].next;
		if (x->waiting.head == NIL)
			x->waiting.tail = NIL;
		serve(x, now, &x->wait[i].message);
		cxl_link_freed(&x->link, cxl_op_class[x->wait[i].message.op], now);
		x->wait[i].next = x->free_wait;
		x->free_wait = i;
	}
}

/** A line's data leave the memory when the answer goes. */
static void take_answer(struct cxl *x, unsigned int class, mf_time now, struct cxl_message *m)
{
	const struct mf_memory_ops *ops = x->config.memory_ops;
	uint32_t i = x->out[class].head;
	struct answer *a = &x->answer[i];

	*m = (struct cxl_message){
		.src = x->config.node, .dst = a->peer, .tag = a->tag, .op = a->op, .code = a->code};
	if (a->op == CXL_MEM_DATA) {
		ops->read(x->config.memory, a->addr, CXL_LINE, m->data);
		x->octets_sent += CXL_LINE;
	} else if (a->op == CXL_RMW_DATA) {
		memcpy(m->data, &a->addr, sizeof(a->addr));
	}
	x->out[class].head = a->next;
	if (a->next == NIL)
		x->out[class].tail = NIL;
	a->next = x->free_answer;
	x->free_answer = i;
	x->in_work--;
	go_on(x, now);
}

/* Answers that come */

static void tell_response(const struct cxl *x, const struct operation *o, const struct tag *t, bool last,
			  mf_time known)
{
	const struct mf_probe *p = x->config.probe;

	if (p != NULL && p->response != NULL)
		p->response(p->ctx, x->config.node, o->c.node, (uint8_t)o->id, t->offset, t->len, last, known,
			    known);
}

static bool fits(const struct operation *o, uint8_t op)
{
	switch (op) {
	case CXL_MEM_DATA:
		return o->c.kind == MF_OP_READ;
	case CXL_RMW_DATA:
		return o->c.kind == MF_OP_RMW;
	case CXL_CMP:
		return o->c.kind == MF_OP_WRITE || o->c.kind == MF_OP_WRITE_ACK;
	default:
		return true;
	}
}

static void take_outcome(struct cxl *x, mf_time known, const struct tag *t, const struct cxl_message *m)
{
	struct operation *o = &x->operations.op[t->op];
	struct lines *l = &x->lines[t->op];
	bool last;

	l->under_way--;
	last = l->under_way == 0 && l->sent == o->c.len;
	if (m->op == CXL_ERR) {
		finish(x, t->op, known,
		       m->code != MF_OK && m->code < MF_STATUSES ? m->code : MF_ERR_RESOURCE);
		return;
	}
	if (m->op != CXL_CMP) {
		memcpy(m->op == CXL_MEM_DATA ? o->buf + t->offset : (uint8_t *)&o->c.result,
		       m->data + (m->op == CXL_MEM_DATA ? t->skip : 0), t->len);
		x->octets_received += t->len;
		if (!o->begun)
			o->c.first = known;
		o->begun = true;
		tell_response(x, o, t, last, known);
	}
	if (last)
		finish(x, t->op, known, MF_OK);
}

static void take_response(struct cxl *x, mf_time at, const struct cxl_message *m)
{
	struct tag *t = &x->tag[m->tag];

	if (m->tag >= x->fresh_tags || t->len == 0 || x->operations.op[t->op].c.node != m->src ||
	    (x->lines[t->op].generation == t->generation && !fits(&x->operations.op[t->op], m->op))) {
		x->drop_bad++;
		return;
	}
	if (x->lines[t->op].generation == t->generation)
		take_outcome(x, at + x->cost_rx, t, m);
	else
		x->drop_unknown++;
	t->len = 0;
	x->free_tag[x->free_tags++] = m->tag;
}

/* The link */

static unsigned int cxl_has(void *ctx, unsigned int port, mf_time now)
{
	const struct cxl *x = ctx;
	unsigned int mask = 0;

	(void)port;
	if (has_tag(x)) {
		mask |= x->turn[CXL_REQ] != NIL ? 1 << CXL_REQ : 0;
		mask |= x->turn[CXL_RWD] != NIL ? 1 << CXL_RWD : 0;
	}
	for (unsigned int c = CXL_NDR; c < CXL_CLASSES; c++)
		if (x->out[c].head != NIL && x->answer[x->out[c].head].ready <= now)
			mask |= 1u << c;
	return mask;
}

static void cxl_take(void *ctx, unsigned int port, enum cxl_class class, mf_time now, struct cxl_message *m)
{
	(void)port;
	if (class <= CXL_RWD)
		take_request(ctx, class, now, m);
	else
		take_answer(ctx, class, now, m);
}

static void cxl_deliver(void *ctx, unsigned int port, mf_time at, const struct cxl_message *m)
{
	struct cxl *x = ctx;
	unsigned int class = cxl_op_class[m->op];

	(void)port;
	if (m->dst != x->config.node || m->src >= x->config.nodes || m->src == x->config.node) {
		x->drop_bad++;
	} else if (class > CXL_RWD) {
		take_response(x, at, m);
	} else if (x->in_work < x->answers && x->waiting.head == NIL) {
		serve(x, at, m);
	} else {
		keep_waiting(x, m);
		return;
	}
	cxl_link_freed(&x->link, class, at);
}

static const struct cxl_ends ends = {.has = cxl_has, .take = cxl_take, .deliver = cxl_deliver};

static void arrive(struct cxl *x)
{
	mf_time at = x->arrival;

	x->arrival = MF_NEVER;
	cxl_link_receive(&x->link, at, x->word, x->blocks);
}

/** What has come by now, and what may begin. */
static void settle(struct cxl *x, mf_time now)
{
	if (x->arrival <= now)
		arrive(x);
	begin(x, now);
}

/** One flit at most is known before its time; the one before has had its. */
static void cxl_message(struct mf_stack *s, mf_time at, const uint64_t *word, unsigned int n)
{
	struct cxl *x = cxl_of(s);

	if (x->arrival != MF_NEVER)
		arrive(x);
	x->blocks = n <= CXL_FLIT_WORDS ? n : 0;
	memcpy(x->word, word, x->blocks * sizeof(*word));
	x->arrival = at + 1;
}

static unsigned int cxl_pull(struct mf_stack *s, mf_time now, uint64_t *word)
{
	struct cxl *x = cxl_of(s);

	settle(x, now);
	cxl_link_run(&x->link, now);
	return cxl_link_pull(&x->link, now, word);
}

/** Of the messages of classes that have credits. */
static mf_time messages_ready(const struct cxl *x)
{
	unsigned int may = cxl_link_may(&x->link);
	mf_time ready = MF_NEVER;

	if (has_tag(x)) {
		if ((may & 1 << CXL_REQ && x->turn[CXL_REQ] != NIL) ||
		    (may & 1 << CXL_RWD && x->turn[CXL_RWD] != NIL))
			return 0;
	}
	for (unsigned int c = CXL_NDR; c < CXL_CLASSES; c++)
		if (may & 1 << c && x->out[c].head != NIL)
			ready = mf_time_min(ready, x->answer[x->out[c].head].ready);
	return ready;
}

static mf_time cxl_ready(const struct mf_stack *s)
{
	const struct cxl *x = cxl_const(s);

	return mf_time_min(cxl_link_ready(&x->link), messages_ready(x));
}

/** An operation whose time has run out: a read has moved nothing, of a write nobody knows. */
static void expire(struct cxl *x, mf_time now)
{
	uint32_t i;

	while ((i = operations_expired(&x->operations, now)) != OPERATION_NIL)
		finish(x, i, now, x->operations.op[i].c.kind == MF_OP_READ ? MF_ERR_TIMEOUT : MF_ERR_UNKNOWN);
}

static void cxl_run(struct mf_stack *s, mf_time now)
{
	struct cxl *x = cxl_of(s);

	settle(x, now);
	cxl_link_run(&x->link, now);
	expire(x, now);
}

static mf_time cxl_next(const struct mf_stack *s)
{
	const struct cxl *x = cxl_const(s);
	mf_time next = mf_time_min(x->arrival, cxl_link_next(&x->link));

	if (x->fresh.head != NIL)
		next = mf_time_min(next, x->lines[x->fresh.head].ready);
	return mf_time_min(next, operations_next(&x->operations));
}

static unsigned int cxl_completions(struct mf_stack *s, mf_time now, struct mf_completion *out,
				    unsigned int max)
{
	return operations_take(&cxl_of(s)->operations, now, out, max);
}

static uint32_t cxl_outstanding(const struct mf_stack *s)
{
	return cxl_const(s)->operations.count;
}

static unsigned int cxl_counters(const struct mf_stack *s, struct mf_counter *out)
{
	const struct cxl *x = cxl_const(s);
	unsigned int n = cxl_link_counters(&x->link.stats, out);

	out[n++] = (struct mf_counter){"octets_sent", x->octets_sent};
	out[n++] = (struct mf_counter){"octets_received", x->octets_received};
	out[n++] = (struct mf_counter){"waited_depth", x->waited_depth};
	out[n++] = (struct mf_counter){"drop_unknown", x->drop_unknown};
	out[n++] = (struct mf_counter){"drop_bad", x->drop_bad};
	return n;
}

static void cxl_destroy(struct mf_stack *s)
{
	struct cxl *x = cxl_of(s);

	operations_fini(&x->operations);
	cxl_link_fini(&x->link);
	mf_table_free(x->peer);
	mf_table_free(x->lines);
	mf_table_free(x->tag);
	mf_table_free(x->free_tag);
	mf_table_free(x->answer);
	mf_table_free(x->wait);
	free(x);
}

static int allocate(struct cxl *x, struct cxl_link_config *link)
{
	int err;

	link->ends = &ends;
	link->ctx = x;
	link->port = x->config.node;
	x->waits = (uint32_t)link->buffers[CXL_REQ] + link->buffers[CXL_RWD];
	err = operations_init(&x->operations, &x->config);
	if (err == 0)
		err = cxl_link_init(&x->link, link);
	x->peer = mf_table_new(x->config.nodes, sizeof(*x->peer));
	x->lines = mf_table_new(x->config.queue, sizeof(*x->lines));
	x->tag = mf_table_new(x->tags, sizeof(*x->tag));
	x->free_tag = mf_table_new(x->tags, sizeof(*x->free_tag));
	x->answer = mf_table_new(x->answers, sizeof(*x->answer));
	x->wait = mf_table_new(x->waits, sizeof(*x->wait));
	if (err != 0 || x->peer == NULL || x->lines == NULL || x->tag == NULL || x->free_tag == NULL ||
	    x->answer == NULL || x->wait == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < x->config.nodes; i++)
		x->peer[i].ops[CXL_REQ] = x->peer[i].ops[CXL_RWD] = (struct queue){NIL, NIL};
	return 0;
}

static struct mf_stack *cxl_create(const struct mf_stack_config *c)
{
	const struct queue empty = {NIL, NIL};
	struct cxl *x = calloc(1, sizeof(*x));
	struct cxl_link_config link = {0};

	if (x == NULL)
		return NULL;
	x->config = *c;
	x->config.param = NULL;
	x->cost_tx = x->cost_rx = c->timing.cost[MF_STAGE_PROTOCOL] + c->timing.cost[MF_STAGE_MAC];
	x->tags = (uint32_t)c->param[TAGS];
	x->answers = (uint32_t)c->param[DEPTH];
	x->free_answer = x->free_wait = NIL;
	x->fresh = x->out[CXL_NDR] = x->out[CXL_DRS] = x->waiting = empty;
	x->turn[CXL_REQ] = x->turn[CXL_RWD] = NIL;
	x->arrival = MF_NEVER;
	if (cxl_param_link(c->param, &link) && allocate(x, &link) == 0)
		return (struct mf_stack *)x;
	cxl_destroy((struct mf_stack *)x);
	errno = link.ends == NULL ? EINVAL : ENOMEM;
	return NULL;
}

/**
 * What it takes of full flits: a request is a slot, data are four a line, of messages with data two headers
 * of responses share a slot. Acknowledgements and credits go along.
 */
static struct mf_op_blocks cxl_blocks(const double *param, uint8_t kind, uint64_t octets)
{
	const struct cxl_format *f = param[CXL_FLIT] == 256 ? &cxl_format_256 : &cxl_format_68;
	double slot = (double)f->blocks / f->slots, there, back;
	double lines = (double)((octets + CXL_LINE - 1) / CXL_LINE);

	if (kind == MF_OP_READ) {
		there = lines;
		back = lines * (0.5 + cxl_op_slots[CXL_MEM_DATA]);
	} else if (kind == MF_OP_RMW) {
		there = 1 + cxl_op_slots[CXL_MEM_RMW];
		back = 0.5 + cxl_op_slots[CXL_RMW_DATA];
	} else {
		there = lines * (1 + cxl_op_slots[CXL_MEM_WR]) + (octets % CXL_LINE != 0);
		back = lines * 0.5;
	}
	there *= slot;
	back *= slot;
	return (struct mf_op_blocks){.cn_up = there, .mn_down = there, .mn_up = back, .cn_down = back};
}

const struct mf_stack_ops stack_cxl = {.name = "cxl",
				       .timing = "cxl",
				       .bridge = "cxl",
				       .params = params,
				       .messages = true,
				       .create = cxl_create,
				       .destroy = cxl_destroy,
				       .submit = cxl_submit,
				       .completions = cxl_completions,
				       .outstanding = cxl_outstanding,
				       .message = cxl_message,
				       .pull_message = cxl_pull,
				       .ready = cxl_ready,
				       .run = cxl_run,
				       .next = cxl_next,
				       .counters = cxl_counters,
				       .blocks = cxl_blocks};
