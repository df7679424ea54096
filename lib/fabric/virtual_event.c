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

#include "config_internal.h"
#include "guards.h"
#include "mf_rng.h"
#include "virtual.h"

/*
 * Blocks until a receiver without a signal has lost its block lock, and has it again (IEEE 802.3
 * 49.2.13.3).
 */
#define LOCK_LOST 16
#define LOCK_FOUND 64

enum link_phase { LINK_WHOLE, LINK_DARK, LINK_LOST };

/** A node and its link. */
struct place {
	unsigned int cuts; /**< outages in force that cut the link */
	unsigned int dead; /**< of those, of the process */
	unsigned int none[MF_CONFIG_WHATS]; /**< outages that take away all of it */
	enum link_phase phase;
	mf_time at; /**< of the next step of the link; MF_NEVER: it waits for the last outage to end */
	struct stalls stalls;
	mf_time guard; /**< corruption disables the link, or it is mended; MF_NEVER: neither */
	mf_time room; /**< how far a receiver may be behind before its sender waits: what its ring holds */
};

/** What a rule does at one place. */
struct outage {
	mf_time at; /**< begins or ends */
	bool on;
	uint16_t rule;
	uint16_t node; /**< nodes: it is the switch */
	uint64_t round;
	struct mf_rng rng;
};

struct virtual_events {
	struct place *place; /**< [nodes] */
	struct outage *outage;
	unsigned int outages;
	struct stalls sw, sched; /**< sched: with those of the switch */
	unsigned int no_requests; /**< outages that take away the switch's buffer */
	mf_time closed; /**< the switch takes nothing before: it could tell a stalled scheduler no more */
};

static const struct mf_config_fault *rule_of(const struct virtual *v, const struct outage *o)
{
	return &v->f->config->fault[o->rule];
}

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
	struct node *n = &v->f->node[i];
	int err;

	for (struct virtual *net = v; net != NULL; net = net->twin)
		net->events->place[i].dead++;
	n->gone = true;
	if (n->client != NULL)
		mf_client_crashed(n->client, v->now);
	pending_forget(&v->f->pending, (uint16_t)i);
	err = node_new_memory(v->f, i);
	if (err == 0)
		err = mf_host_restart(n->host, v->now, n->memory);
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

static void exhaust_node(struct virtual *v, unsigned int i, enum mf_config_what what, bool on)
{
	static const enum mf_host_room room[] = {
		[MF_CONFIG_QUEUE] = MF_HOST_QUEUE,
		[MF_CONFIG_GRANTS] = MF_HOST_GRANTS,
		[MF_CONFIG_BUFFERS] = MF_HOST_BUFFERS,
		[MF_CONFIG_ROOM] = MF_HOST_MUX,
	};
	unsigned int *none = &v->events->place[i].none[what];

	*none += on ? 1 : -1U;
	if (*none > on) /* another one has, or still wants, the same */
		return;
	if (what == MF_CONFIG_EGRESS)
		mf_switch_close(v->f->sw, i, on);
	else
		mf_host_exhaust(v->f->node[i].host, room[what], on);
	virtual_node_changed(v, i);
}

static void exhaust(struct virtual *v, const struct outage *o, bool on)
{
	struct virtual_events *e = v->events;

	if (rule_of(v, o)->what == MF_CONFIG_REQUESTS) {
		e->no_requests += on ? 1 : -1U;
		mf_switch_no_requests(v->f->sw, e->no_requests > 0);
	} else {
		exhaust_node(v, o->node, rule_of(v, o)->what, on);
	}
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
	mf_time repair = v->f->config->node[i].link.disable.repair;
	struct place *p = &v->events->place[i];

	p->guard = MF_NEVER;
	if (v->f->guards[i].disabled) {
		guards_repair(v->f, i);
		mend(v, i);
		return;
	}
	if (repair != 0)
		p->guard = v->now + repair;
	guards_disable(v->f, i, v->options);
	cut(v, i);
}

/* Outages. */

/** The network that a rule is about: of which switch. */
static struct virtual *network(struct virtual *v, const struct outage *o)
{
	return rule_of(v, o)->sw != 0 ? v->twin : v;
}

static int begin(struct virtual *v, const struct outage *o)
{
	v->f->fault_fired[o->rule]++;
	switch (rule_of(v, o)->class) {
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
	switch (rule_of(v, o)->class) {
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

/**
 * Once, or about every so often: up to a quarter of that late, for more or less than so long by a quarter.
 */
static mf_time begins(const struct mf_config_fault *f, struct outage *o)
{
	mf_time at = f->from + o->round * f->every;

	if (f->every == 0)
		return o->round == 0 ? at : MF_NEVER;
	at += mf_rng_below(&o->rng, f->every / 4 + 1);
	o->round++;
	return at < f->until ? at : MF_NEVER;
}

static mf_time ends(const struct mf_config_fault *f, struct outage *o, mf_time now)
{
	if (f->every != 0)
		return now + f->length * 3 / 4 + mf_rng_below(&o->rng, f->length / 2 + 1);
	o->round++;
	return f->until;
}

static int step_outage(struct virtual *v, struct outage *o)
{
	const struct mf_config_fault *f = rule_of(v, o);
	int err = 0;

	o->on = !o->on;
	if (o->on) {
		o->at = f->class == MF_FAULT_STALL ? MF_NEVER : ends(f, o, v->now);
		err = begin(v, o);
	} else {
		o->at = begins(f, o);
		end(v, o);
	}
	return err;
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

/* Who is called when, and what is dated how. */

bool virtual_event_whole(const struct virtual *v, unsigned int i)
{
	return v->events->place[i].phase == LINK_WHOLE;
}

mf_time virtual_event_node(const struct virtual *v, unsigned int i, mf_time t)
{
	const struct place *p = &v->events->place[i];

	return p->dead > 0 ? MF_NEVER : stalls_over(&p->stalls, t);
}

mf_time virtual_event_switch(const struct virtual *v, mf_time t)
{
	return stalls_over(&v->events->sw, t);
}

/** A receiver that has room takes what is sent at t; one that has not, only when it is awake again. */
static mf_time with_room(const struct wire *w, mf_time room, mf_time t, mf_time awake)
{
	return awake != t + w->delay && w->busy_until > awake + room ? awake - w->delay : t;
}

mf_time virtual_event_up(const struct virtual *v, unsigned int i, mf_time t)
{
	const struct virtual_events *e = v->events;
	const struct place *p = &e->place[i];
	mf_time arrives;

	if (t == MF_NEVER || p->phase == LINK_LOST || p->dead > 0)
		return MF_NEVER;
	t = stalls_over(&p->stalls, t);
	arrives = t + v->up[i].delay;
	return with_room(&v->up[i], p->room, t, mf_time_max(stalls_over(&e->sw, arrives), e->closed));
}

mf_time virtual_event_down(const struct virtual *v, unsigned int i, mf_time t)
{
	const struct place *p = &v->events->place[i];

	if (t == MF_NEVER || p->phase != LINK_WHOLE) /* what is sent is lost */
		return t;
	return with_room(&v->down[i], p->room, t, stalls_over(&p->stalls, t + v->down[i].delay));
}

void virtual_event_date(const struct virtual *v, const struct wire *w, struct mf_span *span)
{
	unsigned int n = v->f->nodes, i = (unsigned int)(w - v->up);
	const struct virtual_events *e = v->events;
	const struct stalls *node = &e->place[i % n].stalls;
	bool up = i < n;
	mf_time at = stalls_over(up ? node : &e->sw, span->start) + w->delay;

	at = stalls_over(up ? &e->sw : node, at);
	if (up)
		at = mf_time_max(at, e->closed);
	if (w->busy_until != 0)
		at = mf_time_max(at, w->busy_until + span->period);
	span->start = at - w->delay;
}

/* The scheduler. Its clock stands still while it, or its switch, is stalled: no port is released then. */

mf_time virtual_event_sched_next(const struct virtual *v, mf_time t)
{
	const struct stalls *s = &v->events->sched;

	return stalls_over(s, stalls_time(s, t));
}

mf_time virtual_event_sched_stalled(const struct virtual *v)
{
	mf_time over = stalls_over(&v->events->sched, v->now);

	return over == v->now ? 0 : over;
}

void virtual_event_descriptors(const struct virtual *v, struct mf_sched_msg *msg, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		msg[i].at = stalls_clock(&v->events->sched, msg[i].at);
}

unsigned int virtual_event_match(const struct virtual *v, struct mf_sched_grant *grant, unsigned int max)
{
	const struct stalls *s = &v->events->sched;
	unsigned int n = v->f->sched_ops->run(v->sched, stalls_clock(s, v->now), grant, max);

	for (unsigned int i = 0; i < n; i++) {
		grant[i].at = virtual_event_sched_next(v, grant[i].at);
		grant[i].since = mf_time_min(stalls_time(s, grant[i].since), grant[i].at);
	}
	return n;
}

/** What is under way to the switch arrives at `closed` at the earliest, one behind the other. */
static void put_off(struct virtual *v, struct wire *w)
{
	mf_time at = v->events->closed;

	for (uint32_t i = 0; i < wire_flights(w); i++) {
		struct wire_entry *x = wire_flight(w, i);

		x->due = mf_time_max(x->due, at);
		x->flight->start = mf_time_max(x->flight->start, at);
		at = x->flight->start + (mf_time)x->flight->count * x->flight->period;
		w->busy_until = mf_time_max(w->busy_until, at - x->flight->period);
	}
	if (wire_flights(w) > 0)
		w->due = wire_flight(w, 0)->due;
}

void virtual_event_close(struct virtual *v, mf_time until)
{
	if (v->events->closed >= until)
		return;
	v->events->closed = until;
	v->arrivals.n = v->arrivals.next = 0;
	for (unsigned int i = 0; i < v->f->nodes; i++) {
		put_off(v, &v->up[i]);
		virtual_switch_hears(v, i);
	}
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

static void add_outage(struct virtual *v, unsigned int rule, unsigned int node)
{
	struct outage *o = &v->events->outage[v->events->outages++];

	*o = (struct outage){.rule = (uint16_t)rule, .node = (uint16_t)node};
	mf_rng_init(&o->rng, v->f->config->seed, "fault outage", (uint64_t)rule << 16 | node);
	o->at = begins(rule_of(v, o), o);
}

/** One of a rule for each node that it is about, or for what is not a node. */
static int add_rule(struct virtual *v, unsigned int rule)
{
	const struct mf_config_fault *f = &v->f->config->fault[rule];

	if (f->class < MF_FAULT_STAGE_CLASSES)
		return 0;
	if (f->role != MF_CONFIG_NODES)
		add_outage(v, rule, v->f->nodes);
	for (unsigned int i = 0; i < f->link.n && f->role == MF_CONFIG_NODES; i++)
		add_outage(v, rule, f->link.node[i]);
	return f->class == MF_FAULT_STALL ? add_stall(v, f) : 0;
}

static unsigned int outages_of(const struct mf_config *config)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < config->faults; i++)
		if (config->fault[i].class >= MF_FAULT_STAGE_CLASSES)
			n += config->fault[i].role != MF_CONFIG_NODES ? 1 : config->fault[i].link.n;
	return n;
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

int virtual_event_init(struct virtual *v)
{
	unsigned int n = outages_of(v->f->config);
	struct virtual_events *e;
	int err = 0;

	if (n == 0 && v->f->guards == NULL)
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
	for (unsigned int i = 0; i < v->f->nodes && e->place != NULL && v->nodes == v; i++)
		free(e->place[i].stalls.stall);
	free(e->place);
	free(e->outage);
	free(e->sw.stall);
	free(e->sched.stall);
	free(e);
}
