/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Set-up of the wall clock: crossings, roles, records, and placement. A role whose kind asks for it
 * (mf_role_ops.placement), as the scheduler's does, has an lcore of its own whenever there are two or more;
 * the other roles are dealt over the other lcores and polled in turn. A port is polled by the lcore of the
 * roles whose links it carries. A slow path has an lcore that no other role has, or that of its node.
 *
 * Of two switches each has an lcore of its own, if there are enough, and nodes have others: a role without
 * turns then holds up nobody else. The second scheduler has an lcore for itself where at least three others
 * are left.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_lcore.h>
#include <rte_malloc.h>

#include "base/mf_table.h"
#include "fabric/mf_fabric_regions.h"
#include "record/mf_record.h"
#include "wall/link_end.h"

#define RING_CELLS 16 /**< of `ring` in the fabric's file: 112 blocks */
#define SCHED_CELLS 1024 /**< descriptors between switch and scheduler, each way */

/** @return NULL: no memory. It is freed as a whole */
static struct crossing *new_crossing(const char *name, uint32_t cells)
{
	struct crossing *c =
		rte_zmalloc(name, sizeof(*c) + cells * sizeof(struct cell), __alignof__(struct crossing));

	if (c != NULL)
		crossing_init(c, (struct cell *)(c + 1), cells);
	return c;
}

static_assert(MF_CONFIG_NAME_LEN <= RECORD_ROLE_LEN, "a record has room for the name of its role");

static int make_records(struct wall *w)
{
	const char *dir = w->options->record;
	uint32_t config = 0;
	int err = record_folder(dir);

	regions_repeat(w->f);
	if (err == 0)
		err = virtual_memory_repeat(w->f, false);
	if (err == 0)
		err = mf_config_hash(w->f->config, &config);
	for (unsigned int i = 0; i < w->roles && err == 0; i++) {
		if (w->role[i].kind == ROLE_PORT)
			continue; /* what it gives the roles is in their records */
		w->role[i].record = record_open(dir, role_name(&w->role[i]), config);
		if (w->role[i].record == NULL)
			err = -errno;
	}
	return err;
}

static unsigned int depth_of(const struct mf_fabric *f, unsigned int sw)
{
	uint32_t depth = MF_NO_PATH;

	for (unsigned int i = 0; i < f->nodes && f->routes != NULL; i++)
		if (f->config->node[i].compute)
			depth = RTE_MIN(depth, mf_routes_hops(f->routes, sw, i));
	return depth;
}

static int make_roles(struct wall *w)
{
	const struct mf_topology *g = w->f->graph;
	unsigned int ports = w->f->config->ports;

	w->role = mf_table_new(role_max(w->f) + ports, sizeof(*w->role));
	w->sw = rte_calloc(NULL, w->switches + 1, sizeof(*w->sw), RTE_CACHE_LINE_SIZE);
	w->line = rte_calloc(NULL, g->ends, sizeof(*w->line), RTE_CACHE_LINE_SIZE);
	if (w->role == NULL || w->sw == NULL || w->line == NULL)
		return -ENOMEM;
	w->roles = role_all(w->f, w->role);
	w->memory = rte_calloc(NULL, w->f->nodes, sizeof(*w->memory), RTE_CACHE_LINE_SIZE);
	if (w->memory == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < w->roles; i++) {
		struct role *r = &w->role[i];

		if (r->kind == ROLE_SWITCH)
			w->sw[r->index].sw = r;
		else if (r->kind == ROLE_SCHED)
			w->sw[r->index].sched = r;
		else if (r->kind == ROLE_SLOW)
			w->memory[r->index].slow = r;
		else
			w->memory[r->index].node = r;
	}
	w->sw[w->switches].w = w;
	for (unsigned int k = 0; k < w->switches; k++) {
		w->sw[k].w = w;
		w->sw[k].first_end = g->role[w->f->nodes + k].first_end;
		w->sw[k].ports = g->role[w->f->nodes + k].ends;
		w->sw[k].depth = depth_of(w->f, k);
	}
	for (unsigned int i = 0; i < ports; i++)
		if (w->port[i].ends > 0)
			w->role[w->roles++] = (struct role){
				.kind = ROLE_PORT, .index = i, .f = w->f, .carrier = &w->port[i]};
	return w->options->record != NULL ? make_records(w) : 0;
}

static void assign(struct wall *w, unsigned int lcore, struct role *r)
{
	struct wall_lcore *l = &w->lcore[lcore];
	size_t at = strlen(w->f->info.placement);

	l->role[l->roles++] = r;
	r->lcore = lcore;
	snprintf(w->f->info.placement + at, sizeof(w->f->info.placement) - at, "%s%s@%u", at > 0 ? "," : "",
		 role_name(r), l->id);
}

/** Where a role stands in the turns of its lcore. */
static unsigned int rank(const struct role *r)
{
	switch (r->kind) {
	case ROLE_SCHED:
		return 1;
	case ROLE_SWITCH:
		return 2;
	case ROLE_PORT:
		return 4;
	case ROLE_SLOW: /* behind its node, whose tasks it takes in the same round */
		return 3;
	default:
		return r->f->node[r->index].client != NULL ? 0 : 3;
	}
}

static bool is_before(const struct wall *w, const struct role *a, const struct role *b)
{
	if (a->kind == ROLE_SWITCH && b->kind == ROLE_SWITCH)
		return w->sw[a->index].depth < w->sw[b->index].depth;
	return rank(a) < rank(b);
}

/** A second turn, at the beginning. @return false: it has its first one there */
static bool turn_twice(struct wall_lcore *l, struct role *r)
{
	if (l->role[0] == r)
		return false;
	memmove(l->role + 1, l->role, l->roles++ * sizeof(l->role[0]));
	l->role[0] = r;
	return true;
}

/**
 * Turns go along the way of a read: those that ask, scheduler, switch, those that answer, and the switch
 * again. So on one lcore a read that waits for nothing is through in one round. The switch's second turn
 * comes first in the next, behind its look at the clock: an answer is dated by when it came. Of several
 * switches those next to nodes that ask have their first turns first, and their second ones last. Ports have
 * theirs around all others: what has come is there for them, and what they send leaves in the same round.
 */
static void order(struct wall *w, unsigned int lcore)
{
	struct wall_lcore *l = &w->lcore[lcore];

	for (unsigned int i = 1; i < l->roles; i++)
		for (unsigned int k = i; k > 0 && is_before(w, l->role[k], l->role[k - 1]); k--) {
			struct role *r = l->role[k];

			l->role[k] = l->role[k - 1];
			l->role[k - 1] = r;
		}
	for (unsigned int i = 0; i < l->roles; i++)
		if (l->role[i]->kind == ROLE_SWITCH && turn_twice(l, l->role[i]))
			i++; /* the one that was inserted before it */
	for (unsigned int i = 0; i < w->roles; i++)
		if (w->role[i].kind == ROLE_PORT && w->role[i].lcore == lcore)
			turn_twice(l, &w->role[i]);
}

static int make_lcores(struct wall *w)
{
	unsigned int id;

	w->lcore = rte_calloc(NULL, rte_lcore_count(), sizeof(*w->lcore), RTE_CACHE_LINE_SIZE);
	if (w->lcore == NULL)
		return -ENOMEM;
	w->lcore[w->lcores++].id = rte_get_main_lcore();
	if (!w->turned)
		RTE_LCORE_FOREACH_WORKER(id)
			w->lcore[w->lcores++].id = id;
	for (unsigned int i = 0; i < w->lcores; i++) {
		w->lcore[i].role = calloc(2 * w->roles + 1, sizeof(struct role *));
		w->lcore[i].span = rte_malloc(NULL, sizeof(struct mf_span), RTE_CACHE_LINE_SIZE);
		if (w->lcore[i].role == NULL || w->lcore[i].span == NULL)
			return -ENOMEM;
		if (!w->redundant)
			continue;
		w->lcore[i].mirror = rte_malloc(NULL, sizeof(struct mf_span), RTE_CACHE_LINE_SIZE);
		if (w->lcore[i].mirror == NULL)
			return -ENOMEM;
	}
	return 0;
}

/** The role of an end in the graph. @return NULL: it is of another process */
static struct role *end_role(struct wall *w, uint32_t end)
{
	const struct mf_vertex *v = &w->f->graph->role[w->graph_end[end].role];

	if (v->kind == MF_VERTEX_SWITCH)
		return w->sw[v->number].sw;
	for (unsigned int i = 0; i < w->roles; i++)
		if (role_is_node(&w->role[i]) && w->role[i].index == v->number)
			return &w->role[i];
	return NULL;
}

#define NOWHERE UINT32_MAX

/** With a port go all roles whose links it carries, and with them their other ports. */
static void assign_with(struct wall *w, unsigned int lcore, struct role *r)
{
	if (r->lcore != NOWHERE)
		return;
	assign(w, lcore, r);
	for (unsigned int i = 0; i < w->roles; i++) {
		struct wall_port *p = w->role[i].carrier;

		if (w->role[i].kind != ROLE_PORT)
			continue;
		for (unsigned int k = 0; k < p->ends; k++) {
			struct role *at = end_role(w, p->end[k].end);

			if (at == NULL || (r != &w->role[i] && at != r))
				continue;
			assign_with(w, lcore, &w->role[i]);
			assign_with(w, lcore, at);
		}
	}
}

struct dealt {
	unsigned int shared; /**< this many lcores, the first ones, are no role's own */
	unsigned int next; /**< the one that the next role gets */
	unsigned int first; /**< the first one that nodes get */
};

static void place_switches(struct wall *w, struct dealt *d)
{
	for (unsigned int k = 0; k < w->switches; k++) {
		struct wall_switch *s = &w->sw[k];
		unsigned int at = d->next % d->shared;

		if (s->sw == NULL)
			continue;
		if (s->sched != NULL && s->sched->lcore == NOWHERE)
			assign(w, at, s->sched);
		assign_with(w, at, s->sw);
		d->next++;
	}
}

/** Whether a role is to have an lcore of its own: by its kind, and the file may forbid it to schedulers. */
static bool wants_own(const struct wall *w, const struct role *r)
{
	const struct mf_role_ops *kind = role_ops(r);

	if (kind == NULL || kind->placement != MF_PLACE_OWN)
		return false;
	return r->kind != ROLE_SCHED || w->f->config->scheduler_own_lcore != MF_NO;
}

/** The first role that wants an lcore of its own has one where there are two, others where four are left. */
static void place_owners(struct wall *w, struct dealt *d)
{
	bool first = true;

	for (unsigned int i = 0; i < w->roles; i++) {
		if (!wants_own(w, &w->role[i]) || d->shared < (first ? 2 : 4))
			continue;
		assign(w, --d->shared, &w->role[i]);
		first = false;
	}
}

/** A slow path has an lcore that is left over, or its node's: from there, nothing has to cross. */
static void place_slow_paths(struct wall *w, const struct dealt *d)
{
	unsigned int left = 0;

	for (unsigned int i = 0; i < w->roles; i++) {
		struct role *r = &w->role[i];

		if (r->kind != ROLE_SLOW)
			continue;
		while (left < d->shared && w->lcore[left].roles > 0)
			left++;
		assign(w, left < d->shared ? left : w->memory[r->index].node->lcore, r);
	}
}

/** Deals the roles over the lcores; see the head of this file. */
static int place(struct wall *w)
{
	struct dealt d = {0};

	if (make_lcores(w) != 0)
		return -ENOMEM;
	for (unsigned int i = 0; i < w->roles; i++)
		w->role[i].lcore = NOWHERE;
	d.shared = w->lcores;
	place_owners(w, &d);
	place_switches(w, &d);
	if (d.next >= d.shared)
		d.next = 0;
	d.first = w->redundant ? d.next : 0;
	for (unsigned int i = 0; i < w->roles; i++)
		if (w->role[i].lcore == NOWHERE && w->role[i].kind != ROLE_SLOW) {
			assign_with(w, d.next, &w->role[i]);
			if (++d.next == d.shared)
				d.next = d.first;
		}
	place_slow_paths(w, &d);
	for (unsigned int i = 0; i < w->lcores; i++) {
		order(w, i);
		w->lcore[i].unfinished = w->lcore[i].roles; /* until its lcore has looked */
	}
	w->f->info.lcores = w->lcores;
	return 0;
}

static struct capture_tap *tap_of(const struct wall *w, uint32_t end)
{
	bool down;
	int link = fabric_captured(w->f, end, &down);

	return link >= 0 ? capture_tap(w->f->captures, (unsigned int)link, down) : NULL;
}

/** Makes what an end sends: with a crossing where its roles are on different lcores, or it has a length. */
static int make_line(struct wall *w, uint32_t end, struct role *from, struct role *to)
{
	const struct mf_end *e = &w->graph_end[end];
	struct wall_link *l = &w->line[end];
	uint32_t cells;

	l->to = to;
	l->port = role_port(to, e->peer);
	l->scramble = w->f->link[e->link].scramble;
	l->scrambler.state = l->descrambler.state = MF_SCRAMBLER_INIT;
	l->tap = tap_of(w, end);
	l->slow_path = l->tap != NULL;
	if (l->tap != NULL && capture_ring_tap(l->tap, from->lcore) != 0)
		return -ENOMEM;
	if (wall_shape(w->f, e->link, l) != 0)
		return -ENOMEM;
	if (from->lcore == to->lcore && l->shaper == NULL)
		return 0;
	cells = fabric_link_config(w->f, e->link)->ring * RING_CELLS;
	if (l->shaper != NULL)
		cells = RTE_MAX(cells, wall_shape_cells(&w->f->link[e->link]));
	role_short_spans(from, role_port(from, end));
	l->in = l->crossing = new_crossing("link", rte_align32pow2(RTE_MAX(cells, 2U * CROSSING_SPAN)));
	if (l->crossing == NULL)
		return -ENOMEM;
	if (to->kind == ROLE_SWITCH)
		w->sw[to->index].crossed[w->sw[to->index].crosses++] = l;
	return 0;
}

/** Whose frames are captured at an end: what it sends; and what comes, where nobody here has sent it. */
static int tap_end(struct wall *w, struct port_end *e, unsigned int lcore)
{
	e->tx_tap = tap_of(w, e->end);
	e->rx_tap = e->near ? NULL : tap_of(w, w->graph_end[e->end].peer);
	if ((e->tx_tap != NULL && capture_ring_tap(e->tx_tap, lcore) != 0) ||
	    (e->rx_tap != NULL && capture_ring_tap(e->rx_tap, lcore) != 0))
		return -ENOMEM;
	return 0;
}

/** Ties an end that is in this process to the port that carries its link. */
static int carry(struct wall *w, uint32_t link, enum mf_link_end side, struct role *r)
{
	unsigned int at;
	struct role *port = rendezvous_port_role(w, link, side, &at);
	struct port_end *e = &port->carrier->end[at];

	if (r->kind == ROLE_REDUNDANT)
		r->links &= (uint8_t) ~(1u << role_port(r, e->end)); /* until the port says that it is up */
	w->line[e->end] = (struct wall_link){.to = port, .port = at};
	if (wall_shape(w->f, link, &w->line[e->end]) != 0)
		return -ENOMEM;
	e->in = (struct wall_link){.to = r, .port = role_port(r, e->end)};
	return tap_end(w, e, port->lcore);
}

static int make_link(struct wall *w, uint32_t link)
{
	const uint32_t *end = w->f->graph->link[link].end;
	struct role *r[2] = {end_role(w, end[0]), end_role(w, end[1])};
	bool tunnel = fabric_is_tunnel(w->f, link);
	int err = 0;

	for (int k = 0; k < 2 && err == 0; k++)
		if (tunnel && r[k] != NULL)
			err = carry(w, link, (enum mf_link_end)k, r[k]);
		else if (!tunnel && r[0] != NULL && r[1] != NULL)
			err = make_line(w, end[k], r[k], r[!k]);
	return err;
}

static int make_links(struct wall *w)
{
	int err = 0;

	for (unsigned int k = 0; k < w->switches; k++) {
		struct wall_switch *s = &w->sw[k];

		s->crossed = rte_calloc(NULL, s->ports + 1, sizeof(struct wall_link *), RTE_CACHE_LINE_SIZE);
		if (s->crossed == NULL)
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < w->f->graph->links && err == 0; i++)
		err = make_link(w, i);
	return err;
}

static int make_sched_crossings(struct wall_switch *s)
{
	if (s->sw == NULL || s->sched == NULL || s->sched->lcore == s->sw->lcore)
		return 0;
	s->to_sched = new_crossing("to_sched", SCHED_CELLS);
	s->to_switch = new_crossing("to_switch", SCHED_CELLS);
	return s->to_sched != NULL && s->to_switch != NULL ? 0 : -ENOMEM;
}

static int make_memory_crossings(struct wall *w)
{
	for (unsigned int i = 0; i < w->f->nodes; i++) {
		struct wall_memory *m = &w->memory[i];

		if (m->slow == NULL)
			continue;
		if (m->slow->lcore == m->node->lcore) {
			m->asked = mf_vm_out(w->f->node[i].fast);
			continue;
		}
		m->to_slow = new_crossing("to_slow", SCHED_CELLS);
		m->to_node = new_crossing("to_node", SCHED_CELLS);
		if (m->to_slow == NULL || m->to_node == NULL)
			return -ENOMEM;
	}
	return 0;
}

static void free_links(struct wall *w)
{
	for (unsigned int i = 0; w->memory != NULL && i < w->f->nodes; i++) {
		rte_free(w->memory[i].to_slow);
		rte_free(w->memory[i].to_node);
	}
	rte_free(w->memory);
	for (uint32_t i = 0; w->line != NULL && i < w->f->graph->ends; i++) {
		rte_free(w->line[i].crossing);
		rte_free(w->line[i].shaper);
	}
	rte_free(w->line);
	for (unsigned int k = 0; w->sw != NULL && k < w->switches; k++) {
		rte_free(w->sw[k].crossed);
		rte_free(w->sw[k].to_sched);
		rte_free(w->sw[k].to_switch);
	}
	rte_free(w->sw);
}

/** All of them take their places, or none: those of two runs do not fit. @return rc, or the first error */
static int close_records(struct wall *w, int rc)
{
	for (unsigned int i = 0; i < w->roles; i++) {
		int e = record_end(w->role[i].record);

		rc = rc != 0 ? rc : e;
	}
	for (unsigned int i = 0; i < w->roles; i++)
		rc = record_close(w->role[i].record, rc);
	return rc;
}

int wall_tear_down(struct wall *w, int rc)
{
	wall_fault_tear_down(w);
	rc = close_records(w, rc);
	redundancy_tear_down(w);
	wall_ends_tear_down(w);
	free_links(w);
	for (unsigned int i = 0; i < w->lcores; i++) {
		free(w->lcore[i].role);
		rte_free(w->lcore[i].span);
		rte_free(w->lcore[i].mirror);
	}
	rte_free(w->lcore);
	rendezvous_tear_down(w);
	mf_table_free(w->role);
	return rc;
}

int wall_set_up(struct wall *w)
{
	int err = rendezvous_set_up(w);

	if (err == 0)
		err = make_roles(w);
	if (err == 0)
		err = place(w);
	if (err == 0)
		err = make_links(w);
	for (unsigned int k = 0; k < w->switches && err == 0; k++)
		err = make_sched_crossings(&w->sw[k]);
	if (err == 0)
		err = make_memory_crossings(w);
	if (err == 0)
		err = wall_ends_set_up(w);
	redundancy_set_up(w);
	return err == 0 ? wall_fault_set_up(w) : err;
}
