/* SPDX-License-Identifier: BSD-3-Clause */
/* What a node does in a turn; the same under both clocks. */
#include <rte_branch_prediction.h>
#include <rte_common.h>

#include "fabric/mf_fabric_state.h"
#include "systems/mf_systems.h"

/**
 * Whether a turn was that of a stack above the MAC alone, as most are: it says itself when it has
 * completions (next), and neither the client nor frames have something to do.
 */
static inline bool stack_only(const struct node *n, mf_time now, mf_time next)
{
	return next > now && (n->ether == NULL || n->ether_next > now) &&
	       (n->client == NULL || (n->client_next > now && mf_client_waits(n->client, now)));
}

/** What follows the first run of the host in a turn. */
static inline mf_time run_rest(struct node *n, mf_time now)
{
	mf_time next;

	if (n->client != NULL)
		n->client_next = mf_client_run(n->client, now);
	if (n->ether != NULL && n->ether_next <= now)
		n->ether_next = mf_ether_run(n->ether, now);
	/* Again: what the client has just submitted is taken from the message queue at once. */
	next = mf_below_run(&n->below, now);
	if (n->client != NULL)
		next = mf_time_min(next, n->client_next);
	return n->ether != NULL ? mf_time_min(next, n->ether_next) : next;
}

static __rte_noinline mf_time run_above(struct node *n, mf_time now)
{
	mf_time next = mf_below_run(&n->below, now);

	if (!stack_only(n, now, next))
		return run_rest(n, now);
	if (n->client != NULL)
		next = mf_time_min(next, n->client_next);
	return n->ether != NULL ? mf_time_min(next, n->ether_next) : next;
}

mf_time node_run(struct node *n, mf_time now)
{
	mf_time next;

	if (unlikely(n->above))
		return run_above(n, now);
	next = mf_below_run(&n->below, now);
	/* A memory node, or that of a program: nothing more is submitted in this turn. */
	return n->client == NULL && n->ether == NULL ? next : run_rest(n, now);
}

const struct mf_role_ops *fabric_host_kind(const struct fabric_tier *t)
{
	return mf_stack_node(t->config->stack_ops);
}

int fabric_woken(struct mf_fabric *f)
{
	int number;

	for (unsigned int k = 0; k < f->tiers; k++) {
		const struct fabric_tier *t = &f->tier[k];

		number = t->shared != NULL ? t->config->stack_ops->woken(t->shared) : -1;
		if (number >= 0)
			return t->node[number];
	}
	return -1;
}

int node_crash(struct mf_fabric *f, unsigned int i, mf_time now)
{
	struct node *n = &f->node[i];
	int err;

	n->gone = true;
	if (n->client != NULL)
		mf_client_crashed(n->client, now);
	if (n->layer != NULL)
		n->layer->ops->crashed(n->layer, now);
	if (f->clock == MF_CLOCK_VIRTUAL)
		pending_forget(&f->pending, (uint16_t)i);
	err = node_new_memory(f, i);
	if (err != 0)
		return err;
	/* Another thread may look at what the host has counted. */
	pthread_mutex_lock(&f->readers);
	err = mf_node_restart(n->host, now, n->top);
	pthread_mutex_unlock(&f->readers);
	return err;
}

/** Whether a frame waits for what follows its end. */
static bool hears_still(const struct mf_node *h, unsigned int link)
{
	const struct mf_demux *d = mf_node_demux_of(h, link);

	return d != NULL && mf_demux_next(d) != MF_NEVER;
}

static bool sends(const struct mf_fabric *f, const struct mf_end *port, mf_time now)
{
	const struct mf_vertex *r = &f->graph->role[port->role];

	if (r->kind == MF_VERTEX_NODE)
		return f->node[r->number].host != NULL &&
		       mf_mux_next(mf_node_mux(f->node[r->number].host, port->port), now) != MF_NEVER;
	return mf_sw_tx_next(f->sw[f->graph->role[port->role].number].sw, port->port, now) != MF_NEVER;
}

/** Whether switches, or other nodes, have something to send to a node. */
static bool ports_send(const struct mf_fabric *f, unsigned int i, mf_time now)
{
	const struct mf_vertex *r = &f->graph->role[i];

	for (uint32_t e = r->first_end; e < r->first_end + r->ends; e++)
		if (sends(f, &f->graph->end[f->graph->end[e].peer], now))
			return true;
	return false;
}

/** Whether a switch has something to send to another one. */
static bool trunks_send(const struct mf_fabric *f, unsigned int sw, mf_time now)
{
	const struct mf_vertex *r = &f->graph->role[f->nodes + sw];

	for (uint32_t e = r->first_end; e < r->first_end + r->ends; e++)
		if (f->graph->role[mf_topology_peer(f->graph, e)].kind == MF_VERTEX_SWITCH &&
		    sends(f, &f->graph->end[e], now))
			return true;
	return false;
}

void fabric_rest(struct mf_fabric *f, mf_time now)
{
	for (unsigned int i = 0; i < f->nodes; i++) {
		const struct node *n = &f->node[i];

		if (n->layer != NULL && n->layer->ops->rest != NULL &&
		    (n->client == NULL || mf_client_finished(n->client, now)))
			n->layer->ops->rest(n->layer);
	}
}

bool fabric_quiet(const struct mf_fabric *f, mf_time now)
{
	for (unsigned int i = 0; i < f->nodes; i++) {
		const struct node *n = &f->node[i];

		if (n->host == NULL || n->gone)
			continue;
		if (n->client != NULL && !mf_client_finished(n->client, now))
			return false;
		if (n->layer != NULL && n->layer->ops->outstanding(n->layer) > 0)
			return false;
		if (n->ether != NULL && !mf_ether_finished(n->ether))
			return false;
		if (n->unplugged) /* what it has to send waits for good, perhaps */
			continue;
		if (ports_send(f, i, now))
			return false;
		for (unsigned int end = 0; end < f->graph->role[i].ends; end++)
			if (mf_mux_next(mf_node_mux(n->host, end), now) != MF_NEVER ||
			    hears_still(n->host, end))
				return false;
	}
	for (unsigned int k = 0; k < f->graph->switches; k++)
		if (mf_sw_has_frames(f->sw[k].sw) || trunks_send(f, k, now))
			return false;
	return true;
}
