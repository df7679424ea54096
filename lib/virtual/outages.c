/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What breaks at a time: cables, processes, the switch. It ends a stretch: when it happens all before it is
 * done on both sides. What a rule of the file does on one node is an outage, which begins and ends, perhaps
 * again and again. What that does to a link: link_state.c.
 */
#include <errno.h>
#include <stdlib.h>

#include "config/mf_config_query.h"
#include "fabric/mf_exhaust.h"
#include "virtual/outages.h"

/* Processes. */

/** @return 0 or -ENOMEM */
static int kill_node(struct virtual *v, unsigned int i)
{
	const struct mf_vertex *r = &v->graph->role[i];
	int err;

	v->outages->node[i].dead++;
	err = node_crash(v->f, i, v->now);
	for (uint32_t e = r->first_end; e < r->first_end + r->ends; e++)
		virtual_link_cut(v, v->graph->end[e].link);
	return err;
}

static void revive_node(struct virtual *v, unsigned int i)
{
	const struct mf_vertex *r = &v->graph->role[i];

	v->f->node[i].gone = --v->outages->node[i].dead > 0;
	for (uint32_t e = r->first_end; e < r->first_end + r->ends; e++)
		virtual_link_mend(v, v->graph->end[e].link);
	virtual_node_changed(v, i);
}

static void kill_switch(struct virtual_switch *s)
{
	for (unsigned int i = 0; i < s->ports; i++)
		if (virtual_port_is_used(s, i))
			virtual_link_cut(s->v, virtual_link(s->v, &s->in[i]));
	mf_sw_crash(s->sw, s->v->now);
	virtual_switch_changed(s);
}

static void revive_switch(struct virtual_switch *s)
{
	for (unsigned int i = 0; i < s->ports; i++)
		if (virtual_port_is_used(s, i))
			virtual_link_mend(s->v, virtual_link(s->v, &s->in[i]));
}

/** The switch that a rule is about, or that the link that it is about leads to. */
static struct virtual_switch *switch_of(struct virtual *v, const struct outage *o)
{
	return &v->sw[o->rule->sw];
}

/* Pools. */

/** That of the port to a node. */
static void exhaust_port(struct virtual *v, const struct outage *o, bool on)
{
	const struct mf_end *end = &v->graph->end[v->graph->link[o->link].end[MF_LINK_SWITCH]];
	struct virtual_switch *s = &v->sw[v->graph->role[end->role].number];

	if (!exhaust_counts(&v->outages->link[o->link].none[o->rule->pool], on))
		return;
	mf_sw_exhaust(s->sw, o->rule->pool, end->port, on);
	virtual_node_changed(v, o->node);
}

static void exhaust(struct virtual *v, const struct outage *o, bool on)
{
	struct virtual_outages *e = v->outages;
	struct virtual_switch *s = switch_of(v, o);
	unsigned int pool = o->rule->pool;

	switch (o->rule->what) {
	case MF_CONFIG_SWITCH_POOL:
		if (exhaust_counts(&s->outages->none[pool], on))
			mf_sw_exhaust(s->sw, pool, 0, on);
		return;
	case MF_CONFIG_PORT_POOL:
		exhaust_port(v, o, on);
		return;
	case MF_CONFIG_RING:
		if (on)
			e->link[o->link].full = mf_time_max(e->link[o->link].full, o->at);
		return;
	case MF_CONFIG_MBUFS: /* no port carries a link under this clock */
		return;
	default:
		if (!exhaust_counts(&e->node[o->node].none[pool], on))
			return;
		mf_node_exhaust(v->f->node[o->node].host, pool, on);
		virtual_node_changed(v, o->node);
	}
}

/* Outages. */

static int begin(struct virtual *v, const struct outage *o)
{
	switch (o->rule->class) {
	case MF_FAULT_LINK_DOWN:
		virtual_link_cut(v, o->link);
		return 0;
	case MF_FAULT_NODE_CRASH:
		return kill_node(v, o->node);
	case MF_FAULT_SWITCH_CRASH:
		kill_switch(switch_of(v, o));
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
		virtual_link_mend(v, o->link);
		break;
	case MF_FAULT_NODE_CRASH:
		revive_node(v, o->node);
		break;
	case MF_FAULT_SWITCH_CRASH:
		revive_switch(switch_of(v, o));
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
	const struct virtual_outages *e = v->outages;
	mf_time next = virtual_tests_next(v);

	for (unsigned int k = 0; k < e->outages; k++)
		next = mf_time_min(next, e->outage[k].at);
	for (uint32_t i = 0; i < v->graph->links; i++)
		next = mf_time_min(next, mf_time_min(e->link[i].at, e->link[i].guard));
	return next;
}

/** All that has arrived is there before anything breaks, of frames under way, too. */
static void hand_over_parts(struct virtual *v)
{
	for (uint32_t i = 0; i < v->graph->nodes; i++) {
		const struct mf_vertex *r = &v->graph->role[i];

		for (uint32_t e = r->first_end; e < r->first_end + r->ends; e++) {
			const struct wire *w = virtual_back(v, &v->wire[e]);

			if (w->to != NULL)
				virtual_port_part(w->to, w->number);
		}
		virtual_node_part(v, i);
	}
	for (unsigned int k = 0; k < v->switches; k++) /* what comes of other switches */
		for (unsigned int i = 0; i < v->sw[k].ports; i++)
			virtual_port_part(&v->sw[k], i);
}

int virtual_outage(struct virtual *v)
{
	struct virtual_outages *e = v->outages;
	int err = 0;

	v->now = v->outage_next;
	v->f->info.steps++;
	hand_over_parts(v);
	virtual_switches_settle(v, !v->redundant);
	virtual_tests_run(v);
	for (unsigned int k = 0; k < e->outages && err == 0; k++)
		if (e->outage[k].at == v->now)
			err = step_outage(v, &e->outage[k]);
	for (uint32_t i = 0; i < v->graph->links && err == 0; i++)
		if (e->link[i].at == v->now)
			virtual_link_step(v, i);
	for (uint32_t i = 0; i < v->graph->links && err == 0; i++)
		if (e->link[i].guard == v->now)
			virtual_link_guard(v, i);
	v->outage_next = next_of_all(v);
	return err;
}

/* Set-up. */

static int add_stall(struct virtual *v, const struct mf_config_fault *f)
{
	struct virtual_outages *e = v->outages;
	struct switch_events *s = &e->sw[f->sw];
	int err = 0;

	if (f->role == MF_CONFIG_SLOW_PATHS) /* the memory knows (mf_vm_timed_stall()) */
		return 0;
	if (f->role == MF_CONFIG_SWITCH)
		err = stalls_add(&s->sw, f->from, f->until);
	if (f->role != MF_CONFIG_NODES && err == 0)
		err = stalls_add(&s->sched, f->from, f->until);
	for (unsigned int i = 0; i < f->link.n && err == 0; i++)
		err = stalls_add(&e->node[f->link.node[i]].stalls, f->from, f->until);
	return err;
}

/** Links of role TRUNKS follow those of the nodes. */
static void add_trunks(struct virtual *v, unsigned int rule)
{
	const struct mf_config *c = v->f->config;
	struct virtual_outages *e = v->outages;

	for (uint32_t i = v->f->node_links; i < v->graph->links; i++)
		if (mf_config_fault_has(c, &c->fault[rule],
					(unsigned int)(v->f->trunk[i - v->f->node_links] - c->trunk), NULL))
			outage_init_trunk(&e->outage[e->outages++], c, rule, i);
}

/** Of a node: of its links those that the rule is about, or itself, or what it has. */
static void add_node(struct virtual *v, unsigned int rule, unsigned int node)
{
	const struct mf_config_fault *f = &v->f->config->fault[rule];
	struct virtual_outages *e = v->outages;

	for (unsigned int k = 0; k < v->graph->role[node].ends; k++)
		if (fabric_outage_at(v->f, f, node, k))
			outage_init_end(&e->outage[e->outages++], v->f->config, rule, node,
					v->redundant ? 0 : k, fabric_link(v->f, k, node));
}

/** One of a rule for each node or link that it is about, or for what is neither. */
static int add_rule(struct virtual *v, unsigned int rule)
{
	const struct mf_config_fault *f = &v->f->config->fault[rule];
	struct virtual_outages *e = v->outages;

	if (f->class < MF_FAULT_STAGE_CLASSES || f->class == MF_FAULT_SKEW)
		return 0;
	if (f->role == MF_CONFIG_TRUNKS)
		add_trunks(v, rule);
	else if (f->role != MF_CONFIG_NODES)
		outage_init(&e->outage[e->outages++], v->f->config, rule, v->f->nodes);
	for (unsigned int i = 0; i < f->link.n && f->role == MF_CONFIG_NODES; i++)
		add_node(v, rule, f->link.node[i]);
	return f->class == MF_FAULT_STALL ? add_stall(v, f) : 0;
}

static void place_init(struct virtual *v, unsigned int link)
{
	struct link_place *p = &v->outages->link[link];

	p->at = p->guard = MF_NEVER;
	p->room = (mf_time)fabric_link_config(v->f, link)->ring * MF_SPAN_MAX * v->f->link[link].period;
}

/** Whether a switch may be told by who is no node which one is active. */
static bool may_lie(const struct mf_config *c)
{
	for (unsigned int i = 0; i < c->faults; i++)
		if (c->fault[i].class == MF_FAULT_SPOOF || c->fault[i].class == MF_FAULT_GARBAGE)
			return true;
	return false;
}

static int make_outages(struct virtual *v, unsigned int outages, bool slow)
{
	struct virtual_outages *e = v->outages = calloc(1, sizeof(*e));

	if (e == NULL)
		return -ENOMEM;
	e->link = calloc(v->graph->links, sizeof(*e->link));
	e->node = calloc(v->graph->nodes, sizeof(*e->node));
	e->sw = calloc(v->switches, sizeof(*e->sw));
	e->outage = calloc(outages + 1, sizeof(*e->outage));
	if (e->link == NULL || e->node == NULL || e->sw == NULL || e->outage == NULL)
		return -ENOMEM;
	e->slow = slow;
	for (unsigned int k = 0; k < v->switches; k++)
		v->sw[k].outages = &e->sw[k];
	for (uint32_t i = 0; i < v->graph->links; i++)
		place_init(v, i);
	for (uint32_t i = 0; i < v->graph->ends; i++)
		v->wire[i].impaired = true;
	return 0;
}

/**
 * Whether links may bring more within the time of an insert than the scheduler has room for, so that they
 * have to be pushed back: a block may make two descriptors.
 */
static bool may_fall_behind(const struct virtual *v)
{
	for (uint32_t i = 0; i < v->f->node_links; i++) {
		const struct mf_config_sched *c = &v->f->tier[v->f->link[i].tier].config->sched;

		if (c->timed && v->f->node[fabric_link_node(v->f, i)].host != NULL &&
		    2 * c->insert > MF_SCHED_PENDING * (mf_time)v->f->link[i].period)
			return true;
	}
	return false;
}

int virtual_outage_init(struct virtual *v)
{
	unsigned int n = outages_max(v->f->config);
	int err;

	bool slow = may_fall_behind(v);

	if (n == 0 && v->f->config->tests == 0 && v->f->guards == NULL && !slow)
		return 0;
	err = make_outages(v, n, slow);
	for (unsigned int i = 0; i < v->f->config->faults && err == 0; i++)
		err = add_rule(v, i);
	if (err == 0)
		err = virtual_tests_init(v);
	if (err != 0)
		return err;
	v->outage_next = next_of_all(v);
	virtual_switches_settle(v, !v->redundant || !may_lie(v->f->config));
	return err;
}

void virtual_outage_settle(struct virtual *v)
{
	if (may_lie(v->f->config))
		return;
	for (unsigned int i = 0; i < v->f->nodes; i++)
		if (v->f->node[i].host != NULL && mf_node_tells(v->f->node[i].host))
			return;
	virtual_switches_settle(v, true);
}

void virtual_outage_fini(struct virtual *v)
{
	struct virtual_outages *e = v->outages;

	if (e == NULL)
		return;
	for (unsigned int k = 0; k < e->outages; k++)
		v->f->fault_fired[e->outage[k].rule - v->f->config->fault] += e->outage[k].times;
	for (uint32_t i = 0; i < v->graph->nodes && e->node != NULL; i++)
		free(e->node[i].stalls.stall);
	for (unsigned int k = 0; k < v->switches && e->sw != NULL; k++) {
		free(e->sw[k].sw.stall);
		free(e->sw[k].sched.stall);
	}
	free(e->link);
	free(e->node);
	free(e->sw);
	free(e->outage);
	free(e);
}
