/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of a port, of its link, and of what the switch does with its frames. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "measure/mf_live.h"
#include "port.h"

static uint64_t count(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/** Where counters are: those of an absent part are 0. */
struct sources {
	const struct port_counters *port;
	const struct mf_mux_stats *tx; /**< what the node sends */
	const struct mf_demux *rx; /**< what it receives */
	const struct mf_mux_stats *switch_tx; /**< what the switch sends to it */
	struct mf_switch_stats sw;
};

enum source { PORT, TX, RX, SWITCH_TX, SWITCH };

/** Names are part of the driver's interface: they stay. */
static const struct {
	const char *name;
	enum source source;
	size_t at;
} xstats[] = {
#define XSTAT(name, source, type, field)                   \
	{                                                  \
		name, source, offsetof(struct type, field) \
	}
	XSTAT("rx_stopped_drops", PORT, port_counters, rx_stopped),
	XSTAT("rx_filtered_drops", PORT, port_counters, rx_filtered),
	XSTAT("rx_over_mtu_errors", PORT, port_counters, rx_over_mtu),
	XSTAT("rx_no_scatter_errors", PORT, port_counters, rx_no_scatter),
	XSTAT("tx_length_errors", PORT, port_counters, tx_length),
	XSTAT("tx_loopback_packets", PORT, port_counters, tx_loopback),
	XSTAT("link_tx_frames", TX, mf_mux_stats, frames),
	XSTAT("link_tx_frame_blocks", TX, mf_mux_stats, frame_blocks),
	XSTAT("link_tx_gap_blocks", TX, mf_mux_stats, gap_blocks),
	XSTAT("link_tx_memory_blocks", TX, mf_mux_stats, memory_blocks),
	XSTAT("link_tx_memory_messages", TX, mf_mux_stats, messages),
	XSTAT("link_tx_preemptions", TX, mf_mux_stats, preemptions),
	XSTAT("link_rx_frames", RX, mf_demux, dec.frames),
	XSTAT("link_rx_blocks", RX, mf_demux, stats.blocks),
	XSTAT("link_rx_frame_blocks", RX, mf_demux, stats.frame_blocks),
	XSTAT("link_rx_memory_blocks", RX, mf_demux, stats.memory_blocks),
	XSTAT("link_rx_idle_blocks", RX, mf_demux, stats.idle_blocks),
	XSTAT("link_rx_bad_blocks", RX, mf_demux, stats.bad_blocks),
	XSTAT("link_rx_bad_block_errors", RX, mf_demux, dec.drops[MF_FRAME_BAD_BLOCK]),
	XSTAT("link_rx_fcs_errors", RX, mf_demux, dec.drops[MF_FRAME_BAD_FCS]),
	XSTAT("link_rx_preamble_errors", RX, mf_demux, dec.drops[MF_FRAME_BAD_PREAMBLE]),
	XSTAT("link_rx_too_long_errors", RX, mf_demux, dec.drops[MF_FRAME_TOO_LONG]),
	XSTAT("link_rx_too_short_errors", RX, mf_demux, dec.drops[MF_FRAME_TOO_SHORT]),
	XSTAT("link_rx_cut_errors", RX, mf_demux, dec.drops[MF_FRAME_CUT]),
	XSTAT("link_rx_bad_end_errors", RX, mf_demux, dec.drops[MF_FRAME_BAD_END]),
	XSTAT("switch_tx_frames", SWITCH_TX, mf_mux_stats, frames),
	XSTAT("switch_tx_frame_blocks", SWITCH_TX, mf_mux_stats, frame_blocks),
	XSTAT("switch_tx_memory_blocks", SWITCH_TX, mf_mux_stats, memory_blocks),
	XSTAT("switch_tx_full_drops", SWITCH_TX, mf_mux_stats, frames_refused),
	XSTAT("switch_all_frames", SWITCH, mf_switch_stats, frames),
	XSTAT("switch_all_flooded", SWITCH, mf_switch_stats, flooded),
	XSTAT("switch_all_full_drops", SWITCH, mf_switch_stats, drop_frame_room),
	XSTAT("switch_all_self_drops", SWITCH, mf_switch_stats, drop_frame_self),
};

static_assert(RTE_DIM(xstats) <= PORT_XSTATS_MAX, "each has its base");

static void sources_of(const struct port *p, struct sources *s)
{
	const struct mf_fabric *f = mf_session_fabric(p->session);

	*s = (struct sources){
		.port = &p->counters,
		.tx = mf_fabric_sent(f, p->node, MF_LINK_NODE),
		.rx = p->host != NULL ? mf_node_demux(p->host) : NULL,
		.switch_tx = mf_fabric_sent(f, p->node, MF_LINK_SWITCH),
	};
	mf_fabric_switch(f, &s->sw);
}

static uint64_t value(const struct sources *s, unsigned int i)
{
	const void *const from[] = {
		[PORT] = s->port, [TX] = s->tx, [RX] = s->rx, [SWITCH_TX] = s->switch_tx, [SWITCH] = &s->sw};
	const uint8_t *at = from[xstats[i].source];

	return at != NULL ? count((const uint64_t *)(const void *)(at + xstats[i].at)) : 0;
}

int port_xstats_get(struct rte_eth_dev *dev, struct rte_eth_xstat *out, unsigned int n)
{
	const struct port *p = port_of(dev);
	struct sources s;

	if (n < RTE_DIM(xstats))
		return RTE_DIM(xstats);
	sources_of(p, &s);
	for (unsigned int i = 0; i < RTE_DIM(xstats); i++) {
		out[i].id = i;
		out[i].value = value(&s, i) - p->base[i];
	}
	return RTE_DIM(xstats);
}

int port_xstats_names(struct rte_eth_dev *dev, struct rte_eth_xstat_name *out, unsigned int n)
{
	(void)dev;
	if (out == NULL || n < RTE_DIM(xstats))
		return RTE_DIM(xstats);
	for (unsigned int i = 0; i < RTE_DIM(xstats); i++)
		snprintf(out[i].name, sizeof(out[i].name), "%s", xstats[i].name);
	return RTE_DIM(xstats);
}

/** Frames that the receiver of the link could not take, whatever the cause. */
static uint64_t broken(const struct port *p)
{
	uint64_t n = 0;

	for (unsigned int i = 1; i < MF_FRAME_ERRORS && p->host != NULL; i++)
		n += count(&mf_node_demux(p->host)->dec.drops[i]);
	return n;
}

static void rx_stats(const struct port_rx_queue *q, unsigned int i, struct rte_eth_stats *out)
{
	uint64_t packets = count(&q->packets), octets = count(&q->octets), missed = count(&q->missed);

	out->ipackets += packets;
	out->ibytes += octets;
	out->imissed += missed;
	out->rx_nombuf += count(&q->no_mbuf);
	if (i >= RTE_ETHDEV_QUEUE_STAT_CNTRS)
		return;
	out->q_ipackets[i] = packets;
	out->q_ibytes[i] = octets;
	out->q_errors[i] = missed;
}

static void tx_stats(const struct port_tx_queue *q, unsigned int i, struct rte_eth_stats *out)
{
	uint64_t packets = count(&q->packets), octets = count(&q->octets);

	out->opackets += packets;
	out->obytes += octets;
	out->oerrors += count(&q->errors);
	if (i >= RTE_ETHDEV_QUEUE_STAT_CNTRS)
		return;
	out->q_opackets[i] = packets;
	out->q_obytes[i] = octets;
}

int port_stats_get(struct rte_eth_dev *dev, struct rte_eth_stats *out)
{
	const struct port *p = port_of(dev);
	const struct port_counters *c = &p->counters;

	for (unsigned int i = 0; i < dev->data->nb_rx_queues; i++)
		if (dev->data->rx_queues[i] != NULL)
			rx_stats(dev->data->rx_queues[i], i, out);
	for (unsigned int i = 0; i < dev->data->nb_tx_queues; i++)
		if (dev->data->tx_queues[i] != NULL)
			tx_stats(dev->data->tx_queues[i], i, out);
	out->ierrors = count(&c->rx_over_mtu) + count(&c->rx_no_scatter) + broken(p) - p->errors_base;
	return 0;
}

static void clear(struct rte_eth_dev *dev)
{
	for (unsigned int i = 0; i < dev->data->nb_rx_queues; i++) {
		struct port_rx_queue *q = dev->data->rx_queues[i];

		if (q != NULL)
			q->packets = q->octets = q->missed = q->no_mbuf = 0;
	}
	for (unsigned int i = 0; i < dev->data->nb_tx_queues; i++) {
		struct port_tx_queue *q = dev->data->tx_queues[i];

		if (q != NULL)
			q->packets = q->octets = q->errors = 0;
	}
}

int port_stats_reset(struct rte_eth_dev *dev)
{
	struct port *p = port_of(dev);

	port_lock(p);
	clear(dev);
	p->errors_base = p->counters.rx_over_mtu + p->counters.rx_no_scatter + broken(p);
	port_unlock(p);
	return 0;
}

/** ethdev resets the others with these: port_stats_reset(). */
int port_xstats_reset(struct rte_eth_dev *dev)
{
	struct port *p = port_of(dev);
	struct sources s;

	port_stats_reset(dev);
	port_lock(p);
	sources_of(p, &s);
	for (unsigned int i = 0; i < RTE_DIM(xstats); i++)
		p->base[i] = value(&s, i);
	port_unlock(p);
	return 0;
}
