/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/mf_table.h"
#include "memory/range_tree.h"
#include "op/mf_op.h"

struct mf_range_pool {
	uint32_t left; /**< nodes that are free */
	uint32_t covered_max;
	uint32_t free; /**< of these, the first of a list by .left; 0: those after .used alone */
	uint32_t used; /**< nodes after this one were never used, so their memory takes no room */
	struct range_node *node; /**< node 0 is of no range */
};

struct mf_range_pool *mf_range_pool_new(const struct mf_range_pool_config *c)
{
	struct mf_range_pool *p;

	if (c->ranges == 0 || c->ranges > MF_RANGES_OF_POOL_MAX || c->covered_max == 0) {
		errno = EINVAL;
		return NULL;
	}
	p = calloc(1, sizeof(*p));
	if (p == NULL)
		return NULL;
	p->covered_max = c->covered_max;
	p->left = c->ranges;
	p->node = mf_table_new_dense((size_t)c->ranges + 1, sizeof(p->node[0]));
	if (p->node != NULL)
		return p;
	free(p);
	return NULL;
}

void mf_range_pool_free(struct mf_range_pool *p)
{
	if (p == NULL)
		return;
	mf_table_free(p->node);
	free(p);
}

uint32_t mf_range_pool_left(const struct mf_range_pool *p)
{
	return p->left;
}

/* ---- one range ---- */

static void insert(struct mf_range_pool *p, struct mf_ranges *r, struct mf_range range)
{
	uint32_t n = p->free != RANGE_NIL ? p->free : ++p->used;

	assert(p->left > 0);
	p->free = p->node[n].left; /* of a node that was never used: 0 */
	p->left--;
	p->node[n].range = range;
	r->root = range_tree_insert(p->node, r->root, n);
	r->ranges++;
}

static void take_out(struct mf_range_pool *p, struct mf_ranges *r, uint64_t at)
{
	uint32_t n;

	r->root = range_tree_remove(p->node, r->root, at, &n);
	r->ranges--;
	p->node[n].left = p->free;
	p->free = n;
	p->left++;
}

/** A peer may ask for any address and length: their sum may be more than 64 bits hold. */
static bool is_range(uint64_t at, uint64_t len)
{
	return len > 0 && at <= MF_ADDR_MAX && len <= MF_ADDR_MAX + 1 - at;
}

/** The range that has an address. NULL: none has it */
static const struct mf_range *at_addr(const struct mf_range_pool *p, const struct mf_ranges *r, uint64_t addr)
{
	const struct mf_range *range = &p->node[range_tree_next(p->node, r->root, addr)].range;

	return range->at <= addr && addr < range->end ? range : NULL;
}

static bool joins(const struct mf_range *range, struct mf_range_kind kind)
{
	return range != NULL && kind.state == MF_RANGE_LIVE && range->kind.state == kind.state &&
	       range->kind.rights == kind.rights;
}

bool mf_ranges_next(const struct mf_range_pool *p, const struct mf_ranges *r, uint64_t addr,
		    struct mf_range *out)
{
	uint32_t n = range_tree_next(p->node, r->root, addr);

	if (n == RANGE_NIL)
		return false;
	*out = p->node[n].range;
	return true;
}

uint64_t mf_ranges_hole(const struct mf_range_pool *p, const struct mf_ranges *r, uint64_t from, uint64_t to,
			uint64_t len)
{
	return range_tree_hole(p->node, r->root, from, to, len);
}

int mf_ranges_put(struct mf_range_pool *p, struct mf_ranges *r, uint64_t at, uint64_t len,
		  struct mf_range_kind kind)
{
	struct mf_range range = {.at = at, .end = at + len, .kind = kind};
	const struct mf_range *before, *after;
	bool joins_before, joins_after;

	if (!is_range(at, len))
		return -EINVAL;
	if (mf_ranges_hole(p, r, at, at + len, len) != at)
		return -EEXIST;
	before = at > 0 ? at_addr(p, r, at - 1) : NULL;
	after = at_addr(p, r, at + len);
	joins_before = joins(before, kind);
	joins_after = joins(after, kind);
	if (p->left == 0 && !joins_before && !joins_after)
		return -ENOSPC;
	range.at = joins_before ? before->at : range.at;
	range.end = joins_after ? after->end : range.end;
	if (joins_before)
		take_out(p, r, range.at);
	if (joins_after)
		take_out(p, r, at + len);
	insert(p, r, range);
	return 0;
}

/* ---- ranges that are cut, joined and dropped ---- */

/** What a change covers. */
struct cover {
	uint64_t at, end;
	uint32_t ranges;
	bool cuts_first, cuts_last; /**< the first one begins before it; the last one ends after it */
};

/** @return 0, -ENOENT or -E2BIG, as mf_ranges_change() */
static int look(const struct mf_range_pool *p, const struct mf_ranges *r, struct cover *c,
		enum mf_range_state from)
{
	for (uint64_t addr = c->at; addr < c->end;) {
		const struct mf_range *range = at_addr(p, r, addr);

		if (range == NULL || range->kind.state != from)
			return -ENOENT;
		if (c->ranges++ == p->covered_max)
			return -E2BIG;
		c->cuts_first = c->cuts_first || range->at < c->at;
		c->cuts_last = range->end > c->end;
		addr = range->end;
	}
	return 0;
}

/** Makes a hole of what look() has looked at. What is left of the first and the last range stays. */
static void cut_out(struct mf_range_pool *p, struct mf_ranges *r, const struct cover *c)
{
	for (uint64_t addr = c->at; addr < c->end;) {
		const struct mf_range range = p->node[range_tree_next(p->node, r->root, addr)].range;

		take_out(p, r, range.at);
		if (range.at < c->at)
			insert(p, r, (struct mf_range){range.at, c->at, range.kind});
		if (range.end > c->end)
			insert(p, r, (struct mf_range){c->end, range.end, range.kind});
		addr = range.end;
	}
}

/** @param kind  NULL: it is to be a hole */
static int replace(struct mf_range_pool *p, struct mf_ranges *r, uint64_t at, uint64_t len,
		   enum mf_range_state from, const struct mf_range_kind *kind)
{
	struct cover c = {.at = at, .end = at + len};
	int rc = is_range(at, len) ? look(p, r, &c, from) : -EINVAL;

	if (rc != 0)
		return rc;
	if (p->left + c.ranges < (uint32_t)c.cuts_first + c.cuts_last + (kind != NULL))
		return -ENOSPC;
	cut_out(p, r, &c);
	return kind != NULL ? mf_ranges_put(p, r, at, len, *kind) : 0;
}

int mf_ranges_change(struct mf_range_pool *p, struct mf_ranges *r, uint64_t at, uint64_t len,
		     enum mf_range_state from, struct mf_range_kind kind)
{
	return replace(p, r, at, len, from, &kind);
}

int mf_ranges_drop(struct mf_range_pool *p, struct mf_ranges *r, uint64_t at, uint64_t len,
		   enum mf_range_state from)
{
	return replace(p, r, at, len, from, NULL);
}
