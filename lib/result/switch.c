/* SPDX-License-Identifier: BSD-3-Clause */
/* The result: scheduler, switch, backlog, drops. */
#include <rte_common.h>

#include "fabric/mf_bound.h"
#include "fabric/mf_fabric_state.h"
#include "result/mf_result.h"

/** What the scheduler has done; of two switches, both schedulers together. */
static struct mf_sched_stats scheduled(const struct mf_fabric *f)
{
	struct mf_sched_stats s, other;

	mf_scheduler_stats(f->sched, &s);
	if (f->backup.sched == NULL)
		return s;
	mf_scheduler_stats(f->backup.sched, &other);
	mf_counters_add(mf_sched_counters, &s, &other);
	return s;
}

/** What the switch has done; of two, both together. */
static struct mf_switch_stats switched(const struct mf_fabric *f)
{
	struct mf_switch_stats s, other;

	mf_sw_stats(f->sw, &s);
	if (f->backup.sw == NULL)
		return s;
	mf_sw_stats(f->backup.sw, &other);
	mf_counters_add(mf_switch_counters, &s, &other);
	return s;
}

json_t *sched_json(const struct mf_fabric *f)
{
	const struct mf_sched_stats s = scheduled(f);

	return section_json(mf_sched_counters, "scheduler", &s);
}

/** Most blocks of messages that waited at an egress, of either switch. */
static uint64_t most_waited(const struct mf_fabric *f, unsigned int port)
{
	uint64_t first = mf_sw_mux_stats(f->sw, port)->backlog_message_max;

	if (f->backup.sw == NULL)
		return first;
	return RTE_MAX(first, (uint64_t)mf_sw_mux_stats(f->backup.sw, port)->backlog_message_max);
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
	const struct mf_switch_stats s = switched(f);

	return section_json(mf_switch_counters, "switch", &s);
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
	const struct mf_switch_stats sw = switched(f);
	const struct mf_host_stats hosts = result_hosts(f);
	uint64_t bad = 0, aborts = 0;
	json_t *o = json_object(), *pcs = json_object();

	for (unsigned int i = 0; i < f->nodes; i++) {
		if (fabric_switch_of(f, i) != NULL)
			add_receiver(mf_sw_demux(f->sw, i), &bad, &aborts);
		if (f->config->node[i].up && f->backup.sw != NULL)
			add_receiver(mf_sw_demux(f->backup.sw, i), &bad, &aborts);
		if (f->node[i].host == NULL)
			continue;
		for (unsigned int link = 0; link < MF_CONFIG_SWITCHES; link++)
			add_receiver(mf_node_demux_of(f->node[i].host, link), &bad, &aborts);
	}
	result_count(pcs, "bad_blocks", bad);
	result_count(pcs, "aborted_messages", aborts);
	if (f->part.sw)
		json_object_set_new(o, "switch", section_json(mf_switch_counters, "drops.switch", &sw));
	if (fabric_has_node(f))
		json_object_set_new(o, "hosts", section_json(mf_host_counters, "drops.hosts", &hosts));
	json_object_set_new(o, "pcs", pcs);
	return o;
}

/** What the second switch knew and did, and what nodes made of copies; NULL: there is none. */
json_t *backup_json(const struct mf_fabric *f)
{
	struct mf_switch_stats s, primary;
	uint64_t copies = 0, fenced = 0, ignored = 0;
	struct mf_sched_stats sched;
	uint16_t epoch = 0;
	json_t *o;

	if (f->backup.sw == NULL)
		return NULL;
	o = json_object();
	mf_sw_stats(f->sw, &primary);
	mf_sw_stats(f->backup.sw, &s);
	mf_scheduler_stats(f->backup.sched, &sched);
	for (unsigned int i = 0; i < f->nodes; i++) {
		if (f->node[i].host == NULL)
			continue;
		struct mf_host_stats h;

		mf_node_stats(f->node[i].host, &h);
		copies += h.copies + h.old;
		fenced += h.drop_fenced;
		ignored += h.ignored_grants;
		epoch = mf_node_epoch(f->node[i].host) > epoch ? mf_node_epoch(f->node[i].host) : epoch;
	}
	result_count(o, "epoch", epoch);
	if (f->clock == MF_CLOCK_WALL) {
		result_count(o, "fail_overs", f->backup.cuts);
		result_count(o, "deposed", f->backup.deposed);
	}
	result_count(o, "take_overs", s.takes + primary.takes);
	result_count(o, "demands_taken_down", s.logged);
	result_count(o, "demands", sched.demands);
	result_count(o, "demands_dropped", sched.dropped_x + sched.dropped_bad);
	result_count(o, "grants", s.grants);
	result_count(o, "requests_forwarded", s.requests_forwarded);
	result_count(o, "chunks", s.chunks);
	result_count(o, "not_granted", s.drop_ungranted);
	result_count(o, "room", s.drop_room);
	result_count(o, "copies_ignored", copies);
	result_count(o, "grants_ignored", ignored);
	result_count(o, "requests_fenced", fenced);
	return o;
}
