/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What breaks at a time: cables, processes, the switch. It ends a stretch: when it happens all before it is
 * done on both sides. What a rule of the file does on one node is an outage, which begins and ends, perhaps
 * again and again. A link is down as long as any outage wants it to be:
 *
 *               first cut          block lock lost         last outage over, and block lock
 *     LINK_WHOLE ------> LINK_DARK ---------------> LINK_LOST -----------------------------> LINK_WHOLE
 *                        all that is sent           both ends                    the switch may say
 *                        and was is lost            are told                     that it is not ready
 */
#include <errno.h>
#include <stdlib.h>

#include "exhaust.h"
#include "guards.h"
#include "virtual_event.h"

/*
 * Blocks until a receiver without a signal has lost its block lock, and has it again (IEEE 802.3
 * 49.2.13.3).
 */
#define LOCK_LOST 16
#define LOCK_FOUND 64

/* Links. */

/** Whether a node has a cable at all. */
static void unplug(const struct virtual *v, unsigned int i)
{
	const struct virtual *first = v->nodes, *second = first->twin;

	v->f->node[i].unplugged =
		first->events->place[i].cuts > 0 && (second == NULL || second->events->place[i].cuts > 0);
}

static void cut(struct virtual *v, unsigned int i)
{
	struct place *p = &v->events->place[i];

	if (p->cuts++ > 0)
		return;
	for (struct wire *w = &v->up[i]; w != NULL; w = w == &v->up[i] ? &v->down[i] : NULL) {
		wire_clear(w, v->now);
		w->cut = true;
		if (w->fault != NULL)
			mf_fault_cut(w->fault, v->now);
	}
	p->at = MF_NEVER;
	unplug(v, i);
	if (p->phase == LINK_WHOLE) {
		p->phase = LINK_DARK;
		p->at = v->now + LOCK_LOST * (mf_time)v->link[i].period;
	}
	virtual_node_changed(v, i);
}

static mf_time lock_found(const struct virtual *v, unsigned int i)
{
	return v->now + LOCK_FOUND * (mf_time)v->link[i].period;
}

static void mend(struct virtual *v, unsigned int i)
{
	struct place *p = &v->events->place[i];

	if (--p->cuts > 0)
		return;
	unplug(v, i);
	if (p->phase == LINK_LOST)
		p->at = lock_found(v, i);
}

static void lost(struct virtual *v, unsigned int i)
{
	struct place *p = &v->events->place[i];

	p->phase = LINK_LOST;
	p->at = p->cuts == 0 ? lock_found(v, i) : MF_NEVER;
	if (p->dead == 0)
		mf_host_link_down(v->f->node[i].host, v->number, v->now);
	mf_switch_link_down(v->sw, i, v->now);
	virtual_node_changed(v, i);
	virtual_switch_changed(v);
}

static void found(struct virtual *v, unsigned int i)
{
	struct place *p = &v->events->place[i];

	if (!mf_switch_link_up(v->sw, i, v->now)) {
		p->at = lock_found(v, i); /* asked again */
		virtual_switch_changed(v);
		return;
	}
	p->phase = LINK_WHOLE;
	p->at = MF_NEVER;
	v->up[i].cut = v->down[i].cut = false;
	mf_host_link_up(v->f->node[i].host, v->number, v->now);
	virtual_node_changed(v, i);
	virtual_switch_changed(v);
}

static void step_link(struct virtual *v, unsigned int i)
{
	if (v->events->place[i].phase == LINK_DARK)
		lost(v, i);
	else
		found(v, i);
}

/* Processes. */

/** @return 0 or -ENOMEM */
static int kill_node(struct virtual *v, unsigned int i)
{
	int err;

	for (struct virtual *net = v; net != NULL; net = net->twin)
		net->events->place[i].dead++;
	err = node_crash(v->f, i, v->now);
	for (struct virtual *net = v; net != NULL; net = net->twin)
		cut(net, i);
	return err;
}

static void revive_node(struct virtual *v, unsigned int i)
{
	for (struct virtual *net = v; net != NULL; net = net->twin) {
		v->f->node[i].gone = --net->events->place[i].dead > 0;
		mend(net, i);
	}
	virtual_node_changed(v, i);
}

static void kill_switch(struct virtual *v)
{
	for (unsigned int i = 0; i < v->f->nodes; i++)
		if (v->f->node[i].host != NULL)
			cut(v, i);
	mf_switch_crash(v->sw, v->now);
	virtual_switch_changed(v);
}

static void revive_switch(struct virtual *v)
{
	for (unsigned int i = 0; i < v->f->nodes; i++)
		if (v->f->node[i].host != NULL)
			mend(v, i);
}

/* Pools. */

static void exhaust(struct virtual *v, const struct outage *o, bool on)
{
	struct virtual_events *e = v->events;
	enum mf_config_what what = o->rule->what;

	if (what == MF_CONFIG_REQUESTS) {
		if (exhaust_counts(&e->no_requests, on))
			mf_switch_no_requests(v->f->sw, on);
		return;
	}
	if (!exhaust_counts(&e->place[o->node].none[what], on))
		return;
	if (what == MF_CONFIG_EGRESS)
		mf_switch_close(v->f->sw, o->node, on);
	else
		mf_host_exhaust(v->f->node[o->node].host, exhaust_room(what), on);
	virtual_node_changed(v, o->node);
}

/* Corruption. */

/**
 * Both ends know that the link is disabled when word of it has gone to the other end, and back; a message
 * that had begun is over by then.
 */
void virtual_event_look(struct virtual *v, unsigned int i)
{
	const struct link_timing *link = &v->f->link[i];
	mf_time at = guard_tripped(&v->f->guards[i]);
	struct place *p = &v->events->place[i];

	if (at == MF_NEVER || v->f->guards[i].disabled)
		return;
	at += MF_SPAN_MAX * (mf_time)link->period + 2 * link->delay;
	p->guard = mf_time_min(p->guard, mf_time_max(at, v->now + 2 * v->ahead));
	v->event_next = mf_time_min(v->event_next, p->guard);
}

/** Corruption disables a link, or somebody has mended it. */
static void step_guard(struct virtual *v, unsigned int i)
{
	struct place *p = &v->events->place[i];

	p->guard = MF_NEVER;
	if (v->f->guards[i].disabled) {
		for (int end = 0; end < MF_LINK_ENDS; end++)
			mf_guard_reset(&v->f->guards[i].end[end]);
		guards_repair(v->f, i);
		mend(v, i);
		return;
	}
	v->f->guards[i].disabled = true;
	guards_disable(v->f, i, guard_seen_by(&v->f->guards[i]), v->options);
	if (guards_over(v->f, i) != 0)
		p->guard = v->now + guards_over(v->f, i);
	cut(v, i);
}

/* Outages. */

/** The network that a rule is about: of which switch. */
static struct virtual *network(struct virtual *v, const struct outage *o)
{
	return o->rule->sw != 0 ? v->twin : v;
}

static int begin(struct virtual *v, const struct outage *o)
{
	switch (o->rule->class) {
	case MF_FAULT_LINK_DOWN:
		cut(network(v, o), o->node);
		return 0;
	case MF_FAULT_NODE_CRASH:
		return kill_node(v, o->node);
	case MF_FAULT_SWITCH_CRASH:
		kill_switch(network(v, o));
		return 0;
	case MF_FAULT_EXHAUST:
		exhaust(v, o, true);
		return 0;
	default:
		return 0;
	}
}

static void end(struct virtual *v, const struct outage *o)
{
	switch (o->rule->class) {
	case MF_FAULT_LINK_DOWN:
		mend(network(v, o), o->node);
		break;
	case MF_FAULT_NODE_CRASH:
		revive_node(v, o->node);
		break;
	case MF_FAULT_SWITCH_CRASH:
		revive_switch(network(v, o));
		break;
	case MF_FAULT_EXHAUST:
		exhaust(v, o, false);
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
	mf_time next = MF_NEVER;

	for (unsigned int k = 0; k < e->outages; k++)
		next = mf_time_min(next, e->outage[k].at);
	for (unsigned int i = 0; i < v->f->nodes; i++) {
		next = mf_time_min(next, mf_time_min(e->place[i].at, e->place[i].guard));
		if (v->twin != NULL)
			next = mf_time_min(next, v->twin->events->place[i].at);
	}
	return next;
}

int virtual_event(struct virtual *v)
{
	struct virtual_events *e = v->events;
	int err = 0;

	v->now = v->event_next;
	if (v->twin != NULL)
		v->twin->now = v->now;
	v->f->info.events++;
	for (unsigned int k = 0; k < e->outages && err == 0; k++)
		if (e->outage[k].at == v->now)
			err = step_outage(v, &e->outage[k]);
	for (struct virtual *net = v; net != NULL; net = net->twin)
		for (unsigned int i = 0; i < v->f->nodes && err == 0; i++)
			if (net->events->place[i].at == v->now)
				step_link(net, i);
	for (unsigned int i = 0; i < v->f->nodes && err == 0; i++)
		if (e->place[i].guard == v->now)
			step_guard(v, i);
	v->event_next = next_of_all(v);
	return err;
}

/* Set-up. */

static int add_stall(struct virtual *v, const struct mf_config_fault *f)
{
	struct virtual_events *e = v->events;
	int err = 0;

	if (f->role == MF_CONFIG_SWITCH)
		err = stalls_add(&e->sw, f->from, f->until);
	if (f->role != MF_CONFIG_NODES && err == 0)
		err = stalls_add(&e->sched, f->from, f->until);
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

/** Of the second switch: the nodes are the same. */
static int twin_init(struct virtual *v, const struct virtual_events *first)
{
	struct virtual_events *e = v->events = calloc(1, sizeof(*e));

	if (e == NULL)
		return -ENOMEM;
	e->place = calloc(v->f->nodes, sizeof(*e->place));
	if (e->place == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < v->f->nodes; i++) {
		place_init(v, i);
		e->place[i].stalls = first->place[i].stalls;
	}
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
	struct virtual_events *e;
	int err = 0;

	if (n == 0 && v->f->guards == NULL && !may_fall_behind(v))
		return 0;
	e = v->events = calloc(1, sizeof(*e));
	if (e == NULL)
		return -ENOMEM;
	e->place = calloc(v->f->nodes, sizeof(*e->place));
	e->outage = calloc(n + 1, sizeof(*e->outage));
	if (e->place == NULL || e->outage == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < v->f->nodes; i++)
		place_init(v, i);
	for (unsigned int i = 0; i < v->f->config->faults && err == 0; i++)
		err = add_rule(v, i);
	if (err == 0 && v->twin != NULL)
		err = twin_init(v->twin, e);
	if (err != 0)
		return err;
	v->event_next = next_of_all(v);
	return err;
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
