/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What breaks at a time under the wall clock, and who is stalled. Each role has outages of its own, and
 * looks at them in its turn. The outage of a cable is the switch's, where the switch is in this process,
 * else the node's; where a port carries the link it loses the link's frames meanwhile.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>

#include "base/mf_table.h"
#include "fabric/mf_exhaust.h"
#include "wall/outages.h"
#include "wall/ports/mf_port.h"

/** The end that a role has of a node's link to a switch. */
static struct wall_end *end_of(const struct wall *w, const struct wall_role *r, unsigned int net,
			       unsigned int node)
{
	return &w->net[net].end[r->role->kind == ROLE_SWITCH ? MF_LINK_SWITCH : MF_LINK_NODE][node];
}

static bool is_here(const struct wall_end *e)
{
	return e->role != NULL;
}

/* Outages. */

/** All ends of a node's links, or of a switch's. */
static void all_ends(struct wall *w, struct wall_role *r, void (*what)(struct wall_end *e))
{
	const struct role *role = r->role;

	for (unsigned int k = 0; k < w->nets && role_is_node(role); k++)
		what(end_of(w, r, k, role->index));
	for (unsigned int i = 0; i < w->f->nodes && role->kind == ROLE_SWITCH; i++)
		if (is_here(end_of(w, r, role->net, i)))
			what(end_of(w, r, role->net, i));
}

/** The process of a node is gone. If there is no memory for the next one, the run ends with an error. */
static void crash_node(struct wall *w, struct wall_role *r)
{
	unsigned int node = r->role->index;
	bool crosses = false;

	r->dead++;
	if (role_crash(r->role, wall_role_clock(r, r->now)) != 0) {
		snprintf(w->f->info.error, sizeof(w->f->info.error), "%s: no memory for another process",
			 role_name(r->role));
		w->err = -ENOMEM;
		atomic_store_explicit(&w->stop, true, memory_order_relaxed);
	}
	for (unsigned int k = 0; k < w->nets; k++)
		crosses |= w->net[k].up[node].crossing != NULL;
	if (crosses)
		role_short_spans(r->role, end_of(w, r, 0, node)->port);
	all_ends(w, r, wall_end_cut);
}

static void revive_node(struct wall *w, struct wall_role *r)
{
	w->f->node[r->role->index].gone = --r->dead > 0;
	all_ends(w, r, wall_end_mend);
}

static void crash_switch(struct wall *w, struct wall_role *r)
{
	w->net[r->role->net].gone++;
	all_ends(w, r, wall_end_cut);
	role_crash(r->role, wall_role_clock(r, r->now));
}

static void revive_switch(struct wall *w, struct wall_role *r)
{
	w->net[r->role->net].gone--;
	all_ends(w, r, wall_end_mend);
}

/** Of a link's ring: at whoever sends, which is any of its two roles. */
static void fill_ring(struct wall *w, const struct wall_role *r, const struct outage *o, bool on)
{
	struct wall_net *net = &w->net[o->rule->sw];
	struct wall_link *out = r->role->kind == ROLE_SWITCH ? &net->down[o->node] : &net->up[o->node];

	out->harm->full += on ? 1 : -1U;
}

static void exhaust(struct wall *w, struct wall_role *r, const struct outage *o, bool on)
{
	unsigned int what = o->rule->what;
	mf_time now = wall_role_clock(r, r->now);

	switch (what) {
	case MF_CONFIG_RING:
		fill_ring(w, r, o, on);
		break;
	case MF_CONFIG_MBUFS:
		if (exhaust_counts(&r->none[what], on))
			port_exhaust(r->role->carrier, on);
		break;
	case MF_CONFIG_EGRESS:
		if (exhaust_counts(&r->closed[o->node], on))
			role_exhaust(r->role, exhaust_pool(role_ops(r->role), what), o->node, on, now);
		break;
	default:
		if (exhaust_counts(&r->none[what], on))
			role_exhaust(r->role, exhaust_pool(role_ops(r->role), what), 0, on, now);
	}
}

static void begin(struct wall *w, struct wall_role *r, const struct outage *o)
{
	switch (o->rule->class) {
	case MF_FAULT_LINK_DOWN:
		wall_end_cut(end_of(w, r, o->rule->sw, o->node));
		break;
	case MF_FAULT_NODE_CRASH:
		crash_node(w, r);
		break;
	case MF_FAULT_SWITCH_CRASH:
		crash_switch(w, r);
		break;
	case MF_FAULT_EXHAUST:
		exhaust(w, r, o, true);
		break;
	}
}

static void end(struct wall *w, struct wall_role *r, const struct outage *o)
{
	switch (o->rule->class) {
	case MF_FAULT_LINK_DOWN:
		wall_end_mend(end_of(w, r, o->rule->sw, o->node));
		break;
	case MF_FAULT_NODE_CRASH:
		revive_node(w, r);
		break;
	case MF_FAULT_SWITCH_CRASH:
		revive_switch(w, r);
		break;
	case MF_FAULT_EXHAUST:
		exhaust(w, r, o, false);
		break;
	}
}

static void step_outage(struct wall *w, struct wall_role *r, struct outage *o)
{
	if (outage_step(o))
		begin(w, r, o);
	else
		end(w, r, o);
}

/** All that has become due since the last turn, which may be long ago, in the order of time. */
static void step_outages(struct wall *w, struct wall_role *r)
{
	while (r->next <= r->now) {
		mf_time next = MF_NEVER;

		for (unsigned int i = 0; i < r->outages; i++) {
			if (r->outage[i].at == r->next)
				step_outage(w, r, &r->outage[i]);
			next = mf_time_min(next, r->outage[i].at);
		}
		r->next = next;
	}
}

/* Turns. */

/** @return spans that have left the stage of the way out of an end */
static unsigned int turn_end(struct wall *w, const struct wall_role *r, struct wall_end *e, bool steps)
{
	wall_end_guard(w, e, r->now);
	if (steps && e->other != NULL)
		wall_end_step(e, wall_role_clock(r, r->now));
	return r->dead == 0 ? wall_harm_turn(e->out) : 0;
}

static unsigned int turn_node(struct wall *w, const struct wall_role *r)
{
	unsigned int work = 0;

	for (unsigned int k = 0; k < w->nets; k++)
		work += turn_end(w, r, end_of(w, r, k, r->role->index), true);
	return work;
}

/** One of two looks at its links itself, when it has looked for what the watchdog says. */
static unsigned int turn_switch(struct wall *w, const struct wall_role *r)
{
	unsigned int work = 0;

	for (unsigned int i = 0; i < w->f->nodes; i++) {
		struct wall_end *e = end_of(w, r, r->role->net, i);

		if (is_here(e))
			work += turn_end(w, r, e, w->nets == 1);
	}
	return work;
}

bool wall_fault_turn(struct wall *w, struct role *role, mf_time *now, unsigned int *work)
{
	struct wall_role *r = wall_faults_of(w, role);

	r->now = *now;
	step_outages(w, r);
	r->stalled = r->stalls.n > 0 && stalls_over(&r->stalls, r->now) != r->now;
	if (r->stalled) {
		*work = 1; /* it is lost in what it does: its thread lets no other one run */
		return false;
	}
	*now = wall_role_clock(r, r->now);
	if (role_is_node(role))
		*work += turn_node(w, r);
	else if (role->kind == ROLE_SWITCH)
		*work += turn_switch(w, r);
	return r->dead == 0;
}

/* Set-up. */

static bool carries(const struct wall_port *p, unsigned int net, unsigned int node)
{
	unsigned int k = 0;

	while (k < p->ends && (p->end[k].node != node || p->end[k].net != net))
		k++;
	return k < p->ends;
}

/** Whether a role has the outage of a rule, at a node. */
static bool is_of(const struct wall *w, const struct mf_config_fault *f, unsigned int node,
		  const struct role *r)
{
	bool of_node = role_is_node(r) && r->index == node;
	bool of_switch = r->kind == ROLE_SWITCH && r->net == f->sw;
	bool of_sched = r->kind == ROLE_SCHED && r->net == f->sw;

	switch (f->role) {
	case MF_CONFIG_LCORE:
		return w->lcore[r->lcore].id == f->lcore;
	case MF_CONFIG_SCHED:
		return of_sched;
	case MF_CONFIG_SWITCH: /* a scheduler does not go on without its switch */
		return of_switch || (of_sched && f->class == MF_FAULT_STALL);
	default:
		break;
	}
	if (f->class == MF_FAULT_LINK_DOWN && w->net[f->sw].sw != NULL)
		return of_switch;
	if (f->class != MF_FAULT_EXHAUST || f->what < MF_CONFIG_EGRESS)
		return of_node;
	if (f->what == MF_CONFIG_MBUFS)
		return r->kind == ROLE_PORT && carries(r->carrier, f->sw, node);
	return of_switch || (of_node && f->what == MF_CONFIG_RING);
}

static int add_outage(struct wall *w, struct wall_role *r, unsigned int rule, unsigned int node)
{
	const struct mf_config_fault *f = &w->f->config->fault[rule];
	struct outage *more = realloc(r->outage, (r->outages + 1) * sizeof(*more));

	if (more == NULL)
		return -ENOMEM;
	r->outage = more;
	outage_init(&more[r->outages], w->f->config, rule, node);
	r->next = mf_time_min(r->next, more[r->outages++].at);
	return f->class == MF_FAULT_EXHAUST && f->what == MF_CONFIG_MBUFS
		       ? port_exhaust_init(r->role->carrier)
		       : 0;
}

/** A rule at a node, or at what is none, at all roles that it is of. Roles stand still together: once. */
static int add_outages(struct wall *w, unsigned int rule, unsigned int node)
{
	const struct mf_config_fault *f = &w->f->config->fault[rule];
	unsigned int found = 0;
	int err = 0;

	for (unsigned int i = 0; i < w->roles && err == 0; i++) {
		struct wall_role *r = &w->faults->role[i];

		if (!is_of(w, f, node, r->role))
			continue;
		if (f->class == MF_FAULT_STALL)
			err = stalls_add(&r->stalls, f->from, f->until);
		if (err == 0 && (f->class != MF_FAULT_STALL || found == 0))
			err = add_outage(w, r, rule, node);
		found++;
	}
	if (found > 0 || f->role != MF_CONFIG_LCORE || !fabric_whole(w->f))
		return err;
	snprintf(w->f->info.error, sizeof(w->f->info.error), "faults[%u].lcore: no roles are on an lcore %u",
		 rule, f->lcore);
	return -EINVAL;
}

static int add_rule(struct wall *w, unsigned int rule)
{
	const struct mf_config_fault *f = &w->f->config->fault[rule];
	int err = 0;

	if (f->class < MF_FAULT_STAGE_CLASSES || f->class == MF_FAULT_SKEW)
		return 0;
	if (f->role != MF_CONFIG_NODES)
		return add_outages(w, rule, w->f->nodes);
	for (unsigned int i = 0; i < f->link.n && err == 0; i++)
		err = add_outages(w, rule, f->link.node[i]);
	return err;
}

/** The ways out of an end and, where a port carries its link, into it. @return 0 or -errno */
static int init_ways(struct wall *w, unsigned int net, enum mf_link_end end, unsigned int node)
{
	struct wall_end *e = &w->net[net].end[end][node];
	struct wall_harm *out = &w->faults->net[net].harm[end][node];
	struct wall_harm *in = &w->faults->net[net].from_port[end][node];
	struct wall_role *own = wall_faults_of(w, e->role);

	*out = (struct wall_harm){
		.from_end = e, .to_end = e->other, .from = own, .to = wall_faults_of(w, e->out->to)};
	e->out->harm = out;
	e->out->odd = true;
	if (e->carried != NULL) {
		*in = (struct wall_harm){.to_end = e, .from = out->to, .to = own};
		e->in->harm = in;
		e->in->odd = true;
	}
	return wall_harm_init(w, out, net, node, end == MF_LINK_NODE);
}

static int init_end(struct wall *w, unsigned int net, enum mf_link_end end, unsigned int node)
{
	struct wall_end *e = &w->net[net].end[end][node];
	struct mf_fabric *f = w->f;

	if (!is_here(e))
		return 0;
	e->harmed = wall_faults_of(w, e->role);
	e->guard = f->guards != NULL ? &f->guards[fabric_link(f, net, node)] : NULL;
	if (e->guard != NULL && !e->guard->on)
		e->guard = NULL;
	return init_ways(w, net, end, node);
}

static int init_role(struct wall *w, unsigned int i)
{
	struct wall_role *r = &w->faults->role[i];

	r->role = &w->role[i];
	r->next = MF_NEVER;
	if (role_is_node(r->role))
		r->skew = &w->f->node[r->role->index].skew;
	else if (r->role->kind != ROLE_PORT)
		r->skew = &w->f->skew;
	if (r->role->kind != ROLE_SWITCH)
		return 0;
	r->closed = calloc(w->f->nodes, sizeof(*r->closed));
	return r->closed != NULL ? 0 : -ENOMEM;
}

/** Their crossings have lines of two, which a table does not begin at. */
static struct wall_harm *new_harms(unsigned int n)
{
	struct wall_harm *harm = aligned_alloc(__alignof__(*harm), n * sizeof(*harm));

	if (harm != NULL)
		memset(harm, 0, n * sizeof(*harm));
	return harm;
}

static int make_net(struct wall *w, unsigned int net)
{
	unsigned int n = w->f->nodes;

	for (enum mf_link_end end = 0; end < MF_LINK_ENDS; end++) {
		struct wall_harm **harm = &w->faults->net[net].harm[end];
		struct wall_harm **from_port = &w->faults->net[net].from_port[end];
		int err = 0;

		*harm = new_harms(n);
		*from_port = new_harms(n);
		if (*harm == NULL || *from_port == NULL)
			return -ENOMEM;
		for (unsigned int i = 0; i < n && err == 0; i++)
			err = init_end(w, net, end, i);
		if (err != 0)
			return err;
	}
	return 0;
}

int wall_fault_set_up(struct wall *w)
{
	int err = 0;

	if (w->f->config->faults == 0 && w->f->guards == NULL)
		return 0;
	w->faults = calloc(1, sizeof(*w->faults));
	if (w->faults == NULL)
		return -ENOMEM;
	w->faults->role = mf_table_new(w->roles, sizeof(*w->faults->role));
	if (w->faults->role == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < w->roles && err == 0; i++)
		err = init_role(w, i);
	for (unsigned int k = 0; k < w->nets && err == 0; k++)
		err = make_net(w, k);
	for (unsigned int i = 0; i < w->f->config->faults && err == 0; i++)
		err = add_rule(w, i);
	return err;
}

static void role_over(struct wall *w, struct wall_role *r)
{
	for (unsigned int k = 0; k < r->outages; k++)
		w->f->fault_fired[r->outage[k].rule - w->f->config->fault] += r->outage[k].times;
	if (r->role->kind == ROLE_PORT)
		port_exhaust_fini(r->role->carrier);
	free(r->outage);
	free(r->closed);
	free(r->stalls.stall);
}

static void net_over(struct wall *w, unsigned int net)
{
	for (int end = 0; end < MF_LINK_ENDS; end++) {
		struct wall_harm *harm = w->faults->net[net].harm[end];

		for (unsigned int n = 0; n < w->f->nodes && harm != NULL; n++)
			wall_harm_fini(w, &harm[n], net, n, end == MF_LINK_NODE);
		free(harm);
		free(w->faults->net[net].from_port[end]);
	}
}

void wall_fault_tear_down(struct wall *w)
{
	struct wall_faults *f = w->faults;

	if (f == NULL)
		return;
	for (unsigned int i = 0; f->role != NULL && i < w->roles; i++)
		role_over(w, &f->role[i]);
	for (unsigned int k = 0; k < w->nets; k++)
		net_over(w, k);
	mf_table_free(f->role);
	free(f);
	w->faults = NULL;
}
