/* SPDX-License-Identifier: BSD-3-Clause */
/* Graphs for the tests of this folder. */
#ifndef GRAPHS_H
#define GRAPHS_H

#include <stdint.h>

#include "base/mf_rng.h"
#include "topology/mf_fat_tree.h"
#include "topology/mf_topology.h"

#define SWITCHES 8 /* of a random graph, at most */
#define NODES 64
#define ENDS 512

/** Switches that form a ring, with a node at each; nodes are added first. Closed. */
struct mf_topology *graph_ring(uint32_t switches);

/** Nodes first, then switches; each node has a link to each switch. Closed. */
struct mf_topology *graph_star(uint32_t nodes, uint32_t switches);

/** Servers first, then switches, so that both have the numbers of the tree. Closed. */
struct mf_topology *graph_fat_tree(const struct mf_fat_tree *f);

/**
 * 1..8 switches and 2..64 nodes, in a random order. Nodes have 0..3 ends, to switches or to other nodes.
 * Switches are joined at random: odd circles, several links side by side. A third of the graphs may have
 * parts without a path between them. Closed.
 */
struct mf_topology *graph_random(struct mf_rng *rng);

/** The role of a node or switch. */
uint32_t role_of(const struct mf_topology *t, enum mf_vertex_kind kind, uint32_t number);

#endif
