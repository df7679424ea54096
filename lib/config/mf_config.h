/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fabric file: one JSON file describes nodes, links, switch, scheduler and workload
 * (docs/fabric-file.md). Here it is as plain values: every default is filled in, every name is a node
 * number, every quantity is in ps, octets, blocks or wire block periods, and everything is checked
 * against everything else.
 *
 * Node number = port of the switch (the switch binds them), so "node" below is always both. With "switches"
 * it is the number alone: which port of its switch a node has is decided where the graph is made.
 */
#ifndef MF_CONFIG_H
#define MF_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fault/mf_fault.h"
#include "link/mf_impair.h"
#include "memory/mf_memory.h"
#include "memory/mf_vm_timed.h"
#include "pcs/mf_mux.h"
#include "systems/edm/proto/mf_proto.h"
#include "systems/frames/mf_bridge.h"
#include "systems/edm/sched/mf_sched.h"
#include "systems/frames/mf_stack.h"
#include "pcs/mf_test_pattern.h"
#include "base/mf_time.h"
#include "base/mf_timing.h"

struct json_t;
struct mf_files;
struct mf_cdf_point;
struct mf_client_message;
struct mf_layer_ops;
struct mf_query;

#define MF_CONFIG_NAME_LEN 64 /**< of nodes and switches, with the terminating zero */
#define MF_CONFIG_TITLE_LEN 64 /**< of the fabric */
#define MF_CONFIG_TEXT_LEN 1024
#define MF_CONFIG_POINTS_MAX 1024 /**< of a distribution of sizes */
#define MF_CONFIG_WORKLOADS_MAX 64
#define MF_CONFIG_ETHERNET_MAX 64
#define MF_CONFIG_TRANSFER_MAX (32 << 20) /**< octets of one operation */
#define MF_CONFIG_BUFFER_MAX (256 << 20) /**< octets of all operations that a client may have under way */

enum mf_clock { MF_CLOCK_WALL, MF_CLOCK_VIRTUAL, MF_CLOCKS };

/** The default: some time slices of a busy CPU. */
#define MF_CONFIG_WATCHDOG MF_MS(100)

#define MF_CONFIG_DURATION_MAX MF_SEC(30 * 24 * 3600)

/** What a run under one clock consists of; the three follow each other. At most 30 days each. */
struct mf_config_clock {
	mf_time warmup; /**< load runs, nothing is counted */
	mf_time duration; /**< what is measured; > 0 */
	mf_time drain; /**< no new load; at most this long until everything has completed */
};

enum mf_role { MF_ROLE_COMPUTE, MF_ROLE_MEMORY, MF_ROLE_BOTH, MF_ROLE_ETHERNET, MF_ROLE_SERVER, MF_ROLES };

/** The default of read and write timers under the virtual clock. */
#define MF_CONFIG_TIMEOUT MF_MS(10)

/** A node's stack (mf_host_config). */
struct mf_config_host {
	uint32_t x; /**< 1..x of the scheduler */
	uint32_t mega; /**< M, 1: no mega-messages */
	uint32_t queue; /**< room of the message queue, operations */
	mf_time read_timeout[MF_CLOCKS], write_timeout[MF_CLOCKS]; /**< 0: never */
	mf_time quarantine[MF_CLOCKS]; /**< 0 only where nothing times out */
	uint32_t retries; /**< how often a request is sent again; above 0 only where proto.ext */
	mf_time retry_timeout[MF_CLOCKS];
	uint32_t frames; /**< room for frames that wait to be sent: a power of two */
	uint32_t frame_queue; /**< and for their octets */
};

/** When a link goes over Ethernet ports. */
enum mf_config_carry {
	MF_CARRY_AUTO, /**< where its ends are in different processes */
	MF_CARRY_ALWAYS,
};

/** The ends of a link. */
enum mf_link_end { MF_LINK_NODE, MF_LINK_SWITCH, MF_LINK_ENDS };

/** A link that is carried by Ethernet ports (mf_link.h). */
struct mf_config_llr {
	int port[MF_LINK_ENDS]; /**< index in mf_config.port; -1: none */
	uint32_t carry; /**< enum mf_config_carry */
	bool retransmit, pace;
	uint16_t window, replays;
	mf_time ack_after, replay_after, replay_max, hello, silence;
};

#define MF_CONFIG_DEVICE_LEN 512

/** An Ethernet port, of the process that has an end of a link there. */
struct mf_config_port {
	char name[MF_CONFIG_NAME_LEN];
	char device[MF_CONFIG_DEVICE_LEN]; /**< as EAL's --vdev or --allow has it: name or address, arguments
					    */
	uint16_t mtu; /**< octets of a frame behind its EtherType */
	uint16_t ethertype;
	struct mf_impair_config impair; /**< of what is sent; all 0: nothing */
};

/** When corruption disables a link (EDM 3.3); all 0: never. */
struct mf_config_disable {
	bool on; /**< hi-BER and the loss of block lock do */
	uint32_t bad; /**< and so many bad blocks in less than `within`; 0: any number may come */
	mf_time within;
	mf_time repair; /**< somebody mends it so long after; 0: nobody does */
};

/** The link between a node and its port; both ends are alike. */
struct mf_config_link {
	uint32_t period; /**< ps a block, virtual clock */
	mf_time propagation; /**< one way */
	enum mf_mux_policy policy;
	uint16_t quantum; /**< of MF_MUX_FAIR, blocks */
	bool scramble;
	bool align8;
	mf_time ber_window;
	uint32_t ring; /**< wall clock, between lcores: times 112 blocks; a power of two */
	bool shape; /**< wall clock: it keeps its rate and propagation; else it has none there */
	struct mf_config_disable disable;
	struct mf_config_llr llr; /**< wall clock */
};

#define MF_CONFIG_SLOW_PATH "-slow" /**< behind the name of a node: the role of its memory's slow path */
#define MF_CONFIG_TIERS_MAX 64
#define MF_CONFIG_OWN_SWITCH ".sw0" /**< behind a tier's name: that of a switch that the file does not name */

/* The members of an end, which a node has of its first one, too. */
#define MF_CONFIG_END                                                                                       \
	uint16_t tier; /**< index in mf_config.tier */                                                      \
	bool direct; /**< its link leads to another node */                                                 \
	/** Switch at its other end: index in switch_list, 0 where there is none. Direct: index in trunk */ \
	uint16_t to;                                                                                        \
	uint16_t number; /**< of the end in that tier */                                                    \
	struct mf_config_link link

/** A node's end in a tier: its link to a switch there, or to the other node of the tier. */
struct mf_config_end {
	MF_CONFIG_END;
};

struct mf_config_node {
	bool up; /**< false: no node at this port, the rest is 0 */
	char name[MF_CONFIG_NAME_LEN];
	uint16_t group; /**< index in mf_config.group */
	uint16_t rack; /**< index in mf_config.rack and 1: its name begins with that of one; 0: in none */
	unsigned int ends; /**< mf_config_end() has them */
	unsigned int more; /**< those behind the first one: where they begin in mf_config.end */
	/** Its first end: the members by themselves are the same storage as `first`. */
	union {
		struct mf_config_end first;
		struct {
			MF_CONFIG_END;
		};
	};
	enum mf_role role;
	bool compute; /**< COMPUTE, BOTH */
	bool memory; /**< MEMORY, BOTH */
	bool memory_enabled; /**< not ETHERNET: its link carries memory blocks (D16) */
	char memory_type[MF_CONFIG_NAME_LEN]; /**< for mf_memory_find() */
	struct mf_memory_config memory_config; /**< dram: virtual clock */
	struct mf_vm_timed_config
		vm; /**< of the type "virtual", but for secrets and what memory_config has */
	struct mf_config_host host;
	mf_time backup_propagation; /**< of its link to the second switch, where there is one */
	struct mf_config_llr backup_llr; /**< of the same link, if ports carry it */
	int workload; /**< of its client: index in mf_config.workload, -1: no client */
	unsigned int client; /**< its place in the clients of that workload */
	int ethernet; /**< what it sends: index in mf_config.ethernet, -1: nothing */
	uint16_t frames_to; /**< and to whom: never itself */
	/**
	 * Between its clients and its host; NULL: nothing. Systems with a layer set it, or programs, after
	 * mf_config_load() and before a fabric is made; no key of the file does yet. What layer_param points
	 * to must outlive the fabric.
	 */
	const struct mf_layer_ops *layer;
	const void *layer_param;
};

#define MF_CONFIG_SWITCHES 2 /**< at most: the first one and its backup */
#define MF_CONFIG_SWITCH_LIST_MAX 1024 /**< of "switches": a fat tree of MF_NODES_MAX servers has less */
#define MF_CONFIG_PARALLEL_MAX 64 /**< links between two switches that one entry of "links" makes */

/** A second switch; links to it are as those to the first one, but for their length. */
struct mf_config_backup {
	bool on;
	char name[MF_CONFIG_NAME_LEN];
	mf_time propagation;
};

/**
 * An entry of "nodes": count nodes that differ in name, port and switch only. Or one of "switches": count
 * switches that differ in name and ports only. Or one of "racks": racks with the same in them.
 */
struct mf_config_group {
	char name[MF_CONFIG_NAME_LEN];
	unsigned int count;
};

struct mf_config_switch {
	char name[MF_CONFIG_NAME_LEN];
	uint16_t tier; /**< index in mf_config.tier */
	uint16_t group, rack; /**< of switch_list: index in switch_group; rack as that of nodes */
	char scheduler[MF_CONFIG_NAME_LEN]; /**< of switch_list: name of its scheduler; "": it has none */
	/** 2..mf_config_tier_nodes_max(); of switch_list: how many links it has, 1..MF_NODES_MAX */
	unsigned int ports;
	mf_time l2_latency; /**< virtual clock */
	uint32_t mac_table; /**< entries: a power of two */
	uint32_t frames,
		frame_queue; /**< room of a port for waiting frames: number (a power of two), octets */
	uint32_t requests; /**< room for buffered requests; 0: 2 * X * ports^2, at most 2^20 */
	uint32_t backlog_k, source_w; /**< blocks, 0: off (D3) */
	bool align; /**< virtual clock: delay a write's /G/ so that arrivals do not overlap (D3) */
	mf_time grant_timeout[MF_CLOCKS], hold_timeout[MF_CLOCKS]; /**< 0: never */
};

/** A link between two switches, or between two nodes: of an entry of "links" with "between". */
struct mf_config_trunk {
	bool direct; /**< between two nodes, which are all of its tier */
	uint16_t a, b; /**< indices in mf_config.switch_list, or in mf_config.node: a < b */
	uint16_t tier; /**< index in mf_config.tier */
	struct mf_config_link link; /**< of its ports [0] is at a, [1] at b */
};

/** Some of switch_list. */
struct mf_config_switch_set {
	uint64_t word[MF_CONFIG_SWITCH_LIST_MAX / 64];
};

/**
 * Links between switches by their ends ("between"): each switch of one set with each of the other one. Or
 * links between two nodes.
 */
struct mf_config_between {
	char name[2][MF_CONFIG_NAME_LEN]; /**< as the file names them */
	bool direct;
	uint16_t node[2]; /**< direct: indices in mf_config.node */
	struct mf_config_switch_set end[2];
};

/** How frames go on where several links are on shortest paths ("routing"). */
enum mf_config_routing {
	MF_ROUTING_HASH, /**< all of a flow by one path, by a seeded hash of the flow (ECMP) */
	MF_ROUTING_SPRAY, /**< each frame by another one */
	MF_ROUTINGS
};

struct mf_config_sched {
	char policy[MF_CONFIG_NAME_LEN]; /**< for mf_policy_find() */
	double param[MF_PARAMS_MAX]; /**< in the order of mf_sched_ops.params */
	enum mf_sched_priority priority;
	enum mf_sched_order order;
	enum mf_sched_release release; /**< under the virtual clock; the wall clock's is always WINDOW */
	uint32_t chunk[MF_CLOCKS]; /**< octets, a multiple of MF_CHUNK_UNIT */
	uint32_t x; /**< X, 1..128 */
	uint32_t window; /**< wall clock: octets, at least one chunk */
	uint32_t iterations; /**< 0: until maximal */
	bool srpt_transfer;
	bool slots; /**< virtual clock: chunks end together */
	bool timed; /**< time "asic"; false: scheduling takes no time, the rest is 0 (D6) */
	uint32_t insert_cycles, select_cycles, iteration_cycles;
	double ghz;
	mf_time insert; /**< insert + select, ps: as mf_sched_config wants it; virtual clock */
	mf_time iteration; /**< ps */
};

/** Nodes, ascending, without duplicates. */
struct mf_config_set {
	unsigned int n;
	uint16_t *node; /**< [n]; NULL: there are none. The configuration's */
};

enum mf_config_arrival { MF_CONFIG_POISSON, MF_CONFIG_CONSTANT };

/**
 * Background frames: every node of from sends this load to one node of to: the first sender to the
 * first, the second to the second and so on, over again from the first; the one behind instead of
 * itself. A node sends for one entry at most.
 */
struct mf_config_ethernet {
	struct mf_config_set from, to;
	uint16_t size; /**< octets without preamble and FCS */
	double load; /**< share of the block rate of the sender's link, preamble, FCS and gap included */
	enum mf_config_arrival arrival;
};

enum mf_config_dist {
	MF_CONFIG_FIXED, /**< size[0] */
	MF_CONFIG_UNIFORM, /**< whole octets from size[0] to size[1] */
	MF_CONFIG_LIST, /**< size[i] with probability weight[i] / sum of all; ascending */
	MF_CONFIG_CDF, /**< P(<= size[i]) = weight[i], linear between; weight[0] have size[0]; ends at 1 */
	MF_CONFIG_APP, /**< CDF of an application, in whole units */
};

/** Octets of an operation. RMW has 8, whatever this says. */
struct mf_config_size {
	enum mf_config_dist dist;
	unsigned int n; /**< 1, 2, or number of points */
	uint32_t size[MF_CONFIG_POINTS_MAX]; /**< 1..MF_CONFIG_TRANSFER_MAX; CDF: the first may be 0, of
						probability 0 */
	double weight[MF_CONFIG_POINTS_MAX];
	uint32_t unit; /**< APP: sizes are multiples of it, rounded up; otherwise 0 */
	uint32_t app; /**< APP: which one */
	uint32_t max; /**< largest possible */
	double mean;
};

/** What a client may do, in the order of enum mf_client_kind. */
enum mf_mix {
	MF_MIX_READ,
	MF_MIX_WRITE,
	MF_MIX_WRITE_ACK,
	MF_MIX_CAS,
	MF_MIX_FADD,
	MF_MIX_SWAP,
	MF_MIX_OR,
	MF_MIX_AND,
	MF_MIX_CALL,
	MF_MIXES
};

/** How a client chooses the target of an operation; never itself. */
enum mf_config_pattern {
	MF_CONFIG_UNIFORM_TARGET, /**< at random each time */
	MF_CONFIG_INCAST_TARGET, /**< there is one target only */
	MF_CONFIG_PERMUTATION_TARGET, /**< one partner for the whole run, shared as little as possible */
	MF_CONFIG_ALL_TO_ALL_TARGET, /**< all in turn, each client starting with another one */
	MF_CONFIG_ZIPF_TARGET, /**< at random, skewed by theta */
};

/** How it chooses the address within its region. */
enum mf_config_address { MF_CONFIG_UNIFORM_ADDRESS, MF_CONFIG_ZIPF_ADDRESS, MF_CONFIG_SEQUENTIAL_ADDRESS };

/** The messages of a file instead of those that a client would draw. */
struct mf_config_trace {
	char *path; /**< NULL: no trace */
	uint32_t format; /**< enum mf_trace_format */
	char digest[17]; /**< hash of the file's octets, in hexadecimal */
	double time_scale; /**< times of the trace, counted from time_zero, are multiplied by this */
	mf_time time_zero; /**< the time in the trace that is 0 in the run */
	mf_time last; /**< start of the last message in the run */
	uint64_t messages;
	struct mf_query *query; /**< of keys: the lines in turn to the clients; otherwise NULL */
	struct mf_client_message *message; /**< those of the first client, of the second, ...; by time */
	uint64_t *addr; /**< of each message, in the memory of its target; NULL: the trace does not say it */
	uint64_t end; /**< with .addr: no message has octets there, or behind it */
	uint64_t *first; /**< [clients.n + 1]: where those of client i begin */
};

#define MF_CONFIG_QUERIES 5

/** Queries to a store that all clients share, as YCSB makes them (mf_store_client). */
struct mf_config_ycsb {
	bool on; /**< false: no store */
	uint32_t name; /**< 0..5: A..F, 6: a trace of keys */
	double mix[MF_CONFIG_QUERIES]; /**< weights, by enum mf_query_kind */
	double mix_sum; /**< > 0 */
	uint64_t records, inserts;
	uint32_t fields, field;
	uint32_t keys; /**< enum mf_store_keys */
	uint32_t place; /**< enum mf_store_place */
	bool read_all, write_all, acknowledge;
	uint32_t scan, scan_lengths;
	double local;
	mf_time local_time;
};

/**
 * Where a client is in memory with address spaces: it has spaces of its own at each target, and pages in
 * each. Its region goes through all pages of all spaces, by pieces of `interleave` octets in turn.
 */
struct mf_config_spaces {
	uint32_t spaces; /**< of a client; 0: the targets' memory has none */
	uint64_t pages; /**< of a space */
	uint64_t page; /**< octets; 0 while it is read: that of the targets' first class */
	uint64_t interleave; /**< octets, a power of two, at most a page */
	bool populate; /**< each page is touched before the first operation */
	uint32_t range; /**< pages that are allocated at a time */
	/**
	 * Share of operations that ask something of a space. Above 0 the clients share the spaces of all of
	 * them, which come and go with their pages; interleave, populate and range have no effect.
	 */
	double churn;
};

/**
 * A workload: every node of clients runs one client; no node runs two.
 *
 * A trace that says where (trace.addr) has all of its targets' memory: base is 0, span the largest of them.
 * Otherwise client i (by its place in clients) has the region [base + i * span, base + (i + 1) * span) of
 * every target for itself: no two clients share an octet, of no two workloads.
 */
struct mf_config_workload {
	struct mf_config_set clients; /**< compute nodes, at least one */
	struct mf_config_set targets; /**< memory nodes; another one than itself for every client */
	double mix[MF_MIXES]; /**< weights */
	double mix_sum; /**< > 0 */
	struct mf_config_size size;
	enum mf_config_pattern pattern;
	enum mf_config_address address;
	double theta; /**< 0 <= theta < 1; 0 when nothing is zipf */
	uint64_t base, span; /**< multiples of 8; base + clients.n * span fits every target */
	bool open; /**< open loop; false: closed loop, always depth operations under way */
	uint32_t depth; /**< open: most operations under way, later arrivals wait (and their time counts) */
	double rate; /**< open: operations a second and client; 0: given as load */
	double load; /**< open: offered load as D17 counts it; 0: given as rate */
	enum mf_config_arrival arrival; /**< open */
	uint32_t burst; /**< open: operations that arrive together */
	mf_time delay; /**< closed: least time from the start of an operation to that of the next */
	uint64_t operations; /**< of a client, then it stops; 0: no limit */
	uint64_t measured; /**< of a client behind the warm-up, then it stops; 0: no limit */
	bool verify; /**< check what is read */
	bool lost_is_empty; /**< a memory node that was lost comes back with zero in it: that is checked */
	struct mf_config_spaces spaces; /**< of targets whose memory has the type "virtual" */
	struct mf_config_trace trace; /**< mix and size are what it has in it, the loop is open */
	struct mf_config_ycsb ycsb; /**< mix and size are its messages; the store begins at base */
};

/** Whether a client of it has an end of its own: so many operations, or a trace. */
static inline bool mf_config_finite(const struct mf_config_workload *w)
{
	return w->operations != 0 || w->measured != 0 || w->trace.message != NULL || w->trace.query != NULL;
}

enum mf_config_direction { MF_CONFIG_BOTH, MF_CONFIG_UP, MF_CONFIG_DOWN };

/**
 * Whom a fault is about. LCORE: all roles of a thread. TRUNKS: links between switches, or between nodes.
 * SLOW_PATHS: those of the memory of nodes.
 */
enum mf_config_role {
	MF_CONFIG_NODES,
	MF_CONFIG_SWITCH,
	MF_CONFIG_SCHED,
	MF_CONFIG_LCORE,
	MF_CONFIG_TRUNKS,
	MF_CONFIG_SLOW_PATHS,
};

#define MF_CONFIG_ALL_LINKS UINT32_MAX /**< mf_config_fault.number: all of a pair of switches */

/** Where that is of which there is no more. */
enum mf_config_what {
	MF_CONFIG_NODE_POOL, /**< a pool of the node */
	MF_CONFIG_PORT_POOL, /**< a pool that each port of a switch has: that of the port to the node */
	MF_CONFIG_SWITCH_POOL, /**< a pool of a switch */
	MF_CONFIG_RING, /**< cells of the node's link, both ways: the sender waits */
	MF_CONFIG_MBUFS, /**< of the ports that carry the node's link; wall clock */
};

/**
 * What is broken on purpose, and where; see struct mf_fault_rule. Members that a class does not use are 0.
 */
struct mf_config_fault {
	uint32_t class; /**< enum mf_fault_class */
	/** enum mf_config_direction. UP: what the node sends, or the switch that is named first */
	uint32_t direction;
	uint32_t role; /**< enum mf_config_role */
	uint32_t sw; /**< which switch */
	uint32_t lcore; /**< EAL's number of it */
	uint32_t what; /**< EXHAUST: enum mf_config_what */
	uint32_t pool; /**< EXHAUST: its place in mf_stack_pools() or mf_bridge_pools() */
	struct mf_config_set link; /**< of these nodes, or these nodes */
	char at[MF_CONFIG_NAME_LEN]; /**< NODES: of their links those to switches of this name; "": all */
	struct mf_config_between between; /**< TRUNKS */
	uint32_t number; /**< TRUNKS: which of the links of each pair, see mf_config_parallel() */
	struct mf_config_set to; /**< whom they flood */
	double rate;
	mf_time from, until; /**< MF_NEVER: to the end */
	mf_time time;
	double ppm; /**< SKEW: the clock is fast by so many millionths; negative: slow */
	mf_time offset; /**< SKEW: what it shows at the start, ps */
	mf_time every, length; /**< again and again, about every so often for about so long; 0: once */
	uint64_t count; /**< on each link and direction; 0: any number */
	bool idle; /**< BIT, SYNC, TYPE: blocks of idle, too; virtual clock */
};

/** Links that carry a test pattern for a while, and nothing else. Virtual clock. */
struct mf_config_test {
	struct mf_config_set link; /**< of these nodes */
	uint32_t sw; /**< to which switch */
	uint32_t direction; /**< enum mf_config_direction */
	struct mf_test_pattern pattern;
	mf_time from, until;
};

/** A part of the memory of memory nodes, and who may do what there: see mf_region.h. */
struct mf_config_region {
	char name[MF_CONFIG_NAME_LEN];
	struct mf_config_set memory; /**< nodes that have it, each for itself */
	uint64_t at, size;
	int owner; /**< -1: nobody, it may be claimed */
	struct mf_config_set readers, writers; /**< besides the owner */
};

/** What each node may ask for: see struct mf_switch_limits. */
struct mf_config_limits {
	double share; /**< of a memory node's link; 0: no shares. Virtual clock */
	uint32_t burst; /**< octets on the link */
	double rate; /**< demands a second; 0: any */
	uint32_t rate_burst; /**< demands */
	uint32_t outstanding; /**< demands of a node at a time; 0: any number */
	uint32_t regions; /**< that a node may own by claiming them, of a memory node; 0: any number */
	/* Of a memory node, for all spaces together that a node has made there; 0: any. */
	uint64_t pages; /**< octets of physical pages */
	uint64_t entries; /**< of its page table */
};

enum mf_config_auto { MF_AUTO, MF_YES, MF_NO };

/** A policy with parameters of its own. */
struct mf_config_policy {
	char name[MF_CONFIG_NAME_LEN];
	double param[MF_PARAMS_MAX]; /**< in the order of its table */
};

/** A network of one stack, with numbers and switches of its own: "tiers". Without that key there is one. */
struct mf_config_tier {
	char name[MF_CONFIG_NAME_LEN]; /**< "": the file has no "tiers" */
	uint16_t rack; /**< index in mf_config.rack and 1, if it is of a rack; 0: of none */
	struct mf_config_policy stack, bridge; /**< bridge: not of EDM */
	const struct mf_stack_ops *stack_ops; /**< NULL: EDM's stack, in the PHY */
	const struct mf_bridge_ops *bridge_ops; /**< NULL: EDM's switch */
	char timing_profile[MF_CONFIG_NAME_LEN];
	mf_time cycle; /**< ps, > 0: every cost but PMA is a multiple of it */
	struct mf_timing timing; /**< virtual clock; all 0 under the wall clock */
	struct mf_proto proto;
	struct mf_config_sched sched;
	/**
	 * The switch; with "switches" the default of all. Its ports: one more than the highest node; with
	 * "tiers" 0, for switch_list has them.
	 */
	struct mf_config_switch sw;
	bool own_switch; /**< with "tiers": "switches" has none for it, sw is its only one */
	bool direct; /**< it has two nodes with a link to each other, and no switch */
	unsigned int first_switch,
		switches; /**< in switch_list: 0 and all of them where there are no "tiers" */
	struct mf_config_link link; /**< default of its links */
	mf_time dram; /**< default of the memory of nodes whose first end is here */
	mf_time client; /**< ps of an operation, of nodes with address spaces (mf_spaces_config) */
	int server; /**< node that serves the stack (mf_stack_ops.server), -1: there is none */
	/** Numbers: 0.. in the order of the file, one for each end; without "tiers" one for each slot at
	 * least */
	unsigned int nodes;
	uint16_t *node; /**< [nodes]: the node of a number, index in mf_config.node */
	bool several; /**< some node has several ends there */
};

/** A file that was read because the fabric file names it. */
struct mf_config_file {
	char *key; /**< that names it: "workload[0].trace" */
	char *path; /**< "-": standard input */
};

struct mf_config {
	char name[MF_CONFIG_TITLE_LEN];
	char description[MF_CONFIG_TEXT_LEN];
	uint64_t seed;
	struct mf_config_clock clock[MF_CLOCKS];
	unsigned int tiers; /**< 1..MF_CONFIG_TIERS_MAX after a load */
	struct mf_config_tier *tier; /**< [tiers] */
	/** With "tiers" of all of them, tier by tier. 0: neither key is there, but one, perhaps a backup */
	unsigned int switches;
	struct mf_config_switch *switch_list;
	unsigned int switch_groups;
	struct mf_config_group *switch_group; /**< entries: their switches follow each other in switch_list */
	unsigned int racks; /**< entries of "racks": their nodes and switches have names with a dot */
	struct mf_config_group *rack;
	unsigned int trunks;
	/** Between switches, by a, then by b, then in the order of the file; then those of nodes, by tier */
	struct mf_config_trunk *trunk;
	enum mf_config_routing routing;
	struct mf_config_backup backup;
	unsigned int nodes; /**< that are up, 2..mf_config_nodes_max() */
	unsigned int slots; /**< length of node[]: with free ports of EDM's switch more than nodes */
	struct mf_config_node *node; /**< [slots], by number; where there are no "switches" it is the port */
	unsigned int ends; /**< of nodes, behind the first one of each */
	struct mf_config_end *end;
	unsigned int groups;
	struct mf_config_group *group;
	unsigned int ethernets;
	struct mf_config_ethernet *ethernet;
	unsigned int ports; /**< that links are carried by */
	struct mf_config_port *port;
	unsigned int workloads;
	struct mf_config_workload *workload;
	unsigned int faults;
	struct mf_config_fault *fault;
	unsigned int tests;
	struct mf_config_test *test;
	unsigned int regions; /**< 0: all nodes may do all in all memories */
	struct mf_config_region *region;
	struct mf_config_limits limits;
	bool report_stages; /**< stamp and report the time in each stage */
	bool report_messages; /**< virtual clock: log every measured message */
	bool report_normalised; /**< the same, and measure what each takes alone */
	mf_time report_series; /**< links, queues and memories in steps of this length, ps; 0: no series */
	mf_time watchdog; /**< wall clock: a role without a turn for so long is reported; 0: none is */
	enum mf_config_auto scheduler_own_lcore; /**< wall clock; AUTO: whenever there are two or more */
	unsigned int files;
	struct mf_config_file *file;
};

/**
 * Reads a fabric file.
 *
 * @param config  filled in on success, freed by mf_config_free(); all 0 on failure
 * @param err     on failure one line without newline: "PATH:LINE:COLUMN: reason" where it is not JSON,
 *                "PATH:LINE: key.path: reason" for what it says, "PATH: reason" for the file itself
 * @return 0; -EINVAL: not valid; -ENOMEM; or what opening and reading it said (-ENOENT, -EISDIR, -EFBIG...)
 */
int mf_config_load(const char *path, struct mf_config *config, char *err, size_t errlen);

/** The same from memory; name stands in err for the path. */
int mf_config_parse(const char *text, size_t len, const char *name, struct mf_config *config, char *err,
		    size_t errlen);

/**
 * Replaces the workload by another one, written as in the fabric file and checked in the same way.
 *
 * @param workload  array as under the key "workload"
 * @param err       on failure one line, "workload[0].key: reason"; there is no workload then
 * @return 0, -EINVAL or -ENOMEM
 */
int mf_config_set_workload(struct mf_config *config, const struct json_t *workload, char *err, size_t errlen);

void mf_config_free(struct mf_config *config);

/**
 * The effective configuration, all defaults included, as a fabric file that gives the same
 * configuration again; keys in fixed order.
 *
 * @return a new reference (json_decref()), or NULL: no memory
 */
struct json_t *mf_config_to_json(const struct mf_config *config);

/**
 * A hash of what all processes of a fabric must have the same: all but seed, clock, ports, workload, report
 * and placement, and of links rate, ring and how they are carried.
 * @return 0 or -ENOMEM
 */
int mf_config_fingerprint(const struct mf_config *config, uint64_t *out);
/** A hash of all of it: what a record shares with the run that repeats it. @return 0 or -ENOMEM */
int mf_config_hash(const struct mf_config *config, uint32_t *out);

/**
 * Adds the files that were read for it: the fabric file, those that it names, and those of its ports'
 * devices, of which some are written.
 * @param file  NULL: it was not made of a file
 */
void mf_config_files(const struct mf_config *config, const char *file, struct mf_files *files);

/**
 * How many switches there are: those of "switches"; or one, and with "backup" another one; or none, where two
 * nodes have a link to each other.
 */
unsigned int mf_config_switch_count(const struct mf_config *config);
/** Name of a switch. @param sw  below mf_config_switch_count() */
const char *mf_config_switch_name(const struct mf_config *config, unsigned int sw);
/** Name of the scheduler of a switch, for messages and files. @return NULL: it has none */
const char *mf_config_sched_name(const struct mf_config *config, unsigned int sw);
/** Number of the node of this name, or -ENOENT. */
int mf_config_node(const struct mf_config *config, const char *name);

#define MF_CONFIG_CDF_MAX (2 * MF_CONFIG_POINTS_MAX)

/**
 * A distribution of any kind but UNIFORM as the points of a cumulative one, as clients take it.
 *
 * @param points  room for MF_CONFIG_CDF_MAX
 * @return number of points
 */
unsigned int mf_config_size_cdf(const struct mf_config_size *size, struct mf_cdf_point *points);

/** Names of the JSON, for reports. */
const char *mf_config_role_name(enum mf_role role);
/** "queue", "egress": `what` of a fault "exhaust", as in the file. */
const char *mf_config_what_name(const struct mf_config *config, const struct mf_config_fault *fault);
const char *mf_config_mix_name(enum mf_mix mix);
const char *mf_config_pattern_name(enum mf_config_pattern pattern);

/** Of the link of a node's first end, one way, virtual clock: PCS, PMA, PMD at both ends, propagation. */
mf_time mf_config_delay(const struct mf_config *config, unsigned int node);
/** mf_bridge_config.obeyed of a tier's switches. */
uint8_t mf_config_obeyed(const struct mf_config *config, const struct mf_config_tier *tier);

#endif
