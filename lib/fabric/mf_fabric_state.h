/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of the fabric: what both engines run. */
#ifndef MF_FABRIC_STATE_H
#define MF_FABRIC_STATE_H

#include <pthread.h>

#include "config/mf_config.h"
#include "systems/mf_node.h"
#include "memory/mf_memory.h"
#include "memory/mf_region.h"
#include "base/mf_rng.h"
#include "pcs/mf_scrambler.h"
#include "systems/mf_scheduler.h"
#include "systems/mf_sw.h"
#include "workload/mf_workload.h"
#include "fabric/mf_pending_writes.h"
#include "fabric/mf_run.h"
#include "fabric/mf_skew.h"
#include "topology/mf_routes.h"
#include "topology/mf_topology.h"

/** A node: its stack, its memory, and what drives it. */
struct node {
	struct mf_node *host;
	const struct mf_memory_ops *memory_ops; /**< NULL: not a memory node */
	struct mf_memory *memory;
	struct mf_client *client; /**< NULL: submits nothing */
	struct mf_ether *ether;
	struct mf_guest *guest; /**< NULL: nobody from outside uses it */
	mf_time client_next, ether_next;
	bool above; /**< its stack is one above the MAC */
	struct mf_regions *regions; /**< of its memory; NULL: everybody may do all */
	struct mf_rng keys; /**< of the regions, where they are of the seed */
	bool gone; /**< a fault has its process crashed */
	bool unplugged; /**< virtual clock: a fault has its cable pulled */
	struct skew skew; /**< how wrong its clock is */
} __attribute__((aligned(64)));

/** A switch with its scheduler. */
struct fabric_switch {
	struct mf_sw *sw; /**< NULL while the fabric is made */
	struct mf_scheduler *sched;
	const struct mf_fabric *f;
	unsigned int number; /**< among the switches */
	/**
	 * What it goes by: f->routes, or under the wall clock its own, since each switch hears of links in
	 * its own turn. NULL: each port is a node's.
	 */
	struct mf_routes *routes;
};

/** What a link adds to a block's time, one direction, and its scrambler at both ends. */
struct link_timing {
	mf_time delay; /**< PCS TX + PMA + propagation + PMA + PCS RX */
	mf_time propagation;
	uint32_t period;
	uint32_t backlog_k, source_w; /**< K and W in force at the port, 0: none */
	bool scramble;
};

/** Counters of one moment, for what is measured between warm-up and end. */
struct snapshot {
	bool taken;
	mf_time at;
	struct mf_mux_stats *host; /**< [nodes]: links up */
	struct mf_mux_stats *port; /**< [fabric_ports()] */
	struct mf_host_stats *stack; /**< [nodes] */
	struct mf_switch_stats sw;
	struct mf_sched_stats sched;
};

struct mf_fabric {
	const struct mf_config *config;
	enum mf_clock clock;
	unsigned int nodes;
	struct mf_part part; /**< the roles that this process plays */
	uint32_t life; /**< of its nodes: mf_stack_config.life */
	struct node *node;
	struct mf_topology *graph; /**< its nodes by number, then its switches; links by fabric_link() */
	const struct mf_config_trunk **trunk; /**< links from `nodes` on: of the file; several switches */
	/** Several switches, by the virtual clock with links that fail; NULL: ports are nodes' */
	struct mf_routes *routes;
	mf_time longest_rtt; /**< with routes: of the smallest frame, to the farthest node and back, ps */
	struct link_timing *link; /**< [graph->links] */
	struct fabric_switch *sw; /**< [graph->switches] */
	struct skew skew; /**< how wrong the switch's clock is */
	struct {
		uint64_t cuts; /**< wall clock: how often the watchdog has cut a switch off */
		uint64_t deposed; /**< wall clock: how often one began again since the other had taken over */
	} backup;
	void *stack_shared; /**< see mf_stack_ops.share */
	struct mf_timing timing;
	struct mf_probe probe;
	struct stage_log *stages; /**< NULL: stages are not reported */
	struct pending pending; /**< virtual clock */
	uint64_t writes_begun, writes_effective; /**< and their pieces, where they are cut; virtual clock */
	struct delivery *delivery; /**< virtual clock */
	struct messages *messages; /**< NULL: there is no log */
	struct alone *alone; /**< what its messages take alone; NULL: not asked for, or not to be had */
	char alone_error[256]; /**< why */
	struct cycles *cycles; /**< NULL: not compiled in, or not run */
	mf_time measure, stop; /**< steady state: what begins in it is measured. stop may be moved to now */
	mf_time drain; /**< at most so long after stop */
	mf_time ended;
	bool finite; /**< all that its clients do has an end, and nobody else sends anything */
	mf_time all_begun; /**< finite: since then nothing more begins; MF_NEVER: not yet */
	bool load_over; /**< the load was stopped, and all that its clients had to do was over */
	bool quiet; /**< nothing was under way when the run ended */
	mf_time now; /**< of the last tick: the engine writes, any thread reads */
	atomic_bool stop_asked; /**< any thread writes, the engine reads */
	struct snapshot at_measure, at_stop;
	struct mf_host_region *region; /**< of all memory nodes, by node and address; where they are */
	unsigned int regions;
	uint64_t *fault_fired; /**< [config->faults], after the run */
	uint64_t fault_idle[MF_FAULT_CLASSES]; /**< of these, in blocks of idle; by class */
	struct link_guard *guards; /**< [graph->links]; NULL: no link is watched */
	struct link_test *test; /**< [tests]: test patterns of links; virtual clock */
	unsigned int tests;
	struct mf_witness_stats witness; /**< of all links with faults, after the run */
	struct mf_forge_stats forged; /**< of all nodes that forge, after the run */
	struct mf_captures *captures; /**< NULL: nothing is captured */
	struct mf_history *history; /**< NULL: nothing is recorded for a check */
	struct watch_log *watched; /**< wall clock: what the watchdog has noticed; NULL: nobody looks */
	struct carried *carried; /**< of the run that is over: links over ports; NULL: there are none */
	/**
	 * Who frees or replaces what another thread may be reading (telemetry.c) holds it; counters that are
	 * only written need none (mf_live.h).
	 */
	pthread_mutex_t readers;
	struct wall *carries; /**< whose ports are there to be seen, below readers; NULL: none */
	struct wall *running; /**< wall clock: the run under way, for tests that break it; NULL: none */
	struct wall *embedded; /**< what turns it, see mf_embed.h; NULL: it is run, if at all */
	struct mf_run_info info;
};

/** What its scheduler is made of. */
void fabric_sched_config(const struct mf_fabric *f, struct mf_sched_config *out);

/* part.c: what of the fabric this process plays */
/** @param part  NULL: all of f->config */
void fabric_take_part(struct mf_fabric *f, const struct mf_part *part);
/** All of it. */
bool fabric_whole(const struct mf_fabric *f);
/** Some node; some switch; some node that asks. */
bool fabric_has_node(const struct mf_fabric *f);
bool fabric_has_switch(const struct mf_fabric *f);
bool fabric_has_compute(const struct mf_fabric *f);
/** That the file has, this process or not. */
static inline unsigned int fabric_switches(const struct mf_fabric *f)
{
	return mf_config_switch_count(f->config);
}

/** Links of each node: the k-th goes to switch k where there are two of the same nodes. */
static inline unsigned int fabric_planes(const struct mf_fabric *f)
{
	return f->config->backup.on ? MF_CONFIG_SWITCHES : 1;
}

/** The link of a node: of fabric_planes() links that to switch `sw`. */
static inline unsigned int fabric_link(const struct mf_fabric *f, unsigned int sw, unsigned int node)
{
	return sw * f->nodes + node;
}

/** Whether a link of the graph is one between switches. */
static inline bool fabric_is_trunk(const struct mf_fabric *f, uint32_t link)
{
	return f->config->switches > 0 && link >= f->nodes;
}

/** What the file says of a link. */
static inline const struct mf_config_link *fabric_link_config(const struct mf_fabric *f, unsigned int link)
{
	if (fabric_is_trunk(f, link))
		return &f->trunk[link - f->nodes]->link;
	return &f->config->node[link % f->nodes].link;
}

/** What is sent to a node, on that of its links: counted by the switch. */
static inline const struct mf_mux_stats *fabric_sent_to(const struct mf_fabric *f, unsigned int plane,
							unsigned int node)
{
	const struct mf_topology *g = f->graph;
	const struct mf_end *e = &g->end[g->end[mf_topology_end(g, node, plane)].peer];

	return mf_sw_mux_stats(f->sw[g->role[e->role].number].sw, e->port);
}

/** The name of a node or a switch, by its place in the graph. */
const char *fabric_role_name(const struct mf_fabric *f, uint32_t role);

/** The name of the switch at the other end of a link of a node. */
const char *fabric_switch_name(const struct mf_fabric *f, unsigned int plane, unsigned int node);

/** Whether this process plays a switch. */
static inline bool fabric_plays_switch(const struct mf_fabric *f, unsigned int sw)
{
	return f->part.sw[sw];
}

/** Ends of the graph that are ports of switches, one switch after the other: from fabric_first_port() on. */
static inline uint32_t fabric_first_port(const struct mf_fabric *f)
{
	return f->graph->role[f->nodes].first_end;
}

static inline unsigned int fabric_ports(const struct mf_fabric *f)
{
	return f->graph->ends - fabric_first_port(f);
}

static inline const struct mf_end *fabric_port(const struct mf_fabric *f, unsigned int n)
{
	return &f->graph->end[fabric_first_port(f) + n];
}

/** The role at the other end of the n-th of fabric_ports(). */
static inline const struct mf_vertex *fabric_port_peer(const struct mf_fabric *f, unsigned int n)
{
	return &f->graph->role[f->graph->end[fabric_port(f, n)->peer].role];
}

/** The switch of the n-th of fabric_ports() if this process plays it and the port is used; otherwise NULL. */
static inline struct mf_sw *fabric_switch_of(const struct mf_fabric *f, unsigned int n)
{
	unsigned int sw = f->graph->role[fabric_port(f, n)->role].number;
	const struct mf_vertex *peer = fabric_port_peer(f, n);

	if (!fabric_plays_switch(f, sw) ||
	    (peer->kind == MF_VERTEX_NODE && !f->config->node[peer->number].up))
		return NULL;
	return f->sw[sw].sw;
}

/** Number among fabric_ports() of the port of a node: of its link to switch `sw` of two, else 0. */
static inline unsigned int fabric_port_of(const struct mf_fabric *f, unsigned int sw, unsigned int node)
{
	const struct mf_topology *g = f->graph;

	return g->end[mf_topology_end(g, node, sw)].peer - fabric_first_port(f);
}

/* Links over ports, wall clock. `side` is which of the two ends of a link of the graph. */
/** How ports carry a link, if they do. Of its ports see fabric_link_port(). */
const struct mf_config_llr *fabric_llr(const struct mf_fabric *f, uint32_t link);
/** The port of an end: its place in config->port. -1: it has none */
int fabric_link_port(const struct mf_fabric *f, uint32_t link, enum mf_link_end side);
/** Whether this process plays the role of an end. */
bool fabric_plays_end(const struct mf_fabric *f, uint32_t link, enum mf_link_end side);
/** Whether ports carry a link, of which this process plays one end or both. */
bool fabric_carried(const struct mf_fabric *f, uint32_t link);

/** Another memory in the place of that of a node, zeroed; none where it has none. @return 0 or -ENOMEM */
int node_new_memory(struct mf_fabric *f, unsigned int i);

/**
 * The process of a node crashes: it gets another memory and a new host, and its client loses what was under
 * way. The engine cuts the link, and clears node.gone when the process is there again. @return 0 or -ENOMEM
 */
int node_crash(struct mf_fabric *f, unsigned int i, mf_time now);

/** What the clock of a node shows at t. Client and frames go by it. Virtual clock: t, whatever the skew. */
static inline mf_time node_clock(const struct mf_fabric *f, unsigned int i, mf_time t)
{
	return f->clock == MF_CLOCK_WALL ? skew_clock(&f->node[i].skew, t) : t;
}

/** How long a timer of t ps is to be set: only under the virtual clock a skewed clock changes that. */
static inline mf_time fabric_timer(const struct mf_fabric *f, const struct skew *s, mf_time t)
{
	return f->clock == MF_CLOCK_VIRTUAL ? skew_timer(s, t) : t;
}

/** The kind of its nodes, whether this process plays any or not. */
const struct mf_role_ops *fabric_node_kind(const struct mf_fabric *f);

/**
 * Virtual clock, if there is a stack_shared: the next node whose deadline became earlier because another node
 * changed what they share. @return -1: there is no other
 */
int fabric_woken(struct mf_fabric *f);

/** The client, the frames and the stack of a node, once. @return the next time, TX not included */
mf_time node_run(struct node *n, mf_time now);

/** All clients have finished and no frame is under way. */
bool fabric_quiet(const struct mf_fabric *f, mf_time now);

/** probe.c, virtual clock: who listens to what the cores say. @return 0 or -ENOMEM */
int probe_init(struct mf_fabric *f);
/**
 * Writes that completed for their senders and never took effect, virtual clock. 0 where nobody knows: some
 * were still under way when the run ended, see mf_drain.h.
 */
uint64_t fabric_lost_writes(const struct mf_fabric *f);

/* load.c: clients and frames of the configuration */
/** The one target of client i under the permutation and incast patterns. */
uint16_t permutation_partner(const struct mf_config_workload *w, unsigned int i);
int load_clients(struct mf_fabric *f, char *err, size_t errlen);
int load_frames(struct mf_fabric *f, char *err, size_t errlen);

/** Blocks a ps on a node's link, to and from the switch. */
struct load_link {
	double up, down;
};

struct load_busiest {
	unsigned int node;
	bool up;
};

/**
 * The load of the busiest link direction: its blocks over its block rate.
 * @param where  or NULL
 */
double load_busiest(const struct mf_fabric *f, const struct load_link *link, struct load_busiest *where);

/**
 * What is offered (D17), as expected of the configuration: blocks of all kinds, those of background frames
 * with their gaps; and the blocks that payload alone would fill.
 * @param wire, payload  [nodes], 0
 * @return false: some client is a closed loop, and offers what is taken
 */
bool load_offered(const struct mf_fabric *f, struct load_link *wire, struct load_link *payload);

/** @param ports  fabric_ports() @return 0 or -ENOMEM */
int snapshot_init(struct snapshot *s, unsigned int nodes, unsigned int ports);
void snapshot_fini(struct snapshot *s);
void snapshot_take(const struct mf_fabric *f, struct snapshot *s, mf_time now);
/** The one of at_measure and at_stop that is due next at a time, and was not taken. @return NULL: none is */
struct snapshot *snapshot_due(struct mf_fabric *f, mf_time now);
/** The run has ended: so has the load, and what was to be counted at its begin and end is counted now. */
void snapshot_end(struct mf_fabric *f, mf_time now);

/** live.c: the engine's tick, each tick_period or so, between its other work. It may move f->stop to now. */
void live_tick(struct mf_fabric *f, const struct mf_run_options *options, mf_time now);

#endif
