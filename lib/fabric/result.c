/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The result of a run as JSON (docs/result.schema.json). Everything in "result" follows, under the
 * virtual clock, from file and seed alone; how the run went on this machine stands in "run". The report
 * for people is made of this JSON, so that no number exists twice.
 */
#include <stdlib.h>
#include <string.h>

#include <rte_version.h>

#include "bound.h"
#include "delivery.h"
#include "fabric_priv.h"
#include "result_priv.h"
#include "stages.h"

#define NS 1000.0

void result_count(json_t *o, const char *key, uint64_t value)
{
	json_object_set_new(o, key, json_integer((json_int_t)value));
}

void result_real(json_t *o, const char *key, double value)
{
	json_object_set_new(o, key, json_real(value));
}

json_t *result_hist(const struct mf_hist *h)
{
	static const struct {
		const char *key;
		uint32_t ppm;
	} at[] = {{"p50_ns", 500000},
		  {"p90_ns", 900000},
		  {"p99_ns", 990000},
		  {"p99.9_ns", 999000},
		  {"p99.99_ns", 999900}};
	json_t *o = json_object(), *buckets = json_array();

	result_count(o, "count", h->count);
	result_real(o, "mean_ns", mf_hist_mean(h) / NS);
	result_real(o, "min_ns", (double)h->min / NS);
	for (unsigned int i = 0; i < sizeof(at) / sizeof(at[0]); i++)
		result_real(o, at[i].key, (double)mf_hist_percentile(h, at[i].ppm) / NS);
	result_real(o, "max_ns", (double)h->max / NS);
	for (unsigned int i = 0; i < MF_HIST_BUCKETS; i++)
		if (h->bucket[i] != 0)
			json_array_append_new(buckets, json_pack("[I, I]", (json_int_t)mf_hist_low(i),
								 (json_int_t)h->bucket[i]));
	json_object_set_new(o, "histogram_ps", buckets);
	return o;
}

static double window_seconds(const struct mf_fabric *f)
{
	mf_time from = f->at_measure.at, to = f->at_stop.at;

	return to > from ? (double)(to - from) * 1e-12 : 0;
}

/* Operations */

static void add_kind(struct mf_client_stats *sum, const struct mf_client_stats *s, unsigned int k)
{
	sum->kind[k].begun += s->kind[k].begun;
	sum->kind[k].completed += s->kind[k].completed;
	sum->kind[k].failed += s->kind[k].failed;
	sum->kind[k].octets += s->kind[k].octets;
	mf_hist_merge(&sum->kind[k].latency, &s->kind[k].latency);
	mf_hist_merge(&sum->kind[k].intended, &s->kind[k].intended);
	mf_hist_merge(&sum->kind[k].first, &s->kind[k].first);
}

static void add_client(struct mf_client_stats *sum, const struct mf_client_stats *s)
{
	for (unsigned int k = 0; k < MF_CLIENT_KINDS; k++)
		add_kind(sum, s, k);
	sum->begun_all += s->begun_all;
	sum->completed_all += s->completed_all;
	sum->failed_all += s->failed_all;
	for (unsigned int i = 0; i < MF_STATUSES; i++)
		sum->failed_status[i] += s->failed_status[i];
	sum->verified += s->verified;
	sum->unverified += s->unverified;
	sum->mismatches += s->mismatches;
	sum->refused += s->refused;
	sum->last_done = mf_time_max(sum->last_done, s->last_done);
}

static json_t *kind_json(const struct mf_fabric *f, const struct mf_client_stats *s, unsigned int k)
{
	json_t *o = json_object();
	double t = window_seconds(f);

	result_count(o, "begun", s->kind[k].begun);
	result_count(o, "completed", s->kind[k].completed);
	result_count(o, "failed", s->kind[k].failed);
	result_real(o, "rate_per_s", t > 0 ? (double)s->kind[k].completed / t : 0);
	result_real(o, "goodput_gbps", t > 0 ? (double)s->kind[k].octets * 8e-9 / t : 0);
	json_object_set_new(o, "latency", result_hist(&s->kind[k].latency));
	if (s->kind[k].first.count > 0)
		json_object_set_new(o, "first_block", result_hist(&s->kind[k].first));
	if (s->kind[k].intended.count > 0)
		json_object_set_new(o, "from_intended_start", result_hist(&s->kind[k].intended));
	return o;
}

static json_t *operations_json(const struct mf_fabric *f)
{
	struct mf_client_stats *sum = calloc(1, sizeof(*sum));
	json_t *o = json_object(), *kinds = json_object(), *failed = json_object();

	if (sum == NULL)
		return o;
	for (unsigned int i = 0; i < f->nodes; i++)
		if (f->node[i].client != NULL)
			add_client(sum, mf_client_stats(f->node[i].client));
	for (unsigned int k = 0; k < MF_CLIENT_KINDS; k++)
		if (sum->kind[k].begun > 0)
			json_object_set_new(kinds, mf_client_kind_name(k), kind_json(f, sum, k));
	for (unsigned int i = 1; i < MF_STATUSES; i++)
		result_count(failed, mf_status_name((uint8_t)i), sum->failed_status[i]);
	json_object_set_new(o, "kinds", kinds);
	result_count(o, "begun_all", sum->begun_all);
	result_count(o, "completed_all", sum->completed_all);
	result_count(o, "failed_all", sum->failed_all);
	json_object_set_new(o, "failed_by_cause", failed);
	result_count(o, "verified", sum->verified);
	result_count(o, "unverified", sum->unverified);
	result_count(o, "mismatches", sum->mismatches);
	result_count(o, "refused", sum->refused);
	result_count(o, "last_done_ps", sum->last_done);
	free(sum);
	return o;
}

/* Frames */

static json_t *frames_json(const struct mf_fabric *f)
{
	struct mf_ether_stats *sum = calloc(1, sizeof(*sum));
	json_t *o = json_object();

	if (sum == NULL)
		return o;
	for (unsigned int i = 0; i < f->nodes; i++) {
		const struct mf_ether_stats *s;

		if (f->node[i].ether == NULL)
			continue;
		s = mf_ether_stats(f->node[i].ether);
		sum->sent += s->sent;
		sum->received += s->received;
		sum->octets += s->octets;
		sum->refused += s->refused;
		sum->lost += s->lost;
		sum->duplicated += s->duplicated;
		sum->damaged += s->damaged;
		sum->foreign += s->foreign;
		mf_hist_merge(&sum->latency, &s->latency);
	}
	result_count(o, "sent", sum->sent);
	result_count(o, "received", sum->received);
	result_count(o, "octets", sum->octets);
	result_count(o, "refused", sum->refused);
	result_count(o, "gaps", sum->lost);
	result_count(o, "duplicated", sum->duplicated);
	result_count(o, "damaged", sum->damaged);
	result_count(o, "foreign", sum->foreign);
	result_count(o, "missing", sum->sent - sum->received);
	if (sum->latency.count > 0)
		json_object_set_new(o, "latency", result_hist(&sum->latency));
	free(sum);
	return o;
}

/* Links */

struct use {
	double busiest, mean, memory_mean;
	double frames, frames_least; /**< with the gaps between them */
	uint64_t memory, frame, gap;
	unsigned int links;
};

static void use_add(const struct mf_fabric *f, struct use *u, unsigned int i, const struct mf_mux_stats *from,
		    const struct mf_mux_stats *to)
{
	uint64_t memory = to->memory_blocks - from->memory_blocks,
		 frame = to->frame_blocks - from->frame_blocks, gap = to->gap_blocks - from->gap_blocks;
	double t = (double)(f->at_stop.at - f->at_measure.at), share, frames;

	u->memory += memory;
	u->frame += frame;
	u->gap += gap;
	share = t > 0 ? (double)(memory + frame) * f->link[i].period / t : 0;
	u->mean += share;
	u->memory_mean += t > 0 ? (double)memory * f->link[i].period / t : 0;
	frames = t > 0 ? (double)(frame + gap) * f->link[i].period / t : 0;
	u->frames += frames;
	if (u->links == 0 || frames < u->frames_least)
		u->frames_least = frames;
	u->links++;
	if (share > u->busiest)
		u->busiest = share;
}

/**
 * Blocks are those of the measured window. Payload is counted where it is handled, not where its blocks
 * stand on the wire, so its share of the blocks is that of the whole run.
 */
static json_t *use_json(const struct mf_fabric *f, const struct use *u, const struct mf_mux_stats *end,
			uint64_t octets)
{
	json_t *o = json_object();
	uint64_t preemptions = 0, reused = 0, aborted = 0, refused = 0, memory = 0;
	uint32_t wait = 0, backlog = 0;
	double payload;

	for (unsigned int i = 0; i < f->nodes; i++) {
		memory += end[i].memory_blocks;
		preemptions += end[i].preemptions;
		reused += end[i].gap_reused;
		aborted += end[i].aborted;
		refused += end[i].frames_refused;
		if (end[i].frame_wait_max > wait)
			wait = end[i].frame_wait_max;
		if (end[i].backlog_message_max > backlog)
			backlog = end[i].backlog_message_max;
	}
	payload = memory > 0 ? (double)octets / 8 / (double)memory : 0;
	if (f->clock == MF_CLOCK_VIRTUAL) {
		result_real(o, "utilisation_busiest", u->busiest);
		result_real(o, "utilisation_mean", u->links > 0 ? u->mean / u->links : 0);
		result_real(o, "utilisation_payload_mean",
			    u->links > 0 ? u->memory_mean * payload / u->links : 0);
		result_real(o, "utilisation_frames_mean", u->links > 0 ? u->frames / u->links : 0);
		result_real(o, "utilisation_frames_least", u->frames_least);
	}
	result_count(o, "memory_blocks", u->memory);
	result_count(o, "frame_blocks", u->frame);
	result_count(o, "gap_blocks", u->gap);
	result_count(o, "payload_octets", octets);
	result_real(o, "payload_share_of_memory_blocks", payload);
	result_count(o, "preemptions", preemptions);
	result_count(o, "gap_blocks_reused", reused);
	result_count(o, "messages_aborted", aborted);
	result_count(o, "frames_refused", refused);
	result_count(o, "frame_blocks_waiting_max", wait);
	result_count(o, "memory_backlog_max", backlog);
	return o;
}

static json_t *links_json(const struct mf_fabric *f, const struct snapshot *end)
{
	struct use up = {0}, down = {0};
	uint64_t sent = 0, received = 0;
	json_t *o = json_object();

	for (unsigned int i = 0; i < f->nodes; i++) {
		if (f->node[i].host == NULL)
			continue;
		use_add(f, &up, i, &f->at_measure.host[i], &f->at_stop.host[i]);
		use_add(f, &down, i, &f->at_measure.port[i], &f->at_stop.port[i]);
		sent += end->stack[i].tx_octets;
		received += end->stack[i].rx_octets;
	}
	json_object_set_new(o, "to_switch", use_json(f, &up, end->host, sent));
	json_object_set_new(o, "from_switch", use_json(f, &down, end->port, received));
	return o;
}

/** Notifications and grants of the whole run against all memory blocks, beside the 6 % of 3.1.4. */
static json_t *control_json(const struct mf_fabric *f, const struct snapshot *end)
{
	uint64_t memory = 0;
	json_t *o = json_object();

	for (unsigned int i = 0; i < f->nodes; i++)
		memory += end->host[i].memory_blocks + end->port[i].memory_blocks;
	result_count(o, "notification_and_grant_blocks", end->sw.control_blocks);
	result_count(o, "memory_blocks", memory);
	result_real(o, "share", memory > 0 ? (double)end->sw.control_blocks / (double)memory : 0);
	result_real(o, "share_in_paper", 0.06);
	return o;
}

/** What is told by the multiplexers' counters, at the end of the run. */
static void counters_json(const struct mf_fabric *f, json_t *o)
{
	struct snapshot end;

	if (snapshot_init(&end, f->nodes) == 0) {
		snapshot_take(f, &end, f->ended);
		json_object_set_new(o, "links", links_json(f, &end));
		json_object_set_new(o, "control", control_json(f, &end));
		if (f->clock == MF_CLOCK_VIRTUAL)
			json_object_set_new(o, "waits", waits_json(f, &end));
	}
	snapshot_fini(&end);
}

/* Switch and scheduler */

static json_t *sched_json(const struct mf_fabric *f)
{
	struct mf_sched_stats s;
	json_t *o = json_object();

	f->sched_ops->stats(f->sched, &s);
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
	result_count(o, "queue_bound", 2ULL * f->config->sched.x * f->nodes);
	result_count(o, "entries_left", s.entries);
	result_count(o, "entries_max", s.entries_max);
	result_count(o, "memory_octets", s.memory);
	result_count(o, "memory_octets_in_paper", s.memory_paper);
	return o;
}

static json_t *backlog_json(const struct mf_fabric *f)
{
	json_t *o = json_object();
	uint64_t worst = 0, bound = 1;
	unsigned int port = 0;

	/* the port that came closest to its bound */
	for (unsigned int i = 0; i < f->nodes; i++) {
		if (f->node[i].host == NULL)
			continue;
		uint64_t max = mf_switch_mux_stats(f->sw, i)->backlog_message_max,
			 limit = bound_backlog(f, i);

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

static json_t *switch_json(const struct mf_fabric *f)
{
	const struct mf_switch_stats *s = mf_switch_stats(f->sw);
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

/** Everything that was thrown away, by where and why. */
static json_t *drops_json(const struct mf_fabric *f)
{
	const struct mf_switch_stats *s = mf_switch_stats(f->sw);
	uint64_t check = 0, proto = 0, unknown = 0, dst = 0, room = 0, timeouts = 0, bad = 0, aborts = 0;
	json_t *o = json_object(), *sw = json_object(), *host = json_object(), *pcs = json_object();

	for (unsigned int i = 0; i < f->nodes; i++) {
		if (f->node[i].host == NULL)
			continue;
		const struct mf_host_stats *h = mf_host_stats(f->node[i].host);
		const struct mf_demux *d[2] = {mf_host_demux(f->node[i].host), mf_switch_demux(f->sw, i)};

		check += h->drop_check;
		proto += h->drop_proto;
		unknown += h->drop_unknown;
		dst += h->drop_dst;
		room += h->drop_room;
		timeouts += h->timeouts;
		for (unsigned int k = 0; k < 2; k++) {
			bad += d[k]->stats.bad_blocks;
			aborts += d[k]->stats.aborts;
		}
	}
	result_count(sw, "check", s->drop_check);
	result_count(sw, "protocol", s->drop_proto);
	result_count(sw, "spoofed_source", s->drop_spoof);
	result_count(sw, "destination", s->drop_dst);
	result_count(sw, "not_granted", s->drop_ungranted);
	result_count(sw, "room", s->drop_room);
	result_count(sw, "cut", s->drop_cut);
	result_count(sw, "expired", s->expired);
	result_count(sw, "descriptors", s->drop_descriptor);
	result_count(sw, "frame_room", s->drop_frame_room);
	result_count(sw, "frame_to_own_port", s->drop_frame_self);
	result_count(host, "check", check);
	result_count(host, "protocol", proto);
	result_count(host, "unknown_message", unknown);
	result_count(host, "destination", dst);
	result_count(host, "room", room);
	result_count(host, "timeouts", timeouts);
	result_count(pcs, "bad_blocks", bad);
	result_count(pcs, "aborted_messages", aborts);
	json_object_set_new(o, "switch", sw);
	json_object_set_new(o, "hosts", host);
	json_object_set_new(o, "pcs", pcs);
	return o;
}

static json_t *run_json(const struct mf_fabric *f)
{
	json_t *o = json_object();

	json_object_set_new(o, "memfab", json_string(MF_VERSION));
	json_object_set_new(o, "dpdk", json_string(rte_version()));
	json_object_set_new(o, "compiler", json_string(__VERSION__));
	json_object_set_new(o, "machine", machine_json());
	json_object_set_new(o, "placement", json_string(f->info.placement));
	result_count(o, "lcores", f->info.lcores);
	result_real(o, "host_seconds", f->info.host_seconds);
	result_real(o, "cpu_seconds", f->info.cpu_seconds);
	result_real(o, "cpu_share",
		    f->info.host_seconds > 0 ? f->info.cpu_seconds / f->info.host_seconds /
						       (f->info.lcores > 0 ? f->info.lcores : 1)
					     : 0);
	result_count(o, "events", f->info.events);
	result_count(o, "spans", f->info.spans);
	json_object_set_new(o, "interrupted", json_boolean(f->info.interrupted));
	return o;
}

json_t *mf_fabric_result(const struct mf_fabric *f)
{
	json_t *all = json_object(), *o = json_object(), *time = json_object();

	json_object_set_new(o, "clock", json_string(f->clock == MF_CLOCK_VIRTUAL ? "virtual" : "wall"));
	json_object_set_new(o, "config", mf_config_to_json(f->config));
	result_count(time, "measured_from_ps", f->at_measure.at);
	result_count(time, "measured_to_ps", f->at_stop.at);
	result_count(time, "ended_ps", f->ended);
	json_object_set_new(o, "time", time);
	json_object_set_new(o, "operations", operations_json(f));
	if (f->delivery != NULL)
		json_object_set_new(o, "delivery", delivery_json(f->delivery));
	json_object_set_new(o, "frames", frames_json(f));
	counters_json(f, o);
	json_object_set_new(o, "scheduler", sched_json(f));
	json_object_set_new(o, "switch", switch_json(f));
	if (f->clock == MF_CLOCK_VIRTUAL)
		json_object_set_new(o, "backlog", backlog_json(f));
	json_object_set_new(o, "drops", drops_json(f));
	if (f->stages != NULL)
		json_object_set_new(o, "stages", stages_json(f->stages));
	json_object_set_new(all, "result", o);
	json_object_set_new(all, "run", run_json(f));
	return all;
}
