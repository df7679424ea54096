/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "far.h"

struct mf_vm_timed_config far_memory(uint64_t seed, uint32_t pages, uint32_t ring)
{
	struct mf_vm_timed_config c = {.vm = {.page_class = {[0] = {.shift = 12, .pages = pages}},
					      .slots = 2,
					      .bucket = 16,
					      .tlb_sets = 2,
					      .tlb_ways = 2,
					      .ring = ring,
					      .pins = 8,
					      .tasks = 64,
					      .node_tasks = 4,
					      .spaces = 64,
					      .ranges = 400,
					      .retries_max = 60,
					      .answer = FAR_OCTETS,
					      .dram = MF_NS(82),
					      .fault = MF_NS(12)},
				       .step = MF_NS(20),
				       .zero = MF_NS(400),
				       .crossing = MF_NS(300)};
	struct mf_rng rng;

	mf_rng_init(&rng, seed, "far secrets", 0);
	for (int i = 0; i < 2 * MF_PAGE_MIX_ROUNDS; i++)
		c.vm.secrets.mix[i] = mf_rng_next(&rng);
	c.vm.secrets.tlb = mf_rng_next(&rng);
	c.vm.secrets.key[0] = mf_rng_next(&rng);
	c.vm.secrets.key[1] = mf_rng_next(&rng);
	return c;
}

struct mf_node *far_new(uint64_t seed, const struct mf_vm_timed_config *memory, unsigned int targets)
{
	struct mf_node *h = calloc(1, sizeof(*h));

	h->shell = (struct mf_node_shell){.nodes = FAR_NODES, .submits = true};
	mf_rng_init(&h->rng, seed, "far", 0);
	h->memory = *memory;
	h->room = FAR_QUEUE;
	h->whole = 256;
	h->latency = MF_NS(200);
	h->room_at = MF_NEVER;
	for (unsigned int i = 1; i <= targets; i++) {
		h->memory.vm.secrets.key[0]++;
		h->node[i] = mf_vm_timed_new(&h->memory);
	}
	return h;
}

void far_free(struct mf_node *h)
{
	for (unsigned int i = 0; i < FAR_NODES; i++)
		mf_vm_timed_free(h->node[i]);
	free(h);
}

static bool draw(struct mf_node *h, unsigned int of_256)
{
	return of_256 > 0 && mf_rng_below(&h->rng, 256) < of_256;
}

/* ---- at the memory node ---- */

static uint8_t access_memory(struct mf_node *h, const struct far_op *o, enum mf_right right, uint64_t offset,
			     uint32_t len, struct mf_answer *out)
{
	const struct mf_access a = {.addr = o->op.addr + offset,
				    .key = o->op.key,
				    .at = o->arrives,
				    .data = right == MF_RIGHT_RMW ? (const void *)o->op.arg
								  : o->data + offset,
				    .len = len,
				    .space = o->op.space,
				    .node = FAR_MAKER,
				    .right = (uint8_t)right,
				    .op = right == MF_RIGHT_RMW ? o->op.rmw : 0};

	return mf_memory_timed.access(mf_vm_timed_memory(h->node[o->op.node]), &a, out);
}

static uint8_t read_memory(struct mf_node *h, struct far_op *o)
{
	struct mf_answer out;
	uint8_t status = access_memory(h, o, MF_RIGHT_READ, 0, (uint32_t)o->op.len, &out);

	if (status == MF_OK)
		mf_places_copy(&out.places, 0, (uint32_t)o->op.len, o->data);
	return status;
}

/** By chunks: those before one that is refused stay. */
static uint8_t write_memory(struct mf_node *h, struct far_op *o)
{
	struct mf_answer out;
	uint8_t status = MF_OK;

	for (uint64_t at = 0; at < o->op.len && status == MF_OK; at += h->whole) {
		uint64_t left = o->op.len - at;

		status = access_memory(h, o, MF_RIGHT_WRITE, at,
				       (uint32_t)(left < h->whole ? left : h->whole), &out);
	}
	return status;
}

static uint8_t ask_memory(struct mf_node *h, struct far_op *o)
{
	const struct mf_access a = {.addr = o->op.addr,
				    .key = o->op.key,
				    .at = o->arrives,
				    .data = o->op.arg,
				    .space = o->op.space,
				    .node = FAR_MAKER};
	uint64_t answer[2];

	answer[0] = mf_memory_timed.ask(mf_vm_timed_memory(h->node[o->op.node]), o->op.rmw, &a, &answer[1]);
	memcpy(o->data, answer, sizeof(answer));
	o->done.result = answer[0];
	return answer[0] == MF_ERR_OPCODE ? MF_ERR_OPCODE : MF_OK;
}

/** What the head of the answer says is in the completion. */
static uint8_t call_memory(struct mf_node *h, struct far_op *o)
{
	const struct mf_access a = {.addr = o->op.addr,
				    .key = o->op.key,
				    .at = o->arrives,
				    .data = o->op.arg,
				    .len = mf_call_size(o->op.len) - MF_CALL_HEAD,
				    .space = o->op.space,
				    .node = FAR_MAKER};
	struct mf_answer out;
	uint8_t status =
		mf_memory_timed.call(mf_vm_timed_memory(h->node[o->op.node]), &a, &o->done.result, &out);

	if (status == MF_OK)
		mf_places_copy(&out.places, 0, (uint32_t)o->done.result, o->data);
	o->done.len = status == MF_OK ? o->done.result : 0;
	h->pending += status == MF_ERR_PENDING;
	return status;
}

static uint8_t modify_memory(struct mf_node *h, struct far_op *o)
{
	struct mf_answer out = {.old = 0};
	uint8_t status = access_memory(h, o, MF_RIGHT_RMW, 0, 8, &out);

	o->done.result = out.old;
	return status;
}

static uint8_t execute(struct mf_node *h, struct far_op *o)
{
	if (h->node[o->op.node] == NULL)
		return MF_ERR_RANGE;
	if (o->op.kind == MF_OP_READ)
		return read_memory(h, o);
	if (o->op.kind == MF_OP_CALL)
		return call_memory(h, o);
	if (o->op.kind == MF_OP_RMW)
		return o->op.rmw >= MF_RMW_OPS ? ask_memory(h, o) : modify_memory(h, o);
	return write_memory(h, o);
}

/** Half of what is lost is the request, half is the answer. */
static void arrive(struct mf_node *h, struct far_op *o)
{
	bool lost = o->op.kind != MF_OP_WRITE && draw(h, h->loses);
	uint8_t status = lost && draw(h, 128) ? MF_OK : execute(h, o);

	o->arrived = true;
	if (o->op.kind == MF_OP_WRITE)
		return;
	o->done.done = o->arrives + h->latency;
	o->done.first = o->done.done;
	o->done.status = status;
	if (lost) {
		h->lost++;
		o->done.done += 10 * h->latency;
		o->done.status = o->op.kind == MF_OP_READ ? MF_ERR_TIMEOUT : MF_ERR_UNKNOWN;
	}
}

/** The one that comes first of those that have not arrived, or have; NULL: none. */
static struct far_op *first_of(struct mf_node *h, bool arrived)
{
	struct far_op *first = NULL;

	for (unsigned int i = 0; i < FAR_QUEUE; i++) {
		struct far_op *o = &h->op[i];
		mf_time at = arrived ? o->done.done : o->arrives;

		if (!o->busy || (arrived ? o->taken || o->done.done == MF_NEVER : o->arrived))
			continue;
		if (first == NULL || at < (arrived ? first->done.done : first->arrives) ||
		    (at == (arrived ? first->done.done : first->arrives) && o->order < first->order))
			first = o;
	}
	return first;
}

static void end(struct mf_node *h, struct far_op *o)
{
	if (o->taken && o->arrived) {
		o->busy = false;
		h->under_way--;
	}
}

void far_run(struct mf_node *h, mf_time now)
{
	struct far_op *o;

	if (h->room_at <= now)
		h->room_at = MF_NEVER;
	while ((o = first_of(h, false)) != NULL && o->arrives <= now) {
		arrive(h, o);
		end(h, o);
	}
}

mf_time far_next(const struct mf_node *h)
{
	struct mf_node *any = (struct mf_node *)(uintptr_t)h;
	const struct far_op *coming = first_of(any, false), *done = first_of(any, true);

	return mf_time_min(h->room_at, mf_time_min(coming != NULL ? coming->arrives : MF_NEVER,
						   done != NULL ? done->done.done : MF_NEVER));
}

/* ---- as a host ---- */

static struct far_op *place(struct mf_node *h)
{
	unsigned int i = 0;

	while (h->op[i].busy)
		i++;
	return &h->op[i];
}

int mf_node_submit(struct mf_node *h, mf_time now, const struct mf_op *op)
{
	int err = op->kind == MF_OP_CALL ? mf_node_check_call(&h->shell, op, FAR_OCTETS)
					 : mf_node_check(&h->shell, op, mf_node_len(op));
	struct far_op *o;

	if (err != 0)
		return err;
	if (h->under_way >= h->room || draw(h, h->refuses)) {
		h->refused++;
		h->room_at = mf_time_min(h->room_at, now + MF_NS(50));
		return -EAGAIN;
	}
	o = place(h);
	*o = (struct far_op){.op = *op,
			     .done = {.user = op->user,
				      .len = mf_node_len(op),
				      .submitted = now,
				      .done = MF_NEVER,
				      .kind = op->kind,
				      .node = op->node,
				      .space = op->space},
			     .order = h->submitted++,
			     .busy = true};
	o->arrives = now + h->latency + (h->jitter > 0 ? mf_rng_below(&h->rng, h->jitter) : 0);
	o->arrives = h->last[op->node] = mf_time_max(o->arrives, h->last[op->node]);
	if (op->kind == MF_OP_WRITE || op->kind == MF_OP_WRITE_ACK)
		memcpy(o->data, op->buf, op->len);
	if (op->kind == MF_OP_WRITE) /* it has been handed to the link */
		o->done.done = o->done.first = now + 1;
	h->under_way++;
	return 0;
}

static void deliver(struct far_op *o)
{
	if (o->done.status != MF_OK)
		o->done.len = 0;
	else if (o->op.kind == MF_OP_READ && o->op.buf != NULL)
		memcpy(o->op.buf, o->data, o->op.len);
	else if (o->op.kind == MF_OP_CALL)
		memcpy(o->op.buf, o->data, o->done.len);
	else if (o->op.kind == MF_OP_RMW && o->op.rmw == MF_RMW_SPACE && o->op.buf != NULL)
		memcpy(o->op.buf, o->data, MF_SPACE_ANSWER);
}

unsigned int mf_node_completions(struct mf_node *h, mf_time now, struct mf_completion *out, unsigned int max)
{
	struct far_op *o;
	unsigned int n = 0;

	far_run(h, now);
	while (n < max && (o = first_of(h, true)) != NULL && o->done.done <= now) {
		deliver(o);
		out[n++] = o->done;
		o->taken = true;
		end(h, o);
	}
	return n;
}

void mf_node_on_restart(struct mf_node *h, mf_node_restart_fn fn, void *ctx)
{
	h->restart_fn = fn;
	h->restart_ctx = ctx;
}

void mf_node_under_way(const struct mf_node *h, uint16_t node, void (*fn)(void *ctx, uint64_t user),
		       void *ctx)
{
	for (unsigned int i = 0; i < FAR_QUEUE; i++)
		if (h->op[i].busy && !h->op[i].arrived && !h->op[i].taken && h->op[i].op.node == node)
			fn(ctx, h->op[i].op.user);
}

/* ---- what is lost ---- */

static void fail(struct mf_node *h, struct far_op *o, mf_time now)
{
	o->arrived = true;
	if (o->op.kind != MF_OP_WRITE) {
		o->done.status = o->op.kind == MF_OP_READ ? MF_ERR_RESTARTED : MF_ERR_UNKNOWN;
		o->done.done = o->done.first = now + 1;
	}
	end(h, o);
}

void far_lose(struct mf_node *h, mf_time now, uint16_t node, bool empty)
{
	bool keeps = draw(h, 128);

	far_run(h, now);
	for (unsigned int i = 0; i < FAR_QUEUE; i++) {
		struct far_op *o = &h->op[i];

		if (o->busy && !o->arrived && o->op.node == node && (o->op.kind == MF_OP_WRITE || !keeps))
			fail(h, o, now);
	}
	if (empty) {
		mf_vm_timed_free(h->node[node]);
		h->memory.vm.secrets.key[0]++;
		h->memory.vm.secrets.mix[0]++;
		h->node[node] = mf_vm_timed_new(&h->memory);
	}
	if (h->restart_fn != NULL)
		h->restart_fn(h->restart_ctx, node);
}

void far_crash(struct mf_node *h, mf_time now)
{
	far_run(h, now);
	memset(h->op, 0, sizeof(h->op));
	h->under_way = 0;
	for (unsigned int i = 0; i < FAR_NODES; i++)
		if (h->node[i] != NULL)
			mf_memory_timed.forget(mf_vm_timed_memory(h->node[i]), FAR_MAKER, now);
}
