/* SPDX-License-Identifier: BSD-3-Clause */
/* How large a multiplexer is: of a node, or of a port of the switch. */
#include "fabric/mf_bound.h"
#include "fabric/mf_make.h"

static uint32_t power_of_two(uint64_t n)
{
	uint32_t p = 64;

	while (p < n)
		p *= 2;
	return p;
}

/** Blocks of the longest chunk of any operation. Where all are short none is as long as a chunk may be. */
static uint32_t longest_chunk(const struct fabric_tier *t)
{
	const struct mf_fabric *f = t->f;
	uint32_t chunk = t->config->sched.chunk[f->clock], longest = 0;

	for (unsigned int i = 0; i < f->config->workloads; i++) {
		const struct mf_config_workload *w = &f->config->workload[i];
		bool fixed = w->size.dist == MF_CONFIG_FIXED && !w->ycsb.on && w->trace.message == NULL;
		uint32_t octets = fixed && w->size.size[0] < chunk ? (uint32_t)w->size.size[0] : chunk;

		longest = octets > longest ? octets : longest;
	}
	return mf_proto_chunk_blocks(&t->config->proto, longest);
}

/**
 * Room of a multiplexer for memory messages, so that nothing that was let in can find none: a request
 * or single block for every active message of every pair, and what may be granted at a time.
 */
static void mux_room(const struct fabric_tier *t, unsigned int port, struct mf_mux_config *mux)
{
	const struct mf_fabric *f = t->f;
	const struct mf_config_sched *s = &t->config->sched;
	uint64_t messages = 2ULL * s->x * t->nodes;
	uint64_t chunk = bound_chunk_blocks(t);
	/* Wall clock: the window, in the smallest messages that there are (8 octets in 3 blocks). Virtual
	 * clock: what is granted during the longest round trip. */
	uint64_t data = f->clock == MF_CLOCK_WALL ? s->window / 8 * 3ULL : 4ULL * bound_default_k(t, port);

	mux->memory_blocks = power_of_two(messages * MF_REQUEST_BLOCKS_MAX + data + 4 * chunk);
	mux->memory_items =
		power_of_two(2 * messages + (f->clock == MF_CLOCK_WALL ? s->window / 8 : data / 3));
	mux->usual_blocks = longest_chunk(t);
}

/**
 * Frames that wait for a link at most. Virtual clock: a stack or bridge is asked for the one behind that
 * which is being sent, and for no more.
 */
static uint32_t frames_waiting(const struct mf_fabric *f, bool asked, uint32_t frames)
{
	return asked && f->clock == MF_CLOCK_VIRTUAL && frames > 2 ? 2 : frames;
}

void make_mux(const struct mf_fabric *f, unsigned int number, bool asked, uint32_t frames,
	      uint32_t frame_bytes, struct mf_mux_config *mux)
{
	const struct mf_config_link *link = fabric_link_config(f, number);
	const struct fabric_tier *t = &f->tier[f->link[number].tier];
	bool trunk = fabric_is_trunk(f, number);
	unsigned int node = trunk ? 0 : fabric_link_node(f, number);

	*mux = (struct mf_mux_config){
		.policy = link->policy,
		.period = f->link[number].period,
		.shaped = f->link[number].shape != 0,
		.frames = frames_waiting(f, asked, frames),
		.frame_bytes = frame_bytes,
		.quantum = link->quantum,
		.align8 = link->align8,
		.memory_enabled = trunk || f->config->node[node].memory_enabled,
	};
	if (!trunk)
		mux_room(t, t->number[node], mux);
	else
		mux->memory_blocks = mux->memory_items = 64; /* frames alone */
}

bool make_carries_blocks(const struct fabric_tier *t, unsigned int node)
{
	const struct mf_stack_ops *stack = t->config->stack_ops;

	return t->f->config->node[node].memory_enabled && (stack == NULL || stack->messages);
}
