/* SPDX-License-Identifier: BSD-3-Clause */
/* A node: its memory and its host. */
#include <errno.h>
#include <string.h>

#include "base/mf_rng.h"
#include "config/mf_config_query.h"
#include "fabric/mf_fabric_regions.h"
#include "fabric/mf_link_guard.h"
#include "fabric/mf_make.h"

static int make_memory(struct mf_fabric *f, unsigned int i, char *err, size_t errlen)
{
	const struct mf_config_node *c = &f->config->node[i];
	struct mf_memory_config config = c->memory_config;
	struct node *n = &f->node[i];

	if (!c->memory)
		return 0;
	if (f->clock == MF_CLOCK_WALL)
		config.dram = 0;
	n->memory_ops = mf_memory_find(c->memory_type);
	n->memory = n->memory_ops != NULL ? n->memory_ops->create(&config) : NULL;
	if (n->memory == NULL)
		return make_fail(err, errlen, "%s: cannot have %llu octets of memory: %s", c->name,
				 (unsigned long long)config.size, strerror(errno));
	if (regions_make(f, i) != 0)
		return make_fail(err, errlen, "%s: cannot set up its regions: %s", c->name, strerror(errno));
	return 0;
}

int node_new_memory(struct mf_fabric *f, unsigned int i)
{
	struct node *n = &f->node[i];
	char err[1];

	if (n->memory == NULL)
		return 0;
	n->memory_ops->destroy(n->memory);
	n->memory = NULL;
	return make_memory(f, i, err, sizeof(err)) == 0 ? 0 : -ENOMEM;
}

#define SMALLEST_BLOCKS 9 /* of a frame of 64 octets with preamble */

/** A frame of the smallest size to a node whose link is the same, and one back, ps; wall clock: 0. */
static mf_time frame_rtt(const struct mf_fabric *f, unsigned int i)
{
	mf_time mac = f->timing.cost[MF_STAGE_MAC], way;

	if (f->clock == MF_CLOCK_WALL)
		return 0;
	if (f->graph->switches > 1 && f->routes != NULL)
		return f->longest_rtt;
	way = 2 * (f->link[i].delay + 2 * mac + (mf_time)SMALLEST_BLOCKS * f->link[i].period);
	return 2 * (way + f->config->sw.l2_latency);
}

/** Block period of the slowest link that is not the stack's server's, ps. */
static uint32_t slowest(const struct mf_fabric *f)
{
	uint32_t period = 0;

	for (unsigned int i = 0; i < f->nodes; i++)
		if (f->config->node[i].up && (int)i != f->config->server && f->link[i].period > period)
			period = f->link[i].period;
	return period;
}

/** Whether a fault sends from its port with some of its ids: see MF_FAULT_FLOOD_ID. */
static bool shares_ids(const struct mf_config *c, unsigned int i)
{
	for (unsigned int k = 0; k < c->faults; k++)
		if ((c->fault[k].class == MF_FAULT_FLOOD || c->fault[k].class == MF_FAULT_FORGE) &&
		    mf_config_has(&c->fault[k].link, i))
			return true;
	return false;
}

/** Of its ids (host.once). Any number does, so a run begins with one of its seed. */
static uint16_t first_use(const struct mf_fabric *f, unsigned int i)
{
	struct mf_rng rng;

	mf_rng_init(&rng, f->config->seed, "use", i);
	return (uint16_t)mf_rng_next(&rng);
}

static struct mf_node *make_edm(const struct mf_fabric *f, unsigned int i)
{
	const struct mf_config_node *c = &f->config->node[i];
	const struct node *n = &f->node[i];
	struct mf_host_config h = {
		.node = (uint16_t)i,
		.nodes = (uint16_t)f->nodes,
		.compute = c->compute,
		.memory_ops = n->memory_ops,
		.memory = n->memory,
		.access = n->regions,
		.region = f->region,
		.regions = c->compute ? f->regions : 0,
		.x = c->host.x,
		.chunk = f->config->sched.chunk[f->clock],
		.mega = c->host.mega,
		.queue = c->host.queue,
		.read_timeout = fabric_timer(f, &n->skew, c->host.read_timeout[f->clock]),
		.write_timeout = fabric_timer(f, &n->skew, c->host.write_timeout[f->clock]),
		.quarantine = fabric_timer(f, &n->skew, c->host.quarantine[f->clock]),
		.proto = f->config->proto,
		.use = first_use(f, i),
		.retries = c->host.retries,
		.retry_timeout = fabric_timer(f, &n->skew, c->host.retry_timeout[f->clock]),
		.timing = f->timing,
		.leaves_ids = shares_ids(f->config, i),
		.memory_enabled = make_carries_blocks(f, i),
		.ber_window = c->link.ber_window,
		.guard = {guards_of(f, 0, i, MF_LINK_NODE),
			  f->config->backup.on ? guards_of(f, 1, i, MF_LINK_NODE) : NULL},
		.probe = f->delivery != NULL ? &f->probe : NULL,
		.twin = f->config->backup.on,
		.begins = fabric_whole(f),
		.in_order = f->config->sched.order == MF_ORDER_PAIR,
		.take_again = make_take_again(f),
	};

	make_mux(f, i, false, c->host.frames, c->host.frame_queue, &h.mux);
	return mf_node_new_edm(&h);
}

/** Of a fabric of frames. One that has no memory blocks is a plain Ethernet node, without the stack. */
static struct mf_node *make_frames(const struct mf_fabric *f, unsigned int i)
{
	const struct mf_config_node *c = &f->config->node[i];
	const struct node *n = &f->node[i];
	struct mf_frame_host_config h = {
		.stack = c->memory_enabled ? f->config->stack_ops : NULL,
		.of = {.node = (uint16_t)i,
		       .nodes = (uint16_t)f->nodes,
		       .compute = c->compute,
		       .memory_ops = n->memory_ops,
		       .memory = n->memory,
		       .queue = c->host.queue,
		       .read_timeout = fabric_timer(f, &n->skew, c->host.read_timeout[f->clock]),
		       .write_timeout = fabric_timer(f, &n->skew, c->host.write_timeout[f->clock]),
		       .rtt = frame_rtt(f, i),
		       .server = f->config->server,
		       .slowest = slowest(f),
		       .timing = f->timing,
		       .probe = f->delivery != NULL ? &f->probe : NULL,
		       .life = f->life,
		       .param = f->config->stack.param,
		       .shared = f->stack_shared},
		.blocks = make_carries_blocks(f, i),
		.ber_window = c->link.ber_window,
		.guard = guards_of(f, 0, i, MF_LINK_NODE),
	};

	make_mux(f, i, h.stack != NULL && c->ethernet < 0, c->host.frames, c->host.frame_queue, &h.mux);
	return mf_node_new_frames(&h);
}

static int make_host(struct mf_fabric *f, unsigned int i, char *err, size_t errlen)
{
	const struct mf_config_node *c = &f->config->node[i];
	bool frames = f->config->stack_ops != NULL;
	struct node *n = &f->node[i];

	n->above = frames && c->memory_enabled;
	n->host = frames ? make_frames(f, i) : make_edm(f, i);
	if (n->host == NULL)
		return make_fail(err, errlen, "%s: cannot set up its stack: %s", c->name, strerror(errno));
	return 0;
}

int make_node(struct mf_fabric *f, unsigned int i, char *err, size_t errlen)
{
	int e = make_memory(f, i, err, errlen);

	return e == 0 ? make_host(f, i, err, errlen) : e;
}
