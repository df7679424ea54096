/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "wall/ports/mf_tunnel_stats.h"

#define COUNTER(member)                                      \
	{                                                    \
#member, offsetof(struct port_stats, member) \
	}

static const struct mf_link_counter counter[] = {
	COUNTER(rx_frames),     COUNTER(rx_octets),           COUNTER(tx_frames),
	COUNTER(tx_octets),     COUNTER(rx_ethertype_frames), COUNTER(rx_short_frames),
	COUNTER(rx_crc_frames), COUNTER(rx_link_frames),      COUNTER(rx_long_frames),
	COUNTER(tx_refusals),   COUNTER(tx_dropped_frames),   COUNTER(tx_no_buffer_frames),
	COUNTER(rx_cut_frames), COUNTER(tx_cut_frames),       COUNTER(starts),
};

#define COUNTERS (sizeof(counter) / sizeof(counter[0]))
static_assert(COUNTERS == sizeof(struct port_stats) / sizeof(uint64_t), "each has a name");

const struct mf_link_counter *port_counters(unsigned int *n)
{
	*n = COUNTERS;
	return counter;
}

static void take_port(const struct wall_port *p, struct tunnel_port *out)
{
	*out = (struct tunnel_port){
		.config = p->config,
		.stats = p->stats,
		.pending_frames = p->pendings,
		.impaired = p->impaired,
		.impair = p->impair.stats,
		.held_frames = p->impair.held,
	};
	if (p->owner == 0 || rte_eth_stats_get(p->id, &out->device) != 0)
		out->device = (struct rte_eth_stats){0};
}

static void take_end(const struct wall_port *p, const struct port_end *e, struct tunnel_end *out)
{
	*out = (struct tunnel_end){
		.end = e->end,
		.port = p->config,
		.stats = *mf_link_stats(e->link),
		.dropped_blocks = e->dropped_blocks,
	};
	mf_link_look(e->link, &out->status);
}

/** By port, then by end. */
static void take(const struct wall *w, struct tunnel_stats *c)
{
	for (unsigned int i = 0; i < w->f->config->ports; i++) {
		const struct wall_port *p = &w->port[i];

		if (p->ends == 0)
			continue;
		take_port(p, &c->port[c->ports++]);
		for (unsigned int k = 0; k < p->ends; k++)
			take_end(p, &p->end[k], &c->end[c->ends++]);
	}
}

struct tunnel_stats *tunnel_stats_take(const struct wall *w)
{
	struct tunnel_stats *c = calloc(1, sizeof(*c));
	unsigned int ends = 0;

	for (unsigned int i = 0; i < w->f->config->ports; i++)
		ends += w->port[i].ends;
	if (c == NULL)
		return NULL;
	c->port = calloc(w->f->config->ports + 1, sizeof(*c->port));
	c->end = calloc(ends + 1, sizeof(*c->end));
	if (c->port != NULL && c->end != NULL) {
		take(w, c);
		return c;
	}
	tunnel_stats_free(c);
	return NULL;
}

void tunnel_stats_free(struct tunnel_stats *c)
{
	if (c == NULL)
		return;
	free(c->port);
	free(c->end);
	free(c);
}

void tunnel_stats_show(struct wall *w)
{
	if (!w->carries)
		return;
	pthread_mutex_lock(&w->f->readers);
	w->f->carries = w;
	pthread_mutex_unlock(&w->f->readers);
}

void tunnel_stats_keep(struct wall *w)
{
	pthread_mutex_lock(&w->f->readers);
	if (w->f->carries != NULL && w->met)
		w->f->tunnels = tunnel_stats_take(w);
	w->f->carries = NULL;
	pthread_mutex_unlock(&w->f->readers);
}

void tunnel_stats_close(struct wall *w)
{
	unsigned int n = 0;

	pthread_mutex_lock(&w->f->readers);
	for (unsigned int i = 0; w->f->tunnels != NULL && w->port != NULL && i < w->f->config->ports; i++) {
		struct tunnel_port *out = &w->f->tunnels->port[n];

		if (w->port[i].ends == 0)
			continue;
		out->told = w->port[i].told;
		out->lost_buffers = w->port[i].lost;
		n++;
	}
	pthread_mutex_unlock(&w->f->readers);
}

static struct tunnel_stats *copy(const struct tunnel_stats *c)
{
	struct tunnel_stats *out = calloc(1, sizeof(*out));

	if (out == NULL)
		return NULL;
	*out = (struct tunnel_stats){.ports = c->ports, .ends = c->ends};
	out->port = calloc(c->ports + 1, sizeof(*out->port));
	out->end = calloc(c->ends + 1, sizeof(*out->end));
	if (out->port == NULL || out->end == NULL) {
		tunnel_stats_free(out);
		return NULL;
	}
	memcpy(out->port, c->port, c->ports * sizeof(*out->port));
	memcpy(out->end, c->end, c->ends * sizeof(*out->end));
	return out;
}

struct tunnel_stats *tunnel_stats_seen(const struct mf_fabric *f)
{
	if (f->carries != NULL)
		return tunnel_stats_take(f->carries);
	return f->tunnels != NULL ? copy(f->tunnels) : NULL;
}
