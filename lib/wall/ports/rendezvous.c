/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that play one fabric together: how they find each other at the beginning, and how they know that
 * all is over.
 *
 *   READY  of a switch: all nodes are connected. Then, and not before, nodes begin; who comes back later
 *          finds it said.
 *   DONE   of a node: its clients have finished, or it has none. Of a switch: all nodes are done. A process
 *          that serves others stays until then; one that serves nobody goes when its own is known.
 *
 * Where several processes play switches, or nodes with a link to each other, all that are connected, or done,
 * are found as reach.c says.
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
#include "wall/ports/reach.h"
#include "wall/shape.h"

#define WAITING_PERIOD MF_SEC(5) /**< between two words on who is waited for */
#define BACK MF_MS(500) /**< how long a process that comes back waits for its links between switches */
#define LOST MF_SEC(1) /**< how long a process that is done waits for a link that is down */
#define ALONE MF_SEC(15) /**< how long nodes that have one switch wait for the other one */

static const char *name_of(const struct mf_fabric *f, uint32_t link, enum mf_link_end side)
{
	return fabric_role_name(f, f->graph->end[f->graph->link[link].end[side]].role);
}

const char *port_link_name(const struct mf_fabric *f, uint32_t link, char *out)
{
	const char *first = name_of(f, link, MF_LINK_NODE);

	if (fabric_is_trunk(f, link))
		snprintf(out, PORT_LINK_NAME, "%s and %s", first, name_of(f, link, MF_LINK_SWITCH));
	else
		snprintf(out, PORT_LINK_NAME, "%s", first);
	return out;
}

const char *port_end_name(const struct mf_fabric *f, uint32_t end)
{
	const struct mf_end *e = &f->graph->end[end];

	if (fabric_is_trunk(f, e->link))
		return fabric_role_name(f, e->role);
	return f->graph->role[e->role].kind == MF_VERTEX_NODE ? "node" : "switch";
}

#define NODE_LINK_IDS MF_NODES_MAX
static_assert(MF_CONFIG_SWITCHES * MF_PORTS_MAX <= NODE_LINK_IDS, "only fabrics of messages have a backup");

/** Links of further ends of nodes. */
static uint32_t further(const struct mf_fabric *f)
{
	return f->config->backup.on || f->node_links < f->nodes ? 0 : f->node_links - f->nodes;
}

/** Those, and links between switches, and between nodes. */
static uint32_t others(const struct wall *w)
{
	const struct mf_fabric *f = w->f;

	return f->config->backup.on ? 0 : f->graph->links - f->node_links + further(f);
}

/**
 * Number of a link in its frames: those of nodes, as many as there are nodes, then those to a second switch;
 * those between switches, and between nodes; the other ones of nodes.
 */
static uint16_t link_id(const struct wall *w, uint32_t link)
{
	const struct mf_fabric *f = w->f;
	uint32_t trunks = f->graph->links - f->node_links;

	if (fabric_is_trunk(f, link))
		return (uint16_t)(NODE_LINK_IDS + link - f->node_links);
	if (link < f->nodes || f->config->backup.on)
		return (uint16_t)(link / f->nodes * MF_PORTS_MAX + link % f->nodes);
	return (uint16_t)(NODE_LINK_IDS + trunks + link - f->nodes);
}

uint32_t rendezvous_link_of_id(const struct wall *w, unsigned int id)
{
	const struct mf_fabric *f = w->f;

	for (uint32_t i = 0; i < f->graph->links; i++)
		if (link_id(w, i) == id &&
		    (fabric_is_trunk(f, i) || f->config->node[fabric_link_node(f, i)].up))
			return i;
	return MF_NONE;
}

struct role *rendezvous_port_role(struct wall *w, uint32_t link, enum mf_link_end side, unsigned int *number)
{
	unsigned int port = (unsigned int)fabric_link_port(w->f, link, side);
	struct role *r = w->role;

	while (r->kind != ROLE_PORT || r->index != port)
		r++;
	*number = r->carrier->at[side][link_id(w, link)] - 1U;
	return r;
}

static int need_port(struct wall *w, uint32_t link, enum mf_link_end side, char *err, size_t errlen)
{
	const char *first = name_of(w->f, link, MF_LINK_NODE), *second = name_of(w->f, link, MF_LINK_SWITCH);
	const char *end = side == MF_LINK_NODE ? "node" : "switch";

	if (fabric_link_port(w->f, link, side) >= 0 && others(w) < UINT16_MAX - NODE_LINK_IDS)
		return 0;
	if (fabric_link_port(w->f, link, side) >= 0)
		snprintf(err, errlen,
			 "'%s' and '%s': ports carry links where up to %d are between switches, "
			 "between nodes, or of further ends",
			 first, second, UINT16_MAX - NODE_LINK_IDS - 1);
	else if (fabric_is_trunk(w->f, link))
		snprintf(err, errlen,
			 "'%s' and '%s' are in different processes, and their link has no ports: "
			 "links[].carried.between",
			 first, second);
	else
		snprintf(err, errlen,
			 "'%s' and '%s' are in different processes, and their link has no port at the %s: "
			 "%slinks[].carried.%s",
			 first, second, end, link >= w->f->nodes && w->f->config->backup.on ? "backup." : "",
			 end);
	return -EINVAL;
}

/** By link and end: which end of the port it is. */
static int need_table(struct wall *w, struct wall_port *p)
{
	p->link_ids = (uint16_t)(NODE_LINK_IDS + others(w));
	for (int side = 0; side < MF_LINK_ENDS; side++) {
		if (p->at[side] == NULL)
			p->at[side] = rte_calloc(NULL, p->link_ids, sizeof(*p->at[side]), 0);
		if (p->at[side] == NULL)
			return -ENOMEM;
	}
	return 0;
}

/** The end of a link that is at a port of this process. */
static int add_end(struct wall *w, uint32_t link, enum mf_link_end side, char *err, size_t errlen)
{
	const struct mf_config *config = w->f->config;
	unsigned int number = (unsigned int)fabric_link_port(w->f, link, side);
	struct wall_port *p = &w->port[number];
	struct port_end *e;

	p->config = &config->port[number];
	p->number = number;
	e = rte_realloc(p->end, (p->ends + 1) * sizeof(*p->end), RTE_CACHE_LINE_SIZE);
	if (e != NULL)
		p->end = e;
	if (e == NULL || need_table(w, p) != 0) {
		snprintf(err, errlen, "no memory");
		return -ENOMEM;
	}
	e += p->ends++;
	memset(e, 0, sizeof(*e));
	partner_init(&e->partner);
	e->end = w->f->graph->link[link].end[side];
	e->switch_end = side == MF_LINK_SWITCH;
	e->trunk = fabric_is_trunk(w->f, link);
	e->of_node = w->f->graph->role[w->graph_end[e->end].role].kind == MF_VERTEX_NODE;
	e->near = fabric_plays_end(w->f, link, (enum mf_link_end) !side);
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

static int add_ends(struct wall *w, char *err, size_t errlen)
{
	int rc = 0;

	for (uint32_t i = 0; i < w->f->graph->links && rc == 0; i++) {
		if (!fabric_is_tunnel(w->f, i))
			continue;
		w->carries = true;
		for (enum mf_link_end side = 0; side < MF_LINK_ENDS && rc == 0; side++) {
			if (!fabric_plays_end(w->f, i, side))
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
	char name[PORT_LINK_NAME];
	struct mf_link_config c;

	mf_link_config_default(&c);
	mf_config_to_link(fabric_llr(w->f, link), &c);
	c.id = link_id(w, link);
	c.switch_end = e->switch_end;
	/* Of two switches the first one is told by its place in the graph, which is behind the nodes. */
	c.node = e->switch_end ? MF_LINK_NODE_SWITCH : (uint16_t)w->graph_end[e->end].role;
	c.name = fabric_role_name(w->f, w->graph_end[e->end].role);
	c.epoch = w->epoch;
	c.fabric = fabric;
	c.period = fabric_link_config(w->f, link)->period;
	c.delay = w->f->link[link].propagation;
	if (w->f->link[link].shape !=
	    0) { /* what waited here for a partner that was away does not go at once */
		c.pace = true;
		c.burst = SHAPE_LATE;
		c.pace_period = shape_period(c.period);
	}
	c.ethertype = p->config->ethertype;
	memcpy(c.mac, p->mac, sizeof(c.mac));
	c.blocks = (uint16_t)mf_link_blocks(p->mtu);
	e->far = c.delay != 0;
	e->link = mf_link_new(&c, port_now(w));
	if (e->link != NULL)
		return 0;
	snprintf(err, errlen, "the link of '%s': %s", port_link_name(w->f, link, name),
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

int rendezvous_set_up(struct wall *w)
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
	if (rc == 0)
		rc = reach_set_up(w, err, errlen);
	if (rc == 0 && w->carries)
		rc = mf_config_fingerprint(w->f->config, &fabric);
	for (unsigned int i = 0; i < w->f->config->ports && rc == 0; i++)
		if (w->port[i].ends > 0)
			rc = open_port(w, &w->port[i], fabric, err, errlen);
	return rc == 0 ? memif_sync_join(w, err, errlen) : rc;
}

void rendezvous_tear_down(struct wall *w)
{
	tunnel_stats_keep(w);
	memif_sync_leave_all(w);
	for (unsigned int i = 0; w->port != NULL && i < w->f->config->ports; i++) {
		struct wall_port *p = &w->port[i];

		for (unsigned int k = 0; k < p->ends; k++) {
			partner_fini(&p->end[k].partner);
			mf_link_free(p->end[k].link);
		}
		if (p->memif_sync == NULL)
			port_close(p);
		memif_proxy_free(p->memif_proxy);
		rte_free(p->end);
		for (int side = 0; side < MF_LINK_ENDS; side++)
			rte_free(p->at[side]);
	}
	tunnel_stats_close(w);
	rte_free(w->port);
	w->port = NULL;
}

/** Ends of links at the ports of this process. BETWEEN_ALIKE: between two switches, or two nodes. */
enum whose { OF_NODES, OF_SWITCHES, BETWEEN_ALIKE };

static bool is_whose(const struct port_end *e, enum whose whose)
{
	if (e->trunk)
		return whose == BETWEEN_ALIKE;
	return whose == (e->switch_end ? OF_SWITCHES : OF_NODES);
}

/** All ends of one kind, of this process: whether each has what is asked for. */
static bool all_ends(const struct wall *w, enum whose whose, bool (*has)(const struct port_end *e))
{
	for (unsigned int i = 0; i < w->f->config->ports; i++)
		for (unsigned int k = 0; k < w->port[i].ends; k++) {
			const struct port_end *e = &w->port[i].end[k];

			if (is_whose(e, whose) && !has(e))
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
	bool all = all_ends(w, OF_NODES, is_ready);

	if (all || !w->redundant)
		return all;
	for (unsigned int i = 0; i < w->f->nodes; i++)
		if (w->f->plays.node[i] && ends_of(w, i, is_ready) == 0) {
			w->alone = port_now(w) + ALONE;
			return false;
		}
	return port_now(w) >= w->alone;
}

static bool is_done(const struct port_end *e)
{
	return __atomic_load_n(&e->partner_state, __ATOMIC_RELAXED) & MF_LINK_DONE;
}

/** Whether the ends of a link that are at ports of this process have their partners. */
static bool link_is_up(const struct wall *w, uint32_t link)
{
	uint16_t id = link_id(w, link);

	for (enum mf_link_end end = 0; end < MF_LINK_ENDS; end++) {
		int port = fabric_link_port(w->f, link, end);
		const struct wall_port *p = port >= 0 ? &w->port[port] : NULL;

		if (p != NULL && p->ends > 0 && p->at[end][id] != 0 && !is_up(&p->end[p->at[end][id] - 1U]))
			return false;
	}
	return true;
}

bool rendezvous_link_up(const struct wall *w, unsigned int node)
{
	bool up = false;

	for (unsigned int k = 0; k < w->f->graph->role[node].ends; k++)
		up |= link_is_up(w, w->f->graph->end[mf_topology_end(w->f->graph, node, k)].link);
	return up;
}

static void tell(struct wall *w, enum whose whose, uint16_t state)
{
	for (unsigned int i = 0; i < w->f->config->ports; i++)
		for (unsigned int k = 0; k < w->port[i].ends; k++)
			if (is_whose(&w->port[i].end[k], whose))
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

			if (is_whose(e, OF_SWITCHES) ? is_up(e) : is_ready(e))
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

/**
 * A process that comes back may begin at once, since the others have begun. But as soon as its first link
 * between switches is up they send by it, and what goes on by the next one would be thrown away. So it waits
 * for them all, for a while: one may be away for good. Until it begins the link (lib/link) holds back what
 * comes.
 */
static bool is_back_alone(struct wall *w, bool trunks)
{
	if (trunks || !reach_is_told(w))
		return false;
	if (w->reach_wait == 0)
		w->reach_wait = port_now(w) + BACK;
	return port_now(w) < w->reach_wait;
}

/**
 * Whether all links of this process' switches are up, those between nodes, and those of the others' that
 * these are linked to. It is told: to others and to nodes.
 */
static bool is_connected(struct wall *w)
{
	bool trunks = all_ends(w, BETWEEN_ALIKE, is_up);
	bool here = all_ends(w, OF_SWITCHES, is_up) && trunks;
	bool everywhere = !is_back_alone(w, trunks) && reach_ready(w, here);

	tell(w, BETWEEN_ALIKE, reach_state(w));
	if (everywhere)
		tell(w, OF_SWITCHES, MF_LINK_READY);
	return everywhere;
}

bool rendezvous_look(struct wall *w)
{
	if (!w->carries)
		w->met = true;
	if (w->met)
		return true;
	exchange(w);
	w->met = is_connected(w) && may_begin(w);
	if (!w->met && port_now(w) >= w->next_waiting) {
		say_waiting(w);
		w->next_waiting = port_now(w) + WAITING_PERIOD;
	}
	return w->met;
}

int rendezvous_wait(struct wall *w)
{
	w->next_waiting = MF_SEC(1);
	while (!rendezvous_look(w))
		if (interrupted(w))
			return -EINTR;
	return 0;
}

/**
 * Whether somebody elsewhere may still want something of this process. A partner by a link between switches,
 * or nodes, wants to know when all is over.
 */
static bool serves(const struct wall *w)
{
	if (fabric_has_switch(w->f) || reach_has_partners(w))
		return true;
	for (unsigned int n = 0; n < w->f->nodes; n++)
		if (w->f->plays.node[n] && (w->f->config->node[n].memory || !w->f->config->node[n].compute))
			return true;
	return false;
}

/** Whether the switch has said that all is over; of two, for each node one of them. */
static bool switch_done(const struct wall *w)
{
	if (!w->redundant)
		return all_ends(w, OF_NODES, is_done);
	for (unsigned int i = 0; i < w->f->nodes; i++)
		if (w->f->plays.node[i] && ends_of(w, i, is_done) == 0)
			return false;
	return true;
}

bool rendezvous_is_over(struct wall *w)
{
	bool everywhere;

	if (!w->carries || w->options->stay)
		return true;
	everywhere = reach_done(w, all_ends(w, OF_SWITCHES, is_done));
	tell(w, OF_NODES, MF_LINK_READY | MF_LINK_DONE);
	tell(w, BETWEEN_ALIKE, reach_state(w));
	if (everywhere)
		tell(w, OF_SWITCHES, MF_LINK_READY | MF_LINK_DONE);
	if (!serves(w))
		return true;
	return everywhere && (fabric_has_switch(w->f) || switch_done(w));
}

/** Whether every partner that is there knows that we are done. @param up  out: a link of others is up */
static bool all_know(const struct wall *w, bool *up)
{
	bool all = true;

	*up = false;
	for (unsigned int i = 0; i < w->f->config->ports; i++)
		for (unsigned int k = 0; k < w->port[i].ends; k++) {
			const struct port_end *e = &w->port[i].end[k];

			if (__atomic_load_n(&e->echo, __ATOMIC_RELAXED) & MF_LINK_DONE ||
			    __atomic_load_n(&e->gone, __ATOMIC_RELAXED))
				continue;
			all = false;
			*up |= is_up(e);
		}
	return all;
}

/**
 * Until every partner knows that we are done, as one that is left without that word waits for us for good. A
 * partner that is slow still answers. A link that is down for another reason than that its partner left may
 * begin anew, and is up again within LOST then.
 */
static void until_known(struct wall *w)
{
	mf_time since = port_now(w);
	bool up;

	while (!all_know(w, &up) && !interrupted(w)) {
		if (up)
			since = port_now(w);
		else if (port_now(w) >= since + LOST)
			return;
		exchange(w);
	}
}

void rendezvous_mend(struct wall *w)
{
	for (unsigned int i = 0; i < w->f->config->ports; i++)
		for (unsigned int k = 0; k < w->port[i].ends; k++)
			w->port[i].end[k].cut = false;
}

void rendezvous_leave(struct wall *w)
{
	if (!w->carries || !w->met)
		return;
	if (w->f->captures != NULL)
		capture_ring_shift(w->f->captures, 0);
	w->over = true;
	rendezvous_mend(w);
	if (!w->f->info.interrupted && !w->options->stay)
		until_known(w);
	for (unsigned int i = 0; i < w->f->config->ports; i++)
		for (unsigned int k = 0; k < w->port[i].ends; k++)
			mf_link_leave(w->port[i].end[k].link, port_now(w));
	exchange(w);
}
