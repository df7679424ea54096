/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/mf_live.h"

#include <string.h>

#include "config/mf_config_query.h"
#include "fabric/mf_fabric_state.h"
#include "measure/mf_delivery.h"

mf_time mf_fabric_now(const struct mf_fabric *f)
{
	return __atomic_load_n(&f->now, __ATOMIC_RELAXED);
}

void mf_fabric_stop(struct mf_fabric *f)
{
	atomic_store_explicit(&f->stop_asked, true, memory_order_relaxed);
}

/** Its process has crashed, and no rule of the file brings it back. */
static bool gone_for_good(const struct mf_fabric *f, unsigned int i, mf_time now)
{
	for (unsigned int k = 0; k < f->config->faults && f->node[i].gone; k++) {
		const struct mf_config_fault *r = &f->config->fault[k];

		if (r->class == MF_FAULT_NODE_CRASH && r->until == MF_NEVER && r->every == 0 &&
		    r->from <= now && mf_config_has(&r->link, i))
			return true;
	}
	return false;
}

/** Begins nothing any more, and nothing of it is under way. A node that is gone for good begins nothing. */
static bool client_over(const struct mf_fabric *f, unsigned int i, mf_time now, bool *more)
{
	const struct mf_client *c = f->node[i].client;
	const struct mf_client_stats *s;

	if (c == NULL || gone_for_good(f, i, now))
		return true;
	s = mf_client_stats(c);
	if (!mf_client_at_end(c)) {
		*more = true;
		return false;
	}
	if (f->config->workload[f->config->node[i].workload]
		    .ycsb.on) /* some queries are without operations */
		return mf_client_finished(c, node_clock(f, i, now));
	return __atomic_load_n(&s->begun_all, __ATOMIC_RELAXED) ==
	       __atomic_load_n(&s->completed_all, __ATOMIC_RELAXED) +
		       __atomic_load_n(&s->failed_all, __ATOMIC_RELAXED);
}

/** @param more  set where some client has not begun all */
static bool clients_over(const struct mf_fabric *f, mf_time now, bool *more)
{
	bool over = true, any = false;

	*more = false;
	for (unsigned int i = 0; i < f->nodes && !*more; i++) {
		any |= f->node[i].client != NULL;
		over &= client_over(f, i, now, more);
	}
	return any && over;
}

static void stop_load(struct mf_fabric *f, mf_time now)
{
	bool more;

	f->stop = now;
	f->load_over = clients_over(f, now, &more);
	for (unsigned int i = 0; i < f->nodes; i++) {
		if (f->node[i].client != NULL)
			mf_client_stop(f->node[i].client, node_clock(f, i, now));
		if (f->node[i].ether != NULL)
			mf_ether_stop(f->node[i].ether, node_clock(f, i, now));
	}
}

/** A load that has an end ends with it, or when what began last takes longer than a drain may. */
static bool is_at_end(struct mf_fabric *f, mf_time now)
{
	bool more, over = clients_over(f, now, &more);

	f->all_begun = more ? MF_NEVER : mf_time_min(f->all_begun, now);
	return over || (!more && now - f->all_begun >= f->drain);
}

void live_tick(struct mf_fabric *f, const struct mf_run_options *options, mf_time now)
{
	__atomic_store_n(&f->now, now, __ATOMIC_RELAXED);
	if (now >= f->stop)
		return;
	if (options->tick != NULL)
		options->tick(options->tick_ctx, now);
	if (f->finite && is_at_end(f, now))
		stop_load(f, now);
	else if (atomic_load_explicit(&f->stop_asked, memory_order_relaxed))
		stop_load(f, now);
}

void mf_fabric_hold(struct mf_fabric *f)
{
	pthread_mutex_lock(&f->readers);
}

void mf_fabric_let_go(struct mf_fabric *f)
{
	pthread_mutex_unlock(&f->readers);
}

static const struct node *node_at(const struct mf_fabric *f, unsigned int node)
{
	return node < f->nodes && f->node[node].host != NULL ? &f->node[node] : NULL;
}

const struct mf_client_stats *mf_fabric_client(const struct mf_fabric *f, unsigned int node)
{
	const struct node *n = node_at(f, node);

	return n != NULL && n->client != NULL ? mf_client_stats(n->client) : NULL;
}

const struct mf_ether_stats *mf_fabric_ether(const struct mf_fabric *f, unsigned int node)
{
	const struct node *n = node_at(f, node);

	return n != NULL && n->ether != NULL ? mf_ether_stats(n->ether) : NULL;
}

bool mf_fabric_host(const struct mf_fabric *f, unsigned int node, struct mf_host_stats *out)
{
	const struct node *n = node_at(f, node);

	if (n != NULL)
		mf_node_stats(n->host, out);
	return n != NULL;
}

/** An end of the first link of a node. */
static const struct mf_end *end_at(const struct mf_fabric *f, unsigned int node, enum mf_link_end end)
{
	const struct mf_end *e = &f->graph->end[mf_topology_end(f->graph, node, 0)];

	return end == MF_LINK_NODE ? e : &f->graph->end[e->peer];
}

const struct mf_mux_stats *mf_fabric_sent(const struct mf_fabric *f, unsigned int node, enum mf_link_end end)
{
	static const struct mf_mux_stats nothing; /* another process has that node */
	const struct mf_vertex *r;
	const struct mf_end *e;

	if (node_at(f, node) == NULL)
		return NULL;
	e = end_at(f, node, end);
	r = &f->graph->role[e->role];
	if (r->kind == MF_VERTEX_SWITCH)
		return mf_sw_mux_stats(f->sw[r->number].sw, e->port);
	return node_at(f, r->number) != NULL ? mf_mux_stats(mf_node_mux(f->node[r->number].host, e->port))
					     : &nothing;
}

const struct mf_demux_stats *mf_fabric_received(const struct mf_fabric *f, unsigned int node,
						enum mf_link_end end)
{
	static const struct mf_demux_stats nothing;
	const struct mf_vertex *r;
	const struct mf_end *e;

	if (node_at(f, node) == NULL)
		return NULL;
	e = end_at(f, node, end);
	r = &f->graph->role[e->role];
	if (r->kind == MF_VERTEX_SWITCH)
		return &mf_sw_demux(f->sw[r->number].sw, e->port)->stats;
	return node_at(f, r->number) != NULL ? &mf_node_demux_of(f->node[r->number].host, e->port)->stats
					     : &nothing;
}

void mf_fabric_switch(const struct mf_fabric *f, struct mf_switch_stats *out)
{
	struct mf_switch_stats one;

	if (f->graph->switches > 0)
		mf_sw_stats(f->sw[0].sw, out);
	else
		*out = (struct mf_switch_stats){0};
	for (unsigned int k = 1; k < f->graph->switches; k++) {
		mf_sw_stats(f->sw[k].sw, &one);
		if (f->config->backup.on) {
			mf_counters_add(mf_switch_counters, out, &one);
			continue;
		}
		out->frames += one.frames; /* of a switch of frames these alone */
		out->drop_proto += one.drop_proto;
		out->drop_room += one.drop_room;
		out->drop_frame_room += one.drop_frame_room;
	}
}

void mf_fabric_sched(const struct mf_fabric *f, struct mf_sched_stats *out)
{
	struct mf_sched_stats one;

	if (f->graph->switches > 0)
		mf_scheduler_stats(f->sw[0].sched, out);
	else
		*out = (struct mf_sched_stats){0};
	for (unsigned int k = 1; k < f->graph->switches && f->config->backup.on; k++) {
		mf_scheduler_stats(f->sw[k].sched, &one);
		mf_counters_add(mf_sched_counters, out, &one);
	}
}

unsigned int mf_fabric_stack(const struct mf_fabric *f, unsigned int tier, unsigned int from, unsigned int to,
			     struct mf_counter *out)
{
	const struct fabric_tier *t = &f->tier[tier];
	struct mf_counter one[MF_COUNTERS_MAX];
	unsigned int n = 0, m;

	for (unsigned int i = 0; i < t->nodes; i++) {
		const struct node *node = node_at(f, t->node[i]);

		if (node == NULL || t->node[i] < from || t->node[i] >= to)
			continue;
		m = mf_node_stack_counters(mf_node_host(node->host, t->end[i]), one);
		if (m == 0)
			continue;
		if (n == 0)
			memcpy(out, one, m * sizeof(*out));
		else
			mf_counter_list_add(out, one, m);
		n = m;
	}
	return n;
}

unsigned int mf_fabric_bridge(const struct mf_fabric *f, unsigned int tier, struct mf_counter *out)
{
	const struct fabric_tier *t = &f->tier[tier];
	struct mf_counter one[MF_COUNTERS_MAX];
	unsigned int n = t->switches > 0 ? mf_sw_bridge_counters(f->sw[t->first_switch].sw, out) : 0;

	for (unsigned int k = 1; k < t->switches && n > 0; k++) {
		mf_sw_bridge_counters(f->sw[t->first_switch + k].sw, one);
		mf_counter_list_add(out, one, n);
	}
	return n;
}

unsigned int mf_fabric_policy(const struct mf_fabric *f, unsigned int tier, struct mf_counter *out)
{
	const struct fabric_tier *t = &f->tier[tier];
	struct mf_counter one[MF_COUNTERS_MAX];
	unsigned int n =
		t->switches > 0 ? mf_scheduler_policy_counters(f->sw[t->first_switch].sched, out) : 0;

	for (unsigned int k = 1; k < t->switches && n > 0; k++) {
		mf_scheduler_policy_counters(f->sw[t->first_switch + k].sched, one);
		mf_counter_list_add(out, one, n);
	}
	return n;
}

static uint64_t trace_messages(const struct mf_fabric *f, unsigned int i)
{
	const struct mf_config_node *n = &f->config->node[i];
	const uint64_t *first = f->config->workload[n->workload].trace.first + n->client;

	return first[1] - first[0];
}

/** What a client may begin; without a limit it is never done. */
static bool client_done(const struct mf_fabric *f, unsigned int i)
{
	const struct mf_config_workload *w = &f->config->workload[f->config->node[i].workload];
	const struct mf_client_stats *s = mf_client_stats(f->node[i].client);
	uint64_t over = __atomic_load_n(&s->completed_all, __ATOMIC_RELAXED) +
			__atomic_load_n(&s->failed_all, __ATOMIC_RELAXED);
	uint64_t measured = 0;

	if (__atomic_load_n(&s->submit_error, __ATOMIC_RELAXED) != 0)
		return true;
	if (w->trace.message != NULL)
		return over == trace_messages(f, i);
	if (w->ycsb.on) /* what limits it are queries */
		return mf_client_finished(f->node[i].client, node_clock(f, i, mf_fabric_now(f)));
	if (over == 0 || over != __atomic_load_n(&s->begun_all, __ATOMIC_RELAXED))
		return false;
	for (unsigned int k = 0; k < MF_CLIENT_KINDS; k++)
		measured += __atomic_load_n(&s->kind[k].begun, __ATOMIC_RELAXED);
	return (w->operations != 0 && over >= w->operations) || (w->measured != 0 && measured >= w->measured);
}

bool mf_fabric_clients_done(const struct mf_fabric *f)
{
	for (unsigned int i = 0; i < f->nodes; i++)
		if (f->node[i].client != NULL && !client_done(f, i))
			return false;
	return true;
}

const struct mf_hist *mf_fabric_effect(const struct mf_fabric *f)
{
	return f->delivery != NULL && !f->pending.incomplete ? &f->delivery->effect : NULL;
}

const struct mf_run_info *mf_fabric_info(const struct mf_fabric *f)
{
	return &f->info;
}
