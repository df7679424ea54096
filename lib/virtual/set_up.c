/* SPDX-License-Identifier: BSD-3-Clause */
/* What the engine of the virtual clock makes of a fabric: wires, nodes, switches, classes; see virtual.h. */
#include <errno.h>
#include <stdlib.h>

#include "base/mf_table.h"
#include "measure/mf_series.h"
#include "topology/mf_classes.h"
#include "virtual/virtual.h"

/* ---- how far a class can be run ahead ---- */

/** What is sent at t arrives so much later at least: less what the end of a frame is given out late. */
static mf_time ahead_of(const struct link_timing *l)
{
	mf_time late = 2 * (mf_time)l->period; /* and the gap after it */

	return l->delay > late ? l->delay - late : 0;
}

static bool is_played(const struct virtual *v, const struct mf_end *e)
{
	const struct mf_vertex *r = &v->graph->role[e->role];

	return r->kind == MF_VERTEX_SWITCH || v->f->node[r->number].host != NULL;
}

static unsigned int class_of(const struct virtual *v, uint32_t role)
{
	const struct mf_vertex *r = &v->graph->role[role];

	return r->kind == MF_VERTEX_SWITCH ? v->sw[r->number].class
					   : (unsigned int)(v->node[r->number].class - v->class);
}

/** Sets ahead and within. */
static void look_ahead(struct virtual *v)
{
	v->ahead = VIRTUAL_AHEAD_MAX;
	v->within = MF_NEVER;
	for (unsigned int k = 0; k < v->f->tiers; k++) {
		const mf_time *cost = v->f->tier[k].timing.cost;

		/* And half of what nodes take to know of each other beside the network. */
		if (v->f->tier[k].shared != NULL)
			v->ahead = mf_time_min(v->ahead, (cost[MF_STAGE_PROTOCOL] + cost[MF_STAGE_MAC]) / 2);
	}
	for (uint32_t i = 0; i < v->graph->links; i++) {
		const struct mf_end *a = &v->graph->end[v->graph->link[i].end[0]],
				    *b = &v->graph->end[a->peer];
		bool across = class_of(v, a->role) != class_of(v, b->role);
		mf_time *least = across ? &v->ahead : &v->within;

		if (is_played(v, a) && is_played(v, b))
			*least = mf_time_min(*least, ahead_of(&v->f->link[i]));
	}
	if (v->f->stages != NULL || v->within == 0)
		v->ahead = 0;
}

/* ---- classes ---- */

static void add_member(struct virtual *v, const struct mf_vertex *r, unsigned int class)
{
	struct virtual_class *c = &v->class[class];

	if (r->kind == MF_VERTEX_NODE) {
		v->node[r->number].class = c;
		c->node[c->nodes++] = r->number;
	} else {
		v->sw[r->number].class = class;
		c->sw[c->switches++] = r->number;
	}
}

/** @return 0 or -ENOMEM */
static int classes_init(struct virtual *v)
{
	const struct mf_topology *g = v->graph;
	uint8_t *class = malloc(g->roles);

	v->members = malloc(2 * (size_t)g->roles * sizeof(*v->members));
	if (class == NULL || v->members == NULL) {
		free(class);
		return -ENOMEM;
	}
	v->class[0].node = v->members;
	v->class[0].sw = v->members + g->nodes;
	v->class[1].node = v->members + g->roles;
	v->class[1].sw = v->members + g->roles + g->nodes;
	if (mf_topology_classes(g, class) == MF_NONE) {
		free(class);
		return -ENOMEM;
	}
	/* Nodes that know of each other beside the network are called up to one time: virtual_nodes(). */
	for (uint32_t i = 0; i < g->roles && v->f->shares; i++)
		class[i] = g->role[i].kind != MF_VERTEX_NODE;
	for (uint32_t i = 0; i < g->roles; i++)
		add_member(v, &g->role[i], class[i]);
	for (unsigned int c = 0; c < 2; c++)
		v->class[c].nodes_next = v->class[c].nodes > 0 ? 0 : MF_NEVER;
	free(class);
	return 0;
}

/* ---- wires ---- */

static enum stage_place place_of(const struct virtual *v, const struct mf_end *e)
{
	const struct mf_vertex *r = &v->graph->role[e->role];

	if (r->kind == MF_VERTEX_SWITCH)
		return PLACE_SWITCH;
	return v->f->node[r->number].memory != NULL ? PLACE_MEMORY : PLACE_COMPUTE;
}

/** What arrives at an end. */
static void init_wire(struct virtual *v, uint32_t end)
{
	const struct mf_end *e = &v->graph->end[end];
	const struct mf_vertex *r = &v->graph->role[e->role];
	struct wire *w = &v->wire[end];

	wire_init(w, &v->f->link[e->link], &v->flights, v->rings + (size_t)end * WIRE_FIRST);
	w->end = end;
	w->to = r->kind == MF_VERTEX_SWITCH ? &v->sw[r->number] : NULL;
	w->number = w->to != NULL ? e->port : r->number;
	w->class = (uint8_t)class_of(v, e->role);
	w->to_place = (uint8_t)place_of(v, e);
	w->from_place = (uint8_t)place_of(v, &v->graph->end[e->peer]);
	if (w->to == NULL)
		wire_whole(w, true, 0);
}

static void init_wires(struct virtual *v)
{
	for (uint32_t i = 0; i < v->graph->ends; i++)
		init_wire(v, i);
	for (uint32_t i = 0; i < v->graph->links; i++)
		v->late = mf_time_max(v->late, (mf_time)v->f->link[i].period * (MF_SPAN_MAX + 4));
}

/* ---- roles ---- */

static void init_node(struct virtual *v, uint32_t i)
{
	const struct mf_vertex *r = &v->graph->role[i];
	struct virtual_node *n = &v->node[i];

	n->in = &v->wire[r->first_end];
	n->out = virtual_back(v, n->in);
	n->ends = r->ends;
	n->apart = r->ends > 1 && !v->redundant;
	n->mirror = v->redundant ? virtual_back(v, n->in + 1) : NULL;
	v->next[i] = n->run = v->f->node[i].host != NULL ? 0 : MF_NEVER;
	n->tx = MF_NEVER;
}

/** @return 0 or -ENOMEM */
static int init_switch(struct virtual *v, uint32_t k, struct wire **out)
{
	const struct mf_vertex *r = &v->graph->role[v->graph->nodes + k];
	struct virtual_switch *s = &v->sw[k];

	s->v = v;
	s->sw = v->f->sw[k].sw;
	s->sched = v->f->sw[k].sched;
	s->number = k;
	s->ports = r->ends;
	s->in = &v->wire[r->first_end];
	s->out = out;
	for (unsigned int i = 0; i < s->ports; i++)
		out[i] = virtual_back(v, &s->in[i]);
	s->arrives = MF_NEVER;
	return virtual_switch_init(s);
}

/** @return 0 or -ENOMEM */
static int init_roles(struct virtual *v)
{
	struct wire **out = v->outs;
	int err = 0;

	for (uint32_t i = 0; i < v->graph->nodes; i++)
		init_node(v, i);
	for (unsigned int k = 0; k < v->switches && err == 0; k++) {
		err = init_switch(v, k, out);
		out += v->sw[k].ports;
	}
	return err;
}

/** @return 0 or -ENOMEM */
static int tables_init(struct virtual *v)
{
	const struct mf_topology *g = v->graph;

	v->node = mf_table_new(g->nodes, sizeof(*v->node));
	v->next = malloc(g->nodes * sizeof(*v->next));
	v->sw = calloc(g->switches, sizeof(*v->sw));
	v->outs = malloc(g->ends * sizeof(struct wire *));
	v->wire = mf_table_new_dense(g->ends, sizeof(*v->wire));
	v->rings = mf_table_new_dense(g->ends, WIRE_FIRST * sizeof(*v->rings));
	if (v->node == NULL || v->next == NULL || v->sw == NULL || v->outs == NULL || v->wire == NULL ||
	    v->rings == NULL || flights_init(&v->flights, g->ends) != 0)
		return -ENOMEM;
	v->switches = g->switches;
	return classes_init(v);
}

int virtual_set_up(struct virtual *v)
{
	mf_time tick = v->options->tick_period;
	int err = tables_init(v);

	if (err != 0)
		return err;
	v->outage_next = MF_NEVER;
	v->redundant = v->f->config->backup.on;
	v->look_next = tick != 0 ? mf_time_min(tick, v->f->measure) : v->f->measure;
	v->monitor_next = mf_time_min(v->look_next, series_next(v->f->series));
	look_ahead(v);
	init_wires(v);
	err = init_roles(v);
	if (err == 0)
		err = virtual_fault_init(v);
	if (err == 0)
		err = virtual_outage_init(v);
	return err == 0 ? virtual_nodes_init(v) : err;
}

void virtual_tear_down(struct virtual *v)
{
	if (v->wire != NULL) {
		virtual_fault_fini(v);
		for (uint32_t i = 0; i < v->graph->ends; i++)
			wire_fini(&v->wire[i]);
	}
	virtual_outage_fini(v);
	for (unsigned int k = 0; k < v->switches; k++)
		virtual_switch_fini(&v->sw[k]);
	tournament_fini(&v->step);
	flights_fini(&v->flights);
	mf_table_free(v->wire);
	mf_table_free(v->rings);
	free(v->members);
	free(v->outs);
	free(v->sw);
	free(v->next);
	mf_table_free(v->node);
}
