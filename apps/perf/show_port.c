/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports, as testpmd shows them. */
#include <inttypes.h>
#include <string.h>

#include "show.h"

#define BLOCK_BYTES 8 /* of payload: without sync headers */

/** What testpmd counts, out of what we count. */
struct stats {
	uint64_t packets, bytes, payload, errors, missed, no_buffer;
};

static struct stats received(const uint64_t *x)
{
	return (struct stats){
		.packets = x[XSTAT_RX_MESSAGES] + x[XSTAT_RX_FRAMES],
		.bytes = (x[XSTAT_RX_MEMORY_BLOCKS] + x[XSTAT_RX_FRAME_BLOCKS]) * BLOCK_BYTES,
		.payload = x[XSTAT_RX_PAYLOAD_BYTES],
		.errors = x[XSTAT_RX_CRC_ERRORS] + x[XSTAT_RX_PROTOCOL_ERRORS] + x[XSTAT_RX_BAD_BLOCKS] +
			  x[XSTAT_RX_ABORTED_MESSAGES] + x[XSTAT_RX_DAMAGED_FRAMES],
		.missed = x[XSTAT_RX_UNKNOWN_ERRORS] + x[XSTAT_RX_DESTINATION_ERRORS],
		.no_buffer = x[XSTAT_RX_NO_ROOM_ERRORS],
	};
}

static struct stats sent(const uint64_t *x)
{
	return (struct stats){
		.packets = x[XSTAT_TX_MESSAGES] + x[XSTAT_TX_FRAMES],
		.bytes = (x[XSTAT_TX_MEMORY_BLOCKS] + x[XSTAT_TX_FRAME_BLOCKS]) * BLOCK_BYTES,
		.payload = x[XSTAT_TX_PAYLOAD_BYTES],
		.errors = x[XSTAT_TX_ABORTED_MESSAGES] + x[XSTAT_TX_TIMEOUT_ERRORS],
	};
}

static struct stats less(const struct view *v, const struct counters *then, struct stats a, struct stats b)
{
	return (struct stats){
		.packets = view_since(v, then, a.packets, b.packets),
		.bytes = view_since(v, then, a.bytes, b.bytes),
		.payload = view_since(v, then, a.payload, b.payload),
		.errors = view_since(v, then, a.errors, b.errors),
		.missed = view_since(v, then, a.missed, b.missed),
		.no_buffer = view_since(v, then, a.no_buffer, b.no_buffer),
	};
}

/** Seconds of the fabric's clock since this view showed its ports; 0: it has not yet, in this run. */
static double since_shown(const struct view *v)
{
	double from = v->shown.generation == v->now.generation ? v->shown.host : 0;
	mf_time fabric = v->shown.generation == v->now.generation ? v->shown.fabric : 0;

	if (v->run->clock == MF_CLOCK_WALL && from > 0)
		return v->now.host - from;
	return v->now.fabric > fabric ? (double)(v->now.fabric - fabric) * 1e-12 : 0;
}

static uint64_t rate(uint64_t n, double seconds)
{
	return seconds > 0 ? (uint64_t)((double)n / seconds + 0.5) : 0;
}

static void put_throughput(FILE *out, const struct view *v, unsigned int p)
{
	const uint64_t *now = v->now.port[p], *before = v->shown.port[p];
	struct stats rx = less(v, &v->shown, received(now), received(before));
	struct stats tx = less(v, &v->shown, sent(now), sent(before));
	double t = since_shown(v);

	fprintf(out,
		"\n  Throughput (since last show, by the %s clock; bps: with framing, and payload alone)\n",
		v->run->clock == MF_CLOCK_VIRTUAL ? "virtual" : "wall");
	fprintf(out,
		"  Rx-pps: %12" PRIu64 "          Rx-bps: %12" PRIu64 "   Rx-payload-bps: %12" PRIu64 "\n",
		rate(rx.packets, t), rate(rx.bytes * 8, t), rate(rx.payload * 8, t));
	fprintf(out,
		"  Tx-pps: %12" PRIu64 "          Tx-bps: %12" PRIu64 "   Tx-payload-bps: %12" PRIu64 "\n",
		rate(tx.packets, t), rate(tx.bytes * 8, t), rate(tx.payload * 8, t));
}

static void put_stats(FILE *out, const struct view *v, unsigned int p)
{
	const uint64_t *now = v->now.port[p], *cleared = v->clear_stats.port[p];
	struct stats rx = less(v, &v->clear_stats, received(now), received(cleared));
	struct stats tx = less(v, &v->clear_stats, sent(now), sent(cleared));
	char title[64];

	snprintf(title, sizeof(title), "NIC statistics for port %u ", p);
	show_head(out, title);
	fprintf(out, "  Node: %s (%s)\n", v->run->config->node[p].name,
		mf_config_role_name(v->run->config->node[p].role));
	fprintf(out, "  RX-packets: %-12" PRIu64 " RX-missed: %-12" PRIu64 " RX-bytes:  %" PRIu64 "\n",
		rx.packets, rx.missed, rx.bytes);
	fprintf(out, "  RX-errors:  %-12" PRIu64 " RX-nombuf: %-12" PRIu64 " RX-payload-bytes: %" PRIu64 "\n",
		rx.errors, rx.no_buffer, rx.payload);
	fprintf(out, "  TX-packets: %-12" PRIu64 " TX-errors: %-12" PRIu64 " TX-bytes:  %" PRIu64 "\n",
		tx.packets, tx.errors, tx.bytes);
	fprintf(out, "  %37s TX-payload-bytes: %" PRIu64 "\n", "", tx.payload);
	put_throughput(out, v, p);
	show_end(out);
}

static void put_xstats(FILE *out, const struct view *v, unsigned int p)
{
	fprintf(out, "\n###### NIC extended statistics for port %u\n", p);
	for (enum xstat x = 0; x < XSTATS; x++)
		fprintf(out, "%s: %" PRIu64 "\n", xstat_name(x),
			view_since(v, &v->clear_xstats, v->now.port[p][x], v->clear_xstats.port[p][x]));
}

static void each_port(FILE *out, struct view *v, int port,
		      void (*put)(FILE *out, const struct view *v, unsigned int p))
{
	for (unsigned int p = 0; p < v->now.ports; p++)
		if (v->run->config->node[p].up && (port < 0 || (unsigned int)port == p))
			put(out, v, p);
}

void show_port_stats(FILE *out, struct view *v, int port)
{
	if (!view_take(v, out))
		return;
	each_port(out, v, port, put_stats);
	counters_copy(&v->shown, &v->now);
}

void show_port_xstats(FILE *out, struct view *v, int port)
{
	if (view_take(v, out))
		each_port(out, v, port, put_xstats);
}

/** Makes one port, or all of them, 0 from here on; the others keep what they had cleared in this run. */
static void clear(struct view *v, struct counters *cleared, int port)
{
	run_counters(v->run, &v->now);
	if (cleared->generation != v->now.generation)
		memset(cleared->port, 0, cleared->ports * sizeof(*cleared->port));
	cleared->generation = v->now.generation;
	for (unsigned int p = 0; p < v->now.ports; p++)
		if (port < 0 || (unsigned int)port == p)
			memcpy(cleared->port[p], v->now.port[p], sizeof(cleared->port[p]));
}

void clear_port_stats(struct view *v, int port)
{
	clear(v, &v->clear_stats, port);
}

void clear_port_xstats(struct view *v, int port)
{
	clear(v, &v->clear_xstats, port);
}
