/* SPDX-License-Identifier: BSD-3-Clause */
/* The result: links and what control costs them. */
#include <stdlib.h>
#include <string.h>

#include "fabric/mf_fabric_state.h"
#include "result/mf_result.h"

struct use {
	double busiest, mean, memory_mean;
	double frames, frames_least; /**< with the gaps between them */
	uint64_t memory, frame, gap;
	unsigned int links;
	unsigned int rated; /**< of those: links that have a rate under this clock */
	uint32_t busiest_end; /**< that sends it: in the graph; it is set where ends are ports */
};

double result_line_time(const struct mf_fabric *f, uint32_t period)
{
	mf_time t = f->at_stop.at - f->at_measure.at;

	return period > 0 ? (double)((t + period - 1) / period * period) : (double)t;
}

/** ps a block of a link; 0: it has no rate under this clock. */
static uint32_t period_of(const struct mf_fabric *f, unsigned int link)
{
	return f->clock == MF_CLOCK_VIRTUAL ? f->link[link].period : f->link[link].shape;
}

/**
 * Which part of the time so many blocks take. Under the wall clock snapshots are not of one instant, and a
 * line catches up on a late turn: by so little a full line may seem to carry more than it can.
 */
static double share_of(const struct mf_fabric *f, uint64_t blocks, uint32_t period, double time)
{
	double share = time > 0 ? (double)blocks * period / time : 0;

	return f->clock == MF_CLOCK_WALL && share > 1 ? 1 : share;
}

/** @param link  its number @param end  that sends */
static void use_add(const struct mf_fabric *f, struct use *u, unsigned int link, uint32_t end,
		    const struct mf_mux_stats *from, const struct mf_mux_stats *to)
{
	uint64_t memory = to->memory_blocks - from->memory_blocks,
		 frame = to->frame_blocks - from->frame_blocks, gap = to->gap_blocks - from->gap_blocks;
	uint32_t period = period_of(f, link);
	double t = result_line_time(f, period), share, frames;

	u->memory += memory;
	u->frame += frame;
	u->gap += gap;
	share = share_of(f, memory + frame, period, t);
	u->mean += share;
	u->memory_mean += share_of(f, memory, period, t);
	frames = share_of(f, frame + gap, period, t);
	u->frames += frames;
	if (u->links == 0 || frames < u->frames_least)
		u->frames_least = frames;
	u->links++;
	u->rated += period != 0;
	if (share > u->busiest) {
		u->busiest = share;
		u->busiest_end = end;
	}
}

static uint64_t memory_blocks(const struct mf_mux_stats *end, unsigned int n)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < n; i++)
		sum += end[i].memory_blocks;
	return sum;
}

/** Whether all of these links have a rate: under the virtual clock, or by "shape". */
static bool has_rates(const struct mf_fabric *f, const struct use *u)
{
	return f->clock == MF_CLOCK_VIRTUAL || (u->links > 0 && u->rated == u->links);
}

/** Of the line. @param payload  octets of the whole run over those of memory's blocks; < 0: none */
static void utilisation(const struct use *u, double payload, json_t *o)
{
	result_real(o, "utilisation_busiest", u->busiest);
	result_real(o, "utilisation_mean", u->links > 0 ? u->mean / u->links : 0);
	if (payload >= 0)
		result_real(o, "utilisation_payload_mean",
			    u->links > 0 ? u->memory_mean * payload / u->links : 0);
	result_real(o, "utilisation_frames_mean", u->links > 0 ? u->frames / u->links : 0);
	result_real(o, "utilisation_frames_least", u->frames_least);
}

void mux_json(const struct mf_mux_stats *end, struct result_nodes nodes, json_t *o)
{
	uint64_t preemptions = 0, reused = 0, aborted = 0, refused = 0;
	uint32_t wait = 0, backlog = 0;

	for (unsigned int i = nodes.from; i < nodes.to; i++) {
		preemptions += end[i].preemptions;
		reused += end[i].gap_reused;
		aborted += end[i].aborted;
		refused += end[i].frames_refused;
		if (end[i].frame_wait_max > wait)
			wait = end[i].frame_wait_max;
		if (end[i].backlog_message_max > backlog)
			backlog = end[i].backlog_message_max;
	}
	result_count(o, "preemptions", preemptions);
	result_count(o, "gap_blocks_reused", reused);
	result_count(o, "messages_aborted", aborted);
	result_count(o, "frames_refused", refused);
	result_count(o, "frame_blocks_waiting_max", wait);
	result_count(o, "memory_backlog_max", backlog);
}

/**
 * Blocks are those of the measured window, and counted by who sends them. Payload is counted where it is
 * handled, at the nodes, not where its blocks stand on the wire: so its share of the blocks is that of the
 * whole run, and a process that has only one of the two does not know it.
 */
static json_t *use_json(const struct mf_fabric *f, const struct use *u, const struct mf_mux_stats *end,
			unsigned int n, bool sender, uint64_t octets)
{
	json_t *o = json_object();
	uint64_t memory = memory_blocks(end, n);
	double payload = memory > 0 ? (double)octets / 8 / (double)memory : 0;
	bool whole = fabric_whole(f);

	if (has_rates(f, u))
		utilisation(u, payload, o);
	if (sender) {
		result_count(o, "memory_blocks", u->memory);
		result_count(o, "frame_blocks", u->frame);
		result_count(o, "gap_blocks", u->gap);
	}
	if (sender && !whole)
		result_count(o, "memory_blocks_all", memory);
	if (fabric_has_node(f))
		result_count(o, "payload_octets", octets);
	if (whole)
		result_real(o, "payload_share_of_memory_blocks", payload);
	if (sender)
		mux_json(end, (struct result_nodes){0, n}, o);
	return o;
}

/** The ports of a switch among fabric_ports(). */
struct named {
	const char *name;
	unsigned int first, ports;
};

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

/** By what is at the other end of a port. */
struct uses {
	struct use node, sw;
};

static bool leads_to_node(const struct mf_fabric *f, unsigned int port)
{
	return fabric_port_peer(f, port)->kind == MF_VERTEX_NODE;
}

/** All ports: several switches by name, since a sum of reals depends on its order, and not on the file's. */
static void add_ports(const struct mf_fabric *f, struct uses *u)
{
	struct named all[MF_CONFIG_SWITCH_LIST_MAX];
	unsigned int switches = f->graph->switches;

	for (unsigned int k = 0; k < switches; k++) {
		const struct mf_vertex *r = &f->graph->role[f->nodes + k];

		all[k] = (struct named){mf_config_switch_name(f->config, k),
					r->first_end - fabric_first_port(f), r->ends};
	}
	if (f->config->switches > 0)
		qsort(all, switches, sizeof(all[0]), compare);
	for (unsigned int k = 0; k < switches; k++)
		for (unsigned int n = all[k].first; n < all[k].first + all[k].ports; n++)
			if (fabric_switch_of(f, n) != NULL)
				use_add(f, leads_to_node(f, n) ? &u->node : &u->sw, fabric_port(f, n)->link,
					fabric_first_port(f) + n, &f->at_measure.port[n],
					&f->at_stop.port[n]);
}

/** Sorts counters of ports: those of ports to nodes first. @return how many these are, or -1: no memory */
static int nodes_first(const struct mf_fabric *f, struct mf_mux_stats *port)
{
	unsigned int ports = fabric_ports(f), nodes = 0, others = 0;
	struct mf_mux_stats *other;

	if (f->config->trunks == 0)
		return (int)ports;
	other = malloc(ports * sizeof(*other));
	if (other == NULL)
		return -1;
	for (unsigned int n = 0; n < ports; n++)
		if (leads_to_node(f, n))
			port[nodes++] = port[n];
		else
			other[others++] = port[n];
	memcpy(port + nodes, other, others * sizeof(*other));
	free(other);
	return (int)nodes;
}

/** All links between switches, or between nodes, both directions. @param end  [ports]: of theirs */
static json_t *between_json(const struct mf_fabric *f, const struct use *u, const struct mf_mux_stats *end,
			    unsigned int ports)
{
	const struct mf_end *e = &f->graph->end[u->busiest_end];
	json_t *o = json_object(), *busiest = json_object();

	if (has_rates(f, u))
		utilisation(u, -1, o);
	if (u->busiest > 0) {
		json_object_set_new(busiest, "from", json_string(fabric_role_name(f, e->role)));
		json_object_set_new(busiest, "to",
				    json_string(fabric_role_name(f, f->graph->end[e->peer].role)));
		json_object_set_new(o, "busiest", busiest);
	} else {
		json_decref(busiest);
	}
	result_count(o, "memory_blocks", u->memory);
	result_count(o, "frame_blocks", u->frame);
	result_count(o, "gap_blocks", u->gap);
	mux_json(end, (struct result_nodes){0, ports}, o);
	return o;
}

/** @param nodes  ports that lead to nodes; those of end come first */
static json_t *links_json(const struct mf_fabric *f, const struct snapshot *end, unsigned int nodes)
{
	uint32_t hosts = fabric_host_ends(f);
	struct uses ports = {0};
	struct use up = {0}, direct = {0};
	uint64_t sent = 0, received = 0;
	json_t *o = json_object();

	for (uint32_t i = 0; i < hosts; i++) {
		const struct mf_end *e = fabric_host_end(f, i);

		if (f->node[f->graph->role[e->role].number].host != NULL)
			use_add(f, i < f->node_links ? &up : &direct, e->link, (uint32_t)(e - f->graph->end),
				&f->at_measure.host[i], &f->at_stop.host[i]);
	}
	for (unsigned int i = 0; i < f->nodes; i++) {
		sent += end->stack[i].tx_octets;
		received += end->stack[i].rx_octets;
	}
	add_ports(f, &ports);
	if (fabric_has_node(f) && f->node_links > 0)
		json_object_set_new(o, "to_switch", use_json(f, &up, end->host, f->node_links, true, sent));
	if (f->node_links > 0)
		json_object_set_new(
			o, "from_switch",
			use_json(f, &ports.node, end->port, nodes, fabric_has_switch(f), received));
	if (f->graph->links > f->node_links + fabric_directs(f) && f->trunk != NULL)
		json_object_set_new(o, "between_switches",
				    between_json(f, &ports.sw, end->port + nodes, fabric_ports(f) - nodes));
	if (hosts > f->node_links && fabric_has_node(f))
		json_object_set_new(
			o, "between_nodes",
			between_json(f, &direct, end->host + f->node_links, hosts - f->node_links));
	return o;
}

/** Notifications and grants of the whole run against all memory blocks, beside the 6 % of 3.1.4. */
static json_t *control_json(const struct mf_fabric *f, const struct snapshot *end)
{
	uint64_t memory =
		memory_blocks(end->host, fabric_host_ends(f)) + memory_blocks(end->port, fabric_ports(f));
	uint64_t control = end->sw.control_blocks;
	json_t *o = json_object();

	for (unsigned int k = 1; k < f->graph->switches; k++) {
		struct result_counts other;

		if (!fabric_schedules(f->sw[k].tier))
			continue;
		result_switch_counted(f->sw[k].sw, &other);
		control += result_value(&other, "switch.more", "notification_and_grant_blocks");
	}
	result_count(o, "notification_and_grant_blocks", control);
	result_count(o, "memory_blocks", memory);
	result_real(o, "share", memory > 0 ? (double)control / (double)memory : 0);
	result_real(o, "share_in_paper", 0.06);
	return o;
}

/** The same of a process that has the switch alone: what it counts. */
static json_t *control_part_json(const struct snapshot *end)
{
	json_t *o = json_object();

	result_count(o, "notification_and_grant_blocks", end->sw.control_blocks);
	return o;
}

/** What is told by the multiplexers' counters, at the end of the run. */
void counters_json(const struct mf_fabric *f, json_t *o)
{
	struct snapshot end;
	int nodes;

	if (snapshot_init(&end, f) == 0) {
		snapshot_take(f, &end, f->ended);
		nodes = nodes_first(f, end.port);
		if (nodes >= 0)
			json_object_set_new(o, "links", links_json(f, &end, (unsigned int)nodes));
		if (fabric_whole(f))
			json_object_set_new(o, "control", control_json(f, &end));
		else if (fabric_has_switch(f))
			json_object_set_new(o, "control", control_part_json(&end));
		if (f->clock == MF_CLOCK_VIRTUAL)
			json_object_set_new(
				o, "waits",
				waits_json(f, &end, nodes >= 0 ? (unsigned int)nodes : fabric_ports(f)));
	}
	snapshot_fini(&end);
}
