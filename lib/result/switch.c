/* SPDX-License-Identifier: BSD-3-Clause */
/* The result: scheduler, switch, backlog, drops. */
#include <rte_common.h>

#include "fabric/mf_bound.h"
#include "fabric/mf_fabric_state.h"
#include "measure/mf_live.h"
#include "result/mf_result.h"

void result_switches_counted(const struct fabric_tier *t, struct result_counts *sum)
{
	const struct fabric_switch *sw = &t->f->sw[t->first_switch];
	struct result_counts other;

	result_switch_counted(sw[0].sw, sum);
	for (unsigned int k = 1; k < t->switches; k++) {
		result_switch_counted(sw[k].sw, &other);
		result_add(sum, &other);
	}
}

json_t *sched_json(const struct fabric_tier *t)
{
	const struct fabric_switch *sw = &t->f->sw[t->first_switch];
	struct mf_counter policy[MF_COUNTERS_MAX];
	struct result_counts sum, other;
	unsigned int n;
	json_t *o;

	result_sched_counted(sw[0].sched, &sum);
	for (unsigned int k = 1; k < t->switches; k++) {
		result_sched_counted(sw[k].sched, &other);
		result_add(&sum, &other);
	}
	o = counts_section(&sum, "scheduler");
	n = mf_fabric_policy(t->f, (unsigned int)(t - t->f->tier), policy);
	for (unsigned int i = 0; i < n; i++)
		result_count(o, policy[i].name, policy[i].value);
	return o;
}

uint64_t result_waited(const struct fabric_tier *t, unsigned int number)
{
	const struct mf_fabric *f = t->f;
	unsigned int first = fabric_link_end(f, t->link[number]);
	uint64_t most = 0;

	for (unsigned int k = first; k < first + fabric_planes(f); k++)
		most = RTE_MAX(most, (uint64_t)fabric_sent_to(f, k, t->node[number])->backlog_message_max);
	return most;
}

json_t *backlog_json(const struct fabric_tier *t)
{
	const struct mf_fabric *f = t->f;
	json_t *o = json_object();
	uint64_t worst = 0, bound = 1;
	unsigned int port = 0;

	/* the port that came closest to its bound */
	for (unsigned int i = 0; i < t->nodes; i++) {
		if (f->node[t->node[i]].host == NULL)
			continue;
		uint64_t max = result_waited(t, i), limit = bound_backlog(t, i);

		if (max * bound >= worst * limit) {
			worst = max;
			bound = limit;
			port = i;
		}
	}
	result_count(o, "egress_memory_blocks_max", worst);
	result_count(o, "egress_memory_blocks_bound", bound);
	result_count(o, "grant_to_arrival_difference_ps", bound_difference(t));
	result_count(o, "k_blocks", f->link[t->link[port]].backlog_k);
	result_count(o, "w_blocks", f->link[t->link[port]].source_w);
	return o;
}

json_t *switch_json(const struct fabric_tier *t)
{
	struct result_counts sum;

	result_switches_counted(t, &sum);
	return counts_section(&sum, "switch");
}

static void add_receiver(const struct mf_demux *d, uint64_t *bad, uint64_t *aborts)
{
	if (d == NULL)
		return;
	*bad += d->stats.bad_blocks;
	*aborts += d->stats.aborts;
}

void tier_drops_json(const struct fabric_tier *t, json_t *o)
{
	struct result_counts sw, hosts;

	result_nodes_counted(t, &hosts);
	if (result_has_switch(t)) {
		result_switches_counted(t, &sw);
		json_object_set_new(o, "switch", counts_section(&sw, "drops.switch"));
	}
	if (fabric_has_node(t->f))
		json_object_set_new(o, "hosts", counts_section(&hosts, "drops.hosts"));
}

/** Everything that was thrown away, by where and why; of several networks what is not of one of them. */
json_t *drops_json(const struct mf_fabric *f)
{
	uint64_t bad = 0, aborts = 0;
	json_t *o = json_object(), *pcs = json_object();

	for (unsigned int n = 0; n < fabric_ports(f); n++)
		if (fabric_switch_of(f, n) != NULL)
			add_receiver(mf_sw_demux(fabric_switch_of(f, n), fabric_port(f, n)->port), &bad,
				     &aborts);
	for (unsigned int i = 0; i < f->nodes; i++) {
		if (f->node[i].host == NULL)
			continue;
		for (unsigned int end = 0; end < f->graph->role[i].ends; end++)
			add_receiver(mf_node_demux_of(f->node[i].host, end), &bad, &aborts);
	}
	result_count(pcs, "bad_blocks", bad);
	result_count(pcs, "aborted_messages", aborts);
	if (f->tiers == 1)
		tier_drops_json(f->tier, o);
	json_object_set_new(o, "pcs", pcs);
	return o;
}

/** The epoch that nodes know of. */
static uint16_t last_epoch(const struct mf_fabric *f)
{
	uint16_t epoch = 0;

	for (unsigned int i = 0; i < f->nodes; i++)
		if (f->node[i].host != NULL)
			epoch = RTE_MAX(epoch, mf_node_epoch(f->node[i].host));
	return epoch;
}

/** What the second switch knew and did, and what nodes made of copies; NULL: there is none. */
json_t *backup_json(const struct mf_fabric *f)
{
	struct result_counts first, sw, sched, hosts;
	json_t *o;

	if (!f->config->backup.on)
		return NULL;
	o = json_object();
	result_switch_counted(f->sw[0].sw, &first);
	result_switch_counted(f->sw[1].sw, &sw);
	result_sched_counted(f->sw[1].sched, &sched);
	result_nodes_counted(f->tier, &hosts);
	result_count(o, "epoch", last_epoch(f));
	if (f->clock == MF_CLOCK_WALL) {
		result_count(o, "fail_overs", f->backup.cuts);
		result_count(o, "deposed", f->backup.demoted);
	}
	result_count(o, "take_overs",
		     result_value(&first, "switch.more", "take_overs") +
			     result_value(&sw, "switch.more", "take_overs"));
	result_count(o, "demands_taken_down", result_value(&sw, "switch.more", "demands_taken_down"));
	result_count(o, "demands", result_value(&sched, "scheduler", "demands"));
	result_count(o, "demands_dropped",
		     result_value(&sched, "scheduler", "dropped_over_x") +
			     result_value(&sched, "scheduler", "dropped_bad"));
	result_count(o, "grants", result_value(&sw, "switch", "grants"));
	result_count(o, "requests_forwarded", result_value(&sw, "switch", "requests_forwarded"));
	result_count(o, "chunks", result_value(&sw, "switch", "chunks"));
	result_count(o, "not_granted", result_value(&sw, "drops.switch", "not_granted"));
	result_count(o, "room", result_value(&sw, "drops.switch", "room"));
	result_count(o, "copies_ignored",
		     result_value(&hosts, "once", "copies") + result_value(&hosts, "once", "old"));
	result_count(o, "grants_ignored", result_value(&hosts, "host", "grants_ignored"));
	result_count(o, "requests_fenced", result_value(&hosts, "host", "requests_fenced"));
	return o;
}
