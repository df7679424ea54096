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

int fabric_route(const void *ctx, uint16_t node, const uint8_t *frame, uint16_t len)
{
	const struct fabric_switch *s = ctx;
	uint16_t port;

	if (node >= s->f->nodes || !s->f->config->node[node].up)
		return -1;
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

const char *fabric_switch_name(const struct mf_fabric *f, unsigned int plane, unsigned int node)
{
	return fabric_role_name(f, mf_topology_peer(f->graph, mf_topology_end(f->graph, node, plane)));
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
		f->sw[k].f = f;
		f->sw[k].number = k;
		if (f->clock == MF_CLOCK_VIRTUAL)
			f->sw[k].routes = f->routes;
		else if (f->part.sw[k])
			err = new_routes(f, &f->sw[k].routes);
	}
	return err;
}

#define SMALLEST_BLOCKS 9 /* of a frame of 64 octets with preamble */

/** What a frame of the smallest size takes from one end of a link to the other. */
static mf_time leg(const struct mf_fabric *f, uint32_t link)
{
	return f->link[link].delay + 2 * f->timing.cost[MF_STAGE_MAC] +
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

/** Of the nodes of each switch that with the slowest link; MF_NONE: it has no nodes. */
static void find_farthest(const struct mf_fabric *f, uint32_t *node)
{
	for (uint32_t k = 0; k < f->graph->switches; k++)
		node[k] = MF_NONE;
	for (uint32_t i = 0; i < f->nodes; i++) {
		uint32_t *n = &node[f->config->node[i].to];

		if (f->config->node[i].up && (*n == MF_NONE || leg(f, i) > leg(f, *n)))
			*n = i;
	}
}

int make_longest_rtt(struct mf_fabric *f)
{
	uint32_t *node = calloc(f->graph->switches, sizeof(*node));
	mf_time most = 0;

	if (node == NULL)
		return -ENOMEM;
	find_farthest(f, node);
	for (uint32_t a = 0; a < f->graph->switches; a++)
		for (uint32_t b = 0; b < f->graph->switches && node[a] != MF_NONE; b++)
			if (node[b] != MF_NONE)
				most = mf_time_max(most, leg(f, node[a]) + way(f, a, node[b]));
	f->longest_rtt = 2 * most;
	free(node);
	return 0;
}

#define CIRCLE 8 /* links of a circle that are named */

int make_check_routes(const struct mf_fabric *f, char *err, size_t errlen)
{
	const struct mf_bridge_ops *bridge = f->config->bridge_ops;
	uint32_t end[CIRCLE];
	char names[256] = "";
	size_t used = 0;
	int n;

	if (f->routes == NULL || !bridge->lossless)
		return 0;
	n = mf_routes_cycle(f->routes, end, CIRCLE);
	if (n <= 0)
		return n == 0 ? 0 : make_fail(err, errlen, "no memory");
	for (int i = 0; i < n && i < CIRCLE && used < sizeof(names); i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i > 0 ? ", " : "",
					 fabric_role_name(f, f->graph->end[end[i]].role));
	return make_fail(err, errlen,
			 "switch.bridge: \"%s\" can deadlock: routes wait for each other in a circle of %d "
			 "switches (%s%s)",
			 bridge->name, n, names, n > CIRCLE ? ", ..." : "");
}
