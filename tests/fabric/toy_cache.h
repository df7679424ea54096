/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A toy cache as a layer (systems/mf_layer.h): reads within a line are served from lines, writes go through,
 * atomics go by. It is right for memory that its node alone writes.
 *
 * A line holds what its node's operations have left, in the order of their submission, so:
 *	- a write changes the line at once, since later reads must find it;
 *	- a line is filled only by a read during which no write or atomic of the line was under way, since a
 *	  system may let one pass the other;
 *	- a write that fails, or an atomic, takes the line out;
 *	- lines of a node that was lost go, whatever is under way fills none.
 */
#ifndef TOY_CACHE_H
#define TOY_CACHE_H

#include "systems/mf_layer.h"

struct toy_cache_counts {
	uint64_t hits, misses, fills, writes, atomics, lost, crashes;
};

/** mf_config_node.layer_param is a struct toy_cache_counts, which outlives the fabric, and is added to. */
extern const struct mf_layer_ops toy_cache;

/** Breaks it on purpose: writes do not change lines. Tests see that verification finds that. */
extern bool toy_cache_stale;

#endif
