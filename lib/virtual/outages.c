/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What breaks at a time: cables, processes, the switch. It ends a stretch: when it happens all before it is
 * done on both sides. What a rule of the file does on one node is an outage, which begins and ends, perhaps
 * again and again. What that does to a link: link_state.c.
 */
#include <errno.h>
#include <stdlib.h>

#include "fabric/mf_exhaust.h"
#include "virtual/outages.h"

/* Processes. */

/** @return 0 or -ENOMEM */
static int kill_node(struct virtual *v, unsigned int i)
{
	int err;

	for (struct virtual *net = v; net != NULL; net = net->twin)
		net->events->place[i].dead++;
	err = node_crash(v->f, i, v->now);
	for (struct virtual *net = v; net != NULL; net = net->twin)
		virtual_link_cut(net, i);
	return err;
}

static void revive_node(struct virtual *v, unsigned int i)
{
	for (struct virtual *net = v; net != NULL; net = net->twin) {
		v->f->node[i].gone = --net->events->place[i].dead > 0;
		virtual_link_mend(net, i);
	}
	virtual_node_changed(v, i);
}

static void kill_switch(struct virtual *v)
{
	for (unsigned int i = 0; i < v->f->nodes; i++)
		if (v->f->node[i].host != NULL)
			virtual_link_cut(v, i);
	mf_sw_crash(v->sw, v->now);
	virtual_switch_changed(v);
}

static void revive_switch(struct virtual *v)
{
	for (unsigned int i = 0; i < v->f->nodes; i++)
		if (v->f->node[i].host != NULL)
			virtual_link_mend(v, i);
}

/** The network that a rule is about: of which switch. */
static struct virtual *network(struct virtual *v, const struct outage *o)
{
	return o->rule->sw != 0 ? v->twin : v;
}

/* Pools. */

/** @param v  of the switch that it is about, where it is about one */
static void exhaust(struct virtual *v, const struct outage *o, bool on)
{
	struct virtual_events *e = v->events;
	enum mf_config_what what = o->rule->what;
	struct mf_node *h;

	switch (what) {
	case MF_CONFIG_REQUESTS:
		if (exhaust_counts(&e->no_requests, on))
			mf_sw_exhaust(v->sw, exhaust_pool(mf_sw_role(v->sw), what), 0, on);
		return;
	case MF_CONFIG_RING:
		if (on)
			e->place[o->node].full = mf_time_max(e->place[o->node].full, o->at);
		return;
	case MF_CONFIG_MBUFS: /* no port carries a link under this clock */
		return;
	default:
		break;
	}
	if (!exhaust_counts(&e->place[o->node].none[what], on))
		return;
	h = v->f->node[o->node].host;
	if (what == MF_CONFIG_EGRESS)
		mf_sw_exhaust(v->sw, exhaust_pool(mf_sw_role(v->sw), what), o->node, on);
	else
		mf_node_exhaust(h, exhaust_pool(mf_node_role(h), what), on);
	virtual_node_changed(v, o->node);
}

/* Outages. */

static int begin(struct virtual *v, const struct outage *o)
{
	switch (o->rule->class) {
	case MF_FAULT_LINK_DOWN:
		virtual_link_cut(network(v, o), o->node);
		return 0;
	case MF_FAULT_NODE_CRASH:
		return kill_node(v, o->node);
	case MF_FAULT_SWITCH_CRASH:
		kill_switch(network(v, o));
		return 0;
	case MF_FAULT_EXHAUST:
		exhaust(network(v, o), o, true);
		return 0;
	default:
		return 0;
	}
}

static void end(struct virtual *v, const struct outage *o)
{
	switch (o->rule->class) {
	case MF_FAULT_LINK_DOWN:
		virtual_link_mend(network(v, o), o->node);
		break;
	case MF_FAULT_NODE_CRASH:
		revive_node(v, o->node);
		break;
	case MF_FAULT_SWITCH_CRASH:
		revive_switch(network(v, o));
		break;
	case MF_FAULT_EXHAUST:
		exhaust(network(v, o), o, false);
		break;
	}
}

static int step_outage(struct virtual *v, struct outage *o)
{
	if (outage_step(o))
		return begin(v, o);
	end(v, o);
	return 0;
}

static mf_time next_of_all(const struct virtual *v)
{
	const struct virtual_events *e = v->events;
	mf_time next = virtual_tests_next(v);

	for (unsigned int k = 0; k < e->outages; k++)
		next = mf_time_min(next, e->outage[k].at);
	for (unsigned int i = 0; i < v->f->nodes; i++) {
		for (const struct virtual *net = v; net != NULL; net = net->twin) {
			const struct place *p = &net->events->place[i];

			next = mf_time_min(next, mf_time_min(p->at, p->guard));
		}
	}
	return next;
}

/** All that has arrived is there before anything breaks, of frames under way, too. */
static void hand_over_parts(struct virtual *v)
{
	for (unsigned int i = 0; i < v->f->nodes; i++) {
		for (struct virtual *net = v; net != NULL; net = net->twin)
			virtual_port_part(net, i);
		virtual_node_part(v, i);
	}
}

int virtual_event(struct virtual *v)
{
	struct virtual_events *e = v->events;
	int err = 0;

	v->now = v->event_next;
	if (v->twin != NULL)
		v->twin->now = v->now;
	v->f->info.events++;
	hand_over_parts(v);
	virtual_switch_settles(v, v->twin == NULL);
	virtual_tests_run(v);
	for (unsigned int k = 0; k < e->outages && err == 0; k++)
		if (e->outage[k].at == v->now)
			err = step_outage(v, &e->outage[k]);
	for (struct virtual *net = v; net != NULL; net = net->twin)
		for (unsigned int i = 0; i < v->f->nodes && err == 0; i++)
			if (net->events->place[i].at == v->now)
				virtual_link_step(net, i);
	for (struct virtual *net = v; net != NULL; net = net->twin)
		for (unsigned int i = 0; i < v->f->nodes && err == 0; i++)
			if (net->events->place[i].guard == v->now)
				virtual_link_guard(net, i);
	v->event_next = next_of_all(v);
	return err;
}

/* Set-up. */

static int add_stall(struct virtual *v, const struct mf_config_fault *f)
{
	struct virtual_events *e = v->events, *net = f->sw != 0 ? v->twin->events : e;
	int err = 0;

	if (f->role == MF_CONFIG_SWITCH)
		err = stalls_add(&net->sw, f->from, f->until);
	if (f->role != MF_CONFIG_NODES && err == 0)
		err = stalls_add(&net->sched, f->from, f->until);
	for (unsigned int i = 0; i < f->link.n && err == 0; i++)
		err = stalls_add(&e->place[f->link.node[i]].stalls, f->from, f->until);
	return err;
}

/** One of a rule for each node that it is about, or for what is not a node. */
static int add_rule(struct virtual *v, unsigned int rule)
{
	const struct mf_config_fault *f = &v->f->config->fault[rule];
	struct virtual_events *e = v->events;

	if (f->class < MF_FAULT_STAGE_CLASSES || f->class == MF_FAULT_SKEW)
		return 0;
	if (f->role != MF_CONFIG_NODES)
		outage_init(&e->outage[e->outages++], v->f->config, rule, v->f->nodes);
	for (unsigned int i = 0; i < f->link.n && f->role == MF_CONFIG_NODES; i++)
		outage_init(&e->outage[e->outages++], v->f->config, rule, f->link.node[i]);
	return f->class == MF_FAULT_STALL ? add_stall(v, f) : 0;
}

static void place_init(struct virtual *v, unsigned int i)
{
	struct place *p = &v->events->place[i];

	p->at = p->guard = MF_NEVER;
	p->room = (mf_time)v->f->config->node[i].link.ring * MF_SPAN_MAX * v->link[i].period;
	v->up[i].odd = v->down[i].odd = true;
}

/** The nodes of the second switch are those of the first. */
static void share_stalls(struct virtual *v, const struct virtual_events *first)
{
	for (unsigned int i = 0; i < v->f->nodes; i++)
		v->events->place[i].stalls = first->place[i].stalls;
}

/** Whether a switch may be told by who is no node which one is active. */
static bool may_lie(const struct mf_config *c)
{
	for (unsigned int i = 0; i < c->faults; i++)
		if (c->fault[i].class == MF_FAULT_SPOOF || c->fault[i].class == MF_FAULT_GARBAGE)
			return true;
	return false;
}

static int make_events(struct virtual *v, unsigned int outages, bool slow)
{
	struct virtual_events *e = v->events = calloc(1, sizeof(*e));

	if (e == NULL)
		return -ENOMEM;
	e->place = calloc(v->f->nodes, sizeof(*e->place));
	e->outage = calloc(outages + 1, sizeof(*e->outage));
	if (e->place == NULL || e->outage == NULL)
		return -ENOMEM;
	e->slow = slow;
	for (unsigned int i = 0; i < v->f->nodes; i++)
		place_init(v, i);
	return 0;
}

/**
 * Whether links may bring more within the time of an insert than the scheduler has room for, so that they
 * have to be pushed back: a block may make two descriptors.
 */
static bool may_fall_behind(const struct virtual *v)
{
	const struct mf_config_sched *c = &v->f->config->sched;

	for (unsigned int i = 0; i < v->f->nodes && c->timed; i++)
		if (v->f->node[i].host != NULL &&
		    2 * c->insert > MF_SCHED_PENDING * (mf_time)v->link[i].period)
			return true;
	return false;
}

int virtual_event_init(struct virtual *v)
{
	unsigned int n = outages_max(v->f->config);
	int err;

	bool slow = may_fall_behind(v);

	if (n == 0 && v->f->config->tests == 0 && v->f->guards == NULL && !slow)
		return 0;
	err = make_events(v, n, slow);
	if (err == 0 && v->twin != NULL)
		err = make_events(v->twin, 0, slow);
	for (unsigned int i = 0; i < v->f->config->faults && err == 0; i++)
		err = add_rule(v, i);
	if (err == 0)
		err = virtual_tests_init(v);
	if (err != 0)
		return err;
	if (v->twin != NULL)
		share_stalls(v->twin, v->events);
	v->event_next = next_of_all(v);
	virtual_switch_settles(v, v->twin == NULL || !may_lie(v->f->config));
	return err;
}

void virtual_event_settle(struct virtual *v)
{
	if (may_lie(v->f->config))
		return;
	for (unsigned int i = 0; i < v->f->nodes; i++)
		if (v->f->node[i].host != NULL && mf_node_tells(v->f->node[i].host))
			return;
	virtual_switch_settles(v, true);
}

void virtual_event_fini(struct virtual *v)
{
	struct virtual_events *e = v->events;

	if (e == NULL)
		return;
	for (unsigned int k = 0; k < e->outages; k++)
		v->f->fault_fired[e->outage[k].rule - v->f->config->fault] += e->outage[k].times;
	for (unsigned int i = 0; i < v->f->nodes && e->place != NULL && v->nodes == v; i++)
		free(e->place[i].stalls.stall);
	free(e->place);
	free(e->outage);
	free(e->sw.stall);
	free(e->sched.stall);
	free(e);
}
