/* SPDX-License-Identifier: BSD-3-Clause */
/* The result: Ethernet ports, and the ends of links that they carry. */
#include "result/mf_tunnels.h"

#include "measure/mf_live.h"
#include "result/mf_result.h"
#include "wall/ports/mf_tunnel_stats.h"

#define NS 1000.0

static json_t *counters(const struct mf_link_counter *c, unsigned int n, const void *stats)
{
	json_t *o = json_object();

	for (unsigned int i = 0; i < n; i++)
		result_count(o, c[i].name, mf_link_counter_of(stats, &c[i]));
	return o;
}

static json_t *impair_json(const struct tunnel_port *p)
{
	json_t *o = json_object();

	result_count(o, "frames", p->impair.frames);
	result_count(o, "dropped_frames", p->impair.dropped_frames);
	result_count(o, "duplicated_frames", p->impair.duplicated_frames);
	result_count(o, "reordered_frames", p->impair.reordered_frames);
	result_count(o, "corrupted_frames", p->impair.corrupted_frames);
	result_count(o, "held_frames", p->held_frames);
	return o;
}

static json_t *device_json(const struct rte_eth_stats *s)
{
	json_t *o = json_object();

	result_count(o, "rx_frames", s->ipackets);
	result_count(o, "rx_octets", s->ibytes);
	result_count(o, "rx_missed_frames", s->imissed);
	result_count(o, "rx_error_frames", s->ierrors);
	result_count(o, "rx_no_buffer_frames", s->rx_nombuf);
	result_count(o, "tx_frames", s->opackets);
	result_count(o, "tx_octets", s->obytes);
	result_count(o, "tx_error_frames", s->oerrors);
	return o;
}

json_t *port_json(const struct tunnel_port *p)
{
	unsigned int n;
	const struct mf_link_counter *c = port_counters(&n);
	json_t *o = json_object(), *all = counters(c, n, &p->stats);

	json_object_set_new(o, "name", json_string(p->config->name));
	json_object_set_new(o, "device", json_string(p->config->device));
	result_count(all, "tx_pending_frames", p->pending_frames);
	json_object_set_new(o, "counters", all);
	if (p->impaired)
		json_object_set_new(o, "impaired", impair_json(p));
	json_object_set_new(o, "driver", device_json(&p->device));
	if (p->told)
		result_count(o, "lost_buffers", p->lost_buffers);
	return o;
}

/** First transmissions among all DATA frames that were sent. */
static double efficiency(const struct mf_link_stats *s)
{
	return (double)s->tx_data_frames / (double)(s->tx_data_frames + s->tx_replayed_frames);
}

/** Blocks of a direction, each once, as payload of 8 octets over the time of the run. */
static double goodput(const struct mf_fabric *f, uint64_t blocks)
{
	mf_time time = f->ended > 0 ? f->ended : mf_fabric_now(f);

	return time > 0 ? (double)blocks * 64e3 / (double)time : 0;
}

/** By its node, or by its two switches. */
static void name_link(const struct mf_fabric *f, uint32_t link, json_t *o)
{
	json_t *between;

	if (!fabric_is_trunk(f, link)) {
		json_object_set_new(o, "node", json_string(f->config->node[link % f->nodes].name));
		return;
	}
	between = json_array();
	for (int side = 0; side < MF_LINK_ENDS; side++)
		json_array_append_new(
			between,
			json_string(fabric_role_name(f, f->graph->end[f->graph->link[link].end[side]].role)));
	json_object_set_new(o, "between", between);
}

json_t *end_json(const struct mf_fabric *f, const struct tunnel_end *e)
{
	unsigned int n;
	const struct mf_link_counter *c = mf_link_counters(&n);
	json_t *o = json_object(), *all = counters(c, n, &e->stats);

	name_link(f, f->graph->end[e->end].link, o);
	json_object_set_new(o, "end", json_string(port_end_name(f, e->end)));
	json_object_set_new(o, "port", json_string(e->port->name));
	result_count(o, "connections", e->status.connections);
	result_real(o, "round_trip_ns", (double)e->status.round_trip / NS);
	result_real(o, "tx_goodput_gbps", goodput(f, e->stats.tx_data_blocks));
	result_real(o, "rx_goodput_gbps", goodput(f, e->stats.rx_data_blocks));
	if (e->stats.tx_data_frames > 0)
		result_real(o, "tx_efficiency", efficiency(&e->stats));
	result_count(all, "tx_not_open_blocks", e->dropped_blocks);
	json_object_set_new(o, "counters", all);
	return o;
}

void tunnels_json(const struct mf_fabric *f, json_t *o)
{
	json_t *ports = json_array(), *tunnels = json_array();

	for (unsigned int i = 0; i < f->tunnels->ports; i++)
		json_array_append_new(ports, port_json(&f->tunnels->port[i]));
	for (unsigned int i = 0; i < f->tunnels->ends; i++)
		json_array_append_new(tunnels, end_json(f, &f->tunnels->end[i]));
	json_object_set_new(o, "ports", ports);
	json_object_set_new(o, "carried", tunnels);
}
