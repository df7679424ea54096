/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Routes over a graph (mf_topology.h): for each switch and each node, the ports of the switch that are on a
 * shortest path to the node, over links that are up. Every link counts as one hop. Nodes do not forward.
 *
 * Switches are named by their number among switches, nodes by their number among nodes, links by their place
 * in the graph. Ports are those of the graph.
 *
 *     node 0 --- switch 0 ---+--- switch 1 --- node 1      from switch 0 to node 1: two ports, since
 *                            +--- switch 2 ---/            node 1 has two ends, each one hop further
 *
 * One table holds the distance and the ports from each switch to each switch. A node is reached through the
 * switches that its ends are linked to, so the table does not grow with the nodes: for 320 switches that have
 * up to 64 links to switches each, it takes 1.2 MB.
 *
 * Choice among ports (ECMP): each port has a weight, a hash of the flow and of the port's key. The port with
 * the greatest weight is chosen (rendezvous hashing, Thaler and Ravishankar 1998). A port that leaves the set
 * moves only the flows that used it. Keys are drawn from a seed and are independent of each other, so the
 * choices of two switches on one path are independent, too.
 */
#ifndef MF_ROUTES_H
#define MF_ROUTES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mf_rng.h"
#include "topology/mf_topology.h"

/** No port: there is no path. */
#define MF_NO_PORT UINT16_MAX
/** No distance: there is no path. */
#define MF_NO_PATH UINT32_MAX

struct mf_routes;

/**
 * Routes of a closed graph with all its links up. Functions that take const routes may be called by several
 * threads at a time, but not while another thread changes the routes.
 *
 * @param t     used until mf_routes_free(); belongs to the caller
 * @param seed  of the keys of the ports
 * @param out   set if 0 is returned; the caller frees it by mf_routes_free()
 * @return 0; -ENOMEM; -ERANGE: a role has 65,535 ends or more, or the graph has 65,535 switches or more
 */
int mf_routes_new(const struct mf_topology *t, uint64_t seed, struct mf_routes **out);
/** @param r  or NULL */
void mf_routes_free(struct mf_routes *r);

/**
 * Replaces the key of a port by one made of the seed and of this identity. Without it the identity is made of
 * the role's place in the graph and the port's number. A fabric whose roles and links have names sets
 * identities made of these, so that no choice depends on the order of the fabric file. To be called before
 * the first choice: flows change their ports.
 *
 * @param end       of the graph: the port of a role
 * @param identity  different for each end
 */
void mf_routes_identify(struct mf_routes *r, uint32_t end, uint64_t identity);

/**
 * A link goes down or up. Computes the routes that this changes, without allocating memory.
 *
 * @return 0, also if the link was so before; -EINVAL: there is no such link
 */
int mf_routes_link(struct mf_routes *r, uint32_t link, bool up);
/** @param link  below links of the graph */
bool mf_routes_up(const struct mf_routes *r, uint32_t link);

/**
 * The ports of a switch that are on a shortest path to a node: each of them once, in ascending order.
 *
 * @param sw    below switches of the graph
 * @param node  below nodes of the graph
 * @param out   the first max of them
 * @return how many there are, perhaps more than max; 0: there is no path
 */
unsigned int mf_routes_ports(const struct mf_routes *r, uint32_t sw, uint32_t node, uint16_t *out,
			     unsigned int max);

/**
 * Chooses one of these ports for a flow: always the same one while the set of ports is the same.
 * @param flow  mf_flow_hash()
 * @return MF_NO_PORT: there is no path
 */
uint16_t mf_routes_pick(const struct mf_routes *r, uint32_t sw, uint32_t node, uint64_t flow);

/**
 * Like mf_routes_pick(), for a frame that is to come to the node by one of its ends, wherever the other ones
 * are: where each end has an address of its own.
 * @param node_port  of the node
 */
uint16_t mf_routes_end_pick(const struct mf_routes *r, uint32_t sw, uint32_t node, uint16_t node_port,
			    uint64_t flow);

/**
 * Chooses one of these ports for a frame, whatever its flow.
 * @param turn  a counter: ports take turns; or 64 random bits: ports are equally likely
 * @return MF_NO_PORT: there is no path
 */
uint16_t mf_routes_spray(const struct mf_routes *r, uint32_t sw, uint32_t node, uint64_t turn);

/** Like mf_routes_ports(), for the ports of a node that sends to another one. A node has none to itself. */
unsigned int mf_routes_node_ports(const struct mf_routes *r, uint32_t from, uint32_t to, uint16_t *out,
				  unsigned int max);
/** Like mf_routes_pick(), for a node that sends to another one. */
uint16_t mf_routes_node_pick(const struct mf_routes *r, uint32_t from, uint32_t to, uint64_t flow);

/** Links of a shortest path from a switch to a node. @return MF_NO_PATH: there is none */
uint32_t mf_routes_hops(const struct mf_routes *r, uint32_t sw, uint32_t node);
/** Links of a shortest path between two nodes; 0 from a node to itself. @return MF_NO_PATH: there is none */
uint32_t mf_routes_node_hops(const struct mf_routes *r, uint32_t from, uint32_t to);

/**
 * The next pair of nodes a < b without a path between them. Pairs are ordered by a, then by b. A loop over
 * all of them, or a question for the first, begins with both 0. A path from a to b is also one from b to a.
 *
 * @param a, b  where to go on; set to the next pair if there is one
 * @return false: there are no more
 */
bool mf_routes_next_cut(const struct mf_routes *r, uint32_t *a, uint32_t *b);

/**
 * Looks for a cyclic buffer dependency between switches (Dally and Seitz 1987). A channel is one direction of
 * a link. It depends on the channel that some route uses next. If channels depend on each other in a circle,
 * a lossless fabric (PFC) may deadlock. All pairs of nodes count, with all of their equal-cost paths. A fat
 * tree with all links up has no such circle, a ring of four switches has one.
 *
 * For set-up, not for the data path: it allocates memory and frees it.
 *
 * @param end  the first max channels of the circle in order, each given by the end that sends
 * @return how many channels the circle has, perhaps more than max; 0: there is none; -ENOMEM
 */
int mf_routes_cycle(const struct mf_routes *r, uint32_t *end, unsigned int max);

/** A hash of what identifies a flow. Each direction of a flow has its own. Numbers in any byte order. */
static inline uint64_t mf_flow_hash(uint32_t src, uint32_t dst, uint16_t src_port, uint16_t dst_port,
				    uint8_t protocol)
{
	uint64_t pair = (uint64_t)src << 32 | dst;
	uint64_t rest = (uint64_t)protocol << 32 | (uint64_t)src_port << 16 | dst_port;

	return mf_hash64(mf_hash64(pair + UINT64_C(0x9e3779b97f4a7c15)) ^ rest);
}

#endif
