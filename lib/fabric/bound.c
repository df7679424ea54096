/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/mf_bound.h"

/** Out of the switch, over the link, and the chunk back. */
static mf_time round_trip(const struct mf_fabric *f, unsigned int node)
{
	mf_time delay = f->link[node].delay;

	if (f->config->backup.on)
		delay = mf_time_max(delay, f->link[fabric_link(f, 1, node)].delay);
	return mf_timing_sum(&f->timing, MF_STAGE_MAKE_GRANT, MF_STAGE_FORWARD) + 2 * delay;
}

mf_time bound_write_delay(const struct mf_fabric *f, unsigned int cn)
{
	return round_trip(f, cn) + mf_timing_grant_rx(&f->timing) + mf_timing_data_tx(&f->timing);
}

mf_time bound_read_delay(const struct mf_fabric *f, unsigned int mn)
{
	return round_trip(f, mn) + (MF_REQUEST_BLOCKS_MAX - 1) * (mf_time)f->link[mn].period +
	       mf_timing_sum(&f->timing, MF_STAGE_RREQ_PARSE, MF_STAGE_MEMORY_CONTROLLER) +
	       f->config->node[mn].memory_config.dram + mf_timing_data_tx(&f->timing);
}

mf_time bound_atomic_delay(const struct mf_fabric *f, unsigned int mn)
{
	return bound_read_delay(f, mn) + f->config->node[mn].memory_config.dram;
}

/** Of the chunks of writes and reads, which are what fills links. */
static void extremes(const struct mf_fabric *f, mf_time *least, mf_time *most)
{
	*least = MF_NEVER;
	*most = 0;
	for (unsigned int i = 0; i < f->nodes; i++) {
		const struct mf_config_node *n = &f->config->node[i];

		if (n->up && n->compute) {
			*least = mf_time_min(*least, bound_write_delay(f, i));
			*most = mf_time_max(*most, bound_write_delay(f, i));
		}
		if (n->up && n->memory) {
			/* a request of two blocks is the shortest */
			*least = mf_time_min(*least,
					     bound_read_delay(f, i) - (MF_REQUEST_BLOCKS_MAX - 2) *
									      (mf_time)f->link[i].period);
			*most = mf_time_max(*most, bound_read_delay(f, i));
		}
	}
}

mf_time bound_difference(const struct mf_fabric *f)
{
	mf_time least, most;

	extremes(f, &least, &most);
	for (unsigned int i = 0; i < f->nodes; i++)
		if (f->config->node[i].up && f->config->node[i].memory)
			most = mf_time_max(most, bound_atomic_delay(f, i));
	return most > least ? most - least : 0;
}

mf_time bound_align(const struct mf_fabric *f, unsigned int cn)
{
	mf_time least, most, own = bound_write_delay(f, cn);

	extremes(f, &least, &most);
	return most > own ? most - own : 0;
}

uint32_t bound_chunk_blocks(const struct mf_fabric *f)
{
	return mf_proto_chunk_blocks(&f->config->proto, f->config->sched.chunk[f->clock]);
}

uint32_t bound_under_way(const struct mf_fabric *f, unsigned int port)
{
	mf_time least, most;

	extremes(f, &least, &most);
	return (uint32_t)(most / f->link[port].period) + 1 + 2 * bound_chunk_blocks(f);
}

/** What waits at an egress besides chunks: one request, and a single block of every other node. */
static uint32_t control_blocks(const struct mf_fabric *f, unsigned int d)
{
	uint32_t blocks = MF_REQUEST_BLOCKS_MAX;

	for (unsigned int i = 0; i < f->nodes; i++)
		blocks += i != d && f->config->node[i].up && f->config->node[i].memory_enabled;
	return blocks;
}

uint32_t bound_backlog(const struct mf_fabric *f, unsigned int d)
{
	uint32_t period = f->link[d].period, chunk = bound_chunk_blocks(f);

	/*
	 * At most K, but for the chunk whose grant exceeds it, the rest of the one that is being sent, which
	 * no longer waits, and what needs no grant.
	 */
	if (f->link[d].backlog_k != 0)
		return f->link[d].backlog_k + 2 * chunk + control_blocks(f, d);
	/* One chunk that has just been granted, and as much again of requests and /G/ before the scheduler
	 * charges them. */
	return (uint32_t)((bound_difference(f) + period - 1) / period) + 2 * chunk + control_blocks(f, d);
}
