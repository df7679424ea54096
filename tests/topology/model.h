/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What routes have to be, found by brute force: distances by relaxing every link until nothing changes, paths
 * by looking at each end, circles by the closure of all dependencies.
 */
#ifndef MODEL_H
#define MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "graphs.h"

#define ROLES (SWITCHES + NODES)

struct model {
	const struct mf_topology *t;
	bool down[ENDS]; /**< by link */
	uint32_t distance[ROLES][NODES]; /**< from a role to a node; MF_NO_PATH */
};

/** Computes all distances, for the links that are up. */
void model_compute(struct model *m);

/** Whether an end is the first of a shortest path from its role to a node. */
bool model_leads(const struct model *m, uint32_t end, uint32_t node);

/** Whether a route uses an end's link, away from its role, and after it that of another end. */
bool model_depends(const struct model *m, uint32_t end, uint32_t then);

/** Whether dependencies form a circle. */
bool model_has_circle(const struct model *m);

#endif
