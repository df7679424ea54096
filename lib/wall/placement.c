/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Set-up of the wall clock: crossings, roles, records, and placement. The scheduler has an lcore of its own
 * whenever there are two or more; the switch and the nodes are dealt over the others and polled in turn. A
 * port is polled by the lcore of the roles whose links it carries.
 *
 * Of two switches each has an lcore of its own, if there are enough, and nodes have others: whoever gets no
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

static int make_roles(struct wall *w)
{
	unsigned int ports = w->f->config->ports;

	w->role = mf_table_new(w->f->nodes + ROLES_BESIDE + ports, sizeof(*w->role));
	if (w->role == NULL)
		return -ENOMEM;
	w->roles = role_all(w->f, w->role);
	for (unsigned int i = 0; i < w->roles; i++) {
		struct role *r = &w->role[i];

		if (r->kind == ROLE_SWITCH)
			w->net[r->net].sw = r;
		else if (r->kind == ROLE_SCHED)
			w->net[r->net].sched = r;
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
	for (unsigned int k = 0; k < w->nets; k++)
		if (w->net[k].sw != NULL && lcore == w->net[k].sw->lcore)
			turn_twice(l, w->net[k].sw);
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
		if (w->nets == 1)
			continue;
		w->lcore[i].mirror = rte_malloc(NULL, sizeof(struct mf_span), RTE_CACHE_LINE_SIZE);
		if (w->lcore[i].mirror == NULL)
			return -ENOMEM;
	}
	return 0;
}

/** The role of this process that an end of a carried link belongs to. */
static struct role *end_role(struct wall *w, const struct port_end *e)
{
	struct role *r = w->role;

	if (e->switch_end)
		return w->net[e->net].sw;
	while (!role_is_node(r) || r->index != e->node)
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

struct dealt {
	unsigned int shared; /**< the first so many lcores are no scheduler's own */
	unsigned int next; /**< the one that the next role gets */
	unsigned int first; /**< the first one that nodes get */
};

static void place_switches(struct wall *w, struct dealt *d)
{
	for (unsigned int k = 0; k < w->nets; k++) {
		struct wall_net *net = &w->net[k];
		unsigned int at = d->next % d->shared;

		if (net->sw == NULL)
			continue;
		if (net->sched->lcore == NOWHERE)
			assign(w, at, net->sched);
		assign_with(w, at, net->sw);
		d->next++;
	}
}

static void place_schedulers(struct wall *w, struct dealt *d)
{
	if (w->f->config->scheduler_own_lcore == MF_NO)
		return;
	for (unsigned int k = 0; k < w->nets; k++)
		if (w->net[k].sched != NULL && d->shared >= (k == 0 ? 2 : 4))
			assign(w, --d->shared, w->net[k].sched);
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
	place_schedulers(w, &d);
	place_switches(w, &d);
	if (d.next >= d.shared)
		d.next = 0;
	d.first = w->nets > 1 ? d.next : 0;
	for (unsigned int i = 0; i < w->roles; i++)
		if (w->role[i].lcore == NOWHERE) {
			assign_with(w, d.next, &w->role[i]);
			if (++d.next == d.shared)
				d.next = d.first;
		}
	for (unsigned int i = 0; i < w->lcores; i++) {
		order(w, i);
		w->lcore[i].unfinished = w->lcore[i].roles; /* until its lcore has looked */
	}
	w->f->info.lcores = w->lcores;
	return 0;
}

/** One direction of a link. @param down  to the node */
static struct wall_link *line(struct wall *w, unsigned int net, unsigned int node, bool down)
{
	return down ? &w->net[net].down[node] : &w->net[net].up[node];
}

/** Makes one direction of a link: with a crossing where its two roles are on different lcores. */
static int make_line(struct wall *w, unsigned int net, unsigned int node, bool down, struct role *from,
		     struct role *to)
{
	struct wall_link *l = line(w, net, node, down);
	uint32_t cells;

	l->to = to;
	l->port = to->kind == ROLE_TWIN ? net : node;
	l->scramble = w->f->link[fabric_link(w->f, net, node)].scramble;
	l->scrambler.state = l->descrambler.state = MF_SCRAMBLER_INIT;
	l->tap = net == 0 ? capture_tap(w->f->captures, node, down) : NULL;
	l->odd = l->tap != NULL;
	if (l->tap != NULL && capture_ring_tap(l->tap, from->lcore) != 0)
		return -ENOMEM;
	if (from->lcore == to->lcore)
		return 0;
	cells = w->f->config->node[node].link.ring * RING_CELLS;
	role_short_spans(from, from->kind == ROLE_TWIN ? net : node);
	l->in = l->crossing = new_crossing("link", rte_align32pow2(RTE_MAX(cells, 2U * CROSSING_SPAN)));
	return l->crossing != NULL ? 0 : -ENOMEM;
}

/** Both ends of a link are here, and it goes from one to the other. */
static int join(struct wall *w, unsigned int number, struct role *node)
{
	struct wall_net *net = &w->net[number];
	unsigned int n = node->index;
	int err = make_line(w, number, n, false, node, net->sw);

	if (err == 0)
		err = make_line(w, number, n, true, net->sw, node);
	if (net->up[n].crossing != NULL)
		net->crossed_port[net->crossed++] = (uint16_t)n;
	return err;
}

/** Whose frames are captured at an end: what it sends; and what comes, where nobody here has sent it. */
static int tap_end(struct wall *w, struct port_end *e, unsigned int lcore)
{
	bool both = w->f->part.sw && w->f->part.node[e->node];

	if (e->net != 0)
		return 0;
	e->tx_tap = capture_tap(w->f->captures, e->node, e->switch_end);
	e->rx_tap = both ? NULL : capture_tap(w->f->captures, e->node, !e->switch_end);
	if ((e->tx_tap != NULL && capture_ring_tap(e->tx_tap, lcore) != 0) ||
	    (e->rx_tap != NULL && capture_ring_tap(e->rx_tap, lcore) != 0))
		return -ENOMEM;
	return 0;
}

/** Ties an end that is in this process to the port that carries its link. */
static int carry(struct wall *w, unsigned int net, unsigned int n, enum mf_link_end end)
{
	unsigned int at;
	struct role *port = meet_port_role(w, net, n, end, &at);
	struct port_end *e = &port->carrier->end[at];
	struct role *r = end_role(w, e);

	if (r->kind == ROLE_TWIN)
		r->links &= (uint8_t) ~(1u << net); /* until the port says that it is up */
	*line(w, net, n, end == MF_LINK_SWITCH) = (struct wall_link){.to = port, .port = at};
	e->in = (struct wall_link){.to = r, .port = r->kind == ROLE_TWIN ? net : n};
	return tap_end(w, e, port->lcore);
}

static int make_link(struct wall *w, unsigned int net, unsigned int n)
{
	struct role *r = w->role;
	int err = 0;

	if (meet_carried(w, net, n)) {
		if (w->f->part.node[n])
			err = carry(w, net, n, MF_LINK_NODE);
		if (w->net[net].sw != NULL && err == 0)
			err = carry(w, net, n, MF_LINK_SWITCH);
		return err;
	}
	if (!w->f->part.node[n])
		return 0;
	while (!role_is_node(r) || r->index != n)
		r++;
	return join(w, net, r);
}

static int make_links(struct wall *w, unsigned int number)
{
	struct wall_net *net = &w->net[number];
	unsigned int n = w->f->nodes;
	int err = 0;

	net->up = rte_calloc(NULL, n, sizeof(*net->up), RTE_CACHE_LINE_SIZE);
	net->down = rte_calloc(NULL, n, sizeof(*net->down), RTE_CACHE_LINE_SIZE);
	net->crossed_port = rte_calloc(NULL, n, sizeof(*net->crossed_port), RTE_CACHE_LINE_SIZE);
	if (net->up == NULL || net->down == NULL || net->crossed_port == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < n && err == 0; i++)
		err = make_link(w, number, i);
	return err;
}

static int make_sched_crossings(struct wall_net *net)
{
	if (net->sw == NULL || net->sched->lcore == net->sw->lcore)
		return 0;
	net->to_sched = new_crossing("to_sched", SCHED_CELLS);
	net->to_switch = new_crossing("to_switch", SCHED_CELLS);
	return net->to_sched != NULL && net->to_switch != NULL ? 0 : -ENOMEM;
}

static void free_net(struct wall_net *net, unsigned int nodes)
{
	for (unsigned int i = 0; i < nodes && net->up != NULL && net->down != NULL; i++) {
		rte_free(net->up[i].crossing);
		rte_free(net->down[i].crossing);
	}
	rte_free(net->up);
	rte_free(net->down);
	rte_free(net->crossed_port);
	rte_free(net->to_sched);
	rte_free(net->to_switch);
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
	twin_tear_down(w);
	wall_ends_tear_down(w);
	for (unsigned int k = 0; k < w->nets; k++)
		free_net(&w->net[k], w->f->nodes);
	for (unsigned int i = 0; i < w->lcores; i++) {
		free(w->lcore[i].role);
		rte_free(w->lcore[i].span);
		rte_free(w->lcore[i].mirror);
	}
	rte_free(w->lcore);
	meet_tear_down(w);
	mf_table_free(w->role);
	return rc;
}

int wall_set_up(struct wall *w)
{
	int err = meet_set_up(w);

	if (err == 0)
		err = make_roles(w);
	if (err == 0)
		err = place(w);
	for (unsigned int k = 0; k < w->nets && err == 0; k++) {
		err = make_links(w, k);
		if (err == 0)
			err = make_sched_crossings(&w->net[k]);
	}
	if (err == 0)
		err = wall_ends_set_up(w);
	twin_set_up(w);
	return err == 0 ? wall_fault_set_up(w) : err;
}
