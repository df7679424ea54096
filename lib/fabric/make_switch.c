/* SPDX-License-Identifier: BSD-3-Clause */
/* A switch: its ports, what bounds them, what nodes may ask for. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

/** @return NULL with errno */
static struct mf_sw *make_frames(struct mf_fabric *f)
{
	const struct mf_config_switch *c = &f->config->sw;
	struct mf_port_config port[MF_PORTS_MAX] = {0};
	mf_time delay[MF_PORTS_MAX] = {0};
	const struct mf_frame_switch_config s = {
		.bridge = f->config->bridge_ops,
		.of = {.ports = f->nodes,
		       .delay = delay,
		       .l2_latency = f->clock == MF_CLOCK_VIRTUAL ? c->l2_latency : 0,
		       .timing = f->timing,
		       .param = f->config->bridge.param,
		       .obeyed = mf_config_obeyed(f->config),
		       .seed = f->config->seed,
		       .probe = f->stages != NULL ? &f->probe : NULL},
		.port = port};

	for (unsigned int i = 0; i < f->nodes; i++) {
		limits(f, 0, i);
		delay[i] = f->link[i].delay;
		port[i].up = f->config->node[i].up;
		port[i].memory_enabled = make_carries_blocks(f, i);
		port[i].ber_window = f->config->node[i].link.ber_window;
		port[i].guard = guards_of(f, 0, i, MF_LINK_SWITCH);
		make_mux(f, i, true, c->frames, c->frame_queue, &port[i].mux);
	}
	return mf_sw_new_frames(&s);
}

struct mf_sw *make_switch(struct mf_fabric *f, unsigned int number, char *err, size_t errlen)
{
	struct mf_sw *sw = f->config->bridge_ops != NULL ? make_frames(f) : make_edm(f, number);

	if (sw == NULL)
		make_fail(err, errlen, "%s: cannot set it up: %s",
			  number == 0 ? f->config->sw.name : f->config->backup.name, strerror(errno));
	return sw;
}
