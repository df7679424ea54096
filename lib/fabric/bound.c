/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/mf_config_query.h"
#include "fabric/mf_bound.h"

/** Of a port, which has the number of its node. */
static const struct link_timing *link_of(const struct fabric_tier *t, unsigned int port)
{
	return &t->f->link[t->link[port]];
}

static const struct mf_config_node *node_of(const struct fabric_tier *t, unsigned int port)
{
	return &t->f->config->node[t->node[port]];
}

/** Out of the switch, over the link, and the chunk back. */
static mf_time round_trip(const struct fabric_tier *t, unsigned int port)
{
	mf_time delay = link_of(t, port)->delay;

	if (t->f->config->backup.on)
		delay = mf_time_max(delay, t->f->link[fabric_link(t->f, 1, t->node[port])].delay);
	return mf_timing_sum(&t->timing, MF_STAGE_MAKE_GRANT, MF_STAGE_FORWARD) + 2 * delay;
}

mf_time bound_write_delay(const struct fabric_tier *t, unsigned int cn)
{
	return round_trip(t, cn) + mf_timing_grant_rx(&t->timing) + mf_timing_data_tx(&t->timing);
}

/** What translation adds at most: two pages, each a miss and a first access. */
static mf_time misses(const struct fabric_tier *t, unsigned int mn)
{
	const struct mf_config_node *n = node_of(t, mn);

	return mf_config_is_virtual(n) ? 2 * (n->memory_config.dram + n->vm.vm.fault) : 0;
}

mf_time bound_read_delay(const struct fabric_tier *t, unsigned int mn)
{
	return round_trip(t, mn) + (MF_REQUEST_BLOCKS_MAX - 1) * (mf_time)link_of(t, mn)->period +
	       mf_timing_sum(&t->timing, MF_STAGE_RREQ_PARSE, MF_STAGE_MEMORY_CONTROLLER) +
	       node_of(t, mn)->memory_config.dram + misses(t, mn) + mf_timing_data_tx(&t->timing);
}

mf_time bound_atomic_delay(const struct fabric_tier *t, unsigned int mn)
{
	return bound_read_delay(t, mn) + node_of(t, mn)->memory_config.dram;
}

void bound_init(struct fabric_tier *t)
{
	mf_time *least = &t->arrives_least, *most = &t->arrives_most;

	*least = MF_NEVER;
	*most = 0;
	for (unsigned int i = 0; i < t->nodes; i++) {
		const struct mf_config_node *n = node_of(t, i);

		if (n->up && n->compute) {
			*least = mf_time_min(*least, bound_write_delay(t, i));
			*most = mf_time_max(*most, bound_write_delay(t, i));
		}
		if (n->up && n->memory) {
			/* a request of two blocks is the shortest */
			*least = mf_time_min(*least, bound_read_delay(t, i) - misses(t, i) -
							     (MF_REQUEST_BLOCKS_MAX - 2) *
								     (mf_time)link_of(t, i)->period);
			*most = mf_time_max(*most, bound_read_delay(t, i));
		}
	}
}

mf_time bound_difference(const struct fabric_tier *t)
{
	mf_time least = t->arrives_least, most = t->arrives_most;

	for (unsigned int i = 0; i < t->nodes; i++)
		if (node_of(t, i)->up && node_of(t, i)->memory)
			most = mf_time_max(most, bound_atomic_delay(t, i));
	return most > least ? most - least : 0;
}

mf_time bound_align(const struct fabric_tier *t, unsigned int cn)
{
	mf_time most = t->arrives_most, own = bound_write_delay(t, cn);

	return most > own ? most - own : 0;
}

uint32_t bound_chunk_blocks(const struct fabric_tier *t)
{
	return mf_proto_chunk_blocks(&t->config->proto, t->config->sched.chunk[t->f->clock]);
}

uint32_t bound_under_way(const struct fabric_tier *t, unsigned int port)
{
	return (uint32_t)(t->arrives_most / link_of(t, port)->period) + 1 + 2 * bound_chunk_blocks(t);
}

static bool has_bandwidth(const struct fabric_tier *t, unsigned int port)
{
	const struct mf_config_node *n = node_of(t, port);

	return n->up && n->memory && n->memory_config.bandwidth != 0;
}

static uint32_t message_blocks(const struct fabric_tier *t)
{
	uint32_t chunk = t->config->sched.chunk[t->f->clock];

	return (MF_MESSAGE_MAX + chunk - 1) / chunk * bound_chunk_blocks(t);
}

uint32_t bound_default_k(const struct fabric_tier *t, unsigned int port)
{
	unsigned int i = 0;

	while (i < t->nodes && !has_bandwidth(t, i))
		i++;
	return bound_under_way(t, port) + (i < t->nodes ? message_blocks(t) : 0);
}

uint32_t bound_default_w(const struct fabric_tier *t, unsigned int port)
{
	return bound_under_way(t, port) + (has_bandwidth(t, port) ? message_blocks(t) : 0);
}

/** What waits at an egress besides chunks: one request, and a single block of every other node. */
static uint32_t control_blocks(const struct fabric_tier *t, unsigned int d)
{
	uint32_t blocks = MF_REQUEST_BLOCKS_MAX;

	for (unsigned int i = 0; i < t->nodes; i++)
		blocks += i != d && node_of(t, i)->up && node_of(t, i)->memory_enabled;
	return blocks;
}

uint32_t bound_backlog(const struct fabric_tier *t, unsigned int d)
{
	uint32_t period = link_of(t, d)->period, chunk = bound_chunk_blocks(t);

	/*
	 * At most K, but for the chunk whose grant exceeds it, the rest of the one that is being sent, which
	 * no longer waits, and what needs no grant.
	 */
	if (link_of(t, d)->backlog_k != 0)
		return link_of(t, d)->backlog_k + 2 * chunk + control_blocks(t, d);
	/* One chunk that has just been granted, and as much again of requests and /G/ before the scheduler
	 * charges them. */
	return (uint32_t)((bound_difference(t) + period - 1) / period) + 2 * chunk + control_blocks(t, d);
}
