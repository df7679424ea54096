/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a switch of several sends a frame: the routes of the graph, and a flow that is hashed (ECMP). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "fabric/mf_make.h"
#include "net/mf_packet.h"

/** Of a frame: its addresses, and of an IPv4 packet those, its protocol, and the ports of UDP and TCP. */
static uint64_t flow_of(const uint8_t *frame, uint16_t len)
{
	struct mf_packet p;
	uint16_t port[2] = {0};

	if (!mf_packet_parse(frame, len, &p))
		return XXH3_64bits(frame, 2 * RTE_ETHER_ADDR_LEN);
	if ((p.protocol == IPPROTO_UDP || p.protocol == IPPROTO_TCP) && p.len >= sizeof(port))
		memcpy(port, p.l4, sizeof(port));
	return mf_flow_hash(p.src, p.dst, port[0], port[1], p.protocol);
}

int fabric_route(const void *ctx, uint16_t number, const uint8_t *frame, uint16_t len)
{
	const struct fabric_switch *s = ctx;
	uint16_t node, port;

	if (number >= s->tier->nodes || !s->f->config->node[s->tier->node[number]].up)
		return -1;
	node = s->tier->node[number];
	if (s->tier->several) {
		port = mf_routes_end_pick(s->routes, s->number, node, s->tier->end[number],
					  flow_of(frame, len));
		return port != MF_NO_PORT ? port : -1;
	}
	switch (mf_routes_ports(s->routes, s->number, node, &port, 1)) {
	case 0:
		return -1;
	case 1:
		return port;
	default:
		return mf_routes_pick(s->routes, s->number, node, flow_of(frame, len));
	}
}

/** Of an end: names of its role and of the other one, and which of the links between them it is. */
static uint64_t identity(const struct mf_fabric *f, uint32_t end)
{
	const struct mf_topology *g = f->graph;
	const struct mf_end *e = &g->end[end];
	uint32_t same = 0;
	uint64_t hash;

	for (uint32_t k = g->role[e->role].first_end; k < end; k++)
		same += mf_topology_peer(g, k) == mf_topology_peer(g, end);
	hash = XXH3_64bits_withSeed(fabric_role_name(f, e->role), strlen(fabric_role_name(f, e->role)), same);
	return XXH3_64bits_withSeed(fabric_role_name(f, g->end[e->peer].role),
				    strlen(fabric_role_name(f, g->end[e->peer].role)), hash);
}

const char *fabric_role_name(const struct mf_fabric *f, uint32_t role)
{
	const struct mf_vertex *r = &f->graph->role[role];

	return r->kind == MF_VERTEX_NODE ? f->config->node[r->number].name
					 : mf_config_switch_name(f->config, r->number);
}

static int new_routes(const struct mf_fabric *f, struct mf_routes **out)
{
	int err = mf_routes_new(f->graph, f->config->seed, out);

	for (uint32_t i = 0; i < f->graph->ends && err == 0; i++)
		mf_routes_identify(*out, i, identity(f, i));
	return err;
}

int make_routes(struct mf_fabric *f)
{
	int err;

	if (f->config->switches == 0)
		return 0;
	err = new_routes(f, &f->routes);
	for (unsigned int k = 0; k < f->graph->switches && err == 0; k++) {
		if (f->sw[k].tier->config->bridge_ops == NULL)
			continue; /* EDM's, which knows its ports */
		if (f->clock == MF_CLOCK_VIRTUAL)
			f->sw[k].routes = f->routes;
		else if (f->plays.sw[k])
			err = new_routes(f, &f->sw[k].routes);
	}
	return err;
}

#define SMALLEST_BLOCKS 9 /* of a frame of 64 octets with preamble */

/** What a frame of the smallest size takes from one end of a link to the other. */
static mf_time leg(const struct mf_fabric *f, uint32_t link)
{
	return f->link[link].delay + 2 * f->tier[f->link[link].tier].timing.cost[MF_STAGE_MAC] +
	       (mf_time)SMALLEST_BLOCKS * f->link[link].period;
}

/** From a switch to a node that hangs on another one, or on this one: switches and links. */
static mf_time way(const struct mf_fabric *f, uint32_t sw, uint32_t node)
{
	const struct mf_topology *g = f->graph;
	mf_time t = 0;
	uint16_t port;

	while (mf_routes_ports(f->routes, sw, node, &port, 1) > 0) {
		const struct mf_end *e = &g->end[mf_topology_end(g, f->nodes + sw, port)];
		const struct mf_vertex *peer = &g->role[g->end[e->peer].role];

		t += f->config->switch_list[sw].l2_latency + leg(f, e->link);
		if (peer->kind == MF_VERTEX_NODE)
			break;
		sw = peer->number;
	}
	return t;
}

/** The switch that a link of a node goes to. */
static uint32_t switch_of(const struct mf_fabric *f, uint32_t link)
{
	return f->graph->role[f->graph->end[f->graph->link[link].end[MF_LINK_SWITCH]].role].number;
}

/** Of the nodes of each switch the slowest link; MF_NONE: it has no nodes. */
static void find_farthest(const struct fabric_tier *t, uint32_t *link)
{
	const struct mf_fabric *f = t->f;

	for (uint32_t k = 0; k < f->graph->switches; k++)
		link[k] = MF_NONE;
	for (uint32_t i = 0; i < t->nodes; i++) {
		uint32_t *l = &link[switch_of(f, t->link[i])];

		if (f->config->node[t->node[i]].up && (*l == MF_NONE || leg(f, t->link[i]) > leg(f, *l)))
			*l = t->link[i];
	}
}

int make_longest_rtt(struct fabric_tier *t)
{
	const struct mf_fabric *f = t->f;
	uint32_t *link = calloc(f->graph->switches, sizeof(*link));
	mf_time most = 0;

	if (link == NULL)
		return -ENOMEM;
	find_farthest(t, link);
	for (uint32_t a = 0; a < f->graph->switches; a++)
		for (uint32_t b = 0; b < f->graph->switches && link[a] != MF_NONE; b++)
			if (link[b] != MF_NONE)
				most = mf_time_max(most,
						   leg(f, link[a]) + way(f, a, fabric_link_node(f, link[b])));
	t->longest_rtt = 2 * most;
	free(link);
	return 0;
}

#define CIRCLE 8 /* links of a circle that are named */

static bool any_lossless(const struct mf_fabric *f)
{
	for (unsigned int k = 0; k < f->tiers; k++)
		if (f->tier[k].config->bridge_ops != NULL && f->tier[k].config->bridge_ops->lossless)
			return true;
	return false;
}

int make_check_routes(const struct mf_fabric *f, char *err, size_t errlen)
{
	const struct mf_bridge_ops *bridge = NULL;
	uint32_t end[CIRCLE];
	char names[256] = "";
	size_t used = 0;
	int n;

	if (f->routes == NULL || !any_lossless(f))
		return 0;
	for (unsigned int k = 0; k < f->tiers; k++)
		if (f->tier[k].several && f->tier[k].config->bridge_ops->lossless && f->config->trunks > 0)
			return make_fail(err, errlen,
					 "switch.bridge: \"%s\" with several switches is for nodes with one "
					 "end so far: whether routes wait for each other is known for these",
					 f->tier[k].config->bridge_ops->name);
	n = mf_routes_cycle(f->routes, end, CIRCLE);
	if (n <= 0)
		return n == 0 ? 0 : make_fail(err, errlen, "no memory");
	bridge = f->tier[f->link[f->graph->end[end[0]].link].tier].config->bridge_ops;
	if (!bridge->lossless)
		return 0;
	for (int i = 0; i < n && i < CIRCLE && used < sizeof(names); i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i > 0 ? ", " : "",
					 fabric_role_name(f, f->graph->end[end[i]].role));
	return make_fail(err, errlen,
			 "switch.bridge: \"%s\" can deadlock: routes wait for each other in a circle of %d "
			 "switches (%s%s)",
			 bridge->name, n, names, n > CIRCLE ? ", ..." : "");
}
