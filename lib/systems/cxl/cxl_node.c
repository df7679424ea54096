/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>

#include "systems/cxl/cxl_node.h"
#include "base/mf_table.h"
#include "systems/cxl/cxl_param.h"
#include "systems/cxl/mf_cxl.h"

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

static struct cxl *cxl_of(struct mf_stack *s)
{
	return (struct cxl *)s;
}

static const struct cxl *cxl_const(const struct mf_stack *s)
{
	return (const struct cxl *)s;
}

/* The ends of the link */

static unsigned int cxl_has(void *ctx, unsigned int port, mf_time now)
{
	const struct cxl *x = ctx;
	unsigned int mask = 0;

	(void)port;
	if (cxl_has_tag(x)) {
		mask |= x->turn[CXL_REQ] != CXL_NIL ? 1 << CXL_REQ : 0;
		mask |= x->turn[CXL_RWD] != CXL_NIL ? 1 << CXL_RWD : 0;
	}
	for (unsigned int c = CXL_NDR; c < CXL_CLASSES; c++)
		if (x->out[c].head != CXL_NIL && x->answer[x->out[c].head].ready <= now)
			mask |= 1u << c;
	return mask;
}

static void cxl_take(void *ctx, unsigned int port, enum cxl_class class, mf_time now, struct cxl_message *m)
{
	(void)port;
	if (class <= CXL_RWD)
		cxl_take_request(ctx, class, now, m);
	else
		cxl_take_answer(ctx, class, now, m);
}

static void cxl_deliver(void *ctx, unsigned int port, mf_time at, const struct cxl_message *m)
{
	struct cxl *x = ctx;
	unsigned int class = cxl_op_class[m->op];

	(void)port;
	if (m->dst != x->config.node || m->src >= x->config.nodes || m->src == x->config.node)
		x->drop_bad++;
	else if (class > CXL_RWD)
		cxl_take_response(x, at, m);
	else if (!cxl_request(x, at, m))
		return;
	cxl_link_freed(&x->link, class, at);
}

static const struct cxl_ends ends = {.has = cxl_has, .take = cxl_take, .deliver = cxl_deliver};

/** What may begin, and what has come by now, in the order of time; at one time what has come is first. */
static void settle(struct cxl *x, mf_time now)
{
	if (x->link.arrival <= now) {
		cxl_begin(x, x->link.arrival - 1);
		cxl_link_arrive(&x->link);
	}
	cxl_begin(x, now);
}

/** One flit at most is known before its time; the one before has had its. */
static void cxl_message(struct mf_stack *s, mf_time at, const uint64_t *word, unsigned int n)
{
	struct cxl *x = cxl_of(s);

	if (x->link.arrival != MF_NEVER)
		settle(x, x->link.arrival);
	cxl_link_hold(&x->link, at + 1, word, n);
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

	if (cxl_has_tag(x)) {
		if ((may & 1 << CXL_REQ && x->turn[CXL_REQ] != CXL_NIL) ||
		    (may & 1 << CXL_RWD && x->turn[CXL_RWD] != CXL_NIL))
			return 0;
	}
	for (unsigned int c = CXL_NDR; c < CXL_CLASSES; c++)
		if (may & 1 << c && x->out[c].head != CXL_NIL)
			ready = mf_time_min(ready, x->answer[x->out[c].head].ready);
	return ready;
}

/** What comes, or may begin, may be what is sent next; while nothing can be sent it makes no difference. */
static mf_time cxl_ready(const struct mf_stack *s)
{
	const struct cxl *x = cxl_const(s);
	mf_time ready = mf_time_min(cxl_link_ready(&x->link), messages_ready(x));

	if (x->fresh.head != CXL_NIL)
		ready = mf_time_min(ready, x->lines[x->fresh.head].ready);
	return mf_time_min(ready, x->link.arrival);
}

/** An operation whose time has run out: a read has moved nothing, of a write nobody knows. */
static void expire(struct cxl *x, mf_time now)
{
	uint32_t i;

	while ((i = operations_expired(&x->operations, now)) != OPERATION_NIL)
		cxl_finish(x, i, now,
			   x->operations.op[i].c.kind == MF_OP_READ ? MF_ERR_TIMEOUT : MF_ERR_UNKNOWN);
}

static void cxl_run(struct mf_stack *s, mf_time now)
{
	struct cxl *x = cxl_of(s);

	settle(x, now);
	cxl_link_run(&x->link, now);
	expire(x, now);
}

/** What has come completes an operation when it is through the stack, not before. */
static mf_time cxl_next(const struct mf_stack *s)
{
	const struct cxl *x = cxl_const(s);
	mf_time next = mf_time_min(cxl_link_next(&x->link), operations_next(&x->operations));

	return x->link.arrival != MF_NEVER ? mf_time_min(next, x->link.arrival + x->cost_rx) : next;
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

	out[n++] = mf_counter_sum("octets_sent", x->octets_sent);
	out[n++] = mf_counter_sum("octets_received", x->octets_received);
	out[n++] = mf_counter_sum("waited_depth", x->waited_depth);
	out[n++] = mf_counter_sum("drop_unknown", x->drop_unknown);
	out[n++] = mf_counter_sum("drop_bad", x->drop_bad);
	return n;
}

static void cxl_destroy(struct mf_stack *s)
{
	struct cxl *x = cxl_of(s);

	cxl_memory_fini(x);
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
		x->peer[i].ops[CXL_REQ] = x->peer[i].ops[CXL_RWD] = (struct cxl_queue){CXL_NIL, CXL_NIL};
	return 0;
}

static struct mf_stack *cxl_create(const struct mf_stack_config *c)
{
	const struct cxl_queue empty = {CXL_NIL, CXL_NIL};
	struct cxl *x = calloc(1, sizeof(*x));
	struct cxl_link_config link = {0};

	if (x == NULL)
		return NULL;
	x->config = *c;
	x->config.param = NULL;
	x->cost_tx = x->cost_rx = c->timing.cost[MF_STAGE_PROTOCOL] + c->timing.cost[MF_STAGE_MAC];
	x->tags = (uint32_t)c->param[TAGS];
	x->answers = (uint32_t)c->param[DEPTH];
	x->free_answer = x->free_wait = CXL_NIL;
	x->fresh = x->out[CXL_NDR] = x->out[CXL_DRS] = x->waiting = empty;
	x->turn[CXL_REQ] = x->turn[CXL_RWD] = CXL_NIL;
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
				       .one_switch = true,
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
