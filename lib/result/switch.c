/* SPDX-License-Identifier: BSD-3-Clause */
/* The result: scheduler, switch, backlog, drops. */
#include <assert.h>

#include <rte_common.h>

#include "fabric/mf_bound.h"
#include "fabric/mf_fabric_state.h"
#include "result/mf_result.h"

/** What the scheduler has done; of two switches, what both have, the most of each, and what they take. */
static struct mf_sched_stats scheduled(const struct mf_fabric *f)
{
	struct mf_sched_stats s, other;

	f->sched_ops->stats(f->sched, &s);
	if (f->backup.sched == NULL)
		return s;
	f->sched_ops->stats(f->backup.sched, &other);
	s.demands += other.demands;
	s.demand_octets += other.demand_octets;
	s.grants += other.grants;
	s.granted_octets += other.granted_octets;
	s.matchings += other.matchings;
	s.iterations += other.iterations;
	s.dropped_x += other.dropped_x;
	s.dropped_bad += other.dropped_bad;
	s.cancelled += other.cancelled;
	s.cancelled_octets += other.cancelled_octets;
	s.cancel_unknown += other.cancel_unknown;
	s.entries += other.entries;
	s.memory += other.memory;
	s.matched_max = RTE_MAX(s.matched_max, other.matched_max);
	s.iterations_max = RTE_MAX(s.iterations_max, other.iterations_max);
	s.queue_max = RTE_MAX(s.queue_max, other.queue_max);
	s.entries_max = RTE_MAX(s.entries_max, other.entries_max);
	return s;
}

/** What the switch has done; of two, what both have. */
static struct mf_switch_stats switched(const struct mf_fabric *f)
{
	enum { COUNTERS = sizeof(struct mf_switch_stats) / sizeof(uint64_t) };
	struct mf_switch_stats s, other;

	static_assert(sizeof(s) == COUNTERS * sizeof(uint64_t), "counters, and nothing else");
	mf_sw_stats(f->sw, &s);
	if (f->backup.sw == NULL)
		return s;
	mf_sw_stats(f->backup.sw, &other);
	for (unsigned int i = 0; i < COUNTERS; i++)
		(&s.notifications)[i] += (&other.notifications)[i];
	return s;
}

json_t *sched_json(const struct mf_fabric *f)
{
	const struct mf_sched_stats s = scheduled(f);
	json_t *o = json_object();

	result_count(o, "demands", s.demands);
	result_count(o, "demand_octets", s.demand_octets);
	result_count(o, "grants", s.grants);
	result_count(o, "granted_octets", s.granted_octets);
	result_count(o, "matchings", s.matchings);
	result_count(o, "iterations", s.iterations);
	result_real(o, "grants_per_matching", s.matchings > 0 ? (double)s.grants / (double)s.matchings : 0);
	result_count(o, "matched_max", s.matched_max);
	result_count(o, "iterations_max", s.iterations_max);
	result_count(o, "dropped_over_x", s.dropped_x);
	result_count(o, "dropped_bad", s.dropped_bad);
	result_count(o, "cancelled", s.cancelled);
	result_count(o, "cancelled_octets", s.cancelled_octets);
	result_count(o, "cancel_unknown", s.cancel_unknown);
	result_count(o, "queue_max", s.queue_max);
	result_count(o, "queue_bound", s.queue_bound);
	result_count(o, "entries_left", s.entries);
	result_count(o, "entries_max", s.entries_max);
	result_count(o, "memory_octets", s.memory);
	result_count(o, "memory_octets_in_paper", s.memory_paper);
	return o;
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
	const struct mf_switch_stats sum = switched(f), *s = &sum;
	json_t *o = json_object();

	result_count(o, "notifications", s->notifications);
	result_count(o, "requests", s->requests);
	result_count(o, "grants", s->grants);
	result_count(o, "requests_forwarded", s->requests_forwarded);
	result_count(o, "requests_behind_a_write", s->parked);
	result_count(o, "chunks", s->chunks);
	result_count(o, "chunk_blocks", s->chunk_blocks);
	result_count(o, "acknowledgements_and_errors", s->singles);
	result_count(o, "grants_returned", s->returns);
	result_count(o, "frames", s->frames);
	result_count(o, "frames_flooded", s->flooded);
	result_count(o, "addresses_learned", s->learned);
	return o;
}

json_t *host_drops_json(const struct mf_host_stats *sum)
{
	json_t *o = json_object();

	result_count(o, "check", sum->drop_check);
	result_count(o, "protocol", sum->drop_proto);
	result_count(o, "unknown_message", sum->drop_unknown);
	result_count(o, "destination", sum->drop_dst);
	result_count(o, "room", sum->drop_room);
	result_count(o, "timeouts", sum->timeouts);
	return o;
}

static void add_host(struct mf_host_stats *sum, const struct mf_host_stats *h)
{
	sum->drop_check += h->drop_check;
	sum->drop_proto += h->drop_proto;
	sum->drop_unknown += h->drop_unknown;
	sum->drop_dst += h->drop_dst;
	sum->drop_room += h->drop_room;
	sum->timeouts += h->timeouts;
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
	const struct mf_switch_stats sum = switched(f), *s = &sum;
	struct mf_host_stats hosts = {0}, one;
	uint64_t bad = 0, aborts = 0;
	json_t *o = json_object(), *sw = json_object(), *pcs = json_object();

	for (unsigned int i = 0; i < f->nodes; i++) {
		if (fabric_switch_of(f, i) != NULL)
			add_receiver(mf_sw_demux(f->sw, i), &bad, &aborts);
		if (f->config->node[i].up && f->backup.sw != NULL)
			add_receiver(mf_sw_demux(f->backup.sw, i), &bad, &aborts);
		if (f->node[i].host == NULL)
			continue;
		for (unsigned int link = 0; link < MF_CONFIG_SWITCHES; link++)
			add_receiver(mf_node_demux_of(f->node[i].host, link), &bad, &aborts);
		mf_node_stats(f->node[i].host, &one);
		add_host(&hosts, &one);
	}
	result_count(sw, "check", s->drop_check);
	result_count(sw, "protocol", s->drop_proto);
	result_count(sw, "spoofed_source", s->drop_spoof);
	result_count(sw, "destination", s->drop_dst);
	result_count(sw, "not_granted", s->drop_ungranted);
	result_count(sw, "link_down", s->drop_link);
	result_count(sw, "room", s->drop_room);
	result_count(sw, "cut", s->drop_cut);
	result_count(sw, "expired", s->expired);
	result_count(sw, "overtaken", s->overtaken);
	result_count(sw, "descriptors", s->drop_descriptor);
	result_count(sw, "frame_room", s->drop_frame_room);
	result_count(sw, "frame_to_own_port", s->drop_frame_self);
	result_count(pcs, "bad_blocks", bad);
	result_count(pcs, "aborted_messages", aborts);
	if (f->part.sw)
		json_object_set(o, "switch", sw);
	if (fabric_has_node(f))
		json_object_set_new(o, "hosts", host_drops_json(&hosts));
	json_object_set_new(o, "pcs", pcs);
	json_decref(sw);
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
	f->sched_ops->stats(f->backup.sched, &sched);
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
