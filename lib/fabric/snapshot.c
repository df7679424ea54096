/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>

#include "fabric_priv.h"

int snapshot_init(struct snapshot *s, unsigned int nodes)
{
	s->at = 0;
	s->host = calloc(nodes, sizeof(*s->host));
	s->port = calloc(nodes, sizeof(*s->port));
	s->stack = calloc(nodes, sizeof(*s->stack));
	return s->host != NULL && s->port != NULL && s->stack != NULL ? 0 : -ENOMEM;
}

void snapshot_fini(struct snapshot *s)
{
	free(s->host);
	free(s->port);
	free(s->stack);
}

void snapshot_take(const struct mf_fabric *f, struct snapshot *s, mf_time now)
{
	s->at = now;
	/* A message is given out as a whole; what has not started yet is not on the wire. */
	for (unsigned int i = 0; i < f->nodes; i++) {
		if (fabric_port_here(f, i)) {
			s->port[i] = *mf_switch_mux_stats(f->sw, i);
			s->port[i].memory_blocks -= mf_switch_ahead(f->sw, i, now);
		}
		if (f->node[i].host == NULL)
			continue;
		s->host[i] = *mf_host_mux_stats(f->node[i].host);
		s->host[i].memory_blocks -= mf_host_ahead(f->node[i].host, now);
		s->stack[i] = *mf_host_stats(f->node[i].host);
	}
	s->sw = *mf_switch_stats(f->sw);
	f->sched_ops->stats(f->sched, &s->sched);
}
