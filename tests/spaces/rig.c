/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "memory/mf_call.h"
#include "rig.h"

struct rig_config rig_config(uint64_t seed)
{
	return (struct rig_config){.seed = seed,
				   .targets = 1,
				   .spaces = 2,
				   .pages = 3,
				   .interleave = RIG_PAGE,
				   .depth = 16,
				   .give_up = MF_MS(100),
				   .physical = 64,
				   .ring = 16,
				   .tasks = 4,
				   .answer = 1024,
				   .step = MF_NS(20),
				   .crossing = MF_NS(300)};
}

static void told(void *ctx, uint16_t node)
{
	struct rig *r = ctx;

	r->lost++;
	if (r->told != NULL)
		r->told(r->ctx, node);
}

void rig_make(struct rig *r, const struct rig_config *config)
{
	struct mf_vm_timed_config memory = far_memory(config->seed, config->physical, config->ring);
	struct mf_spaces_target target[FAR_NODES];
	const struct mf_spaces_config s = {.target = target,
					   .targets = config->targets,
					   .depth = config->depth,
					   .whole = 256,
					   .spaces = config->spaces,
					   .pages = config->pages,
					   .base = RIG_BASE,
					   .interleave = config->interleave,
					   .populate = config->populate,
					   .range = 64,
					   .ask_most = MF_US(10),
					   .give_up = config->give_up};
	const struct mf_layer_config l = {.nodes = FAR_NODES, .param = &s};

	memory.step = config->step;
	memory.crossing = config->crossing;
	*r = (struct rig){.config = *config, .now = MF_US(1)};
	for (unsigned int i = 0; i < config->targets; i++)
		target[i] = (struct mf_spaces_target){.node = (uint16_t)(i + 1),
						      .maker = FAR_MAKER,
						      .shift = 12,
						      .tasks = config->tasks,
						      .answer = config->answer};
	r->host = far_new(config->seed, &memory, config->targets);
	r->layer = mf_layer_new(&mf_spaces_layer, r->host, &l);
	if (r->layer == NULL)
		abort();
	r->layer->restarted = told;
	r->layer->ctx = r;
}

void rig_free(struct rig *r)
{
	mf_layer_free(r->layer);
	far_free(r->host);
}

static void take(struct rig *r)
{
	struct mf_completion c;

	while (r->layer->ops->completions(r->layer, r->now, &c, 1) == 1) {
		const struct mf_completion *last = r->dones > 0 ? &r->done[(r->dones - 1) % RIG_DONE] : &c;

		r->bad_order |= c.done > r->now || c.done < last->done;
		r->done[r->dones++ % RIG_DONE] = c;
	}
}

/** Host, layer, client, and host and layer again. */
static void turn(struct rig *r)
{
	for (int i = 0; i < 2; i++) {
		far_run(r->host, r->now);
		r->layer->ops->run(r->layer, r->now);
		take(r);
	}
}

static mf_time next(const struct rig *r)
{
	mf_time at = mf_time_min(far_next(r->host), r->layer->ops->next(r->layer));

	return mf_time_max(at, r->now);
}

bool rig_drive(struct rig *r, mf_time until)
{
	mf_time at;

	turn(r);
	while ((at = next(r)) < until) {
		r->calls = at == r->now ? r->calls + 1 : 0;
		if (r->calls > r->calls_most)
			r->calls_most = r->calls;
		if (r->calls > RIG_CALLS_MAX)
			return false;
		r->now = at;
		turn(r);
	}
	if (until != MF_NEVER)
		r->now = mf_time_max(r->now, until);
	return true;
}

bool rig_settle(struct rig *r, mf_time most)
{
	mf_time end = r->now + most;

	while (r->layer->ops->outstanding(r->layer) > 0) {
		mf_time step = mf_time_min(end, r->now + MF_US(1));

		if (r->now >= end || !rig_drive(r, step))
			return false;
	}
	return true;
}

int rig_submit(struct rig *r, const struct mf_op *op)
{
	return r->layer->ops->submit(r->layer, r->now, op);
}

int rig_find(const struct rig *r, uint64_t user)
{
	for (unsigned int i = 0; i < r->dones && i < RIG_DONE; i++)
		if (r->done[i].user == user)
			return (int)i;
	return -1;
}

void rig_crash(struct rig *r)
{
	far_crash(r->host, r->now);
	r->layer->ops->crashed(r->layer, r->now);
}

static struct mf_op op_of(uint8_t kind, uint64_t user, uint64_t offset, uint64_t len, void *buf)
{
	return (struct mf_op){
		.kind = kind, .node = 1, .addr = RIG_BASE + offset, .len = len, .buf = buf, .user = user};
}

struct mf_op rig_read(uint64_t user, uint64_t offset, uint64_t len, void *buf)
{
	return op_of(MF_OP_READ, user, offset, len, buf);
}

struct mf_op rig_write(uint64_t user, uint64_t offset, uint64_t len, void *buf)
{
	return op_of(MF_OP_WRITE, user, offset, len, buf);
}

struct mf_op rig_write_ack(uint64_t user, uint64_t offset, uint64_t len, void *buf)
{
	return op_of(MF_OP_WRITE_ACK, user, offset, len, buf);
}

struct mf_op rig_call(uint64_t user, uint8_t call, uint64_t offset, uint64_t len, void *buf)
{
	struct mf_op op = op_of(MF_OP_CALL, user, offset, len, buf);

	op.arg[0] = MF_CALL_ASK(call, 0, 0);
	op.arg[1] = len;
	return op;
}

struct mf_op rig_add(uint64_t user, uint64_t offset, uint64_t addend)
{
	struct mf_op op = op_of(MF_OP_RMW, user, offset, 0, NULL);

	op.rmw = MF_RMW_FADD;
	op.arg[0] = addend;
	return op;
}

struct mf_spaces_stats rig_stats(const struct rig *r)
{
	struct mf_spaces_stats s;

	mf_spaces_stats(r->layer, &s);
	return s;
}

struct mf_vm_stats rig_memory(const struct rig *r, unsigned int node)
{
	struct mf_vm_stats s;

	mf_vm_stats(mf_vm_timed_fast(r->host->node[node]), &s);
	return s;
}

const char *rig_audit(const struct rig *r, unsigned int node)
{
	struct mf_vm_stats fast = rig_memory(r, node);
	struct mf_vm_slow_stats slow;
	uint64_t there;

	mf_vm_slow_stats(mf_vm_timed_slow(r->host->node[node]), &slow);
	there = slow.pages[0].free + slow.pages[0].zeroing + slow.pages[0].fast;
	if (fast.strange != 0 || slow.strange != 0)
		return "strange items";
	if (there != r->config.physical)
		return "pages are missing, or there twice";
	if (fast.present > slow.pages[0].fast || fast.held != 0)
		return "more pages are in use than there are";
	return NULL;
}
