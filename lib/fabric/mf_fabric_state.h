/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of the fabric: what both engines run. */
#ifndef MF_FABRIC_STATE_H
#define MF_FABRIC_STATE_H

#include <pthread.h>

#include "config/mf_config.h"
#include "systems/mf_node.h"
#include "memory/mf_bandwidth.h"
#include "memory/mf_memory.h"
#include "memory/mf_region.h"
#include "memory/mf_vm_timed.h"
#include "base/mf_rng.h"
#include "pcs/mf_scrambler.h"
#include "systems/mf_slow_path.h"
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
	union {
		struct mf_below below; /**< what clients ask: */
		struct {
			struct mf_node *host;
			struct mf_layer *layer; /**< NULL: there is none */
		};
	};
	const struct mf_memory_ops
		*memory_ops; /**< of the kind that the file names; NULL: not a memory node */
	struct mf_memory *memory;
	struct mf_bandwidth *bandwidth; /**< over it; NULL: it has no limit */
	const struct mf_memory_ops *top_ops; /**< what its host asks: regions, bandwidth or memory */
	struct mf_memory *top;
	struct mf_client *client; /**< NULL: submits nothing */
	struct mf_ether *ether;
	struct mf_embedded_client *embedded; /**< of programs that use the node; NULL: none */
	mf_time client_next, ether_next;
	bool above; /**< its stack is one above the MAC */
	struct mf_regions *regions; /**< of its memory; NULL: everybody may do all */
	struct mf_rng keys; /**< of the regions, where they are of the seed */
	bool gone; /**< a fault has its process crashed */
	bool unplugged; /**< virtual clock: a fault has its cable pulled */
	struct skew skew; /**< how wrong its clock is */
	struct mf_memory_use memory_use; /**< of its memory, where it is counted */
	/* Its memory, where that is of the type "virtual": */
	struct mf_vm_timed *vm; /**< virtual clock: both paths */
	struct mf_vm *fast; /**< wall clock: the fast path; the slow one is a role of its own */
	struct mf_slow_path *slow;
	char slow_name[MF_CONFIG_NAME_LEN + 8]; /**< of that role */
	uint32_t starts; /**< of its memory */
} __attribute__((aligned(64)));

/** A switch with its scheduler. */
struct fabric_switch {
	struct mf_sw *sw; /**< NULL while the fabric is made */
	struct mf_scheduler *sched;
	const struct mf_fabric *f;
	const struct fabric_tier *tier; /**< its network */
	unsigned int number; /**< among the switches */
	/**
	 * What it goes by: f->routes, or under the wall clock its own, since each switch hears of links in
	 * its own turn. NULL: each port is a node's.
	 */
	struct mf_routes *routes;
};

#define FABRIC_NO_NUMBER UINT16_MAX

/** A network: a tier of the file, or all of it. Its nodes have numbers of their own there. */
struct fabric_tier {
	const struct mf_fabric *f;
	const struct mf_config_tier *config;
	struct mf_timing timing; /**< all 0 under the wall clock */
	void *shared; /**< of its nodes, see mf_stack_ops.share; NULL: nothing */
	struct mf_probe probe; /**< virtual clock: of its hosts, which tell their own numbers */
	mf_time longest_rtt; /**< of several switches: see make_longest_rtt() */
	/** From a grant to the arrival of its chunk, of writes and reads: mf_bound.h */
	mf_time arrives_least, arrives_most;
	unsigned int first_switch, switches; /**< which are its own */
	unsigned int nodes; /**< numbers that there are, one for each end; without tiers some may be free */
	uint16_t *node; /**< [nodes]: the node of a number */
	uint16_t *end; /**< [nodes]: and which of its ends */
	uint32_t *link; /**< [nodes]: and its link; of two (1+1) that to the first switch */
	uint16_t *number; /**< [nodes of the fabric]: of a node's first end there, or FABRIC_NO_NUMBER */
	bool several; /**< some node has several ends there */
};

/** What a link adds to a block's time, one direction, and its scrambler at both ends. */
struct link_timing {
	mf_time delay; /**< PCS TX + PMA + propagation + PMA + PCS RX */
	mf_time propagation; /**< wall clock: 0 without `shape` */
	uint32_t period; /**< ps a block; 0: wall clock */
	uint32_t shape; /**< wall clock: ps a block of a link that keeps its rate; 0: it keeps none */
	uint32_t backlog_k, source_w; /**< K and W in force at the port, 0: none */
	bool scramble;
	uint16_t tier; /**< its network */
};

/** Counters of one moment, for what is measured between warm-up and end. */
struct snapshot {
	bool taken;
	mf_time at;
	struct mf_mux_stats *host; /**< [fabric_host_ends()]: what nodes send */
	struct mf_mux_stats *port; /**< [fabric_ports()] */
	struct mf_host_stats *stack; /**< [nodes] */
	struct mf_switch_stats sw;
	struct mf_sched_stats sched;
};

/** What clients that share spaces know of each other and of memories, of a workload: see struct mf_churn. */
struct fabric_churn {
	uint16_t number[MF_NODES_MAX]; /**< by place among the clients */
	uint8_t page_class[MF_NODES_MAX]; /**< by node */
};

struct mf_fabric {
	const struct mf_config *config;
	enum mf_clock clock;
	unsigned int nodes;
	struct mf_process_roles plays; /**< the roles that this process plays */
	bool loads; /**< the workloads of the file run */
	uint32_t incarnation; /**< of its nodes: mf_stack_config.incarnation */
	struct node *node;
	struct mf_topology *graph; /**< its nodes by number, then its switches */
	unsigned int tiers;
	struct fabric_tier *tier; /**< [tiers] */
	/** Number of links from a node to a switch, links to a second switch left out. In the graph they come
	 * first; links between switches and between nodes follow */
	uint32_t node_links;
	/** Links from node_links on, of the file. NULL: the file names neither switches nor such a link */
	const struct mf_config_trunk **trunk;
	/** Several switches, by the virtual clock with links that fail; NULL: ports are nodes' */
	struct mf_routes *routes;
	struct link_timing *link; /**< [graph->links] */
	struct fabric_switch *sw; /**< [graph->switches] */
	struct skew skew; /**< how wrong the switch's clock is */
	struct {
		uint64_t cuts; /**< wall clock: how often the watchdog has cut a switch off */
		uint64_t demoted; /**< wall clock: how often one began again since the other had taken over */
	} backup;
	bool shares; /**< nodes of some tier share something (fabric_tier.shared) */
	struct mf_probe probe;
	/** [workloads][targets.n], then NULL: of all clients of a workload, see mf_client_config.targets */
	struct mf_client_target **target;
	struct fabric_churn **churn; /**< [workloads], then NULL */
	struct stage_log *stages; /**< NULL: stages are not reported */
	struct pending pending; /**< virtual clock */
	uint64_t writes_begun, writes_effective; /**< and their pieces, where they are cut; virtual clock */
	struct delivery *delivery; /**< virtual clock */
	struct messages *messages; /**< NULL: there is no log */
	struct series *series; /**< what is counted in steps of time, mf_series.h; NULL: nothing is */
	struct unloaded *unloaded; /**< latencies of its messages; NULL: not asked for, or failed */
	char unloaded_error[256]; /**< why it failed */
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
	struct tunnel_stats *tunnels; /**< of the run that is over: links over ports; NULL: there are none */
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
void fabric_sched_config(const struct fabric_tier *t, struct mf_sched_config *out);

/* process_roles.c: what of the fabric this process plays */
/** @param plays  NULL: all of f->config */
void fabric_take_roles(struct mf_fabric *f, const struct mf_process_roles *plays);
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

/** The link of a node at one of its ends: of fabric_planes() links that to switch `end`. */
static inline unsigned int fabric_link(const struct mf_fabric *f, unsigned int end, unsigned int node)
{
	return f->graph->end[mf_topology_end(f->graph, node, end)].link;
}

/** Whether a link of the graph is one between switches, or between two nodes. */
static inline bool fabric_is_trunk(const struct mf_fabric *f, uint32_t link)
{
	return f->trunk != NULL && link >= f->node_links;
}

/** Whether a link is one between two nodes. */
static inline bool fabric_is_direct(const struct mf_fabric *f, uint32_t link)
{
	return fabric_is_trunk(f, link) && f->trunk[link - f->node_links]->direct;
}

/** The node of a link to a switch. Of a link between two nodes that which is named first. */
static inline unsigned int fabric_link_node(const struct mf_fabric *f, uint32_t link)
{
	return f->graph->role[f->graph->end[f->graph->link[link].end[MF_LINK_NODE]].role].number;
}

/** Which of its node's ends a link is at. */
static inline unsigned int fabric_link_end(const struct mf_fabric *f, uint32_t link)
{
	return f->graph->end[f->graph->link[link].end[MF_LINK_NODE]].port;
}

/** Links between two nodes: the last ones of the graph. */
static inline uint32_t fabric_directs(const struct mf_fabric *f)
{
	uint32_t n = 0;

	while (n < f->graph->links - f->node_links && fabric_is_direct(f, f->graph->links - n - 1))
		n++;
	return n;
}

/**
 * Ends by which nodes send, but those to a second switch: of their links to switches in the order of these,
 * then both ends of each link between two nodes.
 */
static inline uint32_t fabric_host_ends(const struct mf_fabric *f)
{
	return f->node_links + 2 * fabric_directs(f);
}

/** The n-th of fabric_host_ends(). */
static inline const struct mf_end *fabric_host_end(const struct mf_fabric *f, uint32_t n)
{
	uint32_t of_direct = n - f->node_links;
	const struct mf_graph_link *l =
		&f->graph->link[n < f->node_links ? n : f->graph->links - fabric_directs(f) + of_direct / 2];

	return &f->graph->end[l->end[n < f->node_links ? MF_LINK_NODE : of_direct % 2]];
}

/** Which of fabric_host_ends() a node's end of a link is. Not of a link to a second switch. */
static inline uint32_t fabric_host_number(const struct mf_fabric *f, uint32_t link, unsigned int node)
{
	const struct mf_topology *g = f->graph;

	if (link < f->node_links)
		return link;
	return f->node_links + 2 * (link - (g->links - fabric_directs(f))) +
	       (g->end[g->link[link].end[0]].role != node);
}

/**
 * Whether a rule of role NODES is about a node's link, of those nodes that it names; or about the node
 * itself, by its first link.
 * @param end  which of the node's ends
 */
bool fabric_fault_at(const struct mf_fabric *f, const struct mf_config_fault *rule, unsigned int node,
		     unsigned int end);
/** The same of what breaks at a time: a link between two nodes of which a rule names both is cut once. */
bool fabric_outage_at(const struct mf_fabric *f, const struct mf_config_fault *rule, unsigned int node,
		      unsigned int end);

/* trunk.c: how links between switches, or between nodes, are named */
/** Room for the name of a link. */
#define FABRIC_LINK_NAME (2 * MF_CONFIG_NAME_LEN + 16)
/** Which of the links of its two switches a link is, as the file counts them. */
unsigned int fabric_parallel(const struct mf_fabric *f, uint32_t link);
/** Its name: "tor0:spine1", or "tor0:spine1:2" where these have several. @return buf */
char *fabric_trunk_name(const struct mf_fabric *f, uint32_t link, char buf[FABRIC_LINK_NAME]);
/**
 * The link that a name means, its switches in either order.
 * @param first  set: the place in the graph of the switch that is named first
 * @return its number in the graph; MF_NONE: there is none
 */
uint32_t fabric_find_trunk(const struct mf_fabric *f, const char *name, uint32_t *first);
/**
 * How captures know what an end sends: by the number of its node, or behind the nodes by its place in
 * config->trunk.
 * @param end   of the graph
 * @param down  set: to the node; or to the switch that comes first in the file
 * @return -1: they do not: a node's link to the second of two switches
 */
int fabric_captured(const struct mf_fabric *f, uint32_t end, bool *down);

/** What the file says of a link. */
const struct mf_config_link *fabric_link_config(const struct mf_fabric *f, uint32_t link);

/** What the file says of a switch. */
static inline const struct mf_config_switch *fabric_switch_config(const struct mf_fabric *f, unsigned int sw)
{
	return f->config->switches > 0 ? &f->config->switch_list[sw] : &f->config->tier->sw;
}

/** Whether EDM's scheduler grants what is sent in a network. Others have a stack above the MAC, a bridge. */
static inline bool fabric_schedules(const struct fabric_tier *t)
{
	return t->config->stack_ops == NULL;
}

/** Ends of a node, with one host each: of 1+1 protection one, which has both links. */
static inline unsigned int fabric_node_hosts(const struct mf_fabric *f, unsigned int node)
{
	return f->config->backup.on ? 1 : f->graph->role[node].ends;
}

/** The network of an end of a node. @param end  below fabric_node_hosts() */
static inline const struct fabric_tier *fabric_end_tier(const struct mf_fabric *f, unsigned int node,
							unsigned int end)
{
	return &f->tier[f->link[f->graph->end[mf_topology_end(f->graph, node, end)].link].tier];
}

/** tier.c: fabric_common_tier() of several. */
const struct fabric_tier *fabric_common_of(const struct mf_fabric *f, unsigned int node, unsigned int other);

/** The network that a node reaches another one by: of several the first of its ends'. NULL: there is none */
static inline const struct fabric_tier *fabric_common_tier(const struct mf_fabric *f, unsigned int node,
							   unsigned int other)
{
	return __builtin_expect(f->tiers == 1, 1) ? f->tier : fabric_common_of(f, node, other);
}

/** Whether hosts know nodes by their numbers in the fabric: there is one network, and one end of each. */
static inline bool fabric_is_plain(const struct mf_fabric *f)
{
	return f->tiers == 1 && !f->tier->several;
}

/** The way from a node to another one, by their numbers in a network: of several ends it has those that it
 * uses. */
struct fabric_way {
	const struct fabric_tier *tier;
	uint16_t from, to; /**< numbers there */
};

/** tier.c: fabric_way_of() where nodes may have several ends in a network. */
struct fabric_way fabric_way_by_ends(const struct mf_fabric *f, const struct fabric_tier *t,
				     unsigned int from, unsigned int to);

/**
 * What a node asks of another one, and the answer, go by one end of each: of several by those that a hash of
 * their names gives. The two nodes have a network in common.
 */
static inline struct fabric_way fabric_way_of(const struct mf_fabric *f, unsigned int from, unsigned int to)
{
	const struct fabric_tier *t = fabric_common_tier(f, from, to);

	return __builtin_expect(t->several, 0) ? fabric_way_by_ends(f, t, from, to)
					       : (struct fabric_way){t, t->number[from], t->number[to]};
}

/** The first host of a node in a network. @return NULL: it has none, or is of another process */
struct mf_node *fabric_host(const struct mf_fabric *f, const struct fabric_tier *t, unsigned int node);

/** What is sent to a node, on that of its links, which leads to a switch: counted by that. */
static inline const struct mf_mux_stats *fabric_sent_to(const struct mf_fabric *f, unsigned int plane,
							unsigned int node)
{
	const struct mf_topology *g = f->graph;
	const struct mf_end *e = &g->end[g->end[mf_topology_end(g, node, plane)].peer];

	return mf_sw_mux_stats(f->sw[g->role[e->role].number].sw, e->port);
}

/** The name of a node or a switch, by its place in the graph. */
const char *fabric_role_name(const struct mf_fabric *f, uint32_t role);

/** Which of the two ends of its link an end is. */
static inline enum mf_link_end fabric_side(const struct mf_fabric *f, const struct mf_end *e)
{
	return &f->graph->end[f->graph->link[e->link].end[0]] == e ? MF_LINK_NODE : MF_LINK_SWITCH;
}

/** The name of the role at an end of a link: of two switches at the first or the second. */
static inline const char *fabric_link_role_name(const struct mf_fabric *f, uint32_t link,
						enum mf_link_end end)
{
	return fabric_role_name(f, f->graph->end[f->graph->link[link].end[end]].role);
}

/** Whether this process plays a switch. */
static inline bool fabric_plays_switch(const struct mf_fabric *f, unsigned int sw)
{
	return f->plays.sw[sw];
}

/** Ends of the graph that are ports of switches, one switch after the other: from fabric_first_port() on. */
static inline uint32_t fabric_first_port(const struct mf_fabric *f)
{
	return f->graph->switches > 0 ? f->graph->role[f->nodes].first_end : f->graph->ends;
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
bool fabric_is_tunnel(const struct mf_fabric *f, uint32_t link);

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

/** The kind of the hosts of a network, whether this process plays any or not. */
const struct mf_role_ops *fabric_host_kind(const struct fabric_tier *t);

/**
 * Virtual clock, if f->shares: the next node whose deadline became earlier because another node
 * changed what they share. @return -1: there is no other
 */
int fabric_woken(struct mf_fabric *f);

/** The client, the frames and the stack of a node, once. @return the next time, TX not included */
mf_time node_run(struct node *n, mf_time now);

/** The load is over: layers whose clients ask nothing more end what they do by themselves. */
void fabric_rest(struct mf_fabric *f, mf_time now);

/** All clients have finished and no frame is under way. */
bool fabric_quiet(const struct mf_fabric *f, mf_time now);

/** probe.c, virtual clock: who listens to what the cores say. @return 0 or -ENOMEM */
int probe_init(struct mf_fabric *f);
/**
 * Writes of a node's client, and pieces of them, that came to nothing, and somebody knows: at most so many.
 * A layer may have asked again, and its client is not told.
 */
uint64_t fabric_failed_writes(const struct mf_fabric *f, unsigned int i);
/**
 * Writes that completed for their senders and never took effect, virtual clock. 0 where nobody knows: some
 * were still under way when the run ended, see mf_drain.h.
 */
uint64_t fabric_lost_writes(const struct mf_fabric *f);

/* load.c: clients and frames of the configuration */
/** The one target of client i under the permutation and incast patterns. */
uint16_t permutation_partner(const struct mf_config_workload *w, unsigned int i);
int load_clients(struct mf_fabric *f, char *err, size_t errlen);
/** Frees what load_clients() has allocated, clients excepted: they are gone by then. */
void load_clients_fini(struct mf_fabric *f);
int load_frames(struct mf_fabric *f, char *err, size_t errlen);

/** Blocks a ps that a node sends by an end, and that come to it from the switch. From a node none: it sends
 * them. */
struct load_link {
	double up, down;
};

struct load_busiest {
	uint32_t end; /**< of fabric_host_ends() */
	bool up;
};

/**
 * The load of the busiest link direction: its blocks over its block rate.
 * @param link   [fabric_host_ends()]
 * @param where  or NULL
 */
double load_busiest(const struct mf_fabric *f, const struct load_link *link, struct load_busiest *where);

/**
 * What is offered (D17), as expected of the configuration: blocks of all kinds, those of background frames
 * with their gaps; and the blocks that payload alone would fill.
 * @param wire, payload  [fabric_host_ends()], 0
 * @return false: some client is a closed loop, and offers what is taken
 */
bool load_offered(const struct mf_fabric *f, struct load_link *wire, struct load_link *payload);

/** @return 0 or -ENOMEM */
int snapshot_init(struct snapshot *s, const struct mf_fabric *f);
void snapshot_fini(struct snapshot *s);
void snapshot_take(const struct mf_fabric *f, struct snapshot *s, mf_time now);
/** The one of at_measure and at_stop that is due next at a time, and was not taken. @return NULL: none is */
struct snapshot *snapshot_due(struct mf_fabric *f, mf_time now);
/**
 * The run has ended: so has the load, and what was to be counted at its begin and end is counted now. So is
 * the last step of f->series.
 */
void snapshot_end(struct mf_fabric *f, mf_time now);

/** live.c: the engine's tick, each tick_period or so, between its other work. It may move f->stop to now. */
void live_tick(struct mf_fabric *f, const struct mf_run_options *options, mf_time now);

#endif
