/* SPDX-License-Identifier: BSD-3-Clause */
/* A node with several hosts as a kind of node; see mf_node_new_hosts(). */
#ifndef HOSTS_H
#define HOSTS_H

#include "role/mf_role.h"
#include "systems/mf_node.h"

struct hosts;

/** As mf_node_new_hosts(), which marks its kind. */
struct hosts *hosts_new(const struct mf_hosts_config *config);
/** The host of an end. */
struct mf_node *hosts_at(struct hosts *h, unsigned int end);
/** See mf_node_stats(): what all its hosts have counted of operations and drops. */
void hosts_stats(const struct hosts *h, struct mf_host_stats *out);

#endif
