/* SPDX-License-Identifier: BSD-3-Clause */
#include "memory/range_tree.h"

static uint64_t greater(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/** A node from its children. */
static void renew(struct range_node *nodes, uint32_t i)
{
	struct range_node *n = &nodes[i];
	const struct range_node *left = &nodes[n->left], *right = &nodes[n->right];

	n->height = 1 + (left->height > right->height ? left->height : right->height);
	n->first = n->range.at;
	n->last = n->range.end;
	n->hole = 0;
	if (n->left != RANGE_NIL) {
		n->first = left->first;
		n->hole = greater(left->hole, n->range.at - left->last);
	}
	if (n->right != RANGE_NIL) {
		n->last = right->last;
		n->hole = greater(n->hole, greater(right->hole, right->first - n->range.end));
	}
}

static uint32_t rotate_right(struct range_node *nodes, uint32_t i)
{
	uint32_t top = nodes[i].left;

	nodes[i].left = nodes[top].right;
	nodes[top].right = i;
	renew(nodes, i);
	renew(nodes, top);
	return top;
}

static uint32_t rotate_left(struct range_node *nodes, uint32_t i)
{
	uint32_t top = nodes[i].right;

	nodes[i].right = nodes[top].left;
	nodes[top].left = i;
	renew(nodes, i);
	renew(nodes, top);
	return top;
}

/** > 0: the left side is the higher one. */
static int lean(const struct range_node *nodes, uint32_t i)
{
	return (int)nodes[nodes[i].left].height - (int)nodes[nodes[i].right].height;
}

/** Of a node one of whose children may have changed by one level. @return what stands in its place */
static uint32_t balance(struct range_node *nodes, uint32_t i)
{
	struct range_node *n = &nodes[i];

	renew(nodes, i);
	if (lean(nodes, i) > 1) {
		if (lean(nodes, n->left) < 0)
			n->left = rotate_left(nodes, n->left);
		return rotate_right(nodes, i);
	}
	if (lean(nodes, i) < -1) {
		if (lean(nodes, n->right) > 0)
			n->right = rotate_right(nodes, n->right);
		return rotate_left(nodes, i);
	}
	return i;
}

uint32_t range_tree_insert(struct range_node *nodes, uint32_t root, uint32_t n)
{
	if (root == RANGE_NIL) {
		nodes[n].left = nodes[n].right = RANGE_NIL;
		renew(nodes, n);
		return n;
	}
	if (nodes[n].range.at < nodes[root].range.at)
		nodes[root].left = range_tree_insert(nodes, nodes[root].left, n);
	else
		nodes[root].right = range_tree_insert(nodes, nodes[root].right, n);
	return balance(nodes, root);
}

static uint32_t remove_first(struct range_node *nodes, uint32_t root, uint32_t *removed)
{
	if (nodes[root].left == RANGE_NIL) {
		*removed = root;
		return nodes[root].right;
	}
	nodes[root].left = remove_first(nodes, nodes[root].left, removed);
	return balance(nodes, root);
}

uint32_t range_tree_remove(struct range_node *nodes, uint32_t root, uint64_t at, uint32_t *removed)
{
	struct range_node *n = &nodes[root];
	uint32_t right, heir;

	if (at < n->range.at) {
		n->left = range_tree_remove(nodes, n->left, at, removed);
		return balance(nodes, root);
	}
	if (at > n->range.at) {
		n->right = range_tree_remove(nodes, n->right, at, removed);
		return balance(nodes, root);
	}
	*removed = root;
	if (n->right == RANGE_NIL)
		return n->left;
	right = remove_first(nodes, n->right, &heir);
	nodes[heir].left = n->left;
	nodes[heir].right = right;
	return balance(nodes, heir);
}

uint32_t range_tree_next(const struct range_node *nodes, uint32_t root, uint64_t addr)
{
	uint32_t found = RANGE_NIL;

	while (root != RANGE_NIL) {
		if (nodes[root].range.end <= addr) {
			root = nodes[root].right;
		} else {
			found = root;
			root = nodes[root].left;
		}
	}
	return found;
}

struct hole_search {
	const struct range_node *nodes;
	uint64_t from, to, len;
};

/** The lowest one between two ends, which are those of the ranges before and after the subtree. */
static uint64_t lowest_hole(const struct hole_search *s, uint32_t root, uint64_t low, uint64_t high)
{
	const struct range_node *n = &s->nodes[root];
	uint64_t found;

	if (low < s->from)
		low = s->from;
	if (high > s->to)
		high = s->to;
	if (high <= low || high - low < s->len)
		return MF_RANGE_NONE;
	if (root == RANGE_NIL)
		return low;
	if (n->hole < s->len && (n->first <= low || n->first - low < s->len) &&
	    (n->last >= high || high - n->last < s->len))
		return MF_RANGE_NONE;
	found = lowest_hole(s, n->left, low, n->range.at);
	return found != MF_RANGE_NONE ? found : lowest_hole(s, n->right, n->range.end, high);
}

uint64_t range_tree_hole(const struct range_node *nodes, uint32_t root, uint64_t from, uint64_t to,
			 uint64_t len)
{
	const struct hole_search s = {.nodes = nodes, .from = from, .to = to, .len = len};

	return lowest_hole(&s, root, 0, UINT64_MAX);
}
