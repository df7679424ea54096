/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the ports of a process, and the ends of links that they carry, have counted: a copy, so that it can be
 * told when ports and links are gone. It is what the result, and with it the report, say of them.
 */
#ifndef MF_TUNNEL_STATS_H
#define MF_TUNNEL_STATS_H

#include "wall/ports/mf_port.h"

struct tunnel_port {
	const struct mf_config_port *config;
	struct port_stats stats;
	uint64_t pending_frames; /**< that the device has not taken yet */
	bool impaired;
	struct mf_impair_stats impair;
	uint64_t held_frames; /**< by the stage that impairs frames */
	struct rte_eth_stats device; /**< as its driver counts */
	bool told; /**< it is closed, and these have not come back: */
	unsigned int lost_buffers;
};

struct tunnel_end {
	uint32_t end; /**< in the graph */
	const struct mf_config_port *port;
	struct mf_link_status status;
	struct mf_link_stats stats;
	uint64_t dropped_blocks; /**< that a role sent while the link was not open */
};

struct tunnel_stats {
	struct tunnel_port *port;
	unsigned int ports;
	struct tunnel_end *end;
	unsigned int ends;
};

/** Any thread. @return NULL: no memory */
struct tunnel_stats *tunnel_stats_take(const struct wall *w);
void tunnel_stats_free(struct tunnel_stats *c);

/** From now on other threads see what the ports count; until tunnel_stats_keep(). */
void tunnel_stats_show(struct wall *w);
/** The ports will go: what they have counted so far stays. */
void tunnel_stats_keep(struct wall *w);
/** The ports are closed. */
void tunnel_stats_close(struct wall *w);
/**
 * For any thread that holds f->readers: what the ports have counted so far.
 * @return the caller's; NULL: no link goes over a port, or no memory
 */
struct tunnel_stats *tunnel_stats_seen(const struct mf_fabric *f);

/** As mf_link_counter, of struct port_stats. */
const struct mf_link_counter *port_counters(unsigned int *n);

#endif
