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

const struct mf_config_llr *wall_llr(const struct wall *w, unsigned int net, unsigned int node)
{
	const struct mf_config_node *n = &w->f->config->node[node];

	return net == 0 ? &n->link.llr : &n->backup_llr;
}

static bool switch_here(const struct wall *w, unsigned int net)
{
	return net == 0 ? w->f->part.sw : w->f->part.backup;
}

bool meet_carried(const struct wall *w, unsigned int net, unsigned int node)
{
	return fabric_carried(w->f, net, node);
}

/** Number of a link in its frames: those to the second switch come behind those to the first. */
static uint16_t link_id(unsigned int net, unsigned int node)
{
	return (uint16_t)(net * MF_PORTS_MAX + node);
}

struct role *meet_port_role(struct wall *w, unsigned int net, unsigned int node, enum mf_link_end end,
			    unsigned int *number)
{
	unsigned int port = (unsigned int)wall_llr(w, net, node)->port[end];
	struct role *r = w->role;

	while (r->kind != ROLE_PORT || r->index != port)
		r++;
	*number = r->carrier->at[end][link_id(net, node)] - 1U;
	return r;
}

static int need_port(struct wall *w, unsigned int net, unsigned int node, enum mf_link_end end, char *err,
		     size_t errlen)
{
	if (wall_llr(w, net, node)->port[end] >= 0)
		return 0;
	snprintf(err, errlen,
		 "'%s' and '%s' are in different processes, and their link has no port at the %s: "
		 "%slinks[].carried.%s",
		 w->f->config->node[node].name, mf_config_switch_name(w->f->config, net),
		 end == MF_LINK_NODE ? "node" : "switch", net == 0 ? "" : "backup.",
		 end == MF_LINK_NODE ? "node" : "switch");
	return -EINVAL;
}

/** The end of a link that is at a port of this process. */
static int add_end(struct wall *w, unsigned int net, unsigned int node, enum mf_link_end end, char *err,
		   size_t errlen)
{
	const struct mf_config *config = w->f->config;
	unsigned int number = (unsigned int)wall_llr(w, net, node)->port[end];
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
	e->switch_end = end == MF_LINK_SWITCH;
	e->near = e->switch_end ? w->f->part.node[node] : switch_here(w, net);
	e->node = (uint16_t)node;
	e->net = (uint8_t)net;
	e->mask = UINT16_MAX;
	if (w->nets > 1) {
		p->hasty = true;
		e->mask = e->switch_end ? (uint16_t)~MF_LINK_READY : UINT16_MAX;
		e->wants = e->switch_end ? 0 : MF_LINK_READY;
		e->look = true;
	}
	p->at[end][link_id(net, node)] = (uint16_t)p->ends;
	return 0;
}

static int add_ends(struct wall *w, unsigned int net, char *err, size_t errlen)
{
	int rc = 0;

	for (unsigned int n = 0; n < w->f->nodes && rc == 0; n++) {
		if (!meet_carried(w, net, n))
			continue;
		w->carries = true;
		for (enum mf_link_end end = 0; end < MF_LINK_ENDS && rc == 0; end++) {
			if (end == MF_LINK_NODE ? !w->f->part.node[n] : !switch_here(w, net))
				continue;
			rc = need_port(w, net, n, end, err, errlen);
			if (rc == 0)
				rc = add_end(w, net, n, end, err, errlen);
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
	const struct mf_config *config = w->f->config;
	const struct mf_config_node *node = &config->node[e->node];
	struct mf_link_config c;

	mf_link_config_default(&c);
	mf_config_to_link(wall_llr(w, e->net, e->node), &c);
	c.id = link_id(e->net, e->node);
	c.switch_end = e->switch_end;
	c.node = e->switch_end ? MF_LINK_NODE_SWITCH : e->node;
	c.name = e->switch_end ? mf_config_switch_name(w->f->config, e->net) : node->name;
	c.epoch = w->epoch;
	c.fabric = fabric;
	c.period = node->link.period;
	c.ethertype = p->config->ethertype;
	memcpy(c.mac, p->mac, sizeof(c.mac));
	c.blocks = (uint16_t)mf_link_blocks(p->mtu);
	e->link = mf_link_new(&c, port_now(w));
	if (e->link != NULL)
		return 0;
	snprintf(err, errlen, "the link of '%s': %s", node->name,
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
	rc = 0;
	for (unsigned int k = 0; k < w->nets && rc == 0; k++)
		rc = add_ends(w, k, err, errlen);
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
	unsigned int n = 0;

	for (unsigned int k = 0; k < w->nets; k++) {
		const struct wall_link *up = &w->net[k].up[node];

		n += up->to->kind != ROLE_PORT || has(&up->to->carrier->end[up->port]);
	}
	return n;
}

/** Whether all partners are there; of two switches, one, if the other has not come within ALONE. */
static bool may_begin(struct wall *w)
{
	bool all = all_ends(w, false, is_ready);

	if (all || w->nets == 1)
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
static bool link_is_up(const struct wall *w, unsigned int net, unsigned int node)
{
	const struct mf_config_llr *llr = wall_llr(w, net, node);
	uint16_t id = link_id(net, node);

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

	for (unsigned int k = 0; k < w->nets; k++)
		up |= link_is_up(w, k, node);
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
			const char *name = e->switch_end ? w->f->config->node[e->node].name
							 : mf_config_switch_name(w->f->config, e->net);

			if (e->switch_end ? is_up(e) : is_ready(e))
				continue;
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s at port %s%s",
						len > 0 ? ", " : "", name, w->port[i].config->name,
						is_up(e) ? " (which waits for others)"
						: w->port[i].carrier != PORT_CARRIER
							? netdev_waiting(&w->port[i])
						: w->port[i].started ? ""
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
	if (w->f->part.sw || w->f->part.backup)
		return true;
	for (unsigned int n = 0; n < w->f->nodes; n++)
		if (w->f->part.node[n] && (w->f->config->node[n].memory || !w->f->config->node[n].compute))
			return true;
	return false;
}

/** Whether the switch has said that all is over; of two, for each node one of them. */
static bool switch_done(const struct wall *w)
{
	if (w->nets == 1)
		return all_ends(w, false, is_done);
	for (unsigned int i = 0; i < w->f->nodes; i++)
		if (w->f->part.node[i] && ends_of(w, i, is_done) == 0)
			return false;
	return true;
}

bool meet_over(struct wall *w)
{
	bool has_switch = w->f->part.sw || w->f->part.backup;
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
