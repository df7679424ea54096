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
static void limits(struct mf_fabric *f, unsigned int number, unsigned int i)
{
	const struct mf_config_switch *c = &f->config->sw;
	struct link_timing *link = &f->link[fabric_link(f, number, i)];

	link->backlog_k = c->backlog_k;
	link->source_w = c->source_w;
	if (f->clock == MF_CLOCK_VIRTUAL && f->config->node[i].up) {
		link->backlog_k = c->backlog_k != 0 ? c->backlog_k : bound_under_way(f, i);
		link->source_w = c->source_w != 0 ? c->source_w : bound_under_way(f, i);
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

/** @return NULL with errno */
static struct mf_sw *make_edm(struct mf_fabric *f, unsigned int number)
{
	const struct mf_config_switch *c = &f->config->sw;
	struct mf_switch_config *s = calloc(1, sizeof(*s));
	struct mf_sw *sw;

	if (s == NULL)
		return NULL;
	s->ports = f->nodes;
	for (unsigned int i = 0; i < f->nodes; i++) {
		s->port[i].up = f->config->node[i].up;
		s->port[i].memory_enabled = make_carries_blocks(f, i);
		s->port[i].ber_window = f->config->node[i].link.ber_window;
		s->port[i].guard = guards_of(f, number, i, MF_LINK_SWITCH);
		make_mux(f, i, false, c->frames, c->frame_queue, &s->port[i].mux);
		limits(f, number, i);
		s->port[i].backlog_k = f->link[fabric_link(f, number, i)].backlog_k;
		s->port[i].source_w = f->link[fabric_link(f, number, i)].source_w;
		if (c->align && f->clock == MF_CLOCK_VIRTUAL)
			s->align[i] = bound_align(f, i);
	}
	s->proto = f->config->proto;
	s->timing = f->timing;
	s->x = f->config->sched.x;
	s->requests = c->requests;
	s->window = f->clock == MF_CLOCK_WALL;
	s->grant_timeout = fabric_timer(f, &f->skew, c->grant_timeout[f->clock]);
	s->hold_timeout = fabric_timer(f, &f->skew, c->hold_timeout[f->clock]);
	s->mac_table = c->mac_table;
	s->l2_latency = f->clock == MF_CLOCK_VIRTUAL ? c->l2_latency : 0;
	s->probe = f->stages != NULL ? &f->probe : NULL;
	s->limits = asked(f);
	make_twin(f, number, s);
	sw = mf_sw_new_edm(s);
	free(s);
	return sw;
}

/** What the file says of a switch. */
static const struct mf_config_switch *switch_config(const struct mf_fabric *f, unsigned int number)
{
	return f->config->switches > 0 ? &f->config->switch_list[number] : &f->config->sw;
}

/** A port of a switch of frames, of which some node, or another switch, is at the other end. */
static void make_frame_port(struct mf_fabric *f, unsigned int number, const struct mf_end *e,
			    struct mf_port_config *port)
{
	const struct mf_config_switch *c = switch_config(f, number);
	const struct mf_vertex *peer = &f->graph->role[f->graph->end[e->peer].role];
	bool node = peer->kind == MF_VERTEX_NODE;

	if (f->routes == NULL)
		limits(f, 0, e->port);
	port->up = !node || f->config->node[peer->number].up;
	port->memory_enabled = node && make_carries_blocks(f, peer->number);
	port->ber_window = fabric_link_config(f, e->link)->ber_window;
	port->guard = node ? guards_of(f, 0, peer->number, MF_LINK_SWITCH) : NULL;
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
	bool virtual = f->clock == MF_CLOCK_VIRTUAL;
	struct mf_port_config port[MF_PORTS_MAX] = {0};
	mf_time delay[MF_PORTS_MAX] = {0};
	const struct mf_frame_switch_config s = {
		.bridge = f->config->bridge_ops,
		.of = {.ports = r->ends,
		       .route = f->routes != NULL ? fabric_route : NULL,
		       .route_ctx = &f->sw[number],
		       .delay = delay,
		       .l2_latency = virtual ? switch_config(f, number)->l2_latency : 0,
		       .timing = f->timing,
		       .param = f->config->bridge.param,
		       .obeyed = mf_config_obeyed(f->config),
		       .seed = seed_of(f, number),
		       .probe = f->stages != NULL ? &f->probe : NULL},
		.port = port};

	for (uint32_t p = 0; p < r->ends; p++) {
		const struct mf_end *e = &f->graph->end[mf_topology_end(f->graph, f->nodes + number, p)];

		make_frame_port(f, number, e, &port[p]);
		delay[p] = f->link[e->link].delay;
	}
	return mf_sw_new_frames(&s);
}

struct mf_sw *make_switch(struct mf_fabric *f, unsigned int number, char *err, size_t errlen)
{
	struct mf_sw *sw = f->config->bridge_ops != NULL ? make_frames(f, number) : make_edm(f, number);

	if (sw == NULL)
		make_fail(err, errlen, "%s: cannot set it up: %s", mf_config_switch_name(f->config, number),
			  strerror(errno));
	return sw;
}
