/* SPDX-License-Identifier: BSD-3-Clause */
/* What has to hold in a fabric of several switches. */
#ifndef JUDGE_GRAPH_H
#define JUDGE_GRAPH_H

#include <jansson.h>

#include "config/mf_config.h"
#include "verdict.h"

/**
 * Flows move to paths that are left: where nothing but cables between switches breaks, each node always has a
 * path to each other one, and the stack sends again what is lost, long before an operation's time is over, no
 * operation fails. And a bridge that pauses drops nothing for want of room.
 * @param result  "result" of the run
 */
void judge_graph(const struct mf_config *config, const json_t *result, struct verdict *v);

#endif
