/* SPDX-License-Identifier: BSD-3-Clause */
/* The result: scheduler, switch, backlog, drops. */
#include <rte_common.h>

#include "fabric/mf_bound.h"
#include "fabric/mf_fabric_state.h"
#include "result/mf_result.h"

void result_switches_counted(const struct mf_fabric *f, struct result_counts *sum)
{
	struct result_counts other;

	result_switch_counted(f->sw[0].sw, sum);
	for (unsigned int k = 1; k < f->graph->switches; k++) {
		result_switch_counted(f->sw[k].sw, &other);
		result_add(sum, &other);
	}
}

json_t *sched_json(const struct mf_fabric *f)
{
	struct result_counts sum, other;

	result_sched_counted(f->sw[0].sched, &sum);
	for (unsigned int k = 1; k < f->graph->switches; k++) {
		result_sched_counted(f->sw[k].sched, &other);
		result_add(&sum, &other);
	}
	return counts_section(&sum, "scheduler");
}

/** Most blocks of messages that waited at an egress to a node. */
static uint64_t most_waited(const struct mf_fabric *f, unsigned int node)
{
	uint64_t most = 0;

	for (unsigned int k = 0; k < fabric_planes(f); k++)
		most = RTE_MAX(most, (uint64_t)fabric_sent_to(f, k, node)->backlog_message_max);
	return most;
}

json_t *backlog_json(const struct mf_fabric *f)
{
	json_t *o = json_object();
	uint64_t worst = 0, bound = 1;
	unsigned int port = 0;

	/* the port that came closest to its bound */
	for (unsigned int i = 0; i < f->nodes; i++) {
		if (f->node[i].host == NULL)
			continue;
		uint64_t max = most_waited(f, i), limit = bound_backlog(f, i);

		if (max * bound >= worst * limit) {
			worst = max;
			bound = limit;
			port = i;
		}
	}
	result_count(o, "egress_memory_blocks_max", worst);
	result_count(o, "egress_memory_blocks_bound", bound);
	result_count(o, "grant_to_arrival_difference_ps", bound_difference(f));
	result_count(o, "k_blocks", f->link[port].backlog_k);
	result_count(o, "w_blocks", f->link[port].source_w);
	return o;
}

json_t *switch_json(const struct mf_fabric *f)
{
	struct result_counts sum;

	result_switches_counted(f, &sum);
	return counts_section(&sum, "switch");
}

static void add_receiver(const struct mf_demux *d, uint64_t *bad, uint64_t *aborts)
{
	if (d == NULL)
		return;
	*bad += d->stats.bad_blocks;
	*aborts += d->stats.aborts;
}

/** Everything that was thrown away, by where and why. */
json_t *drops_json(const struct mf_fabric *f)
{
	struct result_counts sw, hosts;
	uint64_t bad = 0, aborts = 0;
	json_t *o = json_object(), *pcs = json_object();

	result_switches_counted(f, &sw);
	result_nodes_counted(f, &hosts);
	for (unsigned int n = 0; n < fabric_ports(f); n++)
		if (fabric_switch_of(f, n) != NULL)
			add_receiver(mf_sw_demux(fabric_switch_of(f, n), fabric_port(f, n)->port), &bad,
				     &aborts);
	for (unsigned int i = 0; i < f->nodes; i++) {
		if (f->node[i].host == NULL)
			continue;
		for (unsigned int link = 0; link < MF_CONFIG_SWITCHES; link++)
			add_receiver(mf_node_demux_of(f->node[i].host, link), &bad, &aborts);
	}
	result_count(pcs, "bad_blocks", bad);
	result_count(pcs, "aborted_messages", aborts);
	if (fabric_has_switch(f))
		json_object_set_new(o, "switch", counts_section(&sw, "drops.switch"));
	if (fabric_has_node(f))
		json_object_set_new(o, "hosts", counts_section(&hosts, "drops.hosts"));
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
	result_nodes_counted(f, &hosts);
	result_count(o, "epoch", last_epoch(f));
	if (f->clock == MF_CLOCK_WALL) {
		result_count(o, "fail_overs", f->backup.cuts);
		result_count(o, "deposed", f->backup.deposed);
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
