/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>

#include "fabric/mf_fabric_state.h"
#include "measure/mf_series.h"

int snapshot_init(struct snapshot *s, const struct mf_fabric *f)
{
	*s = (struct snapshot){0};
	s->host = calloc(fabric_host_ends(f), sizeof(*s->host));
	s->port = calloc(fabric_ports(f) + 1, sizeof(*s->port));
	s->stack = calloc(f->nodes, sizeof(*s->stack));
	return s->host != NULL && s->port != NULL && s->stack != NULL ? 0 : -ENOMEM;
}

void snapshot_fini(struct snapshot *s)
{
	free(s->host);
	free(s->port);
	free(s->stack);
}

/** What a node has sent by the n-th of fabric_host_ends(). */
static void take_end(const struct mf_fabric *f, struct snapshot *s, uint32_t n, mf_time now)
{
	const struct mf_end *e = fabric_host_end(f, n);
	const struct mf_node *host = f->node[f->graph->role[e->role].number].host;
	const struct mf_mux *mux;

	if (host == NULL)
		return;
	mux = mf_node_mux(host, e->port);
	s->host[n] = *mf_mux_stats(mux);
	s->host[n].memory_blocks -= mf_mux_ahead(mux, now);
}

void snapshot_take(const struct mf_fabric *f, struct snapshot *s, mf_time now)
{
	s->taken = true;
	s->at = now;
	/* A message is given out as a whole; what has not started yet is not on the wire. */
	for (uint32_t i = 0; i < fabric_host_ends(f); i++)
		take_end(f, s, i, now);
	for (unsigned int i = 0; i < f->nodes; i++)
		if (f->node[i].host != NULL)
			mf_node_stats(f->node[i].host, &s->stack[i]);
	for (unsigned int n = 0; n < fabric_ports(f); n++) {
		const struct mf_sw *sw = fabric_switch_of(f, n);

		if (sw == NULL)
			continue;
		s->port[n] = *mf_sw_mux_stats(sw, fabric_port(f, n)->port);
		s->port[n].memory_blocks -= mf_sw_ahead(sw, fabric_port(f, n)->port, now);
	}
	if (f->graph->switches == 0)
		return;
	mf_sw_stats(f->sw[0].sw, &s->sw);
	mf_scheduler_stats(f->sw[0].sched, &s->sched);
}

struct snapshot *snapshot_due(struct mf_fabric *f, mf_time now)
{
	/* Where the load was stopped in the warm-up there is no steady state: it begins and ends then. */
	if (!f->at_measure.taken)
		return now >= mf_time_min(f->measure, f->stop) ? &f->at_measure : NULL;
	return !f->at_stop.taken && now >= f->stop ? &f->at_stop : NULL;
}

void snapshot_end(struct mf_fabric *f, mf_time now)
{
	struct snapshot *s;

	f->ended = now;
	f->stop = mf_time_min(f->stop, now);
	while ((s = snapshot_due(f, now)) != NULL)
		snapshot_take(f, s, now);
	if (f->series != NULL)
		series_end(f, now);
}
