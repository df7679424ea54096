/* SPDX-License-Identifier: BSD-3-Clause */
/* A node: its memory and its host. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mf_rng.h"
#include "config/mf_config_query.h"
#include "fabric/mf_fabric_regions.h"
#include "fabric/mf_link_guard.h"
#include "fabric/mf_make.h"

/** What stands over a memory. Regions are on top: what they refuse does not wait for the bandwidth. */
static int make_layers(struct mf_fabric *f, unsigned int i, uint64_t bandwidth)
{
	struct node *n = &f->node[i];
	int rc;

	n->top_ops = n->memory_ops;
	n->top = n->memory;
	if (bandwidth != 0 && f->clock == MF_CLOCK_VIRTUAL) {
		if (n->bandwidth != NULL)
			mf_bandwidth_restart(n->bandwidth, n->memory);
		else
			n->bandwidth = mf_bandwidth_new(bandwidth, n->memory_ops, n->memory);
		if (n->bandwidth == NULL)
			return -ENOMEM;
		n->top_ops = mf_bandwidth_ops(n->bandwidth);
		n->top = mf_bandwidth_memory(n->bandwidth);
	}
	rc = regions_make(f, i);
	if (n->regions != NULL) {
		n->top_ops = &mf_memory_regions;
		n->top = mf_regions_memory(n->regions);
	}
	return rc;
}

static int make_memory(struct mf_fabric *f, unsigned int i, char *err, size_t errlen)
{
	const struct mf_config_node *c = &f->config->node[i];
	struct mf_memory_config config = c->memory_config;
	struct node *n = &f->node[i];
	int rc;

	if (!c->memory)
		return 0;
	if (f->clock == MF_CLOCK_WALL)
		config.dram = 0;
	if (f->config->report_series != 0)
		config.use = &n->memory_use;
	if (mf_config_is_virtual(c)) {
		n->memory_ops = f->clock == MF_CLOCK_WALL ? &mf_memory_virtual : &mf_memory_timed;
		n->memory = make_virtual_memory(f, i, &config, err, errlen);
		if (n->memory == NULL)
			return -EINVAL;
	} else {
		n->memory_ops = mf_memory_find(c->memory_type);
		n->memory = n->memory_ops != NULL ? n->memory_ops->create(&config) : NULL;
	}
	if (n->memory == NULL)
		return make_fail(err, errlen, "%s: cannot have %llu octets of memory: %s", c->name,
				 (unsigned long long)config.size, strerror(errno));
	rc = make_layers(f, i, config.bandwidth);
	return rc == 0 ? 0
		       : make_fail(err, errlen, "%s: cannot set up what stands over its memory: %s", c->name,
				   strerror(-rc));
}

int node_new_memory(struct mf_fabric *f, unsigned int i)
{
	struct node *n = &f->node[i];
	char err[1];

	if (n->memory == NULL || n->memory_ops->checked != NULL) /* a sink has nothing to lose */
		return 0;
	n->memory_ops->destroy(n->memory);
	n->memory = NULL;
	return make_memory(f, i, err, sizeof(err)) == 0 ? 0 : -ENOMEM;
}

#define SMALLEST_BLOCKS 9 /* of a frame of 64 octets with preamble */

/**
 * A frame of the smallest size to a node whose link is the same, or to that at the other end of the link, and
 * one back, ps; wall clock: 0.
 */
static mf_time frame_rtt(const struct fabric_tier *t, const struct link_timing *link)
{
	mf_time mac = t->timing.cost[MF_STAGE_MAC], way;

	if (t->f->clock == MF_CLOCK_WALL)
		return 0;
	if (t->switches > 1)
		return t->longest_rtt;
	way = link->delay + 2 * mac + (mf_time)SMALLEST_BLOCKS * link->period;
	if (t->switches == 0)
		return 2 * way;
	return 2 * (2 * way + fabric_switch_config(t->f, t->first_switch)->l2_latency);
}

/** Number of the node that serves the stack of a network; -1: there is none. */
static int server_of(const struct fabric_tier *t)
{
	return t->config->server < 0 ? -1 : t->number[t->config->server];
}

/** Block period of the slowest link that is not the stack's server's, ps. */
static uint32_t slowest(const struct fabric_tier *t)
{
	uint32_t period = 0;

	for (unsigned int i = 0; i < t->nodes; i++) {
		const struct link_timing *link = &t->f->link[t->link[i]];

		if (t->f->config->node[t->node[i]].up && (int)i != server_of(t) && link->period > period)
			period = link->period;
	}
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
static uint16_t first_use(const struct mf_fabric *f, unsigned int i, unsigned int end)
{
	struct mf_rng rng;

	mf_rng_init(&rng, f->config->seed, "use", i + ((uint64_t)end << 32));
	return (uint16_t)mf_rng_next(&rng);
}

/** A host's end: its node, the network, and which end of the node that is. */
struct place {
	const struct fabric_tier *t;
	unsigned int node, end;
	uint16_t number; /**< of the end in the network */
	uint32_t link;
	enum mf_link_end side; /**< which end of the link that is */
};

/** Of its link; NULL: it is not watched. */
static struct mf_node *make_edm(const struct mf_fabric *f, const struct place *p)
{
	const struct fabric_tier *t = p->t;
	unsigned int i = p->node;
	const struct mf_config_node *c = &f->config->node[i];
	const struct node *n = &f->node[i];
	struct mf_host_config h = {
		.node = p->number,
		.nodes = (uint16_t)t->nodes,
		.compute = c->compute,
		.memory_ops = n->top_ops,
		.memory = n->top,
		.end = (uint8_t)p->end,
		.region = f->region,
		.regions = c->compute ? f->regions : 0,
		.x = c->host.x,
		.chunk = t->config->sched.chunk[f->clock],
		.mega = c->host.mega,
		.queue = c->host.queue,
		.answer = make_answer_max(f),
		.read_timeout = fabric_timer(f, &n->skew, c->host.read_timeout[f->clock]),
		.write_timeout = fabric_timer(f, &n->skew, c->host.write_timeout[f->clock]),
		.quarantine = fabric_timer(f, &n->skew, c->host.quarantine[f->clock]),
		.proto = t->config->proto,
		.use = first_use(f, i, p->end),
		.retries = c->host.retries,
		.retry_timeout = fabric_timer(f, &n->skew, c->host.retry_timeout[f->clock]),
		.timing = t->timing,
		.leaves_ids = shares_ids(f->config, i),
		.memory_enabled = make_carries_blocks(t, i),
		.ber_window = fabric_link_config(f, p->link)->ber_window,
		.guard = {guards_of(f, p->link, MF_LINK_NODE),
			  f->config->backup.on ? guards_of(f, fabric_link(f, 1, i), MF_LINK_NODE) : NULL},
		.probe = f->delivery != NULL ? &t->probe : NULL,
		.redundant = f->config->backup.on,
		.begins = fabric_whole(f),
		.in_order = t->config->sched.order == MF_ORDER_PAIR,
		.take_again = make_take_again(f),
	};

	make_mux(f, p->link, false, c->host.frames, c->host.frame_queue, &h.mux);
	return mf_node_new_edm(&h);
}

/** Of a fabric of frames. One that has no memory blocks is a plain Ethernet node, without the stack. */
static struct mf_node *make_frames(const struct mf_fabric *f, const struct place *p)
{
	const struct fabric_tier *t = p->t;
	unsigned int i = p->node;
	const struct mf_config_node *c = &f->config->node[i];
	const struct node *n = &f->node[i];
	struct mf_frame_host_config h = {
		.stack = c->memory_enabled ? t->config->stack_ops : NULL,
		.of = {.node = p->number,
		       .nodes = (uint16_t)t->nodes,
		       .compute = c->compute,
		       .memory_ops = n->top_ops,
		       .memory = n->top,
		       .end = (uint8_t)p->end,
		       .queue = c->host.queue,
		       .read_timeout = fabric_timer(f, &n->skew, c->host.read_timeout[f->clock]),
		       .write_timeout = fabric_timer(f, &n->skew, c->host.write_timeout[f->clock]),
		       .rtt = frame_rtt(t, &f->link[p->link]),
		       .server = server_of(t),
		       .slowest = slowest(t),
		       .timing = t->timing,
		       .probe = f->delivery != NULL ? &t->probe : NULL,
		       .incarnation = f->incarnation,
		       .param = t->config->stack.param,
		       .shared = t->shared},
		.blocks = make_carries_blocks(t, i),
		.ber_window = fabric_link_config(f, p->link)->ber_window,
		.guard = guards_of(f, p->link, p->side),
	};

	make_mux(f, p->link, h.stack != NULL && c->ethernet < 0, c->host.frames, c->host.frame_queue, &h.mux);
	return mf_node_new_frames(&h);
}

/** The host of an end of a node. */
static struct mf_node *make_end(const struct mf_fabric *f, unsigned int i, unsigned int end)
{
	const struct mf_end *e = &f->graph->end[mf_topology_end(f->graph, i, end)];
	struct place p = {.t = fabric_end_tier(f, i, end),
			  .node = i,
			  .end = end,
			  .link = e->link,
			  .side = fabric_side(f, e)};

	p.number = p.t->number[i];
	while (p.t->end[p.number] != end) /* those of a node follow each other */
		p.number++;
	return p.t->config->stack_ops != NULL ? make_frames(f, &p) : make_edm(f, &p);
}

/** By which of its hosts a node reaches each other one, and as whom. */
static struct mf_node_way *ways_of(const struct mf_fabric *f, unsigned int i)
{
	struct mf_node_way *way = calloc(f->nodes, sizeof(*way));

	for (unsigned int other = 0; way != NULL && other < f->nodes; other++) {
		struct fabric_way w;

		way[other].host = MF_HOST_NONE;
		if (fabric_common_tier(f, i, other) == NULL)
			continue;
		w = fabric_way_of(f, i, other);
		way[other] = (struct mf_node_way){.host = (uint8_t)w.tier->end[w.from], .number = w.to};
	}
	return way;
}

/** A host for each end, in networks in which the node has other numbers than in the fabric. */
static struct mf_node *make_hosts(const struct mf_fabric *f, unsigned int i)
{
	struct mf_node *host[MF_NODE_HOSTS_MAX] = {NULL}, *node;
	const uint16_t *name[MF_NODE_HOSTS_MAX];
	struct mf_hosts_config c = {.node = (uint16_t)i,
				    .nodes = (uint16_t)f->nodes,
				    .hosts = fabric_node_hosts(f, i),
				    .host = host,
				    .name = name};
	struct mf_node_way *way = ways_of(f, i);
	bool whole = way != NULL;

	for (unsigned int k = 0; k < c.hosts && whole; k++) {
		host[k] = make_end(f, i, k);
		name[k] = fabric_end_tier(f, i, k)->node;
		whole = host[k] != NULL;
	}
	c.way = way;
	node = whole ? mf_node_new_hosts(&c) : NULL;
	for (unsigned int k = 0; k < c.hosts && node == NULL; k++)
		mf_node_free(host[k]);
	free(way);
	return node;
}

static int make_host(struct mf_fabric *f, unsigned int i, char *err, size_t errlen)
{
	const struct mf_config_node *c = &f->config->node[i];
	bool one = fabric_is_plain(f);
	struct node *n = &f->node[i];

	n->above = one && f->tier->config->stack_ops != NULL && c->memory_enabled;
	n->host = one ? make_end(f, i, 0) : make_hosts(f, i);
	if (n->host == NULL)
		return make_fail(err, errlen, "%s: cannot set up its stack: %s", c->name, strerror(errno));
	return 0;
}

static int make_layer(struct mf_fabric *f, unsigned int i, char *err, size_t errlen)
{
	const struct mf_config_node *c = &f->config->node[i];
	struct node *n = &f->node[i];
	const struct mf_layer_config l = {.node = (uint16_t)i,
					  .nodes = (uint16_t)f->nodes,
					  .wall = f->clock == MF_CLOCK_WALL,
					  .param = c->layer_param};

	if (c->layer == NULL)
		return make_spaces(f, i, err, errlen);
	n->layer = mf_layer_new(c->layer, n->host, &l);
	if (n->layer == NULL)
		return make_fail(err, errlen, "%s: cannot set up its layer '%s': %s", c->name, c->layer->name,
				 strerror(errno));
	return 0;
}

int make_node(struct mf_fabric *f, unsigned int i, char *err, size_t errlen)
{
	int e = make_memory(f, i, err, errlen);

	if (e == 0)
		e = make_host(f, i, err, errlen);
	return e == 0 ? make_layer(f, i, err, errlen) : e;
}
