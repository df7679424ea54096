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
#include "config/mf_config_query.h"
#include "fabric/mf_exhaust.h"
#include "wall/outages.h"
#include "wall/ports/mf_port.h"

static bool is_here(const struct wall_end *e)
{
	return e->role != NULL;
}

/** The end that a role has of a link. */
static struct wall_end *end_of(const struct wall *w, const struct role *r, uint32_t link)
{
	const uint32_t *end = w->f->graph->link[link].end;

	return &w->end[end[w->end[end[MF_LINK_SWITCH]].role == r ? MF_LINK_SWITCH : MF_LINK_NODE]];
}

/** Its ends in the graph, of a node or a switch. @return the first of *n */
static struct wall_end *ends_of(const struct wall *w, const struct role *r, unsigned int *n)
{
	*n = w->f->graph->role[w->graph_end[r->first_end].role].ends;
	return &w->end[r->first_end];
}

/* Outages. */

/** All ends of a node's links, or of a switch's. */
static void all_ends(struct wall *w, struct wall_role *r, void (*what)(struct wall_end *e))
{
	unsigned int n;
	struct wall_end *e = ends_of(w, r->role, &n);

	for (unsigned int i = 0; i < n; i++)
		if (is_here(&e[i]))
			what(&e[i]);
}

/** The process of a node is gone. If there is no memory for the next one, the run ends with an error. */
static void crash_node(struct wall *w, struct wall_role *r)
{
	bool crosses = false;
	unsigned int n;
	struct wall_end *e = ends_of(w, r->role, &n);

	r->dead++;
	if (role_crash(r->role, wall_role_clock(r, r->now)) != 0) {
		snprintf(w->f->info.error, sizeof(w->f->info.error), "%s: no memory for another process",
			 role_name(r->role));
		w->err = -ENOMEM;
		atomic_store_explicit(&w->stop, true, memory_order_relaxed);
	}
	for (unsigned int k = 0; k < n; k++)
		crosses |= e[k].out->crossing != NULL;
	if (crosses)
		role_short_spans(r->role, e->port);
	all_ends(w, r, wall_end_cut);
}

static void revive_node(struct wall *w, struct wall_role *r)
{
	w->f->node[r->role->index].gone = --r->dead > 0;
	all_ends(w, r, wall_end_mend);
}

static void crash_switch(struct wall *w, struct wall_role *r)
{
	w->sw[r->role->index].gone++;
	all_ends(w, r, wall_end_cut);
	role_crash(r->role, wall_role_clock(r, r->now));
}

static void revive_switch(struct wall *w, struct wall_role *r)
{
	w->sw[r->role->index].gone--;
	all_ends(w, r, wall_end_mend);
}

/** Of a link's ring: at whoever sends, which is any of its two roles. */
static void fill_ring(struct wall *w, const struct wall_role *r, const struct outage *o, bool on)
{
	end_of(w, r->role, o->link)->out->impair->full += on ? 1 : -1U;
}

static void exhaust(struct wall *w, struct wall_role *r, const struct outage *o, bool on)
{
	unsigned int pool = o->rule->pool, port;
	mf_time now = wall_role_clock(r, r->now);

	switch (o->rule->what) {
	case MF_CONFIG_RING:
		fill_ring(w, r, o, on);
		break;
	case MF_CONFIG_MBUFS:
		if (exhaust_counts(&r->none[0], on))
			port_exhaust(r->role->carrier, on);
		break;
	case MF_CONFIG_PORT_POOL:
		port = end_of(w, r->role, o->link)->port;
		if (exhaust_counts(&r->closed[port][pool], on))
			role_exhaust(r->role, pool, port, on, now);
		break;
	default:
		if (exhaust_counts(&r->none[pool], on))
			role_exhaust(r->role, pool, 0, on, now);
	}
}

static void begin(struct wall *w, struct wall_role *r, const struct outage *o)
{
	switch (o->rule->class) {
	case MF_FAULT_LINK_DOWN:
		wall_end_cut(end_of(w, r->role, o->link));
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
		wall_end_mend(end_of(w, r->role, o->link));
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
	return r->dead == 0 ? wall_impair_turn(e->out) : 0;
}

/** One of two switches looks at its links itself, when it has looked for what the watchdog says. */
static unsigned int turn_ends(struct wall *w, const struct wall_role *r)
{
	bool steps = !w->redundant || role_is_node(r->role);
	unsigned int work = 0, n;
	struct wall_end *e = ends_of(w, r->role, &n);

	for (unsigned int i = 0; i < n; i++)
		if (is_here(&e[i]))
			work += turn_end(w, r, &e[i], steps);
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
	if (role_is_node(role) || role->kind == ROLE_SWITCH)
		*work += turn_ends(w, r);
	return r->dead == 0;
}

/* Set-up. */

static bool carries(const struct wall *w, const struct wall_port *p, uint32_t link)
{
	unsigned int k = 0;

	while (k < p->ends && w->graph_end[p->end[k].end].link != link)
		k++;
	return k < p->ends;
}

/** Whether a role has the outage, which is begun by the end of a link that leads if that is here. */
static bool is_of_link(const struct wall *w, const struct outage *o, const struct role *r)
{
	const struct mf_config_fault *f = o->rule;
	const uint32_t *end = w->f->graph->link[o->link].end;
	const struct role *first = w->end[end[MF_LINK_NODE]].role, *second = w->end[end[MF_LINK_SWITCH]].role;

	if (f->class == MF_FAULT_LINK_DOWN)
		return r == (second != NULL ? second : first);
	if (f->what == MF_CONFIG_MBUFS)
		return r->kind == ROLE_PORT && carries(w, r->carrier, o->link);
	if (f->what == MF_CONFIG_RING)
		return r == first || r == second;
	return f->what == MF_CONFIG_PORT_POOL ? r == second : r == first;
}

/** Whether a role has an outage. */
static bool is_of(const struct wall *w, const struct outage *o, const struct role *r)
{
	const struct mf_config_fault *f = o->rule;
	bool of_switch = r->kind == ROLE_SWITCH && r->index == f->sw;
	bool of_sched = r->kind == ROLE_SCHED && r->index == f->sw;

	switch (f->role) {
	case MF_CONFIG_LCORE:
		return w->lcore[r->lcore].id == f->lcore;
	case MF_CONFIG_SLOW_PATHS:
		return r->kind == ROLE_SLOW && mf_config_has(&f->link, r->index);
	case MF_CONFIG_SCHED:
		return of_sched;
	case MF_CONFIG_SWITCH: /* a scheduler does not go on without its switch */
		return of_switch || (of_sched && f->class == MF_FAULT_STALL);
	default:
		return is_of_link(w, o, r);
	}
}

static int add_outage(struct wall_role *r, const struct outage *o)
{
	const struct mf_config_fault *f = o->rule;
	struct outage *more = realloc(r->outage, (r->outages + 1) * sizeof(*more));

	if (more == NULL)
		return -ENOMEM;
	r->outage = more;
	more[r->outages++] = *o;
	r->next = mf_time_min(r->next, o->at);
	return f->class == MF_FAULT_EXHAUST && f->what == MF_CONFIG_MBUFS
		       ? port_exhaust_init(r->role->carrier)
		       : 0;
}

/** An outage at all roles that have it. Roles stand still together: once. */
static int add_outages(struct wall *w, const struct outage *o)
{
	const struct mf_config_fault *f = o->rule;
	unsigned int found = 0;
	int err = 0;

	for (unsigned int i = 0; i < w->roles && err == 0; i++) {
		struct wall_role *r = &w->faults->role[i];

		if (!is_of(w, o, r->role))
			continue;
		if (f->class == MF_FAULT_STALL)
			err = stalls_add(&r->stalls, f->from, f->until);
		if (err == 0 && (f->class != MF_FAULT_STALL || found == 0))
			err = add_outage(r, o);
		found++;
	}
	if (found > 0 || f->role != MF_CONFIG_LCORE || !fabric_whole(w->f))
		return err;
	snprintf(w->f->info.error, sizeof(w->f->info.error), "faults[%u].lcore: no roles are on an lcore %u",
		 (unsigned int)(f - w->f->config->fault), f->lcore);
	return -EINVAL;
}

/** Of a switch, a scheduler, an lcore. */
static int add_other(struct wall *w, unsigned int rule)
{
	struct outage o;

	outage_init(&o, w->f->config, rule, w->f->nodes);
	return add_outages(w, &o);
}

/** Of a node: of its links those that the rule is about, or itself, or what it has. */
static int add_node(struct wall *w, unsigned int rule, unsigned int node)
{
	struct outage o;
	int err = 0;

	for (unsigned int k = 0; k < w->f->graph->role[node].ends && err == 0; k++)
		if (fabric_outage_at(w->f, &w->f->config->fault[rule], node, k)) {
			outage_init_end(&o, w->f->config, rule, node, w->redundant ? 0 : k,
					fabric_link(w->f, k, node));
			err = add_outages(w, &o);
		}
	return err;
}

static int add_trunks(struct wall *w, unsigned int rule)
{
	const struct mf_config *c = w->f->config;
	struct outage o;
	int err = 0;

	for (uint32_t i = w->f->node_links; i < w->f->graph->links && err == 0; i++) {
		if (!mf_config_fault_has(c, &c->fault[rule],
					 (unsigned int)(w->f->trunk[i - w->f->node_links] - c->trunk), NULL))
			continue;
		outage_init_trunk(&o, c, rule, i);
		err = add_outages(w, &o);
	}
	return err;
}

static int add_rule(struct wall *w, unsigned int rule)
{
	const struct mf_config_fault *f = &w->f->config->fault[rule];
	int err = 0;

	if (f->class < MF_FAULT_STAGE_CLASSES || f->class == MF_FAULT_SKEW)
		return 0;
	if (f->role == MF_CONFIG_TRUNKS)
		return add_trunks(w, rule);
	if (f->role != MF_CONFIG_NODES)
		return add_other(w, rule);
	for (unsigned int i = 0; i < f->link.n && err == 0; i++)
		err = add_node(w, rule, f->link.node[i]);
	return err;
}

/** The ways out of an end and, where a port carries its link, into it. @return 0 or -errno */
static int init_ways(struct wall *w, uint32_t end)
{
	struct wall_end *e = &w->end[end];
	struct wall_impair *out = &w->faults->impair[end];
	struct wall_impair *in = &w->faults->from_port[end];
	struct wall_role *own = wall_faults_of(w, e->role);

	*out = (struct wall_impair){
		.from_end = e, .to_end = e->other, .from = own, .to = wall_faults_of(w, e->out->to)};
	e->out->impair = out;
	e->out->slow_path = true;
	if (e->tunnel != NULL) {
		*in = (struct wall_impair){.to_end = e, .from = out->to, .to = own};
		e->in->impair = in;
		e->in->slow_path = true;
	}
	return wall_impair_init(w, out, e->link, e->side);
}

static int init_end(struct wall *w, uint32_t end)
{
	struct wall_end *e = &w->end[end];
	struct mf_fabric *f = w->f;

	if (!is_here(e))
		return 0;
	e->impaired = wall_faults_of(w, e->role);
	e->guard = f->guards != NULL ? &f->guards[e->link] : NULL;
	if (e->guard != NULL && !e->guard->on)
		e->guard = NULL;
	return init_ways(w, end);
}

static int init_role(struct wall *w, unsigned int i)
{
	struct wall_role *r = &w->faults->role[i];

	r->role = &w->role[i];
	r->next = MF_NEVER;
	if (role_is_node(r->role) || r->role->kind == ROLE_SLOW)
		r->skew = &w->f->node[r->role->index].skew;
	else if (r->role->kind != ROLE_PORT)
		r->skew = &w->f->skew;
	if (r->role->kind != ROLE_SWITCH)
		return 0;
	r->closed = calloc(w->sw[r->role->index].ports + 1, sizeof(*r->closed));
	return r->closed != NULL ? 0 : -ENOMEM;
}

/** Their crossings have lines of two, which a table does not begin at. */
static struct wall_impair *new_impairs(unsigned int n)
{
	struct wall_impair *impair = aligned_alloc(__alignof__(*impair), n * sizeof(*impair));

	if (impair != NULL)
		memset(impair, 0, n * sizeof(*impair));
	return impair;
}

static int make_ends(struct wall *w)
{
	uint32_t n = w->f->graph->ends;
	int err = 0;

	w->faults->impair = new_impairs(n);
	w->faults->from_port = new_impairs(n);
	if (w->faults->impair == NULL || w->faults->from_port == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < n && err == 0; i++)
		err = init_end(w, i);
	return err;
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
	if (err == 0)
		err = make_ends(w);
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

static void ends_over(struct wall *w)
{
	struct wall_faults *f = w->faults;

	for (uint32_t i = 0; f->impair != NULL && w->end != NULL && i < w->f->graph->ends; i++)
		if (is_here(&w->end[i]))
			wall_impair_fini(w, &f->impair[i], w->end[i].link, w->end[i].side);
	free(f->impair);
	free(f->from_port);
}

void wall_fault_tear_down(struct wall *w)
{
	struct wall_faults *f = w->faults;

	if (f == NULL)
		return;
	for (unsigned int i = 0; f->role != NULL && i < w->roles; i++)
		role_over(w, &f->role[i]);
	ends_over(w);
	mf_table_free(f->role);
	free(f);
	w->faults = NULL;
}
