/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fake_host.h"

struct mf_node *fake_host_new(void)
{
	struct mf_node *h = calloc(1, sizeof(*h));

	h->latency = MF_NS(300);
	h->queue = FAKE_QUEUE;
	h->frame_room = 256;
	return h;
}

static uint64_t modified(const struct mf_op *op, uint64_t old)
{
	switch (op->rmw) {
	case MF_RMW_CAS:
		return old == op->arg[0] ? op->arg[1] : old;
	case MF_RMW_FADD:
		return old + op->arg[0];
	case MF_RMW_SWAP:
		return op->arg[0];
	case MF_RMW_FOR:
		return old | op->arg[0];
	default:
		return old & op->arg[0];
	}
}

static uint64_t rmw(const struct mf_op *op, uint8_t *at, bool lost)
{
	uint64_t old, value;

	memcpy(&old, at, sizeof(old));
	value = modified(op, old);
	if (!lost)
		memcpy(at, &value, sizeof(value));
	return old;
}

static void execute(struct mf_node *h, const struct mf_op *op, const struct fake_fault *f,
		    struct mf_completion *done)
{
	uint8_t *at = &h->memory[op->node][op->addr];

	switch (op->kind) {
	case MF_OP_READ:
	case MF_OP_CALL: /* an echo */
		memcpy(op->buf, f->stale ? &h->before[op->node][op->addr] : at, op->len);
		((uint8_t *)op->buf)[op->len - 1] ^= f->flip;
		break;
	case MF_OP_RMW:
		done->result = rmw(op, at, f->lost) ^ f->flip;
		break;
	default:
		memcpy(&h->before[op->node][op->addr], at, op->len);
		if (!f->lost)
			memcpy(at, op->buf, op->len);
		break;
	}
}

static void put(struct mf_node *h, const struct mf_completion *done)
{
	unsigned int i = h->pendings++;

	while (i > 0 && h->pending[i - 1].done > done->done) {
		h->pending[i] = h->pending[i - 1];
		i--;
	}
	h->pending[i] = *done;
}

static void put_result(struct mf_node *h, uint64_t user, uint64_t result)
{
	for (unsigned int i = 0; i < h->pendings; i++)
		if (h->pending[i].user == user)
			h->pending[i].result = result;
}

/** Any order: another one that waits goes first. */
static void late_shuffle(struct mf_node *h, int writes)
{
	unsigned int from = h->late_from[writes], n = h->late_to[writes] - from;
	struct fake_late *a = &h->late[writes][from % FAKE_QUEUE];
	struct fake_late *b = &h->late[writes][(from + mf_rng_below(&h->rng, n)) % FAKE_QUEUE];
	struct fake_late first = *a;

	*a = *b;
	*b = first;
}

/** The oldest operation of its direction that waits takes effect. */
static void late_execute(struct mf_node *h, int writes)
{
	struct fake_late *l = &h->late[writes][h->late_from[writes]++ % FAKE_QUEUE];
	struct fake_fault f = {0};
	struct mf_completion done = {0};

	if (h->hook != NULL)
		h->hook(h->hook_ctx, &l->op, &f);
	if (writes)
		l->op.buf = l->data;
	execute(h, &l->op, &f, &done);
	if (l->op.kind == MF_OP_RMW)
		put_result(h, l->op.user, done.result);
}

static void late_put(struct mf_node *h, const struct mf_op *op)
{
	int writes = op->kind == MF_OP_WRITE || op->kind == MF_OP_WRITE_ACK;
	struct fake_late *l = &h->late[writes][h->late_to[writes]++ % FAKE_QUEUE];

	l->op = *op;
	if (writes)
		memcpy(l->data, op->buf, op->len);
	for (uint64_t n = mf_rng_next(&h->rng) % 3; n > 0; n--) {
		writes = mf_rng_next(&h->rng) % 2;
		if (h->late_from[writes] == h->late_to[writes])
			continue;
		if (h->any_order)
			late_shuffle(h, writes);
		late_execute(h, writes);
	}
	while (h->late_to[1] - h->late_from[1] == FAKE_QUEUE)
		late_execute(h, 1);
}

/** What completes has taken effect, and all before it; but for a write that nobody acknowledges. */
static void late_complete(struct mf_node *h, const struct mf_completion *done)
{
	int writes = done->kind == MF_OP_WRITE_ACK || done->kind == MF_OP_WRITE;
	unsigned int i = h->late_from[writes];

	while ((done->kind != MF_OP_WRITE || h->any_order) && i != h->late_to[writes])
		if (h->late[writes][i++ % FAKE_QUEUE].op.user == done->user)
			while (h->late_from[writes] != i)
				late_execute(h, writes);
}

int mf_node_submit(struct mf_node *h, mf_time now, const struct mf_op *op)
{
	struct fake_fault f = {0};
	struct mf_completion done = {.user = op->user,
				     .submitted = now,
				     .first = now + h->latency / (h->submitted < h->whole ? 1 : 2),
				     .done = now + h->latency,
				     .kind = op->kind,
				     .node = op->node,
				     .len = op->len};

	if (h->refuse != 0)
		return h->refuse;
	if (op->len == 0 || op->node >= FAKE_NODES || op->addr + op->len > FAKE_MEMORY)
		return -EINVAL;
	if (h->pendings >= h->queue)
		return -EAGAIN;
	if (!h->passing) {
		if (h->hook != NULL)
			h->hook(h->hook_ctx, op, &f);
		execute(h, op, &f, &done);
	}
	done.status = f.status;
	done.len = f.status == MF_OK ? op->len : 0;
	done.user ^= f.wrong_user;
	if (done.done >= h->stall_from && done.done < h->stall_to)
		done.done = h->stall_to;
	done.done += f.late;
	h->last = *op;
	if (h->log != NULL)
		h->log[h->submitted] = *op;
	h->submitted++;
	put(h, &done);
	if (h->passing)
		late_put(h, op);
	if (f.twice)
		put(h, &done);
	if (h->pendings > h->busy_max)
		h->busy_max = h->pendings;
	return 0;
}

mf_time fake_host_next(const struct mf_node *h)
{
	return h->pendings > 0 ? h->pending[0].done : MF_NEVER;
}

unsigned int mf_node_completions(struct mf_node *h, mf_time now, struct mf_completion *out, unsigned int max)
{
	unsigned int n = 0;

	while (n < max && n < h->pendings && h->pending[n].done <= now) {
		if (h->passing)
			late_complete(h, &h->pending[n]);
		out[n] = h->pending[n];
		n++;
	}
	h->pendings -= n;
	memmove(h->pending, h->pending + n, h->pendings * sizeof(*h->pending));
	return n;
}

bool mf_node_send_frame(struct mf_node *h, mf_time now, const uint8_t *frame, uint16_t len)
{
	(void)now;
	if (h->frames >= h->frame_room)
		return false;
	memcpy(h->frame[h->frames], frame, len);
	h->frame_len[h->frames++] = len;
	return true;
}

void mf_node_on_restart(struct mf_node *h, mf_node_restart_fn fn, void *ctx)
{
	h->restart_fn = fn;
	h->restart_ctx = ctx;
}

bool mf_node_link_is_lost(const struct mf_node *h)
{
	return h->link_lost;
}

/** All has been done when it was submitted. */
void mf_node_under_way(const struct mf_node *h, uint16_t node, void (*fn)(void *ctx, uint64_t user),
		       void *ctx)
{
	(void)h, (void)node, (void)fn, (void)ctx;
}

void fake_host_restart(struct mf_node *h, uint16_t node, const uint8_t *memory, bool told)
{
	memcpy(h->memory[node], memory, FAKE_MEMORY);
	memcpy(h->before[node], memory, FAKE_MEMORY);
	if (told && h->restart_fn != NULL)
		h->restart_fn(h->restart_ctx, node);
}

void mf_node_on_frame(struct mf_node *h, mf_node_frame_fn fn, void *ctx)
{
	h->frame_fn = fn;
	h->frame_ctx = ctx;
}

void mf_node_fetch_peer(const struct mf_node *h, uint16_t node)
{
	(void)h, (void)node;
}
