/* SPDX-License-Identifier: BSD-3-Clause */
/* CXL's lines under way: each has a tag from its request until its answer has come. */
#include "systems/cxl/cxl_node.h"

static uint32_t take_tag(struct cxl *x)
{
	return x->free_tags != 0 ? x->free_tag[--x->free_tags] : x->fresh_tags++;
}

/** Which octets of the line are written. */
static uint64_t byte_enables(const struct cxl_tag *t)
{
	return (t->len == CXL_LINE ? UINT64_MAX : (UINT64_C(1) << t->len) - 1) << t->skip;
}

static void put_write(const struct operation *o, const struct cxl_tag *t, struct cxl_message *m)
{
	bool last = (uint64_t)t->offset + t->len == o->c.len;
	uint64_t enables = byte_enables(t);

	cxl_put_probe(m, (o->id & 0xff) | (last ? CXL_PROBE_LAST : 0));
	if (t->len == CXL_LINE) {
		m->op = CXL_MEM_WR;
		memcpy(m->data, o->buf + t->offset, CXL_LINE);
		return;
	}
	m->op = CXL_MEM_WR_PTL;
	memset(m->data, 0, sizeof(m->data));
	memcpy(m->data + t->skip, o->buf + t->offset, t->len);
	memcpy(m->data + CXL_LINE, &enables, sizeof(enables));
}

/** The next line of an operation: from where it has come to, to the end of the line or of itself. */
static void put_line(struct cxl *x, uint32_t op, struct cxl_message *m)
{
	struct operation *o = &x->operations.op[op];
	struct cxl_lines *l = &x->lines[op];
	uint64_t at = o->addr + l->sent, rest = o->c.len - l->sent;
	uint32_t i = take_tag(x), skip = at % CXL_LINE;
	struct cxl_tag *t = &x->tag[i];

	*t = (struct cxl_tag){.op = op,
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
		__builtin_prefetch(o->buf + t->offset + CXL_LINE);
	}
	l->sent += t->len;
	l->under_way++;
}

void cxl_take_request(struct cxl *x, unsigned int class, mf_time now, struct cxl_message *m)
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
		cxl_all_sent(x, op);
}

/* Answers */

static void tell_response(const struct cxl *x, const struct operation *o, const struct cxl_tag *t, bool last,
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

static void take_outcome(struct cxl *x, mf_time known, const struct cxl_tag *t, const struct cxl_message *m)
{
	struct operation *o = &x->operations.op[t->op];
	struct cxl_lines *l = &x->lines[t->op];
	bool last;

	l->under_way--;
	last = l->under_way == 0 && l->sent == o->c.len;
	if (m->op == CXL_ERR) {
		cxl_finish(x, t->op, known,
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
		cxl_finish(x, t->op, known, MF_OK);
}

void cxl_take_response(struct cxl *x, mf_time at, const struct cxl_message *m)
{
	struct cxl_tag *t = &x->tag[m->tag];

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
