/* SPDX-License-Identifier: BSD-3-Clause */
/* A switch: its ports, what bounds them, what nodes may ask for. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "fabric/mf_bound.h"
#include "fabric/mf_link_guard.h"
#include "fabric/mf_make.h"

/**
 * The scheduler believes in fixed delays and in links that are all the chunks'. Frames, /N/, requests
 * and acknowledgements, and grants that wait behind data, bring more than that, and a link that is
 * granted in full never catches up: K and W bound what waits at an egress and in a source (D3).
 */
static void limits(struct mf_fabric *f, unsigned int number, uint32_t at, unsigned int port)
{
	const struct mf_config_switch *c = fabric_switch_config(f, number);
	const struct fabric_tier *t = f->sw[number].tier;
	struct link_timing *link = &f->link[at];

	link->backlog_k = c->backlog_k;
	link->source_w = c->source_w;
	if (f->clock == MF_CLOCK_VIRTUAL && f->config->node[t->node[port]].up) {
		link->backlog_k = c->backlog_k != 0 ? c->backlog_k : bound_default_k(t, port);
		link->source_w = c->source_w != 0 ? c->source_w : bound_default_w(t, port);
	}
}

/** What each node may ask for, in the units of the switch. */
static struct mf_switch_limits asked(const struct mf_fabric *f)
{
	const struct mf_config_limits *l = &f->config->limits;
	struct mf_switch_limits limits = {.rate_burst = l->rate_burst, .outstanding = l->outstanding};

	if (l->rate > 0)
		limits.rate = (mf_time)(1e12 / l->rate) + 1;
	if (l->share > 0) {
		limits.share = (uint32_t)(1 / l->share + 0.5);
		limits.burst = l->burst / 8;
	}
	return limits;
}

/** The link of a port of EDM's switch: of two switches each has one to each node. */
static uint32_t link_of(const struct fabric_tier *t, unsigned int number, unsigned int port)
{
	return t->f->config->backup.on ? fabric_link(t->f, number, port) : t->link[port];
}

/** A port of EDM's switch has the number of its node. */
static void make_edm_port(struct mf_fabric *f, unsigned int number, unsigned int port,
			  struct mf_switch_config *s)
{
	const struct fabric_tier *t = f->sw[number].tier;
	const struct mf_config_switch *c = fabric_switch_config(f, number);
	uint32_t link = link_of(t, number, port);
	unsigned int node = t->node[port];
	struct mf_switch_port_config *p = &s->port[port];

	p->up = f->config->node[node].up;
	p->memory_enabled = make_carries_blocks(t, node);
	p->ber_window = fabric_link_config(f, link)->ber_window;
	p->guard = guards_of(f, link, MF_LINK_SWITCH);
	make_mux(f, t->link[port], false, c->frames, c->frame_queue, &p->mux);
	limits(f, number, link, port);
	p->backlog_k = f->link[link].backlog_k;
	p->source_w = f->link[link].source_w;
	if (c->align && f->clock == MF_CLOCK_VIRTUAL)
		s->align[port] = bound_align(t, port);
}

/** @return NULL with errno */
static struct mf_sw *make_edm(struct mf_fabric *f, unsigned int number)
{
	const struct fabric_tier *t = f->sw[number].tier;
	const struct mf_config_switch *c = fabric_switch_config(f, number);
	struct mf_switch_config *s = calloc(1, sizeof(*s));
	struct mf_sw *sw;

	if (s == NULL)
		return NULL;
	s->ports = t->nodes;
	for (unsigned int i = 0; i < t->nodes; i++)
		make_edm_port(f, number, i, s);
	s->proto = t->config->proto;
	s->timing = t->timing;
	s->x = t->config->sched.x;
	s->answer = make_answer_max(f);
	s->requests = c->requests;
	s->window = f->clock == MF_CLOCK_WALL;
	s->grant_timeout = fabric_timer(f, &f->skew, c->grant_timeout[f->clock]);
	s->hold_timeout = fabric_timer(f, &f->skew, c->hold_timeout[f->clock]);
	s->mac_table = c->mac_table;
	s->l2_latency = f->clock == MF_CLOCK_VIRTUAL ? c->l2_latency : 0;
	s->probe = f->stages != NULL ? &f->probe : NULL;
	s->limits = asked(f);
	make_redundancy(t, number, s);
	sw = mf_sw_new_edm(s);
	free(s);
	return sw;
}

/** A port of a switch of frames, of which some node, or another switch, is at the other end. */
static void make_frame_port(struct mf_fabric *f, unsigned int number, const struct mf_end *e,
			    struct mf_port_config *port)
{
	const struct mf_config_switch *c = fabric_switch_config(f, number);
	const struct mf_vertex *peer = &f->graph->role[f->graph->end[e->peer].role];
	const struct fabric_tier *t = f->sw[number].tier;
	bool node = peer->kind == MF_VERTEX_NODE;

	if (f->routes == NULL)
		limits(f, number, e->link, e->port);
	port->up = !node || f->config->node[peer->number].up;
	port->memory_enabled = node && make_carries_blocks(t, peer->number);
	port->ber_window = fabric_link_config(f, e->link)->ber_window;
	port->guard = guards_of(f, e->link, fabric_side(f, e));
	make_mux(f, e->link, true, c->frames, c->frame_queue, &port->mux);
}

/** Of what is random in a switch: of several each has its own, by its name. */
static uint64_t seed_of(const struct mf_fabric *f, unsigned int number)
{
	const char *name = mf_config_switch_name(f->config, number);

	return f->routes == NULL ? f->config->seed
				 : XXH3_64bits_withSeed(name, strlen(name), f->config->seed);
}

/** @return NULL with errno */
static struct mf_sw *make_frames(struct mf_fabric *f, unsigned int number)
{
	const struct mf_vertex *r = &f->graph->role[f->nodes + number];
	const struct fabric_tier *t = f->sw[number].tier;
	bool virtual = f->clock == MF_CLOCK_VIRTUAL;
	struct mf_port_config *port = calloc(r->ends, sizeof(*port));
	mf_time *delay = calloc(r->ends, sizeof(*delay));
	struct mf_sw *sw = NULL;
	const struct mf_frame_switch_config s = {
		.bridge = t->config->bridge_ops,
		.of = {.ports = r->ends,
		       .route = f->routes != NULL ? fabric_route : NULL,
		       .route_ctx = &f->sw[number],
		       .delay = delay,
		       .l2_latency = virtual ? fabric_switch_config(f, number)->l2_latency : 0,
		       .timing = t->timing,
		       .param = t->config->bridge.param,
		       .obeyed = mf_config_obeyed(f->config, t->config),
		       .seed = seed_of(f, number),
		       .probe = f->stages != NULL ? &f->probe : NULL},
		.port = port};

	for (uint32_t p = 0; p < r->ends && port != NULL && delay != NULL; p++) {
		const struct mf_end *e = &f->graph->end[mf_topology_end(f->graph, f->nodes + number, p)];

		make_frame_port(f, number, e, &port[p]);
		delay[p] = f->link[e->link].delay;
	}
	if (port != NULL && delay != NULL)
		sw = mf_sw_new_frames(&s);
	else
		errno = ENOMEM;
	free(port);
	free(delay);
	return sw;
}

struct mf_sw *make_switch(struct mf_fabric *f, unsigned int number, char *err, size_t errlen)
{
	bool frames = f->sw[number].tier->config->bridge_ops != NULL;
	struct mf_sw *sw = frames ? make_frames(f, number) : make_edm(f, number);

	if (sw == NULL)
		make_fail(err, errlen, "%s: cannot set it up: %s", mf_config_switch_name(f->config, number),
			  strerror(errno));
	return sw;
}
