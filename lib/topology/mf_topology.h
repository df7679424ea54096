/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fabric as a graph: roles (nodes, switches) with ends, joined in pairs by links. A graph is made role by
 * role and link by link, then closed; after that it does not change, and any thread may read it.
 *
 * Three numbers are never mixed: the place of a role in the graph (role), the number of a node or switch
 * among its kind (number: what is on the wire), and the number of an end at its role (port).
 *
 *     node 0  ----- link 0 -----  switch 0       role   0       1       2
 *     node 1  ----- link 1 -----  (port 0, 1)    ends   0       1       2 3
 */
#ifndef MF_TOPOLOGY_H
#define MF_TOPOLOGY_H

#include <stdint.h>

#define MF_NONE UINT32_MAX

enum mf_vertex_kind { MF_VERTEX_NODE, MF_VERTEX_SWITCH };

struct mf_vertex {
	enum mf_vertex_kind kind;
	uint32_t number; /**< among the roles of its kind, from 0, in the order in which they were added */
	uint32_t first_end; /**< its ends follow each other, by port */
	uint32_t ends;
};

/** One end of a link. */
struct mf_end {
	uint32_t role;
	uint32_t port; /**< of the role: the n-th link there, as added or as mf_topology_close_by() says */
	uint32_t link;
	uint32_t peer; /**< the other end of the link */
};

struct mf_graph_link {
	uint32_t end[2]; /**< in the order in which mf_topology_link() named the roles */
};

struct mf_topology {
	uint32_t roles, nodes, switches, ends, links;
	struct mf_vertex *role;
	struct mf_end *end;
	struct mf_graph_link *link;
};

/** An empty graph. @return NULL with errno ENOMEM. The caller frees it by mf_topology_free() */
struct mf_topology *mf_topology_new(void);
/** @param t  or NULL */
void mf_topology_free(struct mf_topology *t);

/** Adds a role. @return its place: 0 for the first, then one more each; MF_NONE with errno ENOMEM */
uint32_t mf_topology_role(struct mf_topology *t, enum mf_vertex_kind kind);

/**
 * Adds a link between two roles of the graph, which may have several. At each of them it gets the next port.
 * @return its place: 0 for the first, then one more each; MF_NONE with errno ENOMEM, or EINVAL: the two roles
 *         are one, or not in the graph
 */
uint32_t mf_topology_link(struct mf_topology *t, uint32_t a, uint32_t b);

/**
 * Numbers the ends: role, port and peer are valid from then on. Nothing can be added any more.
 * @return 0 or -ENOMEM
 */
int mf_topology_close(struct mf_topology *t);
/**
 * The same, with the ports of roles in another order.
 * @param order  [2 * links]: each end of a link once, as 2 * link + its place in mf_graph_link.end; NULL: as
 *               links were added. Of each role the ends get their ports in this order
 */
int mf_topology_close_by(struct mf_topology *t, const uint32_t *order);

/**
 * How far processes that play the graph together can be from each other at most, counted in links between
 * roles of one kind: switches, or nodes. Such links divide the graph into parts. A shortest way is in each
 * part once, so it has at most as many links as the diameters of all parts have together.
 * For set-up: it allocates memory and frees it.
 * @param t  closed
 * @return 0: no two roles of one kind are linked; -ENOMEM
 */
int mf_topology_width(const struct mf_topology *t);

/** The end at a port of a role. Only of a closed graph. @param port  below role.ends */
static inline uint32_t mf_topology_end(const struct mf_topology *t, uint32_t role, uint32_t port)
{
	return t->role[role].first_end + port;
}

/** The role at the other end of a link. Only of a closed graph. */
static inline uint32_t mf_topology_peer(const struct mf_topology *t, uint32_t end)
{
	return t->end[t->end[end].peer].role;
}

#endif
