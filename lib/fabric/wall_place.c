/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Set-up of the wall clock: crossings, roles, records, and placement. The scheduler has an lcore of its own
 * whenever there are two or more; the switch and the nodes are dealt over the others and polled in turn. A
 * port is polled by the lcore of the roles whose links it carries.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_lcore.h>
#include <rte_malloc.h>

#include "mf_table.h"
#include "record.h"
#include "regions.h"
#include "wall_port.h"

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

static int make_records(struct wall *w)
{
	const char *dir = w->options->record;
	uint32_t config = 0;
	int err = record_folder(dir);

	regions_repeat(w->f);
	if (err == 0)
		err = record_config(w->f->config, &config);
	for (unsigned int i = 0; i < w->roles && err == 0; i++) {
		if (w->role[i].kind == ROLE_PORT)
			continue; /* what it gives the roles is in their records */
		w->role[i].record = record_open(dir, role_name(&w->role[i]), config);
		if (w->role[i].record == NULL)
			err = -errno;
	}
	return err;
}

static int make_roles(struct wall *w)
{
	unsigned int ports = w->f->config->ports;

	w->role = mf_table_new(w->f->nodes + 2 + ports, sizeof(*w->role));
	if (w->role == NULL)
		return -ENOMEM;
	w->roles = role_all(w->f, w->role);
	if (w->f->part.sw) {
		w->sched = &w->role[0];
		w->sw = &w->role[1];
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
	default:
		return r->f->node[r->index].client != NULL ? 0 : 3;
	}
}

/** A second turn, at the beginning. */
static void turn_twice(struct wall_lcore *l, struct role *r)
{
	if (l->role[0] == r)
		return;
	memmove(l->role + 1, l->role, l->roles++ * sizeof(l->role[0]));
	l->role[0] = r;
}

/**
 * Turns go along the way of a read: those that ask, scheduler, switch, those that answer, and the switch
 * again. So on one lcore a read that waits for nothing is through in one round. The switch's second turn
 * comes first in the next, behind its look at the clock: an answer is dated by when it came. Ports have
 * theirs around all others: what has come is there for them, and what they send leaves in the same round.
 */
static void order(struct wall *w, unsigned int lcore)
{
	struct wall_lcore *l = &w->lcore[lcore];

	for (unsigned int i = 1; i < l->roles; i++)
		for (unsigned int k = i; k > 0 && rank(l->role[k]) < rank(l->role[k - 1]); k--) {
			struct role *r = l->role[k];

			l->role[k] = l->role[k - 1];
			l->role[k - 1] = r;
		}
	if (w->sw != NULL && lcore == w->sw->lcore)
		turn_twice(l, w->sw);
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
	}
	return 0;
}

/** The role of this process that an end of a carried link belongs to. */
static struct role *end_role(struct wall *w, const struct port_end *e)
{
	struct role *r = w->role;

	while (e->switch_end ? r->kind != ROLE_SWITCH : r->kind != ROLE_NODE || r->index != e->in.port)
		r++;
	return r;
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
			if (r != &w->role[i] && end_role(w, &p->end[k]) != r)
				continue;
			assign_with(w, lcore, &w->role[i]);
			assign_with(w, lcore, end_role(w, &p->end[k]));
		}
	}
}

/** Deals the roles over the lcores; see the head of this file. */
static int place(struct wall *w)
{
	unsigned int next, shared;
	bool own;

	if (make_lcores(w) != 0)
		return -ENOMEM;
	for (unsigned int i = 0; i < w->roles; i++)
		w->role[i].lcore = NOWHERE;
	own = w->sw != NULL && w->lcores >= 2 && w->f->config->scheduler_own_lcore != MF_NO;
	shared = own ? w->lcores - 1 : w->lcores;
	if (w->sw != NULL) {
		assign(w, own ? w->lcores - 1 : 0, w->sched);
		assign_with(w, 0, w->sw);
	}
	next = w->sw != NULL && shared > 1 ? 1 : 0;
	for (unsigned int i = 0; i < w->roles; i++)
		if (w->role[i].lcore == NOWHERE) {
			assign_with(w, next, &w->role[i]);
			next = (next + 1) % shared;
		}
	for (unsigned int i = 0; i < w->lcores; i++) {
		order(w, i);
		w->lcore[i].unfinished = w->lcore[i].roles; /* until its lcore has looked */
	}
	w->f->info.lcores = w->lcores;
	return 0;
}

/** @param from  whose sender is polled by an lcore that may be another than the receiver's */
static int make_link(struct wall *w, struct wall_link *l, struct role *from, struct role *to,
		     unsigned int port)
{
	uint32_t cells;

	l->to = to;
	l->port = port;
	l->scramble = w->f->link[port].scramble;
	l->scrambler.state = l->descrambler.state = MF_SCRAMBLER_INIT;
	l->tap = capture_tap(w->f->captures, port, from == w->sw);
	if (l->tap != NULL && capture_ring_tap(l->tap, from->lcore) != 0)
		return -ENOMEM;
	if (from->lcore == to->lcore)
		return 0;
	cells = w->f->config->node[port].link.ring * RING_CELLS;
	role_short_spans(from, port);
	l->crossing = new_crossing("link", rte_align32pow2(RTE_MAX(cells, 2U * CROSSING_SPAN)));
	return l->crossing != NULL ? 0 : -ENOMEM;
}

/** Both ends of a link are here, and it goes from one to the other. */
static int join(struct wall *w, struct role *node)
{
	unsigned int n = node->index;
	int err = make_link(w, &w->up[n], node, w->sw, n);

	if (err == 0)
		err = make_link(w, &w->down[n], w->sw, node, n);
	if (w->up[n].crossing != NULL)
		w->crossed_port[w->crossed++] = (uint16_t)n;
	return err;
}

/** Whose frames are captured at an end: what it sends; and what comes, where nobody here has sent it. */
static int tap_end(struct wall *w, struct port_end *e, unsigned int lcore)
{
	bool both = w->f->part.sw && w->f->part.node[e->in.port];

	e->tx_tap = capture_tap(w->f->captures, e->in.port, e->switch_end);
	e->rx_tap = both ? NULL : capture_tap(w->f->captures, e->in.port, !e->switch_end);
	if ((e->tx_tap != NULL && capture_ring_tap(e->tx_tap, lcore) != 0) ||
	    (e->rx_tap != NULL && capture_ring_tap(e->rx_tap, lcore) != 0))
		return -ENOMEM;
	return 0;
}

/** Ends that are here, each with its port. */
static int carry(struct wall *w, unsigned int n)
{
	for (unsigned int i = 0; i < w->roles; i++) {
		struct role *r = &w->role[i];
		bool is_switch = r->kind == ROLE_SWITCH;
		struct role *port;
		unsigned int at;

		if (!is_switch && (r->kind != ROLE_NODE || r->index != n))
			continue;
		port = meet_port_role(w, n, is_switch ? MF_LINK_SWITCH : MF_LINK_NODE, &at);
		*(is_switch ? &w->down[n] : &w->up[n]) = (struct wall_link){.to = port, .port = at};
		port->carrier->end[at].in = (struct wall_link){.to = r, .port = n};
		if (tap_end(w, &port->carrier->end[at], port->lcore) != 0)
			return -ENOMEM;
	}
	return 0;
}

static int make_links(struct wall *w)
{
	unsigned int n = w->f->nodes;
	int err = 0;

	w->up = rte_calloc(NULL, n, sizeof(*w->up), RTE_CACHE_LINE_SIZE);
	w->down = rte_calloc(NULL, n, sizeof(*w->down), RTE_CACHE_LINE_SIZE);
	w->crossed_port = rte_calloc(NULL, n, sizeof(*w->crossed_port), RTE_CACHE_LINE_SIZE);
	if (w->up == NULL || w->down == NULL || w->crossed_port == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < n && err == 0; i++)
		if (meet_carried(w, i))
			err = carry(w, i);
	for (unsigned int i = 0; i < w->roles && err == 0; i++)
		if (w->role[i].kind == ROLE_NODE && !meet_carried(w, w->role[i].index))
			err = join(w, &w->role[i]);
	return err;
}

static int make_sched_crossings(struct wall *w)
{
	if (w->sw == NULL || w->sched->lcore == w->sw->lcore)
		return 0;
	w->to_sched = new_crossing("to_sched", SCHED_CELLS);
	w->to_switch = new_crossing("to_switch", SCHED_CELLS);
	return w->to_sched != NULL && w->to_switch != NULL ? 0 : -ENOMEM;
}

int wall_tear_down(struct wall *w)
{
	int err = 0;

	for (unsigned int i = 0; i < w->roles; i++) {
		int e = record_close(w->role[i].record);

		err = err != 0 ? err : e;
	}
	for (unsigned int i = 0; i < w->f->nodes && w->up != NULL && w->down != NULL; i++) {
		rte_free(w->up[i].crossing);
		rte_free(w->down[i].crossing);
	}
	for (unsigned int i = 0; i < w->lcores; i++) {
		free(w->lcore[i].role);
		rte_free(w->lcore[i].span);
	}
	rte_free(w->up);
	rte_free(w->down);
	rte_free(w->crossed_port);
	rte_free(w->to_sched);
	rte_free(w->to_switch);
	rte_free(w->lcore);
	meet_tear_down(w);
	mf_table_free(w->role);
	return err;
}

int wall_set_up(struct wall *w)
{
	int err = meet_set_up(w);

	if (err == 0)
		err = make_roles(w);

	if (err == 0)
		err = place(w);
	if (err == 0)
		err = make_links(w);
	return err == 0 ? make_sched_crossings(w) : err;
}
