/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * AVL trees (Adelson-Velsky and Landis, 1962) of ranges that do not overlap, by address. Any number of trees
 * share a table of nodes. A node knows the bounds of its subtree and the largest hole within it, so the
 * lowest hole of a size is found without looking at all ranges.
 */
#ifndef MEMORY_RANGE_TREE_H
#define MEMORY_RANGE_TREE_H

#include <assert.h>

#include "memory/mf_ranges.h"

#define RANGE_NIL 0 /* node 0 is of no tree: height 0 */

struct range_node {
	struct mf_range range;
	uint64_t first, last; /**< least address and greatest end of the subtree */
	uint64_t hole; /**< the largest one between two neighbours of the subtree */
	uint32_t left, right;
	uint32_t height;
};
static_assert(sizeof(struct range_node) == 64, "a step down is one line");

/** Puts node n, whose range is set and overlaps none, into a tree. @return the new root */
uint32_t range_tree_insert(struct range_node *nodes, uint32_t root, uint32_t n);

/** Takes the node out whose range begins at an address; it must be there. @return the new root */
uint32_t range_tree_remove(struct range_node *nodes, uint32_t root, uint64_t at, uint32_t *removed);

/** The first node whose range ends after an address. RANGE_NIL: there is none */
uint32_t range_tree_next(const struct range_node *nodes, uint32_t root, uint64_t addr);

/** As mf_ranges_hole(). */
uint64_t range_tree_hole(const struct range_node *nodes, uint32_t root, uint64_t from, uint64_t to,
			 uint64_t len);

#endif
