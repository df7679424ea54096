/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that play one fabric together: how they find each other at the beginning, and how they know that
 * all is over.
 *
 *   READY  of a switch: all nodes are connected. Then, and not before, nodes begin; who comes back later
 *          finds it said.
 *   DONE   of a node: its clients have finished, or it has none. Of a switch: all nodes are done. A process
 *          that serves others stays until then; one that serves nobody goes when its own is known.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_malloc.h>
#include <rte_mbuf.h>

#include "config/mf_config_query.h"
#include "wall/ports/memif_proxy.h"
#include "wall/ports/mf_memif_sync.h"
#include "wall/ports/mf_tunnel_stats.h"
#include "wall/ports/netdev.h"

#define WAITING_PERIOD MF_SEC(5) /**< between two words on who is waited for */
#define ALONE MF_SEC(15) /**< how long nodes that have one switch wait for the other one */

const struct mf_config_llr *wall_llr(const struct wall *w, uint32_t link)
{
	const struct mf_config_node *n = &w->f->config->node[link % w->f->nodes];

	return link < w->f->nodes ? &n->link.llr : &n->backup_llr;
}

static const struct mf_vertex *role_of(const struct wall *w, uint32_t link, enum mf_link_end side)
{
	return &w->f->graph->role[w->graph_end[w->f->graph->link[link].end[side]].role];
}

/** Whether the role at an end of a link is of this process. */
static bool is_here(const struct wall *w, uint32_t link, enum mf_link_end side)
{
	const struct mf_vertex *r = role_of(w, link, side);

	return r->kind == MF_VERTEX_NODE ? w->f->part.node[r->number] : fabric_plays_switch(w->f, r->number);
}

static const char *name_of(const struct wall *w, uint32_t link, enum mf_link_end side)
{
	return fabric_role_name(w->f, w->graph_end[w->f->graph->link[link].end[side]].role);
}

bool meet_carried(const struct wall *w, uint32_t link)
{
	return link < w->f->nodes * fabric_planes(w->f) &&
	       fabric_carried(w->f, link / w->f->nodes, link % w->f->nodes);
}

/** Number of a link in its frames: those to the second switch come behind those to the first. */
static uint16_t link_id(const struct wall *w, uint32_t link)
{
	return (uint16_t)(link / w->f->nodes * MF_PORTS_MAX + link % w->f->nodes);
}

struct role *meet_port_role(struct wall *w, uint32_t link, enum mf_link_end side, unsigned int *number)
{
	unsigned int port = (unsigned int)wall_llr(w, link)->port[side];
	struct role *r = w->role;

	while (r->kind != ROLE_PORT || r->index != port)
		r++;
	*number = r->carrier->at[side][link_id(w, link)] - 1U;
	return r;
}

static int need_port(struct wall *w, uint32_t link, enum mf_link_end side, char *err, size_t errlen)
{
	if (wall_llr(w, link)->port[side] >= 0)
		return 0;
	snprintf(err, errlen,
		 "'%s' and '%s' are in different processes, and their link has no port at the %s: "
		 "%slinks[].carried.%s",
		 name_of(w, link, MF_LINK_NODE), name_of(w, link, MF_LINK_SWITCH),
		 side == MF_LINK_NODE ? "node" : "switch", link < w->f->nodes ? "" : "backup.",
		 side == MF_LINK_NODE ? "node" : "switch");
	return -EINVAL;
}

/** The end of a link that is at a port of this process. */
static int add_end(struct wall *w, uint32_t link, enum mf_link_end side, char *err, size_t errlen)
{
	const struct mf_config *config = w->f->config;
	unsigned int number = (unsigned int)wall_llr(w, link)->port[side];
	struct wall_port *p = &w->port[number];
	struct port_end *e;

	p->config = &config->port[number];
	p->number = number;
	e = rte_realloc(p->end, (p->ends + 1) * sizeof(*p->end), RTE_CACHE_LINE_SIZE);
	if (e == NULL) {
		snprintf(err, errlen, "no memory");
		return -ENOMEM;
	}
	p->end = e;
	e += p->ends++;
	memset(e, 0, sizeof(*e));
	partner_init(&e->partner);
	e->end = w->f->graph->link[link].end[side];
	e->switch_end = side == MF_LINK_SWITCH;
	e->near = is_here(w, link, (enum mf_link_end) !side);
	e->mask = UINT16_MAX;
	if (w->redundant) {
		p->hasty = true;
		e->mask = e->switch_end ? (uint16_t)~MF_LINK_READY : UINT16_MAX;
		e->wants = e->switch_end ? 0 : MF_LINK_READY;
		e->look = true;
	}
	p->at[side][link_id(w, link)] = (uint16_t)p->ends;
	return 0;
}

/** Links between switches are within a process so far. */
static int check_trunk(const struct wall *w, uint32_t link, char *err, size_t errlen)
{
	if (link < w->f->nodes * fabric_planes(w->f) ||
	    is_here(w, link, MF_LINK_NODE) == is_here(w, link, MF_LINK_SWITCH))
		return 0;
	snprintf(err, errlen, "'%s' and '%s' are in different processes: one plays all switches so far",
		 name_of(w, link, MF_LINK_NODE), name_of(w, link, MF_LINK_SWITCH));
	return -EINVAL;
}

static int add_ends(struct wall *w, char *err, size_t errlen)
{
	int rc = 0;

	for (uint32_t i = 0; i < w->f->graph->links && rc == 0; i++) {
		rc = check_trunk(w, i, err, errlen);
		if (rc != 0 || !meet_carried(w, i))
			continue;
		w->carries = true;
		for (enum mf_link_end side = 0; side < MF_LINK_ENDS && rc == 0; side++) {
			if (!is_here(w, i, side))
				continue;
			rc = need_port(w, i, side, err, errlen);
			if (rc == 0)
				rc = add_end(w, i, side, err, errlen);
		}
	}
	return rc;
}

static uint64_t epoch_of_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static int make_link(struct wall *w, struct wall_port *p, struct port_end *e, uint64_t fabric, char *err,
		     size_t errlen)
{
	uint32_t link = port_end_link(w, e);
	struct mf_link_config c;

	mf_link_config_default(&c);
	mf_config_to_link(wall_llr(w, link), &c);
	c.id = link_id(w, link);
	c.switch_end = e->switch_end;
	c.node = e->switch_end ? MF_LINK_NODE_SWITCH : (uint16_t)(link % w->f->nodes);
	c.name = name_of(w, link, e->switch_end ? MF_LINK_SWITCH : MF_LINK_NODE);
	c.epoch = w->epoch;
	c.fabric = fabric;
	c.period = fabric_link_config(w->f, link)->period;
	c.ethertype = p->config->ethertype;
	memcpy(c.mac, p->mac, sizeof(c.mac));
	c.blocks = (uint16_t)mf_link_blocks(p->mtu);
	e->link = mf_link_new(&c, port_now(w));
	if (e->link != NULL)
		return 0;
	snprintf(err, errlen, "the link of '%s': %s", name_of(w, link, MF_LINK_NODE),
		 mf_link_config_fault(&c) != NULL ? mf_link_config_fault(&c) : strerror(errno));
	return -errno;
}

static void say_mtu(const struct wall *w, const struct wall_port *p)
{
	char text[128];

	if (p->mtu == p->config->mtu || w->options->device == NULL)
		return;
	snprintf(text, sizeof(text), "has an MTU of %u, below the port's %u: frames are that short", p->mtu,
		 p->config->mtu);
	w->options->device(w->options->say_ctx, p->config->name, p->config->device, text);
}

static int open_port(struct wall *w, struct wall_port *p, uint64_t fabric, char *err, size_t errlen)
{
	const struct mf_impair_config *impair = &p->config->impair;
	int rc = port_open(w, p, err, errlen);

	if (rc == 0)
		say_mtu(w, p);
	for (unsigned int i = 0; i < p->ends && rc == 0; i++)
		rc = make_link(w, p, &p->end[i], fabric, err, errlen);
	p->impaired = impair->drop > 0 || impair->duplicate > 0 || impair->reorder > 0 || impair->corrupt > 0;
	mf_impair_init(&p->impair, impair, w->f->config->seed, p->number);
	return rc;
}

int meet_set_up(struct wall *w)
{
	char *err = w->f->info.error;
	size_t errlen = sizeof(w->f->info.error);
	uint64_t fabric = 0;
	int rc;

	w->port = rte_calloc("ports", w->f->config->ports + 1, sizeof(*w->port), RTE_CACHE_LINE_SIZE);
	if (w->port == NULL)
		return -ENOMEM;
	w->epoch = epoch_of_now();
	w->port_tsc0 = rte_rdtsc();
	w->alone = ALONE;
	rc = add_ends(w, err, errlen);
	if (rc == 0 && w->carries)
		rc = mf_config_fingerprint(w->f->config, &fabric);
	for (unsigned int i = 0; i < w->f->config->ports && rc == 0; i++)
		if (w->port[i].ends > 0)
			rc = open_port(w, &w->port[i], fabric, err, errlen);
	return rc == 0 ? gate_join(w, err, errlen) : rc;
}

void meet_tear_down(struct wall *w)
{
	carried_keep(w);
	gate_leave_all(w);
	for (unsigned int i = 0; w->port != NULL && i < w->f->config->ports; i++) {
		struct wall_port *p = &w->port[i];

		for (unsigned int k = 0; k < p->ends; k++) {
			partner_fini(&p->end[k].partner);
			mf_link_free(p->end[k].link);
		}
		if (p->gate == NULL)
			port_close(p);
		door_free(p->door);
		rte_free(p->end);
	}
	carried_close(w);
	rte_free(w->port);
	w->port = NULL;
}

/** All ends of one side, of this process: whether each has what is asked for. */
static bool all_ends(const struct wall *w, bool switch_end, bool (*has)(const struct port_end *e))
{
	for (unsigned int i = 0; i < w->f->config->ports; i++)
		for (unsigned int k = 0; k < w->port[i].ends; k++) {
			const struct port_end *e = &w->port[i].end[k];

			if (e->switch_end == switch_end && !has(e))
				return false;
		}
	return true;
}

static bool is_up(const struct port_end *e)
{
	return __atomic_load_n(&e->up, __ATOMIC_RELAXED);
}

/** A switch of this process takes what comes as soon as the run has begun, and says so then. */
static bool is_ready(const struct port_end *e)
{
	uint16_t state = __atomic_load_n(&e->partner_state, __ATOMIC_RELAXED);

	return is_up(e) && (e->near || state & MF_LINK_READY);
}

/** How many links of a node of this process have what is asked for; those without ports have it. */
static unsigned int ends_of(const struct wall *w, unsigned int node, bool (*has)(const struct port_end *e))
{
	const struct mf_vertex *r = &w->f->graph->role[node];
	unsigned int n = 0;

	for (uint32_t k = 0; k < r->ends; k++) {
		const struct wall_link *up = &w->line[r->first_end + k];

		n += up->to->kind != ROLE_PORT || has(&up->to->carrier->end[up->port]);
	}
	return n;
}

/** Whether all partners are there; of two switches, one, if the other has not come within ALONE. */
static bool may_begin(struct wall *w)
{
	bool all = all_ends(w, false, is_ready);

	if (all || !w->redundant)
		return all;
	for (unsigned int i = 0; i < w->f->nodes; i++)
		if (w->f->part.node[i] && ends_of(w, i, is_ready) == 0) {
			w->alone = port_now(w) + ALONE;
			return false;
		}
	return port_now(w) >= w->alone;
}

static bool is_done(const struct port_end *e)
{
	return __atomic_load_n(&e->partner_state, __ATOMIC_RELAXED) & MF_LINK_DONE;
}

/** The partner knows that we are done, or nobody is there to know. */
static bool knows(const struct port_end *e)
{
	return !is_up(e) || (__atomic_load_n(&e->echo, __ATOMIC_RELAXED) & MF_LINK_DONE);
}

/** Whether the ends of a link that are at ports of this process have their partners. */
static bool link_is_up(const struct wall *w, uint32_t link)
{
	const struct mf_config_llr *llr = wall_llr(w, link);
	uint16_t id = link_id(w, link);

	for (enum mf_link_end end = 0; end < MF_LINK_ENDS; end++) {
		const struct wall_port *p = llr->port[end] >= 0 ? &w->port[llr->port[end]] : NULL;

		if (p != NULL && p->at[end][id] != 0 && !is_up(&p->end[p->at[end][id] - 1U]))
			return false;
	}
	return true;
}

bool meet_link_up(const struct wall *w, unsigned int node)
{
	bool up = false;

	for (unsigned int k = 0; k < fabric_planes(w->f); k++)
		up |= link_is_up(w, fabric_link(w->f, k, node));
	return up;
}

static void tell(struct wall *w, bool switch_end, uint16_t state)
{
	for (unsigned int i = 0; i < w->f->config->ports; i++)
		for (unsigned int k = 0; k < w->port[i].ends; k++)
			if (w->port[i].end[k].switch_end == switch_end)
				__atomic_store_n(&w->port[i].end[k].state, state, __ATOMIC_RELAXED);
}

static void exchange(struct wall *w)
{
	for (unsigned int i = 0; i < w->f->config->ports; i++)
		if (w->port[i].ends > 0)
			port_exchange(w, &w->port[i]);
	sched_yield(); /* nobody is in a hurry yet */
}

/** "waiting for cn0, mn0": once a while, of those who are not there. */
static void say_waiting(const struct wall *w)
{
	char text[256] = "";
	size_t len = 0;

	for (unsigned int i = 0; i < w->f->config->ports; i++)
		for (unsigned int k = 0; k < w->port[i].ends && len < sizeof(text); k++) {
			const struct port_end *e = &w->port[i].end[k];

			if (e->switch_end ? is_up(e) : is_ready(e))
				continue;
			len += (size_t)snprintf(
				text + len, sizeof(text) - len, "%s%s at port %s%s", len > 0 ? ", " : "",
				port_end_peer(w, e), w->port[i].config->name,
				is_up(e)                             ? " (which waits for others)"
				: w->port[i].carrier != PORT_CARRIER ? netdev_waiting(&w->port[i])
				: w->port[i].started                 ? ""
								     : " (its device does not start yet)");
		}
	if (w->options->waiting != NULL && len > 0)
		w->options->waiting(w->options->say_ctx, text);
}

static bool interrupted(const struct wall *w)
{
	return w->options->interrupt != NULL &&
	       atomic_load_explicit(w->options->interrupt, memory_order_relaxed);
}

bool meet_look(struct wall *w)
{
	if (!w->carries)
		w->met = true;
	if (w->met)
		return true;
	exchange(w);
	if (all_ends(w, true, is_up))
		tell(w, true, MF_LINK_READY);
	w->met = all_ends(w, true, is_up) && may_begin(w);
	if (!w->met && port_now(w) >= w->next_waiting) {
		say_waiting(w);
		w->next_waiting = port_now(w) + WAITING_PERIOD;
	}
	return w->met;
}

int meet(struct wall *w)
{
	w->next_waiting = MF_SEC(1);
	while (!meet_look(w))
		if (interrupted(w))
			return -EINTR;
	return 0;
}

/** Whether somebody elsewhere may still want something of this process. */
static bool serves(const struct wall *w)
{
	if (fabric_has_switch(w->f))
		return true;
	for (unsigned int n = 0; n < w->f->nodes; n++)
		if (w->f->part.node[n] && (w->f->config->node[n].memory || !w->f->config->node[n].compute))
			return true;
	return false;
}

/** Whether the switch has said that all is over; of two, for each node one of them. */
static bool switch_done(const struct wall *w)
{
	if (!w->redundant)
		return all_ends(w, false, is_done);
	for (unsigned int i = 0; i < w->f->nodes; i++)
		if (w->f->part.node[i] && ends_of(w, i, is_done) == 0)
			return false;
	return true;
}

bool meet_over(struct wall *w)
{
	bool has_switch = fabric_has_switch(w->f);
	bool nodes_done = has_switch && all_ends(w, true, is_done);

	if (!w->carries || w->options->stay)
		return true;
	tell(w, false, MF_LINK_READY | MF_LINK_DONE);
	if (nodes_done)
		tell(w, true, MF_LINK_READY | MF_LINK_DONE);
	if (!serves(w))
		return true;
	return has_switch ? nodes_done : switch_done(w);
}

/**
 * Until every partner knows that we are done. One that is slow still answers, and one that is gone is silent
 * for so long that its link goes down: whoever is left without that word waits for us for good.
 */
static void until_known(struct wall *w)
{
	while (!(all_ends(w, false, knows) && all_ends(w, true, knows)) && !interrupted(w))
		exchange(w);
}

void part(struct wall *w)
{
	if (!w->carries || !w->met)
		return;
	if (w->f->captures != NULL)
		capture_ring_shift(w->f->captures, 0);
	w->over = true;
	if (!w->f->info.interrupted && !w->options->stay)
		until_known(w);
	for (unsigned int i = 0; i < w->f->config->ports; i++)
		for (unsigned int k = 0; k < w->port[i].ends; k++)
			mf_link_leave(w->port[i].end[k].link, port_now(w));
	exchange(w);
}
